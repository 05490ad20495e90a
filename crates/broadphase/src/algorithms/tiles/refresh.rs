//! Records made anew where they lie, for objects that reach the same tiles as before; the others are placed anew.
//!
//! Most objects of a frame are wholly inside the tile that they were wholly inside before, and most of the others still reach the same tiles.
//! Their records are overwritten: no look-up, and boxes are the only memory that is not read in order. A block is small enough for
//! them to stay in the cache. (To place all anew that reach several tiles lost.)

use super::lattice::Lattice;
use super::partition::{FINER, Partition};
use super::rails::Stir;
use super::scatter::{Block, Run, put, put_many, straddle};
use crate::geometry::Real;
use crate::kernels::quantise::{CellMap, Listed, Place, Source, axis_in_record, refresh_changed, renew, rewrite};
use crate::kernels::tile::Record;
use crate::kernels::{Kernel, Kernels, Simd, prefetch};
use crate::objects::Frame;

/// Every second box is asked for, with the lines of its first and last byte: no line of the boxes is left out.
const BOXES_PER_LINE: usize = 2;

impl Block {
    /// Notes whether a slot is live.
    pub(super) fn set_live(&mut self, id: u32, is_live: bool) {
        self.live.resize((self.last as usize).div_ceil(64) - self.first as usize / 64, 0);
        super::changes::set_bit(&mut self.live, id - self.first, is_live);
    }

    /// Writes all records anew, as [`scatter`](Block::scatter) does, starting from those of the last frame. If any are `changed`, only the
    /// records of those. Where all objects move along an axis, the `rail`, it is noted who did not.
    pub(super) fn refresh<const D: usize, T: Real>(
        &mut self,
        kernels: Kernels,
        frame: &Frame<'_, D, T>,
        lattice: &Lattice<D, T>,
        partition: &Partition,
        changed: &[u64],
        rail: Option<usize>,
    ) {
        if self.is_loose() {
            return self.scatter(kernels, frame, lattice, partition, changed);
        }
        self.list.clear(self.first, self.last);
        self.valid = true;
        let removed = self.book_live(frame, lattice, changed);
        let fits = if rail.is_some() {
            kernels.run(Refresh::<true, D, T> { frame, lattice, partition, changed, removed, rail, block: self })
        } else {
            kernels.run(Refresh::<false, D, T> { frame, lattice, partition, changed, removed, rail, block: self })
        };
        if !fits {
            self.scatter(kernels, frame, lattice, partition, changed);
        }
    }

    /// Notes which slots are live. Lists objects that have come; returns whether any has gone.
    fn book_live<const D: usize, T: Real>(&mut self, frame: &Frame<'_, D, T>, lattice: &Lattice<D, T>, changed: &[u64]) -> bool {
        let (first, last) = (self.first as usize / 64, (self.last as usize).div_ceil(64));
        self.live.resize(last - first, 0);
        let mut any_gone = false;
        for (word, was) in (first..last).zip(&mut self.live) {
            let now = frame.live.word(word, frame.slots());
            any_gone |= *was & !now != 0;
            let mut come = now & !*was;
            while come != 0 {
                let id = word as u32 * 64 + come.trailing_zeros();
                let value = &frame.boxes[id as usize];
                self.valid &= value.is_valid();
                let flag = if super::changes::bit(changed, id) { Record::FLAG } else { 0 };
                self.list.push(lattice.corners(value), id | flag);
                come &= come - 1;
            }
            *was = now;
        }
        any_gone
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

/// The pass itself. Returns whether every record has its place. To `WATCH` is to note what moves otherwise than along the rail.
struct Refresh<'a, const WATCH: bool, const D: usize, T> {
    frame: &'a Frame<'a, D, T>,
    lattice: &'a Lattice<D, T>,
    partition: &'a Partition,
    changed: &'a [u64],
    removed: bool,
    rail: Option<usize>,
    block: &'a mut Block,
}

impl<const WATCH: bool, const D: usize, T: Real> Kernel for Refresh<'_, WATCH, D, T> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let Self { frame, lattice, partition, changed, removed, rail, block } = self;
        let Block { runs, arena, list, kept, stirs, live, first, last, .. } = block;
        let live = (removed || !changed.is_empty()).then_some(&live[..]);
        let source = Source { boxes: frame.boxes, map: lattice.map(), live, first: *first };
        // Boxes that are asked for in order come at the speed of the memory, and then lie in the cache. (To ask for the next block's along
        // the way lost: the two blocks drive each other out.)
        if changed.is_empty() {
            (*first..*last).step_by(BOXES_PER_LINE).for_each(|id| prefetch(frame.boxes, id as usize));
        } else {
            ones(changed, *first, *last).for_each(|id| prefetch(frame.boxes, id as usize));
        }
        for ((run, tile), stir) in runs.iter_mut().zip(&partition.tiles).zip(&mut *stirs) {
            let place = Place { map: &run.map, low: tile.low, high: tile.high };
            let (inner, outer) = (run.start as usize..run.inner as usize, run.inner as usize..run.next as usize);
            if changed.is_empty() {
                list.difference = 0;
                let (end, inner_valid) = rewrite::<WATCH, D, T, S>(simd, &source, place, arena, inner, list);
                let (inner_end, end, outer_valid) = renew::<WATCH, D, T, S>(simd, &source, place, arena, outer, end, list);
                if WATCH && let Some(rail) = rail {
                    let across = list.difference & Record::bits_but(axis_in_record(tile.axis, rail)) != 0;
                    *stir = Stir { across: across | removed, came: 0 };
                }
                (run.inner, run.next) = (inner_end as u32, end as u32);
                block.valid &= inner_valid & outer_valid;
            } else {
                let (source, start) = ((&source, changed), inner.start);
                let (middle, inner_valid) = refresh_changed(simd, source, place, arena, inner, start, list);
                let (end, outer_valid) = refresh_changed(simd, source, place, arena, outer, middle, list);
                (run.inner, run.next) = (middle as u32, end as u32);
                block.valid &= inner_valid & outer_valid;
            }
        }
        if !block.valid {
            return true; // the frame is refused
        }
        list.add_noted(simd, &source);
        for run in runs.iter_mut().filter(|_| changed.is_empty()) {
            run.next = list.drop_marked(arena, run.inner as usize..run.next as usize) as u32;
        }
        kept.clear();
        kept.extend(runs.iter().map(|run| run.next));
        let root = partition.root();
        for listed in list.entries() {
            place(simd, partition, &root, runs, arena, listed);
        }
        if WATCH {
            for ((run, kept), stir) in runs.iter().zip(&*kept).zip(&mut *stirs) {
                stir.came = (run.next - kept) as usize;
            }
        }
        // What did not fit was counted, not written: those runs move to where there is room, and get theirs once more.
        let mut overfull = Vec::new();
        for (tile, run) in runs.iter_mut().enumerate().filter(|(_, run)| run.next > run.end) {
            if !changed.is_empty() {
                return false; // some of the records behind the inner ones were to stay, but nobody knows how many
            }
            run.move_to_end(arena, kept[tile]);
            overfull.push(tile as u16);
        }
        for Listed { corners, id } in list.entries().iter().filter(|_| !overfull.is_empty()) {
            put_many(partition, runs, arena, (corners, *id), &|tile| overfull.binary_search(&tile).is_ok());
        }
        true
    }
}

/// Puts the records of an object in all tiles that it reaches.
#[inline(always)]
fn place<S: Simd>(simd: S, partition: &Partition, root: &CellMap, runs: &mut [Run], arena: &mut [Record], listed: &Listed) {
    let Listed { corners, id } = listed;
    let (low, high) = root.cells(corners);
    let (cell, steps) = (low.iter().sum::<i32>(), std::array::from_fn(|k| high[k] - low[k]));
    let entry = partition.entries[cell as usize];
    let home = if entry & FINER == 0 { entry } else { partition.tile_at(&corners.low()) };
    put(simd, runs, arena, home, corners, *id);
    straddle(simd, partition, runs, arena, (corners, *id), (home, cell as u32, steps));
}
