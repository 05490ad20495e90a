//! The new pairs of one chunk, as filters see them.

use std::fmt;

use crate::pair::Pair;

/// The new pairs of one chunk, from which a filter removes those that it rejects. Nothing can be added.
pub struct Retain<'a> {
    pairs: &'a mut Vec<Pair>,
    from: usize,
}

impl fmt::Debug for Retain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Retain").field(&self.pairs()).finish()
    }
}

impl<'a> Retain<'a> {
    /// Lets filters work on `pairs[from..]`.
    pub(crate) fn new(pairs: &'a mut Vec<Pair>, from: usize) -> Self {
        Self { pairs, from }
    }

    /// The pairs that are left.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs[self.from..]
    }

    /// Replaces each pair by what `convert` returns for it, in order: the same two objects under other ids.
    pub(crate) fn rename(&mut self, convert: impl Fn(Pair) -> Pair) {
        self.pairs[self.from..].iter_mut().for_each(|pair| *pair = convert(*pair));
    }

    /// Keeps the pairs for which `keep` is true, in order.
    #[inline]
    pub fn retain(&mut self, mut keep: impl FnMut(Pair) -> bool) {
        let mut end = self.from;
        for at in self.from..self.pairs.len() {
            let pair = self.pairs[at];
            self.pairs[end] = pair;
            end += usize::from(keep(pair)); // no branch: the result is often unpredictable
        }
        self.pairs.truncate(end);
    }
}
