//! Bevy's compute pool as the executor of the broad phase.

use std::sync::atomic::{AtomicUsize, Ordering};

use bevy::tasks::ComputeTaskPool;
use broadphase::{Context, Executor};

/// Runs jobs on the compute pool, which must exist by then: every Bevy app starts it.
struct ComputePool;

impl Executor for ComputePool {
    fn width(&self) -> usize {
        ComputeTaskPool::get().thread_num()
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        self.run_on(self.width(), jobs, job);
    }

    fn run_on(&self, workers: usize, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        let next = &AtomicUsize::new(0);
        // One task per worker number: whichever thread runs it, no number is used twice at once.
        ComputeTaskPool::get().scope(|scope| {
            for worker in 0..workers.min(jobs) {
                scope.spawn(async move {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= jobs {
                            break;
                        }
                        job(number, worker);
                    }
                });
            }
        });
    }

    /// A scope of this pool costs tens of microseconds, so a worker needs more work to pay for it than with the library's own pool.
    fn work_per_worker(&self) -> usize {
        100_000
    }
}

/// A context on Bevy's pool, or on the calling thread if the app has one thread.
pub(crate) fn context() -> Context {
    if cfg!(feature = "parallel") { Context::new().with_executor(ComputePool) } else { Context::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_runs_once_and_no_worker_number_runs_twice_at_once() {
        ComputeTaskPool::get_or_init(|| bevy::tasks::TaskPoolBuilder::new().num_threads(3).build());
        let counts: Vec<AtomicUsize> = (0..1000).map(|_| AtomicUsize::new(0)).collect();
        let busy: Vec<AtomicUsize> = (0..3).map(|_| AtomicUsize::new(0)).collect();
        ComputePool.run_on(3, counts.len(), &|number, worker| {
            assert_eq!(busy[worker].fetch_add(1, Ordering::SeqCst), 0, "worker {worker} runs two jobs at once");
            counts[number].fetch_add(1, Ordering::SeqCst);
            busy[worker].fetch_sub(1, Ordering::SeqCst);
        });
        assert!(counts.iter().all(|count| count.load(Ordering::SeqCst) == 1));
    }
}
