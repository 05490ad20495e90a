//! The threads: how they are started, how they wait between regions, and how they are woken.

use std::fmt;
use std::hint::spin_loop;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::region::{MOST_WORKERS, Region};
use super::shares::Shares;
use super::{Executor, Sequential};
use crate::Error;

/// A pool of threads, of which the calling thread is one.
///
/// Between the regions of a frame the others wait awake, for a few dozen microseconds; then they sleep, so that a pool that is not used
/// costs nothing. Clones share the threads. They end with the last clone.
///
/// While one thread's jobs are run, another one that calls the same pool, or a job that does, runs its jobs by itself.
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
    /// [`Error::ThreadsUnavailable`] if the count is above 1,024, or if the system refuses to start as many.
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
        let sleeping = (0..count).map(|_| AtomicBool::new(false)).collect();
        let shared = Arc::new(Shared { region: Region::new(count), sleeping, stop: AtomicBool::new(false) });
        let mut pool = Pool { shared, is_taken: AtomicBool::new(false), helpers: Vec::with_capacity(count - 1) };
        for worker in 1..count {
            let shared = Arc::clone(&pool.shared);
            let thread = thread::Builder::new().name(format!("broadphase {worker}")).spawn(move || shared.serve(worker));
            // On error the pool is dropped, which ends the threads that were started.
            pool.helpers.push(thread?);
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
    helpers: Vec<JoinHandle<()>>,
}

impl Pool {
    /// The right to run a region, unless another thread has it, or a job of this one calls.
    fn take(&self) -> Option<Turn<'_>> {
        let taken = self.is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok().then(|| Turn(&self.is_taken))
    }

    /// Wakes those of the first `workers` that sleep.
    fn wake(&self, workers: usize) {
        for (helper, sleeping) in self.helpers.iter().zip(&self.shared.sleeping[1..workers]) {
            if sleeping.load(Ordering::SeqCst) && sleeping.swap(false, Ordering::SeqCst) {
                helper.thread().unpark();
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        for helper in self.helpers.drain(..) {
            helper.thread().unpark();
            // A helper does not panic: jobs are caught. Nor does it wait for itself: while it runs a job, the caller has a clone.
            let _ = helper.join();
        }
    }
}

/// Gives the right to run a region back when it is dropped, also by a panic.
struct Turn<'a>(&'a AtomicBool);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// What the threads know.
struct Shared {
    region: Region,
    /// By worker: sleeps, or is about to.
    sleeping: Box<[AtomicBool]>,
    stop: AtomicBool,
}

impl Shared {
    /// The life of a helper.
    fn serve(&self, worker: usize) {
        let mut last = 0;
        while let Some(number) = self.await_region(worker, last) {
            last = number;
            self.region.help(worker);
        }
    }

    /// The number of the next region that wants this worker; `None` when the pool ends.
    fn await_region(&self, worker: usize, last: u32) -> Option<u32> {
        let next = || Some(self.region.state()).filter(|state| state.number() != last && state.is_open_to(worker));
        let mut patience = Patience::new();
        loop {
            if let Some(state) = next() {
                return Some(state.number());
            }
            if self.stop.load(Ordering::SeqCst) {
                return None;
            }
            if patience.is_over() {
                let sleeping = &self.sleeping[worker];
                sleeping.store(true, Ordering::SeqCst);
                // Checked again after the flag is set: a caller that opens a region from now on sees the flag.
                if next().is_none() && !self.stop.load(Ordering::SeqCst) {
                    thread::park();
                }
                sleeping.store(false, Ordering::SeqCst);
                patience = Patience::new();
            }
        }
    }
}

/// How long a thread waits awake: it spins, then lets others run in between, then its patience is over.
pub(super) struct Patience {
    turns: u32,
    since: Option<Instant>,
}

/// Turns of spinning before the clock is asked; a few microseconds.
const SPINS: u32 = 64;
/// Pauses of the processor in each turn.
const PAUSES: u32 = 16;
/// Longer than the sequential parts between two regions of a frame mostly are.
const AWAKE: Duration = Duration::from_micros(60);

impl Patience {
    pub(super) fn new() -> Self {
        Self { turns: 0, since: None }
    }

    /// Waits a moment. Returns whether it is time to sleep.
    pub(super) fn is_over(&mut self) -> bool {
        if self.turns < SPINS {
            self.turns += 1;
            (0..PAUSES).for_each(|_| spin_loop());
            return false;
        }
        // Where there are more threads than cores, the one that is waited for may need this core.
        thread::yield_now();
        self.since.get_or_insert_with(Instant::now).elapsed() > AWAKE
    }
}
