//! Boxes in arrays: all pairs in one call.
//!
//! [`pairs`] and [`pairs_between`] are [`Search`] with its defaults.

mod balls;
mod between;
mod cancel;
mod chunks;
mod last_lists;
mod prepare;
mod rules;
mod run;
mod search;

pub use between::Between;
pub use cancel::Cancel;
pub use chunks::Chunks;
pub use search::Search;

pub(crate) use cancel::Shared;

use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::pairs::Pair;

/// All overlapping pairs of `boxes`, as indices, sorted. With options: [`Search`].
///
/// ```
/// use broadphase::{Aabb, Pair, pairs};
/// let boxes = [Aabb::new([0.0, 0.0], [1.0, 1.0]), Aabb::new([5.0, 5.0], [6.0, 6.0]), Aabb::new([1.0, 1.0], [2.0, 2.0])];
/// assert_eq!(pairs(&boxes)?, [Pair { a: 0, b: 2 }]);
/// # Ok::<(), broadphase::Error>(())
/// ```
///
/// # Errors
/// [`Error::InvalidBox`] for a box with a NaN corner or `min` above `max`; [`Error::TooManyObjects`], [`Error::TooManyPairs`] and
/// [`Error::OutOfMemory`] beyond the limits of ids and memory.
pub fn pairs<const D: usize, T: Real>(boxes: &[Aabb<D, T>]) -> Result<Vec<Pair>, Error> {
    Search::new(boxes).list()
}

/// All overlapping pairs of a box of `a` and a box of `b`: `pair.a` is an index in `a`, `pair.b` one in `b`; sorted. With options:
/// [`Search::between`]; for lists that move from frame to frame: [`Between`].
///
/// ```
/// use broadphase::{Aabb, Pair, pairs_between};
/// let players = [Aabb::new([0.0, 0.0], [1.0, 1.0]), Aabb::new([4.0, 0.0], [5.0, 1.0])];
/// let coins = [Aabb::point([4.5, 0.5])];
/// assert_eq!(pairs_between(&players, &coins)?, [Pair { a: 1, b: 0 }]);
/// # Ok::<(), broadphase::Error>(())
/// ```
///
/// # Errors
/// As for [`pairs`], in an [`Error::Argument`] that names the list.
pub fn pairs_between<const D: usize, T: Real>(a: &[Aabb<D, T>], b: &[Aabb<D, T>]) -> Result<Vec<Pair>, Error> {
    Search::between(a, b).list()
}
