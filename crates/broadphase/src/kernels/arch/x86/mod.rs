//! SSE2, AVX2 and AVX-512.

mod confirm;
mod floats;
mod lanes;
mod quantize;
mod rewrite;
mod rewrite_avx2;
mod rewrite_sse2;

use std::arch::x86_64::*;

use super::lanes::Registers;
use super::{Kernel, Simd};
use crate::kernels::tile::Confirmation;

/// Two or four lanes; part of every x86-64.
#[derive(Clone, Copy)]
pub struct Sse2(());

/// Four or eight lanes, with BMI1, BMI2, LZCNT and POPCNT.
#[derive(Clone, Copy)]
pub struct Avx2(());

/// Eight or sixteen lanes: F, BW, DQ, VL and VBMI2, and what [`Avx2`] has. (Processors without the last slow down for wide registers: they
/// run [`Avx2`].)
#[derive(Clone, Copy)]
pub struct Avx512(());

impl Sse2 {
    /// Every x86-64 has it.
    pub const BASELINE: Self = Self(());
}

impl Simd for Sse2 {
    type Narrow = Self;

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }

    #[inline(always)]
    fn detect() -> Option<Self> {
        Some(Self::BASELINE)
    }

    /// Part of the target, so the shell needs no features. It keeps a kernel from being compiled again in each function that enters it.
    #[inline(always)]
    fn enter<K: Kernel>(self, kernel: K) -> K::Output {
        #[inline(never)]
        fn shell<K: Kernel>(kernel: K, simd: Sse2) -> K::Output {
            kernel.run(simd)
        }
        shell(kernel, self)
    }
}

impl Simd for Avx2 {
    type Narrow = Self;

    #[inline(always)]
    fn narrow(self) -> Self {
        self
    }

    fn detect() -> Option<Self> {
        let all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        all.then_some(Self(()))
    }

    #[inline(always)]
    fn enter<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn shell<K: Kernel>(kernel: K, simd: Avx2) -> K::Output {
            kernel.run(simd)
        }
        // SAFETY: (isa) the value exists only where all features of the shell were detected.
        unsafe { shell(kernel, self) }
    }
}

impl Simd for Avx512 {
    type Narrow = Avx2;

    #[inline(always)]
    fn narrow(self) -> Avx2 {
        Avx2(()) // its features are part of this set
    }

    fn detect() -> Option<Self> {
        let all = Avx2::detect().is_some()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi2");
        all.then_some(Self(()))
    }

    #[inline(always)]
    fn enter<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn shell<K: Kernel>(kernel: K, simd: Avx512) -> K::Output {
            kernel.run(simd)
        }
        // SAFETY: (isa) the value exists only where all features of the shell were detected.
        unsafe { shell(kernel, self) }
    }
}

impl Confirmation for Sse2 {}
impl Confirmation for Avx2 {}

impl Registers for Sse2 {
    type F32 = __m128;
    type F64 = __m128d;
    type U8 = __m128i;
    type U16 = __m128i;

    #[inline(always)]
    unsafe fn fours_within<const G: usize>(bound: u32, others: *const u32) -> u64 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let (bound, zero) = (_mm_set1_epi32(bound as i32), _mm_setzero_si128());
            let fit = |at: usize| _mm_cmpeq_epi32(_mm_subs_epu8(_mm_loadu_si128(others.add(at).cast()), bound), zero);
            let eight = |at: usize| _mm_packs_epi32(fit(at), fit(at + 4));
            let group = |at: usize| u64::from(_mm_movemask_epi8(_mm_packs_epi16(eight(at), eight(at + 8))) as u32);
            (0..G).fold(0, |bits, g| bits | group(16 * g) << (16 * g))
        }
    }

    #[inline(always)]
    unsafe fn eights_within(bound: u64, others: *const u64) -> u64 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let (bound, zero) = (_mm_set1_epi64x(bound as i64), _mm_setzero_si128());
            let two = |at: usize| {
                let halves = _mm_cmpeq_epi32(_mm_subs_epu8(_mm_loadu_si128(others.add(at).cast()), bound), zero);
                let both = _mm_and_si128(halves, _mm_shuffle_epi32::<0b10_11_00_01>(halves));
                _mm_movemask_pd(_mm_castsi128_pd(both)) as u64
            };
            (0..8).fold(0, |bits, at| bits | two(2 * at) << (2 * at))
        }
    }

    #[inline(always)]
    unsafe fn same_eights(words: *const u64, others: *const u64) -> u32 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let same = |at: usize| Self::both_equal(_mm_loadu_si128(words.add(at).cast()), others.add(at));
            (0..4).fold(0, |bits, at| bits | same(2 * at) << (2 * at))
        }
    }

    #[inline(always)]
    unsafe fn equal_eights(word: u64, others: *const u64) -> u32 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let word = _mm_set1_epi64x(word as i64);
            (0..4).fold(0, |bits, at| bits | Self::both_equal(word, others.add(2 * at)) << (2 * at))
        }
    }
}

impl Sse2 {
    /// One bit for each of two words of eight bytes that equals its counterpart.
    ///
    /// # Safety
    /// *isa*; *in bounds*.
    #[inline(always)]
    unsafe fn both_equal(words: __m128i, others: *const u64) -> u32 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let halves = _mm_cmpeq_epi32(_mm_loadu_si128(others.cast()), words);
            let both = _mm_and_si128(halves, _mm_shuffle_epi32::<0b10_11_00_01>(halves));
            _mm_movemask_pd(_mm_castsi128_pd(both)) as u32
        }
    }
}

/// Functions, and not closures, in which the compiler would forget about the instruction set if it did not inline them.
///
/// # Safety
/// *isa*, and *in bounds*, for all.
impl Avx2 {
    /// All ones for each of eight words of which no byte exceeds its bound.
    #[inline(always)]
    unsafe fn fit(bound: __m256i, others: *const u32) -> __m256i {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe { _mm256_cmpeq_epi32(_mm256_subs_epu8(_mm256_loadu_si256(others.cast()), bound), _mm256_setzero_si256()) }
    }

    /// One bit for each word of one or two groups of sixteen.
    #[inline(always)]
    unsafe fn groups<const G: usize>(bound: __m256i, others: *const u32) -> u32 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let mut second = _mm256_setzero_si256();
            if G == 2 {
                second = _mm256_packs_epi32(Self::fit(bound, others.add(16)), Self::fit(bound, others.add(24)));
            }
            // Packing takes the lower and the upper halves of registers by themselves; a permutation puts them in order again.
            let first = _mm256_packs_epi32(Self::fit(bound, others), Self::fit(bound, others.add(8)));
            let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
            _mm256_movemask_epi8(_mm256_permutevar8x32_epi32(_mm256_packs_epi16(first, second), order)) as u32
        }
    }

    /// One bit for each of four words of eight bytes.
    #[inline(always)]
    unsafe fn four(bound: __m256i, others: *const u64) -> u64 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let beyond = _mm256_subs_epu8(_mm256_loadu_si256(others.cast()), bound);
            _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(beyond, _mm256_setzero_si256()))) as u64
        }
    }

    /// One bit for each of four words of eight bytes that equals its counterpart.
    #[inline(always)]
    unsafe fn four_equal(words: __m256i, others: *const u64) -> u32 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let equal = _mm256_cmpeq_epi64(_mm256_loadu_si256(others.cast()), words);
            _mm256_movemask_pd(_mm256_castsi256_pd(equal)) as u32
        }
    }
}

impl Registers for Avx2 {
    type F32 = __m256;
    type F64 = __m256d;
    type U8 = __m256i;
    type U16 = __m128i;

    #[inline(always)]
    unsafe fn fours_within<const G: usize>(bound: u32, others: *const u32) -> u64 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let bound = _mm256_set1_epi32(bound as i32);
            match G {
                1 => u64::from(Self::groups::<1>(bound, others)),
                2 => u64::from(Self::groups::<2>(bound, others)),
                3 => u64::from(Self::groups::<2>(bound, others)) | u64::from(Self::groups::<1>(bound, others.add(32))) << 32,
                _ => u64::from(Self::groups::<2>(bound, others)) | u64::from(Self::groups::<2>(bound, others.add(32))) << 32,
            }
        }
    }

    #[inline(always)]
    unsafe fn lowest(bits: u64, count: usize) -> u64 {
        // SAFETY: (isa) the caller's duty.
        unsafe { _bzhi_u64(bits, count.min(64) as u32) }
    }

    #[inline(always)]
    unsafe fn eights_within(bound: u64, others: *const u64) -> u64 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let bound = _mm256_set1_epi64x(bound as i64);
            // Not a closure: whether the compiler inlines one here depends on the rest of the program, and without the instruction set it is slow.
            let [a, b, c, d] = [
                Self::four(bound, others),
                Self::four(bound, others.add(4)),
                Self::four(bound, others.add(8)),
                Self::four(bound, others.add(12)),
            ];
            a | b << 4 | c << 8 | d << 12
        }
    }

    #[inline(always)]
    unsafe fn same_eights(words: *const u64, others: *const u64) -> u32 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let first = Self::four_equal(_mm256_loadu_si256(words.cast()), others);
            first | Self::four_equal(_mm256_loadu_si256(words.add(4).cast()), others.add(4)) << 4
        }
    }

    #[inline(always)]
    unsafe fn equal_eights(word: u64, others: *const u64) -> u32 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let word = _mm256_set1_epi64x(word as i64);
            Self::four_equal(word, others) | Self::four_equal(word, others.add(4)) << 4
        }
    }
}

/// As for [`Avx2`].
///
/// # Safety
/// *isa*, and *in bounds*, for all.
impl Avx512 {
    /// One bit for each of sixteen words of four bytes, none of which exceeds its bound.
    #[inline(always)]
    unsafe fn group(bound: __m512i, others: *const u32) -> __mmask16 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let beyond = _mm512_subs_epu8(_mm512_loadu_si512(others.cast()), bound);
            _mm512_testn_epi32_mask(beyond, beyond)
        }
    }

    /// The same for two groups.
    #[inline(always)]
    unsafe fn two(bound: __m512i, others: *const u32) -> u64 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let (first, second) = (Self::group(bound, others), Self::group(bound, others.add(16)));
            u64::from(_mm512_kunpackw(u32::from(second), u32::from(first)))
        }
    }

    /// One bit for each of eight words of eight bytes.
    #[inline(always)]
    unsafe fn eight(bound: __m512i, others: *const u64) -> u64 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let beyond = _mm512_subs_epu8(_mm512_loadu_si512(others.cast()), bound);
            u64::from(_mm512_testn_epi64_mask(beyond, beyond))
        }
    }
}

impl Registers for Avx512 {
    type F32 = __m512;
    type F64 = __m512d;
    type U8 = lanes::Half;
    type U16 = __m128i;

    #[inline(always)]
    unsafe fn fours_within<const G: usize>(bound: u32, others: *const u32) -> u64 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let bound = _mm512_set1_epi32(bound as i32);
            // Joined as masks as long as the result fits into one: moving a mask to a general register costs more than joining two masks.
            match G {
                1 => u64::from(Self::group(bound, others)),
                2 => Self::two(bound, others),
                3 => Self::two(bound, others) | u64::from(Self::group(bound, others.add(32))) << 32,
                _ => Self::two(bound, others) | Self::two(bound, others.add(32)) << 32,
            }
        }
    }

    #[inline(always)]
    unsafe fn lowest(bits: u64, count: usize) -> u64 {
        // SAFETY: (isa) the caller's duty.
        unsafe { _bzhi_u64(bits, count.min(64) as u32) }
    }

    #[inline(always)]
    unsafe fn eights_within(bound: u64, others: *const u64) -> u64 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let bound = _mm512_set1_epi64(bound as i64);
            Self::eight(bound, others) | Self::eight(bound, others.add(8)) << 8
        }
    }

    #[inline(always)]
    unsafe fn same_eights(words: *const u64, others: *const u64) -> u32 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe { u32::from(_mm512_cmpeq_epi64_mask(_mm512_loadu_si512(words.cast()), _mm512_loadu_si512(others.cast()))) }
    }

    #[inline(always)]
    unsafe fn equal_eights(word: u64, others: *const u64) -> u32 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe { u32::from(_mm512_cmpeq_epi64_mask(_mm512_set1_epi64(word as i64), _mm512_loadu_si512(others.cast()))) }
    }
}
