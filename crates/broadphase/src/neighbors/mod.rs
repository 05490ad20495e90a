//! Particles: the neighbors of every point within a radius, as compressed rows.
//!
//! # The structure
//! Points are sorted into cells a little wider than the radius (`point_cells`), so that the neighbors of a point are in its own cell or in an
//! adjacent one. For full lists, each point looks at all runs of points around it and writes its own row (`rows.rs`), so rows need no second pass
//! over pairs. For half lists, each pair is found once, and rows are made of the sorted list of pairs (`from_pairs.rs`).
//!
//! # Cost
//! Linear in points and neighbors. With more than three axes, cells use the three longest. Where points are spread so far that cells of this
//! width would be many more than points, cells are wider; where that would make them crowded, boxes around the points are searched instead
//! (`from_pairs.rs`).

mod from_pairs;
mod rows;

use std::fmt;
use std::sync::Arc;

use crate::arrays::{Cancel, Shared};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Period, Real};
use crate::kernels::point_runs::Reach;
use crate::objects::MAX_OBJECTS;
use crate::pairs::Pair;
use crate::par::{Executor, Sequential};
use crate::point_cells::{Grid, Points, Wanted, sorted_pairs};

/// The neighbors of each point, in compressed rows: those of point `i` are `indices[offsets[i]..offsets[i + 1]]`, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbors<T> {
    /// Where each row starts, and the end of the last: one more than points.
    pub offsets: Vec<usize>,
    /// The neighbors, row after row.
    pub indices: Vec<u32>,
    /// Their distances, if asked for ([`NeighborSearch::distances`]); otherwise empty.
    pub distances: Vec<T>,
}

impl<T: Copy> Neighbors<T> {
    /// The number of points.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Are there no points?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The neighbors of a point.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn of(&self, point: usize) -> &[u32] {
        &self.indices[self.offsets[point]..self.offsets[point + 1]]
    }

    /// The neighbors of a point with their distances, if these were asked for.
    ///
    /// # Panics
    /// If there is no such point.
    pub fn with_distances(&self, point: usize) -> impl Iterator<Item = (u32, T)> + '_ {
        let row = self.offsets[point]..self.offsets[point + 1];
        let distances = self.distances.get(row.clone()).unwrap_or(&[]);
        self.indices[row].iter().copied().zip(distances.iter().copied())
    }

    /// Each entry as a pair (point, neighbor), in order: of half lists, the sorted list of pairs.
    pub fn pairs(&self) -> Vec<Pair> {
        let rows = (0..self.len()).flat_map(|a| self.of(a).iter().map(move |&b| Pair { a: a as u32, b }));
        rows.collect()
    }
}

/// The neighbors of every point: all other points within `radius`, `dx*dx + dy*dy + ... <= radius * radius` in `T`. With options:
/// [`NeighborSearch`].
///
/// ```
/// let points = [[0.0, 0.0], [0.5, 0.0], [0.9, 0.0]];
/// let near = broadphase::neighbors(&points, 0.6)?;
/// assert_eq!((near.of(0), near.of(1), near.of(2)), (&[1][..], &[0, 2][..], &[1][..]));
/// # Ok::<(), broadphase::Error>(())
/// ```
///
/// # Errors
/// [`Error::InvalidPoint`] for a NaN coordinate (infinite points are near to nothing); [`Error::InvalidValue`] for a radius that is negative or
/// not a number, or whose square is infinite; [`Error::TooManyObjects`] and [`Error::OutOfMemory`] beyond the limits.
pub fn neighbors<const D: usize, T: Real>(points: &[[T; D]], radius: T) -> Result<Neighbors<T>, Error> {
    NeighborSearch::new(points, radius).list()
}

/// The neighbors of points with options: periodic axes, half lists, distances, threads. In any number of dimensions.
///
/// ```
/// use broadphase::{NeighborSearch, Period};
/// let points = [[0.5, 0.5], [9.8, 0.5]];
/// let near = NeighborSearch::new(&points, 1.0).periodic(Period::new([10.0, 10.0])).half().list()?;
/// assert_eq!(near.indices, [1]);
/// # Ok::<(), broadphase::Error>(())
/// ```
#[derive(Clone)]
pub struct NeighborSearch<'a, const D: usize, T: Real> {
    points: &'a [[T; D]],
    radius: T,
    period: Option<Period<D, T>>,
    half: bool,
    distances: bool,
    executor: Shared,
    cancel: Option<Cancel>,
}

impl<const D: usize, T: Real> fmt::Debug for NeighborSearch<'_, D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NeighborSearch")
            .field("points", &self.points.len())
            .field("radius", &self.radius)
            .field("period", &self.period)
            .field("half", &self.half)
            .finish_non_exhaustive()
    }
}

impl<'a, const D: usize, T: Real> NeighborSearch<'a, D, T> {
    /// All neighbors of each point within `radius`.
    pub fn new(points: &'a [[T; D]], radius: T) -> Self {
        let executor = Shared::default();
        Self { points, radius, period: None, half: false, distances: false, executor, cancel: None }
    }

    /// A space that repeats: distances are those to the nearest image. The radius may be up to half of each period.
    ///
    /// Points are wrapped ([`Period::wrap`]); the distance along an axis is [`Period::separation`].
    pub fn periodic(mut self, period: Period<D, T>) -> Self {
        self.period = Some(period);
        self
    }

    /// Lists each pair once: in the row of a point, only neighbors with a larger index.
    pub fn half(mut self) -> Self {
        self.half = true;
        self
    }

    /// Fills [`Neighbors::distances`].
    pub fn distances(mut self) -> Self {
        self.distances = true;
        self
    }

    /// Runs on `count` threads, which are started for this search; 0 means one per core. To reuse threads, pass an
    /// [`executor`](NeighborSearch::executor).
    #[cfg(feature = "parallel")]
    pub fn workers(self, count: usize) -> Result<Self, Error> {
        Ok(if count == 1 { self.executor(Sequential) } else { self.executor(crate::par::Threads::new(count)?) })
    }

    /// Runs on these threads. The result does not depend on them.
    pub fn executor(mut self, executor: impl Executor + 'static) -> Self {
        self.executor = Shared(Some(Arc::new(executor)));
        self
    }

    /// Returns [`Error::Cancelled`] soon after the flag is set.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = Some(cancel.clone());
        self
    }

    /// Finds the neighbors of all points.
    ///
    /// # Errors
    /// As for [`neighbors`]; also [`Error::InvalidValue`] for a period that is not positive and finite or a radius of more than half of it,
    /// [`Error::InvalidPoint`] for an infinite coordinate on a periodic axis, and [`Error::Cancelled`].
    pub fn list(&self) -> Result<Neighbors<T>, Error> {
        self.with_cells(self.half, |task, grid, context, cancel| match grid {
            Some(grid) if task.set.is_narrow(grid) => rows::list(task, grid, context, cancel),
            Some(grid) if task.half => Ok(from_pairs::rows_of(task, &half_of(task, grid, context, cancel)?)),
            // With few neighbors, comparing two points once costs less than writing rows one after the other saves.
            Some(grid) if grid.is_sparse() => from_pairs::rows_of_lists(task, grid, context, cancel),
            Some(grid) => rows::list(task, grid, context, cancel),
            None => Ok(from_pairs::rows_of(task, &from_pairs::far_pairs(task, self.executor.clone(), cancel)?)),
        })
    }

    /// Finds all pairs of neighbors as a sorted list, each once, whether or not [`half`](NeighborSearch::half) is set. Distances are not listed.
    ///
    /// ```
    /// use broadphase::{NeighborSearch, Pair};
    /// let points = [[0.0, 0.0], [0.5, 0.0], [0.9, 0.0]];
    /// assert_eq!(NeighborSearch::new(&points, 0.6).pairs()?, [Pair { a: 0, b: 1 }, Pair { a: 1, b: 2 }]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`list`](NeighborSearch::list).
    pub fn pairs(&self) -> Result<Vec<Pair>, Error> {
        self.with_cells(true, |task, grid, context, cancel| match grid {
            Some(grid) if task.set.is_narrow(grid) => Ok(rows::list(task, grid, context, cancel)?.pairs()),
            Some(grid) => half_of(task, grid, context, cancel),
            None => from_pairs::far_pairs(task, self.executor.clone(), cancel),
        })
    }

    /// Checks and wraps the points, and sorts them into cells; without cells if those do not work.
    fn with_cells<R>(
        &self,
        half: bool,
        find: impl FnOnce(&Task<'_, D, T>, Option<&Grid>, &Context, &Cancel) -> Result<R, Error>,
    ) -> Result<R, Error> {
        self.check()?;
        let wrapped: Vec<[T; D]>;
        let points = match &self.period {
            Some(period) => {
                wrapped = self.points.iter().map(|&point| period.wrap(point)).collect();
                &wrapped[..]
            }
            None => self.points,
        };
        let cancel = self.cancel.clone().unwrap_or_default();
        cancel.check()?;
        let context = Context::new().with_executor(self.executor.clone());
        let set = Points { points, radius: self.radius, period: self.period };
        let task = Task { set, half, distances: self.distances };
        let grid = Some(Grid::new(&set, &context)).filter(|grid| !(grid.is_crowded() && from_pairs::suits(&task)));
        find(&task, grid.as_ref(), &context, &cancel)
    }

    fn check(&self) -> Result<(), Error> {
        let Self { points, radius, period, .. } = self;
        if D == 0 || points.len() > MAX_OBJECTS {
            return Err(Error::TooManyObjects { count: points.len(), limit: if D == 0 { 0 } else { MAX_OBJECTS } });
        }
        let invalid = |expected| Error::InvalidValue { argument: "radius", axis: None, value: radius.to_f64(), expected };
        if !(*radius >= T::ZERO && (*radius * *radius).is_finite()) {
            return Err(invalid("a number from 0 on, with a finite square"));
        }
        if let Some(period) = period {
            period.check()?;
            if (0..D).any(|k| period.length(k).is_some_and(|length| *radius > length * T::HALF)) {
                return Err(invalid("at most half of each period"));
            }
        }
        let periodic: [bool; D] = std::array::from_fn(|k| period.is_some_and(|period| period.length(k).is_some()));
        let bad = |x: T, k: usize| x.is_nan() | (periodic[k] & !x.is_finite());
        if points.iter().any(|point| (0..D).fold(false, |any, k| any | bad(point[k], k))) {
            let all = points.iter().enumerate().flat_map(|(index, point)| (0..D).map(move |axis| (index, axis, point[axis])));
            if let Some((index, axis, value)) = all.into_iter().find(|&(_, axis, value)| bad(value, axis)) {
                return Err(Error::InvalidPoint { index, axis, value: value.to_f64() });
            }
        }
        Ok(())
    }
}

/// Each pair once, sorted.
fn half_of<const D: usize, T: Real>(
    task: &Task<'_, D, T>,
    grid: &Grid,
    context: &Context,
    cancel: &Cancel,
) -> Result<Vec<Pair>, Error> {
    let (is_near, is_stopped) = (|pair| task.is_near(pair), || cancel.is_cancelled());
    let pairs = sorted_pairs(&task.set, grid, &task.wanted(&is_near, &is_stopped), context)?;
    cancel.check()?;
    Ok(pairs)
}

/// The search.
struct Task<'a, const D: usize, T> {
    /// The points: checked, and wrapped if the space is periodic.
    set: Points<'a, D, T>,
    half: bool,
    distances: bool,
}

impl<const D: usize, T: Real> Task<'_, D, T> {
    /// All pairs within the radius, each once. `is_near` is [`Task::is_near`]: it decides where rounding matters.
    fn wanted<'a>(&self, is_near: &'a (dyn Fn(Pair) -> bool + Sync), is_stopped: &'a (dyn Fn() -> bool + Sync)) -> Wanted<'a, T> {
        let reach = self.set.radius * self.set.radius;
        Wanted { reach: Reach { sure: reach, most: reach }, confirm: is_near, is_stopped, limit: u64::MAX }
    }

    /// Is a pair within the radius?
    fn is_near(&self, pair: Pair) -> bool {
        self.squared_distance(pair.a, pair.b) <= self.set.radius * self.set.radius
    }

    /// The squared distance of two points: the definition.
    #[inline(always)]
    fn squared_distance(&self, a: u32, b: u32) -> T {
        let (a, b) = (&self.set.points[a as usize], &self.set.points[b as usize]);
        let mut sum = T::ZERO;
        for k in 0..D {
            let d = match &self.set.period {
                Some(period) => period.separation(k, a[k], b[k]),
                None => a[k] - b[k],
            };
            sum = if k == 0 { d * d } else { sum + d * d };
        }
        sum
    }
}
