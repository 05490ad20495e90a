//! What changed since the last frame, found once per update, whatever the caller said about it.
//!
//! A structure owns one [`ChangeTracker`], which holds the one copy of the last frame's boxes. Each update asks it for a [`ChangeSet`]: the slots
//! that were inserted, removed or moved; or *everything*, where telling them apart does not pay.

mod tracker;

pub(crate) use tracker::{ChangeTracker, Comparing};

use super::Live;

/// Is bit `id` set? Missing words count as zero.
#[inline(always)]
pub(crate) fn bit(words: &[u64], id: u32) -> bool {
    Live::Bits(words).contains(id)
}

/// Sets or clears bit `id`, which must have a word.
#[inline(always)]
pub(crate) fn set_bit(words: &mut [u64], id: u32, value: bool) {
    let (word, bit) = (&mut words[id as usize / 64], 1 << (id % 64));
    *word = if value { *word | bit } else { *word & !bit };
}

/// The slots that changed since the last frame: a bit set, an ascending list, and counts. Or everything.
#[derive(Clone, Debug)]
pub(crate) struct ChangeSet {
    everything: bool,
    slots: Vec<u32>,
    bits: Vec<u64>,
    inserted: usize,
    removed: usize,
}

impl Default for ChangeSet {
    /// Everything: nothing is known yet.
    fn default() -> Self {
        Self { everything: true, slots: Vec::new(), bits: Vec::new(), inserted: 0, removed: 0 }
    }
}

impl ChangeSet {
    /// May every slot have changed, the number of slots included? Then the set names none.
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
    #[cfg(test)]
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.everything || bit(&self.bits, id)
    }

    /// The numbers of slots that were inserted, removed and moved.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> [usize; 3] {
        [self.inserted, self.removed, self.slots.len() - self.inserted - self.removed]
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * 4 + self.bits.capacity() * 8
    }

    /// Makes it everything.
    fn set_everything(&mut self) {
        self.clear(0);
        self.everything = true;
    }

    /// Makes it empty, for so many slots.
    fn clear(&mut self, slots: usize) {
        for id in self.slots.drain(..) {
            self.bits[id as usize / 64] = 0;
        }
        self.bits.resize(slots.div_ceil(64), 0);
        (self.everything, self.inserted, self.removed) = (false, 0, 0);
    }

    /// Adds a slot, if it is not in the set.
    fn insert(&mut self, id: u32, was_live: bool, is_live: bool) {
        if !bit(&self.bits, id) && (was_live | is_live) {
            set_bit(&mut self.bits, id, true);
            self.slots.push(id);
            self.inserted += usize::from(!was_live);
            self.removed += usize::from(!is_live);
        }
    }
}
