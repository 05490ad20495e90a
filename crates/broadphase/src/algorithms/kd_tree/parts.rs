//! Refit and optimize, subtree by subtree: the small subtrees all at once, the few nodes above them by one worker.
//!
//! Neither step moves an object out of a subtree's block before the subtree itself is done. So a small subtree is taken out as a tree of its own,
//! changed, and put back. Subtrees are cut by population, and put back in the order of the walk: which place of the arena a new node gets depends
//! neither on the number of workers nor on the order of jobs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::nodes::{NONE, Node, Pending, ROOT, Tree};
use super::optimize::{Loose, Optimizer, Scratch, Work};
use super::refit::refit;
use crate::context::{Context, PerWorker};
use crate::geometry::{Aabb, Real};

/// Subtrees of fewer objects are changed on their own.
const GRAIN: usize = 8192;

/// The most jobs that the subtrees are dealt to.
const JOBS: usize = 64;

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

    /// Copies a subtree whose own indices are settled, and whose objects are `block`, from `start` on.
    fn take(&mut self, from: &Tree<D, T>, node: u32, start: usize, block: &[u32]) {
        self.start = start;
        self.tree.version = from.version;
        self.tree.order.clear();
        self.tree.order.extend_from_slice(block);
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

    /// Puts the nodes back in their places.
    fn put_back(&mut self, into: &mut Tree<D, T>) {
        let (start, known) = (self.start, self.places.len());
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
                let pending = if let Pending::Emptied(at) = this.pending { Pending::Emptied(at + start) } else { this.pending };
                let (begin, end) = (this.begin.wrapping_add(start), this.end.wrapping_add(start));
                *into.node_mut(at) = Node { begin, end, pending, left: place(this.left), right: place(this.right), ..*this };
            }
        }
    }
}

/// What an update arranges, and with what.
#[derive(Clone, Copy)]
pub(super) struct Arrangement<'a, const D: usize, T> {
    /// The boxes that the tree arranges, by slot.
    pub(super) boxes: &'a [Aabb<D, T>],
    pub(super) loose: Loose<'a>,
    /// The paper's T.
    pub(super) threshold: usize,
    pub(super) context: &'a Context,
    /// The work of the frame, in the units of [`Context::run_weighted`].
    pub(super) work: usize,
}

/// The small subtrees of a walk. Scratch.
#[derive(Debug, Default)]
pub(super) struct Parts<const D: usize, T: Real> {
    parts: Vec<Mutex<Part<D, T>>>,
    /// Their nodes, in the order of the walk, and whether an ancestor's plane moved.
    nodes: Vec<(u32, bool)>,
    scratch: PerWorker<Scratch<T>>,
    misfits: PerWorker<Vec<u32>>,
}

impl<const D: usize, T: Real> Parts<D, T> {
    pub(super) fn bytes(&self) -> usize {
        let part = |part: &Mutex<Part<D, T>>| part.lock().unwrap_or_else(PoisonError::into_inner).bytes();
        self.parts.iter().map(part).sum::<usize>()
            + self.parts.capacity() * size_of::<Mutex<Part<D, T>>>()
            + self.nodes.capacity() * size_of::<(u32, bool)>()
            + self.scratch.iter().map(|scratch| scratch.bytes()).sum::<usize>()
            + self.misfits.iter().map(|misfits| misfits.capacity() * 4).sum::<usize>()
    }

    /// Refits the whole tree. Returns how often an object went up a level.
    pub(super) fn refit(&mut self, tree: &mut Tree<D, T>, arrangement: Arrangement<'_, D, T>) -> u64 {
        let Arrangement { boxes, loose, context, work, .. } = arrangement;
        self.misfits.prepare(context);
        self.nodes.clear();
        // Without other workers the copies would only cost; the objects go the same way.
        if context.workers_for(work) > 1 && tree.population(ROOT) >= GRAIN {
            self.list(tree, ROOT);
        }
        let misfits = std::mem::take(&mut self.misfits);
        self.each(tree, context, work, |part, _, worker| {
            part.work.raised = refit(&mut part.tree, boxes, loose, &mut misfits.get(worker), 0);
        });
        let raised: u64 = self.used().map(|part| part.work.raised).sum();
        let grain = if self.nodes.is_empty() { 0 } else { GRAIN };
        let above = refit(tree, boxes, loose, &mut misfits.get(0), grain);
        self.misfits = misfits;
        raised + above
    }

    /// Optimizes the whole tree.
    pub(super) fn optimize(&mut self, tree: &mut Tree<D, T>, arrangement: Arrangement<'_, D, T>) -> Work {
        let Arrangement { boxes, loose, threshold, context, work: weight } = arrangement;
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
        let scratches = std::mem::take(&mut self.scratch);
        self.each(tree, context, weight, |part, all, worker| {
            let Part { tree, work, .. } = part;
            let scratch = &mut *scratches.get(worker);
            Optimizer { tree, boxes, loose, threshold, work, scratch }.walk((ROOT, all), 0, &mut Vec::new());
        });
        self.scratch = scratches;
        self.used().for_each(|part| work.add(&part.work));
        work
    }

    /// Lists the largest subtrees below the grain, from left to right.
    fn list(&mut self, tree: &Tree<D, T>, node: u32) {
        let this = tree.node(node);
        if this.population < GRAIN {
            self.nodes.push((node, false));
        } else if !this.is_leaf() {
            self.list(tree, this.left);
            self.list(tree, this.right);
        }
    }

    /// Hands each listed subtree, whose own indices are settled, to `change` as a tree of its own, and puts it back.
    fn each(
        &mut self,
        tree: &mut Tree<D, T>,
        context: &Context,
        work: usize,
        change: impl Fn(&mut Part<D, T>, bool, usize) + Sync,
    ) {
        if self.parts.len() < self.nodes.len() {
            self.parts.resize_with(self.nodes.len(), Mutex::default);
        }
        let mut order = std::mem::take(&mut tree.order);
        let (shared, parts, nodes) = (&*tree, &self.parts, &self.nodes[..]);
        // A job has neighboring subtrees, and the same ones in each step and in the search: they stay in the cache of its worker.
        let jobs = nodes.len().min(JOBS);
        let of_job = |job: usize| job * nodes.len() / jobs..(job + 1) * nodes.len() / jobs;
        // On the stack: a frame in the steady state allocates nothing.
        let blocks: [Mutex<&mut [u32]>; JOBS] = std::array::from_fn(|_| Mutex::default());
        let (mut rest, mut done) = (&mut order[..], 0);
        for (job, place) in blocks.iter().enumerate().take(jobs) {
            let end = shared.range(nodes[of_job(job).end - 1].0).end;
            let (block, behind) = std::mem::take(&mut rest).split_at_mut(end - done);
            *place.lock().unwrap_or_else(PoisonError::into_inner) = block;
            (rest, done) = (behind, end);
        }
        context.run_weighted(jobs, work, |job, worker| {
            let mut rest = std::mem::take(&mut *blocks[job].lock().unwrap_or_else(PoisonError::into_inner));
            let mut done = job.checked_sub(1).map_or(0, |before| shared.range(nodes[of_job(before).end - 1].0).end);
            for number in of_job(job) {
                let (node, all) = nodes[number];
                let range = shared.range(node);
                let (block, behind) = std::mem::take(&mut rest)[range.start - done..].split_at_mut(range.len());
                (rest, done) = (behind, range.end);
                let mut part = parts[number].lock().unwrap_or_else(PoisonError::into_inner);
                part.take(shared, node, range.start, block);
                change(&mut part, all, worker);
                block.copy_from_slice(&part.tree.order);
            }
        });
        tree.order = order;
        for part in &mut self.parts[..self.nodes.len()] {
            part.get_mut().unwrap_or_else(PoisonError::into_inner).put_back(tree);
        }
    }

    /// The parts in use.
    fn used(&self) -> impl Iterator<Item = MutexGuard<'_, Part<D, T>>> {
        self.parts[..self.nodes.len()].iter().map(|part| part.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
