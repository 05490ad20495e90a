//! Panics of the caller's code inside a frame: in a filter, in a rule for one update, in an executor. The panic comes out of the call, and the world
//! goes on: the next update has exactly the pairs of its objects.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

use broadphase::{Aabb, Context, Executor, Handle, Object, ObjectKind, Threads, World3};
use broadphase_testing::Random;
use broadphase_testing::executors::{Eager, Serialized};

fn objects(count: usize, seed: u64) -> Vec<Object<3, f32>> {
    let mut random = Random(seed);
    let kind = |id: usize| if id.is_multiple_of(6) { ObjectKind::Static } else { ObjectKind::Dynamic };
    (0..count).map(|id| Object::new(random.cube(9.0, 1.0)).with_kind(kind(id))).collect()
}

/// The pairs of a world by definition, as of its present boxes.
fn expected(world: &World3) -> Vec<(Handle, Handle)> {
    let all: Vec<_> = world.iter().map(|(handle, aabb)| (handle, aabb, world.kind(handle).expect("living"))).collect();
    let mut pairs = Vec::new();
    for (at, (a, x, of_a)) in all.iter().enumerate() {
        let meets = all[at + 1..].iter().filter(|(_, y, of_b)| x.overlaps(y) && of_a.pairs_with(*of_b));
        pairs.extend(meets.map(|(b, ..)| (*a, *b)));
    }
    pairs
}

/// Counts down, and panics at zero.
fn tick(fuse: &AtomicI64) {
    assert!(fuse.fetch_sub(1, Relaxed) != 0, "the fuse of a test");
}

fn contexts() -> [Context; 3] {
    let pool = Eager(Threads::new(2).expect("threads"));
    [Context::new(), Context::new().with_executor(Serialized::shuffled(3, 1)), Context::new().with_executor(pool)]
}

/// Runs updates in which something panics after each of several delays, and checks the world after each.
fn survive(context: Context, arm: impl Fn(&mut World3, Arc<AtomicI64>), disarm: impl Fn(&mut World3)) -> usize {
    let mut panics = 0;
    for (delay, warm) in [0, 1, 7, 60, 300].into_iter().flat_map(|delay| [(delay, false), (delay, true)]) {
        let mut world = World3::new();
        world.set_context(context.clone());
        let handles = world.insert_many(&objects(700, 3)).expect("valid objects");
        if warm {
            world.update().expect("a good frame");
        }
        let before: Vec<_> = world.sorted_pairs();
        arm(&mut world, Arc::new(AtomicI64::new(delay)));
        let moved: Vec<_> = handles.iter().copied().zip(objects(700, 4).iter().map(|object| object.aabb)).skip(100).collect();
        world.set_boxes_of(&moved).expect("valid boxes");
        world.remove_many(&handles[..20]).expect("living");
        let update = catch_unwind(AssertUnwindSafe(|| world.update().map(|_| ())));
        if update.is_ok() {
            continue; // the fuse was longer than the frame
        }
        panics += 1;
        disarm(&mut world);
        let update = world.update().expect("a good frame");
        let pairs = expected(&world);
        assert_eq!(world.sorted_pairs(), pairs, "after a panic at {delay}, warm {warm}");
        if warm {
            // What started and ended since the last update that came to its end.
            let fresh = pairs.iter().filter(|pair| !before.contains(pair)).count();
            assert_eq!((update.started().len(), update.ended().len()), (fresh, before.len() + fresh - pairs.len()));
        }
        world.set_box(handles[300], Aabb::everything()).expect("living");
        world.update().expect("a good frame");
        assert_eq!(world.sorted_pairs(), expected(&world), "one frame later");
    }
    panics
}

#[test]
fn a_world_survives_a_filter_that_panics() {
    for context in contexts() {
        let panics = survive(
            context,
            |world, fuse| {
                world.set_pair_filter(move |_| {
                    tick(&fuse);
                    true
                });
            },
            World3::clear_filter,
        );
        assert!(panics >= 6, "{panics} panics");
    }
}

/// An executor that panics in place of a job, or between two.
struct Failing(Arc<AtomicI64>);

impl Executor for Failing {
    fn width(&self) -> usize {
        2
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        (0..jobs).for_each(|number| {
            tick(&self.0);
            job(number, number % 2);
        });
    }

    fn work_per_worker(&self) -> usize {
        0
    }
}

#[test]
fn a_world_survives_an_executor_that_panics() {
    let panics = survive(
        Context::new(),
        |world, fuse| world.set_context(Context::new().with_executor(Failing(fuse))),
        |world| world.set_context(Context::new()),
    );
    assert!(panics >= 4, "{panics} panics");
}
