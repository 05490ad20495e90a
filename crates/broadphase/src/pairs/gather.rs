//! Gathers what started and ended in all chunks: two sorted lists, without the pairs that only moved from one chunk to another.
//!
//! # Method
//! 1. Both lists are distributed to the same groups of consecutive first ids ([`Groups`]); each list is a job.
//! 2. Each group is a job: it sorts its part of both lists, and removes what is in both.
//! 3. The pairs that are left in the groups are moved together.
//!
//! Groups follow from the pairs alone, and the lists are sorted, so neither depends on the number of threads.

use super::sort::Groups;
use super::{Pair, PairSort, events};
use crate::context::{Context, PerWorker};
use crate::error::Error;
use crate::memory;

/// What the memory is for, in errors.
const EVENTS: &str = "pairs that started and ended";
/// The work of distributing one pair, and of sorting and comparing it, in the units of [`Context::run_weighted`].
const DISTRIBUTE: usize = 2;
const SORT: usize = 8;

/// Visits the pairs of each chunk.
pub(super) type Visit<'a> = &'a (dyn Fn(&mut dyn FnMut(&[Pair])) + Sync);

/// A value for the pairs that started, and one for those that ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Difference<X> {
    pub(super) started: X,
    pub(super) ended: X,
}

/// Gathers started and ended pairs. Its buffers are scratch.
#[derive(Clone, Debug, Default)]
pub(super) struct Gatherer {
    /// Where each group ends.
    ends: Difference<Vec<usize>>,
    /// How many pairs of each group are left.
    left: Vec<Difference<usize>>,
    sort: PerWorker<PairSort>,
}

impl Gatherer {
    /// Replaces the content of both lists by the pairs of all chunks, whose first ids are below `bound`, sorted, without those in both. A pair that is
    /// n times in one and m times in the other stays |n - m| times in one. On error, the content of the lists is unspecified.
    pub(super) fn gather(
        &mut self,
        chunks: Difference<Visit<'_>>,
        bound: usize,
        lists: Difference<&mut Vec<Pair>>,
        context: &Context,
    ) -> Result<(), Error> {
        let (mut started, mut ended) = (0, 0);
        (chunks.started)(&mut |pairs| started += pairs.len());
        (chunks.ended)(&mut |pairs| ended += pairs.len());
        memory::resize(lists.started, started, Pair::default(), EVENTS)?;
        memory::resize(lists.ended, ended, Pair::default(), EVENTS)?;
        if started + ended == 0 {
            return Ok(());
        }
        let groups = Groups::new(started + ended, bound);
        memory::cover(&mut self.ends.started, groups.count, EVENTS)?;
        memory::cover(&mut self.ends.ended, groups.count, EVENTS)?;
        memory::cover(&mut self.left, groups.count, EVENTS)?;
        self.sort.try_prepare(context)?;
        let work = DISTRIBUTE * (started + ended);
        let Difference { started, ended } = &mut self.ends;
        let both = [(chunks.started, &mut *lists.started, started), (chunks.ended, &mut *lists.ended, ended)];
        context.run_each(both.into_iter(), 2, work, |(chunks, list, ends), _| groups.distribute(list, ends, chunks));
        self.sort_groups(groups, Difference { started: &mut **lists.started, ended: &mut **lists.ended }, context);
        compact(lists.started, &self.ends.started, self.left.iter().map(|left| left.started).take(groups.count));
        compact(lists.ended, &self.ends.ended, self.left.iter().map(|left| left.ended).take(groups.count));
        Ok(())
    }

    /// Sorts each group of both lists, and removes what is in both.
    fn sort_groups(&mut self, groups: Groups, lists: Difference<&mut [Pair]>, context: &Context) {
        let Self { ends, left, sort } = self;
        let work = SORT * (lists.started.len() + lists.ended.len());
        let (started, ended) = (parts(lists.started, &ends.started), parts(lists.ended, &ends.ended));
        let jobs = started.zip(ended).zip(left).take(groups.count).enumerate();
        context.run_each(jobs, groups.count, work, |(group, ((started, ended), left)), worker| {
            let sort = &mut *sort.get(worker);
            sort.sort_group(started, groups.first(group), groups.ids());
            sort.sort_group(ended, groups.first(group), groups.ids());
            let (s, e) = events::cancel_sorted(started, ended);
            *left = Difference { started: s, ended: e };
        });
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        (self.ends.started.capacity() + self.ends.ended.capacity()) * size_of::<usize>()
            + self.left.capacity() * size_of::<Difference<usize>>()
            + self.sort.iter().map(|sort| sort.bytes()).sum::<usize>()
    }
}

/// The parts of a list that end at `ends`.
fn parts<'a>(list: &'a mut [Pair], ends: &'a [usize]) -> impl Iterator<Item = &'a mut [Pair]> {
    let (mut rest, mut from) = (list, 0);
    ends.iter().map(move |&to| {
        let (part, behind) = std::mem::take(&mut rest).split_at_mut(to - from);
        (rest, from) = (behind, to);
        part
    })
}

/// Keeps the first `kept` pairs of each part of a list, moved together.
fn compact(list: &mut Vec<Pair>, ends: &[usize], kept: impl Iterator<Item = usize>) {
    let (mut from, mut len) = (0, 0);
    for (&end, kept) in ends.iter().zip(kept) {
        list.copy_within(from..from + kept, len);
        (from, len) = (end, len + kept);
    }
    list.truncate(len);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Executor;
    use std::collections::BTreeMap;

    /// Two workers, the last job first.
    struct Reversed;

    impl Executor for Reversed {
        fn width(&self) -> usize {
            2
        }

        fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
            (0..jobs).rev().for_each(|number| job(number, number % 2));
        }

        fn work_per_worker(&self) -> usize {
            0
        }
    }

    /// How often each pair is in a list.
    fn counts(list: &[Pair]) -> BTreeMap<Pair, usize> {
        list.iter().fold(BTreeMap::new(), |mut counts, &pair| {
            *counts.entry(pair).or_default() += 1;
            counts
        })
    }

    #[test]
    fn lists_of_every_length_are_those_of_a_naive_difference() {
        let mut state = 1u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let mut gatherer = Gatherer::default();
        for (chunks, length, ids) in
            [(0, 1, 1), (1, 5, 9), (3, 0, 1), (7, 40, 4), (20, 900, 40_000), (40, 2000, 150), (9, 3000, 1 << 31)]
        {
            let mut lists = || -> Vec<Vec<Pair>> {
                let list = |_| (0..random(length + 1)).map(|_| Pair { a: random(ids) as u32, b: random(50) as u32 }).collect();
                (0..chunks).map(list).collect()
            };
            let (started, ended) = (lists(), lists());
            let (mut all_started, mut all_ended) = (vec![Pair::default(); 3], Vec::new());
            let visit = |lists: &[Vec<Pair>], visit: &mut dyn FnMut(&[Pair])| lists.iter().for_each(|list| visit(list));
            let chunks = Difference::<Visit<'_>> { started: &|v| visit(&started, v), ended: &|v| visit(&ended, v) };
            let (s, e) = (counts(&started.concat()), counts(&ended.concat()));
            let rest = |mine: &BTreeMap<Pair, usize>, others: &BTreeMap<Pair, usize>| -> Vec<Pair> {
                let left =
                    |(pair, count): (&Pair, &usize)| vec![*pair; count.saturating_sub(others.get(pair).copied().unwrap_or(0))];
                mine.iter().flat_map(left).collect()
            };
            for context in [Context::new(), Context::new().with_executor(Reversed)] {
                let lists = Difference { started: &mut all_started, ended: &mut all_ended };
                gatherer.gather(chunks, ids as usize, lists, &context).unwrap();
                assert!(all_started == rest(&s, &e) && all_ended == rest(&e, &s), "{length} pairs of {ids} objects");
            }
        }
    }
}
