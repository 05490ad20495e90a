//! Balls of one radius in cells: the join of particle grids.
//!
//! As in `cell_runs.rs`, with points in columns in place of boxes. The test is that of [`Ball`](crate::Ball): the squares of
//! the differences are added from the first axis on, without fused operations, so every register width gives the same answer.

use super::arch::{Kernel, Lanes, Mask, Simd};
use super::isa::Kernels;
use super::pair_sink::{Order, PairSink};
use super::soa::PAD;
use crate::geometry::{Real, sealed::Sealed};

/// Points as columns, padded with NaN, which is near to nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Points<const D: usize, T> {
    columns: Vec<Vec<T>>,
    ids: Vec<u32>,
}

impl<const D: usize, T: Real> Points<D, T> {
    /// Fills with the points of `ids`, in that order.
    pub(crate) fn gather(&mut self, points: &[[T; D]], ids: &[u32]) {
        self.columns.resize_with(D, Vec::new);
        for column in &mut self.columns {
            column.clear();
            column.resize(ids.len() + PAD, T::NAN);
        }
        self.ids.clear();
        self.ids.extend_from_slice(ids);
        self.ids.resize(ids.len() + PAD, u32::MAX);
        for (position, &id) in ids.iter().enumerate() {
            if let Some(&later) = ids.get(position + 12) {
                super::prefetch(points, later as usize);
            }
            for k in 0..D {
                self.columns[k][position] = points[id as usize][k];
            }
        }
    }

    /// The number of points.
    fn len(&self) -> usize {
        self.ids.len().saturating_sub(PAD)
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.columns.iter().map(Vec::capacity).sum::<usize>() * size_of::<T>() + self.ids.capacity() * 4
    }
}

/// Cells of points.
pub(crate) struct PointBlock<'a, const D: usize, T> {
    /// The points.
    pub(crate) points: &'a Points<D, T>,
    /// `starts[c]..starts[c + 1]` are the points of cell c. Cells behind the last one may be asked for, and are empty.
    pub(crate) starts: &'a [u32],
    /// The cells to join.
    pub(crate) cells: std::ops::Range<usize>,
    /// The distance from a cell to the middle one of each run of three cells that it is tested with.
    pub(crate) ahead: &'a [u32],
    /// Two points are a pair if the square of their distance is at most this.
    pub(crate) reach: T,
}

/// All pairs of a point in `cells` with a point behind it in its cell, in the next cell, or in a run ahead.
pub(crate) fn join_balls<const D: usize, T: Real>(kernels: Kernels, block: PointBlock<'_, D, T>, hits: &mut PairSink) {
    kernels.run(Join { block, hits });
}

/// Tests point `i` against `points[from..to]`.
///
/// # Safety
/// *isa* (of `S`), *in bounds*: `i < points.len()` and `to <= points.len()`.
#[inline(always)]
unsafe fn run<const D: usize, T: Real, S: Simd>(
    points: &Points<D, T>,
    i: usize,
    from: usize,
    to: usize,
    reach: T,
    hits: &mut PairSink,
) {
    let n = <<T as Sealed>::In<S> as Lanes>::N;
    let all = u32::MAX >> (32 - n);
    // SAFETY: (isa, in bounds) the caller's duties; every column is PAD longer than the number of points, and n <= PAD.
    unsafe {
        let reach = <T as Sealed>::In::<S>::splat(reach);
        let mut j = from;
        while j < to {
            let square = |k: usize| {
                let column = points.columns.get_unchecked(k);
                let own = <T as Sealed>::In::<S>::splat(*column.get_unchecked(i));
                let difference = own.sub(Lanes::load(column.as_ptr().add(j)));
                difference.mul(difference)
            };
            let mut distance = square(0);
            for k in 1..D {
                distance = distance.add(square(k));
            }
            let bits = distance.le(reach).bits() & (all >> (n - (to - j).min(n)));
            if bits != 0 {
                hits.push_bits(*points.ids.get_unchecked(i), &points.ids[j..j + n], bits, Order::Canonical);
            }
            j += n;
        }
    }
}

struct Join<'a, 'h, 'r, const D: usize, T> {
    block: PointBlock<'a, D, T>,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real> Kernel for Join<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { block: PointBlock { points, starts, cells, ahead, reach }, hits } = self;
        assert!(points.columns.len() == D && points.columns.iter().all(|column| column.len() == points.ids.len()));
        let len = points.len();
        let start = |cell: usize| starts.get(cell).map_or(len, |&start| (start as usize).min(len));
        let mut tests = 0;
        for cell in cells {
            let (from, to) = (start(cell), start(cell + 1));
            if from >= to {
                continue;
            }
            if hits.stopped() {
                break;
            }
            let next = start(cell + 2).max(to);
            tests += (to - from) * (next - to) + (to - from) * (to - from - 1) / 2;
            for i in from..to {
                // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) `start` is never above the length.
                unsafe { run::<D, T, S>(points, i, i + 1, next, reach, hits) };
            }
            for &distance in ahead {
                let distance = distance as usize;
                let (first, last) = (start(cell + distance - 1), start(cell + distance + 2));
                if first >= last {
                    continue;
                }
                tests += (to - from) * (last - first);
                for i in from..to {
                    // SAFETY: (isa, in bounds) as above.
                    unsafe { run::<D, T, S>(points, i, first, last, reach, hits) };
                }
            }
        }
        hits.count_tests(tests as u64);
    }
}
