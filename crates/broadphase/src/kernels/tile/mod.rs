//! The join of one tile: quantised boxes, swept in bytes, confirmed in words, and in floats only where words are equal.
//!
//! # Input
//! [`Record`]s of the objects that reach into the tile, each quantised to 16 bits relative to the tile, by a monotone map: a
//! lower coordinate is 0 if it lies before the tile, else at least 1.
//!
//! # Method
//! 1. Counting sort by the upper byte of the lower x. A record's candidates are then one run: from behind it to the end of the
//!    bucket that its upper x falls into. The bounds come from the sort, so x is never compared again.
//! 2. Along the run, y and z are compared in bytes, as many at once as a register has. Candidates are appended without a branch
//!    for the usual few.
//! 3. Each candidate is confirmed on its words: outside on any axis, it is no pair; strictly inside on all, it is one; only where
//!    two words are equal do the boxes decide.
//!
//! # Exactness
//! For a monotone map q, `x <= y` implies `q(x) <= q(y)`: no pair is lost in steps 1 to 3. And `q(x) < q(y)` implies `x < y`: a
//! pair that is strict on all words is a pair of the boxes. The upper byte of a word is a monotone map too.
//!
//! # No duplicates
//! A pair is reported in the one tile that holds the lower corner of its intersection on the lattice, `max(a.min, b.min)` on each
//! axis: in any other tile that both reach, both start before the tile on some axis, and two zeros say so.

mod changed;
mod join;

pub(crate) use changed::join_changed;
pub(crate) use join::join;

use super::hits::Hits;
use super::lanes::{Bytes, Simd, Words};
use crate::geometry::{Aabb, Real};
use crate::pairs::Pair;

/// Words of a [`Record`] that hold coordinates, as bits of [`Words::zeros`]: lanes 0 to 5.
const COORDINATES: u32 = 0xfff;
/// Words that hold lower coordinates: lanes 0 to 2.
const LOWER: u32 = 0x3f;

/// A box in a tile: `min.x, min.y, min.z, !max.x, !max.y, !max.z`, then the id in two halves.
///
/// The upper coordinates are inverted, so that one comparison of all lanes with [`Record::reach`] tests both sides.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record(pub(crate) [u16; 8]);

const _: () = assert!(size_of::<Record>() == 16);

impl Record {
    /// From quantised corners, lower ones in lanes 0 to 2, upper ones in lanes 4 to 6. In 2D, z is 1..2 for everyone.
    ///
    /// Put together in two registers: eight narrow stores would cost more than all the arithmetic before them.
    #[inline(always)]
    pub(crate) fn new(corners: [u16; 8], id: u32) -> Self {
        let c = corners.map(u64::from);
        let low = c[0] | c[1] << 16 | c[2] << 32 | (!c[4] & 0xffff) << 48;
        let high = (!c[5] & 0xffff) | (!c[6] & 0xffff) << 16 | u64::from(id) << 32;
        Self(bytemuck::cast([low.to_le(), high.to_le()]))
    }

    /// The object.
    #[inline(always)]
    pub(crate) fn id(&self) -> u32 {
        u32::from(self.0[6]) | u32::from(self.0[7]) << 16
    }

    /// Another record overlaps, on words, if none of its lanes exceeds these: `max.x, ..., !min.x, ...`, and no bound on ids.
    #[inline(always)]
    fn reach(&self) -> [u16; 8] {
        let r = &self.0;
        [!r[3], !r[4], !r[5], !r[0], !r[1], !r[2], u16::MAX, u16::MAX]
    }

    /// The bucket of the lower x: 0 for those that start before the tile.
    #[inline(always)]
    fn bucket(&self) -> usize {
        let x = self.0[0];
        usize::from(x >> 8).max(usize::from(x != 0))
    }

    /// The last bucket that the upper x reaches.
    #[inline(always)]
    fn last_bucket(&self) -> usize {
        usize::from(!self.0[3] >> 8).max(1)
    }
}

/// Candidates are confirmed when this many wait, so that the buffer stays in the cache.
const BATCH: usize = 4096;

/// Buffers of [`join`], reused: nothing in here outlives a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    sorted: Vec<Record>,
    reach: Vec<[u16; 8]>,
    /// Lower and upper bytes on y and z, in sorted order, padded.
    columns: [Vec<u8>; 4],
    /// `(row, column)` positions, in two halves of a word.
    candidates: Vec<u64>,
}

impl Scratch {
    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let columns: usize = self.columns.iter().map(Vec::capacity).sum();
        (self.sorted.capacity() + self.reach.capacity()) * 16 + columns + self.candidates.capacity() * 8
    }

    /// Makes sure that `count` more candidates fit behind those that wait, and the spare ones of the last step.
    #[inline(always)]
    fn make_room(&mut self, waiting: usize, count: usize) {
        if self.candidates.len() < waiting + count + 64 {
            self.candidates.resize(waiting + count + BATCH, 0);
        }
    }

    fn resize(&mut self, len: usize) {
        if self.sorted.len() < len {
            self.sorted.resize(len, Record::default());
            self.reach.resize(len, [0; 8]);
            self.columns.iter_mut().for_each(|column| column.resize(len + 64, 0));
        }
    }
}

/// Turns candidates into hits.
#[inline(always)]
fn confirm<const D: usize, T: Real, S: Simd>(simd: S, scratch: &Scratch, count: usize, boxes: &[Aabb<D, T>], hits: &mut Hits) {
    let (sorted, reach) = (&scratch.sorted[..], &scratch.reach[..]);
    let room = hits.room(count + 1);
    let mut found = 0;
    for &candidate in &scratch.candidates[..count] {
        let (row, column) = ((candidate >> 32) as usize, candidate as u32 as usize);
        let (pair, is_pair) = decide::<D, T, S>(simd, &sorted[row], &reach[row], &sorted[column], boxes);
        room[found].write(pair);
        found += usize::from(is_pair);
    }
    // SAFETY: (initialised, room) `found <= count` pairs were written, one behind the other.
    unsafe { hits.commit(found) };
}

/// The pair of two records, and whether it is one: by words, and by boxes where words are equal.
#[inline(always)]
fn decide<const D: usize, T: Real, S: Simd>(
    _: S,
    a: &Record,
    reach: &[u16; 8],
    b: &Record,
    boxes: &[Aabb<D, T>],
) -> (Pair, bool) {
    // SAFETY: (isa) `S` is proven by the kernel table.
    let (inside, equal, both_before) = unsafe {
        let (bound, own, other) = (S::U16::load(reach), S::U16::load(&a.0), S::U16::load(&b.0));
        (other.excess(bound).zeros(), other.equal(bound), other.or(own).zeros())
    };
    let mut is_pair = (inside & COORDINATES == COORDINATES) & (both_before & LOWER == 0);
    let (x, y) = (a.id(), b.id());
    if is_pair & (equal & COORDINATES != 0) {
        is_pair = boxes[x as usize].overlaps(&boxes[y as usize]);
    }
    (Pair::new(x, y), is_pair)
}

/// Sorts all records by bucket into the scratch; returns where each bucket starts, with one more for the end.
#[inline(always)]
fn sort(runs: &[&[Record]], scratch: &mut Scratch) -> [usize; 258] {
    let mut starts = [0usize; 258];
    for run in runs {
        for record in *run {
            starts[record.bucket() + 2] += 1;
        }
    }
    for bucket in 2..258 {
        starts[bucket] += starts[bucket - 1];
    }
    // starts[b + 1] is where bucket b goes next; after the pass it is where bucket b ends, which is where b + 1 starts.
    let [low_y, high_y, low_z, high_z] = &mut scratch.columns;
    for run in runs {
        for record in *run {
            let next = &mut starts[record.bucket() + 1];
            let at = *next;
            *next += 1;
            scratch.sorted[at] = *record;
            scratch.reach[at] = record.reach();
            low_y[at] = (record.0[1] >> 8) as u8;
            high_y[at] = (!record.0[4] >> 8) as u8;
            low_z[at] = (record.0[2] >> 8) as u8;
            high_z[at] = (!record.0[5] >> 8) as u8;
        }
    }
    starts
}

/// Appends to the candidates those of `from..end` that `row` overlaps in bytes on y and z; returns their new number.
///
/// The caller has made room for all of them and 64 more.
#[inline(always)]
fn sweep_row<const D: usize, S: Simd>(
    _: S,
    scratch: &mut Scratch,
    row: usize,
    from: usize,
    end: usize,
    mut waiting: usize,
) -> usize {
    let [low_y, high_y, low_z, high_z] = &scratch.columns;
    let n = S::U8::N;
    assert!(end + 64 <= low_y.len() && end + 64 <= high_y.len() && end + 64 <= low_z.len() && end + 64 <= high_z.len());
    assert!(row < scratch.sorted.len() && scratch.candidates.len() >= waiting + (end - from) + 64);
    let candidates = &mut scratch.candidates[..];
    // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) the columns reach 64 bytes, the widest register, behind `end`,
    // and each step appends at most the lanes it counts plus three spare ones.
    unsafe {
        let own_y = (S::U8::splat(*low_y.get_unchecked(row)), S::U8::splat(*high_y.get_unchecked(row)));
        let own_z = (S::U8::splat(*low_z.get_unchecked(row)), S::U8::splat(*high_z.get_unchecked(row)));
        let mut at = from;
        while at < end {
            let (low, high) = (S::U8::load(low_y.as_ptr().add(at)), S::U8::load(high_y.as_ptr().add(at)));
            let mut outside = low.excess(own_y.1).or(own_y.0.excess(high));
            if D > 2 {
                let (low, high) = (S::U8::load(low_z.as_ptr().add(at)), S::U8::load(high_z.as_ptr().add(at)));
                outside = outside.or(low.excess(own_z.1)).or(own_z.0.excess(high));
            }
            let mut bits = outside.zeros() & (!0u64 >> (64 - (end - at).min(n)));
            let count = bits.count_ones() as usize;
            let base = (row as u64) << 32 | at as u64;
            // The first four are written whether they exist or not: most rows have fewer, and nobody has to guess.
            for spare in 0..4.min(n) {
                *candidates.get_unchecked_mut(waiting + spare) = base + u64::from(bits.trailing_zeros());
                bits &= bits.wrapping_sub(1);
            }
            let mut more = waiting + 4;
            while bits != 0 {
                *candidates.get_unchecked_mut(more) = base + u64::from(bits.trailing_zeros());
                bits &= bits - 1;
                more += 1;
            }
            waiting += count;
            at += n;
        }
    }
    waiting
}
