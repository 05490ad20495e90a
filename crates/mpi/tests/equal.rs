//! The pairs of a job are those of one process: scenes, splits, motion, migration.

mod support;

use broadphase::{Aabb, Real};
use broadphase_mpi::split::{Split, share};
use broadphase_mpi::{Distributed, Options, Reporting, Threads, Transport};
use broadphase_scenes::{AnyScene, SceneSpec};
use support::{Drive, Noise, Scene, check};

/// Frames of a scene, shared out in the first frame; then objects follow their regions.
fn recorded(name: &str, n: usize, frames: usize, ranks: usize, split: Split) -> Frames {
    let spec: SceneSpec = name.parse().unwrap();
    match spec.build(n, 1).unwrap() {
        AnyScene::Two(mut scene) => Frames::Two(follow(ranks, split, frames, || {
            let boxes = scene.boxes().to_vec();
            scene.advance();
            boxes
        })),
        AnyScene::Three(mut scene) => Frames::Three(follow(ranks, split, frames, || {
            let boxes = scene.boxes().to_vec();
            scene.advance();
            boxes
        })),
    }
}

enum Frames {
    Two((Vec<Scene<2, f32>>, Vec<Aabb<2, f32>>)),
    Three((Vec<Scene<3, f32>>, Vec<Aabb<3, f32>>)),
}

fn follow<const D: usize, T: Real>(
    ranks: usize,
    split: Split,
    frames: usize,
    mut next: impl FnMut() -> Vec<Aabb<D, T>>,
) -> (Vec<Scene<D, T>>, Vec<Aabb<D, T>>) {
    let mut boxes = next();
    let shares = share(&boxes, ranks, split);
    let mut owners: Vec<usize> = shares.ranks.iter().map(|&rank| rank as usize).collect();
    let mut list = Vec::new();
    for _ in 0..frames {
        list.push(Scene { boxes: boxes.iter().copied().map(Some).collect(), owners: owners.clone() });
        boxes = next();
        for (owner, aabb) in owners.iter_mut().zip(&boxes) {
            *owner = shares.rank_of(aabb).map_or(*owner, |rank| rank as usize);
        }
    }
    (list, shares.regions)
}

fn check_scene(name: &str, n: usize, frames: usize, ranks: usize, split: Split, options: &Options, drive: Drive) {
    match recorded(name, n, frames, ranks, split) {
        Frames::Two((frames, regions)) => drop(check(ranks, options, drive, &frames, &regions)),
        Frames::Three((frames, regions)) => drop(check(ranks, options, drive, &frames, &regions)),
    }
}

const SPLITS: [Split; 3] = [Split::Slab, Split::Bisect, Split::Random];

#[test]
fn every_scene_with_every_split_and_number_of_ranks_over_twenty_frames() {
    let names = broadphase_scenes::list().iter().filter(|scene| scene.feature.is_none()).map(|scene| scene.name);
    for (number, name) in names.enumerate() {
        for (position, ranks) in [1, 2, 3, 4, 7, 8].into_iter().enumerate() {
            for (turn, split) in SPLITS.into_iter().enumerate() {
                let drive = [Drive::Table, Drive::Arrays, Drive::List][(number + position + turn) % 3];
                check_scene(name, 120, 20, ranks, split, &Options::default(), drive);
            }
        }
    }
}

#[test]
fn twenty_frames_with_motion_and_migration_and_events() {
    for split in SPLITS {
        for ranks in [2, 3, 4, 7, 8, 16] {
            for reporting in [Reporting::Once, Reporting::Both] {
                let options = Options::default().with_events().with_reporting(reporting);
                check_scene("uniform:motion=0.5", 160, 20, ranks, split, &options, Drive::Table);
            }
        }
        let options = Options::default().with_events();
        check_scene("settled", 500, 20, 4, split, &options, Drive::Table);
        check_scene("pile:dim=2", 300, 20, 5, split, &options, Drive::Arrays);
        check_scene("sizes", 300, 20, 4, split, &options.clone().with_boxes(3), Drive::Table);
    }
}

#[test]
fn larger_ranks_that_have_groups_and_an_interior() {
    for split in [Split::Slab, Split::Bisect] {
        for reporting in [Reporting::Once, Reporting::Both] {
            let options = Options::default().with_events().with_reporting(reporting);
            check_scene("brownian-cubes", 3000, 6, 3, split, &options, Drive::Table);
            check_scene("gravity-assorted", 2000, 4, 4, split, &options, Drive::Arrays);
            check_scene("brownian-cubes", 3000, 6, 4, split, &options, Drive::List);
        }
    }
}

#[cfg(feature = "papers")]
#[test]
fn the_papers_algorithms_serve_as_well_and_hash_grids_agree_on_their_base() {
    for algorithm in ["hash-grid:threshold=0", "hash-grid-reinsert:threshold=0", "kd-tree", "tiles", "sweep"] {
        let options = Options::default().with_events().with_algorithm(algorithm.parse().unwrap());
        check_scene("sizes", 400, 6, 3, Split::Bisect, &options, Drive::Table);
        check_scene("sizes", 400, 3, 3, Split::Random, &options, Drive::Arrays);
    }
    // Points, a plane, and no object at all on the lowest rank.
    let options = Options::default().with_algorithm("hash-grid:threshold=0".parse().unwrap());
    let mut boxes = vec![Some(Aabb::point([1.0f32; 2])); 5];
    boxes.push(Some(Aabb::everything()));
    let frames = [Scene { owners: vec![2, 1, 1, 2, 2, 1], boxes: boxes.clone() }, Scene { owners: vec![0; 6], boxes }];
    check(3, &options, Drive::Table, &frames, &[]);
}

/// Each rank's first object has another size, and the lowest rank has none, so that every rank alone would choose another base.
#[cfg(feature = "papers")]
#[test]
fn all_ranks_take_the_base_of_the_first_object_of_the_lowest_rank_that_has_one() {
    let bases = |algorithm: &str| {
        let options = Options::default().with_algorithm(algorithm.parse().unwrap());
        Threads::run(4, |transport| {
            let me = transport.rank();
            let mut space = Distributed::<2, f32, _>::new(transport, options.clone())?;
            space.update()?; // no rank has objects: there is nothing to agree on yet
            let before = space.algorithm().and_then(|spec| spec.text("base").map(str::to_string));
            if me > 0 {
                space.insert(me as u64, Aabb::new([0.0, 0.0], [3.0 * me as f32, 1.0]))?;
            }
            space.update()?;
            let base = space.algorithm().and_then(|spec| spec.text("base").map(str::to_string));
            Ok::<_, broadphase_mpi::Error>((before, base, space.cross_pairs().len()))
        })
    };
    for (algorithm, base) in [
        ("hash-grid:threshold=0", 3.0 * 2f64.sqrt()),
        ("hash-grid-reinsert:threshold=0:factor=4", 6.0),
        ("hash-grid:paper=true:threshold=0", 3.0 * 2f64.sqrt()),
        ("hash-grid:threshold=0:base=0.5", 0.5),
    ] {
        for (rank, result) in bases(algorithm).into_iter().enumerate() {
            let (before, found, pairs) = result.unwrap();
            assert_eq!(found.map(|text| text.parse::<f64>().unwrap()), Some(base), "{algorithm}");
            assert_eq!(before.is_some(), algorithm.contains("base="), "{algorithm}");
            assert_eq!(pairs, [0, 2, 1, 0][rank], "{algorithm}");
        }
    }
}

/// Random boxes with random owners that change at random, in all dimensions and scalars.
fn random_frames<const D: usize, T: Real>(seed: u64, n: usize, frames: usize, ranks: usize) -> Vec<Scene<D, T>> {
    let mut noise = Noise(seed);
    let spread = [1.0, 8.0, 30.0][noise.below(3)];
    let mut scene = Scene { boxes: vec![None; n], owners: (0..n).map(|_| noise.below(ranks)).collect() };
    // How often an object is touched in a frame, of 8 times.
    let busy = [1, 4, 8][noise.below(3)];
    let mut list = Vec::new();
    for _ in 0..frames {
        for id in 0..n {
            if noise.below(8) >= busy && scene.boxes[id].is_some() {
                continue;
            }
            scene.boxes[id] = (noise.below(6) > 0).then(|| {
                let mut min = [T::ZERO; D];
                let mut max = [T::ZERO; D];
                let kind = noise.below(40);
                for k in 0..D {
                    // On a coarse lattice, so that boxes touch exactly.
                    let at = (noise.unit() * spread * 4.0).floor() / 4.0 - spread / 2.0;
                    let side = match kind {
                        0 => 1e30,
                        1 => spread,
                        2..8 => 0.0,
                        _ => (noise.unit() * 6.0).floor() / 4.0,
                    };
                    (min[k], max[k]) = (T::from_f64(at), T::from_f64(at + side));
                    if kind == 39 && noise.below(2) == 0 {
                        min[k] = T::NEG_INFINITY;
                    }
                    if kind == 38 && noise.below(2) == 0 {
                        max[k] = T::INFINITY;
                    }
                }
                Aabb::new(min, max)
            });
            if noise.below(5) == 0 {
                scene.owners[id] = noise.below(ranks);
            }
        }
        list.push(scene.clone());
    }
    list
}

fn random<const D: usize, T: Real>(seed: u64, n: usize, ranks: usize) {
    for (number, reporting) in [Reporting::Once, Reporting::Both].into_iter().enumerate() {
        let options = Options::default().with_events().with_reporting(reporting).with_boxes(1 << (seed % 7));
        let drive = [Drive::Table, Drive::Arrays, Drive::List][(seed as usize + number) % 3];
        check(ranks, &options, drive, &random_frames::<D, T>(seed, n, 8, ranks), &[]);
    }
}

#[test]
fn random_objects_with_giants_planes_and_points_in_all_dimensions_and_scalars() {
    for seed in 0..12 {
        let ranks = 1 + seed as usize % 16;
        random::<2, f32>(seed, 60, ranks);
        random::<3, f32>(seed + 100, 120, ranks);
        random::<2, f64>(seed + 200, 250, ranks);
        random::<3, f64>(seed + 300, 30, ranks);
    }
}

/// The list of objects near others belongs to the box that was watched when it was made, not to the next one.
#[test]
fn a_rank_that_rests_while_others_come_near_chooses_by_the_right_box() {
    let at = |x: f32| Some(Aabb::new([x, 0.0], [x + 1.0, 1.0]));
    let still: Vec<_> = (0..200).map(|i| at(i as f32 * 2.0)).collect();
    let mut frames = Vec::new();
    for step in 0..12 {
        let mut boxes = still.clone();
        // A visitor comes from the right, leaves, and comes from the left.
        boxes.push(at([500.0, 380.0, 300.0, 200.5, 100.0, 900.0, -50.0, 0.5, 40.0, 90.0, 390.5, 399.0][step]));
        let owners = (0..201).map(|id| usize::from(id == 200)).collect();
        frames.push(Scene { boxes, owners });
    }
    check(2, &Options::default().with_events(), Drive::Table, &frames, &[]);
}

/// A rank lists the objects outside its interior while it takes a list of boxes. Objects that are inserted or moved after that, before the update, must
/// be found too.
#[test]
fn boxes_that_change_between_the_list_and_the_update_are_not_missed() {
    let results = Threads::run(2, |transport| {
        let me = transport.rank();
        let mut space = Distributed::<2, f32, _>::new(transport, Options::default().with_reporting(Reporting::Both))?;
        let start = 1000.0 * me as f32;
        let boxes: Vec<_> = (0..300).map(|i| Aabb::point([start + (i % 20) as f32, (i / 20) as f32])).collect();
        for (id, aabb) in boxes.iter().enumerate() {
            space.insert((1000 * me + id) as u64, *aabb)?;
        }
        let mut found = Vec::new();
        for step in 0..4 {
            let mut list = boxes.clone();
            list.extend(space.get_box(300).copied());
            space.set_boxes(&list)?;
            // After the list, an object of rank 0 comes to rank 1, then one is inserted there, then another one takes its place.
            match (me, step) {
                (0, 1) => space.set_box(150, Aabb::point([1000.0, 0.0]))?,
                (0, 2) => drop(space.insert(999, Aabb::point([1001.0, 0.0]))?),
                (0, 3) => drop((space.remove(300)?, space.insert(998, Aabb::point([1002.0, 0.0]))?)),
                _ => {}
            }
            space.update()?;
            found.push(space.cross_pairs().iter().map(|pair| pair.ids()).collect::<Vec<_>>());
        }
        Ok::<_, broadphase_mpi::Error>(found)
    });
    let wanted = [vec![], vec![(150, 1000)], vec![(999, 1001)], vec![(998, 1002)]];
    for found in results {
        assert_eq!(found.unwrap(), wanted);
    }
}

/// Two ranks with a common face at x = 10, and five objects on each side of it that overlap the box of the other rank; two of them reach over the face.
#[test]
fn an_object_travels_only_to_ranks_that_may_report_a_pair_of_it() {
    let ghosts = |reporting: Reporting, domains: bool| {
        let options = Options::default().with_reporting(reporting);
        let results = Threads::run(2, |transport| {
            let me = transport.rank();
            let mut space = Distributed::<2, f32, _>::new(transport, options.clone())?;
            let side = |x: f32| if me == 0 { x } else { 20.0 - x };
            for (id, x) in [9.0f32, 9.0, 9.2, 9.2, 9.2, 1.0].into_iter().enumerate() {
                let half = [1.5, 1.5, 0.5, 0.5, 0.5, 0.5][id];
                space.insert((10 * me + id) as u64, Aabb::from_center([side(x), 3.0 * id as f32], [half, 0.5]))?;
            }
            if domains {
                let inf = f32::INFINITY;
                space.set_domain(&[[Aabb::new([-inf; 2], [10.0, inf]), Aabb::new([10.0, -inf], [inf; 2])][me]]);
            }
            space.update()?;
            Ok::<_, broadphase_mpi::Error>((space.traffic().ghosts, space.cross_pairs().len()))
        });
        results.into_iter().map(Result::unwrap).collect::<Vec<_>>()
    };
    assert_eq!(ghosts(Reporting::Both, false), [(5, 2), (5, 2)]);
    assert_eq!(ghosts(Reporting::Once, false), [(5, 2), (0, 0)]);
    assert_eq!(ghosts(Reporting::Once, true), [(2, 2), (2, 0)]);
}

#[test]
fn empty_ranks_and_one_rank_with_everything() {
    let spec: SceneSpec = "uniform".parse().unwrap();
    let AnyScene::Three(scene) = spec.build(300, 3).unwrap() else { unreachable!("three dimensions are the default") };
    let boxes: Vec<_> = scene.boxes().iter().copied().map(Some).collect();
    let one = |rank: usize| Scene { boxes: boxes.clone(), owners: vec![rank; 300] };
    let nothing = Scene { boxes: vec![None; 300], owners: vec![0; 300] };
    let frames = [one(1), one(1), nothing.clone(), one(3), one(0), nothing];
    for drive in [Drive::Table, Drive::Arrays] {
        check(4, &Options::default().with_events(), drive, &frames, &[]);
    }
}

#[test]
fn one_ground_plane_and_a_thousand_cubes_on_all_ranks() {
    let mut noise = Noise(5);
    let mut cube = || {
        let min: [f64; 3] = std::array::from_fn(|k| if k == 1 { noise.unit() * 2.0 } else { noise.unit() * 40.0 });
        Aabb::new(min, min.map(|x| x + 1.0))
    };
    let inf = f64::INFINITY;
    let mut frames = Vec::new();
    for step in 0..4 {
        let mut boxes: Vec<_> = (0..1000).map(|_| Some(cube())).collect();
        boxes[0] = Some(Aabb::new([-inf, -inf, -inf], [inf, 0.3 * f64::from(step), inf]));
        boxes[500] = Some(Aabb::new([0.0, 0.0, 0.0], [40.0, 1.5, 0.5])); // a wall, and wide
        let owners = (0..1000).map(|id| if id == 0 { (step as usize) % 2 } else { id % 5 }).collect();
        frames.push(Scene { boxes, owners });
    }
    for reporting in [Reporting::Once, Reporting::Both] {
        check(5, &Options::default().with_events().with_reporting(reporting), Drive::Table, &frames, &[]);
    }
}
