//! Which points of a run are near a point: the scan of neighbor lists.
//!
//! The squares of the differences are added from the first axis on, without fused operations, so every register width gives the same
//! answer.

use std::ops::Range;

use super::lanes::{Lanes, Mask, Simd};
use super::soa::PAD;
use crate::geometry::{Real, sealed::Sealed};

/// Points as columns, padded with NaN, which is near to nothing, with an id each.
#[derive(Clone, Debug)]
pub(crate) struct Columns<const D: usize, T> {
    axes: [Vec<T>; D],
    ids: Vec<u32>,
    len: usize,
}

impl<const D: usize, T: Real> Columns<D, T> {
    /// The points of `ids`, in that order.
    pub(crate) fn gather(points: &[[T; D]], ids: &[u32]) -> Self {
        let column = || {
            let mut column = Vec::with_capacity(ids.len() + PAD);
            column.resize(ids.len() + PAD, T::NAN);
            column
        };
        let mut axes: [Vec<T>; D] = std::array::from_fn(|_| column());
        for (position, &id) in ids.iter().enumerate() {
            if let Some(&later) = ids.get(position + 12) {
                super::prefetch(points, later as usize);
            }
            for k in 0..D {
                axes[k][position] = points[id as usize][k];
            }
        }
        let mut padded = Vec::with_capacity(ids.len() + PAD);
        padded.extend_from_slice(ids);
        padded.resize(ids.len() + PAD, u32::MAX);
        Self { axes, ids: padded, len: ids.len() }
    }

    /// The id of the point at a position.
    #[inline(always)]
    pub(crate) fn id(&self, position: usize) -> u32 {
        self.ids[position]
    }

    /// The point at a position.
    #[inline(always)]
    pub(crate) fn point(&self, position: usize) -> [T; D] {
        std::array::from_fn(|k| self.axes[k][position])
    }
}

/// Where the points of a run are, seen from the point that they are compared with: along each axis, their difference `d` counts as
/// `length + sign * d`. Over a border of a periodic space the length is the period, and the sign is that which makes the sum small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Image<const D: usize, T> {
    pub(crate) length: [T; D],
    pub(crate) sign: [T; D],
}

/// Appends to `out` the id of each point of the run whose squared distance from `own` is at most `reach`. Without `IMAGE`, differences
/// count as they are.
#[inline(always)]
pub(crate) fn near<const D: usize, T: Real, S: Simd, const IMAGE: bool>(
    _: S,
    points: &Columns<D, T>,
    run: Range<usize>,
    own: &[T; D],
    image: &Image<D, T>,
    reach: T,
    out: &mut Vec<u32>,
) {
    let n = <<T as Sealed>::In<S> as Lanes>::N;
    let padded = points.len + PAD;
    assert!(n <= PAD && run.end <= points.len && points.ids.len() == padded);
    assert!(points.axes.iter().all(|column| column.len() == padded));
    out.reserve(run.len() + 1);
    let mut len = out.len();
    let (mut j, all) = (run.start, !0u32 >> (32 - n));
    // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) `j` is below the end of the run, which is followed by `PAD` padding
    // entries, at least as many as a register has; (room) at most one entry for each point of the run is kept, and one more is written
    // behind the last; (initialised) all entries up to `len` were written.
    unsafe {
        let reach = <T as Sealed>::In::<S>::splat(reach);
        while j < run.end {
            let square = |k: usize| {
                let column = points.axes.get_unchecked(k).as_ptr();
                let mut difference = <T as Sealed>::In::<S>::splat(own[k]).sub(Lanes::load(column.add(j)));
                if IMAGE {
                    let sign = <T as Sealed>::In::<S>::splat(image.sign[k]);
                    difference = <T as Sealed>::In::<S>::splat(image.length[k]).add(sign.mul(difference));
                }
                difference.mul(difference)
            };
            let mut distance = square(0);
            for k in 1..D {
                distance = distance.add(square(k));
            }
            let bits = distance.le(reach).bits() & (all >> (n - (run.end - j).min(n)));
            if bits != 0 {
                let (ids, room) = (points.ids.as_ptr().add(j), out.as_mut_ptr());
                for lane in 0..n {
                    *room.add(len) = *ids.add(lane);
                    len += (bits >> lane & 1) as usize;
                }
            }
            j += n;
        }
        out.set_len(len);
    }
}
