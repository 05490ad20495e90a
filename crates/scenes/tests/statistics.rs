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

#[test]
fn free_fall_piles_up_and_comes_to_exact_rest() {
    for spec in ["free-fall-cubes", "free-fall-assorted"] {
        let run = samples(spec, 2000, &[0, 60, 130, 300, 450]);
        assert!(run[..3].iter().all(|sample| sample.moved > 0.999), "{spec}: {run:?}");
        assert!(run[3].moved < 0.05 && run[4].moved == 0.0, "{spec}: {run:?}");
        assert!(run[4].pairs_per_object > 8.0 * run[0].pairs_per_object && run[4].pairs_per_object < 10.0, "{spec}: {run:?}");
        assert!(run[4].pairs_per_object > run[1].pairs_per_object, "{spec}: {run:?}");
    }
    let mut scene = three("free-fall-cubes:tumble=0", 2000);
    (0..450).for_each(|_| scene.advance());
    let side = 100_000f64.cbrt() as f32;
    assert!(
        scene.boxes().iter().all(|aabb| aabb.center().iter().all(|x| (0.0..=side * 1.00001).contains(x))),
        "inside the world"
    );
    let high = scene.boxes().iter().filter(|aabb| aabb.center()[1] > 0.15 * side).count();
    assert_eq!(high, 0, "nothing hangs in the air");
}

#[test]
fn a_swinging_gravity_keeps_dense_heaps_in_motion() {
    for spec in ["gravity-cubes", "gravity-assorted"] {
        let run = samples(spec, 2000, &[0, 150, 250, 400, 600]);
        assert!(run.iter().all(|sample| sample.moved > 0.99), "{spec}: {run:?}");
        assert!(run[1..].iter().all(|sample| sample.pairs_per_object > 5.0 * run[0].pairs_per_object), "{spec}: {run:?}");
    }
    let mut scene = three("gravity-cubes", 1000);
    let height = |scene: &dyn Scene<3>| scene.boxes().iter().map(|aabb| f64::from(aabb.center()[1])).sum::<f64>() / 1000.0;
    let mut heights = Vec::new();
    for _ in 0..5 {
        (0..90).for_each(|_| scene.advance());
        heights.push(height(&*scene));
    }
    let most = heights.iter().fold(0.0f64, |most, x| most.max(*x));
    let least = heights.iter().fold(f64::INFINITY, |least, x| least.min(*x));
    assert!(most - least > 8.0, "the heaps move across a world of 37: {heights:?}");
}

#[test]
fn boxes_fill_their_world_to_the_density_asked_for() {
    for (spec, density) in [("boxes:d=0.05", 0.05), ("boxes:d=0.35", 0.35), ("boxes", 0.2)] {
        let mut scene = three(spec, 4000);
        for _ in 0..60 {
            scene.advance();
        }
        let world = scene.boxes().iter().fold(Aabb::empty(), |all, aabb| all.union(aabb)).size();
        let volume: f64 = scene.boxes().iter().map(|aabb| aabb.size().iter().map(|&x| f64::from(x)).product::<f64>()).sum();
        let found = volume / world.iter().map(|&x| f64::from(x)).product::<f64>();
        assert!((found / density - 1.0).abs() < 0.03, "{spec}: {found}");
        // A reach of twice the mean edge on each axis, half of it counted, less at the world's sides.
        expect(spec, 4000, 4.0 * density, 0.8 * density, 1.0);
    }
}

#[test]
fn an_implosion_becomes_dense_and_flies_apart() {
    let run = samples("implosion", 3000, &[0, 60, 110, 450]);
    let pairs = |k: usize| run[k].pairs_per_object;
    assert!(pairs(1) > pairs(0) && pairs(2) > 6.0 * pairs(0) && pairs(3) < 0.5 * pairs(2), "{run:?}");
    assert!(pairs(2) < 20.0, "the collisions hold: {run:?}");
}

#[test]
fn a_plane_crossing_has_no_pairs_and_meets_in_its_plane() {
    for (u, axis) in [("x", 0), ("y", 1), ("z", 2)] {
        let mut scene = three(&format!("plane-crossing:u={u}:frames=20"), 1000);
        let first = scene.boxes().to_vec();
        for frame in 0..=20 {
            assert_eq!(pairs(scene.boxes()), 0, "{u}, frame {frame}");
            let far = scene.boxes().iter().filter(|aabb| aabb.center()[axis] != 0.0).count();
            assert_eq!(far == 0, frame == 10, "{u}, frame {frame}");
            if frame < 20 {
                scene.advance();
            }
        }
        let mirrored = first.iter().zip(scene.boxes()).all(|(a, b)| (a.center()[axis] + b.center()[axis]).abs() < 1e-4);
        assert!(mirrored, "{u}");
    }
}

#[test]
fn a_city_is_crowded_near_the_ground_and_a_fifth_of_it_moves() {
    for (spec, low_share) in [("city", 0.8), ("city-even", 0.05)] {
        let mut scene = three(spec, 3000);
        let first = scene.boxes().to_vec();
        let low = first.iter().filter(|aabb| aabb.max[1] <= 100.001).count() as f64 / 3000.0;
        assert!((low - low_share).abs() < 0.06, "{spec}: {low}");
        assert!(first.iter().all(|aabb| (0.99..100.1).contains(&aabb.size()[0])), "{spec}");
        for _ in 0..40 {
            scene.advance();
        }
        let moving = moved(&first, scene.boxes());
        assert!((moving - 0.2).abs() < 0.005, "{spec}: {moving}");
        let inside = scene.boxes().iter().all(|aabb| (0..3).all(|k| aabb.min[k] > -0.01 && aabb.max[k] < 1000.01));
        assert!(inside, "{spec}");
    }
    let large = three("city-even", 51_200);
    let widest = large.boxes().iter().map(|aabb| aabb.size()[0]).fold(0.0, f32::max);
    assert!((widest - 50.0).abs() < 0.1, "eight times the objects, half the diameter: {widest}");
}

#[test]
fn movers_in_a_city_are_deflected() {
    let mut scene = three("city", 2000);
    let mut last = scene.boxes().to_vec();
    let mut velocities = vec![[0.0f32; 3]; 2000];
    let mut turned = 0;
    for frame in 0..20 {
        scene.advance();
        for (i, (a, b)) in last.iter().zip(scene.boxes()).enumerate() {
            let velocity: [f32; 3] = std::array::from_fn(|k| b.center()[k] - a.center()[k]);
            let cosine: f32 = (0..3).map(|k| velocity[k] * velocities[i][k]).sum();
            turned += usize::from(frame > 0 && cosine < 0.0);
            velocities[i] = velocity;
        }
        last = scene.boxes().to_vec();
    }
    assert!(turned > 200, "{turned} sharp turns of 400 movers in 20 frames");
}

#[test]
fn particles_are_kept_apart() {
    for (spec, n) in [("particles", 3000), ("particles:dim=2", 2000)] {
        let run = samples(spec, n, &[0, 20, 60]);
        assert!(run.iter().all(|sample| sample.moved > 0.99 && (0.5..4.0).contains(&sample.pairs_per_object)), "{spec}: {run:?}");
    }
    let mut scene = three("particles", 3000);
    for _ in 0..40 {
        scene.advance();
    }
    let centers: Vec<[f32; 3]> = scene.boxes().iter().map(Aabb::center).collect();
    let close = |limit: f32| {
        let near = |a: &[f32; 3], b: &[f32; 3]| (0..3).map(|k| (a[k] - b[k]) * (a[k] - b[k])).sum::<f32>() < limit * limit;
        (0..centers.len()).map(|i| centers[i + 1..].iter().filter(|b| near(&centers[i], b)).count()).sum::<usize>() as f64
            / 3000.0
    };
    // At random, 40 % volume has 0.4 * 8 / 2 = 1.6 overlapping balls per object, and 0.2 at half the diameter.
    assert!(close(0.5) < 0.002 && close(0.95) < 1.0, "{} {}", close(0.5), close(0.95));
}

#[test]
fn crowds_of_sizes_scenery_and_clusters_have_the_pairs_and_the_moves_they_promise() {
    expect("scales", 2000, 0.95, 0.15, 1.0);
    expect("lifts", 2000, 0.33, 0.06, 1.0);
    expect("scenery", 2000, 0.49, 0.1, 0.5);
    expect("scenery:movers=0.1", 2000, 0.6, 0.1, 0.1);
    expect("jumps", 2000, 0.88, 0.1, 1.0);
    expect("telescope", 2000, 14.0, 4.0, 1.0);
}

#[test]
fn scales_are_two_crowds_and_telescopes_a_hundred() {
    let edges = |spec| {
        let mut edges: Vec<f64> = three(spec, 2000).boxes().iter().map(|b| f64::from(b.max[0]) - f64::from(b.min[0])).collect();
        edges.sort_by(f64::total_cmp);
        edges
    };
    let scales = edges("scales");
    assert!(scales[999] < 1e-9 && scales[1000] > 0.9);
    let telescope = edges("telescope");
    assert!(telescope[0] < 1e-29 && telescope[1999] > 0.9, "{} to {}", telescope[0], telescope[1999]);
}

#[test]
fn lifts_move_along_one_axis_and_the_clusters_of_jumps_only_every_eighth_frame() {
    let mut lifts = three("lifts", 1000);
    let before = lifts.boxes().to_vec();
    lifts.advance();
    assert!(before.iter().zip(lifts.boxes()).all(|(a, b)| a.min[..2] == b.min[..2] && a.max[..2] == b.max[..2]));
    let mut jumps = three("jumps", 1000);
    for frame in 1..20 {
        let before = jumps.boxes().to_vec();
        jumps.advance();
        let far = before.iter().zip(jumps.boxes()).filter(|(a, b)| (a.min[0] - b.min[0]).abs() > 1.0).count();
        assert_eq!(far > 500, frame % 8 == 0, "frame {frame}: {far} objects are far from where they were");
    }
}
