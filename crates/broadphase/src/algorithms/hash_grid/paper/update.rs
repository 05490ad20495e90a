//! The update phase: algorithms 2 and 3, or everything removed and inserted again.

use super::super::Strategy;
use super::super::cell_sizes::CellSizes;
use super::grid::Grid;
use super::{ABSENT, Object, PaperHashGrid, UNBOUNDED, WHAT};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::memory;
use crate::objects::unbounded::is_bounded;
use crate::objects::{Changes, Frame};

impl<const D: usize, T: Real> PaperHashGrid<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        frame.check()?;
        let unchanged = frame.changes.lists_nothing();
        self.dirty |= !unchanged || frame.slots() < self.objects.len();
        if !self.active {
            self.live = frame.count();
            if self.live <= self.options.threshold {
                return Ok(());
            }
            // Irrevocable: from here on the grids hold all objects.
            self.active = true;
            self.live = 0;
        }
        let clock = context.clock();
        let stale = std::mem::replace(&mut self.stale, true);
        self.fit_slots(frame.slots())?;
        match frame.changes {
            _ if self.options.strategy == Strategy::Reinsert && (stale || !unchanged) => self.reinsert(frame)?,
            Changes::Listed { moved, inserted, removed } if !stale => {
                for &id in removed.iter().chain(moved).chain(inserted).filter(|&&id| (id as usize) < frame.slots()) {
                    self.update_object(frame, id)?;
                }
            }
            _ => (0..frame.slots() as u32).try_for_each(|id| self.update_object(frame, id))?,
        }
        self.stale = false;
        context.record("update", clock);
        Ok(())
    }

    /// Objects in slots cut off are removed; new slots are empty.
    fn fit_slots(&mut self, slots: usize) -> Result<(), Error> {
        (slots..self.objects.len()).for_each(|id| self.remove(id as u32));
        self.objects.truncate(slots);
        let more = slots - self.objects.len();
        memory::reserve(&mut self.objects, more, WHAT)?;
        while self.objects.len() < slots {
            memory::push(&mut self.objects, Object::NONE, WHAT)?;
        }
        Ok(())
    }

    /// One object of algorithm 2.
    fn update_object(&mut self, frame: &Frame<'_, D, T>, id: u32) -> Result<(), Error> {
        let object = self.objects[id as usize];
        self.counters.updated += 1;
        if !frame.live.contains(id) {
            self.remove(id);
            return Ok(());
        }
        let value = &frame.boxes[id as usize];
        if object.grid == ABSENT {
            return self.assign(frame, id);
        }
        match self.grids.get(object.grid as usize) {
            Some(grid) if grid.suits(value) => {
                if grid.hash(value) == object.cell {
                    return Ok(());
                }
                self.counters.cell_changes += 1;
            }
            // A box that the text's rule does not place: beyond all grids, of a size below all, or rounded to more cells than it has.
            _ => {
                let target = self.find_grid(value)?;
                if target == object.grid && self.grids.get(target as usize).is_none_or(|grid| grid.hash(value) == object.cell) {
                    return Ok(());
                }
                let changes =
                    if target == object.grid { &mut self.counters.cell_changes } else { &mut self.counters.level_changes };
                *changes += 1;
            }
        }
        self.remove(id);
        self.assign(frame, id)
    }

    /// The other strategy: all objects are removed at once, by the list of occupied cells, and inserted again.
    fn reinsert(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        self.grids.iter_mut().for_each(Grid::clear);
        self.unbounded.clear();
        self.objects.fill(Object::NONE);
        self.live = 0;
        for id in frame.ids() {
            self.counters.updated += 1;
            self.assign(frame, id)?;
        }
        Ok(())
    }

    /// Takes an object out, if it is there.
    fn remove(&mut self, id: u32) {
        let object = std::mem::replace(&mut self.objects[id as usize], Object::NONE);
        match object.grid {
            ABSENT => return,
            UNBOUNDED => {
                self.unbounded.remove(id);
            }
            index => self.grids[index as usize].remove(object.cell, object.place, &mut self.objects),
        }
        self.live -= 1;
        self.counters.removals += 1;
    }

    /// Algorithm 3, and the insertion of section 3.4.
    fn assign(&mut self, frame: &Frame<'_, D, T>, id: u32) -> Result<(), Error> {
        let value = &frame.boxes[id as usize];
        let index = self.find_grid(value)?;
        if index == UNBOUNDED {
            self.unbounded.insert(id);
            self.objects[id as usize] = Object { grid: UNBOUNDED, ..Object::NONE };
        } else {
            if self.grids[index as usize].is_full() {
                self.enlarge(frame, index)?;
            }
            let (cell, place) = self.grids[index as usize].insert(id, value)?;
            self.objects[id as usize] = Object { cell, place, grid: index };
        }
        self.live += 1;
        self.counters.insertions += 1;
        Ok(())
    }

    /// The first grid in the list whose cells are larger than the box, created if its size is not there yet.
    fn find_grid(&mut self, value: &Aabb<D, T>) -> Result<u16, Error> {
        if !is_bounded(value) {
            return Ok(UNBOUNDED);
        }
        if self.cell_sizes.is_none() {
            self.cell_sizes = CellSizes::new(value, &self.options);
        }
        let Some((_, cube)) = self.cell_sizes.as_ref().and_then(|cell_sizes| cell_sizes.keys(value)) else {
            return Ok(UNBOUNDED);
        };
        let mut exponent = cube[0];
        loop {
            let Some(index) = self.grid_of(exponent)? else { return Ok(UNBOUNDED) };
            // Far from the origin a box may round to more cells than it has: with larger cells, it does not.
            if self.grids[index as usize].holds(value) {
                return Ok(index);
            }
            exponent += 1;
        }
    }

    /// The grid of a cell size; `None` if its cells would be infinite, or grids too many.
    fn grid_of(&mut self, exponent: i16) -> Result<Option<u16>, Error> {
        let at = self.list.iter().position(|&index| self.grids[index as usize].exponent >= exponent).unwrap_or(self.list.len());
        if let Some(&index) = self.list.get(at).filter(|&&index| self.grids[index as usize].exponent == exponent) {
            return Ok(Some(index));
        }
        let cell: T = self.cell_sizes.as_ref().map_or(T::INFINITY, |cell_sizes| cell_sizes.size(exponent.into()));
        if !cell.is_finite() || self.grids.len() >= super::super::MOST_LEVELS {
            return Ok(None);
        }
        let options = &self.options;
        let bits = std::array::from_fn(|k| options.axis_bits(k));
        let grid = Grid::new([exponent; D], cell, options.factor, bits, options.density, options.capacity)?;
        let index = self.grids.len() as u16;
        memory::reserve(&mut self.list, 1, WHAT)?;
        memory::push(&mut self.grids, grid, WHAT)?;
        self.list.insert(at, index);
        Ok(Some(index))
    }

    /// Doubles the cells of a grid on every axis, and inserts its objects again.
    fn enlarge(&mut self, frame: &Frame<'_, D, T>, index: u16) -> Result<(), Error> {
        let old = &self.grids[index as usize];
        let mut grid = old.doubled(self.options.factor, self.options.density)?;
        for &cell in old.occupied() {
            for &id in old.objects(cell) {
                // An object that is about to be removed may have any box, even none that is valid: any cell will do.
                let (cell, place) = grid.insert(id, &frame.boxes[id as usize])?;
                self.objects[id as usize] = Object { cell, place, grid: index };
            }
        }
        self.counters.growths += 1;
        self.counters.growth_work += grid.count as u64;
        self.grids[index as usize] = grid;
        Ok(())
    }
}
