//! Random sequences of what the other files do one at a time, joints excepted.

use bevy::prelude::*;
use broadphase_testing::Random;

use super::avian::prelude::*;
use super::bodies::{heap, pit};
use super::harness::run;
use super::shapes::{ball, boxy, v};

/// One random change of one random body.
fn change(world: &mut World, random: &mut Random) {
    let mut list: Vec<Entity> = world.query_filtered::<Entity, With<RigidBody>>().iter(world).collect();
    list.sort_unstable();
    if list.len() < 30 {
        heap(world, 10, 6.0, random);
        return;
    }
    let chosen = list[random.below(list.len() as u64) as usize];
    let mut entity = world.entity_mut(chosen);
    match random.below(15) {
        0 => entity.despawn(),
        1 => drop(entity.insert(RigidBody::Kinematic)),
        2 => drop(entity.insert(RigidBody::Static)),
        3 | 4 => drop(entity.insert(RigidBody::Dynamic)),
        5 => drop(entity.insert(Sensor)),
        6 => drop(entity.remove::<Sensor>()),
        7 => drop(entity.insert(CollisionLayers::from_bits(1 << random.below(2), random.below(4) as u32))),
        8 => drop(entity.insert(CollisionLayers::default())),
        9 => drop(entity.insert(boxy(0.3 + random.unit(), 0.5, 0.5))),
        10 => drop(entity.insert(ColliderDisabled)),
        11 => drop(entity.remove::<ColliderDisabled>()),
        12 => drop(entity.insert(Position(v(random.unit() * 6.0 - 3.0, random.unit() * 6.0, random.unit() * 6.0 - 3.0)))),
        13 => drop(entity.with_child((ball(0.3), Transform::from_xyz(0.4, 0.0, 0.0)))),
        _ => drop(entity.insert(LinearVelocity(v(random.unit() * 8.0 - 4.0, random.unit() * 8.0, 0.0)))),
    }
}

#[test]
fn random_changes_of_everything_give_the_same_edges_in_every_step() {
    for seed in 0..4 {
        let set_up = |world: &mut World| {
            pit(world, 6.0);
            heap(world, 50, 6.0, &mut Random(seed));
        };
        let added = run(set_up, 120, |world, step| {
            let mut random = Random(seed * 1000 + step as u64);
            for _ in 0..random.below(4) {
                change(world, &mut random);
            }
        });
        assert!(added > 100, "{added} edges");
    }
}
