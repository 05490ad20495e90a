//! The joins: every node with itself and with its ancestors.

use super::{Octree, Scratch};
use crate::algorithms::Probes;
use crate::algorithms::common::{NONE, probe_each, query_each_object};
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::{Order, PairSink, all_pairs};
use crate::objects::Frame;
use crate::pairs::PairStore;

/// Nodes whose pairs share a chunk.
const NODES_PER_CHUNK: usize = 32;

impl<const D: usize, T: Real> Octree<D, T> {
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        if self.options.paper {
            let revision = query_each_object(&self.tracked, frame, context, out, |area, visit| self.visit_in(area, visit))?;
            self.tracked.set_written(revision);
            return Ok(());
        }
        let chunks = self.nodes.len().div_ceil(NODES_PER_CHUNK);
        let kept = out.begin(frame, context, self.tracked.revision(), chunks)? && !self.tracked.is_dirty();
        if !kept {
            let clock = context.clock();
            let Scratch { ids, starts, columns } = &mut self.scratch;
            self.bins.lay_out(ids, starts).inspect_err(|_| out.roll_back())?;
            columns.gather(self.tracked.boxes(), ids);
            context.record("lay out", clock);
            let clock = context.clock();
            context.run_weighted(chunks, SEEK * frame.slots(), |chunk, worker| {
                let nodes = chunk * NODES_PER_CHUNK..((chunk + 1) * NODES_PER_CHUNK).min(self.nodes.len());
                out.rewrite(chunk, worker, frame, |hits| nodes.for_each(|node| self.join(node, context, hits)));
            });
            context.record("join", clock);
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

    fn join(&self, node: usize, context: &Context, hits: &mut PairSink<'_>) {
        let Scratch { starts, columns, .. } = &self.scratch;
        let columns = columns.columns();
        let of = |node: usize| columns.slice(starts[node] as usize, starts[node + 1] as usize);
        let own = of(node);
        if own.len() == 0 {
            return;
        }
        all_pairs::join_self(context.kernels(), own, 0..own.len(), hits);
        let mut above = self.nodes[node].parent;
        while above != NONE {
            let others = of(above as usize);
            if others.len() > 0 {
                all_pairs::join_between(context.kernels(), own, others, Order::Canonical, hits);
            }
            above = self.nodes[above as usize].parent;
        }
    }
}
