//! Every tile joined on its own.

use std::ops::ControlFlow;
use std::sync::MutexGuard;

use super::plan::tuned::BLOCKS;
use super::plan::{TileJoin, plan_join};
use super::scatter::Block;
use super::{Tiles, lock};
use crate::algorithms::Probes;
use crate::algorithms::common::probe_chunks;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::tile::{self, Record};
use crate::objects::{Changes, Frame};
use crate::pairs::{Pair, PairStore};

impl<const D: usize, T: Real> Tiles<D, T> {
    pub(super) fn find(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        if self.stale {
            self.take_in(frame, context)?;
        }
        let chunks = self.partition.tiles.len();
        self.scratch.prepare(context);
        let kept = out.begin(frame, context, self.revision, chunks) && !self.coherence.all_touched;
        // Frames that list their changes cost what changed, and not a look at every tag.
        let nothing_can_pair = !matches!(frame.changes, Changes::Listed { .. }) && frame.is_barren();
        if nothing_can_pair {
            context.run(chunks, |tile, worker| out.rewrite(tile, worker, frame, |_| ()));
        } else {
            self.join(frame, context, out, kept);
        }
        self.revision = out.finish(chunks)?;
        // Tests that were skipped, or saved by cached neighbors, say nothing about the partition.
        if !kept && !nothing_can_pair && !self.rails.is_used() {
            self.book_tests(out.tests());
        }
        self.coherence.forget_changes();
        Ok(())
    }

    /// Joins every tile, or, where pairs are kept, every touched tile.
    fn join(&mut self, frame: &Frame<'_, D, T>, context: &Context, out: &PairStore, kept: bool) {
        let tiles = self.partition.tiles.len();
        if kept && !self.coherence.flagged {
            self.gather_movers(frame);
        }
        self.jobs.clear();
        self.jobs.extend((0..tiles as u32).filter(|&tile| !kept || self.coherence.touched[tile as usize]));
        let blocks: [Option<MutexGuard<'_, Block>>; BLOCKS] = std::array::from_fn(|index| self.blocks.get(index).map(lock));
        let blocks: [Option<&Block>; BLOCKS] = std::array::from_fn(|index| blocks[index].as_deref());
        let (jobs, changed, kernels) = (&self.jobs[..], &self.coherence.is_changed[..], context.kernels());
        let listed = (kept && !self.coherence.flagged).then_some(&self.movers);
        let runs_of = |tile: usize| -> [&[Record]; BLOCKS] {
            std::array::from_fn(|index| blocks[index].map_or(&[][..], |block| block.records(tile)))
        };
        context.run(jobs.len(), |job, worker| {
            let tile = jobs[job] as usize;
            let runs = runs_of(tile);
            let runs = &runs[..self.blocks.len()];
            // Of many short runs, none is long enough for the processor to see it coming.
            let next = jobs.get(job + 1).filter(|_| runs.len() > 1).map(|&next| runs_of(next as usize));
            let coming = next.as_ref().map_or(&[][..], |next| &next[..runs.len()]);
            let scratch = &mut *self.scratch.get(worker);
            let mut room = std::mem::take(&mut scratch.movers);
            let movers = match listed {
                Some(movers) => movers.of(tile),
                None if kept => tile::list_flagged(runs, &mut room),
                None => &[],
            };
            let records = runs.iter().map(|run| run.len()).sum();
            let place = &self.partition.tiles[tile];
            let plan = plan_join(kept, movers.len(), records, self.rails.axis().is_some());
            if plan == TileJoin::Movers {
                let unchanged = |pair: Pair| !(changed[pair.a as usize] | changed[pair.b as usize]);
                out.edit(tile, worker, frame, unchanged, |hits| {
                    tile::join_movers(kernels, (runs, movers), coming, frame.boxes, |id| changed[id as usize], scratch, hits)
                });
            } else {
                out.rewrite(tile, worker, frame, |hits| {
                    let overlap_here = |pair: Pair| {
                        let [a, b] = [pair.a, pair.b].map(|id| &frame.boxes[id as usize]);
                        a.overlaps(b) && place.holds_start(&self.lattice.corners(a), &self.lattice.corners(b))
                    };
                    let from_cache = plan == TileJoin::Candidates
                        && self.rails.join((tile, place.axis), (kernels, runs), scratch, overlap_here, hits);
                    if !from_cache {
                        tile::join(kernels, runs, coming, frame.boxes, scratch, hits);
                    }
                });
            }
            scratch.movers = room;
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
        let by_trees = !self.stale && self.index.trees_pay();
        probe_chunks(frame, probes, context, out, |range, hits| {
            let (mut buffer, mut ids) = (self.probed.take(), self.index.take_ids());
            for index in range {
                let area = &probes.boxes[index];
                ids.clear();
                let tests = if by_trees {
                    self.visit_trees(frame, area, &mut |id| ids.push(id))
                } else {
                    self.visit_box(frame, context.kernels(), area, &mut buffer, &mut |id| {
                        ids.push(id);
                        ControlFlow::Continue(())
                    })
                };
                hits.count_tests(tests);
                // Trees and records visit the objects in different orders. In order of their slots, the list does not tell which were used.
                ids.sort_unstable();
                ids.iter().for_each(|&id| hits.push(probes.pair(index, id)));
            }
            self.index.give_back(ids);
            self.probed.give(buffer);
        })
    }
}
