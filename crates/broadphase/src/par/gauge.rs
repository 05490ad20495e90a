//! Work and span: how much of a frame can run at once, measured on any number of threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The numbers of cores for which [`Regions::on`] has a projection.
pub const CORES: [usize; 5] = [2, 4, 8, 16, 64];

/// The total time of the parallel regions of a frame, which are the calls of [`Context::run`](crate::Context::run). The rest of the frame is sequential.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Regions {
    /// The number of regions.
    pub count: u64,
    /// The wall time of all regions.
    pub wall: Duration,
    /// The time of all jobs.
    pub jobs: Duration,
    /// The sum of the longest job of each region: no number of cores makes the regions faster than that.
    pub longest: Duration,
    /// The time that workers spent in a region but not in a job: waking up, and waiting for the last job.
    pub waiting: Duration,
    /// A projection: the wall time of the regions on each number of cores in [`CORES`], if jobs took as long as here and were shared evenly, except
    /// that a region takes at least as long as its longest job.
    pub on: [Duration; CORES.len()],
}

/// Adds up the times of regions, in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    count: AtomicU64,
    wall: AtomicU64,
    jobs: AtomicU64,
    longest: AtomicU64,
    waiting: AtomicU64,
    on: [AtomicU64; CORES.len()],
    /// Is a region being measured? Regions that its jobs start are then part of the jobs.
    is_busy: AtomicBool,
    /// The time of that region's jobs, and of its longest job.
    region_jobs: AtomicU64,
    region_longest: AtomicU64,
}

/// A region that is being measured, until it is dropped: a job may panic.
struct Busy<'a>(&'a AtomicBool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Gauge {
    /// Measures a region that starts with `workers` workers. `run` gets the job that it has to run.
    pub(crate) fn measure(
        &self,
        workers: usize,
        job: &(dyn Fn(usize, usize) + Sync),
        run: impl FnOnce(&(dyn Fn(usize, usize) + Sync)),
    ) {
        if self.is_busy.swap(true, Ordering::Relaxed) {
            return run(job);
        }
        let _busy = Busy(&self.is_busy);
        self.region_jobs.store(0, Ordering::Relaxed);
        self.region_longest.store(0, Ordering::Relaxed);
        let start = Instant::now();
        run(&|number, worker| {
            let start = Instant::now();
            job(number, worker);
            let spent = start.elapsed().as_nanos() as u64;
            self.region_jobs.fetch_add(spent, Ordering::Relaxed);
            self.region_longest.fetch_max(spent, Ordering::Relaxed);
        });
        let wall = start.elapsed().as_nanos() as u64;
        let (jobs, longest) = (self.region_jobs.load(Ordering::Relaxed), self.region_longest.load(Ordering::Relaxed));
        let waiting = (wall * workers as u64).saturating_sub(jobs);
        for (sum, value) in
            [(&self.count, 1), (&self.wall, wall), (&self.jobs, jobs), (&self.longest, longest), (&self.waiting, waiting)]
        {
            sum.fetch_add(value, Ordering::Relaxed);
        }
        for (sum, cores) in self.on.iter().zip(CORES) {
            sum.fetch_add(longest.max(jobs / cores as u64), Ordering::Relaxed);
        }
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

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn regions_are_measured_again_after_a_job_that_panics() {
        let gauge = Gauge::default();
        let panics = |_: usize, _: usize| std::panic::resume_unwind(Box::new("a job")); // without the hook, which would print
        assert!(catch_unwind(AssertUnwindSafe(|| gauge.measure(1, &panics, |run| run(0, 0)))).is_err());
        gauge.measure(1, &|_, _| (), |run| run(0, 0));
        assert_eq!(gauge.read().count, 1);
    }
}
