//! Options: what the list shows is what counts, and values that no text could give do no harm.

use broadphase::algorithms::baselines::{dbvt, grid_sap};
use broadphase::algorithms::{COMMON_OPTIONS, hash_grid, kd_tree, level_grid, list, octree, particle_grid, sweep, tiles};
use broadphase::{Aabb, BroadPhase, Context, Error, Frame, PairStore, Spec, Strength, pairs, step};

/// Cubes of several sizes at random places.
fn crowd() -> Vec<Aabb<3, f32>> {
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let mut cube = || {
        let (min, size) = ([random() * 20.0, random() * 20.0, random() * 20.0], 0.2 + 2.0 * random() * random());
        Aabb::new(min, min.map(|x| x + size))
    };
    (0..1500).map(|_| cube()).collect()
}

fn finds_all(name: &str, mut structure: Box<dyn BroadPhase<3, f32>>) {
    let boxes = crowd();
    let (frame, mut store) = (Frame::new(&boxes), PairStore::default());
    step(&mut *structure, &frame, &mut Context::new(), &mut store).unwrap();
    structure.validate(&frame, Strength::Geometry).unwrap();
    let mut expected = pairs(&boxes).unwrap();
    expected.sort_unstable();
    assert!(expected.len() > 100 && store.sorted() == expected, "{name}");
}

#[test]
fn every_default_that_the_list_shows_is_a_value_that_the_option_takes() {
    for descriptor in list() {
        for option in descriptor.options.iter().chain(COMMON_OPTIONS) {
            let text = format!("{}:{}={}", descriptor.name, option.name, option.default);
            let spec: Result<Spec, _> = text.parse();
            assert!(spec.is_ok(), "{text}: {}", spec.unwrap_err());
        }
    }
}

#[test]
fn options_outside_their_range_count_as_the_nearest_value_inside() {
    for number in [0, 1, usize::MAX] {
        finds_all("tiles", Box::new(tiles::Tiles::new(tiles::Options { target: number, coherence: true })));
        finds_all("grid-sap", Box::new(grid_sap::GridSap::new(grid_sap::Options { cells: number, resweep: false })));
        finds_all("grid-sap", Box::new(grid_sap::GridSap::new(grid_sap::Options { cells: number, resweep: true })));
        for split in [0, number] {
            finds_all("octree", Box::new(octree::Octree::new(octree::Options { depth: number, split, paper: false })));
        }
        for share in [f64::NAN, -1.0, 0.0, 1e300, f64::INFINITY] {
            let options = level_grid::Options { levels: number, ratio: share, paper: false };
            finds_all("level-grid", Box::new(level_grid::LevelGrid::new(options)));
            for mode in [dbvt::Mode::Eager, dbvt::Mode::Deferred] {
                finds_all("dbvt", Box::new(dbvt::Dbvt::new(dbvt::Options { mode, margin: share })));
            }
            let options = kd_tree::Options {
                threshold: number,
                adaptive_percent: Some(share),
                epsilon: share,
                ..kd_tree::Options::new(kd_tree::Variant::Adaptive)
            };
            finds_all("kd-tree", Box::new(kd_tree::KdTree::new(options)));
            let options = hash_grid::Options {
                factor: share,
                dims: [number as u32, 0, 7],
                density: number as u32,
                threshold: 0,
                capacity: number,
                shapes: number,
                merge: share,
                ..hash_grid::Options::default()
            };
            finds_all("hash-grid", Box::new(hash_grid::HashGrid::new(options)));
        }
    }
}

/// Typed options are the spec that this text is read as, and both build.
fn assert_typed(options: impl Into<Spec>, text: &str) {
    let spec = options.into();
    assert_eq!(spec.to_string(), text);
    assert_eq!(spec, text.parse().unwrap());
    spec.build::<3, f32>().unwrap();
}

#[test]
fn typed_options_are_the_text_that_says_the_same() {
    assert_typed(tiles::Options { target: 77, coherence: false }, "tiles:target=77:coherence=false");
    assert_typed(tiles::Options::default(), "tiles");
    for (variant, name) in [(kd_tree::Variant::Adaptive, "kd-tree"), (kd_tree::Variant::Incremental, "kd-tree-incremental")] {
        let pruning = kd_tree::Pruning::SweepOnly;
        let options = kd_tree::Options { threshold: 9, epsilon: 0.125, pruning, ..kd_tree::Options::new(variant) };
        assert_typed(options, &format!("{name}:t=9:mode=sweep:epsilon=0.125"));
        assert_typed(kd_tree::Options::new(variant), name);
        assert_typed(kd_tree::Options { paper: true, ..kd_tree::Options::new(variant) }, &format!("{name}:paper=true"));
    }
    let options = hash_grid::Options { factor: 3.5, base: Some(0.7), dims: [64, 16, 4], merge: 0.0, ..Default::default() };
    assert_typed(options.clone(), "hash-grid:factor=3.5:base=0.7:dims=64x16x4:merge=0");
    let strategy = hash_grid::Strategy::Reinsert;
    assert_typed(hash_grid::Options { strategy, dims: [8; 3], ..Default::default() }, "hash-grid-reinsert:dims=8");
    assert_typed(hash_grid::Options::default(), "hash-grid");
    assert_typed(octree::Options { depth: 6, split: 0, paper: false }, "octree:depth=6");
    assert_typed(octree::Options { paper: true, ..Default::default() }, "octree:paper=true");
    assert_typed(octree::Options { depth: 4, split: 9, paper: false }, "octree:depth=4:split=9"); // with a split, 12 is the default
    assert_typed(level_grid::Options { levels: 3, ratio: 0.5, paper: true }, "level-grid:levels=3:ratio=0.5:paper=true");
    assert_typed(dbvt::Options { mode: dbvt::Mode::Deferred, margin: 0.25 }, "dbvt-d:margin=0.25");
    assert_typed(grid_sap::Options { cells: 7, resweep: false }, "grid-sap:cells=7");
    assert_typed(grid_sap::Options { cells: 0, resweep: true }, "grid-sap:resweep=true");
    let options = sweep::Options { partitions: 3, swap: false, threshold: 0.25, patrol: 0, ..Default::default() };
    assert_typed(options, "sweep:partitions=3:swap=off:threshold=0.25:patrol=0");
    let options = sweep::Options { axes: Some([1, 0]), path: sweep::Path::Parallel, ..Default::default() };
    assert_typed(sweep::Options { active: sweep::Active::Tree, ..options }, "sweep:axes=yx:path=parallel:active=tree");
    assert_typed(sweep::Options::default(), "sweep");
    assert_typed(particle_grid::Storage::Dense, "particle-grid");
    let storage = particle_grid::Storage::Hashed { hash: particle_grid::Hash::Modular, slots: None };
    assert_typed(storage, "particle-grid:grid=hashed:hash=modular");
}

#[test]
fn a_typed_value_out_of_range_is_an_error_when_the_structure_is_built() {
    let spec = Spec::from(broadphase::algorithms::tiles::Options { target: 3, ..Default::default() });
    assert!(matches!(spec.build::<2, f32>(), Err(Error::InvalidOption { option: "target", .. })));
    let mut world = broadphase::World2::new();
    assert!(matches!(world.set_algorithm(&spec), Err(Error::InvalidOption { option: "target", .. })));
    assert_eq!(world.algorithm(), &Spec::default(), "the world is unchanged");
}
