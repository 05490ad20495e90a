//! The walk from the root down that finds internal and external pairs.
//!
//! *Internal* pairs have both objects in one node. *External* pairs have one in the node and one in an ancestor, which reaches
//! into the node's region. The external objects of a child are those of its parent, and the parent's own, that reach to the
//! child's side of the plane: one filter per node finds them, and they lie on a stack in the order of the walk.
//!
//! Departures from the paper, each for speed: before the bipartite sweep, external objects that miss the bounds of the node's own
//! objects are left out; and sweeps work on columns, many boxes at once.

use std::ops::Range;

use super::bits::Bits;
use super::nodes::{NONE, Tree};
use super::options::Pruning;
use super::sort::{Entry, Sorter};
use crate::geometry::{Aabb, Real};
use crate::kernels::{Hits, Kernels, Order, Soa, all_pairs, sweep};

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

/// What a worker needs; can be dropped without changing a result.
#[derive(Clone, Debug)]
pub(super) struct Walker<const D: usize, T: Real> {
    /// The external objects of the nodes on the path, then the own objects of the last one. `stack[top..]` is room.
    stack: Vec<Entry<D, T>>,
    top: usize,
    near: Vec<Entry<D, T>>,
    far: Vec<Entry<D, T>>,
    own: Soa<D, T>,
    other: Soa<D, T>,
    sorter: Sorter<T>,
}

impl<const D: usize, T: Real> Default for Walker<D, T> {
    fn default() -> Self {
        Self {
            stack: Vec::new(),
            top: 0,
            near: Vec::new(),
            far: Vec::new(),
            own: Soa::default(),
            other: Soa::default(),
            sorter: Sorter::default(),
        }
    }
}

impl<const D: usize, T: Real> Walker<D, T> {
    pub(super) fn bytes(&self) -> usize {
        (self.stack.capacity() + self.near.capacity() + self.far.capacity()) * size_of::<Entry<D, T>>()
            + self.own.bytes()
            + self.other.bytes()
            + self.sorter.bytes()
    }

    /// Puts the external objects of the walk's first node on the empty stack.
    pub(super) fn start(&mut self, search: &Search<'_, D, T>, externals: &[u32]) -> Range<usize> {
        self.top = 0;
        self.gather(search, externals)
    }

    fn gather(&mut self, search: &Search<'_, D, T>, ids: &[u32]) -> Range<usize> {
        let from = self.top;
        self.reserve(ids.len());
        for (place, &id) in self.stack[from..].iter_mut().zip(ids) {
            let moved = search.dynamic.is_none_or(|dynamic| dynamic.contains(id));
            *place = Entry { aabb: search.boxes[id as usize], id, moved };
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

    /// Visits the subtree below `node`, parents first, left before right. `visit` is called for each node, and calls
    /// [`join`](Walker::join) if it wants its pairs.
    pub(super) fn descend(
        &mut self,
        search: &Search<'_, D, T>,
        node: u32,
        externals: Range<usize>,
        visit: &mut impl FnMut(&mut Self, u32, Range<usize>),
    ) {
        let mark = self.top;
        visit(self, node, externals.clone());
        let this = search.tree.node(node);
        if this.left != NONE {
            // Own objects lie behind the externals: both together are the candidates of the children.
            debug_assert_eq!(externals.end, mark);
            self.gather(search, &search.tree.order[this.own()]);
            let all = externals.start..self.top;
            let below = self.top;
            for (child, side) in [(this.left, Side::Left), (this.right, Side::Right)] {
                let theirs = self.pass_down(all.clone(), this.axis as usize, this.plane, side);
                self.descend(search, child, theirs, visit);
                self.top = below;
            }
        }
        self.top = mark;
    }

    /// Copies those of `range` that reach to one side of the plane to the top of the stack.
    fn pass_down(&mut self, range: Range<usize>, axis: usize, plane: T, side: Side) -> Range<usize> {
        self.reserve(range.len());
        let from = self.top;
        let (below, above) = self.stack.split_at_mut(from);
        let mut count = 0;
        for entry in &below[range] {
            above[count] = *entry;
            let reaches = match side {
                Side::Left => entry.aabb.min[axis] < plane,
                Side::Right => entry.aabb.max[axis] > plane,
            };
            count += usize::from(reaches);
        }
        self.top += count;
        from..self.top
    }

    /// All pairs of `node`, internal and external.
    pub(super) fn join(&mut self, search: &Search<'_, D, T>, node: u32, externals: Range<usize>, hits: &mut Hits<'_>) {
        let mark = self.top;
        let own = self.gather(search, &search.tree.order[search.tree.node(node).own()]);
        if search.dynamic.is_some() {
            self.join_dynamic(search, own, externals, hits);
        } else if !own.is_empty() {
            let (bounds, axis) = survey(&self.stack[own.clone()]);
            self.near.clear();
            self.near.extend(self.stack[externals].iter().filter(|entry| bounds.overlaps(&entry.aabb)));
            self.sorter.load(&self.stack[own], axis, &mut self.own);
            self.within(search, axis, hits);
            if !self.near.is_empty() {
                self.sorter.load(&self.near, axis, &mut self.other);
                self.between(search, axis, hits);
            }
        }
        self.top = mark;
    }

    /// The pairs with at least one dynamic object: dynamic own objects with each other and with all others, then static own ones
    /// with dynamic external ones. Static objects out of reach are left out before anything is sorted.
    fn join_dynamic(&mut self, search: &Search<'_, D, T>, own: Range<usize>, externals: Range<usize>, hits: &mut Hits<'_>) {
        self.near.clear();
        self.near.extend(self.stack[own.clone()].iter().filter(|entry| entry.moved));
        if !self.near.is_empty() {
            let (bounds, axis) = survey(&self.near);
            self.sorter.load(&self.near, axis, &mut self.own);
            self.within(search, axis, hits);
            self.far.clear();
            let still = self.stack[own.clone()].iter().filter(|entry| !entry.moved);
            let others = still.chain(&self.stack[externals.clone()]);
            self.far.extend(others.filter(|entry| bounds.overlaps(&entry.aabb)));
            self.sorter.load(&self.far, axis, &mut self.other);
            self.between(search, axis, hits);
        }
        self.near.clear();
        self.near.extend(self.stack[externals].iter().filter(|entry| entry.moved));
        if !self.near.is_empty() {
            let (bounds, axis) = survey(&self.near);
            self.far.clear();
            self.far.extend(self.stack[own].iter().filter(|entry| !entry.moved && bounds.overlaps(&entry.aabb)));
            if !self.far.is_empty() {
                self.sorter.load(&self.near, axis, &mut self.own);
                self.sorter.load(&self.far, axis, &mut self.other);
                self.between(search, axis, hits);
            }
        }
    }

    fn within(&self, search: &Search<'_, D, T>, axis: usize, hits: &mut Hits<'_>) {
        match search.pruning {
            Pruning::TreeOnly => all_pairs::join_self(search.kernels, self.own.columns(), 0..self.own.len(), hits),
            _ => sweep::sweep_self(search.kernels, self.own.columns(), axis, hits),
        }
    }

    fn between(&self, search: &Search<'_, D, T>, axis: usize, hits: &mut Hits<'_>) {
        let (own, other) = (self.own.columns(), self.other.columns());
        match search.pruning {
            Pruning::TreeOnly => all_pairs::join_between(search.kernels, own, other, Order::Canonical, hits),
            _ => sweep::sweep_between(search.kernels, own, other, axis, hits),
        }
    }
}

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// The bounds of the entries, and the axis on which their centres vary most: the sweep axis.
fn survey<const D: usize, T: Real>(entries: &[Entry<D, T>]) -> (Aabb<D, T>, usize) {
    let mut bounds = Aabb::empty();
    let (mut sum, mut squares) = ([T::ZERO; D], [T::ZERO; D]);
    // Relative to the first one: far from the origin, squares would swallow the differences.
    let origin = entries[0].aabb.center();
    for entry in entries {
        let center = entry.aabb.center();
        for k in 0..D {
            bounds.min[k] = if entry.aabb.min[k] < bounds.min[k] { entry.aabb.min[k] } else { bounds.min[k] };
            bounds.max[k] = if entry.aabb.max[k] > bounds.max[k] { entry.aabb.max[k] } else { bounds.max[k] };
            let d = center[k] - origin[k];
            sum[k] += d;
            squares[k] += d * d;
        }
    }
    let share = T::from_f64(1.0 / entries.len() as f64);
    let variance = |k: usize| squares[k] - sum[k] * sum[k] * share;
    let axis = (1..D).fold(0, |best, k| if variance(k) > variance(best) { k } else { best });
    (bounds, axis)
}
