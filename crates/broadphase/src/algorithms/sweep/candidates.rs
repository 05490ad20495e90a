//! Ranks and candidate ranges from the sorted endpoints of the primary axis (algorithm 3 of the paper).
//!
//! The start of an object gives its rank; its end gives `upper`, the number of starts up to there. `lower` is the first rank
//! that is active when the object starts.
//!
//! Sequentially that is two passes. In parallel the endpoints are cut into intervals. Ranks follow from the number of starts in
//! the intervals before. The active ranks at the begin of an interval are those with exactly one endpoint before it: each
//! interval flips the rank of each endpoint in a SuccTree of its own, and the all-prefix-sums of these trees under symmetric
//! difference are the active sets, from which all intervals go on at once.
//!
//! The *width* of an object is the number of its candidates from itself on. A *long* one, wider than `longest`, never counts for `lower`.
//! With `longest` = w, a lower
//! bound is at most w away, while every long object is a candidate of everyone: `longest` is the power of two that makes the sum
//! of both smallest, provided that this is less than half of what it is with no object counting as long.

use super::parts::{Numbers, cut, split};
use crate::bits::SuccTree;
use crate::context::{Context, PerWorker};
use crate::geometry::{Aabb, Real};
use crate::kernels::Sorted;
use crate::kernels::active::Bounds;

/// The candidate ranges by rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    pub bounds: Vec<Bounds>,
    /// Objects of a greater width are long.
    pub longest: u32,
    /// The ranks of the long objects, ascending.
    long: Vec<u32>,
}

/// The objects of a frame.
#[derive(Clone, Copy)]
pub(super) struct Objects<'a, const D: usize, T> {
    /// Their ids, ascending.
    pub ids: &'a [u32],
    /// The boxes by id.
    pub boxes: &'a [Aabb<D, T>],
    /// Primary axis first, secondary last.
    pub axes: [usize; D],
}

/// Buffers that can be dropped without changing a result.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// The rank of each object.
    ranks: Numbers,
    /// `upper`, while several workers write it.
    upper: Numbers,
    /// Ids in rank order.
    by_rank: Vec<u32>,
    /// The active ranks at the begin of each interval.
    trees: PerWorker<SuccTree>,
    /// The number of starts in each interval, and in all before it.
    starts: Numbers,
    first_ranks: Vec<usize>,
}

impl Scratch {
    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        let trees: usize = self.trees.iter().map(|tree| tree.bytes()).sum();
        self.ranks.bytes() + self.upper.bytes() + self.by_rank.capacity() * 4 + trees
    }
}

impl Candidates {
    /// One pass for ranks and upper bounds, one for lower bounds; then the boxes are put into rank order.
    pub(super) fn sequential<const D: usize, T: Real>(
        &mut self,
        order: &[u32],
        objects: Objects<'_, D, T>,
        scratch: &mut Scratch,
        sorted: &mut Sorted<D, T>,
    ) {
        let Objects { ids, boxes, axes } = objects;
        let n = ids.len();
        let Scratch { ranks, by_rank, .. } = scratch;
        ranks.prepare(n);
        by_rank.clear();
        self.bounds.resize(n, Bounds::default());
        for &endpoint in order {
            let endpoint = endpoint as usize;
            if endpoint < n {
                ranks.set(endpoint, by_rank.len() as u32);
                by_rank.push(ids[endpoint]);
            } else {
                self.bounds[ranks.get(endpoint - n) as usize].upper = by_rank.len() as u32;
            }
        }
        self.find_long();
        let mut first = 0;
        for rank in 0..n {
            while first < rank && (self.bounds[first].upper as usize <= rank || self.is_long(first)) {
                first += 1;
            }
            self.bounds[rank].lower = first as u32;
        }
        sorted.fill(boxes, axes, by_rank.iter().copied());
    }

    /// The same, interval by interval.
    pub(super) fn parallel<const D: usize, T: Real>(
        &mut self,
        context: &Context,
        intervals: usize,
        order: &[u32],
        objects: Objects<'_, D, T>,
        scratch: &mut Scratch,
        sorted: &mut Sorted<D, T>,
    ) {
        let Objects { ids, boxes, axes } = objects;
        let n = ids.len();
        scratch.ranks.prepare(n);
        scratch.upper.prepare(n);
        let interval = |job: usize| &order[cut(2 * n, intervals, job)..cut(2 * n, intervals, job + 1)];
        let Scratch { ranks, upper, trees, starts, first_ranks, .. } = scratch;
        starts.prepare(intervals);
        context.run_weighted(intervals, n, |job, _| {
            starts.set(job, interval(job).iter().filter(|&&endpoint| (endpoint as usize) < n).count() as u32);
        });
        first_ranks.clear();
        first_ranks.push(0);
        first_ranks.extend((1..intervals).scan(0, |first, job| {
            *first += starts.get(job - 1) as usize;
            Some(*first)
        }));
        let first_ranks = &first_ranks[..];

        context.run_weighted(intervals, 3 * n, |job, _| {
            let starts = interval(job).iter().filter(|&&endpoint| (endpoint as usize) < n);
            starts.zip(first_ranks[job]..).for_each(|(&endpoint, rank)| ranks.set(endpoint as usize, rank as u32));
        });
        context.run_weighted(intervals, 5 * n, |job, _| {
            let mut count = first_ranks[job] as u32;
            for &endpoint in interval(job) {
                match (endpoint as usize).checked_sub(n) {
                    None => count += 1,
                    Some(object) => upper.set(ranks.get(object) as usize, count),
                }
            }
        });
        self.bounds.resize(n, Bounds::default());
        let places = split(&mut self.bounds, first_ranks).zip(first_ranks);
        context.run_each(places, intervals, n, |(places, &first), _| {
            places.iter_mut().zip(first..).for_each(|(place, rank)| place.upper = upper.get(rank));
        });
        self.find_long();
        self.activity(context, intervals, n, &interval, ranks, trees);

        let (longest, mut bounds) = (self.longest, std::mem::take(&mut self.bounds));
        let places = split(&mut bounds, first_ranks).zip(sorted.parts(axes, n, first_ranks)).zip(0..);
        context.run_each(places, intervals, 20 * n, |((bounds, mut sorted), job), _| {
            lower_bounds(interval(job), n, first_ranks[job], longest, ranks, &mut trees.get(job), bounds);
            let starts = interval(job).iter().filter(|&&endpoint| (endpoint as usize) < n);
            sorted.fill(boxes, starts.map(|&endpoint| ids[endpoint as usize]));
        });
        self.bounds = bounds;
        sorted.join_parts(first_ranks);
    }

    /// Fills `trees` with the ranks that are active at the begin of each interval.
    fn activity<'o>(
        &self,
        context: &Context,
        intervals: usize,
        n: usize,
        interval: &(impl Fn(usize) -> &'o [u32] + Sync),
        ranks: &Numbers,
        trees: &mut PerWorker<SuccTree>,
    ) {
        let width = intervals.next_power_of_two();
        trees.prepare_for(width);
        let trees = &*trees;
        context.run_weighted(width, 5 * n, |job, _| {
            let mut tree = trees.get(job);
            tree.reset(n);
            if job < intervals {
                for &endpoint in interval(job) {
                    let object = (endpoint as usize).checked_sub(n).unwrap_or(endpoint as usize);
                    let rank = ranks.get(object) as usize;
                    if !self.is_long(rank) {
                        tree.flip(rank);
                    }
                }
            }
        });
        prefix_sums(context, trees, width);
    }

    /// Decides from `upper` which objects are long.
    fn find_long(&mut self) {
        // By number of bits of the width: how many objects there are.
        let mut counts = [0u32; 33];
        let mut longest = 1;
        for (rank, bounds) in self.bounds.iter().enumerate() {
            let width = bounds.width(rank);
            counts[32 - width.leading_zeros() as usize] += 1;
            longest = longest.max(width);
        }
        let (mut best, mut above) = ((u64::from(longest), longest), 0);
        for bits in (1..32).rev() {
            // Objects of `bits + 1` bits or more: at least 1 << bits, so all that are above it and few that equal it.
            above += u64::from(counts[bits + 1]);
            let cost = (1u64 << bits) + above;
            if cost < best.0 {
                best = (cost, 1 << bits);
            }
        }
        self.longest = if best.0 * 2 < u64::from(longest) { best.1 } else { longest };
        self.long.clear();
        if self.longest < longest {
            let ranks = self.bounds.iter().enumerate();
            self.long.extend(ranks.filter(|(rank, b)| b.width(*rank) > self.longest).map(|(rank, _)| rank as u32));
        }
    }

    /// Does the object of `rank` count as long?
    #[inline(always)]
    pub(super) fn is_long(&self, rank: usize) -> bool {
        self.bounds[rank].width(rank) > self.longest
    }

    /// The ranks of the long objects.
    pub(super) fn long(&self) -> &[u32] {
        &self.long
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.bounds.capacity() * size_of::<Bounds>() + self.long.capacity() * 4
    }
}

/// Sweeps one interval, from the ranks that are active at its begin.
fn lower_bounds(
    interval: &[u32],
    n: usize,
    first_rank: usize,
    longest: u32,
    ranks: &Numbers,
    active: &mut SuccTree,
    bounds: &mut [Bounds],
) {
    let mut count = 0;
    for &endpoint in interval {
        match (endpoint as usize).checked_sub(n) {
            None => {
                let rank = first_rank + count;
                bounds[count].lower = active.min().unwrap_or(rank) as u32;
                if bounds[count].width(rank) <= longest {
                    active.insert(rank);
                }
                count += 1;
            }
            Some(object) => active.delete(ranks.get(object) as usize),
        }
    }
}

/// Replaces each of `width` trees, a power of two, by the symmetric difference of all before it: up a binary tree of partial
/// sums, and down again.
pub(super) fn prefix_sums(context: &Context, trees: &PerWorker<SuccTree>, width: usize) {
    let words = trees.read(0).bytes() / 8;
    let mut half = 1;
    while half < width {
        context.run_weighted(width / (2 * half), words * width / (2 * half), |job, _| {
            let right = (job + 1) * 2 * half - 1;
            trees.get(right).symmetric_difference(&trees.read(right - half));
        });
        half *= 2;
    }
    trees.get(width - 1).clear();
    while half > 1 {
        half /= 2;
        context.run_weighted(width / (2 * half), words * width / (2 * half), |job, _| {
            let right = (job + 1) * 2 * half - 1;
            let (mut left, mut right) = (trees.get(right - half), trees.get(right));
            std::mem::swap(&mut *left, &mut *right);
            right.symmetric_difference(&left);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_sums_hold_what_came_before() {
        for width in [1, 2, 4, 16] {
            let trees = PerWorker::of((0..width).map(|job| {
                let mut tree = SuccTree::default();
                tree.reset(1000);
                [job, 10 * job, 500].into_iter().for_each(|i| tree.flip(i));
                tree
            }));
            prefix_sums(&Context::new(), &trees, width);
            let mut expected = SuccTree::default();
            expected.reset(1000);
            for job in 0..width {
                assert_eq!(*trees.read(job), expected, "{job} of {width}");
                [job, 10 * job, 500].into_iter().for_each(|i| expected.flip(i));
            }
        }
    }

    #[test]
    fn one_plane_is_long_and_equal_sizes_are_not() {
        let range = |rank: u32| Bounds { lower: 0, upper: (rank + 10).min(5000) };
        let mut candidates = Candidates { bounds: (0..5000).map(range).collect(), ..Default::default() };
        candidates.find_long();
        assert_eq!((candidates.longest, candidates.long()), (10, &[][..]));
        candidates.bounds[3].upper = 5000;
        candidates.find_long();
        assert_eq!((candidates.longest, candidates.long()), (16, &[3][..]));
        candidates.bounds.iter_mut().for_each(|bounds| bounds.upper = 5000);
        candidates.find_long();
        assert_eq!((candidates.longest, candidates.long().len()), (5000, 0));
    }
}
