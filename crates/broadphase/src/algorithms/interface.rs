//! The interface of all algorithms, in the order in which a frame calls it.

use std::fmt;
use std::ops::ControlFlow;

use crate::context::Context;
use crate::error::{Error, Violation};
use crate::geometry::{Aabb, Ball, Measure, Ray, Real, Swept};
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore};

/// A structure that finds pairs. The boxes are the caller's: every call borrows the frame, and the structure keeps copies of boxes only
/// where they make it faster.
///
/// Order of calls: `update`, then `pairs`, frame after frame. Several updates may come before one `pairs`, which then reflects
/// them all. `probe`, `reader` and `validate` take the frame of the last update.
pub trait BroadPhase<const D: usize, T: Real>: Send + Sync {
    /// Updates the structure with a frame: all boxes, or the listed changes. On error the structure is unchanged.
    fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error>;

    /// Finds all pairs of the frame of the last update. On error there are no pairs, and the next call finds them all.
    fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error>;

    /// Finds all pairs of a probe and an object (the bipartite form). Replaces the content of the store.
    fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error>;

    #[doc(hidden)]
    /// [`probe`](BroadPhase::probe) for probes with known environments: pairs of two different environments, neither of them 0, may be left out.
    /// Structures that do not separate environments leave none out.
    fn probe_envs(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        envs: &[u32],
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        let _ = envs;
        self.probe(frame, probes, context, out)
    }

    /// The structure's queries, if it has any.
    fn reader(&self) -> Option<&dyn Query<D, T>> {
        None
    }

    /// Visits the regions that the structure consists of, for drawing; none by default. Exact except for rounding.
    fn outline(&self, frame: &Frame<'_, D, T>, visit: &mut dyn FnMut(Region<D, T>)) {
        let _ = (frame, visit);
    }

    /// Checks every invariant of the structure.
    fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation>;

    /// Size and counters.
    fn stats(&self) -> Stats;

    /// A copy that continues from the same state.
    fn boxed_clone(&self) -> Box<dyn BroadPhase<D, T>>;
}

impl<const D: usize, T: Real> fmt::Debug for dyn BroadPhase<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BroadPhase").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

impl<const D: usize, T: Real> Clone for Box<dyn BroadPhase<D, T>> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// Boxes to be paired with the objects of a structure.
#[derive(Clone, Copy, Debug)]
pub struct Probes<'a, const D: usize, T> {
    /// The boxes. They must be valid.
    pub boxes: &'a [Aabb<D, T>],
    /// If given, as many as boxes: the probes are objects too, with these slots of the frame's tables, which are not live in the frame. Pairs are
    /// then canonical and filtered. If not: a pair is (index of the probe, id of the object), unfiltered.
    pub ids: Option<&'a [u32]>,
    /// Are these the probes of the last call, moved? The structure may then keep their records from call to call. The order of the pairs, never their set,
    /// then depends on earlier calls, so set this only if no other thread probes the structure.
    pub recurring: bool,
}

impl<const D: usize, T> Probes<'_, D, T> {
    /// The pair of probe `index` with object `id`.
    #[inline(always)]
    pub(crate) fn pair(&self, index: usize, id: u32) -> Pair {
        match self.ids {
            Some(ids) => Pair::new(ids[index], id),
            None => Pair { a: index as u32, b: id },
        }
    }
}

/// The visitor that [`Query::search`] calls with each object and its distance; it returns the new limit, or breaks.
pub type Found<'a, T> = &'a mut dyn FnMut(u32, T) -> ControlFlow<(), T>;

/// Queries: the part of a structure that only reads, from many threads at once.
///
/// Every method visits each object at most once, in a deterministic order, until the visitor breaks. Ids are live slots whose
/// box passes the exact test; tags are left to the caller. The frame is that of the last update.
///
/// A structure implements [`search`](Query::search); all other queries are built on it.
pub trait Query<const D: usize, T: Real>: Sync {
    /// Visits the objects whose box is within `limit` by a [`Measure`], not sorted by distance. `visit` gets the distance and returns the new limit: the
    /// old one to see all objects, the distance to see only objects that are not farther.
    fn search(&self, frame: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>);

    #[doc(hidden)]
    /// [`search`](Query::search) for objects of environment `env` and of environment 0: others may be left out. Structures that do not separate
    /// environments leave none out.
    fn search_env(&self, frame: &Frame<'_, D, T>, env: u32, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        let _ = env;
        self.search(frame, measure, limit, visit);
    }

    /// Visits the objects whose box overlaps `area`.
    fn in_box(&self, frame: &Frame<'_, D, T>, area: &Aabb<D, T>, visit: &mut dyn FnMut(u32) -> ControlFlow<()>) {
        self.search(frame, area, T::ZERO, &mut region(visit));
    }

    /// Visits the objects whose box the ray enters, not sorted by distance. `visit` gets the `t` of entry and returns the new length of
    /// the ray: the old one to see all objects, `t` to see only closer ones.
    fn along_ray(&self, frame: &Frame<'_, D, T>, ray: &Ray<D, T>, visit: Found<'_, T>) {
        self.search(frame, ray, ray.length, visit);
    }

    /// Visits the objects whose box the ball reaches.
    fn in_ball(&self, frame: &Frame<'_, D, T>, ball: &Ball<D, T>, visit: &mut dyn FnMut(u32) -> ControlFlow<()>) {
        self.search(frame, ball, T::ZERO, &mut region(visit));
    }

    /// Visits the objects whose box the moving box touches, with the fraction of the step at which it does.
    fn in_swept(&self, frame: &Frame<'_, D, T>, swept: &Swept<D, T>, visit: &mut dyn FnMut(u32, T) -> ControlFlow<()>) {
        self.search(frame, swept, T::ONE, &mut |id, at| match visit(id, at) {
            ControlFlow::Continue(()) => ControlFlow::Continue(T::ONE),
            ControlFlow::Break(()) => ControlFlow::Break(()),
        });
    }
}

/// Adapts a visitor of objects to a search by distance, for regions, where all distances and the limit are 0.
fn region<T: Real>(visit: &mut dyn FnMut(u32) -> ControlFlow<()>) -> impl FnMut(u32, T) -> ControlFlow<(), T> {
    |id, _| match visit(id) {
        ControlFlow::Continue(()) => ControlFlow::Continue(T::ZERO),
        ControlFlow::Break(()) => ControlFlow::Break(()),
    }
}

/// What a drawn box represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outline {
    /// An object's box, grown by its margins.
    Object,
    /// A cell of a grid that holds objects.
    Cell,
    /// A node of a tree that holds objects.
    Node,
    /// A tile.
    Tile,
}

/// A region of a structure: a tile, a node, a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region<const D: usize, T> {
    /// What it is.
    pub kind: Outline,
    /// The space that it covers.
    pub bounds: Aabb<D, T>,
    /// The chunk of the pair store that holds the pairs found here, if the region has one of its own: [`PairStore::chunk_tests`] says how many
    /// tests that took.
    pub chunk: Option<usize>,
}

impl<const D: usize, T> Region<D, T> {
    /// A region without a chunk of its own.
    pub fn new(kind: Outline, bounds: Aabb<D, T>) -> Self {
        Self { kind, bounds, chunk: None }
    }

    /// Sets the chunk that holds the pairs found here.
    pub fn with_chunk(self, chunk: usize) -> Self {
        Self { chunk: Some(chunk), ..self }
    }
}

/// How much [`BroadPhase::validate`] checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// The structure by itself: counts, links, ranges.
    Structure,
    /// The structure, and its agreement with the boxes of the frame.
    Geometry,
}

/// The size and the counters of a structure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    /// All bytes that the structure holds, including its copies of boxes, but not the caller's boxes or the pairs.
    pub bytes: usize,
    /// For `auto`: what was chosen, and why.
    pub choice: Option<String>,
    /// Figures specific to the structure: levels, leaves, copies per object.
    pub extra: Vec<(&'static str, f64)>,
}

/// Readable text: memory, the choice if there was one, and the structure's own figures.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes)?;
        self.choice.iter().try_for_each(|choice| write!(f, "; {choice}"))?;
        self.extra.iter().try_for_each(|(name, value)| write!(f, "; {} {value:.4}", name.replace('_', " ")))
    }
}
