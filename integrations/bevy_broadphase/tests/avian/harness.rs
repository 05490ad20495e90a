//! The app of the tests: two broad phases, one after the other, from the same state.

use std::collections::BTreeSet;
use std::time::Duration;

use bevy::app::PluginGroupBuilder;
use bevy::ecs::system::SystemParamItem;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;

use super::avian::collider_tree::ColliderTreeSystems;
use super::avian::prelude::*;
use super::ours::{BroadphaseWorld, TreeUpkeep, collect_collision_pairs};

/// Whose edges stay in the graph, so that the simulation goes on with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Driver {
    Avian,
    Ours,
}

/// All that a broad phase decides about an edge.
type Edge = (Entity, Entity, Option<Entity>, Option<Entity>, String);

/// The edges of a graph, colliders in the order in which they were given.
fn edges(graph: &ContactGraph) -> BTreeSet<Edge> {
    let edge = |pair: &ContactPair| {
        let flags = graph.get_edge(pair.collider1, pair.collider2).map(|edge| edge.flags);
        (pair.collider1, pair.collider2, pair.body1, pair.body2, format!("{:?} {flags:?}", pair.flags))
    };
    graph.iter_active().chain(graph.iter_sleeping()).map(edge).collect()
}

/// What was compared so far, and the state that the second broad phase starts from.
#[derive(Resource, Default)]
pub(super) struct Compared {
    pub(super) steps: usize,
    /// Edges that were added in all steps together.
    pub(super) added: usize,
    before: ContactGraph,
    first: BTreeSet<Edge>,
}

fn save(graph: Res<ContactGraph>, mut compared: ResMut<Compared>) {
    compared.before = graph.clone();
}

fn restore(mut graph: ResMut<ContactGraph>, mut compared: ResMut<Compared>) {
    compared.first = edges(&graph);
    *graph = std::mem::take(&mut compared.before);
    compared.added += compared.first.len() - edges(&graph).len();
}

fn compare(graph: Res<ContactGraph>, mut compared: ResMut<Compared>) {
    let second = edges(&graph);
    let (only_first, only_second): (Vec<_>, Vec<_>) =
        (compared.first.difference(&second).collect(), second.difference(&compared.first).collect());
    assert!(
        only_first.is_empty() && only_second.is_empty(),
        "step {}: only the first broad phase has {only_first:?}, only the second {only_second:?}",
        compared.steps
    );
    compared.steps += 1;
}

/// An app with avian, its collision hooks `H`, and both broad phases.
pub(super) fn app_with_hooks<H: CollisionHooks + 'static>(driver: Driver) -> App
where
    for<'w, 's> SystemParamItem<'w, 's, H>: CollisionHooks,
{
    app_with::<H>(driver, PhysicsPlugins::default().with_collision_hooks::<H>().build())
}

/// An app with these plug-ins of avian, whose collision hooks are `H`, and both broad phases.
pub(super) fn app_with<H: CollisionHooks + 'static>(driver: Driver, physics: PluginGroupBuilder) -> App
where
    for<'w, 's> SystemParamItem<'w, 's, H>: CollisionHooks,
{
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin, physics));
    app.init_resource::<Compared>().init_resource::<BroadphaseWorld>().init_resource::<TreeUpkeep>();
    let early = || (ColliderTreeSystems::UpdateAabbs, BroadPhaseSystems::CollectCollisions);
    let late = || (BroadPhaseSystems::CollectCollisions, BroadPhaseSystems::Last);
    let ours = collect_collision_pairs::<H>;
    match driver {
        Driver::Avian => {
            app.add_systems(PhysicsSchedule, (save, ours, restore).chain().after(early().0).before(early().1));
            app.add_systems(PhysicsSchedule, compare.after(late().0).before(late().1));
        }
        Driver::Ours => {
            app.add_systems(PhysicsSchedule, save.after(early().0).before(early().1));
            app.add_systems(PhysicsSchedule, (restore, ours, compare).chain().after(late().0).before(late().1));
        }
    }
    start(app)
}

/// Finishes an app and gives it a clock of its own.
pub(super) fn start(mut app: App) -> App {
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(1.0 / 60.0)));
    app.insert_resource(Time::<Fixed>::from_hz(60.0));
    app.finish();
    app.cleanup();
    app
}

/// An app without hooks.
pub(super) fn app(driver: Driver) -> App {
    app_with_hooks::<()>(driver)
}

/// Runs a scene with either broad phase in charge: `set_up` once, `change` before each of `steps` updates. Returns the edges that were added.
pub(super) fn run(set_up: impl Fn(&mut World), steps: usize, change: impl Fn(&mut World, usize)) -> usize {
    let mut added = Vec::new();
    for driver in [Driver::Avian, Driver::Ours] {
        let mut app = app(driver);
        set_up(app.world_mut());
        added.push(steps_of(&mut app, steps, &change));
    }
    added[0].min(added[1])
}

/// Updates an app; returns the edges that were added.
pub(super) fn steps_of(app: &mut App, steps: usize, change: impl Fn(&mut World, usize)) -> usize {
    for step in 0..steps {
        change(app.world_mut(), step);
        app.update();
    }
    let compared = app.world().resource::<Compared>();
    assert!(compared.steps + 2 >= steps, "{} of {steps} updates made a physics step", compared.steps);
    compared.added
}
