//! Objects into tiles: one pass over the boxes, 16 bytes per copy.
//!
//! The simple loop looks up the tile of an object's lower corner and writes the record there; then it visits the other tiles that
//! the object reaches. Three departures:
//! 1. Some hundred boxes take each step together: quantise, look up, write, and last the list of those that reach more than one
//!    tile. Short loops without a branch keep the processor busy; the one long loop took twice the time.
//! 2. A tile's records lie in one run whose length is last frame's plus an eighth. Overflow is counted, not written: the exact
//!    lengths are then known, and the block is written again.
//! 3. Records go to hundreds of runs in turn. The line that a run needs next is asked for one record ahead.

use super::changes::is_set;
use super::lattice::Lattice;
use super::partition::{FINER, Partition, Tile};
use super::rails::Stir;
use super::update::reaches;
use crate::geometry::{Aabb, Real};
use crate::kernels::quantise::{self, Batch, Corners, List, TileMap};
use crate::kernels::tile::Record;
use crate::kernels::{Kernel, Kernels, Scalar, Simd, prefer_huge_pages, prefetch_for_writing};
use crate::objects::{Frame, Live};

/// A tile as the scatter needs it: where it is, and where its next record goes. Half a cache line.
#[repr(C, align(32))]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    pub(super) map: TileMap,
    /// The run is `arena[start..next]`, with room up to `end`. While counting, `next` passes `end`.
    pub(super) start: u32,
    pub(super) next: u32,
    pub(super) end: u32,
    /// The first records, up to here, are of objects that lay wholly in the tile when they were written.
    pub(super) inner: u32,
}

const _: () = assert!(size_of::<Run>() == 32);

/// A range of slots, and their records for every tile.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    /// The slots `first..last`.
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) runs: Vec<Run>,
    pub(super) arena: Vec<Record>,
    /// The boxes at hand; scratch.
    batch: Box<Batch>,
    /// Were all boxes of the last pass valid?
    pub(super) valid: bool,
    /// Which of the slots were live when the records were made.
    pub(super) live: Vec<u64>,
    /// Objects to be placed anew; between `refresh` and its end only.
    pub(super) list: List,
    /// By tile: the end of the records that stay while listed ones are placed.
    pub(super) kept: Vec<u32>,
    /// By tile: what the last pass did to its records, where that was watched.
    pub(super) stirs: Vec<Stir>,
    /// Tiles whose records must be looked through, and records to come; between `mark` and `redo` only.
    marked: Vec<u16>,
    is_marked: Vec<bool>,
    appended: Vec<(u16, u32)>,
}

impl Run {
    pub(super) fn new(tile: &Tile) -> Self {
        Self { map: TileMap::new(tile.low, tile.shift, tile.axis), ..Self::default() }
    }

    /// The record of a box in this tile.
    pub(super) fn record(&self, corners: &Corners, id: u32) -> Record {
        quantise::record(Scalar, corners, &self.map, id)
    }

    /// Moves the run to the end of the arena, with room for as many records as were counted and a quarter more. Of those behind `kept`,
    /// nothing is left.
    pub(super) fn move_to_end(&mut self, arena: &mut Vec<Record>, kept: u32) {
        let (wanted, start) = (self.next - self.start, arena.len() as u32);
        arena.extend_from_within(self.start as usize..kept as usize);
        arena.resize((start + wanted + wanted / 4 + 8) as usize, Record::default());
        self.inner = start + (self.inner - self.start);
        (self.start, self.next, self.end) = (start, start + (kept - self.start), arena.len() as u32);
    }

    /// The number of records.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        (self.next - self.start) as usize
    }
}

impl Block {
    /// A block for slots `first..last`, with room for no record yet.
    pub(super) fn reset(&mut self, first: usize, last: usize, partition: &Partition) {
        self.first = first as u32;
        self.last = last as u32;
        self.arena.clear();
        self.marked.clear();
        self.is_marked.clear();
        self.is_marked.resize(partition.tiles.len(), false);
        self.appended.clear();
        self.stirs.clear();
        self.stirs.resize(partition.tiles.len(), Stir::ALL);
        self.runs.clear();
        self.runs.extend(partition.tiles.iter().map(Run::new));
    }

    /// The records of one tile.
    #[inline(always)]
    pub(super) fn records(&self, tile: usize) -> &[Record] {
        let run = &self.runs[tile];
        &self.arena[run.start as usize..run.next as usize]
    }

    /// Writes all records anew; those of objects with a bit in `changed` get a flag. Boxes that are not valid are noticed in passing.
    pub(super) fn scatter<const D: usize, T: Real>(
        &mut self,
        kernels: Kernels,
        frame: &Frame<'_, D, T>,
        lattice: &Lattice<D, T>,
        partition: &Partition,
        changed: &[u64],
    ) {
        if self.is_loose() {
            self.make_room();
        }
        self.stirs.fill(Stir::ALL);
        while !kernels.run(Scatter { frame, lattice, partition, changed, block: self }) {
            self.make_room();
        }
        self.live.clear();
        self.live.extend(
            (self.first as usize / 64..(self.last as usize).div_ceil(64)).map(|word| frame.live.word(word, frame.slots())),
        );
    }

    /// Gives each run the room that it holds or, after a pass that overflowed, counted, and an eighth more.
    fn make_room(&mut self) {
        let mut start = 0;
        for run in &mut self.runs {
            let len = run.next - run.start;
            run.start = start;
            run.end = start + len + len / 8 + 4;
            run.inner = start;
            start = run.end;
        }
        self.arena.clear();
        self.arena.reserve_exact(start as usize); // the slack is in the runs; doubling would waste another half
        prefer_huge_pages(&self.arena, self.arena.capacity());
        self.arena.resize(start as usize, Record::default());
    }

    /// Has `redo` look through a tile's records.
    pub(super) fn mark(&mut self, tile: u16) {
        let is_marked = &mut self.is_marked[tile as usize];
        if !*is_marked {
            *is_marked = true;
            self.marked.push(tile);
        }
    }

    /// Has `redo` append the record of an object to a tile.
    pub(super) fn append_later(&mut self, tile: u16, id: u32) {
        self.appended.push((tile, id));
    }

    /// Rewrites or drops the records of changed objects in marked tiles, then appends.
    pub(super) fn redo<const D: usize, T: Real>(
        &mut self,
        frame: &Frame<'_, D, T>,
        lattice: &Lattice<D, T>,
        partition: &Partition,
        changed: &[u64],
    ) {
        for tile in self.marked.drain(..) {
            let run = &mut self.runs[tile as usize];
            self.is_marked[tile as usize] = false;
            run.inner = run.start;
            let mut at = run.start as usize;
            while let Some(found) = next_changed(&self.arena[at..run.next as usize], changed) {
                at += found;
                let id = self.arena[at].id();
                let corners = lattice.corners(&frame.boxes[id as usize]);
                if frame.live.contains(id) && reaches(&corners, &partition.tiles[tile as usize]) {
                    self.arena[at] = run.record(&corners, id);
                    at += 1;
                } else {
                    run.next -= 1;
                    self.arena[at] = self.arena[run.next as usize];
                }
            }
        }
        for at in 0..self.appended.len() {
            let (tile, id) = self.appended[at];
            let run = &mut self.runs[tile as usize];
            if run.next == run.end {
                run.move_to_end(&mut self.arena, run.next);
            }
            put(Scalar, &mut self.runs, &mut self.arena, tile, &lattice.corners(&frame.boxes[id as usize]), id);
        }
        self.appended.clear();
    }

    /// Do the runs that moved leave more holes than records?
    pub(super) fn is_loose(&self) -> bool {
        let records: usize = self.runs.iter().map(Run::len).sum();
        self.arena.len() > 3 * records + 64 * self.runs.len()
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.marked.capacity() * 2
            + self.is_marked.capacity()
            + self.appended.capacity() * 8
            + self.runs.capacity() * size_of::<Run>()
            + self.arena.capacity() * 16
            + self.live.capacity() * 8
            + self.list.bytes()
            + self.kept.capacity() * 4
            + self.stirs.capacity() * size_of::<Stir>()
            + size_of::<Batch>()
    }
}

/// The first record of an object with a bit in `changed`. Few have one: four are asked together.
fn next_changed(records: &[Record], changed: &[u64]) -> Option<usize> {
    let is_changed = |record: &Record| is_set(changed, record.id());
    let (fours, rest) = records.as_chunks::<4>();
    for (index, [a, b, c, d]) in fours.iter().enumerate() {
        if is_changed(a) | is_changed(b) | is_changed(c) | is_changed(d) {
            return [a, b, c, d].into_iter().position(is_changed).map(|at| 4 * index + at);
        }
    }
    rest.iter().position(is_changed).map(|at| 4 * fours.len() + at)
}

/// Puts a record at the end of a tile's run, or counts it if the run is full. Nothing if there is no such tile.
#[inline(always)]
pub(super) fn put<S: Simd>(simd: S, runs: &mut [Run], arena: &mut [Record], tile: u16, corners: &Corners, id: u32) {
    let Some(run) = runs.get_mut(tile as usize) else { return };
    let record = quantise::record(simd, corners, &run.map, id);
    let at = run.next as usize;
    run.next += 1;
    if at < run.end as usize {
        arena[at] = record;
        prefetch_for_writing(arena, at + 4);
    }
}

/// The tile of slots that are not live.
const NOWHERE: u16 = u16::MAX;

/// The pass itself. Returns whether every record fitted.
struct Scatter<'a, const D: usize, T> {
    frame: &'a Frame<'a, D, T>,
    lattice: &'a Lattice<D, T>,
    partition: &'a Partition,
    changed: &'a [u64],
    block: &'a mut Block,
}

impl<const D: usize, T: Real> Kernel for Scatter<'_, D, T> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let Self { frame, lattice, partition, changed, block } = self;
        block.runs.iter_mut().for_each(|run| (run.next, run.inner) = (run.start, run.start));
        block.valid = true;
        let (first, last) = (block.first as usize, block.last as usize);
        let boxes: &[Aabb<D, T>] = &frame.boxes[..last];
        let (root, map) = (partition.root(), lattice.map());
        // Slices in registers: behind `block`, every store could have moved them.
        let (runs, arena, batch) = (&mut block.runs[..], &mut block.arena[..], &mut *block.batch);
        let has_gaps = matches!(frame.live, Live::Bits(_));
        // In batches, which stay in the cache from step to step.
        for start in (first..last).step_by(Batch::LEN) {
            let count = (last - start).min(Batch::LEN);
            // A box that is not valid is refused in the end, so there is no need to go on. What lies in a gap does not count.
            if !batch.fill(simd, &boxes[start..], map, &root) && !live_are_valid(frame, start, count) {
                block.valid = false;
                return true;
            }
            let straddlers = if partition.tiles.len() == 1 {
                batch.entries.fill(0);
                0
            } else {
                batch.locate(count, &partition.entries, FINER)
            };
            for index in 0..straddlers {
                let at = batch.listed(index);
                if batch.entries[at] & FINER != 0 {
                    batch.entries[at] = partition.tile_at(&batch.corners(at).low());
                }
            }
            if has_gaps {
                for at in (0..count).filter(|at| !frame.live.contains((start + at) as u32)) {
                    batch.entries[at] = NOWHERE;
                }
            }
            batch.name(start, changed);
            for at in 0..count {
                put(simd, runs, arena, batch.entries[at], batch.corners(at), batch.ids[at]);
            }
            for at in (0..straddlers).map(|index| batch.listed(index)).filter(|&at| batch.entries[at] != NOWHERE) {
                let place = (batch.entries[at], batch.cells(at).0, batch.steps(at));
                straddle(simd, partition, runs, arena, (batch.corners(at), batch.ids[at]), place);
            }
        }
        runs.iter().all(|run| run.next <= run.end)
    }
}

#[cold]
fn live_are_valid<const D: usize, T: Real>(frame: &Frame<'_, D, T>, start: usize, count: usize) -> bool {
    (start..start + count).all(|id| !frame.live.contains(id as u32) || frame.boxes[id].is_valid())
}

/// Puts the records of a box in all tiles that it reaches but `home`. `cell` is that of its lower corner, `steps` lead to the upper one.
///
/// No closure: its body would be compiled apart, without the instruction set.
#[inline(always)]
pub(super) fn straddle<S: Simd>(
    simd: S,
    partition: &Partition,
    runs: &mut [Run],
    arena: &mut [Record],
    (corners, id): (&Corners, u32),
    (home, cell, steps): (u16, u32, [i32; 3]),
) {
    let step = steps.iter().sum::<i32>();
    let (from, to) = (partition.entries[cell as usize], partition.entries[cell as usize + step as usize]);
    // Most reach one cell further, on one axis.
    if partition.is_one_cell(step) & ((from | to) & FINER == 0) {
        if to != home {
            put(simd, runs, arena, to, corners, id);
        }
    } else if let Some((tiles, reached)) = partition.corner_tiles(cell, steps) {
        for &tile in &tiles[1..reached] {
            put(simd, runs, arena, tile, corners, id);
        }
    } else {
        put_many(partition, runs, arena, (corners, id), &|tile| tile != home);
    }
}

/// Puts the records of a box in all tiles that it reaches and that are `wanted`. Apart, since rarely needed: the way through the tables
/// would cost others registers.
#[cold]
#[inline(never)]
pub(super) fn put_many(
    partition: &Partition,
    runs: &mut [Run],
    arena: &mut [Record],
    (corners, id): (&Corners, u32),
    wanted: &dyn Fn(u16) -> bool,
) {
    partition.visit(&corners.low(), &corners.high(), &mut |tile| {
        if wanted(tile) {
            put(Scalar, runs, arena, tile, corners, id);
        }
    });
}
