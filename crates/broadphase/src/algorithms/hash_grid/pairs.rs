//! The detection step (algorithm 4 of the paper), region by region.

use std::ops::Range;

use super::layout::MAX_BITS;
use super::level::Level;
use super::region::Gathered;
use super::{FEW, HashGrid};
use crate::algorithms::Probes;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::cell_runs::{CellBlock, join_neighbours, join_rows};
use crate::kernels::{Hits, all_pairs};
use crate::objects::Frame;
use crate::pairs::{Lineage, Pair, PairStore};

/// Rows per chunk while all pairs are tested.
const ROWS_PER_CHUNK: usize = 256;
/// Probes that share a chunk.
const PROBES_PER_CHUNK: usize = 1024;
/// Chunks of a level, as bits, at most.
const CHUNK_BITS: u32 = 10;

/// What each chunk of pairs is made of. Chunks are ranges of cell indices, and one for what no level's cells hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// For each chunk: its level, and the cells, in regions.
    chunks: Vec<(u16, Range<u32>)>,
    /// `targets[at[level]..at[level + 1]]` are the levels that the objects of `level` search.
    targets: Vec<u16>,
    at: Vec<usize>,
}

impl Plan {
    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.chunks.capacity() * size_of::<(u16, Range<u32>)>() + self.targets.capacity() * 2 + self.at.capacity() * 8
    }
}

impl<const D: usize, T: Real> HashGrid<D, T> {
    pub(super) fn find(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        if !self.active {
            return self.find_all_pairs(frame, context, out);
        }
        self.make_plan();
        let chunks = self.scratch.plan.chunks.len() + 1;
        let kept = out.begin(frame, context, self.lineage, chunks);
        if !kept || self.dirty {
            let clock = context.clock();
            let mut ids = std::mem::take(&mut self.scratch.ids);
            ids.clear();
            for level in self.levels.iter().filter(|level| level.count <= FEW) {
                level.cells.for_each_cell(|cell| level.cells.for_each(cell, |id| ids.push(id)));
            }
            self.scratch.few.gather(frame.boxes, &ids);
            self.scratch.ids = ids;
            self.scratch.gathered.prepare(context);
            self.scratch.workers = self.scratch.workers.max(context.width());
            self.rewrite_all(frame, context, out);
            context.record("join", clock);
        }
        self.lineage = out.finish(chunks)?;
        self.dirty = false;
        Ok(())
    }

    fn rewrite_all(&self, frame: &Frame<'_, D, T>, context: &Context, out: &PairStore) {
        let plan = &self.scratch.plan;
        context.run(plan.chunks.len() + 1, |chunk, worker| {
            out.rewrite(chunk, worker, frame, |hits| match plan.chunks.get(chunk) {
                Some((level, regions)) => {
                    let gathered = &mut *self.scratch.gathered.get(worker);
                    let targets = &plan.targets[plan.at[*level as usize]..plan.at[*level as usize + 1]];
                    for region in regions.clone() {
                        self.join_region(frame, context, *level, region, targets, gathered, hits);
                    }
                }
                None => {
                    let few = self.scratch.few.columns();
                    all_pairs::join_self(context.kernels(), few, 0..few.len(), hits);
                    self.unbounded.join(frame, context, hits);
                }
            });
        });
    }

    /// All pairs of the objects in one region with those behind them in their level, and in the levels they search.
    #[allow(clippy::too_many_arguments)]
    fn join_region(
        &self,
        frame: &Frame<'_, D, T>,
        context: &Context,
        level: u16,
        region: u32,
        targets: &[u16],
        gathered: &mut Gathered<D, T>,
        hits: &mut Hits,
    ) {
        let level = &self.levels[level as usize];
        // One word of the summary is 4,096 cells, which is a region, or all of them if they are fewer.
        if level.cells.summary[region as usize] == 0 {
            return;
        }
        let shape = &level.region;
        shape.gather(region << shape.bits, &level.layout, &level.cells, frame.boxes, gathered);
        let block = CellBlock {
            boxes: gathered.columns.columns(),
            starts: &gathered.starts,
            rows: &shape.rows,
            row: shape.row,
            ahead: &shape.ahead,
        };
        join_neighbours(context.kernels(), &block, hits);
        if self.scratch.few.len() > 0 {
            join_rows(context.kernels(), &block, self.scratch.few.columns(), hits);
        }
        if targets.is_empty() {
            return;
        }
        for &row in &shape.rows {
            for position in gathered.starts[row as usize]..gathered.starts[row as usize + shape.row] {
                let id = gathered.columns.columns().ids()[position as usize];
                let value = gathered.columns.get(position as usize);
                for &target in targets {
                    self.levels[target as usize].search(frame, &value, hits, |other| Pair::new(id, other));
                }
            }
            if hits.stopped() {
                return;
            }
        }
    }

    /// Cuts the work into chunks, and decides who of two levels searches the other.
    fn make_plan(&mut self) {
        let Self { levels, scratch, .. } = self;
        let plan = &mut scratch.plan;
        plan.chunks.clear();
        plan.targets.clear();
        plan.at.clear();
        for (index, level) in levels.iter().enumerate() {
            plan.at.push(plan.targets.len());
            if level.count <= FEW {
                continue;
            }
            let bits = level.layout.bits();
            let chunk = level.region.bits.max(bits.saturating_sub(CHUNK_BITS)) - level.region.bits;
            let regions = 1u32 << (bits - level.region.bits).min(MAX_BITS);
            plan.chunks.extend((0..regions >> chunk).map(|c| (index as u16, c << chunk..(c + 1) << chunk)));
            for (other, target) in levels.iter().enumerate() {
                if other != index && target.count > FEW {
                    let (there, back) = (level.search_cost(target), target.search_cost(level));
                    if there < back || (there == back && index < other) {
                        plan.targets.push(other as u16);
                    }
                }
            }
        }
        plan.at.push(plan.targets.len());
    }

    /// Below the threshold: all pairs.
    fn find_all_pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let chunks = self.live.div_ceil(ROWS_PER_CHUNK);
        let kept = out.begin(frame, context, self.lineage, chunks);
        if !kept || self.dirty {
            let mut ids = std::mem::take(&mut self.scratch.ids);
            ids.clear();
            ids.extend(frame.ids());
            self.scratch.few.gather(frame.boxes, &ids);
            self.scratch.ids = ids;
            let all = self.scratch.few.columns();
            context.run(chunks, |chunk, worker| {
                let rows = chunk * ROWS_PER_CHUNK..((chunk + 1) * ROWS_PER_CHUNK).min(all.len());
                out.rewrite(chunk, worker, frame, |hits| all_pairs::join_self(context.kernels(), all, rows, hits));
            });
        }
        self.lineage = out.finish(chunks)?;
        self.dirty = false;
        Ok(())
    }

    pub(super) fn join_probes(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        let chunks = probes.boxes.len().div_ceil(PROBES_PER_CHUNK);
        let unfiltered = Frame::new(frame.boxes);
        let view = if probes.ids.is_some() { frame } else { &unfiltered };
        let pair = |index: usize, other: u32| match probes.ids {
            Some(ids) => Pair::new(ids[index], other),
            None => Pair { a: index as u32, b: other },
        };
        out.begin(view, context, Lineage::default(), chunks);
        context.run(chunks, |chunk, worker| {
            out.rewrite(chunk, worker, view, |hits| {
                for index in chunk * PROBES_PER_CHUNK..((chunk + 1) * PROBES_PER_CHUNK).min(probes.boxes.len()) {
                    if hits.stopped() {
                        return;
                    }
                    self.search(frame, &probes.boxes[index], hits, |other| pair(index, other));
                }
            });
        });
        out.finish(chunks).map(|_| ())
    }

    /// All objects that overlap a box, in every level and beside them.
    fn search(&self, frame: &Frame<'_, D, T>, value: &Aabb<D, T>, hits: &mut Hits, pair: impl Fn(u32) -> Pair) {
        if !self.active {
            hits.count_tests(self.live as u64);
            frame.ids().filter(|&id| frame.boxes[id as usize].overlaps(value)).for_each(|id| hits.push(pair(id)));
            return;
        }
        for level in self.levels.iter().filter(|level| level.count > 0) {
            level.search(frame, value, hits, &pair);
        }
        let unbounded = self.unbounded.ids();
        hits.count_tests(unbounded.len() as u64);
        unbounded.iter().filter(|&&id| frame.boxes[id as usize].overlaps(value)).for_each(|&id| hits.push(pair(id)));
    }
}

impl<const D: usize, T: Real> Level<D, T> {
    /// Pushes a pair for each object of this level that overlaps `value`.
    #[inline]
    pub(super) fn search(&self, frame: &Frame<'_, D, T>, value: &Aabb<D, T>, hits: &mut Hits, pair: impl Fn(u32) -> Pair) {
        let mut tests = 0;
        self.for_each_in(&self.reach(value), |cell| {
            self.cells.for_each(cell, |id| {
                tests += 1;
                if frame.boxes[id as usize].overlaps(value) {
                    hits.push(pair(id));
                }
            });
        });
        hits.count_tests(tests);
    }

    /// What it costs the objects of this level to search another: words to read, and objects to test there.
    fn search_cost(&self, target: &Self) -> f64 {
        let (mut words, mut share) = (1.0, 1.0);
        for k in 0..D {
            let (own, other) = (self.cell[k].to_f64(), target.cell[k].to_f64());
            let dim = f64::from(1u32 << target.layout.axis_bits(k));
            let cells = ((own + other) / other + 1.0).min(dim);
            words *= cells / f64::from(1u32 << target.layout.word_bits[k]) + 1.0;
            share *= cells / dim;
        }
        self.count as f64 * (2.0 * words + share * target.count as f64)
    }
}
