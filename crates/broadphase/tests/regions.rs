//! The regions that a structure reports, and the tests made in each.
#![cfg(feature = "papers")]

use std::time::Duration;

use broadphase::{Aabb, Context, Frame, Outline, PairStore, Region, Report, Spec, step};

/// A crowded corner and a sparse rest, so that regions differ in cost.
fn boxes() -> Vec<Aabb<3, f32>> {
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    let mut corner = |side: f32| Aabb::point([random() * side, random() * side, random() * side]).grow(0.5);
    (0..20_000).map(|i| corner(if i % 2 == 0 { 20.0 } else { 200.0 })).collect()
}

fn look(algorithm: &str, context: &mut Context) -> (Vec<Region<3, f32>>, PairStore) {
    let boxes = boxes();
    let (mut structure, mut store) = (algorithm.parse::<Spec>().unwrap().build().unwrap(), PairStore::new(Report::Both));
    step(&mut *structure, &Frame::new(&boxes), context, &mut store).unwrap();
    let mut regions = Vec::new();
    structure.outline(&Frame::new(&boxes), &mut |region| regions.push(region));
    (regions, store)
}

#[test]
fn the_tests_of_all_regions_are_those_of_the_frame() {
    for (algorithm, kind) in [("auto", Outline::Tile), ("tiles:target=100", Outline::Tile), ("kd-tree-complete", Outline::Node)] {
        let (regions, store) = look(algorithm, &mut Context::new());
        assert!(regions.len() > 10 && regions.iter().all(|region| region.kind == kind), "{algorithm}");
        let tests: Vec<u64> = regions.iter().map(|region| store.chunk_tests(region.chunk.unwrap())).collect();
        assert_eq!(tests.iter().sum::<u64>(), store.tests(), "{algorithm}");
        assert!(tests.iter().any(|&count| count > 0), "{algorithm}");
    }
}

#[test]
fn a_chunk_that_does_not_exist_made_no_test() {
    let (_, store) = look("tiles", &mut Context::new());
    assert_eq!(store.chunk_tests(usize::MAX), 0);
}

#[test]
fn events_are_timed_only_on_request() {
    assert_eq!(look("tiles", &mut Context::new()).1.event_time(), Duration::ZERO);
    assert!(look("tiles", &mut Context::new().with_timing()).1.event_time() > Duration::ZERO);
}
