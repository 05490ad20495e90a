//! The sweep: the records whose bytes overlap those of a row.

use std::ops::Range;

use super::sort::{Buckets, FINE};
use super::{PAD, Record};
use crate::kernels::arch::{Kernel, Simd, Words};

/// Records that are compared together, as many as every register can do in a few steps.
pub(super) const GROUP: usize = 16;
/// Groups of a window, by how long runs are. Whether a run needs another window is unpredictable, so most runs should need one; but larger
/// windows cost more. (Windows of one group were slower.)
pub(super) const SHORT: usize = 2;
pub(super) const MIDDLE: usize = 3;
pub(super) const LONG: usize = 4;
/// Records of the longest window.
pub(super) const LONGEST: usize = GROUP * LONG;

/// Rows of a tile of `len` records that are swept before their finds are processed, and the most finds that they can make.
pub(super) fn strip(len: usize) -> (usize, usize) {
    let rows = if len > MANY { 8 } else { 64 };
    (rows, rows * (len / (GROUP * SHORT) + 1))
}

/// The number of records from which a tile is swept in short strips, so that finds need no more memory than records.
const MANY: usize = 1 << 13;

/// The candidates of a row in one window: the records `at + bit`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Find {
    pub(super) row: u32,
    pub(super) at: u32,
    pub(super) bits: u64,
}

/// For each of some sorted records, the rows, those that start in a bucket it reaches and overlap it on y and z, in windows of `G` groups.
/// If `BEFORE`, the rows start before the tile, and meet only records that do not.
///
/// It is a kernel of its own, so that its few values stay in registers: inlined into the whole join it was slower.
pub(super) struct Rows<'a, const G: usize, const SHIFT: u32, const BEFORE: bool> {
    pub(super) sorted: &'a [Record],
    /// The upper bytes of `min.y, min.z, !max.y, !max.z`, and of `max.y, max.z, !min.y, !min.z`: upper bounds of the bytes of a record that
    /// overlaps.
    pub(super) bytes: &'a [u32],
    pub(super) bounds: &'a [u32],
    pub(super) buckets: &'a Buckets,
    pub(super) rows: Range<usize>,
    pub(super) finds: &'a mut [Find],
    /// The finds so far.
    pub(super) waiting: usize,
}

impl<const G: usize, const SHIFT: u32, const BEFORE: bool> Kernel for Rows<'_, G, SHIFT, BEFORE> {
    /// The sum of the ends of the runs, and the new number of finds.
    type Output = (usize, usize);

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> Self::Output {
        let Self { sorted, bytes, bounds, buckets, rows, finds, mut waiting } = self;
        let first_inside = buckets.start(1);
        assert!(rows.end <= sorted.len() && bytes.len() >= sorted.len() + PAD && bounds.len() >= sorted.len());
        assert!(
            finds.len() >= waiting + rows.len() * (sorted.len() / (GROUP * SHORT) + 1)
                && buckets.start(buckets.len()) <= sorted.len()
        );
        assert!(buckets.are_fine() == (SHIFT == FINE));
        let (mut ends, mut row) = (0, rows.start);
        while row < rows.end {
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) no bucket ends beyond the records, and of bytes there is a
            // window more; the rest was just asserted.
            unsafe {
                let from = if BEFORE { first_inside } else { row + 1 };
                let end = buckets.end_of::<SHIFT>(sorted.get_unchecked(row).span().1);
                ends += end;
                if row + 1 == rows.end {
                    waiting = sweep::<G, S>(bytes, *bounds.get_unchecked(row), row, from..end, finds, waiting);
                    break;
                }
                let next_end = buckets.end_of::<SHIFT>(sorted.get_unchecked(row + 1).span().1);
                ends += next_end;
                let (bounds, ends) = ([*bounds.get_unchecked(row), *bounds.get_unchecked(row + 1)], [end, next_end]);
                waiting = sweep_two::<G, BEFORE, S>(bytes, bounds, row, from, ends, finds, waiting);
            }
            row += 2;
        }
        (ends, waiting)
    }
}

/// Appends the records in `range` of which no byte exceeds its bound, as candidates of `row`, to the finds; returns their new number.
///
/// Most windows have no candidate: each writes its find, and counts it only if there is one. The first window is written even if
/// the range is empty.
///
/// # Safety
/// *isa* (of `S`); *in bounds*: `bytes` go on for a window behind the range, and there is room for a find of each window.
#[inline(always)]
pub(super) unsafe fn sweep<const G: usize, S: Simd>(
    bytes: &[u32],
    bound: u32,
    row: usize,
    range: Range<usize>,
    finds: &mut [Find],
    mut waiting: usize,
) -> usize {
    let mut at = range.start;
    loop {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let bits = S::lowest(S::fours_within::<G>(bound, bytes.as_ptr().add(at)), range.end - at);
            *finds.get_unchecked_mut(waiting) = Find { row: row as u32, at: at as u32, bits };
            waiting += usize::from(bits != 0);
        }
        at += GROUP * G;
        if at >= range.end {
            return waiting;
        }
    }
}

/// Two sweeps at once, of `row` and the next one, of runs that both start at `from` and end where `ends` says: they are nearly the same,
/// and are read once. (Four at once were slower.) Unless the runs lie behind all rows, `BEFORE`, `from` is the second row itself.
///
/// # Safety
/// As for [`sweep`], for each of the two.
#[inline(always)]
unsafe fn sweep_two<const G: usize, const BEFORE: bool, S: Simd>(
    bytes: &[u32],
    bounds: [u32; 2],
    row: usize,
    from: usize,
    ends: [usize; 2],
    finds: &mut [Find],
    mut waiting: usize,
) -> usize {
    let (mut at, mut itself) = (from, u64::from(!BEFORE));
    loop {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let others = bytes.as_ptr().add(at);
            let (first, second) = (S::fours_within::<G>(bounds[0], others), S::fours_within::<G>(bounds[1], others));
            let first = S::lowest(first, ends[0].saturating_sub(at));
            let second = S::lowest(second, ends[1].saturating_sub(at)) & !itself;
            *finds.get_unchecked_mut(waiting) = Find { row: row as u32, at: at as u32, bits: first };
            waiting += usize::from(first != 0);
            *finds.get_unchecked_mut(waiting) = Find { row: row as u32 + 1, at: at as u32, bits: second };
            waiting += usize::from(second != 0);
        }
        itself = 0;
        at += GROUP * G;
        if at >= ends[0].max(ends[1]) {
            return waiting;
        }
    }
}

/// Appends those of the first `count` records that `own`, row `row` of others, overlaps on all axes, where records are not sorted, and
/// `bytes` are those of all words.
///
/// # Safety
/// *isa* (of `S`); *in bounds*: `bytes` continue for a window after those of `count` records, and there is room for a find of each window.
#[inline(always)]
pub(super) unsafe fn sweep_all<S: Simd>(
    bytes: &[u64],
    own: &Record,
    row: usize,
    count: usize,
    finds: &mut [Find],
    mut waiting: usize,
) -> usize {
    // SAFETY: (isa, in bounds) the caller's duties.
    unsafe {
        let bound = bound::<S>(own);
        for at in (0..count).step_by(GROUP) {
            let bits = S::lowest(S::eights_within(bound, bytes.as_ptr().add(at)), count - at);
            *finds.get_unchecked_mut(waiting) = Find { row: row as u32, at: at as u32, bits };
            waiting += usize::from(bits != 0);
        }
    }
    waiting
}

/// The upper bounds of the bytes of another record if the two overlap.
///
/// # Safety
/// *isa*.
#[inline(always)]
pub(super) unsafe fn bound<S: Simd>(own: &Record) -> u64 {
    // SAFETY: (isa) the caller's duty.
    unsafe { S::U16::load(&own.0).reach().upper_bytes() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::arch::Registers;
    use crate::kernels::{Isa, Kernels, Scalar};

    struct All<'a>(&'a [u32], &'a [u64], usize);

    impl Kernel for All<'_> {
        type Output = [u64; 4];

        #[inline(always)]
        fn run<S: Simd>(self, _: S) -> [u64; 4] {
            let Self(fours, eights, at) = self;
            let (four, eight) = (fours[at], eights[at]);
            let (fours, eights) = (fours[at..][..48].as_ptr(), eights[at..][..16].as_ptr());
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) just sliced.
            unsafe {
                [
                    S::fours_within::<1>(four, fours),
                    S::fours_within::<2>(four, fours),
                    S::fours_within::<3>(four, fours),
                    S::eights_within(eight, eights),
                ]
            }
        }
    }

    #[test]
    fn every_instruction_set_finds_the_same_bytes_within_a_bound() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Low and high bytes, ties among them.
            u64::from_le_bytes(
                (state ^ state >> 29).to_le_bytes().map(|byte| [0, 1, 127, 128, 254, 255, byte][byte as usize % 7]),
            )
        };
        let eights: Vec<u64> = (0..300).map(|_| random() & random()).collect();
        let fours: Vec<u32> = eights.iter().map(|word| *word as u32).collect();
        let mut found = 0;
        for at in 0..200 {
            let run = |isa| Kernels::new(isa).unwrap().run(All(&fours, &eights, at));
            let expected = run(Isa::Scalar);
            found += expected[2].count_ones();
            assert!(expected.iter().all(|bits| bits & 1 == 1), "everything is within itself");
            // SAFETY: (isa) plain Rust.
            let lowest = |count: usize| unsafe { Scalar::lowest(expected[2], count) };
            assert!((0..3).all(|g| expected[g] == lowest(16 * (g + 1))) && lowest(64) == lowest(1000));
            Isa::available().for_each(|isa| assert_eq!(run(isa), expected, "{isa} {at}"));
        }
        assert!((400..12_000).contains(&found), "some are, some are not: {found}");
    }
}
