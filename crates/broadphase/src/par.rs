//! The one place where threads start.

/// Runs independent jobs. Results never depend on who ran what: every job writes to its own place.
///
/// Implement it to run jobs on the thread pool of an engine.
pub trait Executor: Send + Sync {
    /// The number of workers; `worker` numbers are below it.
    fn width(&self) -> usize;

    /// Calls `job(number, worker)` once for each number in `0..jobs`, in any order, and returns when all are done. No two
    /// calls with the same worker number run at once.
    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync));
}

/// All jobs on the calling thread, in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sequential;

impl Executor for Sequential {
    fn width(&self) -> usize {
        1
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        for number in 0..jobs {
            job(number, 0);
        }
    }
}

#[cfg(feature = "parallel")]
pub use threads::Threads;

#[cfg(feature = "parallel")]
mod threads {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::Executor;
    use crate::Error;

    /// A pool of threads (rayon's). Jobs are taken one by one in order, so that a long one does not hold up the rest.
    #[derive(Clone, Debug)]
    pub struct Threads(Arc<rayon::ThreadPool>);

    impl Threads {
        /// A pool of `count` threads of its own; 0 means one per core.
        pub fn new(count: usize) -> Result<Self, Error> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(count).thread_name(|i| format!("broadphase {i}")).build();
            pool.map(|pool| Self(Arc::new(pool))).map_err(|_| Error::ThreadsUnavailable { requested: count })
        }
    }

    impl Executor for Threads {
        fn width(&self) -> usize {
            self.0.current_num_threads()
        }

        fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
            let next = AtomicUsize::new(0);
            let busy: Vec<AtomicBool> = (0..self.width()).map(|_| AtomicBool::new(false)).collect();
            let work = |_: &rayon::Scope<'_>| {
                let worker = rayon::current_thread_index().unwrap_or(0);
                // A job that waits for something of rayon's own may be given this in the meantime. Its thread is at work already.
                if busy[worker].swap(true, Ordering::Relaxed) {
                    return;
                }
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= jobs {
                        break;
                    }
                    job(number, worker);
                }
                busy[worker].store(false, Ordering::Relaxed);
            };
            let work = &work;
            self.0.scope(|scope| (0..self.width().min(jobs)).for_each(|_| scope.spawn(work)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn runs_each_job_once(executor: &dyn Executor) {
        let counts: Vec<AtomicU32> = (0..1000).map(|_| AtomicU32::new(0)).collect();
        executor.run(counts.len(), &|job, worker| {
            assert!(worker < executor.width());
            counts[job].fetch_add(1, Ordering::Relaxed);
        });
        assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
    }

    #[cfg(feature = "parallel")]
    #[test]
    fn jobs_that_wait_for_rayon_are_not_given_another_one_of_the_same_worker() {
        let threads = Threads::new(4).unwrap();
        let at_work: Vec<AtomicU32> = (0..4).map(|_| AtomicU32::new(0)).collect();
        for _ in 0..200 {
            threads.run(8, &|_, worker| {
                assert_eq!(at_work[worker].fetch_add(1, Ordering::Relaxed), 0, "worker {worker}");
                rayon::scope(|scope| (0..4).for_each(|_| scope.spawn(|_| std::thread::yield_now())));
                at_work[worker].fetch_sub(1, Ordering::Relaxed);
            });
        }
    }

    #[test]
    fn every_executor_runs_each_job_once() {
        runs_each_job_once(&Sequential);
        #[cfg(feature = "parallel")]
        for width in 1..4 {
            runs_each_job_once(&Threads::new(width).unwrap());
        }
    }
}
