//! The records of a tile from the boxes of a new frame, where they lie.
//!
//! The simple loop reads an object's box by its id, quantises it and overwrites its record. Four departures:
//! 1. Objects that lay wholly in the tile come first, and nearly all of them still do: [`rewrite`] expects that, and branches. Those that do
//!    not are put on a list, to be placed anew wherever they reach.
//! 2. An object that reaches several tiles has a record in each. They stay where they lie as long as the object reaches the same tiles, which
//!    each of its records can tell for its part ([`renew`]). If one of them finds otherwise, all of them vanish, and the object is listed.
//! 3. Boxes lie in the order of their slots, records in that of their tiles: the box of a record further on is asked for in time.
//! 4. A place off the lattice is not clamped while rewriting: it counts as outside, and clamping is the list's business.
//!
//! # Why records can tell
//! On each side of a tile, an object ends inside or beyond. Say it still reaches every tile that it reached before, and ends on each side of
//! each of them as before: then it reaches no other. For if it now reached another tile, it would do so across a face of one of its
//! old tiles, *t*, where it went beyond already. Follow that face, from where the object touched it before to where it meets the new
//! tile, one axis at a time. The first tile behind the face is an old one. Where the way leaves it, the object has grown beyond
//! a side of it on which it ended inside before, against what was said. So the way never leaves it.

use std::ops::Range;

use super::{CORNERS, Corners, Map, TileMap, corners_in, record};
use crate::geometry::{Aabb, Real};
use crate::kernels::lanes::{Simd, Words};
use crate::kernels::prefetch::prefetch;
use crate::kernels::tile::{COORDINATES, Record};

/// An object to be placed anew: its corners, which vectors write eight words of, and its id.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Listed {
    pub(crate) corners: Corners,
    pub(crate) id: u32,
}

const _: () = assert!(size_of::<Listed>() == 32);

/// Objects to be placed anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    /// Of which the first `len` count.
    entries: Vec<Listed>,
    len: usize,
    /// Objects whose records must vanish: as a list, of which the first `count` count, some of them more than once; and as bits, from the
    /// object `first` on.
    noted: Vec<u32>,
    count: usize,
    marks: Vec<u64>,
    first: u32,
    /// The bits in which records of a tile differ from what they were, if anybody wants to know.
    pub(crate) difference: u128,
}

impl List {
    /// Forgets all entries and marks. Objects from `first` to `last` may be marked.
    pub(crate) fn clear(&mut self, first: u32, last: u32) {
        (self.len, self.count) = (0, 0);
        self.marks.clear();
        self.marks.resize((last - first) as usize / 64 + 1, 0);
        self.first = first;
    }

    /// Marks the noted objects, and adds those that are still there.
    #[inline(always)]
    pub(crate) fn add_noted<const D: usize, T: Real, S: Simd>(&mut self, simd: S, source: &Source<'_, D, T>) {
        self.make_room(self.count);
        for &id in &self.noted[..self.count] {
            let (word, bit) = (&mut self.marks[(id - self.first) as usize / 64], 1 << ((id - self.first) % 64));
            let is_new = *word & bit == 0;
            *word |= bit;
            self.entries[self.len] = Listed { corners: corners_in(simd, &source.boxes[id as usize], source.map), id };
            self.len += usize::from(is_new && source.has(id));
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

    /// What is on the list.
    pub(crate) fn entries(&self) -> &[Listed] {
        &self.entries[..self.len]
    }

    /// Adds an object.
    pub(crate) fn push(&mut self, corners: Corners, id: u32) {
        self.make_room(1);
        self.entries[self.len] = Listed { corners, id };
        self.len += 1;
    }

    /// Makes room for `count` more.
    fn make_room(&mut self, count: usize) {
        if self.entries.len() < self.len + count {
            self.entries.resize((self.len + count).max(self.len * 5 / 4), Listed::default());
        }
    }

    /// Makes room for `count` more notes, and one that does not count.
    fn make_room_to_note(&mut self, count: usize) {
        if self.noted.len() <= self.count + count {
            self.noted.resize((self.count + count + 1).max(self.noted.len() * 5 / 4), 0);
        }
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Listed>() + self.marks.capacity() * 8 + self.noted.capacity() * 4
    }
}

/// A frame as the records are made from it.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a, const D: usize, T> {
    pub(crate) boxes: &'a [Aabb<D, T>],
    pub(crate) map: &'a Map<T>,
    /// Records of objects without a bit here, counted from `first` on, vanish; `None` where no object was removed, which saves a look
    /// at each.
    pub(crate) live: Option<&'a [u64]>,
    pub(crate) first: u32,
}

impl<const D: usize, T> Source<'_, D, T> {
    /// Is the object still there?
    #[inline(always)]
    fn has(&self, id: u32) -> bool {
        self.live.is_none_or(|words| has_bit(words, id - self.first))
    }
}

/// A tile: how its records are quantised, its lowest place inside and the lowest outside.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) map: &'a TileMap,
    pub(crate) low: [i32; 3],
    pub(crate) high: [i32; 3],
}

impl Place<'_> {
    /// The tile itself, as a record.
    #[inline(always)]
    fn record<S: Simd>(&self, simd: S) -> Record {
        let [[x, y, z], [u, v, w]] = [self.low, self.high.map(|high| high - 1)];
        record(simd, &Corners([x, y, z, u, v, w, 0]), self.map, 0)
    }

    /// Are both corners in the tile?
    #[inline(always)]
    fn holds(&self, corners: &Corners) -> bool {
        (0..3).all(|k| corners.0[k] >= self.low[k]) & (3..CORNERS).all(|k| corners.0[k] < self.high[k - 3])
    }
}

/// Is the bit of an object set? Missing words count as zero.
#[inline(always)]
fn has_bit(words: &[u64], id: u32) -> bool {
    words.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
}

/// How many records further on the next box is asked for.
const AHEAD: usize = 48;

/// Asks for the box of the record `at`, if there is one.
#[inline(always)]
fn ask<const D: usize, T>(boxes: &[Aabb<D, T>], arena: &[Record], at: usize) {
    if let Some(record) = arena.get(at) {
        prefetch(boxes, record.id() as usize);
    }
}

/// Makes the records `inner` of a tile anew, whose objects lay wholly inside. Returns the end of those that still do, one behind
/// the other from the start on, and whether all boxes are valid. The others are listed. To `WATCH` is to note what has changed of those that
/// stay.
#[inline(always)]
pub(crate) fn rewrite<const WATCH: bool, const D: usize, T: Real, S: Simd>(
    simd: S,
    source: &Source<'_, D, T>,
    place: Place<'_>,
    arena: &mut [Record],
    inner: Range<usize>,
    list: &mut List,
) -> (usize, bool) {
    list.make_room(inner.len());
    if S::HAS_AVX2 && (D == 2 || D == 3) && source.live.is_none() && source.map.is_straight() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: (isa) `S` is proven by the kernel table, and says that it has AVX2; (layout) boxes of `D` times two `f32` or `f64`, which
        // differ in size; (room) just made.
        return unsafe {
            if size_of::<T>() == 4 {
                avx2::rewrite::<WATCH, D, T, f32>(source, place, arena, inner, list)
            } else {
                avx2::rewrite::<WATCH, D, T, f64>(source, place, arena, inner, list)
            }
        };
    }
    let (mut end, mut valid) = (inner.start, true);
    for at in inner {
        ask(source.boxes, arena, at + AHEAD);
        let old = arena[at];
        let id = old.id();
        let value = &source.boxes[id as usize];
        let is_live = source.has(id);
        valid &= !is_live | value.is_valid();
        let corners = corners_in(simd, value, source.map);
        // In vectors, places off a straight lattice are not clamped, and count as outside.
        let inside = place.holds(&corners) & (!source.map.is_straight() || source.map.holds(value));
        let new = record(simd, &corners, place.map, id);
        if WATCH && is_live && inside {
            list.difference |= old.difference(&new);
        }
        arena[end] = new;
        list.entries[list.len] = Listed { corners, id };
        end += usize::from(is_live & inside);
        list.len += usize::from(is_live & !inside);
    }
    (end, valid)
}

/// Makes the records `outer` of a tile anew, of objects that reach beyond it or have come lately. They follow each other from `end` on, which
/// is at most the start; those of objects that lie wholly inside come first. Returns their end, the end of all, and whether all
/// boxes are valid. Objects that no longer reach the same tiles are noted; their records are still to be dropped.
#[inline(always)]
pub(crate) fn renew<const WATCH: bool, const D: usize, T: Real, S: Simd>(
    simd: S,
    source: &Source<'_, D, T>,
    place: Place<'_>,
    arena: &mut [Record],
    outer: Range<usize>,
    end: usize,
    list: &mut List,
) -> (usize, usize, bool) {
    list.make_room_to_note(outer.len());
    assert!(end <= outer.start && outer.start <= outer.end && outer.end <= arena.len());
    let mut renewed = Renewed {
        tile: place.record(simd),
        arena,
        inner_end: end,
        end,
        noted: &mut list.noted,
        count: list.count,
        difference: 0,
    };
    // SAFETY: (in bounds, room) just made sure.
    let valid = unsafe { renew_each::<WATCH, D, T, S>(simd, source, place, outer, &mut renewed) };
    list.count = renewed.count;
    list.difference |= renewed.difference;
    (renewed.inner_end, renewed.end, valid)
}

/// The loop of [`renew`]. Returns whether all boxes are valid.
///
/// # Safety
/// *In bounds*: the arena has the records `outer`, of which none is before the end. *Room*: for a note of each.
#[inline(always)]
unsafe fn renew_each<const WATCH: bool, const D: usize, T: Real, S: Simd>(
    simd: S,
    source: &Source<'_, D, T>,
    place: Place<'_>,
    outer: Range<usize>,
    renewed: &mut Renewed<'_>,
) -> bool {
    if S::HAS_AVX2 && (D == 2 || D == 3) && source.live.is_none() && source.map.is_straight() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: (isa, layout) as above; (in bounds, room) the caller's duties.
        return unsafe {
            if size_of::<T>() == 4 {
                avx2::renew::<WATCH, D, T, f32, S>(simd, source, place, outer, renewed)
            } else {
                avx2::renew::<WATCH, D, T, f64, S>(simd, source, place, outer, renewed)
            }
        };
    }
    let mut valid = true;
    for at in outer {
        ask(source.boxes, renewed.arena, at + AHEAD);
        let old = renewed.arena[at];
        let id = old.id();
        let (value, is_live) = (&source.boxes[id as usize], source.has(id));
        valid &= !is_live | value.is_valid();
        let new = record(simd, &corners_in(simd, value, source.map), place.map, id);
        // SAFETY: (isa) `S` is proven by the kernel table; (in bounds, room) the caller's duties.
        unsafe { renewed.put::<WATCH, S>(simd, old, new, is_live) };
    }
    valid
}

/// The records of a tile, while they are renewed.
struct Renewed<'a> {
    /// The tile itself, as a record.
    tile: Record,
    arena: &'a mut [Record],
    /// The end of those wholly inside, and of all.
    inner_end: usize,
    end: usize,
    /// The objects noted so far are the first `count`.
    noted: &'a mut [u32],
    count: usize,
    /// The bits in which records differ from what they were.
    difference: u128,
}

impl Renewed<'_> {
    /// Writes a record for an old one, behind those wholly inside if it is one of them, otherwise behind all. Notes the object if it is
    /// gone, has left the tile, or does not end on each side of it as before. Whether it does is nobody's guess, so it is not asked.
    ///
    /// # Safety
    /// *isa* (of `S`); *in bounds*: the old record is not before the end; *room*: for one more note.
    #[inline(always)]
    unsafe fn put<const WATCH: bool, S: Simd>(&mut self, _: S, old: Record, new: Record, is_live: bool) {
        debug_assert!(self.inner_end <= self.end && self.end < self.arena.len() && self.count < self.noted.len());
        if WATCH {
            self.difference |= old.difference(&new);
        }
        // SAFETY: (isa, in bounds, room) the caller's duties.
        unsafe {
            let (tile, old_words, new_words) = (S::U16::load(&self.tile.0), S::U16::load(&old.0), S::U16::load(&new.0));
            // Coordinates are the higher, the further inside: what the tile's own exceed ends beyond it.
            let (ended, ends) = (tile.excess(old_words).zeros(), tile.excess(new_words).zeros());
            let outside = !new_words.excess(tile.reach()).zeros();
            let is_same = is_live & (((ended ^ ends) | outside) & COORDINATES == 0);
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

/// Makes the records `all` of a tile anew whose objects have a bit in `changed`, and flags them; the others stay, wherever their objects
/// reach. Returns the end of what follows each other from `end` on, and whether all boxes are valid.
#[inline(always)]
pub(crate) fn refresh_changed<const D: usize, T: Real, S: Simd>(
    simd: S,
    (source, changed): (&Source<'_, D, T>, &[u64]),
    place: Place<'_>,
    arena: &mut [Record],
    all: Range<usize>,
    mut end: usize,
    list: &mut List,
) -> (usize, bool) {
    let mut valid = true;
    for at in all {
        let old = arena[at];
        let id = old.id();
        if !has_bit(changed, id) {
            // Mostly it lies where it should: nothing is written then.
            if at != end || old.is_flagged() {
                arena[end] = old.without_flag();
            }
            end += 1;
        } else if old.is_home() && source.has(id) {
            let value = &source.boxes[id as usize];
            valid &= value.is_valid();
            let corners = corners_in(simd, value, source.map);
            if place.holds(&corners) {
                arena[end] = record(simd, &corners, place.map, id | Record::FLAG);
                end += 1;
            } else {
                list.push(corners, id | Record::FLAG);
            }
        }
    }
    (end, valid)
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::*;
    use crate::kernels::prefetch::{LAST_PLACE, LATTICE_END};
    use crate::kernels::quantise::avx2::{INVERTED, ORDERS};
    use crate::kernels::quantise::floats::Floats;

    /// All constants of a tile.
    #[derive(Clone, Copy)]
    struct Lens<F: Floats> {
        origin: F::Corners,
        scale: F::Corners,
        /// What a place inside is not below; for upper corners all is inverted, and so is the bound.
        bound: __m256i,
        low: __m256i,
        shift: __m256i,
        order: __m128i,
    }

    /// # Safety
    /// *isa*: AVX2, for all methods. *Layout*: `T` is `F`, and `D` is 2 or 3.
    impl<F: Floats> Lens<F> {
        #[inline(always)]
        unsafe fn new<const D: usize, T: Real>(source: &Source<'_, D, T>, place: Place<'_>) -> Self {
            let [x, y, z] = place.low;
            // A place that clamping would move is outside, so that it need not be clamped.
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
        unsafe fn holds(self, corners: __m256i) -> bool {
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
        unsafe fn write(corners: __m256i, id: u32, entry: *mut Listed) {
            // SAFETY: (isa) the caller's duty; (in bounds) seven integers, of which both vectors write one, and the id behind them.
            unsafe {
                let into = (&raw mut (*entry).corners).cast::<i32>();
                _mm_storeu_si128(into.cast(), _mm256_castsi256_si128(corners));
                _mm_storeu_si128(into.add(3).cast(), _mm256_extracti128_si256::<1>(corners));
                (*entry).id = id;
            }
        }
    }

    /// As [`super::rewrite`], for objects that are all live.
    ///
    /// # Safety
    /// *isa*: AVX2. *Layout*: `T` is `F`, and `D` is 2 or 3. *Room*: the list has some for all records.
    #[inline(always)]
    pub(super) unsafe fn rewrite<const WATCH: bool, const D: usize, T: Real, F: Floats>(
        source: &Source<'_, D, T>,
        place: Place<'_>,
        arena: &mut [Record],
        inner: Range<usize>,
        list: &mut List,
    ) -> (usize, bool) {
        debug_assert!(list.entries.len() >= list.len + inner.len());
        assert!(inner.start <= inner.end && inner.end <= arena.len());
        let (boxes, mut end, mut listed) = (source.boxes, inner.start, list.len);
        // SAFETY: (isa, layout) the caller's duties; (in bounds) a record is written at or before the one that was read, and an entry
        // where there is room.
        unsafe {
            let lens = Lens::<F>::new(source, place);
            let (mut valid, mut difference) = (F::ones(), _mm_setzero_si128());
            for at in inner {
                ask(boxes, arena, at + AHEAD);
                let id = arena.get_unchecked(at).id();
                let value = Lens::<F>::load(&boxes[id as usize]);
                valid = F::and_ordered(valid, value);
                let steps = lens.steps(value);
                // Below -2^31 there is no integer, and subtracting from the lowest one would wrap. Beyond 2^31 it is an upper corner's
                // turn: inverted, the lowest integer is the highest, which wraps to outside.
                let corners = Lens::<F>::flat::<D>(F::truncate(steps));
                let words = lens.words(corners, id);
                let so_far = difference;
                if WATCH {
                    let old = _mm_load_si128(arena.as_ptr().add(at).cast());
                    difference = _mm_or_si128(difference, _mm_xor_si128(old, words));
                }
                _mm_store_si128(arena.as_mut_ptr().add(end).cast(), words);
                end += 1;
                if !lens.holds(corners) {
                    end -= 1;
                    difference = so_far;
                    Lens::<F>::write(Lens::<F>::flat::<D>(F::clamp(steps)), id, list.entries.as_mut_ptr().add(listed));
                    listed += 1;
                }
            }
            list.len = listed;
            if WATCH {
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

    /// As [`super::renew`], for objects that are all live. Returns whether all boxes are valid.
    ///
    /// # Safety
    /// *isa*: AVX2, and `S`. *Layout*: `T` is `F`, and `D` is 2 or 3. *In bounds*: the arena has the records `outer`, of which none is
    /// before the end. *Room*: for a note of each.
    #[inline(always)]
    pub(super) unsafe fn renew<const WATCH: bool, const D: usize, T: Real, F: Floats, S: Simd>(
        simd: S,
        source: &Source<'_, D, T>,
        place: Place<'_>,
        outer: Range<usize>,
        renewed: &mut Renewed<'_>,
    ) -> bool {
        let boxes = source.boxes;
        // SAFETY: (isa, layout, in bounds, room) the caller's duties.
        unsafe {
            let lens = Lens::<F>::new(source, place);
            let mut valid = F::ones();
            for at in outer {
                ask(boxes, renewed.arena, at + AHEAD);
                let old = *renewed.arena.get_unchecked(at);
                let value = Lens::<F>::load(&boxes[old.id() as usize]);
                valid = F::and_ordered(valid, value);
                let corners = Lens::<F>::flat::<D>(F::clamp(lens.steps(value)));
                let mut new = Record::default();
                _mm_store_si128((&raw mut new).cast(), lens.words(corners, old.id()));
                renewed.put::<WATCH, S>(simd, old, new, true);
            }
            all_valid::<D, F>(valid)
        }
    }
}
