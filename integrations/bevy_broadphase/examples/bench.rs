//! The whole physics step of avian3d with its own broad phase and with ours, by avian's own diagnostics.
//!
//! `cargo run --release --features bench --example bench -- [--steps 60] [--n 1000,5000,20000] [--scenes gas,heap,statics,stacks] [--rows avian,ours]`
//!
//! First, both broad phases run in one app, from the same state in every step, and must find the same contact edges. Then each row has an app of its
//! own, from the same start; after one step the rows must have equally many edges. (Later they may differ a little: two solvers that see the same contacts
//! in another order give other last digits.) The rows take turns in blocks of steps, in one process, in an order that rotates. Times are medians over
//! all steps that were measured, in milliseconds; a ratio is the median over the blocks.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use avian3d::collider_tree::{ColliderTreeDiagnostics, ColliderTreeSystems, MovedProxies};
use avian3d::collision::CollisionDiagnostics;
use avian3d::diagnostics::{PhysicsTotalDiagnostics, PhysicsTotalDiagnosticsPlugin};
use avian3d::prelude::*;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_broadphase::d3::{BroadphasePlugin, BroadphaseWorld, TreeUpkeep, collect_collision_pairs};
use broadphase_testing::Random;

/// Steps of one row before the next one has its turn.
const BLOCK: usize = 5;
/// Steps before anything is measured: bodies meet, and stacks fall asleep.
const WARM_UP: usize = 40;
/// Steps in which the edges of both broad phases are compared.
const COMPARED: usize = 20;

/// The rows: a name, and how the trees of avian are kept, if the broad phase is ours.
const ROWS: [(&str, Option<TreeUpkeep>); 4] = [
    ("avian", None),
    ("ours", Some(TreeUpkeep::Avian)),
    ("rebuild16", Some(TreeUpkeep::RebuildEvery(NonZeroU32::new(16).unwrap()))),
    ("refit", Some(TreeUpkeep::Refit)),
];

/// The times of one step, in milliseconds.
#[derive(Clone, Copy)]
struct Sample {
    step: f64,
    broad: f64,
    trees: f64,
    moved: f64,
}

fn app(upkeep: Option<TreeUpkeep>) -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, TransformPlugin));
    let physics = PhysicsPlugins::default().build();
    match upkeep {
        None => app.add_plugins(physics),
        Some(upkeep) => {
            let ours = BroadphasePlugin::<()>::default().with_upkeep(upkeep);
            app.add_plugins(physics.disable::<BvhBroadPhasePlugin>().add(ours))
        }
    };
    app.add_plugins((PhysicsDiagnosticsPlugin, PhysicsTotalDiagnosticsPlugin));
    app.init_resource::<Moved>().add_systems(PhysicsSchedule, count_moved.in_set(BroadPhaseSystems::Last));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(1.0 / 60.0)));
    app.insert_resource(Time::<Fixed>::from_hz(60.0));
    app
}

/// The colliders whose enlarged box changed before the last broad phase.
#[derive(Resource, Default)]
struct Moved(usize);

fn count_moved(list: Res<MovedProxies>, mut moved: ResMut<Moved>) {
    moved.0 = list.proxies().len();
}

fn finish(mut app: App, set_up: SetUp, n: usize) -> App {
    app.finish();
    app.cleanup();
    set_up(app.world_mut(), n, &mut Random(1));
    app
}

/// Spawns a scene of `n` bodies.
type SetUp = fn(&mut World, usize, &mut Random);

/// A vector with coordinates between -1 and 1.
fn anywhere(random: &mut Random) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| random.unit_f32() * 2.0 - 1.0))
}

/// Static walls around a room, `half` from its center to a side; the ceiling is left out.
fn room(world: &mut World, center: Vec3, half: Vec3) {
    let mut wall = |at: Vec3, size: Vec3| {
        world.spawn((RigidBody::Static, Collider::cuboid(size.x, size.y, size.z), Position(center + at)));
    };
    let size = 2.0 * half + 4.0;
    wall(Vec3::NEG_Y * (half.y + 1.0), size.with_y(2.0));
    for sign in [-1.0, 1.0] {
        wall(Vec3::X * sign * (half.x + 1.0), size.with_x(2.0));
        wall(Vec3::Z * sign * (half.z + 1.0), size.with_z(2.0));
    }
}

/// Balls that fly about in a room without gravity, at 1.6 % of its volume.
fn gas(world: &mut World, n: usize, random: &mut Random) {
    world.insert_resource(Gravity(Vec3::ZERO));
    let half = 1.6 * (n as f32).cbrt();
    room(world, Vec3::ZERO, Vec3::splat(half + 0.5));
    for _ in 0..n {
        let (place, velocity) = (anywhere(random) * half, anywhere(random) * 10.0);
        world.spawn((RigidBody::Dynamic, Collider::sphere(0.5), Position(place), LinearVelocity(velocity)));
    }
}

/// Boxes and balls that fall into a pit and on each other.
fn heap(world: &mut World, n: usize, random: &mut Random) {
    let side = (n as f32).cbrt().ceil();
    let half = side * 0.6 + 1.0;
    room(world, Vec3::Y * 2.0 * half, Vec3::new(half, 2.0 * half, half));
    for index in 0..n {
        let cell = [index % side as usize, index / (side * side) as usize, index / side as usize % side as usize];
        let cell = Vec3::from_array(cell.map(|c| c as f32 * 1.2));
        let place = cell + Vec3::new(-0.6 * side, 0.6, -0.6 * side) + 0.1 * anywhere(random);
        let shape = if index % 2 == 0 { Collider::sphere(0.5) } else { Collider::cuboid(0.9, 0.9, 0.9) };
        world.spawn((RigidBody::Dynamic, shape, Position(place)));
    }
}

/// A floor of static tiles, nine of ten bodies, over which the others roll.
fn statics(world: &mut World, n: usize, random: &mut Random) {
    let side = ((n * 9 / 10) as f32).sqrt() as usize;
    for index in 0..side * side {
        let at = Vec3::new((index % side) as f32, -0.5, (index / side) as f32);
        world.spawn((RigidBody::Static, Collider::cuboid(1.0, 1.0, 1.0), Position(at)));
    }
    for _ in 0..n - side * side {
        let place = (anywhere(random) * 0.45 + 0.5) * side as f32;
        let velocity = LinearVelocity(Vec3::new(1.0, 0.0, 1.0) * anywhere(random) * 4.0);
        world.spawn((RigidBody::Dynamic, Collider::sphere(0.5), Position(place.with_y(0.6 + random.unit_f32())), velocity));
    }
}

/// Stacks of five boxes that stand and fall asleep, nine of ten bodies; the others fly about above them.
fn stacks(world: &mut World, n: usize, random: &mut Random) {
    let count = n * 9 / 50;
    let side = (count as f32).sqrt().ceil();
    let half = 0.75 * side + 1.0;
    room(world, Vec3::Y * half, Vec3::splat(half));
    for index in 0..count * 5 {
        let stack = index / 5;
        let at = Vec3::new((stack % side as usize) as f32, 0.0, (stack / side as usize) as f32) * 1.5 - half + 1.5;
        let place = at.with_y(0.5 + (index % 5) as f32);
        world.spawn((RigidBody::Dynamic, Collider::cuboid(1.0, 1.0, 1.0), Position(place)));
    }
    for _ in count * 5..n {
        let place = (anywhere(random) * (half - 1.0)).with_y(8.0 + random.unit_f32() * half);
        let velocity = LinearVelocity(anywhere(random).with_y(0.0) * 10.0);
        world.spawn((RigidBody::Dynamic, Collider::sphere(0.5), GravityScale(0.0), Position(place), velocity));
    }
}

/// The edges of a graph, and the graph before the broad phase that runs first.
#[derive(Resource, Default)]
struct Compared {
    before: ContactGraph,
    first: BTreeSet<(Entity, Entity)>,
    steps: usize,
}

fn edges(graph: &ContactGraph) -> BTreeSet<(Entity, Entity)> {
    graph.iter_active().chain(graph.iter_sleeping()).map(|pair| (pair.collider1, pair.collider2)).collect()
}

/// Runs both broad phases from the same state in each of some steps, and panics unless they find the same edges.
fn assert_same_edges(set_up: SetUp, n: usize) {
    let mut app = app(None);
    app.init_resource::<Compared>().init_resource::<BroadphaseWorld>().init_resource::<TreeUpkeep>();
    let save = |graph: Res<ContactGraph>, mut compared: ResMut<Compared>| compared.before = graph.clone();
    let restore = |mut graph: ResMut<ContactGraph>, mut compared: ResMut<Compared>| {
        compared.first = edges(&graph);
        *graph = std::mem::take(&mut compared.before);
    };
    let compare = |graph: Res<ContactGraph>, mut compared: ResMut<Compared>| {
        assert!(compared.first == edges(&graph), "step {}: the edges differ", compared.steps);
        compared.steps += 1;
    };
    let ours = (save, collect_collision_pairs::<()>, restore).chain();
    app.add_systems(PhysicsSchedule, ours.after(ColliderTreeSystems::UpdateAabbs).before(BroadPhaseSystems::CollectCollisions));
    app.add_systems(PhysicsSchedule, compare.after(BroadPhaseSystems::CollectCollisions).before(BroadPhaseSystems::Last));
    let mut app = finish(app, set_up, n);
    (0..COMPARED + 2).for_each(|_| app.update());
    assert!(app.world().resource::<Compared>().steps >= COMPARED);
}

/// The number of contact edges.
fn edge_count(app: &App) -> usize {
    let graph = app.world().resource::<ContactGraph>();
    graph.active_pairs().len() + graph.sleeping_pairs().len()
}

/// One update; its times, or nothing if it made no physics step.
fn measure(app: &mut App) -> Option<Sample> {
    let number = app.world().resource::<PhysicsTotalDiagnostics>().step_number;
    app.update();
    let world = app.world();
    let total = world.resource::<PhysicsTotalDiagnostics>();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let trees = world.resource::<ColliderTreeDiagnostics>();
    (total.step_number != number).then(|| Sample {
        step: ms(total.step_time),
        broad: ms(world.resource::<CollisionDiagnostics>().broad_phase),
        trees: ms(trees.optimize + trees.update),
        moved: world.resource::<Moved>().0 as f64,
    })
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// All rows of one scene and size.
fn compare(scene: &str, n: usize, steps: usize, rows: &[(&str, Option<TreeUpkeep>)]) {
    let set_up: SetUp = match scene {
        "gas" => gas,
        "heap" => heap,
        "statics" => statics,
        "stacks" => stacks,
        _ => panic!("unknown scene '{scene}'; there are gas, heap, statics and stacks"),
    };
    assert_same_edges(set_up, n);
    let mut apps: Vec<App> = rows.iter().map(|row| finish(app(row.1), set_up, n)).collect();
    let first_step = |app: &mut App| while measure(app).is_none() {};
    apps.iter_mut().for_each(first_step);
    assert!(apps.iter().all(|app| edge_count(app) == edge_count(&apps[0])), "edges of the first step differ");
    for app in &mut apps {
        (0..WARM_UP).for_each(|_| app.update());
    }
    // By row and block: all rows are at the same step when a block of the same number begins.
    let mut blocks: Vec<Vec<Vec<Sample>>> = vec![Vec::new(); rows.len()];
    for block in 0..steps.div_ceil(BLOCK) {
        for turn in 0..rows.len() {
            let row = (block + turn) % rows.len();
            blocks[row].push((0..BLOCK).filter_map(|_| measure(&mut apps[row])).collect());
        }
    }
    for (((row, _), samples), app) in rows.iter().zip(&blocks).zip(&apps) {
        let of = |value: fn(&Sample) -> f64| median(samples.iter().flatten().map(value));
        let ratio = |value: fn(&Sample) -> f64| {
            let sum = |block: &Vec<Sample>| block.iter().map(value).sum::<f64>();
            median(blocks[0].iter().zip(samples).map(|(base, block)| sum(base) / sum(block)))
        };
        let (step, broad, trees, moved) = (of(|s| s.step), of(|s| s.broad), of(|s| s.trees), of(|s| s.moved));
        println!(
            "| {scene} | {n} | {row} | {} | {moved} | {step:.2} | {broad:.3} | {:.0} % | {trees:.2} | {:.2} | {:.2} |",
            edge_count(app),
            100.0 * broad / step,
            ratio(|s| s.broad),
            ratio(|s| s.step),
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str, default: &str| {
        let at = arguments.iter().position(|argument| argument == name);
        at.and_then(|at| arguments.get(at + 1)).map_or(default.to_string(), String::clone)
    };
    let steps: usize = value("--steps", "60").parse().expect("--steps takes a number");
    let chosen = value("--rows", "avian,ours,rebuild16,refit");
    let rows: Vec<_> = ROWS.into_iter().filter(|row| chosen.split(',').any(|name| name == row.0)).collect();
    println!(
        "| scene | bodies | row | edges | moved | step, ms | broad phase, ms | share | trees, ms | broad phase, times as fast | step, times as fast |"
    );
    println!("| --- | --: | --- | --: | --: | --: | --: | --: | --: | --: | --: |");
    for scene in value("--scenes", "gas,heap,statics,stacks").split(',') {
        for n in value("--n", "1000,5000,20000").split(',') {
            compare(scene, n.parse().expect("--n takes numbers"), steps, &rows);
        }
    }
}
