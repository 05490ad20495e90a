//! All records, written in the order of the slots: one pass over the boxes, 16 bytes per copy.
//!
//! The simple loop looks up the tile of an object's lower corner and writes the record there; then it visits the other tiles that
//! the object reaches. Three departures:
//! 1. Some hundred boxes take each step together: quantize, look up, write, and last the list of those that reach more than one
//!    tile. Short loops without a branch keep the processor busy; one long loop took twice the time.
//! 2. A tile's records lie in one run whose capacity is the last frame's length and an eighth more. Overflow is counted, not written: the exact
//!    lengths are then known, and the block is written again.
//! 3. Records go to hundreds of runs in turn. The cache line that a run needs next is prefetched one record ahead.

use super::{Block, put, straddle};
use crate::algorithms::tiles::axis_motion::TileDelta;
use crate::algorithms::tiles::lattice::Lattice;
use crate::algorithms::tiles::partition::{FINER, Partition};
use crate::geometry::{Aabb, Real};
use crate::kernels::quantize::Batch;
use crate::kernels::{Kernel, Kernels, Simd};
use crate::objects::{Frame, Live};

impl Block {
    /// Writes all records; those of objects with a bit in `changed` get a flag. Detects boxes that are not valid.
    pub(in crate::algorithms::tiles) fn scatter<const D: usize, T: Real>(
        &mut self,
        kernels: Kernels,
        frame: &Frame<'_, D, T>,
        lattice: &Lattice<D, T>,
        partition: &Partition,
        changed: &[u64],
    ) {
        if self.is_fragmented() {
            self.reserve();
        }
        self.deltas.fill(TileDelta::ALL);
        while !kernels.run(Scatter { frame, lattice, partition, changed, block: self }) {
            self.reserve();
        }
        self.live.clear();
        self.live.extend(
            (self.first as usize / 64..(self.last as usize).div_ceil(64)).map(|word| frame.live.word(word, frame.slots())),
        );
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
        // As slices, so that they stay in registers: the compiler must assume that a store through `block` moves them.
        let (runs, arena, batch) = (&mut block.runs[..], &mut block.arena[..], &mut *block.batch);
        let has_gaps = matches!(frame.live, Live::Bits(_));
        // In batches, which stay in the cache from step to step.
        for start in (first..last).step_by(Batch::LEN) {
            let count = (last - start).min(Batch::LEN);
            // A box that is not valid makes the update fail, so the pass stops. Boxes of slots that are not live do not count.
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
