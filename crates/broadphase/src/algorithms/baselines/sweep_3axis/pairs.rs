//! The pairs are known: they are handed out. Probes walk along the first axis.

use super::Sweep3Axis;
use crate::algorithms::Probes;
use crate::algorithms::common::{Visit, probe_each};
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;
use crate::pairs::PairStore;

/// Pairs that share a chunk.
const PAIRS_PER_CHUNK: usize = 8192;

impl<const D: usize, T: Real> Sweep3Axis<D, T> {
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        // At least one chunk, which the tests of the update are booked on.
        let chunks = self.lists.pairs().len().div_ceil(PAIRS_PER_CHUNK).max(1);
        let kept = out.begin(frame, context, self.tracked.revision(), chunks)? && !self.tracked.is_dirty();
        if !kept {
            let tests = self.sorter.take_tests();
            context.run_weighted(chunks, SEEK * frame.slots(), |chunk, worker| {
                let range = chunk * PAIRS_PER_CHUNK..((chunk + 1) * PAIRS_PER_CHUNK).min(self.lists.pairs().len());
                out.rewrite(chunk, worker, frame, |hits| {
                    hits.count_tests(if chunk == 0 { tests } else { 0 });
                    self.lists.pairs()[range].iter().for_each(|&pair| hits.push(pair));
                });
            });
        }
        self.tracked.set_written(out.finish(context, chunks)?);
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

    /// Visits all that start on the first axis before `area` ends: half of the objects, on average.
    pub(super) fn visit_in(&self, area: &Aabb<D, T>, visit: Visit<'_>) {
        let _broken = self.lists.started_before(area.max[0]).try_for_each(visit);
    }
}
