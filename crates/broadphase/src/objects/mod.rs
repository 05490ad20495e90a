//! Boxes in: frames, what changed, tags.

mod frame;
mod tag;
pub(crate) mod unbounded;

pub use frame::{Changes, Filter, Frame, Live, MAX_OBJECTS, Shape};
pub use tag::Tag;
