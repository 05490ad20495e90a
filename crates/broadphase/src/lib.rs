//! Finds all overlapping pairs among many moving boxes, every frame: the broad phase of collision detection.

mod error;
pub mod geometry;
mod kernels;
mod pairs;

pub use error::{BoxFault, Error};
pub use geometry::{Aabb, Ball, Ray, Real, Swept};
pub use kernels::{Isa, Kernels};
pub use pairs::{Pair, pairs_hash};
