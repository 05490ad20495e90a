//! Refused allocations: each allocation of a call is refused in turn, alone and with all after it. The call returns a typed error, or does without the
//! memory; then everything goes on, and the next frame is exact.
//!
//! A binary of its own, since it replaces the allocator. An allocation that cannot fail aborts the process, and so the test:
//! `BROADPHASE_FAULT_TRACE=1 cargo test -p broadphase --test faults NAME -- --nocapture` prints where each refused allocation is made.

#[path = "faults/allocator.rs"]
mod allocator;
#[path = "faults/arrays.rs"]
mod arrays;
#[path = "faults/frames.rs"]
mod frames;
#[path = "faults/worlds.rs"]
mod worlds;

use std::collections::BTreeSet;

use allocator::{Refusal, refuse};
use broadphase::{Aabb, Context, Error, Executor, Pair, Threads};

/// A pool that uses all its workers for the smallest frames.
#[derive(Clone)]
struct Eager(Threads);

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

/// The calling thread, and a pool of two whose threads count as well.
fn contexts() -> [Context; 2] {
    let threads = Threads::new(2).expect("two threads");
    let barrier = std::sync::Barrier::new(threads.width());
    threads.run(threads.width(), &|_, _| {
        allocator::count_this_thread();
        barrier.wait();
    });
    allocator::ignore_this_thread();
    [Context::new(), Context::new().with_executor(Eager(threads))]
}

/// Boxes of several sizes in a cube, at a time: each has its own direction.
fn boxes(count: usize, time: f32) -> Vec<Aabb<3, f32>> {
    let side = (count as f32).cbrt() * 1.2;
    let place = |id: usize, k: usize| {
        let start = ((id * [7919, 104_729, 15_485_863][k] + 12_345) % 10_007) as f32 / 10_007.0;
        let speed = (((id * 31 + k * 17) % 13) as f32 - 6.0) * 0.03;
        (start * side + speed * time).rem_euclid(side)
    };
    let size = |id: usize| [0.6, 1.0, 1.5, 0.2, 0.9][id % 5];
    (0..count)
        .map(|id| {
            let low = std::array::from_fn(|k| place(id, k));
            Aabb::new(low, low.map(|x: f32| x + size(id)))
        })
        .collect()
}

/// All pairs, by a double loop.
fn naive(boxes: &[Aabb<3, f32>], is_live: impl Fn(usize) -> bool) -> BTreeSet<Pair> {
    let mut pairs = BTreeSet::new();
    for a in (0..boxes.len()).filter(|&a| is_live(a)) {
        for b in (a + 1..boxes.len()).filter(|&b| is_live(b)) {
            if boxes[a].overlaps(&boxes[b]) {
                pairs.insert(Pair { a: a as u32, b: b as u32 });
            }
        }
    }
    pairs
}

/// Calls `trial` with each allocation refused in turn, until a trial makes fewer; returns how many were refused.
fn for_each_refusal(mut trial: impl FnMut(Refusal)) -> usize {
    let only = std::env::var("BROADPHASE_FAULT_ONLY").ok().and_then(|only| only.parse().ok());
    let mut count = 0;
    for stays in [false, true] {
        for number in only.unwrap_or(0)..=only.unwrap_or(usize::MAX) {
            let refusal = Refusal { number, stays };
            let turn = allocator::TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let before = allocator::refused();
            trial(refusal);
            let was_refused = allocator::refused() > before;
            drop(turn);
            if !was_refused {
                break;
            }
            count += 1;
        }
    }
    count
}

/// Calls `call` under a refusal; whether it succeeded. Every error must be the typed one, and there must be a reason.
fn survives<R>(refusal: Refusal, call: impl FnOnce() -> Result<R, Error>) -> Option<R> {
    let (result, was_refused) = refuse(refusal, call);
    match result {
        Ok(result) => Some(result),
        Err(error) => {
            let error = match error {
                Error::Argument { error, .. } => *error,
                error => error,
            };
            assert_eq!(error.code(), "out-of-memory", "{error}");
            assert!(was_refused, "nothing was refused: {error}");
            None
        }
    }
}
