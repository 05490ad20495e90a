//! Sorting lists of pairs in linear time.
//!
//! # Method
//! 1. Pairs are distributed to groups of consecutive first ids, about [`GROUP`] pairs each, so that the rest happens in the first-level cache.
//! 2. Within a group they are distributed by the upper bits of the second id, counted from the group's least one, then by the first id; both
//!    keep the order of equals. Only pairs with the same first id and the same upper bits are now out of order.
//! 3. An insertion sort repairs those, which are usually few. If they are not, it gives up, and the group is sorted by comparisons.
//!
//! A sort from the least significant digit up moved every pair four times through memory; this one moves it once.

use super::Pair;
use crate::memory;

/// Below this many pairs, comparing them costs less than counting.
const FEW: usize = 1 << 6;
/// The approximate number of pairs in a group.
const GROUP: usize = 1 << 12;
/// The most groups: the cache lines that are written to in turn must stay in the cache.
const GROUPS: usize = 1 << 11;
/// A group with fewer than 1/16 as many pairs as ids is sorted by comparisons: passing over the counters would cost more.
const SPARSE: usize = 16;
/// Upper bits of the second id that are counted.
const DIGIT: u32 = 10;
/// Steps that the insertion sort may make, for each pair of a group.
const STEPS: usize = 16;

/// Sorts lists of pairs. Its buffers are scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairSort {
    /// Where the next pair of each first id goes.
    next: Vec<u32>,
    /// A group, by the upper bits of the second id.
    by_second: Vec<Pair>,
    /// The list, by group.
    grouped: Vec<Pair>,
}

impl PairSort {
    /// Sorts a list of pairs whose first ids are below `bound`: by the first id, then by the second. Where a buffer cannot be
    /// allocated, the list is sorted in place, by comparisons.
    pub(crate) fn sort(&mut self, list: &mut Vec<Pair>, bound: usize) {
        let groups = Groups::new(list.len(), bound);
        if list.len() < FEW {
            return list.sort_unstable();
        }
        if groups.count == 1 {
            return self.sort_group(list, 0, groups.ids());
        }
        let mut grouped = std::mem::take(&mut self.grouped);
        if memory::refill(&mut grouped, list.len(), Pair::default(), "pairs").is_err() {
            return list.sort_unstable();
        }
        self.sort_chunks(groups, &mut grouped, |visit| visit(list));
        std::mem::swap(list, &mut grouped);
        self.grouped = grouped;
    }

    /// Writes the pairs of `for_each_chunk` to `out`, sorted. It is called twice, and must yield the same pairs: as many as `out` holds, with first
    /// ids below `bound`.
    pub(crate) fn collect(&mut self, out: &mut [Pair], bound: usize, for_each_chunk: impl Fn(&mut dyn FnMut(&[Pair]))) {
        let groups = Groups::new(out.len(), bound);
        if out.len() >= FEW && groups.count > 1 {
            return self.sort_chunks(groups, out, for_each_chunk);
        }
        let mut rest = &mut *out;
        for_each_chunk(&mut |pairs| {
            let (to, behind) = std::mem::take(&mut rest).split_at_mut(pairs.len());
            to.copy_from_slice(pairs);
            rest = behind;
        });
        if out.len() < FEW { out.sort_unstable() } else { self.sort_group(out, 0, groups.ids()) }
    }

    /// Distributes the pairs to their groups, and sorts each.
    fn sort_chunks(&mut self, groups: Groups, out: &mut [Pair], for_each_chunk: impl Fn(&mut dyn FnMut(&[Pair]))) {
        let mut ends = [0; GROUPS];
        groups.distribute(out, &mut ends[..groups.count], for_each_chunk);
        let mut from = 0;
        for (index, &to) in ends[..groups.count].iter().enumerate() {
            self.sort_group(&mut out[from..to], groups.first(index), groups.ids());
            from = to;
        }
    }

    /// Sorts a group: pairs with `ids` first ids, from `first` on.
    pub(super) fn sort_group(&mut self, group: &mut [Pair], first: u32, ids: usize) {
        let count = group.len();
        if count < FEW || count.saturating_mul(SPARSE) < ids || u32::try_from(count).is_err() || !self.prepare(count, ids) {
            return group.sort_unstable();
        }
        let (least, greatest) =
            group.iter().fold((u32::MAX, 0), |(least, greatest), pair| (least.min(pair.b), greatest.max(pair.b)));
        let shift = (u32::BITS - (greatest - least).leading_zeros()).saturating_sub(DIGIT);
        let by_second = &mut self.by_second[..count];
        distribute(group, by_second, &mut [0; 1 << DIGIT], |pair| ((pair.b - least) >> shift) as usize);
        distribute(by_second, group, &mut self.next, |pair| (pair.a - first) as usize);
        if shift > 0 {
            insertion_sort(group);
        }
    }

    /// Makes the buffers long enough for a group, and the counters zero; false if there is no memory.
    fn prepare(&mut self, count: usize, ids: usize) -> bool {
        let is_long = self.by_second.len() >= count;
        memory::refill(&mut self.next, ids, 0, "pairs").is_ok()
            && (is_long || memory::refill(&mut self.by_second, count, Pair::default(), "pairs").is_ok())
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.next.capacity() * 4 + (self.by_second.capacity() + self.grouped.capacity()) * size_of::<Pair>()
    }
}

/// How first ids are cut into groups.
#[derive(Clone, Copy)]
pub(super) struct Groups {
    pub(super) count: usize,
    /// The ids of a group, as a power of two.
    shift: u32,
}

impl Groups {
    /// Groups for so many pairs, whose first ids are below `bound`.
    pub(super) fn new(pairs: usize, bound: usize) -> Self {
        let bits = usize::BITS - bound.saturating_sub(1).leading_zeros();
        let wanted = (pairs / GROUP + 1).next_power_of_two().min(GROUPS).ilog2().min(bits);
        Self { count: 1 << wanted, shift: bits - wanted }
    }

    /// The number of first ids in a group.
    pub(super) fn ids(self) -> usize {
        1 << self.shift
    }

    /// The least first id of a group.
    pub(super) fn first(self, group: usize) -> u32 {
        (group << self.shift) as u32
    }

    /// Writes the pairs of `for_each_chunk` to `out` by group, and the end of each group to `ends`, which is long enough. `for_each_chunk` is
    /// called twice, and must yield the same pairs: as many as `out` holds.
    pub(super) fn distribute(self, out: &mut [Pair], ends: &mut [usize], for_each_chunk: impl Fn(&mut dyn FnMut(&[Pair]))) {
        let mask = self.count - 1;
        let ends = &mut ends[..=mask]; // so that indices need no check
        let group = |pair: &Pair| (u64::from(pair.a) >> self.shift) as usize & mask;
        ends.fill(0);
        for_each_chunk(&mut |pairs| pairs.iter().for_each(|pair| ends[group(pair)] += 1));
        let mut sum = 0;
        ends.iter_mut().for_each(|start| sum += std::mem::replace(start, sum));
        for_each_chunk(&mut |pairs| {
            for pair in pairs {
                let next = &mut ends[group(pair)];
                out[*next] = *pair;
                *next += 1;
            }
        });
    }
}

/// Moves pairs to another list, in the order of a digit below the number of counters, which are zero; equal ones keep their order.
#[inline(always)]
fn distribute(from: &[Pair], to: &mut [Pair], counters: &mut [u32], digit: impl Fn(&Pair) -> usize) {
    from.iter().for_each(|pair| counters[digit(pair)] += 1);
    let mut sum = 0;
    counters.iter_mut().for_each(|start| sum += std::mem::replace(start, sum));
    for pair in from {
        let next = &mut counters[digit(pair)];
        to[*next as usize] = *pair;
        *next += 1;
    }
}

/// Sorts a list in which few pairs are out of order.
fn insertion_sort(list: &mut [Pair]) {
    let mut steps = STEPS * list.len();
    for at in 1..list.len() {
        let pair = list[at];
        if pair.key() < list[at - 1].key() {
            let before = list[..at].iter().rev().take_while(|other| pair.key() < other.key()).count();
            list.copy_within(at - before..at, at - before + 1);
            list[at - before] = pair;
            if before > steps {
                return list.sort_unstable();
            }
            steps -= before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts a list in both ways, one of them in chunks, and compares the result with that of a comparison sort. `law` makes a pair of two random numbers.
    fn check(count: usize, bound: u64, law: impl Fn(u64, u64) -> (u64, u64)) {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> 33
        };
        let pair = |(a, b): (u64, u64)| Pair { a: (a % bound) as u32, b: b as u32 };
        let list: Vec<Pair> = (0..count).map(|_| pair(law(random(), random()))).collect();
        let mut expected = list.clone();
        expected.sort_unstable();
        let (mut sorter, mut sorted) = (PairSort::default(), list.clone());
        for _ in 0..2 {
            sorter.sort(&mut sorted, bound as usize);
            assert_eq!(sorted, expected, "{count} pairs below {bound}");
            sorted.clone_from(&list);
        }
        sorter.collect(&mut sorted, bound as usize, |visit| list.chunks(777).for_each(visit));
        assert_eq!(sorted, expected, "{count} pairs below {bound}, in chunks");
    }

    #[test]
    fn lists_of_every_kind_come_out_as_a_comparison_sort_gives_them() {
        for count in [0, 1, 2, FEW, 500, GROUP, 5 * GROUP, 40 * GROUP] {
            for bound in [1, 2, 977, 4096, 4097, 1 << 20, u64::from(u32::MAX) + 1] {
                check(count, bound, |a, b| (a, b));
                check(count, bound, |a, b| (a, a + b % 20)); // ids close to each other
                check(count, bound, |a, b| (a % 3, b)); // few first ids
                check(count, bound, |a, b| (a, b % 2)); // equal pairs
            }
        }
    }

    #[test]
    fn second_ids_that_share_their_upper_bits_do_not_take_quadratic_time() {
        // One second id stretches the range, so that all others of an object have the same upper bits. Each pair would be moved over ten
        // thousand others.
        check(200_000, 10, |a, b| (a, if b % 50_000 == 0 { u64::from(u32::MAX) } else { b % 100_000 }));
    }
}
