//! Random decompositions, shrunk to a small failing case.

mod support;

use broadphase::Aabb;
use broadphase_mpi::{Options, Reporting};
use proptest::prelude::*;
use support::{Drive, Scene, check};

/// One object in one frame: where it is, how large, and whose.
type Object = ((i8, i8, i8), (u8, u8, u8), usize);

fn side(code: u8) -> f32 {
    match code {
        0 => f32::INFINITY,
        1 => 1000.0,
        2..8 => 0.0,
        _ => f32::from(code % 8) * 0.5,
    }
}

fn scene(objects: &[Option<Object>], ranks: usize) -> Scene<3, f32> {
    let aabb = |&(at, sizes, _): &Object| {
        let min = [f32::from(at.0) * 0.5, f32::from(at.1) * 0.5, f32::from(at.2) * 0.5];
        let size = [side(sizes.0), side(sizes.1), side(sizes.2)];
        Aabb::new(min, std::array::from_fn(|k| min[k] + size[k]))
    };
    Scene {
        boxes: objects.iter().map(|object| object.as_ref().map(aabb)).collect(),
        owners: objects.iter().map(|object| object.map_or(0, |object| object.2 % ranks)).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_decomposition_of_anything_has_the_pairs_of_one_process(
        ranks in 1usize..=16,
        both in any::<bool>(),
        drive in prop::sample::select(vec![Drive::Table, Drive::Arrays, Drive::List]),
        boxes in 1usize..=64,
        frames in prop::collection::vec(
            prop::collection::vec(
                prop::option::weighted(0.9, (
                    (-12i8..12, -12i8..12, -4i8..4),
                    (0u8..60, 0u8..60, 0u8..60),
                    0usize..16,
                )),
                40,
            ),
            1..4,
        ),
        domain in prop::collection::vec((-12i8..12, 0u8..12), 16),
    ) {
        let scenes: Vec<Scene<3, f32>> = frames.iter().map(|frame| scene(frame, ranks)).collect();
        let reporting = if both { Reporting::Both } else { Reporting::Once };
        let options = Options::default().with_events().with_reporting(reporting).with_boxes(boxes);
        // Domains that overlap, leave gaps, and have nothing to do with where objects are.
        let inf = f32::INFINITY;
        let slab = |&(at, size): &(i8, u8)| Aabb::new([f32::from(at), -inf, -inf], [f32::from(at) + f32::from(size), inf, inf]);
        let domains: Vec<_> = domain.iter().map(slab).collect();
        check(ranks, &options, drive, &scenes, &domains);
    }
}
