//! One call for boxes in an array.

use crate::algorithms::{Probes, Spec};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore};
use crate::step::step;

/// All overlapping pairs of `boxes`, as indices, sorted.
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
    let mut out = PairStore::default();
    step(&mut *Spec::default().build()?, &Frame::new(boxes), &mut Context::new(), &mut out)?;
    Ok(out.sorted())
}

/// All overlapping pairs of a box of `a` and a box of `b`: `pair.a` is an index in `a`, `pair.b` one in `b`; sorted.
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
/// As for [`pairs`].
pub fn pairs_between<const D: usize, T: Real>(a: &[Aabb<D, T>], b: &[Aabb<D, T>]) -> Result<Vec<Pair>, Error> {
    let (mut context, mut out) = (Context::new(), PairStore::default());
    let mut structure = Spec::default().build()?;
    let frame = Frame::new(b);
    Frame::new(a).check()?;
    structure.update(&frame, &mut context)?;
    structure.probe(&frame, Probes { boxes: a, ids: None }, &mut context, &mut out)?;
    Ok(out.sorted())
}
