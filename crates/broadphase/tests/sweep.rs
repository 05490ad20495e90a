//! `sweep` and `sort-and-sweep`: the promises that paper 002 and issue-like corner cases put to the test, all counted.

use broadphase::{
    Aabb, BroadPhase, Changes, Context, Frame, Isa, Kernels, Live, Pair, PairStore, Real, Report, Spec, Strength, step,
};
use broadphase_scenes::{AnyScene, SceneSpec};
use broadphase_testing::Random;
use broadphase_testing::naive::pairs_of;

/// Boxes for these tests.
trait RandomBoxes {
    /// Whole coordinates, so that many are equal; now and then something nasty.
    fn aabb<const D: usize, T: Real>(&mut self) -> Aabb<D, T>;
}

impl RandomBoxes for Random {
    fn aabb<const D: usize, T: Real>(&mut self) -> Aabb<D, T> {
        let mut value: Aabb<D, T> = Aabb::point(std::array::from_fn(|_| T::from_f64(self.below(60) as f64 - 30.0)));
        for k in 0..D {
            value.max[k] = value.min[k] + T::from_f64(self.below(6) as f64);
            match self.below(200) {
                0 => value.min[k] = T::NEG_INFINITY,
                1 => value.max[k] = T::INFINITY,
                2 => (value.min[k], value.max[k]) = (T::NEG_INFINITY, T::INFINITY),
                3 => (value.min[k], value.max[k]) = (-T::ZERO, -T::ZERO),
                4 => (value.min[k], value.max[k]) = (-T::MAX, T::MAX),
                5 => value.max[k] = value.min[k] + T::from_f64(1e-30),
                6 => value.max[k] = T::from_f64(1e6),
                _ => {}
            }
        }
        value
    }
}

fn build<const D: usize, T: Real>(spec: &str) -> Box<dyn BroadPhase<D, T>> {
    spec.parse::<Spec>().unwrap().build().unwrap()
}

fn extra<const D: usize, T: Real>(structure: &dyn BroadPhase<D, T>, name: &str) -> f64 {
    structure.stats().extra.iter().find(|figure| figure.0 == name).unwrap().1
}

/// Random insertions, moves and removals, slots that come and go, against the definition.
fn changes_against_naive<const D: usize, T: Real>(spec: &str, isa: Isa) {
    let mut random = Random(7);
    let mut boxes: Vec<Aabb<D, T>> = (0..300).map(|_| random.aabb()).collect();
    let mut live = vec![!0u64; 16];
    let mut structure = build::<D, T>(spec);
    let mut context = Context::new().with_kernels(Kernels::new(isa).unwrap());
    let mut store = PairStore::new(Report::Both);
    let mut last: Vec<Pair> = Vec::new();
    for round in 0..25 {
        let (mut moved, mut inserted, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        if round % 6 == 5 {
            // Slots behind the old end are filled at once.
            inserted.extend(boxes.len() as u32..boxes.len() as u32 + 40);
            boxes.extend((0..40).map(|_| random.aabb::<D, T>()));
        }
        for _ in 0..random.below(30) {
            let id = random.below(boxes.len() as u64) as u32;
            if moved.contains(&id) || inserted.contains(&id) || removed.contains(&id) {
                continue;
            }
            let (word, bit) = (id as usize / 64, 1 << (id % 64));
            let old = live[word] & bit != 0;
            if old && random.below(3) == 0 {
                live[word] &= !bit;
                removed.push(id);
            } else {
                boxes[id as usize] = random.aabb();
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
        let expected = pairs_of(&boxes, |id| frame.live.contains(id));
        assert_eq!(store.sorted(), expected, "{spec} {isa} round {round}");
        let started: Vec<_> = expected.iter().filter(|p| !last.contains(p)).copied().collect();
        let ended: Vec<_> = last.iter().filter(|p| !expected.contains(p)).copied().collect();
        assert_eq!((store.started(), store.ended()), (&started[..], &ended[..]), "{spec} {isa} round {round}");
        last = expected;
    }
}

#[test]
fn random_changes_with_infinite_touching_and_equal_boxes_follow_the_definition() {
    let specs = [
        "sweep",
        "sweep:partitions=7",
        "sweep:partitions=64:active=tree:axes=yx",
        "sweep:path=parallel:partitions=5",
        "sweep:path=parallel:buckets=37:partitions=3:active=tree:swap=off",
        "sweep:paper=true",
        "sweep:paper=true:partitions=6",
        "sort-and-sweep",
        "sort-and-sweep:axis=y",
    ];
    for spec in specs {
        for isa in Isa::available() {
            changes_against_naive::<2, f32>(spec, isa);
            changes_against_naive::<3, f32>(spec, isa);
            changes_against_naive::<2, f64>(spec, isa);
            changes_against_naive::<3, f64>(spec, isa);
        }
    }
}

/// Boxes of varying size that bounce in a cube and pass through each other: a small stand-in for the scene `boxes`.
struct Bouncing {
    boxes: Vec<Aabb<3, f32>>,
    velocities: Vec<[f32; 3]>,
}

impl Bouncing {
    fn new(n: usize, density: f64) -> Self {
        let mut random = Random(5);
        let size = (density / n as f64).cbrt() as f32;
        let boxes = (0..n).map(|_| {
            let half = std::array::from_fn(|_| size * (0.25 + 0.5 * random.unit() as f32));
            Aabb::from_center(std::array::from_fn(|_| random.unit() as f32), half)
        });
        let boxes = boxes.collect();
        let velocities = (0..n).map(|_| std::array::from_fn(|_| (random.unit() as f32 - 0.5) * 0.1 * size)).collect();
        Self { boxes, velocities }
    }

    fn step(&mut self) {
        for (value, velocity) in self.boxes.iter_mut().zip(&mut self.velocities) {
            *value = value.translate(*velocity);
            for k in 0..3 {
                let outside = value.center()[k].clamp(0.0, 1.0) != value.center()[k];
                if outside && (value.center()[k] > 0.5) == (velocity[k] > 0.0) {
                    velocity[k] = -velocity[k];
                }
            }
        }
    }
}

#[test]
fn one_to_64_partitions_give_the_same_set_and_test_each_pair_once() {
    let scene = Bouncing::new(3000, 0.35);
    let expected = pairs_of(&scene.boxes, |_| true);
    assert!(expected.len() > 3000);
    for partitions in (1..=64).chain([4096]) {
        for rest in ["", ":active=tree", ":path=parallel", ":paper=true"] {
            let mut structure = build::<3, f32>(&format!("sweep:partitions={partitions}{rest}"));
            let mut store = PairStore::default();
            step(&mut *structure, &Frame::new(&scene.boxes), &mut Context::new(), &mut store).unwrap();
            assert_eq!(store.sorted(), expected, "{partitions} partitions {rest}");
        }
    }
}

#[test]
fn the_list_does_not_depend_on_path_threads_or_instruction_set() {
    for active in ["blocks", "tree"] {
        let mut scene = Bouncing::new(2500, 0.2);
        scene.boxes[77] = Aabb::new([f32::NEG_INFINITY, 0.4, f32::NEG_INFINITY], [f32::INFINITY, 0.41, f32::INFINITY]);
        let spec = format!("sweep:partitions=6:active={active}");
        let mut runs = vec![("sequential", build::<3, f32>(&spec), Context::new())];
        runs.push(("parallel path", build(&format!("{spec}:path=parallel")), Context::new()));
        for isa in Isa::available() {
            runs.push((isa.name(), build(&spec), Context::new().with_kernels(Kernels::new(isa).unwrap())));
        }
        #[cfg(feature = "parallel")]
        for width in [2, 3] {
            let threads = broadphase::Threads::new(width).unwrap();
            runs.push(("threads", build(&spec), Context::new().with_executor(threads)));
        }
        for frame in 0..4 {
            let mut first = None;
            for (name, structure, context) in &mut runs {
                let mut store = PairStore::default();
                step(&mut **structure, &Frame::new(&scene.boxes), context, &mut store).unwrap();
                let list = (store.to_vec(), store.tests());
                assert_eq!(*first.get_or_insert_with(|| list.clone()), list, "{name} {active} frame {frame}");
                assert_eq!(extra(&**structure, "long_objects"), 1.0, "the plane counts as long");
            }
            scene.step();
        }
    }
}

#[test]
fn in_steady_motion_the_buckets_stay_even_and_partitions_share_the_pairs() {
    let mut scene = Bouncing::new(40_000, 0.35);
    let mut runs: Vec<_> = [4, 16, 64].map(|m| build::<3, f32>(&format!("sweep:partitions={m}"))).into_iter().collect();
    let mut store = PairStore::default();
    for frame in 0..5 {
        for structure in &mut runs {
            step(&mut **structure, &Frame::new(&scene.boxes), &mut Context::new(), &mut store).unwrap();
            for axis in ["dispersion_primary", "dispersion_secondary"] {
                let dispersion = extra(&**structure, axis);
                assert!(dispersion < 0.01, "{axis} {dispersion} in frame {frame}");
                assert_eq!(dispersion == 0.0, frame == 0, "the first frame is not trusted");
            }
            let deviation = extra(&**structure, "pair_share_deviation");
            assert!(deviation > 0.0 && deviation < 1.5, "{deviation} percentage points in frame {frame}");
            assert_eq!(extra(&**structure, "axis_swaps"), 0.0);
        }
        scene.step();
    }
}

#[test]
fn two_axes_need_far_fewer_tests_than_one() {
    let scene = Bouncing::new(20_000, 0.2);
    let tests = |spec: &str| {
        let mut store = PairStore::default();
        step(&mut *build::<3, f32>(spec), &Frame::new(&scene.boxes), &mut Context::new(), &mut store).unwrap();
        (store.tests(), store.len())
    };
    let (one, two, tree) = (tests("sort-and-sweep"), tests("sweep"), tests("sweep:active=tree"));
    assert_eq!((one.1, one.1), (two.1, tree.1));
    assert!(two.0 * 4 < one.0 && tree.0 * 6 < one.0, "{one:?} {two:?} {tree:?}");
}

/// Equal cubes, regular on two axes, crossing the plane `u = 0` together in the middle of the run.
fn plane_crossing(u: usize, options: &str) -> (u64, u64, f64) {
    let side = 70;
    let mut random = Random(3);
    let starts: Vec<f32> = (0..side * side).map(|_| (random.unit() as f32 - 0.5) * side as f32).collect();
    let mut structure = build::<3, f32>(&format!("sweep:{options}"));
    let (mut store, mut context) = (PairStore::default(), Context::new());
    let (mut before, mut peak) = (0, 0);
    let frames = 120;
    for frame in 0..frames {
        let share = 1.0 - 2.0 * frame as f32 / frames as f32;
        let boxes = starts.iter().enumerate().map(|(i, start)| {
            let (mut center, grid) = ([0.0; 3], [(i % side) as f32, (i / side) as f32]);
            center[u] = start * share;
            center[(u + 1) % 3] = grid[0] - side as f32 * 0.5;
            center[(u + 2) % 3] = grid[1] - side as f32 * 0.5;
            Aabb::from_center(center, [0.495; 3])
        });
        let boxes: Vec<_> = boxes.collect();
        step(&mut *structure, &Frame::new(&boxes), &mut context, &mut store).unwrap();
        assert_eq!(store.len(), 0, "nothing touches in frame {frame}");
        if frame < frames / 4 {
            before = before.max(store.tests());
        }
        peak = peak.max(store.tests());
    }
    (before, peak, extra(&*structure, "axis_swaps"))
}

#[test]
fn the_axis_swap_takes_the_peak_off_a_plane_crossing() {
    for u in [0, 1] {
        let (before, with, swaps) = plane_crossing(u, "swap=on");
        let (_, by_dispersion, once) = plane_crossing(u, "patrol=0");
        let (_, without, none) = plane_crossing(u, "swap=off");
        assert_eq!((swaps, once, none), (1.0, 1.0, 0.0), "axis {u}");
        assert!(without > 3 * before, "axis {u}: {before} tests before, {without} at the peak without a swap");
        assert!(with < 2 * before, "axis {u}: {before} tests before, {with} at the peak with a swap");
        assert!(by_dispersion < without, "axis {u}: {by_dispersion} tests at the peak if dispersion alone decides");
    }
    assert_eq!(plane_crossing(2, "swap=on").2, 0.0, "the third axis may cluster as it likes");
}

/// The text's rule needs no second opinion: as many swaps, and the peak is lower than without.
#[test]
fn by_the_paper_the_dispersion_takes_the_peak_off_a_plane_crossing() {
    for u in [0, 1] {
        let (_, with, swaps) = plane_crossing(u, "paper=true:partitions=16");
        let (before, without, none) = plane_crossing(u, "paper=true:partitions=16:swap=off");
        assert_eq!((swaps, none), (1.0, 0.0), "axis {u}");
        assert!(
            without > 3 * before && with < without,
            "axis {u}: {before} tests before, {without} at the peak, {with} with a swap"
        );
    }
    assert_eq!(plane_crossing(0, "paper=true").2, 0.0, "one partition has one bucket, whose dispersion is 0");
}

/// What line 10 of algorithm 4 is for: the partitions test together what one tests, and each candidate once.
#[test]
fn by_the_paper_partitions_add_no_tests_and_need_fewer_than_the_blocks() {
    let scene = Bouncing::new(6000, 0.35);
    let run = |spec: &str| {
        let mut store = PairStore::default();
        step(&mut *build::<3, f32>(spec), &Frame::new(&scene.boxes), &mut Context::new(), &mut store).unwrap();
        (store.tests(), store.sorted().len())
    };
    let alone = run("sweep:paper=true");
    for partitions in [2, 7, 16, 64] {
        assert_eq!(run(&format!("sweep:paper=true:partitions={partitions}")), alone, "{partitions} partitions");
    }
    let ours = run("sweep");
    assert!(alone.1 == ours.1 && alone.0 <= ours.0, "{alone:?} {ours:?}: blocks test neighbors of candidates as well");
}

#[test]
fn an_implosion_is_exact_at_every_tenth_frame() {
    let AnyScene::Three(mut scene) = "implosion".parse::<SceneSpec>().unwrap().build(16_384, 0).unwrap() else { unreachable!() };
    let (mut sweep, mut all_pairs) = (build::<3, f32>("sweep"), build::<3, f32>("brute-force"));
    let (mut found, mut expected, mut context) = (PairStore::default(), PairStore::default(), Context::new());
    let mut most = 0;
    for frame in 0..500 {
        step(&mut *sweep, &Frame::new(scene.boxes()), &mut context, &mut found).unwrap();
        if frame % 10 == 0 {
            step(&mut *all_pairs, &Frame::new(scene.boxes()), &mut context, &mut expected).unwrap();
            assert_eq!(found.sorted(), expected.sorted(), "frame {frame}");
            most = most.max(expected.len());
        }
        scene.advance();
    }
    assert!(most > 16_384, "the collapse is past when objects are crowded: {most} pairs at most");
}

#[test]
fn one_plane_does_not_stretch_the_ranges_of_all_others() {
    let mut scene = Bouncing::new(20_000, 0.2);
    let tests = |boxes: &[Aabb<3, f32>]| {
        let mut store = PairStore::default();
        let mut structure = build::<3, f32>("sweep");
        step(&mut *structure, &Frame::new(boxes), &mut Context::new(), &mut store).unwrap();
        store.tests()
    };
    let before = tests(&scene.boxes);
    scene.boxes[5] = Aabb::new([f32::NEG_INFINITY; 3], [f32::INFINITY, f32::INFINITY, -0.5]);
    let after = tests(&scene.boxes);
    assert!(after < before + before / 4, "{before} tests, and {after} with a half-space");
}

#[test]
fn an_update_without_change_tests_nothing() {
    let scene = Bouncing::new(2000, 0.2);
    for spec in ["sweep", "sweep:paper=true:partitions=4", "sort-and-sweep"] {
        let mut structure = build::<3, f32>(spec);
        let (mut store, mut context) = (PairStore::new(Report::Both), Context::new());
        step(&mut *structure, &Frame::new(&scene.boxes), &mut context, &mut store).unwrap();
        let (first, tests) = (store.to_vec(), store.tests());
        assert!(tests > 0);
        let nothing = Changes::Listed { moved: &[], inserted: &[], removed: &[] };
        for changes in [Changes::Unknown, nothing] {
            step(&mut *structure, &Frame::new(&scene.boxes).with_changes(changes), &mut context, &mut store).unwrap();
            assert_eq!((store.to_vec(), store.tests()), (first.clone(), 0), "{spec}");
            assert!(store.started().is_empty() && store.ended().is_empty());
        }
        // A fresh store gets everything again.
        let mut fresh = PairStore::default();
        step(&mut *structure, &Frame::new(&scene.boxes).with_changes(nothing), &mut context, &mut fresh).unwrap();
        assert_eq!((fresh.to_vec(), fresh.tests()), (first, tests), "{spec}");
    }
}

#[test]
fn a_rejected_frame_leaves_the_structure_unchanged() {
    let scene = Bouncing::new(300, 0.2);
    for spec in ["sweep", "sweep:paper=true:partitions=4", "sort-and-sweep"] {
        let mut structure = build::<3, f32>(spec);
        let mut context = Context::new();
        structure.update(&Frame::new(&scene.boxes), &mut context).unwrap();
        let mut broken = scene.boxes.clone();
        broken[17].min[1] = f32::NAN;
        assert!(structure.update(&Frame::new(&broken), &mut context).is_err());
        structure.validate(&Frame::new(&scene.boxes), Strength::Geometry).unwrap();
        let mut store = PairStore::default();
        structure.pairs(&Frame::new(&scene.boxes), &mut context, &mut store).unwrap();
        assert_eq!(store.sorted(), pairs_of(&scene.boxes, |_| true), "{spec}");
    }
}

#[test]
fn probes_and_queries_agree_with_a_scan() {
    let scene = Bouncing::new(1500, 0.3);
    let frame = Frame::new(&scene.boxes);
    let probes: Vec<Aabb<3, f32>> = Bouncing::new(200, 0.1).boxes;
    for spec in ["sweep", "sort-and-sweep", "sweep:axes=zx", "sweep:paper=true:partitions=3"] {
        let mut structure = build::<3, f32>(spec);
        structure.update(&frame, &mut Context::new()).unwrap();
        let mut store = PairStore::default();
        let given = broadphase::Probes { boxes: &probes, ids: None, recurring: false };
        structure.probe(&frame, given, &mut Context::new(), &mut store).unwrap();
        let overlapping = |probe: &Aabb<3, f32>| {
            let ids = (0..scene.boxes.len() as u32).filter(|&id| scene.boxes[id as usize].overlaps(probe));
            ids.collect::<Vec<_>>()
        };
        let expected: Vec<Pair> = probes
            .iter()
            .enumerate()
            .flat_map(|(a, probe)| overlapping(probe).into_iter().map(move |b| Pair { a: a as u32, b }))
            .collect();
        assert!(!expected.is_empty());
        assert_eq!(store.sorted(), expected, "{spec}");
        for probe in &probes {
            let mut found = Vec::new();
            structure.reader().unwrap().in_box(&frame, probe, &mut |id| {
                found.push(id);
                std::ops::ControlFlow::Continue(())
            });
            found.sort_unstable();
            assert_eq!(found, overlapping(probe), "{spec}");
        }
    }
}

#[test]
fn tiny_and_empty_frames_are_legal() {
    for spec in [
        "sweep",
        "sweep:partitions=64",
        "sweep:path=parallel",
        "sweep:active=tree",
        "sweep:paper=true:partitions=64",
        "sort-and-sweep",
    ] {
        for n in [0, 1, 2, 3, 65, 0, 5] {
            let boxes = vec![Aabb::new([0.0f64; 2], [1.0; 2]); n];
            let mut structure = build::<2, f64>(spec);
            let mut store = PairStore::default();
            step(&mut *structure, &Frame::new(&boxes), &mut Context::new(), &mut store).unwrap();
            structure.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
            assert_eq!(store.len() as usize, n * n.saturating_sub(1) / 2, "{spec} {n}");
        }
    }
}

#[test]
fn a_third_axis_is_rejected_in_two_dimensions() {
    for spec in ["sweep:axes=xz", "sort-and-sweep:axis=z"] {
        let spec: Spec = spec.parse().unwrap();
        assert!(spec.build::<2, f32>().is_err() && spec.build::<3, f32>().is_ok());
    }
}
