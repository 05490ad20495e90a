//! Stale entries out, the rest sorted by insertion, new ones merged.

use super::cells::{Block, Cells, Entry, TARGET};
use super::{GridSap, Scratch};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Frame;

/// How many times as many objects as the cells were made for make new cells worth while.
const GROWTH: usize = 2;

impl<const D: usize, T: Real> GridSap<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        self.tracked.update(frame)?;
        let is_new = self.bounds.follow(&self.tracked);
        let clock = context.clock();
        if is_new || self.are_cells_outdated() {
            self.place_all(frame.slots());
            context.record("sort", clock);
            return Ok(());
        }
        let slots = self.blocks.len().max(frame.slots());
        self.blocks.resize(slots, Block::NOWHERE);
        self.scratch.stale.resize(slots, false);
        let any_stale = self.assign();
        if any_stale {
            let stale = &self.scratch.stale;
            self.entries.retain(|entry| !stale[entry.id as usize]);
            self.scratch.stale.fill(false);
        }
        if !self.tracked.moved().is_empty() {
            self.sort();
        }
        self.merge();
        self.blocks.truncate(frame.slots());
        self.scratch.stale.truncate(frame.slots());
        context.record("sort", clock);
        Ok(())
    }

    /// Are there no cells yet, or far too few for the current number of objects?
    fn are_cells_outdated(&self) -> bool {
        let (then, now) = self.bounds.population();
        self.cells.is_none() || (self.options.cells == 0 && now > GROWTH * then.max(TARGET))
    }

    /// Cuts the current world into cells for the current objects, and makes all entries again.
    fn place_all(&mut self, slots: usize) {
        let Some(world) = self.bounds.world() else { return };
        let cells = Cells::new(world, &self.tracked, self.options.cells);
        self.bounds.note_population();
        self.entries.clear();
        self.blocks.clear();
        self.blocks.resize(slots, Block::NOWHERE);
        self.scratch.stale.clear();
        self.scratch.stale.resize(slots, false);
        self.scratch.fresh.clear();
        for id in self.tracked.ids() {
            let block = cells.block(self.tracked.get(id));
            self.blocks[id as usize] = block;
            let at = self.tracked.get(id).min[0];
            block.for_each(|cell| self.scratch.fresh.push(Entry { cell: cells.number(&cell), id, at }));
        }
        self.cells = Some(cells);
        self.merge();
    }

    /// New blocks for what changed; notes whose entries are stale, and makes the fresh ones. Is any entry stale?
    fn assign(&mut self) -> bool {
        let Self { tracked, cells: Some(cells), blocks, scratch: Scratch { fresh, stale, .. }, .. } = self else { return false };
        let mut any_stale = false;
        for &id in tracked.removed() {
            blocks[id as usize] = Block::NOWHERE;
            stale[id as usize] = true;
            any_stale = true;
        }
        fresh.clear();
        for &id in tracked.moved().iter().chain(tracked.inserted()) {
            let (old, block) = (blocks[id as usize], cells.block(tracked.get(id)));
            if block != old {
                blocks[id as usize] = block;
                if old != Block::NOWHERE {
                    stale[id as usize] = true;
                    any_stale = true;
                }
                let at = tracked.get(id).min[0];
                block.for_each(|cell| fresh.push(Entry { cell: cells.number(&cell), id, at }));
            }
        }
        any_stale
    }

    /// The insertion sort of the entries that stay: no entry leaves its cell.
    fn sort(&mut self) {
        let Self { tracked, entries, .. } = self;
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
    fn merge(&mut self) {
        let Self { entries, scratch: Scratch { fresh, .. }, .. } = self;
        if fresh.is_empty() {
            return;
        }
        fresh.sort_unstable_by(Entry::order);
        let mut old = entries.len();
        let total = old + fresh.len();
        if entries.capacity() < total {
            entries.reserve_exact(fresh.len() + total / 8);
        }
        entries.resize(total, fresh[0]);
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
    }
}
