//! The execution context of a frame: threads, kernels, and an optional clock.

use std::fmt;
use std::sync::{Arc, Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::kernels::Kernels;
use crate::memory;
use crate::par::{Executor, Gauge, Regions, Sequential};

/// The threads and kernels that frames run with, and the times of their stages.
///
/// Nothing in here changes a result: not the number of threads, not the instruction set, not the clock.
///
/// ```
/// use broadphase::{Context, Isa, Kernels};
/// let context = Context::new().with_kernels(Kernels::new(Isa::Scalar).unwrap());
/// assert_eq!(context.width(), 1);
/// ```
#[derive(Clone)]
pub struct Context {
    /// `None`: the calling thread runs all jobs. Such a context allocates nothing.
    executor: Option<Arc<dyn Executor>>,
    kernels: Kernels,
    /// Are stages timed?
    is_timed: bool,
    /// Present if regions are measured.
    gauge: Option<Arc<Gauge>>,
    stages: Vec<(&'static str, Duration)>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernels, is_timed, gauge, stages, .. } = self;
        f.debug_struct("Context")
            .field("width", &self.width())
            .field("kernels", kernels)
            .field("is_timed", is_timed)
            .field("measures_regions", &gauge.is_some())
            .field("stages", stages)
            .finish()
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}

impl Context {
    /// The calling thread and the widest kernels of this CPU.
    pub fn new() -> Self {
        Self { executor: None, kernels: Kernels::best(), is_timed: false, gauge: None, stages: Vec::new() }
    }

    /// Replaces the executor.
    pub fn with_executor(mut self, executor: impl Executor + 'static) -> Self {
        self.executor = Some(Arc::new(executor));
        self
    }

    /// Replaces the executor by one that is shared, or by the calling thread.
    pub(crate) fn with_shared_executor(mut self, executor: Option<Arc<dyn Executor>>) -> Self {
        self.executor = executor;
        self
    }

    /// Replaces the kernels.
    pub fn with_kernels(mut self, kernels: Kernels) -> Self {
        self.kernels = kernels;
        self
    }

    /// Replaces the kernels.
    pub(crate) fn set_kernels(&mut self, kernels: Kernels) {
        self.kernels = kernels;
    }

    /// Replaces the kernels, and returns the previous ones.
    pub(crate) fn replace_kernels(&mut self, kernels: Kernels) -> Kernels {
        std::mem::replace(&mut self.kernels, kernels)
    }

    /// Times stages from now on; see [`Context::stages`].
    pub fn with_timing(mut self) -> Self {
        self.is_timed = true;
        self
    }

    /// Measures parallel regions from now on; see [`Context::regions`]. The clock is read twice for each region and each job: half a microsecond for a
    /// frame of a thousand objects.
    pub fn with_region_timing(mut self) -> Self {
        self.gauge = Some(Arc::default());
        self
    }

    /// The kernels.
    #[inline]
    pub fn kernels(&self) -> Kernels {
        self.kernels
    }

    /// The number of workers.
    #[inline]
    pub fn width(&self) -> usize {
        self.executor.as_ref().map_or(1, |executor| executor.width().max(1))
    }

    /// Calls `job(number, worker)` once for each number in `0..jobs`.
    #[inline]
    pub fn run(&self, jobs: usize, job: impl Fn(usize, usize) + Sync) {
        self.start(self.width(), jobs, &job);
    }

    /// Like [`run`](Context::run), on as many workers as the work pays for. `work` is the work of all jobs together, counted from the data, in units
    /// of about a nanosecond of one core: reading a box is about one. Work that does not pay for two workers ([`Executor::work_per_worker`])
    /// runs on the calling thread, and no other thread wakes up.
    #[inline]
    pub fn run_weighted(&self, jobs: usize, work: usize, job: impl Fn(usize, usize) + Sync) {
        self.start(self.workers_for(work), jobs, &job);
    }

    fn start(&self, workers: usize, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        let workers = workers.min(jobs);
        let run = |job: &(dyn Fn(usize, usize) + Sync)| match &self.executor {
            Some(executor) if workers > 1 => executor.run_on(workers, jobs, job),
            _ => Sequential.run(jobs, job),
        };
        match &self.gauge {
            None => run(job),
            Some(gauge) => gauge.measure(workers, job, run),
        }
    }

    /// Calls `job(item, worker)` once for each of `count` items, such as parts of a slice that jobs may write; otherwise like
    /// [`run_weighted`](Context::run_weighted). Items are taken from the iterator one by one, so no list of them is stored.
    pub(crate) fn run_each<X>(
        &self,
        items: impl Iterator<Item = X> + Send,
        count: usize,
        work: usize,
        job: impl Fn(X, usize) + Sync,
    ) {
        let items = Mutex::new(items);
        self.run_weighted(count, work, |_, worker| {
            // The guard must be dropped before the job starts.
            let item = items.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next();
            if let Some(item) = item {
                job(item, worker);
            }
        });
    }

    /// How many workers an amount of work pays for, in the units of [`run_weighted`](Context::run_weighted); at least one.
    #[inline]
    pub fn workers_for(&self, work: usize) -> usize {
        let Some(executor) = &self.executor else { return 1 };
        work.checked_div(executor.work_per_worker()).unwrap_or(usize::MAX).clamp(1, self.width())
    }

    /// Starts a stage: pass the result to [`Context::record`].
    #[inline]
    pub fn clock(&self) -> Option<Instant> {
        self.is_timed.then(Instant::now)
    }

    /// Ends a stage: adds the time since `start` under `name`.
    pub fn record(&mut self, name: &'static str, start: Option<Instant>) {
        let Some(start) = start else { return };
        let spent = start.elapsed();
        if let Some(stage) = self.stages.iter_mut().find(|stage| stage.0 == name) {
            stage.1 += spent;
        } else if self.stages.try_reserve(1).is_ok() {
            // A stage that there is no memory for is not listed.
            self.stages.push((name, spent)); // reserved
        }
    }

    /// The stages timed since the last [`clear_stages`](Context::clear_stages), in the order in which they first ran.
    pub fn stages(&self) -> &[(&'static str, Duration)] {
        &self.stages
    }

    /// The time of parallel regions since the last [`clear_stages`](Context::clear_stages): the part that more threads can shorten. `None`
    /// unless [`with_region_timing`](Context::with_region_timing) turned it on. Clones of a context share their counts.
    pub fn regions(&self) -> Option<Regions> {
        self.gauge.as_ref().map(|gauge| gauge.read())
    }

    /// Forgets the stages and regions.
    pub fn clear_stages(&mut self) {
        if let Some(gauge) = &self.gauge {
            gauge.clear();
        }
        self.stages.clear();
    }
}

/// The work of finding the pairs of one object, in the units of [`Context::run_weighted`]; most structures take half as long to twice as long.
pub(crate) const SEEK: usize = 100;

/// One buffer per worker, or per job of a region: scratch, which can be dropped without changing a result.
///
/// Several workers write at once without unsafe code: each locks its own buffer, so no lock is contended. In a later region, all workers can
/// read the buffers that jobs have written.
#[derive(Debug)]
pub(crate) struct PerWorker<S>(Vec<RwLock<S>>);

impl<S> Default for PerWorker<S> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<S> Clone for PerWorker<S> {
    /// Scratch is not copied.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<S: Default> PerWorker<S> {
    /// Makes sure that each worker of `context` has a buffer.
    pub(crate) fn try_prepare(&mut self, context: &Context) -> Result<(), Error> {
        self.try_prepare_for(context.width())
    }

    /// Makes sure that there are `count` buffers.
    pub(crate) fn try_prepare_for(&mut self, count: usize) -> Result<(), Error> {
        memory::cover(&mut self.0, count, "buffers of workers")
    }

    /// [`try_prepare`](PerWorker::try_prepare) for structures of papers, where a refused allocation aborts.
    #[cfg(feature = "papers")]
    pub(crate) fn prepare(&mut self, context: &Context) {
        self.prepare_for(context.width());
    }

    /// [`try_prepare_for`](PerWorker::try_prepare_for) for structures of papers.
    #[cfg(feature = "papers")]
    pub(crate) fn prepare_for(&mut self, count: usize) {
        if self.0.len() < count {
            self.0.resize_with(count, RwLock::default);
        }
    }
}

impl<S> PerWorker<S> {
    /// Buffers with these values.
    #[cfg(test)]
    pub(crate) fn of(values: impl IntoIterator<Item = S>) -> Self {
        Self(values.into_iter().map(RwLock::new).collect())
    }

    /// The buffer of a worker or job, to be written.
    pub(crate) fn get(&self, at: usize) -> RwLockWriteGuard<'_, S> {
        self.0[at].write().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The buffer of a worker or job, to be read by several at once.
    pub(crate) fn read(&self, at: usize) -> RwLockReadGuard<'_, S> {
        self.0[at].read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// All buffers, for accounting and merging.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RwLockWriteGuard<'_, S>> {
        (0..self.0.len()).map(|at| self.get(at))
    }
}
