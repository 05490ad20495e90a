//! The sweep, chunk by chunk.

use super::{ROWS_PER_CHUNK, SortAndSweep};
use crate::algorithms::Probes;
use crate::algorithms::common::probe_sorted;
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::sorted_rows;
use crate::objects::Frame;
use crate::pairs::PairStore;

impl<const D: usize, T: Real> SortAndSweep<D, T> {
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let clock = context.clock();
        let len = self.boxes.len();
        let chunks = len.div_ceil(ROWS_PER_CHUNK);
        let kept = out.begin(frame, context, self.revision, chunks)? && !self.changed;
        if !kept {
            context.run_weighted(chunks, SEEK * frame.slots(), |chunk, worker| {
                let rows = chunk * ROWS_PER_CHUNK..((chunk + 1) * ROWS_PER_CHUNK).min(len);
                out.rewrite(chunk, worker, frame, |hits| {
                    sorted_rows::join(context.kernels(), self.boxes.columns(), rows, hits);
                });
            });
        }
        self.revision = out.finish(context, chunks)?;
        self.changed = false;
        context.record("pairing", clock);
        Ok(())
    }

    pub(super) fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        probe_sorted(&self.boxes, &self.probe_buffers, frame, probes, context, out)
    }
}
