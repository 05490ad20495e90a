//! What started and what ended: the difference of two lists, chunk by chunk, then across chunks.

use super::Pair;

/// Buffers of [`difference`], reused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// A hash table of the old pairs: [`EMPTY`], [`MET`], or a pair's key.
    table: Vec<u64>,
    /// Where each old pair stands in it.
    places: Vec<u32>,
    /// Pairs that an edit does not keep.
    pub(super) gone: Vec<Pair>,
}

/// No pair: the smaller id comes first.
const EMPTY: u64 = u64::MAX;
/// An old pair that was found among the new ones; no pair either.
const MET: u64 = u64::MAX - 1;

/// Appends to `started` the pairs of `new` that are not in `old`, and to `ended` the reverse. The lists need no order.
///
/// Cost: linear. Lists that agree at both ends, as they do where little moved, cost one comparison per pair there.
/// A hash table of the middle of the old list fits the first-level cache for chunks of about a thousand pairs.
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

    // A quarter full at most, so that the first place is nearly always the right one. (Half full lost.)
    let bits = (old.len() * 4).next_power_of_two().ilog2();
    let mask = (1usize << bits) - 1;
    let first = |key: u64| (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize;
    let Scratch { table, places, .. } = scratch;
    table.clear();
    table.resize(1 << bits, EMPTY);
    places.clear();
    for pair in old {
        let mut place = first(pair.key());
        while table[place & mask] != EMPTY {
            place += 1;
        }
        table[place & mask] = pair.key();
        places.push((place & mask) as u32);
    }
    for pair in new {
        let mut place = first(pair.key());
        while table[place & mask] != EMPTY && table[place & mask] != pair.key() {
            place += 1;
        }
        if table[place & mask] == EMPTY {
            started.push(*pair);
        } else {
            table[place & mask] = MET;
        }
    }
    ended.extend(old.iter().zip(&*places).filter(|(_, place)| table[**place as usize] != MET).map(|(pair, _)| *pair));
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
