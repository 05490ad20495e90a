//! Bodies that fall, ride, rest and come and go.

use bevy::prelude::*;
use broadphase_testing::Random;

use super::AXES;
use super::avian::prelude::*;
use super::harness::run;
use super::shapes::{ball, boxy, v};

/// A floor and four walls; two in the plane.
pub(super) fn pit(world: &mut World, side: f64) {
    world.spawn((RigidBody::Static, boxy(side + 2.0, 1.0, side + 2.0), Position(v(0.0, -0.5, 0.0))));
    for sign in [-1.0, 1.0] {
        let at = sign * (side / 2.0 + 0.5);
        world.spawn((RigidBody::Static, boxy(1.0, side, side + 2.0), Position(v(at, side / 2.0, 0.0))));
        if AXES == 3 {
            world.spawn((RigidBody::Static, boxy(side + 2.0, side, 1.0), Position(v(0.0, side / 2.0, at))));
        }
    }
}

/// Balls and boxes above the pit.
pub(super) fn heap(world: &mut World, count: usize, side: f64, random: &mut Random) {
    for index in 0..count {
        let place = v((random.unit() - 0.5) * side, 1.0 + random.unit() * side, (random.unit() - 0.5) * side);
        let size = 0.4 + 0.6 * random.unit();
        let shape = if index % 2 == 0 { ball(size / 2.0) } else { boxy(size, size, size) };
        world.spawn((RigidBody::Dynamic, shape, Position(place)));
    }
}

#[test]
fn a_falling_heap_has_the_same_edges_in_every_step() {
    let set_up = |world: &mut World| {
        pit(world, 6.0);
        heap(world, 150, 6.0, &mut Random(1));
    };
    let added = run(set_up, 120, |_, _| {});
    assert!(added > 500, "{added} edges");
}

#[test]
fn a_heap_that_falls_asleep_and_is_woken_has_the_same_edges() {
    let set_up = |world: &mut World| {
        pit(world, 8.0);
        for index in 0..24 {
            let place = v(f64::from(index % 6) * 1.2 - 3.0, 0.5 + f64::from(index / 6) * 1.01, 0.0);
            world.spawn((RigidBody::Dynamic, boxy(1.0, 1.0, 1.0), Position(place)));
        }
    };
    let added = run(set_up, 170, |world, step| {
        if step == 120 {
            let sleepers = world.query_filtered::<Entity, With<Sleeping>>().iter(world).count();
            assert!(sleepers >= 12, "only {sleepers} bodies are asleep");
            world.spawn((RigidBody::Dynamic, ball(0.4), Position(v(0.0, 8.0, 0.0)), LinearVelocity(v(0.0, -20.0, 0.0))));
        }
    });
    assert!(added > 20, "{added} edges");
}

#[test]
fn a_heap_on_a_half_space_far_from_the_origin_has_the_same_edges() {
    // The boxes of the half-space are unbounded; at this distance the trees, which have `f32` in both precisions, are coarse.
    let set_up = |world: &mut World| {
        let far = v(20_000.0, 0.0, -10_000.0);
        world.spawn((RigidBody::Static, Collider::half_space(v(0.0, 1.0, 0.0)), Position(far)));
        heap(world, 80, 5.0, &mut Random(31));
        for (body, mut place) in world.query::<(&RigidBody, &mut Position)>().iter_mut(world) {
            if body.is_dynamic() {
                place.0 += far;
            }
        }
    };
    let added = run(set_up, 100, |_, _| {});
    assert!(added > 150, "{added} edges");
}

#[test]
fn moving_platforms_have_the_same_edges_in_every_step() {
    let set_up = |world: &mut World| {
        pit(world, 12.0);
        for index in 0..8 {
            let at = v(f64::from(index) * 1.5 - 6.0, 1.0 + f64::from(index % 3), 0.0);
            let speed = if index % 2 == 0 { 3.0 } else { -3.0 };
            world.spawn((RigidBody::Kinematic, boxy(2.0, 0.3, 2.0), Position(at), LinearVelocity(v(speed, 0.0, 0.0))));
            world.spawn((RigidBody::Dynamic, ball(0.3), Position(at + v(0.0, 0.6, 0.0))));
        }
    };
    let added = run(set_up, 150, |world, step| {
        for (index, (body, mut place, mut velocity)) in
            world.query::<(&RigidBody, &mut Position, &mut LinearVelocity)>().iter_mut(world).enumerate()
        {
            if body.is_kinematic() && step % 30 == 29 {
                velocity.0 = -velocity.0;
            }
            if body.is_kinematic() && step == 40 + index {
                place.0 += v(1.7, 0.0, 0.0); // a jump, not a motion
            }
        }
    });
    assert!(added > 40, "{added} edges");
}

#[test]
fn five_thousand_spawns_and_despawns_leave_the_same_edges() {
    const PER_STEP: usize = 100;
    let added = run(
        |world| pit(world, 12.0),
        55,
        |world, step| {
            let mut random = Random(step as u64 + 7);
            if step < 50 {
                heap(world, PER_STEP, 12.0, &mut random);
            }
            let old: Vec<Entity> = world
                .query_filtered::<(Entity, &RigidBody), With<Collider>>()
                .iter(world)
                .filter(|(_, body)| body.is_dynamic())
                .map(|(entity, _)| entity)
                .collect();
            for entity in old {
                // About as many go as come; the last steps remove all.
                if step >= 50 || random.below(5) == 0 {
                    world.despawn(entity);
                }
            }
        },
    );
    assert!(added > 2000, "{added} edges");
}
