//! Every box against every other: the join of brute force, of small nodes and of bipartite probes.
//!
//! 1. The simple loop compares box `i` with each `j > i`, one axis after the other.
//! 2. [`STEP`] values of `j` are compared at once, on all axes, without a branch: most pairs miss, and a miss is cheapest when
//!    nobody looks at it.
//! 3. [`ROWS`] values of `i` share each loaded `j`.
//! 4. The `j` are cut into blocks that stay in the first-level cache while all rows pass over them.
//!
//! The order of hits follows from `STEP`, `ROWS` and `BLOCK` alone: it is the same for every instruction set.

use std::ops::Range;

use super::hits::{Hits, Order};
use super::isa::{Kernel, Kernels};
use super::lanes::{Lanes, Mask, Simd};
use super::soa::{Columns, PAD};
use crate::geometry::{Real, sealed::Sealed};

/// Boxes compared at once, whatever the register width: the widest register holds 16 `f32`.
pub(crate) const STEP: usize = 16;
/// Rows that share a loaded step.
pub(crate) const ROWS: usize = 4;
/// Boxes per block: 1,024 boxes of 24 bytes take 24 KB.
const BLOCK: usize = 1024;

const _: () = assert!(STEP <= PAD && BLOCK % STEP == 0);

/// Tests boxes `rows` against all boxes behind them. `rows` starts at a multiple of [`ROWS`], and ends at one or at the last box.
pub(crate) fn join_self<const D: usize, T: Real>(
    kernels: Kernels,
    boxes: Columns<'_, D, T>,
    rows: Range<usize>,
    hits: &mut Hits,
) {
    assert!(rows.start % ROWS == 0 && rows.end <= boxes.len() && (rows.end % ROWS == 0 || rows.end == boxes.len()));
    kernels.run(SelfJoin { boxes, rows, hits });
}

/// Tests all boxes of `a` with all boxes of `b`.
pub(crate) fn join_between<const D: usize, T: Real>(
    kernels: Kernels,
    a: Columns<'_, D, T>,
    b: Columns<'_, D, T>,
    order: Order,
    hits: &mut Hits,
) {
    kernels.run(Between { a, b, order, hits });
}

/// One box, each coordinate in all lanes.
type Row<const D: usize, V> = ([V; D], [V; D]);

/// # Safety
/// *isa* (of `S`), *in bounds*: `i < boxes.len() + PAD`.
#[inline(always)]
unsafe fn splat<const D: usize, T: Real, S: Simd>(boxes: &Columns<'_, D, T>, i: usize) -> Row<D, <T as Sealed>::In<S>> {
    // SAFETY: (isa, in bounds) the caller's duties.
    unsafe {
        (
            std::array::from_fn(|k| Lanes::splat(*boxes.min(k).get_unchecked(i))),
            std::array::from_fn(|k| Lanes::splat(*boxes.max(k).get_unchecked(i))),
        )
    }
}

/// The bits of `boxes[j..j + STEP]` that overlap `row`.
///
/// # Safety
/// *isa* (of `S`), *in bounds*: `j + STEP <= boxes.len() + PAD`.
#[inline(always)]
unsafe fn step<const D: usize, T: Real, S: Simd>(row: &Row<D, <T as Sealed>::In<S>>, boxes: &Columns<'_, D, T>, j: usize) -> u32 {
    let n = <<T as Sealed>::In<S> as Lanes>::N;
    let mut bits = 0;
    for at in (0..STEP).step_by(n) {
        // SAFETY: (isa, in bounds) the caller's duties.
        let mask = unsafe {
            let load = |column: &[T]| <T as Sealed>::In::<S>::load(column.as_ptr().add(j + at));
            let mut mask = load(boxes.min(0)).le(row.1[0]).and(row.0[0].le(load(boxes.max(0))));
            for k in 1..D {
                mask = mask.and(load(boxes.min(k)).le(row.1[k])).and(row.0[k].le(load(boxes.max(k))));
            }
            mask
        };
        bits |= mask.bits() << at;
    }
    bits
}

struct SelfJoin<'a, 'h, 'r, const D: usize, T> {
    boxes: Columns<'a, D, T>,
    rows: Range<usize>,
    hits: &'h mut Hits<'r>,
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
                let row: [Row<D, _>; ROWS] = std::array::from_fn(|r| unsafe { splat::<D, T, S>(&boxes, i + r) });
                let mut j = block.max(i);
                while j < block_end {
                    // SAFETY: (isa) as above; (in bounds) j < len, and STEP <= PAD.
                    let mut bits: [u32; ROWS] = std::array::from_fn(|r| unsafe { step::<D, T, S>(&row[r], &boxes, j) });
                    // A step never crosses into the next block but at the start of the diagonal: those bits belong there.
                    let inside = u32::MAX >> (32 - (block_end - j).min(STEP));
                    if bits.iter().fold(0, |all, b| all | b) & inside != 0 {
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
    hits: &'h mut Hits<'r>,
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
                let rows = ROWS.min(a.len() - i);
                // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) i + ROWS <= a.len() + PAD.
                let row: [Row<D, _>; ROWS] = std::array::from_fn(|r| unsafe { splat::<D, T, S>(&a, i + r) });
                for j in (block..block_end).step_by(STEP) {
                    // SAFETY: (isa) as above; (in bounds) j < b.len(), and STEP <= PAD.
                    let bits: [u32; ROWS] = std::array::from_fn(|r| unsafe { step::<D, T, S>(&row[r], &b, j) });
                    let inside = u32::MAX >> (32 - (block_end - j).min(STEP));
                    if bits.iter().fold(0, |all, b| all | b) & inside != 0 {
                        for r in 0..rows {
                            hits.push_bits(a.ids()[i + r], &b.ids()[j..j + STEP], bits[r] & inside, order);
                        }
                    }
                }
            }
        }
        hits.count_tests(a.len() as u64 * b.len() as u64);
    }
}
