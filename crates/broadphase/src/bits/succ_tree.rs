//! The SuccTree: a set of integers below n as a tree of 64-bit words.
//!
//! # The structure
//! Level 0 has one bit per integer. Bit `i` of a higher level says whether word `i` of the level below has any bit set; the top
//! level is one word. Nodes have fixed places, so parent and children are a shift away, and a whole node is one word: the
//! first set bit behind a position is found with a mask and a count of trailing zeros.
//!
//! # Cost
//! Insert, delete, flip, minimum and successor take O(log_64 n) word operations: 4 levels for a million integers, and mostly
//! 1 or 2 of them, since a word that stays occupied hides the change from its parent. A range visit costs that per occupied
//! word, not per integer. Clearing and the symmetric difference touch occupied words only. Memory: 65/64 bits per integer of
//! the universe, whether few or many are in the set: that is the bad case, a sparse set in a large universe.
//!
//! # Source
//! Section 3 of paper 002, with w = 64.

use std::ops::Range;

/// Levels that 2^36 integers need; no index of this crate is larger.
const MAX_LEVELS: usize = 6;

/// A set of integers below a fixed bound; see the module documentation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SuccTree {
    /// All levels, the lowest first.
    words: Vec<u64>,
    /// Where each level starts in `words`.
    starts: [usize; MAX_LEVELS],
    levels: usize,
    len: usize,
}

impl SuccTree {
    /// The empty set of integers below `len`. Keeps its memory.
    pub(crate) fn reset(&mut self, len: usize) {
        if len == self.len && self.levels > 0 {
            return self.clear();
        }
        self.len = len;
        self.levels = 0;
        self.starts = [0; MAX_LEVELS];
        let (mut total, mut bits) = (0, len);
        loop {
            let words = bits.div_ceil(64).max(1);
            self.starts[self.levels] = total;
            self.levels += 1;
            total += words;
            if words == 1 {
                break;
            }
            bits = words;
        }
        self.words.clear();
        self.words.resize(total, 0);
    }

    /// Removes all; costs the occupied words.
    pub(crate) fn clear(&mut self) {
        while let Some(first) = self.min() {
            self.words[first / 64] = 0;
            self.lower(first / 64);
        }
    }

    /// All members are below this.
    pub(crate) fn bound(&self) -> usize {
        self.len
    }

    /// Is nothing in the set?
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.levels == 0 || self.words[self.starts[self.levels - 1]] == 0
    }

    /// Is `i` in the set?
    #[cfg(test)]
    pub(crate) fn contains(&self, i: usize) -> bool {
        i < self.len && self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// Adds `i`, which may be there already.
    #[inline(always)]
    pub(crate) fn insert(&mut self, i: usize) {
        debug_assert!(i < self.len);
        let word = &mut self.words[i / 64];
        let occupied = *word != 0;
        *word |= 1 << (i % 64);
        if !occupied {
            self.raise(i / 64);
        }
    }

    /// Removes `i`, which may be missing.
    #[inline(always)]
    pub(crate) fn delete(&mut self, i: usize) {
        debug_assert!(i < self.len);
        let word = &mut self.words[i / 64];
        *word &= !(1 << (i % 64));
        if *word == 0 {
            self.lower(i / 64);
        }
    }

    /// Adds `i` if it is missing, else removes it.
    #[inline(always)]
    pub(crate) fn flip(&mut self, i: usize) {
        if self.words[i / 64] >> (i % 64) & 1 == 1 { self.delete(i) } else { self.insert(i) }
    }

    /// The smallest member.
    #[inline(always)]
    pub(crate) fn min(&self) -> Option<usize> {
        if self.is_empty() { None } else { Some(self.descend(self.levels - 1, 0)) }
    }

    /// The smallest member above `i`.
    #[cfg(test)]
    pub(crate) fn succ(&self, i: usize) -> Option<usize> {
        self.next(i + 1)
    }

    /// The smallest member at or above `i`: up to the first ancestor with a later child, down to its first leaf.
    #[inline(always)]
    pub(crate) fn next(&self, i: usize) -> Option<usize> {
        if i >= self.len {
            return None;
        }
        let mut i = i;
        for level in 0..self.levels {
            let at = i / 64;
            if at >= self.level_words(level) {
                return None;
            }
            let later = self.words[self.starts[level] + at] & (!0 << (i % 64));
            if later != 0 {
                return Some(self.leaf(level, at * 64 + later.trailing_zeros() as usize));
            }
            i = at + 1;
        }
        None
    }

    /// Calls `visit(first integer of the word, members)` for each occupied word that `range` touches, ascending; members
    /// outside of the range are masked out.
    #[inline(always)]
    pub(crate) fn visit_words(&self, range: Range<usize>, mut visit: impl FnMut(usize, u64)) {
        let mut at = range.start;
        while let Some(first) = self.next(at) {
            if first >= range.end {
                return;
            }
            let base = first & !63;
            let mut word = self.words[first / 64] & (!0 << (first % 64));
            if range.end - base < 64 {
                word &= !(!0 << (range.end - base));
            }
            visit(base, word);
            at = base + 64;
        }
    }

    /// Becomes the set of what is in exactly one of the two. Both have the same bound. Costs the other's occupied words.
    pub(crate) fn symmetric_difference(&mut self, other: &Self) {
        assert_eq!(self.len, other.len, "the trees have the same universe");
        other.visit_words(0..other.len, |base, members| {
            let word = &mut self.words[base / 64];
            let occupied = *word != 0;
            *word ^= members;
            match (occupied, *word != 0) {
                (false, true) => self.raise(base / 64),
                (true, false) => self.lower(base / 64),
                _ => {}
            }
        });
    }

    /// The bytes it holds beside itself.
    pub(crate) fn bytes(&self) -> usize {
        self.words.capacity() * 8
    }

    /// Sets the ancestors' bits, since word `at` of level 0 is occupied now.
    #[inline(always)]
    fn raise(&mut self, at: usize) {
        let mut i = at;
        for level in 1..self.levels {
            let word = &mut self.words[self.starts[level] + i / 64];
            let occupied = *word != 0;
            *word |= 1 << (i % 64);
            if occupied {
                return;
            }
            i /= 64;
        }
    }

    /// Clears the ancestors' bits, as far as they cover nothing else, since word `at` of level 0 is empty now.
    #[inline(always)]
    fn lower(&mut self, at: usize) {
        let mut i = at;
        for level in 1..self.levels {
            let word = &mut self.words[self.starts[level] + i / 64];
            *word &= !(1 << (i % 64));
            if *word != 0 {
                return;
            }
            i /= 64;
        }
    }

    /// The number of words of a level.
    #[inline(always)]
    fn level_words(&self, level: usize) -> usize {
        let end = if level + 1 < self.levels { self.starts[level + 1] } else { self.words.len() };
        end - self.starts[level]
    }

    /// The first leaf below word `at` of `level`, which is occupied.
    #[inline(always)]
    fn descend(&self, level: usize, at: usize) -> usize {
        self.leaf(level, at * 64 + self.words[self.starts[level] + at].trailing_zeros() as usize)
    }

    /// The first leaf below bit `i` of `level`, which is set.
    #[inline(always)]
    fn leaf(&self, level: usize, i: usize) -> usize {
        let mut i = i;
        for below in (0..level).rev() {
            i = i * 64 + self.words[self.starts[below] + i].trailing_zeros() as usize;
        }
        i
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn random(seed: &mut u64, below: usize) -> usize {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 33) as usize % below
    }

    fn empty(len: usize) -> SuccTree {
        let mut tree = SuccTree::default();
        tree.reset(len);
        tree
    }

    fn members(tree: &SuccTree, range: Range<usize>) -> Vec<usize> {
        let mut all = Vec::new();
        tree.visit_words(range, |base, mut word| {
            while word != 0 {
                all.push(base + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        });
        all
    }

    /// Every bit of a higher level says what its word below says.
    fn levels_agree(tree: &SuccTree) {
        for level in 1..tree.levels {
            for at in 0..tree.level_words(level - 1) {
                let occupied = tree.words[tree.starts[level - 1] + at] != 0;
                assert_eq!(tree.words[tree.starts[level] + at / 64] >> (at % 64) & 1 == 1, occupied, "level {level} bit {at}");
            }
        }
    }

    #[test]
    fn it_agrees_with_an_ordered_set_for_every_number_of_levels() {
        let mut seed = 5;
        for len in [1, 2, 63, 64, 65, 4095, 4096, 4097, 300_000] {
            let (mut tree, mut set) = (empty(len), BTreeSet::new());
            for round in 0..600 {
                let i = random(&mut seed, len);
                match random(&mut seed, 5) {
                    0 | 1 => {
                        tree.insert(i);
                        set.insert(i);
                    }
                    2 => {
                        tree.delete(i);
                        set.remove(&i);
                    }
                    _ => {
                        tree.flip(i);
                        if !set.remove(&i) {
                            set.insert(i);
                        }
                    }
                }
                let j = random(&mut seed, len);
                assert_eq!(tree.contains(j), set.contains(&j));
                assert_eq!(tree.min(), set.first().copied());
                assert_eq!(tree.succ(j), set.range(j + 1..).next().copied());
                assert_eq!(tree.next(j), set.range(j..).next().copied());
                let k = j + random(&mut seed, len + 70);
                assert_eq!(members(&tree, j..k), set.range(j..k).copied().collect::<Vec<_>>());
                if round % 100 == 0 {
                    levels_agree(&tree);
                }
            }
            levels_agree(&tree);
            tree.clear();
            assert_eq!(tree, empty(len));
        }
    }

    #[test]
    fn the_symmetric_difference_is_exact_and_its_own_inverse() {
        let mut seed = 11;
        for len in [1, 64, 5000, 70_000] {
            for density in [0, 3, 400] {
                let (mut a, mut b) = (empty(len), empty(len));
                for _ in 0..density {
                    a.insert(random(&mut seed, len));
                    b.insert(random(&mut seed, len));
                    let both = random(&mut seed, len);
                    a.insert(both);
                    b.insert(both);
                }
                let (left, right): (BTreeSet<_>, BTreeSet<_>) =
                    (members(&a, 0..len).into_iter().collect(), members(&b, 0..len).into_iter().collect());
                let mut c = a.clone();
                c.symmetric_difference(&b);
                levels_agree(&c);
                assert_eq!(members(&c, 0..len), left.symmetric_difference(&right).copied().collect::<Vec<_>>());
                c.symmetric_difference(&b);
                assert_eq!(c, a);
                c.symmetric_difference(&a);
                assert!(c.is_empty());
                assert_eq!(c, empty(len));
            }
        }
    }

    #[test]
    fn an_empty_universe_has_no_members() {
        let tree = empty(0);
        assert_eq!((tree.min(), tree.next(0), tree.is_empty()), (None, None, true));
        assert_eq!(members(&tree, 0..0), Vec::<usize>::new());
    }

    #[test]
    fn a_reset_to_another_size_forgets_everything() {
        let mut tree = empty(10_000);
        (0..10_000).step_by(3).for_each(|i| tree.insert(i));
        for len in [10, 100_000, 64, 65] {
            tree.reset(len);
            assert_eq!(tree, empty(len));
            tree.insert(len - 1);
        }
    }
}
