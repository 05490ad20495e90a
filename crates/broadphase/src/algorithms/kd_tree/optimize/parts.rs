//! The walk with several workers: the few nodes of large subtrees first, then the small subtrees, all at once.
//!
//! Nothing that optimize does in a subtree leaves the subtree's block. So a small subtree is taken out as a tree of its own, walked,
//! and put back. Subtrees are cut by population, also for a single worker, and put back in the order of the walk: which place of the
//! arena a new node gets does not depend on the order of jobs.

use std::sync::{Mutex, PoisonError};

use super::{Loose, Optimizer, Scratch, Work};
use crate::algorithms::kd_tree::nodes::{NONE, Node, Pending, ROOT, Tree};
use crate::context::{Context, PerWorker};
use crate::geometry::{Aabb, Real};

/// Subtrees of fewer objects are walked on their own.
const GRAIN: usize = 8192;

/// A subtree as a tree of its own, whose first object is object 0.
#[derive(Debug, Default)]
struct Part<const D: usize, T: Real> {
    tree: Tree<D, T>,
    /// Where its nodes stand in the arena.
    places: Vec<u32>,
    /// Where its objects start in the array.
    start: usize,
    work: Work,
}

impl<const D: usize, T: Real> Part<D, T> {
    fn bytes(&self) -> usize {
        self.tree.bytes() + self.places.capacity() * 4
    }

    /// Copies a subtree whose own indices are settled.
    fn take(&mut self, from: &Tree<D, T>, node: u32) {
        let range = from.range(node);
        self.start = range.start;
        self.tree.version = from.version;
        self.tree.order.clear();
        self.tree.order.extend_from_slice(&from.order[range]);
        self.tree.nodes.clear();
        self.tree.free.clear();
        self.places.clear();
        self.work = Work::default();
        self.take_node(from, node);
    }

    fn take_node(&mut self, from: &Tree<D, T>, node: u32) -> u32 {
        if node == NONE {
            return NONE;
        }
        let (this, start) = (*from.node(node), self.start);
        let at = self.tree.nodes.len();
        // Indices with a correction to come may lie before the start for now.
        let pending = if let Pending::Emptied(at) = this.pending { Pending::Emptied(at - start) } else { this.pending };
        let (begin, end) = (this.begin.wrapping_sub(start), this.end.wrapping_sub(start));
        self.tree.nodes.push(Node { begin, end, pending, ..this });
        self.places.push(node);
        let (left, right) = (self.take_node(from, this.left), self.take_node(from, this.right));
        (self.tree.nodes[at].left, self.tree.nodes[at].right) = (left, right);
        at as u32
    }

    /// Puts the subtree back in its place.
    fn put_back(&mut self, into: &mut Tree<D, T>) {
        into.order[self.start..self.start + self.tree.order.len()].copy_from_slice(&self.tree.order);
        let known = self.places.len();
        self.places.resize(self.tree.nodes.len(), ROOT); // a new node's place is found below
        for &gone in &self.tree.free {
            let place = std::mem::replace(&mut self.places[gone as usize], NONE);
            if (gone as usize) < known {
                into.release_one(place);
            }
        }
        for place in self.places[known..].iter_mut().filter(|place| **place != NONE) {
            *place = into.add(Node::leaf(Aabb::empty(), 0, 0));
        }
        let place = |child: u32| if child == NONE { NONE } else { self.places[child as usize] };
        for (this, &at) in self.tree.nodes.iter().zip(&self.places) {
            if at != NONE {
                let (begin, end) = (this.begin + self.start, this.end + self.start);
                *into.node_mut(at) = Node { begin, end, left: place(this.left), right: place(this.right), ..*this };
            }
        }
    }
}

/// The small subtrees of a walk. Scratch.
#[derive(Debug, Default)]
pub(in crate::algorithms::kd_tree) struct Parts<const D: usize, T: Real> {
    parts: Vec<Mutex<Part<D, T>>>,
    /// Their nodes, and whether an ancestor's plane moved.
    nodes: Vec<(u32, bool)>,
    scratch: PerWorker<Scratch<T>>,
}

impl<const D: usize, T: Real> Parts<D, T> {
    pub(in crate::algorithms::kd_tree) fn bytes(&self) -> usize {
        let part = |part: &Mutex<Part<D, T>>| part.lock().unwrap_or_else(PoisonError::into_inner).bytes();
        self.parts.iter().map(part).sum::<usize>()
            + self.parts.capacity() * size_of::<Mutex<Part<D, T>>>()
            + self.nodes.capacity() * size_of::<(u32, bool)>()
            + self.scratch.iter().map(|scratch| scratch.bytes()).sum::<usize>()
    }

    /// Optimises the whole tree.
    pub(in crate::algorithms::kd_tree) fn optimize(
        &mut self,
        tree: &mut Tree<D, T>,
        (boxes, loose): (&[Aabb<D, T>], Loose<'_>),
        threshold: usize,
        context: &Context,
    ) -> Work {
        self.scratch.prepare(context);
        self.nodes.clear();
        let mut work = Work::default();
        let grain = if tree.order.len() < GRAIN { 0 } else { GRAIN };
        {
            // Its buffers are given back before the jobs ask for them.
            let scratch = &mut *self.scratch.get(0);
            let top = Optimizer { tree: &mut *tree, boxes, loose, threshold, work: &mut work, scratch };
            top.walk((ROOT, false), grain, &mut self.nodes);
        }
        if self.parts.len() < self.nodes.len() {
            self.parts.resize_with(self.nodes.len(), Mutex::default);
        }
        let (shared, parts, nodes, scratches) = (&*tree, &self.parts, &self.nodes, &self.scratch);
        context.run_weighted(nodes.len(), 10 * tree.order.len(), |number, worker| {
            let mut part = parts[number].lock().unwrap_or_else(PoisonError::into_inner);
            let (node, all) = nodes[number];
            part.take(shared, node);
            let Part { tree, work, .. } = &mut *part;
            let scratch = &mut *scratches.get(worker);
            Optimizer { tree, boxes, loose, threshold, work, scratch }.walk((ROOT, all), 0, &mut Vec::new());
        });
        for part in &mut self.parts[..self.nodes.len()] {
            let part = part.get_mut().unwrap_or_else(PoisonError::into_inner);
            part.put_back(tree);
            work.add(&part.work);
        }
        work
    }
}
