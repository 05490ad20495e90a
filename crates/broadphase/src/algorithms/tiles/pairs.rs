//! Every tile joined on its own.

use std::ops::ControlFlow;
use std::sync::MutexGuard;

use super::changes::bit;
use super::scatter::Block;
use super::update::BLOCKS;
use super::{Tiles, lock};
use crate::algorithms::Probes;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::tile::{self, Changed, Record};
use crate::objects::{Changes, Frame};
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
        let kept = out.begin(frame, context, self.lineage, chunks) && !self.coherence.all_touched;
        self.join(frame, context, out, kept);
        self.lineage = out.finish(chunks)?;
        if !kept {
            self.book_tests(out.tests());
        }
        self.coherence.forget_changes();
        Ok(())
    }

    /// Joins every tile, or, where pairs are kept, every touched tile.
    fn join(&mut self, frame: &Frame<'_, D, T>, context: &Context, out: &PairStore, kept: bool) {
        let tiles = self.partition.tiles.len();
        self.jobs.clear();
        self.jobs.extend((0..tiles as u32).filter(|&tile| !kept || self.coherence.touched[tile as usize]));
        let blocks: [Option<MutexGuard<'_, Block>>; BLOCKS] = std::array::from_fn(|index| self.blocks.get(index).map(lock));
        let blocks: [Option<&Block>; BLOCKS] = std::array::from_fn(|index| blocks[index].as_deref());
        let (jobs, changed, kernels) = (&self.jobs[..], &self.coherence.bits[..], context.kernels());
        // Frames that list their changes cost what changed, and not a look at every tag.
        let barren = !matches!(frame.changes, Changes::Listed { .. }) && frame.is_barren();
        let known = if self.coherence.flagged { Changed::Flags } else { Changed::Bits(changed) };
        context.run(jobs.len(), |job, worker| {
            let tile = jobs[job] as usize;
            if barren {
                return out.rewrite(tile, worker, frame, |_| ());
            }
            let runs: [&[Record]; BLOCKS] =
                std::array::from_fn(|index| blocks[index].map_or(&[][..], |block| block.records(tile)));
            let runs = &runs[..self.blocks.len()];
            let scratch = &mut *self.scratch.get(worker);
            let count = if kept { known.count(runs) } else { usize::MAX };
            if count.saturating_mul(KEEP) <= runs.iter().map(|run| run.len()).sum() {
                let unchanged = |pair: Pair| !(bit(changed, pair.a) | bit(changed, pair.b));
                out.edit(tile, worker, frame, unchanged, |hits| {
                    tile::join_changed(kernels, runs, frame.boxes, known, count, scratch, hits)
                });
            } else {
                out.rewrite(tile, worker, frame, |hits| tile::join(kernels, runs, frame.boxes, scratch, hits));
            }
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
        let unfiltered = Frame { live: frame.live, ..Frame::new(frame.boxes) };
        let view = if probes.ids.is_some() { frame } else { &unfiltered };
        out.begin(view, context, Lineage::default(), chunks);
        context.run(chunks, |chunk, worker| {
            let mut found = Vec::new();
            out.rewrite(chunk, worker, view, |hits| {
                for index in chunk * PROBES_PER_CHUNK..((chunk + 1) * PROBES_PER_CHUNK).min(probes.boxes.len()) {
                    let tests = self.visit_box(frame, context.kernels(), &probes.boxes[index], &mut found, &mut |id| {
                        hits.push(probes.ids.map_or(Pair { a: index as u32, b: id }, |ids| Pair::new(ids[index], id)));
                        ControlFlow::Continue(())
                    });
                    hits.count_tests(tests);
                }
            });
        });
        out.finish(chunks).map(|_| ())
    }
}

/// Up to one changed object in this many, the pairs of the others are kept.
const KEEP: usize = 4;
