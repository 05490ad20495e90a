//! A sweep in each cell.

use std::ops::{ControlFlow, Range};

use super::cells::Cells;
use super::{GridSap, Scratch};
use crate::algorithms::Probes;
use crate::algorithms::common::{Visit, probe_each};
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::PairSink;
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore};

/// Cells whose pairs share a chunk.
const CELLS_PER_CHUNK: usize = 16;

impl<const D: usize, T: Real> GridSap<D, T> {
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        self.find_starts();
        let occupied = self.scratch.starts.len() - 1;
        let chunks = occupied.div_ceil(CELLS_PER_CHUNK);
        let kept = out.begin(frame, context, self.tracked.revision(), chunks)? && !self.tracked.is_dirty();
        let clock = context.clock();
        if let Some(cells) = self.cells.as_ref().filter(|_| !kept) {
            let starts = &self.scratch.starts;
            context.run_weighted(chunks, SEEK * frame.slots(), |chunk, worker| {
                let range = chunk * CELLS_PER_CHUNK..((chunk + 1) * CELLS_PER_CHUNK).min(occupied);
                out.rewrite(chunk, worker, frame, |hits| {
                    range.for_each(|at| self.sweep(cells, starts[at] as usize..starts[at + 1] as usize, hits));
                });
            });
        }
        context.record("sweep", clock);
        self.tracked.set_written(out.finish(chunks)?);
        Ok(())
    }

    pub(super) fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        probe_each(frame, probes, context, out, |area, visit| self.visit_in(area, visit))
    }

    fn find_starts(&mut self) {
        let Self { entries, scratch: Scratch { starts, .. }, .. } = self;
        starts.clear();
        let mut last = None;
        for (at, entry) in entries.iter().enumerate() {
            if last != Some(entry.cell) {
                starts.push(at as u32);
                last = Some(entry.cell);
            }
        }
        starts.push(entries.len() as u32);
    }

    /// The pairs that count in one cell.
    fn sweep(&self, cells: &Cells<D, T>, range: Range<usize>, hits: &mut PairSink<'_>) {
        let entries = &self.entries[range];
        let cell = cells.cell(entries[0].cell);
        let mut tests = 0;
        for (at, entry) in entries.iter().enumerate() {
            let (value, block) = (self.tracked.get(entry.id), &self.blocks[entry.id as usize]);
            for other in entries[at + 1..].iter().take_while(|other| other.at <= value.max[0]) {
                if block.counts_at(&self.blocks[other.id as usize], &cell) {
                    tests += 1;
                    if self.tracked.get(other.id).overlaps(value) {
                        hits.push(Pair::new(entry.id, other.id));
                    }
                }
            }
            if hits.stopped() {
                break;
            }
        }
        hits.count_tests(tests);
    }

    /// Visits all that may overlap `area`, each in the cell in which the two count.
    pub(super) fn visit_in(&self, area: &Aabb<D, T>, visit: Visit<'_>) {
        let Some(cells) = &self.cells else { return };
        let block = cells.block(area);
        let mut flow = ControlFlow::Continue(());
        block.for_each(|cell| {
            let number = cells.number(&cell);
            let start = self.entries.partition_point(|entry| entry.cell < number);
            let here = self.entries[start..].iter().take_while(|entry| entry.cell == number && entry.at <= area.max[0]);
            for entry in here {
                if flow.is_continue() && block.counts_at(&self.blocks[entry.id as usize], &cell) {
                    flow = visit(entry.id);
                }
            }
        });
    }
}
