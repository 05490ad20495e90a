//! Objects into tiles: one pass over the boxes, 16 bytes per copy.
//!
//! The simple loop looks up the tile of an object's lower corner and writes the record there; then it visits the other tiles that
//! the object reaches. Three departures:
//! 1. Whether there are other tiles is a coin flip, so it is not asked: the id is appended to a list, and the list grows by one or
//!    stays. The list is worked off in a second loop.
//! 2. A tile's records lie in one run whose length is last frame's plus an eighth. Overflow is counted, not written: the exact
//!    lengths are then known, and the block is written again.
//! 3. Records go to hundreds of runs in turn. The line that a run needs next is asked for one record ahead.

use super::lattice::{Cell, Lattice};
use super::partition::{FINER, Partition};
use crate::geometry::{Aabb, Real};
use crate::kernels::tile::Record;
use crate::kernels::{Kernel, Kernels, Simd, prefetch_for_writing};
use crate::objects::{Frame, Live};

/// A tile as the scatter needs it: where it is, and where its next record goes. Half a cache line.
#[repr(align(32))]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    low: Cell,
    shift: [u8; 3],
    /// The run is `arena[start..next]`, with room up to `end`. While counting, `next` passes `end`.
    start: u32,
    next: u32,
    end: u32,
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
    /// Objects that reach more than one tile; scratch.
    straddlers: Vec<u32>,
    /// Were all boxes of the last pass valid?
    pub(super) valid: bool,
}

impl Run {
    /// The record of a box in this tile.
    #[inline(always)]
    pub(super) fn record<const D: usize>(&self, low: &Cell, high: &Cell, id: u32) -> Record {
        let (mut min, mut max) = ([1; 3], [2; 3]);
        for k in 0..D {
            let quantum = |at: i32| (((at - self.low[k]) >> self.shift[k]) + 1).clamp(0, 65535) as u16;
            min[k] = quantum(low[k]);
            max[k] = quantum(high[k]);
        }
        Record::new(min, max, id)
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
        self.runs.clear();
        self.runs.extend(partition.tiles.iter().map(|tile| Run { low: tile.low, shift: tile.shift, ..Run::default() }));
    }

    /// The records of one tile.
    #[inline(always)]
    pub(super) fn records(&self, tile: usize) -> &[Record] {
        let run = &self.runs[tile];
        &self.arena[run.start as usize..run.next as usize]
    }

    /// Writes all records anew. Boxes that are not valid are noticed in passing.
    pub(super) fn scatter<const D: usize, T: Real>(
        &mut self,
        kernels: Kernels,
        frame: &Frame<'_, D, T>,
        lattice: &Lattice<D, T>,
        partition: &Partition,
    ) {
        if !kernels.run(Scatter { frame, lattice, partition, block: self }) {
            self.make_room();
            kernels.run(Scatter { frame, lattice, partition, block: self });
        }
    }

    /// After a pass that overflowed: gives each run the room that it counted, and an eighth more.
    fn make_room(&mut self) {
        let mut start = 0;
        for run in &mut self.runs {
            let len = run.next - run.start;
            run.start = start;
            run.end = start + len + len / 8 + 4;
            start = run.end;
        }
        self.arena.clear();
        self.arena.resize(start as usize, Record::default());
    }

    /// Puts a record at the end of a tile's run, or counts it if the run is full. Returns whether it fitted.
    #[inline(always)]
    fn put<const D: usize>(&mut self, tile: u16, low: &Cell, high: &Cell, id: u32) -> bool {
        let run = &mut self.runs[tile as usize];
        let record = run.record::<D>(low, high, id);
        let at = run.next;
        run.next += 1;
        let fits = at < run.end;
        if fits {
            self.arena[at as usize] = record;
            prefetch_for_writing(&self.arena, at as usize + 4);
        }
        fits
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.runs.capacity() * size_of::<Run>() + self.arena.capacity() * 16 + self.straddlers.capacity() * 4
    }
}

/// The pass itself. Returns whether every record fitted.
struct Scatter<'a, const D: usize, T> {
    frame: &'a Frame<'a, D, T>,
    lattice: &'a Lattice<D, T>,
    partition: &'a Partition,
    block: &'a mut Block,
}

impl<const D: usize, T: Real> Kernel for Scatter<'_, D, T> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> bool {
        let Self { frame, lattice, partition, block } = self;
        block.runs.iter_mut().for_each(|run| run.next = run.start);
        block.straddlers.clear();
        block.straddlers.resize((block.last - block.first) as usize + 1, 0);
        let (mut valid, mut fits, mut straddlers) = (true, true, 0);
        let boxes: &[Aabb<D, T>] = &frame.boxes[..block.last as usize];
        for id in block.first..block.last {
            if matches!(frame.live, Live::Bits(_)) && !frame.live.contains(id) {
                continue;
            }
            let value = &boxes[id as usize];
            valid &= value.is_valid();
            let (low, high) = lattice.corners(value);
            let root = &partition.tables[0];
            let (first, last) = (partition.entries[root.index(&low)], partition.entries[root.index(&high)]);
            let finer = first & FINER != 0;
            let tile = if finer { partition.tile_at(&low) } else { first };
            fits &= block.put::<D>(tile, &low, &high, id);
            block.straddlers[straddlers] = id;
            straddlers += usize::from((first != last) | finer);
        }
        for at in 0..straddlers {
            let id = block.straddlers[at];
            let (low, high) = lattice.corners(&boxes[id as usize]);
            let home = partition.tile_at(&low);
            partition.visit(&low, &high, &mut |tile| {
                if tile != home {
                    fits &= block.put::<D>(tile, &low, &high, id);
                }
            });
        }
        block.valid = valid;
        fits
    }
}
