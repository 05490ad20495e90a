//! One frame from boxes to pairs: the table of contents.

use crate::algorithms::BroadPhase;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Frame;
use crate::pairs::PairStore;

/// One frame: boxes in, pairs out.
///
/// 1. `update`: the structure is updated with the frame: with all boxes, or with the listed changes.
/// 2. `pairs`: the structure finds candidates, chunk by chunk, and a kernel tests many of them at once. The frame's tags, shape and filter are
///    applied before a pair enters the store. At the end, the store finds which pairs started and ended.
///
/// ```
/// use broadphase::{Aabb, Context, Frame, PairStore, Spec, step};
/// let boxes = [Aabb::new([0.0, 0.0], [2.0, 2.0]), Aabb::new([1.0, 1.0], [3.0, 3.0]), Aabb::new([9.0, 9.0], [9.5, 9.5])];
/// let mut structure = "auto".parse::<Spec>()?.build()?;
/// let (mut context, mut pairs) = (Context::new(), PairStore::default());
/// step(&mut *structure, &Frame::new(&boxes), &mut context, &mut pairs)?;
/// assert_eq!(pairs.len(), 1);
/// # Ok::<(), broadphase::Error>(())
/// ```
///
/// # Errors
/// For the frame: [`Error::InvalidBox`], [`Error::InvalidFrame`] if lists or tags do not fit it, and [`Error::TooManyObjects`]. For the algorithm:
/// [`Error::Unsuited`]. For the result: [`Error::TooManyPairs`] and [`Error::OutOfMemory`]. After any of them, the next frame is correct again.
pub fn step<const D: usize, T: Real>(
    structure: &mut dyn BroadPhase<D, T>,
    frame: &Frame<'_, D, T>,
    context: &mut Context,
    out: &mut PairStore,
) -> Result<(), Error> {
    structure.update(frame, context)?;
    structure.pairs(frame, context, out)
}
