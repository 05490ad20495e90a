//! What a frame runs with: threads, kernels, and a clock for those who ask.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::kernels::Kernels;
use crate::par::{Executor, Sequential};

/// Threads and kernels for one frame, and where its stages are timed.
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
    executor: Arc<dyn Executor>,
    kernels: Kernels,
    /// Use one worker for now, whatever the executor has.
    sequential: bool,
    timing: bool,
    stages: Vec<(&'static str, Duration)>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernels, timing, stages, .. } = self;
        f.debug_struct("Context")
            .field("width", &self.width())
            .field("kernels", kernels)
            .field("timing", timing)
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
        Self { executor: Arc::new(Sequential), kernels: Kernels::best(), sequential: false, timing: false, stages: Vec::new() }
    }

    /// With another executor.
    pub fn with_executor(mut self, executor: impl Executor + 'static) -> Self {
        self.executor = Arc::new(executor);
        self
    }

    /// With other kernels.
    pub fn with_kernels(mut self, kernels: Kernels) -> Self {
        self.kernels = kernels;
        self
    }

    /// Other kernels from now on.
    pub(crate) fn set_kernels(&mut self, kernels: Kernels) {
        self.kernels = kernels;
    }

    /// Sets other kernels, and returns those that were set.
    pub(crate) fn replace_kernels(&mut self, kernels: Kernels) -> Kernels {
        std::mem::replace(&mut self.kernels, kernels)
    }

    /// Measures stages from now on; see [`Context::stages`].
    pub fn with_timing(mut self) -> Self {
        self.timing = true;
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
        if self.sequential { 1 } else { self.executor.width().max(1) }
    }

    /// Uses one worker for now, for work that is not worth a second one. Results do not depend on it.
    pub(crate) fn set_sequential(&mut self, sequential: bool) {
        self.sequential = sequential;
    }

    /// Calls `job(number, worker)` once for each number in `0..jobs`.
    #[inline]
    pub fn run(&self, jobs: usize, job: impl Fn(usize, usize) + Sync) {
        if jobs <= 1 || self.sequential {
            Sequential.run(jobs, &job);
        } else {
            self.executor.run(jobs, &job);
        }
    }

    /// Starts a stage: hand the result to [`Context::record`].
    #[inline]
    pub fn clock(&self) -> Option<Instant> {
        self.timing.then(Instant::now)
    }

    /// Ends a stage: adds the time since `start` under `name`.
    pub fn record(&mut self, name: &'static str, start: Option<Instant>) {
        let Some(start) = start else { return };
        let spent = start.elapsed();
        match self.stages.iter_mut().find(|stage| stage.0 == name) {
            Some(stage) => stage.1 += spent,
            None => self.stages.push((name, spent)),
        }
    }

    /// The stages timed since the last [`clear_stages`](Context::clear_stages), in the order in which they first ran.
    pub fn stages(&self) -> &[(&'static str, Duration)] {
        &self.stages
    }

    /// Forgets the stages.
    pub fn clear_stages(&mut self) {
        self.stages.clear();
    }
}

/// One buffer per worker: scratch, which can be dropped without changing a result.
#[derive(Debug, Default)]
pub(crate) struct PerWorker<S>(Vec<Mutex<S>>);

impl<S> Clone for PerWorker<S> {
    /// Scratch is not copied.
    fn clone(&self) -> Self {
        Self(Vec::new())
    }
}

impl<S: Default> PerWorker<S> {
    /// Makes sure that each worker of `context` has its buffer.
    pub(crate) fn prepare(&mut self, context: &Context) {
        if self.0.len() < context.width() {
            self.0.resize_with(context.width(), Mutex::default);
        }
    }

    /// The buffer of `worker`; never contended, since a worker runs one job at a time.
    pub(crate) fn get(&self, worker: usize) -> MutexGuard<'_, S> {
        self.0[worker].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// All buffers, for accounting and merging.
    pub(crate) fn iter(&self) -> impl Iterator<Item = MutexGuard<'_, S>> {
        (0..self.0.len()).map(|worker| self.get(worker))
    }
}
