//! The light scenes of paper 001 against a physics engine: the same pairs per object and the same moved share, over time.
#![cfg(feature = "simulate")]

use broadphase::Aabb;
use broadphase_scenes::{AnyScene, Scene, SceneSpec};

const N: usize = 4000;
const SEEDS: [u64; 3] = [0, 1, 2];
/// What moves farther in a frame moves for all to see: a thousandth of the edge of a cube. What merely changes in bits is no measure of the
/// engine: its heap sleeps as a whole, and one body that rocks keeps it awake. Then all of it trembles by a third of this, with one
/// seed or version of the engine for a second and with another for ever (frame 500: 98 % of the boxes change, 1 % by more than this).
/// The tremble grows with gravity, so with the world: with 64,000 cubes, two thirds of a heap never stay below this.
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

fn run(spec: &str, seed: u64, frames: &[usize]) -> Vec<Sample> {
    let mut scene = build(spec, N, seed);
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

/// Compares a light scene with its engine. Pairs per object are within a factor, and the share that visibly moves within 0.2, in every
/// frame and with every seed. If the scene comes to rest, then in the last frame so is the share of boxes that change at all:
/// the light scene's rest is exact, where the engine's may tremble.
fn compare(scene: &str, frames: &[usize], factor: f64, rests: bool) {
    for seed in SEEDS {
        let light = run(scene, seed, frames);
        let engine = run(&format!("{scene}-simulated"), seed, frames);
        for (k, frame) in frames.iter().enumerate() {
            let (ours, theirs) = (light[k], engine[k]);
            let place = format!("{scene}, seed {seed}, frame {frame}: {ours:.3?}\n    engine: {theirs:.3?}");
            println!("{place}");
            assert!(ours.pairs < factor * theirs.pairs && theirs.pairs < factor * ours.pairs, "{place}");
            assert!((ours.visible - theirs.visible).abs() <= 0.2, "{place}");
            if rests && k + 1 == frames.len() {
                assert!((ours.moved - theirs.visible).abs() <= 0.2, "{place}");
            }
        }
    }
}

/// A fall ends at frame 134. Before it all of the heap moves, after it less and less, from below.
const FALL: &[usize] = &[40, 80, 100, 120, 130, 140, 150, 160, 170, 180, 190, 200, 220, 240, 260, 300, 360, 420, 500];
const SWING: &[usize] = &[40, 80, 120, 160, 200, 240, 280, 320];

#[test]
fn brownian_cubes_have_the_statistics_of_an_engine() {
    compare("brownian-cubes", &[0, 30, 60], 1.2, false);
}

#[test]
fn brownian_assorted_has_the_statistics_of_an_engine() {
    compare("brownian-assorted", &[0, 30, 60], 1.2, false);
}

#[test]
fn free_fall_cubes_have_the_statistics_of_an_engine() {
    compare("free-fall-cubes", FALL, 1.25, true);
}

#[test]
fn free_fall_assorted_has_the_statistics_of_an_engine() {
    compare("free-fall-assorted", FALL, 1.25, true);
}

#[test]
fn gravity_cubes_have_the_statistics_of_an_engine() {
    compare("gravity-cubes", SWING, 1.3, false);
}

#[test]
fn gravity_assorted_has_the_statistics_of_an_engine() {
    compare("gravity-assorted", SWING, 1.3, false);
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
