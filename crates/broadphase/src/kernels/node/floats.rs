//! The join of one tree node as in paper 001: a sweep over the floats themselves, as many boxes tested at once as a register holds.
//!
//! 1. The sweep axis is the one on which the centers of all own boxes vary most.
//! 2. Boxes are projected onto it and sorted by their lower ends; the standard library's unstable sort is a quicksort.
//! 3. Internal pairs come from one pass over the sorted own boxes; external pairs from the bipartite sweep: both lists are
//!    traversed at the same time, and the box that starts first meets those of the other list that start before it ends.
//! 4. The run of candidates of a box is a batch: it is tested `w` pairs at a time, `w` being 1, 4, 8 or 16 by instruction set.
//! 5. Pairs of two boxes that did not move are filtered out before they are tested: moved and resting boxes are sorted apart.

use std::cmp::Ordering;

use super::{Entry, Runs, widest};
use crate::geometry::Real;
use crate::kernels::arch::{Kernel, Simd};
use crate::kernels::isa::Kernels;
use crate::kernels::pair_sink::PairSink;
use crate::kernels::soa::{Columns, Soa};
use crate::kernels::sorted::permuted;
use crate::kernels::sorted_rows::run;

/// Buffers of a join, reused.
#[derive(Clone, Debug)]
pub(crate) struct FloatScratch<const D: usize, T> {
    /// Lower end on the sweep axis, and entry.
    projections: Vec<(T, u32)>,
    /// In sweep order, the sweep axis as column 0: own boxes that moved and that rest, others that moved and that rest.
    columns: [Soa<D, T>; 4],
}

impl<const D: usize, T: Real> Default for FloatScratch<D, T> {
    fn default() -> Self {
        Self { projections: Vec::new(), columns: Default::default() }
    }
}

impl<const D: usize, T: Real> FloatScratch<D, T> {
    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.projections.capacity() * size_of::<(T, u32)>() + self.columns.iter().map(Soa::bytes).sum::<usize>()
    }

    /// Sorts the entries that moved, or those that did not, into one of the lists.
    fn sort(&mut self, list: usize, entries: &[Entry<D, T>], moved: bool, axes: &[usize; D]) {
        let wanted = entries.iter().zip(0..).filter(|(entry, _)| entry.moved == moved);
        self.projections.clear();
        self.projections.extend(wanted.map(|(entry, at)| (entry.aabb.min[axes[0]], at)));
        // Of equal projections the entry decides, so that the order does not depend on the sort.
        let order = |a: &(T, u32), b: &(T, u32)| a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal).then(a.1.cmp(&b.1));
        self.projections.sort_unstable_by(order);
        let columns = &mut self.columns[list];
        columns.resize(self.projections.len());
        for (position, &(_, at)) in self.projections.iter().enumerate() {
            let entry = &entries[at as usize];
            columns.set(position, entry.id, &permuted(&entry.aabb, axes));
        }
    }
}

/// All overlapping pairs of `own` boxes with each other, and of an own box with one of `others`, that have a box which moved.
pub(crate) fn join_floats<const D: usize, T: Real>(
    kernels: Kernels,
    own: &[Entry<D, T>],
    others: &[Entry<D, T>],
    (scratch, runs): (&mut FloatScratch<D, T>, &mut Runs),
    hits: &mut PairSink,
) {
    if own.is_empty() {
        return;
    }
    let mut axes = std::array::from_fn(|k| k);
    axes.swap(0, widest(own, own.len()));
    for (list, entries, moved) in [(0, own, true), (1, own, false), (2, others, true), (3, others, false)] {
        scratch.sort(list, entries, moved, &axes);
    }
    let [moved, resting, moved_others, resting_others] = scratch.columns.each_ref().map(Soa::columns);
    kernels.run(Within { boxes: moved, runs, hits });
    for (left, right) in [(moved, resting), (moved, moved_others), (moved, resting_others), (resting, moved_others)] {
        kernels.run(Between { left, right, runs, hits });
    }
}

/// The sweep over one list.
struct Within<'a, 'h, 'r, const D: usize, T> {
    boxes: Columns<'a, D, T>,
    runs: &'a mut Runs,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real> Kernel for Within<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { boxes, runs, hits } = self;
        for row in 0..boxes.len() {
            if hits.stopped() {
                return;
            }
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) row < len, and a whole `Soa` has its padding.
            let length = unsafe { run::<D, T, S>((&boxes, row), &boxes, row + 1, hits) };
            runs.add(length);
            hits.count_tests(length as u64);
        }
    }
}

/// The bipartite sweep over two lists; of equal starts, the left one goes first.
struct Between<'a, 'h, 'r, const D: usize, T> {
    left: Columns<'a, D, T>,
    right: Columns<'a, D, T>,
    runs: &'a mut Runs,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real> Kernel for Between<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { left, right, runs, hits } = self;
        let (mut i, mut j) = (0, 0);
        // At the end of one list, nothing is left to test: the remaining boxes of the other start later, and were in the runs of the boxes that are done.
        while i < left.len() && j < right.len() && !hits.stopped() {
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) i and j are below the lengths, and a whole `Soa` has its padding.
            let length = unsafe {
                if left.min(0)[i] <= right.min(0)[j] {
                    i += 1;
                    run::<D, T, S>((&left, i - 1), &right, j, hits)
                } else {
                    j += 1;
                    run::<D, T, S>((&right, j - 1), &left, i, hits)
                }
            };
            runs.add(length);
            hits.count_tests(length as u64);
        }
    }
}
