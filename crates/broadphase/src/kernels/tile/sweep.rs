//! The sweep: which sorted records overlap a row in bytes.

use std::ops::Range;

use super::{Record, SIDES, Scratch, YZ};
use crate::kernels::lanes::{Bytes, Simd};

/// Records that a row is compared with before what was found is noted: as many as a find has bits.
pub(super) const WINDOW: usize = 64;

/// What a sweep found in a window: candidates `at + bit` of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Find {
    pub(super) row: u32,
    pub(super) at: u32,
    pub(super) bits: u64,
}

/// Sorted records as a sweep reads them, and where it writes.
#[derive(Clone, Copy)]
pub(super) struct Sweep {
    pub(super) sorted: *const Record,
    bytes: *const u32,
    columns: *const u8,
    stride: usize,
    finds: *mut Find,
}

impl Sweep {
    #[inline(always)]
    pub(super) fn over<T>(scratch: &mut Scratch<T>) -> Self {
        Self {
            sorted: scratch.sorted.as_ptr(),
            bytes: scratch.bytes.as_ptr(),
            columns: scratch.columns.as_ptr(),
            stride: scratch.stride,
            finds: scratch.finds.as_mut_ptr(),
        }
    }

    /// Appends the records in `range` that `own`, which is row `row`, overlaps in the first `K` columns, to the finds; returns
    /// their new number.
    ///
    /// Most windows hold nothing, a few something: each writes its find, and counts it only if there is any.
    ///
    /// # Safety
    /// *isa* (of `S`); *in bounds*: the scratch lives, its records are laid out as far as `K` and `range` ask, and there is room for the finds of
    /// one row.
    #[inline(always)]
    pub(super) unsafe fn one_row<const K: usize, S: Simd>(
        self,
        own: &Record,
        row: usize,
        range: Range<usize>,
        mut waiting: usize,
    ) -> usize {
        // SAFETY: (isa, in bounds) the caller's duties; columns are `PAD` longer than the records, and a window writes one find.
        unsafe {
            let own = bounds::<K, S>(own);
            for at in range.clone().step_by(WINDOW) {
                let (mut bits, mut step) = (0, 0);
                while step < WINDOW && at + step < range.end {
                    bits |= S::U8::all_at_most(own, self.columns::<K, S>(at + step)) << step;
                    step += S::U8::N;
                }
                waiting = self.note(row, at, bits & lowest(range.end - at), waiting);
            }
        }
        waiting
    }

    /// As two calls of [`one_row`](Sweep::one_row), for y and z of the sorted record `row` and the next one, which meet the records from `from`
    /// on up to their own `ends`: records are loaded once for both. The second row does not meet itself.
    ///
    /// Unless runs are `SHORT`, whether the last window is needed beyond its first half is nobody's guess. Where a window is two registers, it is
    /// not asked.
    ///
    /// # Safety
    /// As for [`one_row`](Sweep::one_row); a second row may be read, and there is room for the finds of two rows.
    #[inline(always)]
    pub(super) unsafe fn two_rows<const D: usize, const SHORT: bool, S: Simd>(
        self,
        row: usize,
        from: usize,
        ends: [usize; 2],
        mut waiting: usize,
    ) -> usize {
        // SAFETY: (isa, in bounds) the caller's duties, as above; a window that starts below the number of records ends within `PAD` of it.
        unsafe {
            let (first, second) = (self.bounds::<S>(row), self.bounds::<S>(row + 1));
            let end = ends[0].max(ends[1]);
            let mut others = if from == row + 1 { !1 } else { !0 };
            let mut at = from;
            while at < end {
                let (mut found, mut step) = ([0, 0], 0);
                loop {
                    let columns = self.columns::<YZ, S>(at + step);
                    found[0] |= Self::overlaps::<D, S>(first, columns) << step;
                    found[1] |= Self::overlaps::<D, S>(second, columns) << step;
                    step += S::U8::N;
                    if step >= WINDOW || (SHORT || S::U8::N * 2 < WINDOW) && at + step >= end {
                        break;
                    }
                }
                waiting = self.note(row, at, found[0] & lowest(ends[0].saturating_sub(at)), waiting);
                waiting = self.note(row + 1, at, found[1] & lowest(ends[1].saturating_sub(at)) & others, waiting);
                others = !0;
                at += WINDOW;
            }
        }
        waiting
    }

    /// Writes a find, and counts it if there is anything in it.
    ///
    /// # Safety
    /// *In bounds*: there is room for it.
    #[inline(always)]
    unsafe fn note(self, row: usize, at: usize, bits: u64, waiting: usize) -> usize {
        // SAFETY: (in bounds) the caller's duty.
        unsafe { *self.finds.add(waiting) = Find { row: row as u32, at: at as u32, bits } };
        waiting + usize::from(bits != 0)
    }

    /// What a sorted row compares others with: `!max.y, !max.z, min.y, min.z`, each in all lanes. From memory, where bytes splat in one
    /// instruction.
    ///
    /// # Safety
    /// *isa*; *in bounds*: the row has bytes.
    #[inline(always)]
    unsafe fn bounds<S: Simd>(self, row: usize) -> [S::U8; YZ] {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let own = self.bytes.add(row).cast::<u8>();
            [S::U8::splat(*own.add(2)), S::U8::splat(*own.add(3)), S::U8::splat(*own), S::U8::splat(*own.add(1))]
        }
    }

    /// The first `K` columns of the records from `at` on, as many as a register has: with [`YZ`], `!min.y, !min.z, max.y, max.z`.
    ///
    /// # Safety
    /// *isa*; *in bounds*: as many records behind `at` as a register has are part of the columns, `PAD` included.
    #[inline(always)]
    unsafe fn columns<const K: usize, S: Simd>(self, at: usize) -> [S::U8; K] {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let place = self.columns.add(at);
            std::array::from_fn(|k| S::U8::load(place.add(k * self.stride)))
        }
    }

    /// One bit for each record that a row overlaps: `min <= own.max`, which is `!own.max <= !min`, and `own.min <= max`.
    ///
    /// # Safety
    /// *isa*.
    #[inline(always)]
    unsafe fn overlaps<const D: usize, S: Simd>(own: [S::U8; 4], columns: [S::U8; 4]) -> u64 {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            if D == 2 {
                return S::U8::all_at_most([own[0], own[2]], [columns[0], columns[2]]);
            }
            S::U8::all_at_most(own, columns)
        }
    }
}

/// What a mover compares the first `K` columns with: with [`YZ`], `!max.y, !max.z, min.y, min.z`, each in all lanes.
///
/// # Safety
/// *isa*.
#[inline(always)]
unsafe fn bounds<const K: usize, S: Simd>(own: &Record) -> [S::U8; K] {
    const OPPOSITE: [usize; SIDES] = [4, 5, 2, 3, 1, 0];
    // SAFETY: (isa) the caller's duty.
    std::array::from_fn(|k| unsafe { S::U8::splat((own.0[OPPOSITE[k]] >> 8) as u8) })
}

/// The lowest `count` bits, all of them from 64 on.
#[inline(always)]
fn lowest(count: usize) -> u64 {
    if count < 64 { !(!0 << count) } else { !0 }
}
