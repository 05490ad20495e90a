//! The scan of neighbor lists: finds the points of a run that are near a point.
//!
//! The squares of the differences are added from the first axis on, without fused operations, so every register width gives the same
//! answer.

use std::collections::TryReserveError;
use std::ops::Range;

use super::arch::{Lanes, Mask, Simd};
use super::soa::PAD;
use crate::geometry::{Real, each_axis, sealed::Sealed};
use crate::pair::Pair;

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
        each_axis(|k| self.axes[k][position])
    }
}

/// Where the points of a run are, seen from the point that they are compared with: along each axis, their difference `d` counts as
/// `length + sign * d`. Over a border of a periodic space the length is the period, and the sign is that which makes the sum small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Image<const D: usize, T> {
    pub(crate) length: [T; D],
    pub(crate) sign: [T; D],
}

/// A run of points, and where they are seen if that is over a border.
#[derive(Clone, Debug)]
pub(crate) struct Run<const D: usize, T> {
    pub(crate) points: Range<usize>,
    pub(crate) image: Option<Image<D, T>>,
}

/// Fills `out` with the id of each point of the runs whose squared distance from the point at `position` is at most `reach`, but for itself.
#[inline(always)]
pub(crate) fn near<const D: usize, T: Real, S: Simd>(
    simd: S,
    points: &Columns<D, T>,
    runs: &[Run<D, T>],
    position: usize,
    reach: T,
    out: &mut Vec<u32>,
) {
    let n = <<T as Sealed>::In<S> as Lanes>::N;
    let padded = points.len + PAD;
    assert!(n <= PAD && points.ids.len() == padded && points.axes.iter().all(|column| column.len() == padded));
    assert!(runs.iter().all(|run| run.points.end <= points.len));
    out.clear();
    out.reserve(runs.iter().map(|run| run.points.len()).sum::<usize>() + 1);
    let (own, mut len) = (splat::<D, T, S>(simd, &points.point(position)), 0);
    for run in runs {
        // SAFETY: (in bounds) runs end before the padding, which is at least as long as a register, as asserted above; (room) there is room
        // for every point of all runs and one more; (isa) `S` is proven by the kernel table.
        len = unsafe {
            match &run.image {
                None => scan::<D, T, S, false>(simd, points, run, position, (&own, reach), (out, len)),
                Some(_) => scan::<D, T, S, true>(simd, points, run, position, (&own, reach), (out, len)),
            }
        };
    }
    // SAFETY: (initialized, room) `scan` wrote all entries below `len`.
    unsafe { out.set_len(len) };
}

/// Writes the ids of near points of one run to the room of `out`, from `len` on; returns the new length.
///
/// # Safety
/// *isa* (of `S`); *in bounds*: at least `PAD` entries of every column follow the run; *room*: `out` has room for `len`, the run and one more.
#[inline(always)]
unsafe fn scan<const D: usize, T: Real, S: Simd, const IMAGE: bool>(
    _: S,
    points: &Columns<D, T>,
    run: &Run<D, T>,
    position: usize,
    (own, reach): (&Splat<D, T, S>, T),
    (out, mut len): (&mut Vec<u32>, usize),
) -> usize {
    let n = <<T as Sealed>::In<S> as Lanes>::N;
    let (mut j, end, all) = (run.points.start, run.points.end, !0u32 >> (32 - n));
    let image = run.image.unwrap_or(Image { length: [T::ZERO; D], sign: [T::ONE; D] });
    // SAFETY: (isa, in bounds, room) the caller's duties; what is written beyond `len` is not counted.
    unsafe {
        let reach = <T as Sealed>::In::<S>::splat(reach);
        while j < end {
            let distance = squares::<D, T, S, IMAGE>(points, own, &image, j);
            let mut bits = distance.le(reach).bits() & (all >> (n - (end - j).min(n)));
            let lane = position.wrapping_sub(j);
            bits &= !(u32::from(lane < n) << (lane & 31));
            while bits != 0 {
                *out.as_mut_ptr().add(len) = *points.ids.get_unchecked(j + bits.trailing_zeros() as usize);
                bits &= bits - 1;
                len += 1;
            }
            j += n;
        }
    }
    len
}

/// Registers with near points that wait until their pairs are listed.
const MANY: usize = 1 << 10;

/// Squares of distances within which two points are a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reach<T> {
    /// Up to here they surely are.
    pub(crate) sure: T,
    /// Beyond this they are not; not below `sure`.
    pub(crate) most: T,
}

/// Points of a run that are near a point: a register of them.
#[derive(Clone, Copy, Debug, Default)]
struct Near {
    position: u32,
    /// The first point of the register.
    first: u32,
    /// The lanes that are within reach, and those that surely are.
    within: u32,
    sure: u32,
}

/// Finds the pairs of points with those of runs; its list is scratch.
#[derive(Debug, Default)]
pub(crate) struct PairFinder {
    near: Vec<Near>,
}

impl PairFinder {
    /// Appends the pairs of the points of a cell, `own`, with the points of the runs. The first run begins with the cell, and of it each point sees those
    /// behind itself. Pairs that are not sure go to `doubtful`. Fails if there is no memory.
    #[inline(always)]
    pub(crate) fn find<const D: usize, T: Real, S: Simd>(
        &mut self,
        simd: S,
        points: &Columns<D, T>,
        (own, runs): (Range<usize>, &mut [Run<D, T>]),
        reach: Reach<T>,
        (out, doubtful): (&mut Vec<Pair>, &mut Vec<Pair>),
    ) -> Result<(), TryReserveError> {
        let n = <<T as Sealed>::In<S> as Lanes>::N;
        let padded = points.len + PAD;
        assert!(n <= PAD && points.ids.len() == padded && points.axes.iter().all(|column| column.len() == padded));
        assert!(own.end <= points.len && runs.iter().all(|run| run.points.end <= points.len));
        let registers = runs.iter().map(|run| run.points.len() / n + 1).sum::<usize>() + 1;
        for position in own {
            if self.near.capacity() - self.near.len() < registers {
                self.list(points, out, doubtful)?;
                self.near.try_reserve(registers.max(MANY))?;
            }
            if let Some(first) = runs.first_mut() {
                first.points.start = position + 1;
            }
            let own = splat::<D, T, S>(simd, &points.point(position));
            for run in &*runs {
                // SAFETY: (in bounds) runs end before the padding, which is at least as long as a register, as asserted above; (room) there is room
                // for every register of all runs and one more; (isa) `S` is proven by the kernel table.
                unsafe {
                    match &run.image {
                        None => scan_pairs::<D, T, S, false>(simd, points, run, (position, &own), reach, &mut self.near),
                        Some(_) => scan_pairs::<D, T, S, true>(simd, points, run, (position, &own), reach, &mut self.near),
                    }
                }
            }
        }
        if self.near.len() >= MANY { self.list(points, out, doubtful) } else { Ok(()) }
    }

    /// Appends the pairs that have been found so far.
    #[inline(always)]
    pub(crate) fn list<const D: usize, T>(
        &mut self,
        points: &Columns<D, T>,
        out: &mut Vec<Pair>,
        doubtful: &mut Vec<Pair>,
    ) -> Result<(), TryReserveError> {
        let count = |bits: fn(&Near) -> u32| self.near.iter().map(|near| bits(near).count_ones() as usize).sum();
        out.try_reserve(count(|near| near.sure))?;
        doubtful.try_reserve(count(|near| near.within & !near.sure))?;
        for near in self.near.drain(..) {
            let id = points.ids[near.position as usize];
            let pair = |lane: u32| Pair::new(id, points.ids[(near.first + lane) as usize]);
            let (mut sure, mut rest) = (near.sure, near.within & !near.sure);
            while sure != 0 {
                out.push(pair(sure.trailing_zeros())); // reserved
                sure &= sure - 1;
            }
            while rest != 0 {
                doubtful.push(pair(rest.trailing_zeros())); // reserved
                rest &= rest - 1;
            }
        }
        Ok(())
    }
}

/// Lists what is near the point at `position` in one run, register by register. Written without branches, since few registers have a near point and
/// which do cannot be predicted.
///
/// # Safety
/// *isa* (of `S`); *in bounds*: at least `PAD` entries of every column follow the run; *room*: `near` has room for every register of the run and one more.
#[inline(always)]
unsafe fn scan_pairs<const D: usize, T: Real, S: Simd, const IMAGE: bool>(
    _: S,
    points: &Columns<D, T>,
    run: &Run<D, T>,
    (position, own): (usize, &Splat<D, T, S>),
    reach: Reach<T>,
    near: &mut Vec<Near>,
) {
    let n = <<T as Sealed>::In<S> as Lanes>::N;
    let (mut j, end, all) = (run.points.start, run.points.end, !0u32 >> (32 - n));
    let image = run.image.unwrap_or(Image { length: [T::ZERO; D], sign: [T::ONE; D] });
    let mut len = near.len();
    // SAFETY: (isa, in bounds, room) the caller's duties; what is written beyond `len` is not counted; (initialized) all entries below it are.
    unsafe {
        let (sure, most) = (<T as Sealed>::In::<S>::splat(reach.sure), <T as Sealed>::In::<S>::splat(reach.most));
        while j < end {
            let distance = squares::<D, T, S, IMAGE>(points, own, &image, j);
            let within = distance.le(most).bits() & (all >> (n - (end - j).min(n)));
            let sure = within & distance.le(sure).bits();
            *near.as_mut_ptr().add(len) = Near { position: position as u32, first: j as u32, within, sure };
            len += usize::from(within != 0);
            j += n;
        }
        near.set_len(len);
    }
}

/// A point, each coordinate in all lanes.
type Splat<const D: usize, T, S> = [<T as Sealed>::In<S>; D];

#[inline(always)]
fn splat<const D: usize, T: Real, S: Simd>(_: S, point: &[T; D]) -> Splat<D, T, S> {
    // SAFETY: (isa) `S` is proven by the kernel table.
    unsafe {
        let mut own = [<T as Sealed>::In::<S>::splat(T::ZERO); D];
        for k in 0..D {
            own[k] = <T as Sealed>::In::<S>::splat(point[k]);
        }
        own
    }
}

/// The squared distances of a point from those at `j` and behind it.
///
/// # Safety
/// *isa* (of `S`); *in bounds*: every column has as many entries from `j` on as a register has lanes.
#[inline(always)]
unsafe fn squares<const D: usize, T: Real, S: Simd, const IMAGE: bool>(
    points: &Columns<D, T>,
    own: &Splat<D, T, S>,
    image: &Image<D, T>,
    j: usize,
) -> <T as Sealed>::In<S> {
    // SAFETY: (isa, in bounds) the caller's duties.
    unsafe {
        let square = |k: usize| {
            let column = points.axes.get_unchecked(k).as_ptr();
            let mut difference = own[k].sub(Lanes::load(column.add(j)));
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
        distance
    }
}
