//! One chunk of the store: rewritten, edited or kept.

use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::kernels::Stop;
use crate::pairs::Pair;

/// The pairs of a chunk, now and in the last frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunk {
    pub(super) pairs: Vec<Pair>,
    /// The last frame's pairs, if differences are reported and the chunk was rewritten; if it was edited, those that it lost.
    pub(super) old: Vec<Pair>,
    /// The pairs that an edit kept, which come first.
    pub(super) kept: usize,
    pub(super) started: Vec<Pair>,
    pub(super) ended: Vec<Pair>,
    /// What [`Chunk::last`] returns for a chunk that was written.
    pub(super) last: u32,
    pub(super) count: u64,
    /// Tests of the last frame.
    pub(super) tests: u64,
    /// Were the current pairs set aside, or edited?
    pub(super) rewritten: bool,
    /// Was anything written in this frame, even if only an empty list? If not, the differences were not computed.
    pub(super) filled: bool,
    pub(super) stop: Option<Stop>,
}

impl Chunk {
    /// Sets the current pairs aside, as the last frame's, and starts with an empty chunk.
    pub(super) fn rewrite(&mut self, delta: bool) {
        if !self.rewritten {
            self.rewritten = true;
            if delta {
                std::mem::swap(&mut self.pairs, &mut self.old);
            }
            self.pairs.clear();
            self.kept = 0;
            self.count = 0;
        }
    }

    /// Restores the last frame's pairs, if differences are reported. Does not allocate: pairs that an edit removed were in the same list.
    pub(super) fn restore(&mut self) {
        if self.kept == 0 {
            std::mem::swap(&mut self.pairs, &mut self.old);
        } else {
            self.pairs.truncate(self.kept);
            self.pairs.append(&mut self.old); // reserved
        }
        self.old.clear();
    }

    /// Moves the pairs that do not stay to the start of `gone`, and returns how many there are. The others keep their order.
    ///
    /// If little changes, several consecutive pairs usually all stay, so they are tested together, and none is written before the first that goes.
    /// Otherwise, whether a pair stays is unpredictable, so it is computed without a branch: each pair is written to both lists, and counted in one.
    pub(super) fn part(&mut self, stays: &impl Stays, gone: &mut Vec<Pair>) -> usize {
        gone.resize(self.pairs.len().max(gone.len()), Pair::default()); // reserved by the caller
        let mut at = TOGETHER * self.pairs.as_chunks().0.iter().take_while(|pairs| stays.all(pairs)).count();
        let (mut kept, mut lost) = (at, 0);
        while at < self.pairs.len() {
            if let Some(&pairs) = self.pairs[at..].first_chunk::<TOGETHER>()
                && stays.all(&pairs)
            {
                self.pairs[kept..kept + TOGETHER].copy_from_slice(&pairs);
                (at, kept) = (at + TOGETHER, kept + TOGETHER);
                continue;
            }
            let end = self.pairs.len().min(at + TOGETHER);
            for at in at..end {
                let pair = self.pairs[at];
                let is_kept = stays.one(pair);
                self.pairs[kept] = pair;
                gone[lost] = pair;
                kept += usize::from(is_kept);
                lost += usize::from(!is_kept);
            }
            at = end;
        }
        self.pairs.truncate(kept);
        self.kept = kept;
        lost
    }

    /// The pairs that ended. If the last frame's pairs were set aside and nothing was written in their place, these are all of them: a structure
    /// may leave out a chunk in which it has no objects, and a chunk that is no longer used is never written.
    pub(super) fn ended(&self) -> &[Pair] {
        if self.filled { &self.ended } else { &self.old }
    }

    /// The greatest first id of the pairs that started or ended; 0 if there are none.
    pub(super) fn last(&self) -> u32 {
        if self.filled { self.last } else { self.old.iter().fold(0, |last, pair| last.max(pair.a)) }
    }

    /// Stores the greatest first id of the pairs that started or ended, after both were found.
    pub(super) fn find_last(&mut self) {
        self.last = self.started.iter().chain(&self.ended).fold(0, |last, pair| last.max(pair.a));
    }
}

/// Pairs that are tested together.
pub(crate) const TOGETHER: usize = 8;

/// Says which pairs of a chunk stay.
pub(crate) trait Stays {
    /// Does this pair?
    fn one(&self, pair: Pair) -> bool;

    /// Do all of these?
    #[inline(always)]
    fn all(&self, pairs: &[Pair; TOGETHER]) -> bool {
        pairs.iter().fold(true, |all, &pair| all & self.one(pair))
    }
}

impl<F: Fn(Pair) -> bool> Stays for F {
    #[inline(always)]
    fn one(&self, pair: Pair) -> bool {
        self(pair)
    }
}

/// The pairs with none of a few objects. Compares ids, several at once, which costs less than to look each up in a set.
pub(crate) struct WithoutAny<'a>(pub(crate) &'a [u32]);

impl Stays for WithoutAny<'_> {
    #[inline(always)]
    fn one(&self, pair: Pair) -> bool {
        !self.0.iter().fold(false, |any, &id| any | (pair.a == id) | (pair.b == id))
    }

    #[inline(always)]
    fn all(&self, pairs: &[Pair; TOGETHER]) -> bool {
        let contain = |id: u32| pairs.iter().fold(false, |any, pair| any | (pair.a == id) | (pair.b == id));
        !self.0.iter().fold(false, |any, &id| any | contain(id))
    }
}

/// Locks a chunk for writing by one worker.
pub(super) fn lock(chunk: &RwLock<Chunk>) -> RwLockWriteGuard<'_, Chunk> {
    chunk.write().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Locks a chunk for reading, which can be nested: a visitor of [`PairStore::for_each_chunk`](crate::PairStore::for_each_chunk) may call
/// [`PairStore::sorted`](crate::PairStore::sorted).
pub(super) fn read(chunk: &RwLock<Chunk>) -> RwLockReadGuard<'_, Chunk> {
    chunk.read().unwrap_or_else(|poisoned| poisoned.into_inner())
}

pub(super) fn open(chunk: &mut RwLock<Chunk>) -> &mut Chunk {
    chunk.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_stay_keep_their_order_wherever_the_others_are() {
        let list = |len: u32| -> Vec<Pair> { (0..len).map(|k| Pair { a: k * 7 % 13, b: 20 + k * 5 % 11 }).collect() };
        for len in 0..60 {
            for ids in [&[][..], &[5], &[100], &[0, 25, 25], &[1, 2, 3, 30]] {
                let stays = |pair: Pair| !ids.contains(&pair.a) && !ids.contains(&pair.b);
                let (kept, lost): (Vec<Pair>, Vec<Pair>) = list(len).into_iter().partition(|&pair| stays(pair));
                let check = |chunk: Chunk, gone: &[Pair], count: usize| {
                    assert!(
                        chunk.pairs == kept && chunk.kept == kept.len() && gone[..count] == lost,
                        "{len} pairs without {ids:?}"
                    );
                };
                let new = || (Chunk { pairs: list(len), ..Chunk::default() }, Vec::new());
                let (mut chunk, mut gone) = new();
                let count = chunk.part(&stays, &mut gone);
                check(chunk, &gone, count);
                let (mut chunk, mut gone) = new();
                let count = chunk.part(&WithoutAny(ids), &mut gone);
                check(chunk, &gone, count);
            }
        }
    }
}
