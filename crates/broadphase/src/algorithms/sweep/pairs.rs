//! The pairing sweep, partition by partition (algorithm 4 of the paper, and the second half of algorithm 1).

use super::Sweep;
use super::candidates::Candidates;
use super::options::Active;
use super::parts::cut;
use crate::algorithms::Probes;
use crate::algorithms::common::probe_sorted;
use crate::bits::SuccTree;
use crate::context::{Context, PerWorker, SEEK};
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::active::{Bounds, Event, Long, Ranks};
use crate::kernels::active_blocks::{self, Blocks};
use crate::kernels::{PairSink, active_tree};
use crate::objects::Frame;
use crate::pairs::{PairStore, Report};

/// Active objects per block to aim at: half a packet.
const ACTIVE_PER_BLOCK: u64 = 8;
/// The widest block, as a power of two.
const MAX_SHIFT: u32 = 20;

/// The events, dealt out to the partitions. Scratch.
#[derive(Debug)]
pub(super) struct Dealt<T> {
    segments: PerWorker<Segment>,
    /// How many segments are in use.
    used: usize,
    /// The number of partitions, beside that of the long objects.
    count: usize,
    /// The width of blocks, as a power of two.
    shift: u32,
    workers: PerWorker<Worker<T>>,
}

impl<T> Default for Dealt<T> {
    fn default() -> Self {
        Self { segments: PerWorker::default(), used: 0, count: 0, shift: 0, workers: PerWorker::default() }
    }
}

impl<T> Clone for Dealt<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The events of one run of endpoints.
#[derive(Debug, Default)]
struct Segment {
    /// By partition, in order.
    lists: Vec<Vec<Event>>,
    /// Sum of the positions of ends less sum of the positions of starts: over the number of endpoints, the mean number of
    /// active objects.
    activity: i64,
}

/// The active objects of the partition that a worker is sweeping.
#[derive(Debug)]
struct Worker<T> {
    tree: SuccTree,
    blocks: Blocks<T>,
}

impl<T> Default for Worker<T> {
    fn default() -> Self {
        Self { tree: SuccTree::default(), blocks: Blocks::default() }
    }
}

impl<T: Real> Dealt<T> {
    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        let lists = |segment: &Segment| segment.lists.iter().map(|list| list.capacity() * size_of::<Event>()).sum::<usize>();
        let workers: usize = self.workers.iter().map(|w| w.tree.bytes() + w.blocks.bytes()).sum();
        self.segments.iter().map(|segment| lists(&segment)).sum::<usize>() + workers
    }
}

/// Partitions of equal size. Tells the partition of a rank without a division.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partitions {
    size: usize,
    /// 2^64 over the size, rounded up: exact for 32-bit ranks.
    reciprocal: u64,
}

impl Partitions {
    /// `count` partitions of `n` ranks. At least two ranks each: the last ones may be empty.
    pub(super) fn new(n: usize, count: usize) -> Self {
        let size = n.div_ceil(count).max(2);
        Self { size, reciprocal: u64::MAX / size as u64 + 1 }
    }

    /// The partition of a rank.
    #[inline(always)]
    fn of(self, rank: u32) -> usize {
        ((u128::from(self.reciprocal) * u128::from(rank)) >> 64) as usize
    }
}

impl<const D: usize, T: Real> Sweep<D, T> {
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let clock = context.clock();
        let count = self.options.partitions_for(self.boxes.len());
        let chunks = count + usize::from(!self.candidates.long().is_empty());
        let kept = out.begin(frame, context, self.revision, chunks)? && !self.changed;
        if !kept && self.options.paper {
            self.pair_by_the_paper(frame, context, out, count);
        } else if !kept {
            let mut dealt = std::mem::take(&mut self.scratch.dealt);
            self.deal(context, count, &mut dealt);
            dealt.workers.prepare(context);
            context.run_weighted(chunks, SEEK * self.boxes.len(), |job, worker| {
                let chunk = chunks - 1 - job; // the long objects first: theirs may be the longest list
                out.rewrite(chunk, worker, frame, |hits| self.sweep(context, chunk, &dealt, worker, hits));
            });
            self.scratch.dealt = dealt;
        }
        self.revision = out.finish(context, chunks)?;
        self.changed = false;
        if out.report() != Report::Count {
            self.deviation = deviation((0..count).map(|chunk| out.chunk(chunk).len() as f64));
        }
        context.record("pairing", clock);
        Ok(())
    }

    /// Deals the endpoints out to the partitions that they concern, in order.
    fn deal(&self, context: &Context, count: usize, dealt: &mut Dealt<T>) {
        let n = self.boxes.len();
        let segments = if self.is_parallel(context, self.boxes.len()) { self.options.buckets } else { 1 };
        let partitions = Partitions::new(n, count);
        dealt.segments.prepare_for(segments);
        let slots = &dealt.segments;
        context.run_weighted(segments, 5 * n, |job, _| {
            let mut segment = slots.get(job);
            segment.lists.resize_with(count + 1, Vec::new);
            segment.lists.iter_mut().for_each(Vec::clear);
            segment.activity = 0;
            let range = cut(2 * n, segments, job)..cut(2 * n, segments, job + 1);
            self.deal_segment(range, partitions, &mut segment);
        });
        let activity: i64 = (0..segments).map(|job| slots.read(job).activity).sum();
        // Endpoints over activity is one over the mean number of active objects.
        let active = (activity.max(0) as u64 / (2 * n as u64).max(1)).max(1);
        let width = ACTIVE_PER_BLOCK * n as u64 / active;
        let whole = partitions.size.next_power_of_two().ilog2();
        dealt.shift = width.max(1).ilog2().min(MAX_SHIFT).min(whole).max(Blocks::<T>::MIN_SHIFT);
        (dealt.used, dealt.count) = (segments, count);
    }

    fn deal_segment(&self, range: std::ops::Range<usize>, partitions: Partitions, segment: &mut Segment) {
        let n = self.boxes.len();
        let candidates = &self.candidates;
        let any_long = !candidates.long().is_empty();
        let (long, lists) = match segment.lists.split_last_mut() {
            Some(split) => split,
            None => return,
        };
        for position in range {
            let endpoint = self.order[position];
            match (endpoint as usize).checked_sub(n) {
                None => {
                    let event = Event::start(endpoint);
                    let Bounds { lower, upper } = candidates.bounds[endpoint as usize];
                    let (from, to) = (partitions.of(lower), partitions.of(upper.max(endpoint + 1) - 1));
                    lists[from..=to].iter_mut().for_each(|list| list.push(event));
                    if any_long {
                        long.push(event);
                    }
                    segment.activity -= position as i64;
                }
                Some(rank) => {
                    let list =
                        if any_long && candidates.is_long(rank) { &mut *long } else { &mut lists[partitions.of(rank as u32)] };
                    list.push(Event::end(rank as u32));
                    segment.activity += position as i64;
                }
            }
        }
    }

    /// Sweeps one partition; behind them comes the one of the long objects.
    fn sweep(&self, context: &Context, chunk: usize, dealt: &Dealt<T>, worker: usize, hits: &mut PairSink<'_>) {
        let n = self.boxes.len();
        let (kernels, columns) = (context.kernels(), self.boxes.columns());
        let &Dealt { ref segments, used, count, shift, .. } = dealt;
        let Worker { tree, blocks } = &mut *dealt.workers.get(worker);
        if chunk == count {
            let long = Long { ranks: self.candidates.long() };
            blocks.reset::<D>(long.ranks.len(), long.ranks.len().next_power_of_two().ilog2().max(Blocks::<T>::MIN_SHIFT));
            for segment in 0..used {
                active_blocks::sweep(kernels, columns, long, &segments.read(segment).lists[chunk], blocks, hits);
            }
            return;
        }
        let size = Partitions::new(n, count).size;
        let (begin, end) = ((chunk * size).min(n), ((chunk + 1) * size).min(n));
        let Candidates { bounds, longest, .. } = &self.candidates;
        let ranks = Ranks { bounds, begin, end, longest: *longest };
        match self.options.active {
            Active::Blocks => blocks.reset::<D>(end - begin, shift),
            Active::Tree => tree.reset(end - begin),
        }
        for segment in 0..used {
            let events = &segments.read(segment).lists[chunk];
            match self.options.active {
                Active::Blocks => active_blocks::sweep(kernels, columns, ranks, events, blocks, hits),
                Active::Tree => active_tree::sweep(kernels, columns, ranks, events, tree, hits),
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
        probe_sorted(&self.boxes, &self.probe_buffers, frame, probes, context, out)
    }
}

/// The standard deviation of shares, in percentage points.
fn deviation(counts: impl ExactSizeIterator<Item = f64>) -> f64 {
    let parts = counts.len() as f64;
    let (sum, squares) = counts.fold((0.0, 0.0), |(sum, squares), count| (sum + count, squares + count * count));
    let variance = (squares / parts - (sum / parts) * (sum / parts)).max(0.0);
    100.0 * variance.sqrt() / f64::max(sum, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partition_of_a_rank_is_its_quotient() {
        for (n, count) in [(1, 1), (1, 64), (2, 1), (100, 7), (1 << 20, 48), (1 << 31, 3), (u32::MAX as usize, 4096)] {
            let partitions = Partitions::new(n, count);
            for k in 0..2000 {
                let edge = (k / 3 * partitions.size).saturating_add(k % 3).saturating_sub(1).min(n - 1);
                assert_eq!(partitions.of(edge as u32), edge / partitions.size, "{edge} of {n} in {count}");
            }
        }
    }

    #[test]
    fn equal_shares_do_not_deviate() {
        assert_eq!(deviation([5.0, 5.0].into_iter()), 0.0);
        assert_eq!(deviation([10.0, 0.0].into_iter()), 50.0);
        assert_eq!(deviation([0.0, 0.0, 0.0].into_iter()), 0.0);
    }
}
