//! The pairs of two sets in a tile: a record of one and a record of the other; nothing is paired within a set.
//!
//! # Method
//! Both sets are sorted into the same buckets along x. Of two records that overlap, one starts in the bucket of the other or in a later one: if it is
//! of the second set, a sweep of the first set over the second finds it; if it is of the first set and its bucket is a later one, a sweep of
//! the second over the first does. So each pair is found once. Candidates are confirmed as in the join of one set.
//!
//! If one set has few records in the tile, they are compared with all of the other, which is then not sorted, as in `movers.rs`.

use std::ops::Range;

use super::confirm::{compare, list_some};
use super::movers::{BYTES_FROM, SORTED_FROM};
use super::sort::{Buckets, COARSE, FINE, Sort, SortAlike};
use super::sweep::{Find, GROUP, LONG, SHORT, strip, sweep, sweep_all};
use super::{BATCH, PAD, Record, Scratch};
use crate::geometry::{Aabb, Real};
use crate::kernels::arch::{Kernel, Simd};
use crate::kernels::isa::Kernels;
use crate::kernels::pair_sink::PairSink;
use crate::pair::Pair;

/// One of the two sets: its records in the tile, and all its boxes.
#[derive(Clone, Copy)]
pub(crate) struct Set<'a, const D: usize, T> {
    pub(crate) runs: &'a [&'a [Record]],
    pub(crate) boxes: &'a [Aabb<D, T>],
}

impl<const D: usize, T> Set<'_, D, T> {
    fn len(&self) -> usize {
        self.runs.iter().map(|run| run.len()).sum()
    }
}

/// Reports all pairs of a record of the first set and one of the second that overlap in their boxes and whose intersection starts in this tile.
/// `pair` makes a pair of an id of the first set and one of the second. A scratch for each set.
pub(crate) fn join_sets<const D: usize, T: Real>(
    kernels: Kernels,
    sets: [Set<'_, D, T>; 2],
    scratch: &mut [Scratch<T>; 2],
    pair: impl Fn(u32, u32) -> Pair + Copy,
    hits: &mut PairSink,
) {
    let [first, second] = sets;
    let lens = sets.map(|set| set.len());
    let [own, other] = scratch;
    if lens[0].min(lens[1]) >= SORTED_FROM {
        join_sorted(kernels, sets, lens, [own, other], pair, hits);
    } else if lens[0] <= lens[1] {
        kernels.run(FewRows { rows: first, columns: second, scratch: [own, other], pair, swapped: false, hits });
    } else {
        kernels.run(FewRows { rows: second, columns: first, scratch: [own, other], pair, swapped: true, hits });
    }
}

/// Both sets are sorted and swept over each other.
fn join_sorted<const D: usize, T: Real>(
    kernels: Kernels,
    [first, second]: [Set<'_, D, T>; 2],
    lens: [usize; 2],
    [own, other]: [&mut Scratch<T>; 2],
    pair: impl Fn(u32, u32) -> Pair + Copy,
    hits: &mut PairSink,
) {
    // The larger set decides how fine the buckets are.
    if lens[0] < lens[1] {
        kernels.run(Sort { runs: second.runs, scratch: other });
        kernels.run(SortAlike { runs: first.runs, scratch: own, fine: other.buckets.are_fine() });
    } else {
        kernels.run(Sort { runs: first.runs, scratch: own });
        kernels.run(SortAlike { runs: second.runs, scratch: other, fine: own.buckets.are_fine() });
    }
    let boxes = (first.boxes, second.boxes);
    sweep_over::<true, D, T>(kernels, own, other, boxes, pair, hits);
    if !hits.stopped() {
        sweep_over::<false, D, T>(kernels, other, own, (boxes.1, boxes.0), pair, hits);
    }
}

/// Sweeps the rows of one sorted set over the other; finds the records that start in the bucket of a row, if `SAME`, or in a later one.
fn sweep_over<const SAME: bool, const D: usize, T: Real>(
    kernels: Kernels,
    rows: &Scratch<T>,
    columns: &mut Scratch<T>,
    boxes: (&[Aabb<D, T>], &[Aabb<D, T>]),
    pair: impl Fn(u32, u32) -> Pair + Copy,
    hits: &mut PairSink,
) {
    let is_long = columns.run >= LONG_RUN;
    match (columns.buckets.are_fine(), is_long) {
        (true, _) => sweep_strips::<SAME, SHORT, FINE, D, T>(kernels, rows, columns, boxes, pair, hits),
        (_, false) => sweep_strips::<SAME, SHORT, COARSE, D, T>(kernels, rows, columns, boxes, pair, hits),
        (_, true) => sweep_strips::<SAME, LONG, COARSE, D, T>(kernels, rows, columns, boxes, pair, hits),
    }
}

/// The number of records from which a run is swept in long windows.
const LONG_RUN: usize = 36;

fn sweep_strips<const SAME: bool, const G: usize, const SHIFT: u32, const D: usize, T: Real>(
    kernels: Kernels,
    rows: &Scratch<T>,
    columns: &mut Scratch<T>,
    boxes: (&[Aabb<D, T>], &[Aabb<D, T>]),
    pair: impl Fn(u32, u32) -> Pair + Copy,
    hits: &mut PairSink,
) {
    let records = &rows.sorted[..rows.len];
    let (strip, _) = strip(columns.len);
    let (mut row, mut waiting, mut tests) = (0, 0, 0);
    while row < records.len() {
        let range = row..(row + strip).min(records.len());
        row = range.end;
        let Scratch { bytes, buckets, finds, len, .. } = columns;
        let sum;
        (sum, waiting) = kernels.run(SetRows::<SAME, G, SHIFT> {
            rows: records,
            bounds: &rows.bounds,
            range,
            bytes,
            buckets,
            columns: *len,
            finds,
            waiting,
        });
        tests += sum;
        if waiting >= BATCH || row == records.len() {
            let confirm = ConfirmSets { rows: records, boxes, pair, swapped: !SAME };
            kernels.run(ConfirmKernel { confirm, columns, count: std::mem::take(&mut waiting), hits });
            if hits.stopped() {
                break;
            }
        }
    }
    hits.count_tests(tests as u64);
}

/// Some rows of the one sorted set over the other one.
struct SetRows<'a, const SAME: bool, const G: usize, const SHIFT: u32> {
    rows: &'a [Record],
    bounds: &'a [u32],
    range: Range<usize>,
    /// Of the other set: the bytes, the buckets, and the number of records.
    bytes: &'a [u32],
    buckets: &'a Buckets,
    columns: usize,
    finds: &'a mut [Find],
    /// The finds so far.
    waiting: usize,
}

impl<const SAME: bool, const G: usize, const SHIFT: u32> Kernel for SetRows<'_, SAME, G, SHIFT> {
    /// The number of tests, and the new number of finds.
    type Output = (usize, usize);

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Self::Output {
        let Self { rows, bounds, range, bytes, buckets, columns, finds, mut waiting } = self;
        assert!(range.end <= rows.len() && bounds.len() >= rows.len() && bytes.len() >= columns + PAD);
        assert!(finds.len() >= waiting + range.len() * (columns / (GROUP * SHORT) + 1));
        assert!(buckets.start(buckets.len()) <= columns && buckets.are_fine() == (SHIFT == FINE));
        let mut tests = 0;
        for row in range {
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) no bucket ends beyond the records, and of bytes there is a window more;
            // the rest was just asserted.
            unsafe {
                let (low, high) = rows.get_unchecked(row).span();
                let end = buckets.end_of::<SHIFT>(high);
                let from = if SAME { buckets.start_of::<SHIFT>(low) } else { buckets.end_of::<SHIFT>(low) }.min(end);
                tests += end - from;
                waiting = sweep::<G, S>(bytes, *bounds.get_unchecked(row), row, from..end, finds, waiting);
            }
        }
        (tests, waiting)
    }
}

/// Turns finds into pairs.
#[derive(Clone, Copy)]
struct ConfirmSets<'a, const D: usize, T, P> {
    rows: &'a [Record],
    /// Of the rows, and of the columns.
    boxes: (&'a [Aabb<D, T>], &'a [Aabb<D, T>]),
    /// Of the id of a record of the first set, and of the second.
    pair: P,
    /// Are the rows those of the second set? (Known when it runs, so that the confirmation is compiled once.)
    swapped: bool,
}

impl<const D: usize, T: Real, P: Fn(u32, u32) -> Pair + Copy> ConfirmSets<'_, D, T, P> {
    /// Confirms the first `count` finds: by words, and by boxes where words are equal.
    #[inline(always)]
    fn confirm<S: Simd>(self, simd: S, columns: &mut Scratch<T>, count: usize, hits: &mut PairSink) {
        let Scratch { sorted, len, finds, candidates, open, .. } = columns;
        let sorted = &sorted[..*len];
        let mut finds = &finds[..count];
        while !finds.is_empty() {
            let waiting = list_some(simd, &mut finds, candidates);
            let room = hits.room(waiting);
            let (mut found, mut left) = (0, 0);
            for candidate in &candidates[..waiting] {
                let (row, column) = candidate.places();
                let (a, b) = (&self.rows[row], &sorted[column]);
                let (_, is_pair, is_open) = compare(simd, a, b);
                // Unpredictable, so computed without a branch.
                room[found].write(self.pair(a.id(), b.id()));
                found += usize::from(is_pair & !is_open);
                if is_pair & is_open {
                    open[left] = *candidate;
                    left += 1;
                }
            }
            // SAFETY: (initialized, room) `found` pairs were written, one behind the other, and at most as many as candidates.
            unsafe { hits.commit(found) };
            for candidate in &open[..left] {
                let (row, column) = candidate.places();
                let (a, b) = (self.rows[row].id(), sorted[column].id());
                if self.overlap(a, b) {
                    hits.push(self.pair(a, b));
                }
            }
        }
    }

    /// The pair of a row and a column.
    #[inline(always)]
    fn pair(&self, row: u32, column: u32) -> Pair {
        let (first, second) = if self.swapped { (column, row) } else { (row, column) };
        (self.pair)(first, second)
    }

    /// Do the boxes of two objects overlap?
    #[inline(always)]
    fn overlap(&self, row: u32, column: u32) -> bool {
        self.boxes.0[row as usize].overlaps(&self.boxes.1[column as usize])
    }
}

struct ConfirmKernel<'a, 'h, 'r, const D: usize, T, P> {
    confirm: ConfirmSets<'a, D, T, P>,
    columns: &'a mut Scratch<T>,
    count: usize,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real, P: Fn(u32, u32) -> Pair + Copy> Kernel for ConfirmKernel<'_, '_, '_, D, T, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.confirm.confirm(simd, self.columns, self.count, self.hits);
    }
}

/// A few rows, compared with all columns: one or two of them word by word, in place, more of them in bytes.
struct FewRows<'a, 'h, 'r, const D: usize, T, P> {
    rows: Set<'a, D, T>,
    columns: Set<'a, D, T>,
    scratch: [&'a mut Scratch<T>; 2],
    pair: P,
    /// Are the rows those of the second set?
    swapped: bool,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real, P: Fn(u32, u32) -> Pair + Copy> Kernel for FewRows<'_, '_, '_, D, T, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { rows, columns, scratch: [own, other], pair, swapped, hits } = self;
        let (count, all) = (rows.len(), columns.len());
        hits.count_tests((count * all) as u64);
        own.movers.clear();
        rows.runs.iter().for_each(|run| own.movers.extend_from_slice(run));
        let confirm = ConfirmSets { rows: &own.movers, boxes: (rows.boxes, columns.boxes), pair, swapped };
        if count < BYTES_FROM {
            for row in &own.movers {
                for record in columns.runs.iter().copied().flatten() {
                    let (_, is_pair, is_open) = compare(simd, row, record);
                    // Rare, so a branch is cheap.
                    if is_pair && (!is_open || confirm.overlap(row.id(), record.id())) {
                        hits.push(confirm.pair(row.id(), record.id()));
                    }
                }
            }
            return;
        }
        other.copy(simd, columns.runs, all);
        let mut waiting = 0;
        for (index, row) in own.movers.iter().enumerate() {
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) so many records were copied, and no more than a batch waits.
            waiting = unsafe { sweep_all::<S>(&other.all_bytes, row, index, all, &mut other.finds, waiting) };
            if waiting >= BATCH || index + 1 == count {
                confirm.confirm(simd, other, std::mem::take(&mut waiting), hits);
                if hits.stopped() {
                    return;
                }
            }
        }
    }
}
