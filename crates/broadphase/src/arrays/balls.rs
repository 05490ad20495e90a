//! Balls of about the same size in one list, given as boxes or as points with a margin: found by cells of points (`point_cells`) instead of by a
//! structure of boxes.
//!
//! Two balls are a pair if their boxes overlap and the balls do. The cells compare centers: two balls whose distance is well below twice the
//! least radius surely are a pair, two that are farther apart than twice the greatest are none, and the few in between are tested by the
//! definition. So rounding changes no pair.

use super::Search;
use super::prepare::{Prepared, Treatment};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Ball, Real};
use crate::kernels::point_runs::Reach;
use crate::memory::reserve;
use crate::objects::{MAX_OBJECTS, Shape};
use crate::pairs::Pair;
use crate::point_cells::{Grid, Points, Wanted, sorted_pairs};

/// The number of balls from which cells are faster than a structure of boxes, whose records no longer fit into the cache
/// (`python -m broadphase compare --cases balls`).
pub(super) const CELLS_FROM: usize = 1 << 16;
/// The largest ratio of the greatest radius to the least: pairs whose distance is between twice the least and twice the greatest are tested one by one.
const ALIKE: f64 = 1.01;

impl<'a, const D: usize, T: Real> Search<'a, D, T> {
    /// All pairs of one list, sorted, if the boxes are balls of about the same size and only their shape decides. `None` if cells do not suit.
    pub(super) fn alike_balls(&self, a: &Prepared<'a, D, T>, limit: u64) -> Result<Option<Vec<Pair>>, Error> {
        let is_plain = a.is_plain() && a.is_full() && a.tag(0).is_none();
        if !is_plain || !self.are_cells_allowed() {
            return Ok(None);
        }
        let Some(distances) = Distances::of_boxes(&a.boxes) else { return Ok(None) };
        let mut centers = Vec::new();
        reserve(&mut centers, a.boxes.len(), "centers of balls")?;
        centers.extend(a.boxes.iter().map(Aabb::center));
        self.pairs_by_cells(&centers, distances, &|index| a.boxes[index], limit)
    }

    /// All pairs of points with a margin, sorted, if they stand for balls and nothing but their distance decides. `None` if cells do not suit.
    pub(super) fn equal_balls(&self) -> Result<Option<Vec<Pair>>, Error> {
        let Treatment { margin, period, half_open } = self.treatment;
        let Some(points) = self.points.filter(|points| points.len() <= MAX_OBJECTS) else { return Ok(None) };
        if period.is_some() || half_open || self.tags.is_some() || !self.are_cells_allowed() {
            return Ok(None);
        }
        let Some(distances) = Distances::of_points(points, margin) else { return Ok(None) };
        self.check_cancel()?;
        self.pairs_by_cells(points, distances, &|index| Aabb::point(points[index]).grow(margin), self.limit)
    }

    fn are_cells_allowed(&self) -> bool {
        self.shape == Shape::Ball && self.keep.is_none() && self.spec.descriptor().name == "auto"
    }

    /// All pairs of balls around the centers, sorted; `None` if the centers are too far apart for cells. `box_of` gives the box that a ball is inscribed in,
    /// which decides doubtful pairs.
    fn pairs_by_cells(
        &self,
        centers: &[[T; D]],
        distances: Distances<T>,
        box_of: &(dyn Fn(usize) -> Aabb<D, T> + Sync),
        limit: u64,
    ) -> Result<Option<Vec<Pair>>, Error> {
        let set = Points { points: centers, radius: distances.radius, period: None };
        let context: Context = self.context();
        let grid = Grid::new(&set, &context);
        if grid.is_crowded() {
            return Ok(None);
        }
        let confirm = |pair: Pair| {
            let (a, b) = (&box_of(pair.a as usize), &box_of(pair.b as usize));
            a.overlaps(b) && Ball::of_box(a).overlaps(&Ball::of_box(b))
        };
        let is_stopped = || self.check_cancel().is_err();
        let wanted = Wanted { reach: distances.reach, confirm: &confirm, is_stopped: &is_stopped, limit };
        let pairs = sorted_pairs(&set, &grid, &wanted, &context)?;
        self.check_cancel()?;
        Ok(Some(pairs))
    }
}

/// At which distances of their centers two balls are a pair.
struct Distances<T> {
    /// The greatest one.
    radius: T,
    reach: Reach<T>,
}

impl<T: Real> Distances<T> {
    /// For balls with radii from `least` to `greatest`. Distances of centers, sums of radii and corners of boxes are known up to `error`. `None` if the balls
    /// are not of about the same size, or too small or too large for squares of distances.
    fn new(least: T, greatest: T, error: T) -> Option<Self> {
        let epsilon = T::ONE.next_up() - T::ONE;
        let rounding = epsilon * T::from_f64(16.0);
        let (sure, radius) = (least + least - error, greatest + greatest + error);
        let (square, most) = (sure * sure, radius * radius * (T::ONE + rounding));
        let is_normal = sure > T::ZERO && square > T::MIN_POSITIVE / epsilon && most.is_finite();
        let are_alike = greatest <= least * T::from_f64(ALIKE);
        (is_normal && are_alike).then_some(Self { radius, reach: Reach { sure: square * (T::ONE - rounding), most } })
    }

    /// For the balls in boxes. `None` if these are not of about the same size, or if a box is infinite, or narrower on some axis than its ball.
    fn of_boxes<const D: usize>(boxes: &[Aabb<D, T>]) -> Option<Self> {
        // The least side of any box, the greatest along the first axis, which is a ball's diameter, and the largest coordinate.
        let (mut least, mut greatest, mut largest, mut all_finite) = (T::INFINITY, T::ZERO, T::ZERO, true);
        for value in boxes {
            for k in 0..D {
                let (low, high) = (value.min[k], value.max[k]);
                let side = high - low;
                least = if side < least { side } else { least };
                let size = low.abs().max(high.abs());
                largest = if size > largest { size } else { largest };
                all_finite &= side.is_finite() & size.is_finite();
            }
            let side = value.max[0] - value.min[0];
            greatest = if side > greatest { side } else { greatest };
        }
        Self::new(least * T::HALF, greatest * T::HALF, rounding_of(largest)).filter(|_| all_finite)
    }

    /// For the balls around points. `None` if they do not suit, or a point is not finite.
    fn of_points<const D: usize>(points: &[[T; D]], margin: T) -> Option<Self> {
        // The largest coordinate, and a sum that is zero if all are finite, in lanes of whole registers.
        let (mut largest, mut sum) = ([T::ZERO; 8], [T::ZERO; 8]);
        let mut take = |lane: usize, x: T| {
            let size = x.abs();
            largest[lane] = if size > largest[lane] { size } else { largest[lane] };
            sum[lane] += x * T::ZERO;
        };
        let (blocks, rest) = points.as_flattened().as_chunks::<8>();
        for block in blocks {
            (0..8).for_each(|lane| take(lane, block[lane]));
        }
        rest.iter().for_each(|&x| take(0, x));
        let largest = largest.into_iter().fold(T::ZERO, T::max);
        // Corners, and so the radius and the center of a box, are rounded.
        let error = rounding_of(largest + margin);
        let all_finite = sum.iter().all(|&sum| sum == T::ZERO);
        Self::new(margin - error, margin + error, error).filter(|_| all_finite)
    }
}

/// An upper bound on the rounding errors of corners, centers and radii of boxes with coordinates up to `largest`.
fn rounding_of<T: Real>(largest: T) -> T {
    largest * (T::ONE.next_up() - T::ONE) * T::from_f64(16.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Balls of radius 1 to `spread`, every third one at a whole number, so that many touch exactly.
    fn balls<const D: usize, T: Real>(spread: f64, shift: f64) -> Vec<Aabb<D, T>> {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let side = 1500f64.powf(1.0 / D as f64);
        let mut ball = |index: usize| {
            let center: [f64; D] = std::array::from_fn(|_| random() * side);
            let center = if index.is_multiple_of(3) { center.map(f64::floor) } else { center };
            Aabb::from_center(center.map(|x| T::from_f64(x + shift)), [T::from_f64(1.0 + (spread - 1.0) * random()); D])
        };
        (0..500).map(&mut ball).collect()
    }

    /// Compares with a double loop; returns whether cells were used.
    fn compare<const D: usize, T: Real>(list: &[Aabb<D, T>]) -> bool {
        let search = Search::new(list).shape(Shape::Ball);
        let (prepared, _) = search.prepare().unwrap();
        let Some(found) = search.alike_balls(&prepared, u64::MAX).unwrap() else { return false };
        let all = (0..list.len()).flat_map(|a| (a + 1..list.len()).map(move |b| (a, b)));
        let meet = |&(a, b): &(usize, usize)| {
            let (a, b) = (&list[a], &list[b]);
            a.overlaps(b) && Ball::of_box(a).overlaps(&Ball::of_box(b))
        };
        assert!(found.into_iter().eq(all.filter(meet).map(|(a, b)| Pair { a: a as u32, b: b as u32 })));
        true
    }

    /// Compares balls around points with those in boxes around them; returns whether cells were used.
    fn compare_points<const D: usize, T: Real>(points: &[[T; D]], margin: T) -> bool {
        let search = Search::points(points).shape(Shape::Ball).margin(margin);
        let boxes: Vec<Aabb<D, T>> = points.iter().map(|&point| Aabb::point(point)).collect();
        let expected = Search::new(&boxes).shape(Shape::Ball).margin(margin).algorithm("brute-force".parse().unwrap()).list();
        assert_eq!(search.list(), expected);
        let Some(found) = search.equal_balls().unwrap() else { return false };
        assert_eq!(Ok(found), expected);
        true
    }

    fn follow_points<const D: usize, T: Real>() {
        let centers = |shift: f64| -> Vec<[T; D]> { balls::<D, T>(1.0, shift).iter().map(Aabb::center).collect() };
        let one = T::ONE;
        assert!(compare_points(&centers(0.0), one) && compare_points(&centers(-1000.3), one));
        assert!(compare_points(&centers(0.0), one.next_up()) && compare_points(&centers(0.0), one.next_down()));
        // Of 32 bits, these are rounded to a quarter.
        compare_points(&centers(3e6), one);
        let double: Vec<[f64; D]> = balls::<D, f64>(1.0, 3e6).iter().map(Aabb::center).collect();
        assert!(compare_points(&double, 1.0));
        assert!(!compare_points(&centers(0.0), T::ZERO), "a ball without extent has no cells");
        let mut points = centers(0.0);
        points[7][D - 1] = T::INFINITY;
        assert!(!compare_points(&points, one), "an infinite point has no ball");
        points[7][D - 1] = T::NAN;
        let search = Search::points(&points).shape(Shape::Ball).margin(one);
        assert!(matches!(search.list(), Err(Error::InvalidBox { index: Some(7), .. })));
        assert_eq!(search.equal_balls(), Ok(None));
        let points = centers(0.0);
        let search = Search::points(&points).shape(Shape::Ball).margin(one);
        assert_eq!(search.clone().limit(10).equal_balls(), Err(Error::TooManyPairs { limit: 10 }));
        assert_eq!(search.filter(|_| true).equal_balls(), Ok(None));
    }

    #[test]
    fn balls_around_points_are_those_in_boxes_around_them() {
        follow_points::<2, f32>();
        follow_points::<2, f64>();
        follow_points::<3, f32>();
        follow_points::<3, f64>();
    }

    fn follow<const D: usize, T: Real>() {
        assert!(compare(&balls::<D, T>(1.0, 0.0)) && compare(&balls::<D, T>(1.005, -1000.3)));
        // Far from the origin, centers and radii are rounded: at 3e6 to a quarter, if they are of 32 bits.
        assert!(compare(&balls::<D, f64>(1.0, 3e6)));
        compare(&balls::<D, T>(1.0, 3e6));
        assert!(!compare(&balls::<D, T>(1.1, 0.0)), "their sizes differ");
        let mut flat = balls::<D, T>(1.0, 0.0);
        flat[7].max[D - 1] = flat[7].center()[D - 1];
        assert!(!compare(&flat), "a box that is not a cube can rule out a pair whose balls overlap");
        flat[7] = Aabb::everything();
        assert!(!compare(&flat), "an infinite box is no ball");
        let points: Vec<_> = flat.iter().map(|value| Aabb::point(value.min)).collect();
        assert!(!compare(&points), "a ball without extent has no cells");
        let list = balls::<D, T>(1.0, 0.0);
        let search = Search::new(&list).shape(Shape::Ball);
        let (prepared, _) = search.prepare().unwrap();
        assert_eq!(search.alike_balls(&prepared, 10), Err(Error::TooManyPairs { limit: 10 }));
    }

    #[test]
    fn cells_find_the_pairs_of_a_double_loop_or_decline() {
        follow::<2, f32>();
        follow::<2, f64>();
        follow::<3, f32>();
        follow::<3, f64>();
    }
}
