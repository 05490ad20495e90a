//! Records rewritten in place, with AVX2.

use std::arch::x86_64::*;
use std::ops::Range;

use super::floats::Floats;
use super::quantize::{INVERTED, ORDERS};
use crate::geometry::{Aabb, Real};
use crate::kernels::arch::Simd;
use crate::kernels::prefetch::{LAST_PLACE, LATTICE_END};
use crate::kernels::quantize::{AHEAD, Relocation, RelocationList, Rewritten, Source, TilePlace, prefetch_box};
use crate::kernels::tile::Record;

/// Does the vector form apply? It needs a linear map.
#[inline(always)]
pub(super) fn applies<const D: usize, T: Real>(source: &Source<'_, D, T>) -> bool {
    (D == 2 || D == 3) && source.map.is_linear()
}

/// The constants that transform boxes into records of a tile.
#[derive(Clone, Copy)]
struct TileTransform<F: Floats> {
    origin: F::Corners,
    scale: F::Corners,
    /// The lower bound of places inside; for upper corners, place and bound are inverted.
    bound: __m256i,
    low: __m256i,
    shift: __m256i,
    order: __m128i,
}

/// # Safety
/// *isa*: AVX2, for all methods. *Layout*: `T` is `F`, and `D` is 2 or 3.
impl<F: Floats> TileTransform<F> {
    #[inline(always)]
    unsafe fn new<const D: usize, T: Real>(source: &Source<'_, D, T>, place: TilePlace<'_>) -> Self {
        let [x, y, z] = place.low;
        // A place that clamping would change is outside, so it need not be clamped.
        let [u, v, w] = std::array::from_fn(|k| if k < D { place.high[k].min(LAST_PLACE + 1) } else { place.high[k] });
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

    /// The corners of a box.
    #[inline(always)]
    unsafe fn load<const D: usize, T>(value: &Aabb<D, T>) -> (F::Corner, F::Corner) {
        // SAFETY: (isa, layout) the caller's duties; (in bounds) a box is its two corners.
        unsafe { F::load::<D>(std::ptr::from_ref(value).cast()) }
    }

    /// Steps from the origin of the lattice, not yet clamped.
    #[inline(always)]
    unsafe fn steps(self, corners: (F::Corner, F::Corner)) -> F::Corners {
        // SAFETY: (isa) the caller's duty.
        unsafe { F::steps(corners, self.origin, self.scale) }
    }

    /// Places on the lattice, or off it; in the plane, z is all of it.
    #[inline(always)]
    unsafe fn flat<const D: usize>(corners: __m256i) -> __m256i {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let flat = _mm256_setr_epi32(0, 0, 0, 0, 0, 0, LATTICE_END - 1, 0);
            if D == 2 { _mm256_blend_epi32::<0b0100_0100>(corners, flat) } else { corners }
        }
    }

    /// Are both corners in the tile?
    #[inline(always)]
    unsafe fn contains(self, corners: __m256i) -> bool {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let upper = _mm256_setr_epi32(0, 0, 0, 0, -1, -1, -1, -1);
            let beyond = _mm256_sub_epi32(_mm256_xor_si256(corners, upper), self.bound);
            _mm256_movemask_ps(_mm256_castsi256_ps(beyond)) & 0x77 == 0
        }
    }

    /// The words of a record.
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

    /// Writes an entry of the list.
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

/// As the portable form, for objects that are all live.
///
/// # Safety
/// *isa*: AVX2. *Layout*: `T` is `F`, and `D` is 2 or 3. *Room*: the list has some for all records.
#[inline(always)]
pub(super) unsafe fn rewrite_inner<const TRACK_DELTA: bool, const D: usize, T: Real, F: Floats>(
    source: &Source<'_, D, T>,
    place: TilePlace<'_>,
    arena: &mut [Record],
    inner: Range<usize>,
    list: &mut RelocationList,
) -> (usize, bool) {
    debug_assert!(list.entries.len() >= list.len + inner.len());
    assert!(inner.start <= inner.end && inner.end <= arena.len());
    let (boxes, mut end, mut listed) = (source.boxes, inner.start, list.len);
    // SAFETY: (isa, layout) the caller's duties; (in bounds) a record is written at or before the one that was read, and an entry
    // where there is room.
    unsafe {
        let transform = TileTransform::<F>::new(source, place);
        let (mut valid, mut difference) = (F::ones(), _mm_setzero_si128());
        for at in inner {
            prefetch_box(boxes, arena, at + AHEAD);
            let id = arena.get_unchecked(at).id();
            let value = TileTransform::<F>::load(&boxes[id as usize]);
            valid = F::and_ordered(valid, value);
            let steps = transform.steps(value);
            // Below -2^31 there is no integer, and subtracting from the lowest one would wrap. Beyond 2^31 the same holds for upper
            // corners: inverted, the lowest integer is the highest, which wraps to outside.
            let corners = TileTransform::<F>::flat::<D>(F::truncate(steps));
            let words = transform.words(corners, id);
            let so_far = difference;
            if TRACK_DELTA {
                let old = _mm_load_si128(arena.as_ptr().add(at).cast());
                difference = _mm_or_si128(difference, _mm_xor_si128(old, words));
            }
            _mm_store_si128(arena.as_mut_ptr().add(end).cast(), words);
            end += 1;
            if !transform.contains(corners) {
                end -= 1;
                difference = so_far;
                TileTransform::<F>::write(
                    TileTransform::<F>::flat::<D>(F::clamp(steps)),
                    id,
                    list.entries.as_mut_ptr().add(listed),
                );
                listed += 1;
            }
        }
        list.len = listed;
        if TRACK_DELTA {
            let mut record = Record::default();
            _mm_store_si128((&raw mut record).cast(), difference);
            list.difference |= record.difference(&Record::default());
        }
        (end, all_valid::<D, F>(valid))
    }
}

/// Are the first `D` lanes all ones?
///
/// # Safety
/// *isa*: AVX2.
#[inline(always)]
unsafe fn all_valid<const D: usize, F: Floats>(valid: F::Corner) -> bool {
    // SAFETY: (isa) the caller's duty.
    unsafe { !F::bits(valid) & ((1 << D) - 1) == 0 }
}

/// As the portable form, for objects that are all live. Returns whether all boxes are valid.
///
/// # Safety
/// *isa*: AVX2, and `S`. *Layout*: `T` is `F`, and `D` is 2 or 3. *In bounds*: the arena has the records `outer`, of which none is
/// before the end. *Room*: for a note of each.
#[inline(always)]
pub(super) unsafe fn rewrite_straddling<const TRACK_DELTA: bool, const D: usize, T: Real, F: Floats, S: Simd>(
    simd: S,
    source: &Source<'_, D, T>,
    place: TilePlace<'_>,
    outer: Range<usize>,
    rewritten: &mut Rewritten<'_>,
) -> bool {
    let boxes = source.boxes;
    // SAFETY: (isa, layout, in bounds, room) the caller's duties.
    unsafe {
        let transform = TileTransform::<F>::new(source, place);
        let mut valid = F::ones();
        for at in outer {
            prefetch_box(boxes, rewritten.arena, at + AHEAD);
            let old = *rewritten.arena.get_unchecked(at);
            let value = TileTransform::<F>::load(&boxes[old.id() as usize]);
            valid = F::and_ordered(valid, value);
            let corners = TileTransform::<F>::flat::<D>(F::clamp(transform.steps(value)));
            let mut new = Record::default();
            _mm_store_si128((&raw mut new).cast(), transform.words(corners, old.id()));
            rewritten.put::<TRACK_DELTA, S>(simd, old, new);
        }
        all_valid::<D, F>(valid)
    }
}
