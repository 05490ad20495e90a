//! The changes since the last frame, found once per update, whatever the caller said about them.
//!
//! A [`ChangeSet`] names the slots that were inserted, removed or moved, or *everything* if distinguishing them does not pay. A structure that keeps
//! no boxes owns a [`ChangeTracker`], which holds the one copy of the last frame's boxes and makes the set in each update: by a sample and within a
//! limit ([`find_changes`](ChangeTracker::find_changes)), or completely, with the kind of each change
//! ([`name_changes`](ChangeTracker::name_changes)). A structure that holds all boxes anyway, as columns, compares them itself and adds to its set.

#[cfg(feature = "papers")]
mod named;
mod tracker;

#[cfg(feature = "papers")]
pub(crate) use tracker::differing;
pub(crate) use tracker::{ChangeTracker, Comparing};

use crate::bits::BitSet;
use crate::error::Error;
use crate::memory;

/// What the memory is for, in errors.
const SLOTS: &str = "the changed slots";

/// The slots that changed since the last frame: a bit set, an ascending list, and counts. Or everything.
#[derive(Clone, Debug)]
pub(crate) struct ChangeSet {
    everything: bool,
    slots: Vec<u32>,
    bits: BitSet,
    inserted: usize,
    removed: usize,
    /// The same slots by kind, if the tracker named them: removed, then moved, then inserted ones, each ascending.
    by_kind: Vec<u32>,
}

impl Default for ChangeSet {
    /// Everything, since nothing is known yet.
    fn default() -> Self {
        Self { everything: true, slots: Vec::new(), bits: BitSet::default(), inserted: 0, removed: 0, by_kind: Vec::new() }
    }
}

impl ChangeSet {
    /// May every slot have changed, and the number of slots? Then the set names none.
    pub(crate) fn is_everything(&self) -> bool {
        self.everything
    }

    /// The changed slots, ascending.
    pub(crate) fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// The number of changed slots.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Did the slot change?
    #[inline(always)]
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.everything || self.bits.has(id)
    }

    /// The numbers of slots that were inserted, removed and moved.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> [usize; 3] {
        [self.inserted, self.removed, self.slots.len() - self.inserted - self.removed]
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        (self.slots.capacity() + self.by_kind.capacity()) * 4 + self.bits.bytes()
    }

    /// Makes the set everything, until it is cleared.
    pub(crate) fn set_everything(&mut self) {
        self.clear(0);
        self.everything = true;
    }

    /// Makes sure that a set of up to `slots` slots needs no allocation.
    pub(crate) fn reserve(&mut self, slots: usize) -> Result<(), Error> {
        self.bits.reserve(slots)?;
        self.reserve_list(slots)
    }

    /// Makes sure that the list can have `len` slots.
    fn reserve_list(&mut self, len: usize) -> Result<(), Error> {
        let more = len.saturating_sub(self.slots.len());
        memory::reserve(&mut self.slots, more, SLOTS)
    }

    /// Makes the set empty, with bits for `slots` slots, for which it may have to allocate.
    fn try_clear(&mut self, slots: usize) -> Result<(), Error> {
        self.set_everything();
        self.bits.try_resize(slots)?;
        self.everything = false;
        Ok(())
    }

    /// Makes the set empty, with bits for `slots` slots. They must be [reserved](ChangeSet::reserve).
    pub(crate) fn clear(&mut self, slots: usize) {
        for id in self.slots.drain(..) {
            self.bits.words_mut()[id as usize / 64] = 0;
        }
        self.bits.resize(slots); // reserved
        self.by_kind.clear();
        (self.everything, self.inserted, self.removed) = (false, 0, 0);
    }

    /// Makes sure that the set has bits for `slots` slots.
    pub(crate) fn cover(&mut self, slots: usize) {
        self.bits.cover(slots);
    }

    /// Puts the list in ascending order, after insertions.
    pub(crate) fn sort(&mut self) {
        self.slots.sort_unstable();
    }

    /// Adds a slot, if it is not in the set and the set is not everything. The slot must have a bit.
    pub(crate) fn insert(&mut self, id: u32, was_live: bool, is_live: bool) {
        if !self.everything && !self.bits.has(id) && (was_live | is_live) {
            self.bits.insert(id);
            self.slots.push(id); // reserved
            self.inserted += usize::from(!was_live);
            self.removed += usize::from(!is_live);
        }
    }

    /// Fills `by_kind`. The kind of a change follows from whether the slot was live and whether it is.
    fn group(&mut self, was_live: impl Fn(u32) -> bool, is_live: impl Fn(u32) -> bool) {
        let (mut removed, mut moved, mut inserted) = (0, self.removed, self.slots.len() - self.inserted);
        self.by_kind.clone_from(&self.slots); // the tracker has reserved the memory
        for &id in &self.slots {
            let next = match (was_live(id), is_live(id)) {
                (true, false) => &mut removed,
                (true, true) => &mut moved,
                _ => &mut inserted,
            };
            self.by_kind[*next] = id;
            *next += 1;
        }
    }

    /// Slots that held an object and no longer do. This list and the next two are filled only by
    /// [`name_changes`](ChangeTracker::name_changes).
    pub(crate) fn removed(&self) -> &[u32] {
        &self.by_kind[..self.removed]
    }

    /// Slots whose object has another box or tag.
    pub(crate) fn moved(&self) -> &[u32] {
        &self.by_kind[self.removed..self.by_kind.len() - self.inserted]
    }

    /// Slots that hold an object and did not before.
    pub(crate) fn inserted(&self) -> &[u32] {
        &self.by_kind[self.by_kind.len() - self.inserted..]
    }
}
