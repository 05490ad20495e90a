//! The walk from the root down that finds internal and external pairs.
//!
//! *Internal* pairs have both objects in one node. *External* pairs have one in the node and one in an ancestor, which reaches
//! into the node's region. The external objects of a child are those of its parent, and the parent's own, that reach to the
//! child's side of the plane: one filter per node finds them, and they lie on a stack in the order of the walk.

use std::ops::Range;

use super::nodes::Tree;
use super::options::Pruning;
use crate::geometry::{Aabb, Real};
use crate::kernels::node::{self, AtRest, Entry, NodeCache};
use crate::kernels::{Kernels, Order, PairSink, Soa, all_pairs, prefetch};
use crate::pairs::Pair;

/// How many objects ahead a box is prefetched: boxes lie by slot, so each is a cache miss in a large world.
const AHEAD: usize = 12;

/// The input of a walk.
#[derive(Clone, Copy)]
pub(super) struct Search<'a, const D: usize, T> {
    pub(super) tree: &'a Tree<D, T>,
    /// The boxes to be joined, by slot: the frame's, or the held ones if the cache is to be filled.
    pub(super) boxes: &'a [Aabb<D, T>],
    /// If given: only pairs with at least one dynamic object.
    pub(super) stamps: Option<Stamps<'a>>,
    pub(super) kernels: Kernels,
    pub(super) pruning: Pruning,
    /// Are nodes joined by sweeps over floats, as in the paper?
    pub(super) floats: bool,
}

/// When each object was last dynamic.
#[derive(Clone, Copy)]
pub(super) struct Stamps<'a> {
    pub(super) last: &'a [u32],
    /// The number of this search.
    pub(super) now: u32,
}

/// What a walk gathers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gather {
    /// All objects.
    All,
    /// Those that were dynamic in this search or later: the others are in the node caches.
    Since(u32),
}

/// What a join does with the cache of its node.
pub(super) enum CacheUse<'a, const D: usize, T> {
    /// There is none.
    No,
    /// It is filled.
    Fill(&'a mut NodeCache<D, T>),
    /// It has the objects that were not gathered.
    Use(&'a NodeCache<D, T>, AtRest<'a, D, T>),
}

/// A node on the walk: where its external and its own objects lie on the stack.
#[derive(Clone, Debug)]
pub(super) struct Stop<const D: usize, T> {
    pub(super) node: u32,
    externals: Range<usize>,
    own: Range<usize>,
    /// Of the own objects.
    bounds: Aabb<D, T>,
}

/// The buffers of a worker. All except the count of runs can be dropped without changing a result.
#[derive(Clone, Debug)]
pub(super) struct Walker<const D: usize, T: Real> {
    /// The external objects of the nodes on the path, each followed by the node's own objects. `stack[top..]` is room.
    stack: Vec<Entry<D, T>>,
    top: usize,
    /// The objects to be gathered, if not all are.
    loose: Vec<u32>,
    /// For joins without a sweep: those that move and those that rest, then all parts as columns.
    parts: (Vec<Entry<D, T>>, Vec<Entry<D, T>>),
    columns: [Soa<D, T>; 4],
    /// Own objects gathered since the start of the job, and how many of them are dynamic.
    pub(super) gathered: usize,
    pub(super) dynamic: usize,
    /// Own objects gathered in the whole search.
    pub(super) read: usize,
    pub(super) scratch: node::Scratch<D, T>,
    floats: node::FloatScratch<D, T>,
    /// What a join finds on its way to the cache.
    pub(super) fresh: Vec<Pair>,
}

impl<const D: usize, T: Real> Default for Walker<D, T> {
    fn default() -> Self {
        Self {
            stack: Vec::new(),
            top: 0,
            loose: Vec::new(),
            parts: (Vec::new(), Vec::new()),
            columns: Default::default(),
            gathered: 0,
            dynamic: 0,
            read: 0,
            scratch: node::Scratch::default(),
            floats: node::FloatScratch::default(),
            fresh: Vec::new(),
        }
    }
}

impl<const D: usize, T: Real> Walker<D, T> {
    pub(super) fn bytes(&self) -> usize {
        (self.stack.capacity() + self.parts.0.capacity() + self.parts.1.capacity()) * size_of::<Entry<D, T>>()
            + self.columns.iter().map(Soa::bytes).sum::<usize>()
            + self.scratch.bytes()
            + self.floats.bytes()
            + self.fresh.capacity() * size_of::<Pair>()
            + self.loose.capacity() * 4
    }

    /// Puts the external objects of the walk's first node on the empty stack.
    pub(super) fn start(&mut self, search: &Search<'_, D, T>, externals: &[u32], what: Gather) -> Range<usize> {
        (self.top, self.gathered, self.dynamic) = (0, 0, 0);
        self.gather(search, externals, what).0
    }

    /// Puts objects on the stack; returns where they lie, and their bounds.
    fn gather(&mut self, search: &Search<'_, D, T>, ids: &[u32], what: Gather) -> (Range<usize>, Aabb<D, T>) {
        let mut loose = std::mem::take(&mut self.loose);
        let ids = match (what, search.stamps) {
            (Gather::Since(since), Some(stamps)) => pick(ids, &mut loose, |id| stamps.last[id as usize] >= since),
            _ => ids,
        };
        let from = self.top;
        self.reserve(ids.len());
        let mut bounds = Aabb::empty();
        for (at, place) in self.stack[from..from + ids.len()].iter_mut().enumerate() {
            if let Some(&ahead) = ids.get(at + AHEAD) {
                prefetch(search.boxes, ahead as usize);
            }
            let id = ids[at];
            let aabb = search.boxes[id as usize];
            // The loop is bound by cache misses, so the bounds cost nothing here.
            for k in 0..D {
                bounds.min[k] = if aabb.min[k] < bounds.min[k] { aabb.min[k] } else { bounds.min[k] };
                bounds.max[k] = if aabb.max[k] > bounds.max[k] { aabb.max[k] } else { bounds.max[k] };
            }
            let moved = search.stamps.is_none_or(|stamps| stamps.last[id as usize] == stamps.now);
            *place = Entry { aabb, id, moved };
        }
        self.top += ids.len();
        self.loose = loose;
        (from..self.top, bounds)
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
        (node, whole): (u32, bool),
        externals: Range<usize>,
        what: Gather,
        visit: &mut impl FnMut(&mut Self, Stop<D, T>),
    ) {
        debug_assert_eq!(externals.end, self.top);
        let this = search.tree.node(node);
        let (own, bounds) = self.gather(search, &search.tree.order[this.own()], what);
        self.gathered += own.len();
        self.read += own.len();
        self.dynamic += self.stack[own.clone()].iter().map(|entry| usize::from(entry.moved)).sum::<usize>();
        visit(self, Stop { node, externals: externals.clone(), own, bounds });
        if whole && !this.is_leaf() {
            // Own objects lie behind the externals: both together are the candidates of the children.
            let all = externals.start..self.top;
            let mark = self.top;
            for (child, left) in [(this.left, true), (this.right, false)] {
                let theirs = self.pass_down(all.clone(), this.axis as usize, this.plane, left);
                self.descend(search, (child, true), theirs, what, visit);
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

    /// Reports all pairs of a node, internal and external; only those with a dynamic object, if stamps are given.
    pub(super) fn join(
        &mut self,
        search: &Search<'_, D, T>,
        stop: &Stop<D, T>,
        cache_use: CacheUse<'_, D, T>,
        hits: &mut PairSink<'_>,
    ) {
        let (own, externals) = (&self.stack[stop.own.clone()], &self.stack[stop.externals.clone()]);
        if search.floats && search.pruning != Pruning::TreeOnly {
            let scratch = (&mut self.floats, &mut self.scratch.runs);
            return node::join_floats(search.kernels, own, externals, scratch, hits);
        }
        if search.pruning != Pruning::TreeOnly {
            let cache = match cache_use {
                CacheUse::No => None,
                CacheUse::Fill(cache) => Some(cache),
                CacheUse::Use(cache, rest) => {
                    return node::join_cached(search.kernels, own, externals, (cache, rest), &mut self.scratch, hits);
                }
            };
            return node::join(search.kernels, own, &stop.bounds, externals, cache, &mut self.scratch, hits);
        }
        let (moving, resting) = &mut self.parts;
        moving.clear();
        resting.clear();
        let moves = |entry: &&Entry<D, T>| entry.moved;
        moving.extend(own.iter().filter(moves));
        resting.extend(own.iter().filter(|entry| !moves(entry)));
        self.columns[0].fill(moving);
        self.columns[1].fill(resting);
        self.columns[2].fill(externals);
        moving.clear();
        moving.extend(externals.iter().filter(moves));
        self.columns[3].fill(moving);
        let [moving, resting, externals, moving_externals] = self.columns.each_ref().map(Soa::columns);
        all_pairs::join_self(search.kernels, moving, 0..moving.len(), hits);
        for (a, b) in [(moving, resting), (moving, externals), (resting, moving_externals)] {
            all_pairs::join_between(search.kernels, a, b, Order::Canonical, hits);
        }
    }
}

/// Copies those of `ids` that `wanted` says, without a branch.
fn pick<'a>(ids: &[u32], into: &'a mut Vec<u32>, wanted: impl Fn(u32) -> bool) -> &'a [u32] {
    if into.len() < ids.len() {
        into.resize(ids.len(), 0);
    }
    let mut count = 0;
    for &id in ids {
        into[count] = id;
        count += usize::from(wanted(id));
    }
    &into[..count]
}

/// Columns from entries, in the order given.
trait Fill<const D: usize, T> {
    fn fill(&mut self, entries: &[Entry<D, T>]);
}

impl<const D: usize, T: Real> Fill<D, T> for Soa<D, T> {
    fn fill(&mut self, entries: &[Entry<D, T>]) {
        self.resize(entries.len());
        entries.iter().enumerate().for_each(|(position, entry)| self.set(position, entry.id, &entry.aabb));
    }
}
