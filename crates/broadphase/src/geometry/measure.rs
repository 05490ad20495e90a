//! Measures: how far a box is from something, which all queries are built on.

use super::{Aabb, Ball, Ray, Real, each_axis};

/// Boxes that are measured at once.
pub const LANES: usize = 8;

/// Eight boxes, coordinate by coordinate, so that a loop over them becomes vector instructions.
#[derive(Clone, Copy, Debug)]
pub struct Pack<const D: usize, T> {
    /// Lower corners, by axis.
    pub min: [[T; LANES]; D],
    /// Upper corners, by axis.
    pub max: [[T; LANES]; D],
}

impl<const D: usize, T: Real> Default for Pack<D, T> {
    fn default() -> Self {
        Self { min: [[T::ZERO; LANES]; D], max: [[T::ZERO; LANES]; D] }
    }
}

impl<const D: usize, T: Real> Pack<D, T> {
    /// Puts a box into a lane.
    #[inline(always)]
    pub fn set(&mut self, lane: usize, value: &Aabb<D, T>) {
        for k in 0..D {
            self.min[k][lane] = value.min[k];
            self.max[k][lane] = value.max[k];
        }
    }

    /// The box in a lane.
    #[inline(always)]
    pub fn get(&self, lane: usize) -> Aabb<D, T> {
        Aabb::new(each_axis(|k| self.min[k][lane]), each_axis(|k| self.max[k][lane]))
    }
}

/// The distance of boxes from something: all that a structure needs for a query.
///
/// Boxes, balls, rays and half-spaces implement it. A *region* has distance 0 for what it reaches. Implement it for queries of your own, and
/// pass it to [`Query::search`](crate::Query::search).
///
/// # Contract
/// `bound` is monotone: a box around another one is reached if that one is, and is not farther. So whole nodes can be skipped, and
/// no answer is lost to rounding. Additions, products with constants, minima and maxima are monotone also when they round.
pub trait Measure<const D: usize, T: Real>: Sync {
    /// Not more than the distance of any box inside `bounds`; `None` if none of them is reached.
    fn bound(&self, bounds: &Aabb<D, T>) -> Option<T>;

    /// Is [`distance`](Measure::distance) more than the bound?
    fn refines(&self) -> bool {
        false
    }

    /// The distance of an object's box, whose `bound` is known; not below it. The bound itself, unless it [refines](Measure::refines).
    #[inline]
    fn distance(&self, target: &Aabb<D, T>, bound: T) -> Option<T> {
        let _ = target;
        Some(bound)
    }

    /// The distance of an object that is a ball, inscribed in a box whose distance is `bound`; not below it. Unless it is implemented, the
    /// box counts.
    fn distance_to_ball(&self, target: &Ball<D, T>, bound: T) -> Option<T> {
        let _ = target;
        Some(bound)
    }

    /// `bound` for eight boxes at once, NaN for those that are not reached.
    fn bounds(&self, pack: &Pack<D, T>) -> [T; LANES] {
        each_axis(|lane| self.bound(&pack.get(lane)).unwrap_or(T::NAN))
    }

    /// A box that every box within `limit` overlaps, rounded outwards.
    fn reach(&self, limit: T) -> Aabb<D, T> {
        let _ = limit;
        Aabb::everything()
    }

    /// The ray, if it is one: grids walk along it.
    fn as_ray(&self) -> Option<&Ray<D, T>> {
        None
    }

    /// The distance from a point, if it is that: trees measure it without a call for each pack.
    fn as_nearest(&self) -> Option<&Nearest<D, T>> {
        None
    }

    /// The box, if it is one: trees compare boxes with it without asking for distances.
    fn as_box(&self) -> Option<&Aabb<D, T>> {
        None
    }
}

/// `low` and `high` further out by what a few roundings at magnitude `size` may be worth.
#[inline]
pub(super) fn outwards<T: Real>(low: T, high: T, size: T) -> (T, T) {
    let epsilon = T::ONE.next_up() - T::ONE;
    // Squares underflow below the root of the smallest number.
    let slack = size * epsilon * T::from_f64(16.0) + T::MIN_POSITIVE.sqrt() * T::from_f64(4.0);
    let (low, high) = (low - slack, high + slack);
    (if low.is_nan() { T::NEG_INFINITY } else { low }, if high.is_nan() { T::INFINITY } else { high })
}

/// The box around a ball, rounded outwards.
fn around<const D: usize, T: Real>(center: &[T; D], radius: T) -> Aabb<D, T> {
    let sides = center.map(|c| outwards(c - radius, c + radius, c.abs() + radius));
    Aabb::new(sides.map(|(low, _)| low), sides.map(|(_, high)| high))
}

/// The squared distance of a point from a box: 0 inside.
#[inline(always)]
fn squared_distance<const D: usize, T: Real>(point: &[T; D], target: &Aabb<D, T>) -> T {
    let mut distance = T::ZERO;
    for k in 0..D {
        let nearest = point[k].max(target.min[k]).min(target.max[k]);
        let d = point[k] - nearest;
        distance = if k == 0 { d * d } else { distance + d * d };
    }
    distance
}

/// [`squared_distance`] of eight boxes.
#[inline(always)]
fn squared_distances<const D: usize, T: Real>(point: &[T; D], pack: &Pack<D, T>) -> [T; LANES] {
    let mut distances = [T::ZERO; LANES];
    for k in 0..D {
        for lane in 0..LANES {
            let (at, low, high) = (point[k], pack.min[k][lane], pack.max[k][lane]);
            let nearest = if at > low { at } else { low };
            let nearest = if nearest < high { nearest } else { high };
            let d = at - nearest;
            distances[lane] = if k == 0 { d * d } else { distances[lane] + d * d };
        }
    }
    distances
}

/// Boxes that overlap this one.
impl<const D: usize, T: Real> Measure<D, T> for Aabb<D, T> {
    #[inline]
    fn bound(&self, bounds: &Aabb<D, T>) -> Option<T> {
        self.overlaps(bounds).then_some(T::ZERO)
    }

    fn bounds(&self, pack: &Pack<D, T>) -> [T; LANES] {
        let mut inside = [true; LANES];
        for k in 0..D {
            for lane in 0..LANES {
                inside[lane] &= (self.min[k] <= pack.max[k][lane]) & (pack.min[k][lane] <= self.max[k]);
            }
        }
        inside.map(|inside| if inside { T::ZERO } else { T::NAN })
    }

    fn distance_to_ball(&self, target: &Ball<D, T>, bound: T) -> Option<T> {
        target.overlaps_box(self).then_some(bound)
    }

    fn reach(&self, _: T) -> Aabb<D, T> {
        *self
    }

    fn as_box(&self) -> Option<&Aabb<D, T>> {
        Some(self)
    }
}

/// Boxes that the ball reaches.
impl<const D: usize, T: Real> Measure<D, T> for Ball<D, T> {
    fn bound(&self, bounds: &Aabb<D, T>) -> Option<T> {
        self.overlaps_box(bounds).then_some(T::ZERO)
    }

    fn bounds(&self, pack: &Pack<D, T>) -> [T; LANES] {
        let within = self.radius * self.radius;
        squared_distances(&self.center, pack).map(|distance| if distance <= within { T::ZERO } else { T::NAN })
    }

    fn distance_to_ball(&self, target: &Ball<D, T>, bound: T) -> Option<T> {
        self.overlaps(target).then_some(bound)
    }

    fn reach(&self, _: T) -> Aabb<D, T> {
        // Where its square overflows, the radius is as good as infinite.
        if (self.radius * self.radius).is_finite() { around(&self.center, self.radius) } else { Aabb::everything() }
    }
}

/// All boxes, by the square of their distance from a point.
///
/// ```
/// use broadphase::geometry::{Measure, Nearest};
/// use broadphase::Aabb;
/// let from = Nearest([0.0, 0.0]);
/// assert_eq!(from.bound(&Aabb::new([3.0, 4.0], [9.0, 9.0])), Some(25.0));
/// assert_eq!(from.bound(&Aabb::new([-1.0, -1.0], [1.0, 1.0])), Some(0.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest<const D: usize, T>(
    /// The point.
    pub [T; D],
);

impl<const D: usize, T: Real> Measure<D, T> for Nearest<D, T> {
    fn bound(&self, bounds: &Aabb<D, T>) -> Option<T> {
        Some(squared_distance(&self.0, bounds))
    }

    #[inline]
    fn bounds(&self, pack: &Pack<D, T>) -> [T; LANES] {
        squared_distances(&self.0, pack)
    }

    fn distance_to_ball(&self, target: &Ball<D, T>, bound: T) -> Option<T> {
        Some(square_of_gap(squared_distance(&self.0, &Aabb::point(target.center)), target.radius).max(bound))
    }

    fn reach(&self, limit: T) -> Aabb<D, T> {
        around(&self.0, limit.sqrt())
    }

    fn as_nearest(&self) -> Option<&Nearest<D, T>> {
        Some(self)
    }
}

/// From the square of the distance to a center to that of the distance to the ball.
fn square_of_gap<T: Real>(square: T, radius: T) -> T {
    let gap = square.sqrt() - radius;
    if gap > T::ZERO { gap * gap } else { T::ZERO }
}

/// All boxes, by the square of their distance from a box.
///
/// ```
/// use broadphase::geometry::{Measure, NearestToBox};
/// use broadphase::Aabb;
/// let from = NearestToBox(Aabb::new([0.0, 0.0], [1.0, 1.0]));
/// assert_eq!(from.bound(&Aabb::new([4.0, 5.0], [9.0, 9.0])), Some(25.0));
/// assert_eq!(from.bound(&Aabb::new([0.5, 0.5], [9.0, 9.0])), Some(0.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestToBox<const D: usize, T>(
    /// The box.
    pub Aabb<D, T>,
);

impl<const D: usize, T: Real> Measure<D, T> for NearestToBox<D, T> {
    fn bound(&self, bounds: &Aabb<D, T>) -> Option<T> {
        let mut distance = T::ZERO;
        for k in 0..D {
            let gap = (bounds.min[k] - self.0.max[k]).max(self.0.min[k] - bounds.max[k]).max(T::ZERO);
            distance += gap * gap;
        }
        Some(distance)
    }

    fn distance_to_ball(&self, target: &Ball<D, T>, bound: T) -> Option<T> {
        Some(square_of_gap(squared_distance(&target.center, &self.0), target.radius).max(bound))
    }

    fn reach(&self, limit: T) -> Aabb<D, T> {
        let radius = limit.sqrt();
        let side = |k: usize| {
            let (low, high) = (self.0.min[k], self.0.max[k]);
            outwards(low - radius, high + radius, low.abs().max(high.abs()) + radius)
        };
        Aabb::new(each_axis(|k| side(k).0), each_axis(|k| side(k).1))
    }
}

/// Boxes by the `t` at which the ray enters them.
impl<const D: usize, T: Real> Measure<D, T> for Ray<D, T> {
    #[inline]
    fn bound(&self, bounds: &Aabb<D, T>) -> Option<T> {
        self.enters(bounds)
    }

    fn bounds(&self, pack: &Pack<D, T>) -> [T; LANES] {
        PackRay::new(self).bounds(pack)
    }

    fn reach(&self, limit: T) -> Aabb<D, T> {
        let length = limit.min(self.length) + T::MIN_POSITIVE;
        let mut reach = Aabb::point(self.origin);
        for k in 0..D {
            let (o, d) = (self.origin[k], self.direction[k]);
            if d != T::ZERO {
                let way = d * length;
                (reach.min[k], reach.max[k]) = outwards(o.min(o + way), o.max(o + way), o.abs() + way.abs());
            }
        }
        reach
    }

    fn distance_to_ball(&self, target: &Ball<D, T>, bound: T) -> Option<T> {
        self.enters_ball(target).map(|at| at.max(bound))
    }

    fn as_ray(&self) -> Option<&Ray<D, T>> {
        Some(self)
    }
}

/// A ray with the inverses of its direction, for many packs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackRay<'a, const D: usize, T> {
    ray: &'a Ray<D, T>,
    inverse: [T; D],
}

impl<'a, const D: usize, T: Real> PackRay<'a, D, T> {
    #[inline(always)]
    pub(crate) fn new(ray: &'a Ray<D, T>) -> Self {
        Self { ray, inverse: ray.direction.map(|d| T::ONE / d) }
    }
}

impl<const D: usize, T: Real> Measure<D, T> for PackRay<'_, D, T> {
    fn bound(&self, bounds: &Aabb<D, T>) -> Option<T> {
        self.ray.enters(bounds)
    }

    #[inline(always)]
    fn bounds(&self, pack: &Pack<D, T>) -> [T; LANES] {
        let (mut near, mut far) = ([T::ZERO; LANES], [self.ray.length; LANES]);
        for k in 0..D {
            let (o, d, inverse) = (self.ray.origin[k], self.ray.direction[k], self.inverse[k]);
            if d == T::ZERO {
                for lane in 0..LANES {
                    let inside = (pack.min[k][lane] <= o) & (o <= pack.max[k][lane]);
                    far[lane] = if inside { far[lane] } else { T::NEG_INFINITY };
                }
                continue;
            }
            let (first, last) = if d > T::ZERO { (&pack.min[k], &pack.max[k]) } else { (&pack.max[k], &pack.min[k]) };
            for lane in 0..LANES {
                let (a, b) = ((first[lane] - o) * inverse, (last[lane] - o) * inverse);
                near[lane] = if a > near[lane] { a } else { near[lane] };
                far[lane] = if b < far[lane] { b } else { far[lane] };
            }
        }
        each_axis(|lane| if near[lane] <= far[lane] { near[lane] } else { T::NAN })
    }
}
