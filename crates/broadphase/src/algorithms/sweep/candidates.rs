//! Ranks and candidate ranges from the sorted endpoints of the primary axis (algorithm 3 of the paper).
//!
//! The start of an object gives its rank; its end gives `upper`, the number of starts up to there. `lower` is the first rank
//! that is active when the object starts.
//!
//! Sequentially that is two passes. In parallel the endpoints are cut into intervals. Ranks follow from the number of starts in the intervals
//! before, and boxes go to their ranks at once. Lower bounds need no set of active ranks (the paper's SuccTrees and their prefix sums,
//! `paper.rs`): the first active rank moves forward only, so an interval can start to look for it a little before its first rank.
//!
//! The *width* of an object is the number of its candidates from itself on. A *long* one, wider than `longest`, never counts for `lower`.
//! With `longest` = w, a lower
//! bound is at most w away, while every long object is a candidate of all others: `longest` is the power of two that makes the sum
//! of both smallest, provided that this is less than half of what it is with no object counting as long.

use super::parts::{Numbers, cut, split};
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
    /// The widths of each interval.
    widths: PerWorker<Widths>,
    /// The number of starts in each interval, and in all before it.
    starts: Numbers,
    first_ranks: Vec<usize>,
}

impl Scratch {
    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.ranks.bytes() + self.upper.bytes() + self.by_rank.capacity() * 4
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
        self.find_long(&Widths::of(&self.bounds, 0));
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
        let Scratch { ranks, upper, starts, first_ranks, widths, .. } = scratch;
        ranks.prepare(n);
        upper.prepare(n);
        starts.prepare(intervals);
        widths.prepare_for(intervals);
        let interval = |job: usize| &order[cut(2 * n, intervals, job)..cut(2 * n, intervals, job + 1)];
        let is_start = |endpoint: &&u32| (**endpoint as usize) < n;
        context.run_weighted(intervals, n, |job, _| starts.set(job, interval(job).iter().filter(is_start).count() as u32));
        first_ranks.clear();
        first_ranks.extend((0..intervals).scan(0, |first, job| {
            let before = *first;
            *first += starts.get(job) as usize;
            Some(before)
        }));
        let first_ranks = &first_ranks[..];

        let places = sorted.parts(axes, n, first_ranks).zip(0..);
        context.run_each(places, intervals, 20 * n, |(mut place, job), _| {
            let starts = || interval(job).iter().filter(is_start);
            starts().zip(first_ranks[job]..).for_each(|(&object, rank)| ranks.set(object as usize, rank as u32));
            place.fill(boxes, starts().map(|&object| ids[object as usize]));
        });
        sorted.join_parts(first_ranks);
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
        let places = split(&mut self.bounds, first_ranks).zip(0..);
        context.run_each(places, intervals, n, |(places, job), _| {
            places.iter_mut().zip(first_ranks[job]..).for_each(|(place, rank)| place.upper = upper.get(rank));
            *widths.get(job) = Widths::of(places, first_ranks[job]);
        });
        let all = (0..intervals).fold(Widths::default(), |sum, job| sum.plus(&widths.read(job)));
        self.find_long(&all);
        self.lower_bounds(context, intervals, first_ranks, upper);
    }

    /// The first active rank only moves forward, and no rank that is not long is active for more than `longest` ranks. So an interval that starts
    /// to look `longest` ranks before its first one finds what a pass over all ranks would find there.
    fn lower_bounds(&mut self, context: &Context, intervals: usize, first_ranks: &[usize], upper: &Numbers) {
        let longest = self.longest;
        let is_over = |first: usize, rank: usize| {
            let upper = upper.get(first);
            upper as usize <= rank || upper.wrapping_sub(first as u32) > longest
        };
        let sweep = |places: &mut [Bounds], begin: usize| {
            let mut first = begin.saturating_sub(longest as usize);
            for (place, rank) in places.iter_mut().zip(begin..) {
                while first < rank && is_over(first, rank) {
                    first += 1;
                }
                place.lower = first as u32;
            }
        };
        // Where most ranks overlap, the intervals would all look at the same ones.
        if longest as usize * intervals > 2 * self.bounds.len() {
            return sweep(&mut self.bounds, 0);
        }
        let n = self.bounds.len();
        let places = split(&mut self.bounds, first_ranks).zip(first_ranks);
        context.run_each(places, intervals, 3 * n, |(places, &begin), _| sweep(places, begin));
    }

    /// Decides from the widths of all objects which of them are long.
    fn find_long(&mut self, widths: &Widths) {
        let Widths { counts, longest } = *widths;
        let longest = longest.max(1);
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

/// How many objects there are of each width.
#[derive(Clone, Debug)]
struct Widths {
    /// By number of bits of the width.
    counts: [u32; 33],
    longest: u32,
}

impl Default for Widths {
    fn default() -> Self {
        Self { counts: [0; 33], longest: 0 }
    }
}

impl Widths {
    /// Of these ranks, from `first` on.
    fn of(bounds: &[Bounds], first: usize) -> Self {
        let mut all = Self::default();
        for (bounds, rank) in bounds.iter().zip(first..) {
            let width = bounds.width(rank);
            all.counts[32 - width.leading_zeros() as usize] += 1;
            all.longest = all.longest.max(width);
        }
        all
    }

    /// Both together.
    fn plus(&self, other: &Self) -> Self {
        let counts = std::array::from_fn(|bits| self.counts[bits] + other.counts[bits]);
        Self { counts, longest: self.longest.max(other.longest) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_plane_is_long_and_equal_sizes_are_not() {
        let range = |rank: u32| Bounds { lower: 0, upper: (rank + 10).min(5000) };
        let mut candidates = Candidates { bounds: (0..5000).map(range).collect(), ..Default::default() };
        candidates.find_long(&Widths::of(&candidates.bounds, 0));
        assert_eq!((candidates.longest, candidates.long()), (10, &[][..]));
        candidates.bounds[3].upper = 5000;
        candidates.find_long(&Widths::of(&candidates.bounds, 0));
        assert_eq!((candidates.longest, candidates.long()), (16, &[3][..]));
        candidates.bounds.iter_mut().for_each(|bounds| bounds.upper = 5000);
        candidates.find_long(&Widths::of(&candidates.bounds, 0));
        assert_eq!((candidates.longest, candidates.long().len()), (5000, 0));
    }
}
