//! A dynamic tree of boxes, one object per leaf.
//!
//! # The structure
//! A binary tree; the box of a node is the union of its children's. A leaf holds its object's box grown by `margin` times the object's
//! longest side. An object that moves inside its leaf's box costs nothing. One that leaves it goes up from its place to the first node that
//! holds the new box, and down again to where it costs least; boxes above are refitted until one stays as it is. On the way a child may change
//! places with a child of its sibling, if that makes a box smaller, or one side much lower.
//! What is infinite, or overflows, stays out of the tree and is joined with all (`objects/unbounded.rs`).
//!
//! # Two modes
//! - [`Mode::Eager`], `dbvt-f`: a leaf that was inserted is at once compared with the tree. The pairs of grown boxes are kept until one of the two
//!   is inserted again; a frame tests these candidates. Cheap when little leaves its leaf. Where they would be too many, it walks (`budget.rs`).
//! - [`Mode::Deferred`], `dbvt-d`: a frame in which anything changed walks the tree against itself, once. No candidates are kept; cheap when
//!   everything moves.
//!
//! # Cost
//! O(log n) per insertion, and a walk in proportion to what is found. Bad cases: objects much larger than their neighbors' distance, as thin
//! plates in a stack are, which make every box overlap every other, in both modes; sizes so different that floats cannot express how much
//! the larger boxes grow; crowds with long tails, where insertion one by one makes loose boxes, and a walk from a leaf meets thousands of
//! nodes; in mode F a jump of everything, which is n walks and n insertions.
//! Memory: per object two nodes of 40 bytes (three `f32` axes), a copy of the box; in mode F the candidates, at most 16 per object and pair.
//!
//! # Source
//! Paper 001, section 6: the DBVT of the Bullet library in its variants F and D. Departures: one tree instead of two (for what moves and
//! what rests), rotations instead of random re-insertions, insertion from the nearest node that holds the box instead of from the root, a
//! margin relative to the object's size, and no guess of its velocity.

mod pairs;
mod query;
mod budget;
mod tree;
mod update;
mod validate;

use crate::algorithms::common::{TrackedBoxes, assert_dimension, bytes_of, implement_broad_phase, nearest_in};
use crate::algorithms::{OptionDescriptor, Spec, Stats};
use crate::buffer_pool::BufferPool;
use crate::context::PerWorker;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::unbounded::Unbounded;
use crate::pairs::Pair;

use budget::CandidateBudget;
use tree::Tree;

/// The options by name.
pub(crate) const OPTIONS: &[OptionDescriptor] = &[OptionDescriptor {
    name: "margin",
    default: "0.1",
    help: "what leaves are larger by, in longest sides of the object: 0 to 10",
}];

/// When pairs are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `dbvt-f`: at once, for each leaf that was inserted.
    Eager,
    /// `dbvt-d`: later, for all in one walk.
    Deferred,
}

/// The options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// When pairs are looked for.
    pub mode: Mode,
    /// What leaves are larger by, in longest sides of the object.
    pub margin: f64,
}

impl Options {
    /// The options, each clamped to its range.
    fn in_range(self) -> Self {
        Self { margin: nearest_in(self.margin, 0.0, 10.0), ..self }
    }

    /// From the options of a [`Spec`].
    pub(crate) fn from_spec(mode: Mode, spec: &Spec) -> Result<Self, Error> {
        let margin = spec.value("margin", 0.1, "a number from 0 to 10", |margin| (0.0..=10.0).contains(margin))?;
        Ok(Self { mode, margin })
    }
}

/// The dynamic tree of boxes. See the module documentation.
#[derive(Clone, Debug)]
pub struct Dbvt<const D: usize, T: Real> {
    options: Options,
    tracked: TrackedBoxes<D, T>,
    tree: Tree<D, T>,
    /// The leaf of each slot, or none.
    leaves: Vec<u32>,
    unbounded: Unbounded<D, T>,
    /// Mode F: the pairs of overlapping leaves.
    candidates: Vec<Pair>,
    budget: CandidateBudget,
    /// Mode F: comparisons of leaves since the last pair list.
    tests: u64,
    /// Mode F: the objects that were inserted, moved or removed in this update; scratch. All slots are `false` between updates.
    touched: Vec<bool>,
    touched_ids: Vec<u32>,
    scratch: Scratch,
}

/// Buffers that can be dropped without changing a result.
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// Nodes to visit.
    stack: Vec<u32>,
    /// Mode D: pairs of nodes to visit.
    stacks: PerWorker<Vec<(u32, u32)>>,
    /// Nodes that a query, or a probe, visits; of several threads at once.
    queries: BufferPool<Vec<u32>>,
}

impl<const D: usize, T: Real> Dbvt<D, T> {
    /// An empty structure. Options are clamped to their ranges.
    pub fn new(options: Options) -> Self {
        assert_dimension::<D>();
        let options = options.in_range();
        Self {
            options,
            tracked: TrackedBoxes::default(),
            tree: Tree::default(),
            leaves: Vec::new(),
            unbounded: Unbounded::default(),
            candidates: Vec::new(),
            budget: CandidateBudget::default(),
            tests: 0,
            touched: Vec::new(),
            touched_ids: Vec::new(),
            scratch: Scratch::default(),
        }
    }
}

impl<const D: usize, T: Real> Dbvt<D, T> {
    fn stats(&self) -> Stats {
        let Scratch { stack, stacks, queries } = &self.scratch;
        let scratch = bytes_of(stack) + queries.bytes(bytes_of) + stacks.iter().map(|stack| bytes_of(&stack)).sum::<usize>();
        let lists = bytes_of(&self.leaves) + bytes_of(&self.candidates) + bytes_of(&self.touched) + bytes_of(&self.touched_ids);
        Stats {
            bytes: self.tracked.bytes() + self.tree.bytes() + self.unbounded.bytes() + lists + scratch,
            extra: vec![("height", f64::from(self.tree.height())), ("candidates", self.candidates.len() as f64)],
            ..Stats::default()
        }
    }
}

implement_broad_phase!(Dbvt, reader, outline);
