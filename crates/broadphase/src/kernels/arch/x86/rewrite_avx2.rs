//! Boxes to records of a tile, with AVX2.

use std::arch::x86_64::*;

use super::floats::Floats;
use super::quantize::{INVERTED, ORDERS};
use super::rewrite::Transform;
use crate::geometry::{Aabb, Real, each_axis};
use crate::kernels::prefetch::{LAST_PLACE, LATTICE_END};
use crate::kernels::quantize::{Relocation, Source, TilePlace};

/// The constants that transform boxes into records of a tile.
#[derive(Clone, Copy)]
pub(super) struct TileTransform<F: Floats> {
    origin: F::Corners,
    scale: F::Corners,
    /// The lower bound of places inside; for upper corners, place and bound are inverted.
    bound: __m256i,
    low: __m256i,
    shift: __m256i,
    order: __m128i,
}

/// Places on the lattice, or off it; in the plane, z is all of it.
///
/// # Safety
/// *isa*: AVX2.
#[inline(always)]
unsafe fn flat<const D: usize>(corners: __m256i) -> __m256i {
    // SAFETY: (isa) the caller's duty.
    unsafe {
        let flat = _mm256_setr_epi32(0, 0, 0, 0, 0, 0, LATTICE_END - 1, 0);
        if D == 2 { _mm256_blend_epi32::<0b0100_0100>(corners, flat) } else { corners }
    }
}

/// *isa* is AVX2, and the scalar is `F`.
impl<F: Floats> Transform for TileTransform<F> {
    type Corners = (F::Corner, F::Corner);
    type Steps = F::Corners;
    type Places = __m256i;
    type Valid = F::Corner;

    #[inline(always)]
    unsafe fn new<const D: usize, T: Real>(source: &Source<'_, D, T>, place: TilePlace<'_>) -> Self {
        let [x, y, z] = place.low;
        // A place that clamping would change is outside, so it need not be clamped.
        let [u, v, w] = each_axis(|k| if k < D { place.high[k].min(LAST_PLACE + 1) } else { place.high[k] });
        // SAFETY: (isa, layout) the caller's duties; (in bounds) maps have a whole period, and an axis is below three.
        unsafe {
            let (low, shift) = place.map.lanes();
            Self {
                origin: F::load_twice(source.map.origin.as_ptr().cast()),
                scale: F::load_twice(source.map.scale.as_ptr().cast()),
                bound: _mm256_setr_epi32(x, y, z, 0, -u, -v, -w, 0),
                low,
                shift,
                order: _mm_load_si128(ORDERS.as_ptr().add(place.map.axis()).cast()),
            }
        }
    }

    #[inline(always)]
    unsafe fn load<const D: usize, T>(value: &Aabb<D, T>) -> Self::Corners {
        // SAFETY: (isa, layout) the caller's duties; (in bounds) a box is its two corners.
        unsafe { F::load::<D>(std::ptr::from_ref(value).cast()) }
    }

    #[inline(always)]
    unsafe fn steps(self, corners: Self::Corners) -> F::Corners {
        // SAFETY: (isa) the caller's duty.
        unsafe { F::steps(corners, self.origin, self.scale) }
    }

    #[inline(always)]
    unsafe fn all_valid() -> F::Corner {
        // SAFETY: (isa) the caller's duty.
        unsafe { F::ones() }
    }

    #[inline(always)]
    unsafe fn and_ordered(valid: F::Corner, corners: Self::Corners) -> F::Corner {
        // SAFETY: (isa) the caller's duty.
        unsafe { F::and_ordered(valid, corners) }
    }

    #[inline(always)]
    unsafe fn bits(valid: F::Corner) -> i32 {
        // SAFETY: (isa) the caller's duty.
        unsafe { F::bits(valid) }
    }

    #[inline(always)]
    unsafe fn truncate<const D: usize>(steps: F::Corners) -> __m256i {
        // SAFETY: (isa) the caller's duty.
        unsafe { flat::<D>(F::truncate(steps)) }
    }

    #[inline(always)]
    unsafe fn clamp<const D: usize>(steps: F::Corners) -> __m256i {
        // SAFETY: (isa) the caller's duty.
        unsafe { flat::<D>(F::clamp(steps)) }
    }

    #[inline(always)]
    unsafe fn contains(self, corners: __m256i) -> bool {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let upper = _mm256_setr_epi32(0, 0, 0, 0, -1, -1, -1, -1);
            let beyond = _mm256_sub_epi32(_mm256_xor_si256(corners, upper), self.bound);
            _mm256_movemask_ps(_mm256_castsi256_ps(beyond)) & 0x77 == 0
        }
    }

    #[inline(always)]
    unsafe fn words(self, corners: __m256i, id: u32) -> __m128i {
        // SAFETY: (isa) the caller's duty; (in bounds) `INVERTED` is one vector.
        unsafe {
            let quanta = _mm256_srav_epi32(_mm256_sub_epi32(corners, self.low), self.shift);
            let words = _mm_packus_epi32(_mm256_castsi256_si128(quanta), _mm256_extracti128_si256::<1>(quanta));
            let inverted = _mm_loadu_si128(INVERTED.as_ptr().cast());
            _mm_insert_epi32::<3>(_mm_xor_si128(_mm_shuffle_epi8(words, self.order), inverted), id as i32)
        }
    }

    #[inline(always)]
    unsafe fn write(corners: __m256i, id: u32, entry: *mut Relocation) {
        // SAFETY: (isa) the caller's duty; (in bounds) seven integers, of which both vectors write one, and the id behind them.
        unsafe {
            let into = (&raw mut (*entry).corners).cast::<i32>();
            _mm_storeu_si128(into.cast(), _mm256_castsi256_si128(corners));
            _mm_storeu_si128(into.add(3).cast(), _mm256_extracti128_si256::<1>(corners));
            (*entry).id = id;
        }
    }
}
