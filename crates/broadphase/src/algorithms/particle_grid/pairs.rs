//! The boxes of each cell against those of its neighbors.

use super::neighbors::AHEAD;
use super::space::{floor, for_each_cell};
use super::{ParticleGrid, ParticlePhase};
use crate::algorithms::Probes;
use crate::algorithms::common::probe_chunks;
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::cell_runs::{CellBlock, join_neighbors};
use crate::kernels::{PairSink, prefetch};
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore};

/// Candidates that are tested at a time: enough for their boxes to arrive from memory.
const CANDIDATES: usize = 64;

impl<const D: usize, T: Real> ParticlePhase<D, T> {
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let Some(grid) = &mut self.grid else {
            out.begin(frame, context, self.revision, 0)?;
            self.revision = out.finish(context, 0)?;
            return Ok(());
        };
        let chunks = grid.chunk_count();
        let kept = out.begin(frame, context, self.revision, chunks)?;
        if !kept || self.dirty {
            let clock = context.clock();
            if grid.is_in_rows() {
                self.sorted_ids.clear();
                self.sorted_ids.extend(grid.order.iter().map(|&index| self.ids[index as usize]));
                self.sorted.gather(frame.boxes, &self.sorted_ids);
            } else {
                grid.lay_out(&self.centers);
            }
            let this = (&*grid, &self.sorted, &self.ids, &self.centers);
            context.run_weighted(chunks, SEEK * frame.slots(), |chunk, worker| {
                let (grid, sorted, ids, centers) = this;
                out.rewrite(chunk, worker, frame, |hits| {
                    if !grid.is_in_rows() {
                        return join_slots(grid, grid.chunk_searchers(chunk, chunks), frame, ids, centers, hits);
                    }
                    let slots = grid.chunk_slots(chunk, chunks);
                    // To the kernel all slots of the chunk are one row.
                    let block = CellBlock {
                        boxes: sorted.columns(),
                        starts: &grid.starts,
                        rows: &[slots.start as u32],
                        row: slots.len(),
                        ahead: &grid.ahead,
                    };
                    join_neighbors(context.kernels(), &block, hits);
                });
            });
            context.record("join", clock);
        }
        self.revision = out.finish(context, chunks)?;
        self.dirty = false;
        Ok(())
    }

    pub(super) fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        probe_chunks(frame, probes, context, out, |range, hits| {
            for index in range {
                if hits.stopped() {
                    return;
                }
                self.search(frame, &probes.boxes[index], hits, |other| probes.pair(index, other));
            }
        })
    }

    /// All particles whose box overlaps `area`: those of the cells it can reach, or all if there are fewer particles than cells.
    fn search(&self, frame: &Frame<'_, D, T>, area: &Aabb<D, T>, hits: &mut PairSink, pair: impl Fn(u32) -> Pair) {
        let Some(grid) = &self.grid else { return };
        let space = &grid.space;
        let mut offer = |index: u32| {
            let id = self.ids[index as usize];
            hits.count_tests(1);
            if frame.boxes[id as usize].overlaps(area) {
                hits.push(pair(id));
            }
        };
        // The center of a box that overlaps is at most a radius away, and a little for rounding.
        let radius = grid.radius.to_f64() * 1.01;
        let mut range = [(0, 0); D];
        let mut cells = 1.0;
        for k in 0..D {
            let low = floor((area.min[k].to_f64() - radius - space.origin[k]) * space.inverse[k]);
            let high = floor((area.max[k].to_f64() + radius - space.origin[k]) * space.inverse[k]);
            range[k] = (low.saturating_sub(1), high.saturating_add(1));
            if let Some(dims) = &space.dims {
                range[k] = (range[k].0.clamp(0, dims[k] - 1), range[k].1.clamp(0, dims[k] - 1));
            }
            cells *= range[k].1 as f64 - range[k].0 as f64 + 1.0;
        }
        if cells >= self.ids.len() as f64 {
            return (0..self.ids.len() as u32).for_each(offer);
        }
        for_each_cell(&range, |cell| {
            for &index in grid.slice(space.slot(cell)) {
                if !space.is_hashed() || space.cell(&self.centers[index as usize]) == *cell {
                    offer(index);
                }
            }
        });
    }
}

/// The hashed form: each particle looks into its own cell and those ahead of it. Boxes of one size that stand for balls which
/// touch have centers that are near, so boxes are read for those alone, some candidates later, when they have come from memory.
fn join_slots<const D: usize, T: Real>(
    grid: &ParticleGrid<D, T>,
    searchers: &[u32],
    frame: &Frame<'_, D, T>,
    ids: &[u32],
    centers: &[[T; D]],
    hits: &mut PairSink,
) {
    let (mut tests, mut waiting, mut count) = (0, [(0, 0); CANDIDATES], 0);
    let mut flush = |waiting: &[(u32, u32)]| {
        for &(a, b) in waiting {
            if frame.boxes[a as usize].overlaps(&frame.boxes[b as usize]) {
                hits.push(Pair::new(a, b));
            }
        }
        hits.stopped()
    };
    for (at, &index) in searchers.iter().enumerate() {
        if let Some(&later) = searchers.get(at + AHEAD) {
            prefetch(centers, later as usize);
        }
        let id = ids[index as usize];
        grid.meet(&centers[index as usize], index, &mut tests, |other| {
            let other = ids[other as usize];
            prefetch(frame.boxes, id as usize);
            prefetch(frame.boxes, other as usize);
            waiting[count] = (id, other);
            count += 1;
            if count == CANDIDATES {
                flush(&waiting);
                count = 0;
            }
        });
        if count > CANDIDATES / 2 {
            if flush(&waiting[..count]) {
                break;
            }
            count = 0;
        }
    }
    flush(&waiting[..count]);
    hits.count_tests(tests);
}
