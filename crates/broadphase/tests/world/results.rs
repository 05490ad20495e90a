//! Pairs given out: iterators, values of pairs, clones, threads, readers.

use std::ops::ControlFlow;

use broadphase::{Aabb, Handle, Object, ObjectKind, Reader, Report, Shape, World, World2, World3};

use crate::{Random, specs};

/// Objects of all kinds, in a cube.
fn crowd(n: usize, seed: u64) -> Vec<Object<3, f32>> {
    let mut random = Random(seed);
    let kinds = [ObjectKind::Dynamic, ObjectKind::Dynamic, ObjectKind::Static, ObjectKind::Kinematic];
    (0..n).map(|k| Object::new(random.aabb(30, 4)).with_kind(kinds[k % 4])).collect()
}

#[test]
fn iterators_over_pairs_nest_and_know_their_length() {
    let mut world = World3::new();
    world.insert_many(&crowd(900, 1)).unwrap();
    let update = world.update().unwrap();
    let pairs = world.pairs();
    assert_eq!((pairs.len() as u64, pairs.clone().count()), (update.len(), pairs.len()));
    assert!(pairs.len() > 1000, "several buffers: {}", pairs.len());
    for (a, b) in world.pairs().take(3) {
        assert!(a.index < b.index);
        assert!(world.pairs().any(|pair| pair == (a, b)));
    }
}

#[test]
fn there_is_no_list_after_a_count_until_the_next_update_whatever_the_report() {
    let mut world = World2::new();
    let h = world.insert_many(&[Aabb::new([0.0, 0.0], [1.0, 1.0]); 3]).unwrap();
    world.set_report(Report::Count);
    assert_eq!((world.update().unwrap().len(), world.pairs().len()), (3, 0));
    world.set_report(Report::Both);
    assert_eq!((world.pair_count(), world.pairs().len(), world.pairs().count()), (3, 0, 0));
    assert_eq!((world.sorted_pairs().len(), world.pairs_of(h[0]).unwrap().count()), (0, 0));
    assert!(!world.set_pair_value(h[0], h[1], 1).unwrap());
    world.update().unwrap();
    assert_eq!((world.pairs().count(), world.pairs_of(h[0]).unwrap().count()), (3, 2));
    world.set_report(Report::Count);
    assert_eq!((world.pairs().count(), world.pair_count()), (0, 3));
}

#[test]
fn an_update_that_the_algorithm_rejects_has_no_pairs_and_the_next_difference_is_against_the_last_good_one() {
    let mut world = World2::new();
    world.set_algorithm(&"particle-grid".parse().unwrap()).unwrap();
    world.set_world_shape(Shape::Ball);
    let ball = |x: f32, size: f32| Aabb::new([x, 0.0], [x + size, size]);
    let h = world.insert_many(&[ball(0.0, 1.0), ball(0.5, 1.0), ball(1.25, 1.0)]).unwrap();
    world.update().unwrap();
    assert_eq!(world.sorted_pairs(), [(h[0], h[1]), (h[1], h[2])]);
    for _ in 0..2 {
        world.set_box(h[2], ball(1.0, 3.0)).unwrap();
        assert_eq!(world.update().unwrap_err().code(), "unsuited");
        assert_eq!((world.pair_count(), world.pairs().count(), world.started().len(), world.ended().len()), (0, 0, 0, 0));
        assert_eq!(world.pairs_of(h[0]).unwrap().count(), 0);
    }
    world.set_box(h[2], ball(9.0, 1.0)).unwrap();
    let update = world.update().unwrap();
    assert_eq!((update.len(), update.started().handles(), update.ended().handles()), (1, &[][..], &[(h[1], h[2])][..]));
}

#[test]
fn values_of_pairs_last_as_long_as_the_pair_with_any_report() {
    for report in [broadphase::Report::All, broadphase::Report::Both, broadphase::Report::Delta] {
        let mut world = World2::new();
        world.set_report(report);
        let h = world.insert_many(&[Aabb::new([0.0, 0.0], [1.0, 1.0]); 3]).unwrap();
        world.update().unwrap();
        assert!(world.set_pair_value(h[0], h[1], 1).unwrap() && world.set_pair_value(h[2], h[1], 2).unwrap());
        assert!(!world.set_pair_value(h[0], h[0], 3).unwrap(), "an object does not pair with itself");
        world.set_box(h[0], Aabb::new([0.5, 0.5], [1.0, 1.0])).unwrap();
        world.update().unwrap();
        assert_eq!((world.pair_value(h[1], h[0]).unwrap(), world.pair_value(h[1], h[2]).unwrap()), (Some(1), Some(2)));
        world.remove(h[2]).unwrap();
        let heir = world.insert(Aabb::new([0.0, 0.0], [1.0, 1.0])).unwrap();
        world.update().unwrap();
        assert_eq!((world.pair_value(h[1], h[0]).unwrap(), world.pair_value(h[1], heir).unwrap()), (Some(1), None));
        world.set_box(h[0], Aabb::new([5.0, 5.0], [6.0, 6.0])).unwrap();
        world.update().unwrap();
        world.set_box(h[0], Aabb::new([0.0, 0.0], [1.0, 1.0])).unwrap();
        world.update().unwrap();
        assert_eq!(world.pair_value(h[0], h[1]).unwrap(), None, "{report:?}: it is another meeting");
    }
}

/// Some changes, as determined by `random`.
fn disturb(world: &mut World3, handles: &mut Vec<Handle>, random: &mut Random) {
    for _ in 0..10 {
        let at = random.below(handles.len() as u64) as usize;
        match random.below(3) {
            0 => {
                world.remove(handles.swap_remove(at)).unwrap();
                handles.push(world.insert(random.aabb(30, 4)).unwrap());
            }
            _ => world.set_box(handles[at], random.aabb(30, 4)).unwrap(),
        }
    }
}

#[test]
fn a_clone_continues_identically_pair_list_and_handles_included() {
    for spec in &specs(3) {
        let mut world = World3::new();
        world.set_algorithm(spec).unwrap();
        let mut handles = world.insert_many(&crowd(200, 4)).unwrap();
        let mut random = Random(9);
        for _ in 0..5 {
            disturb(&mut world, &mut handles, &mut random);
            world.update().unwrap();
        }
        disturb(&mut world, &mut handles, &mut random); // cloned with changes pending
        let (mut twin, mut its) = (world.clone(), handles.clone());
        let mut again = Random(random.0);
        for frame in 0..20 {
            disturb(&mut world, &mut handles, &mut random);
            disturb(&mut twin, &mut its, &mut again);
            assert_eq!(handles, its);
            let (left, right) = (world.update().unwrap(), twin.update().unwrap());
            assert!(world.pairs().eq(twin.pairs()), "{spec} frame {frame}");
            assert_eq!(
                (left.started().handles(), left.ended().handles()),
                (right.started().handles(), right.ended().handles()),
                "{spec} frame {frame}"
            );
        }
    }
}

#[cfg(feature = "parallel")]
#[test]
fn threads_do_not_change_the_list() {
    for spec in &specs(3) {
        let run = |threads: usize| {
            let mut world = World3::new();
            world.set_algorithm(spec).unwrap();
            world.set_context(broadphase::Context::new().with_executor(broadphase::Threads::new(threads).unwrap()));
            let mut handles = world.insert_many(&crowd(2000, 4)).unwrap();
            let mut random = Random(9);
            let mut lists = Vec::new();
            for _ in 0..5 {
                disturb(&mut world, &mut handles, &mut random);
                world.update().unwrap();
                let pairs = world.pairs();
                lists.push(pairs.map(|(a, b)| (a.index, b.index)).collect::<Vec<_>>());
            }
            lists
        };
        assert_eq!(run(1), run(3), "{spec}");
    }
}

#[test]
fn readers_are_shared_by_threads_and_see_movers_and_statics() {
    fn shared<R: Copy + Send + Sync>(_: &R) {}
    for spec in &specs(3) {
        let mut world = World3::new();
        world.set_algorithm(spec).unwrap();
        let handles = world.insert_many(&crowd(100, 6)).unwrap();
        let reader: Reader<'_, 3, f32> = world.read().unwrap();
        shared(&reader);
        let counts: Vec<usize> = std::thread::scope(|scope| {
            let tasks: Vec<_> =
                (0..3).map(|_| scope.spawn(move || reader.all_in_box(&Aabb::everything()).unwrap().len())).collect();
            tasks.into_iter().map(|task| task.join().unwrap()).collect()
        });
        assert_eq!(counts, [handles.len(); 3], "{spec}");
        let mut seen = 0;
        let one = |_| {
            seen += 1;
            ControlFlow::Break(())
        };
        reader.in_box(&Aabb::everything(), one).unwrap();
        assert_eq!(seen, 1, "{spec}: a visitor that breaks is not called again, not even for statics");
    }
}

#[test]
fn switching_between_all_algorithms_keeps_pairs_and_handles() {
    let mut world = World::<2, f32>::new();
    let mut random = Random(8);
    let boxes: Vec<Aabb<2, f32>> = (0..150).map(|_| random.aabb(30, 3)).collect();
    let handles = world.insert_many(&boxes).unwrap();
    let expected: Vec<_> = {
        world.update().unwrap();
        world.sorted_pairs()
    };
    for spec in &specs(2) {
        world.set_algorithm(spec).unwrap();
        let update = world.update().unwrap();
        assert!(update.started().is_empty() && update.ended().is_empty(), "{spec}");
        assert_eq!(world.sorted_pairs(), expected, "{spec}");
        assert_eq!(world.stats().algorithm, spec.to_string());
    }
    assert!(handles.iter().all(|&handle| world.contains(handle)));
}
