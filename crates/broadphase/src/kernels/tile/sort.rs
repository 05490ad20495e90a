//! The counting sort of a tile's records along x.

use super::{Record, Scratch};
use crate::geometry::Real;
use crate::kernels::arch::{Kernel, Simd, Words};
use crate::sample::sample;

/// The number of lower bits of a word that the bucket drops, for wide and for narrow records.
pub(super) const COARSE: u32 = 8;
pub(super) const FINE: u32 = 6;
/// The starts of all buckets, one more for the end, and another for counting.
const fn starts(shift: u32) -> usize {
    (1 << (16 - shift)) + 3
}

/// Where each bucket starts in the sorted records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buckets {
    shift: u32,
    starts: [u32; starts(FINE)],
}

impl Default for Buckets {
    fn default() -> Self {
        Self { shift: COARSE, starts: [0; starts(FINE)] }
    }
}

impl Buckets {
    /// The number of buckets.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        (1 << (16 - self.shift)) + 1
    }

    /// The bucket of a word.
    #[inline(always)]
    pub(super) fn of(&self, x: u16) -> usize {
        bucket(x, self.shift)
    }

    /// The buckets of both ends of a record.
    #[inline(always)]
    pub(super) fn both(&self, record: &Record) -> (usize, usize) {
        let (low, high) = record.span();
        (self.of(low), self.of(high))
    }

    /// Where a bucket starts, which is where the one before it ends. Bucket 0 holds the records that start before the tile.
    #[inline(always)]
    pub(super) fn start(&self, bucket: usize) -> usize {
        self.starts[bucket] as usize
    }

    /// Where the bucket of a word ends.
    ///
    /// # Safety
    /// *In bounds*: the shift is `SHIFT`, so that there is a bucket for every word.
    #[inline(always)]
    pub(super) unsafe fn end_of<const SHIFT: u32>(&self, x: u16) -> usize {
        debug_assert_eq!(self.shift, SHIFT);
        // SAFETY: (in bounds) the caller's duty.
        unsafe { *self.starts.get_unchecked(bucket(x, SHIFT) + 1) as usize }
    }

    /// Are the buckets fine?
    pub(super) fn are_fine(&self) -> bool {
        self.shift == FINE
    }
}

/// The bucket of a word: its upper bits, rounded up, so that 0 has a bucket of its own.
#[inline(always)]
pub(super) fn bucket(x: u16, shift: u32) -> usize {
    (usize::from(x) + (1 << shift) - 1) >> shift
}

/// Sorts all records by bucket into the scratch, which is prepared for them.
pub(super) struct Sort<'a, T> {
    pub(super) runs: &'a [&'a [Record]],
    pub(super) scratch: &'a mut Scratch<T>,
}

impl<T: Real> Kernel for Sort<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let len = self.runs.iter().map(|run| run.len()).sum();
        let (width, extent) = widths(self.runs, len);
        // The records that start within the width of a record and of a bucket, if they are spread evenly.
        self.scratch.expected_run = (width + BUCKET) * len / extent;
        if len >= FEWEST && width < BUCKET {
            self.sort::<FINE, { starts(FINE) }, S>(simd, len)
        } else {
            self.sort::<COARSE, { starts(COARSE) }, S>(simd, len)
        }
    }
}

/// Records that are sampled to choose how a tile is sorted and swept.
const LOOKS: usize = 16;
/// The width of a coarse bucket.
const BUCKET: usize = 1 << COARSE;
/// The least number of records for fine buckets. They pay if records are hardly wider than a coarse bucket along x, as in a row: otherwise
/// most of their candidates would be records of the same bucket.
const FEWEST: usize = 512;

/// The mean width of records along x, and the extent of all, estimated from a sample.
///
/// They depend only on the records of the tile, not on earlier tiles, since they determine the order of records, and so of pairs.
fn widths(runs: &[&[Record]], len: usize) -> (usize, usize) {
    let looks = runs.iter().flat_map(|run| sample(run.len(), len.div_ceil(LOOKS).max(1)).map(|at| &run[at])).map(Record::span);
    let (mut count, mut sum, mut first, mut last) = (0, 0, u16::MAX, 0);
    for (low, high) in looks {
        count += 1;
        sum += usize::from(high.saturating_sub(low));
        (first, last) = (first.min(low), last.max(high));
    }
    (sum / count.max(1), usize::from(last.saturating_sub(first)).max(1))
}

impl<T: Real> Sort<'_, T> {
    #[inline(always)]
    fn sort<const SHIFT: u32, const STARTS: usize, S: Simd>(self, _: S, len: usize) {
        let Self { runs, scratch } = self;
        scratch.begin(len);
        // A local array: the compiler must assume that a store to the scratch changes one in there.
        let mut starts = [0; STARTS];
        let bucket = |record: &Record| bucket(record.span().0, SHIFT);
        for record in runs.iter().copied().flatten() {
            starts[bucket(record) + 2] += 1;
        }
        for bucket in 2..STARTS {
            starts[bucket] += starts[bucket - 1];
        }
        // starts[b + 1] is where bucket b goes next; after the pass it is where bucket b ends, which is where b + 1 starts.
        let (sorted, bytes) = (&mut scratch.sorted[..len], &mut scratch.bytes[..len]);
        for run in runs {
            for record in *run {
                let next = &mut starts[bucket(record) + 1];
                let at = *next as usize;
                *next += 1;
                // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) a bucket takes as many records as were counted, so that
                // `at` is below their sum, `len`.
                unsafe {
                    debug_assert!(at < len);
                    *sorted.get_unchecked_mut(at) = *record;
                    *bytes.get_unchecked_mut(at) = (S::U16::load(&record.0).upper_bytes() >> 16) as u32;
                }
            }
        }
        for (bound, bytes) in scratch.bounds[..len].iter_mut().zip(&*bytes) {
            *bound = (!*bytes).rotate_right(16);
        }
        scratch.buckets.shift = SHIFT;
        scratch.buckets.starts[..STARTS].copy_from_slice(&starts);
    }
}
