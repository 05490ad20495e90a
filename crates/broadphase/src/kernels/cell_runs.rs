//! Cells against their neighbors: the join of grids.
//!
//! The boxes of a block of cells stand in columns, row of cells after row of cells, so that adjacent cells of a row are one run.
//! 1. The simple loop tests each box of a cell with the boxes behind it in its cell, then with those of each neighbor cell.
//! 2. Neighbors in one row are one run: fewer, longer loops.
//! 3. All boxes of a run are tested on all axes at once, without a branch but for hits.
//!
//! Pairs come in the order of cells, runs, boxes and positions, so the list is the same for every register width.

use super::arch::{Kernel, Lanes, Mask, Simd};
use super::isa::Kernels;
use super::pair_sink::{Order, PairSink};
use super::soa::Columns;
use crate::geometry::{Aabb, Real, sealed::Sealed};

/// A block of cells in columns.
pub(crate) struct CellBlock<'a, const D: usize, T> {
    /// The boxes.
    pub(crate) boxes: Columns<'a, D, T>,
    /// `starts[c]..starts[c + 1]` are the boxes of cell c.
    pub(crate) starts: &'a [u32],
    /// The first cell of each row that is to be joined.
    pub(crate) rows: &'a [u32],
    /// The number of cells in a row. The block also has the cells before and behind each row.
    pub(crate) row: usize,
    /// The distance from a cell to the middle one of each run of three cells that it is tested with.
    pub(crate) ahead: &'a [u32],
}

/// All overlapping pairs of a box in `rows` with a box behind it in its own cell, in the next cell of its row, or in a run ahead.
pub(crate) fn join_neighbors<const D: usize, T: Real>(kernels: Kernels, block: &CellBlock<'_, D, T>, hits: &mut PairSink) {
    kernels.run(Neighbors { block, hits });
}

/// All overlapping pairs of a box in `rows` with one of `others`.
pub(crate) fn join_rows<const D: usize, T: Real>(
    kernels: Kernels,
    block: &CellBlock<'_, D, T>,
    others: Columns<'_, D, T>,
    hits: &mut PairSink,
) {
    kernels.run(Rows { block, others, hits });
}

/// Tests box `i` of `rows` against `boxes[from..to]`.
///
/// # Safety
/// *isa* (of `S`), *in bounds*: `i < rows.len()` and `to <= boxes.len()`.
#[inline(always)]
unsafe fn run<const D: usize, T: Real, S: Simd>(
    rows: &Columns<'_, D, T>,
    i: usize,
    boxes: &Columns<'_, D, T>,
    from: usize,
    to: usize,
    hits: &mut PairSink,
) {
    let n = <<T as Sealed>::In<S> as Lanes>::N;
    let all = u32::MAX >> (32 - n);
    // SAFETY: (isa, in bounds) the caller's duties; j < boxes.len() at every load, and n <= PAD.
    unsafe {
        let splat = |column: &[T]| <T as Sealed>::In::<S>::splat(*column.get_unchecked(i));
        let load = |column: &[T], j: usize| <T as Sealed>::In::<S>::load(column.as_ptr().add(j));
        let low: [_; D] = std::array::from_fn(|k| splat(rows.min(k)));
        let high: [_; D] = std::array::from_fn(|k| splat(rows.max(k)));
        let mut j = from;
        while j < to {
            let mut mask = low[0].le(load(boxes.max(0), j)).and(load(boxes.min(0), j).le(high[0]));
            for k in 1..D {
                mask = mask.and(low[k].le(load(boxes.max(k), j))).and(load(boxes.min(k), j).le(high[k]));
            }
            let bits = mask.bits() & (all >> (n - (to - j).min(n)));
            if bits != 0 {
                hits.push_bits(*rows.ids().get_unchecked(i), &boxes.ids()[j..j + n], bits, Order::Canonical);
            }
            j += n;
        }
    }
}

struct Neighbors<'b, 'a, 'h, 'r, const D: usize, T> {
    block: &'b CellBlock<'a, D, T>,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real> Kernel for Neighbors<'_, '_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { block: CellBlock { boxes, starts, rows, row, ahead }, hits } = self;
        let start = |cell: usize| (starts[cell] as usize).min(boxes.len());
        let mut tests = 0;
        for &first in *rows {
            let first = first as usize;
            if hits.stopped() {
                break;
            }
            if start(first) == start(first + row) {
                continue;
            }
            for cell in first..first + row {
                let (from, to) = (start(cell), start(cell + 1));
                if from == to {
                    continue;
                }
                let next = start(cell + 2).max(to);
                tests += (to - from) * (next - to) + (to - from) * (to - from - 1) / 2;
                for i in from..to {
                    // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) `start` is never above the length.
                    unsafe { run::<D, T, S>(boxes, i, boxes, i + 1, next, hits) };
                }
                for &distance in *ahead {
                    let middle = cell + distance as usize;
                    let (first, last) = (start(middle - 1), start(middle + 2));
                    if first >= last {
                        continue;
                    }
                    tests += (to - from) * (last - first);
                    for i in from..to {
                        // SAFETY: (isa, in bounds) as above.
                        unsafe { run::<D, T, S>(boxes, i, boxes, first, last, hits) };
                    }
                }
            }
        }
        hits.count_tests(tests as u64);
    }
}

struct Rows<'b, 'a, 'o, 'h, 'r, const D: usize, T> {
    block: &'b CellBlock<'a, D, T>,
    others: Columns<'o, D, T>,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real> Kernel for Rows<'_, '_, '_, '_, '_, D, T> {
    type Output = ();

    /// The others are compared with the box around each row first; those that overlap it are compared with its boxes.
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { block: CellBlock { boxes, starts, rows, row, .. }, others, hits } = self;
        let start = |cell: usize| (starts[cell] as usize).min(boxes.len());
        let n = <<T as Sealed>::In<S> as Lanes>::N;
        let all = u32::MAX >> (32 - n);
        let mut tests = 0;
        for &first in *rows {
            let (from, to) = (start(first as usize), start(first as usize + row));
            if from >= to || hits.stopped() {
                continue;
            }
            let around = around(boxes, from, to);
            tests += others.len();
            for j in (0..others.len()).step_by(n) {
                // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) j < others.len(), and n <= PAD.
                let mask = unsafe {
                    let splat = |value: T| <T as Sealed>::In::<S>::splat(value);
                    let load = |column: &[T]| <T as Sealed>::In::<S>::load(column.as_ptr().add(j));
                    let mut mask = splat(around.min[0]).le(load(others.max(0))).and(load(others.min(0)).le(splat(around.max[0])));
                    for k in 1..D {
                        mask = mask.and(splat(around.min[k]).le(load(others.max(k))));
                        mask = mask.and(load(others.min(k)).le(splat(around.max[k])));
                    }
                    mask
                };
                let mut bits = mask.bits() & (all >> (n - (others.len() - j).min(n)));
                tests += bits.count_ones() as usize * (to - from);
                while bits != 0 {
                    let i = j + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    // SAFETY: (isa) as above; (in bounds) i < others.len(), `to` is not above the length.
                    unsafe { run::<D, T, S>(&others, i, boxes, from, to, hits) };
                }
            }
        }
        hits.count_tests(tests as u64);
    }
}

/// The box around `boxes[from..to]`.
#[inline(always)]
fn around<const D: usize, T: Real>(boxes: &Columns<'_, D, T>, from: usize, to: usize) -> Aabb<D, T> {
    Aabb {
        min: std::array::from_fn(|k| boxes.min(k)[from..to].iter().fold(T::INFINITY, |low, &x| if x < low { x } else { low })),
        max: std::array::from_fn(|k| {
            boxes.max(k)[from..to].iter().fold(T::NEG_INFINITY, |high, &x| if x > high { x } else { high })
        }),
    }
}
