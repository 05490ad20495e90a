//! Started and ended pairs: the difference of two lists, chunk by chunk, then across chunks.

use std::hint::select_unpredictable;

use super::{Pair, PairSort};
use crate::error::Error;
use crate::kernels::{Kernels, walk};
use crate::memory;

/// What the memory is for, in errors.
const EVENTS: &str = "pairs that started and ended";

/// Buffers of [`difference`], reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// By hash: an old pair's position in the list. Entries left over from other lists do no harm, since each hit is compared with the pair itself. Short
    /// lists take narrow entries, so that their table stays in the first-level cache.
    table: Vec<u32>,
    narrow: Vec<u16>,
    /// Was the old pair found among the new ones?
    met: Vec<bool>,
    /// What a walk along both lists found in one of them only.
    walked: [Vec<Pair>; 2],
    /// Pairs without a counterpart, so far.
    old: Vec<Pair>,
    new: Vec<Pair>,
    /// Pairs that an edit does not keep.
    pub(super) gone: Vec<Pair>,
    /// For sinks whose own buffer cannot grow.
    pub(super) reserve: Vec<Pair>,
}

impl Scratch {
    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        let lists = [&self.old, &self.new, &self.walked[0], &self.walked[1], &self.gone, &self.reserve];
        let pairs: usize = lists.iter().map(|list| list.capacity()).sum();
        self.table.capacity() * 4 + self.narrow.capacity() * 2 + self.met.capacity() + pairs * size_of::<Pair>()
    }
}

/// Multipliers of the hashes, one for each round.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];
/// Is the walk compiled? The browser's file without vectors is made for its size.
const CAN_WALK: bool = cfg!(any(not(target_family = "wasm"), target_feature = "simd128"));
/// A walk along two lists that ends with at most this many pairs to go was successful.
const FEW: usize = 32;
/// Lists of at least this length are long.
const LONG: usize = 1 << 12;
/// The least number of table entries per pair, for short and for long lists: with more for long ones, the table would take more memory than all pairs.
const ROOM: [usize; 2] = [4, 2];

/// Appends to `started` the pairs of `new` that are not in `old`, and to `ended` the reverse, and to both a few that are in both lists, which
/// [`cancel`] removes. The lists need no order.
///
/// Cost: linear. If the caller expects both lists to be in the same order but for what started and ended, as pairs with static objects are, they are walked
/// together first, by the kernels that it gives (`kernels/aligned_difference.rs`). Lists that agree at both ends, as they do where little moved, cost one
/// comparison per pair there.
///
/// Between these ends, old pairs are written to a table by hash, overwriting each other, and each new pair is compared with the entry of its
/// hash. Whether that is the same pair is unpredictable, so it is computed without a branch: all are written to a list, and counted if they
/// have no counterpart. Overwritten pairs go through another round with another hash. (A table that resolves collisions, with
/// branches, took a third more time.)
pub(crate) fn difference(
    in_order: Option<Kernels>,
    [old, new]: [&[Pair]; 2],
    scratch: &mut Scratch,
    started: &mut Vec<Pair>,
    ended: &mut Vec<Pair>,
) -> Result<(), Error> {
    let Scratch { table, narrow, met, walked, old: old_left, new: new_left, .. } = scratch;
    old_left.clear();
    new_left.clear();
    let (mut lists, mut has_jumped) = ((old, new), true);
    if let Some(kernels) = in_order.filter(|_| CAN_WALK) {
        let [old_rest, new_rest] = walked;
        memory::cover(old_rest, old.len(), EVENTS)?;
        memory::cover(new_rest, new.len(), EVENTS)?;
        let walk = walk(kernels, [old, new], [old_rest, new_rest]);
        memory::copy(old_left, &old_rest[..walk.old_left], EVENTS)?;
        memory::copy(new_left, &new_rest[..walk.new_left], EVENTS)?;
        (lists, has_jumped) = ((&old[walk.old_end..], &new[walk.new_end..]), walk.has_jumped);
    }
    let (old, new) = lists;
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[front..], &new[front..]);
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - back], &new[..new.len() - back]);
    if old.len() < LONG {
        part(FACTORS[0], (old, new), (old_left, new_left), narrow, met)?;
    } else {
        part(FACTORS[0], (old, new), (old_left, new_left), table, met)?;
    }
    if old.len() <= FEW && !has_jumped {
        // The lists have next to no pair in common. With room for a few more, so that frames of about as many events do not allocate.
        memory::reserve(ended, old_left.len() + FEW, EVENTS)?;
        memory::reserve(started, new_left.len() + FEW, EVENTS)?;
        ended.extend_from_slice(old_left); // reserved
        started.extend_from_slice(new_left); // reserved
        return Ok(());
    }
    if old_left.len() < LONG {
        part(FACTORS[1], (old_left, new_left), (ended, started), narrow, met)
    } else {
        part(FACTORS[1], (old_left, new_left), (ended, started), table, met)
    }
}

/// A position in a list, as an entry of a table.
trait Position: Copy + Default {
    /// A position that the type can hold.
    fn new(position: usize) -> Self;
    fn get(self) -> usize;
}

impl Position for u16 {
    #[inline(always)]
    fn new(position: usize) -> Self {
        position as u16
    }
    #[inline(always)]
    fn get(self) -> usize {
        usize::from(self)
    }
}

impl Position for u32 {
    #[inline(always)]
    fn new(position: usize) -> Self {
        position as u32
    }
    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }
}

/// One round: appends the pairs of each list to its rest, except most of those that are in both.
fn part<P: Position>(
    factor: u64,
    (old, new): (&[Pair], &[Pair]),
    (old_rest, new_rest): (&mut Vec<Pair>, &mut Vec<Pair>),
    table: &mut Vec<P>,
    met: &mut Vec<bool>,
) -> Result<(), Error> {
    memory::reserve(old_rest, old.len(), EVENTS)?;
    memory::reserve(new_rest, new.len(), EVENTS)?;
    if old.is_empty() || new.is_empty() {
        old_rest.extend_from_slice(old); // reserved
        new_rest.extend_from_slice(new); // reserved
        return Ok(());
    }
    let bits = (ROOM[usize::from(old.len() >= LONG)] * old.len()).next_power_of_two().ilog2();
    memory::cover(table, 1 << bits, EVENTS)?;
    let table = &mut table[..1 << bits];
    let mask = table.len() - 1;
    let place = |pair: Pair| (pair.key().wrapping_mul(factor) >> (64 - bits)) as usize & mask;
    for (index, pair) in old.iter().enumerate() {
        table[place(*pair)] = P::new(index);
    }
    memory::refill(met, old.len(), false, EVENTS)?;
    let met = &mut met[..old.len()];
    keep(new, new_rest, |pair, _| {
        let index = table[place(pair)].get().min(old.len() - 1);
        let is_met = old[index].key() == pair.key();
        met[index] |= is_met;
        !is_met
    });
    keep(old, old_rest, |_, index| !met[index]);
    Ok(())
}

/// Appends those of a list that are `wanted`, given the pair and its position. There must be room for all.
#[inline(always)]
fn keep(list: &[Pair], to: &mut Vec<Pair>, mut wanted: impl FnMut(Pair, usize) -> bool) {
    let start = to.len();
    to.resize(start + list.len(), Pair::default()); // reserved
    let (room, mut count) = (&mut to[start..], 0);
    for (index, &pair) in list.iter().enumerate() {
        room[count] = pair;
        count += usize::from(wanted(pair, index));
    }
    to.truncate(start + count);
}

/// Sorts lists of pairs. Its buffers are scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorter {
    sort: PairSort,
    /// The length of the last list.
    last: usize,
}

/// Lists of up to four times this length never count as outgrown.
const MANY: usize = 1 << 10;

impl Sorter {
    /// Sorts a list, in linear time.
    pub(crate) fn sort(&mut self, list: &mut Vec<Pair>) {
        let bound = list.iter().map(|pair| pair.a as usize + 1).max().unwrap_or(0);
        self.sort.sort(list, bound);
        // Buffers are dropped after a list much longer than the last one. In the first frame all pairs have started: no later frame needs such large
        // buffers.
        let outgrown = list.len() > 4 * self.last.max(MANY);
        if outgrown {
            *self = Self::default();
        }
        self.last = list.len();
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.sort.bytes()
    }
}

/// Sorts both lists and removes what is in both: a pair that moved from one chunk to another, or that [`difference`] has missed, neither
/// started nor ended. A pair that is n times in one list and m times in the other stays |n - m| times in one.
pub(crate) fn cancel<P: Copy + Ord>(started: &mut Vec<P>, ended: &mut Vec<P>) {
    started.sort_unstable();
    ended.sort_unstable();
    let (s, e) = cancel_sorted(started, ended);
    started.truncate(s);
    ended.truncate(e);
}

/// Moves what is in only one of two sorted lists to its front, and returns how many there are in each.
pub(super) fn cancel_sorted<P: Copy + Ord>(started: &mut [P], ended: &mut [P]) -> (usize, usize) {
    let (mut s, mut e, mut s_end, mut e_end) = (0, 0, 0, 0);
    // Which of the two comes first is unpredictable, so both are written, and counted if they come first. The next ones are read before it is known
    // which of them is needed: the loop would wait for each read.
    if let (Some(&(mut x)), Some(&(mut y))) = (started.first(), ended.first()) {
        while s + 1 < started.len() && e + 1 < ended.len() {
            let (next_x, next_y) = (started[s + 1], ended[e + 1]);
            (started[s_end], ended[e_end]) = (x, y);
            s_end += usize::from(x < y);
            e_end += usize::from(y < x);
            let (passes_x, passes_y) = (x <= y, y <= x);
            s += usize::from(passes_x);
            e += usize::from(passes_y);
            x = select_unpredictable(passes_x, next_x, x);
            y = select_unpredictable(passes_y, next_y, y);
        }
    }
    while s < started.len() && e < ended.len() {
        let (x, y) = (started[s], ended[e]);
        (started[s_end], ended[e_end]) = (x, y);
        s_end += usize::from(x < y);
        e_end += usize::from(y < x);
        s += usize::from(x <= y);
        e += usize::from(y <= x);
    }
    started.copy_within(s.., s_end);
    ended.copy_within(e.., e_end);
    (s_end + started.len() - s, e_end + ended.len() - e)
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
            let in_order = (round % 2 == 0).then(Kernels::best);
            difference(in_order, [&old, &new], &mut scratch, &mut started, &mut ended).unwrap();
            cancel(&mut started, &mut ended);
            let (o, n): (BTreeSet<_>, BTreeSet<_>) = (old.into_iter().collect(), new.into_iter().collect());
            assert!(started.iter().eq(n.difference(&o)) && ended.iter().eq(o.difference(&n)));
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
            let lists = [&list(old.start, old.end)[..], &list(new.start, new.end)];
            difference(None, lists, &mut scratch, &mut started, &mut ended).unwrap();
            cancel(&mut started, &mut ended);
            assert!(started.iter().eq(&all(&new, &old)) && ended.iter().eq(&all(&old, &new)));
        }
    }

    #[test]
    fn difference_leaves_few_common_pairs_to_be_cancelled() {
        for count in [50, 1000, 3 * LONG as u32] {
            let old: Vec<Pair> = (0..count).map(|k| Pair { a: k / 3, b: 7 * k + 1 }).collect();
            let new: Vec<Pair> = (0..count).map(|k| old[((k * 7 + 3) % count) as usize]).collect();
            let (mut scratch, mut started, mut ended) = (Scratch::default(), Vec::new(), Vec::new());
            let in_order = Some(Kernels::best()); // they are not
            difference(in_order, [&old, &new], &mut scratch, &mut started, &mut ended).unwrap();
            assert!(started.len() == ended.len() && started.len() <= count as usize / 10, "{} of {count}", started.len());
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
