//! Objects leave cells and enter others; the lists of every cell in which anything changed follow.

use super::cells::{Block, Cells, TARGET};
use super::{GridSap, Scratch};
use crate::algorithms::baselines::axis_lists::{AxisLists, Events};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::memory::{push, refill, reserve};
use crate::objects::{Changes, Frame};

/// How many times as many objects as the cells were made for make new cells worth while.
const GROWTH: usize = 2;
/// What the memory is for.
const CELLS: &str = "the cells of grid-sap";
/// What happened in a cell: an object moved, an object left, an object came.
const MOVED: u8 = 1;
const LEFT: u8 = 2;
const CAME: u8 = 4;

impl<const D: usize, T: Real> GridSap<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        let clock = context.clock();
        if self.is_broken {
            frame.check_lists()?;
            self.ledger.update(&frame.with_changes(Changes::All))?;
        } else {
            self.ledger.update(frame)?;
        }
        let is_new = self.bounds.follow(&self.ledger);
        let result = if self.is_broken || is_new || self.are_cells_outdated() {
            self.place_all(frame.slots())
        } else {
            self.follow(frame.slots())
        };
        self.is_broken = result.is_err();
        context.record("sort", clock);
        result
    }

    /// Are there no cells yet, or far too few for the present number of objects?
    fn are_cells_outdated(&self) -> bool {
        let (then, now) = self.bounds.population();
        self.cells.is_none() || (self.options.cells == 0 && now > GROWTH * then.max(TARGET))
    }

    /// Cuts the present world into cells for the present objects, and makes all lists again.
    fn place_all(&mut self, slots: usize) -> Result<(), Error> {
        let Some(world) = self.bounds.world() else { return Ok(()) };
        let cells = Cells::new(world, &self.ledger, self.options.cells);
        self.bounds.note_population();
        let Self { ledger, lists, blocks, scratch, .. } = self;
        let count = cells.count() as usize;
        lists.truncate(count);
        reserve(lists, count - lists.len(), CELLS)?;
        lists.resize_with(count, AxisLists::default);
        refill(&mut scratch.changes, count, 0, CELLS)?;
        refill(blocks, slots, Block::NOWHERE, CELLS)?;
        scratch.touched.clear();
        scratch.arrivals.clear();
        for id in ledger.ids() {
            blocks[id as usize] = cells.block(ledger.get(id));
            scratch.enter(&cells, id, &blocks[id as usize], &Block::NOWHERE)?;
        }
        scratch.arrivals.sort_unstable();
        let mut from = 0;
        for (cell, lists) in lists.iter_mut().enumerate() {
            from = scratch.collect(cell as u32, from)?;
            lists.start_over(ledger, &scratch.come)?;
        }
        scratch.settle();
        self.cells = Some(cells);
        Ok(())
    }

    /// Follows the changes of the ledger, cell by cell.
    fn follow(&mut self, slots: usize) -> Result<(), Error> {
        let Self { ledger, cells: Some(cells), lists, blocks, scratch, .. } = self else { return Ok(()) };
        if blocks.len() < slots {
            reserve(blocks, slots - blocks.len(), CELLS)?;
            blocks.resize(slots, Block::NOWHERE);
        }
        scratch.arrivals.clear();
        for &id in ledger.gone() {
            let old = std::mem::replace(&mut blocks[id as usize], Block::NOWHERE);
            scratch.touch(cells, &old, LEFT)?;
        }
        for &id in ledger.moved().iter().chain(ledger.come()) {
            let block = cells.block(ledger.get(id));
            let old = std::mem::replace(&mut blocks[id as usize], block);
            if old == Block::NOWHERE || old == block {
                scratch.touch(cells, &block, MOVED)?;
            } else {
                scratch.touch(cells, &old, MOVED | LEFT)?;
            }
            if old != block {
                scratch.enter(cells, id, &block, &old)?;
            }
        }
        scratch.arrivals.sort_unstable();
        scratch.touched.sort_unstable();
        let mut from = 0;
        for at in 0..scratch.touched.len() {
            let number = scratch.touched[at];
            from = scratch.collect(number, from)?;
            let (cell, changes) = (cells.cell(number), scratch.changes[number as usize]);
            let events = Events { come: &scratch.come, left: changes & LEFT != 0, moved: changes & MOVED != 0 };
            lists[number as usize].follow(ledger, events, |id| ledger.holds(id) && blocks[id as usize].contains(&cell))?;
        }
        scratch.settle();
        blocks.truncate(slots);
        Ok(())
    }
}

impl Scratch {
    /// Notes what happened in all cells of a block.
    fn touch<const D: usize, T: Real>(&mut self, cells: &Cells<D, T>, block: &Block<D>, what: u8) -> Result<(), Error> {
        let mut result = Ok(());
        block.for_each(|cell| {
            let number = cells.number(&cell);
            let changes = &mut self.changes[number as usize];
            if *changes == 0 && result.is_ok() {
                result = push(&mut self.touched, number, CELLS);
            }
            *changes |= what;
        });
        result
    }

    /// Notes that an object enters the cells of its block that are not in the `old` one.
    fn enter<const D: usize, T: Real>(
        &mut self,
        cells: &Cells<D, T>,
        id: u32,
        block: &Block<D>,
        old: &Block<D>,
    ) -> Result<(), Error> {
        self.touch(cells, block, CAME)?;
        let mut result = Ok(());
        block.for_each(|cell| {
            if !old.contains(&cell) && result.is_ok() {
                result = push(&mut self.arrivals, (cells.number(&cell), id), CELLS);
            }
        });
        result
    }

    /// Collects the objects that enter a cell; arrivals are sorted, and those of earlier cells are before `from`. Returns where they end.
    fn collect(&mut self, cell: u32, from: usize) -> Result<usize, Error> {
        let here = self.arrivals[from..].iter().take_while(|arrival| arrival.0 == cell).count();
        self.come.clear();
        reserve(&mut self.come, here, CELLS)?;
        self.come.extend(self.arrivals[from..from + here].iter().map(|arrival| arrival.1));
        Ok(from + here)
    }

    /// All lists have followed.
    fn settle(&mut self) {
        let Self { touched, changes, .. } = self;
        touched.drain(..).for_each(|cell| changes[cell as usize] = 0);
    }
}
