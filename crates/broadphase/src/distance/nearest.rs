//! The nearest of every object, and the closest pair.

use std::ops::ControlFlow;

use super::proximity::{check_all, squared_gap};
use super::within::{grow, grow_one};
use super::{Near, Proximity};
use crate::algorithms::{BroadPhase, Spec};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Measure, Real};
use crate::neighbors::Neighbors;
use crate::objects::Frame;

/// The `k` nearest others of every object, with their distances: rows in order of distance, then of index. With fewer than `k` others, all of
/// them. Objects are boxes, balls or points ([`Proximity`]), in two or three dimensions.
///
/// ```
/// let points = [[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]];
/// let near = broadphase::nearest(&points, 1)?;
/// assert_eq!((near.of(0), near.of(1), near.of(2)), (&[1][..], &[0][..], &[1][..]));
/// assert_eq!(near.distances, [1.0, 1.0, 2.0]);
/// # Ok::<(), broadphase::Error>(())
/// ```
///
/// # Errors
/// [`Error::InvalidBox`], [`Error::InvalidPoint`] or [`Error::InvalidValue`] for an object that is not valid; [`Error::TooManyObjects`] and
/// [`Error::OutOfMemory`] beyond the limits.
pub fn nearest<const D: usize, T: Real, P: Proximity<D, T>>(objects: &[P], k: usize) -> Result<Neighbors<T>, Error> {
    check_all(objects)?;
    let index = Index::new(objects)?;
    rows(objects, &index, k.min(objects.len().saturating_sub(1)), true)
}

/// The `k` nearest objects of `b` to every object of `a`, with their distances: rows in order of distance, then of index.
///
/// # Errors
/// As for [`nearest`], in an [`Error::Argument`] that names the list.
pub fn nearest_between<const D: usize, T: Real, P: Proximity<D, T>>(a: &[P], b: &[P], k: usize) -> Result<Neighbors<T>, Error> {
    check_all(a).map_err(|error| error.in_argument("a"))?;
    check_all(b).map_err(|error| error.in_argument("b"))?;
    let index = Index::new(b)?;
    rows(a, &index, k.min(b.len()), false)
}

/// The two objects with the smallest distance, the first such pair by index; `None` with fewer than two objects.
///
/// ```
/// use broadphase::{Aabb, Near, closest_pair};
/// let boxes = [Aabb::new([0.0, 0.0], [1.0, 1.0]), Aabb::new([7.0, 0.0], [8.0, 1.0]), Aabb::new([3.0, 0.0], [4.0, 1.0])];
/// assert_eq!(closest_pair(&boxes)?, Some(Near { a: 0, b: 2, distance: 2.0 }));
/// # Ok::<(), broadphase::Error>(())
/// ```
///
/// # Errors
/// As for [`nearest`].
pub fn closest_pair<const D: usize, T: Real, P: Proximity<D, T>>(objects: &[P]) -> Result<Option<Near<T>>, Error> {
    check_all(objects)?;
    closest(objects, &Index::new(objects)?, true)
}

/// The object of `a` and the object of `b` with the smallest distance, the first such pair by index; `None` if a list is empty.
///
/// # Errors
/// As for [`nearest`], in an [`Error::Argument`] that names the list.
pub fn closest_pair_between<const D: usize, T: Real, P: Proximity<D, T>>(a: &[P], b: &[P]) -> Result<Option<Near<T>>, Error> {
    check_all(a).map_err(|error| error.in_argument("a"))?;
    check_all(b).map_err(|error| error.in_argument("b"))?;
    closest(a, &Index::new(b)?, false)
}

/// The distance of boxes from a box, a little less than it is, so that rounding never makes it more than that of the objects inside.
struct From<const D: usize, T>(Aabb<D, T>);

impl<const D: usize, T: Real> Measure<D, T> for From<D, T> {
    fn bound(&self, bounds: &Aabb<D, T>) -> Option<T> {
        let epsilon = T::ONE.next_up() - T::ONE;
        Some(squared_gap(&self.0, bounds).sqrt() * (T::ONE - epsilon * T::from_f64(16.0)))
    }
}

/// Objects in a structure that can be searched.
struct Index<'a, const D: usize, T: Real, P> {
    objects: &'a [P],
    /// Their bounds, a little larger.
    boxes: Vec<Aabb<D, T>>,
    structure: Box<dyn BroadPhase<D, T>>,
}

impl<'a, const D: usize, T: Real, P: Proximity<D, T>> Index<'a, D, T, P> {
    fn new(objects: &'a [P]) -> Result<Self, Error> {
        let boxes = grow(objects, T::ZERO)?;
        let mut structure = Spec::default().build::<D, T>()?;
        structure.update(&Frame::new(&boxes), &mut Context::new())?;
        Ok(Self { objects, boxes, structure })
    }

    /// Calls `visit` with the distance of each object that may be within `limit`; it returns the new limit.
    fn search(&self, from: &P, limit: T, mut visit: impl FnMut(u32, T) -> T) {
        let measure = From(grow_one(from, T::ZERO));
        let mut offer = |id: u32, _: T| ControlFlow::Continue(visit(id, from.distance(&self.objects[id as usize])));
        let frame = Frame::new(&self.boxes);
        match self.structure.reader() {
            Some(reader) => reader.search(&frame, &measure, limit, &mut offer),
            None => crate::algorithms::scan(&frame, &measure, limit, &mut offer),
        }
    }
}

fn rows<const D: usize, T: Real, P: Proximity<D, T>>(
    objects: &[P],
    index: &Index<'_, D, T, P>,
    k: usize,
    is_self: bool,
) -> Result<Neighbors<T>, Error> {
    let mut rows = Neighbors { offsets: vec![0], indices: Vec::new(), distances: Vec::new() };
    let total = objects.len().checked_mul(k).ok_or(Error::OutOfMemory { what: "neighbors" })?;
    let room = |_| Error::OutOfMemory { what: "neighbors" };
    rows.offsets.try_reserve_exact(objects.len()).map_err(room)?;
    rows.indices.try_reserve_exact(total).map_err(room)?;
    rows.distances.try_reserve_exact(total).map_err(room)?;
    let mut best: Vec<(T, u32)> = Vec::new();
    for (own, object) in objects.iter().enumerate() {
        best.clear();
        if k > 0 {
            index.search(object, T::INFINITY, |id, distance| {
                let before = |other: &(T, u32)| other.0 < distance || (other.0 == distance && other.1 < id);
                let place = best.partition_point(before);
                if place < k && !(is_self && id as usize == own) {
                    best.truncate(k - 1);
                    best.insert(place, (distance, id));
                }
                if best.len() < k { T::INFINITY } else { best[k - 1].0 }
            });
        }
        rows.indices.extend(best.iter().map(|entry| entry.1));
        rows.distances.extend(best.iter().map(|entry| entry.0));
        rows.offsets.push(rows.indices.len());
    }
    Ok(rows)
}

fn closest<const D: usize, T: Real, P: Proximity<D, T>>(
    objects: &[P],
    index: &Index<'_, D, T, P>,
    is_self: bool,
) -> Result<Option<Near<T>>, Error> {
    let mut best: Option<Near<T>> = None;
    for (own, object) in objects.iter().enumerate() {
        let own = own as u32;
        let limit = best.map_or(T::INFINITY, |best| best.distance);
        index.search(object, limit, |id, distance| {
            // Pairs with a smaller index were looked at from there.
            let is_new = !is_self || id > own;
            let is_closer =
                best.is_none_or(|best| distance < best.distance || (distance == best.distance && (own, id) < (best.a, best.b)));
            if is_new && is_closer {
                best = Some(Near { a: own, b: id, distance });
            }
            best.map_or(T::INFINITY, |best| best.distance)
        });
        if best.is_some_and(|best| best.distance == T::ZERO) {
            break; // later objects have larger indices
        }
    }
    Ok(best)
}
