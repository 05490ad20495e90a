//! Periodic spaces: spaces that repeat.

use super::{Aabb, Real, each_axis};
use crate::error::Error;

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
    /// A space that is periodic along all axes, from the origin of the coordinates on.
    pub fn new(lengths: [T; D]) -> Self {
        Self::axes(lengths.map(Some))
    }

    /// A space that is periodic along the axes that have a length.
    pub fn axes(lengths: [Option<T>; D]) -> Self {
        Self { origin: [T::ZERO; D], lengths }
    }

    /// Sets the lower corner.
    pub fn with_origin(mut self, origin: [T; D]) -> Self {
        self.origin = origin;
        self
    }

    /// The lower corner.
    pub fn origin(&self) -> [T; D] {
        self.origin
    }

    /// The length along an axis, if it is periodic.
    pub fn length(&self, axis: usize) -> Option<T> {
        self.lengths[axis]
    }

    /// Lower and upper end along an axis, if it is periodic.
    pub fn ends(&self, axis: usize) -> Option<(T, T)> {
        self.lengths[axis].map(|length| (self.origin[axis], self.origin[axis] + length))
    }

    /// The point, wrapped into the space. NaN stays NaN.
    pub fn wrap(&self, point: [T; D]) -> [T; D] {
        let wrapped = self.wrap_box(&Aabb::point(point));
        wrapped.min
    }

    /// The box, moved by whole periods so that its lower corner is in the space. Its upper corner may be beyond.
    #[inline]
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

    /// The same space, moved.
    pub(crate) fn translate(&self, by: [T; D]) -> Self {
        Self { origin: each_axis(|k| self.origin[k] + by[k]), ..*self }
    }

    /// The axes on which a wrapped box touches or crosses the upper end of the space, one bit each.
    #[inline(always)]
    pub(crate) fn crossed(&self, wrapped: &Aabb<D, T>) -> u8 {
        let mut crossed = 0;
        for k in 0..D {
            crossed |= u8::from(self.ends(k).is_some_and(|(_, high)| wrapped.max[k] >= high)) << k;
        }
        crossed
    }

    /// The image of a wrapped box, moved down by a period along some of the axes that it crosses, one bit each.
    pub(crate) fn image(&self, wrapped: &Aabb<D, T>, shift: u8) -> Aabb<D, T> {
        let mut image = *wrapped;
        for k in (0..D).filter(|k| shift >> k & 1 == 1) {
            let Some((low, high)) = self.ends(k) else { continue };
            // The upper end becomes the lower end exactly.
            image.min[k] = (wrapped.min[k] - high) + low;
            image.max[k] = (wrapped.max[k] - high) + low;
        }
        image
    }

    /// Of two boxes that may overlap in several images: is this combination of images, moved along `shift_a` and `shift_b`, the one that counts?
    /// The images must overlap; `a` and `b` are the wrapped boxes.
    ///
    /// It is decided along each axis. Where both are images, the boxes themselves reach the upper end of the space, and so overlap. Where one is,
    /// it counts if the boxes themselves do not overlap: there is no third case, since if both had an image, both would reach the upper end.
    #[inline]
    pub(crate) fn is_first(a: (&Aabb<D, T>, u8), b: (&Aabb<D, T>, u8)) -> bool {
        let ((a, shift_a), (b, shift_b)) = (a, b);
        shift_a & shift_b == 0 && (0..D).all(|k| (shift_a | shift_b) >> k & 1 == 0 || a.min[k] > b.max[k] || b.min[k] > a.max[k])
    }

    /// Is there a combination of images of two boxes that overlaps and passes the test?
    pub(crate) fn any_image(&self, a: &Aabb<D, T>, b: &Aabb<D, T>, test: impl Fn(&Aabb<D, T>, &Aabb<D, T>) -> bool) -> bool {
        let (a, b) = (self.wrap_box(a), self.wrap_box(b));
        let meet = |a: &Aabb<D, T>, b: &Aabb<D, T>| a.overlaps(b) && test(a, b);
        let (crossed_a, crossed_b) = (self.crossed(&a), self.crossed(&b));
        let all = |crossed: u8| (0..1u8 << D).filter(move |shift| shift & !crossed == 0);
        all(crossed_a).any(|shift| {
            let a = self.image(&a, shift);
            all(crossed_b).any(|shift| meet(&a, &self.image(&b, shift)))
        })
    }

    /// Calls `visit` with each further image of a wrapped box that reaches into the space, and the axes along which it is moved, one bit
    /// each: one for each combination of upper ends that the box touches or crosses.
    pub(crate) fn for_each_image(&self, wrapped: &Aabb<D, T>, mut visit: impl FnMut(Aabb<D, T>, u8)) {
        let crossed = self.crossed(wrapped);
        if crossed != 0 {
            (1..1u8 << D).filter(|shift| shift & !crossed == 0).for_each(|shift| visit(self.image(wrapped, shift), shift));
        }
    }

    /// The box with sides from a period on made infinite: it reaches all images anyway.
    pub(crate) fn open_long_sides(&self, area: &Aabb<D, T>) -> Aabb<D, T> {
        let mut open = *area;
        for k in 0..D {
            if self.lengths[k].is_some_and(|length| area.max[k] - area.min[k] >= length) {
                (open.min[k], open.max[k]) = (T::NEG_INFINITY, T::INFINITY);
            }
        }
        open
    }

    /// A box around those images of wrapped boxes that are nearest to `area`, or all of them that are within `distance`: on an axis that repeats
    /// none is farther than a period.
    pub(crate) fn around(&self, area: &Aabb<D, T>, distance: T) -> Aabb<D, T> {
        let mut around = area.grow(distance);
        for k in 0..D {
            if let Some(length) = self.lengths[k].filter(|length| distance >= *length) {
                (around.min[k], around.max[k]) = (area.min[k] - length, area.max[k] + length);
            }
        }
        around
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

    /// The vector from a point to the nearest image of another one: what a force between two particles follows.
    ///
    /// ```
    /// use broadphase::Period;
    /// let space = Period::axes([Some(10.0), None]);
    /// assert_eq!(space.displacement([9.5, 0.0], [0.5, 8.0]), [1.0, 8.0]);
    /// assert_eq!(space.displacement([0.5, 8.0], [9.5, 0.0]), [-1.0, -8.0]);
    /// ```
    pub fn displacement(&self, from: [T; D], to: [T; D]) -> [T; D] {
        each_axis(|k| {
            let direct = to[k] - from[k];
            match self.lengths[k] {
                Some(length) => direct - (direct / length + T::HALF).floor() * length,
                None => direct,
            }
        })
    }

    /// Checks that every length is positive, and both ends are finite.
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

    /// Checks that no side of the box is longer than half the period; the error names `index` and the axis.
    pub(crate) fn check_box(&self, value: &Aabb<D, T>, index: usize) -> Result<(), Error> {
        self.check_length(value, index, T::HALF)
    }

    /// Checks that no side of the box is longer than `most` periods; the error names `index` and the axis.
    pub(crate) fn check_length(&self, value: &Aabb<D, T>, index: usize, most: T) -> Result<(), Error> {
        for axis in 0..D {
            let Some(period) = self.lengths[axis] else { continue };
            let length = value.max[axis] - value.min[axis];
            if !(length <= period * most && value.min[axis].is_finite()) {
                return Err(Error::BoxTooLong { index, axis, length: length.to_f64(), period: period.to_f64() });
            }
        }
        Ok(())
    }
}
