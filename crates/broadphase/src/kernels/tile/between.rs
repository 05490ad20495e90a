//! The pairs of two sets in a tile: of a record of the first set and a record of the second one. Nothing is paired within a set.
//!
//! # Method
//! The second set is sorted into buckets along x, as [`Columns`]; each record of the first set, a row, is swept over the columns that may reach it, and
//! candidates are confirmed as in the join of one set. Two departures from the sweep of one set:
//! 1. A row meets columns that start before it, too. Where a column ends is not sorted, so each bucket knows the first column that reaches it: the
//!    columns of a row are those from there to the end of the bucket that its upper x falls into.
//! 2. One wide column would make the runs of all rows behind it long. The widest ones lie apart, and every row is swept over all of them. How wide
//!    those are is chosen so that the expected number of tests is least.
//!
//! Rows need no order, and columns depend on the second set alone: where it does not change, as statics, they are kept. (Sorting both sets and sweeping
//! each over the other read both in every frame.)
//!
//! # The bad case
//! Columns of all widths, up to that of the tile: each row is then tested with most of them.

use std::ops::Range;

use super::confirm::{FOUR, compare, list_some};
use super::sort::{COARSE, bucket};
use super::sweep::{Find, GROUP, LONG, SHORT, strip, sweep};
use super::{BATCH, PAD, Record, Scratch};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::arch::{Kernel, Simd, Words};
use crate::kernels::isa::Kernels;
use crate::kernels::pair_sink::PairSink;
use crate::memory;
use crate::pair::Pair;

/// One for each value of the upper byte of a word, and one for records that start before the tile.
const BUCKETS: usize = (1 << (16 - COARSE)) + 1;
/// The expected number of columns that start within the width of the widest column that does not lie apart; from this number on, rows are swept in long
/// windows.
const LONG_RUN: usize = 36;
/// The least width, as a power of two, from which on columns may lie apart: that of a bucket.
const LEAST_WIDTH: u32 = COARSE;

/// The records of a tile, sorted for rows of another set.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    /// The wide ones, then the others by the bucket of their lower x.
    sorted: Vec<Record>,
    /// The upper bytes of `min.y, min.z, !max.y, !max.z`, in the same order, and a window more.
    bytes: Vec<u32>,
    /// The number of wide ones.
    wide: usize,
    /// By the bucket of a row's lower x: the first of the others that reaches that bucket.
    firsts: [u32; BUCKETS],
    /// By the bucket of a row's upper x: the end of that bucket.
    ends: [u32; BUCKETS],
    /// Are runs long?
    is_long: bool,
}

impl Default for Columns {
    fn default() -> Self {
        let (sorted, bytes) = (Vec::new(), Vec::new());
        Self { sorted, bytes, wide: 0, firsts: [0; BUCKETS], ends: [0; BUCKETS], is_long: false }
    }
}

impl Columns {
    /// Makes them the columns of these records.
    pub(crate) fn fill(&mut self, kernels: Kernels, runs: &[&[Record]]) -> Result<(), Error> {
        let len = runs.iter().map(|run| run.len()).sum();
        memory::resize(&mut self.sorted, len, Record::default(), "records")?;
        memory::resize(&mut self.bytes, len + PAD, 0, "records")?;
        kernels.run(Fill { runs, columns: self });
        Ok(())
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.sorted.capacity() * 16 + self.bytes.capacity() * 4
    }
}

/// The kernel of [`Columns::fill`], for columns of the right length.
struct Fill<'a> {
    runs: &'a [&'a [Record]],
    columns: &'a mut Columns,
}

impl Kernel for Fill<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { runs, columns } = self;
        let records = || runs.iter().copied().flatten();
        let len = columns.sorted.len();
        let narrow = narrow_width(records(), len);
        let is_wide = |record: &Record| u32::from(record.width()) >> narrow != 0;
        // Where the next record of each bucket goes; wide ones have the bucket before all others.
        let place = |record: &Record| if is_wide(record) { 0 } else { 1 + bucket(record.span().0, COARSE) };
        let mut starts = [0u32; BUCKETS + 2];
        records().for_each(|record| starts[place(record) + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        columns.wide = starts[1] as usize;
        columns.ends.copy_from_slice(&starts[2..]);
        columns.is_long = (len << narrow >> 16) >= LONG_RUN;
        for record in records() {
            let next = &mut starts[place(record)];
            let at = *next as usize;
            *next += 1;
            columns.sorted[at] = *record;
            // SAFETY: (isa) `S` is proven by the kernel table.
            columns.bytes[at] = unsafe { four_bytes::<S>(record) };
        }
        // If a row and a column both start before the tile, so does their intersection, and another tile reports the pair.
        let inside = columns.ends[0];
        let mut reached = 0;
        for (record, at) in columns.sorted[columns.wide..].iter().zip(columns.wide as u32..) {
            let last = bucket(record.span().1, COARSE);
            if reached <= last {
                columns.firsts[reached..=last].fill(at);
                reached = last + 1;
            }
        }
        columns.firsts[reached..].fill(len as u32);
        columns.firsts[0] = columns.firsts[0].max(inside);
    }
}

/// The upper bytes of `min.y, min.z, !max.y, !max.z`.
///
/// # Safety
/// *isa*.
#[inline(always)]
unsafe fn four_bytes<S: Simd>(record: &Record) -> u32 {
    // SAFETY: (isa) the caller's duty.
    unsafe { (S::U16::load(&record.0).upper_bytes() >> 16) as u32 }
}

/// The width, as a power of two, from which on records lie apart: rows are tested with all of these, and with those of the others that start within
/// this width before them.
fn narrow_width<'a>(records: impl Iterator<Item = &'a Record>, len: usize) -> u32 {
    let mut by_width = [0; 17];
    records.for_each(|record| by_width[(u16::BITS - record.width().leading_zeros()) as usize] += 1);
    let (mut best, mut least, mut wider) = (16, len, 0);
    for width in (LEAST_WIDTH..16).rev() {
        wider += by_width[width as usize + 1];
        let tests = wider + (len << width >> 16);
        if tests < least {
            (best, least) = (width, tests);
        }
    }
    best
}

/// One of the two sets: its records in the tile, and all its boxes.
#[derive(Clone, Copy)]
pub(crate) struct Set<'a, R, const D: usize, T> {
    pub(crate) records: R,
    pub(crate) boxes: &'a [Aabb<D, T>],
}

/// Reports all pairs of a record of the first set and one of the second that overlap in their boxes and whose intersection starts in this tile.
/// `pair` makes a pair of an id of the first set and one of the second.
pub(crate) fn join_sets<const D: usize, T: Real>(
    kernels: Kernels,
    rows: Set<'_, &[&[Record]], D, T>,
    columns: Set<'_, &Columns, D, T>,
    scratch: &mut Scratch<T>,
    pair: impl Fn(u32, u32) -> Pair + Copy,
    hits: &mut PairSink,
) {
    for &run in rows.records {
        let rows = Set { records: run, boxes: rows.boxes };
        if columns.records.is_long {
            sweep_strips::<LONG, D, T>(kernels, rows, columns, scratch, pair, hits);
        } else {
            sweep_strips::<SHORT, D, T>(kernels, rows, columns, scratch, pair, hits);
        }
        if hits.stopped() {
            return;
        }
    }
}

/// Sweeps the rows of a run over the columns, in windows of `G` groups.
fn sweep_strips<const G: usize, const D: usize, T: Real>(
    kernels: Kernels,
    rows: Set<'_, &[Record], D, T>,
    columns: Set<'_, &Columns, D, T>,
    scratch: &mut Scratch<T>,
    pair: impl Fn(u32, u32) -> Pair + Copy,
    hits: &mut PairSink,
) {
    let all = rows.records;
    // A window more for each row than in the sweep of one set.
    let len = columns.records.sorted.len() + GROUP * SHORT;
    let (strip, _) = strip(len);
    if scratch.prepare_finds(len).is_err() {
        return hits.stop_out_of_memory();
    }
    let (mut row, mut waiting, mut tests) = (0, 0, 0);
    while row < all.len() {
        let range = row..(row + strip).min(all.len());
        row = range.end;
        let (columns_of_tile, finds) = (columns.records, &mut scratch.finds[..]);
        let sum;
        (sum, waiting) = kernels.run(SweepRows::<G> { rows: all, range, columns: columns_of_tile, finds, waiting });
        tests += sum;
        if waiting >= BATCH || row == all.len() {
            kernels.run(Confirm { rows, columns, pair, scratch, count: std::mem::take(&mut waiting), hits });
            if hits.stopped() {
                break;
            }
        }
    }
    hits.count_tests(tests as u64);
}

/// Sweeps some rows over the columns.
struct SweepRows<'a, const G: usize> {
    rows: &'a [Record],
    range: Range<usize>,
    columns: &'a Columns,
    finds: &'a mut [Find],
    /// The finds so far.
    waiting: usize,
}

impl<const G: usize> Kernel for SweepRows<'_, G> {
    /// The number of tests, and the new number of finds.
    type Output = (usize, usize);

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Self::Output {
        let Self { rows, range, columns, finds, mut waiting } = self;
        let Columns { sorted, bytes, wide, firsts, ends, .. } = columns;
        assert!(
            bytes.len() >= sorted.len() + PAD && *wide <= sorted.len() && ends.iter().all(|&end| end as usize <= sorted.len())
        );
        assert!(finds.len() >= waiting + range.len() * (sorted.len() / (GROUP * SHORT) + 2));
        let (first, mut tests) = (range.start, 0);
        for (record, row) in rows[range].iter().zip(first..) {
            let (low, high) = record.span();
            let end = ends[bucket(high, COARSE)] as usize;
            let from = (firsts[bucket(low, COARSE)] as usize).min(end);
            tests += wide + end - from;
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) both ranges end with the records at the latest, and of bytes there is a window
            // more; together they have two windows more than the records, at most, and for these there is room.
            unsafe {
                let bound = (!four_bytes::<S>(record)).rotate_right(16);
                if *wide > 0 {
                    waiting = sweep::<G, S>(bytes, bound, row, 0..*wide, finds, waiting);
                }
                waiting = sweep::<G, S>(bytes, bound, row, from..end, finds, waiting);
            }
        }
        (tests, waiting)
    }
}

/// Turns the first `count` finds into pairs: by words, and by boxes where words are equal.
struct Confirm<'a, 'h, 'r, const D: usize, T, P> {
    rows: Set<'a, &'a [Record], D, T>,
    columns: Set<'a, &'a Columns, D, T>,
    /// Of the id of a row, and of a column.
    pair: P,
    scratch: &'a mut Scratch<T>,
    count: usize,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real, P: Fn(u32, u32) -> Pair + Copy> Kernel for Confirm<'_, '_, '_, D, T, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { rows, columns, pair, scratch, count, hits } = self;
        let Scratch { finds, candidates, open, .. } = scratch;
        let (records, sorted) = (rows.records, &columns.records.sorted[..]);
        let mut finds = &finds[..count];
        while !finds.is_empty() {
            let waiting = list_some(simd, &mut finds, candidates);
            let room = hits.room(waiting + FOUR);
            // SAFETY: (in bounds, room) candidates come from sweeps of the rows over the columns; no more is found than there are candidates, nor left open.
            let (mut found, mut left, rest) =
                unsafe { simd.confirm_by_words::<false>(records, sorted, &candidates[..waiting], room, open) };
            for candidate in rest {
                let (row, column) = candidate.places();
                let (a, b) = (&records[row], &sorted[column]);
                let (_, is_pair, is_open) = compare(simd, a, b);
                // Unpredictable, so computed without a branch.
                room[found].write(Pair { a: a.id(), b: b.id() });
                found += usize::from(is_pair & !is_open);
                if is_pair & is_open {
                    open[left] = *candidate;
                    left += 1;
                }
            }
            for found in &mut room[..found] {
                // SAFETY: (initialized) just written.
                let Pair { a, b } = unsafe { found.assume_init() };
                found.write(pair(a, b));
            }
            // SAFETY: (initialized, room) `found` pairs were written, one behind the other, and at most as many as candidates.
            unsafe { hits.commit(found) };
            for candidate in &open[..left] {
                let (row, column) = candidate.places();
                let (a, b) = (records[row].id(), sorted[column].id());
                if rows.boxes[a as usize].overlaps(&columns.boxes[b as usize]) {
                    hits.push(pair(a, b));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_records_lie_apart_where_that_saves_tests() {
        let records = |widths: &[(usize, u16)]| -> Vec<Record> {
            let one = |width| Record::new([1, 1, 1, 1 + width, 2, 2], 0);
            widths.iter().flat_map(|&(count, width)| std::iter::repeat_n(one(width), count)).collect()
        };
        for (widths, narrow) in [
            (&[(1000, 100)][..], LEAST_WIDTH),
            (&[(1000, 300)], 9),
            (&[(990, 300), (10, 30_000)], 9),
            (&[(500, 300), (500, 30_000)], 15),
            (&[(1000, 60_000)], 16),
            (&[], 16),
        ] {
            let records = records(widths);
            assert_eq!(narrow_width(records.iter(), records.len()), narrow, "{widths:?}");
        }
    }

    #[test]
    fn every_instruction_set_finds_the_pairs_of_a_double_loop_in_the_same_order() {
        use crate::kernels::Isa;
        let mut state = 3u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for (range, size) in [(12, 6), (300, 90), (5000, 900)] {
            // Boxes of integers, whose words are halves of them: some words are equal where boxes are not.
            let mut set = |count: u32| -> (Vec<Aabb<3, f32>>, Vec<Record>) {
                let one = |id| {
                    let low = [0; 3].map(|_| 2 + random(range) as u16);
                    let high: [u16; 3] = std::array::from_fn(|k| low[k] + random(size) as u16);
                    let corner = |k: usize| if k < 3 { low[k] / 2 } else { high[k - 3] / 2 };
                    (Aabb::new(low.map(f32::from), high.map(f32::from)), Record::new(std::array::from_fn(corner), id))
                };
                (0..count).map(one).unzip()
            };
            let ((boxes, rows), (others, columns)) = (set(150), set(400));
            let find = |isa| {
                let (kernels, mut scratch, mut hits) = (Kernels::new(isa).unwrap(), Scratch::default(), PairSink::plain());
                let mut sorted = Columns::default();
                sorted.fill(kernels, &[&columns]).unwrap();
                let rows = Set { records: &[&rows[..70], &rows[70..]][..], boxes: &boxes };
                let columns = Set { records: &sorted, boxes: &others };
                join_sets(kernels, rows, columns, &mut scratch, |a, b| Pair { a: a + 7, b }, &mut hits);
                hits.finish().pairs
            };
            let mut found = find(Isa::available().next().unwrap());
            Isa::available().for_each(|isa| assert_eq!(find(isa), found, "{isa}, range {range}"));
            let mut expected = Vec::new();
            for (a, row) in (7..).zip(&boxes) {
                expected.extend((0..).zip(&others).filter(|(_, other)| row.overlaps(other)).map(|(b, _)| Pair { a, b }));
            }
            found.sort();
            assert!(found == expected && !found.is_empty(), "range {range}");
        }
    }
}
