//! Every box against every other: the join of brute force, of small nodes and of bipartite probes.
//!
//! 1. The simple loop compares box `i` with each `j > i`, one axis after the other.
//! 2. [`STEP`] values of `j` are compared at once, on all axes, without a branch: most pairs miss, and a branch
//!    per pair would cost more than the comparisons.
//! 3. [`ROWS`] values of `i` share each loaded `j`.
//! 4. The `j` are cut into blocks that stay in the first-level cache while all rows pass over them.
//!
//! The order of hits follows from `STEP`, `ROWS` and `BLOCK` alone: it is the same for every instruction set.

use std::ops::Range;

use super::arch::{Kernel, Lanes, Mask, Simd};
use super::isa::Kernels;
use super::pair_sink::{Order, PairSink};
use super::soa::{Columns, PAD};
use crate::geometry::{Real, sealed::Sealed};

/// Boxes compared at once, whatever the register width: the widest register holds 16 `f32`.
pub(crate) const STEP: usize = 16;
/// Rows that share a loaded step.
pub(crate) const ROWS: usize = 4;
/// Boxes per block: 1,024 boxes of 24 bytes take 24 KB.
const BLOCK: usize = 1024;

const _: () = assert!(STEP <= PAD && BLOCK.is_multiple_of(STEP));

/// Tests boxes `rows` against all boxes behind them. `rows` starts at a multiple of [`ROWS`], and ends at one or at the last box.
pub(crate) fn join_self<const D: usize, T: Real>(
    kernels: Kernels,
    boxes: Columns<'_, D, T>,
    rows: Range<usize>,
    hits: &mut PairSink,
) {
    assert!(
        rows.start.is_multiple_of(ROWS) && rows.end <= boxes.len() && (rows.end.is_multiple_of(ROWS) || rows.end == boxes.len())
    );
    kernels.run(SelfJoin { boxes, rows, hits });
}

/// Tests all boxes of `a` with all boxes of `b`.
pub(crate) fn join_between<const D: usize, T: Real>(
    kernels: Kernels,
    a: Columns<'_, D, T>,
    b: Columns<'_, D, T>,
    order: Order,
    hits: &mut PairSink,
) {
    kernels.run(Between { a, b, order, hits });
}

/// One box, each coordinate in all lanes.
///
/// (Loops, not closures: one that the compiler decides not to inline is compiled without the shell's features.)
struct Row<const D: usize, V> {
    min: [V; D],
    max: [V; D],
}

impl<const D: usize, V: Lanes> Row<D, V> {
    /// # Safety
    /// *isa* (of `V`), *in bounds*: `i < boxes.len() + PAD`.
    #[inline(always)]
    unsafe fn splat<T: Real>(boxes: &Columns<'_, D, T>, i: usize) -> Self
    where
        V: Lanes<Scalar = T>,
    {
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let mut row = Self { min: [V::splat(T::NAN); D], max: [V::splat(T::NAN); D] };
            for k in 0..D {
                row.min[k] = V::splat(*boxes.min(k).get_unchecked(i));
                row.max[k] = V::splat(*boxes.max(k).get_unchecked(i));
            }
            row
        }
    }

    /// The bits of `boxes[j..j + STEP]` that overlap the row.
    ///
    /// # Safety
    /// *isa* (of `V`), *in bounds*: `j + STEP <= boxes.len() + PAD`.
    #[inline(always)]
    unsafe fn step<T: Real>(&self, boxes: &Columns<'_, D, T>, j: usize) -> u32
    where
        V: Lanes<Scalar = T>,
    {
        let mut bits = 0;
        let mut at = 0;
        while at < STEP {
            // SAFETY: (isa, in bounds) the caller's duties.
            unsafe {
                let (low, high) = (V::load(boxes.min(0).as_ptr().add(j + at)), V::load(boxes.max(0).as_ptr().add(j + at)));
                let mut mask = low.le(self.max[0]).and(self.min[0].le(high));
                for k in 1..D {
                    let (low, high) = (V::load(boxes.min(k).as_ptr().add(j + at)), V::load(boxes.max(k).as_ptr().add(j + at)));
                    mask = mask.and(low.le(self.max[k])).and(self.min[k].le(high));
                }
                bits |= mask.bits() << at;
            }
            at += V::N;
        }
        bits
    }
}

/// The rows `i..i + ROWS`.
///
/// # Safety
/// *isa* (of `V`), *in bounds*: `i + ROWS <= boxes.len() + PAD`.
#[inline(always)]
unsafe fn splat_rows<const D: usize, T: Real, V: Lanes<Scalar = T>>(boxes: &Columns<'_, D, T>, i: usize) -> [Row<D, V>; ROWS] {
    // SAFETY: (isa, in bounds) the caller's duties.
    unsafe { [Row::splat(boxes, i), Row::splat(boxes, i + 1), Row::splat(boxes, i + 2), Row::splat(boxes, i + 3)] }
}

/// May any of the rows overlap any of `boxes[j..j + STEP]`? Masks are or-ed as vectors and tested once: most steps hit nothing.
/// Vectors compare two axes, which reject nearly as much as three at two thirds of the cost; a single lane gains nothing by that.
///
/// # Safety
/// *isa* (of `V`), *in bounds*: `j + STEP <= boxes.len() + PAD`.
#[inline(always)]
unsafe fn any<const D: usize, T: Real, V: Lanes<Scalar = T>>(
    rows: &[Row<D, V>; ROWS],
    boxes: &Columns<'_, D, T>,
    j: usize,
) -> bool {
    // SAFETY: (isa, in bounds) the caller's duties.
    unsafe {
        let axes = if V::N > 1 { D.min(2) } else { D };
        let nothing = V::splat(T::NAN);
        let mut found = nothing.le(nothing);
        let mut at = 0;
        while at < STEP {
            let (mut low, mut high) = ([nothing; D], [nothing; D]);
            for k in 0..axes {
                low[k] = V::load(boxes.min(k).as_ptr().add(j + at));
                high[k] = V::load(boxes.max(k).as_ptr().add(j + at));
            }
            for r in 0..ROWS {
                let mut mask = low[0].le(rows[r].max[0]).and(rows[r].min[0].le(high[0]));
                for k in 1..axes {
                    mask = mask.and(low[k].le(rows[r].max[k])).and(rows[r].min[k].le(high[k]));
                }
                found = found.or(mask);
            }
            at += V::N;
        }
        found.bits() != 0
    }
}

/// The bits of each row against `boxes[j..j + STEP]`.
///
/// # Safety
/// *isa* (of `V`), *in bounds*: `j + STEP <= boxes.len() + PAD`.
#[inline(always)]
unsafe fn steps<const D: usize, T: Real, V: Lanes<Scalar = T>>(
    rows: &[Row<D, V>; ROWS],
    boxes: &Columns<'_, D, T>,
    j: usize,
) -> [u32; ROWS] {
    // SAFETY: (isa, in bounds) the caller's duties.
    unsafe { [rows[0].step(boxes, j), rows[1].step(boxes, j), rows[2].step(boxes, j), rows[3].step(boxes, j)] }
}

struct SelfJoin<'a, 'h, 'r, const D: usize, T> {
    boxes: Columns<'a, D, T>,
    rows: Range<usize>,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real> Kernel for SelfJoin<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { boxes, rows, hits } = self;
        let len = boxes.len();
        let first_block = rows.start - rows.start % BLOCK;
        for block in (first_block..len).step_by(BLOCK) {
            let block_end = (block + BLOCK).min(len);
            for i in (rows.start..rows.end.min(block_end)).step_by(ROWS) {
                if hits.stopped() {
                    return;
                }
                // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) i + ROWS <= len + PAD, since i < len.
                let block_rows = unsafe { splat_rows::<D, T, <T as Sealed>::In<S>>(&boxes, i) };
                let mut j = block.max(i);
                while j < block_end {
                    // SAFETY: (isa) as above; (in bounds) j < len, and STEP <= PAD.
                    if !unsafe { any(&block_rows, &boxes, j) } {
                        j += STEP;
                        continue;
                    }
                    // SAFETY: (isa, in bounds) as above. (The compiler must not see that it is the same step again: it would keep all
                    // masks of the first look on the stack, for every step.)
                    let mut bits = unsafe { steps(&block_rows, &boxes, std::hint::black_box(j)) };
                    // A step crosses into the next block only at the start of the diagonal; those bits are found in that block.
                    let inside = u32::MAX >> (32 - (block_end - j).min(STEP));
                    if (bits[0] | bits[1] | bits[2] | bits[3]) & inside != 0 {
                        for r in 0..ROWS {
                            let behind = if j == i { !0u32 << (r + 1) } else { !0 };
                            bits[r] &= inside & behind;
                            hits.push_bits(boxes.ids()[i + r], &boxes.ids()[j..j + STEP], bits[r], Order::Canonical);
                        }
                    }
                    j += STEP;
                }
            }
        }
        let tests: u64 = rows.map(|i| (len - 1 - i) as u64).sum();
        hits.count_tests(tests);
    }
}

struct Between<'a, 'h, 'r, const D: usize, T> {
    a: Columns<'a, D, T>,
    b: Columns<'a, D, T>,
    order: Order,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real> Kernel for Between<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { a, b, order, hits } = self;
        for block in (0..b.len()).step_by(BLOCK) {
            let block_end = (block + BLOCK).min(b.len());
            for i in (0..a.len()).step_by(ROWS) {
                if hits.stopped() {
                    return;
                }
                let count = ROWS.min(a.len() - i);
                // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) i + ROWS <= a.len() + PAD.
                let block_rows = unsafe { splat_rows::<D, T, <T as Sealed>::In<S>>(&a, i) };
                for j in (block..block_end).step_by(STEP) {
                    // SAFETY: (isa) as above; (in bounds) j < b.len(), and STEP <= PAD.
                    if !unsafe { any(&block_rows, &b, j) } {
                        continue;
                    }
                    // SAFETY: (isa, in bounds) as above; hidden from the compiler, as in the self join.
                    let bits = unsafe { steps(&block_rows, &b, std::hint::black_box(j)) };
                    let inside = u32::MAX >> (32 - (block_end - j).min(STEP));
                    if (bits[0] | bits[1] | bits[2] | bits[3]) & inside != 0 {
                        for r in 0..count {
                            hits.push_bits(a.ids()[i + r], &b.ids()[j..j + STEP], bits[r] & inside, order);
                        }
                    }
                }
            }
        }
        hits.count_tests(a.len() as u64 * b.len() as u64);
    }
}
