//! The joins: every tile on its own, in the way that `plan.rs` decides.

use super::Tiles;
use super::plan::{TileJoin, plan_join};
use super::records::{lock_all, runs_of};
use super::update::JOIN;
use crate::bits::bit;
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::PairSink;
use crate::kernels::tile::{self, TileMovers};
use crate::memory;
use crate::objects::{Changes, Frame};
use crate::pairs::{Pair, PairStore, WithoutAny};

impl<const D: usize, T: Real> Tiles<D, T> {
    /// Finds the pairs of all tiles, or of those that changes touch.
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let start = context.clock();
        if self.stale {
            self.update_records(frame, context)?;
            self.invalidate_readers()?;
        }
        let chunks = self.partition.tiles.len();
        self.scratch.try_prepare(context)?;
        let kept = out.begin(frame, context, self.revision, chunks)? && !self.pending.all_touched;
        // A frame that lists its changes must cost only what changed, so it does not check every tag.
        let nothing_can_pair = !matches!(frame.changes, Changes::Listed { .. }) && frame.nothing_can_pair();
        if nothing_can_pair {
            context.run_weighted(chunks, SEEK * chunks, |tile, worker| out.rewrite(tile, worker, frame, |_| ()));
        } else {
            self.join(frame, context, out, kept).inspect_err(|_| out.roll_back())?;
        }
        self.revision = out.finish(context, chunks)?;
        // The number of tests measures the partition only if no test was skipped or saved by cached candidates.
        if !kept && !nothing_can_pair && !self.axis_motion.is_used() {
            self.record_tests(out.tests());
        }
        self.pending.clear();
        self.movers.clear();
        context.record("join", start);
        Ok(())
    }

    /// Joins every tile, or, where pairs are kept, every touched tile.
    fn join(&mut self, frame: &Frame<'_, D, T>, context: &Context, out: &PairStore, kept: bool) -> Result<(), Error> {
        let tiles = self.partition.tiles.len();
        if kept && !self.pending.flagged {
            self.gather_movers(frame)?;
        }
        self.jobs.clear();
        let is_joined = |tile: &u32| !kept || self.pending.touches(*tile);
        memory::extend(&mut self.jobs, tiles, (0..tiles as u32).filter(is_joined), "tiles")?;
        let blocks = lock_all(&self.blocks);
        let blocks = blocks.each_ref().map(Option::as_deref);
        let (jobs, changed, kernels) = (&self.jobs[..], &self.pending.bits[..], context.kernels());
        let listed = (kept && !self.pending.flagged).then_some(&self.movers);
        let work = if kept { JOIN * self.load.records / tiles * jobs.len() } else { self.frame_work() };
        context.run_weighted(jobs.len(), work, |job, worker| {
            let tile = jobs[job] as usize;
            let place = &self.partition.tiles[tile];
            let runs = runs_of(&blocks, tile);
            let runs = &runs[..self.blocks.len()];
            let next = jobs.get(job + 1).map(|&next| (next as usize, runs_of(&blocks, next as usize)));
            let sorted = |tile: usize| listed.and_then(|_| self.sorted.order(tile));
            let mut coming = &[][..];
            match (&next, listed) {
                (Some((tile, next)), Some(listed)) if sorted(*tile).is_some() => {
                    TileMovers { runs: &next[..runs.len()], movers: listed.of(*tile), order: sorted(*tile) }.prefetch();
                }
                // Many short runs are too short for the hardware prefetcher.
                (Some((_, next)), _) if runs.len() > 1 => coming = &next[..runs.len()],
                _ => (),
            }
            let scratch = &mut *self.scratch.get(worker);
            let mut buffer = std::mem::take(&mut scratch.movers);
            let movers = match listed {
                Some(movers) => movers.of(tile),
                None if kept => match tile::list_flagged(runs, &mut buffer) {
                    Ok(movers) => movers,
                    Err(_) => return out.rewrite(tile, worker, frame, |sink| sink.stop_out_of_memory()),
                },
                None => &[],
            };
            let records = runs.iter().map(|run| run.len()).sum();
            let plan = plan_join(kept, movers.len(), records, self.axis_motion.axis().is_some());
            if plan == TileJoin::Movers {
                let is_changed = |id: u32| bit(changed, id);
                let unchanged = |pair: Pair| !(is_changed(pair.a) | is_changed(pair.b));
                let movers = TileMovers { runs, movers, order: sorted(tile) };
                let join = |sink: &mut PairSink<'_>| {
                    tile::join_movers(kernels, movers, coming, frame.boxes, is_changed, scratch, sink);
                };
                match self.pending.few(tile) {
                    Some(few) => out.edit(tile, worker, frame, WithoutAny(few), join),
                    None => out.edit(tile, worker, frame, unchanged, join),
                }
            } else {
                out.rewrite(tile, worker, frame, |sink| {
                    let overlap_here = |pair: Pair| {
                        let (a, b) = (&frame.boxes[pair.a as usize], &frame.boxes[pair.b as usize]);
                        a.overlaps(b) && place.contains_start(&self.lattice.corners(a), &self.lattice.corners(b))
                    };
                    // In the plane, motion along one axis is not used (`motion_axis`), so this is not compiled.
                    let from_cache = const { D == 3 }
                        && plan == TileJoin::Candidates
                        && self.axis_motion.join((tile, place.axis), (kernels, runs), scratch, overlap_here, sink);
                    if !from_cache {
                        tile::join(kernels, runs, coming, frame.boxes, scratch, sink);
                    }
                });
            }
            scratch.movers = buffer;
        });
        Ok(())
    }

    /// The bytes of the joins' buffers.
    pub(super) fn scratch_bytes(&self) -> usize {
        self.scratch.iter().map(|scratch| scratch.bytes()).sum()
    }
}
