//! Executors that show whether a result depends on the order of jobs, or on which worker runs them.
//!
//! They run a region however little work it has, so that a few hundred objects take the same code path as a million.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use broadphase::{Context, Executor, Threads};

/// In which order a [`Serialized`] executor runs its jobs.
#[derive(Debug)]
enum Order {
    Forward,
    Reversed,
    /// Another order in each region; the seed of the next one.
    Shuffled(AtomicU64),
}

/// All jobs on the calling thread, one after the other, under changing worker numbers.
#[derive(Debug)]
pub struct Serialized {
    width: usize,
    order: Order,
}

impl Serialized {
    /// The first job first.
    pub fn forward(width: usize) -> Self {
        Self { width, order: Order::Forward }
    }

    /// The last job first.
    pub fn reversed(width: usize) -> Self {
        Self { width, order: Order::Reversed }
    }

    /// In random order, under random worker numbers; the same ones for the same seed.
    pub fn shuffled(width: usize, seed: u64) -> Self {
        Self { width, order: Order::Shuffled(AtomicU64::new(seed)) }
    }
}

/// SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Calls `visit` once for each number below `count`, in an order that follows from `state`. Needs no memory: a step that has no common
/// divisor with the count, from a random start, backwards in blocks of random length.
fn visit_shuffled(count: usize, state: &mut u64, mut visit: impl FnMut(usize)) {
    let divisor = |a: usize, b: usize| {
        let (mut a, mut b) = (a, b);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    if count == 0 {
        return;
    }
    let start = random(state) as usize % count;
    let first = random(state) as usize % count;
    let step = (0..count).map(|k| 1 + (first + k) % count).find(|&step| divisor(step, count) == 1).unwrap_or(1);
    (0..count).for_each(|turn| visit((start + (turn as u128 * step as u128 % count as u128) as usize) % count));
}

impl Executor for Serialized {
    fn width(&self) -> usize {
        self.width
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        match &self.order {
            Order::Forward => (0..jobs).for_each(|number| job(number, number % self.width)),
            Order::Reversed => (0..jobs).rev().for_each(|number| job(number, number % self.width)),
            Order::Shuffled(seed) => {
                let mut state = seed.fetch_add(1, Ordering::Relaxed).wrapping_mul(0xd134_2543_de82_ef95);
                let mut workers = random(&mut state);
                visit_shuffled(jobs, &mut state, |number| job(number, random(&mut workers) as usize % self.width));
            }
        }
    }

    fn work_per_worker(&self) -> usize {
        0
    }
}

/// A given number of threads, also on a machine with fewer cores, that race for each job. They are started anew in each region.
#[derive(Debug)]
pub struct Racing(pub usize);

impl Executor for Racing {
    fn width(&self) -> usize {
        self.0
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let work = |worker: usize| {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= jobs {
                    break;
                }
                job(number, worker);
                std::thread::yield_now();
            }
        };
        std::thread::scope(|scope| {
            (1..self.0.min(jobs)).for_each(|worker| drop(scope.spawn(move || work(worker))));
            work(0);
        });
    }

    fn work_per_worker(&self) -> usize {
        0
    }
}

/// The pool of the library, except for the least amount of work.
#[derive(Debug)]
pub struct Eager(pub Threads);

impl Executor for Eager {
    fn width(&self) -> usize {
        self.0.width()
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        self.0.run(jobs, job);
    }

    fn work_per_worker(&self) -> usize {
        0
    }
}

/// A pool of the library's threads that takes any region.
pub fn threads(count: usize) -> Eager {
    Eager(Threads::new(count).expect("threads"))
}

/// Contexts in which every list must be the same as with [`Context::new`], by name.
pub fn contexts() -> Vec<(String, Context)> {
    let mut all = vec![
        ("in order, 1 worker".into(), Context::new().with_executor(Serialized::forward(1))),
        ("in order, 3 workers".into(), Context::new().with_executor(Serialized::forward(3))),
        ("reversed".into(), Context::new().with_executor(Serialized::reversed(2))),
        ("3 threads that race".into(), Context::new().with_executor(Racing(3))),
    ];
    for seed in 1..4 {
        let context = Context::new().with_executor(Serialized::shuffled(1 + seed as usize, seed));
        all.push((format!("shuffled with seed {seed}"), context));
    }
    for count in 1..=4 {
        all.push((format!("{count} threads"), Context::new().with_executor(threads(count))));
    }
    all
}
