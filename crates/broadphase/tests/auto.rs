//! `auto`: what a switch costs, what it accepts, and the order of its lists.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use broadphase::auto::Auto;
use broadphase::geometry::Measure;
use broadphase::{
    Aabb, BroadPhase, Changes, Context, Error, Executor, Frame, Object, ObjectKind, Pair, PairStore, Real, Strength, Tag, World,
    step,
};

/// Boxes of edge 1 in a cube of side `side`; the same ones for the same seed.
fn spread<const D: usize, T: Real>(n: usize, side: f64, seed: u64) -> Vec<Aabb<D, T>> {
    let mut state = seed;
    let mut unit = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    (0..n)
        .map(|_| {
            let at: [f64; D] = std::array::from_fn(|_| unit() * side);
            Aabb::new(at.map(T::from_f64), at.map(|x| T::from_f64(x + 1.0)))
        })
        .collect()
}

/// Runs jobs from the last one to the first, on alternating worker numbers.
#[derive(Debug)]
struct Reverse;

impl Executor for Reverse {
    fn width(&self) -> usize {
        3
    }

    fn run(&self, jobs: usize, job: &(dyn Fn(usize, usize) + Sync)) {
        (0..jobs).rev().for_each(|number| job(number, number % 3));
    }
}

/// An area that counts how many boxes are compared with it.
struct Counted<const D: usize, T> {
    area: Aabb<D, T>,
    bounds: AtomicU64,
}

impl<const D: usize, T: Real> Measure<D, T> for Counted<D, T> {
    fn bound(&self, bounds: &Aabb<D, T>) -> Option<T> {
        self.bounds.fetch_add(1, Ordering::Relaxed);
        self.area.overlaps(bounds).then_some(T::ZERO)
    }
}

/// The comparisons that a query of a small area in the middle of the world makes, after a first one that may build something.
fn cost_of_query<const D: usize, T: Real>(world: &mut World<D, T>, side: f64) -> u64 {
    let reader = world.read().unwrap();
    let middle = T::from_f64(side / 2.0);
    let measure = Counted { area: Aabb::new([middle; D], [middle + T::from_f64(5.0); D]), bounds: AtomicU64::new(0) };
    let mut found = 0;
    for _ in 0..2 {
        measure.bounds.store(0, Ordering::Relaxed);
        reader.search(&measure, T::ZERO, |_, _| {
            found += 1;
            ControlFlow::Continue(T::ZERO)
        });
    }
    assert!(found > 0, "the area is not empty");
    measure.bounds.into_inner()
}

/// A world that saw one object of each kind before it sees many costs no more than one that sees them first: the tests of the next
/// update, and the comparisons of a query.
fn a_world_that_starts_with_one_object<const D: usize, T: Real>(n: usize, side: f64, kind: ObjectKind) {
    let boxes = spread::<D, T>(n, side, 1);
    // So many that `auto` tests all pairs of them neither after one object nor from the start.
    let movers = spread::<D, T>(300, side, 2);
    let many: Vec<Object<D, T>> = boxes.iter().map(|&aabb| Object::new(aabb).with_kind(kind)).collect();
    let mut grown = World::<D, T>::new();
    grown.insert(Object::new(boxes[0]).with_kind(kind)).unwrap();
    grown.insert(movers[0]).unwrap();
    grown.update().unwrap();
    let mut fresh = World::<D, T>::new();
    fresh.insert(Object::new(boxes[0]).with_kind(kind)).unwrap();
    fresh.insert(movers[0]).unwrap();
    for world in [&mut grown, &mut fresh] {
        world.insert_many(&many).unwrap();
        world.insert_many(&movers).unwrap();
        world.update().unwrap();
    }
    let indices = |world: &World<D, T>| -> Vec<_> { world.sorted_pairs().iter().map(|(a, b)| (a.index, b.index)).collect() };
    assert!(indices(&grown) == indices(&fresh), "{kind:?}, {D}D: other pairs");
    let (late, early) = (grown.tests(), fresh.tests());
    assert!(2 * late <= 3 * early, "{kind:?}, {D}D: {late} tests after one object, {early} from the start");
    let (late, early) = (cost_of_query(&mut grown, side), cost_of_query(&mut fresh, side));
    assert!(2 * late <= 3 * early, "{kind:?}, {D}D: a query compares {late} boxes after one object, {early} from the start");
    assert!(early < n as u64 / 10, "{kind:?}, {D}D: a query compares {early} boxes");
}

#[test]
fn one_object_in_the_first_update_does_not_keep_brute_force_for_the_next_many() {
    for kind in [ObjectKind::Dynamic, ObjectKind::Static] {
        a_world_that_starts_with_one_object::<3, f32>(100_000, 120.0, kind);
        a_world_that_starts_with_one_object::<2, f64>(20_000, 300.0, kind);
    }
}

/// Lists that do not fit the frame are rejected, even if the whole frame is read because another structure takes over.
fn bad_lists<const D: usize, T: Real>(before: usize) {
    let boxes = spread::<D, T>(1000, 30.0, 3);
    let all: Vec<u32> = (0..1000).collect();
    let bad = [
        Changes::Listed { moved: &[5000], inserted: &[], removed: &[] },
        Changes::Listed { moved: &[], inserted: &[1000], removed: &[] },
        Changes::Listed { moved: &[], inserted: &all[before..], removed: &[3] },
    ];
    for changes in bad {
        let (mut auto, mut context, mut store) = (Auto::<D, T>::new(), Context::new(), PairStore::default());
        if before > 0 {
            step(&mut auto, &Frame::new(&boxes[..before]), &mut context, &mut store).unwrap();
        }
        let chosen = auto.stats().choice;
        let error = auto.update(&Frame::new(&boxes).with_changes(changes), &mut context).unwrap_err();
        assert!(matches!(error, Error::InvalidFrame { .. }), "{changes:?}: {error}");
        assert_eq!(auto.stats().choice, chosen, "a rejected frame changes nothing");
        let inserted = Changes::Listed { moved: &[], inserted: &all[before..], removed: &[] };
        let frame = Frame::new(&boxes).with_changes(inserted);
        step(&mut auto, &frame, &mut context, &mut store).unwrap();
        auto.validate(&frame, Strength::Geometry).unwrap();
        assert!(store.sorted() == broadphase::pairs(&boxes).unwrap(), "{changes:?}");
    }
}

#[test]
fn a_list_that_does_not_fit_is_rejected_in_the_frame_in_which_the_choice_changes() {
    for before in [0, 10] {
        bad_lists::<3, f32>(before);
        bad_lists::<2, f64>(before);
    }
}

/// The lists of frames in which objects walk, rest, are crowded and are listed, under one executor.
fn lists<const D: usize, T: Real>(context: Context) -> Vec<Vec<Pair>> {
    let (mut auto, mut context, mut store) = (Auto::<D, T>::new(), context, PairStore::default());
    let mut boxes = spread::<D, T>(9000, if D == 3 { 30.0 } else { 120.0 }, 4);
    let mut lists = Vec::new();
    for round in 0..24usize {
        let share = [1, 1, 40, 9][round / 6];
        let by = T::from_f64(if round % 2 == 0 { 0.2 } else { -0.15 });
        let moved: Vec<u32> = (0..boxes.len()).filter(|id| (id + round).is_multiple_of(share)).map(|id| id as u32).collect();
        // In the second part, all move along one axis.
        let along = |k: usize| if round / 6 != 1 || k + 1 == D { by } else { T::ZERO };
        moved.iter().for_each(|&id| boxes[id as usize] = boxes[id as usize].translate(std::array::from_fn(along)));
        let listed = Changes::Listed { moved: &moved, inserted: &[], removed: &[] };
        let changes = if round > 12 && round % 3 == 0 { listed } else { Changes::Unknown };
        let frame = Frame::new(&boxes).with_changes(changes);
        step(&mut auto, &frame, &mut context, &mut store).unwrap();
        lists.push(store.to_vec());
        let probes = spread::<D, T>(1500, 100.0, 5);
        let mut found = PairStore::default();
        for _ in 0..4 {
            auto.probe(&frame, broadphase::Probes { boxes: &probes, ids: None, recurring: false }, &mut context, &mut found)
                .unwrap();
            lists.push(found.to_vec());
        }
    }
    lists
}

#[test]
fn jobs_in_reverse_order_give_the_same_lists() {
    assert!(lists::<3, f32>(Context::new()) == lists::<3, f32>(Context::new().with_executor(Reverse)));
    assert!(lists::<2, f64>(Context::new()) == lists::<2, f64>(Context::new().with_executor(Reverse)));
}

/// The pairs of a world, by the indices of the objects, in the order in which it lists them.
fn listed<const D: usize, T: Real>(world: &World<D, T>) -> Vec<(u32, u32)> {
    world.pairs().map(|(a, b)| (a.index, b.index)).collect()
}

/// Movers among statics: the world, a clone of it, and a world whose jobs run in reverse order list the same pairs in the same order.
fn clones_of_a_world<const D: usize, T: Real>(side: f64, environments: u32) {
    let statics = spread::<D, T>(6000, side, 6);
    let movers = spread::<D, T>(5000, side, 7);
    let build = || {
        let mut world = World::<D, T>::new();
        let tag = |index: usize| Tag { env: index as u32 % environments, ..Tag::default() };
        let object = |(index, &aabb): (usize, &Aabb<D, T>)| Object::new(aabb).with_tag(tag(index));
        let fixed: Vec<_> = statics.iter().enumerate().map(|of| object(of).with_kind(ObjectKind::Static)).collect();
        world.insert_many(&fixed).unwrap();
        let handles = world.insert_many(&movers.iter().enumerate().map(object).collect::<Vec<_>>()).unwrap();
        (world, handles)
    };
    let ((mut world, handles), (mut reversed, other_handles)) = (build(), build());
    reversed.set_context(Context::new().with_executor(Reverse));
    for round in 0..10usize {
        let mut copy = world.clone();
        let share = [1, 3, 50][round % 3];
        let worlds = [(&mut world, &handles), (&mut copy, &handles), (&mut reversed, &other_handles)];
        for (world, handles) in worlds {
            for &handle in handles.iter().skip(round).step_by(share) {
                let by = T::from_f64(if round % 2 == 0 { 0.3 } else { -0.2 });
                let aabb = world.get_box(handle).unwrap();
                world.set_box(handle, aabb.translate([by; D])).unwrap();
            }
            world.update().unwrap();
        }
        assert!(!listed(&world).is_empty());
        assert!(listed(&copy) == listed(&world), "{D}D, the clone in round {round}");
        assert!(listed(&reversed) == listed(&world), "{D}D, jobs in reverse in round {round}");
    }
}

#[test]
fn a_clone_of_a_world_and_jobs_in_reverse_give_the_same_lists() {
    clones_of_a_world::<3, f32>(28.0, 1);
    clones_of_a_world::<3, f32>(20.0, 3);
    clones_of_a_world::<2, f64>(120.0, 1);
}
