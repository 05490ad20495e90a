//! The detection step (algorithm 4 of the paper), block by block.

use std::ops::Range;

use super::cell_block::{Gathered, Nearby};
use super::layout::MAX_BITS;
use super::level::Level;
use super::{FEW, HashGrid};
use crate::algorithms::Probes;
use crate::algorithms::common::probe_chunks;
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::cell_runs::{CellBlock, join_neighbors, join_rows};
use crate::kernels::{PairSink, all_pairs, prefetch};
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore};

/// Rows per chunk while all pairs are tested.
const ROWS_PER_CHUNK: usize = 256;
/// Candidates that are tested at a time: enough for their boxes to arrive from memory, few enough to stay in the cache.
const CANDIDATES: usize = 128;
/// Chunks of a level, as bits, at most.
const CHUNK_BITS: u32 = 10;

/// What each chunk of pairs is made of. Chunks are ranges of cell indices, and one for what no level's cells hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// For each chunk: its level, and the cells, in blocks.
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
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        if !self.active {
            return self.find_all_pairs(frame, context, out);
        }
        self.settle(frame);
        self.make_plan();
        let chunks = self.scratch.plan.chunks.len() + 1;
        let kept = out.begin(frame, context, self.revision, chunks)?;
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
        self.revision = out.finish(context, chunks)?;
        if !kept || self.dirty {
            self.note_tests(out.tests());
        }
        self.dirty = false;
        Ok(())
    }

    fn rewrite_all(&self, frame: &Frame<'_, D, T>, context: &Context, out: &PairStore) {
        let plan = &self.scratch.plan;
        context.run_weighted(plan.chunks.len() + 1, SEEK * frame.slots(), |chunk, worker| {
            out.rewrite(chunk, worker, frame, |hits| match plan.chunks.get(chunk) {
                Some((level, blocks)) => {
                    let gathered = &mut *self.scratch.gathered.get(worker);
                    let targets = &plan.targets[plan.at[*level as usize]..plan.at[*level as usize + 1]];
                    for block in blocks.clone() {
                        self.join_block(frame, context, *level, block, targets, gathered, hits);
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

    /// All pairs of the objects in one block with those behind them in their level, and in the levels they search.
    #[allow(clippy::too_many_arguments)]
    fn join_block(
        &self,
        frame: &Frame<'_, D, T>,
        context: &Context,
        level: u16,
        block: u32,
        targets: &[u16],
        gathered: &mut Gathered<D, T>,
        hits: &mut PairSink,
    ) {
        let level = &self.levels[level as usize];
        // One word of the summary is 4,096 cells, which is a block, or all of them if they are fewer.
        if level.cells.summary[block as usize] == 0 {
            return;
        }
        let shape = &level.block;
        shape.gather(block << shape.bits, &level.layout, &level.cells, frame.boxes, gathered);
        let block = CellBlock {
            boxes: gathered.columns.columns(),
            starts: &gathered.starts,
            rows: &shape.rows,
            row: shape.row,
            ahead: &shape.ahead,
        };
        join_neighbors(context.kernels(), &block, hits);
        self.join_others(frame, context, level, &block, targets, &mut gathered.nearby, hits);
    }

    /// The objects of a block against those of the levels they search, and of levels with few objects. What is near the block
    /// is copied into columns once and tested against each row of cells. The objects of a block are not near to each other
    /// where space has wrapped around: then, and where there are more objects near than in the block, each searches alone.
    #[allow(clippy::too_many_arguments)]
    fn join_others(
        &self,
        frame: &Frame<'_, D, T>,
        context: &Context,
        level: &Level<D, T>,
        block: &CellBlock<'_, D, T>,
        targets: &[u16],
        nearby: &mut Nearby<D, T>,
        hits: &mut PairSink,
    ) {
        let Nearby { others, ids, candidates } = nearby;
        let few = &self.scratch.few;
        if targets.is_empty() && few.len() == 0 {
            return;
        }
        let shape = &level.block;
        let row = |first: u32| block.starts[first as usize] as usize..block.starts[first as usize + shape.row] as usize;
        let own: usize = shape.rows.iter().map(|&first| row(first).len()).sum();
        let mut area = Aabb::empty();
        for position in shape.rows.iter().flat_map(|&first| row(first)) {
            area = area.union(&block.boxes.get(position));
        }
        let near = |value: &Aabb<D, T>| value.overlaps(&area);
        ids.clear();
        ids.extend(few.columns().ids()[..few.len()].iter().filter(|&&id| near(&frame.boxes[id as usize])));
        let whole = level.is_whole(&area);
        let together = |target: &Level<D, T>| whole && target.expected_near(&area) <= 2.0 * own as f64 + 64.0;
        for target in targets.iter().map(|&target| &self.levels[target as usize]) {
            if together(target) {
                target.for_each_in(&target.reach(&area), |cell| {
                    target.cells.for_each(cell, |id| ids.extend(near(&frame.boxes[id as usize]).then_some(id)));
                });
                continue;
            }
            for position in shape.rows.iter().flat_map(|&first| row(first)) {
                target.for_each_in(&target.reach(&block.boxes.get(position)), |cell| {
                    target.cells.for_each(cell, |id| {
                        prefetch(frame.boxes, id as usize);
                        candidates.push((position as u32, id));
                    });
                });
                if candidates.len() >= CANDIDATES {
                    test_candidates(frame, block, candidates, hits);
                }
            }
            test_candidates(frame, block, candidates, hits);
            if hits.stopped() {
                return;
            }
        }
        others.gather(frame.boxes, ids);
        join_rows(context.kernels(), block, others.columns(), hits);
    }

    /// Cuts the work into chunks, and decides which of two levels searches the other.
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
            let chunk = level.block.bits.max(bits.saturating_sub(CHUNK_BITS)) - level.block.bits;
            let blocks = 1u32 << (bits - level.block.bits).min(MAX_BITS);
            plan.chunks.extend((0..blocks >> chunk).map(|c| (index as u16, c << chunk..(c + 1) << chunk)));
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
        let kept = out.begin(frame, context, self.revision, chunks)?;
        if !kept || self.dirty {
            let mut ids = std::mem::take(&mut self.scratch.ids);
            ids.clear();
            ids.extend(frame.ids());
            self.scratch.few.gather(frame.boxes, &ids);
            self.scratch.ids = ids;
            let all = self.scratch.few.columns();
            context.run_weighted(chunks, all.len() * all.len() / 16, |chunk, worker| {
                let rows = chunk * ROWS_PER_CHUNK..((chunk + 1) * ROWS_PER_CHUNK).min(all.len());
                out.rewrite(chunk, worker, frame, |hits| all_pairs::join_self(context.kernels(), all, rows, hits));
            });
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

    /// All objects that overlap a box, in every level and beside them.
    fn search(&self, frame: &Frame<'_, D, T>, value: &Aabb<D, T>, hits: &mut PairSink, pair: impl Fn(u32) -> Pair) {
        if !self.active {
            hits.count_tests(self.live as u64);
            frame.ids().filter(|&id| frame.boxes[id as usize].overlaps(value)).for_each(|id| hits.push(pair(id)));
            return;
        }
        let waits = |id: u32| self.queue.contains(id);
        for level in self.levels.iter().filter(|level| level.count > 0) {
            let found = |id: u32| {
                if !waits(id) {
                    hits.push(pair(id))
                }
            };
            let tests = level.search(frame, value, found);
            hits.count_tests(tests);
        }
        for id in self.unbounded.ids().iter().copied().filter(|&id| !waits(id)).chain(self.queue.live(frame)) {
            hits.count_tests(1);
            if frame.boxes[id as usize].overlaps(value) {
                hits.push(pair(id));
            }
        }
    }
}

/// Tests objects of a block with objects found by one of them, and empties the list.
fn test_candidates<const D: usize, T: Real>(
    frame: &Frame<'_, D, T>,
    block: &CellBlock<'_, D, T>,
    candidates: &mut Vec<(u32, u32)>,
    hits: &mut PairSink,
) {
    hits.count_tests(candidates.len() as u64);
    for (position, other) in candidates.drain(..) {
        if frame.boxes[other as usize].overlaps(&block.boxes.get(position as usize)) {
            hits.push(Pair::new(block.boxes.ids()[position as usize], other));
        }
    }
}

impl<const D: usize, T: Real> Level<D, T> {
    /// Visits each object of this level that overlaps `value`; returns how many were tested.
    #[inline]
    fn search(&self, frame: &Frame<'_, D, T>, value: &Aabb<D, T>, mut found: impl FnMut(u32)) -> u64 {
        let mut tests = 0;
        self.for_each_in(&self.reach(value), |cell| {
            self.cells.for_each(cell, |id| {
                tests += 1;
                if frame.boxes[id as usize].overlaps(value) {
                    found(id);
                }
            });
        });
        tests
    }

    /// Is an area of the size of a block, as that of its objects is unless space has wrapped around?
    fn is_whole(&self, area: &Aabb<D, T>) -> bool {
        (0..D).all(|k| {
            let cells = f64::from(1u32 << self.layout.axis_bits_below(k, self.block.bits));
            (area.max[k] - area.min[k]).to_f64() <= 2.0 * (cells + 1.0) * self.cell[k].to_f64()
        })
    }

    /// About how many objects of this level are near an area, if they are spread evenly.
    fn expected_near(&self, area: &Aabb<D, T>) -> f64 {
        let share = (0..D).map(|k| {
            let cells = (area.max[k] - area.min[k]).to_f64() / self.cell[k].to_f64() + 2.0;
            (cells / f64::from(1u32 << self.layout.axis_bits(k))).min(1.0)
        });
        self.count as f64 * share.product::<f64>()
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
