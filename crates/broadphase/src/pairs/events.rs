//! What started and what ended: the difference of two lists, chunk by chunk, then across chunks.

use super::Pair;

/// Buffers of [`difference`], reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// 1 + the newest old pair of each hash value, or 0.
    heads: Vec<u32>,
    /// The next older pair of the same hash value, likewise.
    next: Vec<u32>,
    met: Vec<bool>,
}

/// Appends to `started` the pairs of `new` that are not in `old`, and to `ended` the reverse. The lists need no order.
///
/// Cost: linear. Lists that agree at both ends, as they do where little moved, cost one comparison per pair there.
/// A hash table of positions over the middle of the old list fits the first-level cache for chunks of a few thousand pairs.
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

    let bits = (old.len() * 2).next_power_of_two().ilog2().max(1);
    let slot = |pair: &Pair| (pair.key().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize;
    let Scratch { heads, next, met } = scratch;
    heads.clear();
    heads.resize(1 << bits, 0);
    next.clear();
    met.clear();
    met.resize(old.len(), false);
    for (index, pair) in old.iter().enumerate() {
        let head = &mut heads[slot(pair)];
        next.push(*head);
        *head = index as u32 + 1;
    }
    for pair in new {
        let mut at = heads[slot(pair)];
        while at != 0 && old[at as usize - 1] != *pair {
            at = next[at as usize - 1];
        }
        if at == 0 {
            started.push(*pair);
        } else {
            met[at as usize - 1] = true;
        }
    }
    ended.extend(old.iter().zip(met.iter()).filter(|(_, met)| !**met).map(|(pair, _)| *pair));
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
    fn a_pair_that_moves_between_chunks_neither_starts_nor_ends() {
        let (mut started, mut ended) = (pairs([5, 3, 9]), pairs([9, 1, 5]));
        cancel(&mut started, &mut ended);
        assert_eq!((started, ended), (pairs([3]), pairs([1])));
    }
}
