//! What started and what ended: the difference of two lists, chunk by chunk, then across chunks.

use super::Pair;
use crate::bits::IndexSort;

/// Buffers of [`difference`], reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// A hash table of the old pairs: the round in the upper half, the place in the list in the lower one. Entries of other rounds are
    /// empty, so that nothing has to be cleared.
    table: Vec<u64>,
    round: u32,
    /// A bit for each old pair that was found among the new ones.
    met: Vec<u64>,
    /// Pairs that an edit does not keep.
    pub(super) gone: Vec<Pair>,
}

impl Scratch {
    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        (self.table.capacity() + self.met.capacity()) * 8 + self.gone.capacity() * size_of::<Pair>()
    }

    /// An empty table of `2^bits` entries, what counting ones have in their upper half, and a bit for each pair.
    fn clear(&mut self, bits: u32, pairs: usize) -> (&mut [u64], u64, &mut [u64]) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            (self.table, self.round) = (Vec::new(), 1);
        }
        self.table.resize(self.table.len().max(1 << bits), 0);
        self.met.clear();
        self.met.resize(pairs.div_ceil(64), 0);
        (&mut self.table[..1 << bits], u64::from(self.round), &mut self.met)
    }
}

/// A list from here on is long.
const LONG: usize = 1 << 12;

/// Appends to `started` the pairs of `new` that are not in `old`, and to `ended` the reverse. The lists need no order.
///
/// Cost: linear. Lists that agree at both ends, as they do where little moved, cost one comparison per pair there.
/// A hash table of the middle of the old list fits the first-level cache for chunks of about a thousand pairs.
///
/// (To look for each pair near its old place first lost: lists do not keep their order. Small tables, cleared each time, and bytes instead of
/// bits for who was met made no difference.)
pub(crate) fn difference(old: &[Pair], new: &[Pair], scratch: &mut Scratch, started: &mut Vec<Pair>, ended: &mut Vec<Pair>) {
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[front..], &new[front..]);
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - back], &new[..new.len() - back]);
    if old.is_empty() || new.is_empty() {
        started.extend_from_slice(new);
        ended.extend_from_slice(old);
        return;
    }

    // An eighth full at most, so that the first place is nearly always the right one (a quarter full lost); but a long list's table may be
    // half full, since it would take more memory than all pairs.
    let room = if old.len() < LONG { 8 } else { 2 };
    let bits = (old.len() * room).next_power_of_two().ilog2();
    let (table, round, met) = scratch.clear(bits, old.len());
    let first = |pair: &Pair| (pair.key().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize;
    let mask = table.len() - 1;
    for (index, pair) in old.iter().enumerate() {
        let mut place = first(pair);
        while table[place & mask] >> 32 == round {
            place += 1;
        }
        table[place & mask] = round << 32 | index as u64;
    }
    for pair in new {
        let mut place = first(pair);
        let found = loop {
            let entry = table[place & mask];
            let index = entry as u32 as usize;
            if entry >> 32 != round || old[index] == *pair {
                break (entry >> 32 == round).then_some(index);
            }
            place += 1;
        };
        match found {
            Some(index) => met[index / 64] |= 1 << (index % 64),
            None => started.push(*pair), // (to write it in any case and count it if so lost)
        }
    }
    for (word, met) in met.iter().enumerate() {
        let mut left = !met;
        while left != 0 {
            ended.extend(old.get(word * 64 + left.trailing_zeros() as usize));
            left &= left - 1;
        }
    }
}

/// Sorts lists of pairs. Its buffers are scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorter {
    by_first: IndexSort<u32>,
    order: Vec<u32>,
    sorted: Vec<Pair>,
    /// The length of the last list.
    last: usize,
}

/// From this many pairs on, they are sorted by counting digits instead of comparing pairs.
const MANY: usize = 1 << 10;

impl Sorter {
    /// Sorts a list: by the first object in linear time, and then what little there is of each.
    pub(crate) fn sort(&mut self, list: &mut Vec<Pair>) {
        if list.len() < MANY {
            return list.sort_unstable();
        }
        self.by_first.load(list.iter().zip(0..).map(|(pair, index)| (pair.a, index)));
        self.by_first.sort_into(&mut self.order);
        self.sorted.clear();
        self.sorted.extend(self.order.iter().map(|&index| list[index as usize]));
        self.sorted.chunk_by_mut(|x, y| x.a == y.a).for_each(<[Pair]>::sort_unstable);
        std::mem::swap(list, &mut self.sorted);
        // In the first frame all pairs have started: no later one will need such buffers.
        let outgrown = list.len() > 4 * self.last.max(MANY);
        if outgrown {
            *self = Self::default();
        }
        self.last = list.len();
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.by_first.bytes() + self.order.capacity() * 4 + self.sorted.capacity() * size_of::<Pair>()
    }
}

/// Sorts both lists and removes what stands in both: a pair that moved from one chunk to another neither started nor ended.
/// What stands n times in one list and m times in the other stays |n - m| times in one.
pub(crate) fn cancel<P: Copy + Ord>(started: &mut Vec<P>, ended: &mut Vec<P>) {
    started.sort_unstable();
    ended.sort_unstable();
    let (mut s, mut e, mut s_end, mut e_end) = (0, 0, 0, 0);
    while s < started.len() || e < ended.len() {
        let order = match (started.get(s), ended.get(e)) {
            (Some(x), Some(y)) => x.cmp(y),
            (Some(_), None) => std::cmp::Ordering::Less,
            _ => std::cmp::Ordering::Greater,
        };
        if order.is_lt() {
            started[s_end] = started[s];
            s_end += 1;
        } else if order.is_gt() {
            ended[e_end] = ended[e];
            e_end += 1;
        }
        s += usize::from(order.is_le());
        e += usize::from(order.is_ge());
    }
    started.truncate(s_end);
    ended.truncate(e_end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn pairs(keys: impl IntoIterator<Item = u32>) -> Vec<Pair> {
        keys.into_iter().map(|k| Pair { a: k / 16, b: 100 + k % 16 }).collect()
    }

    #[test]
    fn difference_equals_set_difference_for_any_order() {
        let mut state = 1u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        let mut scratch = Scratch::default();
        for round in 0..300 {
            let mut list = |size: u64| -> Vec<Pair> {
                let set: BTreeSet<u32> = (0..size).map(|_| random(200) as u32).collect();
                let mut list = pairs(set);
                for i in (1..list.len()).rev() {
                    list.swap(i, random(i as u64 + 1) as usize);
                }
                list
            };
            let (old, new) = (list(round % 150), list((round * 7) % 150));
            let (mut started, mut ended) = (Vec::new(), Vec::new());
            difference(&old, &new, &mut scratch, &mut started, &mut ended);
            let (o, n): (BTreeSet<_>, BTreeSet<_>) = (old.into_iter().collect(), new.into_iter().collect());
            assert!(started.iter().copied().collect::<BTreeSet<_>>().iter().eq(n.difference(&o)));
            assert!(ended.iter().copied().collect::<BTreeSet<_>>().iter().eq(o.difference(&n)));
        }
    }

    #[test]
    fn long_lists_differ_as_short_ones_do() {
        let list = |from: u32, to: u32| -> Vec<Pair> { (from..to).rev().map(|a| Pair { a: a % 977, b: 1000 + a }).collect() };
        let (mut scratch, mut started, mut ended) = (Scratch::default(), Vec::new(), Vec::new());
        let long = 3 * LONG as u32;
        for (old, new) in [(0..long, 5..long + 7), (0..9, 3..long), (0..long, long / 2..2 * long), (1..long, 0..2)] {
            started.clear();
            ended.clear();
            let all = |range: &std::ops::Range<u32>, but: &std::ops::Range<u32>| -> BTreeSet<Pair> {
                list(range.start, range.end).into_iter().filter(|pair| !but.contains(&(pair.b - 1000))).collect()
            };
            difference(&list(old.start, old.end), &list(new.start, new.end), &mut scratch, &mut started, &mut ended);
            assert!(
                started.iter().copied().collect::<BTreeSet<_>>() == all(&new, &old) && started.len() == all(&new, &old).len()
            );
            assert!(ended.iter().copied().collect::<BTreeSet<_>>() == all(&old, &new) && ended.len() == all(&old, &new).len());
        }
    }

    #[test]
    fn long_lists_are_sorted_as_short_ones_are() {
        let mut sorter = Sorter::default();
        for (count, objects) in [(0, 1), (7, 3), (MANY, 40), (3 * MANY, 70_000), (20 * MANY, 1), (20 * MANY, 5000)] {
            let mut state = 1u32;
            let mut random = move || {
                state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
                state >> 8
            };
            let mut list: Vec<Pair> = (0..count).map(|_| Pair { a: random() % objects, b: random() }).collect();
            let mut expected = list.clone();
            expected.sort();
            sorter.sort(&mut list);
            assert!(list == expected, "{count} pairs of {objects} objects");
        }
        let mut sorter = Sorter::default();
        sorter.sort(&mut vec![Pair::default(); 100 * MANY]);
        assert_eq!(sorter.bytes(), 0, "the first list is all pairs");
    }

    #[test]
    fn a_pair_that_moves_between_chunks_neither_starts_nor_ends() {
        let (mut started, mut ended) = (pairs([5, 3, 9]), pairs([9, 1, 5]));
        cancel(&mut started, &mut ended);
        assert_eq!((started, ended), (pairs([3]), pairs([1])));
    }
}
