//! Who may pair with whom: layers, sensors, joints, hooks, bodies with several colliders, statics.

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use broadphase_testing::Random;

use super::avian::math::Scalar;
use super::avian::prelude::*;
use super::bodies::{heap, pit};
use super::harness::{Driver, app_with, app_with_hooks, run, steps_of};
use super::shapes::{ball, boxy, v};

/// All entities with a collider, in the order of their ids.
fn colliders(world: &mut World) -> Vec<Entity> {
    let mut list: Vec<Entity> = world.query_filtered::<Entity, With<Collider>>().iter(world).collect();
    list.sort_unstable();
    list
}

#[test]
fn layers_that_change_while_bodies_move_or_rest_give_the_same_edges() {
    let set_up = |world: &mut World| {
        pit(world, 6.0);
        heap(world, 80, 6.0, &mut Random(3));
    };
    let added = run(set_up, 120, |world, step| {
        let mut random = Random(step as u64);
        for entity in colliders(world) {
            if step == 0 || random.below(20) == 0 {
                let layers = CollisionLayers::from_bits(1 << random.below(3), random.below(8) as u32);
                world.entity_mut(entity).insert(layers);
            }
        }
    });
    assert!(added > 200, "{added} edges");
}

#[test]
fn sensors_of_every_kind_have_the_same_edges() {
    let set_up = |world: &mut World| {
        pit(world, 8.0);
        heap(world, 40, 8.0, &mut Random(4));
        for (index, body) in [RigidBody::Static, RigidBody::Kinematic, RigidBody::Dynamic].into_iter().enumerate() {
            let at = v(index as f64 * 2.0 - 2.0, 2.0, 0.0);
            world.spawn((body, boxy(2.5, 2.5, 2.5), Sensor, Position(at), CollidingEntities::default()));
        }
        // Colliders without a body: one that notices, one that does not.
        world.spawn((boxy(3.0, 1.0, 3.0), Sensor, Transform::from_xyz(0.0, 1.0, 0.0)));
        world.spawn((boxy(1.0, 1.0, 1.0), Transform::from_xyz(1.0, 0.5, 0.0)));
    };
    let added = run(set_up, 120, |world, step| {
        let list = colliders(world);
        let entity = list[step * 7 % list.len()];
        match step % 4 {
            0 => drop(world.entity_mut(entity).insert(Sensor)),
            1 => drop(world.entity_mut(entity).remove::<Sensor>()),
            2 => drop(world.entity_mut(entity).insert(CollisionEventsEnabled)),
            // Statics, sensors or not, jump into each other.
            _ => world.query::<(&RigidBody, &mut Position)>().iter_mut(world).for_each(|(body, mut place)| {
                if body.is_static() && step % 8 == 3 {
                    place.0 += v(0.2, 0.0, 0.0);
                }
            }),
        }
    });
    assert!(added > 150, "{added} edges");
}

/// Rows of links that overlap their neighbors, most joints without collisions.
fn chains(world: &mut World) {
    pit(world, 10.0);
    let link =
        |world: &mut World, x: f64, y: f64| world.spawn((RigidBody::Dynamic, boxy(0.9, 0.5, 0.5), Position(v(x, y, 0.0)))).id();
    for row in 0..4 {
        let links: Vec<Entity> = (0..8).map(|i| link(world, f64::from(i) * 0.8 - 3.0, 1.0 + f64::from(row))).collect();
        for (index, ends) in links.windows(2).enumerate() {
            let offset = v(0.4, 0.0, 0.0);
            let joint = RevoluteJoint::new(ends[0], ends[1]).with_local_anchor1(offset).with_local_anchor2(-offset);
            let joint = world.spawn(joint).id();
            if index % 3 != 2 {
                world.entity_mut(joint).insert(JointCollisionDisabled);
            }
        }
    }
}

#[test]
fn joints_that_disable_collisions_come_and_go_with_the_same_edges() {
    let added = run(chains, 100, |world, step| {
        let mut joints: Vec<Entity> = world.query_filtered::<Entity, With<RevoluteJoint>>().iter(world).collect();
        joints.sort_unstable();
        let joint = joints[step % joints.len()];
        match step % 10 {
            // Avian reads the marker when a joint is added, so this has no effect on pairs; the next two tests change what it reads.
            6 => drop(world.entity_mut(joint).remove::<JointCollisionDisabled>()),
            9 => drop(world.despawn(joint)),
            _ => {}
        }
    });
    assert!(added > 50, "{added} edges");
}

/// The joints, in the order of their ids.
fn joints(world: &mut World) -> Vec<Entity> {
    let mut list: Vec<Entity> = world.query_filtered::<Entity, With<RevoluteJoint>>().iter(world).collect();
    list.sort_unstable();
    list
}

#[test]
fn joints_that_disable_and_enable_collisions_at_run_time_have_the_same_edges() {
    let added = run(chains, 160, |world, step| {
        // The marker counts from the moment at which a joint is enabled.
        let list = joints(world);
        let mut joint = world.entity_mut(list[step / 4 % list.len()]);
        match step % 4 {
            0 => drop(joint.insert(JointDisabled)),
            1 if joint.contains::<JointCollisionDisabled>() => drop(joint.remove::<JointCollisionDisabled>()),
            1 => drop(joint.insert(JointCollisionDisabled)),
            2 => drop(joint.remove::<JointDisabled>()),
            _ => {}
        }
        // Links that were pulled apart meet again.
        if step % 40 == 20 {
            for (body, mut velocity) in world.query::<(&RigidBody, &mut LinearVelocity)>().iter_mut(world) {
                if body.is_dynamic() {
                    velocity.0 += v(0.0, 6.0, 0.0);
                }
            }
        }
    });
    assert!(added > 80, "{added} edges");
}

#[test]
fn without_islands_joints_disable_collisions_of_bodies_that_touch_with_the_same_edges() {
    // With islands, avian 0.7 itself fails an assertion here: it removes the contact and leaves it in its island.
    for driver in [Driver::Avian, Driver::Ours] {
        let physics = PhysicsPlugins::default().build().disable::<IslandPlugin>().disable::<IslandSleepingPlugin>();
        let mut app = app_with::<()>(driver, physics);
        chains(app.world_mut());
        let added = steps_of(&mut app, 100, |world, step| {
            let list = joints(world);
            let mut joint = world.entity_mut(list[step * 5 % list.len()]);
            match step % 3 {
                0 => drop(joint.insert(JointCollisionDisabled)),
                1 => drop(joint.remove::<JointCollisionDisabled>()),
                _ => {}
            }
        });
        assert!(added > 50, "{added} edges");
    }
}

/// Bodies of different teams collide only if the sum of their numbers is even.
#[derive(Component)]
struct Team(u64);

#[derive(SystemParam)]
struct EvenTeams<'w, 's> {
    teams: Query<'w, 's, &'static Team>,
}

impl CollisionHooks for EvenTeams<'_, '_> {
    fn filter_pairs(&self, collider1: Entity, collider2: Entity, _: &mut Commands) -> bool {
        let team = |entity| self.teams.get(entity).map_or(0, |team| team.0);
        (team(collider1) + team(collider2)).is_multiple_of(2)
    }
}

#[test]
fn hooks_reject_the_same_pairs() {
    for driver in [Driver::Avian, Driver::Ours] {
        let mut app = app_with_hooks::<EvenTeams>(driver);
        let world = app.world_mut();
        pit(world, 6.0);
        heap(world, 80, 6.0, &mut Random(5));
        for (index, entity) in colliders(world).into_iter().enumerate() {
            world.entity_mut(entity).insert(Team(index as u64 % 3));
            match index % 4 {
                0 => {}
                1 => drop(
                    world.entity_mut(entity).insert(ActiveCollisionHooks::FILTER_PAIRS | ActiveCollisionHooks::MODIFY_CONTACTS),
                ),
                _ => drop(world.entity_mut(entity).insert(ActiveCollisionHooks::FILTER_PAIRS)),
            }
        }
        let added = steps_of(&mut app, 100, |world, step| {
            // A team that changes counts from the next motion on.
            let list = colliders(world);
            world.entity_mut(list[step % list.len()]).insert(Team(step as u64 % 2));
        });
        assert!(added > 150, "{added} edges");
        let graph = app.world().resource::<ContactGraph>();
        assert!(graph.iter_active().next().is_some());
    }
}

#[test]
fn colliders_of_the_same_body_never_pair() {
    let set_up = |world: &mut World| {
        pit(world, 8.0);
        let mut random = Random(6);
        for _ in 0..20 {
            let at = v((random.unit() - 0.5) * 6.0, 1.0 + random.unit() * 6.0, (random.unit() - 0.5) * 6.0);
            let body = world.spawn((RigidBody::Dynamic, ball(0.4), Position(at))).id();
            for x in [-0.4, 0.4] {
                world.spawn((boxy(0.6, 0.3, 0.3), Transform::from_xyz(x, 0.0, 0.0), ChildOf(body)));
            }
        }
    };
    let added = run(set_up, 100, |world, _| {
        let graph = world.resource::<ContactGraph>();
        assert!(graph.iter_active().all(|pair| pair.body1.is_some() && pair.body1 != pair.body2));
    });
    assert!(added > 100, "{added} edges");
}

#[test]
fn statics_pair_with_movers_and_not_with_each_other() {
    let set_up = |world: &mut World| {
        for index in 0..400 {
            let at = v(f64::from(index % 20) - 10.0, 0.0, f64::from(index / 20) - 10.0);
            world.spawn((RigidBody::Static, boxy(1.1, 1.0, 1.1), Position(at)));
        }
        heap(world, 40, 8.0, &mut Random(8));
    };
    let added = run(set_up, 100, |world, step| {
        let mut bodies = world.query::<(Entity, &RigidBody, &mut Position)>();
        let mut statics: Vec<_> = bodies.iter_mut(world).filter(|(_, body, _)| body.is_static()).collect();
        statics.sort_unstable_by_key(|(entity, ..)| *entity);
        let count = statics.len();
        statics[step * 13 % count].2.0 += v(0.0, 0.3 * step as f64 % 1.5, 0.0);
        let fixed: Vec<Entity> = statics.iter().map(|(entity, ..)| *entity).collect();
        let graph = world.resource::<ContactGraph>();
        assert!(!graph.iter_active().any(|pair| fixed.contains(&pair.collider1) && fixed.contains(&pair.collider2)));
    });
    assert!(added > 100, "{added} edges");
}

#[test]
fn few_movers_among_many_at_rest_and_then_many_have_the_same_edges() {
    // A few movers are searched for in avian's trees; when many come, all pairs are looked for, and the boxes of the steps between are made up for.
    let set_up = |world: &mut World| {
        for index in 0..320 {
            let at = v(f64::from(index % 20) - 10.0, -0.5, f64::from(index / 20) - 8.0);
            let tile = world.spawn((RigidBody::Static, boxy(1.0, 1.0, 1.0), Position(at))).id();
            if index % 40 == 7 {
                world.entity_mut(tile).insert(Sensor);
            }
        }
        for index in 0..3 {
            let speed = LinearVelocity(v(2.0 + f64::from(index), 0.0, 1.0));
            world.spawn((RigidBody::Dynamic, ball(0.4), Position(v(f64::from(index) - 8.0, 0.5, 0.0)), speed));
        }
    };
    let added = run(set_up, 150, |world, step| match step {
        60 => heap(world, 30, 6.0, &mut Random(12)),
        90 => {
            let mut bodies: Vec<_> = world.query::<(Entity, &RigidBody)>().iter(world).filter(|(_, b)| b.is_dynamic()).collect();
            bodies.sort_unstable_by_key(|(entity, _)| *entity);
            let gone: Vec<Entity> = bodies.iter().skip(4).map(|(entity, _)| *entity).collect();
            gone.into_iter().for_each(|entity| world.entity_mut(entity).despawn());
        }
        // Two sensors jump, and meet tiles at rest.
        120 => world
            .query::<(&Sensor, &mut Position)>()
            .iter_mut(world)
            .take(2)
            .for_each(|(_, mut place)| place.0 += v(0.3, 0.2, 0.0)),
        _ => {}
    });
    assert!(added > 100, "{added} edges");
}

#[test]
fn fast_bodies_with_swept_boxes_have_the_same_edges() {
    let set_up = |world: &mut World| {
        pit(world, 10.0);
        heap(world, 40, 8.0, &mut Random(9));
        for index in 0..10 {
            let speed = LinearVelocity(v(40.0 + f64::from(index), 5.0, 0.0));
            let at = Position(v(-4.0, 1.0 + f64::from(index) * 0.5, 0.0));
            world.spawn((RigidBody::Dynamic, ball(0.1), at, speed, SpeculativeMargin(Scalar::MAX)));
        }
    };
    let added = run(set_up, 60, |_, _| {});
    assert!(added > 50, "{added} edges");
}
