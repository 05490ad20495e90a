//! Registers of SSE2, AVX2 and AVX-512.

use std::arch::x86_64::*;

use crate::kernels::arch::lanes::{Bytes, Lanes, Mask, Words};

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
