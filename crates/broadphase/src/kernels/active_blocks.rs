//! The pairing sweep with the active objects in blocks of neighboring ranks: what `active_tree.rs` does, in less memory.
//!
//! # The structure
//! A block stands for `1 << shift` consecutive ranks of the partition. Its active objects lie side by side at the front of its
//! place, in packets of [`STEP`]: all lower coordinates on column 0, all upper ones, and so on. An object is activated by appending it, and
//! deactivated by moving the last one of the block into its place. A candidate range is a run of blocks, each tested packet by
//! packet; ranks of a block that are outside of the range fail the test by themselves.
//!
//! # Cost
//! A visit reads only active objects, in full registers, and their packets stay in the cache while the sweep passes; the tree
//! finds one active rank in a hundred or so, each in a cache line of its own for every column. The width of a block is the
//! caller's choice: about half a packet's worth of active objects is best. Bad case: a range with few active objects costs a
//! look at each of its blocks.
//!
//! Pairs come in the order of events, then of places: the same for every register width.

use super::active::{Event, Members};
use super::all_pairs::STEP;
use super::arch::{Kernel, Lanes, Mask, Simd};
use super::isa::Kernels;
use super::pair_sink::PairSink;
use super::soa::Columns;
use crate::geometry::{Real, sealed::Sealed};
use crate::pair::Pair;

/// The place of an object that is not active.
const NOWHERE: u32 = u32::MAX;

/// The active objects of a partition. Scratch: every sweep resets it.
#[derive(Clone, Debug)]
pub(crate) struct Blocks<T> {
    /// `2 * (D - 1)` columns of [`STEP`] lanes per packet.
    lanes: Vec<T>,
    /// The member at each place.
    members: Vec<u32>,
    /// The place of each member, or [`NOWHERE`].
    places: Vec<u32>,
    /// The number of active objects of each block.
    counts: Vec<u32>,
    shift: u32,
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Self { lanes: Vec::new(), members: Vec::new(), places: Vec::new(), counts: Vec::new(), shift: 0 }
    }
}

impl<T: Real> Blocks<T> {
    /// The narrowest block, as a power of two: one packet.
    pub(crate) const MIN_SHIFT: u32 = STEP.trailing_zeros();

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.lanes.capacity() * size_of::<T>() + (self.members.capacity() + self.places.capacity() + self.counts.capacity()) * 4
    }

    /// Prepares for the first events of a partition of `len` members: no object is active. Blocks have `1 << shift` members.
    pub(crate) fn reset<const D: usize>(&mut self, len: usize, shift: u32) {
        assert!(shift >= Self::MIN_SHIFT);
        let blocks = len.div_ceil(1 << shift);
        self.shift = shift;
        self.lanes.resize((blocks << shift) * 2 * (D - 1), T::ZERO);
        self.members.resize(blocks << shift, 0);
        self.places.clear();
        self.places.resize(len, NOWHERE);
        self.counts.clear();
        self.counts.resize(blocks, 0);
    }

    /// The lists as slices, for a sweep.
    #[inline(always)]
    fn lists(&mut self) -> Lists<'_, T> {
        let Self { lanes, members, places, counts, shift } = self;
        Lists { lanes, members, places, counts, shift: *shift }
    }
}

/// [`Blocks`] as slices: their ends stay in registers, where those of a `Vec` are read again after every write.
struct Lists<'b, T> {
    lanes: &'b mut [T],
    members: &'b mut [u32],
    places: &'b mut [u32],
    counts: &'b mut [u32],
    shift: u32,
}

impl<T: Real> Lists<'_, T> {
    /// Activates a member, the object of `rank`, unless it is active.
    #[inline(always)]
    fn insert<const D: usize>(&mut self, boxes: &Columns<'_, D, T>, rank: usize, member: usize) {
        let block = member >> self.shift;
        let place = (block << self.shift) + self.counts[block] as usize;
        if self.places[member] != NOWHERE {
            return;
        }
        self.counts[block] += 1;
        self.members[place] = member as u32;
        self.places[member] = place as u32;
        let at = first_lane::<D>(place);
        for k in 0..D - 1 {
            self.lanes[at + 2 * k * STEP] = boxes.min(k)[rank];
            self.lanes[at + (2 * k + 1) * STEP] = boxes.max(k)[rank];
        }
    }

    /// Deactivates a member, if it is active.
    #[inline(always)]
    fn delete<const D: usize>(&mut self, member: usize) {
        let place = std::mem::replace(&mut self.places[member], NOWHERE);
        if place == NOWHERE {
            return;
        }
        let block = member >> self.shift;
        self.counts[block] -= 1;
        let last = (block << self.shift) + self.counts[block] as usize;
        if last != place as usize {
            let moved = self.members[last];
            self.members[place as usize] = moved;
            self.places[moved as usize] = place;
            let (from, to) = (first_lane::<D>(last), first_lane::<D>(place as usize));
            for column in 0..2 * (D - 1) {
                self.lanes[to + column * STEP] = self.lanes[from + column * STEP];
            }
        }
    }
}

/// Where the first coordinate of a place is; the others follow in steps of [`STEP`].
#[inline(always)]
fn first_lane<const D: usize>(place: usize) -> usize {
    (place / STEP) * STEP * 2 * (D - 1) + place % STEP
}

/// Sweeps `events`, in order, over one partition of `boxes`, going on with the active objects of the events before.
pub(crate) fn sweep<const D: usize, T: Real>(
    kernels: Kernels,
    boxes: Columns<'_, D, T>,
    partition: impl Members,
    events: &[Event],
    blocks: &mut Blocks<T>,
    hits: &mut PairSink,
) {
    partition.check(boxes.len());
    assert!(blocks.places.len() == partition.len(), "blocks are reset for every partition");
    kernels.run(Sweep { boxes, partition, events, blocks, hits });
}

struct Sweep<'a, 'b, 'h, 'r, M, const D: usize, T> {
    boxes: Columns<'a, D, T>,
    partition: M,
    events: &'a [Event],
    blocks: &'b mut Blocks<T>,
    hits: &'h mut PairSink<'r>,
}

impl<M: Members, const D: usize, T: Real> Kernel for Sweep<'_, '_, '_, '_, M, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { boxes, partition, events, blocks, hits } = self;
        let (mut blocks, mut tests) = (blocks.lists(), 0);
        for &event in events {
            let rank = event.rank();
            if event.is_end() {
                if let Some(member) = partition.member_or_long(rank) {
                    blocks.delete::<D>(member);
                }
                continue;
            }
            if hits.stopped() {
                break;
            }
            let (from, to) = partition.candidates(rank);
            if from < to {
                let (first, last) = (from >> blocks.shift, (to - 1) >> blocks.shift);
                // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) to <= partition.len().
                tests += unsafe { visit::<M, D, T, S>(&boxes, &partition, rank, first, last, &blocks, hits) };
            }
            if let Some(member) = partition.member(rank) {
                blocks.insert(&boxes, rank, member);
            }
        }
        hits.count_tests(tests);
    }
}

/// Tests the object of `rank` against all active ones of blocks `first..=last`; returns their number.
///
/// # Safety
/// *isa* (of `S`), *in bounds*: `last < blocks.counts.len()`.
#[inline(always)]
unsafe fn visit<M: Members, const D: usize, T: Real, S: Simd>(
    boxes: &Columns<'_, D, T>,
    partition: &M,
    rank: usize,
    first: usize,
    last: usize,
    blocks: &Lists<'_, T>,
    hits: &mut PairSink,
) -> u64 {
    let id = boxes.ids()[rank];
    // The last column is not compared, and not read: the first one stands in for it.
    let compared = |k: usize| if k + 1 < D { k } else { 0 };
    // SAFETY: (isa) the caller's duty.
    let low: [_; D] = std::array::from_fn(|k| unsafe { <T as Sealed>::In::<S>::splat(boxes.min(compared(k))[rank]) });
    // SAFETY: (isa) the caller's duty.
    let high: [_; D] = std::array::from_fn(|k| unsafe { <T as Sealed>::In::<S>::splat(boxes.max(compared(k))[rank]) });
    let n = <<T as Sealed>::In<S> as Lanes>::N;
    let mut tests = 0;
    for block in first..=last {
        // SAFETY: (in bounds) the caller's duty.
        let count = unsafe { *blocks.counts.get_unchecked(block) } as usize;
        tests += count as u64;
        let begin = block << blocks.shift;
        let mut place = begin;
        while place < begin + count {
            // SAFETY: (isa) the caller's duty; (in bounds) a block has room for 1 << shift places, a multiple of STEP, and n
            // divides STEP, so that n places from `place` on are in one packet.
            let bits = unsafe { step::<D, T, S>(&low, &high, blocks.lanes, first_lane::<D>(place)) };
            let mut bits = bits & (u32::MAX >> (32 - (begin + count - place).min(n)));
            while bits != 0 {
                let other = blocks.members[place + bits.trailing_zeros() as usize] as usize;
                bits &= bits - 1;
                hits.push(Pair::new(id, boxes.ids()[partition.rank(other)]));
            }
            place += n;
        }
    }
    tests
}

/// The bits of the register of places that starts at lane `at` that overlap the row.
///
/// # Safety
/// *isa* (of `S`), *in bounds*: a register of places of one packet starts at `at`.
#[inline(always)]
unsafe fn step<const D: usize, T: Real, S: Simd>(
    low: &[<T as Sealed>::In<S>; D],
    high: &[<T as Sealed>::In<S>; D],
    lanes: &[T],
    at: usize,
) -> u32 {
    debug_assert!(at + (2 * (D - 1) - 1) * STEP + <<T as Sealed>::In<S> as Lanes>::N <= lanes.len());
    // SAFETY: (isa, in bounds) the caller's duties.
    unsafe {
        let load = |column: usize| <T as Sealed>::In::<S>::load(lanes.as_ptr().add(at + column * STEP));
        let mut mask = load(0).le(high[0]).and(low[0].le(load(1)));
        for k in 1..D - 1 {
            mask = mask.and(load(2 * k).le(high[k])).and(low[k].le(load(2 * k + 1)));
        }
        mask.bits()
    }
}
