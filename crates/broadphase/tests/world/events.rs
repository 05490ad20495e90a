//! Started and ended are exactly the difference of consecutive frames.

use std::collections::BTreeSet;

use broadphase::{Aabb, Error, Handle, Object, ObjectKind, Report, Tag, World, World2};

use crate::{Random, specs};

fn unit(x: f32) -> Aabb<2, f32> {
    Aabb::new([x, 0.0], [x + 1.0, 1.0])
}

/// Frames of 30 objects that move, come, go and change kind: every pair that starts ends once, and what is left is there.
fn balance(spec: &broadphase::Spec, frames: usize) {
    let mut random = Random(3);
    let mut world = World::<2, f32>::new();
    world.set_algorithm(spec).unwrap();
    let mut handles: Vec<Handle> = Vec::new();
    let mut open: BTreeSet<(Handle, Handle)> = BTreeSet::new();
    let (mut started, mut ended) = (0, 0);
    for frame in 0..frames {
        for _ in 0..6 {
            let at = random.below(30) as usize;
            if at >= handles.len() {
                handles.push(world.insert(random.aabb(20, 4)).unwrap());
            } else if random.below(4) == 0 {
                world.remove(handles.swap_remove(at)).unwrap();
            } else if random.below(8) == 0 {
                let kinds = [ObjectKind::Dynamic, ObjectKind::Static, ObjectKind::Kinematic];
                world.set_kind(handles[at], kinds[random.below(3) as usize]).unwrap();
            } else {
                world.set_box(handles[at], random.aabb(20, 4)).unwrap();
            }
        }
        let update = world.update().unwrap();
        for pair in update.ended().handles() {
            assert!(open.remove(pair), "{spec} frame {frame}: {pair:?} ended without having started");
        }
        for pair in update.started().handles() {
            assert!(open.insert(*pair), "{spec} frame {frame}: {pair:?} started twice");
        }
        started += update.started().len();
        ended += update.ended().len();
        assert_eq!(update.len(), open.len() as u64, "{spec} frame {frame}");
        if frame % 50 == 0 {
            assert!(world.sorted_pairs().iter().eq(&open), "{spec} frame {frame}");
        }
    }
    assert!(started > frames / 2, "the scene has events: {started}");
    world.clear();
    ended += world.update().unwrap().ended().len();
    assert_eq!(started, ended, "{spec}");
}

#[test]
fn started_and_ended_balance_over_ten_thousand_frames() {
    balance(&broadphase::Spec::default(), 10_000);
    for spec in &specs(2) {
        balance(spec, 1_000);
    }
}

/// Users, values and handles of events against a model, also for what was removed and for indices that are in use again.
#[test]
fn events_carry_users_and_values_also_of_removed_objects() {
    for spec in &specs(2) {
        let (mut world, mut random) = (World::<2, f32>::new(), Random(17));
        world.set_algorithm(spec).unwrap();
        let mut users: std::collections::BTreeMap<Handle, u64> = Default::default();
        let mut living: Vec<Handle> = Vec::new();
        let mut values: std::collections::BTreeMap<(Handle, Handle), u64> = Default::default();
        let mut seen = [0; 3];
        for frame in 0..200 {
            for _ in 0..6 {
                let at = random.below(30) as usize;
                if at >= living.len() {
                    let user = random.below(3) * (1 + random.below(1000));
                    let kind = if random.below(4) == 0 { ObjectKind::Static } else { ObjectKind::Dynamic };
                    let handle = world.insert(Object::new(random.aabb(20, 4)).with_user(user).with_kind(kind)).unwrap();
                    users.insert(handle, user);
                    living.push(handle);
                } else if random.below(3) == 0 {
                    world.remove(living.swap_remove(at)).unwrap();
                } else {
                    world.set_box(living[at], random.aabb(20, 4)).unwrap();
                }
            }
            if frame % 17 == 5 {
                // A frame that fails half way loses no user and no value.
                world.set_pair_limit(0);
                let _ = world.update();
                world.set_pair_limit(u64::MAX);
            }
            for pair in world.update().unwrap().started() {
                assert_eq!(
                    (pair.user_a, pair.user_b, pair.value),
                    (users[&pair.a], users[&pair.b], None),
                    "{spec}, frame {frame}"
                );
                assert!(world.set_pair_value(pair.b, pair.a, frame + 1).unwrap(), "a loop over events may change the world");
                values.insert((pair.a, pair.b), frame + 1);
                seen[0] += 1;
            }
            for pair in world.ended() {
                let value = values.remove(&(pair.a, pair.b));
                assert_eq!(
                    (pair.user_a, pair.user_b, pair.value),
                    (users[&pair.a], users[&pair.b], value),
                    "{spec}, frame {frame}"
                );
                seen[1] += 1;
                seen[2] += usize::from(!world.contains(pair.a) || !world.contains(pair.b));
            }
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
    }
}

#[test]
fn an_update_that_is_kept_stays_as_it_was() {
    let mut world = World2::new();
    let [a, b] = world.insert_many(&[unit(0.0), unit(0.5)]).unwrap()[..] else { unreachable!() };
    let first = world.update().unwrap();
    world.remove(b).unwrap();
    let second = world.update().unwrap();
    assert_eq!((first.len(), first.started().handles(), first.ended().len()), (1, &[(a, b)][..], 0));
    assert_eq!((second.len(), second.started().len(), second.ended().handles()), (0, 0, &[(a, b)][..]));
    assert!(world.update().unwrap().ended().is_empty());
}

#[test]
fn an_object_that_takes_the_place_of_another_is_another() {
    let mut world = World2::new();
    let [a, b] = world.insert_many(&[unit(0.0), unit(0.5)]).unwrap()[..] else { unreachable!() };
    world.update().unwrap();
    world.remove(b).unwrap();
    let c = world.insert(unit(0.5)).unwrap();
    assert_ne!(b.index, c.index, "an index is not used again before its pairs have ended");
    let update = world.update().unwrap();
    assert_eq!((update.started().handles(), update.ended().handles()), (&[(a, c)][..], &[(a, b)][..]));
    let d = world.insert(unit(0.5)).unwrap();
    assert_eq!(d.index, b.index);
    assert_ne!(d.generation, b.generation);
}

#[test]
fn an_object_that_comes_and_goes_between_updates_is_never_seen_and_costs_no_slot() {
    let mut world = World2::new();
    let a = world.insert(unit(0.0)).unwrap();
    world.update().unwrap();
    for _ in 0..1000 {
        let guest = world.insert(unit(0.5)).unwrap();
        world.remove(guest).unwrap();
    }
    let update = world.update().unwrap();
    assert!(update.started().is_empty() && update.ended().is_empty());
    assert_eq!((world.mover_slots(), world.contains(a)), (2, true));
}

#[test]
fn reading_without_updates_does_not_accumulate_slots() {
    let mut world = World2::new();
    world.insert(unit(0.0)).unwrap();
    for _ in 0..1000 {
        let guest = world.insert(unit(0.5)).unwrap();
        assert_eq!(world.read().unwrap().all_in_box(&unit(0.7)).unwrap().len(), 2);
        world.set_kind(guest, ObjectKind::Static).unwrap();
        assert_eq!(world.read().unwrap().all_in_box(&unit(0.7)).unwrap().len(), 2);
        world.remove(guest).unwrap();
    }
    assert!(world.mover_slots() <= 3, "{}", world.mover_slots());
}

#[test]
fn tags_margins_kinds_filters_and_switches_start_and_end_pairs() {
    let mut world = World2::new();
    let [a, b] = world.insert_many(&[unit(0.0), unit(1.5)]).unwrap()[..] else { unreachable!() };
    let mut expect = |change: &dyn Fn(&mut World2), started: usize, ended: usize| {
        change(&mut world);
        let update = world.update().unwrap();
        assert_eq!((update.started().len(), update.ended().len()), (started, ended));
    };
    expect(&|_| (), 0, 0);
    expect(&|w| w.set_margin(a, 0.5).unwrap(), 1, 0);
    expect(&|w| w.set_tag(b, Tag::new(1, 0)).unwrap(), 0, 1);
    expect(&|w| w.set_tag(b, Tag::default()).unwrap(), 1, 0);
    expect(&|w| w.set_kind(a, ObjectKind::Static).unwrap(), 0, 0); // still a pair, found by the other half
    expect(&|w| w.set_kind(b, ObjectKind::Kinematic).unwrap(), 0, 1);
    expect(&|w| w.set_kind(a, ObjectKind::Kinematic).unwrap(), 0, 0);
    expect(&|w| w.set_kind(a, ObjectKind::Dynamic).unwrap(), 1, 0);
    expect(&|w| w.set_filter(|fresh| fresh.retain(|_| false)), 0, 1);
    expect(&|w| w.clear_filter(), 1, 0);
    expect(&|w| w.set_world_margin(3.0).unwrap(), 0, 0);
    expect(&|w| w.set_margin(a, 0.0).unwrap(), 0, 0);
    expect(&|w| w.set_world_margin(0.0).unwrap(), 0, 1);
    expect(&|w| w.set_world_margin(0.25).unwrap(), 1, 0); // each box grows by a quarter: they touch
    for spec in &specs(2) {
        expect(&|w| w.set_algorithm(spec).unwrap(), 0, 0);
        expect(&|w| w.set_static_algorithm(spec).unwrap(), 0, 0);
    }
}

#[test]
fn a_filter_that_fails_frames_half_way_loses_no_event() {
    // Three pairs of movers and two with a static: with a limit of four, the first half of the frame succeeds.
    let mut world = World2::new();
    let movers = world.insert_many(&[unit(0.0), unit(0.1), unit(0.2)]).unwrap();
    world.update().unwrap();
    let wall = world.insert(Object::fixed(Aabb::new([0.0, 0.0], [0.15, 1.0]))).unwrap();
    let more = world.insert(unit(0.9)).unwrap();
    world.set_pair_limit(7);
    assert_eq!(world.update().unwrap_err(), Error::TooManyPairs { limit: 7 });
    assert!(world.started().is_empty() && world.ended().is_empty() && world.pairs().len() == 0);
    world.remove(more).unwrap();
    let late = world.insert(unit(5.0)).unwrap();
    assert_ne!(late.index, more.index, "the first half has seen it");
    world.set_pair_limit(100);
    let update = world.update().unwrap();
    let mut expected: Vec<_> = movers[..2].iter().map(|&mover| (mover.min(wall), mover.max(wall))).collect();
    expected.sort_unstable();
    assert_eq!((update.started().handles(), update.ended().handles()), (&expected[..], &[][..]));
}

#[test]
fn reports_can_be_reduced_and_extended_again() {
    let mut world = World2::new();
    let [a, b, c] = world.insert_many(&[unit(0.0), unit(0.5), unit(9.0)]).unwrap()[..] else { unreachable!() };
    world.set_report(Report::All);
    let update = world.update().unwrap();
    assert!(update.started().is_empty() && world.pairs().eq([(a, b)]));
    world.set_report(Report::Delta);
    world.set_box(c, unit(0.2)).unwrap();
    assert_eq!(world.update().unwrap().started(), [(a, c), (b, c)]);
    world.set_report(Report::Count);
    let update = world.update().unwrap();
    assert_eq!((update.len(), world.pairs().len(), update.started().len()), (3, 0, 0));
}

/// A structure without objects writes nothing; what the world had before must end all the same.
#[test]
fn pairs_end_in_a_world_that_was_cleared_and_got_an_empty_structure() {
    for spec in specs(2) {
        for shrink in [true, false] {
            let mut world = World::<2, f32>::new();
            world.set_algorithm(&spec).unwrap();
            world.insert_many(&[unit(0.0), unit(0.5), unit(7.0)]).unwrap();
            assert_eq!(world.update().unwrap().started().len(), 1, "{spec}");
            world.clear();
            match shrink {
                true => world.shrink(),
                false => world.set_algorithm(&spec).unwrap(),
            }
            assert_eq!(world.update().unwrap().ended().len(), 1, "{spec}");
        }
    }
}
