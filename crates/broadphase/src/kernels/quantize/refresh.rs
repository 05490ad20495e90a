//! The records of a tile, rewritten in place from the boxes of a new frame.
//!
//! The simple loop reads an object's box by its id, quantizes it and overwrites its record. Four departures:
//! 1. Objects that were wholly inside the tile come first, and nearly all of them still are: [`rewrite_inner`] branches on the exceptions. Those
//!    are listed for relocation.
//! 2. An object that reaches several tiles has a record in each. The records stay in place as long as the object reaches the same tiles, which
//!    each record can check locally ([`rewrite_straddling`]). If one check fails, all records of the object are dropped, and it is relocated.
//! 3. Boxes lie in the order of their slots, records in the order of their tiles: the box of a record further on is prefetched.
//! 4. A place off the lattice is not clamped while rewriting: it counts as outside, and is clamped when the object is listed.
//!
//! # Why a local check is enough
//! On each side of a tile, an object ends inside or beyond. Assume that it still reaches every tile that it reached before, and ends on each side of
//! each of them as before. Then it reaches no other tile. Proof: if it now reached another tile, it would do so across a face of one of its
//! old tiles, *t*, which it already crossed. Follow that face from where the object touched it before to where it meets the new
//! tile, one axis at a time. The first tile behind the face is an old one. Where the path leaves that tile, the object has grown beyond
//! a side on which it ended inside before, which contradicts the assumption. So the path never leaves it.

use std::ops::Range;

use super::{CORNERS, Corners, Map, TileMap, corners_in};
use crate::geometry::{Aabb, Real};
use crate::kernels::arch::{Simd, Words};
use crate::kernels::prefetch::prefetch;
use crate::kernels::tile::{COORDINATES, Record};
use crate::memory;

/// What the memory is for, in errors.
const RELOCATED: &str = "objects that change tiles";

/// An object to be relocated: its corners, of which vectors write eight words, and its id.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Relocation {
    pub(crate) corners: Corners,
    pub(crate) id: u32,
}

const _: () = assert!(size_of::<Relocation>() == 32);

/// Objects to be relocated.
#[derive(Clone, Debug, Default)]
pub(crate) struct RelocationList {
    /// The first `len` are valid.
    pub(in crate::kernels) entries: Vec<Relocation>,
    pub(in crate::kernels) len: usize,
    /// Objects whose records are dropped: as a list, of which the first `count` are valid, with duplicates; and as bits, from the
    /// object `first` on.
    noted: Vec<u32>,
    count: usize,
    marks: Vec<u64>,
    first: u32,
    /// Was an allocation refused? Then some objects or marks are missing.
    pub(crate) is_incomplete: bool,
    /// The bits in which the records of a tile differ from those of the last frame, if that is tracked.
    pub(crate) difference: u128,
}

impl RelocationList {
    /// Removes all entries and marks. Objects from `first` to `last` may be marked.
    pub(crate) fn clear(&mut self, first: u32, last: u32) {
        (self.len, self.count) = (0, 0);
        self.is_incomplete = memory::refill(&mut self.marks, (last - first) as usize / 64 + 1, 0, RELOCATED).is_err();
        self.first = first;
    }

    /// Makes sure that all noted objects can be listed.
    pub(crate) fn reserve_for_noted(&mut self) {
        self.reserve(self.count);
    }

    /// Marks the noted objects, and lists them. There must be room for them.
    #[inline(always)]
    pub(crate) fn add_noted<const D: usize, T: Real, S: Simd>(&mut self, simd: S, source: &Source<'_, D, T>) {
        for &id in &self.noted[..self.count] {
            let (word, bit) = (&mut self.marks[(id - self.first) as usize / 64], 1 << ((id - self.first) % 64));
            let is_new = *word & bit == 0;
            *word |= bit;
            self.entries[self.len] = Relocation { corners: corners_in(simd, &source.boxes[id as usize], source.map), id };
            self.len += usize::from(is_new);
        }
    }

    /// Drops the records of marked objects from `range` of the arena; returns the end of the others.
    pub(crate) fn drop_marked(&self, arena: &mut [Record], range: Range<usize>) -> usize {
        if self.count == 0 {
            return range.end;
        }
        let mut end = range.start;
        for at in range {
            let record = arena[at];
            arena[end] = record;
            end += usize::from(!has_bit(&self.marks, record.id() - self.first));
        }
        end
    }

    /// The listed objects.
    pub(crate) fn entries(&self) -> &[Relocation] {
        &self.entries[..self.len]
    }

    /// Appends the objects of another list, and those that it notes.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.reserve(other.len);
        self.reserve_noted(other.count);
        if self.is_incomplete {
            return;
        }
        self.entries[self.len..self.len + other.len].copy_from_slice(other.entries());
        self.len += other.len;
        self.noted[self.count..self.count + other.count].copy_from_slice(&other.noted[..other.count]);
        self.count += other.count;
    }

    /// Adds an object.
    pub(crate) fn push(&mut self, corners: Corners, id: u32) {
        self.reserve(1);
        if let Some(entry) = self.entries.get_mut(self.len) {
            *entry = Relocation { corners, id };
            self.len += 1;
        }
    }

    /// Makes room for the records of a tile: `inner` objects that may be listed, and `outer` ones that may be noted. Returns whether there is.
    #[inline]
    pub(crate) fn make_room(&mut self, inner: usize, outer: usize) -> bool {
        self.reserve(inner);
        self.reserve_noted(outer);
        !self.is_incomplete
    }

    /// Can `count` more objects be listed?
    #[inline(always)]
    pub(in crate::kernels) fn has_room(&self, count: usize) -> bool {
        self.entries.len() >= self.len + count
    }

    /// Makes sure that `count` more fit, or that the list is incomplete.
    fn reserve(&mut self, count: usize) {
        if !self.has_room(count) {
            let len = (self.len + count).max(self.len * 5 / 4);
            self.is_incomplete |= memory::resize(&mut self.entries, len, Relocation::default(), RELOCATED).is_err();
        }
    }

    /// Makes sure that `count` more objects can be dropped, and one is written that does not count, or that the list is incomplete.
    fn reserve_noted(&mut self, count: usize) {
        if self.noted.len() <= self.count + count {
            let len = (self.count + count + 1).max(self.noted.len() * 5 / 4);
            self.is_incomplete |= memory::resize(&mut self.noted, len, 0, RELOCATED).is_err();
        }
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Relocation>() + self.marks.capacity() * 8 + self.noted.capacity() * 4
    }
}

/// The boxes that records are made from, and the map to the lattice.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a, const D: usize, T> {
    pub(crate) boxes: &'a [Aabb<D, T>],
    pub(crate) map: &'a Map<T>,
}

/// A tile: the map of its records, its lowest place inside and the lowest outside.
#[derive(Clone, Copy)]
pub(crate) struct TilePlace<'a> {
    pub(crate) map: &'a TileMap,
    pub(crate) low: [i32; 3],
    pub(crate) high: [i32; 3],
}

impl TilePlace<'_> {
    /// The tile itself, as a record.
    #[inline(always)]
    fn record<S: Simd>(&self, simd: S) -> Record {
        let ([x, y, z], [u, v, w]) = (self.low, self.high);
        simd.record(&Corners([x, y, z, u - 1, v - 1, w - 1, 0]), self.map, 0)
    }

    /// Are both corners in the tile?
    #[inline(always)]
    fn contains(&self, corners: &Corners) -> bool {
        (0..3).all(|k| corners.0[k] >= self.low[k]) & (3..CORNERS).all(|k| corners.0[k] < self.high[k - 3])
    }
}

/// Is the bit of an object set? Missing words count as zero.
#[inline(always)]
fn has_bit(words: &[u64], id: u32) -> bool {
    words.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
}

/// How many records ahead boxes are prefetched.
pub(in crate::kernels) const AHEAD: usize = 48;

/// Prefetches the box of the record `at`, if there is one.
#[inline(always)]
pub(in crate::kernels) fn prefetch_box<const D: usize, T>(boxes: &[Aabb<D, T>], arena: &[Record], at: usize) {
    if let Some(record) = arena.get(at) {
        prefetch(boxes, record.id() as usize);
    }
}

/// The portable form of [`Quantize::rewrite_inner`](super::Quantize::rewrite_inner).
#[inline(always)]
pub(in crate::kernels) fn rewrite_inner<const TRACK_DELTA: bool, const D: usize, T: Real, S: Simd>(
    simd: S,
    source: &Source<'_, D, T>,
    place: TilePlace<'_>,
    arena: &mut [Record],
    inner: Range<usize>,
    list: &mut RelocationList,
) -> (usize, bool) {
    assert!(list.has_room(inner.len()));
    let (mut end, mut valid) = (inner.start, true);
    for at in inner {
        prefetch_box(source.boxes, arena, at + AHEAD);
        let old = arena[at];
        let id = old.id();
        let value = &source.boxes[id as usize];
        valid &= value.is_valid();
        let corners = corners_in(simd, value, source.map);
        // The vector form does not clamp places off a linear lattice, and counts them as outside.
        let inside = place.contains(&corners) & (!source.map.is_linear() || source.map.contains(value));
        let new = simd.record(&corners, place.map, id);
        if TRACK_DELTA && inside {
            list.difference |= old.difference(&new);
        }
        arena[end] = new;
        list.entries[list.len] = Relocation { corners, id };
        end += usize::from(inside);
        list.len += usize::from(!inside);
    }
    (end, valid)
}

/// Rewrites the records `outer` of a tile, of objects that reach beyond it or arrived in the last frame. They are packed from `end` on, which
/// is at most the start; those of objects wholly inside come first. Returns their end, the end of all, and whether all
/// boxes are valid. Objects that no longer reach the same tiles are noted; their records are dropped later.
#[inline(always)]
pub(crate) fn rewrite_straddling<const TRACK_DELTA: bool, const D: usize, T: Real, S: Simd>(
    simd: S,
    source: &Source<'_, D, T>,
    place: TilePlace<'_>,
    arena: &mut [Record],
    outer: Range<usize>,
    end: usize,
    list: &mut RelocationList,
) -> (usize, usize, bool) {
    assert!(list.noted.len() > list.count + outer.len());
    assert!(end <= outer.start && outer.start <= outer.end && outer.end <= arena.len());
    let mut rewritten = Rewritten {
        tile: place.record(simd),
        arena,
        inner_end: end,
        end,
        noted: &mut list.noted,
        count: list.count,
        difference: 0,
    };
    // SAFETY: (in bounds, room) just checked.
    let valid = unsafe { simd.straddling_each::<TRACK_DELTA, D, T>(source, place, outer, &mut rewritten) };
    list.count = rewritten.count;
    list.difference |= rewritten.difference;
    (rewritten.inner_end, rewritten.end, valid)
}

/// The portable form of [`Quantize::straddling_each`](super::Quantize::straddling_each).
///
/// # Safety
/// *In bounds*: the arena has the records `outer`, of which none is before the end. *Room*: for a note of each.
#[inline(always)]
pub(in crate::kernels) unsafe fn straddling_each<const TRACK_DELTA: bool, const D: usize, T: Real, S: Simd>(
    simd: S,
    source: &Source<'_, D, T>,
    place: TilePlace<'_>,
    outer: Range<usize>,
    rewritten: &mut Rewritten<'_>,
) -> bool {
    let mut valid = true;
    for at in outer {
        prefetch_box(source.boxes, rewritten.arena, at + AHEAD);
        let old = rewritten.arena[at];
        let id = old.id();
        let value = &source.boxes[id as usize];
        valid &= value.is_valid();
        let new = simd.record(&corners_in(simd, value, source.map), place.map, id);
        // SAFETY: (isa) `S` is proven by the kernel table; (in bounds, room) the caller's duties.
        unsafe { rewritten.put::<TRACK_DELTA, S>(simd, old, new) };
    }
    valid
}

/// The records of a tile, while they are rewritten.
pub(crate) struct Rewritten<'a> {
    /// The tile itself, as a record.
    tile: Record,
    pub(in crate::kernels) arena: &'a mut [Record],
    /// The end of those wholly inside, and of all.
    inner_end: usize,
    end: usize,
    /// The objects noted so far are the first `count`.
    noted: &'a mut [u32],
    count: usize,
    /// The bits in which records differ from those of the last frame.
    difference: u128,
}

impl Rewritten<'_> {
    /// Replaces a record: behind those wholly inside if it is one of them, otherwise behind all. Notes the object if it
    /// has left the tile, or does not end on each side of it as before. Unpredictable, so computed without a branch.
    ///
    /// # Safety
    /// *isa* (of `S`); *in bounds*: the old record is not before the end; *room*: for one more note.
    #[inline(always)]
    pub(in crate::kernels) unsafe fn put<const TRACK_DELTA: bool, S: Simd>(&mut self, _: S, old: Record, new: Record) {
        debug_assert!(self.inner_end <= self.end && self.end < self.arena.len() && self.count < self.noted.len());
        if TRACK_DELTA {
            self.difference |= old.difference(&new);
        }
        // SAFETY: (isa, in bounds, room) the caller's duties.
        unsafe {
            let (tile, old_words, new_words) = (S::U16::load(&self.tile.0), S::U16::load(&old.0), S::U16::load(&new.0));
            // Coordinates grow towards the inside: an object ends beyond the tile where the tile's own coordinate exceeds its own.
            let (ended, ends) = (tile.excess(old_words).zeros(), tile.excess(new_words).zeros());
            let outside = !new_words.excess(tile.reach()).zeros();
            let is_same = ((ended ^ ends) | outside) & COORDINATES == 0;
            *self.noted.get_unchecked_mut(self.count) = new.id();
            self.count += usize::from(!is_same);
            *self.arena.get_unchecked_mut(self.end) = new;
            if is_same & (ends & COORDINATES == COORDINATES) {
                self.arena.swap(self.inner_end, self.end);
                self.inner_end += 1;
            }
        }
        self.end += 1;
    }
}

/// Rewrites the records `all` of a tile whose objects have a bit in `changed`, and flags them; drops those that are not live; the others stay.
/// Returns the end of the records, packed from `end` on, and whether all boxes are valid.
#[inline(always)]
pub(crate) fn refresh_changed<const D: usize, T: Real, S: Simd>(
    simd: S,
    (source, changed, is_live): (&Source<'_, D, T>, &[u64], impl Fn(u32) -> bool),
    place: TilePlace<'_>,
    arena: &mut [Record],
    all: Range<usize>,
    mut end: usize,
    list: &mut RelocationList,
) -> (usize, bool) {
    let mut valid = true;
    for at in all {
        let old = arena[at];
        let id = old.id();
        if !has_bit(changed, id) {
            // Usually the record is in place already, and nothing is written.
            if at != end || old.is_flagged() {
                arena[end] = old.without_flag();
            }
            end += 1;
        } else if old.is_home() && is_live(id) {
            let value = &source.boxes[id as usize];
            valid &= value.is_valid();
            let corners = corners_in(simd, value, source.map);
            if place.contains(&corners) {
                arena[end] = simd.record(&corners, place.map, id | Record::FLAG);
                end += 1;
            } else {
                list.push(corners, id | Record::FLAG);
            }
        }
    }
    (end, valid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::quantize::record;
    use crate::kernels::{Isa, Kernel, Kernels, LATTICE_END};

    /// Rewrites the records of a tile; returns them, the objects to be relocated, those noted, what changed, and whether all boxes are valid.
    struct Refresh<'a, const D: usize, T> {
        source: Source<'a, D, T>,
        place: TilePlace<'a>,
        arena: &'a [Record],
        inner: usize,
    }

    type Outcome = (Vec<Record>, [usize; 3], Vec<([i32; CORNERS], u32)>, Vec<u32>, u128, [bool; 2]);

    impl<const D: usize, T: Real> Kernel for Refresh<'_, D, T> {
        type Output = Outcome;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Outcome {
            let Self { source, place, inner, .. } = self;
            let (mut arena, mut list) = (self.arena.to_vec(), RelocationList::default());
            let len = arena.len();
            assert!(list.make_room(inner, len - inner));
            let (end, inner_valid) = simd.rewrite_inner::<true, D, T>(&source, place, &mut arena, 0..inner, &mut list);
            let (inner_end, end_of_all, outer_valid) =
                rewrite_straddling::<true, D, T, S>(simd, &source, place, &mut arena, inner..len, end, &mut list);
            arena.truncate(end_of_all);
            let moved =
                list.entries().iter().map(|entry| (std::array::from_fn(|lane| entry.corners.0[lane]), entry.id)).collect();
            let noted = list.noted[..list.count].to_vec();
            (arena, [end, inner_end, end_of_all], moved, noted, list.difference, [inner_valid, outer_valid])
        }
    }

    fn check<const D: usize, T: Real>(values: &[f64]) {
        let mut state = 3u64;
        let mut pick = |count: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % count
        };
        let map = Map::new([T::from_f64(-8.0); 3], [T::from_f64(2f64.powi(26)), T::from_f64(2f64.powi(25)), T::from_f64(3e7)]);
        for axis in 0..3 {
            let low = [1 << 26, 1 << 26, if D == 2 { 0 } else { 1 << 25 }];
            let high = [900_000_000, 400_000_000, LATTICE_END];
            let tile = TileMap::new(low, [14, 13, 15], axis);
            let place = TilePlace { map: &tile, low, high };
            let mut corner = || -> [T; D] { std::array::from_fn(|_| T::from_f64(values[pick(values.len())])) };
            // What becomes of boxes that are not valid is not used, and differs.
            let mut valid = |_| {
                let (a, b) = (corner(), corner());
                Aabb::new(std::array::from_fn(|k| a[k].min(b[k])), std::array::from_fn(|k| a[k].max(b[k])))
            };
            let boxes: Vec<Aabb<D, T>> = (0..400).map(&mut valid).collect();
            let before: Vec<Aabb<D, T>> = (0..400).map(&mut valid).collect();
            let source = Source { boxes: &boxes, map: &map };
            let arena: Vec<Record> =
                before.iter().zip(0..).map(|(value, id)| record(&super::super::corners(value, &map), &tile, id)).collect();
            let run = |isa| Kernels::new(isa).unwrap().run(Refresh { source, place, arena: &arena, inner: 250 });
            let expected = run(Isa::Scalar);
            assert_eq!(expected.5, [true; 2]);
            assert!(expected.1[0] > 0 && !expected.2.is_empty() && !expected.3.is_empty(), "all cases occur");
            for isa in Isa::available() {
                assert!(run(isa) == expected, "{isa}, {D}D, {}, axis {axis}", T::NAME);
                for (bad, flags) in [(7, [false, true]), (390, [true, false])] {
                    let mut boxes = boxes.clone();
                    boxes[bad].min[D - 1] = T::NAN;
                    let source = Source { boxes: &boxes, map: &map };
                    let outcome = Kernels::new(isa).unwrap().run(Refresh { source, place, arena: &arena, inner: 250 });
                    assert_eq!(outcome.5, flags, "{isa}, {D}D, {}, box {bad}", T::NAME);
                }
            }
        }
    }

    #[test]
    fn every_instruction_set_rewrites_alike() {
        let usual: Vec<f64> = (0..40).map(|i| f64::from(i) * 0.37 - 7.9).collect();
        let mut odd = usual.clone();
        odd.extend([f64::INFINITY, f64::NEG_INFINITY, 1e30, -1e30, 24.0, 23.9, 40.0, -8.0, -8.1, -100.0, 0.0, -0.0]);
        for values in [&usual, &odd] {
            check::<2, f32>(values);
            check::<3, f32>(values);
            check::<2, f64>(values);
            check::<3, f64>(values);
        }
    }
}
