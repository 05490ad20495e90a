//! The update phase: objects that left their cell or outgrew their level are moved (algorithms 2 and 3 of the paper).
//!
//! 1. A pass over the boxes, in parallel, compares each object with its cell and lists those that have to move. It also
//!    validates: a box that is not valid suits no level, so it is on the list, and the list is checked before anything changes.
//! 2. The listed objects are moved one by one, in order.

use std::sync::Mutex;

use super::ladder::Ladder;
use super::level::{Key, Level};
use super::{ABSENT, HashGrid, LEVEL, MISFIT, Strategy, UNBOUNDED};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::unbounded::is_bounded;
use crate::objects::{Changes, Frame};

/// Slots per job of the first pass.
const SLOTS_PER_JOB: usize = 1 << 14;

impl<const D: usize, T: Real> HashGrid<D, T> {
    pub(super) fn take_in(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        if !self.active {
            frame.check()?;
            let live = frame.count();
            self.dirty |= !matches!(frame.changes, Changes::Listed { moved: [], inserted: [], removed: [] });
            if live <= self.options.threshold {
                self.live = live;
                return Ok(());
            }
            // Irrevocable: from here on the grids hold all objects.
            self.active = true;
            self.live = 0;
            self.resize(frame.slots());
            (0..frame.slots() as u32).for_each(|id| self.move_object(frame, id));
            self.dirty = true;
            self.take_census(frame);
            return Ok(());
        }
        match frame.changes {
            Changes::Listed { moved, inserted, removed } => {
                frame.check()?;
                self.dirty |=
                    !(moved.is_empty() && inserted.is_empty() && removed.is_empty()) || frame.slots() < self.level.len();
                self.resize(frame.slots());
                let in_range = |id: &&u32| (**id as usize) < frame.slots();
                for &id in removed.iter().filter(in_range).chain(moved).chain(inserted) {
                    self.move_object(frame, id);
                }
            }
            Changes::Unknown | Changes::All if self.options.strategy == Strategy::Reinsert => {
                frame.check()?;
                self.reinsert(frame, context);
            }
            Changes::Unknown | Changes::All => self.follow(frame, context)?,
        }
        self.take_census(frame);
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
        context.run(jobs, |job, _| {
            let mut pending = self.scratch.pending[job].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            pending.clear();
            let end = ((job + 1) * SLOTS_PER_JOB).min(frame.slots());
            for id in (job * SLOTS_PER_JOB) as u32..end as u32 {
                if !self.is_settled(frame, id) {
                    pending.push(id);
                }
            }
        });
        context.record("compare", clock);
        let clock = context.clock();
        let mut pending = std::mem::take(&mut self.scratch.pending);
        let open = |list: &mut Mutex<Vec<u32>>| std::mem::take(list.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()));
        let mut lists = std::mem::take(&mut self.scratch.lists);
        lists.clear();
        lists.extend(pending[..jobs].iter_mut().map(open));
        let live = |id: &&u32| frame.live.contains(**id);
        let checked = lists.iter().flatten().filter(live).try_for_each(|&id| frame.boxes[id as usize].check(id as usize));
        if checked.is_ok() {
            self.resize(frame.slots());
            lists.iter().flatten().for_each(|&id| self.move_object(frame, id));
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

    /// Is the object where it belongs, valid, and of the size of its level?
    #[inline(always)]
    fn is_settled(&self, frame: &Frame<'_, D, T>, id: u32) -> bool {
        let Some(&entry) = self.level.get(id as usize) else { return false };
        if !frame.live.contains(id) {
            return entry == ABSENT;
        }
        match self.levels.get((entry & LEVEL) as usize) {
            None => false,
            Some(level) => {
                let (cell, suits) = level.locate(&frame.boxes[id as usize]);
                suits & (cell == self.cell[id as usize])
            }
        }
    }

    /// Clears all cells and inserts all objects again.
    fn reinsert(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) {
        let clock = context.clock();
        for level in &mut self.levels {
            level.clear();
        }
        self.unbounded.clear();
        self.live = 0;
        self.misfits = 0;
        self.level.fill(ABSENT);
        self.resize(frame.slots());
        frame.ids().for_each(|id| self.insert(frame, id));
        self.dirty = true;
        context.record("reinsert", clock);
    }

    /// Slots behind the old end start empty; objects in slots cut off are removed.
    fn resize(&mut self, slots: usize) {
        (slots..self.level.len()).for_each(|id| self.remove(id as u32));
        self.level.resize(slots, ABSENT);
        self.cell.resize(slots, 0);
        self.place.resize(slots, super::cells::NONE);
    }

    /// Puts one object where it belongs now: constant time, beside growth.
    pub(super) fn move_object(&mut self, frame: &Frame<'_, D, T>, id: u32) {
        let entry = self.level[id as usize];
        if entry != ABSENT && frame.live.contains(id) {
            let target = self.find_level(&frame.boxes[id as usize]);
            let level = target.map_or(UNBOUNDED, |(index, misfit)| index | if misfit { MISFIT } else { 0 });
            let same = level == entry
                && match target {
                    None => true,
                    Some((index, _)) => self.levels[index as usize].locate(&frame.boxes[id as usize]).0 == self.cell[id as usize],
                };
            if same {
                return;
            }
            self.counters.moves += 1;
        }
        self.remove(id);
        if frame.live.contains(id) {
            self.insert(frame, id);
        }
    }

    /// Takes an object out, if it is there.
    fn remove(&mut self, id: u32) {
        match std::mem::replace(&mut self.level[id as usize], ABSENT) {
            ABSENT => return,
            UNBOUNDED => {
                self.unbounded.remove(id);
            }
            entry => {
                let level = &mut self.levels[(entry & LEVEL) as usize];
                level.cells.remove(self.cell[id as usize], id, &mut self.place);
                level.count -= 1;
                self.misfits -= usize::from(entry & MISFIT != 0);
            }
        }
        self.live -= 1;
        self.counters.removals += 1;
    }

    /// Puts an object in, which is not there.
    fn insert(&mut self, frame: &Frame<'_, D, T>, id: u32) {
        self.live += 1;
        self.counters.insertions += 1;
        let value = &frame.boxes[id as usize];
        let Some((index, misfit)) = self.find_level(value) else {
            self.unbounded.insert(id);
            self.level[id as usize] = UNBOUNDED;
            return;
        };
        if self.levels[index as usize].count >= self.levels[index as usize].next_growth {
            self.grow(frame, index as usize);
        }
        self.cell[id as usize] = self.levels[index as usize].insert(id, value, &mut self.place);
        self.level[id as usize] = index | if misfit { MISFIT } else { 0 };
        self.misfits += usize::from(misfit);
    }

    /// The level of a box, created if there is none yet, and whether a long or flat box has to do with cubes there. `None`: the
    /// box is unbounded, or larger than any cell.
    fn find_level(&mut self, value: &Aabb<D, T>) -> Option<(u16, bool)> {
        if !is_bounded(value) {
            return None;
        }
        if self.ladder.is_none() {
            self.ladder = Ladder::new(value, self.options.factor);
        }
        let (own, cube) = self.ladder.as_ref()?.keys(value)?;
        if own != cube {
            if let Some(index) = self.level_of(&own).filter(|&index| self.levels[index as usize].holds(value)) {
                return Some((index, false));
            }
        }
        let mut key = cube;
        loop {
            let index = self.level_of(&key).or_else(|| self.add_level(key))?;
            // Far from the origin a box may round to more cells than it has: a level up, it does not.
            if self.levels[index as usize].holds(value) {
                return Some((index, own != cube));
            }
            key = Ladder::above(key);
        }
    }

    /// The level with this key, if it exists.
    fn level_of(&self, key: &Key<D>) -> Option<u16> {
        self.keys.binary_search_by(|entry| entry.0.cmp(key)).ok().map(|at| self.keys[at].1)
    }

    /// A new, empty level; `None` if its cells would be too large or levels too many.
    pub(super) fn add_level(&mut self, key: Key<D>) -> Option<u16> {
        let ladder = self.ladder.as_ref()?;
        let cell: [T; D] = key.map(|e| ladder.size(e.into()));
        if self.levels.len() >= super::MOST_LEVELS || cell.iter().any(|c| !c.is_finite()) {
            return None;
        }
        let Err(at) = self.keys.binary_search_by(|entry| entry.0.cmp(&key)) else { return None };
        let index = self.levels.len() as u16;
        let options = &self.options;
        let bits = std::array::from_fn(|k| options.axis_bits(k));
        self.levels.push(Level::new(key, cell, options.factor, bits, options.density, options.capacity));
        self.keys.insert(at, (key, index));
        Some(index)
    }

    /// Doubles a level's grid along the axis that gains most, and puts its objects into their new cells. If no axis gains, the
    /// question is put off until there are half as many objects again. Either way the cost is spread over as many insertions.
    fn grow(&mut self, frame: &Frame<'_, D, T>, index: usize) {
        let (density, capacity) = (self.options.density, self.options.capacity);
        let level = &mut self.levels[index];
        let axis = level.best_axis(frame.boxes);
        self.counters.growth_work += level.count as u64;
        let Some(axis) = axis.filter(|_| level.layout.bits() < super::layout::MAX_BITS) else {
            level.next_growth = level.count + level.count / 2 + 1;
            return;
        };
        let mut ids = std::mem::take(&mut self.scratch.ids);
        ids.clear();
        level.cells.for_each_cell(|cell| level.cells.for_each(cell, |id| ids.push(id)));
        level.double(axis, density, capacity);
        for &id in &ids {
            // An object that is about to be removed may have any box, even none that is valid: any cell will do.
            self.cell[id as usize] = level.insert(id, &frame.boxes[id as usize], &mut self.place);
        }
        self.scratch.ids = ids;
        self.counters.growths += 1;
    }
}
