//! The one place where threads start.
//!
//! An algorithm cuts its work into jobs by content, never by the number of threads, and hands them to an [`Executor`]. Four pieces make
//! the pool of this crate ([`Threads`]):
//! 1. `shares.rs`: which worker runs which job. Each worker has a contiguous range, and steals only when its own is empty.
//! 2. `region.rs`: one call of `run`, which workers enter and leave. Has unsafe code: the pointer to the borrowed job.
//! 3. `threads.rs`: the threads, how they wait between regions, and how they are woken.
//! 4. `placement.rs`: on which core a worker wakes up. Has unsafe code: calls of the system.
//!
//! `gauge.rs` measures the regions of any executor, if [`Context::with_region_timing`](crate::Context::with_region_timing) turned that on.

mod gauge;
#[cfg(feature = "parallel")]
#[allow(unsafe_code)]
mod placement;
#[cfg(feature = "parallel")]
#[allow(unsafe_code)]
mod region;
#[cfg(feature = "parallel")]
mod shares;
#[cfg(feature = "parallel")]
mod threads;

pub(crate) use gauge::Gauge;
pub use gauge::{CORES, Regions};
#[cfg(feature = "parallel")]
pub use threads::Threads;

/// Runs independent jobs. Results never depend on which worker ran which job: every job writes to its own place.
///
/// Implement it to run jobs on the thread pool of an engine. This one uses the threads of the standard library; rayon's `scope` and
/// bevy's `ComputeTaskPool::scope` have the same form (`examples/own_executor.rs` has both this one and rayon's):
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use broadphase::{Context, Executor};
///
/// struct Scoped(usize);
///
/// impl Executor for Scoped {
///     fn width(&self) -> usize {
///         self.0
///     }
///
///     fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
///         let next = AtomicUsize::new(0);
///         let work = |worker: usize| loop {
///             let number = next.fetch_add(1, Ordering::Relaxed);
///             if number >= jobs {
///                 break;
///             }
///             job(number, worker);
///         };
///         std::thread::scope(|scope| {
///             (1..self.0).for_each(|worker| drop(scope.spawn(move || work(worker))));
///             work(0); // the calling thread works too
///         });
///     }
/// }
///
/// let context = Context::new().with_executor(Scoped(2));
/// assert_eq!(context.width(), 2);
/// ```
pub trait Executor: Send + Sync {
    /// The number of workers; `worker` numbers are below it.
    fn width(&self) -> usize;

    /// Calls `job(number, worker)` once for each number in `0..jobs`, in any order, and returns when all are done. No two
    /// calls with the same worker number run at once.
    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync));

    /// Like [`run`](Executor::run), for work that pays for no more than `workers` workers. An executor may use fewer or more.
    fn run_on(&self, workers: usize, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        let _ = workers;
        self.run(jobs, job);
    }

    /// The least work for which it pays to start a worker: see [`Context::run_weighted`](crate::Context::run_weighted). A sleeping worker
    /// takes 5 to 50 microseconds to wake up, depending on the machine; work that is done sooner gains nothing from it.
    fn work_per_worker(&self) -> usize {
        80_000
    }
}

/// The executor that runs all jobs on the calling thread, in order.
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

#[cfg(test)]
mod tests;
