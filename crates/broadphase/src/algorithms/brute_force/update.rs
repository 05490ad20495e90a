//! The update: copies boxes into columns, and records which changed.

use super::BruteForce;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::PAD;
use crate::objects::{Changes, Frame};

/// Above this share of changed slots, 1 in `SHARE`, testing everything again is cheaper: half of all pairs, in blocks, against
/// m rows of all slots.
const SHARE: usize = 8;

impl<const D: usize, T: Real> BruteForce<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, _context: &mut Context) -> Result<(), Error> {
        frame.check()?;
        let slots = frame.slots();
        self.changes.reserve(slots)?;
        match frame.changes {
            Changes::Listed { moved, inserted, removed } => {
                self.resize(slots)?;
                let listed = moved.iter().chain(inserted).chain(removed).copied();
                listed.filter(|&id| (id as usize) < slots).for_each(|id| self.set_slot(frame, id));
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
                    }
                }
            }
            Changes::Unknown | Changes::All => {
                self.columns.try_resize(slots)?;
                self.changes.set_everything();
                (0..slots as u32).for_each(|id| self.set_slot(frame, id));
            }
        }
        self.changes.sort();
        if self.changes.len() > slots / SHARE {
            self.changes.set_everything();
        }
        Ok(())
    }

    /// Slots behind the old end start as padding; slots cut off count as removed.
    fn resize(&mut self, slots: usize) -> Result<(), Error> {
        let old = self.columns.len();
        if slots + PAD != self.columns.allocated() {
            self.columns.try_resize(slots)?;
            self.changes.cover(slots);
            // The chunks' rows are cut by slot: fewer rows may take a chunk away with its pairs.
            if slots < old {
                self.changes.set_everything();
            }
        }
        Ok(())
    }

    /// Copies a slot from the frame, and marks it as changed.
    fn set_slot(&mut self, frame: &Frame<'_, D, T>, id: u32) {
        let is_live = frame.live.contains(id);
        self.changes.insert(id, self.holds(id), is_live);
        if is_live {
            self.columns.set(id as usize, id, &frame.boxes[id as usize]);
        } else {
            self.columns.vacate(id as usize);
        }
    }

    /// Does the slot hold an object, as of the last update?
    pub(super) fn holds(&self, id: u32) -> bool {
        self.columns.columns().ids()[id as usize] == id
    }
}
