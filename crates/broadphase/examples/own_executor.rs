//! Jobs on a pool of your own: `cargo run --release --example own_executor`.
//!
//! An executor says how many workers it has and runs jobs on them. Here are one on rayon's global pool and one on plain threads. An engine's pool
//! looks the same: with bevy, `ComputeTaskPool::get().scope(|scope| ...)` takes the place of `rayon::scope`, and `thread_num()` is the width.

use std::sync::atomic::{AtomicUsize, Ordering};

use broadphase::{Aabb, Context, Error, Executor, World3};

/// Takes the next job, until none is left.
fn work(next: &AtomicUsize, jobs: usize, worker: usize, job: &(dyn Fn(usize, usize) + Sync)) {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= jobs {
            break;
        }
        job(number, worker);
    }
}

/// The pool that the rest of the program uses anyway.
struct Rayon;

impl Executor for Rayon {
    fn width(&self) -> usize {
        rayon::current_num_threads()
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        let next = &AtomicUsize::new(0);
        // One task per worker number: whichever thread runs it, no number is used twice at once.
        rayon::scope(|scope| {
            for worker in 0..self.width().min(jobs) {
                scope.spawn(move |_| work(next, jobs, worker, job));
            }
        });
    }

    /// Waking this pool takes longer than waking the library's own, so more work is needed to pay for it.
    fn work_per_worker(&self) -> usize {
        100_000
    }
}

/// Threads of the standard library, started for each call: simple, and slow.
struct Scoped(usize);

impl Executor for Scoped {
    fn width(&self) -> usize {
        self.0
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        let next = &AtomicUsize::new(0);
        std::thread::scope(|scope| {
            (1..self.0.min(jobs)).for_each(|worker| drop(scope.spawn(move || work(next, jobs, worker, job))));
            work(next, jobs, 0, job); // the calling thread works too
        });
    }

    fn work_per_worker(&self) -> usize {
        500_000
    }
}

/// The pairs of a lattice of boxes, each of which touches its neighbors.
fn pairs_with(context: Context) -> Result<u64, Error> {
    let boxes: Vec<Aabb<3, f32>> = (0..27_000)
        .map(|i| [i % 30, i / 30 % 30, i / 900].map(|c| c as f32))
        .map(|corner| Aabb::new(corner, corner.map(|c| c + 1.0)))
        .collect();
    let mut world = World3::new();
    world.set_context(context);
    world.insert_many(&boxes)?;
    Ok(world.update()?.len())
}

fn main() -> Result<(), Error> {
    let expected = pairs_with(Context::new())?;
    println!("one thread:       {expected} pairs");
    for (name, context) in [
        ("rayon's pool:    ", Context::new().with_executor(Rayon)),
        ("threads of std:  ", Context::new().with_executor(Scoped(2))),
    ] {
        let found = pairs_with(context)?;
        println!("{name} {found} pairs");
        assert_eq!(found, expected);
    }
    Ok(())
}
