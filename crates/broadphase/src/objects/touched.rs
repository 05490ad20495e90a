//! The slots that changed since pairs were last found: a set, with a list.

use crate::bits::BitSet;

/// A set of slots, with a list of them.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Touched {
    pub(super) bits: BitSet,
    pub(super) list: Vec<u32>,
    pub(super) all: bool,
}

impl Touched {
    /// Adds a slot, or all of them if there is no memory for a list.
    pub(super) fn insert(&mut self, slot: u32) {
        if self.bits.reserve(slot as usize + 1).is_err() || self.list.try_reserve(1).is_err() {
            self.all = true;
            return;
        }
        self.bits.cover(slot as usize + 1);
        if !self.bits.contains(slot) {
            self.bits.insert(slot);
            self.list.push(slot); // reserved
        }
    }

    pub(super) fn clear(&mut self) {
        self.list.drain(..).for_each(|slot| self.bits.remove(slot));
        self.all = false;
    }

    #[inline(always)]
    pub(crate) fn contains(&self, slot: u32) -> bool {
        self.all || self.bits.has(slot)
    }

    /// Is any slot in the set?
    pub(crate) fn any(&self) -> bool {
        self.all || !self.list.is_empty()
    }

    /// May every slot be in the set?
    pub(crate) fn all(&self) -> bool {
        self.all
    }

    /// Puts the list in ascending order.
    pub(crate) fn sort(&mut self) {
        self.list.sort_unstable();
    }

    /// The slots; incomplete if [`all`](Touched::all).
    pub(crate) fn list(&self) -> &[u32] {
        &self.list
    }
}
