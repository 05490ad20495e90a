//! One frame from boxes to pairs: the table of contents.

use crate::algorithms::BroadPhase;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Frame;
use crate::pairs::PairStore;

/// One frame: boxes in, pairs out.
///
/// 1. `update`: the structure takes in the frame: all boxes, or the listed changes.
/// 2. `pairs`: it joins what may overlap, chunk by chunk; a kernel makes the exact tests, many at once; the frame's tags, shape
///    and filter have their say before a pair enters the store; and the store knows what started and what ended.
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
/// Of a frame: [`Error::InvalidBox`], [`Error::InvalidFrame`] for lists and tags that do not fit, [`Error::TooManyObjects`]. Of the algorithm:
/// [`Error::Unsuited`]. Of what is found: [`Error::TooManyPairs`] and [`Error::OutOfMemory`]. After each of them, the next frame is right again.
pub fn step<const D: usize, T: Real>(
    structure: &mut dyn BroadPhase<D, T>,
    frame: &Frame<'_, D, T>,
    context: &mut Context,
    out: &mut PairStore,
) -> Result<(), Error> {
    structure.update(frame, context)?;
    structure.pairs(frame, context, out)
}
