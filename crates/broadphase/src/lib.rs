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
//! **Who may meet whom?** Layers, masks, groups and environments: [`Tag`]. Kinds and sensors: [`Pairing`]. Balls instead of boxes: [`Shape`]. For all
//! else a closure: [`World::set_pair_filter`]. All of it happens before pairs are reported.
//!
//! **What about fast objects?** A box that jumps over another in one step does not touch it. With [`ContinuousDetection::Swept`] every two objects
//! that touch at some time of the frame are a pair, and the event has the time; or ask where a motion first hits: [`Reader::first_along_swept`],
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
//! # Need, call, cost
//! | need | call | cost |
//! | --- | --- | --- |
//! | pairs of an array, once | [`pairs()`], [`pairs_between`] | about linear in boxes and pairs |
//! | insert, remove, move one | [`World::insert`], [`World::remove`], [`World::set_box`] | O(1), and the next update |
//! | move all, or some | [`World::set_boxes`], [`World::set_boxes_of`] | a pass over the boxes given |
//! | all pairs | [`World::update`], then [`World::pairs`] | what changed; a pass over the pairs |
//! | what started and ended, with users, value, time | [`Update::started`], [`Update::ended`] | what changed |
//! | data per pair (manifolds) | [`World::set_pair_value`], [`PairEvent::value`] | a hash table of such pairs |
//! | the pairs of one object | [`World::pairs_of`] | first call in a frame: a pass over all pairs |
//! | fast objects | [`World::set_continuous_detection`], [`Object::moved_from`] | a pass over the movers, larger boxes |
//! | a jump without a way | [`World::teleport`], [`World::teleport_many`], [`World::shift_origin`] | as a move; all objects |
//! | layers, groups, parts of one body | [`Tag`] | a test per pair, nothing without tags |
//! | triggers, platforms, characters | [`Object::as_sensor`], [`World::set_pairing`] | a test per pair, nothing without them |
//! | sleeping | none: do not move it | nothing while most movers rest |
//! | a rule of your own | [`World::set_pair_filter`], [`World::update_with`], [`World::refilter`] | a call per fresh pair |
//! | ray, shape cast, overlap, nearest | [`World::read`], [`World::try_read`], [`Reader`] | O(log n) and the answers |
//! | many queries | [`Answers`], `Reader::in_boxes` and its like | the same, on all threads |
//! | pairs of two worlds | [`World::pairs_with`] | a probe per object of the smaller one |
//! | many simulations | [`Tag::with_env`] | as if they were far apart |
//! | store and go on | `World::snapshot`, `World::restore` (feature `serde`) | a copy; the next frame starts from scratch |
//!
//! # Coming from another engine
//! | Bullet | PhysX | Jolt | Box2D | rapier | here |
//! | --- | --- | --- | --- | --- | --- |
//! | `btBroadphaseProxy` | actor, bounds | `BodyID` | proxy id, shape id | `ColliderHandle` | [`Handle`] |
//! | `setAabb` | `updateObjects` | `NotifyBodiesAABBChanged` | `b2DynamicTree_MoveProxy` | `set_position` | [`World::set_box`] |
//! | `btOverlappingPairCache` | created and lost pairs | `FindCollidingPairs` | `b2UpdateBroadPhasePairs` | `BroadPhasePairEvent` | [`World::pairs`], [`Update`] |
//! | `btBroadphasePair` user data | pair user data | contact cache | contact | contact pair | [`World::set_pair_value`] |
//! | filter group and mask | filter data, groups | object layers | category and mask bits, group index | `InteractionGroups` | [`Tag`] |
//! | `btOverlapFilterCallback` | filter shader | `ObjectLayerPairFilter` | custom filter | `PhysicsHooks` | [`World::set_pair_filter`] |
//! | ghost object | trigger flag | sensor body | sensor shape | sensor collider | [`Object::as_sensor`] |
//! | kinematic, static flags | kinematic-kinematic, kinematic-static pairs | motion type | body type | `ActiveCollisionTypes` | [`ObjectKind`], [`Pairing`] |
//! | CCD swept sphere | CCD flag | `LinearCast` quality | bullet flag | CCD flag | [`ContinuousDetection`] |
//! | `rayTest`, `convexSweepTest` | `raycast`, `sweep`, `overlap` | `CastRay`, `CastShape` | `b2World_CastRay`, `b2World_CastShape` | `QueryPipeline` | [`Reader`] |
//! | | `shiftOrigin` | | | | [`World::shift_origin`] |
//!
//! # What is promised
//! The pairs are those of a double loop with [`Aabb::overlaps`], each once, as `a < b`. The set is the same for every algorithm, the list
//! for every number of threads and every instruction set. A bad frame is an [`Error`] that names the object, and leaves the structure as it
//! was. Infinite sides are legal. [`BroadPhase::validate`] checks all invariants.
//!
//! # Modules
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
mod pair;
#[doc(hidden)] // for the crates of this project
pub mod spec_text;

#[doc(inline)]
pub use algorithms::{BroadPhase, Descriptor, Found, Kind, Outline, Probes, Query, Spec, Stats, Strength, Violation};
#[doc(inline)]
pub use arrays::{Between, Cancel, Chunks, Period, Search, pairs, pairs_between};
#[doc(inline)]
pub use context::Context;
#[doc(inline)]
pub use distance::{
    Near, Proximity, closest_pair, closest_pair_between, nearest, nearest_between, pairs_within, pairs_within_between,
};
#[doc(inline)]
pub use error::{BoxFault, Error};
#[doc(inline)]
pub use geometry::{Aabb, Ball, HalfSpace, Ray, Real, Swept, SweptBall};
#[doc(inline)]
pub use kernels::{Isa, Kernels, PairSink};
#[doc(inline)]
pub use neighbors::{NeighborSearch, Neighbors, neighbors};
#[doc(inline)]
pub use objects::{Changes, Filter, Frame, Handle, Live, MAX_OBJECTS, Object, ObjectKind, Pairing, Shape, Tag};
#[doc(inline)]
pub use pairs::{Pair, PairStore, Report, Retain, Revision, pairs_hash};
#[doc(inline)]
#[cfg(feature = "parallel")]
pub use par::Threads;
#[doc(inline)]
pub use par::{CORES, Executor, Regions, Sequential};
#[doc(inline)]
pub use step::step;
#[doc(inline)]
#[cfg(feature = "serde")]
pub use world::Snapshot;
#[doc(inline)]
pub use world::{
    Answers, ContinuousDetection, Line, MotionStats, PairCandidate, PairEvent, PairEventIter, PairEvents, Pairs, Reader, Update,
    World, World2, World2f64, World3, World3f64, WorldStats,
};

/// The README's examples, compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct ReadmeExamples;
