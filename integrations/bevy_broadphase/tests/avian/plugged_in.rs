//! The plug-in in an app, in place of avian's, as its users have it.

use std::num::NonZeroU32;

use bevy::ecs::system::RunSystemOnce;
use bevy::prelude::*;
use broadphase::Aabb;
use broadphase_testing::Random;

use super::AXES;
use super::avian::collider_tree::ColliderTrees;
use super::avian::collision::collider::EnlargedAabb;
use super::avian::math::{AdjustPrecision, AsF32, Dir, Scalar, Vector};
use super::avian::prelude::*;
use super::bodies::{heap, pit};
use super::harness::{Driver, app, start};
use super::ours::{BroadphasePlugin, BroadphaseWorld, TreeUpkeep};
use super::shapes::v;

/// As many bodies as find room in the pit.
const BODIES: usize = if AXES == 3 { 100 } else { 30 };

/// The app of the README, with a heap that falls into a pit.
fn plugged_in(upkeep: TreeUpkeep) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin));
    let ours = BroadphasePlugin::<()>::default().with_upkeep(upkeep);
    app.add_plugins(PhysicsPlugins::default().build().disable::<BvhBroadPhasePlugin>().add(ours));
    let mut app = start(app);
    pit(app.world_mut(), 6.0);
    heap(app.world_mut(), BODIES, 6.0, &mut Random(21));
    app
}

/// The places of all bodies, by entity.
fn places(app: &mut App) -> Vec<(Entity, Vector)> {
    let mut query = app.world_mut().query::<(Entity, &Position)>();
    let mut list: Vec<_> = query.iter(app.world()).map(|(entity, place)| (entity, place.0)).collect();
    list.sort_unstable_by_key(|(entity, _)| *entity);
    list
}

const UPKEEPS: [TreeUpkeep; 3] = [TreeUpkeep::Avian, TreeUpkeep::RebuildEvery(NonZeroU32::new(8).unwrap()), TreeUpkeep::Refit];

#[test]
fn bodies_come_to_rest_in_the_pit_whatever_the_upkeep_and_the_same_in_every_run() {
    let mut runs = Vec::new();
    for upkeep in [UPKEEPS[0], UPKEEPS[0], UPKEEPS[1], UPKEEPS[2]] {
        let mut app = plugged_in(upkeep);
        (0..200).for_each(|_| app.update());
        let places = places(&mut app);
        assert!(places.iter().all(|(_, at)| at.y > -1.0 && at.x.abs() < 4.0), "a body fell out of the pit: {places:?}");
        let graph = app.world().resource::<ContactGraph>();
        assert!(graph.iter_active_touching().chain(graph.iter_sleeping_touching()).count() >= BODIES);
        runs.push(places);
    }
    // Edges are added in an order that follows from avian's state alone, so neither the run nor the shape of a tree has an influence.
    assert!(runs.windows(2).all(|pair| pair[0] == pair[1]), "runs differ");
}

#[test]
fn a_tree_that_is_only_refitted_has_the_same_edges() {
    for upkeep in UPKEEPS {
        let mut app = app(Driver::Ours);
        app.insert_resource(upkeep);
        pit(app.world_mut(), 6.0);
        heap(app.world_mut(), 80, 6.0, &mut Random(22));
        let added = super::harness::steps_of(&mut app, 80, |_, _| {});
        assert!(added > 200, "{added} edges");
    }
}

#[test]
fn spatial_queries_of_avian_are_right_whatever_the_upkeep() {
    for upkeep in UPKEEPS {
        let mut app = plugged_in(upkeep);
        (0..60).for_each(|_| app.update());
        let cast = |spatial: SpatialQuery, colliders: Query<(Entity, &Collider, &Position, &Rotation)>| {
            let mut hits = 0;
            let mut random = Random(23);
            for _ in 0..200 {
                let from = v(random.unit() * 6.0 - 3.0, 12.0, random.unit() * 6.0 - 3.0);
                let along = Dir::new(v(random.unit() - 0.5, -2.0, random.unit() - 0.5).f32()).unwrap();
                let far: Scalar = 30.0;
                let found = spatial.cast_ray(from, along, far, true, &SpatialQueryFilter::default());
                let direct = colliders.iter().filter_map(|(_, shape, place, rotation)| {
                    shape.cast_ray(place.0, *rotation, from, along.adjust_precision(), far, true).map(|(distance, _)| distance)
                });
                let nearest = direct.fold(Scalar::INFINITY, Scalar::min);
                hits += usize::from(found.is_some());
                assert!(
                    (found.map_or(Scalar::INFINITY, |hit| hit.distance) - nearest).abs() < 1e-3
                        || found.is_none() && nearest > far
                );
            }
            hits
        };
        let hits = app.world_mut().run_system_once(cast).unwrap();
        assert!(hits > 100, "{hits} hits");
    }
}

/// Objects that queries found.
#[derive(Resource, Default)]
struct Found(usize);

/// Compares queries with a scan of the boxes of the same step.
fn query(
    mut world: ResMut<BroadphaseWorld>,
    trees: Res<ColliderTrees>,
    boxes: Query<(Entity, &EnlargedAabb)>,
    mut total: ResMut<Found>,
) {
    world.update(&trees).unwrap();
    let reader = world.read().unwrap();
    let mut random = Random(24);
    for _ in 0..20 {
        let area: Aabb<AXES, f32> = random.cube(8.0, 1.5);
        let found = reader.all_in_box(&area).unwrap();
        let mut found: Vec<Entity> = found.into_iter().map(|handle| world.collider(&trees, handle).unwrap()).collect();
        found.sort_unstable();
        let corner = |at: Vector| at.f32().to_array();
        let overlaps = |b: &EnlargedAabb| Aabb::new(corner(b.min), corner(b.max)).overlaps(&area);
        let mut naive: Vec<Entity> = boxes.iter().filter(|(_, b)| overlaps(b)).map(|(entity, _)| entity).collect();
        naive.sort_unstable();
        assert_eq!(found, naive);
        total.0 += found.len();
    }
}

#[test]
fn queries_of_the_broad_phase_see_the_present_boxes_between_steps_and_when_bodies_only_go() {
    let mut app = plugged_in(TreeUpkeep::Refit);
    app.init_resource::<Found>();
    for _ in 0..30 {
        app.update();
        app.world_mut().run_system_once(query).unwrap();
    }
    let found = app.world().resource::<Found>().0;
    assert!(found > 500, "{found} objects");
    let mut bodies = app.world_mut().query_filtered::<(Entity, &RigidBody), With<Collider>>();
    let list: Vec<Entity> = bodies.iter(app.world()).filter(|(_, body)| body.is_dynamic()).map(|(entity, _)| entity).collect();
    assert_eq!(list.len(), BODIES);
    for entity in list {
        app.world_mut().despawn(entity);
    }
    app.update();
    app.world_mut().run_system_once(query).unwrap();
    let broadphase = app.world().resource::<BroadphaseWorld>();
    let left = broadphase.read().unwrap().all_in_box(&Aabb::everything()).unwrap();
    assert_eq!(left.len(), 2 * AXES - 1, "the walls of the pit are static");
}

#[test]
fn queries_of_the_broad_phase_see_the_enlarged_boxes() {
    let mut app = plugged_in(TreeUpkeep::Refit);
    app.init_resource::<Found>();
    app.add_systems(PhysicsSchedule, query.after(BroadPhaseSystems::CollectCollisions).before(BroadPhaseSystems::Last));
    (0..30).for_each(|_| app.update());
    let found = app.world().resource::<Found>().0;
    assert!(found > 500, "{found} objects");
}
