//! `paper=true`: algorithm 1 as the text has it, and with several partitions algorithms 2 (`sort.rs`), 3 and 4.
//!
//! Objects are numbered from 0, in the order of their ids. L, U and R are lists by object, as in the text; the active objects are in SuccTrees, in
//! both phases; a range query goes from member to member; an overlap test is one comparison of two boxes on all axes. One partition
//! is the sequential algorithm. With more, every partition of the pairing reads all endpoints, and leaves at line 10 those that do not
//! concern it.
//!
//! Two lines cannot be taken by the letter:
//! - Line 14 of algorithm 3 deletes a rank from a tree that may not hold it. The text around it wants the ranks with exactly one
//!   endpoint in the interval: a rank is flipped.
//! - The text assumes that sizes divide evenly. Here the last interval or partition may be smaller.

use std::ops::Range;

use super::Sweep;
use super::parts::{Numbers, cut};
use crate::algorithms::{Violation, ensure};
use crate::bits::SuccTree;
use crate::context::{Context, PerWorker, SEEK};
use crate::geometry::{Aabb, Real};
use crate::kernels::PairSink;
use crate::objects::Frame;
use crate::pair::Pair;
use crate::pairs::PairStore;

/// What the first phase leaves for the second.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// The id of each object.
    ids: Vec<u32>,
    /// R: the rank of each object.
    ranks: Numbers,
    /// R⁻: the object of each rank.
    objects: Numbers,
    /// L and U: the candidates of each object, as ranks.
    lower: Numbers,
    upper: Numbers,
    /// The starts in each interval, and before it; scratch.
    starts: Numbers,
    counts: Vec<u32>,
    /// A tree for each interval or partition; scratch.
    trees: PerWorker<SuccTree>,
}

impl Ranges {
    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        let numbers = [&self.ranks, &self.objects, &self.lower, &self.upper];
        numbers.map(Numbers::bytes).iter().sum::<usize>()
            + self.ids.capacity() * 4
            + self.trees.iter().map(|tree| tree.bytes()).sum::<usize>()
    }

    /// The object of a rank.
    pub(super) fn object(&self, rank: usize) -> usize {
        self.objects.get(rank) as usize
    }

    /// The ids of all objects, by rank.
    pub(super) fn ids_by_rank(&self) -> impl ExactSizeIterator<Item = u32> {
        (0..self.ids.len()).map(|rank| self.ids[self.object(rank)])
    }

    /// The first phase over the sorted endpoints of the objects `ids`: algorithm 1, or algorithm 3 with several intervals.
    pub(super) fn generate(&mut self, context: &Context, order: &[u32], ids: &[u32], intervals: usize) {
        let n = ids.len();
        self.ids.clear();
        self.ids.extend_from_slice(ids);
        for numbers in [&mut self.ranks, &mut self.objects, &mut self.lower, &mut self.upper] {
            numbers.prepare(n);
        }
        self.trees.prepare_for(intervals.next_power_of_two());
        if intervals == 1 {
            let mut tree = self.trees.get(0);
            tree.reset(n);
            return self.sweep(order, n, 0, &mut tree);
        }
        let interval = |job: usize| &order[cut(2 * n, intervals, job)..cut(2 * n, intervals, job + 1)];
        self.assign_ranks(context, n, intervals, &interval);
        let width = intervals.next_power_of_two();
        context.run_weighted(width, 5 * n, |job, _| {
            let mut tree = self.trees.get(job);
            tree.reset(n);
            for &endpoint in interval(job) {
                tree.flip(self.ranks.get(object_of(endpoint, n)) as usize);
            }
        });
        prefix_sums(context, &self.trees, width);
        context.run_weighted(intervals, 10 * n, |job, _| {
            self.sweep(interval(job), n, self.counts[job], &mut self.trees.get(job));
        });
    }

    /// Lines 4 to 11 of algorithm 3: how many objects start in each interval, prefix sums, ranks.
    fn assign_ranks<'o>(
        &mut self,
        context: &Context,
        n: usize,
        intervals: usize,
        interval: &(impl Fn(usize) -> &'o [u32] + Sync),
    ) {
        let is_start = |endpoint: &&u32| (**endpoint as usize) < n;
        self.starts.prepare(intervals);
        context.run_weighted(intervals, n, |job, _| self.starts.set(job, interval(job).iter().filter(is_start).count() as u32));
        self.counts.clear();
        self.counts.extend((0..intervals).scan(0, |before, job| {
            let first = *before;
            *before += self.starts.get(job);
            Some(first)
        }));
        context.run_weighted(intervals, 3 * n, |job, _| {
            let starts = interval(job).iter().filter(is_start);
            starts.zip(self.counts[job]..).for_each(|(&object, rank)| self.ranks.set(object as usize, rank));
        });
    }

    /// Lines 6 to 14 of algorithm 1, and 16 to 22 of algorithm 3: `count` objects have started, those in `active` have not ended.
    fn sweep(&self, order: &[u32], n: usize, mut count: u32, active: &mut SuccTree) {
        for &endpoint in order {
            let object = object_of(endpoint, n);
            if (endpoint as usize) < n {
                self.ranks.set(object, count);
                self.objects.set(count as usize, object as u32);
                count += 1;
                self.lower.set(object, active.min().map_or(count, |first| first as u32));
                active.insert(count as usize - 1);
            } else {
                self.upper.set(object, count);
                active.delete(self.ranks.get(object) as usize);
            }
        }
    }

    /// Algorithm 4, one partition: the ranks of `part` that are active meet every object that starts. With a single partition, these are lines
    /// 16 to 23 of algorithm 1. `test` compares two objects.
    fn pair(&self, order: &[u32], n: usize, part: Range<usize>, active: &mut SuccTree, mut test: impl FnMut(usize, usize)) {
        let (begin, size) = (part.start, part.len());
        active.reset(size);
        for &endpoint in order {
            let object = object_of(endpoint, n);
            if (endpoint as usize) >= n {
                let rank = self.ranks.get(object) as usize;
                if part.contains(&rank) {
                    active.delete(rank - begin);
                }
                continue;
            }
            let (lower, upper) = (self.lower.get(object) as usize, self.upper.get(object) as usize);
            if lower < part.end && begin <= upper {
                let until = if upper < part.end { upper - begin } else { size };
                let mut next = active.next(lower.saturating_sub(begin));
                while let Some(rank) = next.filter(|&rank| rank < until) {
                    test(object, self.object(rank + begin));
                    next = active.next(rank + 1);
                }
            }
            let rank = self.ranks.get(object) as usize;
            if part.contains(&rank) {
                active.insert(rank - begin);
            }
        }
    }

    /// Against the definition: ranks ascend on the primary axis, L is the first rank that has not ended, U the number that have started.
    pub(super) fn validate<T: Real>(&self, starts: &[T], ends: &[T]) -> Result<(), Violation> {
        let n = starts.len();
        let mut first = 0;
        for rank in 0..n {
            let object = self.object(rank);
            ensure!(
                object < n && self.ranks.get(object) as usize == rank,
                "rank {rank} and object {object} do not belong together"
            );
            let upper = starts.partition_point(|&start| start <= ends[rank]) as u32;
            ensure!(self.upper.get(object) == upper, "rank {rank} ends at {}, not {upper}", self.upper.get(object));
            while first < rank && ends[first] < starts[rank] {
                first += 1;
            }
            let lower = if first < rank { first } else { rank + 1 };
            ensure!(self.lower.get(object) as usize == lower, "rank {rank} begins at {}, not {lower}", self.lower.get(object));
        }
        Ok(())
    }
}

/// Replaces each of `width` trees, a power of two, by the symmetric difference of all before it: up a binary tree of partial
/// sums, and down again.
fn prefix_sums(context: &Context, trees: &PerWorker<SuccTree>, width: usize) {
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

/// The object of an endpoint.
#[inline(always)]
fn object_of(endpoint: u32, n: usize) -> usize {
    let endpoint = endpoint as usize;
    if endpoint < n { endpoint } else { endpoint - n }
}

impl<const D: usize, T: Real> Sweep<D, T> {
    /// The second phase: rewrites the chunks of all partitions.
    pub(super) fn pair_by_the_paper(&mut self, frame: &Frame<'_, D, T>, context: &Context, out: &PairStore, partitions: usize) {
        self.ranges.trees.prepare_for(partitions);
        let (ranges, n) = (&self.ranges, self.ranges.ids.len());
        let bounds = |job: usize| cut(n, partitions, job)..cut(n, partitions, job + 1);
        context.run_weighted(partitions, SEEK * n, |job, worker| {
            let mut tree = ranges.trees.get(job);
            out.rewrite(job, worker, frame, |hits: &mut PairSink<'_>| {
                let mut tests = 0;
                ranges.pair(&self.order, n, bounds(job), &mut tree, |a, b| {
                    tests += 1;
                    let (a, b) = (ranges.ids[a], ranges.ids[b]);
                    let boxes: [&Aabb<D, T>; 2] = [&frame.boxes[a as usize], &frame.boxes[b as usize]];
                    if !hits.stopped() && boxes[0].overlaps(boxes[1]) {
                        hits.push(Pair::new(a, b));
                    }
                });
                hits.count_tests(tests);
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six intervals on one axis, as endpoints in order: 0 and 1 overlap, 2 is alone, 3 spans 4 and 5.
    const ORDER: [u32; 12] = [0, 1, 6, 7, 2, 8, 3, 4, 10, 5, 11, 9];

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
    fn any_number_of_intervals_gives_the_ranges_of_algorithm_1() {
        let read = |ranges: &Ranges| -> Vec<[u32; 4]> {
            (0..6).map(|i| [&ranges.ranks, &ranges.objects, &ranges.lower, &ranges.upper].map(|list| list.get(i))).collect()
        };
        let mut expected = Ranges::default();
        expected.generate(&Context::new(), &ORDER, &[0, 1, 2, 3, 4, 5], 1);
        assert_eq!(read(&expected)[..3], [[0, 0, 1, 2], [1, 1, 0, 2], [2, 2, 3, 3]], "rank, object, L and U");
        for intervals in 2..=12 {
            let mut ranges = Ranges::default();
            ranges.generate(&Context::new(), &ORDER, &[0, 1, 2, 3, 4, 5], intervals);
            assert_eq!(read(&ranges), read(&expected), "{intervals} intervals");
        }
    }

    #[test]
    fn each_candidate_is_tested_in_one_partition() {
        let mut ranges = Ranges::default();
        ranges.generate(&Context::new(), &ORDER, &[0, 1, 2, 3, 4, 5], 1);
        for partitions in 1..=6 {
            let mut tested = Vec::new();
            for job in 0..partitions {
                let part = cut(6, partitions, job)..cut(6, partitions, job + 1);
                let mut tree = SuccTree::default();
                ranges.pair(&ORDER, 6, part, &mut tree, |a, b| tested.push((a.min(b), a.max(b))));
            }
            tested.sort_unstable();
            assert_eq!(tested, [(0, 1), (3, 4), (3, 5)], "{partitions} partitions");
        }
    }
}
