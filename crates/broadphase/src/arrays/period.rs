//! Spaces that repeat.

use crate::error::Error;
use crate::geometry::{Aabb, Real};

/// A space that repeats along some or all axes, as simulations of bulk matter use it: what leaves at one side enters at the other.
///
/// The space on a periodic axis is `[origin, origin + length)`. Coordinates outside are wrapped into it; those inside stay exactly as they
/// are.
///
/// ```
/// use broadphase::Period;
/// let space = Period::axes([Some(10.0), None]); // periodic along x only
/// assert_eq!(space.wrap([12.5, 12.5]), [2.5, 12.5]);
/// assert_eq!(space.wrap([-1.0, 0.0]), [9.0, 0.0]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period<const D: usize, T> {
    origin: [T; D],
    lengths: [Option<T>; D],
}

impl<const D: usize, T: Real> Period<D, T> {
    /// Periodic along all axes, from the origin of the coordinates on.
    pub fn new(lengths: [T; D]) -> Self {
        Self::axes(lengths.map(Some))
    }

    /// Periodic along the axes that have a length.
    pub fn axes(lengths: [Option<T>; D]) -> Self {
        Self { origin: [T::ZERO; D], lengths }
    }

    /// With another lower corner.
    pub fn with_origin(mut self, origin: [T; D]) -> Self {
        self.origin = origin;
        self
    }

    /// The length along an axis, if it is periodic.
    pub fn length(&self, axis: usize) -> Option<T> {
        self.lengths[axis]
    }

    /// Lower and upper end along an axis, if it is periodic.
    pub fn ends(&self, axis: usize) -> Option<(T, T)> {
        self.lengths[axis].map(|length| (self.origin[axis], self.origin[axis] + length))
    }

    /// The point, wrapped into the space. Not a number stays what it is.
    pub fn wrap(&self, point: [T; D]) -> [T; D] {
        let wrapped = self.wrap_box(&Aabb::point(point));
        wrapped.min
    }

    /// The box, moved by whole periods so that its lower corner is in the space. Its upper corner may be beyond.
    pub fn wrap_box(&self, value: &Aabb<D, T>) -> Aabb<D, T> {
        let mut wrapped = *value;
        for k in 0..D {
            let Some((low, high)) = self.ends(k) else { continue };
            let (mut min, mut max) = (value.min[k], value.max[k]);
            if (min >= low) & (min < high) || min.is_nan() {
                continue;
            }
            let length = high - low;
            let shift = ((min - low) / length).floor() * length;
            (min, max) = (min - shift, max - shift);
            if min >= high {
                (min, max) = (min - length, max - length);
            } else if min < low {
                (min, max) = (min + length, max + length);
            }
            // What rounding still leaves outside.
            let inside = min.max(low).min(high.next_down());
            (wrapped.min[k], wrapped.max[k]) = (inside, if max > inside { max } else { inside });
        }
        wrapped
    }

    /// Calls `visit` with each further image of a wrapped box that reaches into the space, and the axes along which it is moved, one bit
    /// each: one for each combination of upper ends that the box touches or crosses.
    pub(super) fn for_each_image(&self, wrapped: &Aabb<D, T>, mut visit: impl FnMut(Aabb<D, T>, u8)) {
        let mut crossed = 0usize;
        for k in 0..D {
            crossed |= usize::from(self.ends(k).is_some_and(|(_, high)| wrapped.max[k] >= high)) << k;
        }
        if crossed == 0 {
            return;
        }
        for combination in 1..1usize << D {
            if combination & !crossed != 0 {
                continue;
            }
            let mut image = *wrapped;
            for k in (0..D).filter(|k| combination >> k & 1 == 1) {
                let Some((low, high)) = self.ends(k) else { continue };
                // The upper end becomes the lower end exactly.
                image.min[k] = (wrapped.min[k] - high) + low;
                image.max[k] = (wrapped.max[k] - high) + low;
            }
            visit(image, combination as u8);
        }
    }

    /// The distance along one axis of two wrapped coordinates: to the nearest image, if the axis is periodic.
    #[inline(always)]
    pub fn separation(&self, axis: usize, a: T, b: T) -> T {
        let direct = (a - b).abs();
        match self.lengths[axis] {
            Some(length) => direct.min(length - direct),
            None => direct,
        }
    }

    /// Every length is positive, and both ends are finite.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for axis in 0..D {
            let Some((low, high)) = self.ends(axis) else { continue };
            let length = self.lengths[axis].unwrap_or(T::ZERO);
            if !(length > T::ZERO && length.is_finite() && low < high && low.is_finite() && high.is_finite()) {
                let expected = "positive and finite, and not lost against the origin";
                return Err(Error::InvalidValue { argument: "period", axis: Some(axis), value: length.to_f64(), expected });
            }
        }
        Ok(())
    }

    /// No side of the box is longer than half the period.
    pub(super) fn check_box(&self, value: &Aabb<D, T>, index: usize) -> Result<(), Error> {
        for axis in 0..D {
            let Some(period) = self.lengths[axis] else { continue };
            let length = value.max[axis] - value.min[axis];
            if !(length <= period * T::HALF && value.min[axis].is_finite()) {
                return Err(Error::BoxTooLong { index, axis, length: length.to_f64(), period: period.to_f64() });
            }
        }
        Ok(())
    }
}
