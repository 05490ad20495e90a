//! Stale, foreign and twice-removed handles, boxes and margins that are none: typed errors, and the world stays as it was.

use broadphase::{Aabb, BoxFault, Error, Handle, Object, ObjectKind, Ray, Tag, World2, World3, World3f64};

fn unit(x: f32) -> Aabb<2, f32> {
    Aabb::new([x, 0.0], [x + 1.0, 1.0])
}

/// Everything that a caller can see.
#[derive(Debug, PartialEq)]
struct Content(Vec<(Handle, Object<2, f32>)>, Vec<(Handle, Handle)>);

fn content(world: &World2) -> Content {
    Content(world.iter().map(|(handle, _)| (handle, world.object(handle).unwrap())).collect(), world.sorted_pairs())
}

fn stale(handle: Handle) -> Error {
    Error::StaleHandle { index: handle.index, generation: handle.generation }
}

/// Checks that every call that takes a handle rejects this one, and nothing changes.
fn refused(world: &mut World2, bad: Handle, good: Handle) {
    let before = content(world);
    assert_eq!(world.remove(bad).unwrap_err(), stale(bad));
    assert_eq!(world.remove_many(&[good, bad]).unwrap_err(), stale(bad));
    assert_eq!(world.set_box(bad, unit(0.0)).unwrap_err(), stale(bad));
    assert_eq!(world.set_boxes_of(&[(good, unit(50.0)), (bad, unit(0.0))]).unwrap_err(), stale(bad));
    assert_eq!(world.set_tag(bad, Tag::new(1, 1)).unwrap_err(), stale(bad));
    assert_eq!(world.set_user(bad, 1).unwrap_err(), stale(bad));
    assert_eq!(world.set_kind(bad, ObjectKind::Static).unwrap_err(), stale(bad));
    assert_eq!(world.set_margin(bad, 1.0).unwrap_err(), stale(bad));
    assert_eq!(world.set_pair_value(good, bad, 1).unwrap_err(), stale(bad));
    assert_eq!(world.pair_value(bad, good).unwrap_err(), stale(bad));
    assert_eq!(world.object(bad).unwrap_err(), stale(bad));
    assert_eq!(world.slot(bad).unwrap_err(), stale(bad));
    assert_eq!(world.grown_box(bad).unwrap_err(), stale(bad));
    assert!(world.pairs_of(bad).is_err() && !world.contains(bad));
    assert_eq!(content(world), before);
    let update = world.update().unwrap();
    assert!(update.started().is_empty() && update.ended().is_empty(), "a rejected call must not be a change: {update:?}");
}

#[test]
fn stale_foreign_twice_removed_and_made_up_handles_are_rejected() {
    let (mut world, mut other) = (World2::new(), World2::new());
    let handles = world.insert_many(&[unit(0.0), unit(0.5), unit(1.0)]).unwrap();
    let foreign = other.insert_many(&[unit(0.0), unit(0.5), unit(1.0)]).unwrap();
    world.update().unwrap();
    world.remove(handles[1]).unwrap();
    world.update().unwrap();
    refused(&mut world, handles[1], handles[0]);
    // The index is in use again, by another object.
    let heir = world.insert(unit(0.5)).unwrap();
    world.update().unwrap();
    assert_eq!(heir.index, handles[1].index);
    refused(&mut world, handles[1], heir);
    refused(&mut world, foreign[0], heir);
    refused(&mut world, foreign[1], heir);
    refused(&mut world, Handle { index: 77, generation: heir.generation }, heir);
    refused(&mut world, Handle { index: u32::MAX, generation: u32::MAX }, heir);
}

#[test]
fn a_handle_listed_twice_for_removal_is_rejected_and_nothing_is_removed() {
    let mut world = World2::new();
    let handles = world.insert_many(&[unit(0.0), unit(5.0)]).unwrap();
    assert_eq!(world.remove_many(&[handles[0], handles[1], handles[0]]).unwrap_err(), stale(handles[0]));
    assert_eq!(world.len(), 2);
    world.remove_many(&handles).unwrap();
    assert!(world.is_empty());
}

#[test]
fn invalid_boxes_are_rejected_with_their_index_and_axis() {
    let mut world = World2::new();
    let handles = world.insert_many(&[unit(0.0), unit(0.5)]).unwrap();
    world.update().unwrap();
    let before = content(&world);
    let (nan, inverted) = (Aabb::new([0.0, f32::NAN], [1.0, 1.0]), Aabb::new([2.0, 0.0], [1.0, 1.0]));
    let error = |index, axis, fault| Error::InvalidBox { index: Some(index), axis, fault };
    let alone = Error::InvalidBox { index: None, axis: 1, fault: BoxFault::NotANumber };
    assert_eq!(world.insert(nan).unwrap_err(), alone);
    assert_eq!(alone.to_string(), "the box: a corner is NaN on axis y; remove the object or repair it", "no object is blamed");
    assert_eq!(world.insert(Object::new(unit(0.0)).moved_from(nan)).unwrap_err(), alone);
    assert_eq!(world.insert_many(&[unit(0.0), inverted]).unwrap_err(), error(1, 0, BoxFault::MinAboveMax));
    assert_eq!(world.set_box(handles[1], nan).unwrap_err(), error(1, 1, BoxFault::NotANumber));
    assert_eq!(world.set_boxes_of(&[(handles[0], unit(9.0)), (handles[1], nan)]).unwrap_err(), error(1, 1, BoxFault::NotANumber));
    assert_eq!(world.set_mover_boxes(&[unit(9.0), inverted]).unwrap_err(), error(1, 0, BoxFault::MinAboveMax));
    let mut swapped = vec![inverted, unit(9.0)];
    assert_eq!(world.swap_boxes(&mut swapped).unwrap_err(), error(0, 0, BoxFault::MinAboveMax));
    assert_eq!(swapped, [inverted, unit(9.0)]);
    assert!(matches!(world.set_mover_boxes(&[unit(0.0)]), Err(Error::CountMismatch { expected: 2, found: 1, .. })));
    let error = world.set_mover_boxes(&[unit(0.0); 3]).unwrap_err();
    assert_eq!(error.to_string(), "3 boxes of dynamic and kinematic objects were given, but 2 are needed");
    assert!(matches!(world.swap_boxes(&mut Vec::new()), Err(Error::CountMismatch { expected: 2, found: 0, .. })));
    assert_eq!(content(&world), before);
    let update = world.update().unwrap();
    assert!(update.started().is_empty() && update.ended().is_empty());
}

#[test]
fn margins_that_are_negative_infinite_or_nan_are_rejected() {
    let mut world = World2::new();
    let handle = world.insert(unit(0.0)).unwrap();
    for margin in [-1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
        assert!(matches!(world.set_margin(handle, margin), Err(Error::InvalidMargin { index: Some(0), .. })));
        assert!(matches!(world.set_world_margin(margin), Err(Error::InvalidMargin { index: None, .. })));
        assert!(matches!(world.insert(Object::new(unit(0.0)).with_margin(margin)), Err(Error::InvalidMargin { .. })));
    }
    assert_eq!((world.len(), world.margin(handle).unwrap(), world.world_margin()), (1, 0.0, 0.0));
    // Two margins that are finite, but not their sum.
    world.set_margin(handle, f32::MAX).unwrap();
    assert!(matches!(world.set_world_margin(f32::MAX), Err(Error::InvalidMargin { index: None, .. })));
    world.set_margin(handle, 0.0).unwrap();
    world.set_world_margin(f32::MAX).unwrap();
    assert!(matches!(world.set_margin(handle, f32::MAX), Err(Error::InvalidMargin { index: Some(0), .. })));
    world.update().unwrap();
}

#[test]
fn sizes_that_no_memory_holds_are_errors() {
    let mut world = World3f64::new();
    assert!(matches!(world.reserve(usize::MAX, usize::MAX), Err(Error::TooManyObjects { .. })));
    assert!(matches!(world.reserve(0, 1 << 33), Err(Error::TooManyObjects { .. })));
    world.insert(Aabb::point([0.0; 3])).unwrap();
    assert_eq!(world.update().unwrap().len(), 0);
}

#[test]
fn queries_without_meaning_and_unknown_algorithms_are_errors() {
    let mut world = World3::new();
    world.insert(Aabb::point([0.0; 3])).unwrap();
    let reader = world.read().unwrap();
    assert!(matches!(reader.all_in_box(&Aabb::point([f32::NAN; 3])), Err(Error::InvalidQuery { .. })));
    let nowhere = Ray::new([0.0; 3], [0.0; 3], 1.0);
    assert!(matches!(reader.first_along_ray(&nowhere), Err(Error::InvalidQuery { .. })));
    // A dimension that no algorithm supports is an error of the first frame.
    let mut strange = broadphase::World::<7, f32>::new();
    strange.insert(Aabb::point([0.0; 7])).unwrap();
    assert!(strange.update().is_err() && strange.read().is_err() && strange.len() == 1);
}

#[test]
fn an_empty_world_and_a_single_object_have_no_pairs() {
    let mut world = World3::new();
    assert_eq!(world.update().unwrap().len(), 0);
    assert!(world.read().unwrap().all_in_box(&Aabb::everything()).unwrap().is_empty());
    let handle = world.insert(Aabb::everything()).unwrap();
    world.update().unwrap();
    assert_eq!(world.pairs().next(), None);
    world.set_kind(handle, ObjectKind::Static).unwrap();
    assert_eq!(world.update().unwrap().len(), 0);
    world.clear();
    assert_eq!((world.update().unwrap().len(), world.len()), (0, 0));
}
