//! The detection step: algorithm 4, one comparison at a time.

use std::ops::Range;

use super::grid::Grid;
use super::{PaperHashGrid, WHAT};
use crate::algorithms::Probes;
use crate::algorithms::common::probe_each;
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::PairSink;
use crate::memory;
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore};

/// Occupied cells, or rows of the test of all pairs, whose pairs share a chunk.
const PER_CHUNK: usize = 256;

impl<const D: usize, T: Real> PaperHashGrid<D, T> {
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        self.plan(frame)?;
        let chunks = if self.active { self.chunks.len() + 1 } else { self.ids.len().div_ceil(PER_CHUNK) };
        let kept = out.begin(frame, context, self.revision, chunks)?;
        if !kept || self.dirty {
            let clock = context.clock();
            context.run_weighted(chunks, SEEK * frame.slots(), |chunk, worker| {
                out.rewrite(chunk, worker, frame, |hits| match self.chunks.get(chunk) {
                    _ if !self.active => self.all_pairs(frame, chunk * PER_CHUNK, hits),
                    Some((grid, cells)) => self.search_cells(frame, *grid, cells.clone(), hits),
                    None => self.unbounded.join(frame, context, hits),
                });
            });
            context.record("detect", clock);
        }
        self.revision = out.finish(context, chunks)?;
        self.dirty = false;
        Ok(())
    }

    /// Cuts the occupied cells of all grids into chunks, smallest cells first; below the threshold, lists the objects.
    fn plan(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        self.chunks.clear();
        self.ids.clear();
        if !self.active {
            memory::reserve(&mut self.ids, self.live, WHAT)?;
            return frame.ids().try_for_each(|id| memory::push(&mut self.ids, id, WHAT));
        }
        for &index in &self.list {
            let cells = self.grids[index as usize].occupied().len();
            for from in (0..cells).step_by(PER_CHUNK) {
                memory::push(&mut self.chunks, (index, from..cells.min(from + PER_CHUNK)), WHAT)?;
            }
        }
        Ok(())
    }

    /// Code snippet 3, for some rows.
    fn all_pairs(&self, frame: &Frame<'_, D, T>, from: usize, hits: &mut PairSink<'_>) {
        for row in from..self.ids.len().min(from + PER_CHUNK) {
            if hits.stopped() {
                return;
            }
            test_each(frame, self.ids[row], &self.ids[row + 1..], hits);
        }
    }

    /// Lines 2 to 16 of algorithm 4, for some occupied cells of a grid.
    fn search_cells(&self, frame: &Frame<'_, D, T>, index: u16, cells: Range<usize>, hits: &mut PairSink<'_>) {
        let grid = &self.grids[index as usize];
        let larger = self.list.iter().position(|&other| other == index).map_or(&[][..], |at| &self.list[at + 1..]);
        for &cell in &grid.occupied()[cells] {
            if hits.stopped() {
                return;
            }
            let objects = grid.objects(cell);
            for (at, &id) in objects.iter().enumerate() {
                test_each(frame, id, &objects[at + 1..], hits);
            }
            for others in grid.first_half(cell).map(|other| grid.objects(other)).filter(|others| !others.is_empty()) {
                objects.iter().for_each(|&id| test_each(frame, id, others, hits));
            }
            for grid in larger.iter().map(|&other| &self.grids[other as usize]) {
                objects.iter().for_each(|&id| search_above(frame, id, grid, hits));
            }
        }
    }

    pub(super) fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        probe_each(frame, probes, context, out, |area, visit| self.visit_in(frame, area, visit))
    }
}

/// The object against every object of each cell that the offsets of its place in a grid with larger cells name.
fn search_above<const D: usize, T: Real>(frame: &Frame<'_, D, T>, id: u32, grid: &Grid<D, T>, hits: &mut PairSink<'_>) {
    let value = &frame.boxes[id as usize];
    if grid.holds(value) {
        grid.neighbors(grid.hash(value)).for_each(|cell| test_each(frame, id, grid.objects(cell), hits));
    } else {
        grid.visit_in(value, |others| test_each(frame, id, others, hits));
    }
}

/// One object against several.
#[inline(always)]
fn test_each<const D: usize, T: Real>(frame: &Frame<'_, D, T>, id: u32, others: &[u32], hits: &mut PairSink<'_>) {
    let value = &frame.boxes[id as usize];
    for &other in others {
        if frame.boxes[other as usize].overlaps(value) {
            hits.push(Pair::new(id, other));
        }
    }
    hits.count_tests(others.len() as u64);
}
