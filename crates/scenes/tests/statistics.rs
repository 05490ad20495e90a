//! What each scene promises: pairs per object, moved share, volumes. Counted by brute force.

use broadphase::Aabb;
use broadphase_scenes::{AnyScene, Scene, SceneSpec};

fn pairs<const D: usize>(boxes: &[Aabb<D, f32>]) -> usize {
    (0..boxes.len()).map(|i| boxes[i + 1..].iter().filter(|other| boxes[i].overlaps(other)).count()).sum()
}

fn moved<const D: usize>(before: &[Aabb<D, f32>], after: &[Aabb<D, f32>]) -> f64 {
    before.iter().zip(after).filter(|(a, b)| a != b).count() as f64 / before.len() as f64
}

/// What a scene does at one frame.
#[derive(Clone, Copy, Debug)]
struct Sample {
    pairs_per_object: f64,
    /// Share of the objects whose box is another one in the next frame.
    moved: f64,
}

fn sample<const D: usize>(scene: &mut dyn Scene<D>, frames: &[usize]) -> Vec<Sample> {
    let mut at = 0;
    let take = |&frame: &usize| {
        while at < frame {
            scene.advance();
            at += 1;
        }
        let before = scene.boxes().to_vec();
        scene.advance();
        at += 1;
        Sample { pairs_per_object: pairs(&before) as f64 / before.len() as f64, moved: moved(&before, scene.boxes()) }
    };
    frames.iter().map(take).collect()
}

fn samples(spec: &str, n: usize, frames: &[usize]) -> Vec<Sample> {
    match spec.parse::<SceneSpec>().unwrap().build(n, 11).unwrap() {
        AnyScene::Two(mut scene) => sample(&mut *scene, frames),
        AnyScene::Three(mut scene) => sample(&mut *scene, frames),
    }
}

fn three(spec: &str, n: usize) -> Box<dyn Scene<3>> {
    match spec.parse::<SceneSpec>().unwrap().build(n, 11).unwrap() {
        AnyScene::Three(scene) => scene,
        AnyScene::Two(_) => panic!("{spec} is 2D"),
    }
}

/// Every sample has about `pairs` per object and a moved share of `moved`.
fn expect(spec: &str, n: usize, pairs: f64, tolerance: f64, moved: f64) {
    for sample in samples(spec, n, &[0, 5, 30]) {
        assert!((sample.pairs_per_object - pairs).abs() <= tolerance, "{spec}: {sample:?}, expected {pairs} pairs per object");
        assert!((sample.moved - moved).abs() < 0.02, "{spec}: {sample:?}, expected {moved} moved");
    }
}

#[test]
fn uniform_has_the_pairs_it_is_tuned_to() {
    for n in [1000, 4000] {
        expect("uniform", n, 2.0, 0.25, 1.0);
    }
    for variant in [
        "motion=0.01",
        "motion=jump",
        "sizes=12",
        "shape=long",
        "shape=flat",
        "world=1024",
        "dim=2",
        "sizes=12:dim=2",
        "shape=long:dim=2",
    ] {
        expect(&format!("uniform:{variant}"), 2000, 2.0, 0.3, 1.0);
    }
    expect("uniform:k=0.5", 2000, 0.5, 0.1, 1.0);
    expect("uniform:k=10", 2000, 10.0, 1.0, 1.0);
}

#[test]
fn sparse_uniform_has_no_pairs_and_still_moves_in_the_end() {
    let mut scene = three("uniform:sparse=1:motion=0.01", 2000);
    let before = scene.boxes().to_vec();
    assert_eq!(pairs(&before), 0);
    for _ in 0..3000 {
        scene.advance();
    }
    assert!(moved(&before, scene.boxes()) > 0.5, "moves below the spacing of f32 add up");
}

#[test]
fn uniform_moves_as_far_as_it_says() {
    for (motion, least, most) in [("0.2", 0.0, 0.2), ("0.01", 0.0, 0.01), ("jump", 2.0, 4.0)] {
        let mut scene = three(&format!("uniform:motion={motion}"), 2000);
        let before = scene.boxes().to_vec();
        scene.advance();
        // Without those that wrapped: in a world this large nothing else moves by more than 5 on an axis.
        let moves: Vec<[f32; 3]> =
            before.iter().zip(scene.boxes()).map(|(a, b)| std::array::from_fn(|k| (b.min[k] - a.min[k]).abs())).collect();
        for by in moves.iter().filter(|by| by.iter().all(|&x| x < 5.0)) {
            let length = by.iter().map(|x| x * x).sum::<f32>().sqrt();
            if motion == "jump" {
                assert!(by.iter().all(|&x| x > least - 1e-3 && x < most + 1e-3), "{by:?}");
            } else {
                assert!(length <= most + 1e-4, "{by:?}");
            }
        }
    }
}

#[test]
fn sizes_are_log_uniform_with_two_pairs_per_object() {
    expect("sizes", 2000, 2.0, 0.3, 1.0);
    expect("sizes:dim=2", 2000, 2.0, 0.3, 1.0);
    expect("sizes:ratio=4", 2000, 2.0, 0.3, 1.0);
    let scene = three("sizes", 4000);
    let edges: Vec<f32> = scene.boxes().iter().map(|aabb| aabb.size()[0]).collect();
    assert!(edges.iter().all(|&edge| (0.99..64.1).contains(&edge)));
    let below = |limit: f32| edges.iter().filter(|&&edge| edge < limit).count() as f64 / 4000.0;
    assert!((below(8.0) - 0.5).abs() < 0.03 && (below(2.0) - 1.0 / 6.0).abs() < 0.03, "{} {}", below(8.0), below(2.0));
}

#[test]
fn a_pile_has_one_and_a_half_pairs_per_object_and_all_of_it_moves() {
    expect("pile", 4000, 1.4, 0.15, 1.0);
    expect("pile:dim=2", 4000, 0.65, 0.1, 1.0);
    let mut scene = three("pile", 4096);
    let before = scene.boxes().to_vec();
    scene.advance();
    for (a, b) in before.iter().zip(scene.boxes()) {
        let by: [f32; 3] = std::array::from_fn(|k| b.min[k] - a.min[k] - [0.11, 0.05, -0.03][k]);
        let length = by.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!(length < 0.3 + 1e-3, "{by:?}");
    }
    let world = before.iter().fold(Aabb::empty(), |all, aabb| all.union(aabb)).size();
    let filling = 4096.0 / world.iter().product::<f32>();
    assert!((filling - 0.65).abs() < 0.06, "{filling}");
}

#[test]
fn settled_keeps_the_same_nine_tenths_exactly_still() {
    expect("settled", 4000, 1.4, 0.15, 0.1);
    expect("settled:dim=2", 4000, 0.65, 0.1, 0.1);
    expect("settled:moving=0.5", 4000, 1.4, 0.15, 0.5);
    let mut scene = three("settled", 1000);
    let first = scene.boxes().to_vec();
    for _ in 0..50 {
        scene.advance();
    }
    assert!((moved(&first, scene.boxes()) - 0.1).abs() < 1e-9, "the same tenth moves for ever");
}

#[test]
fn brownian_fills_a_fiftieth_of_its_world() {
    for spec in ["brownian-cubes:tumble=0", "brownian-assorted:tumble=0"] {
        let n = 4000;
        let mut scene = three(spec, n);
        let volume: f64 = scene.boxes().iter().map(|aabb| aabb.size().iter().map(|&x| f64::from(x)).product::<f64>()).sum();
        assert!((volume / n as f64 - 1.0).abs() < 1e-3, "{spec}: {volume}");
        for _ in 0..100 {
            scene.advance();
        }
        let world = scene.boxes().iter().fold(Aabb::empty(), |all, aabb| all.union(&Aabb::point(aabb.center()))).size();
        let space = world.iter().map(|&x| f64::from(x)).product::<f64>() / n as f64;
        assert!((space - 50.0).abs() < 1.0, "{spec}: world {space} times the objects");
    }
    // Boxes of edge 1 reach a volume of 8; half of it counts, since a pair has two objects.
    expect("brownian-cubes:tumble=0", 4000, 0.5 * 8.0 / 50.0, 0.02, 1.0);
    expect("brownian-cubes:tumble=0:dim=2", 4000, 0.5 * 4.0 / 50.0, 0.01, 1.0);
}
