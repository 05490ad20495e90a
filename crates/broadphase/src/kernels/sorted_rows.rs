//! The join of a one-axis sweep over boxes that are sorted on column 0.
//!
//! Box `i` is compared with the boxes behind it while they start before it ends. A box of that run overlaps `i` on the sweep
//! axis by construction, so only the start and the other axes are compared, a register of boxes at once. The padding behind the
//! last box is NaN: it never starts, so every run ends by itself. Pairs come in the order of rows, then of positions: the same
//! for every register width.

use std::ops::Range;

use super::arch::{Kernel, Lanes, Mask, Simd};
use super::isa::Kernels;
use super::pair_sink::{Order, PairSink};
use super::soa::Columns;
use crate::geometry::{Real, sealed::Sealed};

/// All pairs of a box in `rows` with a box behind it. `boxes` ascend on column 0; all of them, not a slice with live boxes as
/// padding.
pub(crate) fn join<const D: usize, T: Real>(kernels: Kernels, boxes: Columns<'_, D, T>, rows: Range<usize>, hits: &mut PairSink) {
    assert!(rows.end <= boxes.len());
    debug_assert!(boxes.min(0)[..boxes.len()].is_sorted() && boxes.min(0)[boxes.len()].is_nan());
    kernels.run(Rows { boxes, rows, hits });
}

struct Rows<'a, 'h, 'r, const D: usize, T> {
    boxes: Columns<'a, D, T>,
    rows: Range<usize>,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real> Kernel for Rows<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { boxes, rows, hits } = self;
        let mut tests = 0;
        for i in rows {
            if hits.stopped() {
                break;
            }
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) i < len.
            tests += unsafe { run::<D, T, S>((&boxes, i), &boxes, i + 1, hits) };
        }
        hits.count_tests(tests as u64);
    }
}

/// Tests box `i` of `rows` against the run of `boxes` from position `from` on; returns the run's length. None of the run starts before box `i`.
///
/// # Safety
/// *isa* (of `S`), *in bounds*: `i < rows.len()`, `from <= boxes.len()`, and the padding of `boxes` is NaN.
#[inline(always)]
pub(super) unsafe fn run<const D: usize, T: Real, S: Simd>(
    (rows, i): (&Columns<'_, D, T>, usize),
    boxes: &Columns<'_, D, T>,
    from: usize,
    hits: &mut PairSink,
) -> usize {
    let n = <<T as Sealed>::In<S> as Lanes>::N;
    let all = u32::MAX >> (32 - n);
    // SAFETY: (isa, in bounds) the caller's duties; j <= boxes.len() at every load, since the padding there ends the run, and
    // n <= PAD.
    unsafe {
        let splat = |column: &[T]| <T as Sealed>::In::<S>::splat(*column.get_unchecked(i));
        let load = |column: &[T], j: usize| <T as Sealed>::In::<S>::load(column.as_ptr().add(j));
        let low: [_; D] = std::array::from_fn(|k| splat(rows.min(k)));
        let high: [_; D] = std::array::from_fn(|k| splat(rows.max(k)));
        let mut j = from;
        loop {
            let started = load(boxes.min(0), j).le(high[0]);
            let mut mask = started;
            for k in 1..D {
                mask = mask.and(low[k].le(load(boxes.max(k), j))).and(load(boxes.min(k), j).le(high[k]));
            }
            let bits = mask.bits();
            if bits != 0 {
                hits.push_bits(rows.ids()[i], &boxes.ids()[j..j + n], bits, Order::Canonical);
            }
            let started = started.bits();
            if started != all {
                return j - from + started.trailing_ones() as usize;
            }
            j += n;
        }
    }
}
