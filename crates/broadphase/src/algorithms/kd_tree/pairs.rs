//! Detection: which search a frame gets, and the jobs it is cut into.
//!
//! Chunk 0 has the pairs with unbounded objects; chunk `1 + n` those of the node at place `n` of the arena, and in an
//! incremental search also cached pairs of static objects that were found there once.
//!
//! `plan.rs` cuts a search into jobs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::coherency::{Cached, Coherency};
use super::node_caches;
use super::options::Pruning;
use super::plan::{GRAIN, Job};
use super::policy::Counts;
use super::walk::{CacheUse, Gather, Search};
use super::{Found, KdTree};
use crate::context::{Context, SEEK};
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::node::{AtRest, Runs};
use crate::kernels::prefetch;
use crate::kernels::{Output, PairSink, Stop};
use crate::objects::Frame;
use crate::pairs::{Pair, PairStore, Revision};

/// The work of an update on one object, in the units of [`Context::run_weighted`].
const UPDATE: usize = 5;

/// From this T on, nodes have caches.
const CACHED_FROM: usize = 64;

/// The share of objects at rest from which on node caches are used.
const AT_REST: f64 = 0.5;

/// How many pairs ahead their boxes are asked for.
const AHEAD: usize = 8;

/// How a frame is searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Method {
    /// All pairs, straight from the frame's boxes.
    #[default]
    Complete,
    /// All pairs of held boxes, into the cache.
    Fill,
    /// Pairs of held boxes with a dynamic object, into the cache.
    Incremental,
}

impl<const D: usize, T: Real> KdTree<D, T> {
    pub(super) fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let clock = context.clock();
        let method = self.method();
        // A complete search keeps nothing, unless there is nothing to search for.
        let revision = if method == Method::Complete && self.touched { Revision::default() } else { self.revision };
        let kept = out.begin(frame, context, revision, self.chunks())?;
        let mut searched = Ok(());
        let searches = self.touched || !kept;
        if searches {
            self.found.method = method;
            self.walkers.prepare(context);
            self.walkers.iter().for_each(|mut walker| (walker.scratch.runs, walker.read) = (Runs::default(), 0));
            match method {
                Method::Complete => self.search_complete(frame, context, out),
                _ => searched = self.search_within_budget(frame, context, out, (method, kept)),
            }
            self.found.read = self.walkers.iter().map(|walker| walker.read).sum();
            self.found.runs = self.walkers.iter().fold(Runs::default(), |sum, walker| sum.plus(walker.scratch.runs));
        }
        context.record("search", clock);
        if searched.is_err() {
            out.roll_back();
            return searched;
        }
        let clock = context.clock();
        self.revision = out.finish(context, self.chunks())?;
        self.touched = false;
        if let (Method::Complete, Some(coherency)) = (method, &mut self.coherency) {
            coherency.budget.touching = out.len();
        }
        if searches {
            self.learn(out.len());
        }
        context.record("finish", clock);
        Ok(())
    }

    /// Keeps the counts of a search, for the next decisions.
    fn learn(&mut self, pairs: u64) {
        let Found { method, read, runs, .. } = self.found;
        let known = if method == Method::Complete { Counts { touching: pairs, ..Counts::default() } } else { self.found.counts };
        let counts = Counts { objects: self.tree.order.len(), read, tests: runs.tests, ..known };
        self.found.counts = counts;
        match method {
            Method::Complete | Method::Fill => self.found.experience.learn_all(&counts),
            Method::Incremental => self.found.experience.learn_incremental(&counts),
        }
    }

    /// The work of a frame, in the units of [`Context::run_weighted`]. Each part of an update in which all objects may have moved asks for the
    /// workers that the search will need: they are awake by then.
    pub(super) fn frame_work(&self, slots: usize) -> usize {
        let searches_all = slots > GRAIN && !self.found.mode.incremental;
        if searches_all { SEEK / 2 * slots } else { UPDATE * slots }
    }

    /// The chunks of the store: one for each place of the arena, and the first.
    pub(super) fn chunks(&self) -> usize {
        self.tree.nodes.len() + 1
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
            coherency.forget_boxes();
            coherency.searched();
        }
        let work = self.frame_work(frame.slots());
        self.plan.make(&self.tree, frame.boxes, context, work);
        let search = Search {
            tree: &self.tree,
            boxes: frame.boxes,
            stamps: None,
            kernels: context.kernels(),
            pruning: self.options.pruning,
            floats: self.options.paper,
        };
        context.run_weighted(self.plan.jobs.len(), SEEK / 2 * frame.slots(), |number, worker| {
            let (job, walker) = (&self.plan.jobs[number], &mut *self.walkers.get(worker));
            let externals = self.plan.with_externals(job, |ids| walker.start(&search, ids, Gather::All));
            walker.descend(&search, (job.node, job.whole), externals, Gather::All, &mut |walker, stop| {
                let chunk = stop.node as usize + 1;
                out.rewrite(chunk, worker, frame, |hits| walker.join(&search, &stop, CacheUse::No, hits));
            });
        });
        // What stood in the chunks of erased nodes has ended, or is found elsewhere.
        self.tree.free.iter().for_each(|&place| out.rewrite(place as usize + 1, 0, frame, |_| ()));
        out.rewrite(0, 0, frame, |hits| self.unbounded.join(frame, context, hits));
    }

    /// Brings the cache up to date and reports from it. A chunk whose cached pairs are the same, of objects that did not
    /// change at all, keeps what it reported. Stops if more than `limit` pairs are to be cached.
    pub(super) fn search_cached(
        &mut self,
        frame: &Frame<'_, D, T>,
        context: &Context,
        out: &PairStore,
        (method, kept): (Method, bool),
        limit: u64,
    ) -> Option<Stop> {
        let mut coherency = self.coherency.take()?;
        coherency.prepare(self.chunks());
        if method == Method::Fill {
            coherency.drop_cache();
        }
        self.plan.make(&self.tree, &coherency.held, context, SEEK / 4 * frame.slots());
        let search = Search {
            tree: &self.tree,
            boxes: &coherency.held,
            stamps: (method == Method::Incremental).then(|| coherency.stamps()),
            kernels: context.kernels(),
            pruning: self.options.pruning,
            floats: self.options.paper,
        };
        // A first incremental frame keeps nothing: pairs may have changed chunks.
        let kept = kept && method == Method::Incremental;
        let restless = method == Method::Incremental && coherency.static_share(&self.members, 1) < AT_REST;
        let report = Report { coherency: &coherency, frame, out, kept, restless, limit, totals: Totals::default() };
        context.run_weighted(self.plan.jobs.len(), SEEK / 4 * frame.slots(), |number, worker| {
            self.run_cached(&self.plan.jobs[number], worker, &search, &report)
        });
        // Places without a node may still keep cached pairs.
        self.tree.free.iter().for_each(|&place| report.chunk(place as usize + 1, 0, &mut Vec::new(), |_| ()));
        let stop = report.stop();
        let Totals { tests, touching, cached, .. } = report.totals;
        let (touching, cached) = (touching.into_inner(), cached.into_inner());
        self.found.method = method;
        self.found.counts = Counts { dynamic: coherency.dynamic.count(), touching, cached, ..Counts::default() };
        coherency.cached = stop.is_none();
        if coherency.cached {
            coherency.budget.touching = touching;
            out.rewrite(0, 0, frame, |hits| {
                hits.count_tests(tests.into_inner());
                self.unbounded.join(frame, context, hits);
            });
        }
        coherency.remember(&self.members, frame.boxes);
        coherency.searched();
        self.coherency = Some(coherency);
        stop
    }

    /// One job of a search that brings the cache up to date.
    fn run_cached(&self, job: &Job, worker: usize, search: &Search<'_, D, T>, report: &Report<'_, D, T>) {
        let (node_caches, stamps) = (&report.coherency.node_caches, report.coherency.stamps());
        // Small nodes load quickly, and each cache has a fixed cost.
        let sweeps = self.options.pruning != Pruning::TreeOnly && !self.options.paper;
        let cached = sweeps && self.options.threshold >= CACHED_FROM && !report.restless;
        let plan = if cached { node_caches.plan(search.tree, job.node, job.whole) } else { node_caches::Plan::Without };
        let walker = &mut *self.walkers.get(worker);
        let externals = self.plan.with_externals(job, |ids| walker.start(search, ids, plan.gathers()));
        walker.descend(search, (job.node, job.whole), externals, plan.gathers(), &mut |walker, stop| {
            let chunk = stop.node as usize + 1;
            let mut fresh = std::mem::take(&mut walker.fresh);
            if let node_caches::Plan::Use(_) = plan {
                node_caches.get(chunk).cache.fetch();
            }
            report.chunk(chunk, worker, &mut fresh, |hits| {
                let mut node = node_caches.get(chunk);
                let cache_use = match plan {
                    node_caches::Plan::Without => CacheUse::No,
                    node_caches::Plan::Fill => {
                        node.filled = stamps.now;
                        node.cache.takes_all = search.stamps.is_none();
                        CacheUse::Fill(&mut node.cache)
                    }
                    node_caches::Plan::Use(since) => {
                        CacheUse::Use(&node.cache, AtRest { boxes: search.boxes, stamps: stamps.last, since })
                    }
                };
                walker.join(search, &stop, cache_use, hits);
            });
            walker.fresh = fresh;
        });
        let all = if job.whole { search.tree.node(job.node).population } else { search.tree.node(job.node).own().len() };
        // A search that fills the cache takes all objects for dynamic.
        let dynamic = if search.stamps.is_some() { walker.dynamic } else { 0 };
        node_caches.learn(job.node, plan, all, walker.gathered, dynamic);
    }
}

/// From the cache to the store.
struct Report<'a, const D: usize, T: Real> {
    coherency: &'a Coherency<D, T>,
    frame: &'a Frame<'a, D, T>,
    out: &'a PairStore,
    kept: bool,
    /// So many objects moved that what moved would be tested against most of the caches for nothing: they are not used.
    restless: bool,
    /// How many pairs may be cached.
    limit: u64,
    totals: Totals,
}

/// Sums over the chunks.
#[derive(Debug, Default)]
struct Totals {
    /// Tests of chunks that were kept: booked on chunk 0.
    tests: AtomicU64,
    /// Cached pairs, and those of them that touch.
    cached: AtomicU64,
    touching: AtomicU64,
    /// Memory ran out.
    failed: AtomicBool,
}

impl<const D: usize, T: Real> Report<'_, D, T> {
    /// Why the search is to stop. That there are too many pairs does not depend on the order of jobs: the sum only grows.
    fn stop(&self) -> Option<Stop> {
        if self.totals.failed.load(Ordering::Relaxed) {
            Some(Stop::Memory)
        } else {
            (self.totals.cached.load(Ordering::Relaxed) > self.limit).then_some(Stop::Limit)
        }
    }

    /// Brings the cached pairs of a chunk up to date with what `search` finds, and reports those that overlap.
    fn chunk(&self, chunk: usize, worker: usize, fresh: &mut Vec<Pair>, search: impl FnOnce(&mut PairSink<'_>)) {
        if self.stop().is_some() {
            return;
        }
        let (coherency, boxes) = (self.coherency, self.frame.boxes);
        let mut list = coherency.list(chunk);
        let Cached { touching, near } = &mut *list;
        // Pairs of objects that did not change stay as they are; of the others, those of static objects are looked at again.
        let (changed, dynamic) = (&coherency.changed, &coherency.dynamic);
        let sort_out = |pair: Pair, _| Fate {
            leaves: changed.contains(pair.a) | changed.contains(pair.b),
            passed_on: !(dynamic.contains(pair.a) | dynamic.contains(pair.b)),
        };
        fresh.clear();
        let mut altered = part(touching, fresh, sort_out) > 0;
        part(near, fresh, sort_out);

        let mut hits = PairSink::new(std::mem::take(fresh), None, true, self.limit);
        search(&mut hits);
        let Output { pairs, tests, stop, .. } = hits.finish();
        *fresh = pairs;
        match stop {
            None => (),
            Some(Stop::Limit) => _ = self.totals.cached.fetch_add(self.limit.saturating_add(1), Ordering::Relaxed),
            Some(Stop::Memory) => self.totals.failed.store(true, Ordering::Relaxed),
        }
        if stop.is_some() {
            return;
        }
        part(fresh, near, |pair, ahead| {
            prefetch(boxes, ahead.a as usize);
            prefetch(boxes, ahead.b as usize);
            Fate { leaves: !boxes[pair.a as usize].overlaps(&boxes[pair.b as usize]), passed_on: true }
        });
        altered |= !fresh.is_empty();
        touching.extend_from_slice(fresh);
        self.totals.cached.fetch_add((touching.len() + near.len()) as u64, Ordering::Relaxed);
        self.totals.touching.fetch_add(touching.len() as u64, Ordering::Relaxed);
        if self.kept && !altered {
            self.totals.tests.fetch_add(tests, Ordering::Relaxed);
            return;
        }
        self.out.rewrite(chunk, worker, self.frame, |hits| {
            hits.count_tests(tests);
            hits.extend(touching);
        });
    }
}

/// What becomes of a pair in a list.
struct Fate {
    leaves: bool,
    /// If it leaves: is it passed on, or dropped?
    passed_on: bool,
}

/// Takes the pairs that leave out of `list`, and appends those that are passed on to `gone`; returns how many left. `fate` also sees a pair
/// that comes later. No branch: they are often coin flips.
#[inline(always)]
fn part(list: &mut Vec<Pair>, gone: &mut Vec<Pair>, fate: impl Fn(Pair, Pair) -> Fate) -> usize {
    let (mut kept, mut end) = (0, gone.len());
    gone.resize(end + list.len(), Pair::default());
    for at in 0..list.len() {
        let pair = list[at];
        let Fate { leaves, passed_on } = fate(pair, list[(at + AHEAD).min(list.len() - 1)]);
        list[kept] = pair;
        gone[end] = pair;
        kept += usize::from(!leaves);
        end += usize::from(leaves & passed_on);
    }
    let left = list.len() - kept;
    list.truncate(kept);
    gone.truncate(end);
    left
}
