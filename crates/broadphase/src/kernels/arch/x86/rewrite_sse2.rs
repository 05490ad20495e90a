//! Boxes to records of a tile, with SSE2: no shift by lane, no shuffle of bytes, no unsigned packing.
//!
//! Both corners are registers of their own. A shift by axis takes the lower and the upper coordinate of one axis side by side; words are packed with
//! sign, 2^15 below what they stand for.

use std::arch::x86_64::*;

use super::Sse2;
use super::quantize::INVERTED;
use super::rewrite::{self, Transform};
use crate::geometry::{Aabb, Real, each_axis};
use crate::kernels::prefetch::{LAST_PLACE, LATTICE_END};
use crate::kernels::quantize::{
    CORNERS, Corners, Quantize, Relocation, RelocationList, Rewritten, Source, TileMap, TilePlace, refresh as portable,
};
use crate::kernels::tile::Record;
use std::ops::Range;

impl Quantize for Sse2 {
    #[inline(always)]
    fn record(self, corners: &Corners, tile: &TileMap, id: u32) -> Record {
        let from: &[i32; CORNERS + 1] = &corners.0;
        // SAFETY: (isa) part of every x86-64; (in bounds) integers 0 to 3 and 3 to 6 of seven; a record is one vector.
        unsafe {
            let places = (_mm_loadu_si128(from.as_ptr().cast()), _mm_loadu_si128(from.as_ptr().add(3).cast()));
            let mut record = Record::default();
            _mm_store_si128((&raw mut record).cast(), Quanta::new(tile).words(places, id));
            record
        }
    }

    #[inline(always)]
    fn rewrite_inner<const TRACK_DELTA: bool, const D: usize, T: Real>(
        self,
        source: &Source<'_, D, T>,
        place: TilePlace<'_>,
        arena: &mut [Record],
        inner: Range<usize>,
        list: &mut RelocationList,
    ) -> (usize, bool) {
        if !rewrite::applies(source) {
            return portable::rewrite_inner::<TRACK_DELTA, D, T, Self>(self, source, place, arena, inner, list);
        }
        // SAFETY: (isa) as above; (layout) boxes of `D` times two `f32` or `f64`, which differ in size.
        unsafe {
            if const { size_of::<T>() == 4 } {
                rewrite::rewrite_inner::<TRACK_DELTA, D, T, TileTransform<f32>>(source, place, arena, inner, list)
            } else {
                rewrite::rewrite_inner::<TRACK_DELTA, D, T, TileTransform<f64>>(source, place, arena, inner, list)
            }
        }
    }

    #[inline(always)]
    unsafe fn straddling_each<const TRACK_DELTA: bool, const D: usize, T: Real>(
        self,
        source: &Source<'_, D, T>,
        place: TilePlace<'_>,
        outer: Range<usize>,
        rewritten: &mut Rewritten<'_>,
    ) -> bool {
        // SAFETY: (isa, layout) as above; (in bounds, room) the caller's duties.
        unsafe {
            if !rewrite::applies(source) {
                portable::straddling_each::<TRACK_DELTA, D, T, Self>(self, source, place, outer, rewritten)
            } else if const { size_of::<T>() == 4 } {
                rewrite::rewrite_straddling::<TRACK_DELTA, D, T, TileTransform<f32>, Self>(self, source, place, outer, rewritten)
            } else {
                rewrite::rewrite_straddling::<TRACK_DELTA, D, T, TileTransform<f64>, Self>(self, source, place, outer, rewritten)
            }
        }
    }
}

/// The places of a lower and of an upper corner: x, y, z, and a lane that is not used.
type Places = (__m128i, __m128i);

/// From places to the words of a record.
#[derive(Clone, Copy)]
struct Quanta {
    /// The lowest places less one quantum; the fourth lane is not used.
    low: __m128i,
    /// By axis.
    shift: [__m128i; 3],
    /// The axis of the sweep.
    axis: usize,
}

impl Quanta {
    #[inline(always)]
    fn new(tile: &TileMap) -> Self {
        // SAFETY: (isa) part of every x86-64; (in bounds) the map is one vector of 16 bytes.
        unsafe {
            let low = _mm_load_si128(std::ptr::from_ref(tile).cast());
            let [x, y, z] = tile.shift().map(i32::from);
            Self { low, shift: [_mm_cvtsi32_si128(x), _mm_cvtsi32_si128(y), _mm_cvtsi32_si128(z)], axis: tile.axis() }
        }
    }

    /// The words of a record: `min.x max.x min.y min.z max.y max.z id`, upper ones inverted, with the sweep axis in the place of x.
    #[inline(always)]
    fn words(self, (lower, upper): Places, id: u32) -> __m128i {
        let [x, y, z] = self.shift;
        // SAFETY: (isa) part of every x86-64; (in bounds) `INVERTED` is one vector.
        unsafe {
            let (lower, upper) = (_mm_sub_epi32(lower, self.low), _mm_sub_epi32(upper, self.low));
            // Two axes side by side, each as its lower and its upper place; then the third.
            let (two, third) = (_mm_unpacklo_epi32(lower, upper), _mm_unpackhi_epi32(lower, upper));
            let (first, second) = (_mm_castsi128_pd(_mm_sra_epi32(two, x)), _mm_castsi128_pd(_mm_sra_epi32(two, y)));
            let two = _mm_castpd_si128(_mm_shuffle_pd::<0b10>(first, second));
            // Signed packing saturates as the unsigned one would, if all is 2^15 lower.
            let less = _mm_set1_epi32(1 << 15);
            let packed = _mm_packs_epi32(_mm_sub_epi32(two, less), _mm_sub_epi32(_mm_sra_epi32(third, z), less));
            // The two axes that are not swept, then the one that is: as pairs of words, lower and upper.
            let pairs = match self.axis {
                0 => _mm_shuffle_epi32::<0b11_00_10_01>(packed),
                1 => _mm_shuffle_epi32::<0b11_01_10_00>(packed),
                _ => packed,
            };
            let words = _mm_shuffle_epi32::<0b11_01_00_10>(_mm_shufflelo_epi16::<0b11_01_10_00>(pairs));
            // 2^15 more; and the upper ones inverted.
            let words = _mm_xor_si128(words, _mm_xor_si128(_mm_set1_epi16(i16::MIN), _mm_loadu_si128(INVERTED.as_ptr().cast())));
            let coordinates = _mm_setr_epi32(-1, -1, -1, 0);
            _mm_or_si128(_mm_and_si128(words, coordinates), _mm_slli_si128::<12>(_mm_cvtsi32_si128(id as i32)))
        }
    }
}

/// The constants that transform boxes into records of a tile.
#[derive(Clone, Copy)]
struct TileTransform<F: Floats> {
    origin: F::Corner,
    scale: F::Corner,
    /// The lowest places inside, and the lowest outside.
    from: __m128i,
    to: __m128i,
    quanta: Quanta,
}

/// *isa* is SSE2, and the scalar is `F`.
impl<F: Floats> Transform for TileTransform<F> {
    type Corners = (F::Corner, F::Corner);
    type Steps = (F::Corner, F::Corner);
    type Places = Places;
    type Valid = __m128i;

    #[inline(always)]
    unsafe fn new<const D: usize, T: Real>(source: &Source<'_, D, T>, place: TilePlace<'_>) -> Self {
        let [x, y, z] = place.low;
        // A place that clamping would change is outside, so it need not be clamped.
        let [u, v, w] = each_axis(|k| if k < D { place.high[k].min(LAST_PLACE + 1) } else { place.high[k] });
        // SAFETY: (isa, layout) the caller's duties; (in bounds) maps have a whole period.
        unsafe {
            Self {
                origin: F::load_three(source.map.origin.as_ptr().cast()),
                scale: F::load_three(source.map.scale.as_ptr().cast()),
                from: _mm_setr_epi32(x, y, z, 0),
                to: _mm_setr_epi32(u, v, w, 0),
                quanta: Quanta::new(place.map),
            }
        }
    }

    #[inline(always)]
    unsafe fn load<const D: usize, T>(value: &Aabb<D, T>) -> Self::Corners {
        // SAFETY: (isa, layout) the caller's duties; (in bounds) a box is its two corners.
        unsafe { F::load::<D>(std::ptr::from_ref(value).cast()) }
    }

    #[inline(always)]
    unsafe fn all_valid() -> __m128i {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm_set1_epi32(-1) }
    }

    #[inline(always)]
    unsafe fn and_ordered(valid: __m128i, (lower, upper): Self::Corners) -> __m128i {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm_and_si128(valid, F::ordered(lower, upper)) }
    }

    #[inline(always)]
    unsafe fn bits(valid: __m128i) -> i32 {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm_movemask_ps(_mm_castsi128_ps(valid)) }
    }

    #[inline(always)]
    unsafe fn steps(self, (lower, upper): Self::Corners) -> Self::Steps {
        // SAFETY: (isa) the caller's duty.
        unsafe { (F::steps(lower, self.origin, self.scale), F::steps(upper, self.origin, self.scale)) }
    }

    #[inline(always)]
    unsafe fn truncate<const D: usize>((lower, upper): Self::Steps) -> Places {
        // SAFETY: (isa) the caller's duty.
        unsafe { flat::<D>((F::truncate(lower), F::truncate(upper))) }
    }

    #[inline(always)]
    unsafe fn clamp<const D: usize>((lower, upper): Self::Steps) -> Places {
        // SAFETY: (isa) the caller's duty.
        unsafe { flat::<D>((F::clamp(lower), F::clamp(upper))) }
    }

    #[inline(always)]
    unsafe fn contains(self, (lower, upper): Places) -> bool {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let below = _mm_sub_epi32(lower, self.from);
            // Inverted, so that the lowest integer, which stands for places beyond the highest, counts as outside.
            let beyond = _mm_add_epi32(_mm_xor_si128(upper, _mm_set1_epi32(-1)), self.to);
            _mm_movemask_ps(_mm_castsi128_ps(_mm_or_si128(below, beyond))) & 0b111 == 0
        }
    }

    #[inline(always)]
    unsafe fn words(self, places: Places, id: u32) -> __m128i {
        self.quanta.words(places, id)
    }

    #[inline(always)]
    unsafe fn write((lower, upper): Places, id: u32, entry: *mut Relocation) {
        // SAFETY: (isa) the caller's duty; (in bounds) seven integers, of which both vectors write one, and the id behind them.
        unsafe {
            let into = (&raw mut (*entry).corners).cast::<i32>();
            _mm_storeu_si128(into.cast(), lower);
            _mm_storeu_si128(into.add(3).cast(), upper);
            (*entry).id = id;
        }
    }
}

/// In the plane, z is all of the lattice.
///
/// # Safety
/// *isa*: SSE2.
#[inline(always)]
unsafe fn flat<const D: usize>((lower, upper): Places) -> Places {
    if D != 2 {
        return (lower, upper);
    }
    // SAFETY: (isa) the caller's duty.
    unsafe {
        let plane = _mm_setr_epi32(-1, -1, 0, 0);
        let last = _mm_setr_epi32(0, 0, LATTICE_END - 1, 0);
        (_mm_and_si128(lower, plane), _mm_or_si128(_mm_and_si128(upper, plane), last))
    }
}

/// A corner of `f32` or `f64` in registers, of which the first two or three lanes are used.
///
/// # Safety
/// *isa*: SSE2, for all methods.
trait Floats: Copy {
    /// A corner.
    type Corner: Copy;

    /// The corners of a box.
    ///
    /// # Safety
    /// *isa*; *in bounds*: `from` is valid for reading `2 * D` floats; `D` is 2 or 3.
    unsafe fn load<const D: usize>(from: *const Self) -> (Self::Corner, Self::Corner);
    /// Reads the values of three axes.
    ///
    /// # Safety
    /// *isa*; *in bounds*: `from` is valid for reading four floats.
    unsafe fn load_three(from: *const Self) -> Self::Corner;
    /// All ones in lanes where the lower corner is at most the upper one.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn ordered(lower: Self::Corner, upper: Self::Corner) -> __m128i;
    /// `(corner - origin) * scale`.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn steps(corner: Self::Corner, origin: Self::Corner, scale: Self::Corner) -> Self::Corner;
    /// As integers, at least -1; beyond the highest integer, the lowest one.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn truncate(steps: Self::Corner) -> __m128i;
    /// Clamped to the lattice, as integers.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn clamp(steps: Self::Corner) -> __m128i;
}

impl Floats for f32 {
    type Corner = __m128;

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
    unsafe fn load_three(from: *const f32) -> __m128 {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe { _mm_loadu_ps(from) }
    }
    #[inline(always)]
    unsafe fn ordered(lower: __m128, upper: __m128) -> __m128i {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm_castps_si128(_mm_cmple_ps(lower, upper)) }
    }
    #[inline(always)]
    unsafe fn steps(corner: __m128, origin: __m128, scale: __m128) -> __m128 {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm_mul_ps(_mm_sub_ps(corner, origin), scale) }
    }
    #[inline(always)]
    unsafe fn truncate(steps: __m128) -> __m128i {
        // SAFETY: (isa) the caller's duty.
        unsafe { _mm_cvttps_epi32(_mm_max_ps(steps, _mm_set1_ps(-1.0))) }
    }
    #[inline(always)]
    unsafe fn clamp(steps: __m128) -> __m128i {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            // If an operand is NaN, the result is the second one.
            _mm_cvttps_epi32(_mm_min_ps(_mm_max_ps(steps, _mm_setzero_ps()), _mm_set1_ps(LAST_PLACE as f32)))
        }
    }
}

impl Floats for f64 {
    /// x and y, and z.
    type Corner = (__m128d, __m128d);

    #[inline(always)]
    unsafe fn load<const D: usize>(from: *const f64) -> (Self::Corner, Self::Corner) {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let corner = |at: *const f64| (_mm_loadu_pd(at), if D == 3 { _mm_load_sd(at.add(2)) } else { _mm_setzero_pd() });
            (corner(from), corner(from.add(D)))
        }
    }
    #[inline(always)]
    unsafe fn load_three(from: *const f64) -> Self::Corner {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe { (_mm_loadu_pd(from), _mm_load_sd(from.add(2))) }
    }
    #[inline(always)]
    unsafe fn ordered(lower: Self::Corner, upper: Self::Corner) -> __m128i {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let (two, third) = (_mm_cmple_pd(lower.0, upper.0), _mm_cmple_pd(lower.1, upper.1));
            _mm_castps_si128(_mm_shuffle_ps::<0b10_00_10_00>(_mm_castpd_ps(two), _mm_castpd_ps(third)))
        }
    }
    #[inline(always)]
    unsafe fn steps(corner: Self::Corner, origin: Self::Corner, scale: Self::Corner) -> Self::Corner {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let third = _mm_mul_sd(_mm_sub_sd(corner.1, origin.1), scale.1);
            (_mm_mul_pd(_mm_sub_pd(corner.0, origin.0), scale.0), third)
        }
    }
    #[inline(always)]
    unsafe fn truncate(steps: Self::Corner) -> __m128i {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let least = _mm_set1_pd(-1.0);
            let (two, third) = (_mm_max_pd(steps.0, least), _mm_max_pd(steps.1, least));
            _mm_unpacklo_epi64(_mm_cvttpd_epi32(two), _mm_cvttpd_epi32(third))
        }
    }
    #[inline(always)]
    unsafe fn clamp(steps: Self::Corner) -> __m128i {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let (zero, top) = (_mm_setzero_pd(), _mm_set1_pd(f64::from(LAST_PLACE)));
            // If an operand is NaN, the result is the second one.
            let (two, third) = (_mm_min_pd(_mm_max_pd(steps.0, zero), top), _mm_min_pd(_mm_max_pd(steps.1, zero), top));
            _mm_unpacklo_epi64(_mm_cvttpd_epi32(two), _mm_cvttpd_epi32(third))
        }
    }
}
