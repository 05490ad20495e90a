//! The broad phase of a rigid-body engine: 50,000 static boxes, 2,000 bodies that fall asleep, kinematic platforms, sensors, and a manifold that
//! lives as long as its pair. Compared with a scan: `cargo run --release --example rigid_bodies`.

#[path = "support/picture.rs"]
mod picture;

use broadphase::{Aabb, Error, Handle, Object, ObjectKind, Pairing, World3};

/// A contact of the narrow phase, made when a pair starts and freed when it ends.
struct Manifold {
    bodies: (u64, u64),
}

fn main() -> Result<(), Error> {
    let mut world = World3::new();
    world.set_pairing(Pairing { kinematic_kinematic: true, ..Pairing::CONTACTS }); // platforms stop at platforms
    let mut user = 0;
    let mut insert = |world: &mut World3, object: Object<3, f32>| {
        user += 1;
        world.insert(object.with_user(user))
    };
    for k in 0..50_000 {
        let (x, z) = ((k % 250) as f32 * 2.0, (k / 250) as f32 * 2.0);
        insert(&mut world, Object::fixed(Aabb::new([x, -1.0, z], [x + 1.9, 0.0, z + 1.9])))?;
    }
    let mut bodies: Vec<(Handle, f32, [f32; 2])> = Vec::new();
    for k in 0..2000 {
        let (at, height) = ([(k % 100) as f32 * 5.0, (k / 100) as f32 * 20.0], 1.0 + (k % 17) as f32);
        bodies.push((insert(&mut world, Object::new(body(at, height)))?, height, at));
    }
    let lift = |k: usize, y: f32| Aabb::new([50.0 * k as f32, y, 100.0], [50.0 * k as f32 + 60.0, y + 0.5, 110.0]);
    let mut lifts = Vec::new();
    for k in 0..8 {
        lifts.push(insert(&mut world, Object::new(lift(k, 0.0)).with_kind(ObjectKind::Kinematic))?);
    }
    let goal = insert(&mut world, Object::fixed(Aabb::new([0.0, 0.0, 0.0], [120.0, 3.0, 40.0])).as_sensor())?;

    let (mut manifolds, mut free): (Vec<Option<Manifold>>, Vec<u64>) = (Vec::new(), Vec::new());
    let (mut awake, mut entered, mut still_tests) = (0, 0, 0);
    for frame in 0..40 {
        awake = 0;
        for (handle, height, at) in bodies.iter_mut().filter(|body| body.1 > 0.5) {
            *height = (*height - 0.5).max(0.5); // it falls, and then it rests: it is not touched any more, and costs nothing
            awake += 1;
            world.set_box(*handle, body(*at, *height))?;
        }
        for (k, &handle) in lifts.iter().enumerate().filter(|_| frame < 34) {
            world.set_box(handle, lift(k, (frame % 10) as f32 * 0.1))?;
        }
        let update = world.update()?;
        for pair in update.ended() {
            if let Some(manifold) = pair.value.and_then(|slot| manifolds[slot as usize].take()) {
                assert_eq!(manifold.bodies, (pair.user_a, pair.user_b));
                free.extend(pair.value);
            }
        }
        for pair in update.started() {
            if pair.a == goal || pair.b == goal {
                entered += 1; // a sensor notices; there is no contact
                continue;
            }
            let slot = free.pop().unwrap_or(manifolds.len() as u64);
            manifolds.resize_with(manifolds.len().max(slot as usize + 1), || None);
            manifolds[slot as usize] = Some(Manifold { bodies: (pair.user_a, pair.user_b) });
            world.set_pair_value(pair.a, pair.b, slot)?;
        }
        still_tests = world.tests();
    }
    // Everything rests: no tests, and every pair still has its manifold. A scan over the grid of bodies and tiles counts the same pairs.
    let contacts = manifolds.iter().flatten().count() as u64;
    let sensed = world.pairs_of(goal)?.count() as u64;
    let tiles =
        |at: [f32; 2]| at.map(|c| (0..250).filter(|&k| k as f32 * 2.0 <= c + 0.5 && c - 0.5 <= k as f32 * 2.0 + 1.9).count());
    let on_floor: usize = bodies.iter().map(|body| tiles(body.2)).map(|[x, z]| x * z.min(200)).sum();
    let on_lifts: usize = bodies.iter().map(|b| (0..8).filter(|&k| lift(k, 0.3).overlaps(&body(b.2, b.1))).count()).sum();
    let in_goal = bodies.iter().filter(|b| body(b.2, b.1).overlaps(&Aabb::new([0.0; 3], [120.0, 3.0, 40.0]))).count();
    assert_eq!((awake, still_tests, sensed), (0, 0, in_goal as u64));
    assert_eq!(contacts, (on_floor + on_lifts + 7) as u64, "bodies on the floor and on lifts, and each lift at its neighbor");
    picture::save("rigid_bodies", |picture| {
        let here = |aabb: &Aabb<3, f32>| aabb.min[0] < 45.0 && aabb.min[2] > 85.0 && aabb.max[2] < 125.0;
        let floor = (0..50_000).map(|k| ((k % 250) as f32 * 2.0, (k / 250) as f32 * 2.0));
        let floor = floor.map(|(x, z)| (Aabb::new([x, -1.0, z], [x + 1.9, 0.0, z + 1.9]), picture::GRAY));
        let lifts = (0..8).map(|k| (lift(k, 0.3), picture::ORANGE));
        picture.solids(floor.filter(|(aabb, _)| here(aabb)));
        picture.solids(lifts.filter(|(aabb, _)| here(aabb)));
        picture.solids(bodies.iter().map(|b| (body(b.2, b.1), picture::BLUE)).filter(|(aabb, _)| here(aabb)));
    });
    println!("{contacts} contacts, {entered} bodies entered the goal, {} manifolds were enough", manifolds.len());
    assert!(world.pair_count() == contacts + sensed);
    Ok(())
}

fn body(at: [f32; 2], height: f32) -> Aabb<3, f32> {
    Aabb::from_center([at[0], height, at[1]], [0.5; 3])
}
