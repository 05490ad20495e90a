//! The pool and the gauge as users see them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use broadphase::{Aabb, Context, Error, Executor, Regions, Sequential, Threads, World3};

/// A lattice of boxes, each of which touches its neighbors.
fn lattice(n: usize) -> Vec<Aabb<3, f32>> {
    let corners = (0..n).map(|i| [i % 30, i / 30 % 30, i / 900].map(|c| c as f32));
    corners.map(|corner| Aabb::new(corner, corner.map(|c| c + 1.0))).collect()
}

fn pairs_of(context: Context, n: usize) -> Result<Vec<[u32; 2]>, Error> {
    let mut world = World3::new();
    world.set_context(context);
    world.insert_many(&lattice(n))?;
    world.update()?;
    Ok(world.pairs().map(|(a, b)| [a.index, b.index]).collect())
}

#[test]
fn two_worlds_on_two_threads_share_a_pool() {
    let threads = Threads::new(2).unwrap();
    let expected = pairs_of(Context::new(), 20_000).unwrap();
    thread::scope(|scope| {
        for _ in 0..2 {
            let (threads, expected) = (threads.clone(), &expected);
            scope.spawn(move || {
                for _ in 0..3 {
                    let found = pairs_of(Context::new().with_executor(threads.clone()), 20_000).unwrap();
                    assert!(found == *expected);
                }
            });
        }
    });
}

/// A filter is the caller's code, and may panic in a job.
#[test]
fn a_world_goes_on_after_a_panic_in_a_job() {
    let threads = Threads::new(2).unwrap();
    let mut world = World3::new();
    world.set_context(Context::new().with_executor(threads.clone()));
    world.insert_many(&lattice(20_000)).unwrap();
    world.set_filter(|_| std::panic::resume_unwind(Box::new("filter")));
    assert!(catch_unwind(AssertUnwindSafe(|| world.update().map(|update| update.len()))).is_err());
    let expected = pairs_of(Context::new(), 20_000).unwrap();
    assert!(pairs_of(Context::new().with_executor(threads), 20_000).unwrap() == expected, "the pool is as good as new");
}

#[test]
fn little_work_touches_no_other_thread() {
    let context = Context::new().with_executor(Threads::new(2).unwrap());
    let caller = thread::current().id();
    context.run_weighted(100, 1000, |_, worker| assert!(worker == 0 && thread::current().id() == caller));
    assert_eq!((context.workers_for(0), context.workers_for(usize::MAX)), (1, context.width()));
}

#[test]
fn the_longest_job_bounds_the_span_and_all_jobs_make_the_work() {
    let mut context = Context::new().with_region_timing();
    context.run(4, |number, _| thread::sleep(Duration::from_millis(if number == 2 { 8 } else { 2 })));
    let regions = context.regions().unwrap();
    assert_eq!(regions.count, 1);
    assert!(regions.jobs >= Duration::from_millis(14) && regions.longest >= Duration::from_millis(8));
    assert!(regions.wall >= regions.jobs && regions.waiting == regions.wall - regions.jobs);
    assert!(regions.on.is_sorted_by(|few, many| few >= many) && regions.on.iter().all(|&on| on >= regions.longest));
    context.clear_stages();
    assert_eq!(context.regions(), Some(Regions::default()));
    assert_eq!(Context::new().with_timing().regions(), None, "not measured unless asked");
}

#[test]
fn a_region_inside_a_job_is_part_of_the_job() {
    let context = Context::new().with_executor(Sequential).with_region_timing();
    context.run(3, |_, _| context.run(5, |_, _| ()));
    assert_eq!(context.regions().unwrap().count, 1);
    assert_eq!(Sequential.width(), 1);
}
