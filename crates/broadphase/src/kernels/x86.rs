//! SSE2, AVX2 and AVX-512.

use std::arch::x86_64::*;

use super::lanes::{Bytes, Lanes, Mask, Simd, Words};

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

impl Avx2 {
    pub fn detect() -> Option<Self> {
        let all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        all.then_some(Self(()))
    }
}

impl Avx512 {
    pub fn detect() -> Option<Self> {
        let all = Avx2::detect().is_some()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi2");
        all.then_some(Self(()))
    }
}

impl Simd for Sse2 {
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
}

impl Simd for Avx2 {
    const HAS_AVX2: bool = true;
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
            (0..4).fold(0, |bits, at| bits | Self::four(bound, others.add(4 * at)) << (4 * at))
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

impl Simd for Avx512 {
    const HAS_AVX2: bool = true;
    const HAS_AVX512: bool = true;
    type F32 = __m512;
    type F64 = __m512d;
    type U8 = Half;
    type U16 = __m128i;

    #[inline(always)]
    unsafe fn fours_within<const G: usize>(bound: u32, others: *const u32) -> u64 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let bound = _mm512_set1_epi32(bound as i32);
            // In masks, as long as they fit: a word that comes from one costs more than to join two of them.
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
}

/// A vector of all-ones or all-zeros lanes, as SSE2 and AVX2 compare.
#[derive(Clone, Copy, Debug)]
pub struct Wide<V>(V);

macro_rules! vector_mask {
    ($v:ty, $and:ident, $or:ident, $movemask:ident) => {
        impl Mask for Wide<$v> {
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                // SAFETY: (isa) a value of this type comes from a comparison of the same instruction set.
                Wide(unsafe { $and(self.0, other.0) })
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                // SAFETY: (isa) as above.
                Wide(unsafe { $or(self.0, other.0) })
            }
            #[inline(always)]
            fn bits(self) -> u32 {
                // SAFETY: (isa) as above.
                unsafe { $movemask(self.0) as u32 }
            }
        }
    };
}

vector_mask!(__m128, _mm_and_ps, _mm_or_ps, _mm_movemask_ps);
vector_mask!(__m128d, _mm_and_pd, _mm_or_pd, _mm_movemask_pd);
vector_mask!(__m256, _mm256_and_ps, _mm256_or_ps, _mm256_movemask_ps);
vector_mask!(__m256d, _mm256_and_pd, _mm256_or_pd, _mm256_movemask_pd);

impl Mask for __mmask16 {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self)
    }
}

impl Mask for __mmask8 {
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn bits(self) -> u32 {
        u32::from(self)
    }
}

macro_rules! lanes {
    ($v:ty, $t:ty, $n:literal, $mask:ty, $splat:ident, $load:ident, [$add:ident, $sub:ident, $mul:ident], |$a:ident, $b:ident| $le:expr) => {
        impl Lanes for $v {
            type Scalar = $t;
            type Mask = $mask;
            const N: usize = $n;

            #[inline(always)]
            unsafe fn splat(value: $t) -> Self {
                // SAFETY: (isa) the caller's duty.
                unsafe { $splat(value) }
            }
            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                // SAFETY: (isa, in bounds) the caller's duties; the instruction takes any alignment.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn le(self, other: Self) -> $mask {
                let ($a, $b) = (self, other);
                // SAFETY: (isa) the caller's duty.
                unsafe { $le }
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: (isa) the caller's duty.
                unsafe { $add(self, other) }
            }
            #[inline(always)]
            unsafe fn sub(self, other: Self) -> Self {
                // SAFETY: (isa) the caller's duty.
                unsafe { $sub(self, other) }
            }
            #[inline(always)]
            unsafe fn mul(self, other: Self) -> Self {
                // SAFETY: (isa) the caller's duty.
                unsafe { $mul(self, other) }
            }
        }
    };
}

lanes!(__m128, f32, 4, Wide<__m128>, _mm_set1_ps, _mm_loadu_ps, [_mm_add_ps, _mm_sub_ps, _mm_mul_ps], |a, b| Wide(_mm_cmple_ps(
    a, b
)));
lanes!(__m128d, f64, 2, Wide<__m128d>, _mm_set1_pd, _mm_loadu_pd, [_mm_add_pd, _mm_sub_pd, _mm_mul_pd], |a, b| Wide(
    _mm_cmple_pd(a, b)
));
lanes!(
    __m256,
    f32,
    8,
    Wide<__m256>,
    _mm256_set1_ps,
    _mm256_loadu_ps,
    [_mm256_add_ps, _mm256_sub_ps, _mm256_mul_ps],
    |a, b| Wide(_mm256_cmp_ps::<_CMP_LE_OQ>(a, b))
);
lanes!(__m256d, f64, 4, Wide<__m256d>, _mm256_set1_pd, _mm256_loadu_pd, [_mm256_add_pd, _mm256_sub_pd, _mm256_mul_pd], |a, b| {
    Wide(_mm256_cmp_pd::<_CMP_LE_OQ>(a, b))
});
lanes!(__m512, f32, 16, __mmask16, _mm512_set1_ps, _mm512_loadu_ps, [_mm512_add_ps, _mm512_sub_ps, _mm512_mul_ps], |a, b| {
    _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b)
});
lanes!(__m512d, f64, 8, __mmask8, _mm512_set1_pd, _mm512_loadu_pd, [_mm512_add_pd, _mm512_sub_pd, _mm512_mul_pd], |a, b| {
    _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b)
});

macro_rules! bytes {
    ($v:ty, $n:literal, $splat:ident, $load:ident, $subs:ident, $or:ident, |$a:ident| $zeros:expr) => {
        impl Bytes for $v {
            const N: usize = $n;

            #[inline(always)]
            unsafe fn splat(value: u8) -> Self {
                // SAFETY: (isa) the caller's duty.
                unsafe { $splat(value as i8) }
            }
            #[inline(always)]
            unsafe fn load(from: *const u8) -> Self {
                // SAFETY: (isa, in bounds) the caller's duties; the instruction takes any alignment.
                unsafe { $load(from.cast()) }
            }
            #[inline(always)]
            unsafe fn excess(self, other: Self) -> Self {
                // SAFETY: (isa) the caller's duty.
                unsafe { $subs(self, other) }
            }
            #[inline(always)]
            unsafe fn or(self, other: Self) -> Self {
                // SAFETY: (isa) the caller's duty.
                unsafe { $or(self, other) }
            }
            #[inline(always)]
            unsafe fn zeros(self) -> u64 {
                let $a = self;
                // SAFETY: (isa) the caller's duty.
                unsafe { $zeros }
            }
        }
    };
}

bytes!(__m128i, 16, _mm_set1_epi8, _mm_loadu_si128, _mm_subs_epu8, _mm_or_si128, |a| {
    u64::from(_mm_movemask_epi8(_mm_cmpeq_epi8(a, _mm_setzero_si128())) as u32)
});
bytes!(__m256i, 32, _mm256_set1_epi8, _mm256_loadu_si256, _mm256_subs_epu8, _mm256_or_si256, |a| {
    u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, _mm256_setzero_si256())) as u32)
});
/// Bytes in half of a register of AVX-512, compared into masks.
///
/// Whole registers swept slower than AVX2 on a processor that takes them in two halves (Zen 4): most runs of candidates are
/// shorter than 32.
#[derive(Clone, Copy, Debug)]
pub struct Half(__m256i);

impl Bytes for Half {
    const N: usize = 32;

    #[inline(always)]
    unsafe fn splat(value: u8) -> Self {
        // SAFETY: (isa) the caller's duty.
        Half(unsafe { _mm256_set1_epi8(value as i8) })
    }
    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: (isa, in bounds) the caller's duties; the instruction takes any alignment.
        Half(unsafe { _mm256_loadu_si256(from.cast()) })
    }
    #[inline(always)]
    unsafe fn excess(self, other: Self) -> Self {
        // SAFETY: (isa) the caller's duty.
        Half(unsafe { _mm256_subs_epu8(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: (isa) the caller's duty.
        Half(unsafe { _mm256_or_si256(self.0, other.0) })
    }
    #[inline(always)]
    unsafe fn zeros(self) -> u64 {
        // SAFETY: (isa) the caller's duty.
        u64::from(unsafe { _mm256_testn_epi8_mask(self.0, self.0) })
    }
}

impl Words for __m128i {
    #[inline(always)]
    unsafe fn load(from: &[u16; 8]) -> Self {
        // SAFETY: (isa) the caller's duty; (in bounds) the reference covers 16 bytes, any alignment will do.
        unsafe { _mm_loadu_si128(from.as_ptr().cast()) }
    }
    #[inline(always)]
    unsafe fn upper_bytes(self) -> u64 {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let bytes = _mm_srli_epi16::<8>(self);
            _mm_cvtsi128_si64(_mm_packus_epi16(bytes, bytes)) as u64
        }
    }
    #[inline(always)]
    unsafe fn reach(self) -> Self {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let swapped = _mm_shufflelo_epi16::<0b11_10_00_01>(_mm_shuffle_epi32::<0b11_01_10_00>(self));
            let ids = _mm_set_epi32(-1, 0, 0, 0);
            _mm_or_si128(_mm_xor_si128(swapped, _mm_set1_epi32(-1)), ids)
        }
    }
    #[inline(always)]
    unsafe fn excess(self, other: Self) -> Self {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm_subs_epu16(self, other) }
    }
    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm_or_si128(self, other) }
    }
    #[inline(always)]
    unsafe fn equal(self, other: Self) -> u32 {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm_movemask_epi8(_mm_cmpeq_epi16(self, other)) as u32 }
    }
    #[inline(always)]
    unsafe fn zeros(self) -> u32 {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm_movemask_epi8(_mm_cmpeq_epi16(self, _mm_setzero_si128())) as u32 }
    }
}
