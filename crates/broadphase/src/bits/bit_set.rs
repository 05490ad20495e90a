//! A set of slots, one bit each.

/// A set of slots. It grows with the largest slot and keeps its memory.
#[derive(Clone, Debug, Default)]
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
