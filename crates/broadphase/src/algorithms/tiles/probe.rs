//! Probes: boxes of another set that are paired with the objects.
//!
//! A few are looked up one by one, in the records of the tiles that they reach or in the trees for queries. Many are joined: they get records
//! in the tiles, as objects have, and each tile joins the two sets (`kernels/tile/between.rs`).

use std::ops::ControlFlow;
use std::sync::Mutex;

use super::plan::tuned::{BLOCK, BLOCKS};
use super::plan::{Probing, plan_probe};
use super::records::{Block, lock_all, runs_of};
use super::update::{JOIN, MAX_SLOTS, SCATTER};
use super::{Tiles, lock, open};
use crate::algorithms::Probes;
use crate::algorithms::common::{check_ids, probe_chunks};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::tile::{Set, join_sets};
use crate::objects::Frame;
use crate::pairs::{PairStore, Revision};

/// The records of probes; scratch, which keeps its memory from call to call.
#[derive(Debug, Default)]
pub(super) struct ProbeRecords {
    blocks: Vec<Mutex<Block>>,
    /// The partition that the blocks are laid out for, by [`Tiles::partition_number`].
    partition: u64,
    /// The tiles to join.
    jobs: Vec<u32>,
}

impl ProbeRecords {
    /// Makes empty blocks for `count` probes.
    fn fit<const D: usize, T: Real>(&mut self, tiles: &Tiles<D, T>, count: usize) {
        if self.partition != tiles.partition_number {
            self.blocks.clear();
            self.partition = tiles.partition_number;
        }
        let size = BLOCK.max(count.div_ceil(BLOCKS)).next_multiple_of(64);
        self.blocks.resize_with(count.div_ceil(size), Mutex::default);
        for (index, block) in self.blocks.iter_mut().enumerate() {
            let (block, first) = (open(block), index * size);
            let last = (first + size).min(count);
            if block.runs.is_empty() {
                block.reset(first, last, &tiles.partition, (last - first) as f64 / tiles.load.objects.max(1) as f64);
            }
            (block.first, block.last) = (first as u32, last as u32);
        }
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| lock(block).bytes()).sum::<usize>() + self.jobs.capacity() * 4
    }
}

impl<const D: usize, T: Real> Tiles<D, T> {
    /// Finds the pairs of probes and objects. If they are joined, the order is by tile; if they are looked up, it is by probe, then by slot.
    pub(super) fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        let count = probes.boxes.len();
        if !self.stale && count <= MAX_SLOTS && plan_probe(count, self.partition.tiles.len()) == Probing::Join {
            let mut records = self.probe_records.take();
            let result = self.join_probes(frame, probes, context, out, &mut records);
            self.probe_records.give(records);
            return result;
        }
        self.look_up(frame, probes, context, out)
    }

    fn join_probes(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &Context,
        out: &mut PairStore,
        records: &mut ProbeRecords,
    ) -> Result<(), Error> {
        check_ids(probes)?;
        let (count, kernels) = (probes.boxes.len(), context.kernels());
        records.fit(self, count);
        let ProbeRecords { blocks, jobs, .. } = records;
        let boxes = Frame::new(probes.boxes);
        context.run_weighted(blocks.len(), SCATTER * count, |block, _| {
            lock(&blocks[block]).scatter(kernels, &boxes, &self.lattice, &self.partition, &[]);
        });
        if !blocks.iter_mut().all(|block| open(block).valid) {
            blocks.clear(); // their records are incomplete
            boxes.check_boxes()?;
        }
        let (own, objects) = (lock_all(blocks), lock_all(&self.blocks));
        let (own, objects) = (own.each_ref().map(Option::as_deref), objects.each_ref().map(Option::as_deref));
        let is_joined =
            |tile: usize| [&own, &objects].iter().all(|blocks| runs_of(blocks, tile).iter().any(|run| !run.is_empty()));
        let chunks = self.partition.tiles.len();
        jobs.clear();
        jobs.extend((0..chunks as u32).filter(|&tile| is_joined(tile as usize)));
        let unfiltered = Frame { live: frame.live, ..Frame::new(frame.boxes) };
        let view = if probes.ids.is_some() { frame } else { &unfiltered };
        out.begin(view, context, Revision::default(), chunks);
        let work = JOIN * (count + self.load.records);
        context.run_weighted(jobs.len(), work, |job, worker| {
            let tile = jobs[job] as usize;
            let runs = [runs_of(&own, tile), runs_of(&objects, tile)];
            let sets = [Set { runs: &runs[0], boxes: probes.boxes }, Set { runs: &runs[1], boxes: frame.boxes }];
            let mut scratch = self.probe_scratch.take();
            out.rewrite(tile, worker, view, |hits| {
                join_sets(kernels, sets, &mut scratch, |probe, id| probes.pair(probe as usize, id), hits);
            });
            self.probe_scratch.give(scratch);
        });
        out.finish(chunks).map(|_| ())
    }

    /// Looks the probes up, one by one.
    fn look_up(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        let by_trees = !self.stale && self.query_trees.trees_pay();
        probe_chunks(frame, probes, context, out, |range, sink| {
            let (mut buffer, mut ids) = (self.probed.take(), self.query_trees.take_ids());
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
                sink.count_tests(tests);
                // Trees and records visit the objects in different orders. Sorted by slot, the list does not depend on which were used.
                ids.sort_unstable();
                ids.iter().for_each(|&id| sink.push(probes.pair(index, id)));
            }
            self.query_trees.give_back(ids);
            self.probed.give(buffer);
        })
    }
}
