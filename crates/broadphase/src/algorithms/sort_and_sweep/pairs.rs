//! The sweep, chunk by chunk.

use super::{ROWS_PER_CHUNK, SortAndSweep};
use crate::algorithms::Probes;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::{Order, Soa, sorted_rows};
use crate::objects::Frame;
use crate::pairs::{Lineage, PairStore};

/// Probes that share a chunk.
const PROBES_PER_CHUNK: usize = 1024;

impl<const D: usize, T: Real> SortAndSweep<D, T> {
    pub(super) fn find(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let clock = context.clock();
        let len = self.boxes.len();
        let chunks = len.div_ceil(ROWS_PER_CHUNK);
        let kept = out.begin(frame, context, self.lineage, chunks) && !self.changed;
        if !kept {
            context.run(chunks, |chunk, worker| {
                let rows = chunk * ROWS_PER_CHUNK..((chunk + 1) * ROWS_PER_CHUNK).min(len);
                out.rewrite(chunk, worker, frame, |hits| {
                    sorted_rows::join(context.kernels(), self.boxes.columns(), rows, hits);
                });
            });
        }
        self.lineage = out.finish(chunks)?;
        self.changed = false;
        context.record("pairing", clock);
        Ok(())
    }

    /// The probes are sorted too, so that neighbours share the range of positions they are tested against.
    pub(super) fn join_probes(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        let chunks = probes.boxes.len().div_ceil(PROBES_PER_CHUNK);
        let unfiltered = Frame::new(frame.boxes);
        let (view, order) = if probes.ids.is_some() { (frame, Order::Canonical) } else { (&unfiltered, Order::AsGiven) };
        let axis = self.boxes.axes()[0];
        let mut sorted: Vec<u32> = (0..probes.boxes.len() as u32).collect();
        sorted.sort_by_key(|&index| probes.boxes[index as usize].min[axis].order_key());
        out.begin(view, context, Lineage::default(), chunks);
        context.run(chunks, |chunk, worker| {
            let range = chunk * PROBES_PER_CHUNK..((chunk + 1) * PROBES_PER_CHUNK).min(sorted.len());
            let rows = sorted[range].iter().map(|&index| {
                let id = probes.ids.map_or(index, |ids| ids[index as usize]);
                (id, probes.boxes[index as usize])
            });
            let mut scratch = Soa::default();
            out.rewrite(chunk, worker, view, |hits| self.boxes.probe(context.kernels(), rows, &mut scratch, order, hits));
        });
        out.finish(chunks).map(|_| ())
    }
}
