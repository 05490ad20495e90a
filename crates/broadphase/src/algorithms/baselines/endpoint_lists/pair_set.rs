//! A set of pairs with a list of its own, in an order that follows from the calls alone.

use crate::algorithms::common::bytes_of;
use crate::error::Error;
use crate::memory::{push, refill};
use crate::pairs::Pair;

/// What the memory is for, in errors.
const PAIRS: &str = "the set of overlapping pairs";

/// Pairs in a dense list, found through a hash table with linear probing. Removal closes the gap at once: no tombstones, no decay.
#[derive(Clone, Debug, Default)]
pub(super) struct PairSet {
    pairs: Vec<Pair>,
    /// Positions in `pairs` plus one; 0 is empty. A power of two, at most half full.
    table: Vec<u32>,
}

impl PairSet {
    /// All pairs.
    pub(super) fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// Removes all pairs.
    pub(super) fn clear(&mut self) {
        self.pairs.clear();
        self.table.fill(0);
    }

    /// The place where a pair is at home: the finalizer of MurmurHash3.
    fn home(&self, pair: Pair) -> usize {
        let mut x = pair.key();
        x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        (x ^ (x >> 33)) as usize & (self.table.len() - 1)
    }

    /// The place of a pair, or the empty place where it would go. The table is not empty.
    fn place(&self, pair: Pair) -> usize {
        let mut at = self.home(pair);
        while self.table[at] != 0 && self.pairs[self.table[at] as usize - 1] != pair {
            at = (at + 1) & (self.table.len() - 1);
        }
        at
    }

    /// Is the pair in the set?
    pub(super) fn contains(&self, pair: Pair) -> bool {
        !self.table.is_empty() && self.table[self.place(pair)] != 0
    }

    /// Adds a pair that may be there already.
    ///
    /// On error the set may be incomplete.
    pub(super) fn insert(&mut self, pair: Pair) -> Result<(), Error> {
        if (self.pairs.len() + 1) * 2 > self.table.len() {
            self.rehash((self.table.len() * 2).max(64))?;
        }
        let at = self.place(pair);
        if self.table[at] == 0 {
            push(&mut self.pairs, pair, PAIRS)?;
            self.table[at] = self.pairs.len() as u32;
        }
        Ok(())
    }

    /// Removes a pair that may not be there.
    pub(super) fn remove(&mut self, pair: Pair) {
        if !self.contains(pair) {
            return;
        }
        let at = self.place(pair);
        let position = self.table[at] as usize - 1;
        self.close_gap(at);
        // The last pair takes the free position in the list.
        let last = self.pairs.len() - 1;
        if position != last {
            let place = self.place(self.pairs[last]);
            self.table[place] = position as u32 + 1;
        }
        self.pairs.swap_remove(position);
    }

    /// Empties a place, and moves up what stands behind it because the place was taken.
    fn close_gap(&mut self, mut gap: usize) {
        let mask = self.table.len() - 1;
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            if self.table[at] == 0 {
                break;
            }
            let home = self.home(self.pairs[self.table[at] as usize - 1]);
            // It may move up unless its home lies behind the gap.
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(gap) & mask) {
                self.table[gap] = self.table[at];
                gap = at;
            }
        }
        self.table[gap] = 0;
    }

    /// Keeps the pairs for which `keep` says so.
    pub(super) fn retain(&mut self, keep: impl FnMut(&Pair) -> bool) {
        self.pairs.retain(keep);
        self.table.fill(0);
        self.index();
    }

    /// Gives the table `len` places.
    fn rehash(&mut self, len: usize) -> Result<(), Error> {
        refill(&mut self.table, len, 0, PAIRS)?;
        self.index();
        Ok(())
    }

    /// Enters all pairs into the table, which is empty.
    fn index(&mut self) {
        for position in 0..self.pairs.len() {
            let at = self.place(self.pairs[position]);
            self.table[at] = position as u32 + 1;
        }
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        bytes_of(&self.pairs) + bytes_of(&self.table)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn insertions_and_removals_follow_an_ordered_set() {
        let (mut set, mut expected) = (PairSet::default(), BTreeSet::new());
        let mut x = 7u64;
        for step in 0..20_000 {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let pair = Pair { a: (x >> 33) as u32 % 40, b: 40 + (x >> 45) as u32 % 40 };
            assert_eq!(set.contains(pair), expected.contains(&pair));
            if x >> 62 < 2 {
                set.insert(pair).unwrap();
                expected.insert(pair);
            } else {
                set.remove(pair);
                expected.remove(&pair);
            }
            if step % 4000 == 3999 {
                set.retain(|pair| pair.a % 5 != 0);
                expected.retain(|pair| pair.a % 5 != 0);
            }
            assert_eq!(set.pairs().len(), expected.len());
        }
        let mut found = set.pairs().to_vec();
        found.sort_unstable();
        assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
    }
}
