//! The threads: how they are started, how they wait between regions, and how they are woken.

use std::fmt;
use std::hint::spin_loop;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::placement::{Core, Placement, current_core};
use super::region::{MOST_WORKERS, Region};
use super::shares::Shares;
use super::{Executor, Sequential};
use crate::Error;

/// A pool of threads, of which the calling thread is one.
///
/// Between the regions of a frame the other threads spin for a few dozen microseconds; then they sleep, so that an unused pool
/// costs nothing. Clones share the threads, which end with the last clone. On Linux the affinity masks of these threads are changed: a core on
/// which a thread meets its caller is taken out, and put back when a caller runs elsewhere. Cores that you exclude stay excluded.
///
/// While the pool runs one thread's jobs, another thread that uses the same pool, or a job that does, runs its jobs by itself.
///
/// ```
/// use broadphase::{Context, Threads};
/// let context = Context::new().with_executor(Threads::new(2)?);
/// # Ok::<(), broadphase::Error>(())
/// ```
#[derive(Clone)]
pub struct Threads(Arc<Pool>);

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threads").field("width", &self.width()).finish()
    }
}

impl Threads {
    /// A pool of `count` threads, the calling one included; 0 means one per core. Threads beyond the cores of this machine could only slow
    /// a frame down, so they are not started.
    ///
    /// # Errors
    /// [`Error::ThreadsUnavailable`] if the count is above 1,024, or if the system cannot start that many.
    pub fn new(count: usize) -> Result<Self, Error> {
        if count > MOST_WORKERS {
            return Err(Error::ThreadsUnavailable { requested: count });
        }
        let cores = thread::available_parallelism().map_or(1, usize::from).min(MOST_WORKERS);
        Self::with_exactly(if count == 0 { cores } else { count.min(cores) })
            .map_err(|_| Error::ThreadsUnavailable { requested: count })
    }

    /// A pool of this many threads, whatever the machine has.
    pub(super) fn with_exactly(count: usize) -> io::Result<Self> {
        let sleeping = (0..count).map(|_| AtomicI32::new(AWAKE)).collect();
        let shared = Arc::new(Shared { region: Region::new(count), sleeping, stop: AtomicBool::new(false) });
        let mut pool = Pool { shared, is_taken: AtomicBool::new(false), helpers: Vec::with_capacity(count - 1) };
        for worker in 1..count {
            let shared = Arc::clone(&pool.shared);
            let thread = thread::Builder::new().name(format!("broadphase {worker}")).spawn(move || shared.run_helper(worker));
            // On error the pool is dropped, which ends the threads that were started.
            pool.helpers.push(Helper { thread: thread?, placement: Mutex::default() });
        }
        Ok(Self(Arc::new(pool)))
    }
}

impl Executor for Threads {
    fn width(&self) -> usize {
        self.0.helpers.len() + 1
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        self.run_on(self.width(), jobs, job);
    }

    fn run_on(&self, workers: usize, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        let pool = &*self.0;
        let workers = workers.min(self.width()).min(jobs);
        let turn = (workers > 1 && jobs <= Shares::MOST).then(|| pool.take()).flatten();
        match turn {
            Some(_turn) => pool.shared.region.run(workers, jobs, job, || pool.wake(workers)),
            None => Sequential.run(jobs, job),
        }
    }
}

/// What the clones of a [`Threads`] share.
struct Pool {
    shared: Arc<Shared>,
    /// Is a region being run?
    is_taken: AtomicBool,
    /// Workers 1, 2 and so on.
    helpers: Vec<Helper>,
}

impl Pool {
    /// The right to run a region, unless another thread has it or the caller is itself a job.
    fn take(&self) -> Option<RegionGuard<'_>> {
        let taken = self.is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok().then(|| RegionGuard(&self.is_taken))
    }

    /// Wakes those of the first `workers` that sleep.
    fn wake(&self, workers: usize) {
        for (helper, sleeping) in self.helpers.iter().zip(&self.shared.sleeping[1..workers]) {
            if sleeping.load(Ordering::SeqCst) == AWAKE {
                continue;
            }
            let last = sleeping.swap(AWAKE, Ordering::SeqCst);
            if last != AWAKE {
                helper.placement.lock().unwrap_or_else(PoisonError::into_inner).prepare(&helper.thread, last, current_core());
                helper.thread.thread().unpark();
            }
        }
    }
}

/// A thread of the pool.
struct Helper {
    thread: JoinHandle<()>,
    /// Used only by the thread that has taken the pool.
    placement: Mutex<Placement>,
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        for helper in self.helpers.drain(..) {
            helper.thread.thread().unpark();
            // A helper does not panic: jobs are caught. Nor does it wait for itself: while it runs a job, the caller has a clone.
            let _ = helper.thread.join();
        }
    }
}

/// The right to run a region, returned when this is dropped, even by a panic.
struct RegionGuard<'a>(&'a AtomicBool);

impl Drop for RegionGuard<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// The state that the threads share.
struct Shared {
    region: Region,
    /// By worker: [`AWAKE`], or, if it sleeps or is about to, the core on which it goes to sleep.
    sleeping: Box<[AtomicI32]>,
    stop: AtomicBool,
}

/// Not a core, nor the value for an unknown one.
const AWAKE: Core = Core::MIN;

impl Shared {
    /// The loop of a helper: runs its part of each region until the pool ends.
    fn run_helper(&self, worker: usize) {
        let mut last = 0;
        while let Some(number) = self.await_region(worker, last) {
            last = number;
            self.region.help(worker);
        }
    }

    /// Waits for the next region that is open to this worker, and returns its number; `None` when the pool ends.
    fn await_region(&self, worker: usize, last: u32) -> Option<u32> {
        let next = || Some(self.region.state()).filter(|state| state.number() != last && state.is_open_to(worker));
        let mut wait = SpinWait::new();
        loop {
            if let Some(state) = next() {
                return Some(state.number());
            }
            if self.stop.load(Ordering::SeqCst) {
                return None;
            }
            if wait.is_over() {
                let sleeping = &self.sleeping[worker];
                sleeping.store(current_core(), Ordering::SeqCst);
                // Checked again after the flag is set: a caller that opens a region from now on sees the flag.
                if next().is_none() && !self.stop.load(Ordering::SeqCst) {
                    thread::park();
                }
                sleeping.store(AWAKE, Ordering::SeqCst);
                wait = SpinWait::new();
            }
        }
    }
}

/// A wait without sleeping: spins, then times out.
///
/// It does not yield: with another thread on its core, or on Linux kernels that pack threads on few cores even without one, a thread that yields
/// may get a core back only at the next tick, 4 ms later, and misses all regions until then.
pub(super) struct SpinWait {
    turns: u32,
    since: Option<Instant>,
}

/// Rounds of spinning before the clock is read; some ten microseconds.
const SPINS: u32 = 64;
/// Pause instructions in each round.
const PAUSES: u32 = 16;
/// The time from then on until the wait times out: longer than most sequential parts between two regions of a frame.
const TIMEOUT: Duration = Duration::from_micros(60);

impl SpinWait {
    pub(super) fn new() -> Self {
        Self { turns: 0, since: None }
    }

    /// Waits a moment. Returns whether the wait has timed out.
    pub(super) fn is_over(&mut self) -> bool {
        (0..PAUSES).for_each(|_| spin_loop());
        if self.turns < SPINS {
            self.turns += 1;
            return false;
        }
        self.since.get_or_insert_with(Instant::now).elapsed() > TIMEOUT
    }
}
