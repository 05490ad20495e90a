//! Work and span: how much of a frame can run at once, measured on any number of threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The numbers of cores that [`Regions::on`] is given for.
pub const CORES: [usize; 5] = [2, 4, 8, 16, 64];

/// What the regions of a frame, the calls of [`Context::run`](crate::Context::run), took together. The rest of the frame is sequential.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    /// How many there were.
    pub count: u64,
    /// The time that passed in them.
    pub wall: Duration,
    /// The time of all jobs.
    pub jobs: Duration,
    /// The time of the longest job of each: no number of cores makes them faster than that.
    pub longest: Duration,
    /// The time that workers spent neither in a job nor outside of a region: waking, waiting for the last job.
    pub waiting: Duration,
    /// A projection: the time that would pass in them on as many cores as [`CORES`] says, if jobs took as long as here and were shared evenly, but
    /// for the longest of each region.
    pub on: [Duration; CORES.len()],
}

/// Adds up what regions take. Counts in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    count: AtomicU64,
    wall: AtomicU64,
    jobs: AtomicU64,
    longest: AtomicU64,
    waiting: AtomicU64,
    on: [AtomicU64; CORES.len()],
    /// A region is being measured: what its jobs run is part of them.
    is_busy: AtomicBool,
    /// Of that region.
    its_jobs: AtomicU64,
    its_longest: AtomicU64,
}

impl Gauge {
    /// Measures a region that starts with `workers` workers. `run` is given the job that it has to run.
    pub(crate) fn measure(
        &self,
        workers: usize,
        job: &(dyn Fn(usize, usize) + Sync),
        run: impl FnOnce(&(dyn Fn(usize, usize) + Sync)),
    ) {
        if self.is_busy.swap(true, Ordering::Relaxed) {
            return run(job);
        }
        self.its_jobs.store(0, Ordering::Relaxed);
        self.its_longest.store(0, Ordering::Relaxed);
        let start = Instant::now();
        run(&|number, worker| {
            let start = Instant::now();
            job(number, worker);
            let spent = start.elapsed().as_nanos() as u64;
            self.its_jobs.fetch_add(spent, Ordering::Relaxed);
            self.its_longest.fetch_max(spent, Ordering::Relaxed);
        });
        let wall = start.elapsed().as_nanos() as u64;
        let (jobs, longest) = (self.its_jobs.load(Ordering::Relaxed), self.its_longest.load(Ordering::Relaxed));
        let waiting = (wall * workers as u64).saturating_sub(jobs);
        for (sum, value) in
            [(&self.count, 1), (&self.wall, wall), (&self.jobs, jobs), (&self.longest, longest), (&self.waiting, waiting)]
        {
            sum.fetch_add(value, Ordering::Relaxed);
        }
        for (sum, cores) in self.on.iter().zip(CORES) {
            sum.fetch_add(longest.max(jobs / cores as u64), Ordering::Relaxed);
        }
        self.is_busy.store(false, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Regions {
        let time = |sum: &AtomicU64| Duration::from_nanos(sum.load(Ordering::Relaxed));
        Regions {
            count: self.count.load(Ordering::Relaxed),
            wall: time(&self.wall),
            jobs: time(&self.jobs),
            longest: time(&self.longest),
            waiting: time(&self.waiting),
            on: std::array::from_fn(|at| time(&self.on[at])),
        }
    }

    pub(crate) fn clear(&self) {
        [&self.count, &self.wall, &self.jobs, &self.longest, &self.waiting]
            .into_iter()
            .chain(&self.on)
            .for_each(|sum| sum.store(0, Ordering::Relaxed));
    }
}
