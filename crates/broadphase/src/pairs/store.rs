//! The chunked pair store, which algorithms write and callers read.
//!
//! A chunk is a part of the result that an algorithm can recompute on its own: a tile, a node, a range of cells. In each frame it rewrites a chunk or
//! keeps it, so that output, like the search, is proportional to what changed. Several workers fill chunks at once, each chunk
//! under its own, never contended lock; the order of chunks, not of workers, is the order of the list.

mod chunk;
mod content;

use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::gather::{Difference, Gatherer, Visit};
use super::{Pair, PairSort, events};
use crate::context::{Context, PerWorker};
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::{Kernels, Output, PairSink, RESERVE, Refine, Stop};
use crate::memory;
use crate::objects::{Frame, Shape};
pub(crate) use chunk::WithoutAny;
use chunk::{Chunk, Stays, lock, open, read};

/// What a frame reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Report {
    /// The number of pairs; no list is kept.
    Count,
    /// The pairs.
    #[default]
    All,
    /// What started and what ended since the last frame.
    Delta,
    /// The pairs, and what started and ended.
    Both,
}

impl Report {
    /// Does it include started and ended pairs?
    pub fn delta(self) -> bool {
        matches!(self, Report::Delta | Report::Both)
    }
}

/// The pairs of a frame, in chunks.
///
/// Does not find pairs and does not own boxes. The list is deterministic; [`sorted`](PairStore::sorted) is the canonical one.
#[derive(Debug)]
pub struct PairStore {
    report: Report,
    limit: u64,
    chunks: Vec<RwLock<Chunk>>,
    /// The number of chunks in use; those after them are empty and keep their capacity.
    active: usize,
    /// The chunks of the last frame: those in use, and those that it stopped using.
    written_chunks: usize,
    shape: Shape,
    /// Identifies the content: a structure may keep chunks only if this is the revision that it wrote last.
    revision: Revision,
    count: u64,
    /// The pairs that all workers have written so far in this frame, so that the limit takes effect before memory is spent on more.
    written: AtomicU64,
    started: Vec<Pair>,
    ended: Vec<Pair>,
    scratch: PerWorker<events::Scratch>,
    gatherer: Gatherer,
    worker_tests: Vec<AtomicU64>,
    /// Is a frame being written? If it still is when the next frame begins, a panic ended this one.
    is_open: bool,
    /// Is time measured in this frame?
    timed: bool,
    /// The time that all workers spent on differences in this frame.
    event_nanos: AtomicU64,
}

/// Identifies the content of a store. Each structure remembers the revision that it wrote last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Revision(u64);

impl Revision {
    /// A revision never used before. Only equality matters, so results do not depend on the order of calls.
    fn fresh() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl Default for PairStore {
    fn default() -> Self {
        Self::new(Report::All)
    }
}

impl Clone for PairStore {
    fn clone(&self) -> Self {
        Self {
            chunks: self.chunks.iter().map(|chunk| RwLock::new(read(chunk).clone())).collect(),
            started: self.started.clone(),
            ended: self.ended.clone(),
            scratch: PerWorker::default(),
            gatherer: Gatherer::default(),
            worker_tests: self.worker_tests().map(AtomicU64::new).collect(),
            written: AtomicU64::default(),
            event_nanos: AtomicU64::new(self.event_nanos.load(Ordering::Relaxed)),
            ..*self
        }
    }
}

/// # For the caller
impl PairStore {
    /// The default limit on the number of pairs: the largest 32-bit number.
    pub const DEFAULT_LIMIT: u64 = u32::MAX as u64;

    /// An empty store.
    pub fn new(report: Report) -> Self {
        Self {
            report,
            limit: Self::DEFAULT_LIMIT,
            chunks: Vec::new(),
            active: 0,
            written_chunks: 0,
            shape: Shape::Box,
            revision: Revision(0),
            count: 0,
            written: AtomicU64::default(),
            started: Vec::new(),
            ended: Vec::new(),
            scratch: PerWorker::default(),
            gatherer: Gatherer::default(),
            worker_tests: Vec::new(),
            is_open: false,
            timed: false,
            event_nanos: AtomicU64::default(),
        }
    }

    /// What frames report.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Sets what frames report from the next one on, which is then found from scratch.
    pub fn set_report(&mut self, report: Report) {
        if report != self.report {
            self.report = report;
            self.revision = Revision(0);
        }
    }

    /// Sets the largest number of pairs; more are [`Error::TooManyPairs`].
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// The largest number of pairs.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The number of pairs.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Are there no pairs?
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The pairs of each chunk, in order. The visitor may read the store.
    pub fn for_each_chunk(&self, mut visit: impl FnMut(&[Pair])) {
        self.chunks[..self.active].iter().for_each(|chunk| visit(&read(chunk).pairs));
    }

    /// Copies pairs of a chunk, from position `from` on, into `buffer`, and returns how many; `None` after the last chunk. For
    /// iterators, which must not hold a lock between two calls of `next`.
    pub(crate) fn copy_from(&self, chunk: usize, from: usize, buffer: &mut [Pair]) -> Option<usize> {
        let chunk = read(self.chunks[..self.active].get(chunk)?);
        let rest = chunk.pairs.get(from..).unwrap_or(&[]);
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Some(count)
    }

    /// Appends all pairs to `list`, in the store's order.
    pub fn copy_into(&self, list: &mut Vec<Pair>) {
        list.reserve(self.count as usize);
        self.for_each_chunk(|pairs| list.extend_from_slice(pairs));
    }

    /// All pairs in one list, in the store's order.
    pub fn to_vec(&self) -> Vec<Pair> {
        let mut list = Vec::new();
        self.copy_into(&mut list);
        list
    }

    /// All pairs, sorted: the one list that every algorithm gives.
    pub fn sorted(&self) -> Vec<Pair> {
        let mut list = self.to_vec();
        let bound = list.iter().map(|pair| pair.a as usize + 1).max().unwrap_or(0);
        PairSort::default().sort(&mut list, bound);
        list
    }

    /// All pairs in one list, in the store's order.
    pub(crate) fn try_to_vec(&self) -> Result<Vec<Pair>, Error> {
        let mut list = Vec::new();
        list.try_reserve_exact(self.count as usize).map_err(|_| Error::OutOfMemory { what: "pairs" })?;
        self.copy_into(&mut list);
        Ok(list)
    }

    /// Swaps the two ids of every pair. The next frame keeps nothing of this one.
    pub(crate) fn swap_ids(&mut self) {
        self.revision = Revision(0);
        for chunk in &mut self.chunks[..self.active] {
            open(chunk).pairs.iter_mut().for_each(|pair| *pair = Pair { a: pair.b, b: pair.a });
        }
    }

    /// Keeps the pairs for which `keep` is true. The next frame keeps nothing of this one.
    pub(crate) fn retain(&mut self, keep: impl Fn(Pair) -> bool) {
        self.revision = Revision(0);
        self.count = 0;
        for chunk in &mut self.chunks[..self.active] {
            let chunk = open(chunk);
            chunk.pairs.retain(|&pair| keep(pair));
            chunk.count = chunk.pairs.len() as u64;
            self.count += chunk.count;
        }
    }

    /// All pairs, sorted. Every first id must be below `bound`.
    pub(crate) fn try_sorted(&self, bound: usize) -> Result<Vec<Pair>, Error> {
        let mut list = Vec::new();
        memory::reserve(&mut list, self.count as usize, "pairs")?;
        self.sort_into(&mut list, bound, &mut PairSort::default());
        Ok(list)
    }

    /// Replaces the content of `list` by all pairs, sorted. Every first id must be below `bound`.
    pub(crate) fn sort_into(&self, list: &mut Vec<Pair>, bound: usize, sorter: &mut PairSort) {
        list.resize(self.count as usize, Pair::default());
        sorter.collect(list, bound, |visit| self.for_each_chunk(visit));
    }

    /// The pairs of this frame that the last one did not have, sorted; empty unless [`Report`] includes the difference.
    pub fn started(&self) -> &[Pair] {
        &self.started
    }

    /// The pairs of the last frame that this one does not have, sorted; empty unless [`Report`] includes the difference.
    pub fn ended(&self) -> &[Pair] {
        &self.ended
    }

    /// The tests of the last frame: object pairs compared, padding excluded.
    pub fn tests(&self) -> u64 {
        self.worker_tests().sum()
    }

    /// The tests of the last frame by worker.
    pub fn worker_tests(&self) -> impl Iterator<Item = u64> + '_ {
        self.worker_tests.iter().map(|tests| tests.load(Ordering::Relaxed))
    }

    /// The tests that the last frame made for a chunk: 0 if it was kept, or if there is no such chunk. [`Region::chunk`](crate::Region::chunk)
    /// says where a chunk lies in space.
    pub fn chunk_tests(&self, chunk: usize) -> u64 {
        self.chunks[..self.active].get(chunk).map_or(0, |chunk| read(chunk).tests)
    }

    /// The time that the last frame spent on finding what started and ended, all workers together; part of the time of
    /// [`BroadPhase::pairs`](crate::BroadPhase::pairs). Zero unless the context [measures time](Context::with_timing).
    pub fn event_time(&self) -> Duration {
        Duration::from_nanos(self.event_nanos.load(Ordering::Relaxed))
    }

    /// Runs a part of the search for differences, and adds up its time.
    fn time_events<R>(&self, work: impl FnOnce() -> R) -> R {
        let start = self.timed.then(Instant::now);
        let result = work();
        if let Some(start) = start {
            self.event_nanos.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
        result
    }

    /// The bytes it holds.
    pub fn bytes(&self) -> usize {
        let chunk = |c: &Chunk| c.pairs.capacity() + c.old.capacity() + c.started.capacity() + c.ended.capacity();
        let pairs: usize = self.chunks.iter().map(|c| chunk(&read(c))).sum();
        (pairs + self.started.capacity() + self.ended.capacity()) * size_of::<Pair>()
            + self.gatherer.bytes()
            + self.scratch.iter().map(|scratch| scratch.bytes()).sum::<usize>()
            + self.chunks.capacity() * size_of::<RwLock<Chunk>>()
    }
}

/// # For the algorithm
///
/// `begin`, then `rewrite` or `edit` the chunks that changed, from any worker, then `finish`.
impl PairStore {
    /// Starts a frame of `chunks` chunks. Returns whether the content is what the structure wrote last (its `revision`), so that
    /// chunks may be kept; if not, every chunk starts empty, and stays so unless it is rewritten. On error the content stays, and no later frame keeps it.
    pub(crate) fn begin<const D: usize, T: Real>(
        &mut self,
        frame: &Frame<'_, D, T>,
        context: &Context,
        revision: Revision,
        chunks: usize,
    ) -> Result<bool, Error> {
        if self.is_open {
            self.roll_back();
        }
        let delta = self.report.delta();
        let kept =
            revision != Revision(0) && revision == self.revision && self.report != Report::Count && self.shape == frame.shape;
        self.shape = frame.shape;
        self.revision = Revision(0);
        self.prepare(context, chunks)?;
        self.is_open = true;
        *self.written.get_mut() = 0;
        self.timed = context.clock().is_some();
        *self.event_nanos.get_mut() = 0;
        self.worker_tests.truncate(context.width());
        self.worker_tests.iter_mut().for_each(|tests| *tests.get_mut() = 0);
        for (index, chunk) in self.chunks.iter_mut().enumerate().take(chunks.max(self.active)) {
            let chunk = open(chunk);
            chunk.rewritten = false;
            chunk.filled = false;
            chunk.kept = 0;
            chunk.tests = 0;
            chunk.stop = None;
            chunk.started.clear();
            chunk.ended.clear();
            chunk.last = 0;
            chunk.old.clear();
            if !kept || index >= chunks {
                chunk.rewrite(delta);
            }
        }
        self.active = chunks.max(self.active);
        self.written_chunks = self.active;
        Ok(kept)
    }

    /// Allocates what a frame of `chunks` chunks needs before anything is written.
    fn prepare(&mut self, context: &Context, chunks: usize) -> Result<(), Error> {
        self.scratch.try_prepare(context)?;
        for mut scratch in self.scratch.iter() {
            let missing = RESERVE.saturating_sub(scratch.reserve.capacity());
            memory::reserve_exact(&mut scratch.reserve, missing, "pairs")?;
        }
        memory::cover(&mut self.worker_tests, context.width(), "numbers of tests")?;
        memory::cover(&mut self.chunks, chunks, "chunks of pairs")
    }

    /// The current pairs of a chunk.
    ///
    /// # Panics
    /// If [`begin`](PairStore::begin) was called with fewer chunks. So do [`rewrite`](PairStore::rewrite) and [`edit`](PairStore::edit).
    pub(crate) fn chunk(&mut self, chunk: usize) -> &[Pair] {
        &open(&mut self.chunks[chunk]).pairs
    }

    /// Replaces a chunk by the pairs that `fill` pushes and the frame's filters allow.
    pub(crate) fn rewrite<const D: usize, T: Real>(
        &self,
        chunk: usize,
        worker: usize,
        frame: &Frame<'_, D, T>,
        fill: impl FnOnce(&mut PairSink<'_>),
    ) {
        self.rewrite_in(None, chunk, worker, frame, fill);
    }

    /// [`rewrite`](PairStore::rewrite), where pairs are expected in the order of the last frame, but for what started and ended. That order is used by
    /// these kernels to find the difference; if there is none, this takes a little more time.
    pub(crate) fn rewrite_in<const D: usize, T: Real>(
        &self,
        in_order: Option<Kernels>,
        chunk: usize,
        worker: usize,
        frame: &Frame<'_, D, T>,
        fill: impl FnOnce(&mut PairSink<'_>),
    ) {
        let mut fill = Some(fill);
        with_refine(frame, &mut |refine| {
            self.rewrite_chunk(in_order, (chunk, worker), refine, &mut |sink| {
                if let Some(fill) = fill.take() {
                    fill(sink);
                }
            });
        });
    }

    /// Compiled once, not for each structure.
    fn rewrite_chunk(
        &self,
        in_order: Option<Kernels>,
        (chunk, worker): (usize, usize),
        refine: Option<Refine<'_>>,
        fill: &mut dyn FnMut(&mut PairSink<'_>),
    ) {
        let mut chunk = lock(&self.chunks[chunk]);
        let chunk = &mut *chunk;
        chunk.rewrite(self.report.delta());
        chunk.filled = true;
        chunk.pairs.clear();
        let mut reserve = std::mem::take(&mut self.scratch.get(worker).reserve);
        self.fill(chunk, worker, refine, &mut reserve, fill);
        self.scratch.get(worker).reserve = reserve;
        if self.report.delta() {
            // Compared here, while both lists are in the cache.
            let scratch = &mut *self.scratch.get(worker);
            let Chunk { old, pairs, started, ended, .. } = chunk;
            if self.time_events(|| events::difference(in_order, [old, pairs], scratch, started, ended)).is_err() {
                chunk.stop = Some(Stop::Memory);
            }
            chunk.find_last();
        }
    }

    /// Keeps the pairs of a chunk that `stays` names, and adds the pairs that `fill` pushes and the frame's filters allow.
    pub(crate) fn edit<const D: usize, T: Real>(
        &self,
        chunk: usize,
        worker: usize,
        frame: &Frame<'_, D, T>,
        stays: impl Stays,
        fill: impl FnOnce(&mut PairSink<'_>),
    ) {
        let mut chunk = lock(&self.chunks[chunk]);
        let chunk = &mut *chunk;
        (chunk.rewritten, chunk.filled) = (true, true);
        let scratch = &mut *self.scratch.get(worker);
        let mut gone = std::mem::take(&mut scratch.gone);
        let more = chunk.pairs.len().saturating_sub(gone.len());
        if gone.try_reserve(more).is_err() {
            scratch.gone = gone;
            chunk.stop = Some(Stop::Memory);
            chunk.kept = chunk.pairs.len(); // nothing was edited
            return;
        }
        let lost = chunk.part(&stays, &mut gone);
        if self.report.delta() && chunk.old.try_reserve(lost).is_err() {
            // They were in this list, so there is capacity for them.
            chunk.pairs.extend_from_slice(&gone[..lost]); // reserved
            scratch.gone = gone;
            chunk.stop = Some(Stop::Memory);
            chunk.kept = chunk.pairs.len();
            return;
        }
        let mut fill = Some(fill);
        with_refine(frame, &mut |refine| {
            let reserve = &mut scratch.reserve;
            self.fill(chunk, worker, refine, reserve, &mut |sink| {
                if let Some(fill) = fill.take() {
                    fill(sink);
                }
            });
        });
        if self.report.delta() {
            // Pairs that stayed neither started nor ended.
            let new = chunk.pairs.get(chunk.kept..).unwrap_or(&[]);
            let (started, ended) = (&mut chunk.started, &mut chunk.ended);
            if self.time_events(|| events::difference(None, [&gone[..lost], new], scratch, started, ended)).is_err() {
                chunk.stop = Some(Stop::Memory);
            }
            chunk.old.extend_from_slice(&gone[..lost]); // reserved
            chunk.find_last();
        }
        scratch.gone = gone;
    }

    /// Runs `fill` with a sink that appends to a chunk, and stores the counts. `reserve` is the sink's buffer for a failed allocation.
    fn fill(
        &self,
        chunk: &mut Chunk,
        worker: usize,
        refine: Option<Refine<'_>>,
        reserve: &mut Vec<Pair>,
        fill: &mut dyn FnMut(&mut PairSink<'_>),
    ) {
        let hits = PairSink::new(std::mem::take(&mut chunk.pairs), refine, self.report != Report::Count, self.limit);
        let mut hits = hits.with_reserve(std::mem::take(reserve));
        hits.share(&self.written);
        fill(&mut hits);
        let Output { pairs, count, tests, stop, reserve: unused } = hits.finish();
        *reserve = unused;
        chunk.pairs = pairs;
        chunk.count = count;
        chunk.stop = stop;
        chunk.tests += tests;
        self.worker_tests[worker].fetch_add(tests, Ordering::Relaxed);
        chunk.started.clear();
        chunk.ended.clear();
    }

    /// Ends the frame, which used `chunks` chunks: counts, finds what started and ended, and returns the revision of the content.
    ///
    /// On error the new pairs are dropped. If differences are reported, those of the last frame are restored, so that the next difference is correct.
    pub(crate) fn finish(&mut self, context: &Context, chunks: usize) -> Result<Revision, Error> {
        self.count = 0;
        let mut stop = None;
        for chunk in &mut self.chunks[..self.active] {
            let chunk = open(chunk);
            self.count += chunk.count;
            stop = stop.or(chunk.stop);
        }
        if self.count > self.limit {
            stop = Some(Stop::Limit);
        }
        if stop.is_none() && self.gather(context).is_err() {
            stop = Some(Stop::Memory);
        }
        match stop {
            None => {
                self.active = chunks;
                self.is_open = false;
                self.revision = Revision::fresh();
                Ok(self.revision)
            }
            Some(stop) => {
                self.roll_back();
                Err(match stop {
                    Stop::Limit => Error::TooManyPairs { limit: self.limit },
                    Stop::Memory => Error::OutOfMemory { what: "pairs" },
                })
            }
        }
    }

    /// Gathers what started and ended in all chunks, if that is reported.
    fn gather(&mut self, context: &Context) -> Result<(), Error> {
        if !self.report.delta() {
            self.started.clear();
            self.ended.clear();
            return Ok(());
        }
        let start = self.timed.then(Instant::now);
        let Self { chunks: all, gatherer, started, ended, .. } = self;
        let all = &all[..self.active];
        let visit_started = |visit: &mut dyn FnMut(&[Pair])| all.iter().for_each(|chunk| visit(&read(chunk).started));
        let visit_ended = |visit: &mut dyn FnMut(&[Pair])| all.iter().for_each(|chunk| visit(read(chunk).ended()));
        let last = all.iter().fold(0, |last, chunk| last.max(read(chunk).last()));
        let visits = Difference::<Visit<'_>> { started: &visit_started, ended: &visit_ended };
        gatherer.gather(visits, last as usize + 1, Difference { started, ended }, context)?;
        *self.event_nanos.get_mut() += start.map_or(0, |start| start.elapsed().as_nanos() as u64);
        Ok(())
    }

    /// Takes back the last frame after `finish`, so that the next difference is relative to the frame before. Only for a store that reports differences.
    pub(crate) fn undo(&mut self) {
        self.active = self.written_chunks;
        self.roll_back();
        self.revision = Revision(0);
    }

    /// Takes back a frame between `begin` and `finish`, as `finish` does on error.
    pub(crate) fn roll_back(&mut self) {
        self.is_open = false;
        let delta = self.report.delta();
        self.count = 0;
        self.started.clear();
        self.ended.clear();
        for chunk in &mut self.chunks[..self.active] {
            let chunk = open(chunk);
            if !delta {
                chunk.pairs = Vec::new();
            } else if chunk.rewritten {
                chunk.restore();
            }
            chunk.count = chunk.pairs.len() as u64;
            self.count += chunk.count;
        }
    }
}

/// Calls `work` with what removes pairs that the frame's filters forbid, if there are any filters.
fn with_refine<const D: usize, T: Real>(frame: &Frame<'_, D, T>, work: &mut dyn FnMut(Option<Refine<'_>>)) {
    let refine = |pairs: &mut Vec<Pair>, from: usize| frame.refine(pairs, from);
    work(if frame.refines() { Some(&refine) } else { None });
}

#[cfg(test)]
mod tests;
