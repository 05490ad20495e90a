//! The tree: nodes in an arena, and one array of objects in the order of an in-order walk.
//!
//! ```text
//!            N                order:  [ LL | L | LR | N | RL | R | RR ]
//!          /   \              a node's own objects are one block,
//!         L     R             a subtree's objects are one block as well
//!        / \   / \
//!      LL  LR RL RR
//! ```
//! Moving objects between a node and its child shifts the block of one grandchild. The indices of that block are corrected later:
//! the shift is stored in the grandchild's [`Pending`] until the walk from the root gets there.

use std::ops::Range;

use crate::geometry::{Aabb, Real};

/// No child.
pub(super) const NONE: u32 = u32::MAX;
/// The root's place in the arena, for ever.
pub(super) const ROOT: u32 = 0;

/// A correction of indices that has not been applied to a subtree yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Pending {
    /// None.
    #[default]
    Nothing,
    /// All blocks of the subtree moved by this much.
    Shift(isize),
    /// All objects of the subtree were taken out; its blocks are empty and stand at this index.
    Emptied(usize),
}

impl Pending {
    /// This correction, and then a move by `by`.
    #[inline]
    fn then(self, by: isize) -> Self {
        match self {
            Pending::Nothing => Pending::Shift(by),
            Pending::Shift(before) => Pending::Shift(before + by),
            Pending::Emptied(at) => Pending::Emptied(at.wrapping_add_signed(by)),
        }
    }
}

/// One node. A leaf has no children and no plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Node<const D: usize, T> {
    /// The open region that the planes of the ancestors leave: an object fits if it is strictly inside.
    pub(super) region: Aabb<D, T>,
    /// Where the plane stands on `axis`. Objects that touch it belong to this node.
    pub(super) plane: T,
    pub(super) axis: u32,
    pub(super) left: u32,
    pub(super) right: u32,
    /// Its own objects: `order[begin..end]`.
    pub(super) begin: usize,
    pub(super) end: usize,
    /// Objects in the whole subtree.
    pub(super) population: usize,
    pub(super) pending: Pending,
    /// The [`version`](Tree::version) in which its region or its plane last changed.
    pub(super) shaped: u32,
}

impl<const D: usize, T: Real> Node<D, T> {
    pub(super) fn leaf(region: Aabb<D, T>, begin: usize, end: usize) -> Self {
        Self {
            region,
            plane: T::ZERO,
            axis: 0,
            left: NONE,
            right: NONE,
            begin,
            end,
            population: end - begin,
            pending: Pending::Nothing,
            shaped: 0,
        }
    }

    #[inline(always)]
    pub(super) fn is_leaf(&self) -> bool {
        self.left == NONE
    }

    #[inline(always)]
    pub(super) fn own(&self) -> Range<usize> {
        self.begin..self.end
    }

    /// Is the box strictly inside the region? Nothing in another branch can then touch it.
    #[inline(always)]
    pub(super) fn fits(&self, value: &Aabb<D, T>) -> bool {
        let mut all = true;
        for k in 0..D {
            all &= (self.region.min[k] < value.min[k]) & (value.max[k] < self.region.max[k]);
        }
        all
    }

    /// The regions of the two sides of the plane.
    pub(super) fn halves(&self) -> (Aabb<D, T>, Aabb<D, T>) {
        let (mut left, mut right) = (self.region, self.region);
        left.max[self.axis as usize] = self.plane;
        right.min[self.axis as usize] = self.plane;
        (left, right)
    }
}

/// Nodes and objects.
#[derive(Clone, Debug)]
pub(super) struct Tree<const D: usize, T> {
    pub(super) nodes: Vec<Node<D, T>>,
    /// Places in the arena that no node uses.
    pub(super) free: Vec<u32>,
    /// The objects, node by node in the order of an in-order walk.
    pub(super) order: Vec<u32>,
    /// A number that a caller sets, to find which nodes have changed their shape since.
    pub(super) version: u32,
}

impl<const D: usize, T: Real> Default for Tree<D, T> {
    fn default() -> Self {
        Self { nodes: vec![Node::leaf(Aabb::everything(), 0, 0)], free: Vec::new(), order: Vec::new(), version: 0 }
    }
}

impl<const D: usize, T: Real> Tree<D, T> {
    #[inline(always)]
    pub(super) fn node(&self, node: u32) -> &Node<D, T> {
        &self.nodes[node as usize]
    }

    #[inline(always)]
    pub(super) fn node_mut(&mut self, node: u32) -> &mut Node<D, T> {
        &mut self.nodes[node as usize]
    }

    /// Objects in the subtree, whatever correction is pending; 0 for no node.
    #[inline]
    pub(super) fn population(&self, node: u32) -> usize {
        if node == NONE {
            return 0;
        }
        let node = self.node(node);
        if matches!(node.pending, Pending::Emptied(_)) { 0 } else { node.population }
    }

    /// The block of the whole subtree. The node's own indices must be settled.
    pub(super) fn range(&self, node: u32) -> Range<usize> {
        let (left, right) = (self.node(node).left, self.node(node).right);
        self.node(node).begin - self.population(left)..self.node(node).end + self.population(right)
    }

    /// Leaves a correction for the subtree, to be applied when its nodes are visited.
    #[inline]
    pub(super) fn shift(&mut self, node: u32, by: isize) {
        if node != NONE && by != 0 {
            let pending = &mut self.node_mut(node).pending;
            *pending = pending.then(by);
        }
    }

    /// Notes that all objects of the subtree were taken out.
    pub(super) fn empty(&mut self, node: u32, at: usize) {
        if node != NONE {
            self.node_mut(node).pending = Pending::Emptied(at);
        }
    }

    /// Applies the pending correction to a node's indices, and passes it on to the children.
    pub(super) fn settle(&mut self, node: u32) {
        let (left, right) = (self.node(node).left, self.node(node).right);
        let this = self.node_mut(node);
        match std::mem::take(&mut this.pending) {
            Pending::Nothing => {}
            Pending::Shift(by) => {
                this.begin = this.begin.wrapping_add_signed(by);
                this.end = this.end.wrapping_add_signed(by);
                self.shift(left, by);
                self.shift(right, by);
            }
            Pending::Emptied(at) => {
                (this.begin, this.end, this.population) = (at, at, 0);
                self.empty(left, at);
                self.empty(right, at);
            }
        }
    }

    /// Takes all objects of the subtree into the node itself: a change of indices, no object moves.
    pub(super) fn pull_up(&mut self, node: u32) {
        let range = self.range(node);
        let (left, right) = (self.node(node).left, self.node(node).right);
        self.empty(left, range.start);
        self.empty(right, range.end);
        let this = self.node_mut(node);
        (this.begin, this.end) = (range.start, range.end);
    }

    /// A place for a node.
    pub(super) fn add(&mut self, node: Node<D, T>) -> u32 {
        match self.free.pop() {
            Some(place) => {
                *self.node_mut(place) = node;
                place
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    /// Frees the places of a whole subtree.
    pub(super) fn release(&mut self, node: u32) {
        if node != NONE {
            let (left, right) = (self.node(node).left, self.node(node).right);
            self.release(left);
            self.release(right);
            self.release_one(node);
        }
    }

    /// Frees one place, but not those of its children.
    pub(super) fn release_one(&mut self, node: u32) {
        *self.node_mut(node) = Node::leaf(Aabb::empty(), 0, 0);
        self.free.push(node);
    }

    /// One leaf with all objects.
    pub(super) fn reset(&mut self) {
        self.nodes.clear();
        self.free.clear();
        self.nodes.push(Node::leaf(Aabb::everything(), 0, self.order.len()));
    }

    /// Appends an object: it enters the rightmost node, and the next update takes it to its ideal one.
    pub(super) fn append(&mut self, id: u32) {
        self.order.push(id);
        let mut node = ROOT;
        loop {
            let this = self.node_mut(node);
            this.population += 1;
            if this.right == NONE {
                this.end += 1;
                return;
            }
            node = this.right;
        }
    }

    /// Removes the objects that `stays` rejects, each by swapping it with the last one; `swapped` is called with the object that changed place.
    /// One pass over the array finds them all.
    pub(super) fn remove(&mut self, stays: impl Fn(u32) -> bool, mut swapped: impl FnMut(u32)) {
        let mut len = self.order.len();
        let mut at = 0;
        while at < len {
            if !stays(self.order[at]) {
                while len > at + 1 && !stays(self.order[len - 1]) {
                    len -= 1;
                }
                len -= 1;
                if at < len {
                    self.order[at] = self.order[len];
                    swapped(self.order[at]);
                }
            }
            at += 1;
        }
        self.order.truncate(len);
        self.cut(ROOT, len);
    }

    /// Cuts all blocks at `len`, and recounts the populations.
    fn cut(&mut self, node: u32, len: usize) -> usize {
        if node == NONE {
            return 0;
        }
        let (left, right) = (self.node(node).left, self.node(node).right);
        let below = self.cut(left, len) + self.cut(right, len);
        let this = self.node_mut(node);
        this.begin = this.begin.min(len);
        this.end = this.end.min(len);
        this.population = below + this.end - this.begin;
        this.population
    }

    pub(super) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node<D, T>>() + (self.free.capacity() + self.order.capacity()) * 4
    }
}
