//! Detection: which search a frame gets, and the jobs it is cut into.
//!
//! Chunk 0 has the pairs with unbounded objects; chunk `1 + n` those of the node at place `n` of the arena, and in an
//! incremental search also cached pairs of static objects that were found there once.
//!
//! A subtree of up to [`GRAIN`] objects is one job; each node above is a job of its own. One pass over the few nodes above finds the external
//! objects of all jobs. Jobs are cut by population, never by the number of workers.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::KdTree;
use super::coherency::{Cached, Coherency};
use super::nodes::{ROOT, Tree};
use super::walk::{Search, Stop, Walker};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::Hits;
use crate::kernels::node::Runs;
use crate::objects::Frame;
use crate::pairs::{Lineage, Pair, PairStore};

/// Objects in a subtree that makes one job.
const GRAIN: usize = 8192;

/// One piece of a search.
#[derive(Clone, Debug)]
pub(super) struct Job {
    node: u32,
    /// The node with all below, or the node alone.
    whole: bool,
    /// Its external objects, in [`Plan::externals`].
    externals: Range<usize>,
}

/// The jobs of a search. Scratch.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    jobs: Vec<Job>,
    externals: Vec<u32>,
}

impl Plan {
    pub(super) fn bytes(&self) -> usize {
        self.jobs.capacity() * size_of::<Job>() + self.externals.capacity() * 4
    }

    fn make<const D: usize, T: Real>(&mut self, tree: &Tree<D, T>, boxes: &[Aabb<D, T>]) {
        self.jobs.clear();
        self.externals.clear();
        self.cut(tree, boxes, ROOT, 0..0);
    }

    fn cut<const D: usize, T: Real>(&mut self, tree: &Tree<D, T>, boxes: &[Aabb<D, T>], node: u32, externals: Range<usize>) {
        let this = tree.node(node);
        let whole = this.is_leaf() || this.population <= GRAIN;
        self.jobs.push(Job { node, whole, externals: externals.clone() });
        if whole {
            return;
        }
        let axis = this.axis as usize;
        for (child, left) in [(this.left, true), (this.right, false)] {
            let from = self.externals.len();
            let reaches = |id: u32| {
                let value = &boxes[id as usize];
                if left { value.min[axis] < this.plane } else { value.max[axis] > this.plane }
            };
            for at in externals.clone() {
                let id = self.externals[at];
                if reaches(id) {
                    self.externals.push(id);
                }
            }
            self.externals.extend(tree.order[this.own()].iter().copied().filter(|&id| reaches(id)));
            let to = self.externals.len();
            self.cut(tree, boxes, child, from..to);
        }
    }
}

/// How a frame is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// All pairs, straight from the frame's boxes.
    Complete,
    /// All pairs of held boxes, into the cache.
    Fill,
    /// Pairs of held boxes with a dynamic object, into the cache.
    Incremental,
}

impl<const D: usize, T: Real> KdTree<D, T> {
    pub(super) fn find(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let clock = context.clock();
        let chunks = self.tree.nodes.len() + 1;
        let method = self.method();
        // A complete search keeps nothing, unless there is nothing to search for.
        let lineage = if method == Method::Complete && self.touched { Lineage::default() } else { self.lineage };
        let kept = out.begin(frame, context, lineage, chunks);
        let mut searched = Ok(());
        if self.touched || !kept {
            self.walkers.prepare(context);
            self.walkers.iter().for_each(|mut walker| walker.scratch.runs = Runs::default());
            match method {
                Method::Complete => self.search_complete(frame, context, out),
                _ => searched = self.search_cached(frame, context, out, method, kept),
            }
            self.found.runs = self.walkers.iter().fold(Runs::default(), |sum, walker| sum.plus(walker.scratch.runs));
        }
        context.record("search", clock);
        let clock = context.clock();
        self.lineage = out.finish(chunks)?;
        searched?;
        self.touched = false;
        context.record("finish", clock);
        Ok(())
    }

    /// What the last update decided, and whether the cache is there.
    fn method(&self) -> Method {
        match &self.coherency {
            Some(coherency) if coherency.arranged && coherency.cached => Method::Incremental,
            Some(coherency) if coherency.arranged => Method::Fill,
            _ => Method::Complete,
        }
    }

    fn search_complete(&mut self, frame: &Frame<'_, D, T>, context: &Context, out: &PairStore) {
        if let Some(coherency) = &mut self.coherency {
            coherency.drop_cache();
            coherency.set_memory(None);
            coherency.searched();
        }
        self.plan.make(&self.tree, frame.boxes);
        let search = Search {
            tree: &self.tree,
            boxes: frame.boxes,
            dynamic: None,
            kernels: context.kernels(),
            pruning: self.options.pruning,
        };
        self.run_jobs(context, &search, |walker, worker, stop| {
            out.rewrite(stop.node as usize + 1, worker, frame, |hits| walker.join(&search, stop, hits));
        });
        // What stood in the chunks of erased nodes has ended, or is found elsewhere.
        self.tree.free.iter().for_each(|&place| out.rewrite(place as usize + 1, 0, frame, |_| ()));
        out.rewrite(0, 0, frame, |hits| self.unbounded.join(frame, context, hits));
    }

    /// Brings the cache up to date and reports from it. A chunk whose cached pairs are the same, of objects that did not
    /// change at all, keeps what it reported.
    fn search_cached(
        &mut self,
        frame: &Frame<'_, D, T>,
        context: &Context,
        out: &PairStore,
        method: Method,
        kept: bool,
    ) -> Result<(), Error> {
        let Some(mut coherency) = self.coherency.take() else { return Ok(()) };
        coherency.prepare(self.tree.nodes.len() + 1);
        if method == Method::Fill {
            coherency.drop_cache();
        }
        self.plan.make(&self.tree, &coherency.held);
        let search = Search {
            tree: &self.tree,
            boxes: &coherency.held,
            dynamic: (method == Method::Incremental).then_some(&coherency.dynamic),
            kernels: context.kernels(),
            pruning: self.options.pruning,
        };
        // A first incremental frame keeps nothing: pairs may have changed chunks.
        let kept = kept && method == Method::Incremental;
        let report = Report { coherency: &coherency, frame, out, kept, tests: AtomicU64::new(0), failed: AtomicBool::new(false) };
        self.run_jobs(context, &search, |walker, worker, stop| {
            let mut fresh = std::mem::take(&mut walker.fresh);
            report.chunk(stop.node as usize + 1, worker, &mut fresh, |hits| walker.join(&search, stop, hits));
            walker.fresh = fresh;
        });
        // Places without a node may still keep cached pairs.
        self.tree.free.iter().for_each(|&place| report.chunk(place as usize + 1, 0, &mut Vec::new(), |_| ()));
        let tests = report.tests.into_inner();
        let failed = report.failed.into_inner();
        out.rewrite(0, 0, frame, |hits| {
            hits.count_tests(tests);
            self.unbounded.join(frame, context, hits);
        });
        coherency.cached = !failed;
        coherency.set_memory(Some(frame));
        coherency.searched();
        self.coherency = Some(coherency);
        if failed { Err(Error::OutOfMemory { what: "the cache of pairs" }) } else { Ok(()) }
    }

    fn run_jobs(
        &self,
        context: &Context,
        search: &Search<'_, D, T>,
        visit: impl Fn(&mut Walker<D, T>, usize, &Stop<D, T>) + Sync,
    ) {
        context.run(self.plan.jobs.len(), |number, worker| {
            let job = &self.plan.jobs[number];
            let walker = &mut *self.walkers.get(worker);
            let externals = walker.start(search, &self.plan.externals[job.externals.clone()]);
            walker.descend(search, job.node, externals, job.whole, &mut |walker, stop| visit(walker, worker, &stop));
        });
    }
}

/// From the cache to the store.
struct Report<'a, const D: usize, T> {
    coherency: &'a Coherency<D, T>,
    frame: &'a Frame<'a, D, T>,
    out: &'a PairStore,
    kept: bool,
    /// Tests of chunks that were kept: booked on chunk 0.
    tests: AtomicU64,
    failed: AtomicBool,
}

impl<const D: usize, T: Real> Report<'_, D, T> {
    /// Brings the cached pairs of a chunk up to date with what `search` finds, and reports those that overlap.
    fn chunk(&self, chunk: usize, worker: usize, fresh: &mut Vec<Pair>, search: impl FnOnce(&mut Hits<'_>)) {
        let (coherency, boxes) = (self.coherency, self.frame.boxes);
        let changed = |pair: Pair| coherency.changed.contains(pair.a) | coherency.changed.contains(pair.b);
        let dynamic = |pair: Pair| coherency.dynamic.contains(pair.a) | coherency.dynamic.contains(pair.b);
        let overlaps = |pair: Pair| boxes[pair.a as usize].overlaps(&boxes[pair.b as usize]);
        let mut list = coherency.list(chunk);
        let Cached { touching, near } = &mut *list;
        // Pairs of objects that did not change stay as they are; the others are looked at again.
        fresh.clear();
        part(touching, fresh, changed);
        let mut altered = !fresh.is_empty();
        part(near, fresh, changed);
        for &pair in fresh.iter().filter(|&&pair| !dynamic(pair)) {
            let touches = overlaps(pair);
            if touches {
                touching.push(pair)
            } else {
                near.push(pair)
            }
            altered |= touches;
        }

        fresh.clear();
        let mut hits = Hits::new(std::mem::take(fresh), None, true, u64::MAX);
        search(&mut hits);
        let (pairs, _, tests, stop) = hits.finish();
        *fresh = pairs;
        if stop.is_some() {
            self.failed.store(true, Ordering::Relaxed);
        }
        for &pair in fresh.iter() {
            let touches = overlaps(pair);
            if touches {
                touching.push(pair)
            } else {
                near.push(pair)
            }
            altered |= touches;
        }
        if self.kept && !altered {
            self.tests.fetch_add(tests, Ordering::Relaxed);
            return;
        }
        self.out.rewrite(chunk, worker, self.frame, |hits| {
            hits.count_tests(tests);
            touching.iter().for_each(|&pair| hits.push(pair));
        });
    }
}

/// Takes the pairs for which `leaves` says so out of `list`, and appends them to `gone`. No branch: they are often coin flips.
#[inline(always)]
fn part(list: &mut Vec<Pair>, gone: &mut Vec<Pair>, leaves: impl Fn(Pair) -> bool) {
    let (mut kept, mut end) = (0, gone.len());
    gone.resize(end + list.len(), Pair::default());
    for at in 0..list.len() {
        let pair = list[at];
        let leaves = leaves(pair);
        list[kept] = pair;
        gone[end] = pair;
        kept += usize::from(!leaves);
        end += usize::from(leaves);
    }
    list.truncate(kept);
    gone.truncate(end);
}
