//! Records rewritten where they lie, starting from those of the last frame; objects that reach other tiles are relocated.
//!
//! Most objects are wholly inside the tile that they were wholly inside before, and most of the others still reach the same tiles.
//! Their records are overwritten without a look-up, and the boxes are the only memory that is not read in order. A block is small enough for
//! its boxes to stay in the cache. (Relocating every object that reaches several tiles was slower.)

use super::{Block, Run, put, put_many, straddle};
use crate::algorithms::tiles::axis_motion::TileDelta;
use crate::algorithms::tiles::lattice::Lattice;
use crate::algorithms::tiles::partition::{FINER, Partition};
use crate::bits::bit;
use crate::geometry::Real;
use crate::kernels::quantize::{CellMap, Relocation, Source, TilePlace, axis_in_record, refresh_changed, rewrite_straddling};
use crate::kernels::tile::Record;
use crate::kernels::{Kernel, Kernels, Simd, prefetch};
use crate::objects::Frame;

/// Every second box is prefetched, by the lines of its first and last byte: so every line of the boxes is.
const BOXES_PER_LINE: usize = 2;

impl Block {
    /// Rewrites all records, as [`scatter`](Block::scatter) does, starting from those of the last frame. If any objects are `changed`, rewrites only
    /// theirs. If all objects move along an axis, `motion_axis`, the deltas tell which tiles changed otherwise.
    pub(in crate::algorithms::tiles) fn refresh<const D: usize, T: Real>(
        &mut self,
        kernels: Kernels,
        frame: &Frame<'_, D, T>,
        lattice: &Lattice<D, T>,
        partition: &Partition,
        changed: &[u64],
        motion_axis: Option<usize>,
    ) {
        if self.needs_layout() {
            return self.scatter(kernels, frame, lattice, partition, changed);
        }
        self.list.clear(self.first, self.last);
        self.valid = true;
        let removed = self.update_live(frame, lattice, changed);
        self.valid &= if !changed.is_empty() {
            kernels.run_narrow(RewriteChanged { frame, lattice, partition, changed, block: self })
        } else if motion_axis.is_some() {
            kernels.run(RewriteAll::<true, D, T> { frame, lattice, partition, removed, motion_axis, block: self })
        } else {
            kernels.run(RewriteAll::<false, D, T> { frame, lattice, partition, removed, motion_axis, block: self })
        };
        if !self.valid {
            return; // the update fails
        }
        let (all, track_delta) = (changed.is_empty(), motion_axis.is_some());
        if !kernels.run_narrow(Relocate { partition, all, track_delta, block: self }) {
            self.scatter(kernels, frame, lattice, partition, changed);
        }
    }

    /// Records which slots are live. Lists inserted objects for relocation; returns whether any object was removed.
    fn update_live<const D: usize, T: Real>(
        &mut self,
        frame: &Frame<'_, D, T>,
        lattice: &Lattice<D, T>,
        changed: &[u64],
    ) -> bool {
        let (first, last) = (self.first as usize / 64, (self.last as usize).div_ceil(64));
        self.live.resize(last - first, 0);
        let mut any_removed = false;
        for (word, was) in (first..last).zip(&mut self.live) {
            let now = frame.live.word(word, frame.slots());
            any_removed |= *was & !now != 0;
            let mut inserted = now & !*was;
            while inserted != 0 {
                let id = word as u32 * 64 + inserted.trailing_zeros();
                let value = &frame.boxes[id as usize];
                self.valid &= value.is_valid();
                let flag = if bit(changed, id) { Record::FLAG } else { 0 };
                self.list.push(lattice.corners(value), id | flag);
                inserted &= inserted - 1;
            }
            *was = now;
        }
        any_removed
    }
}

/// The bits that are set from `first`, a multiple of 64, to `last`.
fn ones(words: &[u64], first: u32, last: u32) -> impl Iterator<Item = u32> + '_ {
    let words = words.iter().enumerate().take(last.div_ceil(64) as usize).skip(first as usize / 64);
    words.flat_map(|(index, &word)| {
        let mut left = word;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            (bit < 64).then_some(index as u32 * 64 + bit)
        })
    })
}

/// Rewrites all records where they lie, and lists the objects to be relocated. Returns whether all boxes are valid. With `TRACK_DELTA`, it records
/// which tiles changed across the motion axis.
struct RewriteAll<'a, const TRACK_DELTA: bool, const D: usize, T> {
    frame: &'a Frame<'a, D, T>,
    lattice: &'a Lattice<D, T>,
    partition: &'a Partition,
    removed: bool,
    motion_axis: Option<usize>,
    block: &'a mut Block,
}

impl<const TRACK_DELTA: bool, const D: usize, T: Real> Kernel for RewriteAll<'_, TRACK_DELTA, D, T> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let Self { frame, lattice, partition, removed, motion_axis, block } = self;
        let Block { runs, arena, list, deltas, live, first, last, .. } = block;
        let source = Source { boxes: frame.boxes, map: lattice.map(), live: removed.then_some(&live[..]), first: *first };
        // Boxes that are prefetched in order arrive at the bandwidth of the memory, and are then in the cache. (Prefetching the next block's boxes
        // along the way was slower: the two blocks evict each other.)
        (*first..*last).step_by(BOXES_PER_LINE).for_each(|id| prefetch(frame.boxes, id as usize));
        let mut valid = true;
        for ((run, tile), delta) in runs.iter_mut().zip(&partition.tiles).zip(&mut *deltas) {
            let place = TilePlace { map: &run.map, low: tile.low, high: tile.high };
            let (inner, outer) = (run.start as usize..run.inner as usize, run.inner as usize..run.next as usize);
            list.difference = 0;
            let (end, inner_valid) = simd.rewrite_inner::<TRACK_DELTA, D, T>(&source, place, arena, inner, list);
            let (inner_end, end, outer_valid) =
                rewrite_straddling::<TRACK_DELTA, D, T, S>(simd, &source, place, arena, outer, end, list);
            if TRACK_DELTA && let Some(motion_axis) = motion_axis {
                let across = list.difference & Record::bits_but(axis_in_record(tile.axis, motion_axis)) != 0;
                *delta = TileDelta { across: across | removed, arrived: 0 };
            }
            (run.inner, run.next) = (inner_end as u32, end as u32);
            valid &= inner_valid & outer_valid;
        }
        if valid {
            list.add_noted(simd, &source);
        }
        valid
    }
}

/// Rewrites the records of changed objects where they lie, and lists those to be relocated. Returns whether all boxes are valid.
struct RewriteChanged<'a, const D: usize, T> {
    frame: &'a Frame<'a, D, T>,
    lattice: &'a Lattice<D, T>,
    partition: &'a Partition,
    changed: &'a [u64],
    block: &'a mut Block,
}

impl<const D: usize, T: Real> Kernel for RewriteChanged<'_, D, T> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let Self { frame, lattice, partition, changed, block } = self;
        let Block { runs, arena, list, live, first, last, .. } = block;
        let source = Source { boxes: frame.boxes, map: lattice.map(), live: Some(&live[..]), first: *first };
        ones(changed, *first, *last).for_each(|id| prefetch(frame.boxes, id as usize));
        let mut valid = true;
        for (run, tile) in runs.iter_mut().zip(&partition.tiles) {
            let place = TilePlace { map: &run.map, low: tile.low, high: tile.high };
            let (inner, outer) = (run.start as usize..run.inner as usize, run.inner as usize..run.next as usize);
            let (source, start) = ((&source, changed), inner.start);
            let (middle, inner_valid) = refresh_changed(simd, source, place, arena, inner, start, list);
            let (end, outer_valid) = refresh_changed(simd, source, place, arena, outer, middle, list);
            (run.inner, run.next) = (middle as u32, end as u32);
            valid &= inner_valid & outer_valid;
        }
        valid
    }
}

/// Appends the records of the listed objects to all tiles that they reach. Returns whether every record fitted. Does not depend on the type
/// of boxes, so it is compiled once.
struct Relocate<'a> {
    partition: &'a Partition,
    /// Were all records rewritten, or only those of changed objects?
    all: bool,
    track_delta: bool,
    block: &'a mut Block,
}

impl Kernel for Relocate<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let Self { partition, all, track_delta, block } = self;
        let Block { runs, arena, list, kept, deltas, .. } = block;
        if all {
            for run in runs.iter_mut() {
                run.next = list.drop_marked(arena, run.inner as usize..run.next as usize) as u32;
            }
        }
        kept.clear();
        kept.extend(runs.iter().map(|run| run.next));
        let root = partition.root();
        let not_spilled = &mut Vec::new();
        for relocation in list.entries() {
            place(simd, partition, &root, (&mut *runs, &mut *arena, not_spilled), relocation);
        }
        if track_delta {
            for ((run, kept), delta) in runs.iter().zip(&*kept).zip(&mut *deltas) {
                delta.arrived = (run.next - kept) as usize;
            }
        }
        // Records that did not fit were counted, not written: their runs move to the end of the arena, and the records are appended again.
        let mut overfull = Vec::new();
        for (tile, run) in runs.iter_mut().enumerate().filter(|(_, run)| run.next > run.end) {
            if !all {
                return false; // how many of the records behind the inner ones stay is not known
            }
            run.move_to_end(arena, kept[tile]);
            overfull.push(tile as u16);
        }
        for Relocation { corners, id } in list.entries().iter().filter(|_| !overfull.is_empty()) {
            put_many(partition, runs, arena, not_spilled, (corners, *id), &|tile| overfull.binary_search(&tile).is_ok());
        }
        true
    }
}

/// Appends the records of an object to all tiles that it reaches.
#[inline(always)]
fn place<S: Simd>(
    simd: S,
    partition: &Partition,
    root: &CellMap,
    (runs, arena, spilled): (&mut [Run], &mut [Record], &mut Vec<(u16, u32)>),
    relocation: &Relocation,
) {
    let Relocation { corners, id } = relocation;
    let (low, high) = root.cells(corners);
    let (cell, steps) = (low.iter().sum::<i32>(), std::array::from_fn(|k| high[k] - low[k]));
    let entry = partition.entries[cell as usize];
    let home = if entry & FINER == 0 { entry } else { partition.tile_at(&corners.low()) };
    put(simd, runs, arena, spilled, home, (corners, *id));
    straddle(simd, partition, runs, arena, spilled, (corners, *id), (home, cell as u32, steps));
}
