//! All pairs within a distance.

use super::{DistanceSearch, Near, Proximity};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::pairs::Pair;

/// All pairs of objects whose Euclidean distance is at most `distance`, with it; sorted by index. Objects are boxes, balls or points
/// ([`Proximity`]), in two or three dimensions.
///
/// ```
/// use broadphase::{Aabb, Near, pairs_within};
/// let boxes = [Aabb::new([0.0, 0.0], [1.0, 1.0]), Aabb::new([4.0, 5.0], [6.0, 6.0]), Aabb::new([0.0, 9.0], [1.0, 9.5])];
/// assert_eq!(pairs_within(&boxes, 5.0)?, [Near { a: 0, b: 1, distance: 5.0 }, Near { a: 1, b: 2, distance: 4.242640687119285 }]);
/// # Ok::<(), broadphase::Error>(())
/// ```
///
/// # Errors
/// [`Error::InvalidBox`], [`Error::InvalidPoint`] or [`Error::InvalidValue`] for an object that is not valid; [`Error::InvalidValue`] for a
/// distance that is negative or NaN, or whose square is infinite; [`Error::TooManyObjects`], [`Error::TooManyPairs`] and
/// [`Error::OutOfMemory`] beyond the limits.
pub fn pairs_within<const D: usize, T: Real, P: Proximity<D, T>>(objects: &[P], distance: T) -> Result<Vec<Near<T>>, Error> {
    DistanceSearch::new(objects).within(distance)
}

/// All pairs of an object of `a` and one of `b` whose Euclidean distance is at most `distance`, with it; sorted by index.
///
/// ```
/// use broadphase::{Near, pairs_within_between};
/// let (towns, wells) = ([[0.0, 0.0], [9.0, 0.0]], [[3.0, 4.0], [9.0, 1.0]]);
/// let near = pairs_within_between(&towns, &wells, 5.0)?;
/// assert_eq!(near, [Near { a: 0, b: 0, distance: 5.0 }, Near { a: 1, b: 1, distance: 1.0 }]);
/// # Ok::<(), broadphase::Error>(())
/// ```
///
/// # Errors
/// As for [`pairs_within`], in an [`Error::Argument`] that names the list.
pub fn pairs_within_between<const D: usize, T: Real, P: Proximity<D, T>>(
    a: &[P],
    b: &[P],
    distance: T,
) -> Result<Vec<Near<T>>, Error> {
    DistanceSearch::between(a, b).within(distance)
}

pub(super) fn check_distance<T: Real>(distance: T) -> Result<(), Error> {
    if distance >= T::ZERO && (distance * distance).is_finite() {
        return Ok(());
    }
    let expected = "a number from 0 on, with a finite square";
    Err(Error::InvalidValue { argument: "distance", axis: None, value: distance.to_f64(), expected })
}

/// Boxes that overlap wherever two objects are within `distance`, however it is rounded.
pub(super) fn grow<const D: usize, T: Real, P: Proximity<D, T>>(objects: &[P], distance: T) -> Result<Vec<Aabb<D, T>>, Error> {
    let mut boxes = Vec::new();
    boxes.try_reserve_exact(objects.len()).map_err(|_| Error::OutOfMemory { what: "boxes" })?;
    boxes.extend(objects.iter().map(|object| grow_one(object, distance)));
    Ok(boxes)
}

/// The same for one object.
pub(super) fn grow_one<const D: usize, T: Real, P: Proximity<D, T>>(object: &P, distance: T) -> Aabb<D, T> {
    let bounds = object.bounds();
    let rounding = (T::ONE.next_up() - T::ONE) * T::from_f64(16.0);
    // Squares of differences below the root of the smallest number underflow, and count as zero.
    let half = distance * T::HALF * (T::ONE + rounding) + T::MIN_POSITIVE.sqrt() * T::from_f64(4.0);
    // The test of balls rounds the sum of radii and distance.
    let sizes = (0..D).map(|k| (bounds.max[k] - bounds.min[k]) * rounding).filter(|size| size.is_finite());
    let grown = bounds.grow(half + sizes.fold(T::ZERO, T::max));
    // Bounds and grown bounds are rounded, by up to half a unit in the last place each.
    let down = |x: T| x.next_down().next_down();
    let up = |x: T| x.next_up().next_up();
    Aabb::new(grown.min.map(down), grown.max.map(up))
}

/// The candidates that are within the distance, with it.
pub(super) fn measure<T: Real>(candidates: &[Pair], within: impl Fn(Pair) -> Option<T>) -> Result<Vec<Near<T>>, Error> {
    let near = candidates.iter().filter_map(|&pair| {
        let Pair { a, b } = pair;
        within(pair).map(|distance| Near { a, b, distance })
    });
    Ok(near.collect())
}
