//! The changes since pairs were last found, over one or more updates: the changed objects, and the tiles that they touch.

use crate::bits::{bit, set_bit};
use crate::error::Error;
use crate::memory;

/// What the memory is for, in errors.
const CHANGES: &str = "the changed objects and tiles";

/// The changes that the next `pairs` has to take into account.
#[derive(Clone, Debug)]
pub(super) struct PendingChanges {
    /// The changed slots: as bits, which stay in the cache while both objects of every kept pair are looked up; and as a list.
    pub(super) bits: Vec<u64>,
    pub(super) slots: Vec<u32>,
    /// By tile: does or did a changed object reach it?
    pub(super) touched: Vec<bool>,
    /// Has everything changed?
    pub(super) all_touched: bool,
    /// Do exactly the records of changed objects have a flag?
    pub(super) flagged: bool,
}

impl Default for PendingChanges {
    fn default() -> Self {
        Self { bits: Vec::new(), slots: Vec::new(), touched: Vec::new(), all_touched: true, flagged: false }
    }
}

impl PendingChanges {
    /// Marks everything as changed.
    pub(super) fn set_all(&mut self, slots: usize, tiles: usize) -> Result<(), Error> {
        self.clear();
        self.all_touched = true;
        memory::refill(&mut self.touched, tiles, false, CHANGES)?;
        self.fit(slots, 0)
    }

    /// Makes sure that every slot has a bit, and that `more` slots can be marked.
    pub(super) fn fit(&mut self, slots: usize, more: usize) -> Result<(), Error> {
        memory::reserve(&mut self.slots, more, CHANGES)?;
        memory::resize(&mut self.bits, slots.div_ceil(64), 0, CHANGES)
    }

    /// Marks a slot as changed; [`fit`](PendingChanges::fit) has made room for it. Returns whether it was not marked before.
    pub(super) fn insert(&mut self, id: u32) -> bool {
        let is_new = !bit(&self.bits, id);
        if is_new {
            set_bit(&mut self.bits, id, true);
            self.slots.push(id); // reserved
        }
        is_new
    }

    /// Removes all changes, after pairs were found.
    pub(super) fn clear(&mut self) {
        for id in self.slots.drain(..) {
            set_bit(&mut self.bits, id, false);
        }
        self.touched.fill(false);
        self.all_touched = false;
    }

    /// The touched tiles, or `None` for all.
    pub(super) fn touched_tiles(&self) -> Option<&[bool]> {
        (!self.all_touched).then_some(&self.touched[..])
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.bits.capacity() * 8 + self.slots.capacity() * 4 + self.touched.capacity()
    }
}
