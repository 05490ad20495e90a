//! Objects leave their old cells and enter new ones; in the cells that changed, lists are sorted by insertion.

use super::cell_lists::Crossings;
use super::cells::{Block, Cells, Entry, TARGET};
use super::{Content, GridSap, Scratch};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::memory;
use crate::objects::{Changes, Frame};

/// How many times as many objects as the cells were made for make new cells worth while.
const GROWTH: usize = 2;
/// What the memory is for, in errors.
const BLOCKS: &str = "the cells of the objects";

impl<const D: usize, T: Real> GridSap<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        if self.is_broken {
            frame.check_lists()?;
            self.tracked.update(&frame.with_changes(Changes::All))?;
        } else {
            self.tracked.update(frame)?;
        }
        let clock = context.clock();
        let result = self.follow(frame.slots());
        self.is_broken = result.is_err();
        context.record("sort", clock);
        result
    }

    /// Takes in what changed. On error the content is incomplete.
    fn follow(&mut self, slots: usize) -> Result<(), Error> {
        let is_new = self.bounds.follow(&self.tracked);
        if is_new || self.is_broken || self.are_cells_outdated() {
            return self.place_all(slots);
        }
        // Slots that are gone keep their place until their objects have left the cells.
        let most = self.blocks.len().max(slots);
        memory::resize(&mut self.blocks, most, Block::NOWHERE, BLOCKS)?;
        memory::resize(&mut self.scratch.stale, most, false, BLOCKS)?;
        let any_stale = self.assign()?;
        self.apply(any_stale)?;
        if any_stale {
            self.scratch.stale.fill(false);
        }
        self.blocks.truncate(slots);
        self.scratch.stale.truncate(slots);
        Ok(())
    }

    /// Are there no cells yet, or far too few for the current number of objects?
    fn are_cells_outdated(&self) -> bool {
        let (then, now) = self.bounds.population();
        self.cells.is_none() || (self.options.cells == 0 && now > GROWTH * then.max(TARGET))
    }

    /// Cuts the current world into cells for the current objects, and places all of them anew.
    fn place_all(&mut self, slots: usize) -> Result<(), Error> {
        let Some(world) = self.bounds.world() else { return Ok(()) };
        let cells = Cells::new(world, &self.tracked, self.options.cells);
        self.bounds.note_population();
        match &mut self.content {
            Content::Lists(lists) => lists.start_over(cells.count())?,
            Content::Sweeps(sweeps) => sweeps.start_over(),
        }
        memory::refill(&mut self.blocks, slots, Block::NOWHERE, BLOCKS)?;
        memory::refill(&mut self.scratch.stale, slots, false, BLOCKS)?;
        self.scratch.fresh.clear();
        for id in self.tracked.ids() {
            let block = cells.block(self.tracked.get(id));
            self.blocks[id as usize] = block;
            if let Content::Lists(lists) = &mut self.content {
                lists.touch(&cells, &block);
            }
            insert_into(&mut self.scratch.fresh, &cells, &block, (id, self.tracked.get(id).min[0]))?;
        }
        self.cells = Some(cells);
        self.apply(false)
    }

    /// New blocks for what changed; notes whose objects leave their cells, and where they are inserted. Does any object leave?
    fn assign(&mut self) -> Result<bool, Error> {
        let Self { tracked, cells: Some(cells), blocks, content, scratch: Scratch { fresh, stale }, .. } = self else {
            return Ok(false);
        };
        let mut touch = |block: &Block<D>| match content {
            Content::Lists(lists) => lists.touch(cells, block),
            Content::Sweeps(_) => (),
        };
        let mut any_stale = false;
        for &id in tracked.removed() {
            touch(&blocks[id as usize]);
            blocks[id as usize] = Block::NOWHERE;
            stale[id as usize] = true;
            any_stale = true;
        }
        fresh.clear();
        for &id in tracked.moved().iter().chain(tracked.inserted()) {
            let (old, block) = (blocks[id as usize], cells.block(tracked.get(id)));
            touch(&old);
            if block != old {
                touch(&block);
                blocks[id as usize] = block;
                if old != Block::NOWHERE {
                    stale[id as usize] = true;
                    any_stale = true;
                }
                insert_into(fresh, cells, &block, (id, tracked.get(id).min[0]))?;
            }
        }
        Ok(any_stale)
    }

    /// Removes what is stale, sorts, and inserts what is fresh.
    fn apply(&mut self, any_stale: bool) -> Result<(), Error> {
        let Self { tracked, cells: Some(cells), blocks, content, scratch: Scratch { fresh, stale }, .. } = self else {
            return Ok(());
        };
        match content {
            Content::Lists(lists) => lists.apply(tracked, cells, blocks, Crossings { stale, fresh }),
            Content::Sweeps(sweeps) => {
                if any_stale {
                    sweeps.remove(stale);
                }
                if !tracked.moved().is_empty() {
                    sweeps.sort(tracked);
                }
                sweeps.merge(fresh)
            }
        }
    }
}

/// Lists the insertions of an object into all cells of its block.
fn insert_into<const D: usize, T: Real>(
    fresh: &mut Vec<Entry<T>>,
    cells: &Cells<D, T>,
    block: &Block<D>,
    (id, at): (u32, T),
) -> Result<(), Error> {
    memory::reserve(fresh, block.len(), BLOCKS)?;
    block.for_each(|cell| fresh.push(Entry { cell: cells.number(&cell), id, at })); // reserved
    Ok(())
}
