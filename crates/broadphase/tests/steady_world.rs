//! What a world allocates: nothing in steady frames, with environments, statics and continuous detection; and little before it notices that there
//! are more pairs than allowed.
//!
//! A binary of its own, since it replaces the allocator. Counts are per thread: the frames run on the test's own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;

use broadphase::{
    Aabb, Changes, Context, ContinuousDetection, Error, Frame, Object, PairStore, Period, Periodic, Report, Shape, Spec, Tag,
    World, World2, World3, step,
};

/// The system's allocator, with a count of calls that ask for memory, of the bytes in use, and of the most that ever were.
struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(calls: u64, bytes: isize) {
    CALLS.with(|all| all.set(all.get() + calls));
    let now = BYTES.with(|all| {
        all.set(all.get() + bytes);
        all.get()
    });
    PEAK.with(|peak| peak.set(peak.get().max(now)));
}

// SAFETY: (allocator) every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as isize);
        // SAFETY: (allocator) the caller's duties, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(0, -(layout.size() as isize));
        // SAFETY: (allocator) the caller's duties, passed on.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size as isize - layout.size() as isize);
        // SAFETY: (allocator) the caller's duties, passed on.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The allocations of `frames` calls, after a warm-up of three times as many.
fn steady(frames: usize, mut frame: impl FnMut(usize)) -> u64 {
    (0..3 * frames).for_each(&mut frame);
    let before = CALLS.with(Cell::get);
    (0..frames).for_each(&mut frame);
    CALLS.with(Cell::get) - before
}

/// The most bytes that `work` had in use beyond those at its start.
fn peak(work: impl FnOnce()) -> isize {
    let before = BYTES.with(Cell::get);
    PEAK.with(|peak| peak.set(before));
    work();
    PEAK.with(Cell::get) - before
}

/// A box on an orbit of ten frames.
fn orbit(id: usize, frame: usize) -> Aabb<3, f32> {
    let swing = |k: usize| ((frame + id + 3 * k) % 10).min(10 - (frame + id + 3 * k) % 10) as f32 / 8.0;
    let cell = [id % 12, id / 12 % 12, id / 144];
    let min = std::array::from_fn(|k| cell[k] as f32 * 1.25 + swing(k));
    Aabb::new(min, min.map(|c| c + 1.0))
}

#[test]
fn steady_frames_with_statics_do_not_allocate() {
    for name in ["auto", "tiles:target=64", "brute-force"] {
        for (movers, statics) in [(40, 300), (300, 40), (300, 1400)] {
            let mut world = World3::new();
            world.set_algorithm(&name.parse().unwrap()).unwrap();
            let objects: Vec<_> = (0..statics).map(|id| Object::fixed(orbit(id, 0))).collect();
            let fixed = world.insert_many(&objects).unwrap();
            let handles = world.insert_many(&(0..movers).map(|id| orbit(id, 0)).collect::<Vec<_>>()).unwrap();
            let spent = steady(30, |frame| {
                handles.iter().enumerate().for_each(|(id, &handle)| world.set_box(handle, orbit(id, frame)).unwrap());
                // Now and then a static moves too.
                world.set_box(fixed[3], orbit(3, frame / 5)).unwrap();
                assert!(!world.update().unwrap().is_empty());
            });
            assert_eq!(spent, 0, "{name}, {movers} movers, {statics} statics, in 30 frames");
        }
    }
}

#[test]
fn steady_frames_with_a_few_listed_changes_do_not_allocate() {
    for name in ["auto", "tiles:target=64", "tiles"] {
        let mut world = World3::new();
        world.set_algorithm(&name.parse().unwrap()).unwrap();
        let handles = world.insert_many(&(0..3000).map(|id| orbit(id, 0)).collect::<Vec<_>>()).unwrap();
        let spent = steady(60, |frame| {
            (frame % 2..3000).step_by(250).for_each(|id| world.set_box(handles[id], orbit(id, frame / 2)).unwrap());
            assert!(!world.update().unwrap().is_empty());
        });
        assert_eq!(spent, 0, "{name}, in 60 frames");
    }
}

#[test]
fn steady_frames_with_environments_do_not_allocate() {
    for name in ["auto", "tiles:target=64", "brute-force"] {
        let mut world = World3::new();
        world.set_algorithm(&name.parse().unwrap()).unwrap();
        let env = |id: usize| Tag::default().with_env(if id.is_multiple_of(16) { 0 } else { 1 + id as u32 % 5 });
        let objects: Vec<_> = (0..900).map(|id| Object::new(orbit(id, 0)).with_tag(env(id))).collect();
        let handles = world.insert_many(&objects).unwrap();
        let fixed: Vec<_> = (0..200).map(|id| Object::fixed(orbit(7 * id, 0)).with_tag(env(id))).collect();
        world.insert_many(&fixed).unwrap();
        let spent = steady(30, |frame| {
            handles.iter().enumerate().for_each(|(id, &handle)| world.set_box(handle, orbit(id, frame)).unwrap());
            assert!(!world.update().unwrap().is_empty());
        });
        assert_eq!(spent, 0, "{name}, in 30 frames");
    }
}

#[test]
fn steady_frames_with_continuous_detection_users_and_values_do_not_allocate() {
    for detection in [ContinuousDetection::Swept, ContinuousDetection::SUB_STEPS] {
        let mut world = World3::new();
        world.set_algorithm(&"brute-force".parse().unwrap()).unwrap();
        world.set_continuous_detection(detection).unwrap();
        let objects: Vec<_> = (0..200).map(|id| Object::new(orbit(id, 0)).with_user(id as u64)).collect();
        let handles = world.insert_many(&objects).unwrap();
        let spent = steady(30, |frame| {
            for (id, &handle) in handles.iter().enumerate().filter(|(id, _)| id % 3 > 0) {
                world.set_box(handle, orbit(id, frame * 3)).unwrap();
            }
            for pair in world.update().unwrap().started() {
                assert!(world.set_pair_value(pair.a, pair.b, pair.user_a).unwrap());
            }
            assert!(world.ended().iter().all(|pair| pair.value == Some(pair.user_a)));
        });
        assert_eq!(spent, 0, "{detection:?}, in 30 frames");
    }
}

/// A space that repeats, a little smaller than what the orbits cover, so that objects leave and enter it in every frame.
#[test]
fn steady_frames_of_a_space_that_repeats_do_not_allocate() {
    let space = Period::axes([Some(14.0), None, Some(7.5)]);
    for name in ["auto", "tiles:target=64", "brute-force"] {
        for detection in [ContinuousDetection::None, ContinuousDetection::Swept, ContinuousDetection::SUB_STEPS] {
            if detection == ContinuousDetection::Swept && name != "brute-force" {
                continue; // as above, swept boxes are tested with brute force
            }
            for moved_share in [1, 40] {
                let mut world = World3::new();
                world.set_algorithm(&name.parse().unwrap()).unwrap();
                world.set_period(Some(space)).unwrap();
                world.set_continuous_detection(detection).unwrap();
                let handles = world.insert_many(&(0..800).map(|id| orbit(id, 0)).collect::<Vec<_>>()).unwrap();
                let fixed: Vec<_> = (0..60).map(|id| Object::fixed(orbit(13 * id, 0))).collect();
                world.insert_many(&fixed).unwrap();
                let mut seen = 0;
                let spent = steady(30, |frame| {
                    for (id, &handle) in handles.iter().enumerate().filter(|(id, _)| id % moved_share == 0) {
                        world.set_box(handle, orbit(id, frame)).unwrap();
                    }
                    assert!(!world.update().unwrap().is_empty());
                    let reader = world.read().unwrap();
                    reader
                        .in_box(&Aabb::new([13.5, 3.0, 7.0], [14.5, 4.0, 8.0]), |_| {
                            seen += 1;
                            ControlFlow::Continue(())
                        })
                        .unwrap();
                });
                assert_eq!(spent, 0, "{name}, {detection:?}, one of {moved_share} moves, in 30 frames");
                assert!(seen > 0);
            }
        }
    }
}

/// The same for those who keep their own arrays: changes unknown, all and listed.
#[test]
fn steady_frames_of_periodic_structures_do_not_allocate() {
    let moments: Vec<Vec<Aabb<3, f32>>> = (0..10).map(|frame| (0..800).map(|id| orbit(id, frame)).collect()).collect();
    let all: Vec<u32> = (0..800).collect();
    for name in ["auto", "tiles:target=64", "brute-force"] {
        for changes in [Changes::Unknown, Changes::All, Changes::Listed { moved: &all, inserted: &[], removed: &[] }] {
            let inner = name.parse::<Spec>().unwrap().build().unwrap();
            let mut structure = Periodic::new(inner, Period::new([14.0, 15.0, 7.5])).unwrap();
            let (mut context, mut found, mut known) = (Context::new(), PairStore::new(Report::Both), false);
            let spent = steady(30, |frame| {
                let changes = if std::mem::replace(&mut known, true) { changes } else { Changes::All };
                let frame = Frame::new(&moments[frame % 10]).with_changes(changes);
                step(&mut structure, &frame, &mut context, &mut found).unwrap();
                assert!(!found.is_empty());
            });
            assert_eq!(spent, 0, "{name}, {changes:?}");
        }
    }
}

/// All at one place, so that every two are a pair: four million pairs, thirty megabytes.
const CROWD: usize = 2000;
/// More than buffers that do not depend on pairs need.
const LITTLE: isize = 12_000_000;

fn refused(name: &str, mut world: World2) {
    world.set_pair_limit(10);
    let spent = peak(|| assert_eq!(world.update().unwrap_err(), Error::TooManyPairs { limit: 10 }, "{name}"));
    assert!(spent < LITTLE, "{name}: {spent} bytes for a limit of 10 pairs");
}

#[test]
fn the_pair_limit_holds_before_memory_is_spent() {
    let at = |k: usize| Aabb::new([k as f32 * 1e-4, 0.0], [k as f32 * 1e-4 + 1.0, 1.0]);
    let crowd = |object: &dyn Fn(usize) -> Object<2, f32>| {
        let mut world = World2::new();
        world.insert_many(&(0..CROWD).map(object).collect::<Vec<_>>()).unwrap();
        world
    };
    let fixed = |k: usize| if k.is_multiple_of(2) { Object::new(at(k)) } else { Object::fixed(at(k)) };
    refused("movers", crowd(&|k| Object::new(at(k))));
    refused(
        "statics",
        crowd(&|k| if k.is_multiple_of(2) { Object::fixed(at(k)) } else { Object::new(at(k)).with_tag(Tag::new(1, 2)) }),
    );
    refused("environments", crowd(&|k| Object::new(at(k)).with_tag(Tag::default().with_env(1 + k as u32 % 3))));
    refused("environment 0", crowd(&|k| Object::new(at(k)).with_tag(Tag::default().with_env((k as u32 % 9).min(2)))));
    let shape = |k: usize| if k.is_multiple_of(2) { Shape::Ball } else { Shape::Box };
    refused("mixed shapes", crowd(&|k| Object::new(at(k)).with_shape(shape(k))));
    refused("mixed shapes and statics", crowd(&|k| fixed(k).with_shape(shape(k))));
    refused("environments and statics", crowd(&|k| fixed(k).with_tag(Tag::default().with_env(1 + k as u32 % 2))));
    let mut filtered = crowd(&|k| fixed(k).with_tag(Tag::default().with_env(1 + k as u32 % 2)));
    filtered.set_filter(|fresh| fresh.retain(|pair| (pair.a + pair.b) % 7 == 1));
    refused("a filter", filtered);
    let (mut one, mut other) = (crowd(&|k| Object::new(at(k))), crowd(&|k| Object::new(at(k))));
    one.set_pair_limit(10);
    one.read().unwrap();
    other.read().unwrap();
    let mut found = Vec::new();
    let spent = peak(|| assert_eq!(one.pairs_with(&mut other, &mut found).unwrap_err(), Error::TooManyPairs { limit: 10 }));
    assert!(spent < LITTLE && found.is_empty(), "pairs of two worlds: {spent} bytes");
}

/// What a filter removes does not count, however much it is: the pairs that are left are found, and right.
#[test]
fn pairs_that_a_filter_removes_do_not_count_against_the_limit() {
    let at = |k: usize| Aabb::new([k as f64 * 1e-4, 0.0], [k as f64 * 1e-4 + 1.0, 1.0]);
    for envs in [1, 2] {
        let mut world = World::<2, f64>::new();
        let env = |k: usize| Tag::default().with_env(if envs == 1 { 0 } else { k as u32 % 3 });
        let object = |k: usize| if k.is_multiple_of(2) { Object::new(at(k)) } else { Object::fixed(at(k)) };
        let objects: Vec<_> = (0..3200).map(|k| object(k).with_tag(env(k))).collect();
        world.insert_many(&objects).unwrap();
        world.set_filter(|fresh| fresh.retain(|pair| pair.a + 1 == pair.b || pair.a == 0));
        let mut expected = 0;
        for (a, x) in objects.iter().enumerate() {
            let others = if a == 0 { objects.len() } else { (a + 2).min(objects.len()) };
            for y in &objects[(a + 1).min(others)..others] {
                let pairs = x.kind.pairs_with(y.kind) && x.tag.allows(&y.tag) && x.aabb.overlaps(&y.aabb);
                expected += u64::from(pairs);
            }
        }
        world.set_pair_limit(expected);
        assert_eq!(world.update().unwrap().len(), expected, "{envs}");
        assert_eq!(world.pairs().count() as u64, expected);
        world.set_pair_limit(expected - 1);
        assert_eq!(world.update().unwrap_err(), Error::TooManyPairs { limit: expected - 1 }, "{envs}");
    }
}
