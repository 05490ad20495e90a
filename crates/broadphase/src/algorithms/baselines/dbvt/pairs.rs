//! The pairs: candidates are tested, or the tree is joined with itself.

use super::{Dbvt, Mode};
use crate::algorithms::Probes;
use crate::algorithms::common::{NONE, probe_each};
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::PairSink;
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore};

/// Candidates whose pairs share a chunk.
const CANDIDATES_PER_CHUNK: usize = 8192;

impl<const D: usize, T: Real> Dbvt<D, T> {
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let mode = if self.budget.keeps() { self.options.mode } else { Mode::Deferred };
        if mode == Mode::Deferred {
            self.scratch.stacks.prepare(context);
        }
        let parts = match mode {
            Mode::Eager => self.candidates.len().div_ceil(CANDIDATES_PER_CHUNK),
            Mode::Deferred => 1,
        };
        // The last chunk is for what is not in the tree.
        let chunks = parts + 1;
        let kept = out.begin(frame, context, self.tracked.revision(), chunks)? && !self.tracked.is_dirty();
        let clock = context.clock();
        if !kept {
            let leaf_tests = std::mem::take(&mut self.tests);
            context.run_weighted(chunks, SEEK * frame.slots(), |chunk, worker| {
                out.rewrite(chunk, worker, frame, |hits| match mode {
                    _ if chunk == parts => {
                        hits.count_tests(leaf_tests);
                        self.unbounded.join(frame, context, hits);
                    }
                    Mode::Eager => self.test(chunk, hits),
                    Mode::Deferred => self.walk(&mut self.scratch.stacks.get(worker), hits),
                });
            });
        }
        context.record("join", clock);
        self.tracked.set_written(out.finish(context, chunks)?);
        self.budget.learn(out.len(), self.leaves.len());
        Ok(())
    }

    pub(super) fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        probe_each(frame, probes, context, out, |area, visit| self.visit_in(area, visit))
    }

    fn test(&self, chunk: usize, hits: &mut PairSink<'_>) {
        let range = chunk * CANDIDATES_PER_CHUNK..((chunk + 1) * CANDIDATES_PER_CHUNK).min(self.candidates.len());
        let candidates = &self.candidates[range];
        for &pair in candidates {
            if self.tracked.get(pair.a).overlaps(self.tracked.get(pair.b)) {
                hits.push(pair);
            }
        }
        hits.count_tests(candidates.len() as u64);
    }

    /// Joins the tree with itself. One walk, one chunk: cut at nodes, pairs would move from chunk to chunk as the tree changes.
    fn walk(&self, stack: &mut Vec<(u32, u32)>, hits: &mut PairSink<'_>) {
        let mut tests = 0;
        stack.clear();
        if self.tree.root() != NONE && self.tree.node(self.tree.root()).object().is_none() {
            stack.push((self.tree.root(), self.tree.root()));
        }
        while let Some((a, b)) = stack.pop() {
            let (left, right) = (self.tree.node(a), self.tree.node(b));
            if a == b {
                let [low, high] = left.children();
                for child in [low, high] {
                    if self.tree.node(child).object().is_none() {
                        stack.push((child, child));
                    }
                }
                self.meet(low, high, stack, hits, &mut tests);
            } else if left.height() >= right.height() {
                left.children().into_iter().for_each(|child| self.meet(child, b, stack, hits, &mut tests));
            } else {
                right.children().into_iter().for_each(|child| self.meet(a, child, stack, hits, &mut tests));
            }
            if hits.stopped() {
                break;
            }
        }
        hits.count_tests(tests);
    }

    /// Two nodes: nothing, a pair of objects to be tested, or work for later.
    #[inline(always)]
    fn meet(&self, a: u32, b: u32, stack: &mut Vec<(u32, u32)>, hits: &mut PairSink<'_>, tests: &mut u64) {
        let (left, right) = (self.tree.node(a), self.tree.node(b));
        if !left.bounds.overlaps(&right.bounds) {
            return;
        }
        match (left.object(), right.object()) {
            (Some(one), Some(other)) => {
                *tests += 1;
                if self.tracked.get(one).overlaps(self.tracked.get(other)) {
                    hits.push(Pair::new(one, other));
                }
            }
            _ => stack.push((a, b)),
        }
    }
}
