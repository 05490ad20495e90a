//! The pairs of a tile that contain a changed object, a *mover*: the other pairs of the tile are kept.
//!
//! The records of movers are given, or have a flag. If runs are kept sorted (`order.rs`), each mover is compared with the ranges of records that may
//! reach it. Otherwise, one or two movers are compared with all records, word by word, in place. A few are
//! compared in bytes, on all axes: extracting the bytes costs as much as comparing two movers, and each comparison is then cheap. From
//! [`SORTED_FROM`] movers on, sorting pays: a mover is then compared only with the run of records that may reach it.

use super::confirm::{Confirm, Reach, decide};
use super::order::RunOrder;
use super::sort::Sort;
use super::sweep::{LONG, bound, sweep, sweep_all};
use super::{Record, Scratch};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::arch::{Kernel, Simd};
use crate::kernels::isa::Kernels;
use crate::kernels::pair_sink::PairSink;
use crate::memory;

/// The number of movers from which records are compared in bytes, and from which they are also sorted.
pub(super) const BYTES_FROM: usize = 3;
pub(super) const SORTED_FROM: usize = 32;

/// Lists the records of objects with a flag. `buffer` is scratch.
pub(crate) fn list_flagged<'a>(runs: &[&[Record]], buffer: &'a mut Vec<Record>) -> Result<&'a [Record], Error> {
    let all: usize = runs.iter().map(|run| run.len()).sum();
    memory::cover(buffer, all, "records of changed objects")?;
    let mut count = 0;
    for record in runs.iter().copied().flatten() {
        // Unpredictable, so computed without a branch.
        buffer[count] = record.without_flag();
        count += usize::from(record.is_flagged());
    }
    Ok(&buffer[..count])
}

/// The input of the join of a tile's movers.
#[derive(Clone, Copy)]
pub(crate) struct TileMovers<'a> {
    /// All records of the tile, those of the movers among them.
    pub(crate) runs: &'a [&'a [Record]],
    pub(crate) movers: &'a [Record],
    /// Present if the runs are sorted along x.
    pub(crate) order: Option<RunOrder>,
}

impl TileMovers<'_> {
    /// Prefetches what the join will read, if the runs are sorted.
    pub(crate) fn prefetch(&self) {
        let Some(order) = self.order else { return };
        for own in self.movers.iter().take(PREFETCHED) {
            self.runs.iter().for_each(|run| order.prefetch_from(run, order.reach(own)));
        }
    }
}

/// Movers of a tile whose ranges are prefetched: more would evict each other.
const PREFETCHED: usize = 8;

/// Reports all pairs of the movers, each once; `is_mover` says whether an object is one. Also prefetches the records of the next call, `coming`.
pub(crate) fn join_movers<const D: usize, T: Real>(
    kernels: Kernels,
    tile: TileMovers<'_>,
    coming: &[&[Record]],
    boxes: &[Aabb<D, T>],
    is_mover: impl Fn(u32) -> bool + Copy,
    scratch: &mut Scratch<T>,
    hits: &mut PairSink,
) {
    let TileMovers { runs, movers, order } = tile;
    // Narrow: AVX-512 gains nothing here (`bench settled:moving=0.02 --n 16000 --algorithms auto,auto:isa=avx2`).
    if let Some(order) = order {
        return kernels.run_narrow(SortedJoin { runs, movers, order, boxes, is_mover, hits });
    }
    let all = runs.iter().map(|run| run.len()).sum();
    let prepared = match movers.len() {
        0..BYTES_FROM => Ok(()),
        BYTES_FROM..SORTED_FROM => scratch.prepare_unsorted(all),
        _ => scratch.prepare(all),
    };
    if prepared.is_err() {
        return hits.stop_out_of_memory();
    }
    scratch.coming.set(coming);
    if movers.len() >= SORTED_FROM {
        kernels.run(Sort { runs, scratch });
    }
    if !movers.is_empty() {
        kernels.run_narrow(MoverJoin { runs, movers, boxes, is_mover, scratch, hits });
    }
}

/// The join if runs are sorted.
struct SortedJoin<'a, 'h, 'r, const D: usize, T, F> {
    runs: &'a [&'a [Record]],
    movers: &'a [Record],
    order: RunOrder,
    boxes: &'a [Aabb<D, T>],
    is_mover: F,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real, F: Fn(u32) -> bool + Copy> Kernel for SortedJoin<'_, '_, '_, D, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { runs, movers, order, boxes, is_mover, hits } = self;
        let mut tests = 0;
        for own in movers {
            let (high, reach) = (own.span().1, Reach::new(simd, own));
            for run in runs {
                // A cache line at a time: nearly always, no record in it overlaps.
                let (lines, rest) = run[order.near_before(run, order.reach(own))..].as_chunks::<4>();
                let mut left = rest;
                for line in lines {
                    tests += line.len();
                    if line.iter().fold(false, |any, other| any | reach.meets(other)) {
                        for other in line {
                            confirm_one::<D, T, S>(simd, own, other, boxes, is_mover, hits);
                        }
                    }
                    if line[3].span().0 > high {
                        left = &[];
                        break;
                    }
                }
                tests += left.len();
                for other in left {
                    if reach.meets(other) {
                        confirm_one::<D, T, S>(simd, own, other, boxes, is_mover, hits);
                    }
                }
            }
            if hits.stopped() {
                break;
            }
        }
        // One of them is the mover itself.
        hits.count_tests((tests as u64).saturating_sub(movers.len() as u64));
    }
}

/// Reports the pair of a mover and another record, if they are one.
///
/// This is not a closure, since the compiler would compile a closure's body separately, without the instruction set.
#[inline(always)]
fn confirm_one<const D: usize, T: Real, S: Simd>(
    simd: S,
    own: &Record,
    other: &Record,
    boxes: &[Aabb<D, T>],
    is_mover: impl Fn(u32) -> bool,
    hits: &mut PairSink<'_>,
) {
    let (pair, is_pair) = decide::<D, T, S>(simd, own, other, boxes);
    // A mover does not pair with itself, and a pair of two movers is found twice.
    let (own, other) = (own.id(), other.id());
    if is_pair && ((own < other) | ((own > other) & !is_mover(other))) {
        hits.push(pair);
    }
}

/// The join if they are not. The scratch holds the sorted records if there are many movers.
struct MoverJoin<'a, 'h, 'r, const D: usize, T, F> {
    runs: &'a [&'a [Record]],
    movers: &'a [Record],
    boxes: &'a [Aabb<D, T>],
    is_mover: F,
    scratch: &'a mut Scratch<T>,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real, F: Fn(u32) -> bool + Copy> Kernel for MoverJoin<'_, '_, '_, D, T, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { runs, movers, boxes, is_mover, scratch, hits } = self;
        // A mover does not pair with itself, and the sweep finds a pair of two movers twice.
        let accepts = |own: u32, other: u32| (own < other) | ((own > other) & !is_mover(other));
        let all: usize = runs.iter().map(|run| run.len()).sum();
        if movers.len() < BYTES_FROM {
            hits.count_tests((movers.len() * all.saturating_sub(1)) as u64);
            for own in movers {
                for other in runs.iter().copied().flatten() {
                    let (pair, is_pair) = decide::<D, T, S>(simd, own, other, boxes);
                    // Rare, so a branch is cheap.
                    if is_pair && accepts(own.id(), other.id()) {
                        hits.push(pair);
                    }
                }
            }
            return;
        }
        let confirm = Confirm { rows: Some(movers), boxes, accepts };
        let (mut tests, mut waiting) = (0, 0);
        let mut coming = std::mem::take(&mut scratch.coming);
        let is_sorted = movers.len() >= SORTED_FROM;
        if !is_sorted {
            scratch.copy(simd, runs, all);
        }
        // The widest record, in buckets: records further back do not reach a mover.
        let widest = if is_sorted { scratch.widest(all) } else { 0 };
        for (row, own) in movers.iter().enumerate() {
            coming.prefetch_some(movers.len());
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) so many records were copied or sorted, a range is part of them, and no
            // more than a batch waits.
            unsafe {
                if is_sorted {
                    let (first, last) = scratch.buckets.both(own);
                    let range = scratch.buckets.start(first.saturating_sub(widest))..scratch.buckets.start(last + 1);
                    tests += range.len() - 1;
                    let bound = (bound::<S>(own) >> 16) as u32;
                    waiting = sweep::<LONG, S>(&scratch.bytes, bound, row, range, &mut scratch.finds, waiting);
                } else {
                    tests += all - 1;
                    waiting = sweep_all::<S>(&scratch.all_bytes, own, row, all, &mut scratch.finds, waiting);
                }
            }
            if confirm.confirm_many(simd, scratch, &mut waiting, row + 1 == movers.len(), hits) {
                break;
            }
        }
        scratch.coming = coming;
        hits.count_tests(tests as u64);
    }
}
