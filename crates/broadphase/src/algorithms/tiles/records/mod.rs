//! The records of the objects: one run of 16-byte records for each block and tile.
//!
//! A [`Block`] owns the records of a range of slots. Blocks are independent, so they are written in parallel. Three operations change records:
//! - `scatter.rs` writes all of them in the order of the slots, as in the first frame;
//! - `refresh.rs` rewrites all, or those of changed objects, in place, and relocates objects that reach other tiles than before (`parts.rs`:
//!   several workers in one block);
//! - `patch.rs` rewrites, drops and appends the records of a few listed objects, in the tiles that these touch; `order.rs` does so in sorted runs.

mod order;
mod parts;
mod patch;
mod refresh;
mod scatter;

use std::sync::{Mutex, MutexGuard};

use super::axis_motion::TileDelta;
use super::lock;
use super::partition::{FINER, Partition, Tile};
use super::plan::tuned::{BLOCKS, EXPECTED_SLACK, PARTS};
use super::update::RECORDS;
use crate::error::Error;
use crate::kernels::quantize::{Batch, Corners, Quantize, RelocationList, TileMap};
use crate::kernels::tile::Record;
use crate::kernels::{Scalar, Simd, prefer_huge_pages, prefetch_for_writing};
use crate::memory;
use patch::Patch;

/// The records of one tile in a block, and the map that quantizes them. Half a cache line.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    pub(super) map: TileMap,
    /// The run is `arena[start..next]`, with capacity up to `end`. A pass that overflows keeps counting, so `next` may exceed `end`.
    pub(super) start: u32,
    pub(super) next: u32,
    pub(super) end: u32,
    /// The end of the inner records, which come first: their objects were wholly inside the tile when the records were written.
    pub(super) inner: u32,
}

const _: () = assert!(size_of::<Run>() == 32);

/// Where the capacities of runs come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Capacities {
    /// From the lengths of the runs.
    #[default]
    Counted,
    /// From the partition's sample; there are no records yet.
    Expected,
    /// From the sample, and there are records. The next pass lays the runs out by their lengths: wide gaps between the runs made later frames of
    /// 128,000 objects 6 to 17 % slower.
    Used,
}

/// A range of slots, and their records for every tile.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    /// The slots `first..last`.
    pub(super) first: u32,
    pub(super) last: u32,
    /// By tile.
    pub(super) runs: Vec<Run>,
    arena: Vec<Record>,
    capacities: Capacities,
    /// The capacity of the holes that runs left when they moved to the end, since the last layout.
    left_behind: usize,
    /// The buffers of one batch of boxes: a single value, on the heap since it is large; scratch.
    batch: Vec<Batch>,
    /// Was an allocation refused since the last pass began? Then the records are incomplete.
    refused: bool,
    /// Were all boxes of the last pass valid?
    pub(super) valid: bool,
    /// Did the last pass write the records of all objects, and not of changed ones only?
    pub(super) has_written_all: bool,
    /// The slots that were live when the records were written.
    live: Vec<u64>,
    /// Objects to be relocated; used only during a refresh.
    list: RelocationList,
    /// The objects to be relocated by part, if several workers rewrite the block.
    part_lists: [RelocationList; PARTS],
    /// By tile: the end of the records that stay while objects are relocated.
    kept: Vec<u32>,
    /// By tile: how the last pass changed its records, if that was tracked.
    pub(super) deltas: Vec<TileDelta>,
    /// The next patch.
    patch: Patch,
    /// Records that a pass in order could not write: tile and flagged id. Empty otherwise.
    spilled: Vec<(u16, u32)>,
}

/// Locks all blocks, of which there are at most [`BLOCKS`].
pub(super) fn lock_all(blocks: &[Mutex<Block>]) -> [Option<MutexGuard<'_, Block>>; BLOCKS] {
    std::array::from_fn(|index| blocks.get(index).map(lock))
}

/// The runs of a tile in all blocks.
#[inline(always)]
pub(super) fn runs_of<'a>(blocks: &[Option<&'a Block>; BLOCKS], tile: usize) -> [&'a [Record]; BLOCKS] {
    std::array::from_fn(|index| blocks[index].map_or(&[][..], |block| block.records(tile)))
}

impl Run {
    /// An empty run for a tile.
    pub(super) fn new(tile: &Tile) -> Self {
        Self { map: TileMap::new(tile.low, tile.shift, tile.axis), ..Self::default() }
    }

    /// The record of a box in this tile.
    #[inline]
    pub(super) fn record(&self, corners: &Corners, id: u32) -> Record {
        Scalar.record(corners, &self.map, id)
    }

    /// Moves the run to the end of the arena, with capacity for the records that were counted and a quarter more. Records from `kept` on are lost.
    /// The run's old capacity is added to `left_behind`. On error nothing has changed.
    fn move_to_end(&mut self, arena: &mut Vec<Record>, kept: u32, left_behind: &mut usize) -> Result<(), Error> {
        let (wanted, start) = (self.next - self.start, arena.len() as u32);
        let room = wanted + wanted / 4 + 8;
        memory::reserve(arena, room as usize, RECORDS)?;
        *left_behind += (self.end - self.start) as usize;
        arena.extend_from_within(self.start as usize..kept as usize); // reserved
        arena.resize((start + room) as usize, Record::default()); // reserved
        self.inner = start + (self.inner - self.start);
        (self.start, self.next, self.end) = (start, start + (kept - self.start), arena.len() as u32);
        Ok(())
    }

    /// The number of records.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        (self.next - self.start) as usize
    }
}

impl Block {
    /// Makes this an empty block for the slots `first..last`, with capacity for a `share` of what the partition expects in each tile.
    pub(super) fn reset(&mut self, first: usize, last: usize, partition: &Partition, share: f64) -> Result<(), Error> {
        self.first = first as u32;
        self.last = last as u32;
        self.arena.clear();
        let tiles = partition.tiles.len();
        memory::cover(&mut self.batch, 1, RECORDS)?;
        self.patch.reset(tiles)?;
        memory::refill(&mut self.deltas, tiles, TileDelta::ALL, RECORDS)?;
        self.runs.clear();
        memory::extend(&mut self.runs, tiles, partition.tiles.iter().map(Run::new), RECORDS)?;
        for (run, &expected) in self.runs.iter_mut().zip(&partition.expected) {
            run.next = (f64::from(expected) * share * EXPECTED_SLACK) as u32;
        }
        self.lay_out()?;
        self.runs.iter_mut().for_each(|run| run.next = run.start);
        self.capacities = Capacities::Expected;
        Ok(())
    }

    /// Was an allocation refused since the last pass began? Then the records are incomplete.
    pub(super) fn ran_out_of_memory(&self) -> bool {
        self.refused || self.list.is_incomplete || self.part_lists.iter().any(|list| list.is_incomplete)
    }

    /// The objects that the last [`refresh`](Block::refresh) has relocated.
    pub(super) fn relocated(&self) -> usize {
        self.list.entries().len()
    }

    /// The records of one tile.
    #[inline(always)]
    pub(super) fn records(&self, tile: usize) -> &[Record] {
        let run = &self.runs[tile];
        &self.arena[run.start as usize..run.next as usize]
    }

    /// The same, mutable, for tests that damage records.
    #[cfg(test)]
    pub(super) fn records_mut(&mut self, tile: usize) -> &mut [Record] {
        let run = &self.runs[tile];
        &mut self.arena[run.start as usize..run.next as usize]
    }

    /// Gives each run capacity for its records (after a pass that overflowed: for those it counted) and an eighth more. All records are lost.
    fn lay_out(&mut self) -> Result<(), Error> {
        let mut start = 0;
        for run in &mut self.runs {
            let len = run.next - run.start;
            run.start = start;
            run.end = start + len + len / 8 + 4;
            run.inner = start;
            start = run.end;
        }
        if self.arena.capacity() < start as usize {
            // Without extra capacity, since the runs have slack; zeroed by the system, which does not touch a page before it is first written.
            self.arena = Vec::new();
            self.arena =
                bytemuck::allocation::try_zeroed_vec(start as usize).map_err(|()| Error::OutOfMemory { what: RECORDS })?;
            prefer_huge_pages(&self.arena, self.arena.capacity());
        } else {
            self.arena.resize(start as usize, Record::default()); // reserved
        }
        self.capacities = Capacities::Counted;
        self.left_behind = 0;
        Ok(())
    }

    /// Do the next records need another layout? They do if capacities were estimated from the sample, or if holes and slack take about twice as much
    /// space as the records.
    ///
    /// The holes are counted as they arise, not measured in the arena: whether [`sort_arena`](Block::sort_arena) has closed them depends on the
    /// number of workers, which must not influence the order of records.
    fn needs_layout(&self) -> bool {
        let records: usize = self.runs.iter().map(Run::len).sum();
        let capacity: usize = self.runs.iter().map(|run| (run.end - run.start) as usize).sum();
        match self.capacities {
            Capacities::Expected => false,
            Capacities::Used => true,
            Capacities::Counted => self.left_behind + capacity > 3 * records + 64 * self.runs.len(),
        }
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.patch.bytes()
            + self.spilled.capacity() * size_of::<(u16, u32)>()
            + self.runs.capacity() * size_of::<Run>()
            + self.arena.capacity() * 16
            + self.live.capacity() * 8
            + self.list.bytes()
            + self.part_lists.iter().map(RelocationList::bytes).sum::<usize>()
            + self.kept.capacity() * 4
            + self.deltas.capacity() * size_of::<TileDelta>()
            + self.batch.capacity() * size_of::<Batch>()
    }
}

/// Appends a record to a tile's run. If the run is full, only counts the record, and adds it to `spilled` as long as that has capacity. Does
/// nothing if there is no such tile.
#[inline(always)]
fn put<S: Simd>(
    simd: S,
    runs: &mut [Run],
    arena: &mut [Record],
    spilled: &mut Vec<(u16, u32)>,
    tile: u16,
    (corners, id): (&Corners, u32),
) {
    let Some(run) = runs.get_mut(tile as usize) else { return };
    let record = simd.record(corners, &run.map, id);
    let at = run.next as usize;
    run.next += 1;
    if at < run.end as usize {
        arena[at] = record;
        prefetch_for_writing(arena, at + 4);
    } else {
        spill(spilled, tile, id);
    }
}

#[cold]
#[inline(never)]
fn spill(spilled: &mut Vec<(u16, u32)>, tile: u16, id: u32) {
    if spilled.len() < spilled.capacity() {
        spilled.push((tile, id)); // reserved
    }
}

/// Appends the records of a box to all tiles that it reaches except `home`. `cell` is the cell of its lower corner; `steps` lead from there to
/// the cell of the upper corner, axis by axis.
///
/// This is not a closure, since the compiler would compile a closure's body separately, without the instruction set.
#[inline(always)]
fn straddle<S: Simd>(
    simd: S,
    partition: &Partition,
    runs: &mut [Run],
    arena: &mut [Record],
    spilled: &mut Vec<(u16, u32)>,
    (corners, id): (&Corners, u32),
    (home, cell, steps): (u16, u32, [i32; 3]),
) {
    let step = steps.iter().sum::<i32>();
    let (from, to) = (partition.entries[cell as usize], partition.entries[cell as usize + step as usize]);
    // Most boxes reach one more cell, on one axis.
    if partition.is_one_cell(step) & ((from | to) & FINER == 0) {
        if to != home {
            put(simd, runs, arena, spilled, to, (corners, id));
        }
    } else if let Some((tiles, reached)) = partition.corner_tiles(cell, steps) {
        for &tile in &tiles[1..reached] {
            put(simd, runs, arena, spilled, tile, (corners, id));
        }
    } else if !partition.tiles[usize::from(home)].holds_end(&corners.high()) {
        // In finer tables, boxes that stay in one tile come here too.
        put_many(partition, runs, arena, spilled, (corners, id), &|tile| tile != home);
    }
}

/// Appends the records of a box to all tiles that it reaches and that `wanted` accepts. Rarely called, and not inlined: the walk through the tables
/// would take registers from the common path.
#[cold]
#[inline(never)]
fn put_many(
    partition: &Partition,
    runs: &mut [Run],
    arena: &mut [Record],
    spilled: &mut Vec<(u16, u32)>,
    (corners, id): (&Corners, u32),
    wanted: &dyn Fn(u16) -> bool,
) {
    partition.visit(&corners.low(), &corners.high(), &mut |tile| {
        if wanted(tile) {
            put(Scalar, runs, arena, spilled, tile, (corners, id));
        }
    });
}
