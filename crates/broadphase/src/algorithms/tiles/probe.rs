//! Probes: boxes of another set that are paired with the objects.
//!
//! A few are looked up one by one, in the records of the tiles that they reach or in the trees for queries. Many are joined: they get records
//! in the tiles, as objects have, and each tile joins the two sets (`kernels/tile/between.rs`).

use std::ops::ControlFlow;
use std::sync::{Mutex, OnceLock};

use super::plan::tuned::{BLOCK, BLOCKS};
use super::plan::{Probing, plan_probe, plan_probe_records};
use super::records::{Block, lock_all, runs_of};
use super::update::{JOIN, MAX_SLOTS, RECORDS, SCATTER};
use super::{Tiles, lock, open};
use crate::algorithms::Probes;
use crate::algorithms::common::{check_ids, probe_chunks};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::tile::{Columns, Record, Set, join_sets};
use crate::kernels::{Kernels, boxed};
use crate::memory;
use crate::objects::Frame;
use crate::pairs::{PairStore, Revision};

/// The records of probes. Those of recurring probes, such as the movers of a world, are rewritten in place, since most probes are still in their tiles. The
/// order of pairs in a tile is that of its records, so it depends on earlier calls. The records of other probes are written in order.
#[derive(Debug, Default)]
pub(super) struct ProbeRecords {
    blocks: Vec<Mutex<Block>>,
    /// The number of the partition that the blocks are laid out for ([`Tiles::partition_number`]).
    partition: u64,
    /// The number of probes that have records here; 0 if the records are incomplete, or must not be reused.
    count: usize,
    /// The probes that the last rewriting in place relocated, and the calls for which records are still written in order.
    relocated: usize,
    pause: u32,
    /// The tiles to join.
    jobs: Vec<u32>,
}

impl Clone for ProbeRecords {
    fn clone(&self) -> Self {
        let blocks = self.blocks.iter().map(|block| Mutex::new(lock(block).clone())).collect();
        Self { blocks, jobs: Vec::new(), ..*self }
    }
}

impl ProbeRecords {
    /// Lays out blocks for the probes; `count_before` probes have records from the last call. Returns whether these are rewritten in place.
    fn fit<const D: usize, T: Real>(
        &mut self,
        tiles: &Tiles<D, T>,
        probes: Probes<'_, D, T>,
        count_before: usize,
    ) -> Result<bool, Error> {
        let count = probes.boxes.len();
        if probes.recurring {
            let has_records = self.partition == tiles.partition_number && count_before == count;
            let in_place;
            (in_place, self.pause) = plan_probe_records(has_records, count, self.relocated, self.pause);
            self.relocated = 0;
            if in_place {
                return Ok(true);
            }
        }
        if self.partition != tiles.partition_number {
            self.blocks.clear();
            self.partition = tiles.partition_number;
        }
        let size = BLOCK.max(count.div_ceil(BLOCKS)).next_multiple_of(64);
        memory::cover(&mut self.blocks, count.div_ceil(size), RECORDS)?;
        self.blocks.truncate(count.div_ceil(size));
        for (index, block) in self.blocks.iter_mut().enumerate() {
            let (block, first) = (open(block), index * size);
            let last = (first + size).min(count);
            if block.runs.is_empty() {
                block.reset(first, last, &tiles.partition, (last - first) as f64 / tiles.load.objects.max(1) as f64)?;
            }
            (block.first, block.last) = (first as u32, last as u32);
        }
        Ok(false)
    }

    /// Writes the records of all probes.
    fn write<const D: usize, T: Real>(
        &mut self,
        tiles: &Tiles<D, T>,
        probes: Probes<'_, D, T>,
        context: &Context,
    ) -> Result<(), Error> {
        let (count, kernels) = (probes.boxes.len(), context.kernels());
        let count_before = std::mem::take(&mut self.count);
        let in_place = match self.fit(tiles, probes, count_before) {
            Ok(in_place) => in_place,
            Err(error) => {
                self.blocks.clear(); // some may not be laid out
                return Err(error);
            }
        };
        let Self { blocks, .. } = self;
        let boxes = Frame::new(probes.boxes);
        context.run_weighted(blocks.len(), SCATTER * count, |block, _| {
            let mut block = lock(&blocks[block]);
            if in_place {
                block.refresh(kernels, &boxes, &tiles.lattice, &tiles.partition, &[], None);
            } else {
                block.scatter(kernels, &boxes, &tiles.lattice, &tiles.partition, &[]);
            }
        });
        if blocks.iter_mut().any(|block| open(block).ran_out_of_memory()) {
            blocks.clear(); // their records are incomplete
            return Err(Error::OutOfMemory { what: RECORDS });
        }
        if !blocks.iter_mut().all(|block| open(block).valid) {
            blocks.clear(); // their records are incomplete
            boxes.check_boxes()?;
        }
        self.count = if probes.recurring { count } else { 0 };
        if in_place {
            self.relocated = blocks.iter_mut().map(|block| open(block).relocated()).sum();
        }
        Ok(())
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| lock(block).bytes()).sum::<usize>() + self.jobs.capacity() * 4
    }
}

/// The objects of each tile, sorted for probes. They are kept from the second call without a change on, which pays for statics. Results do not depend on
/// whether they were kept.
#[derive(Debug, Default)]
pub(super) struct ProbeColumns {
    tiles: OnceLock<Vec<Mutex<TileColumns>>>,
}

/// The objects of a tile, sorted.
#[derive(Debug, Default)]
struct TileColumns {
    columns: Option<Box<Columns>>,
    /// The calls since the last change in the tile, at most 2. The second one sorts the objects into `columns`, which are up to date from then on.
    calls: u8,
}

impl ProbeColumns {
    /// The columns by tile; the list is made by the first call.
    fn of_tiles(&self, count: usize) -> Result<&[Mutex<TileColumns>], Error> {
        if self.tiles.get().is_none() {
            let mut tiles = Vec::new();
            memory::extend(&mut tiles, count, (0..count).map(|_| Mutex::default()), "tiles")?;
            self.tiles.get_or_init(|| tiles);
        }
        Ok(self.tiles.get().map_or(&[], Vec::as_slice))
    }

    /// Marks the columns of the touched tiles as outdated, or of all `count` tiles if `touched` is `None`.
    pub(super) fn invalidate(&mut self, count: usize, touched: Option<&[bool]>) {
        let Some(tiles) = self.tiles.get_mut() else { return };
        if tiles.len() != count {
            self.tiles = OnceLock::new();
            return;
        }
        let is_touched = |tile: usize| touched.is_none_or(|touched| touched.get(tile).copied().unwrap_or(true));
        tiles.iter_mut().enumerate().filter(|(tile, _)| is_touched(*tile)).for_each(|(_, tile)| open(tile).calls = 0);
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        let tiles = self.tiles.get().map_or(&[][..], Vec::as_slice);
        tiles
            .iter()
            .map(|tile| size_of::<Mutex<TileColumns>>() + lock(tile).columns.as_ref().map_or(0, |columns| columns.bytes()))
            .sum()
    }
}

impl TileColumns {
    /// The sorted records of the tile: the kept ones, or, in the first call after a change, new ones in `spare`.
    fn columns<'a>(&'a mut self, kernels: Kernels, records: &[&[Record]], spare: &'a mut Columns) -> Result<&'a Columns, Error> {
        if self.calls == 0 {
            self.calls = 1;
            spare.fill(kernels, records)?;
            return Ok(spare);
        }
        let columns = match &mut self.columns {
            Some(columns) => columns,
            none => none.insert(boxed(Columns::default(), "sorted records")?),
        };
        if self.calls == 1 {
            columns.fill(kernels, records)?;
            self.calls = 2;
        }
        Ok(columns)
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
        records.write(self, probes, context)?;
        let ProbeRecords { blocks, jobs, .. } = records;
        let (own, objects) = (lock_all(blocks), lock_all(&self.blocks));
        let (own, objects) = (own.each_ref().map(Option::as_deref), objects.each_ref().map(Option::as_deref));
        let is_joined =
            |tile: usize| [&own, &objects].iter().all(|blocks| runs_of(blocks, tile).iter().any(|run| !run.is_empty()));
        let chunks = self.partition.tiles.len();
        jobs.clear();
        // A tile without pairs is written too if differences are wanted: it may have had some.
        let writes_all = out.report().delta();
        memory::extend(jobs, chunks, (0..chunks as u32).filter(|&tile| writes_all || is_joined(tile as usize)), "tiles")?;
        let unfiltered = Frame { live: frame.live, ..Frame::new(frame.boxes) };
        let view = if probes.ids.is_some() { frame } else { &unfiltered };
        let columns = self.probe_columns.of_tiles(chunks)?;
        out.begin(view, context, Revision::default(), chunks)?;
        let work = JOIN * (count + self.load.records);
        // Records that are rewritten in place, and columns that are kept, have their order.
        let in_order = probes.recurring.then_some(kernels);
        context.run_weighted(jobs.len(), work, |job, worker| {
            let tile = jobs[job] as usize;
            if writes_all && !is_joined(tile) {
                return out.rewrite(tile, worker, view, |_| ());
            }
            let [rows, records] = [runs_of(&own, tile), runs_of(&objects, tile)];
            let (mut scratch, mut spare) = self.probe_scratch.take();
            let mut kept = lock(&columns[tile]);
            let rows = Set { records: &rows[..], boxes: probes.boxes };
            let columns = kept.columns(kernels, &records, &mut spare);
            out.rewrite_in(in_order, tile, worker, view, |hits| match columns {
                Ok(records) => {
                    let columns = Set { records, boxes: frame.boxes };
                    join_sets(kernels, rows, columns, &mut scratch, |probe, id| probes.pair(probe as usize, id), hits);
                }
                Err(_) => hits.stop_out_of_memory(),
            });
            drop(kept);
            self.probe_scratch.give((scratch, spare));
        });
        out.finish(context, chunks).map(|_| ())
    }

    /// Looks the probes up one by one, in the trees for queries if they pay, otherwise in the records of the tiles.
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
                let mut has_room = true;
                let mut note = |id: u32| has_room = has_room && memory::push(&mut ids, id, "objects that a probe meets").is_ok();
                let tests = if by_trees {
                    self.visit_trees(frame, area, &mut note)
                } else {
                    self.visit_box(frame, context.kernels(), area, &mut buffer, &mut |id| {
                        note(id);
                        ControlFlow::Continue(())
                    })
                };
                if !has_room {
                    sink.stop_out_of_memory();
                    break;
                }
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
