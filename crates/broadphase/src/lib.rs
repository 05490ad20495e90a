//! Finds all overlapping pairs among many moving boxes, every frame: the broad phase of collision detection.
//!
//! # A tour by questions
//!
//! **I have boxes in an array.** Call [`pairs()`]. For two arrays, call [`pairs_between`]. [`Search`] has the options: threads, margins, filters, a space
//! that repeats, results in pieces. [`Between`] follows two arrays that move. [`pairs_within`] finds pairs within a distance, [`nearest`] the nearest
//! objects of each, [`neighbors`] the neighbors of points, and [`mesh`] the collision candidates of meshes.
//!
//! ```
//! use broadphase::{Aabb, Pair, pairs};
//! let boxes = [Aabb::new([0.0, 0.0], [2.0, 2.0]), Aabb::new([1.0, 1.0], [3.0, 3.0]), Aabb::new([5.0, 5.0], [6.0, 6.0])];
//! assert_eq!(pairs(&boxes)?, [Pair { a: 0, b: 1 }]);
//! # Ok::<(), broadphase::Error>(())
//! ```
//!
//! **My objects move.** Put them into a [`World`]. It owns their boxes and gives you a [`Handle`] for each. Once a frame, [`World::update`] finds all pairs,
//! and which of them started and ended. Move one object with [`World::set_box`], several with [`World::set_boxes_of`]. Make objects that never move
//! [`ObjectKind::Static`]: they cost nothing as long as nothing moves near them.
//!
//! **Which algorithm should I use?** The default, `auto`, chooses for you; [`World::stats`] says what it chose and why. To try another one, pass a
//! [`Spec`] to [`World::set_algorithm`]: a text such as `"tiles:target=500"`, or typed options such as [`tiles::Options`](algorithms::tiles::Options).
//! [`algorithms::list`] has all of them, with their papers and options. Each gives the same pairs.
//!
//! **How do I remove objects?** Call [`World::remove`]. Their pairs end with the next update, and the events carry the handles that were valid. Using
//! such a handle later is [`Error::StaleHandle`]; it never names another object. [`World::insert_many`] and [`World::remove_many`] work on lists.
//!
//! **How do I say which objects may pair?** With layers, masks, groups and environments ([`Tag`]), with kinds and sensors ([`Pairing`]), with balls instead of
//! boxes ([`Shape`]), and with a closure for everything else ([`World::set_pair_filter`]). Filters run before pairs are reported.
//!
//! **What about fast objects?** A box that jumps over another one in a single step never touches it. With [`ContinuousDetection::Swept`], any two objects
//! that touch at some time during the frame are a pair, and the event has the time. Or ask where a motion first hits something:
//! [`Reader::first_along_swept`], [`Reader::first_along_swept_ball`].
//!
//! **What else can I ask?** [`World::read`] gives you a [`Reader`], which answers questions about boxes, balls, rays, moving boxes and balls, camera frusta and
//! nearest objects. [`Answers`] takes many questions at once. [`World::pairs_with`] finds the pairs of two worlds.
//!
//! **Does it use threads?** One, unless you provide more: `world.set_context(Context::new().with_executor(Threads::new(0)?))`. To use your own pool,
//! implement [`Executor`]. A [`Reader`] is `Copy` and `Sync`, so any number of threads can query at once.
//!
//! **Is it deterministic?** Yes. Every algorithm finds the same set of pairs, and the list of pairs is the same for any number of threads and any
//! instruction set. A world restored from a snapshot (`World::snapshot`, feature `serde`) continues with identical lists.
//!
//! **Can space repeat?** Yes, along any axes: [`World::set_period`], [`Search::periodic`], [`NeighborSearch::periodic`], and [`Periodic`] around a structure.
//! [`Period::wrap`] wraps a point, and [`Period::displacement`] is the vector to the nearest image of another one.
//!
//! **Can I run thousands of simulations at once?** Put them into one world and give each an environment ([`Tag::with_env`]). Objects of different
//! environments never meet, and cost what they would cost far apart.
//!
//! **What does it cost?** Time grows about linearly with objects and pairs. The documentation of [`World`], [`Reader`] and [`Tiles`](algorithms::tiles)
//! gives the cost of each, and its worst case. Objects that did not change are not looked at again. Nothing is allocated once buffers have grown to
//! the largest frame. To measure, use [`Context::stages`], [`WorldStats`] or the command `broadphase bench`; to see the structure, draw
//! [`World::debug_lines`].
//!
//! **Why is my debug build slow?** The structures need an optimizing compiler. `[profile.dev.package.broadphase]` with `opt-level = 3` in your
//! `Cargo.toml` compiles this crate with optimization, and leaves your own code as it is. [`World`] is generic and compiled in your crate, so its own loops
//! (setting boxes, converting pairs to handles) stay slower than in a release build.
//!
//! **Can I keep my own arrays?** Yes. Build a structure from a [`Spec`], then call [`step()`] each frame with a [`Frame`], a [`Context`] and a [`PairStore`], whose
//! [`Report`] says whether you want pairs, differences or both. If you know what moved, say so with [`Changes`]: the frame then costs what changed. Empty
//! slots are marked by [`Live`]. [`PairStore::for_each_chunk`] visits the pairs, [`PairStore::to_vec`] copies them.
//! [`BroadPhase::probe`] pairs other boxes with the structure's objects, and [`Query`] answers questions.
//!
//! **Can I use a structure of my own?** Yes. Implement [`BroadPhase`], as [`implement`] shows, and hand it to [`World::set_structures`].
//!
//! # Need, call, cost
//! | need | call | cost |
//! | --- | --- | --- |
//! | pairs of an array, once | [`pairs()`], [`pairs_between`] | about linear in boxes and pairs |
//! | insert, remove, move one | [`World::insert`], [`World::remove`], [`World::set_box`] | O(1), and the next update |
//! | move all, or some | [`World::set_mover_boxes`], [`World::set_boxes_of`] | a pass over the boxes given |
//! | all pairs | [`World::update`], then [`World::pairs`] | what changed; a pass over the pairs |
//! | what started and ended, with users, value, time | [`Update::started`], [`Update::ended`] | what changed |
//! | data per pair (manifolds) | [`World::set_pair_value`], [`PairEvent::value`] | a hash table of such pairs |
//! | the pairs of one object | [`World::pairs_of`] | the first call after an update: a pass over all pairs |
//! | fast objects | [`World::set_continuous_detection`], [`Object::moved_from`] | a pass over the movers, larger boxes |
//! | slow objects updated less often, if a pair may be found late | [`UpdateIntervals`] | a pass over the boxes |
//! | a jump that hits nothing on its way | [`World::teleport`], [`World::teleport_many`], [`World::shift_origin`] | as a move; all objects |
//! | layers, groups, parts of one body | [`Tag`] | a test per pair, nothing without tags |
//! | triggers, platforms, characters | [`Object::as_sensor`], [`World::set_pairing`] | a test per pair, nothing without them |
//! | sleeping | none: do not set the object's box (see [`World::set_kind`]) | nothing while most movers rest |
//! | a space that repeats | [`World::set_period`], [`Search::periodic`], [`NeighborSearch::periodic`] | images of the boxes at the borders |
//! | points within a radius, as rows | [`neighbors()`], [`NeighborSearch`] | linear in points and neighbors |
//! | pairs within a distance, nearest objects, closest pair | [`pairs_within`], [`nearest`], [`closest_pair`], [`DistanceSearch`] | pairs of grown boxes; O(log n) per object |
//! | candidates of meshes | [`mesh::Mesh`] | two joins of boxes |
//! | a rule of your own | [`World::set_pair_filter`], [`World::update_with`], [`World::refilter`] | a call per new pair |
//! | ray, shape cast, overlap, frustum, nearest | [`World::read`], [`World::try_read`], [`Reader`] | O(log n) and the answers |
//! | many queries | [`Answers`], [`Reader::in_boxes`] and others | the same, on all threads |
//! | pairs of two worlds | [`World::pairs_with`] | a probe per object of the smaller one |
//! | many simulations | [`Tag::with_env`] | as if they were far apart |
//! | save and restore | `World::snapshot`, `World::restore` (feature `serde`) | a copy; the next frame starts from scratch |
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
//! # Promises
//! The pairs are those of a double loop with [`Aabb::overlaps`], each reported once, with `a < b`. Every algorithm finds the same set, and the list is
//! the same for any number of threads and any instruction set. Bad input gives an [`Error`] that names the object and leaves the structure as it was.
//! Infinite sides are legal. [`BroadPhase::validate`] checks all invariants of a structure.
//!
//! # Modules
//! The modules are listed in the order in which data passes through them: boxes in ([`geometry`], [`objects`]), the structure ([`algorithms`], one of which
//! [`auto`] chooses), the joins (`kernels`), pairs out (`pairs`). [`step()`] is one frame from end to end. Only authors of structures need
//! [`implement`].

#![deny(missing_debug_implementations)]
#![deny(unsafe_code)]
// allowed in `kernels`, `par/region.rs` and `par/placement.rs`
// Small helpers of the papers' algorithms stay compiled without them: a `cfg` on each would hide the code.
#![cfg_attr(not(feature = "papers"), allow(dead_code, unused_imports))]

pub mod geometry;
pub mod objects;
mod step;
pub mod auto;
pub mod algorithms;
#[allow(unsafe_code)]
mod kernels;
mod bits;
mod pairs;
mod point_cells;
mod arrays;
mod neighbors;
mod distance;
pub mod mesh;
mod periodic;
pub mod implement;
mod world;
// Used by the modules above.
mod context;
mod backoff;
mod memory;
mod par;
mod buffer_pool;
mod error;
mod pair;
mod sample;
#[doc(hidden)] // for the crates of this project
pub mod spec_text;

#[doc(inline)]
pub use algorithms::{BroadPhase, Descriptor, Found, Kind, Outline, Probes, Query, Region, Spec, Stats, Strength, Violation};
#[doc(inline)]
pub use arrays::{Between, Cancel, Chunks, Search, pairs, pairs_between};
#[doc(inline)]
pub use context::Context;
#[doc(inline)]
pub use distance::{
    DistanceSearch, Near, Proximity, closest_pair, closest_pair_between, nearest, nearest_between, pairs_within,
    pairs_within_between,
};
#[doc(inline)]
pub use error::{BoxFault, Error};
#[doc(inline)]
pub use geometry::{Aabb, Ball, HalfSpace, Period, Ray, Real, Swept, SweptBall};
#[doc(inline)]
pub use kernels::{Isa, Kernels};
#[doc(inline)]
pub use neighbors::{NeighborSearch, Neighbors, neighbors};
#[doc(inline)]
pub use objects::{Changes, Filter, Frame, Handle, Live, MAX_OBJECTS, Object, ObjectKind, Pairing, Shape, Tag, UpdateIntervals};
#[doc(inline)]
pub use pairs::{Pair, PairStore, Report, Retain, pairs_hash};
#[doc(inline)]
#[cfg(feature = "parallel")]
pub use par::Threads;
#[doc(inline)]
pub use par::{CORES, Executor, Regions, Sequential};
#[doc(inline)]
pub use periodic::Periodic;
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

/// The examples of the README and of the guide, compiled and run with the doc tests.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    pub struct Readme;
    #[doc = include_str!("../../../docs/guide/getting-started.md")]
    pub struct GettingStarted;
    #[doc = include_str!("../../../docs/guide/arrays.md")]
    pub struct Arrays;
    #[doc = include_str!("../../../docs/guide/world.md")]
    pub struct Worlds;
    #[doc = include_str!("../../../docs/guide/threads.md")]
    pub struct Threads;
    #[doc = include_str!("../../../docs/guide/determinism.md")]
    pub struct Determinism;
    #[doc = include_str!("../../../docs/guide/moving-over.md")]
    pub struct MovingOver;
}
