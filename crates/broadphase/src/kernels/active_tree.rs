//! The pairing sweep with the active objects in a SuccTree, as in paper 002.
//!
//! Boxes lie in rank order, ascending on column 0, the primary axis; the last column is the secondary axis, whose endpoints
//! are the events. When an object starts, the active ones within its candidate range are tested; then it becomes active
//! itself, until it ends. Departures from the paper:
//!
//! 1. A range visit takes whole words of the tree. The ranks of a word are neighbors in memory, so [`STEP`] of them are tested
//!    at once, those that are not active being masked out.
//! 2. The secondary axis is not tested: what is active when another starts overlaps it there, in closed intervals, since starts
//!    come before ends of the same coordinate.
//!
//! Pairs come in the order of events, then of ranks: the same for every register width.

use super::active::{Event, Members, Ranks};
use super::all_pairs::STEP;
use super::arch::{Kernel, Lanes, Mask, Simd};
use super::isa::Kernels;
use super::pair_sink::{Order, PairSink};
use super::soa::Columns;
use crate::bits::SuccTree;
use crate::geometry::{Real, sealed::Sealed};

/// Sweeps `events`, in order, over one partition of `boxes`, going on with the active objects of the events before, `tree`.
pub(crate) fn sweep<const D: usize, T: Real>(
    kernels: Kernels,
    boxes: Columns<'_, D, T>,
    partition: Ranks<'_>,
    events: &[Event],
    tree: &mut SuccTree,
    hits: &mut PairSink,
) {
    partition.check(boxes.len());
    assert!(tree.bound() == partition.len(), "the tree is reset for every partition");
    kernels.run(Sweep { boxes, partition, events, tree, hits });
}

struct Sweep<'a, 't, 'h, 'r, const D: usize, T> {
    boxes: Columns<'a, D, T>,
    partition: Ranks<'a>,
    events: &'a [Event],
    tree: &'t mut SuccTree,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real> Kernel for Sweep<'_, '_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { boxes, partition, events, tree, hits } = self;
        let boxes = &boxes;
        let mut tests = 0;
        for &event in events {
            let rank = event.rank();
            if event.is_end() {
                if let Some(member) = partition.member(rank) {
                    tree.delete(member);
                }
                continue;
            }
            if hits.stopped() {
                break;
            }
            let (from, to) = partition.candidates(rank);
            let id = boxes.ids()[rank];
            // SAFETY: (isa) `S` is proven by the kernel table.
            let low: [_; D] = std::array::from_fn(|k| unsafe { <T as Sealed>::In::<S>::splat(boxes.min(k)[rank]) });
            // SAFETY: (isa) as above.
            let high: [_; D] = std::array::from_fn(|k| unsafe { <T as Sealed>::In::<S>::splat(boxes.max(k)[rank]) });
            tree.visit_words(from..to, |base, members| {
                tests += u64::from(members.count_ones());
                let mut rest = members;
                let mut at = partition.begin + base;
                while rest != 0 {
                    let active = rest as u32 & (u32::MAX >> (32 - STEP));
                    if active != 0 {
                        // SAFETY: (isa) as above; (in bounds) one of the STEP boxes is active, so it exists, and STEP <= PAD.
                        let bits = unsafe { step::<D, T, S>(&low, &high, boxes, at) } & active;
                        hits.push_bits(id, &boxes.ids()[at..at + STEP], bits, Order::Canonical);
                    }
                    rest >>= STEP;
                    at += STEP;
                }
            });
            if let Some(member) = partition.member(rank) {
                tree.insert(member);
            }
        }
        hits.count_tests(tests);
    }
}

/// The bits of `boxes[at..at + STEP]` that overlap the row on all columns but the last.
///
/// # Safety
/// *isa* (of `S`), *in bounds*: `at + STEP <= boxes.len() + PAD`.
#[inline(always)]
unsafe fn step<const D: usize, T: Real, S: Simd>(
    low: &[<T as Sealed>::In<S>; D],
    high: &[<T as Sealed>::In<S>; D],
    boxes: &Columns<'_, D, T>,
    at: usize,
) -> u32 {
    let n = <<T as Sealed>::In<S> as Lanes>::N;
    let mut bits = 0;
    for lane in (0..STEP).step_by(n) {
        // SAFETY: (isa, in bounds) the caller's duties.
        let mask = unsafe {
            let load = |column: &[T]| <T as Sealed>::In::<S>::load(column.as_ptr().add(at + lane));
            let mut mask = load(boxes.min(0)).le(high[0]).and(low[0].le(load(boxes.max(0))));
            for k in 1..D - 1 {
                mask = mask.and(load(boxes.min(k)).le(high[k])).and(low[k].le(load(boxes.max(k))));
            }
            mask
        };
        bits |= mask.bits() << lane;
    }
    bits
}
