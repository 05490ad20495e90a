//! `tiles` from frame to frame: records rewritten in place, in many blocks, through jumps, clusters, insertions and removals.

mod axis_motion;
mod listed;
mod shares;

use broadphase::{
    Aabb, BroadPhase, Changes, Context, Frame, Isa, Kernels, Live, Pair, PairStore, Probes, Real, Spec, Strength, Tag, Threads,
    step,
};
use broadphase_testing::Random;

/// Boxes of edge 1 in a cube of side `side`.
fn spread<const D: usize>(n: usize, side: f32, random: &mut Random) -> Vec<Aabb<D, f32>> {
    random.unit_cubes(n, side)
}

fn build<const D: usize, T: Real>(spec: &str) -> Box<dyn BroadPhase<D, T>> {
    spec.parse::<Spec>().unwrap().build().unwrap()
}

/// The structure under test, under several instruction sets and numbers of threads at once, against another algorithm.
struct Run<const D: usize, T: Real = f32> {
    runs: Vec<(Box<dyn BroadPhase<D, T>>, Context, PairStore)>,
    other: (Box<dyn BroadPhase<D, T>>, Context, PairStore),
}

impl<const D: usize, T: Real> Run<D, T> {
    fn new() -> Self {
        Self::of("tiles")
    }

    fn of(spec: &str) -> Self {
        let contexts = Isa::available().map(|isa| Context::new().with_kernels(Kernels::new(isa).unwrap()));
        let threads = [2, 3].map(|count| Context::new().with_executor(Threads::new(count).unwrap()));
        let runs = contexts.chain(threads).map(|context| (build(spec), context, PairStore::default())).collect();
        Self { runs, other: (build("sort-and-sweep"), Context::new(), PairStore::default()) }
    }

    /// One frame: the same list everywhere, the set of the other algorithm, and every record where it belongs.
    fn frame(&mut self, frame: &Frame<'_, D, T>, what: &str) {
        let (other, context, store) = &mut self.other;
        step(&mut **other, &frame.with_changes(Changes::All), context, store).unwrap();
        let expected: Vec<Pair> = store.sorted();
        let mut list: Option<Vec<Pair>> = None;
        for (index, (structure, context, store)) in self.runs.iter_mut().enumerate() {
            step(&mut **structure, frame, context, store).unwrap();
            structure.validate(frame, Strength::Geometry).unwrap_or_else(|e| panic!("{what}, run {index}: {e}"));
            assert!(store.sorted() == expected, "{what}, run {index}: other pairs");
            let pairs: Vec<Pair> = store.to_vec();
            assert!(*list.get_or_insert_with(|| pairs.clone()) == pairs, "{what}, run {index}: another order");
        }
    }
}

/// The same boxes in `f32` and in `f64`, whose records are made in different registers.
struct Both<const D: usize>(Run<D, f32>, Run<D, f64>);

impl<const D: usize> Both<D> {
    fn of(spec: &str) -> Self {
        Self(Run::of(spec), Run::of(spec))
    }

    fn frame(&mut self, boxes: &[Aabb<D, f32>], what: &str) {
        self.0.frame(&Frame::new(boxes), what);
        self.1.frame(&Frame::new(&widen(boxes)), &format!("{what}, f64"));
    }

    fn refuses(&mut self, boxes: &[Aabb<D, f32>]) {
        self.0.runs.iter_mut().for_each(|(tiles, context, _)| assert!(tiles.update(&Frame::new(boxes), context).is_err()));
        let boxes = widen(boxes);
        self.1.runs.iter_mut().for_each(|(tiles, context, _)| assert!(tiles.update(&Frame::new(&boxes), context).is_err()));
    }
}

fn widen<const D: usize>(boxes: &[Aabb<D, f32>]) -> Vec<Aabb<D, f64>> {
    boxes.iter().map(|b| Aabb::new(b.min.map(f64::from), b.max.map(f64::from))).collect()
}

fn shift<const D: usize>(boxes: &mut [Aabb<D, f32>], by: f32, random: &mut Random) {
    for b in boxes {
        *b = b.translate(std::array::from_fn(|_| (random.unit_f32() - 0.5) * by));
    }
}

#[test]
fn frames_of_many_blocks_agree_while_objects_walk_jump_and_gather() {
    let mut random = Random(1);
    let mut boxes = spread::<3>(70_000, 150.0, &mut random);
    let mut run = Run::new();
    run.frame(&Frame::new(&boxes), "first");
    for round in 0..3 {
        shift(&mut boxes, 0.3, &mut random);
        run.frame(&Frame::new(&boxes), &format!("walk {round}"));
    }
    boxes = spread(70_000, 150.0, &mut random);
    run.frame(&Frame::new(&boxes), "all jump");
    shift(&mut boxes, 0.3, &mut random);
    run.frame(&Frame::new(&boxes), "walk after the jump");
    for round in 0..3 {
        // A tenth of the way to a place near a corner: runs there overflow and move.
        boxes.iter_mut().step_by(2).for_each(|b| *b = b.translate(std::array::from_fn(|k| (20.0 - b.min[k]) * 0.1)));
        run.frame(&Frame::new(&boxes), &format!("gather {round}"));
    }
}

/// The lattice follows the common motion; an object that flies far off on its own, and a few that stay behind, are still found.
fn clusters_that_spread_and_gather<const D: usize>(n: usize, seed: u64) {
    let mut random = Random(seed);
    let mut boxes = spread::<D>(n, 30.0, &mut random);
    let mut run = Both::of("tiles:target=200");
    for round in 0..30 {
        run.frame(&boxes, &format!("{D}D, round {round}"));
        let factor = if round < 15 { 1.15 } else { 0.8 };
        for (id, b) in boxes.iter_mut().enumerate().filter(|(id, _)| !id.is_multiple_of(50)) {
            let by = std::array::from_fn(|k| (b.min[k] - 10.0) * (factor - 1.0) + 0.05 * random.unit_f32());
            *b = b.translate(if id == 7 { [1e5; D] } else { by });
        }
    }
}

#[test]
fn clusters_that_spread_and_gather_agree_in_space_and_plane() {
    clusters_that_spread_and_gather::<3>(4000, 21);
    clusters_that_spread_and_gather::<2>(3000, 22);
}

/// Records stay in place as long as each of them finds that the object ends on its tile's sides as before. If that local check were not enough,
/// an object would be missing in a tile.
fn objects_that_reach_many_tiles_stay_in_exactly_those<const D: usize>(seed: u64, n: usize, side: f32) {
    let mut random = Random(seed);
    let mut boxes = spread::<D>(n, side, &mut random);
    let size = |random: &mut Random| 0.2 * 40f32.powf(random.unit_f32() * random.unit_f32());
    boxes.iter_mut().for_each(|b| b.max = b.min.map(|x| x + size(&mut random)));
    let mut run = Both::of("tiles:target=16");
    for round in 0..25 {
        run.frame(&boxes, &format!("round {round}"));
        // Small steps and large ones, along one axis and along all; a few objects change their size.
        let step = [0.02, 0.3, 2.0][round % 3];
        for b in &mut boxes {
            let axis = random.below(2 * D as u64) as usize;
            let by = std::array::from_fn(|k| if axis == k || axis >= D { (random.unit_f32() - 0.5) * step } else { 0.0 });
            *b = b.translate(by);
            if random.below(50) == 0 {
                b.max = b.min.map(|x| x + size(&mut random));
            }
        }
    }
}

#[test]
fn objects_that_reach_many_tiles_stay_in_exactly_those_in_space_and_plane() {
    objects_that_reach_many_tiles_stay_in_exactly_those::<3>(7, 3000, 25.0);
    objects_that_reach_many_tiles_stay_in_exactly_those::<2>(8, 3000, 80.0);
}

/// Bricks that touch, overlap or miss each other by less than the resolution of records: nearly every candidate is decided by the boxes.
fn bricks_side_by_side<const D: usize, T: Real>(spec: &str, side: usize, seed: u64) {
    let (mut random, mut run) = (Random(seed), Run::<D, T>::of(spec));
    let place = |index: usize, axis: usize| (index / side.pow(axis as u32) % side) as f64;
    for jitter in [0.0, 1e-6, 1e-4, 3e-4, 0.0] {
        let brick = |index: usize| {
            let at: [f64; D] = std::array::from_fn(|axis| place(index, axis) + jitter * (f64::from(random.unit_f32()) - 0.5));
            Aabb::new(at.map(T::from_f64), at.map(|x| T::from_f64(x + 1.0)))
        };
        let boxes: Vec<Aabb<D, T>> = (0..side.pow(D as u32)).map(brick).collect();
        run.frame(&Frame::new(&boxes), &format!("{spec}, {D}D, jitter {jitter}"));
    }
}

#[test]
fn bricks_side_by_side_are_decided_by_their_boxes_in_space_and_plane() {
    for spec in ["tiles", "tiles:target=32"] {
        bricks_side_by_side::<3, f32>(spec, 16, 11);
        bricks_side_by_side::<2, f32>(spec, 64, 12);
        bricks_side_by_side::<3, f64>(spec, 16, 13);
        bricks_side_by_side::<2, f64>(spec, 64, 14);
    }
}

#[test]
fn a_few_movers_leave_the_records_of_others_alone() {
    let mut random = Random(2);
    let mut boxes = spread::<2>(40_000, 300.0, &mut random);
    let mut run = Run::new();
    for round in 0..8 {
        run.frame(&Frame::new(&boxes), &format!("round {round}"));
        // A tenth moves, some of them far, so that they are looked for where they were and where they are.
        for _ in 0..4000 {
            let id = random.below(boxes.len() as u64) as usize;
            let by = if id.is_multiple_of(16) { 200.0 } else { 1.0 };
            boxes[id] = boxes[id].translate(std::array::from_fn(|_| (random.unit_f32() - 0.5) * by));
        }
    }
}

/// One or two movers of a tile are compared in place, a few in bytes, many sorted; with more than a fifth, the whole tile is joined.
fn listed_movers_of_a_tile_agree<const D: usize>(seed: u64, side: f32) {
    let mut random = Random(seed);
    let mut boxes = spread::<D>(5000, side, &mut random);
    let mut live = vec![!0u64; boxes.len().div_ceil(64)];
    let mut run = Run::new();
    run.frame(&Frame { live: Live::Bits(&live), ..Frame::new(&boxes) }, "first");
    for (round, count) in [0, 1, 2, 3, 4, 20, 31, 32, 33, 60, 100, 150, 3, 1].into_iter().enumerate() {
        // All of them in one corner of the world, which a few tiles hold.
        let near = |b: &Aabb<D, f32>| b.min.iter().all(|&x| x < side / 2.0);
        let ids: Vec<u32> = (0..boxes.len() as u32).filter(|&id| near(&boxes[id as usize])).take(count).collect();
        let (mut moved, mut inserted, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        for id in ids {
            let (word, bit) = (id as usize / 64, 1 << (id % 64));
            if live[word] & bit == 0 {
                inserted.push(id);
                live[word] |= bit;
            } else if id.is_multiple_of(5) {
                removed.push(id);
                live[word] &= !bit;
            } else {
                moved.push(id);
                shift(&mut boxes[id as usize..=id as usize], if id.is_multiple_of(3) { side } else { 0.5 }, &mut random);
            }
        }
        let changes = Changes::Listed { moved: &moved, inserted: &inserted, removed: &removed };
        run.frame(&Frame { live: Live::Bits(&live), changes, ..Frame::new(&boxes) }, &format!("round {round}, {count} listed"));
    }
}

#[test]
fn listed_movers_of_a_tile_agree_however_many_there_are() {
    listed_movers_of_a_tile_agree::<3>(5, 14.0);
    listed_movers_of_a_tile_agree::<2>(6, 60.0);
}

#[test]
fn probes_find_the_same_by_scanning_records_and_by_trees() {
    let mut random = Random(21);
    let mut boxes = spread::<3>(6_000, 24.0, &mut random);
    let (mut tiles, mut context, mut store) = (build::<3, f32>("tiles"), Context::new(), PairStore::default());
    for round in 0..6 {
        tiles.update(&Frame::new(&boxes), &mut context).unwrap();
        let expected = |probes: &[Aabb<3, f32>]| -> Vec<Pair> {
            let hits = |(a, probe): (usize, &Aabb<3, f32>)| -> Vec<Pair> {
                let ids = (0..boxes.len()).filter(|&b| boxes[b].overlaps(probe));
                ids.map(|b| Pair { a: a as u32, b: b as u32 }).collect()
            };
            probes.iter().enumerate().flat_map(hits).collect()
        };
        // Trees are made when the third probes come and nothing has changed; then something does.
        for time in 0..5 {
            let mut probes = spread::<3>(30, 24.0, &mut random);
            probes.push(Aabb::everything());
            probes.push(Aabb::new([-5.0; 3], [-4.0; 3]));
            tiles
                .probe(&Frame::new(&boxes), Probes { boxes: &probes, ids: None, recurring: false }, &mut context, &mut store)
                .unwrap();
            assert!(store.sorted() == expected(&probes), "round {round}, time {time}");
        }
        let few = if round % 2 == 0 { boxes.len() } else { 3 };
        shift(&mut boxes[..few], 0.5, &mut random);
    }
}

#[test]
fn a_list_of_no_changes_neither_makes_tests_nor_hides_objects_where_a_rebuild_was_due() {
    // Two clusters so far apart that smaller tiles are tried at once.
    let far = |i: usize| if i.is_multiple_of(2) { 0.0 } else { 1e6 };
    let place = |i: usize| [far(i) + (i / 2 % 50) as f32, far(i) + (i / 100) as f32];
    let boxes: Vec<Aabb<2, f32>> = (0..3000).map(|i| Aabb::new(place(i), place(i).map(|x| x + 0.5))).collect();
    let (mut context, mut store) = (Context::new(), PairStore::default());
    for spec in ["tiles", "tiles:target=256", "auto"] {
        let mut tiles = build::<2, f32>(spec);
        step(&mut *tiles, &Frame::new(&boxes).with_changes(Changes::All), &mut context, &mut store).unwrap();
        let nothing = Frame::new(&boxes).with_changes(Changes::Listed { moved: &[], inserted: &[], removed: &[] });
        for again in 0..3 {
            step(&mut *tiles, &nothing, &mut context, &mut store).unwrap();
            assert_eq!(store.tests(), 0, "{spec}, unchanged frame {again}");
            let mut seen = 0;
            tiles.reader().unwrap().in_box(&nothing, &Aabb::everything(), &mut |_| {
                seen += 1;
                std::ops::ControlFlow::Continue(())
            });
            assert_eq!(seen, boxes.len(), "{spec}, unchanged frame {again}");
        }
    }
}

#[test]
fn a_list_after_a_rejected_list_is_not_used() {
    let mut random = Random(31);
    for spec in ["tiles", "auto"] {
        let mut boxes = spread::<3>(5_000, 40.0, &mut random);
        let (mut tiles, mut context, mut store) = (build::<3, f32>(spec), Context::new(), PairStore::default());
        step(&mut *tiles, &Frame::new(&boxes).with_changes(Changes::All), &mut context, &mut store).unwrap();
        let moved: Vec<u32> = (0..100).map(|k| k * 50).collect();
        let listed = Changes::Listed { moved: &moved, inserted: &[], removed: &[] };
        // So many are inserted that the partition would be rebuilt, and one of them is bad.
        let mut bad = boxes.clone();
        bad.extend(spread::<3>(7_000, 40.0, &mut random));
        bad[11_000].min[1] = f32::NAN;
        let inserted: Vec<u32> = (5_000..12_000).collect();
        let many = Changes::Listed { moved: &[], inserted: &inserted, removed: &[] };
        assert!(step(&mut *tiles, &Frame::new(&bad).with_changes(many), &mut context, &mut store).is_err());
        moved.iter().for_each(|&id| boxes[id as usize] = spread(1, 40.0, &mut random)[0]);
        let frame = Frame::new(&boxes).with_changes(listed);
        step(&mut *tiles, &frame, &mut context, &mut store).unwrap();
        tiles.validate(&frame, Strength::Geometry).unwrap();
        assert!(store.sorted() == broadphase::pairs(&boxes).unwrap(), "{spec}");
        let mut seen = vec![0; boxes.len()];
        tiles.reader().unwrap().in_box(&frame, &Aabb::everything(), &mut |id| {
            seen[id as usize] += 1;
            std::ops::ControlFlow::Continue(())
        });
        assert!(seen.iter().all(|&times| times == 1), "{spec}");
    }
}

#[test]
fn objects_are_inserted_and_removed_between_frames_without_a_list() {
    let mut random = Random(3);
    let mut boxes = spread::<3>(5000, 60.0, &mut random);
    let mut live = vec![!0u64; boxes.len().div_ceil(64)];
    let mut run = Run::new();
    for round in 0..12 {
        let frame = Frame { live: Live::Bits(&live), ..Frame::new(&boxes) };
        run.frame(&frame, &format!("round {round}"));
        for _ in 0..200 {
            let id = random.below(boxes.len() as u64) as usize;
            live[id / 64] ^= 1 << (id % 64);
            boxes[id] = Aabb::new([f32::NAN; 3], [0.0; 3]); // what is in a slot that is not live does not matter
            if live[id / 64] >> (id % 64) & 1 == 1 {
                boxes[id] = spread(1, 60.0, &mut random)[0];
            }
        }
        if round % 2 == 0 {
            for id in (0..boxes.len()).filter(|id| live[id / 64] >> (id % 64) & 1 == 1) {
                shift(&mut boxes[id..=id], 0.2, &mut random);
            }
        }
    }
}

/// A place far below the lattice becomes the lowest integer; a tile's bound subtracted from it wrapped around to inside. And a place that
/// one instruction set clamps and another counts as outside gave two orders of the same pairs.
#[test]
fn a_corner_that_flies_far_off_the_lattice_does_not_wrap_to_inside() {
    for far in [1e6, 1e12, 1e30, f32::MAX, f32::INFINITY] {
        let mut random = Random(4);
        let mut boxes = spread::<3>(6000, 50.0, &mut random);
        let mut run = Both::of("tiles");
        run.frame(&boxes, "first");
        run.frame(&boxes, "again");
        for id in (0..boxes.len()).step_by(40) {
            let axis = id / 40 % 3;
            match id / 40 % 4 {
                0 => boxes[id].min[axis] = -far,
                1 => boxes[id].max[axis] = far,
                2 => (boxes[id].min[axis], boxes[id].max[axis]) = (-far, -far),
                _ => (boxes[id].min[axis], boxes[id].max[axis]) = (far, far),
            }
        }
        // All move, so that all records are rewritten.
        boxes.iter_mut().for_each(|b| *b = b.translate([0.01; 3]));
        run.frame(&boxes, &format!("far {far}"));
        boxes.iter_mut().for_each(|b| *b = b.translate([0.01; 3]));
        run.frame(&boxes, &format!("far {far}, once more"));
    }
}

/// The frame is refused, and the structure goes on from the next good one.
#[test]
fn a_bad_box_during_a_refresh_is_rejected_without_a_trace() {
    let mut random = Random(5);
    let mut boxes = spread::<3>(5000, 60.0, &mut random);
    let mut run = Both::of("tiles");
    run.frame(&boxes, "first");
    for bad in [0, 2500, 4999] {
        shift(&mut boxes, 0.2, &mut random);
        let good = std::mem::replace(&mut boxes[bad], Aabb::new([1.0; 3], [0.0; 3]));
        run.refuses(&boxes);
        boxes[bad] = good;
        run.frame(&boxes, &format!("after {bad}"));
    }
}

/// Boxes that a straight lattice cannot tell apart: half of them a thousand millionth of a millionth of the other half's world, around
/// `center`; or of all sizes over many octaves, as far away as they are large.
fn of_all_scales<const D: usize, T: Real>(n: usize, octaves: f64, center: f64, random: &mut Random) -> Vec<Aabb<D, T>> {
    (0..n)
        .map(|i| {
            let unit = |random: &mut Random| f64::from(random.unit_f32()) * 2.0 - 1.0;
            let scale = match (octaves > 0.0, i % 2 == 0) {
                (true, _) => (f64::from(random.unit_f32()) * octaves).exp2(),
                (false, true) => 1.0,
                (false, false) => 1e15,
            };
            let at: [f64; D] = std::array::from_fn(|_| center + unit(random) * 20.0 * scale);
            Aabb::new(at.map(T::from_f64), at.map(|x| T::from_f64(x + scale)))
        })
        .collect()
}

fn clusters_on_scales_too_different_make_few_tests<const D: usize, T: Real>(octaves: f64, center: f64) {
    let mut random = Random(11);
    let boxes = of_all_scales::<D, T>(4000, octaves, center, &mut random);
    let mut run = Run::<D, T>::of("tiles:target=100");
    let mut moved = boxes.clone();
    for step in 0..6 {
        run.frame(&Frame::new(&moved), &format!("{octaves} octaves around {center}, step {step}"));
        for (now, then) in moved.iter_mut().zip(&boxes) {
            let by = (then.max[0] - then.min[0]) * T::from_f64(f64::from(random.unit_f32()) * 0.1);
            *now = then.translate([by; D]);
        }
    }
    let tests = run.runs[0].2.tests() / 4000;
    assert!(tests < 150, "{octaves} octaves around {center}: {tests} tests per object");
}

#[test]
fn clusters_on_scales_too_different_for_a_linear_lattice_make_few_tests() {
    clusters_on_scales_too_different_make_few_tests::<3, f32>(0.0, 0.0);
    clusters_on_scales_too_different_make_few_tests::<3, f64>(0.0, 0.0);
    clusters_on_scales_too_different_make_few_tests::<2, f64>(0.0, 3e14);
    clusters_on_scales_too_different_make_few_tests::<3, f32>(100.0, 0.0);
    clusters_on_scales_too_different_make_few_tests::<2, f32>(60.0, 0.0);
}

#[test]
fn the_order_of_pairs_does_not_depend_on_the_tile_that_a_worker_had_before() {
    let mut random = Random(5);
    let mut boxes = spread::<3>(4000, 14.0, &mut random);
    // A row beside the cluster, whose records are much narrower than their tiles are long.
    boxes.extend((0..4000).map(|i| Aabb::new([i as f32 * 0.8, 100.0, 0.0], [i as f32 * 0.8 + 1.0, 101.0, 1.0])));
    let mut run = Run::<3>::of("tiles:target=600");
    for step in 0..8 {
        run.frame(&Frame::new(&boxes), &format!("step {step}"));
        shift(&mut boxes, 0.2, &mut random);
    }
}

#[test]
fn a_cluster_of_small_objects_among_large_ones_is_partitioned_by_its_own_size() {
    let mut random = Random(3);
    let mut boxes = spread::<3>(4000, 60.0, &mut random);
    let grains = spread::<3>(4000, 40.0, &mut random);
    boxes.extend(grains.iter().map(|b| Aabb::new(b.min.map(|x| 30.0 + x * 1e-3), b.max.map(|x| 30.0 + x * 1e-3))));
    let mut run = Run::<3>::of("tiles:target=100");
    for step in 0..4 {
        run.frame(&Frame::new(&boxes), &format!("step {step}"));
        shift(&mut boxes[..4000], 0.1, &mut random);
        shift(&mut boxes[4000..], 1e-4, &mut random);
    }
    let tests = run.runs[0].2.tests() / 8000;
    assert!(tests < 150, "{tests} tests per object");
}

/// A fixed distance between sampled objects would see some of the columns only: every fifth one, with the default options.
#[test]
fn a_lattice_of_boxes_listed_row_by_row_makes_no_more_tests_than_in_random_order() {
    let rows: Vec<Aabb<3, f32>> = (0..25 * 25 * 25)
        .map(|i| {
            let at = [i / 625, i / 25 % 25, i % 25].map(|k| k as f32);
            Aabb::new(at, at.map(|x| x + 1.0)) // faces touch
        })
        .collect();
    let (mut shuffled, mut random) = (rows.clone(), Random(5));
    (1..rows.len()).for_each(|i| shuffled.swap(i, random.below(i as u64 + 1) as usize));
    let tests = [&rows, &shuffled].map(|boxes| {
        let (mut tiles, mut context, mut store) = (build("tiles"), Context::new(), PairStore::default());
        step(&mut *tiles, &Frame::new(boxes), &mut context, &mut store).unwrap();
        store.tests()
    });
    assert!(tests[0] < tests[1] * 5 / 4, "{} tests row by row, {} in random order", tests[0], tests[1]);
}
