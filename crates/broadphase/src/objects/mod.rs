//! Boxes in: frames, what changed, tags, and the object table of a world.

#[cfg(feature = "serde")]
pub(crate) mod exact;
mod bulk;
pub(crate) mod changes;
mod check;
mod column;
mod frame;
mod handle;
mod intervals;
mod object;
mod retain;
mod shape;
pub(crate) mod side;
mod slots;
pub(crate) mod table;
mod tag;
mod touched;
pub(crate) mod unbounded;

pub use frame::{Changes, Filter, Frame, Live, MAX_OBJECTS, Shape};
pub use handle::Handle;
pub use intervals::UpdateIntervals;
pub use object::{Object, ObjectKind, Pairing};
pub use retain::Retain;
pub use tag::Tag;
