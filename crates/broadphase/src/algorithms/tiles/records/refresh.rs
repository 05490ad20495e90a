//! Records rewritten in place, starting from those of the last frame; objects that reach other tiles are relocated.
//!
//! Most objects are wholly inside the tile that they were wholly inside before, and most of the others still reach the same tiles.
//! Their records are overwritten without a table look-up, and only the boxes are not read in order. A block is small enough for
//! its boxes to stay in the cache. (Relocating every object that reaches several tiles was slower.)

use super::{Block, Run, put, put_many, straddle};
use crate::algorithms::tiles::axis_motion::TileDelta;
use crate::algorithms::tiles::lattice::Lattice;
use crate::algorithms::tiles::partition::{FINER, Partition, Tile};
use crate::algorithms::tiles::update::RECORDS;
use crate::bits::bit;
use crate::error::Error;
use crate::geometry::{Real, each_axis};
use crate::kernels::quantize::{
    CellMap, Corners, Relocation, RelocationList, Source, TilePlace, axis_in_record, refresh_changed, rewrite_straddling,
};
use crate::kernels::tile::Record;
use crate::kernels::{Kernel, Kernels, Simd, prefetch};
use crate::memory;
use crate::objects::{Frame, Live};

/// Every second box is prefetched, with the cache lines of its first and last byte, which covers all lines of the boxes.
const BOXES_PER_LINE: usize = 2;

impl Block {
    /// Rewrites all records, as [`scatter`](Block::scatter) does, starting from those of the last frame. If `changed` is not empty, rewrites only the
    /// records of objects with a bit in it. If all objects move along `motion_axis`, records in the deltas which tiles also changed across it.
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
        let removed = self.begin_refresh(frame, lattice, changed);
        if !changed.is_empty() {
            self.valid &= kernels.run_narrow(RewriteChanged { frame, lattice, partition, changed, block: self });
        } else {
            // Prefetched in order, boxes arrive in the cache at the full memory bandwidth. (Prefetching the next block's boxes during this pass was
            // slower: the two blocks evict each other.)
            (self.first..self.last).step_by(BOXES_PER_LINE).for_each(|id| prefetch(frame.boxes, id as usize));
            let Self { runs, arena, deltas, list, .. } = self;
            let source = Source { boxes: frame.boxes, map: lattice.map() };
            let whole = Part { runs, tiles: &partition.tiles, deltas, arena, start: 0, list };
            self.valid &= whole.rewrite(kernels, &source, motion_axis);
        }
        if self.valid && !self.ran_out_of_memory() {
            self.relocate(kernels, (frame, lattice, partition), changed, (removed, motion_axis));
        }
    }

    /// Clears the relocations of the last frame, and stores which slots are live. If all records will be rewritten, drops those of removed
    /// objects first: a test inside the loop over the boxes would keep it from being vectorized. Returns whether any object was removed.
    pub(super) fn begin_refresh<const D: usize, T: Real>(
        &mut self,
        frame: &Frame<'_, D, T>,
        lattice: &Lattice<D, T>,
        changed: &[u64],
    ) -> bool {
        self.refused = false;
        self.part_lists.iter_mut().for_each(|list| list.is_incomplete = false);
        self.list.clear(self.first, self.last);
        self.valid = true;
        self.has_written_all = changed.is_empty();
        let inserted = |id: u32| {
            let value = &frame.boxes[id as usize];
            (lattice.corners(value), value.is_valid())
        };
        let removed = self.update_live((frame.live, frame.slots()), &inserted, changed);
        if removed && changed.is_empty() {
            self.drop_removed();
        }
        removed
    }

    /// Drops the records of objects that are not live; the others keep their order. Most tiles have none, and are only read.
    fn drop_removed(&mut self) {
        let Self { runs, arena, live, first, .. } = self;
        let is_live = |record: &Record| bit(live, record.id() - *first);
        let keep = |arena: &mut [Record], from: u32, to: u32, mut end: u32| {
            for at in from..to {
                let record = arena[at as usize];
                arena[end as usize] = record;
                end += u32::from(is_live(&record));
            }
            end
        };
        for run in runs {
            if arena[run.start as usize..run.next as usize].iter().fold(true, |all, record| all & is_live(record)) {
                continue;
            }
            let inner = keep(arena, run.start, run.inner, run.start);
            (run.next, run.inner) = (keep(arena, run.inner, run.next, inner), inner);
        }
    }

    /// Appends the records of objects that no longer reach the same tiles. The boxes must be valid.
    pub(super) fn relocate<const D: usize, T: Real>(
        &mut self,
        kernels: Kernels,
        (frame, lattice, partition): (&Frame<'_, D, T>, &Lattice<D, T>, &Partition),
        changed: &[u64],
        (removed, motion_axis): (bool, Option<usize>),
    ) {
        let (all, track_delta) = (changed.is_empty(), motion_axis.is_some());
        if all {
            let source = Source { boxes: frame.boxes, map: lattice.map() };
            if removed && track_delta {
                self.deltas.iter_mut().for_each(|delta| delta.across = true);
            }
            self.list.reserve_for_noted();
            if self.list.is_incomplete {
                return;
            }
            kernels.run_narrow(ListNoted { source, list: &mut self.list });
        }
        self.kept.clear();
        if memory::reserve(&mut self.kept, self.runs.len(), RECORDS).is_err() {
            self.refused = true;
            return;
        }
        match kernels.run_narrow(Relocate { partition, all, track_delta, block: self }) {
            Ok(true) => (),
            Ok(false) => self.scatter(kernels, frame, lattice, partition, changed),
            Err(_) => self.refused = true,
        }
    }

    /// Stores which slots are live: of all slots, or of those with a bit in `changed`. A slot that the caller wrongly left out of a list keeps its
    /// records, so it counts as live until the next pass over all records. Lists inserted objects for relocation; returns whether any object was
    /// removed. Does not depend on the type of boxes, so it is compiled once: `inserted_at` gives the corners of a box, and whether it is valid.
    fn update_live(
        &mut self,
        (live, slots): (Live<'_>, usize),
        inserted_at: &dyn Fn(u32) -> (Corners, bool),
        changed: &[u64],
    ) -> bool {
        let (first, last) = (self.first as usize / 64, (self.last as usize).div_ceil(64));
        if memory::resize(&mut self.live, last - first, 0, RECORDS).is_err() {
            self.refused = true;
            return false;
        }
        let mut any_removed = false;
        for (word, was) in (first..last).zip(&mut self.live) {
            let written = if changed.is_empty() { !0 } else { changed.get(word).copied().unwrap_or(0) };
            let now = (live.word(word, slots) & written) | (*was & !written);
            any_removed |= *was & !now != 0;
            let mut inserted = now & !*was;
            while inserted != 0 {
                let id = word as u32 * 64 + inserted.trailing_zeros();
                let (corners, is_valid) = inserted_at(id);
                self.valid &= is_valid;
                let flag = if bit(changed, id) { Record::FLAG } else { 0 };
                self.list.push(corners, id | flag);
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

/// The runs of a range of tiles.
pub(super) struct Part<'a> {
    pub(super) runs: &'a mut [Run],
    pub(super) tiles: &'a [Tile],
    pub(super) deltas: &'a mut [TileDelta],
    /// The part of the block's arena that holds the runs, and its start.
    pub(super) arena: &'a mut [Record],
    pub(super) start: usize,
    pub(super) list: &'a mut RelocationList,
}

impl Part<'_> {
    /// Rewrites all records in place, and lists the objects to be relocated. Returns whether all boxes are valid.
    pub(super) fn rewrite<const D: usize, T: Real>(
        self,
        kernels: Kernels,
        source: &Source<'_, D, T>,
        motion_axis: Option<usize>,
    ) -> bool {
        // In the plane, motion along one axis is not used (`motion_axis`), so the loop that tracks it is not compiled.
        if const { D == 3 } && motion_axis.is_some() {
            kernels.run(RewriteAll::<true, D, T> { source, motion_axis, part: self })
        } else {
            kernels.run(RewriteAll::<false, D, T> { source, motion_axis, part: self })
        }
    }
}

/// The kernel of [`Part::rewrite`]. With `TRACK_DELTA`, it records which tiles changed across the motion axis.
struct RewriteAll<'a, const TRACK_DELTA: bool, const D: usize, T> {
    source: &'a Source<'a, D, T>,
    motion_axis: Option<usize>,
    part: Part<'a>,
}

impl<const TRACK_DELTA: bool, const D: usize, T: Real> Kernel for RewriteAll<'_, TRACK_DELTA, D, T> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let Self { source, motion_axis, part } = self;
        let Part { runs, tiles, deltas, arena, start, list } = part;
        let mut valid = true;
        for ((run, tile), delta) in runs.iter_mut().zip(tiles).zip(deltas) {
            let place = TilePlace { map: &run.map, low: tile.low, high: tile.high };
            let (from, middle, to) = (run.start as usize - start, run.inner as usize - start, run.next as usize - start);
            if !list.make_room(middle - from, to - middle) {
                break; // the list says so
            }
            list.difference = 0;
            let (end, inner_valid) = simd.rewrite_inner::<TRACK_DELTA, D, T>(source, place, arena, from..middle, list);
            let (inner_end, end, outer_valid) =
                rewrite_straddling::<TRACK_DELTA, D, T, S>(simd, source, place, arena, middle..to, end, list);
            if TRACK_DELTA && let Some(motion_axis) = motion_axis {
                let across = list.difference & Record::bits_but(axis_in_record(tile.axis, motion_axis)) != 0;
                *delta = TileDelta { across, arrived: 0 };
            }
            (run.inner, run.next) = ((start + inner_end) as u32, (start + end) as u32);
            valid &= inner_valid & outer_valid;
        }
        valid
    }
}

/// Adds the noted objects to the relocations: those that reach several tiles, but no longer the same ones.
struct ListNoted<'a, const D: usize, T> {
    source: Source<'a, D, T>,
    list: &'a mut RelocationList,
}

impl<const D: usize, T: Real> Kernel for ListNoted<'_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.list.add_noted(simd, &self.source);
    }
}

/// Rewrites the records of changed objects in place, and lists the objects to be relocated. Returns whether all boxes are valid.
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
        let source = Source { boxes: frame.boxes, map: lattice.map() };
        let is_live = |id: u32| bit(live, id - *first);
        ones(changed, *first, *last).for_each(|id| prefetch(frame.boxes, id as usize));
        let mut valid = true;
        for (run, tile) in runs.iter_mut().zip(&partition.tiles) {
            let place = TilePlace { map: &run.map, low: tile.low, high: tile.high };
            let (start, middle, next) = (run.start as usize, run.inner as usize, run.next as usize);
            let (mut end, mut ends) = (start, [0; 2]);
            // A loop of two, since the body would be compiled twice otherwise.
            for (range, range_end) in [start..middle, middle..next].into_iter().zip(&mut ends) {
                let all_valid;
                (end, all_valid) = refresh_changed(simd, (&source, changed, is_live), place, arena, range, end, list);
                *range_end = end as u32;
                valid &= all_valid;
            }
            [run.inner, run.next] = ends;
        }
        valid
    }
}

/// Appends the records of the listed objects to all tiles that they reach. `kept` has room for all runs. Returns whether all records were written: if only
/// those of changed objects are rewritten and a run is full, the caller writes all. Does not depend on the type of boxes, so it is compiled once.
struct Relocate<'a> {
    partition: &'a Partition,
    /// Were all records rewritten, or only those of changed objects?
    all: bool,
    track_delta: bool,
    block: &'a mut Block,
}

impl Kernel for Relocate<'_> {
    type Output = Result<bool, Error>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Result<bool, Error> {
        let Self { partition, all, track_delta, block } = self;
        let Block { runs, arena, list, kept, deltas, left_behind, .. } = block;
        if all {
            for run in runs.iter_mut() {
                run.next = list.drop_marked(arena, run.inner as usize..run.next as usize) as u32;
            }
        }
        for run in runs.iter() {
            kept.push(run.next); // reserved
        }
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
                return Ok(false); // it is unknown how many records after the inner ones stay
            }
            run.move_to_end(arena, kept[tile], left_behind)?;
            memory::push(&mut overfull, tile as u16, RECORDS)?;
        }
        for Relocation { corners, id } in list.entries().iter().filter(|_| !overfull.is_empty()) {
            put_many(partition, runs, arena, not_spilled, (corners, *id), &|tile| overfull.binary_search(&tile).is_ok());
        }
        Ok(true)
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
    let (cell, steps) = (low.iter().sum::<i32>(), each_axis(|k| high[k] - low[k]));
    let entry = partition.entries[cell as usize];
    let home = if entry & FINER == 0 { entry } else { partition.tile_at(&corners.low()) };
    put(simd, runs, arena, spilled, home, (corners, *id));
    straddle(simd, partition, runs, arena, spilled, (corners, *id), (home, cell as u32, steps));
}
