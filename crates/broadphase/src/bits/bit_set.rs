//! A set of slots, one bit each.

use crate::error::Error;
use crate::memory;

/// Is bit `id` set? Missing words count as zero.
#[inline(always)]
pub(crate) fn bit(words: &[u64], id: u32) -> bool {
    words.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
}

/// Sets or clears bit `id`, which must have a word.
#[inline(always)]
pub(crate) fn set_bit(words: &mut [u64], id: u32, value: bool) {
    let (word, bit) = (&mut words[id as usize / 64], 1 << (id % 64));
    *word = if value { *word | bit } else { *word & !bit };
}

/// A set of slots. It grows with the largest slot and keeps its memory.
///
/// Not `fixedbitset`, whose blocks are pointer-sized and private: frames lend live slots as `&[u64]`, kernels read whole words, and snapshots
/// must be the same on every platform.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub(crate) struct BitSet {
    words: Vec<u64>,
}

impl BitSet {
    /// Makes room for `slots` slots; new ones are not in the set.
    pub(crate) fn cover(&mut self, slots: usize) {
        if self.words.len() * 64 < slots {
            self.words.resize(slots.div_ceil(64), 0);
        }
    }

    /// Has words for exactly so many slots; new ones are not in the set.
    pub(crate) fn resize(&mut self, slots: usize) {
        self.words.resize(slots.div_ceil(64), 0);
    }

    /// The same, where memory may run out.
    pub(crate) fn try_resize(&mut self, slots: usize) -> Result<(), Error> {
        memory::resize(&mut self.words, slots.div_ceil(64), 0, "a set of slots")
    }

    /// Makes sure that words for so many slots need no allocation.
    pub(crate) fn reserve(&mut self, slots: usize) -> Result<(), Error> {
        let more = slots.div_ceil(64).saturating_sub(self.words.len());
        memory::reserve(&mut self.words, more, "a set of slots")
    }

    /// Is the slot in the set? Slots behind the last word are not.
    #[inline(always)]
    pub(crate) fn has(&self, id: u32) -> bool {
        bit(&self.words, id)
    }

    /// Adds or removes a slot that has a word.
    #[inline(always)]
    pub(crate) fn set(&mut self, id: u32, value: bool) {
        set_bit(&mut self.words, id, value);
    }

    /// The slots that it has room for.
    pub(crate) fn slots(&self) -> usize {
        self.words.len() * 64
    }

    #[inline(always)]
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.words[id as usize / 64] >> (id % 64) & 1 == 1
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, id: u32) {
        self.words[id as usize / 64] |= 1 << (id % 64);
    }

    #[inline(always)]
    pub(crate) fn remove(&mut self, id: u32) {
        self.words[id as usize / 64] &= !(1 << (id % 64));
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Adds all slots below `slots`.
    pub(crate) fn insert_all(&mut self, slots: usize) {
        self.cover(slots);
        self.words[..slots / 64].fill(!0);
        if !slots.is_multiple_of(64) {
            self.words[slots / 64] |= !(!0 << (slots % 64));
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The words; slot `i` is bit `i % 64` of word `i / 64`.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// Frees the memory that it does not need.
    pub(crate) fn shrink(&mut self) {
        self.words.shrink_to_fit();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.words.capacity() * 8
    }
}

/// Calls `visit` with the number of each set bit of `word`, lowest first, counted from `base`.
#[inline(always)]
pub(crate) fn each_bit(mut word: u64, base: usize, mut visit: impl FnMut(u32)) {
    while word != 0 {
        visit(base as u32 + word.trailing_zeros());
        word &= word - 1;
    }
}
