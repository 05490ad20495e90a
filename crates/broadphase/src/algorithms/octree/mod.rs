//! A tree of halves, with objects at every level.
//!
//! # The structure
//! A node cuts its region at the middle of every axis into 2^D children: eight in space, four in the plane. An object is stored at the deepest
//! node that contains it: it goes down as long as it lies below or above the middle on every axis. Each node has a linked list of
//! its objects, and each object stores its node.
//!
//! The depth is fixed at 4 levels counting the root, which makes 585 nodes in space. The paper names that as the weakness of its tree,
//! so there is a second way: with `split`, a leaf that holds more objects than that gets children, down to `depth` levels, and a node whose
//! subtree falls to half of it takes its objects back.
//!
//! # Consequences
//! Two objects overlap only if the node of one is the other's node or an ancestor of it. Below the middle means strictly below, so objects
//! that touch across a middle are never in two children.
//!
//! # The world
//! The box of the objects' finite coordinates plus 10 %, taken in the first frame and again when many objects have left it or they fill
//! only a part of it (`common/world.rs`); or the box that the caller gives, which stays. It places the middles and limits nothing: the
//! nodes at the border reach to infinity. So nothing is lost outside, and infinite sides need no special case: they cross middles, and stay
//! at the root.
//!
//! # Cost
//! Insertion O(depth), removal O(1) list work and no search (the paper's tree searches the node's list). An object that crosses a high-up
//! middle, however small, is tested with everything below: the bad case is a crowd around the middle of the world, with n² tests. A flat
//! world is one: if all objects stand on one floor, each of them crosses the middle of its height. So is a world that one outlier has stretched:
//! nodes are never smaller than an eighth of it, and a crowd shares one.
//! Memory: per slot a copy of the box and 12 bytes of links, per node 64 (three `f32` axes).
//!
//! # Source
//! Paper 004, section 2.1.2, and its remedy for removal (section 4).
//!
//! # Departures from the paper
//! With `paper=true` none of the first five is made. What they gain together (paired CPU times of one thread, equal pairs, an AMD EPYC with AVX-512;
//! `broadphase bench city city-even --n 6400 --frames 65 --algorithms octree,octree:paper=true`): 24.5 times as fast on `city`, 24.9 times on
//! `city-even`, with half of the tests.
//! 1. An object is tested with its node, the ancestors, and those nodes below that its box reaches; the paper's tests all objects of all nodes
//!    below its own (figure 2.4).
//! 2. Each pair is tested once; the paper searches for each object separately, so a pair is tested from both sides.
//! 3. The objects are laid out by node before they are joined, so that kernels can test many at once.
//! 4. An object that moves and stays in its node is not touched; the paper's tree removes it and inserts it again from the top, every time.
//! 5. Removal does not search: each object stores its node and its neighbors in the list, which the paper proposes in section 4.3. The
//!    paper's tree is descended by the old bounds, and the node's list searched from the front.
//! 6. Boxes in place of balls. The box of a ball fits into a node exactly if the ball does, so with [`Shape::Ball`](crate::Shape) both
//!    trees are the same.

mod nodes;
mod pairs;
mod query;
mod update;
mod validate;

use crate::algorithms::common::{
    Bounds, LinkedBins, PAPER_OPTION, TrackedBoxes, WORLD_OPTION, assert_dimension, bytes_of, implement_broad_phase,
};
use crate::algorithms::{OptionDescriptor, Spec, Stats};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::Soa;

/// The options by name.
pub(crate) const OPTIONS: &[OptionDescriptor] = &[
    OptionDescriptor {
        name: "depth",
        default: "4",
        help: "levels, counting the root: 1 to 7; with split 1 to 24, and 12 by default",
    },
    OptionDescriptor {
        name: "split",
        default: "0",
        help: "a leaf with more objects gets children; 0: all nodes exist from the start",
    },
    WORLD_OPTION,
    PAPER_OPTION,
];

/// The options of the octree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Levels, counting the root; at most that many with `split`.
    pub depth: usize,
    /// A leaf with more objects is split; 0: all nodes exist from the start, as always in paper mode.
    pub split: usize,
    /// The paper's own mode, without our departures.
    pub paper: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { depth: 4, split: 0, paper: false }
    }
}

impl Options {
    /// The deepest tree whose nodes all exist from the start: 300 thousand of them in space.
    const FIXED: usize = 7;
    /// The deepest tree that splits on demand.
    const ADAPTIVE: usize = 24;

    /// The options, each clamped to its range.
    fn in_range(self) -> Self {
        let split = if self.paper { 0 } else { self.split };
        let most = if split == 0 { Self::FIXED } else { Self::ADAPTIVE };
        Self { depth: self.depth.clamp(1, most), split, ..self }
    }

    /// From the options of a [`Spec`].
    pub(crate) fn from_spec(spec: &Spec) -> Result<Self, Error> {
        let paper = spec.paper_mode()?;
        let expected = if paper { "0 with paper=true, whose depth is fixed" } else { "0 (never) or a number of objects" };
        let split = spec.value("split", 0, expected, |&split| split == 0 || !paper)?;
        let most = if split == 0 { Self::FIXED } else { Self::ADAPTIVE };
        let default = if split == 0 { 4 } else { 12 };
        let expected = format!("a number of levels from 1 to {most} with this split");
        Ok(Self { depth: spec.value("depth", default, &expected, |depth| (1..=most).contains(depth))?, split, paper })
    }
}

/// The octree; in the plane, a quadtree. See the [module documentation](self).
#[derive(Clone, Debug)]
pub struct Octree<const D: usize, T: Real> {
    options: Options,
    tracked: TrackedBoxes<D, T>,
    bounds: Bounds<D, T>,
    /// The root is the first; children lie together. Empty until the world is known.
    nodes: Vec<Node<D, T>>,
    /// First nodes of families that are not in use.
    free: Vec<u32>,
    /// The objects of each node.
    bins: LinkedBins,
    /// In paper mode: the boxes by which objects were inserted, by which their removal is traced.
    inserted: Vec<Aabb<D, T>>,
    /// Objects that were removed and inserted again since they moved, and objects that removals passed in the lists.
    reinsertions: u64,
    passed: u64,
    scratch: Scratch<D, T>,
}

/// One node. Its objects are in the bin of the same number.
#[derive(Clone, Copy, Debug)]
struct Node<const D: usize, T> {
    /// Where its objects lie, closed; infinite at the world's border.
    region: Aabb<D, T>,
    /// Where it is cut.
    middle: [T; D],
    /// From the middle to the world's part of the region's side.
    reach: [T; D],
    parent: u32,
    /// The first of its children, or none.
    children: u32,
    level: u32,
    /// Objects here and below.
    population: u32,
}

/// Buffers that can be dropped without changing a result.
#[derive(Clone, Debug, Default)]
struct Scratch<const D: usize, T: Real> {
    ids: Vec<u32>,
    starts: Vec<u32>,
    columns: Soa<D, T>,
}

impl<const D: usize, T: Real> Octree<D, T> {
    /// An empty structure. Options are clamped to their ranges.
    pub fn new(options: Options) -> Self {
        assert_dimension::<D>();
        let options = options.in_range();
        Self {
            options,
            tracked: TrackedBoxes::default(),
            bounds: Bounds::default(),
            nodes: Vec::new(),
            free: Vec::new(),
            bins: LinkedBins::default(),
            inserted: Vec::new(),
            reinsertions: 0,
            passed: 0,
            scratch: Scratch::default(),
        }
    }

    /// The same structure over a world that stays as it is given. It places the middles; objects outside are found too.
    ///
    /// # Errors
    /// [`Error::InvalidBox`] for a box that is not valid, [`Error::Unsuited`] for one that is not finite.
    pub fn with_world(self, world: &Aabb<D, T>) -> Result<Self, Error> {
        Ok(Self { bounds: Bounds::given(world, "octree")?, ..self })
    }

    /// From the options of a [`Spec`].
    pub(crate) fn from_spec(spec: &Spec) -> Result<Self, Error> {
        let structure = Self::new(Options::from_spec(spec)?);
        match spec.world()? {
            Some(world) => structure.with_world(&world),
            None => Ok(structure),
        }
    }
}

impl<const D: usize, T: Real> Octree<D, T> {
    fn stats(&self) -> Stats {
        let Scratch { ids, starts, columns } = &self.scratch;
        let scratch = bytes_of(ids) + bytes_of(starts) + columns.bytes();
        let nodes = bytes_of(&self.nodes) + bytes_of(&self.free) + self.bins.bytes();
        let used = self.nodes.len() - (self.free.len() << D);
        let levels = self.nodes.iter().filter(|node| node.population > 0).map(|node| node.level + 1).max().unwrap_or(0);
        Stats {
            bytes: self.tracked.bytes() + self.bounds.bytes() + nodes + scratch + bytes_of(&self.inserted),
            extra: vec![
                ("nodes", used as f64),
                ("levels", f64::from(levels)),
                ("reinsertions", self.reinsertions as f64),
                ("passed_in_removal", self.passed as f64),
            ],
            ..Stats::default()
        }
    }
}

implement_broad_phase!(Octree, reader, outline);
