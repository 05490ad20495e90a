//! Points in double precision, rounded to single: twice as many fit into a register and into the cache.
//!
//! Coordinates are counted from the low end of the grid before they are rounded, so the error is that of the grid's size, not of its place. Two points
//! whose distance differs from the radius by more than the error are decided by the rounded ones. The few others are tested in double
//! precision, by the definition, so rounding changes no pair.

use super::Points;
use super::grid::{AXES, Grid};
use crate::error::Error;
use crate::geometry::{Period, Real, each_axis};
use crate::kernels::point_runs::Reach;
use crate::memory::reserve;

/// The error of a distance, for each unit of the grid's size and of the radius: more than twice what rounding of both points, of a period and of each
/// operation adds up to.
const ERROR: f64 = 1.0 / (1u64 << 20) as f64;
/// The error may be this part of the radius: then a few pairs in a hundred are tested again.
const MOST_ERROR: f64 = 1.0 / 128.0;
/// Squares of distances that are far from the limits of single precision.
const SAFE: std::ops::Range<f64> = 1e-30..1e30;

/// Rounded points, with what decides on them.
pub(super) struct Rounded<const D: usize> {
    pub(super) points: Vec<[f32; D]>,
    pub(super) period: Option<Period<D, f32>>,
    pub(super) reach: Reach<f32>,
}

impl<const D: usize> Rounded<D> {
    /// `None` if the points are in single precision anyway, or so far apart that rounding would leave many undecided.
    pub(super) fn new<T: Real>(set: &Points<'_, D, T>, grid: &Grid, reach: Reach<T>) -> Result<Option<Self>, Error> {
        let (sure, most) = (reach.sure.to_f64(), reach.most.to_f64());
        if size_of::<T>() <= size_of::<f32>() || D > AXES || !SAFE.contains(&sure) || !SAFE.contains(&most) {
            return Ok(None);
        }
        let (mut low, mut size) = ([0.0; D], 0f64);
        for axis in &grid.axes[..D] {
            let (start, length) = axis.extent();
            low[axis.k] = start;
            size = size.max(length);
        }
        let (least, radius) = (sure.sqrt(), most.sqrt());
        let error = (size + radius) * ERROR;
        let is_small = error <= least * MOST_ERROR; // an infinite one is not
        if !is_small {
            return Ok(None);
        }
        let square = |distance: f64, rounding: f64| (distance * distance * (1.0 + rounding)) as f32;
        let reach = Reach { sure: square(least - error, -ERROR), most: square(radius + error, ERROR) };
        let mut points = Vec::new();
        reserve(&mut points, set.points.len(), "points")?;
        points.extend(set.points.iter().map(|point| each_axis(|k| (point[k].to_f64() - low[k]) as f32)));
        let period = set.period.map(|period| Period::axes(each_axis(|k| period.length(k).map(|length| length.to_f64() as f32))));
        Ok(Some(Self { points, period, reach }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Wanted, sorted_pairs};
    use super::*;
    use crate::context::Context;
    use crate::pairs::Pair;

    /// Points near those of a lattice with the radius as its width: as many distances as possible are the radius, but for about `noise`.
    fn lattice<const D: usize>(radius: f64, origin: f64, noise: f64) -> Vec<[f64; D]> {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let side = if D == 2 { 20 } else { 8usize };
        let place = |index: usize, k: usize| (index / side.pow(k as u32) % side) as f64 * radius + origin;
        (0..side.pow(D as u32)).map(|index| std::array::from_fn(|k| place(index, k) + noise * (random() - 0.5))).collect()
    }

    /// Compares with a double loop; returns how many pairs were tested again.
    fn compare<const D: usize>(points: &[[f64; D]], radius: f64, period: Option<Period<D, f64>>) -> usize {
        let set = Points { points, radius, period };
        let (context, reach) = (Context::new(), radius * radius);
        let grid = Grid::new(&set, &context);
        let reach = Reach { sure: reach, most: reach };
        assert!(Rounded::new(&set, &grid, reach).unwrap().is_some());
        let is_near = |pair: Pair| {
            let (a, b) = (&points[pair.a as usize], &points[pair.b as usize]);
            let difference = |k: usize| period.map_or(a[k] - b[k], |period| period.separation(k, a[k], b[k]));
            let square = |k: usize| difference(k) * difference(k);
            (1..D).fold(square(0), |sum, k| sum + square(k)) <= reach.most
        };
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let confirm = |pair: Pair| {
            asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            is_near(pair)
        };
        let wanted = Wanted { reach, confirm: &confirm, is_stopped: &|| false, limit: u64::MAX };
        let found = sorted_pairs(&set, &grid, &wanted, &context).unwrap();
        let count = points.len() as u32;
        let all = (0..count).flat_map(|a| (a + 1..count).map(move |b| Pair { a, b }));
        assert!(found.into_iter().eq(all.filter(|&pair| is_near(pair))));
        asked.into_inner()
    }

    fn follow<const D: usize>(side: f64) {
        for (radius, origin) in [(1.0, 0.0), (0.1, -7.3), (3.7, 1e6)] {
            for noise in [0.0, 1e-12, 1e-8, 1e-3] {
                let points = lattice::<D>(radius, origin, noise * radius);
                let asked = compare(&points, radius, None);
                assert!(noise > 1e-6 || asked > points.len(), "{asked} at the radius");
                let period = Period::new([side * radius; D]).with_origin([origin; D]);
                let wrapped: Vec<[f64; D]> = points.iter().map(|&point| period.wrap(point)).collect();
                compare(&wrapped, radius, Some(period));
            }
            assert_eq!(compare(&lattice::<D>(radius, origin, 0.0), 1.2 * radius, None), 0, "none is near the radius");
        }
    }

    #[test]
    fn rounding_changes_no_pair() {
        follow::<2>(20.0);
        follow::<3>(8.0);
    }

    #[test]
    fn points_of_single_precision_and_points_far_apart_are_not_rounded() {
        let context = Context::new();
        let is_rounded = |points: &[[f64; 2]], radius: f64| {
            let set = Points { points, radius, period: None };
            let reach = Reach { sure: radius * radius, most: radius * radius };
            Rounded::new(&set, &Grid::new(&set, &context), reach).unwrap().is_some()
        };
        assert!(is_rounded(&[[0.0, 0.0], [1000.0, 0.0]], 1.0));
        assert!(!is_rounded(&[[0.0, 0.0], [1e5, 0.0]], 1.0));
        assert!(!is_rounded(&[[0.0, 0.0], [1.0, 0.0]], 0.0));
        assert!(!is_rounded(&[[0.0, 0.0], [1e-20, 0.0]], 1e-20));
        assert!(!is_rounded(&[[0.0, 0.0], [1e20, 0.0]], 1e20));
        let set = Points { points: &[[0f32, 0.0], [1.0, 0.0]], radius: 1.0, period: None };
        let reach = Reach { sure: 1.0, most: 1.0 };
        assert!(Rounded::new(&set, &Grid::new(&set, &context), reach).unwrap().is_none());
    }
}
