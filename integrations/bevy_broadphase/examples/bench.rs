//! The whole physics step of avian3d with its own broad phase and with ours, by avian's own diagnostics.
//!
//! `cargo run --release --features bench --example bench -- [--steps 60] [--n 1000,5000,20000] [--scenes gas,heap,statics]`
//!
//! The rows of one scene and size take turns in blocks of steps, in one process, in an order that rotates. Each row has an app of its own; the apps
//! start from the same state. A figure is the median over all steps that were measured, in milliseconds.

use std::num::NonZeroU32;
use std::time::Duration;

use avian3d::collider_tree::ColliderTreeDiagnostics;
use avian3d::collision::CollisionDiagnostics;
use avian3d::diagnostics::{PhysicsTotalDiagnostics, PhysicsTotalDiagnosticsPlugin};
use avian3d::prelude::*;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_broadphase::d3::{BroadphasePlugin, TreeUpkeep};
use broadphase_testing::Random;

/// Steps of one row before the next one has its turn.
const BLOCK: usize = 5;
/// Steps before anything is measured: bodies are spawned in the first, and meet in the next ones.
const WARM_UP: usize = 10;

/// The rows: a name, and how the trees of avian are kept, if the broad phase is ours.
const ROWS: [(&str, Option<TreeUpkeep>); 4] = [
    ("avian", None),
    ("ours", Some(TreeUpkeep::Avian)),
    ("ours, trees rebuilt every 16 steps", Some(TreeUpkeep::RebuildEvery(NonZeroU32::new(16).unwrap()))),
    ("ours, trees only refitted", Some(TreeUpkeep::Refit)),
];

/// The times of one step, in milliseconds.
#[derive(Clone, Copy)]
struct Sample {
    step: f64,
    broad: f64,
    trees: f64,
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
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(1.0 / 60.0)));
    app.insert_resource(Time::<Fixed>::from_hz(60.0));
    app.finish();
    app.cleanup();
    app
}

/// A vector with coordinates between -1 and 1.
fn anywhere(random: &mut Random) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| random.unit_f32() * 2.0 - 1.0))
}

/// Balls that fly about without gravity; about a tenth of them is near another one.
fn gas(world: &mut World, n: usize, random: &mut Random) {
    world.insert_resource(Gravity(Vec3::ZERO));
    let half = 1.6 * (n as f32).cbrt();
    for _ in 0..n {
        let (place, velocity) = (anywhere(random) * half, anywhere(random) * 10.0);
        world.spawn((RigidBody::Dynamic, Collider::sphere(0.5), Position(place), LinearVelocity(velocity)));
    }
}

/// Boxes and balls that fall into a pit.
fn heap(world: &mut World, n: usize, random: &mut Random) {
    let side = (n as f32).cbrt().ceil();
    let half = side * 0.6 + 1.0;
    let wall = |world: &mut World, size: Vec3, at: Vec3| {
        world.spawn((RigidBody::Static, Collider::cuboid(size.x, size.y, size.z), Position(at)));
    };
    wall(world, Vec3::new(4.0 * half, 2.0, 4.0 * half), Vec3::new(0.0, -1.0, 0.0));
    for sign in [-1.0, 1.0] {
        wall(world, Vec3::new(2.0, 4.0 * half, 4.0 * half), Vec3::new(sign * (half + 1.0), 2.0 * half, 0.0));
        wall(world, Vec3::new(4.0 * half, 4.0 * half, 2.0), Vec3::new(0.0, 2.0 * half, sign * (half + 1.0)));
    }
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
    })
}

fn median(samples: &[Sample], of: impl Fn(&Sample) -> f64) -> f64 {
    let mut values: Vec<f64> = samples.iter().map(of).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// All rows of one scene and size.
fn compare(name: &str, n: usize, steps: usize) {
    let set_up = match name {
        "gas" => gas,
        "heap" => heap,
        "statics" => statics,
        _ => panic!("unknown scene '{name}'; there are gas, heap and statics"),
    };
    let mut apps: Vec<App> = ROWS.iter().map(|row| app(row.1)).collect();
    for app in &mut apps {
        set_up(app.world_mut(), n, &mut Random(1));
        (0..WARM_UP).for_each(|_| app.update());
    }
    let mut samples = vec![Vec::new(); ROWS.len()];
    for block in 0..steps.div_ceil(BLOCK) {
        for turn in 0..ROWS.len() {
            let row = (block + turn) % ROWS.len();
            samples[row].extend((0..BLOCK).filter_map(|_| measure(&mut apps[row])));
        }
    }
    let whole = median(&samples[0], |sample| sample.step);
    for ((row, _), (samples, app)) in ROWS.iter().zip(samples.iter().zip(&apps)) {
        let (step, broad, trees) = (median(samples, |s| s.step), median(samples, |s| s.broad), median(samples, |s| s.trees));
        let graph = app.world().resource::<ContactGraph>();
        let edges = graph.active_pairs().len() + graph.sleeping_pairs().len();
        let share = 100.0 * broad / step;
        println!("| {name} | {n} | {row} | {edges} | {step:.2} | {broad:.2} | {share:.0} % | {trees:.2} | {:.2} |", whole / step);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str, default: &str| {
        let at = arguments.iter().position(|argument| argument == name);
        at.and_then(|at| arguments.get(at + 1)).map_or(default.to_string(), String::clone)
    };
    let steps: usize = value("--steps", "60").parse().expect("--steps takes a number");
    println!("| scene | bodies | row | edges | step, ms | broad phase, ms | share | trees, ms | times as fast |");
    println!("| --- | --: | --- | --: | --: | --: | --: | --: | --: |");
    for scene in value("--scenes", "gas,heap,statics").split(',') {
        for n in value("--n", "1000,5000,20000").split(',') {
            compare(scene, n.parse().expect("--n takes numbers"), steps);
        }
    }
}
