//! Every tile joined on its own.

use super::{Tiles, lock};
use crate::algorithms::Probes;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::tile::{self, Record};
use crate::objects::Frame;
use crate::pairs::{Lineage, Pair, PairStore};

/// Probes that share a chunk.
const PROBES_PER_CHUNK: usize = 256;

impl<const D: usize, T: Real> Tiles<D, T> {
    pub(super) fn find(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        if self.stale {
            self.take_in(frame, context)?;
        }
        let chunks = self.partition.tiles.len();
        self.scratch.prepare(context);
        out.begin(frame, context, self.lineage, chunks);
        self.join_all(frame, context, out);
        self.lineage = out.finish(chunks)?;
        Ok(())
    }

    fn join_all(&self, frame: &Frame<'_, D, T>, context: &Context, out: &PairStore) {
        let blocks: Vec<_> = self.blocks.iter().map(lock).collect();
        let blocks: Vec<_> = blocks.iter().map(|block| &**block).collect();
        context.run(self.partition.tiles.len(), |tile, worker| {
            let mut runs: [&[Record]; 8] = [&[]; 8];
            runs.iter_mut().zip(&blocks).for_each(|(run, block)| *run = block.records(tile));
            let scratch = &mut *self.scratch.get(worker);
            out.rewrite(tile, worker, frame, |hits| {
                tile::join(context.kernels(), &runs[..blocks.len()], frame.boxes, scratch, hits);
            });
        });
    }

    pub(super) fn scratch_bytes(&self) -> usize {
        self.scratch.iter().map(|scratch| scratch.bytes()).sum()
    }

    pub(super) fn join_probes(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        let chunks = probes.boxes.len().div_ceil(PROBES_PER_CHUNK);
        let unfiltered = Frame::new(frame.boxes);
        let view = if probes.ids.is_some() { frame } else { &unfiltered };
        out.begin(view, context, Lineage::default(), chunks);
        context.run(chunks, |chunk, worker| {
            out.rewrite(chunk, worker, view, |hits| {
                for index in chunk * PROBES_PER_CHUNK..((chunk + 1) * PROBES_PER_CHUNK).min(probes.boxes.len()) {
                    let mut tests = 0;
                    self.visit_box(frame, &probes.boxes[index], &mut tests, &mut |id| {
                        hits.push(probes.ids.map_or(Pair { a: index as u32, b: id }, |ids| Pair::new(ids[index], id)));
                        std::ops::ControlFlow::Continue(())
                    });
                    hits.count_tests(tests);
                }
            });
        });
        out.finish(chunks).map(|_| ())
    }
}
