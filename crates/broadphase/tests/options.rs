//! Options: what the list shows is what counts, and values that no text could give do no harm.

use broadphase::algorithms::baselines::{dbvt, grid_sap};
use broadphase::algorithms::{COMMON_OPTIONS, hash_grid, kd_tree, level_grid, list, octree, tiles};
use broadphase::{Aabb, BroadPhase, Context, Frame, PairStore, Spec, Strength, pairs, step};

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
        finds_all("grid-sap", Box::new(grid_sap::GridSap::new(grid_sap::Options { cells: number })));
        for split in [0, number] {
            finds_all("octree", Box::new(octree::Octree::new(octree::Options { depth: number, split })));
        }
        for share in [f64::NAN, -1.0, 0.0, 1e300, f64::INFINITY] {
            let options = level_grid::Options { levels: number, ratio: share };
            finds_all("level-grid", Box::new(level_grid::LevelGrid::new(options)));
            for mode in [dbvt::Mode::Eager, dbvt::Mode::Deferred] {
                finds_all("dbvt", Box::new(dbvt::Dbvt::new(dbvt::Options { mode, margin: share })));
            }
            let options = kd_tree::Options {
                threshold: number,
                adaptive_percent: share,
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
