//! Boxes of `f32` and of `f64` in the registers of AVX2.

use std::arch::x86_64::*;

use crate::kernels::prefetch::LAST_PLACE;

/// Boxes of `f32` or `f64` in registers: a lower corner and an upper one, of which the first two or three lanes are used.
///
/// # Safety
/// *isa*: AVX2, for all methods.
pub(super) trait Floats: Copy {
    /// A corner.
    type Corner: Copy;
    /// Both corners.
    type Corners: Copy;

    /// The corners of a box.
    ///
    /// # Safety
    /// *isa*; *in bounds*: `from` is valid for reading `2 * D` floats; `D` is 2 or 3.
    unsafe fn load<const D: usize>(from: *const Self) -> (Self::Corner, Self::Corner);
    /// Reads values that both corners share.
    ///
    /// # Safety
    /// *isa*; *in bounds*: `from` is valid for reading four floats.
    unsafe fn load_twice(from: *const Self) -> Self::Corners;
    /// All ones.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn ones() -> Self::Corner;
    /// `valid`, with zeros in lanes where the lower corner is not at most the upper one.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn and_ordered(valid: Self::Corner, corners: (Self::Corner, Self::Corner)) -> Self::Corner;
    /// A bit per lane of such a mask.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn bits(valid: Self::Corner) -> i32;
    /// `(corners - origin) * scale`.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn steps(corners: (Self::Corner, Self::Corner), origin: Self::Corners, scale: Self::Corners) -> Self::Corners;
    /// As integers, at least -1; beyond the highest integer, the lowest one.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn truncate(steps: Self::Corners) -> __m256i;
    /// Clamped to the lattice, as integers.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn clamp(steps: Self::Corners) -> __m256i;
}

impl Floats for f32 {
    type Corner = __m128;
    type Corners = __m256;

    #[inline(always)]
    unsafe fn load<const D: usize>(from: *const f32) -> (__m128, __m128) {
        // SAFETY: (isa) the caller's duty; (in bounds) in space, `min.xyz max.x` and `min.z max.xyz` of six floats; in the plane, all four.
        unsafe {
            let lower = _mm_loadu_ps(from);
            if D == 2 {
                return (lower, _mm_movehl_ps(lower, lower));
            }
            let tail = _mm_loadu_ps(from.add(2));
            (lower, _mm_shuffle_ps::<0b00_11_10_01>(tail, tail))
        }
    }
    #[inline(always)]
    unsafe fn load_twice(from: *const f32) -> __m256 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let of = _mm_loadu_ps(from);
            _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(of), of)
        }
    }
    #[inline(always)]
    unsafe fn ones() -> __m128 {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm_castsi128_ps(_mm_set1_epi32(-1)) }
    }
    #[inline(always)]
    unsafe fn and_ordered(valid: __m128, (lower, higher): (__m128, __m128)) -> __m128 {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm_and_ps(valid, _mm_cmple_ps(lower, higher)) }
    }
    #[inline(always)]
    unsafe fn bits(valid: __m128) -> i32 {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm_movemask_ps(valid) }
    }
    #[inline(always)]
    unsafe fn steps((lower, higher): (__m128, __m128), origin: __m256, scale: __m256) -> __m256 {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let both = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(lower), higher);
            _mm256_mul_ps(_mm256_sub_ps(both, origin), scale)
        }
    }
    #[inline(always)]
    unsafe fn truncate(steps: __m256) -> __m256i {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm256_cvttps_epi32(_mm256_max_ps(steps, _mm256_set1_ps(-1.0))) }
    }
    #[inline(always)]
    unsafe fn clamp(steps: __m256) -> __m256i {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let (zero, top) = (_mm256_setzero_ps(), _mm256_set1_ps(LAST_PLACE as f32));
            // If an operand is NaN, the result is the second one.
            _mm256_cvttps_epi32(_mm256_min_ps(_mm256_max_ps(steps, zero), top))
        }
    }
}

impl Floats for f64 {
    type Corner = __m256d;
    type Corners = (__m256d, __m256d);

    #[inline(always)]
    unsafe fn load<const D: usize>(from: *const f64) -> (__m256d, __m256d) {
        // SAFETY: (isa, in bounds) as for `f32`.
        unsafe {
            let lower = _mm256_loadu_pd(from);
            if D == 2 {
                return (lower, _mm256_permute4x64_pd::<0b11_10_11_10>(lower));
            }
            (lower, _mm256_permute4x64_pd::<0b00_11_10_01>(_mm256_loadu_pd(from.add(2))))
        }
    }
    #[inline(always)]
    unsafe fn load_twice(from: *const f64) -> (__m256d, __m256d) {
        // SAFETY: (isa, in bounds) the caller's duties.
        let of = unsafe { _mm256_loadu_pd(from) };
        (of, of)
    }
    #[inline(always)]
    unsafe fn ones() -> __m256d {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm256_castsi256_pd(_mm256_set1_epi64x(-1)) }
    }
    #[inline(always)]
    unsafe fn and_ordered(valid: __m256d, (lower, higher): (__m256d, __m256d)) -> __m256d {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm256_and_pd(valid, _mm256_cmp_pd::<_CMP_LE_OQ>(lower, higher)) }
    }
    #[inline(always)]
    unsafe fn bits(valid: __m256d) -> i32 {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm256_movemask_pd(valid) }
    }
    #[inline(always)]
    unsafe fn steps((lower, higher): (__m256d, __m256d), origin: Self::Corners, scale: Self::Corners) -> Self::Corners {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let (low, high) = (_mm256_sub_pd(lower, origin.0), _mm256_sub_pd(higher, origin.1));
            (_mm256_mul_pd(low, scale.0), _mm256_mul_pd(high, scale.1))
        }
    }
    #[inline(always)]
    unsafe fn truncate((low, high): Self::Corners) -> __m256i {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let least = _mm256_set1_pd(-1.0);
            let (low, high) = (_mm256_max_pd(low, least), _mm256_max_pd(high, least));
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(_mm256_cvttpd_epi32(low)), _mm256_cvttpd_epi32(high))
        }
    }
    #[inline(always)]
    unsafe fn clamp((low, high): Self::Corners) -> __m256i {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let (zero, top) = (_mm256_setzero_pd(), _mm256_set1_pd(f64::from(LAST_PLACE)));
            // If an operand is NaN, the result is the second one.
            let low = _mm256_cvttpd_epi32(_mm256_min_pd(_mm256_max_pd(low, zero), top));
            let high = _mm256_cvttpd_epi32(_mm256_min_pd(_mm256_max_pd(high, zero), top));
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
        }
    }
}
