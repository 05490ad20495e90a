//! The walk from the root down that finds internal and external pairs.
//!
//! *Internal* pairs have both objects in one node. *External* pairs have one in the node and one in an ancestor, which reaches
//! into the node's region. The external objects of a child are those of its parent, and the parent's own, that reach to the
//! child's side of the plane: one filter per node finds them, and they lie on a stack in the order of the walk.
//!
//! Departures from the paper, each for speed: before the bipartite sweep, external objects that miss the bounds of the node's own
//! objects are left out; and the sweep sorts and compares in bytes before it confirms on the boxes (`kernels/node.rs`).

use std::ops::Range;

use super::bits::Bits;
use super::nodes::Tree;
use super::options::Pruning;
use crate::geometry::{Aabb, Real};
use crate::kernels::node::{self, Entry};
use crate::kernels::{Hits, Kernels, Order, Soa, all_pairs};

/// What a walk reads.
#[derive(Clone, Copy)]
pub(super) struct Search<'a, const D: usize, T> {
    pub(super) tree: &'a Tree<D, T>,
    /// The boxes to be joined, by slot: the frame's, or the held ones if the cache is to be filled.
    pub(super) boxes: &'a [Aabb<D, T>],
    /// If given: only pairs with at least one of these.
    pub(super) dynamic: Option<&'a Bits>,
    pub(super) kernels: Kernels,
    pub(super) pruning: Pruning,
}

/// A node on the walk: where its external and its own objects lie on the stack.
#[derive(Clone, Debug)]
pub(super) struct Stop {
    pub(super) node: u32,
    externals: Range<usize>,
    own: Range<usize>,
}

/// What a worker needs. All but the count of runs can be dropped without changing a result.
#[derive(Clone, Debug)]
pub(super) struct Walker<const D: usize, T: Real> {
    /// The external objects of the nodes on the path, each followed by the node's own objects. `stack[top..]` is room.
    stack: Vec<Entry<D, T>>,
    top: usize,
    moving: Vec<Entry<D, T>>,
    others: Vec<Entry<D, T>>,
    columns: [Soa<D, T>; 2],
    pub(super) scratch: node::Scratch<D, T>,
}

impl<const D: usize, T: Real> Default for Walker<D, T> {
    fn default() -> Self {
        Self {
            stack: Vec::new(),
            top: 0,
            moving: Vec::new(),
            others: Vec::new(),
            columns: Default::default(),
            scratch: node::Scratch::default(),
        }
    }
}

impl<const D: usize, T: Real> Walker<D, T> {
    pub(super) fn bytes(&self) -> usize {
        (self.stack.capacity() + self.moving.capacity() + self.others.capacity()) * size_of::<Entry<D, T>>()
            + self.columns.iter().map(Soa::bytes).sum::<usize>()
            + self.scratch.bytes()
    }

    /// Puts the external objects of the walk's first node on the empty stack.
    pub(super) fn start(&mut self, search: &Search<'_, D, T>, externals: &[u32]) -> Range<usize> {
        self.top = 0;
        self.gather(search, externals)
    }

    fn gather(&mut self, search: &Search<'_, D, T>, ids: &[u32]) -> Range<usize> {
        let from = self.top;
        self.reserve(ids.len());
        let places = &mut self.stack[from..from + ids.len()];
        match search.dynamic {
            None => {
                for (place, &id) in places.iter_mut().zip(ids) {
                    *place = Entry { aabb: search.boxes[id as usize], id, moved: false };
                }
            }
            Some(dynamic) => {
                for (place, &id) in places.iter_mut().zip(ids) {
                    *place = Entry { aabb: search.boxes[id as usize], id, moved: dynamic.contains(id) };
                }
            }
        }
        self.top += ids.len();
        from..self.top
    }

    fn reserve(&mut self, count: usize) {
        if self.stack.len() < self.top + count {
            let blank = Entry { aabb: Aabb::default(), id: 0, moved: false };
            self.stack.resize((self.top + count).next_power_of_two(), blank);
        }
    }

    /// Visits `node` and, if `whole`, all below, parents first, left before right. `visit` calls [`join`](Walker::join).
    pub(super) fn descend(
        &mut self,
        search: &Search<'_, D, T>,
        node: u32,
        externals: Range<usize>,
        whole: bool,
        visit: &mut impl FnMut(&mut Self, Stop),
    ) {
        debug_assert_eq!(externals.end, self.top);
        let this = search.tree.node(node);
        let ids = &search.tree.order[this.own()];
        // A leaf where nothing moves, and where nothing that moves reaches, has nothing to join.
        let quiet = this.is_leaf()
            && search.dynamic.is_some_and(|dynamic| {
                !self.stack[externals.clone()].iter().any(|entry| entry.moved) && !ids.iter().any(|&id| dynamic.contains(id))
            });
        let own = self.gather(search, if quiet { &[] } else { ids });
        visit(self, Stop { node, externals: externals.clone(), own });
        if whole && !this.is_leaf() {
            // Own objects lie behind the externals: both together are the candidates of the children.
            let all = externals.start..self.top;
            let mark = self.top;
            for (child, left) in [(this.left, true), (this.right, false)] {
                let theirs = self.pass_down(all.clone(), this.axis as usize, this.plane, left);
                self.descend(search, child, theirs, true, visit);
                self.top = mark;
            }
        }
        self.top = externals.end;
    }

    /// Copies those of `range` that reach to one side of the plane to the top of the stack.
    fn pass_down(&mut self, range: Range<usize>, axis: usize, plane: T, left: bool) -> Range<usize> {
        self.reserve(range.len());
        let from = self.top;
        let (below, above) = self.stack.split_at_mut(from);
        let mut count = 0;
        for entry in &below[range] {
            above[count] = *entry;
            let reaches = if left { entry.aabb.min[axis] < plane } else { entry.aabb.max[axis] > plane };
            count += usize::from(reaches);
        }
        self.top += count;
        from..self.top
    }

    /// All pairs of a node, internal and external; with a dynamic object, if only those are wanted.
    pub(super) fn join(&mut self, search: &Search<'_, D, T>, stop: &Stop, hits: &mut Hits<'_>) {
        let (own, externals) = (&self.stack[stop.own.clone()], &self.stack[stop.externals.clone()]);
        if own.is_empty() {
            return;
        }
        if search.dynamic.is_none() {
            let (columns, scratch) = (&mut self.columns, &mut self.scratch);
            return join(search, own, externals, true, columns, scratch, hits);
        }
        // Own objects in motion with each other and with all others, then those at rest with external ones in motion.
        let (moving, others) = (&mut self.moving, &mut self.others);
        moving.clear();
        others.clear();
        moving.extend(own.iter().filter(|entry| entry.moved));
        others.extend(own.iter().filter(|entry| !entry.moved));
        let still = others.len();
        others.extend_from_slice(externals);
        join(search, moving, others, true, &mut self.columns, &mut self.scratch, hits);
        moving.clear();
        moving.extend(externals.iter().filter(|entry| entry.moved));
        join(search, moving, &others[..still], false, &mut self.columns, &mut self.scratch, hits);
    }
}

/// Joins by a sweep, or without one if only the tree may prune.
fn join<const D: usize, T: Real>(
    search: &Search<'_, D, T>,
    own: &[Entry<D, T>],
    others: &[Entry<D, T>],
    within: bool,
    columns: &mut [Soa<D, T>; 2],
    scratch: &mut node::Scratch<D, T>,
    hits: &mut Hits<'_>,
) {
    if search.pruning != Pruning::TreeOnly {
        return node::join(search.kernels, own, others, within, scratch, hits);
    }
    for (columns, entries) in columns.iter_mut().zip([own, others]) {
        columns.resize(entries.len());
        entries.iter().enumerate().for_each(|(position, entry)| columns.set(position, entry.id, &entry.aabb));
    }
    let [a, b] = columns.each_ref().map(Soa::columns);
    if within {
        all_pairs::join_self(search.kernels, a, 0..a.len(), hits);
    }
    all_pairs::join_between(search.kernels, a, b, Order::Canonical, hits);
}
