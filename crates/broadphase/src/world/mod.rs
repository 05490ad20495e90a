//! A world of objects: handles, tags, kinds and margins; pairs, and which started and ended; queries.
//!
//! # The structure
//! One table owns all objects. Its two sides, movers (dynamic and kinematic) and statics, have one broad phase each. Pairs of two
//! movers come from the movers' structure; pairs of a mover and a static from probing the statics' structure with the movers that
//! changed, or the movers' structure with the statics that changed. Both kinds of pairs live in chunks that are kept while nothing
//! in them changes.
//!
//! # Files
//! `edit.rs` changes objects, `settings.rs` everything else; `update.rs` is the frame, `mixed.rs` the pairs with statics, `rules.rs` the filters;
//! `motion.rs` and `sub_steps.rs` are continuous detection; `results.rs`, `events.rs`, `neighbors.rs` and `values.rs` return pairs; `read.rs` has the
//! queries, `answers.rs` many at once; `between.rs` pairs two worlds; `environments` separates simulations; `snapshot.rs` saves and restores;
//! `draw.rs` and `stats.rs` show the content. For a space that repeats, `update.rs` wraps the structures in `periodic`.

mod answers;
mod between;
mod draw;
mod edit;
mod environments;
mod events;
mod mixed;
mod motion;
mod neighbors;
mod probing;
mod sub_steps;
mod read;
mod results;
mod rules;
mod settings;
#[cfg(feature = "serde")]
mod snapshot;
mod stats;
mod update;
mod values;

use std::fmt;
use std::sync::Arc;

pub use answers::Answers;
pub use draw::Line;
pub use events::{PairEvent, PairEventIter, PairEvents, Update};
pub use motion::{ContinuousDetection, MotionStats};
pub use read::Reader;
pub use results::Pairs;
pub use rules::PairCandidate;
#[cfg(feature = "serde")]
pub use snapshot::Snapshot;
pub use stats::WorldStats;

use crate::algorithms::{BroadPhase, Spec};
use crate::context::Context;
use crate::geometry::{Period, Real};
use crate::objects::table::Table;
use crate::objects::{Handle, Pairing, Shape};
use crate::pairs::{PairStore, Report};

/// A world in the plane, `f32`.
pub type World2 = World<2, f32>;
/// A world in space, `f32`.
pub type World3 = World<3, f32>;
/// A world in the plane, `f64`.
pub type World2f64 = World<2, f64>;
/// A world in space, `f64`.
pub type World3f64 = World<3, f64>;

/// Objects in space, and the pairs among them.
///
/// Insert objects, move them, and call [`update`](World::update) once a frame. It finds all pairs, and which of them started and ended since the last
/// update. Every error leaves all objects as they were.
///
/// ```
/// use broadphase::{Aabb, Object, World2};
/// let mut world = World2::new();
/// let floor = world.insert(Object::fixed(Aabb::new([0.0, -1.0], [100.0, 0.0])))?;
/// let ball = world.insert(Aabb::new([5.0, 2.0], [6.0, 3.0]))?;
/// assert_eq!(world.update()?.started(), []);
/// world.set_box(ball, Aabb::new([5.0, -0.5], [6.0, 0.5]))?;
/// assert_eq!(world.update()?.started(), [(floor, ball)]);
/// world.remove(floor)?;
/// assert_eq!(world.update()?.ended(), [(floor, ball)]);
/// # Ok::<(), broadphase::Error>(())
/// ```
///
/// # Cost
/// A frame costs what the algorithm ([`set_algorithm`](World::set_algorithm)) needs for the objects that changed, and a pass over what is
/// reported. A frame without changes costs nothing. Statics that do not change cost only the probes of the movers that do.
/// Memory per object: a box, about 14 bytes, and what the structure holds.
///
/// Worst case: many statics that change each frame, since they are paired again with all movers. Make such objects
/// [kinematic](crate::ObjectKind::Kinematic).
///
/// # What it does not do
/// It tests boxes and balls, not exact shapes, and it does not move objects.
#[derive(Clone)]
pub struct World<const D: usize, T: Real> {
    table: Table<D, T>,
    movers: Engine<D, T>,
    statics: Engine<D, T>,
    context: Context,
    report: Report,
    limit: u64,
    shape: Shape,
    period: Option<Period<D, T>>,
    filter: Option<rules::KeptFilter>,
    pairing: Pairing,
    /// The pairs of two movers, as slots.
    mover_pairs: PairStore,
    /// The pairs of a mover and a static, as slots.
    mixed: mixed::Mixed<D, T>,
    /// Differences that were found and are not reported yet.
    started: Vec<(Handle, Handle)>,
    ended: Vec<(Handle, Handle)>,
    converter: update::HandleConverter,
    /// What the last update reported, shared with the [`Update`] that it returned.
    events: Arc<events::Events>,
    /// Must all pairs be found, even if no object changed?
    whole: bool,
    /// Did the last update fail midway? Then `started` and `ended` hold differences that are still to be reported.
    failed: bool,
    tests: u64,
    values: values::Values,
    neighbors: neighbors::Lazy,
    motion: motion::Motion<D, T>,
}

/// A side's structure.
#[derive(Clone)]
struct Engine<const D: usize, T: Real> {
    spec: Spec,
    /// Built with the first frame.
    structure: Option<Box<dyn BroadPhase<D, T>>>,
    /// Has it been updated with a frame?
    filled: bool,
    /// Does the structure separate environments?
    separates_envs: bool,
    /// The user's own structure, empty, to start from.
    custom: Option<Box<dyn BroadPhase<D, T>>>,
    /// The space, if it repeats.
    period: Option<Period<D, T>>,
    /// May boxes be those around whole paths, which are longer than half a period?
    sweeps: bool,
}

impl<const D: usize, T: Real> Engine<D, T> {
    fn new(spec: Spec) -> Self {
        Self { spec, structure: None, filled: false, separates_envs: false, custom: None, period: None, sweeps: false }
    }
}

impl<const D: usize, T: Real> Engine<D, T> {
    /// The same algorithm, or the same structure of the user's, from scratch.
    fn fresh(&self) -> Self {
        Self { custom: self.custom.clone(), period: self.period, sweeps: self.sweeps, ..Self::new(self.spec.clone()) }
    }
}

impl<const D: usize, T: Real> Default for World<D, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const D: usize, T: Real> World<D, T> {
    /// An empty world with the default algorithm and one thread. It reports pairs and differences ([`Report::Both`]).
    pub fn new() -> Self {
        Self {
            table: Table::default(),
            movers: Engine::new(Spec::default()),
            statics: Engine::new(Spec::default()),
            context: Context::new(),
            report: Report::Both,
            limit: PairStore::DEFAULT_LIMIT,
            shape: Shape::Box,
            period: None,
            filter: None,
            pairing: Pairing::default(),
            mover_pairs: PairStore::new(Report::Both),
            mixed: mixed::Mixed::default(),
            started: Vec::new(),
            ended: Vec::new(),
            converter: update::HandleConverter::default(),
            events: Arc::default(),
            whole: true,
            failed: false,
            tests: 0,
            values: values::Values::default(),
            neighbors: neighbors::Lazy::default(),
            motion: motion::Motion::default(),
        }
    }
}

impl<const D: usize, T: Real> fmt::Debug for World<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
