//! The boxes of the last update, its changes, and whether the pair list is still up to date.

use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::changes::ChangeTracker;
use crate::objects::{Changes, Frame};
use crate::pairs::Revision;

/// What a structure of the papers keeps of each frame: the tracker's boxes by slot and its change set, and the revision of the pair list.
///
/// After [`update`](TrackedBoxes::update), a slot is in at most one of the lists `removed`, `moved` and `inserted`.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrackedBoxes<const D: usize, T: Real> {
    tracker: ChangeTracker<D, T>,
    /// Has anything changed since the pair list was written?
    dirty: bool,
    revision: Revision,
}

impl<const D: usize, T: Real> TrackedBoxes<D, T> {
    /// Compares the frame with the last one, or uses the caller's lists; on error nothing has changed.
    pub(crate) fn update(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        self.tracker.name_changes(frame)?;
        // A frame that cannot be compared may have other tags or another filter, even if it has no object.
        let is_compared = frame.may_compare() || matches!(frame.changes, Changes::Listed { .. });
        self.dirty |= !is_compared || self.tracker.changes().len() > 0;
        Ok(())
    }

    /// Does the slot hold an object?
    #[inline(always)]
    pub(crate) fn is_live(&self, id: u32) -> bool {
        self.tracker.is_live(id)
    }

    /// The boxes by slot. Those of empty slots are meaningless.
    #[inline(always)]
    pub(crate) fn boxes(&self) -> &[Aabb<D, T>] {
        self.tracker.boxes()
    }

    /// The box of an object.
    #[inline(always)]
    pub(crate) fn get(&self, id: u32) -> &Aabb<D, T> {
        &self.tracker.boxes()[id as usize]
    }

    /// The number of slots.
    pub(crate) fn slots(&self) -> usize {
        self.tracker.boxes().len()
    }

    /// The objects, ascending.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        (0..self.slots() as u32).filter(|&id| self.is_live(id))
    }

    /// Slots that held an object and no longer do.
    pub(crate) fn removed(&self) -> &[u32] {
        self.tracker.changes().removed()
    }

    /// Slots that hold an object and did not before.
    pub(crate) fn inserted(&self) -> &[u32] {
        self.tracker.changes().inserted()
    }

    /// Objects with another box or tag.
    pub(crate) fn moved(&self) -> &[u32] {
        self.tracker.changes().moved()
    }

    /// Has anything changed since the pair list was written?
    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// The revision of the pair list that was written last.
    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// Stores the revision of the pair list, after it was written.
    pub(crate) fn set_written(&mut self, revision: Revision) {
        self.revision = revision;
        self.dirty = false;
    }

    /// The first slot at which it differs from the frame, if any.
    pub(crate) fn differs_from(&self, frame: &Frame<'_, D, T>) -> Option<u32> {
        let slots = frame.slots().max(self.slots()) as u32;
        (0..slots).find(|&id| {
            let live = (id as usize) < frame.slots() && frame.live.contains(id);
            live != self.is_live(id) || (live && frame.boxes[id as usize] != *self.get(id))
        })
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.tracker.bytes()
    }
}
