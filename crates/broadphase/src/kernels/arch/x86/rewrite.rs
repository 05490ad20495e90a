//! Records rewritten in place: the loops, over the registers of SSE2 or of AVX2.

use std::arch::x86_64::*;
use std::ops::Range;

use crate::geometry::{Aabb, Real};
use crate::kernels::arch::Simd;
use crate::kernels::quantize::{AHEAD, Relocation, RelocationList, Rewritten, Source, TilePlace, prefetch_box};
use crate::kernels::tile::Record;

/// Does the vector form apply? It needs a linear map.
#[inline(always)]
pub(super) fn applies<const D: usize, T: Real>(source: &Source<'_, D, T>) -> bool {
    (D == 2 || D == 3) && source.map.is_linear()
}

/// The constants that transform boxes into records of a tile, in the registers of an instruction set.
///
/// # Safety
/// *isa*, for all methods. *Layout*: boxes are of the scalar that the implementing type is for, and `D` is 2 or 3.
pub(super) trait Transform: Copy {
    /// Both corners of a box.
    type Corners: Copy;
    /// The corners in lattice steps from the origin, not yet clamped.
    type Steps: Copy;
    /// The places of the corners, on the lattice or off it; in the plane, a box spans the whole lattice on z.
    type Places: Copy;
    /// On which axes all boxes so far have their lower side at most at their upper one.
    type Valid: Copy;

    /// The constants of a tile.
    ///
    /// # Safety
    /// *isa*, *layout* (see the trait).
    unsafe fn new<const D: usize, T: Real>(source: &Source<'_, D, T>, place: TilePlace<'_>) -> Self;
    /// The corners of a box.
    ///
    /// # Safety
    /// *isa*, *layout*.
    unsafe fn load<const D: usize, T>(value: &Aabb<D, T>) -> Self::Corners;
    /// The state before the first box: all axes.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn all_valid() -> Self::Valid;
    /// The state after one more box.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn and_ordered(valid: Self::Valid, corners: Self::Corners) -> Self::Valid;
    /// A bit for each axis on which all boxes are valid; further bits are not used.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn bits(valid: Self::Valid) -> i32;
    /// Steps from the origin of the lattice.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn steps(self, corners: Self::Corners) -> Self::Steps;
    /// The steps as integers, at least -1; beyond the highest integer, the lowest one.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn truncate<const D: usize>(steps: Self::Steps) -> Self::Places;
    /// The steps clamped to the lattice.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn clamp<const D: usize>(steps: Self::Steps) -> Self::Places;
    /// Are both corners in the tile?
    ///
    /// # Safety
    /// *isa*.
    unsafe fn contains(self, places: Self::Places) -> bool;
    /// The words of a record.
    ///
    /// # Safety
    /// *isa*.
    unsafe fn words(self, places: Self::Places, id: u32) -> __m128i;
    /// Writes an entry of the list.
    ///
    /// # Safety
    /// *isa*; *in bounds*: `entry` is valid for writing.
    unsafe fn write(places: Self::Places, id: u32, entry: *mut Relocation);
}

/// As the portable form, for objects that are all live.
///
/// # Safety
/// *isa*: that of `X`. *Layout*: as [`Transform`].
#[inline(always)]
pub(super) unsafe fn rewrite_inner<const TRACK_DELTA: bool, const D: usize, T: Real, X: Transform>(
    source: &Source<'_, D, T>,
    place: TilePlace<'_>,
    arena: &mut [Record],
    inner: Range<usize>,
    list: &mut RelocationList,
) -> (usize, bool) {
    assert!(list.has_room(inner.len()));
    assert!(inner.start <= inner.end && inner.end <= arena.len());
    let (boxes, mut end, mut listed) = (source.boxes, inner.start, list.len);
    // SAFETY: (isa, layout) the caller's duties; (in bounds) a record is written at or before the one that was read, and an entry
    // where there is room.
    unsafe {
        let transform = X::new(source, place);
        let (mut valid, mut difference) = (X::all_valid(), _mm_setzero_si128());
        for at in inner {
            prefetch_box(boxes, arena, at + AHEAD);
            let id = arena.get_unchecked(at).id();
            let value = X::load(&boxes[id as usize]);
            valid = X::and_ordered(valid, value);
            let steps = transform.steps(value);
            // Below -2^31 there is no integer, and subtracting from the lowest one would wrap. Beyond 2^31 the same holds for upper
            // corners: inverted, the lowest integer is the highest, which wraps to outside.
            let corners = X::truncate::<D>(steps);
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
                X::write(X::clamp::<D>(steps), id, list.entries.as_mut_ptr().add(listed));
                listed += 1;
            }
        }
        list.len = listed;
        if TRACK_DELTA {
            let mut record = Record::default();
            _mm_store_si128((&raw mut record).cast(), difference);
            list.difference |= record.difference(&Record::default());
        }
        (end, is_valid::<D, X>(valid))
    }
}

/// Are the first `D` lanes all ones?
///
/// # Safety
/// *isa*: that of `X`.
#[inline(always)]
unsafe fn is_valid<const D: usize, X: Transform>(valid: X::Valid) -> bool {
    // SAFETY: (isa) the caller's duty.
    unsafe { !X::bits(valid) & ((1 << D) - 1) == 0 }
}

/// As the portable form, for objects that are all live. Returns whether all boxes are valid.
///
/// # Safety
/// *isa*: that of `X`, and `S`. *Layout*: as [`Transform`]. *In bounds*: the arena has the records `outer`, of which none is
/// before the end. *Room*: for a note of each.
#[inline(always)]
pub(super) unsafe fn rewrite_straddling<const TRACK_DELTA: bool, const D: usize, T: Real, X: Transform, S: Simd>(
    simd: S,
    source: &Source<'_, D, T>,
    place: TilePlace<'_>,
    outer: Range<usize>,
    rewritten: &mut Rewritten<'_>,
) -> bool {
    let boxes = source.boxes;
    // SAFETY: (isa, layout, in bounds, room) the caller's duties.
    unsafe {
        let transform = X::new(source, place);
        let mut valid = X::all_valid();
        for at in outer {
            prefetch_box(boxes, rewritten.arena, at + AHEAD);
            let old = *rewritten.arena.get_unchecked(at);
            let value = X::load(&boxes[old.id() as usize]);
            valid = X::and_ordered(valid, value);
            let corners = X::clamp::<D>(transform.steps(value));
            let mut new = Record::default();
            _mm_store_si128((&raw mut new).cast(), transform.words(corners, old.id()));
            rewritten.put::<TRACK_DELTA, S>(simd, old, new);
        }
        is_valid::<D, X>(valid)
    }
}
