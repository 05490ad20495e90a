//! The claims of paper 000, counted; and the traps of its text.

mod readers;

use broadphase::{
    Aabb, BroadPhase, Changes, Context, Frame, Isa, Kernels, Live, Pair, PairStore, Real, Report, Spec, Strength, step,
};
use broadphase_testing::{Random, naive};

/// Boxes for these tests.
trait RandomBoxes {
    /// A box of one of several kinds, among them points, needles, plates and giants.
    fn aabb<const D: usize, T: Real>(&mut self, world: f64) -> Aabb<D, T>;
}

impl RandomBoxes for Random {
    fn aabb<const D: usize, T: Real>(&mut self, world: f64) -> Aabb<D, T> {
        let min: [f64; D] = std::array::from_fn(|_| (f64::from(self.unit_f32()) - 0.5) * world);
        let kind = self.below(16);
        let size: [f64; D] = std::array::from_fn(|k| match kind {
            0 => 0.0,
            1 => [30.0, 0.3][usize::from(k != 0)],
            2 => [0.2, 10.0][usize::from(k != 0)],
            3 => 1e-3 * f64::from(self.unit_f32()),
            4 => 40.0 * f64::from(self.unit_f32()),
            _ => 0.5 + f64::from(self.unit_f32()),
        });
        Aabb::new(min.map(T::from_f64), std::array::from_fn(|k| T::from_f64(min[k] + size[k])))
    }
}

fn build<const D: usize, T: Real>(spec: &str) -> Box<dyn BroadPhase<D, T>> {
    spec.parse::<Spec>().unwrap().build().unwrap()
}

fn pairs_of<const D: usize, T: Real>(spec: &str, boxes: &[Aabb<D, T>]) -> Vec<Pair> {
    let mut structure = build::<D, T>(spec);
    let mut store = PairStore::default();
    step(&mut *structure, &Frame::new(boxes), &mut Context::new(), &mut store).unwrap();
    structure.validate(&Frame::new(boxes), Strength::Geometry).unwrap();
    store.sorted()
}

fn extra<const D: usize, T: Real>(structure: &dyn BroadPhase<D, T>, name: &str) -> f64 {
    structure.stats().extra.iter().find(|entry| entry.0 == name).unwrap().1
}

fn changes_against_naive<const D: usize, T: Real>(spec: &str, isa: Isa) {
    let mut random = Random(11);
    let mut boxes: Vec<Aabb<D, T>> = (0..250).map(|_| random.aabb(24.0)).collect();
    let mut live = vec![!0u64; boxes.len().div_ceil(64)];
    let mut structure = build::<D, T>(spec);
    let mut context = Context::new().with_kernels(Kernels::new(isa).unwrap());
    let mut store = PairStore::new(Report::Both);
    let mut last: Vec<Pair> = Vec::new();
    for round in 0..20 {
        let (mut moved, mut inserted, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..random.below(60) {
            let id = random.below(boxes.len() as u64) as u32;
            if moved.contains(&id) || inserted.contains(&id) || removed.contains(&id) {
                continue;
            }
            let (word, bit) = (id as usize / 64, 1 << (id % 64));
            let old = live[word] & bit != 0;
            if old && random.below(3) == 0 {
                live[word] &= !bit;
                removed.push(id);
                boxes[id as usize] = Aabb::new([T::NAN; D], [T::NAN; D]);
            } else {
                boxes[id as usize] = if random.below(40) == 0 { Aabb::everything() } else { random.aabb(24.0) };
                live[word] |= bit;
                if old { moved.push(id) } else { inserted.push(id) }
            }
        }
        let changes = match round % 10 {
            0 => Changes::All,
            1 => Changes::Unknown,
            _ => Changes::Listed { moved: &moved, inserted: &inserted, removed: &removed },
        };
        let frame = Frame { live: Live::Bits(&live), ..Frame::new(&boxes).with_changes(changes) };
        step(&mut *structure, &frame, &mut context, &mut store).unwrap();
        structure.validate(&frame, Strength::Geometry).unwrap();
        let expected = naive::pairs_of(&boxes, |id| frame.live.contains(id));
        assert_eq!(store.sorted(), expected, "{spec} {isa} round {round}");
        let started: Vec<_> = expected.iter().filter(|p| !last.contains(p)).copied().collect();
        let ended: Vec<_> = last.iter().filter(|p| !expected.contains(p)).copied().collect();
        assert_eq!((store.started(), store.ended()), (&started[..], &ended[..]), "{spec} {isa} round {round}");
        last = expected;
    }
}

#[test]
fn random_operations_match_brute_force_with_every_option_and_instruction_set() {
    let specs = [
        "hash-grid:threshold=0",
        "hash-grid",
        "hash-grid-reinsert:threshold=0",
        "hash-grid:threshold=0:factor=1.1:dims=4",
        "hash-grid:threshold=0:factor=8:dims=4x32x8:density=1:capacity=2",
        "hash-grid:threshold=200:shapes=0:density=64",
        "hash-grid:threshold=0:patience=0",
    ];
    for spec in specs {
        for isa in Isa::available() {
            changes_against_naive::<2, f32>(spec, isa);
            changes_against_naive::<3, f32>(spec, isa);
        }
        changes_against_naive::<2, f64>(spec, Isa::Scalar);
        changes_against_naive::<3, f64>(spec, Isa::Scalar);
    }
}

#[test]
fn the_float_floor_trap_touching_boxes_two_cells_apart_are_a_pair() {
    // With cells of 0.85775906, floor(x / cell) puts these touching boxes into cells 1 and 3.
    let trap = [Aabb::new([1.715_518_f32, 0.0, 0.0], [2.573_277, 0.5, 0.5]), Aabb::new([2.573_277, 0.0, 0.0], [3.4, 0.5, 0.5])];
    // The first object decides the cell size: a few neighbors of the size that gives the cell above, to be sure to hit it.
    let mut size = 0.606_527_2_f32;
    for _ in 0..40 {
        size = size.next_up();
        let boxes = [Aabb::new([9.0; 3], [9.0 + size, 9.1, 9.1]), Aabb::new([0.0; 3], [size, 0.1, 0.1]), trap[0], trap[1]];
        let expected = naive::pairs_of(&boxes, |_| true);
        assert!(expected.contains(&Pair { a: 2, b: 3 }));
        assert_eq!(pairs_of("hash-grid:threshold=0", &boxes), expected, "first size {size}");
        assert_eq!(pairs_of("hash-grid:threshold=0:shapes=0", &boxes[1..]), naive::pairs_of(&boxes[1..], |_| true));
    }
}

#[test]
fn chains_of_touching_boxes_at_any_distance_from_the_origin_stay_pairs() {
    fn chain<T: Real>(from: f64, size: f64) {
        let mut boxes: Vec<Aabb<2, T>> = Vec::new();
        let mut low = T::from_f64(from);
        for _ in 0..300 {
            let high = (low + T::from_f64(size)).max(low.next_up());
            boxes.push(Aabb::new([low, T::ZERO], [high, T::from_f64(size)]));
            low = high;
        }
        let found = pairs_of("hash-grid:threshold=0", &boxes);
        assert_eq!(found, naive::pairs_of(&boxes, |_| true), "from {from} by {size}");
    }
    for size in [1e-3, 0.857, 1.0, 3.3] {
        for far in [0.0, 1.0, 1e6, 1e7, 3e8, 1e12] {
            chain::<f32>(far, size);
            chain::<f32>(-far, size);
        }
        for far in [0.0, 1e7, 1e15, 1e17, 1e300] {
            chain::<f64>(far, size);
            chain::<f64>(-far, size);
        }
    }
}

#[test]
fn sizes_of_zero_and_subnormal_do_not_loop_and_still_pair() {
    for first in [0.0f32, 1e-45, 1e-40, 1e-30, 1.0, 1e30] {
        let mut boxes = vec![Aabb::new([0.0f32; 3], [first; 3])];
        for size in [0.0f32, 1e-45, 1e-39, 1e-20, 1.0, 1e20, 1e37] {
            for at in [0.0f32, -0.0, 1e-45, -1e-39, 1e-10, 1.0, -3e7, 1e30] {
                boxes.push(Aabb::new([at; 3], [at + size; 3]));
            }
        }
        assert_eq!(pairs_of("hash-grid:threshold=0", &boxes), naive::pairs_of(&boxes, |_| true), "first size {first}");
    }
}

/// n cubes of size 1 with two pairs each, as scene `uniform` has them; `stretch` gives the world's shape.
fn cubes(n: usize, stretch: [f64; 3], seed: u64) -> Vec<Aabb<3, f32>> {
    let mut random = Random(seed);
    let side = (n as f64 * 2.0 / stretch.iter().product::<f64>()).cbrt();
    let at = |random: &mut Random| std::array::from_fn(|k| (f64::from(random.unit_f32()) * side * stretch[k]) as f32);
    (0..n).map(|_| Aabb::from_center(at(&mut random), [0.5; 3])).collect()
}

/// All pairs of one frame of `boxes`, by count: tests and the structure.
fn run(spec: &str, boxes: &[Aabb<3, f32>]) -> (u64, Box<dyn BroadPhase<3, f32>>) {
    let mut structure = build::<3, f32>(spec);
    let mut store = PairStore::new(Report::Count);
    step(&mut *structure, &Frame::new(boxes), &mut Context::new(), &mut store).unwrap();
    (store.tests(), structure)
}

/// Moves every box by up to `motion` to each side.
fn shake(boxes: &mut [Aabb<3, f32>], motion: f64, random: &mut Random) {
    for value in boxes {
        *value = value.translate(std::array::from_fn(|_| ((f64::from(random.unit_f32()) - 0.5) * 2.0 * motion) as f32));
    }
}

#[test]
fn insert_remove_and_move_touch_a_constant_number_of_cells() {
    let mut per_operation = Vec::new();
    for n in [2_000, 20_000, 100_000] {
        let mut boxes = cubes(n, [1.0; 3], 3);
        let (_, mut structure) = run("hash-grid", &boxes);
        let mut context = Context::new();
        let mut live = vec![!0u64; n.div_ceil(64)];
        let before = extra(&*structure, "touched");
        let mut random = Random(5);
        for round in 0..300 {
            let id = random.below(n as u64) as u32;
            let (word, bit) = (id as usize / 64, 1u64 << (id % 64));
            let ids = [id];
            let none: &[u32] = &[];
            live[word] ^= bit;
            let changes = if live[word] & bit == 0 {
                Changes::Listed { moved: none, inserted: none, removed: &ids }
            } else {
                Changes::Listed { moved: none, inserted: &ids, removed: none }
            };
            let frame = Frame { live: Live::Bits(&live), ..Frame::new(&boxes).with_changes(changes) };
            structure.update(&frame, &mut context).unwrap();
            if live[word] & bit != 0 && round % 2 == 0 {
                boxes[id as usize] = boxes[id as usize].translate([3.0, -2.0, 1.0]);
                let changes = Changes::Listed { moved: &ids, inserted: none, removed: none };
                let frame = Frame { live: Live::Bits(&live), ..Frame::new(&boxes).with_changes(changes) };
                structure.update(&frame, &mut context).unwrap();
            }
        }
        let operations: f64 = 300.0;
        per_operation.push((extra(&*structure, "touched") - before) / operations);
    }
    assert!(per_operation.iter().all(|&touched| touched < 6.0), "{per_operation:?}");
    assert!(per_operation[2] <= per_operation[0] * 1.2, "{per_operation:?}");
}

#[test]
fn growth_is_amortized_and_setting_up_is_linear() {
    for spec in ["hash-grid", "hash-grid:dims=4:density=64", "hash-grid:shapes=0"] {
        let mut touched = Vec::new();
        for n in [5_000, 40_000, 160_000] {
            // A world with a hundred cells per object, so that every growth is needed.
            let mut boxes = cubes(n, [1.0; 3], 9);
            boxes.iter_mut().for_each(|b| *b = Aabb::from_center(b.center().map(|x| x * 5.0), [0.5; 3]));
            let (_, structure) = run(spec, &boxes);
            let work = extra(&*structure, "growth_work") / n as f64;
            assert!(work < 5.0, "{spec} n={n}: {work} objects rehashed per insertion");
            touched.push(extra(&*structure, "touched") / n as f64);
        }
        assert!(touched[2] < touched[0] * 1.5, "{spec}: {touched:?} cells touched per object");
    }
}

#[test]
fn at_most_96_bytes_per_object_from_100_000_on() {
    let mut random = Random(21);
    // Just above the numbers at which grids double, and between them.
    for n in [100_000, 131_200, 262_500] {
        let dense = cubes(n, [1.0; 3], 1);
        let spread = |factor: f32, boxes: &[Aabb<3, f32>]| -> Vec<Aabb<3, f32>> {
            boxes.iter().map(|b| Aabb::from_center(b.center().map(|x| x * factor), [0.5; 3])).collect()
        };
        let sizes = dense
            .iter()
            .map(|b| Aabb::from_center(b.center(), [(f64::from(random.unit_f32()) * 6.0).exp() as f32 * 0.01; 3]))
            .collect();
        let long = dense.iter().map(|b| Aabb::from_center(b.center(), [5.0, 0.5, 0.5])).collect();
        let half: Vec<_> =
            dense.iter().enumerate().map(|(i, b)| if i % 2 == 0 { *b } else { b.translate([1e5 + i as f32; 3]) }).collect();
        let scenes: [(&str, Vec<Aabb<3, f32>>); 6] = [
            ("sparse", spread(1000.0, &dense)),
            ("loose", spread(2.5, &dense)),
            ("sizes", sizes),
            ("long", long),
            ("half", half),
            ("dense", dense),
        ];
        for (name, mut boxes) in scenes {
            let (_, mut structure) = run("hash-grid", &boxes);
            shake(&mut boxes, 2.0, &mut random);
            let mut store = PairStore::new(Report::Count);
            step(&mut *structure, &Frame::new(&boxes), &mut Context::new(), &mut store).unwrap();
            let bytes = structure.stats().bytes as f64 / n as f64;
            assert!(bytes <= 96.0, "{name} n={n}: {bytes} bytes per object");
        }
    }
}

#[test]
fn above_the_threshold_the_grid_is_irrevocable() {
    let boxes = cubes(120, [1.0; 3], 4);
    let mut structure = build::<3, f32>("hash-grid:threshold=100");
    let mut context = Context::new();
    let mut store = PairStore::default();
    for (n, levels) in [(60, 0.0), (100, 0.0), (101, 1.0), (120, 1.0), (3, 1.0)] {
        step(&mut *structure, &Frame::new(&boxes[..n]), &mut context, &mut store).unwrap();
        structure.validate(&Frame::new(&boxes[..n]), Strength::Geometry).unwrap();
        assert_eq!(extra(&*structure, "levels"), levels, "{n} objects");
        assert_eq!(store.sorted(), naive::pairs_of(&boxes[..n], |_| true));
    }
}

#[test]
fn levels_are_made_on_demand_and_need_not_be_dense() {
    let boxes = [1.0f32, 1.2, 1000.0, 1100.0, 0.001].map(|size| Aabb::new([0.0f32; 3], [size; 3]));
    let (_, structure) = run("hash-grid:threshold=0", &boxes);
    assert_eq!(extra(&*structure, "levels"), 3.0);
}

#[test]
fn an_object_that_grows_shrinks_or_turns_changes_its_level() {
    let mut boxes = cubes(50, [1.0; 3], 8);
    let mut structure = build::<3, f32>("hash-grid:threshold=0");
    for half in [[0.5f32; 3], [20.0; 3], [0.01; 3], [8.0, 0.1, 0.1], [0.1, 0.1, 8.0]] {
        boxes[7] = Aabb::from_center(boxes[7].center(), half);
        let mut store = PairStore::default();
        step(&mut *structure, &Frame::new(&boxes), &mut Context::new(), &mut store).unwrap();
        structure.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
        assert_eq!(store.sorted(), naive::pairs_of(&boxes, |_| true));
    }
    assert!(extra(&*structure, "levels") >= 3.0);
}

#[test]
fn tests_per_object_do_not_grow_with_n_in_the_hard_scenes() {
    let mut random = Random(17);
    let mut scene = |name: &str, n: usize| -> Vec<Aabb<3, f32>> {
        let mut boxes = cubes(n, [1.0; 3], 2);
        match name {
            "needles" => {
                let side = 100.0 * (n as f32).cbrt() / 4.0;
                for b in &mut boxes {
                    let mut half = [0.5f32; 3];
                    half[random.below(3) as usize] = 50.0;
                    *b = Aabb::from_center(std::array::from_fn(|_| f64::from(random.unit_f32()) as f32 * side), half);
                }
            }
            "sizes" => {
                let side = 1e6 * (n as f32).cbrt() / 3.0;
                for b in &mut boxes {
                    let half = (f64::from(random.unit_f32()) * 1e6f64.ln()).exp() as f32;
                    *b = Aabb::from_center(std::array::from_fn(|_| f64::from(random.unit_f32()) as f32 * side), [half; 3]);
                }
            }
            "giant" => boxes[5] = Aabb::new([-1e6; 3], [1e6; 3]),
            "line" => boxes
                .iter_mut()
                .for_each(|b| *b = Aabb::from_center([f64::from(random.unit_f32()) as f32 * n as f32, 0.0, 0.0], [0.5; 3])),
            "diagonal" => boxes
                .iter_mut()
                .for_each(|b| *b = Aabb::from_center([f64::from(random.unit_f32()) as f32 * n as f32; 3], [0.5; 3])),
            _ => boxes = cubes(n, [1024.0, 1.0, 1.0], 2),
        }
        boxes
    };
    for name in ["needles", "sizes", "giant", "line", "diagonal", "1024:1:1"] {
        let (n, more) = (5_000, 20_000);
        // Where levels share a grid, tests stand for searches, and their number goes up and down with the floor.
        let spec = if name == "sizes" { "hash-grid:merge=0" } else { "hash-grid" };
        let few = run(spec, &scene(name, n)).0 as f64 / n as f64;
        let many = run(spec, &scene(name, more)).0 as f64 / more as f64;
        assert!(many < 1.6 * few + 4.0, "{name}: {few} tests per object, then {many}");
    }
    for n in [5_000, 20_000, 40_000] {
        let tests = run("hash-grid", &scene("sizes", n)).0 as f64 / n as f64;
        assert!(tests < 800.0, "{tests} tests per object of {n}: more than two searches cost");
    }
}

#[test]
fn long_objects_have_cells_of_their_shape_and_few_candidates() {
    let n = 20_000;
    let cubes = cubes(n, [1.0; 3], 6);
    let long: Vec<_> =
        cubes.iter().map(|b| Aabb::from_center([b.center()[0] * 10.0, b.center()[1], b.center()[2]], [5.0, 0.5, 0.5])).collect();
    let (on_cubes, _) = run("hash-grid", &cubes);
    let (on_long, structure) = run("hash-grid", &long);
    let (as_the_paper, _) = run("hash-grid:shapes=0", &long);
    assert_eq!(extra(&*structure, "shapes"), 1.0);
    assert!(on_long < 2 * on_cubes, "{on_long} tests for long objects, {on_cubes} for cubes");
    assert!(as_the_paper > 5 * on_long, "{as_the_paper} tests with cubic cells, {on_long} with long ones");
}

#[test]
fn the_individual_update_touches_fewer_cells_than_insertion_under_normal_motion() {
    let touched = |spec: &str, motion: f64| {
        let mut random = Random(3);
        let mut boxes = cubes(20_000, [1.0; 3], 12);
        let mut structure = build::<3, f32>(spec);
        let mut context = Context::new();
        structure.update(&Frame::new(&boxes), &mut context).unwrap();
        let before = extra(&*structure, "touched");
        for _ in 0..5 {
            shake(&mut boxes, motion, &mut random);
            structure.update(&Frame::new(&boxes), &mut context).unwrap();
        }
        extra(&*structure, "touched") - before
    };
    let (moving, inserting) = (touched("hash-grid", 0.2), touched("hash-grid-reinsert", 0.2));
    assert!(2.0 * moving < inserting, "{moving} cells touched by moving, {inserting} by insertion");
    // The abnormal case of the paper: when every object leaves its cell, moving is the dearer one.
    assert!(touched("hash-grid", 30.0) > touched("hash-grid-reinsert", 30.0));
}

#[test]
fn an_update_without_changes_costs_no_tests() {
    let boxes = cubes(5_000, [1.0; 3], 1);
    let mut structure = build::<3, f32>("hash-grid");
    let (mut context, mut store) = (Context::new(), PairStore::default());
    step(&mut *structure, &Frame::new(&boxes), &mut context, &mut store).unwrap();
    let pairs = store.sorted();
    let unchanged = Frame::new(&boxes).with_changes(Changes::Listed { moved: &[], inserted: &[], removed: &[] });
    step(&mut *structure, &unchanged, &mut context, &mut store).unwrap();
    assert_eq!((store.tests(), store.sorted()), (0, pairs));
}

#[test]
fn a_bad_box_is_named_and_changes_nothing() {
    let mut boxes = cubes(2_000, [1.0; 3], 1);
    let mut structure = build::<3, f32>("hash-grid");
    let (mut context, mut store) = (Context::new(), PairStore::default());
    step(&mut *structure, &Frame::new(&boxes), &mut context, &mut store).unwrap();
    let good = boxes.clone();
    for (index, bad) in [(77, [f32::NAN; 3]), (1999, [1e9; 3])] {
        boxes[index].min = bad;
        let error = structure.update(&Frame::new(&boxes), &mut context).unwrap_err();
        assert_eq!(error.code(), "invalid-box");
        assert!(error.to_string().contains(&index.to_string()), "{error}");
        boxes[index] = good[index];
        structure.validate(&Frame::new(&good), Strength::Geometry).unwrap();
    }
}

/// Cubes of edges from 1 to 64, evenly spread over the logarithms, each with about four neighbors.
fn sparse_sizes(n: usize, random: &mut Random) -> Vec<Aabb<3, f32>> {
    let side = 28.0 * (n as f32).cbrt();
    let mut cube = || {
        let half = (f64::from(random.unit_f32()) * 64f64.ln()).exp() as f32 * 0.5;
        Aabb::from_center(std::array::from_fn(|_| f64::from(random.unit_f32()) as f32 * side), [half; 3])
    };
    (0..n).map(|_| cube()).collect()
}

#[test]
fn sparse_levels_share_a_grid_until_their_objects_gather() {
    let mut random = Random(23);
    let mut boxes = sparse_sizes(12_000, &mut random);
    let (_, paper) = run("hash-grid:merge=0", &boxes);
    let (_, merged) = run("hash-grid", &boxes);
    assert!(extra(&*paper, "busy_levels") >= 6.0);
    assert!(extra(&*merged, "busy_levels") <= 3.0, "{} levels", extra(&*merged, "busy_levels"));

    // All small objects drift into one corner: a floor that suited them when they were spread is given up.
    let mut structure = build::<3, f32>("hash-grid");
    let mut store = PairStore::default();
    for frame in 0..24 {
        step(&mut *structure, &Frame::new(&boxes), &mut Context::new(), &mut store).unwrap();
        structure.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
        if frame % 12 == 11 {
            assert_eq!(store.sorted(), naive::pairs_of(&boxes, |_| true), "frame {frame}");
        }
        for value in boxes.iter_mut().filter(|value| value.max[0] - value.min[0] < 8.0) {
            *value = value.translate(value.center().map(|x| -0.1 * x));
        }
    }
    let (now, then) = (extra(&*structure, "busy_levels"), extra(&*merged, "busy_levels"));
    assert!(now > then, "{now} levels, {then} before");
}

#[test]
fn a_floor_found_for_few_objects_does_not_stay_when_they_become_many() {
    let mut random = Random(29);
    let side = 250.0;
    let all: Vec<Aabb<3, f32>> = (0..12_000)
        .map(|_| {
            let half = (f64::from(random.unit_f32()) * 16f64.ln()).exp() as f32 * 0.5;
            Aabb::from_center(std::array::from_fn(|_| f64::from(random.unit_f32()) as f32 * side), [half; 3])
        })
        .collect();
    let mut structure = build::<3, f32>("hash-grid");
    let mut store = PairStore::new(Report::Count);
    for n in (700..=12_000).step_by(100) {
        step(&mut *structure, &Frame::new(&all[..n]), &mut Context::new(), &mut store).unwrap();
    }
    let (fresh, _) = run("hash-grid", &all);
    structure.validate(&Frame::new(&all), Strength::Geometry).unwrap();
    assert!(store.tests() < 2 * fresh, "{} tests after slow growth, {fresh} at one go", store.tests());
}

#[test]
fn a_new_grid_of_the_largest_dimensions_is_small_enough_for_two_objects() {
    let mut grid = "hash-grid:threshold=0:dims=1024".parse::<Spec>().unwrap().build::<3, f32>().unwrap();
    let boxes = [Aabb::new([0.0; 3], [1.0; 3]), Aabb::new([0.5; 3], [1.5; 3])];
    let mut store = PairStore::default();
    step(&mut *grid, &Frame::new(&boxes), &mut Context::new(), &mut store).unwrap();
    assert_eq!(store.len(), 1);
    assert!(grid.stats().bytes < 400 << 20, "{} bytes", grid.stats().bytes);
}
