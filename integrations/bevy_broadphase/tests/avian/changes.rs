//! Colliders and bodies that change: shapes, kinds, hierarchy, enabled or not, and changes in the middle of a step.

use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use broadphase_testing::Random;

use super::avian::prelude::*;
use super::bodies::{heap, pit};
use super::harness::{Compared, Driver, app, run};
use super::shapes::{ball, boxy, v};

/// A pit with a heap, and the dynamic bodies in the order of their ids.
fn set_up(world: &mut World) {
    pit(world, 6.0);
    heap(world, 60, 6.0, &mut Random(11));
}

fn bodies(world: &mut World) -> Vec<Entity> {
    let mut query = world.query_filtered::<(Entity, &RigidBody), Allow<Disabled>>();
    let mut list: Vec<Entity> = query.iter(world).filter(|(_, body)| !body.is_static()).map(|(entity, _)| entity).collect();
    list.sort_unstable();
    list
}

#[test]
fn colliders_that_are_replaced_removed_and_added_have_the_same_edges() {
    let added = run(set_up, 120, |world, step| {
        let list = bodies(world);
        let mut random = Random(step as u64);
        let mut entity = world.entity_mut(list[random.below(list.len() as u64) as usize]);
        match step % 5 {
            0 => drop(entity.insert(boxy(1.0, 0.4, 0.7))),
            1 => drop(entity.insert(ball(0.7))),
            2 => drop(entity.remove::<Collider>()),
            3 => drop(entity.insert_if_new(ball(0.3))),
            _ => {
                if let Some(mut shape) = entity.get_mut::<Collider>() {
                    shape.set_scale(v(1.5, 1.5, 1.5), 10);
                }
            }
        }
    });
    assert!(added > 200, "{added} edges");
}

#[test]
fn disabled_colliders_bodies_and_entities_have_the_same_edges() {
    let added = run(set_up, 120, |world, step| {
        let list = bodies(world);
        let mut random = Random(step as u64 + 100);
        for _ in 0..2 {
            let mut entity = world.entity_mut(list[random.below(list.len() as u64) as usize]);
            match random.below(6) {
                0 => drop(entity.insert(ColliderDisabled)),
                1 => drop(entity.remove::<ColliderDisabled>()),
                2 => drop(entity.insert(RigidBodyDisabled)),
                3 => drop(entity.remove::<RigidBodyDisabled>()),
                4 => drop(entity.insert(Disabled)),
                _ => drop(entity.remove::<Disabled>()),
            }
        }
    });
    assert!(added > 100, "{added} edges");
}

#[test]
fn bodies_that_change_their_kind_have_the_same_edges() {
    let added = run(set_up, 100, |world, step| {
        let list = bodies(world);
        let kinds = [RigidBody::Static, RigidBody::Kinematic, RigidBody::Dynamic];
        world.entity_mut(list[step * 5 % list.len()]).insert(kinds[step % 3]);
    });
    assert!(added > 200, "{added} edges");
}

/// Entities to spawn and to despawn in the middle of the next step.
#[derive(Resource, Default)]
struct MidStep {
    spawn: Vec<(Collider, Position)>,
    despawn: Vec<Entity>,
}

fn change_in_the_middle(mut plan: ResMut<MidStep>, mut commands: Commands) {
    for (shape, place) in plan.spawn.drain(..) {
        commands.spawn((RigidBody::Static, shape, place));
    }
    for entity in plan.despawn.drain(..) {
        commands.entity(entity).despawn();
    }
}

#[test]
fn colliders_added_after_the_broad_phase_are_not_in_the_list_of_moved_ones_and_are_found() {
    for driver in [Driver::Avian, Driver::Ours] {
        let mut app = app(driver);
        app.init_resource::<MidStep>();
        // An asynchronous restructuring of a tree would overwrite what is added meanwhile, in avian itself.
        app.insert_resource(ColliderTreeOptimization { use_async_tasks: false, ..default() });
        app.add_systems(
            PhysicsSchedule,
            change_in_the_middle.after(PhysicsStepSystems::BroadPhase).before(PhysicsStepSystems::NarrowPhase),
        );
        set_up(app.world_mut());
        let mut spawned = Vec::new();
        for step in 0..80 {
            let world = app.world_mut();
            // As many go as come, into the same slots: the number of proxies tells nothing.
            let old: Vec<Entity> = std::mem::take(&mut spawned);
            let at = Position(v(f64::from(step % 5) - 2.0, f64::from(step % 3) + 0.5, 0.0));
            let mut plan = world.resource_mut::<MidStep>();
            plan.spawn.push((boxy(1.0, 1.0, 1.0), at));
            plan.despawn = old;
            app.update();
            let mut statics = app.world_mut().query::<(Entity, &RigidBody, &Position)>();
            spawned = statics
                .iter(app.world())
                .filter(|(_, body, place)| body.is_static() && place.0 == at.0)
                .map(|(entity, ..)| entity)
                .collect();
        }
        let compared = app.world().resource::<Compared>();
        assert!(compared.steps >= 78 && compared.added > 200, "{} steps, {} edges", compared.steps, compared.added);
    }
}
