//! The join of one tile: quantised boxes, swept in bytes, confirmed in words, and in floats only where words are equal.
//!
//! # Input
//! [`Record`]s of the objects that reach into the tile, each quantised to 16 bits relative to the tile, by a monotone map: a
//! lower coordinate is 0 if it lies before the tile, else at least 1.
//!
//! # Method
//! 1. Counting sort by the upper byte of the lower x. A record's candidates are then one run: from behind it to the end of the
//!    bucket that its upper x falls into. The bounds come from the sort, so x is never compared again.
//! 2. Along the run, y and z are compared in bytes, as many at once as a register has. What a step finds is appended without a
//!    branch, as a mask.
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
mod probe;

pub(crate) use changed::join_changed;
pub(crate) use join::join;
pub(crate) use probe::probe;

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
        let [low, high] = self.halves();
        let (inverted_max, min) = (low >> 48 | (high & 0xffff_ffff) << 16, low & 0xffff_ffff_ffff);
        bytemuck::cast([(!(inverted_max | min << 48)).to_le(), (!(min >> 16)).to_le() | 0xffff_ffff_0000_0000u64.to_le()])
    }

    /// All eight words in two registers, the first word lowest.
    #[inline(always)]
    fn halves(&self) -> [u64; 2] {
        bytemuck::cast::<_, [u64; 2]>(self.0).map(u64::from_le)
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
        last_bucket((!self.0[3] >> 8) as u8)
    }
}

/// The last bucket that an upper x reaches, by its upper byte.
#[inline(always)]
fn last_bucket(high_x: u8) -> usize {
    usize::from(high_x).max(1)
}

/// Finds are confirmed when this many wait, so that the buffer stays in the cache.
const BATCH: usize = 1024;
/// Columns are this much longer than the records: the widest register.
const PAD: usize = 64;

/// What one step of a sweep found: candidates `at + bit` of a row.
#[derive(Clone, Copy, Debug, Default)]
struct Find {
    row: u32,
    at: u32,
    bits: u64,
}

/// Buffers of the joins, reused: nothing in here outlives a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    sorted: Vec<Record>,
    /// The upper byte on x, then lower and upper bytes on y and z, in sorted order, padded.
    high_x: Vec<u8>,
    low_y: Vec<u8>,
    high_y: Vec<u8>,
    low_z: Vec<u8>,
    high_z: Vec<u8>,
    finds: Vec<Find>,
}

/// Where each bucket starts in the sorted records, with one more for the end.
type Starts = [u32; 258];

impl Scratch {
    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let columns = [&self.high_x, &self.low_y, &self.high_y, &self.low_z, &self.high_z];
        self.sorted.capacity() * 16 + columns.map(Vec::capacity).iter().sum::<usize>() + self.finds.capacity() * 16
    }

    /// Makes sure that a sweep over `count` records fits behind the finds that wait, with one spare.
    #[inline(always)]
    fn make_room<S: Simd>(&mut self, waiting: usize, count: usize) {
        let needed = waiting + count / S::U8::N + 2;
        if self.finds.len() < needed {
            self.finds.resize(needed + BATCH, Find::default());
        }
    }

    fn resize(&mut self, len: usize) {
        if self.sorted.len() < len {
            self.sorted.resize(len, Record::default());
            for column in [&mut self.high_x, &mut self.low_y, &mut self.high_y, &mut self.low_z, &mut self.high_z] {
                column.resize(len + PAD, 0);
            }
        }
    }
}

/// Turns finds into hits.
#[inline(always)]
fn confirm<const D: usize, T: Real, S: Simd>(simd: S, scratch: &Scratch, count: usize, boxes: &[Aabb<D, T>], hits: &mut Hits) {
    for find in &scratch.finds[..count] {
        let own = &scratch.sorted[find.row as usize];
        let reach = own.reach();
        let room = hits.room(64);
        let (mut bits, mut found) = (find.bits, 0);
        while bits != 0 {
            let other = &scratch.sorted[find.at as usize + bits.trailing_zeros() as usize];
            let (pair, is_pair) = decide::<D, T, S>(simd, own, &reach, other, boxes);
            room[found].write(pair);
            found += usize::from(is_pair);
            bits &= bits - 1;
        }
        // SAFETY: (initialised, room) `found` pairs were written, one behind the other, and at most 64.
        unsafe { hits.commit(found) };
    }
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

/// Sorts all records by bucket into the scratch.
#[inline(always)]
fn sort(runs: &[&[Record]], scratch: &mut Scratch) -> Starts {
    let mut starts = [0u32; 258];
    let mut len = 0;
    for run in runs {
        len += run.len();
        for record in *run {
            starts[record.bucket() + 2] += 1;
        }
    }
    scratch.resize(len);
    for bucket in 2..258 {
        starts[bucket] += starts[bucket - 1];
    }
    // starts[b + 1] is where bucket b goes next; after the pass it is where bucket b ends, which is where b + 1 starts.
    let Scratch { sorted, high_x, low_y, high_y, low_z, high_z, .. } = scratch;
    let (sorted, high_x) = (&mut sorted[..len], &mut high_x[..len]);
    let (low_y, high_y, low_z, high_z) = (&mut low_y[..len], &mut high_y[..len], &mut low_z[..len], &mut high_z[..len]);
    for run in runs {
        for record in *run {
            let next = &mut starts[record.bucket() + 1];
            let at = *next as usize;
            *next += 1;
            sorted[at] = *record;
            let [low, high] = record.halves();
            high_x[at] = (!low >> 56) as u8;
            low_y[at] = (low >> 24) as u8;
            low_z[at] = (low >> 40) as u8;
            high_y[at] = (!high >> 8) as u8;
            high_z[at] = (!high >> 24) as u8;
        }
    }
    starts
}

/// Appends what `row` overlaps in bytes, on y and z, of the records `from..end`, to the finds; returns their new number.
///
/// Most steps find nothing, a few something: each writes its find, and counts it only if there is any.
///
/// # Safety
/// *isa* (of `S`); *in bounds*: `row` and `end` are at most the number of sorted records, and the caller has made room.
#[inline(always)]
unsafe fn sweep_row<const D: usize, S: Simd>(
    scratch: &mut Scratch,
    row: usize,
    from: usize,
    end: usize,
    mut waiting: usize,
) -> usize {
    let Scratch { low_y, high_y, low_z, high_z, finds, .. } = scratch;
    let n = S::U8::N;
    // SAFETY: (isa) the caller's duty; (in bounds) columns are `PAD` longer than the records, and a step writes one find.
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
            let bits = outside.zeros() & (!0u64 >> (64 - (end - at).min(n)));
            *finds.get_unchecked_mut(waiting) = Find { row: row as u32, at: at as u32, bits };
            waiting += usize::from(bits != 0);
            at += n;
        }
    }
    waiting
}
