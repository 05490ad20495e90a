//! Finds all overlapping pairs among many moving boxes, every frame: the broad phase of collision detection.
//!
//! The modules stand in the order in which data meets them.

pub mod geometry;
pub mod objects;
mod step;
pub mod auto;
pub mod algorithms;
mod kernels;
mod pairs;
mod oneshot;
mod world;
// What everyone uses.
mod context;
mod par;
mod error;

pub use algorithms::{BroadPhase, Descriptor, Kind, Probes, Query, Spec, Stats, Strength, Violation};
pub use context::Context;
pub use error::{BoxFault, Error};
pub use geometry::{Aabb, Ball, Ray, Real, Swept};
pub use kernels::{Hits, Isa, Kernels};
pub use objects::{Changes, Filter, Frame, Handle, Live, MAX_OBJECTS, Object, ObjectKind, Shape, Tag};
pub use oneshot::{pairs, pairs_between};
pub use pairs::{Lineage, Pair, PairStore, Retain, Want, pairs_hash};
#[cfg(feature = "parallel")]
pub use par::Threads;
pub use par::{Executor, Sequential};
pub use step::step;
pub use world::{Pairs, Reader, Update, World, World2, World2d, World3, World3d, WorldStats};
