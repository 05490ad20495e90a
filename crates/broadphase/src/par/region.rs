//! A parallel region: one call of `run`, which the caller opens and closes, and which workers enter and leave.
//!
//! The caller never waits for a worker to arrive. It opens the region, works, and closes the region when no job is left to take; then it
//! waits for those workers that are inside. A late worker finds the region closed, at no cost.
//!
//! # Why the borrowed job outlives its use
//! 1. A worker uses the task only between [`Region::enter`], which succeeds only while the region is open, and leaving.
//! 2. The state word holds both whether the region is open and how many workers are inside, so no worker can enter after closing.
//! 3. [`Region::run`] returns, or unwinds, only after it has closed the region and has seen that no worker is inside.
//! 4. A region is opened only when the last one was closed and empty: `Region::run` is called by one thread at a time (`threads.rs`).

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use super::shares::Shares;
use super::threads::SpinWait;

/// The jobs of a region, shared by its workers.
struct Task<'a> {
    job: &'a (dyn Fn(usize, usize) + Sync),
    workers: usize,
}

/// The state of a region in one word, so that it changes as one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct State(u64);

impl State {
    const INSIDE: u64 = (1 << 16) - 1;
    const WORKERS: u64 = ((1 << 16) - 1) << 16;

    fn open(number: u32, workers: usize) -> Self {
        Self(u64::from(number) << 32 | (workers as u64) << 16)
    }

    /// The number of helpers inside.
    fn inside(self) -> u64 {
        self.0 & Self::INSIDE
    }

    /// Workers `0..workers` may enter; 0 if the region is closed.
    fn workers(self) -> usize {
        ((self.0 & Self::WORKERS) >> 16) as usize
    }

    /// Counts regions.
    pub(super) fn number(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// May this worker enter?
    pub(super) fn is_open_to(self, worker: usize) -> bool {
        worker < self.workers()
    }
}

/// The region of a pool: one at a time, reused, so that nothing is allocated.
pub(super) struct Region {
    state: AtomicU64,
    task: AtomicPtr<Task<'static>>,
    shares: Shares,
    /// Has a job panicked? Then no further one is started.
    failed: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Notified when the last worker has left a closed region.
    is_empty: Condvar,
    waiting: Mutex<()>,
}

/// The most workers that the state can count.
pub(super) const MOST_WORKERS: usize = 1024;
const _: () = assert!((MOST_WORKERS as u64) < State::INSIDE);

impl Region {
    pub(super) fn new(workers: usize) -> Self {
        assert!(workers <= MOST_WORKERS);
        Self {
            state: AtomicU64::new(0),
            task: AtomicPtr::new(ptr::null_mut()),
            shares: Shares::new(workers),
            failed: AtomicBool::new(false),
            panic: Mutex::new(None),
            is_empty: Condvar::new(),
            waiting: Mutex::new(()),
        }
    }

    pub(super) fn state(&self) -> State {
        State(self.state.load(Ordering::SeqCst))
    }

    /// Runs all jobs, with the caller as worker 0 and those of workers `1..workers` that enter in time. `wake` is called when the region is
    /// open. Must not be called by two threads at once.
    ///
    /// # Panics
    /// If a job panics; then some jobs have not run.
    pub(super) fn run(&self, workers: usize, jobs: usize, job: &(dyn Fn(usize, usize) + Sync), wake: impl FnOnce()) {
        let task = Task { job, workers };
        self.shares.deal(workers, jobs);
        self.failed.store(false, Ordering::Relaxed);
        self.task.store(ptr::from_ref(&task).cast::<Task<'static>>().cast_mut(), Ordering::Relaxed);
        let number = self.state().number().wrapping_add(1);
        // Sequentially consistent, as the flags of sleeping workers are: either they see this, or `wake` sees that they sleep.
        self.state.store(State::open(number, workers).0, Ordering::SeqCst);
        let closing = Closing(self);
        wake();
        self.work(&task, 0);
        drop(closing);
        if self.failed.load(Ordering::Relaxed)
            && let Some(panic) = self.panic.lock().unwrap_or_else(PoisonError::into_inner).take()
        {
            resume_unwind(panic);
        }
    }

    /// Works as `worker` until no job is left, if the region is open to it.
    pub(super) fn help(&self, worker: usize) {
        if !self.enter(worker) {
            return;
        }
        // SAFETY: (the task lives) this worker is inside, so `run` has opened the region and not returned; see the module documentation. The
        // pointer was stored before the state, which `enter` has read in acquire order. Tasks are shared: `job` is `Sync`.
        let task: &Task<'_> = unsafe { &*self.task.load(Ordering::Relaxed) };
        self.work(task, worker);
        self.leave();
    }

    fn enter(&self, worker: usize) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        while State(state).is_open_to(worker) {
            match self.state.compare_exchange_weak(state, state + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => state = now,
            }
        }
        false
    }

    fn leave(&self) {
        let before = State(self.state.fetch_sub(1, Ordering::Release));
        if before.workers() == 0 && before.inside() == 1 {
            drop(self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
            self.is_empty.notify_one();
        }
    }

    /// Takes jobs until none is left. Never unwinds: the first panic is kept for the caller.
    fn work(&self, task: &Task<'_>, worker: usize) {
        let result = catch_unwind(AssertUnwindSafe(|| {
            while let Some(number) = self.shares.next(worker, task.workers) {
                if self.failed.load(Ordering::Relaxed) {
                    break;
                }
                (task.job)(number, worker);
            }
        }));
        if let Err(panic) = result {
            self.failed.store(true, Ordering::Relaxed);
            let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            if first.is_none() {
                *first = Some(panic);
            } else {
                // Dropping it could panic again.
                std::mem::forget(panic);
            }
        }
    }

    /// Lets no more workers in, and waits until all have left.
    fn close(&self) {
        self.state.fetch_and(!State::WORKERS, Ordering::Relaxed);
        let is_empty = || State(self.state.load(Ordering::Acquire)).inside() == 0;
        let mut wait = SpinWait::new();
        while !is_empty() {
            if wait.is_over() {
                let mut guard = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                while !is_empty() {
                    guard = self.is_empty.wait(guard).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

/// Closes the region when it is dropped, even by a panic.
struct Closing<'a>(&'a Region);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
