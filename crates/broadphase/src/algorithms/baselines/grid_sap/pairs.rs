//! The pairs of each cell: known, or swept anew.

use std::ops::ControlFlow;

use super::{Content, GridSap};
use crate::algorithms::Probes;
use crate::algorithms::common::{Visit, probe_each};
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;
use crate::pairs::PairStore;

/// Cells whose pairs share a chunk.
const CELLS_PER_CHUNK: usize = 16;

impl<const D: usize, T: Real> GridSap<D, T> {
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let occupied = match &mut self.content {
            Content::Lists(lists) => lists.count_with_pairs(),
            Content::Sweeps(sweeps) => sweeps.find_starts()?,
        };
        // At least one chunk, which the tests of the update are booked on.
        let chunks = occupied.div_ceil(CELLS_PER_CHUNK).max(1);
        let kept = out.begin(frame, context, self.tracked.revision(), chunks)? && !self.tracked.is_dirty();
        let clock = context.clock();
        if let Some(cells) = self.cells.as_ref().filter(|_| !kept) {
            let sorting_tests = match &mut self.content {
                Content::Lists(lists) => lists.take_tests(),
                Content::Sweeps(_) => 0,
            };
            let Self { content, tracked, blocks, .. } = &*self;
            context.run_weighted(chunks, SEEK * frame.slots(), |chunk, worker| {
                let range = chunk * CELLS_PER_CHUNK..((chunk + 1) * CELLS_PER_CHUNK).min(occupied);
                out.rewrite(chunk, worker, frame, |hits| {
                    hits.count_tests(if chunk == 0 { sorting_tests } else { 0 });
                    match content {
                        Content::Lists(lists) => range.for_each(|at| lists.hand_out(at, hits)),
                        Content::Sweeps(sweeps) => {
                            range.for_each(|at| sweeps.sweep(sweeps.range(at), tracked, cells, blocks, hits));
                        }
                    }
                });
            });
        }
        context.record("sweep", clock);
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

    /// Visits all that may overlap `area`, each in the cell in which the two count.
    pub(super) fn visit_in(&self, area: &Aabb<D, T>, visit: Visit<'_>) {
        let Some(cells) = &self.cells else { return };
        let block = cells.block(area);
        let mut flow = ControlFlow::Continue(());
        block.for_each(|cell| {
            if flow.is_break() {
                return;
            }
            let number = cells.number(&cell);
            let mut counting = |id: u32| match block.counts_at(&self.blocks[id as usize], &cell) {
                true => visit(id),
                false => ControlFlow::Continue(()),
            };
            flow = match &self.content {
                Content::Lists(lists) => lists.started_before(number, area.max[0]).try_for_each(&mut counting),
                Content::Sweeps(sweeps) => sweeps.started_before(number, area.max[0]).try_for_each(&mut counting),
            };
        });
    }
}
