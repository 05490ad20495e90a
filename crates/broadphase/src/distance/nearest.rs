//! The nearest of every object, and the closest pair.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::proximity::squared_gap;
use super::within::{grow, grow_one};
use super::{DistanceSearch, Near, Proximity};
use crate::algorithms::{BroadPhase, Spec};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Measure, Real};
use crate::neighbors::Neighbors;
use crate::objects::Frame;

/// Objects per job.
const PER_JOB: usize = 1024;
/// What a search for one object costs, in the units of [`Context::run_weighted`].
const SEARCH: usize = 500;

/// The `k` nearest others of every object, with their distances: rows in order of distance, then of index. With fewer than `k` others, all of
/// them. Objects are boxes, balls or points ([`Proximity`]), in two or three dimensions. On several threads: [`DistanceSearch`].
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
    DistanceSearch::new(objects).nearest(k)
}

/// The `k` nearest objects of `b` to every object of `a`, with their distances: rows in order of distance, then of index.
///
/// # Errors
/// As for [`nearest`], in an [`Error::Argument`] that names the list.
pub fn nearest_between<const D: usize, T: Real, P: Proximity<D, T>>(a: &[P], b: &[P], k: usize) -> Result<Neighbors<T>, Error> {
    DistanceSearch::between(a, b).nearest(k)
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
    DistanceSearch::new(objects).closest_pair()
}

/// The object of `a` and the object of `b` with the smallest distance, the first such pair by index; `None` if a list is empty.
///
/// # Errors
/// As for [`nearest`], in an [`Error::Argument`] that names the list.
pub fn closest_pair_between<const D: usize, T: Real, P: Proximity<D, T>>(a: &[P], b: &[P]) -> Result<Option<Near<T>>, Error> {
    DistanceSearch::between(a, b).closest_pair()
}

/// A lower bound of the distance from a box: the rounded distance, made smaller by more than rounding can add, so that it is never above the distance of
/// an object inside a box.
struct DistanceFromBox<const D: usize, T>(Aabb<D, T>);

impl<const D: usize, T: Real> Measure<D, T> for DistanceFromBox<D, T> {
    fn bound(&self, bounds: &Aabb<D, T>) -> Option<T> {
        let epsilon = T::ONE.next_up() - T::ONE;
        Some(squared_gap(&self.0, bounds).sqrt() * (T::ONE - epsilon * T::from_f64(16.0)))
    }
}

/// Objects in a structure that can be searched.
pub(super) struct Index<'a, const D: usize, T: Real, P> {
    objects: &'a [P],
    /// Their bounds, a little larger.
    boxes: Vec<Aabb<D, T>>,
    structure: Box<dyn BroadPhase<D, T>>,
}

impl<'a, const D: usize, T: Real, P: Proximity<D, T>> Index<'a, D, T, P> {
    pub(super) fn new(objects: &'a [P], context: &mut Context) -> Result<Self, Error> {
        let boxes = grow(objects, T::ZERO)?;
        let mut structure = Spec::default().build::<D, T>()?;
        structure.update(&Frame::new(&boxes), context)?;
        Ok(Self { objects, boxes, structure })
    }

    /// Calls `visit` with the distance of each object that may be within `limit`; it returns the new limit.
    fn search(&self, from: &P, limit: T, mut visit: impl FnMut(u32, T) -> T) {
        let measure = DistanceFromBox(grow_one(from, T::ZERO));
        let mut offer = |id: u32, _: T| ControlFlow::Continue(visit(id, from.distance(&self.objects[id as usize])));
        let frame = Frame::new(&self.boxes);
        match self.structure.reader() {
            Some(reader) => reader.search(&frame, &measure, limit, &mut offer),
            None => crate::algorithms::scan(&frame, &measure, limit, &mut offer),
        }
    }
}

/// The rows of some objects.
#[derive(Default)]
struct Rows<T> {
    /// The end of each row.
    ends: Vec<usize>,
    indices: Vec<u32>,
    distances: Vec<T>,
    failed: bool,
}

/// The `k` nearest of the index to each object, which is not its own neighbor if both are the same list.
pub(super) fn rows<const D: usize, T: Real, P: Proximity<D, T>>(
    objects: &[P],
    index: &Index<'_, D, T, P>,
    k: usize,
    is_self: bool,
    context: &Context,
) -> Result<Neighbors<T>, Error> {
    let jobs = objects.len().div_ceil(PER_JOB);
    let parts: Vec<Mutex<Rows<T>>> = (0..jobs).map(|_| Mutex::default()).collect();
    context.run_weighted(jobs, SEARCH * objects.len(), |job, _| {
        let part = &mut *parts[job].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let own = job * PER_JOB..((job + 1) * PER_JOB).min(objects.len());
        let room = own.len().checked_mul(k);
        part.failed =
            !room.is_some_and(|room| part.indices.try_reserve(room).is_ok() && part.distances.try_reserve(room).is_ok());
        let mut best: Vec<(T, u32)> = Vec::new();
        for own in if part.failed { 0..0 } else { own } {
            best.clear();
            if k > 0 {
                index.search(&objects[own], T::INFINITY, |id, distance| {
                    let before = |other: &(T, u32)| other.0 < distance || (other.0 == distance && other.1 < id);
                    let place = best.partition_point(before);
                    if place < k && !(is_self && id as usize == own) {
                        best.truncate(k - 1);
                        best.insert(place, (distance, id));
                    }
                    if best.len() < k { T::INFINITY } else { best[k - 1].0 }
                });
            }
            part.indices.extend(best.iter().map(|entry| entry.1));
            part.distances.extend(best.iter().map(|entry| entry.0));
            part.ends.push(part.indices.len());
        }
    });
    let parts: Vec<Rows<T>> =
        parts.into_iter().map(|part| part.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())).collect();
    let mut rows = Neighbors { offsets: vec![0], indices: Vec::new(), distances: Vec::new() };
    let total = parts.iter().map(|part| part.indices.len()).sum();
    let room = |_| Error::OutOfMemory { what: "neighbors" };
    rows.offsets.try_reserve_exact(objects.len()).map_err(room)?;
    rows.indices.try_reserve_exact(total).map_err(room)?;
    rows.distances.try_reserve_exact(total).map_err(room)?;
    for part in parts {
        if part.failed {
            return Err(Error::OutOfMemory { what: "neighbors" });
        }
        let before = rows.indices.len();
        rows.offsets.extend(part.ends.iter().map(|end| before + end));
        rows.indices.extend_from_slice(&part.indices);
        rows.distances.extend_from_slice(&part.distances);
    }
    Ok(rows)
}

/// The pair with the smallest distance, of several the first by index.
pub(super) fn closest<const D: usize, T: Real, P: Proximity<D, T>>(
    objects: &[P],
    index: &Index<'_, D, T, P>,
    is_self: bool,
    context: &Context,
) -> Option<Near<T>> {
    let jobs = objects.len().div_ceil(PER_JOB);
    // The smallest distance so far of all jobs, as bits, which order like the numbers; and the first job that has found a distance of 0.
    let (least, touching) = (AtomicU64::new(f64::INFINITY.to_bits()), AtomicUsize::new(usize::MAX));
    let parts: Vec<Mutex<Option<Near<T>>>> = (0..jobs).map(|_| Mutex::default()).collect();
    context.run_weighted(jobs, SEARCH * objects.len(), |job, _| {
        let mut best: Option<Near<T>> = None;
        for own in job * PER_JOB..((job + 1) * PER_JOB).min(objects.len()) {
            if touching.load(Ordering::Relaxed) < job {
                break; // later objects have larger indices
            }
            let limit = T::from_f64(f64::from_bits(least.load(Ordering::Relaxed)));
            index.search(&objects[own], limit, |id, distance| {
                // Pairs with a smaller index are looked at from there.
                let is_new = !is_self || id as usize > own;
                let found = Near { a: own as u32, b: id, distance };
                if is_new && best.is_none_or(|best| is_before(&found, &best)) {
                    best = Some(found);
                }
                best.map_or(limit, |best| if best.distance < limit { best.distance } else { limit })
            });
            if let Some(best) = &best {
                least.fetch_min(best.distance.to_f64().to_bits(), Ordering::Relaxed);
                if best.distance == T::ZERO {
                    touching.fetch_min(job, Ordering::Relaxed);
                    break;
                }
            }
        }
        *parts[job].lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = best;
    });
    let found = parts.into_iter().filter_map(|part| part.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()));
    found.reduce(|best, next| if is_before(&next, &best) { next } else { best })
}

/// Is the distance smaller, or equal and the indices are smaller?
fn is_before<T: Real>(a: &Near<T>, b: &Near<T>) -> bool {
    a.distance < b.distance || (a.distance == b.distance && (a.a, a.b) < (b.a, b.b))
}
