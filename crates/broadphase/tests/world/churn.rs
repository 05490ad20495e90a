//! Objects that come and go for ever: memory reaches a plateau, slots are used again.

use broadphase::{Aabb, Handle, Object, ObjectKind, Spec, World, World2};

use crate::{Random, specs};

/// 10 % of the objects are removed and as many inserted, frame after frame. Returns the bytes after each frame.
fn spawn_and_despawn(spec: &Spec, frames: usize) -> Vec<usize> {
    let mut random = Random(11);
    let mut world = World::<2, f32>::new();
    world.set_algorithm(spec).unwrap();
    let mut handles: Vec<Handle> = (0..200).map(|_| world.insert(random.aabb(60, 3)).unwrap()).collect();
    world.update().unwrap();
    let mut bytes = Vec::new();
    for frame in 0..frames {
        for _ in 0..handles.len() / 10 {
            let at = random.below(handles.len() as u64) as usize;
            world.remove(handles.swap_remove(at)).unwrap();
            let kind = if random.below(4) == 0 { ObjectKind::Static } else { ObjectKind::Dynamic };
            // The scene drifts, as a falling object does: no structure may keep what is left behind.
            let far = random.aabb(60, 3).translate([frame as f32, 0.0]);
            handles.push(world.insert(Object::new(far).with_kind(kind).with_user(7)).unwrap());
        }
        world.update().unwrap();
        bytes.push(world.stats().bytes());
    }
    assert!(world.mover_slots() <= 2 * handles.len(), "{spec}: {} slots", world.mover_slots());
    bytes
}

#[test]
fn bytes_plateau_when_a_tenth_is_replaced_each_frame() {
    for spec in &specs(2) {
        let bytes = spawn_and_despawn(spec, 2000);
        let (early, late) = (bytes[..600].iter().max().unwrap(), bytes[600..].iter().max().unwrap());
        assert!(*late <= early + early / 4, "{spec}: {early} bytes at most in 600 frames, then {late}");
    }
}

#[test]
fn a_world_that_shrank_becomes_dense_again() {
    let mut world = World2::new();
    let boxes: Vec<_> = (0..5000).map(|k| Aabb::point([k as f32, 0.0])).collect();
    let handles = world.insert_many(&boxes).unwrap();
    world.update().unwrap();
    world.remove_many(&handles[100..]).unwrap();
    world.update().unwrap();
    world.set_box(handles[0], Aabb::point([1.0, 0.0])).unwrap();
    assert_eq!(world.update().unwrap().started(), [(handles[0], handles[1])]);
    assert_eq!(world.mover_slots(), 100, "empty slots behind the last object are given back");
    let more = world.insert_many(&boxes[..50]).unwrap();
    assert_eq!((more[0].index, world.mover_slots()), (100, 150), "the lowest index is taken first");
    world.update().unwrap();
    world.clear();
    world.update().unwrap();
    assert_eq!(world.len(), 0);
}

#[test]
fn the_steady_state_keeps_its_bytes() {
    let mut random = Random(2);
    let mut world = World2::new();
    let objects = (0..300).map(|k| {
        let kind = if k % 3 == 0 { ObjectKind::Static } else { ObjectKind::Dynamic };
        Object::new(random.aabb::<2, f32>(100, 4)).with_kind(kind)
    });
    let objects: Vec<_> = objects.collect();
    let handles = world.insert_many(&objects).unwrap();
    let mut bytes = Vec::new();
    for frame in 0..300 {
        // The motion repeats every eight frames, so that later frames need nothing that earlier ones did not.
        let phase = (frame % 8) as f32;
        for (k, &handle) in handles.iter().enumerate().filter(|(k, _)| k % 3 != 0) {
            let offset = [phase * (k % 5) as f32, phase * (k % 7) as f32];
            world.set_box(handle, objects[k].aabb.translate(offset)).unwrap();
        }
        world.update().unwrap();
        assert!(world.pairs_of(handles[0]).unwrap().count() <= 300);
        bytes.push(world.stats().bytes());
    }
    assert_eq!(bytes[150], bytes[299]);
}
