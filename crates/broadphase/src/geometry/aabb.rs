//! The axis-aligned box, closed on all sides.

use super::{Real, each_axis};
use crate::error::{BoxFault, Error};

/// An axis-aligned bounding box in `D` dimensions, closed: boxes that touch overlap.
///
/// Plain data: `min` then `max`, no padding, castable to and from `[T; 2 * D]` with `bytemuck`.
/// Infinite sides are legal (planes, half-spaces). A box is *valid* if `min <= max` on every axis, which NaN fails.
///
/// ```
/// use broadphase::Aabb;
/// let a = Aabb::new([0.0, 0.0], [1.0, 1.0]);
/// let b = Aabb::new([1.0, 0.5], [2.0, 0.5]);
/// assert!(a.overlaps(&b)); // they share one point, and b has no thickness
/// assert_eq!(a.union(&b), Aabb::new([0.0, 0.0], [2.0, 1.0]));
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb<const D: usize, T> {
    /// The lower corner.
    pub min: [T; D],
    /// The upper corner.
    pub max: [T; D],
}

impl<const D: usize, T: Real> Default for Aabb<D, T> {
    /// The point at the origin.
    fn default() -> Self {
        Self { min: [T::ZERO; D], max: [T::ZERO; D] }
    }
}

impl<const D: usize, T: Real> Aabb<D, T> {
    /// A box from its corners. Not checked; see [`Aabb::check`].
    pub const fn new(min: [T; D], max: [T; D]) -> Self {
        Self { min, max }
    }

    /// The box around `center` that reaches `half` to both sides on each axis.
    pub fn from_center(center: [T; D], half: [T; D]) -> Self {
        Self { min: each_axis(|k| center[k] - half[k]), max: each_axis(|k| center[k] + half[k]) }
    }

    /// The smallest box around all these points; [`empty`](Aabb::empty) for none.
    ///
    /// ```
    /// use broadphase::Aabb;
    /// assert_eq!(Aabb::from_points(&[[0.0, 3.0], [1.0, 2.0]]), Aabb::new([0.0, 2.0], [1.0, 3.0]));
    /// ```
    pub fn from_points<'a>(points: impl IntoIterator<Item = &'a [T; D]>) -> Self {
        points.into_iter().fold(Self::empty(), |all, &point| all.union(&Self::point(point)))
    }

    /// The box that a point occupies.
    pub const fn point(at: [T; D]) -> Self {
        Self { min: at, max: at }
    }

    /// The whole space.
    pub const fn everything() -> Self {
        Self { min: [T::NEG_INFINITY; D], max: [T::INFINITY; D] }
    }

    /// The neutral element of [`union`](Aabb::union): not a valid box, it overlaps nothing.
    pub const fn empty() -> Self {
        Self { min: [T::INFINITY; D], max: [T::NEG_INFINITY; D] }
    }

    /// Do the closed boxes overlap? This is the definition that every algorithm and kernel follows: plain comparisons.
    #[inline(always)]
    pub fn overlaps(&self, other: &Self) -> bool {
        let mut all = true;
        for k in 0..D {
            all &= (self.min[k] <= other.max[k]) & (other.min[k] <= self.max[k]);
        }
        all
    }

    /// Is `other` wholly inside (touching from the inside counts)?
    #[inline(always)]
    pub fn contains(&self, other: &Self) -> bool {
        let mut all = true;
        for k in 0..D {
            all &= (self.min[k] <= other.min[k]) & (other.max[k] <= self.max[k]);
        }
        all
    }

    /// Is the point inside or on the surface?
    #[inline(always)]
    pub fn contains_point(&self, point: &[T; D]) -> bool {
        (0..D).all(|k| self.min[k] <= point[k] && point[k] <= self.max[k])
    }

    /// The smallest box around both.
    #[inline(always)]
    pub fn union(&self, other: &Self) -> Self {
        Self { min: each_axis(|k| self.min[k].min(other.min[k])), max: each_axis(|k| self.max[k].max(other.max[k])) }
    }

    /// The box grown by `margin` on every side: the one function that applies margins, so that they round the same everywhere.
    ///
    /// ```
    /// use broadphase::Aabb;
    /// assert_eq!(Aabb::new([0.0], [1.0]).grow(0.5), Aabb::new([-0.5], [1.5]));
    /// ```
    #[inline(always)]
    pub fn grow(&self, margin: T) -> Self {
        Self { min: each_axis(|k| self.min[k] - margin), max: each_axis(|k| self.max[k] + margin) }
    }

    /// The box moved by `by`.
    #[inline(always)]
    pub fn translate(&self, by: [T; D]) -> Self {
        Self { min: each_axis(|k| self.min[k] + by[k]), max: each_axis(|k| self.max[k] + by[k]) }
    }

    /// The center, `(min + max) * 0.5` in that order of rounding. May overflow to infinity or, for infinite sides, be NaN.
    #[inline(always)]
    pub fn center(&self) -> [T; D] {
        each_axis(|k| (self.min[k] + self.max[k]) * T::HALF)
    }

    /// The side lengths, `max - min`.
    #[inline(always)]
    pub fn size(&self) -> [T; D] {
        each_axis(|k| self.max[k] - self.min[k])
    }

    /// Are all six (or four) coordinates finite?
    #[inline(always)]
    pub fn is_finite(&self) -> bool {
        (0..D).all(|k| self.min[k].is_finite() && self.max[k].is_finite())
    }

    /// Is `min <= max` on every axis? NaN fails it.
    #[inline(always)]
    pub fn is_valid(&self) -> bool {
        let mut all = true;
        for k in 0..D {
            all &= self.min[k] <= self.max[k];
        }
        all
    }

    /// The first axis on which the box is not valid, and what is wrong there.
    pub fn fault(&self) -> Option<(usize, BoxFault)> {
        (0..D).find(|&k| !matches!(self.min[k].partial_cmp(&self.max[k]), Some(o) if o.is_le())).map(|k| {
            let nan = self.min[k].is_nan() || self.max[k].is_nan();
            (k, if nan { BoxFault::NotANumber } else { BoxFault::MinAboveMax })
        })
    }

    /// Errors if the box is not valid; the error names `index` and the axis.
    ///
    /// ```
    /// use broadphase::Aabb;
    /// let error = Aabb::new([0.0, 2.0], [1.0, 1.0]).check(7).unwrap_err();
    /// assert_eq!(error.to_string(), "object 7: min is above max on axis y; swap the corners");
    /// ```
    pub fn check(&self, index: usize) -> Result<(), Error> {
        match self.fault() {
            None => Ok(()),
            Some((axis, fault)) => Err(Error::InvalidBox { index: Some(index), axis, fault }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_zero_touches_positive_zero() {
        let a = Aabb::new([-1.0f32, -1.0], [-0.0, 1.0]);
        let b = Aabb::new([0.0f32, -1.0], [1.0, 1.0]);
        assert!(a.overlaps(&b) && b.overlaps(&a));
    }

    #[test]
    fn a_nan_corner_is_rejected_with_its_axis() {
        let fault = Aabb::new([0.0, 0.0, f64::NAN], [1.0; 3]).fault();
        assert_eq!(fault, Some((2, BoxFault::NotANumber)));
        assert_eq!(Aabb::<3, f64>::everything().fault(), None);
        assert!(Aabb::<2, f32>::empty().fault().is_some());
    }
}
