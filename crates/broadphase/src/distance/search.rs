//! Distances with options.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::nearest::{Index, closest, rows};
use super::proximity::check_all;
use super::within::{check_distance, grow, measure};
use super::{Near, Proximity};
use crate::arrays::{Search, Shared};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::neighbors::Neighbors;
use crate::par::{Executor, Sequential};

/// Distances of the objects of one list, or of two, on threads of your choice: what [`pairs_within`](crate::pairs_within),
/// [`nearest`](crate::nearest) and [`closest_pair`](crate::closest_pair) and their forms for two lists do on one thread. Results do not depend on
/// the threads.
///
/// ```
/// use broadphase::{DistanceSearch, Near, Sequential};
/// let (towns, wells) = ([[0.0, 0.0], [9.0, 0.0]], [[3.0, 4.0], [9.0, 1.0]]);
/// let search = DistanceSearch::between(&towns, &wells).executor(Sequential); // or `.workers(0)?`: one thread per core
/// assert_eq!(search.closest_pair()?, Some(Near { a: 1, b: 1, distance: 1.0 }));
/// assert_eq!(search.nearest(1)?.indices, [0, 1]);
/// # Ok::<(), broadphase::Error>(())
/// ```
#[derive(Clone)]
pub struct DistanceSearch<'a, const D: usize, T: Real, P: Proximity<D, T>> {
    a: &'a [P],
    /// The second list, if there are two.
    b: Option<&'a [P]>,
    executor: Shared,
    scalar: PhantomData<[T; D]>,
}

impl<const D: usize, T: Real, P: Proximity<D, T>> fmt::Debug for DistanceSearch<'_, D, T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DistanceSearch")
            .field("objects", &self.a.len())
            .field("others", &self.b.map(<[P]>::len))
            .field("workers", &self.executor.width())
            .finish_non_exhaustive()
    }
}

impl<'a, const D: usize, T: Real, P: Proximity<D, T>> DistanceSearch<'a, D, T, P> {
    /// Distances of the objects of one list.
    pub fn new(objects: &'a [P]) -> Self {
        Self { a: objects, b: None, executor: Shared::default(), scalar: PhantomData }
    }

    /// Distances of an object of `a` and one of `b`.
    pub fn between(a: &'a [P], b: &'a [P]) -> Self {
        Self { b: Some(b), ..Self::new(a) }
    }

    /// Runs on `count` threads, which are started for this search; 0 means one per core. To reuse threads, pass an
    /// [`executor`](DistanceSearch::executor).
    #[cfg(feature = "parallel")]
    pub fn workers(self, count: usize) -> Result<Self, Error> {
        Ok(if count == 1 { self.executor(Sequential) } else { self.executor(crate::par::Threads::new(count)?) })
    }

    /// Runs on these threads.
    pub fn executor(mut self, executor: impl Executor + 'static) -> Self {
        self.executor = Shared(Some(Arc::new(executor)));
        self
    }

    /// All pairs within `distance`: see [`pairs_within`](crate::pairs_within).
    ///
    /// # Errors
    /// As for [`pairs_within`](crate::pairs_within).
    pub fn within(&self, distance: T) -> Result<Vec<Near<T>>, Error> {
        check_distance(distance)?;
        self.check()?;
        let others = self.b.unwrap_or(self.a);
        let grown = grow(self.a, distance)?;
        let search = match self.b {
            Some(b) => Search::between(grown, grow(b, distance)?),
            None => Search::new(grown),
        };
        let candidates = search.executor(self.executor.clone()).list()?;
        measure(&candidates, |pair| self.a[pair.a as usize].within(&others[pair.b as usize], distance))
    }

    /// The `k` nearest of every object: see [`nearest`](crate::nearest) and [`nearest_between`](crate::nearest_between).
    ///
    /// # Errors
    /// As for [`nearest`](crate::nearest).
    pub fn nearest(&self, k: usize) -> Result<Neighbors<T>, Error> {
        self.check()?;
        let mut context = self.context();
        match self.b {
            Some(b) => rows(self.a, &Index::new(b, &mut context)?, k.min(b.len()), false, &context),
            None => rows(self.a, &Index::new(self.a, &mut context)?, k.min(self.a.len().saturating_sub(1)), true, &context),
        }
    }

    /// The pair with the smallest distance: see [`closest_pair`](crate::closest_pair).
    ///
    /// # Errors
    /// As for [`nearest`](crate::nearest).
    pub fn closest_pair(&self) -> Result<Option<Near<T>>, Error> {
        self.check()?;
        let mut context = self.context();
        let index = Index::new(self.b.unwrap_or(self.a), &mut context)?;
        Ok(closest(self.a, &index, self.b.is_none(), &context))
    }

    fn context(&self) -> Context {
        Context::new().with_executor(self.executor.clone())
    }

    fn check(&self) -> Result<(), Error> {
        let Some(b) = self.b else { return check_all(self.a) };
        check_all(self.a).map_err(|error| error.in_argument("a"))?;
        check_all(b).map_err(|error| error.in_argument("b"))
    }
}
