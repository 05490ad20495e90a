//! The light scenes of paper 001 against a physics engine: the same pairs per object and the same moved share, over time.
#![cfg(feature = "simulate")]

use broadphase::Aabb;
use broadphase_scenes::{AnyScene, Scene, SceneSpec};

const N: usize = 4000;
/// The engine lays a heap to sleep as a whole, and one body that rocks keeps it awake: with this seed all of `free-fall-assorted` is
/// asleep by frame 360, with seed 5 two fifths of it are awake in frame 500, moving by less than can be seen.
const SEED: u64 = 0;

fn build(spec: &str, n: usize, seed: u64) -> Box<dyn Scene<3>> {
    match spec.parse::<SceneSpec>().unwrap().build(n, seed).unwrap() {
        AnyScene::Three(scene) => scene,
        AnyScene::Two(_) => panic!("{spec} is 2D"),
    }
}

/// Pairs per object and moved share at each of the frames.
fn run(spec: &str, frames: &[usize]) -> Vec<(f64, f64)> {
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
        let moved = before.iter().zip(scene.boxes()).filter(|(a, b)| a != b).count();
        (pairs as f64 / N as f64, moved as f64 / N as f64)
    };
    frames.iter().map(sample).collect()
}

/// Compares a light scene with its engine: pairs per object within a factor, moved share within 0.2.
fn compare(scene: &str, frames: &[usize], factor: f64) {
    let light = run(scene, frames);
    let engine = run(&format!("{scene}-simulated"), frames);
    for (k, frame) in frames.iter().enumerate() {
        let ((pairs, moved), (engine_pairs, engine_moved)) = (light[k], engine[k]);
        println!(
            "{scene} frame {frame}: pairs per object {pairs:.2} and {engine_pairs:.2}, moved {moved:.2} and {engine_moved:.2}"
        );
        assert!(pairs < factor * engine_pairs && engine_pairs < factor * pairs, "{scene}, frame {frame}: {light:?} {engine:?}");
        assert!((moved - engine_moved).abs() < 0.2, "{scene}, frame {frame}: {light:?} {engine:?}");
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
    ("brownian-cubes-simulated", 0xd4ac561954402c7c),
    ("brownian-assorted-simulated", 0xdeb014d9f7eab0e5),
    ("free-fall-cubes-simulated", 0xda8b3562ee1da9c0),
    ("free-fall-assorted-simulated", 0x4f30035525bf0890),
    ("gravity-cubes-simulated", 0x2ae67c50d5e583de),
    ("gravity-assorted-simulated", 0xfdf4d6777467eec1),
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
