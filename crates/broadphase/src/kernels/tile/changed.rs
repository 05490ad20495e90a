//! The pairs of a tile that have a changed object: the rest of its pairs is kept.
//!
//! A few changed records are compared with all others, word by word, as they lie. From [`SORTED_FROM`] on, sorting pays: a changed
//! record is then compared with the run behind it, as in the full join, and with those before it that may reach it.

use std::ops::Range;

use super::{BATCH, BUCKETS, Record, Scratch, Sweep, confirm, decide, sort};
use crate::geometry::{Aabb, Real};
use crate::kernels::hits::Hits;
use crate::kernels::isa::{Kernel, Kernels};
use crate::kernels::lanes::Simd;

/// Changed records from which on the tile is sorted: comparing one with all costs about a third of sorting all.
const SORTED_FROM: usize = 3;

/// How a changed object is known.
#[derive(Clone, Copy)]
pub(crate) enum Changed<'a> {
    /// By the flag of its record.
    Flags,
    /// By its bit.
    Bits(&'a [u64]),
}

impl Changed<'_> {
    /// Is the record's object changed?
    #[inline(always)]
    fn holds(self, record: &Record) -> bool {
        match self {
            Changed::Flags => record.is_flagged(),
            Changed::Bits(words) => {
                let id = record.id();
                words[id as usize / 64] >> (id % 64) & 1 == 1
            }
        }
    }

    /// The number of changed records.
    pub(crate) fn count(self, runs: &[&[Record]]) -> usize {
        let mut count = 0;
        for record in runs.iter().copied().flatten() {
            count += usize::from(self.holds(record));
        }
        count
    }
}

/// Reports all pairs of the tile with an object that is `changed`, each once. `count` is the number of changed records.
pub(crate) fn join_changed<const D: usize, T: Real>(
    kernels: Kernels,
    runs: &[&[Record]],
    boxes: &[Aabb<D, T>],
    changed: Changed<'_>,
    count: usize,
    scratch: &mut Scratch,
    hits: &mut Hits,
) {
    if count > 0 {
        kernels.run(ChangedJoin { runs, boxes, changed, count, scratch, hits });
    }
}

struct ChangedJoin<'a, 'h, 'r, const D: usize, T> {
    runs: &'a [&'a [Record]],
    boxes: &'a [Aabb<D, T>],
    changed: Changed<'a>,
    count: usize,
    scratch: &'a mut Scratch,
    hits: &'h mut Hits<'r>,
}

impl<const D: usize, T: Real> Kernel for ChangedJoin<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { runs, boxes, changed, count, scratch, hits } = self;
        if count < SORTED_FROM {
            compare_with_all::<D, T, S>(simd, runs, boxes, changed, hits);
        } else {
            sweep_changed::<D, T, S>(simd, runs, boxes, changed, scratch, hits);
        }
    }
}

/// Each changed record with all others; of two changed ones, the later reports.
#[inline(always)]
fn compare_with_all<const D: usize, T: Real, S: Simd>(
    simd: S,
    runs: &[&[Record]],
    boxes: &[Aabb<D, T>],
    changed: Changed<'_>,
    hits: &mut Hits,
) {
    let mut tests = 0;
    for (own_run, own_records) in runs.iter().enumerate() {
        for (own_at, own) in own_records.iter().enumerate() {
            if !changed.holds(own) {
                continue;
            }
            if hits.stopped() {
                return;
            }
            for (run, records) in runs.iter().enumerate() {
                tests += records.len() as u64;
                for (at, other) in records.iter().enumerate() {
                    let (pair, is_pair) = decide::<D, T, S>(simd, own, other, boxes);
                    // Rare, so the rest is asked only of pairs.
                    if is_pair && pair.a != pair.b && ((run, at) < (own_run, own_at) || !changed.holds(other)) {
                        hits.push(pair);
                    }
                }
            }
            tests -= 1; // itself
        }
    }
    hits.count_tests(tests);
}

/// Each changed record with the run behind it, and with the unchanged ones before it that may reach it.
#[inline(always)]
fn sweep_changed<const D: usize, T: Real, S: Simd>(
    simd: S,
    runs: &[&[Record]],
    boxes: &[Aabb<D, T>],
    changed: Changed<'_>,
    scratch: &mut Scratch,
    hits: &mut Hits,
) {
    let starts = sort(simd, runs, scratch);
    let (len, first_inside) = (starts[BUCKETS] as usize, starts[1] as usize);
    // The widest record in buckets: nobody further back reaches. And the changed ones, whose rows are listed without a question: their
    // order is nobody's guess.
    let (mut widest, mut count) = (0, 0);
    let mut rows = std::mem::take(&mut scratch.rows);
    rows.resize(len.max(rows.len()), 0);
    for (row, record) in scratch.sorted[..len].iter().enumerate() {
        widest = widest.max(record.last_bucket() - record.bucket().min(record.last_bucket()));
        rows[count] = row as u32;
        count += usize::from(changed.holds(record));
    }
    let sweep = Sweep::over(scratch);
    let (mut tests, mut waiting) = (0, 0);
    for &row in &rows[..count] {
        let row = row as usize;
        let own = scratch.sorted[row];
        let end = starts[own.last_bucket() + 1] as usize;
        let from = (row + 1).max(first_inside);
        // Those that start before the tile on x are not paired with each other here.
        let back = if row < first_inside { row } else { starts[own.bucket().saturating_sub(widest)] as usize };
        tests += end.saturating_sub(from) + (row - back);
        // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) row < len, end <= len, and no more than a batch waits; the two
        // sweeps do not overlap, so that they find no more than one row could, and one step.
        let forward = unsafe { sweep.row::<D, S>(row, from, end, waiting) };
        // SAFETY: (isa, in bounds) as above.
        waiting = unsafe { sweep.row::<D, S>(row, back, row, forward) };
        drop_changed(scratch, changed, forward..waiting);
        if waiting >= BATCH {
            confirm::<D, T, S>(simd, scratch, waiting, boxes, hits);
            waiting = 0;
            if hits.stopped() {
                break;
            }
        }
    }
    confirm::<D, T, S>(simd, scratch, waiting, boxes, hits);
    scratch.rows = rows;
    hits.count_tests(tests as u64);
}

/// Drops candidates whose column is changed: that one has met this row from the other side.
#[inline(always)]
fn drop_changed(scratch: &mut Scratch, changed: Changed<'_>, finds: Range<usize>) {
    for find in &mut scratch.finds[finds] {
        let mut left = find.bits;
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            if changed.holds(&scratch.sorted[(find.at + bit) as usize]) {
                find.bits &= !(1 << bit);
            }
        }
    }
}
