//! Cancelling a long call from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;
use crate::par::{Executor, Sequential};

/// A flag that cancels a call from another thread. Clones share the flag.
///
/// ```
/// use broadphase::{Aabb, Cancel, Error, Search};
/// let (boxes, cancel) = ([Aabb::point([0.0, 0.0])], Cancel::new());
/// let search = Search::new(&boxes).cancel(&cancel);
/// cancel.cancel(); // usually from another thread
/// assert_eq!(search.list(), Err(Error::Cancelled));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag: calls that carry it return [`Error::Cancelled`] soon.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Is the flag set?
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// [`Error::Cancelled`] if the flag is set.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// An executor that several contexts share; without one, the calling thread, for which nothing is allocated.
#[derive(Clone, Default)]
pub(crate) struct Shared(pub(crate) Option<Arc<dyn Executor>>);

impl Shared {
    fn get(&self) -> &dyn Executor {
        self.0.as_deref().unwrap_or(&Sequential)
    }
}

impl Executor for Shared {
    fn width(&self) -> usize {
        self.get().width()
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        self.get().run(jobs, job);
    }

    fn run_on(&self, workers: usize, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        self.get().run_on(workers, jobs, job);
    }

    fn work_per_worker(&self) -> usize {
        self.get().work_per_worker()
    }
}

/// An executor that skips all further jobs once the flag is set. Only for stages whose result is discarded in that case.
pub(super) struct Cancellable {
    pub(super) executor: Shared,
    pub(super) cancel: Cancel,
}

impl Executor for Cancellable {
    fn width(&self) -> usize {
        self.executor.width()
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        self.run_on(self.width(), jobs, job);
    }

    fn run_on(&self, workers: usize, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        self.executor.run_on(workers, jobs, &|number, worker| {
            if !self.cancel.is_cancelled() {
                job(number, worker);
            }
        });
    }

    fn work_per_worker(&self) -> usize {
        self.executor.work_per_worker()
    }
}
