//! Boxes that are set in one call: the same as set one by one, whatever the order of the list, and whatever runs the jobs.

use broadphase::{Aabb, Context, Handle, Object, Strength, World3};
use broadphase_testing::executors::contexts;

use crate::Random;

/// How many objects: fewer than there are jobs, as many, and more.
const COUNTS: [usize; 5] = [1, 15, 16, 33, 300];

/// A world of so many movers, some of whose slots are empty, or with margins or statics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Plain,
    Holes,
    Margins,
    Statics,
}

fn build(kind: Kind, count: usize, context: Context) -> (World3, Vec<Handle>) {
    let (mut world, mut random) = (World3::new(), Random(count as u64));
    world.set_context(context);
    let mut handles = Vec::new();
    for number in 0..count {
        let object = Object::new(random.aabb(9, 2));
        let object = if kind == Kind::Margins && number % 3 == 0 { object.with_margin(0.5) } else { object };
        if kind == Kind::Statics {
            world.insert(Object::fixed(random.aabb(9, 2))).unwrap();
        }
        handles.push(world.insert(object).unwrap());
    }
    world.update().unwrap();
    if kind == Kind::Holes {
        let removed: Vec<Handle> = handles.iter().copied().skip(1).step_by(5).collect();
        world.remove_many(&removed).unwrap();
        handles.retain(|handle| !removed.contains(handle));
        world.update().unwrap();
    }
    (world, handles)
}

/// The new boxes of a frame: of all objects or of one in a few, ascending, descending, or some of them twice.
fn list(frame: usize, handles: &[Handle], random: &mut Random) -> Vec<(Handle, Aabb<3, f32>)> {
    let every = [1, 2, 7, 1, 1, 3][frame % 6];
    let mut list: Vec<_> = handles.iter().step_by(every).map(|&handle| (handle, random.aabb(9, 2))).collect();
    match frame % 6 {
        3 => list.reverse(),
        4 => list.extend_from_within(..list.len() / 2),
        5 => list.iter_mut().for_each(|(_, aabb)| *aabb = aabb.translate([1.0; 3])),
        _ => (),
    }
    list
}

/// All that an update has to report, in order.
fn report(world: &mut World3) -> [Vec<(Handle, Handle)>; 3] {
    let update = world.update().unwrap();
    [update.started().handles().to_vec(), update.ended().handles().to_vec(), world.pairs().collect()]
}

#[test]
fn boxes_set_in_one_call_are_those_set_one_by_one_on_every_executor() {
    for kind in [Kind::Plain, Kind::Holes, Kind::Margins, Kind::Statics] {
        for count in COUNTS {
            let (first, handles) = build(kind, count, Context::new());
            for (name, context) in contexts() {
                let (mut one, mut many, mut random) = (first.clone(), first.clone(), Random(7));
                many.set_context(context);
                for frame in 0..9 {
                    let list = list(frame, &handles, &mut random);
                    list.iter().for_each(|&(handle, aabb)| one.set_box(handle, aabb).unwrap());
                    many.set_boxes_of(&list).unwrap();
                    assert!(one.iter().eq(many.iter()), "{kind:?}, {count} objects, frame {frame}, {name}");
                    assert_eq!(report(&mut one), report(&mut many), "{kind:?}, {count} objects, frame {frame}, {name}");
                    assert_eq!(one.tests(), many.tests(), "{kind:?}, {count} objects, frame {frame}, {name}");
                    many.validate(Strength::Geometry).unwrap();
                }
            }
        }
    }
}

#[test]
fn boxes_of_all_movers_are_those_set_one_by_one_on_every_executor() {
    for kind in [Kind::Plain, Kind::Holes, Kind::Margins, Kind::Statics] {
        for count in COUNTS {
            let (first, _) = build(kind, count, Context::new());
            let handles: Vec<Handle> = first.movers().collect();
            for (name, context) in contexts() {
                let (mut one, mut many, mut random) = (first.clone(), first.clone(), Random(7));
                many.set_context(context);
                for frame in 0..6 {
                    for (handle, aabb) in list(frame, &handles, &mut random) {
                        one.set_box(handle, aabb).unwrap();
                    }
                    let boxes: Vec<_> = handles.iter().map(|&handle| one.get_box(handle).unwrap()).collect();
                    many.set_mover_boxes(&boxes).unwrap();
                    assert!(one.iter().eq(many.iter()), "{kind:?}, {count} objects, frame {frame}, {name}");
                    let (one, many) = (report(&mut one), report(&mut many));
                    assert!(one[..2] == many[..2], "{kind:?}, {count} objects, frame {frame}, {name}");
                }
            }
        }
    }
}

#[test]
fn one_fault_anywhere_in_a_list_leaves_all_boxes_on_every_executor() {
    let (first, handles) = build(Kind::Plain, 40, Context::new());
    let moved = |handle: Handle| first.get_box(handle).unwrap().translate([1.0; 3]);
    let good: Vec<_> = handles.iter().map(|&handle| (handle, moved(handle))).collect();
    for (name, context) in contexts() {
        let mut world = first.clone();
        world.set_context(context);
        for at in [0, 1, 19, 38, 39] {
            let (mut stale, mut invalid) = (good.clone(), good.clone());
            stale[at].0.generation += 1;
            invalid[at].1.min[1] = f32::NAN;
            let mut alone = first.clone();
            for list in [&stale, &invalid] {
                let error = alone.set_box(list[at].0, list[at].1).unwrap_err();
                assert_eq!(world.set_boxes_of(list).unwrap_err(), error, "{name}");
                assert!(world.iter().eq(first.iter()), "{name}");
            }
            let boxes: Vec<_> = invalid.iter().map(|&(_, aabb)| aabb).collect();
            assert!(world.set_mover_boxes(&boxes).is_err() && world.swap_boxes(&mut boxes.clone()).is_err(), "{name}");
            assert!(world.iter().eq(first.iter()), "{name}");
        }
        // The first fault of a list is the one that is named.
        let mut two = good.clone();
        (two[7].0.generation, two[30].0.generation) = (0, 0);
        assert_eq!(world.set_boxes_of(&two).unwrap_err(), first.clone().set_box(two[7].0, two[7].1).unwrap_err(), "{name}");
    }
}
