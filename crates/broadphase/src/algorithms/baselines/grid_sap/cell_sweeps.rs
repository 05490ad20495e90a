//! With `resweep`: one array holds the objects of all cells, and every cell is swept anew.
//!
//! Entries are sorted by cell, and within a cell by the object's lower end on the first axis. A frame takes out the entries of objects that are gone or
//! overlap other cells now, sorts the rest by insertion (within a cell little changes), and merges the new entries, sorted, in one pass. Cost: one
//! pass over the entries, the exchanges within cells, and the sweeps. Memory: 12 bytes (`f32`) per entry.

use std::ops::Range;

use super::cells::{Block, Cells, Entry};
use crate::algorithms::common::{TrackedBoxes, bytes_of};
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::PairSink;
use crate::memory;
use crate::pairs::Pair;

/// What the memory is for, in errors.
const ENTRIES: &str = "the entries of the cells";

/// The entries of all cells.
#[derive(Clone, Debug, Default)]
pub(super) struct CellSweeps<T> {
    /// Sorted by cell, then along the first axis.
    entries: Vec<Entry<T>>,
    /// Where each cell that has entries starts, and where the last one ends.
    starts: Vec<u32>,
}

impl<T: Real> CellSweeps<T> {
    /// The entries, sorted.
    pub(super) fn entries(&self) -> &[Entry<T>] {
        &self.entries
    }

    #[cfg(test)]
    pub(super) fn entries_mut(&mut self) -> &mut Vec<Entry<T>> {
        &mut self.entries
    }

    /// No entries.
    pub(super) fn start_over(&mut self) {
        self.entries.clear();
    }

    /// Takes out the entries of slots that are stale.
    pub(super) fn remove(&mut self, stale: &[bool]) {
        self.entries.retain(|entry| !stale[entry.id as usize]);
    }

    /// New coordinates, and the insertion sort of the entries: none leaves its cell.
    pub(super) fn sort<const D: usize>(&mut self, tracked: &TrackedBoxes<D, T>) {
        let entries = &mut self.entries;
        entries.iter_mut().for_each(|entry| entry.at = tracked.get(entry.id).min[0]);
        for start in 1..entries.len() {
            let entry = entries[start];
            let mut at = start;
            while at > 0 && entry.is_before(&entries[at - 1]) {
                entries[at] = entries[at - 1];
                at -= 1;
            }
            entries[at] = entry;
        }
    }

    /// Merges the fresh entries from the back, in place.
    pub(super) fn merge(&mut self, fresh: &mut Vec<Entry<T>>) -> Result<(), Error> {
        let entries = &mut self.entries;
        if fresh.is_empty() {
            return Ok(());
        }
        fresh.sort_unstable_by(Entry::order);
        let mut old = entries.len();
        let total = old + fresh.len();
        if entries.capacity() < total {
            // An eighth to spare: a list that grows to a plateau does not overshoot it twofold.
            entries.try_reserve_exact(fresh.len() + total / 8).map_err(|_| Error::OutOfMemory { what: ENTRIES })?;
        }
        memory::resize(entries, total, fresh[0], ENTRIES)?;
        let mut place = total;
        while let Some(&new) = fresh.last() {
            place -= 1;
            if old > 0 && new.is_before(&entries[old - 1]) {
                old -= 1;
                entries[place] = entries[old];
            } else {
                entries[place] = new;
                fresh.pop();
            }
        }
        Ok(())
    }

    /// Finds the cells that have entries; returns their number.
    pub(super) fn find_starts(&mut self) -> Result<usize, Error> {
        self.starts.clear();
        let mut last = None;
        for (at, entry) in self.entries.iter().enumerate() {
            if last != Some(entry.cell) {
                memory::push(&mut self.starts, at as u32, ENTRIES)?;
                last = Some(entry.cell);
            }
        }
        memory::push(&mut self.starts, self.entries.len() as u32, ENTRIES)?;
        Ok(self.starts.len() - 1)
    }

    /// The entries of one of the cells that have some.
    pub(super) fn range(&self, at: usize) -> Range<usize> {
        self.starts[at] as usize..self.starts[at + 1] as usize
    }

    /// The pairs that count in one cell.
    pub(super) fn sweep<const D: usize>(
        &self,
        range: Range<usize>,
        tracked: &TrackedBoxes<D, T>,
        cells: &Cells<D, T>,
        blocks: &[Block<D>],
        hits: &mut PairSink<'_>,
    ) {
        let entries = &self.entries[range];
        let cell = cells.cell(entries[0].cell);
        let mut tests = 0;
        for (at, entry) in entries.iter().enumerate() {
            let (value, block) = (tracked.get(entry.id), &blocks[entry.id as usize]);
            for other in entries[at + 1..].iter().take_while(|other| other.at <= value.max[0]) {
                if block.counts_at(&blocks[other.id as usize], &cell) {
                    tests += 1;
                    if tracked.get(other.id).overlaps(value) {
                        hits.push(Pair::new(entry.id, other.id));
                    }
                }
            }
            if hits.stopped() {
                break;
            }
        }
        hits.count_tests(tests);
    }

    /// The objects of a cell whose lower end on the first axis is at most `limit`.
    pub(super) fn started_before(&self, number: u32, limit: T) -> impl Iterator<Item = u32> + '_ {
        let start = self.entries.partition_point(|entry| entry.cell < number);
        let here = self.entries[start..].iter().take_while(move |entry| entry.cell == number && entry.at <= limit);
        here.map(|entry| entry.id)
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        bytes_of(&self.entries) + bytes_of(&self.starts)
    }
}
