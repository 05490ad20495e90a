//! The bits of every scene, with variants of its options. A hash that changes here changes everybody's measurements: scenes are
//! changed on purpose, never by accident.

use broadphase::Aabb;
use broadphase_scenes::{AnyScene, Scene, SceneSpec, list};

/// Objects, seed and frames behind each hash.
const N: usize = 300;
const SEED: u64 = 7;
const FRAMES: usize = 12;
/// Later frames of the scenes that take long to become what they are.
const LATE: &[(&str, usize)] = &[("free-fall", 420), ("gravity", 420), ("implosion", 160)];

/// FNV-1a over the bits of all corners.
fn hash_frame<const D: usize>(mut hash: u64, boxes: &[Aabb<D, f32>]) -> u64 {
    for x in boxes.iter().flat_map(|aabb| aabb.min.into_iter().chain(aabb.max)) {
        hash = (hash ^ u64::from(x.to_bits())).wrapping_mul(0x100_0000_01b3);
    }
    hash
}

fn hash_scene<const D: usize>(scene: &mut dyn Scene<D>, frames: usize) -> u64 {
    (0..frames).fold(0xcbf2_9ce4_8422_2325, |hash, _| {
        let next = hash_frame(hash, scene.boxes());
        scene.advance();
        next
    })
}

fn hash(spec: &str, n: usize, seed: u64) -> u64 {
    let frames = LATE.iter().find(|(start, _)| spec.starts_with(start)).map_or(FRAMES, |(_, frames)| *frames);
    hash_first(frames, spec, n, seed)
}

fn hash_first(frames: usize, spec: &str, n: usize, seed: u64) -> u64 {
    match spec.parse::<SceneSpec>().unwrap().build(n, seed).unwrap() {
        AnyScene::Two(mut scene) => hash_scene(&mut *scene, frames),
        AnyScene::Three(mut scene) => hash_scene(&mut *scene, frames),
    }
}

const GOLDEN: &[(&str, u64)] = &[
    ("uniform", 0x9eff8057897c0e92),
    ("uniform:k=0.5", 0x81dfe5c68aa3d392),
    ("uniform:motion=0.01", 0x9e219916a4db7c12),
    ("uniform:motion=jump", 0x1c65a1dbecb3d361),
    ("uniform:sizes=12", 0x4dc24ecd79f327a5),
    ("uniform:shape=long", 0x9f4f6eb29c81b4df),
    ("uniform:shape=flat", 0x1622a2d3c8b73ea2),
    ("uniform:world=1024", 0xf7037365a0b234f4),
    ("uniform:sparse=1:motion=0.01", 0x52ef3580252aa9f7),
    ("uniform:dim=2", 0xdd91e88387025c2f),
    ("uniform:dim=2:sizes=12:motion=jump", 0xed57b7d088f945bd),
    ("brownian-cubes", 0xcf5eb34d6f6f956f),
    ("brownian-cubes:tumble=0", 0xdbddeac458ee3399),
    ("brownian-cubes:dim=2", 0xbfb285629be74217),
    ("brownian-assorted", 0xb4681bd3e1f64fe2),
    ("brownian-assorted:tumble=0", 0x0a887fa1a475e6c9),
    ("free-fall-cubes", 0xd2997d1ca7f3773b),
    ("free-fall-cubes:tumble=0", 0x6b359ad0a9ce5bd2),
    ("free-fall-assorted", 0x54e2d02538f9f354),
    ("free-fall-assorted:tumble=0", 0x22275e78bb0d8f26),
    ("gravity-cubes", 0xb4e68766791cee94),
    ("gravity-cubes:tumble=0", 0x5ff8c2179c5d1db5),
    ("gravity-assorted", 0x51976f451a8eb2cd),
    ("gravity-assorted:tumble=0", 0x2ca5a25a180a3d52),
    ("pile", 0x612b679370af299c),
    ("pile:dim=2", 0x9a850d01e77a8887),
    ("settled", 0xb73a1d971bfc9e22),
    ("settled:moving=0.5", 0x19fb2b518619f802),
    ("settled:dim=2", 0x6b007cd264e67290),
    ("sizes", 0xc6ad1fd6cec3b881),
    ("sizes:ratio=4", 0x2498dd3b047fd018),
    ("sizes:dim=2", 0x1637c1459aeeb0ef),
    ("boxes", 0x2e1eb823f0181699),
    ("boxes:d=0.05", 0x8a8fc56aa3331d9d),
    ("boxes:d=0.35", 0x85d35b64e3c6a0d2),
    ("boxes:dim=2", 0x6056d88b07346352),
    ("implosion", 0xd590903a3056f178),
    ("plane-crossing", 0x24e74692d3d92381),
    ("plane-crossing:u=y", 0x75f0eab317d59bc1),
    ("plane-crossing:u=z", 0x2f04a19c4a052275),
    ("plane-crossing:frames=10", 0x96b8721c6cf4e5f9),
    ("city", 0x7f0bca673ac18ce3),
    ("city-even", 0x2b2761a5b2c05597),
    ("particles", 0x362e5a0c15f61f7d),
    ("particles:dim=2", 0x5ba73ea1c5368591),
    ("scales", 0x083c7e9e7ddf520d),
    ("telescope", 0x34030900d53e5b99),
    ("lifts", 0x38aaffc0b3508029),
    ("scenery", 0x709e194ea347fcef),
    ("scenery:movers=0.1", 0x61e22f26361294ca),
    ("jumps", 0x0aeb1cc13db1ca1e),
];

#[test]
fn every_scene_has_its_golden_bits() {
    let found: Vec<(&str, u64)> = GOLDEN.iter().map(|&(spec, _)| (spec, hash(spec, N, SEED))).collect();
    let table: String = found.iter().map(|(spec, hash)| format!("    (\"{spec}\", {hash:#018x}),\n")).collect();
    assert!(found == GOLDEN, "some scenes changed; what they are now:\n{table}");
}

/// The frames before the last object has landed. Benchmarks measure these, so they stay when the way to rest changes.
const FALL: usize = 134;
const GOLDEN_FALL: &[(&str, u64)] = &[
    ("free-fall-cubes", 0x01930006e407c717),
    ("free-fall-cubes:tumble=0", 0x379ab0a3085922c8),
    ("free-fall-assorted", 0xc861acb20950af9c),
    ("free-fall-assorted:tumble=0", 0xb5173aac716e0d5a),
];

#[test]
fn the_fall_has_its_golden_bits_whatever_comes_after() {
    let found: Vec<(&str, u64)> = GOLDEN_FALL.iter().map(|&(spec, _)| (spec, hash_first(FALL, spec, N, SEED))).collect();
    let table: String = found.iter().map(|(spec, hash)| format!("    (\"{spec}\", {hash:#018x}),\n")).collect();
    assert!(found == GOLDEN_FALL, "falls changed; what they are now:\n{table}");
}

#[test]
fn every_scene_without_a_feature_is_in_the_table() {
    for scene in list().iter().filter(|scene| scene.feature.is_none()) {
        assert!(GOLDEN.iter().any(|(spec, _)| *spec == scene.name), "{}", scene.name);
        for option in scene.options {
            let varied = format!("{}:", scene.name);
            let key = format!(":{}=", option.name);
            assert!(GOLDEN.iter().any(|(spec, _)| spec.starts_with(&varied) && spec.contains(&key)), "{} {key}", scene.name);
        }
    }
}

#[test]
fn the_seed_decides_the_bits() {
    for &(spec, golden) in GOLDEN {
        assert_ne!(hash(spec, N, SEED + 1), golden, "{spec}");
    }
}

#[test]
fn any_number_of_objects_gives_valid_boxes() {
    fn run<const D: usize>(spec: &str, n: usize, mut scene: Box<dyn Scene<D>>) {
        for frame in 0..40 {
            assert_eq!(scene.boxes().len(), n, "{spec}");
            for (i, aabb) in scene.boxes().iter().enumerate() {
                assert!(aabb.is_valid() && aabb.is_finite(), "{spec}: n {n}, frame {frame}, object {i}: {aabb:?}");
            }
            scene.advance();
        }
    }
    for (spec, _) in GOLDEN {
        for n in [0, 1, 2, 3, 5, 17] {
            match spec.parse::<SceneSpec>().unwrap().build(n, 1).unwrap() {
                AnyScene::Two(scene) => run(spec, n, scene),
                AnyScene::Three(scene) => run(spec, n, scene),
            }
        }
    }
}
