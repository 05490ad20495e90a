//! Tracy's cells: in each, sorted lists of ends on every axis and a set of pairs.

use super::cells::{Block, Cells, Entry};
use crate::algorithms::baselines::endpoint_lists::{EndpointLists, Sorter};
use crate::algorithms::common::{TrackedBoxes, bytes_of};
use crate::bits::BitSet;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::PairSink;
use crate::memory;
use crate::pairs::Pair;

/// What the memory is for, in errors.
const LISTS: &str = "the lists of the cells";

/// The lists of all cells.
#[derive(Clone, Debug)]
pub(super) struct CellLists<const D: usize, T: Real> {
    /// By the number of the cell.
    lists: Vec<EndpointLists<D, T>>,
    /// Cells in which something changed. Empty between updates.
    touched: BitSet,
    /// The cells that have pairs, ascending.
    with_pairs: Vec<u32>,
    sorter: Sorter,
}

/// What an update changes: objects leave their old cells, and enter others.
pub(super) struct Crossings<'a, T> {
    /// By slot: is the object removed from its old cells?
    pub(super) stale: &'a [bool],
    /// The insertions.
    pub(super) fresh: &'a mut [Entry<T>],
}

impl<const D: usize, T: Real> Default for CellLists<D, T> {
    fn default() -> Self {
        Self { lists: Vec::new(), touched: BitSet::default(), with_pairs: Vec::new(), sorter: Sorter::default() }
    }
}

impl<const D: usize, T: Real> CellLists<D, T> {
    /// `count` cells without objects.
    pub(super) fn start_over(&mut self, count: u32) -> Result<(), Error> {
        self.touched = BitSet::default();
        self.touched.cover(count as usize);
        memory::refill(&mut self.lists, count as usize, EndpointLists::default(), LISTS)
    }

    /// Something changes in these cells.
    pub(super) fn touch(&mut self, cells: &Cells<D, T>, block: &Block<D>) {
        if *block != Block::NOWHERE {
            block.for_each(|cell| self.touched.insert(cells.number(&cell)));
        }
    }

    /// Removes, renews, inserts and sorts in the cells that were touched.
    ///
    /// On error the lists are incomplete.
    pub(super) fn apply(
        &mut self,
        tracked: &TrackedBoxes<D, T>,
        cells: &Cells<D, T>,
        blocks: &[Block<D>],
        crossings: Crossings<'_, T>,
    ) -> Result<(), Error> {
        let Self { lists, touched, sorter, .. } = self;
        let Crossings { stale, fresh } = crossings;
        fresh.sort_unstable_by(Entry::order);
        let mut fresh = &fresh[..];
        let mut any = false;
        for at in 0..touched.words().len() {
            let mut word = std::mem::take(&mut touched.words_mut()[at]);
            any |= word != 0;
            while word != 0 {
                let number = at as u32 * 64 + word.trailing_zeros();
                word &= word - 1;
                let new;
                (new, fresh) = fresh.split_at(fresh.iter().take_while(|entry| entry.cell == number).count());
                let (cell, of_cell) = (cells.cell(number), &mut lists[number as usize]);
                of_cell.remove_and_renew(tracked, |id| stale[id as usize]);
                let owns = |pair: Pair| owns(blocks, &cell, pair);
                of_cell.insert_and_sort(tracked, new.iter().map(|entry| entry.id), owns, sorter)?;
            }
        }
        if any {
            self.note_pairs()?;
        }
        Ok(())
    }

    fn note_pairs(&mut self) -> Result<(), Error> {
        self.with_pairs.clear();
        for (number, lists) in self.lists.iter().enumerate() {
            if !lists.pairs().is_empty() {
                memory::push(&mut self.with_pairs, number as u32, LISTS)?;
            }
        }
        Ok(())
    }

    /// The tests since the last call.
    pub(super) fn take_tests(&mut self) -> u64 {
        self.sorter.take_tests()
    }

    /// The number of cells that have pairs.
    pub(super) fn count_with_pairs(&self) -> usize {
        self.with_pairs.len()
    }

    /// The pairs of one of the cells that have some.
    pub(super) fn hand_out(&self, at: usize, hits: &mut PairSink<'_>) {
        self.lists[self.with_pairs[at] as usize].pairs().iter().for_each(|&pair| hits.push(pair));
    }

    /// The objects of a cell whose lower end on the first axis is at most `limit`.
    pub(super) fn started_before(&self, number: u32, limit: T) -> impl Iterator<Item = u32> + '_ {
        self.lists[number as usize].started_before(limit)
    }

    /// All cells' lists, by number.
    pub(super) fn lists(&self) -> &[EndpointLists<D, T>] {
        &self.lists
    }

    #[cfg(test)]
    pub(super) fn lists_mut(&mut self) -> &mut [EndpointLists<D, T>] {
        &mut self.lists
    }

    /// Is no update under way, and are the cells noted that have pairs?
    pub(super) fn is_settled(&self) -> bool {
        let with_pairs = (0..self.lists.len() as u32).filter(|&number| !self.lists[number as usize].pairs().is_empty());
        self.touched.count() == 0 && with_pairs.eq(self.with_pairs.iter().copied())
    }

    /// Objects, once for each cell that they are in.
    pub(super) fn entries(&self) -> usize {
        self.lists.iter().map(EndpointLists::len).sum()
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        let lists: usize = self.lists.iter().map(EndpointLists::bytes).sum();
        lists + bytes_of(&self.lists) + bytes_of(&self.with_pairs) + self.touched.bytes() + self.sorter.bytes()
    }
}

/// Does the cell own the pair?
#[inline(always)]
pub(super) fn owns<const D: usize>(blocks: &[Block<D>], cell: &[u16; D], pair: Pair) -> bool {
    blocks[pair.a as usize].counts_at(&blocks[pair.b as usize], cell)
}
