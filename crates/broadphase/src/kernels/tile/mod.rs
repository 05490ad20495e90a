//! The join of one tile: quantised boxes, swept in bytes, confirmed in words, and in floats only where words are equal.
//!
//! Here, x is the axis that the tile is swept along, whichever of the world's that is.
//!
//! # Input
//! [`Record`]s of the objects that reach into the tile, each quantised to 16 bits relative to the tile, by a monotone map: a
//! lower coordinate is 0 if it lies before the tile, else at least 1.
//!
//! # Method
//! 1. Counting sort by the upper byte of the lower x, rounded up. A record's candidates are then one run: from behind it to the end of the
//!    bucket that its upper x falls into. The bounds come from the sort, so x is never compared again.
//! 2. Along the run, y and z are compared in bytes, as many at once as a register has, and for two records at once, whose runs are nearly
//!    the same. What 64 comparisons find is appended without a branch, as a mask, so that the order of pairs is that of every register.
//! 3. Each candidate is confirmed on its words: outside on any axis, it is no pair; strictly inside on all, it is one; only where
//!    two words are equal do the boxes decide. Objects that stand side by side have equal words as often as not, and who foretells
//!    that wrongly pays more than for a box. So where many words were equal, the boxes of the tile are laid out like the records, and
//!    decide all.
//!
//! # Exactness
//! For a monotone map q, `x <= y` implies `q(x) <= q(y)`: no pair is lost in steps 1 to 3. And `q(x) < q(y)` implies `x < y`: a
//! pair that is strict on all words is a pair of the boxes. The upper byte of a word is a monotone map too.
//!
//! # No duplicates
//! A pair is reported in the one tile that holds the lower corner of its intersection on the lattice, `max(a.min, b.min)` on each
//! axis: in any other tile that both reach, both start before the tile on some axis, and two zeros say so.

mod join;
mod movers;
mod probe;

pub(crate) use join::join;
pub(crate) use movers::{join_movers, list_flagged};
pub(crate) use probe::probe;

use std::ops::Range;

use super::hits::Hits;
use super::lanes::{Bytes, Simd, Words};
use super::prefetch::Coming;
use crate::geometry::{Aabb, Real};
use crate::pairs::Pair;

/// Words of a [`Record`] that hold coordinates, as bits of [`Words::zeros`]: lanes 0 to 5.
pub(crate) const COORDINATES: u32 = 0xfff;
/// Words that hold lower coordinates: lanes 0, 2 and 3.
const LOWER: u32 = 0xf3;
/// All words, as bits of [`Words::zeros`].
const ALL: u32 = 0xffff;
/// Where lower coordinates are, the lowest that is not before the tile.
const LOWEST_INSIDE: [u16; 8] = [1, 0, 1, 1, 0, 0, 0, 0];

/// A box in a tile: `min.x, !max.x, min.y, min.z, !max.y, !max.z`, then the id in two halves, with [`Record::FLAG`] perhaps.
///
/// The upper coordinates are inverted, so that one comparison of all lanes with [`Words::reach`] tests both sides. The four words
/// that the sweep compares lie side by side.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record(pub(crate) [u16; 8]);

const _: () = assert!(size_of::<Record>() == 16);

impl Record {
    /// From quantised corners, the lower one first.
    ///
    /// Put together in two registers: eight narrow stores would cost more than all the arithmetic before them.
    #[inline(always)]
    pub(crate) fn new(corners: [u16; 6], id: u32) -> Self {
        let c = corners.map(u64::from);
        let low = c[0] | (!c[3] & 0xffff) << 16 | c[1] << 32 | c[2] << 48;
        let high = (!c[4] & 0xffff) | (!c[5] & 0xffff) << 16 | u64::from(id) << 32;
        Self(bytemuck::cast([low.to_le(), high.to_le()]))
    }

    /// A bit of the id that says that the object has changed.
    pub(crate) const FLAG: u32 = 1 << 31;

    /// The object.
    #[inline(always)]
    pub(crate) fn id(&self) -> u32 {
        self.flagged_id() & !Self::FLAG
    }

    /// Has it the flag?
    #[inline(always)]
    pub(crate) fn is_flagged(&self) -> bool {
        self.flagged_id() & Self::FLAG != 0
    }

    /// The same without it.
    #[inline(always)]
    pub(crate) fn without_flag(mut self) -> Self {
        self.0[7] &= !((Self::FLAG >> 16) as u16).to_le();
        self
    }

    #[inline(always)]
    fn flagged_id(&self) -> u32 {
        (u64::from_le(bytemuck::cast::<_, [u64; 2]>(self.0)[1]) >> 32) as u32
    }

    /// Does the object's lower corner lie in the tile, and not before it? So for one of an object's records.
    #[inline(always)]
    pub(crate) fn is_home(&self) -> bool {
        (self.0[0] != 0) & (self.0[2] != 0) & (self.0[3] != 0)
    }

    /// The bucket of the lower x: 0 for those that start before the tile, and only for them.
    #[inline(always)]
    fn bucket(&self) -> usize {
        bucket(self.0[0])
    }

    /// The last bucket that the upper x reaches.
    #[inline(always)]
    fn last_bucket(&self) -> usize {
        bucket(!self.0[1])
    }
}

/// The bucket of a word: its upper byte, rounded up, so that 0 stays by itself.
#[inline(always)]
fn bucket(x: u16) -> usize {
    (usize::from(x) + 255) >> 8
}

/// Buckets that there are.
const BUCKETS: usize = 257;
/// Finds and candidates are worked off when this many wait, so that the buffers stay in the cache.
const BATCH: usize = 1024;
/// Candidates of a find that are written whether they exist or not, and the most that are written for one.
const SPARE: usize = 4;
const MOST: usize = WINDOW + SPARE;
/// If the boxes have to decide at most one in so many candidates, or at most so many of a batch, they seldom do.
const RARE: usize = 8;
const FEW: usize = 32;
/// Tiles after which words are tried again where boxes decide.
const AGAIN: usize = 8;
/// Columns are this much longer than the records: the widest register.
const PAD: usize = 64;
/// Columns: lower and upper coordinates on three axes; and those of y and z, which come first.
const SIDES: usize = 6;
const YZ: usize = 4;
/// Records that are laid side by side at once.
const GROUP: usize = 16;

/// Records that a row is compared with before what was found is noted: as many as a find has bits.
const WINDOW: usize = 64;

/// What a sweep found in a window: candidates `at + bit` of a row.
#[derive(Clone, Copy, Debug, Default)]
struct Find {
    row: u32,
    at: u32,
    bits: u64,
}

/// Two sorted records whose bytes overlap.
#[derive(Clone, Copy, Debug, Default)]
struct Candidate {
    row: u32,
    column: u32,
}

/// The box of a sorted record, so that one comparison of all lanes tells whether two make a pair here: `own` of the one is at most
/// `bounds` of the other. Lanes are `min` and `-max`, against `max` and `-min`; the last two fail where both start before the tile on y or on z.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct Sides<T> {
    own: [T; 8],
    bounds: [T; 8],
}

impl<T: Real> Sides<T> {
    #[inline(always)]
    fn new<const D: usize>(record: &Record, value: &Aabb<D, T>) -> Self {
        let (mut own, mut bounds) = ([T::ZERO; 8], [T::ZERO; 8]);
        for k in 0..D {
            (own[k], own[3 + k]) = (value.min[k], -value.max[k]);
            (bounds[k], bounds[3 + k]) = (value.max[k], -value.min[k]);
        }
        for (lane, word) in [(6, 2), (7, 3)] {
            let starts_before = record.0[word] == 0;
            own[lane] = if starts_before { T::ONE } else { T::ZERO };
            bounds[lane] = if starts_before { T::ZERO } else { T::ONE };
        }
        Self { own, bounds }
    }

    #[inline(always)]
    fn meets(&self, other: &Self) -> bool {
        (0..8).fold(true, |all, k| all & (self.own[k] <= other.bounds[k]))
    }
}

/// Buffers of the joins, reused: nothing in here outlives a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch<T> {
    /// The first `len` are those of the tile at hand.
    sorted: Vec<Record>,
    len: usize,
    /// The upper bytes of `min.y, min.z, !max.y, !max.z`, in sorted order.
    bytes: Vec<u32>,
    /// The upper bytes of all words, inverted and side by side: columns `!min.y, !min.z, max.y, max.z, !min.x, max.x` of `stride`
    /// bytes each.
    columns: Vec<u8>,
    stride: usize,
    /// Room for [`BATCH`] finds and those of two more rows.
    finds: Vec<Find>,
    candidates: Vec<Candidate>,
    /// Did words leave many candidates open in the last batch that they decided? Which way is taken does not show in the result.
    tied: bool,
    /// Tiles so far, of which every [`AGAIN`]th begins with words.
    turns: usize,
    /// The boxes of the sorted records, if this tile has needed them.
    sides: Vec<Sides<T>>,
    /// The records of changed objects, if they are known by their flags.
    pub(crate) movers: Vec<Record>,
    /// What the next tile reads.
    coming: Coming,
}

/// Where each bucket starts in the sorted records, with one more for the end.
type Starts = [u32; BUCKETS + 2];

impl<T: Real> Scratch<T> {
    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let lists = self.finds.capacity() * size_of::<Find>()
            + self.candidates.capacity() * size_of::<Candidate>()
            + self.sides.capacity() * size_of::<Sides<T>>();
        self.sorted.capacity() * 16
            + self.bytes.capacity() * 4
            + self.columns.capacity()
            + self.movers.capacity() * 16
            + self.coming.bytes()
            + lists
    }

    /// Starts with a tile of `len` records: makes room for them.
    fn resize(&mut self, len: usize) {
        self.len = len;
        self.sides.clear();
        self.turns = self.turns.wrapping_add(1);
        self.tied &= !self.turns.is_multiple_of(AGAIN);
        let finds = BATCH + 2 * (len / WINDOW + 2);
        if self.sorted.len() <= len || self.finds.len() < finds {
            // Of an odd number of rows, the last has a neighbour too; and columns may be made from whole groups.
            self.sorted.resize((len + 1).next_multiple_of(GROUP), Record::default());
            self.bytes.resize(self.sorted.len(), 0);
            self.stride = self.sorted.len() + PAD;
            self.columns.resize(SIDES * self.stride, 0);
            self.finds.resize(finds, Find::default());
            self.candidates.resize(BATCH + MOST, Candidate::default());
        }
    }

    /// Copies all records, in their order, and fills all columns.
    #[inline(always)]
    fn copy<S: Simd>(&mut self, runs: &[&[Record]], len: usize) {
        self.resize(len);
        let mut end = 0;
        for run in runs {
            self.sorted[end..end + run.len()].copy_from_slice(run);
            end += run.len();
        }
        let (groups, _) = self.sorted.as_chunks::<GROUP>();
        assert!(self.columns.len() >= SIDES * self.stride && self.stride >= len + PAD);
        for (group, records) in groups[..len.div_ceil(GROUP)].iter().enumerate() {
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) a group starts below `len`, and is no longer than `PAD`.
            unsafe {
                let into = self.columns.as_mut_ptr().add(group * GROUP);
                S::U16::lay_out(records.as_ptr().cast(), into, self.stride);
            }
        }
    }
}

/// What makes a hit of a find: the records of the rows, where they are not those of the columns, the boxes, and whether an encounter of two
/// objects counts.
#[derive(Clone, Copy)]
struct Judge<'a, const D: usize, T, F> {
    rows: Option<&'a [Record]>,
    boxes: &'a [Aabb<D, T>],
    counts: F,
}

impl<const D: usize, T: Real, F: Fn(u32, u32) -> bool + Copy> Judge<'_, D, T, F> {
    /// Turns finds into hits if many are waiting, or if these are the last ones. Returns whether the join must stop.
    #[inline(always)]
    fn confirm_many<S: Simd>(
        self,
        simd: S,
        scratch: &mut Scratch<T>,
        waiting: &mut usize,
        is_last: bool,
        hits: &mut Hits,
    ) -> bool {
        if *waiting < BATCH && !is_last {
            return false;
        }
        self.confirm(simd, scratch, std::mem::take(waiting), hits);
        hits.stopped()
    }

    /// Turns finds into hits.
    ///
    /// How many candidates a find holds, one or two or three, is nobody's guess, so it is not asked: four are written always, and counted
    /// if they are there.
    #[inline(always)]
    fn confirm<S: Simd>(self, simd: S, scratch: &mut Scratch<T>, count: usize, hits: &mut Hits) {
        let Scratch { sorted, len, finds, candidates, sides, tied, .. } = scratch;
        let sorted = &sorted[..*len];
        let mut finds = finds[..count].iter();
        while !finds.as_slice().is_empty() {
            let mut waiting = 0;
            for find in finds.by_ref() {
                let (row, mut bits) = (find.row, find.bits);
                let room = &mut candidates[waiting..waiting + MOST];
                for candidate in &mut room[..SPARE] {
                    *candidate = Candidate { row, column: find.at + bits.trailing_zeros() };
                    bits &= bits.wrapping_sub(1);
                }
                let mut more = SPARE;
                while bits != 0 {
                    room[more] = Candidate { row, column: find.at + bits.trailing_zeros() };
                    more += 1;
                    bits &= bits - 1;
                }
                waiting += find.bits.count_ones() as usize;
                if waiting >= BATCH {
                    break;
                }
            }
            let candidates = &candidates[..waiting];
            if *tied && self.rows.is_none() {
                self.decide_by_boxes(sorted, candidates, sides, hits);
            } else {
                let equal = self.decide_by_words(simd, sorted, candidates, hits);
                *tied = equal > FEW.max(candidates.len() / RARE);
            }
        }
    }

    /// Turns candidates into hits, where the boxes seldom have to decide. Returns how often they had to.
    #[inline(always)]
    fn decide_by_words<S: Simd>(self, simd: S, sorted: &[Record], candidates: &[Candidate], hits: &mut Hits) -> usize {
        let rows = self.rows.unwrap_or(sorted);
        let room = hits.room(candidates.len());
        let (mut found, mut equal) = (0, 0);
        for candidate in candidates {
            // SAFETY: (in bounds) candidates come from sweeps of the rows over the sorted records; (room) no more is found than there are
            // candidates.
            unsafe {
                let a = rows.get_unchecked(candidate.row as usize);
                let b = sorted.get_unchecked(candidate.column as usize);
                let (pair, mut is_pair, is_open) = compare(simd, a, b);
                if is_pair & is_open {
                    is_pair = overlap(self.boxes, a.id(), b.id()); // (by the pair lost: who comes first need not be known)
                    equal += 1;
                }
                room.get_unchecked_mut(found).write(pair);
                found += usize::from(is_pair & (self.counts)(a.id(), b.id()));
            }
        }
        // SAFETY: (initialised, room) `found` pairs were written, one behind the other, and at most as many as candidates.
        unsafe { hits.commit(found) };
        equal
    }

    /// Turns candidates into hits, where words would leave many open, as they do where objects stand side by side.
    ///
    /// A function of its own, though that takes the wide registers away: inside of the join it would slow all that do without it.
    #[inline(never)]
    fn decide_by_boxes(self, sorted: &[Record], candidates: &[Candidate], sides: &mut Vec<Sides<T>>, hits: &mut Hits) {
        if sides.is_empty() {
            sides.extend(sorted.iter().map(|record| Sides::new(record, &self.boxes[record.id() as usize])));
        }
        let room = hits.room(candidates.len());
        let mut found = 0;
        for candidate in candidates {
            let (row, column) = (candidate.row as usize, candidate.column as usize);
            // SAFETY: (in bounds, room) as above.
            unsafe {
                let (a, b) = (sorted.get_unchecked(row).id(), sorted.get_unchecked(column).id());
                room.get_unchecked_mut(found).write(Pair::new(a, b));
                let is_pair = sides.get_unchecked(row).meets(sides.get_unchecked(column));
                found += usize::from(is_pair & (self.counts)(a, b));
            }
        }
        // SAFETY: (initialised, room) as above.
        unsafe { hits.commit(found) };
    }
}

/// The pair of two records, whether it may be one here, by words, and whether only the boxes could tell.
#[inline(always)]
fn compare<S: Simd>(_: S, a: &Record, b: &Record) -> (Pair, bool, bool) {
    // SAFETY: (isa) `S` is proven by the kernel table.
    let (fits, equal) = unsafe {
        let (own, other) = (S::U16::load(&a.0), S::U16::load(&b.0));
        let bound = own.reach();
        let both_before = S::U16::load(&LOWEST_INSIDE).excess(other.or(own));
        (other.excess(bound).or(both_before).zeros(), other.equal(bound))
    };
    (Pair::new(a.id(), b.id()), fits == ALL, equal & COORDINATES != 0)
}

/// The pair of two records, and whether it is one: by words, and by boxes where words are equal.
#[inline(always)]
fn decide<const D: usize, T: Real, S: Simd>(simd: S, a: &Record, b: &Record, boxes: &[Aabb<D, T>]) -> (Pair, bool) {
    let (pair, is_pair, is_open) = compare(simd, a, b);
    (pair, is_pair && (!is_open || overlap(boxes, pair.a, pair.b)))
}

/// Do the boxes of two objects overlap?
#[inline(always)]
fn overlap<const D: usize, T: Real>(boxes: &[Aabb<D, T>], x: u32, y: u32) -> bool {
    boxes[x as usize].overlaps(&boxes[y as usize])
}

/// Sorts all records by bucket into the scratch.
#[inline(always)]
fn sort<T: Real, S: Simd>(_: S, runs: &[&[Record]], scratch: &mut Scratch<T>) -> Starts {
    let mut starts = [0u32; BUCKETS + 2];
    let mut len = 0;
    for run in runs {
        len += run.len();
        for record in *run {
            starts[record.bucket() + 2] += 1;
        }
    }
    scratch.resize(len);
    for bucket in 2..BUCKETS + 2 {
        starts[bucket] += starts[bucket - 1];
    }
    // starts[b + 1] is where bucket b goes next; after the pass it is where bucket b ends, which is where b + 1 starts.
    let (sorted, bytes) = (&mut scratch.sorted[..len], &mut scratch.bytes[..len]);
    for run in runs {
        for record in *run {
            let next = &mut starts[record.bucket() + 1];
            let at = *next as usize;
            *next += 1;
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) a bucket takes as many records as were counted, so that
            // `at` is below their sum, `len`.
            unsafe {
                debug_assert!(at < len);
                *sorted.get_unchecked_mut(at) = *record;
                *bytes.get_unchecked_mut(at) = S::U16::load(&record.0).upper_bytes().to_le();
            }
        }
    }
    let columns = scratch.columns.chunks_exact_mut(scratch.stride).take(YZ);
    for (k, column) in columns.enumerate() {
        for (byte, all) in column[..len].iter_mut().zip(&*bytes) {
            *byte = !(u32::from_le(*all) >> (8 * k)) as u8;
        }
    }
    starts
}

/// Sorted records as a sweep reads them, and where it writes.
#[derive(Clone, Copy)]
struct Sweep {
    sorted: *const Record,
    bytes: *const u32,
    columns: *const u8,
    stride: usize,
    finds: *mut Find,
}

impl Sweep {
    #[inline(always)]
    fn over<T>(scratch: &mut Scratch<T>) -> Self {
        Self {
            sorted: scratch.sorted.as_ptr(),
            bytes: scratch.bytes.as_ptr(),
            columns: scratch.columns.as_ptr(),
            stride: scratch.stride,
            finds: scratch.finds.as_mut_ptr(),
        }
    }

    /// Appends the records in `range` that `own`, which is row `row`, overlaps in the first `K` columns, to the finds; returns
    /// their new number.
    ///
    /// Most windows hold nothing, a few something: each writes its find, and counts it only if there is any.
    ///
    /// # Safety
    /// *isa* (of `S`); *in bounds*: the scratch lives, its records are laid out as far as `K` and `range` ask, and there is room for the finds of
    /// one row.
    #[inline(always)]
    unsafe fn one_row<const K: usize, S: Simd>(self, own: &Record, row: usize, range: Range<usize>, mut waiting: usize) -> usize {
        // SAFETY: (isa, in bounds) the caller's duties; columns are `PAD` longer than the records, and a window writes one find.
        unsafe {
            let own = bounds::<K, S>(own);
            for at in range.clone().step_by(WINDOW) {
                let (mut bits, mut step) = (0, 0);
                while step < WINDOW && at + step < range.end {
                    bits |= S::U8::all_at_most(own, self.columns::<K, S>(at + step)) << step;
                    step += S::U8::N;
                }
                waiting = self.note(row, at, bits & lowest(range.end - at), waiting);
            }
        }
        waiting
    }

    /// As two calls of [`one_row`](Sweep::one_row), for y and z of the sorted record `row` and the next one, which meet the records from `from`
    /// on up to their own `ends`: records are loaded once for both. The second row does not meet itself.
    ///
    /// # Safety
    /// As for [`one_row`](Sweep::one_row); a second row may be read, and there is room for the finds of two rows.
    #[inline(always)]
    unsafe fn two_rows<const D: usize, S: Simd>(self, row: usize, from: usize, ends: [usize; 2], mut waiting: usize) -> usize {
        // SAFETY: (isa, in bounds) the caller's duties, as above.
        unsafe {
            let (first, second) = (self.bounds::<S>(row), self.bounds::<S>(row + 1));
            let end = ends[0].max(ends[1]);
            let mut others = if from == row + 1 { !1 } else { !0 };
            let mut at = from;
            while at < end {
                let (mut found, mut step) = ([0, 0], 0);
                loop {
                    let columns = self.columns::<YZ, S>(at + step);
                    found[0] |= Self::overlaps::<D, S>(first, columns) << step;
                    found[1] |= Self::overlaps::<D, S>(second, columns) << step;
                    step += S::U8::N;
                    if step >= WINDOW || at + step >= end {
                        break;
                    }
                }
                waiting = self.note(row, at, found[0] & lowest(ends[0].saturating_sub(at)), waiting);
                waiting = self.note(row + 1, at, found[1] & lowest(ends[1].saturating_sub(at)) & others, waiting);
                others = !0;
                at += WINDOW;
            }
        }
        waiting
    }

    /// Writes a find, and counts it if there is anything in it.
    ///
    /// # Safety
    /// *In bounds*: there is room for it.
    #[inline(always)]
    unsafe fn note(self, row: usize, at: usize, bits: u64, waiting: usize) -> usize {
        // SAFETY: (in bounds) the caller's duty.
        unsafe { *self.finds.add(waiting) = Find { row: row as u32, at: at as u32, bits } };
        waiting + usize::from(bits != 0)
    }

    /// What a sorted row compares others with: `!max.y, !max.z, min.y, min.z`, each in all lanes. From memory, where bytes splat in one
    /// instruction.
    ///
    /// # Safety
    /// *isa*; *in bounds*: the row has bytes.
    #[inline(always)]
    unsafe fn bounds<S: Simd>(self, row: usize) -> [S::U8; YZ] {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let own = self.bytes.add(row).cast::<u8>();
            [S::U8::splat(*own.add(2)), S::U8::splat(*own.add(3)), S::U8::splat(*own), S::U8::splat(*own.add(1))]
        }
    }

    /// The first `K` columns of the records from `at` on, as many as a register has: with [`YZ`], `!min.y, !min.z, max.y, max.z`.
    ///
    /// # Safety
    /// *isa*; *in bounds*: `at` is at most the number of records.
    #[inline(always)]
    unsafe fn columns<const K: usize, S: Simd>(self, at: usize) -> [S::U8; K] {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let place = self.columns.add(at);
            std::array::from_fn(|k| S::U8::load(place.add(k * self.stride)))
        }
    }

    /// One bit for each record that a row overlaps: `min <= own.max`, which is `!own.max <= !min`, and `own.min <= max`.
    ///
    /// # Safety
    /// *isa*.
    #[inline(always)]
    unsafe fn overlaps<const D: usize, S: Simd>(own: [S::U8; 4], columns: [S::U8; 4]) -> u64 {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            if D == 2 {
                return S::U8::all_at_most([own[0], own[2]], [columns[0], columns[2]]);
            }
            S::U8::all_at_most(own, columns)
        }
    }
}

/// What a mover compares the first `K` columns with: with [`YZ`], `!max.y, !max.z, min.y, min.z`, each in all lanes.
///
/// # Safety
/// *isa*.
#[inline(always)]
unsafe fn bounds<const K: usize, S: Simd>(own: &Record) -> [S::U8; K] {
    const OPPOSITE: [usize; SIDES] = [4, 5, 2, 3, 1, 0];
    // SAFETY: (isa) the caller's duty.
    std::array::from_fn(|k| unsafe { S::U8::splat((own.0[OPPOSITE[k]] >> 8) as u8) })
}

/// The lowest `count` bits, all of them from 64 on.
#[inline(always)]
fn lowest(count: usize) -> u64 {
    if count < 64 { !(!0 << count) } else { !0 }
}
