//! Boxes into columns, remembering which changed.

use super::BruteForce;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::{Changes, Frame};

/// Above this share of changed slots, 1 in `SHARE`, testing everything anew is cheaper: half of all pairs, in blocks, against
/// m rows of all slots.
const SHARE: usize = 8;

impl<const D: usize, T: Real> BruteForce<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, _context: &mut Context) -> Result<(), Error> {
        frame.check()?;
        let slots = frame.slots();
        match frame.changes {
            Changes::Listed { moved, inserted, removed } => {
                self.resize(slots);
                for &id in moved.iter().chain(inserted).chain(removed) {
                    self.set_slot(frame, id);
                    self.changed.push(id);
                }
            }
            Changes::Unknown if frame.may_compare() && self.columns.len() == slots => {
                for id in 0..slots as u32 {
                    let live = frame.live.contains(id);
                    let same = match self.holds(id) {
                        true => live && self.columns.get(id as usize) == frame.boxes[id as usize],
                        false => !live,
                    };
                    if !same {
                        self.set_slot(frame, id);
                        self.changed.push(id);
                    }
                }
            }
            Changes::Unknown | Changes::All => {
                self.columns.resize(slots);
                (0..slots as u32).for_each(|id| self.set_slot(frame, id));
                self.all_changed = true;
            }
        }
        self.sort_changes(slots);
        Ok(())
    }

    /// Slots behind the old end start as padding; slots cut off count as removed.
    fn resize(&mut self, slots: usize) {
        let old = self.columns.len();
        if slots != old {
            self.columns.resize(slots);
            // The chunks' rows are cut by slot: fewer rows may take a chunk away with its pairs.
            self.all_changed |= slots < old;
        }
    }

    fn set_slot(&mut self, frame: &Frame<'_, D, T>, id: u32) {
        if (id as usize) < self.columns.len() {
            if frame.live.contains(id) {
                self.columns.set(id as usize, id, &frame.boxes[id as usize]);
            } else {
                self.columns.vacate(id as usize);
            }
        }
    }

    /// Does the slot hold an object, as of the last update?
    pub(super) fn holds(&self, id: u32) -> bool {
        self.columns.columns().ids()[id as usize] == id
    }

    fn sort_changes(&mut self, slots: usize) {
        self.changed.sort_unstable();
        self.changed.dedup();
        self.changed.retain(|&id| (id as usize) < slots);
        if self.all_changed || self.changed.len() > slots / SHARE {
            self.all_changed = true;
            self.changed.clear();
        }
    }
}
