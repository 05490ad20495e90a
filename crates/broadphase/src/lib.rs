//! Finds all overlapping pairs among many moving boxes, every frame: the broad phase of collision detection.
//!
//! # A tour, by a newcomer's questions
//!
//! **I have boxes in an array.** One call: [`pairs()`]; two arrays: [`pairs_between`]; with options, in pieces, in a periodic space: [`Search`];
//! two arrays that move: [`Between`]. Pairs within a distance: [`pairs_within`]; the nearest of each: [`nearest`]. Points: [`neighbors`]. Meshes: [`mesh`].
//!
//! ```
//! use broadphase::{Aabb, Pair, pairs};
//! let boxes = [Aabb::new([0.0, 0.0], [2.0, 2.0]), Aabb::new([1.0, 1.0], [3.0, 3.0]), Aabb::new([5.0, 5.0], [6.0, 6.0])];
//! assert_eq!(pairs(&boxes)?, [Pair { a: 0, b: 1 }]);
//! # Ok::<(), broadphase::Error>(())
//! ```
//!
//! **My objects move.** A [`World`] owns their boxes and gives out [`Handle`]s. [`World::update`], once a frame, finds all pairs, and which
//! started and ended. Move one with [`World::set_box`], all with [`World::set_boxes`]. Objects that never move are [`ObjectKind::Static`]:
//! they cost nothing until something comes near.
//!
//! **Which algorithm?** None: the default, `auto`, chooses, and says what and why ([`World::stats`]). To try another, hand a [`Spec`] such as
//! `"kd-tree:t=256"` to [`World::set_algorithm`]; [`algorithms::list`] has all of them, with their papers and options. The pairs are the
//! same with each.
//!
//! **How do I remove things?** [`World::remove`]: the pairs end with the next update, under the handle that was valid. A handle that is used
//! later is [`Error::StaleHandle`], never another object. Insert and remove many at once with [`World::insert_many`] and
//! [`World::remove_many`].
//!
//! **Who may meet whom?** Layers, masks, groups and environments: [`Tag`]. Balls instead of boxes: [`Shape`]. For all else a closure:
//! [`World::set_filter`]. All of it happens before pairs are reported.
//!
//! **What about fast objects?** A box that jumps over another in one step does not touch it. [`World::set_continuous_detection`] looks at fast objects
//! more often, or at the boxes around their ways ([`ContinuousDetection`]); or ask where a motion first hits: [`Reader::first_along_swept`],
//! [`Reader::first_along_swept_ball`].
//!
//! **What else can I ask?** [`World::read`] gives a [`Reader`]: boxes, balls, rays, motions, a camera's frustum, the nearest; many at once with
//! [`Answers`]. Pairs of two worlds: [`World::pairs_with`].
//!
//! **Threads?** One, unless you hand over more: `world.set_context(Context::new().with_executor(Threads::new(0)?))`. Your own pool is an
//! [`Executor`]. A [`Reader`] is `Copy` and `Sync`.
//!
//! **Is it deterministic?** Yes. The set of pairs is the same for every algorithm, the list for every number of threads and every
//! instruction set. After a snapshot (`World::snapshot`, feature `serde`) a restored world goes on with the identical lists.
//!
//! **Thousands of simulations at once?** One world, an environment each ([`Tag::with_env`]): objects of different environments never meet,
//! and cost what they would cost far apart.
//!
//! **What does it cost?** About linear in objects and pairs; the types say it, each with its bad case: [`World`], [`Reader`],
//! [`Tiles`](algorithms::tiles). What did not change is not looked at again. No allocation once buffers have met the largest frame. Measure with
//! [`Context::stages`], [`WorldStats`], or the tool `broadphase bench`; look at it with [`World::debug_lines`].
//!
//! **I keep my own arrays.** Build a structure from a [`Spec`], and call [`step()`] with a [`Frame`], a [`Context`] and a [`PairStore`], which
//! lists pairs and differences as its [`Report`] says. [`Changes`] tells what moved: listing it makes a frame cost what changed; not knowing it
//! is fine too. [`BroadPhase::probe`] pairs boxes with a structure's objects, [`Query`] asks it anything.
//!
//! # What is promised
//! The pairs are those of a double loop with [`Aabb::overlaps`], each once, as `a < b`. The set is the same for every algorithm, the list
//! for every number of threads and every instruction set. A bad frame is an [`Error`] that names the object, and leaves the structure as it
//! was. Infinite sides are legal. [`BroadPhase::validate`] checks all invariants.
//!
//! # The rooms
//! The modules stand in the order in which data meets them: boxes in ([`geometry`], [`objects`]), the structure ([`algorithms`], of which
//! [`auto`] chooses one), the joins (`kernels`), pairs out (`pairs`). One frame from end to end is [`step()`].

#![deny(missing_debug_implementations)]
// Small helpers of the papers' algorithms stay compiled without them: a `cfg` on each would hide the code.
#![cfg_attr(not(feature = "papers"), allow(dead_code, unused_imports))]

pub mod geometry;
pub mod objects;
mod step;
pub mod auto;
pub mod algorithms;
mod kernels;
mod bits;
mod pairs;
mod arrays;
mod neighbors;
mod distance;
pub mod mesh;
mod world;
// What everyone uses.
mod context;
mod par;
mod spare;
mod error;
#[doc(hidden)] // for the crates of this project
pub mod spec_text;

pub use algorithms::{BroadPhase, Descriptor, Found, Kind, Outline, Probes, Query, Spec, Stats, Strength, Violation};
pub use arrays::{Between, Cancel, Chunks, Period, Search, pairs, pairs_between};
pub use context::Context;
pub use distance::{
    Near, Proximity, closest_pair, closest_pair_between, nearest, nearest_between, pairs_within, pairs_within_between,
};
pub use error::{BoxFault, Error};
pub use geometry::{Aabb, Ball, HalfSpace, Ray, Real, Swept, SweptBall};
pub use kernels::{Isa, Kernels, PairSink};
pub use neighbors::{NeighborSearch, Neighbors, neighbors};
pub use objects::{Changes, Filter, Frame, Handle, Live, MAX_OBJECTS, Object, ObjectKind, Pairing, Shape, Tag};
pub use pairs::{Pair, PairStore, Report, Retain, Revision, pairs_hash};
#[cfg(feature = "parallel")]
pub use par::Threads;
pub use par::{Executor, Sequential};
pub use step::step;
#[cfg(feature = "serde")]
pub use world::Snapshot;
pub use world::{
    Answers, ContinuousDetection, Line, MotionStats, PairCandidate, PairEvent, PairEventIter, PairEvents, Pairs, Reader, Update,
    World, World2, World2f64, World3, World3f64, WorldStats,
};

/// The README's examples, compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct ReadmeExamples;
