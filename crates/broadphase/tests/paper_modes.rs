//! The paper modes: what the texts of papers 000, 003 and 004 say of their mechanisms, counted.

use broadphase::algorithms::particle_grid::{Options, ParticleGrid, Storage};
use broadphase::{Aabb, BroadPhase, Changes, Context, Frame, Live, Pair, PairStore, Real, Report, Shape, Spec, Strength, step};
use broadphase_testing::{Random, naive};

fn build<const D: usize, T: Real>(spec: &str) -> Box<dyn BroadPhase<D, T>> {
    spec.parse::<Spec>().unwrap_or_else(|error| panic!("{spec}: {error}")).build().unwrap()
}

fn extra<const D: usize, T: Real>(structure: &dyn BroadPhase<D, T>, name: &str) -> f64 {
    structure.stats().extra.iter().find(|entry| entry.0 == name).unwrap_or_else(|| panic!("{name}")).1
}

/// Boxes of sizes from `least` to `most` at random places of a cube.
fn boxes<const D: usize, T: Real>(n: usize, world: f64, least: f64, most: f64, random: &mut Random) -> Vec<Aabb<D, T>> {
    let mut unit = || f64::from(random.unit_f32());
    (0..n)
        .map(|_| {
            let size = least + (most - least) * unit();
            let min: [f64; D] = std::array::from_fn(|_| (unit() - 0.5) * world);
            Aabb::new(min.map(T::from_f64), min.map(|x| T::from_f64(x + size)))
        })
        .collect()
}

fn run<const D: usize, T: Real>(structure: &mut dyn BroadPhase<D, T>, frame: &Frame<'_, D, T>) -> (Vec<Pair>, u64) {
    let mut store = PairStore::new(Report::All);
    step(structure, frame, &mut Context::new(), &mut store).unwrap();
    structure.validate(frame, Strength::Geometry).unwrap();
    (store.sorted(), store.tests())
}

fn random_operations<const D: usize, T: Real>(spec: &str) {
    let mut random = Random(7);
    let mut table = boxes::<D, T>(220, 16.0, 0.1, 5.0, &mut random);
    let mut live = vec![!0u64; table.len().div_ceil(64)];
    let mut structure = build::<D, T>(spec);
    for round in 0..24 {
        let (mut moved, mut inserted, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..random.below(70) {
            let id = random.below(table.len() as u64) as u32;
            if moved.contains(&id) || inserted.contains(&id) || removed.contains(&id) {
                continue;
            }
            let (word, bit) = (id as usize / 64, 1 << (id % 64));
            let old = live[word] & bit != 0;
            if old && random.below(3) == 0 {
                live[word] &= !bit;
                removed.push(id);
                table[id as usize] = Aabb::new([T::NAN; D], [T::NAN; D]);
            } else {
                // Now and then far away, of no size, or without an end.
                table[id as usize] = match random.below(30) {
                    0 => Aabb::everything(),
                    1 => Aabb::point([T::from_f64(1e6); D]),
                    _ => boxes(1, 16.0, 0.01, 9.0, &mut random)[0],
                };
                live[word] |= bit;
                if old { moved.push(id) } else { inserted.push(id) }
            }
        }
        let changes = match round % 6 {
            0 => Changes::All,
            1 => Changes::Unknown,
            _ => Changes::Listed { moved: &moved, inserted: &inserted, removed: &removed },
        };
        let frame = Frame { live: Live::Bits(&live), ..Frame::new(&table).with_changes(changes) };
        let (pairs, _) = run(&mut *structure, &frame);
        assert_eq!(pairs, naive::pairs_of(&table, |id| frame.live.contains(id)), "{spec} round {round}");
    }
}

#[test]
fn random_operations_match_a_double_loop_in_every_space() {
    let specs = [
        "hash-grid:paper=true",
        "hash-grid:paper=true:threshold=0",
        "hash-grid:paper=true:threshold=0:factor=1.1:dims=4",
        "hash-grid:paper=true:threshold=0:factor=8:dims=4x32x8:density=1:capacity=2",
        "hash-grid-reinsert:paper=true:threshold=0",
        "hash-grid-reinsert:threshold=0",
        "octree:paper=true",
        "octree:paper=true:depth=6:world=-4/-4/-4/4/4/4",
        "level-grid:paper=true",
        "brute-force:paper=true",
    ];
    for spec in specs {
        if !spec.contains("world") {
            random_operations::<2, f32>(spec);
            random_operations::<2, f64>(spec);
        }
        random_operations::<3, f32>(spec);
        random_operations::<3, f64>(spec);
    }
}

#[test]
fn options_of_our_own_mode_are_rejected_in_paper_mode() {
    for spec in
        ["hash-grid:paper=true:merge=3", "hash-grid:paper=true:patience=0", "octree:paper=true:split=4", "octree:paper=maybe"]
    {
        assert!(spec.parse::<Spec>().is_err(), "{spec}");
    }
}

// Paper 000.

#[test]
fn the_hierarchy_has_a_grid_for_each_size_where_our_own_mode_merges_them() {
    let table = boxes::<3, f32>(4000, 60.0, 1.0, 12.0, &mut Random(3));
    let levels = |spec: &str| {
        let mut structure = build::<3, f32>(spec);
        let (pairs, _) = run(&mut *structure, &Frame::new(&table));
        (extra(&*structure, "busy_levels"), pairs)
    };
    let (paper, own) = (levels("hash-grid:paper=true"), levels("hash-grid"));
    assert!(paper.0 >= 4.0 && own.0 < paper.0, "{} grids, {} with ours", paper.0, own.0);
    assert_eq!(paper.1, own.1);
}

#[test]
fn a_grid_grows_eightfold_when_objects_exceed_an_eighth_of_its_cells_and_never_shrinks() {
    let table = boxes::<3, f32>(513, 40.0, 1.0, 1.0, &mut Random(5));
    let mut structure = build::<3, f32>("hash-grid:paper=true:threshold=0");
    run(&mut *structure, &Frame::new(&table[..512]));
    assert_eq!((extra(&*structure, "cells"), extra(&*structure, "growths")), (4096.0, 0.0));
    run(&mut *structure, &Frame::new(&table));
    assert_eq!((extra(&*structure, "cells"), extra(&*structure, "growths")), (32_768.0, 1.0));
    run(&mut *structure, &Frame::new(&table[..10]));
    assert_eq!((extra(&*structure, "cells"), extra(&*structure, "occupied")), (32_768.0, 10.0));
    // Equation 3.1.1a for 32 cells per axis, and the array of all inner cells.
    assert_eq!(extra(&*structure, "offset_arrays"), 1.0 + f64::from(2 * 32 * 32 + 2 * 32 * 30 + 2 * 30 * 30));
}

/// Cubes that turn about an axis through their centers: their boxes grow and shrink by up to the root of two.
#[test]
fn changes_of_the_grid_are_rare_when_objects_turn_a_little_in_each_step() {
    let (n, steps) = (2000, 40);
    let mut random = Random(9);
    let mut unit = || f64::from(random.unit_f32());
    let cubes: Vec<([f64; 3], f64, f64)> =
        (0..n).map(|_| ([unit() * 60.0, unit() * 60.0, unit() * 60.0], 1.0 + unit(), unit() * 6.0)).collect();
    let mut structure = build::<3, f64>("hash-grid:paper=true");
    for step in 0..steps {
        let turned = |&(at, edge, angle): &([f64; 3], f64, f64)| {
            let angle = angle + 0.02 * f64::from(step);
            let half = 0.5 * edge * (angle.sin().abs() + angle.cos().abs());
            Aabb::from_center(at, [half, half, 0.5 * edge])
        };
        let table: Vec<Aabb<3, f64>> = cubes.iter().map(turned).collect();
        run(&mut *structure, &Frame::new(&table));
    }
    let share = extra(&*structure, "level_changes") / extra(&*structure, "updated");
    assert!(share > 0.0 && share < 0.02, "{share} of the updates change the grid");
}

#[test]
fn objects_per_cell_and_touched_cells_are_bounded_however_many_objects_there_are() {
    let of = |n: usize| {
        let world = (n as f64).cbrt() * 1.5;
        let table = boxes::<3, f32>(n, world, 1.0, 1.0, &mut Random(n as u64));
        let mut structure = build::<3, f32>("hash-grid:paper=true");
        run(&mut *structure, &Frame::new(&table));
        let before = extra(&*structure, "touched");
        let changes = Changes::Listed { moved: &[7], inserted: &[], removed: &[] };
        let mut moved = table.clone();
        moved[7] = moved[7].translate([3.0; 3]);
        run(&mut *structure, &Frame::new(&moved).with_changes(changes));
        (extra(&*structure, "objects_per_cell"), extra(&*structure, "touched") - before)
    };
    for n in [1000, 8000, 30_000] {
        let (objects, touched) = of(n);
        assert!(objects < 2.5 && touched <= 3.0, "{n}: {objects} per cell, {touched} cells touched by a move");
    }
}

#[test]
fn reinsertion_touches_every_object_and_the_individual_update_only_those_that_moved_on() {
    let table = boxes::<3, f32>(3000, 30.0, 1.0, 1.0, &mut Random(2));
    let moved: Vec<_> = table.iter().map(|value| value.translate([0.05; 3])).collect();
    for listed in [false, true] {
        let ids: Vec<u32> = (0..3000).collect();
        let changes = if listed { Changes::Listed { moved: &ids, inserted: &[], removed: &[] } } else { Changes::Unknown };
        let insertions = |spec: &str| {
            let mut structure = build::<3, f32>(spec);
            run(&mut *structure, &Frame::new(&table));
            let before = extra(&*structure, "insertions");
            run(&mut *structure, &Frame::new(&moved).with_changes(changes));
            extra(&*structure, "insertions") - before
        };
        assert_eq!(insertions("hash-grid-reinsert:paper=true"), 3000.0, "listed: {listed}");
        assert_eq!(insertions("hash-grid-reinsert"), 3000.0, "listed: {listed}");
        assert!(insertions("hash-grid:paper=true") < 600.0, "listed: {listed}");
    }
}

/// Figure 19: as many cells, but along the axis on which the objects are, need fewer tests.
#[test]
fn a_grid_with_the_shape_of_the_world_needs_fewer_tests_than_a_cubic_one() {
    let mut random = Random(8);
    let mut unit = || random.unit_f32();
    let corners: Vec<[f32; 2]> = (0..600).map(|_| [unit() * 600.0, unit() * 4.0]).collect();
    let table: Vec<Aabb<2, f32>> = corners.iter().map(|min| Aabb::new(*min, min.map(|x| x + 1.0))).collect();
    let tests = |dims: &str| {
        let mut structure = build::<2, f32>(&format!("hash-grid:paper=true:threshold=0:density=1:dims={dims}"));
        let found = run(&mut *structure, &Frame::new(&table));
        assert_eq!(extra(&*structure, "cells"), 1024.0);
        found
    };
    let (square, long) = (tests("32x32"), tests("256x4"));
    assert_eq!(square.0, long.0);
    assert!(2 * long.1 < square.1, "{} tests with 256x4 cells, {} with 32x32", long.1, square.1);
}

// Paper 003.

fn balls<const D: usize>(n: usize, random: &mut Random) -> Vec<[f64; D]> {
    let side = (n as f64 / 0.6).powf(1.0 / D as f64);
    (0..n).map(|_| std::array::from_fn(|_| f64::from(random.unit_f32()) * side)).collect()
}

#[test]
fn each_particle_checks_its_neighborhood_from_its_own_side() {
    let points = balls::<2>(1500, &mut Random(4));
    let table: Vec<Aabb<2, f64>> = points.iter().map(|&point| Aabb::from_center(point, [0.5; 2])).collect();
    let frame = Frame { shape: Shape::Ball, ..Frame::new(&table) };
    let tests = |spec: &str| run(&mut *build::<2, f64>(spec), &frame);
    let (paper, own) = (tests("particle-grid:paper=true"), tests("particle-grid"));
    assert!(paper.0 == own.0);
    // Nine cells with 0.6 particles each, in both directions.
    assert!(paper.1 > own.1 && paper.1 < 1500 * 9, "{} tests, {} with ours", paper.1, own.1);
    // Two cells that share a slice cost an unnecessary check, and no pair is reported twice.
    let hashed = tests("particle-grid:paper=true:grid=hashed");
    assert!(
        hashed.0 == paper.0 && hashed.1 > paper.1 && hashed.1 < 3 * paper.1,
        "{} tests, {} without collisions",
        hashed.1,
        paper.1
    );
}

fn separates<const D: usize>(storage: Storage) {
    let mut points = balls::<D>(400, &mut Random(6));
    points[1] = points[0]; // in one place
    let center = |points: &[[f64; D]]| -> [f64; D] { std::array::from_fn(|k| points.iter().map(|point| point[k]).sum::<f64>()) };
    let before = center(&points);
    let mut grid = ParticleGrid::new(0.5, Options { storage, ..Options::default() }).unwrap();
    let first = grid.separate(&mut points, &Context::new()).unwrap();
    assert!(first.pushed > 50 && first.deepest > 0.9, "{first:?}");
    let mut last = first;
    for _ in 0..400 {
        last = grid.separate(&mut points, &Context::new()).unwrap();
        if last.deepest < 1e-9 {
            break;
        }
    }
    assert!(last.deepest < 1e-3, "{last:?} after {first:?}");
    let nearest = |i: usize| {
        let distance = |j: &usize| (0..D).map(|k| (points[i][k] - points[*j][k]).powi(2)).sum::<f64>().sqrt();
        (0..i).map(|j| distance(&j)).fold(f64::INFINITY, f64::min)
    };
    assert!((0..points.len()).all(|i| nearest(i) > 0.999), "no two overlap, by a double loop");
    // Both of a pair are pushed by the same distance: the center of mass stays.
    let after = center(&points);
    assert!((0..D).all(|k| (after[k] - before[k]).abs() < 1e-6 * points.len() as f64));
}

#[test]
fn overlapping_particles_are_pushed_apart_equally_until_none_overlap() {
    for storage in [Storage::Dense, Storage::Hashed { hash: Default::default(), slots: None }] {
        separates::<2>(storage);
        separates::<3>(storage);
    }
}

#[test]
fn separation_across_the_border_of_a_world_that_repeats_goes_the_short_way() {
    let world = Aabb::new([0.0f64; 2], [8.0; 2]);
    let mut grid = ParticleGrid::new(0.5, Options { world: Some(world), periodic: true, ..Options::default() }).unwrap();
    let mut points = [[0.1, 4.0], [7.9, 4.0]];
    assert_eq!(grid.separate(&mut points, &Context::new()).unwrap().pushed, 1);
    assert!((points[0][0] - 0.5).abs() < 1e-12 && (points[1][0] - 7.5).abs() < 1e-12, "{points:?}");
}

// Paper 004.

#[test]
fn the_octree_tests_all_nodes_below_an_object_and_our_own_only_those_that_its_box_reaches() {
    let table = boxes::<3, f32>(2000, 1000.0, 1.0, 100.0, &mut Random(12));
    let probes = |spec: &str| {
        let mut structure = build::<3, f32>(spec);
        let (mut store, frame) = (PairStore::new(Report::All), Frame::new(&table));
        run(&mut *structure, &frame);
        let probes = broadphase::Probes { boxes: &table[..400], ids: None, recurring: false };
        structure.probe(&frame, probes, &mut Context::new(), &mut store).unwrap();
        (store.sorted(), store.tests())
    };
    let [naive, paper, own, grid] =
        ["brute-force:paper=true", "octree:paper=true", "octree", "level-grid:paper=true"].map(probes);
    assert!(naive.0 == paper.0 && paper.0 == own.0 && own.0 == grid.0);
    assert_eq!(naive.1, 400 * 2000);
    // What pruning by region saves; and the order of the paper: naive, octree, grid.
    assert!(4 * own.1 < 3 * paper.1, "{} tests, {} with pruning", paper.1, own.1);
    assert!(grid.1 < paper.1 && paper.1 < naive.1, "{} {} {}", grid.1, paper.1, naive.1);
}

#[test]
fn one_by_one_searches_test_a_pair_from_both_sides() {
    let table = boxes::<2, f64>(300, 40.0, 0.1, 4.0, &mut Random(13));
    assert_eq!(run(&mut *build::<2, f64>("brute-force:paper=true"), &Frame::new(&table)).1, 300 * 299);
    let [paper, own] =
        ["octree:paper=true:depth=1", "octree:depth=1"].map(|spec| run(&mut *build::<2, f64>(spec), &Frame::new(&table)));
    assert_eq!((paper.0, paper.1), (own.0, 2 * own.1));
}

#[test]
fn the_octree_inserts_every_mover_again_and_the_grid_only_those_that_changed_their_section() {
    let table = boxes::<3, f32>(1000, 1000.0, 1.0, 100.0, &mut Random(14));
    let moved: Vec<_> = table.iter().map(|value| value.translate([0.5; 3])).collect();
    let count = |spec: &str, name: &str| {
        let mut structure = build::<3, f32>(spec);
        run(&mut *structure, &Frame::new(&table));
        run(&mut *structure, &Frame::new(&moved));
        extra(&*structure, name)
    };
    let world = "world=-600/-600/-600/700/700/700";
    assert_eq!(count(&format!("octree:paper=true:{world}"), "reinsertions"), 1000.0);
    assert!(count(&format!("octree:{world}"), "reinsertions") < 200.0);
    assert!(count(&format!("level-grid:paper=true:{world}"), "section_changes") < 200.0);
}

#[test]
fn removal_passes_half_of_the_naive_list_much_of_a_node_and_little_of_a_section() {
    let n = 2000u32;
    let table = boxes::<3, f32>(n as usize, 1000.0, 1.0, 100.0, &mut Random(15));
    let passed = |spec: &str| {
        let mut structure = build::<3, f32>(spec);
        run(&mut *structure, &Frame::new(&table));
        let mut live = vec![!0u64; table.len().div_ceil(64)];
        let removed: Vec<u32> = (0..n).step_by(20).collect();
        removed.iter().for_each(|&id| live[id as usize / 64] &= !(1 << (id % 64)));
        let frame = Frame { live: Live::Bits(&live), ..Frame::new(&table) };
        run(&mut *structure, &frame.with_changes(Changes::Listed { moved: &[], inserted: &[], removed: &removed }));
        extra(&*structure, "passed_in_removal") / removed.len() as f64
    };
    let [naive, tree, grid] = ["brute-force:paper=true", "octree:paper=true", "level-grid:paper=true"].map(passed);
    assert!((900.0..1100.0).contains(&naive), "{naive}");
    assert!(tree < naive / 5.0 && 2.0 * grid < tree && grid >= 1.0, "{naive} {tree} {grid}");
    assert_eq!([passed("octree"), passed("level-grid")], [0.0, 0.0], "ours do not search");
}
