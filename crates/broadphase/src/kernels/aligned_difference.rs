//! The difference of two lists of pairs that are nearly in the same order, such as those of a tile in two frames.
//!
//! Both lists are walked together. Where they differ, each of the two next pairs is searched for among the next [`WINDOW`] of the other list: what
//! comes before it there is in one list only. Every such step is the same, without a branch: it costs about as much as a mispredicted one, but passes the
//! equal pairs up to the next difference as well. If neither is found, the pairs of a whole object may be missing in one list, as when a record has left a
//! tile: the next first ids are searched for, farther away.
//!
//! # The bad case
//! Lists in different orders: nearly every search fails. The walk ends after a few of these, and the caller compares the rest in another way.

use super::arch::{Kernel, Simd};
use crate::kernels::isa::Kernels;
use crate::pair::Pair;

/// Pairs that are compared at once, and how far a search looks ahead.
const WINDOW: usize = 8;
/// How far a first id is searched for.
const FAR: usize = 512;
/// What a failed search costs, besides the pairs that are looked at for a first id, relative to a pair that is passed; and what failed searches may
/// cost more than all pairs that were passed.
const FAILURE: usize = 8;
const ALLOWANCE: usize = 64;
/// A walk has failed if more than 1/2 of the pairs that were passed seem to be in one list only: then the lists are in other orders.
const FAILED: usize = 2;

/// How far a walk came in each list, and how many of the pairs before it are in one list only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Walk {
    pub(crate) old_end: usize,
    pub(crate) new_end: usize,
    pub(crate) old_left: usize,
    pub(crate) new_left: usize,
    /// Were the pairs of an object passed over at once? They may come later in the other list.
    pub(crate) has_jumped: bool,
}

/// Walks two lists from their starts, and writes the pairs that are in one of them only to `old_rest` and `new_rest`; these may have a few pairs in common.
/// Each is at least as long as its list. The last pairs, and what comes after too many failed searches, are left to the caller; everything if the
/// rests would be long.
pub(crate) fn walk(kernels: Kernels, lists: [&[Pair]; 2], rests: [&mut [Pair]; 2]) -> Walk {
    kernels.run(WalkLists { lists, rests })
}

struct WalkLists<'a> {
    lists: [&'a [Pair]; 2],
    rests: [&'a mut [Pair]; 2],
}

impl Kernel for WalkLists<'_> {
    type Output = Walk;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Walk {
        let Self { lists: [old, new], rests: [old_rest, new_rest] } = self;
        assert!(old_rest.len() >= old.len() && new_rest.len() >= new.len());
        let Walk { old_end: mut i, new_end: mut j, mut old_left, mut new_left, mut has_jumped } = Walk::default();
        let mut failures = 0;
        while i + 2 * WINDOW <= old.len() && j + 2 * WINDOW <= new.len() {
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) a step reads two windows of each list at most, and what it writes is
            // as long as what is left of the list, since no more was written than read.
            let (in_old, in_new) = unsafe {
                let equal = (!S::same_eights(old.as_ptr().add(i).cast(), new.as_ptr().add(j).cast())).trailing_zeros() as usize;
                (i, j) = (i + equal, j + equal);
                let (old_next, new_next) = (old.as_ptr().add(i).cast::<u64>(), new.as_ptr().add(j).cast::<u64>());
                copy_window(old_next, &mut old_rest[old_left..]);
                copy_window(new_next, &mut new_rest[new_left..]);
                let place = |bits: u32| (bits | 1 << WINDOW).trailing_zeros() as usize;
                let in_new = place(S::equal_eights(old_next.read_unaligned(), new_next));
                (place(S::equal_eights(new_next.read_unaligned(), old_next)), in_new)
            };
            // The nearer one is followed.
            let (mut old_step, mut new_step) = if in_old < in_new { (in_old, 0) } else { (0, in_new) };
            // Rare, so a branch is cheap.
            if in_old.min(in_new) == WINDOW {
                (old_step, new_step) = (1, 1);
                failures += FAILURE;
                if old[i].a != new[j].a {
                    let (of_old, of_new) = find_first_ids(&old[i..], &new[j..]);
                    failures += of_old.max(of_new);
                    if of_old.min(of_new) == 0 {
                        old_rest[old_left..old_left + of_old].copy_from_slice(&old[i..i + of_old]);
                        new_rest[new_left..new_left + of_new].copy_from_slice(&new[j..j + of_new]);
                        (old_step, new_step, has_jumped) = (of_old, of_new, true);
                    }
                }
                if failures > ALLOWANCE + i + j {
                    break;
                }
            }
            (i, j) = (i + old_step, j + new_step);
            (old_left, new_left) = (old_left + old_step, new_left + new_step);
        }
        if (old_left + new_left) * FAILED > i + j {
            return Walk::default();
        }
        Walk { old_end: i, new_end: j, old_left, new_left, has_jumped }
    }
}

/// How many pairs to pass over in one of two lists, up to the first id with which the other one starts: 0 in the other list, or, if the search failed, in
/// neither.
fn find_first_ids(old: &[Pair], new: &[Pair]) -> (usize, usize) {
    let (old_id, new_id) = (old[0].a, new[0].a);
    let count = old.len().min(new.len()).min(FAR);
    let found = old[..count].iter().zip(&new[..count]).position(|(old, new)| (old.a == new_id) | (new.a == old_id));
    match found {
        Some(at) if old[at].a == new_id => (at, 0),
        Some(at) => (0, at),
        None => (count, count),
    }
}

/// Copies a window of pairs.
///
/// # Safety
/// *In bounds*: `from` is valid for reading a window, and `to` has room for one.
#[inline(always)]
unsafe fn copy_window(from: *const u64, to: &mut [Pair]) {
    debug_assert!(to.len() >= WINDOW);
    // SAFETY: (in bounds) the caller's duty.
    unsafe { std::ptr::copy_nonoverlapping(from.cast(), to.as_mut_ptr(), WINDOW) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Isa;

    fn random(state: &mut u64, below: u64) -> u64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 33) % below
    }

    /// Walks two lists with every instruction set, checks the result, and returns how much of both lists is left.
    fn check(old: &[Pair], new: &[Pair]) -> usize {
        let run = |isa| {
            let mut rests = [old.to_vec(), new.to_vec()];
            let [old_rest, new_rest] = &mut rests;
            let walk = walk(Kernels::new(isa).unwrap(), [old, new], [old_rest, new_rest]);
            rests[0].truncate(walk.old_left);
            rests[1].truncate(walk.new_left);
            (walk, rests)
        };
        let (walk, rests) = run(Isa::available().next().unwrap());
        Isa::available().for_each(|isa| assert_eq!(run(isa), (walk, rests.clone()), "{isa}"));
        // Without its rest, the first part of each list is the same.
        let without = |list: &[Pair], rest: &[Pair]| -> Vec<Pair> {
            let mut rest = rest.iter().peekable();
            let common = list.iter().filter(|&pair| rest.next_if(|&next| next == pair).is_none());
            let common = common.copied().collect();
            assert!(rest.next().is_none(), "the rest is in the order of the list");
            common
        };
        assert_eq!(without(&old[..walk.old_end], &rests[0]), without(&new[..walk.new_end], &rests[1]));
        (old.len() - walk.old_end).max(new.len() - walk.new_end)
    }

    /// Objects with so many pairs each, none of which is like another.
    fn list(objects: u32, pairs: u32) -> Vec<Pair> {
        (0..objects * pairs).map(|k| Pair { a: (k / pairs) * 7 % 1009, b: 2000 + k }).collect()
    }

    #[test]
    fn lists_in_the_same_order_are_walked_to_their_ends() {
        let mut state = 1;
        for (objects, pairs) in [(300, 3), (100, 30), (40, 200)] {
            let old = list(objects, pairs);
            for share in [0, 1, 5, 10] {
                let mut new = Vec::new();
                for &pair in &old {
                    if random(&mut state, 100) >= share {
                        new.push(pair);
                    }
                    if random(&mut state, 100) < share {
                        new.push(Pair { a: pair.a, b: 1_000_000 + new.len() as u32 });
                    }
                }
                let left = check(&old, &new).max(check(&new, &old));
                assert!(left <= 4 * WINDOW, "{pairs} pairs for each object, {share} % changed: {left} left");
            }
        }
    }

    #[test]
    fn objects_that_leave_a_list_are_passed_over() {
        let old = list(60, 90);
        let leave = |object: u32| object % 11 == 3 || object == 30 || object == 31;
        let new: Vec<Pair> =
            (0..60).filter(|&object| !leave(object)).flat_map(|k| old[90 * k as usize..][..90].to_vec()).collect();
        let left = check(&old, &new).max(check(&new, &old));
        assert!(left <= 90 + 2 * WINDOW, "{left} left");
    }

    #[test]
    fn lists_in_other_orders_are_given_up_soon() {
        let old = list(100, 30);
        let mut state = 5;
        let mut new = old.clone();
        for i in (1..new.len()).rev() {
            new.swap(i, random(&mut state, i as u64 + 1) as usize);
        }
        let reversed: Vec<Pair> = old.iter().rev().copied().collect();
        for other in [&new, &reversed] {
            let left = check(&old, other);
            assert!(left > old.len() * 3 / 4, "{left} left");
        }
        for count in 0..3 * WINDOW {
            check(&old[..count], &new[..2 * WINDOW]);
            check(&old[..count], &old);
        }
    }
}
