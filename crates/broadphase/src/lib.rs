//! Finds all overlapping pairs among many moving boxes, every frame: the broad phase of collision detection.
//!
//! # A tour
//! - Boxes in an array, one call: [`pairs()`], [`pairs_between`].
//! - Objects that come, move and go: a [`World`] owns their boxes, gives out [`Handle`]s, and says each time what started and what ended.
//! - One structure over many frames: parse a [`Spec`] (`"tiles"`, `"brute-force:isa=sse2"`), build it, and call [`step()`] with a [`Frame`], a
//!   [`Context`] and a [`PairStore`]. The store lists pairs, and what started and ended, as its [`Want`] says.
//! - What changed since the last frame: [`Changes`]. Listing it makes a frame cost what changed; not knowing it is fine too.
//! - Who may pair with whom: [`Tag`], [`Shape`], or a closure ([`Frame::filter`]).
//! - Boxes against the objects of a structure: [`BroadPhase::probe`]; boxes, rays, balls and swept boxes as questions: [`Query`].
//! - Threads: [`Executor`]; instruction sets: [`Kernels`]. Neither changes a result.
//! - All algorithms, with their papers and options: [`algorithms::list`].
//!
//! # What is promised
//! The pairs are those of a double loop with [`Aabb::overlaps`], each once, as `a < b`. The set is the same for every algorithm, the list
//! for every number of threads and every instruction set. A bad frame is an [`Error`] that names the object, and leaves the structure as it
//! was. Infinite sides are legal. [`BroadPhase::validate`] checks all invariants.
//!
//! # The rooms
//! The modules stand in the order in which data meets them: boxes in ([`geometry`], [`objects`]), the structure ([`algorithms`], of which
//! [`auto`] chooses one), the joins (`kernels`), pairs out (`pairs`). One frame from end to end is [`step()`].

pub mod geometry;
pub mod objects;
mod step;
pub mod auto;
pub mod algorithms;
mod kernels;
mod bits;
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
pub use world::{MotionStats, Pairs, Reader, Remedy, Update, World, World2, World2d, World3, World3d, WorldStats};

/// The README's examples, compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct ReadmeExamples;
