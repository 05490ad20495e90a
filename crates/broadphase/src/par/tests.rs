use super::*;
use std::sync::atomic::{AtomicU32, Ordering};

fn runs_each_job_once(executor: &dyn Executor, jobs: usize) {
    let counts: Vec<AtomicU32> = (0..jobs).map(|_| AtomicU32::new(0)).collect();
    let at_work: Vec<AtomicU32> = (0..executor.width()).map(|_| AtomicU32::new(0)).collect();
    executor.run(jobs, &|job, worker| {
        assert_eq!(at_work[worker].fetch_add(1, Ordering::Relaxed), 0, "worker {worker} runs two jobs at once");
        counts[job].fetch_add(1, Ordering::Relaxed);
        at_work[worker].fetch_sub(1, Ordering::Relaxed);
    });
    assert!(counts.iter().all(|c| c.load(Ordering::Relaxed) == 1));
}

#[test]
fn sequential_runs_each_job_once() {
    runs_each_job_once(&Sequential, 1000);
}

#[cfg(feature = "parallel")]
mod pool {
    use super::*;
    use crate::Error;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn thousands_of_regions_of_any_size_run_each_job_once() {
        for width in 1..=5 {
            let threads = Threads::with_exactly(width).unwrap();
            assert_eq!(threads.width(), width);
            for round in 0..2000 {
                runs_each_job_once(&threads, round % 37);
            }
            runs_each_job_once(&threads, 100_000);
        }
    }

    /// Regions that come after the workers have fallen asleep, or just as they do.
    #[test]
    fn sleeping_workers_are_woken() {
        let threads = Threads::with_exactly(3).unwrap();
        for round in 0..60 {
            thread::sleep(Duration::from_micros(10 * round));
            let seen: Vec<AtomicU32> = (0..3).map(|_| AtomicU32::new(0)).collect();
            // Each worker must come, since a job waits until all have.
            threads.run(3, &|_, worker| {
                seen[worker].fetch_add(1, Ordering::SeqCst);
                while seen.iter().any(|count| count.load(Ordering::SeqCst) == 0) {
                    thread::yield_now();
                }
            });
        }
    }

    #[test]
    fn results_of_jobs_are_visible_to_the_caller_and_to_the_next_region() {
        let threads = Threads::with_exactly(4).unwrap();
        let cells: Vec<Mutex<u64>> = (0..64).map(|_| Mutex::new(0)).collect();
        let plain: Vec<AtomicU32> = (0..64).map(|_| AtomicU32::new(0)).collect();
        for round in 0..3000 {
            threads.run(64, &|job, _| {
                let read = plain[(job + 1) % 64].load(Ordering::Relaxed);
                assert!(read == round || read == round + 1);
                assert_eq!(plain[job].swap(round + 1, Ordering::Relaxed), round);
                *cells[job].lock().unwrap() += 1;
            });
            assert!(plain.iter().all(|cell| cell.load(Ordering::Relaxed) == round + 1));
        }
        assert!(cells.into_iter().all(|cell| cell.into_inner().unwrap() == 3000));
    }

    #[test]
    fn a_job_that_panics_reaches_the_caller_after_all_jobs_have_stopped_and_poisons_nothing() {
        let threads = Threads::with_exactly(3).unwrap();
        for round in 0..300 {
            let at_work = AtomicUsize::new(0);
            let result = catch_unwind(AssertUnwindSafe(|| {
                threads.run(50, &|job, _| {
                    at_work.fetch_add(1, Ordering::SeqCst);
                    let panics = job == round % 50 || job == (3 * round) % 50;
                    thread::yield_now();
                    at_work.fetch_sub(1, Ordering::SeqCst);
                    if panics {
                        std::panic::resume_unwind(Box::new("a job")); // without the hook, which would print
                    }
                });
            }));
            assert_eq!(result.unwrap_err().downcast_ref::<&str>(), Some(&"a job"));
            assert_eq!(at_work.load(Ordering::SeqCst), 0, "jobs are still running");
            runs_each_job_once(&threads, 40);
        }
    }

    #[test]
    fn a_job_that_runs_jobs_runs_them_by_itself() {
        let threads = Threads::with_exactly(3).unwrap();
        let count = AtomicUsize::new(0);
        threads.run(20, &|_, _| {
            threads.run(10, &|_, worker| {
                assert_eq!(worker, 0);
                threads.run(2, &|_, _| {
                    count.fetch_add(1, Ordering::Relaxed);
                });
            });
        });
        assert_eq!(count.into_inner(), 400);
    }

    #[test]
    fn two_threads_share_a_pool() {
        let threads = Threads::with_exactly(3).unwrap();
        thread::scope(|scope| {
            for jobs in [3, 50] {
                let threads = threads.clone();
                scope.spawn(move || (0..2000).for_each(|_| runs_each_job_once(&threads, jobs)));
            }
        });
    }

    #[test]
    fn a_pool_ends_while_its_threads_sleep_spin_or_have_not_started() {
        for round in 0..200 {
            let threads = Threads::with_exactly(4).unwrap();
            if round % 2 == 0 {
                runs_each_job_once(&threads, 8);
            }
            thread::sleep(Duration::from_micros(round % 10 * 30));
        }
    }

    #[test]
    fn a_region_uses_no_more_workers_than_it_feeds() {
        let threads = Threads::with_exactly(4).unwrap();
        for _ in 0..500 {
            threads.run_on(2, 30, &|_, worker| {
                assert!(worker < 2);
                thread::yield_now();
            });
            threads.run_on(1, 30, &|_, worker| assert_eq!(worker, 0));
        }
    }

    #[test]
    fn too_many_threads_are_refused_at_once() {
        assert_eq!(Threads::new(10_000).unwrap_err(), Error::ThreadsUnavailable { requested: 10_000 });
        assert_eq!(Threads::new(usize::MAX).unwrap_err(), Error::ThreadsUnavailable { requested: usize::MAX });
        let cores = thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(Threads::new(0).unwrap().width(), cores);
        assert_eq!(Threads::new(cores + 7).unwrap().width(), cores, "threads beyond the cores are not started");
    }
}
