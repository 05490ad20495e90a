//! A kd-tree with a sweep in each node.
//!
//! # The structure
//! A binary tree of planes. An object is stored in the deepest node whose open region contains it, its *ideal* node: objects that
//! touch a node's plane stay in that node, so no object is stored twice. Two objects in different branches cannot touch. All nodes
//! share one array of objects, in the order of an in-order walk: a node's objects are a block, a subtree's as well.
//!
//! # A frame
//! 1. *Refit* (`refit.rs`): from the leaves up, objects that left their region go to the parent.
//! 2. *Optimize* (`optimize/`): from the root down, planes are evaluated, moved or erased, leaves split above T objects, subtrees
//!    collapsed below, and objects go down to their ideal nodes. A second update without motion changes nothing.
//! 3. *Search* (`walk.rs`): from the root down, each node joins its own objects, and those with the objects of its ancestors
//!    that reach into its region, by sweeps along the axis on which they vary most.
//! 4. *Coherency* (`coherency.rs`): where that is less work (`policy.rs` predicts it), pairs of static objects come from a cache, and the objects
//!    themselves stay where the sweeps have sorted them (`node_caches.rs`). The cache is linear in objects and pairs (`overflow.rs`).
//!
//! With several workers, subtrees are refitted and optimized (`parts.rs`) and searched (`pairs.rs`) at once.
//!
//! # Invariants (`validate.rs`)
//! Blocks follow each other in the order of the walk and cover the array; populations add up; a region is its parent's, cut by the
//! parent's plane; every inner node is evaluated positive and has at least T objects; every object is in its ideal node; nothing
//! is pending.
//!
//! # Cost
//! Update O(n) if little changes, O(n log(n / T)) for a new tree, whatever the input: a branch has at most 77 % of its parent's
//! objects. The search adds a sweep over a few hundred objects per node. It degrades to one big sweep where no plane parts
//! the objects: most of them in one place on every axis (then pairs are many as well), or long ones that cross every plane.
//! Memory: 8 bytes per object, and for coherent variants two boxes, the cached pairs and the node caches. Where sizes differ so much that
//! no margin suits all, these variants do without, and whatever moves at all is dynamic.
//!
//! # Departures from the paper
//! `paper=true` does without the first six; the last two it shares, since the promises of every structure rest on them. What the six gain together
//! (paired CPU times of one thread, equal pairs, an AMD EPYC with AVX-512; `broadphase bench brownian-cubes gravity-cubes free-fall-cubes settled
//! --n 16000 --frames 129 --algorithms kd-tree,kd-tree:paper=true`): 2.0 times as fast on `brownian-cubes`, 2.1 times on `gravity-cubes` and
//! `free-fall-cubes`, 4.0 times on `settled`, where nine in ten objects rest.
//! 1. The sweep in a node sorts and compares in bytes, and confirms on the boxes (`kernels/node`). The paper sorts and tests floats, as many at once as
//!    a register holds (`kernels/node/floats.rs`).
//! 2. External objects that miss the bounds of the node's own objects are left out before the bipartite sweep.
//! 3. The sweep axis follows from up to 64 of a node's objects, not from all.
//! 4. Objects at rest stay where the sweeps have sorted them, in node caches (`node_caches.rs`).
//! 5. While all pairs are searched for, only a sample of the objects is classified (`coherency.rs`).
//! 6. The adaptive switch does not compare the share of static objects with a constant K. It predicts the work of both searches from counts of past ones, has a
//!    hysteresis, and waits after switches that did not pay off (`policy.rs`). No share would do: on `settled` both searches cost the same between 60 and
//!    70 % static objects, on the heap of `free-fall-cubes` between 85 and 90 (`broadphase bench settled:moving=0.3 settled:moving=0.4 --n 16000
//!    --algorithms kd-tree-complete,kd-tree-incremental`; `broadphase reproduce 001-fig10`).
//! 7. A partition that would be evaluated negative in the next frame is not made (`optimize/mod.rs`): with it, an update is idempotent.
//! 8. The cache of pairs has a budget (`overflow.rs`).
//!
//! # Source
//! Serpa and Rodrigues, "Flexible Use of Temporal and Spatial Reasoning for Fast and Scalable CPU Broad-Phase Collision Detection
//! Using KD-Trees" (paper 001), sections 3.1 to 3.6.

mod coherency;
mod nodes;
mod optimize;
mod options;
mod overflow;
mod pairs;
mod parts;
mod plan;
mod policy;
mod probe;
mod query;
mod refit;
mod node_caches;
mod stats;
mod update;
mod validate;
mod walk;

pub(super) use options::{ADAPTIVE, COHERENT, COMMON};
pub use options::{Options, Pruning, Variant};

use crate::algorithms::common::{assert_dimension, implement_broad_phase};
use crate::context::PerWorker;
use crate::geometry::Real;
use crate::kernels::node::Runs;
use crate::objects::unbounded::Unbounded;
use crate::pairs::Revision;

use crate::bits::BitSet;
use coherency::Coherency;
use nodes::Tree;
use optimize::Work;
use pairs::Method;
use parts::Parts;
use plan::Plan;
use policy::{Counts, Experience, Mode};
use update::Surveyed;
use walk::Walker;

/// The kd-tree and sweep-and-prune hybrid.
///
/// ```
/// use broadphase::algorithms::kd_tree::{KdTree, Options, Variant};
/// use broadphase::{Aabb, BroadPhase, Context, Frame, PairStore, step};
/// let boxes: Vec<_> = (0..100).map(|i| Aabb::new([i as f32, 0.0], [i as f32 + 1.5, 1.0])).collect();
/// let mut tree = KdTree::new(Options { threshold: 16, ..Options::new(Variant::Adaptive) });
/// let mut pairs = PairStore::default();
/// step(&mut tree, &Frame::new(&boxes), &mut Context::new(), &mut pairs)?;
/// assert_eq!(pairs.len(), 99);
/// # Ok::<(), broadphase::Error>(())
/// ```
#[derive(Debug)]
pub struct KdTree<const D: usize, T: Real> {
    options: Options,
    tree: Tree<D, T>,
    /// The slots whose objects are in the tree.
    members: BitSet,
    /// Live objects that are not.
    unbounded: Unbounded<D, T>,
    /// Held boxes and the cache, for the variants that need them.
    coherency: Option<Coherency<D, T>>,
    /// Did anything change since the last search?
    touched: bool,
    /// What the last search wrote.
    revision: Revision,
    work: Work,
    found: Found,

    // From here on: buffers that can be dropped between two calls without changing a result.
    loose: BitSet,
    surveyed: Vec<Surveyed>,
    entering: Vec<u32>,
    leaves: bool,
    plan: Plan,
    parts: Parts<D, T>,
    walkers: PerWorker<Walker<D, T>>,
}

/// Statistics of the last search, and what past ones have shown.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    static_share: f64,
    /// The predicted work of an incremental search over that of a complete one, if that decides.
    incremental_share: f64,
    mode: Mode,
    method: Method,
    counts: Counts,
    experience: Experience,
    /// Objects whose boxes it read; the others were in node caches.
    read: usize,
    /// The lengths of its runs of candidates.
    runs: Runs,
}

impl<const D: usize, T: Real> KdTree<D, T> {
    /// An empty tree. Options are clamped to their ranges.
    pub fn new(options: Options) -> Self {
        assert_dimension::<D>();
        let options = options.in_range();
        Self {
            options,
            tree: Tree::default(),
            members: BitSet::default(),
            unbounded: Unbounded::default(),
            coherency: options.coherent().then(Coherency::default),
            touched: true,
            revision: Revision::default(),
            work: Work::default(),
            found: Found::default(),
            loose: BitSet::default(),
            surveyed: Vec::new(),
            entering: Vec::new(),
            leaves: false,
            plan: Plan::default(),
            parts: Parts::default(),
            walkers: PerWorker::default(),
        }
    }
}

impl<const D: usize, T: Real> Clone for KdTree<D, T> {
    /// Continues from the same state; buffers start empty.
    fn clone(&self) -> Self {
        Self {
            tree: self.tree.clone(),
            members: self.members.clone(),
            unbounded: self.unbounded.clone(),
            coherency: self.coherency.clone(),
            touched: self.touched,
            revision: self.revision,
            work: self.work,
            found: self.found,
            ..Self::new(self.options)
        }
    }
}

implement_broad_phase!(KdTree, reader, outline);
