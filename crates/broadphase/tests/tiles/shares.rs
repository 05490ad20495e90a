//! What a frame costs when a share of the objects changes: counted tests, and the order of probes.

use super::*;

/// A frame in which no tags can pair makes no tests, which says nothing about the tiles. Objects have shifted a little since space was cut, so that
/// another cut would be seen.
fn frames_without_pairs_by_tags<const D: usize, T: Real>(side: f32) {
    let mut random = Random(41);
    let mut boxes = spread::<D>(6000, side, &mut random);
    let (pairing, apart) = (vec![Tag::new(1, 1); boxes.len()], vec![Tag::new(1, 2); boxes.len()]);
    let (mut tiles, mut context, mut store) = (build::<D, T>("tiles:target=500"), Context::new(), PairStore::default());
    let mut show = |boxes: &[Aabb<D, f32>], tags: &[Tag]| {
        let convert = |b: &Aabb<D, f32>| Aabb::new(b.min.map(|x| T::from_f64(x.into())), b.max.map(|x| T::from_f64(x.into())));
        let boxes: Vec<Aabb<D, T>> = boxes.iter().map(convert).collect();
        let frame = Frame { tags: Some(tags), ..Frame::new(&boxes) };
        step(&mut *tiles, &frame, &mut context, &mut store).unwrap();
        let mut outlines = Vec::new();
        tiles.outline(&frame, &mut |tile| outlines.push(tile.bounds.min));
        (store.tests(), outlines)
    };
    (0..6).for_each(|_| _ = show(&boxes, &pairing));
    shift(&mut boxes, 0.1, &mut random);
    let (tests, outlines) = show(&boxes, &pairing);
    assert!(tests > 40 * 6000, "many tests: {tests}");
    assert_eq!(show(&boxes, &apart).0, 0);
    for again in 0..4 {
        assert!(show(&boxes, &pairing).1 == outlines, "{D}D, frame {again} after the one without pairs");
    }
}

#[test]
fn a_frame_whose_tags_cannot_pair_does_not_make_the_next_one_repartition() {
    frames_without_pairs_by_tags::<3, f32>(11.0);
    frames_without_pairs_by_tags::<2, f64>(22.0);
}

/// At 5,120 and 5,248 slots, samples have the same length but hold other objects.
#[test]
fn a_sample_is_compared_with_the_same_objects_when_slots_are_added() {
    let mut random = Random(42);
    let boxes = spread::<3>(5248, 60.0, &mut random);
    let (mut tiles, mut context, mut store) = (build::<3, f32>("tiles"), Context::new(), PairStore::default());
    let mut tests = Vec::new();
    for slots in [5120, 5248, 5248] {
        step(&mut *tiles, &Frame::new(&boxes[..slots]), &mut context, &mut store).unwrap();
        tests.push(store.tests());
    }
    assert_eq!(tests[2], 0, "nothing has moved for two frames: {tests:?}");
}

/// The list of a probe is the same however often it is repeated, in a clone, and in threads that probe at the same time.
fn probes_repeated<const D: usize, T: Real>(side: f32) {
    let mut random = Random(43);
    let convert = |boxes: Vec<Aabb<D, f32>>| -> Vec<Aabb<D, T>> {
        boxes.iter().map(|b| Aabb::new(b.min.map(|x| T::from_f64(x.into())), b.max.map(|x| T::from_f64(x.into())))).collect()
    };
    let boxes = convert(spread::<D>(8000, side, &mut random));
    let probes = convert(spread::<D>(3000, side, &mut random));
    let mut tiles = build::<D, T>("tiles:target=300");
    let (mut context, mut store) = (Context::new(), PairStore::default());
    let frame = Frame::new(&boxes);
    tiles.update(&frame, &mut context).unwrap();
    let list = |tiles: &dyn BroadPhase<D, T>| {
        let (mut context, mut store) = (Context::new(), PairStore::default());
        tiles.probe(&frame, Probes { boxes: &probes, ids: None, recurring: false }, &mut context, &mut store).unwrap();
        store.to_vec()
    };
    let first = list(&*tiles);
    assert!(first.len() > 1000);
    for time in 0..5 {
        assert!(list(&*tiles) == first, "{D}D, repetition {time}");
        let copy = tiles.boxed_clone();
        assert!(list(&*copy) == first, "{D}D, clone after repetition {time}");
    }
    tiles.update(&frame.with_changes(Changes::All), &mut context).unwrap();
    step(&mut *tiles, &frame.with_changes(Changes::All), &mut context, &mut store).unwrap();
    // Updates change the order of the records, and with it that of the list.
    let tiles = &*tiles;
    let second = list(tiles);
    let sorted = |mut list: Vec<Pair>| {
        list.sort_unstable();
        list
    };
    assert!(sorted(second.clone()) == sorted(first), "{D}D, after updates");
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(move || list(tiles))).collect();
        for thread in threads {
            assert!(thread.join().unwrap() == second, "{D}D, in threads");
        }
    });
}

#[test]
fn the_order_of_a_probes_results_does_not_depend_on_probes_before_it() {
    probes_repeated::<3, f32>(22.0);
    probes_repeated::<2, f64>(80.0);
}

/// Patches of a mesh, each at a place of its own: `at` gives the place of a patch. The faces of a patch are neighbors in the list.
fn patches<const D: usize, T: Real>(n: usize, at: impl Fn(usize) -> [f32; D]) -> Vec<Aabb<D, T>> {
    let face = |i: usize| {
        let (corner, within) = (at(i / 300), [(i % 300 % 20) as f32 * 0.5, (i % 300 / 20) as f32 * 0.5, 0.0]);
        let low: [f32; D] = std::array::from_fn(|k| corner[k] + within[k]);
        Aabb::new(low.map(|x| T::from_f64(x.into())), low.map(|x| T::from_f64(f64::from(x) + 0.55)))
    };
    (0..n).map(face).collect()
}

/// After a jump, records are written in order, as by a new structure: relocating them one by one would fill a list as long as the records, and
/// leave holes between them. The tests of the frames that follow are a new structure's too.
fn a_jump_of_clusters<const D: usize, T: Real>(n: usize, side: f32) {
    let mut random = Random(44);
    let mut place = || -> Vec<[f32; D]> { (0..=n / 300).map(|_| std::array::from_fn(|_| random.unit_f32() * side)).collect() };
    let (from, to) = (place(), place());
    let (mut tiles, mut context, mut store) = (build::<D, T>("tiles"), Context::new(), PairStore::default());
    for round in 0..8 {
        let (at, drift) = (if round < 2 { &from } else { &to }, round as f32 * 0.01);
        let boxes = patches::<D, T>(n, |patch| at[patch].map(|x| x + drift));
        let frame = Frame::new(&boxes);
        step(&mut *tiles, &frame, &mut context, &mut store).unwrap();
        let (mut fresh, mut fresh_store) = (build::<D, T>("tiles"), PairStore::default());
        step(&mut *fresh, &frame, &mut context, &mut fresh_store).unwrap();
        assert!(store.sorted() == fresh_store.sorted(), "{D}D, round {round}");
        let (tests, expected) = (store.tests(), fresh_store.tests());
        assert!(5 * tests <= 6 * expected, "{D}D, round {round}: {tests} tests, {expected} by a new structure");
        let (bytes, expected) = (tiles.stats().bytes, fresh.stats().bytes);
        assert!(5 * bytes <= 6 * expected, "{D}D, round {round}: {bytes} bytes, {expected} in a new structure");
    }
}

#[test]
fn a_jump_of_clusters_writes_records_in_order_instead_of_relocating_them() {
    a_jump_of_clusters::<3, f32>(40_000, 90.0);
    a_jump_of_clusters::<2, f64>(30_000, 300.0);
}

/// The tests per frame when a share of the objects moves, other ones each frame, and the caller does not tell which.
fn tests_by_share<const D: usize, T: Real>(n: usize, side: f32, share: usize) -> u64 {
    let mut random = Random(45);
    let mut boxes: Vec<Aabb<D, T>> = spread::<D>(n, side, &mut random)
        .iter()
        .map(|b| Aabb::new(b.min.map(|x| T::from_f64(x.into())), b.max.map(|x| T::from_f64(x.into()))))
        .collect();
    let (mut tiles, mut context, mut store) = (build::<D, T>("tiles"), Context::new(), PairStore::default());
    let mut tests = 0;
    for _ in 0..24 {
        for b in &mut boxes {
            if random.below(1000) < share as u64 {
                *b = b.translate(std::array::from_fn(|_| T::from_f64(f64::from(random.unit_f32() - 0.5) * 0.2)));
            }
        }
        step(&mut *tiles, &Frame::new(&boxes), &mut context, &mut store).unwrap();
        tests += store.tests();
    }
    tests
}

/// With a tenth of the objects moving, keeping the pairs of the others costs more than finding all of them again, if those take few tests per
/// object; if they take many, keeping them pays.
#[test]
fn a_tenth_that_moves_is_joined_with_the_rest_where_a_full_join_makes_few_tests() {
    let (few, all) = (tests_by_share::<3, f32>(16_000, 43.0, 100), tests_by_share::<3, f32>(16_000, 43.0, 1000));
    assert!(10 * few > 9 * all, "{few} tests with a tenth moving, {all} with all");
    let (few, all) = (tests_by_share::<3, f32>(16_000, 16.0, 100), tests_by_share::<3, f32>(16_000, 16.0, 1000));
    assert!(2 * few < all, "{few} tests with a tenth moving, {all} with all, which are many");
    let (few, all) = (tests_by_share::<2, f64>(16_000, 200.0, 10), tests_by_share::<2, f64>(16_000, 200.0, 1000));
    assert!(2 * few < all, "{few} tests with one in a hundred moving, {all} with all");
}
