//! All pairs of the last update.

use std::fmt;

use super::World;
use crate::geometry::Real;
use crate::objects::Handle;
use crate::pairs::{Pair, PairStore, Report};

/// # Results of the last update
impl<const D: usize, T: Real> World<D, T> {
    /// The number of pairs.
    pub fn pair_count(&self) -> u64 {
        if self.failed { 0 } else { self.mover_pairs.len() + self.mixed.store.len() + self.motion.fleeting.len() as u64 }
    }

    /// All pairs, each once, the smaller index first. The order is deterministic, but depends on the algorithm. There are none with
    /// [`Report::Count`], nor after a change from it until the next update. Cost: two look-ups per pair.
    pub fn pairs(&self) -> Pairs<'_, D, T> {
        // The report may have changed since the stores were filled.
        let reports = [self.report, self.mover_pairs.report(), self.mixed.store.report()];
        let left = if reports.contains(&Report::Count) { 0 } else { self.pair_count() as usize };
        Pairs { world: self, mixed: false, chunk: 0, from: 0, buffer: [Pair::default(); BUFFER], at: 0, filled: 0, left }
    }

    /// All pairs, sorted: the one list that every algorithm gives. Costs a copy and a sort.
    pub fn sorted_pairs(&self) -> Vec<(Handle, Handle)> {
        let mut list: Vec<_> = self.pairs().collect();
        list.sort_unstable();
        list
    }

    /// The tests of the last update: object pairs compared.
    pub fn tests(&self) -> u64 {
        self.tests
    }
}

/// Pairs that are copied from the store at once.
const BUFFER: usize = 64;

/// An iterator over pairs of handles; see [`World::pairs`].
#[derive(Clone)]
pub struct Pairs<'a, const D: usize, T: Real> {
    world: &'a World<D, T>,
    /// Which of the two stores is being read.
    mixed: bool,
    chunk: usize,
    from: usize,
    buffer: [Pair; BUFFER],
    at: usize,
    filled: usize,
    left: usize,
}

impl<const D: usize, T: Real> fmt::Debug for Pairs<'_, D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pairs").field("left", &self.left).finish_non_exhaustive()
    }
}

impl<const D: usize, T: Real> Pairs<'_, D, T> {
    fn store(&self) -> &PairStore {
        if self.mixed { &self.world.mixed.store } else { &self.world.mover_pairs }
    }

    /// Fills the buffer from the next chunk that has pairs; false at the end.
    fn refill(&mut self) -> bool {
        loop {
            let mut buffer = self.buffer;
            match self.store().copy_from(self.chunk, self.from, &mut buffer) {
                None if self.mixed => return false,
                None => (self.mixed, self.chunk, self.from) = (true, 0, 0),
                Some(0) => (self.chunk, self.from) = (self.chunk + 1, 0),
                Some(count) => {
                    (self.buffer, self.at, self.filled) = (buffer, 0, count);
                    self.from += count;
                    return true;
                }
            }
        }
    }
}

impl<const D: usize, T: Real> Iterator for Pairs<'_, D, T> {
    type Item = (Handle, Handle);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        if self.at == self.filled && !self.refill() {
            // After both stores come the pairs that only an earlier sub-step of the frame found.
            let fleeting = &self.world.motion.fleeting;
            self.left -= 1;
            return fleeting.get(fleeting.len().checked_sub(1 + self.left)?).copied();
        }
        let table = &self.world.table;
        let pair = table.to_indices(self.buffer[self.at], self.mixed);
        self.at += 1;
        self.left -= 1;
        Some((table.handle(pair.a), table.handle(pair.b)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<const D: usize, T: Real> ExactSizeIterator for Pairs<'_, D, T> {}
