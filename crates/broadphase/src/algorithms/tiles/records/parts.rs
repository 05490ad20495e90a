//! One block rewritten by several workers: its tiles are cut into parts, and each part is a job.
//!
//! Up to [`BLOCK`](crate::algorithms::tiles::plan::tuned::BLOCK) slots there is one block, so blocks alone would leave all but one worker idle. A
//! part is a range of tiles, as the jobs of the join are. A worker gets about the same tiles in both regions, so the join finds the records that it
//! has written in its cache. (When one worker rewrote all records, that took twice as long with two threads as with one: the join had moved half
//! of the records to the other core's cache.)
//!
//! Objects to be relocated are listed by part. The calling thread appends the lists in the order of the tiles and relocates the objects, so the
//! records end up in the same order as with one worker.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::refresh::Part;
use super::{Block, Run};
use crate::algorithms::tiles::lattice::Lattice;
use crate::algorithms::tiles::lock;
use crate::algorithms::tiles::partition::Partition;
use crate::algorithms::tiles::plan::tuned::PARTS;
use crate::context::Context;
use crate::geometry::Real;
use crate::kernels::quantize::{RelocationList, Source};
use crate::kernels::tile::Record;
use crate::memory;
use crate::objects::Frame;

impl Block {
    /// Rewrites all records, as [`refresh`](Block::refresh) does, in parts. `work` is the work of all parts together.
    pub(in crate::algorithms::tiles) fn refresh_in_parts<const D: usize, T: Real>(
        &mut self,
        (context, work): (&Context, usize),
        frame: &Frame<'_, D, T>,
        lattice: &Lattice<D, T>,
        partition: &Partition,
        motion_axis: Option<usize>,
    ) {
        let kernels = context.kernels();
        if self.needs_layout() || !self.sort_arena() {
            return self.refresh(kernels, frame, lattice, partition, &[], motion_axis);
        }
        let removed = self.begin_refresh(frame, lattice, &[]);
        let Self { runs, arena, deltas, list, part_lists, .. } = self;
        let source = Source { boxes: frame.boxes, map: lattice.map() };
        let tiles_per_part = runs.len().div_ceil(PARTS).max(1);
        let mut parts = {
            let mut rest = Part { runs, tiles: &partition.tiles, deltas, arena, start: 0, list };
            part_lists.iter_mut().map(move |list| {
                list.clear(0, 0);
                split_off(&mut rest, tiles_per_part, list)
            })
        };
        let parts: [Mutex<Option<Part<'_>>>; PARTS] = std::array::from_fn(|_| Mutex::new(parts.next()));
        let valid = AtomicBool::new(true);
        context.run_weighted(PARTS, work, |part, _| {
            let part = lock(&parts[part]).take();
            if !part.is_none_or(|part| part.rewrite(kernels, &source, motion_axis)) {
                valid.store(false, Ordering::Relaxed);
            }
        });
        self.valid &= valid.into_inner();
        if self.valid && !self.ran_out_of_memory() {
            self.part_lists.iter().for_each(|list| self.list.merge(list));
        }
        if self.valid && !self.ran_out_of_memory() {
            self.relocate(kernels, (frame, lattice, partition), &[], (removed, motion_axis));
        }
    }

    /// Brings the runs into the order of their tiles, if some have moved to the end. Records keep their order. Returns false if there is no memory
    /// for it.
    fn sort_arena(&mut self) -> bool {
        if self.runs.is_sorted_by_key(|run| run.start) {
            return true;
        }
        let capacity: usize = self.runs.iter().map(|run| (run.end - run.start) as usize).sum();
        let mut arena = Vec::new();
        if memory::refill(&mut arena, capacity, Record::default(), "records").is_err() {
            return false;
        }
        let mut to = 0;
        for run in &mut self.runs {
            let Run { start, next, end, inner, .. } = *run;
            arena[to as usize..(to + next - start) as usize].copy_from_slice(&self.arena[start as usize..next as usize]);
            (run.start, run.next, run.end, run.inner) = (to, to + (next - start), to + (end - start), to + (inner - start));
            to = run.end;
        }
        self.arena = arena;
        true
    }
}

/// Splits the first tiles off, with their runs, which lie in order.
fn split_off<'a>(rest: &mut Part<'a>, tiles: usize, list: &'a mut RelocationList) -> Part<'a> {
    let tiles = tiles.min(rest.runs.len());
    let (runs, other_runs) = std::mem::take(&mut rest.runs).split_at_mut(tiles);
    let (deltas, other_deltas) = std::mem::take(&mut rest.deltas).split_at_mut(tiles);
    let end = runs.last().map_or(rest.start, |run| run.end as usize);
    let (arena, other_arena) = std::mem::take(&mut rest.arena).split_at_mut(end - rest.start);
    let part = Part { runs, tiles: &rest.tiles[..tiles], deltas, arena, start: rest.start, list };
    (rest.runs, rest.deltas, rest.arena, rest.start) = (other_runs, other_deltas, other_arena, end);
    rest.tiles = &rest.tiles[tiles..];
    part
}

#[cfg(test)]
mod tests {
    use crate::algorithms::tiles::{Options, Tiles, open};
    use crate::{Aabb, Context, Executor, Frame, PairStore, step};

    /// Runs every region, the last job first.
    struct Backwards;

    impl Executor for Backwards {
        fn width(&self) -> usize {
            3
        }

        fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
            (0..jobs).rev().for_each(|number| job(number, number % 3));
        }

        fn work_per_worker(&self) -> usize {
            0
        }
    }

    #[test]
    fn parts_write_the_records_in_the_order_of_one_worker_even_if_runs_move() {
        let options = Options { target: 64, ..Options::default() };
        let mut structures = [Tiles::<3, f32>::new(options), Tiles::new(options)];
        let mut contexts = [Context::new(), Context::new().with_executor(Backwards)];
        let (mut moved, mut sorted) = (false, false);
        for frame in 0..120 {
            // Objects swing around their places, each with its own period, and gather in a corner: runs overflow.
            let at = |i: usize, k: usize| {
                let place = (i * [1, 17, 229][k] % [20, 19, 23][k]) as f32;
                let swing = ((frame * (1 + i % 7) + i * 31) as f32 * 0.11 + k as f32).sin();
                place * (1.0 - 0.004 * frame as f32) + 0.7 * swing
            };
            let boxes: Vec<Aabb<3, f32>> = (0..4000)
                .map(|i| {
                    let low = std::array::from_fn(|k| at(i, k));
                    Aabb::new(low, low.map(|x| x + 0.2 + (i % 5) as f32 * 0.2))
                })
                .collect();
            let lists = [0, 1].map(|which| {
                let mut store = PairStore::default();
                step(&mut structures[which], &Frame::new(&boxes), &mut contexts[which], &mut store).unwrap();
                store.to_vec()
            });
            assert!(lists[0] == lists[1], "frame {frame}");
            let [one, parts] = &mut structures;
            let (one, parts) = (open(&mut one.blocks[0]), open(&mut parts.blocks[0]));
            assert_eq!(one.left_behind, parts.left_behind, "frame {frame}: the decision to lay out must be the same");
            let is_sorted = |block: &super::Block| block.runs.is_sorted_by_key(|run| run.start);
            moved |= !is_sorted(one);
            sorted |= !is_sorted(one) && is_sorted(parts);
        }
        assert!(moved && sorted, "runs must have moved ({moved}), and have been brought into order ({sorted})");
    }
}
