//! Jobs on an engine's threads.
//!
//! The engine gets one task to call, once per worker; inside it, workers take job numbers from a counter. So an engine cannot lose a job: if it
//! calls the task for fewer workers, one after the other, late or not at all, that costs only speed, since the calling thread runs what is left.
//!
//! # Why the borrowed job outlives its use
//! A worker uses the job only between entering a region, which succeeds only while it is open, and leaving it. [`Foreign::run`] returns only
//! after it has closed the region and has seen that no worker is inside. The region itself lives as long as the executor.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, TryLockError};

use broadphase::{Context, Executor, Sequential};

use crate::input::not_one_of;
use crate::status::Fail;
use crate::types::{bp_executor, bp_run};

/// The most workers of an engine.
const MOST_WORKERS: u32 = 1024;

/// A job of the library.
type Job<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// What the workers of one region share.
struct Region {
    /// The jobs, while the region is open; otherwise null.
    job: AtomicPtr<Job<'static>>,
    /// How many workers have entered and not left.
    inside: AtomicUsize,
    next: AtomicUsize,
    jobs: AtomicUsize,
    /// Which worker numbers are in use.
    busy: Vec<AtomicBool>,
    /// A job has panicked.
    panicked: AtomicBool,
}

impl Region {
    /// Takes jobs as `worker` until none is left; nothing if the region is closed or the number is in use.
    fn work(&self, worker: usize) {
        let Some(busy) = self.busy.get(worker) else { return };
        if busy.swap(true, Ordering::SeqCst) {
            return;
        }
        self.inside.fetch_add(1, Ordering::SeqCst);
        let job = self.job.load(Ordering::SeqCst);
        if !job.is_null() {
            // SAFETY: (job lives) the region was open after this worker was counted, and it is not left before the worker is.
            let job = unsafe { *job };
            let run = || {
                loop {
                    let number = self.next.fetch_add(1, Ordering::Relaxed);
                    if number >= self.jobs.load(Ordering::Relaxed) {
                        break;
                    }
                    job(number, worker);
                }
            };
            if catch_unwind(AssertUnwindSafe(run)).is_err() {
                self.panicked.store(true, Ordering::SeqCst);
            }
        }
        busy.store(false, Ordering::SeqCst);
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The task that an engine's threads call.
unsafe extern "C" fn task(task_context: *mut c_void, worker: u32) {
    if !task_context.is_null() {
        // SAFETY: (caller) the context that was handed over with the task: a region that lives as long as the executor.
        let region = unsafe { &*task_context.cast::<Region>() };
        region.work(worker as usize);
    }
}

/// The executor of an engine.
struct Foreign {
    run: unsafe extern "C" fn(*mut c_void, u32, crate::types::bp_task, *mut c_void),
    user: *mut c_void,
    workers: usize,
    region: Region,
    /// One region at a time; a second caller runs its jobs alone.
    turn: Mutex<()>,
}

// SAFETY: (caller) the header says that `run` may be called from every thread that calls the library with this executor.
unsafe impl Send for Foreign {}
// SAFETY: (caller) as above.
unsafe impl Sync for Foreign {}

impl Executor for Foreign {
    fn width(&self) -> usize {
        self.workers
    }

    fn run(&self, jobs: usize, job: Job<'_>) {
        self.run_on(self.workers, jobs, job);
    }

    fn run_on(&self, workers: usize, jobs: usize, job: Job<'_>) {
        let _turn = match self.turn.try_lock() {
            Ok(turn) => turn,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Sequential.run(jobs, job),
        };
        let region = &self.region;
        region.next.store(0, Ordering::Relaxed);
        region.jobs.store(jobs, Ordering::Relaxed);
        region.panicked.store(false, Ordering::Relaxed);
        let mut shared: Job<'_> = job;
        region.job.store((&raw mut shared).cast(), Ordering::SeqCst);
        let context = std::ptr::from_ref(region).cast_mut().cast();
        let workers = workers.clamp(1, self.workers) as u32;
        // SAFETY: (caller) a function of the header's type, with the user pointer that came with it.
        unsafe { (self.run)(self.user, workers, Some(task), context) };
        region.work(0);
        // Worker 0 may still be another thread's, if the engine did not wait for it.
        while region.next.load(Ordering::Relaxed) < jobs && !region.panicked.load(Ordering::Relaxed) {
            std::thread::yield_now();
            region.work(0);
        }
        region.job.store(std::ptr::null_mut(), Ordering::SeqCst);
        while region.inside.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
        if region.panicked.load(Ordering::SeqCst) {
            resume_unwind(Box::new("a job failed on a thread of the engine"));
        }
    }
}

/// An executor that can be handed to several owners.
#[derive(Clone)]
pub(crate) struct Shared(Arc<dyn Executor>);

impl Executor for Shared {
    fn width(&self) -> usize {
        self.0.width()
    }

    fn run(&self, jobs: usize, job: Job<'_>) {
        self.0.run(jobs, job);
    }

    fn run_on(&self, workers: usize, jobs: usize, job: Job<'_>) {
        self.0.run_on(workers, jobs, job);
    }

    fn work_per_worker(&self) -> usize {
        self.0.work_per_worker()
    }
}

/// The threads that a definition specifies.
pub(crate) fn executor(threads: u32, foreign: &bp_executor) -> Result<Shared, Fail> {
    let run: bp_run = foreign.run;
    if let Some(run) = run {
        if !(1..=MOST_WORKERS).contains(&foreign.workers) {
            return Err(not_one_of("executor.workers", foreign.workers, "1 to 1024"));
        }
        let workers = foreign.workers as usize;
        let region = Region {
            job: AtomicPtr::new(std::ptr::null_mut()),
            inside: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
            jobs: AtomicUsize::new(0),
            busy: (0..workers).map(|_| AtomicBool::new(false)).collect(),
            panicked: AtomicBool::new(false),
        };
        return Ok(Shared(Arc::new(Foreign { run, user: foreign.user, workers, region, turn: Mutex::new(()) })));
    }
    own(threads as usize)
}

#[cfg(feature = "parallel")]
fn own(threads: usize) -> Result<Shared, Fail> {
    Ok(if threads == 1 { Shared(Arc::new(Sequential)) } else { Shared(Arc::new(broadphase::Threads::new(threads)?)) })
}

#[cfg(not(feature = "parallel"))]
fn own(threads: usize) -> Result<Shared, Fail> {
    match threads {
        0 | 1 => Ok(Shared(Arc::new(Sequential))),
        requested => Err(broadphase::Error::ThreadsUnavailable { requested }.into()),
    }
}

/// A context with the threads that a definition specifies.
pub(crate) fn context(threads: u32, foreign: &bp_executor) -> Result<Context, Fail> {
    Ok(Context::new().with_executor(executor(threads, foreign)?))
}
