//! Objects that have a distance: boxes, balls, points.

use crate::error::Error;
use crate::geometry::{Aabb, Ball, Real};

/// Something that has a Euclidean distance from others of its kind: a box, a ball, a point. Evaluated in `T`, from the first axis on, without
/// fused operations.
///
/// # Contract
/// The distance is not below that of the bounds, except for rounding.
pub trait Proximity<const D: usize, T: Real>: Copy + Sync {
    /// The smallest box around it.
    fn bounds(&self) -> Aabb<D, T>;

    /// The distance: 0 if they overlap or touch.
    fn distance(&self, other: &Self) -> T;

    /// The distance, if it is at most `limit`.
    fn within(&self, other: &Self, limit: T) -> Option<T>;

    /// An error if it is not valid; the error names `index` and the axis.
    fn check(&self, index: usize) -> Result<(), Error>;
}

/// The sum of squares.
#[inline(always)]
fn squares<const D: usize, T: Real>(difference: impl Fn(usize) -> T) -> T {
    let mut sum = T::ZERO;
    for k in 0..D {
        let d = difference(k);
        sum = if k == 0 { d * d } else { sum + d * d };
    }
    sum
}

/// The square of the distance of two boxes.
#[inline(always)]
pub(super) fn squared_gap<const D: usize, T: Real>(a: &Aabb<D, T>, b: &Aabb<D, T>) -> T {
    squares::<D, T>(|k| {
        if a.min[k] > b.max[k] {
            a.min[k] - b.max[k]
        } else if b.min[k] > a.max[k] {
            b.min[k] - a.max[k]
        } else {
            T::ZERO
        }
    })
}

/// Boxes: `d*d <= limit*limit`, where `d*d` is the sum of the squared gaps along the axes.
impl<const D: usize, T: Real> Proximity<D, T> for Aabb<D, T> {
    fn bounds(&self) -> Aabb<D, T> {
        *self
    }

    fn distance(&self, other: &Self) -> T {
        squared_gap(self, other).sqrt()
    }

    fn within(&self, other: &Self, limit: T) -> Option<T> {
        let square = squared_gap(self, other);
        (square <= limit * limit).then(|| square.sqrt())
    }

    fn check(&self, index: usize) -> Result<(), Error> {
        Aabb::check(self, index)
    }
}

/// Points: `d*d <= limit*limit`.
impl<const D: usize, T: Real> Proximity<D, T> for [T; D] {
    fn bounds(&self) -> Aabb<D, T> {
        Aabb::point(*self)
    }

    fn distance(&self, other: &Self) -> T {
        squares::<D, T>(|k| self[k] - other[k]).sqrt()
    }

    fn within(&self, other: &Self, limit: T) -> Option<T> {
        let square = squares::<D, T>(|k| self[k] - other[k]);
        (square <= limit * limit).then(|| square.sqrt())
    }

    fn check(&self, index: usize) -> Result<(), Error> {
        match (0..D).find(|&k| !self[k].is_finite()) {
            Some(axis) => Err(Error::InvalidPoint { index, axis, value: self[axis].to_f64() }),
            None => Ok(()),
        }
    }
}

/// Balls: `d*d <= (ra + rb + limit)^2`, where `d` is the distance of the centers; with a limit of 0 that is [`Ball::overlaps`].
impl<const D: usize, T: Real> Proximity<D, T> for Ball<D, T> {
    fn bounds(&self) -> Aabb<D, T> {
        Ball::bounds(self)
    }

    fn distance(&self, other: &Self) -> T {
        let centers = squares::<D, T>(|k| self.center[k] - other.center[k]).sqrt();
        (centers - (self.radius + other.radius)).max(T::ZERO)
    }

    fn within(&self, other: &Self, limit: T) -> Option<T> {
        let square = squares::<D, T>(|k| self.center[k] - other.center[k]);
        let radii = self.radius + other.radius;
        let reach = radii + limit;
        (square <= reach * reach).then(|| (square.sqrt() - radii).max(T::ZERO))
    }

    fn check(&self, index: usize) -> Result<(), Error> {
        self.center.check(index)?;
        if self.radius >= T::ZERO && self.radius.is_finite() {
            return Ok(());
        }
        let expected = "finite, and not negative";
        Err(Error::InvalidValue { argument: "radius", axis: None, value: self.radius.to_f64(), expected })
    }
}

/// Checks that all objects are valid; the error names the first that is not.
pub(super) fn check_all<const D: usize, T: Real, P: Proximity<D, T>>(objects: &[P]) -> Result<(), Error> {
    let limit = crate::objects::MAX_OBJECTS;
    if objects.len() > limit {
        return Err(Error::TooManyObjects { count: objects.len(), limit });
    }
    objects.iter().enumerate().try_for_each(|(index, object)| object.check(index))
}
