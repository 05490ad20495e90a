//! Statics are free while they rest: counted, not timed.

use std::collections::BTreeSet;

use broadphase::{Aabb, Handle, Kind, Object, ObjectKind, Strength, World, World3};

use crate::{Random, specs};

/// So many statics that a mistake shows; few enough for unoptimized code.
const STATICS: usize = 20_000;
const MOVERS: usize = 100;

/// A floor of tiles, and movers on it.
fn hall(spec: &broadphase::Spec) -> (World3, Vec<broadphase::Handle>) {
    let mut world = World3::new();
    world.set_algorithm(spec).unwrap();
    for k in 0..STATICS {
        let (x, y) = ((k % 200) as f32, (k / 200) as f32);
        world.insert(Object::fixed(Aabb::new([x, y, 0.0], [x + 0.9, y + 0.9, 1.0]))).unwrap();
    }
    let mut random = Random(5);
    let boxes = (0..MOVERS).map(|_| Aabb::from_center([random.below(200) as f32, random.below(100) as f32, 1.2], [0.4; 3]));
    let boxes: Vec<_> = boxes.collect();
    let movers = world.insert_many(&boxes).unwrap();
    (world, movers)
}

#[test]
fn a_frame_costs_probes_of_the_movers_that_changed_and_no_more() {
    for spec in &specs(3) {
        let (mut world, movers) = hall(spec);
        let first = world.update().unwrap().len();
        assert!(first > 0, "{spec}: movers touch the floor");
        // All pairs of statics with each other would be two hundred million.
        let most = (MOVERS * (STATICS + MOVERS)) as u64;
        assert!(world.tests() <= most, "{spec}: {} tests", world.tests());
        let all = world.tests();
        if spec.descriptor().kind == Kind::Ours {
            assert!(all <= (MOVERS * 1500) as u64, "{spec}: {all} tests for {MOVERS} movers");
        }

        world.update().unwrap();
        assert_eq!(world.tests(), 0, "{spec}: nothing changed");
        let aabb = world.get_box(movers[7]).unwrap();
        world.set_box(movers[7], aabb).unwrap();
        world.update().unwrap();
        assert_eq!(world.tests(), 0, "{spec}: the same box again is no change");

        world.set_box(movers[7], aabb.translate([0.0, 0.0, 0.125])).unwrap();
        let update = world.update().unwrap();
        assert_eq!((update.started().len(), update.ended().len()), (0, 0), "{spec}");
        let few = (STATICS + 2 * MOVERS * MOVERS) as u64;
        assert!(world.tests() <= few.min(all), "{spec}: {} tests for one mover, {all} for all", world.tests());
    }
}

/// All pairs with a mover, by comparing every two boxes.
fn naive_pairs(world: &World3, fixed: &[Handle], movers: &[Handle]) -> BTreeSet<(Handle, Handle)> {
    let overlap = |a: Handle, b: Handle| world.get_box(a).unwrap().overlaps(&world.get_box(b).unwrap());
    let mut pairs = BTreeSet::new();
    for (at, &mover) in movers.iter().enumerate() {
        let others = movers[at + 1..].iter().chain(fixed).filter(|&&other| overlap(mover, other));
        pairs.extend(others.map(|&other| (mover.min(other), mover.max(other))));
    }
    pairs
}

#[test]
fn pairs_and_events_are_right_whether_all_movers_change_or_a_few_or_none_or_statics_do() {
    for spec in &specs(3) {
        let (mut world, mut random) = (World3::new(), Random(9));
        world.set_algorithm(spec).unwrap();
        world.set_static_algorithm(spec).unwrap();
        let mut place = |size: u64| {
            let center = [(); 3].map(|()| random.below(100) as f32 / 8.0);
            Aabb::from_center(center, [random.below(size) as f32 / 8.0; 3])
        };
        // One static in a hundred is much larger than the others.
        let fixed: Vec<_> = (0..400).map(|k| Object::fixed(place(if k % 100 == 0 { 40 } else { 6 }))).collect();
        let fixed = world.insert_many(&fixed).unwrap();
        let boxes: Vec<_> = (0..90).map(|_| place(6)).collect();
        let mut movers = world.insert_many(&boxes).unwrap();
        let mut before = BTreeSet::new();
        for (frame, step) in "aaaafaaanaasaaraaiaaafnaaa".chars().enumerate() {
            let count = match step {
                'a' => movers.len(),
                'f' => 3,
                _ => 0,
            };
            for &mover in &movers[..count] {
                let by = [(); 3].map(|()| (frame % 5) as f32 / 4.0 - 0.375);
                let aabb =
                    if mover.index % 16 == frame as u32 % 16 { place(6) } else { world.get_box(mover).unwrap().translate(by) };
                world.set_box(mover, aabb).unwrap();
            }
            match step {
                's' => world.set_box(fixed[7], place(20)).unwrap(),
                'r' => drop(world.remove(movers.swap_remove(5)).unwrap()),
                'i' => movers.push(world.insert(place(6)).unwrap()),
                _ => (),
            }
            let update = world.update().unwrap();
            let now = naive_pairs(&world, &fixed, &movers);
            assert!(world.sorted_pairs().iter().eq(&now), "{spec}, frame {frame}: {step}");
            assert!(update.started().handles().iter().eq(now.difference(&before)), "{spec}, frame {frame}: started");
            assert!(update.ended().handles().iter().eq(before.difference(&now)), "{spec}, frame {frame}: ended");
            before = now;
        }
        assert!(before.len() > 50, "{spec}: {} pairs", before.len());
        world.validate(Strength::Geometry).unwrap();
    }
}

#[test]
fn a_static_that_changes_is_probed_against_the_movers() {
    for spec in &specs(3) {
        let (mut world, _) = hall(spec);
        world.update().unwrap();
        let wall = world.insert(Object::fixed(Aabb::new([0.0, 50.0, 0.0], [200.0, 60.0, 5.0]))).unwrap();
        let touched = world.update().unwrap().started().len();
        assert!(touched > 0 && world.started().handles().iter().all(|pair| pair.0 == wall || pair.1 == wall), "{spec}");
        assert!(world.tests() <= 2 * MOVERS as u64, "{spec}: {} tests for one static", world.tests());
        assert_eq!(world.pairs_of(wall).unwrap().count(), touched);
        world.remove(wall).unwrap();
        assert_eq!(world.update().unwrap().ended().len(), touched, "{spec}");
        assert_eq!(world.tests(), 0, "{spec}: a removal needs no test");
    }
}

#[test]
fn the_slots_of_movers_stay_few_among_many_statics() {
    let (mut world, movers) = hall(&specs(3)[0]);
    world.update().unwrap();
    assert_eq!(world.mover_slots(), MOVERS);
    assert_eq!(world.slot(movers[3]).unwrap(), Some(3));
    let stats = world.stats();
    assert_eq!((stats.dynamic, stats.fixed, stats.kinematic), (MOVERS, STATICS, 0));
}

#[test]
fn statics_inserted_one_by_one_are_applied_once() {
    // The book-keeping of an insertion is a few bytes; no list grows faster than the objects.
    let (mut world, _) = hall(&specs(3)[0]);
    let before = world.stats().table_bytes;
    assert!(before < 2 * (STATICS + MOVERS) * (24 + 16 + 4), "{before} bytes");
    world.update().unwrap();
    let tests = world.tests();
    let mut bulk = World3::new();
    let objects: Vec<_> = world.iter().map(|(handle, _)| world.object(handle).unwrap()).collect();
    bulk.insert_many(&objects).unwrap();
    bulk.set_algorithm(&specs(3)[0]).unwrap();
    bulk.update().unwrap();
    assert_eq!((bulk.tests(), bulk.pair_count()), (tests, world.pair_count()));
}

/// Objects at rest are asleep without a call: they keep their pairs, cost no test, and wake when they move.
#[test]
fn objects_at_rest_keep_their_pairs_and_cost_no_test() {
    for spec in &specs(3) {
        let mut world = World3::new();
        world.set_algorithm(spec).unwrap();
        let stack = |k: usize, lift: f32| Aabb::from_center([3.0 * (k / 4) as f32, 0.9 * (k % 4) as f32 + lift, 0.0], [0.5; 3]);
        world.insert(Object::fixed(Aabb::new([-9.0, -2.0, -9.0], [999.0, -0.4, 9.0]))).unwrap();
        let bodies = world.insert_many(&(0..400).map(|k| stack(k, 0.0)).collect::<Vec<_>>()).unwrap();
        let all = world.update().unwrap().len();
        assert_eq!(all, 100 + 300, "{spec}: each stack stands on the floor, and on itself");
        let first = world.tests();
        let update = world.update().unwrap();
        assert_eq!((world.tests(), update.len(), update.ended().len()), (0, all, 0), "{spec}");
        // One wakes, and comes to rest again: the others sleep on.
        for lift in [5.0, 0.0] {
            world.set_box(bodies[3], stack(3, lift)).unwrap();
            let update = world.update().unwrap();
            assert_eq!(update.started().len() + update.ended().len(), 1, "{spec}");
            assert!(world.tests() < first, "{spec}: {} of {first} tests for one body", world.tests());
        }
        assert_eq!(world.pair_count(), all, "{spec}");
    }
}

#[test]
fn a_filter_for_one_update_may_borrow_and_one_object_can_be_refiltered() {
    let mut world = World::<2, f64>::new();
    let objects: Vec<_> = (0..6)
        .map(|k| {
            Object::new(Aabb::point([0.0; 2])).with_user(k).with_kind(if k < 2 {
                ObjectKind::Static
            } else {
                ObjectKind::Dynamic
            })
        })
        .collect();
    let h = world.insert_many(&objects).unwrap();
    let asked = std::sync::Mutex::new(Vec::new());
    let banned = [4u64];
    let update = world
        .update_with(|pair| {
            asked.lock().unwrap().push((pair.a, pair.b));
            assert_eq!((pair.user_a, pair.user_b), (u64::from(pair.a.index), u64::from(pair.b.index)));
            !banned.contains(&pair.user_a) && !banned.contains(&pair.user_b)
        })
        .unwrap();
    assert_eq!(asked.into_inner().unwrap().len(), 14, "all but the two statics");
    assert_eq!(update.len(), 14 - 5);
    // Without a filter, the pairs stay; and one object is filtered again.
    assert_eq!(world.update().unwrap().len(), 9);
    world.refilter(h[4]).unwrap();
    assert_eq!(world.update().unwrap().started().len(), 5);
    assert!(world.update_with(|_| panic!("nothing changed")).unwrap().len() == 14);
}

#[test]
fn static_and_kinematic_objects_pair_with_dynamic_ones_only() {
    for spec in &specs(2) {
        let mut world = World::<2, f64>::new();
        world.set_algorithm(spec).unwrap();
        let kinds = [ObjectKind::Dynamic, ObjectKind::Static, ObjectKind::Kinematic];
        let objects: Vec<_> = (0..9).map(|k| Object::new(Aabb::point([0.0; 2])).with_kind(kinds[k % 3])).collect();
        let handles = world.insert_many(&objects).unwrap();
        world.update().unwrap();
        for (i, a) in handles.iter().enumerate() {
            for (j, b) in handles.iter().enumerate().skip(i + 1) {
                let paired = world.pairs_of(*a).unwrap().any(|other| other == *b);
                assert_eq!(paired, i % 3 == 0 || j % 3 == 0, "{spec}: {:?} and {:?}", kinds[i % 3], kinds[j % 3]);
            }
        }
    }
}
