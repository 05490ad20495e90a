//! Optimize: from the root down, planes are evaluated and corrected, and objects go down to their ideal nodes.
//!
//! ```text
//!  node ── leaf ── more than T objects? ── yes ── partition ── both children are next
//!    │                    └── no ── done
//!    └── inner ── fewer than T in the subtree? ── yes ── collapse ── done
//!                         └── no ── filter, evaluate ── positive ── both children are next
//!                                          └── negative ── translate, evaluate ── positive ── both children are next
//!                                                                   └── negative ── erase ── the branch that is left is next
//! ```
//! Every inner node that this walk leaves behind is evaluated positive, and no later step changes its counts: objects only go
//! down. So a second walk without motion finds nothing to do, and changes no index.
//!
//! One departure from the paper makes that true. There, a partition is not evaluated until the next frame, and a set that no
//! mean splits well (one far outlier) is partitioned and erased for ever. Here a partition tries further planes until one is
//! evaluated positive, and leaves the leaf whole if none is (`partition.rs`).

mod collapse;
mod erase;
mod evaluate;
mod filter;
mod partition;
mod translate;

pub(super) use evaluate::{Counts, is_negative};

use super::nodes::Tree;
use crate::bits::BitSet;
use crate::geometry::{Aabb, Real};

/// Which objects may be in a node that is not their ideal one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Loose<'a> {
    /// Any.
    All,
    /// These: they moved, entered, or changed places.
    These(&'a BitSet),
}

impl Loose<'_> {
    #[inline(always)]
    pub(super) fn contains(self, id: u32) -> bool {
        match self {
            Loose::All => true,
            Loose::These(bits) => bits.contains(id),
        }
    }
}

/// Counts of the operators in one update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    pub(super) raised: u64,
    pub(super) lowered: u64,
    pub(super) partitions: u64,
    pub(super) collapses: u64,
    pub(super) translations: u64,
    pub(super) erasures: u64,
}

impl Work {
    pub(super) fn add(&mut self, other: &Work) {
        self.raised += other.raised;
        self.lowered += other.lowered;
        self.partitions += other.partitions;
        self.collapses += other.collapses;
        self.translations += other.translations;
        self.erasures += other.erasures;
    }
}

/// Buffers that can be dropped without changing a result.
#[derive(Debug, Default)]
pub(super) struct Scratch<T> {
    ids: Vec<u32>,
    rights: Vec<u32>,
    centers: Vec<T>,
    stack: Vec<(u32, bool)>,
}

impl<T> Scratch<T> {
    pub(super) fn bytes(&self) -> usize {
        (self.ids.capacity() + self.rights.capacity()) * 4
            + self.centers.capacity() * size_of::<T>()
            + self.stack.capacity() * size_of::<(u32, bool)>()
    }
}

/// One walk over the tree or a part of it.
pub(super) struct Optimizer<'a, const D: usize, T> {
    pub(super) tree: &'a mut Tree<D, T>,
    /// The boxes that the tree arranges, by slot.
    pub(super) boxes: &'a [Aabb<D, T>],
    pub(super) loose: Loose<'a>,
    /// The paper's T.
    pub(super) threshold: usize,
    pub(super) work: &'a mut Work,
    pub(super) scratch: &'a mut Scratch<T>,
}

impl<const D: usize, T: Real> Optimizer<'_, D, T> {
    /// The flow chart above, from `first` on. A stack entry says whether objects that are not loose may stand above their ideal node as
    /// well, because an ancestor's plane moved. Subtrees of fewer than `grain` objects are not entered, but listed.
    pub(super) fn walk(mut self, first: (u32, bool), grain: usize, listed: &mut Vec<(u32, bool)>) {
        let mut stack = std::mem::take(&mut self.scratch.stack);
        stack.clear();
        stack.push(first);
        while let Some((node, all)) = stack.pop() {
            self.tree.settle(node);
            if all {
                self.reshape(node);
            }
            let this = *self.tree.node(node);
            if this.population < grain {
                listed.push((node, all));
            } else if this.is_leaf() {
                if this.end - this.begin > self.threshold && self.partition(node) {
                    self.reshape(node);
                    self.push_children(&mut stack, node, true);
                }
            } else if this.population < self.threshold {
                self.reshape(node);
                self.collapse(node);
            } else {
                self.filter(node, all);
                let moved = self.is_negative(node);
                if moved {
                    self.reshape(node);
                    self.translate(node);
                    if self.is_negative(node) {
                        self.erase(node);
                        stack.push((node, true));
                        continue;
                    }
                }
                self.push_children(&mut stack, node, all || moved);
            }
        }
        self.scratch.stack = stack;
    }

    fn reshape(&mut self, node: u32) {
        self.tree.node_mut(node).shaped = self.tree.version;
    }

    fn push_children(&self, stack: &mut Vec<(u32, bool)>, node: u32, all: bool) {
        let this = self.tree.node(node);
        stack.push((this.right, all));
        stack.push((this.left, all));
    }
}
