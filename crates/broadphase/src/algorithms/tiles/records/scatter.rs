//! All records, written in the order of the slots: one pass over the boxes, 16 bytes per copy.
//!
//! The simple loop looks up the tile of an object's lower corner and writes the record there; then it visits the other tiles that
//! the object reaches. Three departures:
//! 1. A few hundred boxes go through each step together: quantize, look up, write, and finally the list of those that reach more than one
//!    tile. Short loops without a branch keep the processor busy; one long loop took twice the time.
//! 2. A tile's records lie in one run, with a capacity of the last frame's length and an eighth more or, in the first frame, of the length
//!    estimated from the sample. Records that do not fit are listed. A few are written after the pass, to runs that move to the end. If there
//!    are many, the exact lengths are known by then, and the block is written again.
//! 3. Records go to hundreds of runs in turn. The cache line that a run needs next is prefetched one record ahead.

use super::{Block, Capacities, Run, put, straddle};
use crate::algorithms::tiles::axis_motion::TileDelta;
use crate::algorithms::tiles::lattice::Lattice;
use crate::algorithms::tiles::partition::{FINER, Partition};
use crate::algorithms::tiles::plan::tuned::SPILLED;
use crate::algorithms::tiles::update::RECORDS;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::quantize::{Batch, CellMap, Corners, Map};
use crate::kernels::tile::Record;
use crate::kernels::{Kernel, Kernels, Scalar, Simd};
use crate::memory;
use crate::objects::{Frame, Live};

impl Block {
    /// Writes all records; those of objects with a bit in `changed` get a flag. Sets `valid` to whether all boxes are valid. If memory runs out,
    /// [`ran_out_of_memory`](Block::ran_out_of_memory) says so.
    pub(in crate::algorithms::tiles) fn scatter<const D: usize, T: Real>(
        &mut self,
        kernels: Kernels,
        frame: &Frame<'_, D, T>,
        lattice: &Lattice<D, T>,
        partition: &Partition,
        changed: &[u64],
    ) {
        self.refused = self.try_scatter(kernels, frame, lattice, partition, changed).is_err();
    }

    fn try_scatter<const D: usize, T: Real>(
        &mut self,
        kernels: Kernels,
        frame: &Frame<'_, D, T>,
        lattice: &Lattice<D, T>,
        partition: &Partition,
        changed: &[u64],
    ) -> Result<(), Error> {
        self.list.is_incomplete = false;
        self.part_lists.iter_mut().for_each(|list| list.is_incomplete = false);
        if self.needs_layout() {
            self.lay_out()?;
        }
        self.deltas.fill(TileDelta::ALL);
        self.has_written_all = true;
        let most = (self.last - self.first) as usize / SPILLED;
        self.spilled.clear();
        // If there is no memory for the list, records that do not fit are only counted, and another pass writes them.
        let _ = self.spilled.try_reserve_exact(most);
        while self.scatter_once(kernels, frame, lattice, partition, changed) > self.spilled.len() {
            self.spilled.clear();
            self.lay_out()?;
        }
        self.write_spilled(&|id| lattice.corners(&frame.boxes[id as usize]))?;
        if self.capacities == Capacities::Expected {
            self.capacities = Capacities::Used;
        }
        let words = self.first as usize / 64..(self.last as usize).div_ceil(64);
        self.live.clear();
        memory::extend(&mut self.live, words.len(), words.map(|word| frame.live.word(word, frame.slots())), RECORDS)
    }

    /// One pass. Returns how many records did not fit.
    fn scatter_once<const D: usize, T: Real>(
        &mut self,
        kernels: Kernels,
        frame: &Frame<'_, D, T>,
        lattice: &Lattice<D, T>,
        partition: &Partition,
        changed: &[u64],
    ) -> usize {
        self.runs.iter_mut().for_each(|run| (run.next, run.inner) = (run.start, run.start));
        self.valid = true;
        let (first, last) = (self.first as usize, self.last as usize);
        let root = partition.root();
        // Batches stay in the cache from step to step.
        for start in (first..last).step_by(Batch::LEN) {
            let boxes = &frame.boxes[start..last];
            let count = boxes.len().min(Batch::LEN);
            let all_valid = kernels.run_narrow(Fill { boxes, map: lattice.map(), cells: &root, batch: &mut self.batch[0] });
            // An invalid box makes the update fail, so the pass stops. Boxes of slots that are not live do not matter.
            if !all_valid && !live_are_valid(frame, start, count) {
                self.valid = false;
                return 0;
            }
            let (runs, arena, batch) = (&mut self.runs[..], &mut self.arena[..], &mut self.batch[0]);
            let spilled = &mut self.spilled;
            kernels.run_narrow(PutBatch { partition, live: frame.live, changed, start, count, runs, arena, spilled, batch });
        }
        self.runs.iter().map(|run| run.next.saturating_sub(run.end) as usize).sum()
    }
}

impl Block {
    /// Writes the records that did not fit, to runs that are moved to the end of the arena.
    fn write_spilled(&mut self, corners: &dyn Fn(u32) -> Corners) -> Result<(), Error> {
        if self.spilled.is_empty() || !self.valid {
            self.spilled.clear();
            return Ok(());
        }
        for run in self.runs.iter_mut().filter(|run| run.next > run.end) {
            run.move_to_end(&mut self.arena, run.end, &mut self.left_behind)?;
        }
        for (tile, id) in self.spilled.drain(..) {
            let corners = corners(id & !Record::FLAG);
            put(Scalar, &mut self.runs, &mut self.arena, &mut Vec::new(), tile, (&corners, id));
        }
        Ok(())
    }
}

/// In place of a tile, for slots that are not live: no run has this number, so nothing is written.
const NOWHERE: u16 = u16::MAX;

/// Maps the first boxes of a list, up to [`Batch::LEN`], to the lattice. Returns whether they are valid.
struct Fill<'a, const D: usize, T> {
    boxes: &'a [Aabb<D, T>],
    map: &'a Map<T>,
    cells: &'a CellMap,
    batch: &'a mut Batch,
}

impl<const D: usize, T: Real> Kernel for Fill<'_, D, T> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        self.batch.fill(simd, self.boxes, self.map, self.cells)
    }
}

/// Writes the records of a batch: `count` boxes from the slot `start` on. Does not depend on the type of boxes, so it is compiled once. Runs and
/// arena are slices, whose pointers stay in registers; with vectors, the compiler must assume that a store changes the pointer.
struct PutBatch<'a> {
    partition: &'a Partition,
    live: Live<'a>,
    changed: &'a [u64],
    start: usize,
    count: usize,
    runs: &'a mut [Run],
    arena: &'a mut [Record],
    spilled: &'a mut Vec<(u16, u32)>,
    batch: &'a mut Batch,
}

impl Kernel for PutBatch<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { partition, live, changed, start, count, runs, arena, spilled, batch } = self;
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
        if matches!(live, Live::Bits(_)) {
            for at in (0..count).filter(|at| !live.contains((start + at) as u32)) {
                batch.entries[at] = NOWHERE;
            }
        }
        batch.name(start, changed);
        for at in 0..count {
            put(simd, runs, arena, spilled, batch.entries[at], (batch.corners(at), batch.ids[at]));
        }
        for at in (0..straddlers).map(|index| batch.listed(index)).filter(|&at| batch.entries[at] != NOWHERE) {
            let place = (batch.entries[at], batch.cells(at).0, batch.steps(at));
            straddle(simd, partition, runs, arena, spilled, (batch.corners(at), batch.ids[at]), place);
        }
    }
}

#[cold]
fn live_are_valid<const D: usize, T: Real>(frame: &Frame<'_, D, T>, start: usize, count: usize) -> bool {
    (start..start + count).all(|id| !frame.live.contains(id as u32) || frame.boxes[id].is_valid())
}
