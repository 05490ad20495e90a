//! The pairs of each cell are known: those that count in it are handed out.

use std::ops::ControlFlow;

use super::GridSap;
use crate::algorithms::Probes;
use crate::algorithms::common::{Visit, probe_each};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;
use crate::pairs::PairStore;

/// Cells whose pairs share a chunk.
const CELLS_PER_CHUNK: usize = 16;
/// The work of handing out the pairs of one object.
const HAND_OUT: usize = 10;

impl<const D: usize, T: Real> GridSap<D, T> {
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        // At least one chunk, which the tests of the update are booked on.
        let chunks = self.lists.len().div_ceil(CELLS_PER_CHUNK).max(1);
        let kept = out.begin(frame, context, self.ledger.revision(), chunks) && !self.ledger.is_dirty();
        let clock = context.clock();
        if !kept {
            let tests: u64 = self.lists.iter_mut().map(|lists| lists.take_tests()).sum();
            context.run_weighted(chunks, HAND_OUT * frame.slots(), |chunk, worker| {
                let range = chunk * CELLS_PER_CHUNK..((chunk + 1) * CELLS_PER_CHUNK).min(self.lists.len());
                out.rewrite(chunk, worker, frame, |hits| {
                    hits.count_tests(if chunk == 0 { tests } else { 0 });
                    for number in range {
                        let Some(cell) = self.cells.as_ref().map(|cells| cells.cell(number as u32)) else { return };
                        let block = |id: u32| &self.blocks[id as usize];
                        let pairs = self.lists[number].overlaps.pairs().iter();
                        pairs.filter(|pair| block(pair.a).counts_at(block(pair.b), &cell)).for_each(|&pair| hits.push(pair));
                    }
                });
            });
        }
        context.record("report", clock);
        self.ledger.settle(out.finish(chunks)?);
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

    /// Visits all that may overlap `area`, each in the cell in which the two count.
    pub(super) fn visit_in(&self, area: &Aabb<D, T>, visit: Visit<'_>) {
        let Some(cells) = &self.cells else { return };
        let block = cells.block(area);
        let mut flow = ControlFlow::Continue(());
        block.for_each(|cell| {
            for id in self.lists[cells.number(&cell) as usize].started(area.max[0]) {
                if flow.is_continue() && block.counts_at(&self.blocks[id as usize], &cell) {
                    flow = visit(id);
                }
            }
        });
    }
}
