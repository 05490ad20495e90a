//! Sweeps over boxes that are sorted by their lower coordinate on one axis.
//!
//! Box `i` is compared with the boxes behind it until one starts after `i` ends: the run of candidates. The sweep axis decides
//! the run, the other axes are tested lane by lane. Hits come in row order, so the list is the same for every register width.

use super::hits::{Hits, Order};
use super::isa::{Kernel, Kernels};
use super::lanes::{Lanes, Mask, Simd};
use super::soa::Columns;
use crate::geometry::{Real, sealed::Sealed};

/// All overlapping pairs of `boxes`, which are sorted by `min` on `axis`.
pub(crate) fn sweep_self<const D: usize, T: Real>(kernels: Kernels, boxes: Columns<'_, D, T>, axis: usize, hits: &mut Hits) {
    debug_assert!(is_sorted(&boxes, axis));
    kernels.run(SelfSweep { boxes, axis, hits });
}

/// All overlapping pairs of a box of `a` with a box of `b`, both sorted by `min` on `axis`.
pub(crate) fn sweep_between<const D: usize, T: Real>(
    kernels: Kernels,
    a: Columns<'_, D, T>,
    b: Columns<'_, D, T>,
    axis: usize,
    hits: &mut Hits,
) {
    debug_assert!(is_sorted(&a, axis) && is_sorted(&b, axis));
    kernels.run(Between { a, b, axis, hits });
}

fn is_sorted<const D: usize, T: Real>(boxes: &Columns<'_, D, T>, axis: usize) -> bool {
    boxes.min(axis)[..boxes.len()].is_sorted()
}

/// Tests box `i` of `rows` against `boxes[from..]` while they start before it ends; returns the run's length.
///
/// # Safety
/// *isa* (of `S`), *in bounds*: `i < rows.len()` and `from <= boxes.len()`.
#[inline(always)]
unsafe fn run<const D: usize, T: Real, S: Simd>(
    rows: &Columns<'_, D, T>,
    i: usize,
    boxes: &Columns<'_, D, T>,
    from: usize,
    axis: usize,
    hits: &mut Hits,
) -> usize {
    type V<T, S> = <T as Sealed>::In<S>;
    let n = <V<T, S> as Lanes>::N;
    let all = u32::MAX >> (32 - n);
    // SAFETY: (isa, in bounds) the caller's duties; j < boxes.len() at every load, and n <= PAD. (Loops, not closures: a closure
    // is compiled without the shell's features.)
    unsafe {
        let (mut low, mut high) = ([V::<T, S>::splat(T::NAN); D], [V::<T, S>::splat(T::NAN); D]);
        for k in 0..D {
            low[k] = V::<T, S>::splat(*rows.min(k).get_unchecked(i));
            high[k] = V::<T, S>::splat(*rows.max(k).get_unchecked(i));
        }
        let last = V::<T, S>::splat(*rows.max(axis).get_unchecked(i));
        let mut j = from;
        while j < boxes.len() {
            let inside = all >> (n - (boxes.len() - j).min(n));
            let started = V::<T, S>::load(boxes.min(axis).as_ptr().add(j)).le(last).bits() & inside;
            // The sweep axis needs no further test: a box that starts between the row's ends overlaps it there. Testing it anyway
            // keeps the loop free of a branch on the axis, and costs less than that branch.
            let (mut lower, mut upper) =
                (V::<T, S>::load(boxes.min(0).as_ptr().add(j)), V::<T, S>::load(boxes.max(0).as_ptr().add(j)));
            let mut mask = low[0].le(upper).and(lower.le(high[0]));
            for k in 1..D {
                lower = V::<T, S>::load(boxes.min(k).as_ptr().add(j));
                upper = V::<T, S>::load(boxes.max(k).as_ptr().add(j));
                mask = mask.and(low[k].le(upper)).and(lower.le(high[k]));
            }
            hits.push_bits(rows.ids()[i], &boxes.ids()[j..j + n], mask.bits() & started, Order::Canonical);
            if started != all {
                return j - from + started.trailing_ones() as usize;
            }
            j += n;
        }
        j.min(boxes.len()) - from
    }
}

struct SelfSweep<'a, 'h, 'r, const D: usize, T> {
    boxes: Columns<'a, D, T>,
    axis: usize,
    hits: &'h mut Hits<'r>,
}

impl<const D: usize, T: Real> Kernel for SelfSweep<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { boxes, axis, hits } = self;
        let mut tests = 0;
        for i in 0..boxes.len() {
            if hits.stopped() {
                break;
            }
            // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) i < len.
            tests += unsafe { run::<D, T, S>(&boxes, i, &boxes, i + 1, axis, hits) };
        }
        hits.count_tests(tests as u64);
    }
}

struct Between<'a, 'h, 'r, const D: usize, T> {
    a: Columns<'a, D, T>,
    b: Columns<'a, D, T>,
    axis: usize,
    hits: &'h mut Hits<'r>,
}

impl<const D: usize, T: Real> Kernel for Between<'_, '_, '_, D, T> {
    type Output = ();

    /// A merge by lower coordinate: whoever starts first is compared with those of the other side that start later. Of two that
    /// start at once, the one of `a` counts as first, so each pair is met once.
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { a, b, axis, hits } = self;
        let (mut i, mut j, mut tests) = (0, 0, 0);
        while i < a.len() && j < b.len() && !hits.stopped() {
            if a.min(axis)[i] <= b.min(axis)[j] {
                // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) i < a.len(), j <= b.len().
                tests += unsafe { run::<D, T, S>(&a, i, &b, j, axis, hits) };
                i += 1;
            } else {
                // SAFETY: (isa, in bounds) as above, sides swapped.
                tests += unsafe { run::<D, T, S>(&b, j, &a, i, axis, hits) };
                j += 1;
            }
        }
        hits.count_tests(tests as u64);
    }
}
