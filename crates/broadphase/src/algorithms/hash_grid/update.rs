//! The update phase: objects that left their cell or outgrew their level are moved (algorithms 2 and 3 of the paper).
//!
//! 1. A pass over the boxes, in parallel, compares each object with its cell and lists those that have to move. It also
//!    validates: a box that is not valid suits no level, so it is on the list, and the list is checked before anything changes.
//! 2. The listed objects are moved one by one, in order.

use std::sync::Mutex;

use super::cell_sizes::CellSizes;
use super::cells::NONE;
use super::level::{Key, Level};
use super::{ABSENT, HashGrid, LEVEL, MISFIT, Placement, Strategy, UNBOUNDED};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::{prefer_huge_pages, prefetch};
use crate::objects::unbounded::is_bounded;
use crate::objects::{Changes, Frame};

/// Slots per job of the first pass.
const SLOTS_PER_JOB: usize = 1 << 14;
/// How many changes ahead of its use a cell is prefetched, if there are this many slots.
const AHEAD: usize = 8;
const LARGE: usize = 1 << 18;

/// An object that has to move, and its new cell in the same level; [`NONE`] if the level may change too.
pub(super) type Pending = (u32, u32);

impl<const D: usize, T: Real> HashGrid<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        if !self.active {
            frame.check()?;
            let live = frame.count();
            self.dirty |= !frame.changes.lists_nothing();
            if live <= self.options.threshold {
                self.live = live;
                return Ok(());
            }
            // Irrevocable: from here on the grids hold all objects.
            self.active = true;
            self.live = 0;
            self.resize(frame.slots());
            if self.is_merging_due(live) {
                self.choose_merging(frame, live);
            }
            self.for_each(frame, 0..frame.slots() as u32, Self::move_object);
            self.dirty = true;
            if self.is_shape_count_due() {
                self.add_common_shapes(frame);
            }
            return Ok(());
        }
        let unchanged = frame.changes.lists_nothing();
        match frame.changes {
            _ if self.options.strategy == Strategy::Reinsert && !(unchanged && frame.slots() == self.placements.len()) => {
                frame.check()?;
                self.reinsert(frame, context);
            }
            Changes::Listed { moved, inserted, removed } => {
                let lists = [removed, moved, inserted];
                let waits = self.placements.len() >= self.options.patience;
                if !waits {
                    // Everything else starts from the placement, so the first one is prefetched while the lists are checked.
                    lists.iter().filter_map(|list| list.first()).for_each(|&id| prefetch(&self.placements, id as usize));
                }
                frame.check()?;
                self.dirty |= lists.iter().any(|list| !list.is_empty()) || frame.slots() < self.placements.len();
                self.resize(frame.slots());
                for list in lists {
                    for &id in list {
                        match (id as usize) < frame.slots() {
                            true if waits => self.postpone(frame, id),
                            true => self.move_object(frame, id),
                            false => {} // gone with its slot
                        }
                    }
                }
                if !waits {
                    self.settle(frame);
                }
            }
            Changes::Unknown | Changes::All => self.follow(frame, context)?,
        }
        if self.is_shape_count_due() {
            self.settle(frame);
            self.add_common_shapes(frame);
        }
        if self.is_merging_due(self.live) {
            self.settle(frame);
            self.choose_merging(frame, self.live);
        }
        Ok(())
    }

    /// The individual strategy for a whole frame.
    fn follow(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        frame.check_lists()?;
        let clock = context.clock();
        let jobs = frame.slots().div_ceil(SLOTS_PER_JOB);
        if self.scratch.pending.len() < jobs {
            self.scratch.pending.resize_with(jobs, Mutex::default);
        }
        context.run_weighted(jobs, 5 * frame.slots(), |job, _| {
            let mut pending = self.scratch.pending[job].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            pending.clear();
            let end = ((job + 1) * SLOTS_PER_JOB).min(frame.slots());
            for id in (job * SLOTS_PER_JOB) as u32..end as u32 {
                if let Some(cell) = self.unsettled(frame, id) {
                    pending.push((id, cell));
                }
            }
        });
        context.record("compare", clock);
        let clock = context.clock();
        let mut pending = std::mem::take(&mut self.scratch.pending);
        let open =
            |list: &mut Mutex<Vec<Pending>>| std::mem::take(list.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()));
        let mut lists = std::mem::take(&mut self.scratch.lists);
        lists.clear();
        lists.extend(pending[..jobs].iter_mut().map(open));
        let doubtful = |entry: &&Pending| entry.1 == NONE && frame.live.contains(entry.0);
        let mut unclear = lists.iter().flatten().filter(doubtful);
        let checked = unclear.try_for_each(|entry| frame.boxes[entry.0 as usize].check(entry.0 as usize));
        if checked.is_ok() {
            self.resize(frame.slots());
            lists.iter().for_each(|list| self.move_listed(frame, list));
            self.queue.clear(); // the comparison has found them
            self.dirty = true;
        }
        for (slot, list) in pending.iter_mut().zip(lists.drain(..)) {
            *slot.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()) = list;
        }
        self.scratch.pending = pending;
        self.scratch.lists = lists;
        context.record("move", clock);
        checked
    }

    /// `None` if the object is where it belongs, valid, and of the size of its level. Else its new cell in the same level, or
    /// [`NONE`] if that is not all.
    #[inline(always)]
    fn unsettled(&self, frame: &Frame<'_, D, T>, id: u32) -> Option<u32> {
        let Some(&Placement { cell: old, level: entry, .. }) = self.placements.get(id as usize) else { return Some(NONE) };
        if !frame.live.contains(id) {
            return (entry != ABSENT).then_some(NONE);
        }
        let Some(level) = self.levels.get((entry & LEVEL) as usize) else { return Some(NONE) };
        let value = &frame.boxes[id as usize];
        let (cell, suits) = level.locate(value);
        match suits & (entry & MISFIT == 0) {
            true => ((cell != old) | !level.covers(value)).then_some(cell),
            false => Some(NONE),
        }
    }

    /// Moves objects, and prefetches the memory of later ones in the meantime.
    fn move_listed(&mut self, frame: &Frame<'_, D, T>, list: &[Pending]) {
        let growths = self.counters.growths;
        for (index, &(id, cell)) in list.iter().enumerate() {
            if let Some(&(later, target)) = list.get(index + AHEAD) {
                let placement = self.placements[later as usize];
                if let Some(level) = self.levels.get((placement.level & LEVEL) as usize) {
                    level.cells.prefetch(placement.cell);
                    level.cells.prefetch_place(placement.place);
                    if target != NONE && self.counters.growths == growths {
                        level.cells.prefetch(target);
                    }
                }
            }
            if let Some(&(later, target)) = list.get(index + AHEAD / 2)
                && target != NONE
                && self.counters.growths == growths
                && let Some(level) = self.levels.get((self.placements[later as usize].level & LEVEL) as usize)
            {
                level.cells.prefetch_container(target);
            }
            if cell == NONE || self.counters.growths != growths {
                self.move_object(frame, id);
                continue;
            }
            self.change_cell(frame, id, cell);
        }
    }

    /// Changes objects one by one. The memory of later ones is prefetched in three steps, each of which reads what the one
    /// before has prefetched: box and placement, then the cells and the old container, then the new one. In a large grid nearly all time is
    /// cache misses; a small one is in the cache, and prefetches cost more than they save.
    fn for_each(
        &mut self,
        frame: &Frame<'_, D, T>,
        ids: impl Iterator<Item = u32> + Clone,
        mut change: impl FnMut(&mut Self, &Frame<'_, D, T>, u32),
    ) {
        if self.placements.len() < LARGE {
            return ids.for_each(|id| change(self, frame, id));
        }
        let [mut first, mut second, mut third] = [ids.clone(), ids.clone(), ids.clone()];
        let request = |id: u32, grid: &Self| {
            prefetch(frame.boxes, id as usize);
            prefetch(&grid.placements, id as usize);
        };
        let cells = |id: u32, grid: &Self| _ = grid.request_cells(frame, id);
        let containers = |id: u32, grid: &Self| grid.request_container(id, grid.likely_cell(frame, id));
        first.by_ref().take(2 * AHEAD).for_each(|id| request(id, self));
        second.by_ref().take(AHEAD).for_each(|id| cells(id, self));
        third.by_ref().take(AHEAD / 2).for_each(|id| containers(id, self));
        for id in ids {
            first.next().into_iter().for_each(|id| request(id, self));
            second.next().into_iter().for_each(|id| cells(id, self));
            third.next().into_iter().for_each(|id| containers(id, self));
            change(self, frame, id);
        }
    }

    /// Prefetches the cell and the container that an object is in, and the cell that it will probably be in, which is returned.
    #[inline(always)]
    pub(super) fn request_cells(&self, frame: &Frame<'_, D, T>, id: u32) -> u32 {
        let placement = self.placements[id as usize];
        let Some(level) = self.likely_level(placement) else { return NONE };
        if placement.level != ABSENT {
            level.cells.prefetch(placement.cell);
            level.cells.prefetch_place(placement.place);
        }
        let cell = self.likely_cell(frame, id);
        level.cells.prefetch(cell);
        cell
    }

    /// Prefetches the container that an object will probably be in; `cell` is its cell, or was when it was prefetched.
    #[inline(always)]
    pub(super) fn request_container(&self, id: u32, cell: u32) {
        if let Some(level) = self.likely_level(self.placements[id as usize]) {
            level.cells.prefetch_container(cell);
        }
    }

    /// The cell of an object in its likely level; [`NONE`] if it is not live.
    #[inline(always)]
    fn likely_cell(&self, frame: &Frame<'_, D, T>, id: u32) -> u32 {
        let level = self.likely_level(self.placements[id as usize]).filter(|_| frame.live.contains(id));
        level.map_or(NONE, |level| level.locate(&frame.boxes[id as usize]).0)
    }

    /// The level that an object is in, or that of the last insertion.
    #[inline(always)]
    fn likely_level(&self, placement: Placement) -> Option<&Level<D, T>> {
        let entry = if placement.level == ABSENT { self.recent } else { placement.level };
        self.levels.get((entry & LEVEL) as usize)
    }

    /// Clears all cells and inserts all objects again.
    fn reinsert(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) {
        let clock = context.clock();
        for level in &mut self.levels {
            level.clear();
        }
        self.unbounded.clear();
        self.queue.clear();
        self.live = 0;
        self.misfits = 0;
        let cut = frame.slots().min(self.placements.len());
        self.placements.truncate(cut); // what was there is gone already
        self.resize(frame.slots());
        self.for_each(frame, 0..frame.slots() as u32, |grid, frame, id| {
            // The old level is the first guess.
            let before = std::mem::replace(&mut grid.placements[id as usize].level, ABSENT);
            let cell = grid.placements[id as usize].cell;
            if frame.live.contains(id) {
                grid.insert(frame, id, before);
                let placement = grid.placements[id as usize];
                grid.counters.returns += u64::from(placement.level == before && placement.cell == cell);
            }
        });
        self.dirty = true;
        context.record("reinsert", clock);
    }

    /// Changes the number of slots: new slots are empty, and objects in slots beyond the end are removed.
    #[inline(always)]
    fn resize(&mut self, slots: usize) {
        if slots != self.placements.len() {
            self.resize_to(slots);
        }
    }

    fn resize_to(&mut self, slots: usize) {
        (slots..self.placements.len()).for_each(|id| self.remove(id as u32));
        self.queue.cut(slots);
        if slots > self.placements.capacity() {
            self.placements.reserve(slots - self.placements.len());
            prefer_huge_pages(&self.placements, self.placements.capacity());
        }
        self.placements.resize(slots, Placement::EMPTY);
    }

    /// Puts one object where it belongs now: constant time, beside growth.
    pub(super) fn move_object(&mut self, frame: &Frame<'_, D, T>, id: u32) {
        if !frame.live.contains(id) {
            return self.remove(id);
        }
        let value = &frame.boxes[id as usize];
        // Most objects are in the level of the last insertion. Trying it first does not depend on the placement.
        let recent = self.recent;
        let guess = self.locate(recent, value);
        let Placement { cell: old, level: entry, .. } = self.placements[id as usize];
        if entry == ABSENT {
            return if guess.1 { self.insert_at(frame, id, guess.0) } else { self.insert(frame, id, ABSENT) };
        }
        let (cell, suits) = if entry == recent { guess } else { self.locate(entry, value) };
        if !suits || entry & MISFIT != 0 {
            return self.change_level(frame, id);
        }
        // Space wraps around: an object that has moved by a whole period is in its old cell, but elsewhere.
        if cell != old || !self.levels[entry as usize].covers(value) {
            self.counters.insertions += 1;
            self.counters.removals += 1;
            self.recent = entry;
            self.change_cell(frame, id, cell);
        }
    }

    /// The cell of a box in the level of an entry, and whether it suits; the cell is prefetched.
    #[inline(always)]
    fn locate(&self, entry: u16, value: &Aabb<D, T>) -> (u32, bool) {
        let Some(level) = self.levels.get((entry & LEVEL) as usize) else { return (NONE, false) };
        let (cell, suits) = level.locate(value);
        level.cells.prefetch(cell);
        (cell, suits)
    }

    /// Moves an object within its level.
    #[inline(always)]
    fn change_cell(&mut self, frame: &Frame<'_, D, T>, id: u32, cell: u32) {
        let placement = self.placements[id as usize];
        let level = &mut self.levels[placement.level as usize];
        level.cells.prefetch_container(cell);
        level.cells.remove(placement.cell, id, &mut self.placements);
        level.count -= 1;
        level.insert_at(cell, id, &frame.boxes[id as usize], &mut self.placements);
        self.counters.moves += 1;
    }

    /// Moves an object that may belong to another level, or to none.
    fn change_level(&mut self, frame: &Frame<'_, D, T>, id: u32) {
        let Placement { cell: old, level: entry, .. } = self.placements[id as usize];
        let value = &frame.boxes[id as usize];
        let target = self.find_level(value, entry);
        let level = self.levels.get((target & LEVEL) as usize);
        if target == entry && level.is_none_or(|level| level.locate(value).0 == old && level.covers(value)) {
            return;
        }
        self.counters.moves += 1;
        self.counters.level_changes += u64::from(target & LEVEL != entry & LEVEL);
        self.remove(id);
        self.insert(frame, id, entry);
    }

    /// Takes an object out, if it is there.
    fn remove(&mut self, id: u32) {
        match std::mem::replace(&mut self.placements[id as usize].level, ABSENT) {
            ABSENT => return,
            UNBOUNDED => {
                self.unbounded.remove(id);
            }
            entry => {
                let level = &mut self.levels[(entry & LEVEL) as usize];
                level.cells.remove(self.placements[id as usize].cell, id, &mut self.placements);
                level.count -= 1;
                self.misfits -= usize::from(entry & MISFIT != 0);
            }
        }
        self.live -= 1;
        self.counters.removals += 1;
    }

    /// Puts an object in, which is not there, where its cell in the level of the last insertion is known.
    fn insert_at(&mut self, frame: &Frame<'_, D, T>, id: u32, cell: u32) {
        let entry = self.recent & LEVEL;
        let level = &mut self.levels[entry as usize];
        if level.count >= level.next_growth {
            return self.insert(frame, id, entry);
        }
        self.live += 1;
        self.counters.insertions += 1;
        self.recent = entry;
        self.placements[id as usize].level = entry;
        level.insert_at(cell, id, &frame.boxes[id as usize], &mut self.placements);
    }

    /// Puts an object in, which is not there; `hint` is an entry whose level it may have.
    fn insert(&mut self, frame: &Frame<'_, D, T>, id: u32, hint: u16) {
        self.live += 1;
        self.counters.insertions += 1;
        let value = &frame.boxes[id as usize];
        let entry = self.find_level(value, if hint == ABSENT { self.recent } else { hint });
        self.placements[id as usize].level = entry;
        if entry == UNBOUNDED {
            return self.unbounded.insert(id);
        }
        self.recent = entry;
        let index = (entry & LEVEL) as usize;
        if self.levels[index].count >= self.levels[index].next_growth {
            self.grow(frame, index);
        }
        self.levels[index].insert(id, value, &mut self.placements);
        self.misfits += usize::from(entry & MISFIT != 0);
    }

    /// The entry of a box: its level, created if there is none yet, with a note if a long or flat box has to do with cubes there;
    /// or that it is unbounded, or larger than any cell. The level of `hint` is taken if it suits.
    fn find_level(&mut self, value: &Aabb<D, T>, hint: u16) -> u16 {
        let hint = hint & LEVEL;
        if self.levels.get(hint as usize).is_some_and(|level| level.locate(value).1) {
            return hint;
        }
        if !is_bounded(value) {
            return UNBOUNDED;
        }
        if self.cell_sizes.is_none() {
            self.cell_sizes = CellSizes::new(value, &self.options);
        }
        let Some((own, cube)) = self.cell_sizes.as_ref().and_then(|cell_sizes| cell_sizes.keys(value)) else { return UNBOUNDED };
        let (own, cube) = match self.merged_up_to {
            Some(up_to) if cube[0] <= up_to => ([up_to; D], [up_to; D]),
            _ => (own, cube),
        };
        let shaped = if own == cube { None } else { self.level_of(&own) };
        if let Some(index) = shaped.filter(|&index| self.levels[index as usize].holds(value)) {
            return index;
        }
        let mut key = cube;
        loop {
            let Some(index) = self.level_of(&key).or_else(|| self.add_level(key)) else { return UNBOUNDED };
            // Far from the origin a box may round to more cells than it has: a level up, it does not.
            if self.levels[index as usize].holds(value) {
                return index | if own != cube { MISFIT } else { 0 };
            }
            key = CellSizes::above(key);
        }
    }

    /// The level with this key, if it exists.
    fn level_of(&self, key: &Key<D>) -> Option<u16> {
        self.keys.binary_search_by(|entry| entry.0.cmp(key)).ok().map(|at| self.keys[at].1)
    }

    /// A new, empty level; `None` if its cells would be too large or levels too many.
    pub(super) fn add_level(&mut self, key: Key<D>) -> Option<u16> {
        let cell_sizes = self.cell_sizes.as_ref()?;
        let cell: [T; D] = key.map(|e| cell_sizes.size(e.into()));
        if self.levels.len() >= super::MOST_LEVELS || cell.iter().any(|c| !c.is_finite()) {
            return None;
        }
        let Err(at) = self.keys.binary_search_by(|entry| entry.0.cmp(&key)) else { return None };
        let index = self.levels.len() as u16;
        let options = &self.options;
        let bits = std::array::from_fn(|k| options.axis_bits(k));
        let mut level = Level::new(key, cell, bits, options.density, options.capacity);
        level.set_merged(self.merged_up_to, options.factor);
        self.levels.push(level);
        self.keys.insert(at, (key, index));
        Some(index)
    }

    /// Doubles a level's grid along the axis that gains most, and puts its objects into their new cells. If no axis gains, the
    /// decision is postponed until there are half as many objects again. Either way the cost is spread over as many insertions.
    fn grow(&mut self, frame: &Frame<'_, D, T>, index: usize) {
        let (density, capacity) = (self.options.density, self.options.capacity);
        let level = &mut self.levels[index];
        let mut ids = Vec::with_capacity(level.count); // not kept: growth is rare, and memory is not
        level.cells.for_each_cell(|cell| level.cells.for_each(cell, |id| ids.push(id)));
        let axis = level.best_axis(&ids, &self.placements, frame.boxes);
        self.counters.growth_work += level.count as u64;
        let Some(axis) = axis.filter(|_| level.layout.bits() < super::layout::MAX_BITS) else {
            level.next_growth = level.count + level.count / 2 + 1;
            return;
        };
        level.double(axis, density, capacity);
        for (at, &id) in ids.iter().enumerate() {
            if let Some(&later) = ids.get(at + AHEAD) {
                prefetch(frame.boxes, later as usize);
                prefetch(&self.placements, later as usize);
            }
            // An object that is about to be removed may have any box, even an invalid one: any cell will do.
            level.insert(id, &frame.boxes[id as usize], &mut self.placements);
        }
        self.counters.growths += 1;
    }
}
