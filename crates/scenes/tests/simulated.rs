//! The light scenes of paper 001 against a physics engine: the same pairs per object and the same moved share, over time.
#![cfg(feature = "simulate")]

use broadphase::Aabb;
use broadphase_scenes::{AnyScene, Scene, SceneSpec};

const N: usize = 4000;
const SEED: u64 = 0;
/// What moves farther in a frame moves for all to see: a thousandth of the edge of a cube. A heap of the engine sleeps as a whole, and one body that
/// rocks keeps it awake: then all of it trembles by a third of this, with one seed or version of the engine for a second and with
/// another for ever (frame 500: 98 % of the boxes change, 1 % by more than this).
const VISIBLE: f32 = 1e-3;

fn build(spec: &str, n: usize, seed: u64) -> Box<dyn Scene<3>> {
    match spec.parse::<SceneSpec>().unwrap().build(n, seed).unwrap() {
        AnyScene::Three(scene) => scene,
        AnyScene::Two(_) => panic!("{spec} is 2D"),
    }
}

/// What a frame is like.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Pairs per object.
    pairs: f64,
    /// The share of boxes that change.
    moved: f64,
    /// The share that does so for all to see.
    visible: f64,
}

/// The farthest that a side of the box moves.
fn step(before: &Aabb<3, f32>, after: &Aabb<3, f32>) -> f32 {
    (0..3).map(|k| (after.min[k] - before.min[k]).abs().max((after.max[k] - before.max[k]).abs())).fold(0.0, f32::max)
}

fn run(spec: &str, frames: &[usize]) -> Vec<Sample> {
    let mut scene = build(spec, N, SEED);
    let mut at = 0;
    let sample = |&frame: &usize| {
        while at < frame {
            scene.advance();
            at += 1;
        }
        let before: Vec<Aabb<3, f32>> = scene.boxes().to_vec();
        scene.advance();
        at += 1;
        let pairs: usize = (0..N).map(|i| before[i + 1..].iter().filter(|other| before[i].overlaps(other)).count()).sum();
        let steps: Vec<f32> = before.iter().zip(scene.boxes()).map(|(a, b)| step(a, b)).collect();
        let share = |least: f32| steps.iter().filter(|&&step| step > least).count() as f64 / N as f64;
        Sample { pairs: pairs as f64 / N as f64, moved: share(0.0), visible: share(VISIBLE) }
    };
    frames.iter().map(sample).collect()
}

/// Compares a light scene with its engine. Pairs per object are within a factor. The moved share is within 0.2 of the engine's, wherever that
/// is between what visibly moves and what is awake; in the last frame, when heaps have come to rest, within 0.2 of what visibly moves.
fn compare(scene: &str, frames: &[usize], factor: f64) {
    let light = run(scene, frames);
    let engine = run(&format!("{scene}-simulated"), frames);
    for (k, frame) in frames.iter().enumerate() {
        let (ours, theirs) = (light[k], engine[k]);
        println!("{scene} frame {frame}: {ours:.2?}\n    engine: {theirs:.2?}");
        let last = k + 1 == frames.len();
        let most = if last { theirs.visible } else { theirs.moved };
        assert!(ours.pairs < factor * theirs.pairs && theirs.pairs < factor * ours.pairs, "{scene}, frame {frame}");
        assert!(ours.moved > theirs.visible - 0.2 && ours.moved < most + 0.2, "{scene}, frame {frame}");
    }
}

#[test]
fn brownian_cubes_have_the_statistics_of_an_engine() {
    compare("brownian-cubes", &[0, 30, 60], 1.2);
}

#[test]
fn brownian_assorted_has_the_statistics_of_an_engine() {
    compare("brownian-assorted", &[0, 30, 60], 1.2);
}

#[test]
fn free_fall_cubes_have_the_statistics_of_an_engine() {
    compare("free-fall-cubes", &[40, 80, 120, 160, 200, 260, 500], 1.4);
}

#[test]
fn free_fall_assorted_has_the_statistics_of_an_engine() {
    compare("free-fall-assorted", &[40, 80, 120, 160, 200, 260, 500], 1.4);
}

#[test]
fn gravity_cubes_have_the_statistics_of_an_engine() {
    compare("gravity-cubes", &[40, 80, 120, 160, 200, 240, 280, 320], 1.6);
}

#[test]
fn gravity_assorted_has_the_statistics_of_an_engine() {
    compare("gravity-assorted", &[40, 80, 120, 160, 200, 240, 280, 320], 1.6);
}

const GOLDEN: &[(&str, u64)] = &[
    ("brownian-cubes-simulated", 0x33135393e2135fe4),
    ("brownian-assorted-simulated", 0x8715409e17fa6d85),
    ("free-fall-cubes-simulated", 0xb2bb4e78f08d0fd7),
    ("free-fall-assorted-simulated", 0x7fab603d2deca139),
    ("gravity-cubes-simulated", 0x22f1d20e8bfcde23),
    ("gravity-assorted-simulated", 0x8d2c9de3bc34243a),
];

#[test]
fn every_simulated_scene_has_its_golden_bits() {
    let hash = |spec: &str| {
        let mut scene = build(spec, 200, 5);
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for _ in 0..60 {
            for x in scene.boxes().iter().flat_map(|aabb| aabb.min.into_iter().chain(aabb.max)) {
                hash = (hash ^ u64::from(x.to_bits())).wrapping_mul(0x100_0000_01b3);
            }
            scene.advance();
        }
        hash
    };
    let found: Vec<(&str, u64)> = GOLDEN.iter().map(|&(spec, _)| (spec, hash(spec))).collect();
    let table: String = found.iter().map(|(spec, hash)| format!("    (\"{spec}\", {hash:#018x}),\n")).collect();
    assert!(found == GOLDEN, "some scenes changed; what they are now:\n{table}");
}

#[test]
fn any_small_number_of_bodies_is_simulated() {
    for (spec, _) in GOLDEN {
        for n in [0, 1, 2, 7] {
            let mut scene = build(spec, n, 5);
            (0..20).for_each(|_| scene.advance());
            assert!(
                scene.boxes().len() == n && scene.boxes().iter().all(|aabb| aabb.is_valid() && aabb.is_finite()),
                "{spec} {n}"
            );
        }
    }
}

#[test]
fn more_bodies_than_an_engine_bears_are_refused() {
    let spec: SceneSpec = "gravity-cubes-simulated".parse().unwrap();
    let error = spec.build(128_001, 0).unwrap_err().to_string();
    assert_eq!(error, "scene `gravity-cubes-simulated` takes at most 128000 objects, not 128001; give a smaller n");
}
