//! Replacing and freeing the content of a store, between two frames.

use super::chunk::open;
use super::{PairStore, Revision};
use crate::context::PerWorker;
use crate::error::Error;
use crate::memory;
use crate::pairs::Pair;
use crate::pairs::gather::Gatherer;

impl PairStore {
    /// Makes these pairs, or only their number, the content of the last frame; the next frame keeps nothing of them. On error the content stays.
    pub(crate) fn hold(&mut self, pairs: &[Pair], count: u64) -> Result<(), Error> {
        memory::cover(&mut self.chunks, 1, "chunks of pairs")?;
        let mut list = std::mem::take(&mut open(&mut self.chunks[0]).old);
        memory::copy(&mut list, pairs, "pairs")?;
        self.clear();
        let chunk = open(&mut self.chunks[0]);
        chunk.old = std::mem::replace(&mut chunk.pairs, list);
        chunk.count = count;
        self.count = count;
        self.active = 1;
        Ok(())
    }

    /// Frees memory that the current pairs do not need. The next frame starts from scratch.
    pub(crate) fn shrink(&mut self) {
        self.revision = Revision(0);
        self.chunks.truncate(self.active);
        self.chunks.shrink_to_fit();
        for chunk in &mut self.chunks {
            let chunk = open(chunk);
            chunk.pairs.shrink_to_fit();
            (chunk.old, chunk.started, chunk.ended) = (Vec::new(), Vec::new(), Vec::new());
        }
        (self.started, self.ended) = (Vec::new(), Vec::new());
        self.scratch = PerWorker::default();
        self.gatherer = Gatherer::default();
    }

    /// Makes the next frame keep no chunk of this one; the pairs stay.
    pub(crate) fn disown(&mut self) {
        self.revision = Revision(0);
    }

    /// Removes all pairs; the next frame starts from nothing, and all its pairs count as started.
    pub fn clear(&mut self) {
        for chunk in &mut self.chunks {
            let chunk = open(chunk);
            chunk.pairs.clear();
            chunk.old.clear();
            chunk.count = 0;
        }
        self.active = 0;
        self.count = 0;
        self.revision = Revision(0);
        self.started.clear();
        self.ended.clear();
    }
}
