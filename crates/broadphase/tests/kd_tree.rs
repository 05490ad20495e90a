//! The kd-tree against brute force, and the claims of its paper in counted form.

use std::ops::ControlFlow;

use broadphase::algorithms::kd_tree::{KdTree, Options, Variant};
use broadphase::geometry::HalfSpaces;
use broadphase::{
    Aabb, Ball, BroadPhase, Changes, Context, Frame, HalfSpace, Isa, Kernels, Live, Pair, PairStore, Query, Ray, Real, Report,
    Spec, Strength, Swept, step,
};
use broadphase_testing::Random;
use broadphase_testing::executors::{Racing, Serialized};

const VARIANTS: [&str; 4] = ["kd-tree", "kd-tree-complete", "kd-tree-incremental", "kd-tree-rebuilt"];

fn build<const D: usize, T: Real>(spec: &str) -> Box<dyn BroadPhase<D, T>> {
    spec.parse::<Spec>().unwrap().build().unwrap()
}

fn truth<const D: usize, T: Real>(frame: &Frame<'_, D, T>) -> Vec<Pair> {
    let mut store = PairStore::default();
    let frame = frame.with_changes(Changes::All);
    step(&mut *build::<D, T>("brute-force"), &frame, &mut Context::new(), &mut store).unwrap();
    store.sorted()
}

fn extra(structure: &dyn BroadPhase<3, f32>, name: &str) -> f64 {
    let stats = structure.stats();
    stats.extra.iter().find(|entry| entry.0 == name).unwrap_or_else(|| panic!("no figure '{name}'")).1
}

/// Compares sorted lists, and says little of long ones.
fn assert_same(found: &[Pair], expected: &[Pair], what: &str) {
    let missing: Vec<_> = expected.iter().filter(|p| found.binary_search(p).is_err()).take(5).collect();
    let extra: Vec<_> = found.iter().filter(|p| expected.binary_search(p).is_err()).take(5).collect();
    assert!(found == expected, "{what}: {} of {} pairs; missing {missing:?}, extra {extra:?}", found.len(), expected.len());
}

/// Random motion of several kinds, insertion, removal, growth, unbounded boxes, skipped searches, fresh stores.
fn follows_random_changes<const D: usize, T: Real>(spec: &str, seed: u64) {
    let mut random = Random(seed);
    let world = if D == 2 { 30.0 } else { 12.0 };
    let mut boxes: Vec<Aabb<D, T>> = (0..500).map(|_| random.cube(world, 1.0)).collect();
    let mut live = vec![!0u64; 16];
    let mut structure = build::<D, T>(spec);
    let (mut context, mut store) = (Context::new(), PairStore::new(Report::Both));
    let mut last: Vec<Pair> = Vec::new();
    for round in 0..36 {
        let (mut moved, mut inserted, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        if round % 13 == 5 {
            for _ in 0..60 {
                let id = boxes.len() as u32;
                boxes.push(random.cube(world, 1.0));
                live[id as usize / 64] |= 1 << (id % 64);
                inserted.push(id);
            }
        }
        let busy = [0, 5, 40, 400][round / 3 % 4];
        for _ in 0..random.below(busy + 1) {
            let id = random.below(boxes.len() as u64) as u32;
            if moved.contains(&id) || inserted.contains(&id) || removed.contains(&id) {
                continue;
            }
            let (word, bit) = (id as usize / 64, 1 << (id % 64));
            let old = live[word] & bit != 0;
            if old && random.below(8) == 0 {
                live[word] &= !bit;
                removed.push(id);
                continue;
            }
            let value = &mut boxes[id as usize];
            *value = match random.below(60) {
                0 => Aabb::new([T::NEG_INFINITY; D], value.max.map(|c| c.min(T::from_f64(world)))),
                1 => random.cube(world, 0.0),
                2 | 3 => random.cube(world, 1.0),
                // Within epsilon, mostly: static for the tree, but the pairs may change.
                4..=25 if value.is_finite() => {
                    value.translate(std::array::from_fn(|_| T::from_f64(random.unit() * 0.004 - 0.002)))
                }
                _ if value.is_finite() => value.translate(std::array::from_fn(|_| T::from_f64(random.unit() - 0.5))),
                _ => random.cube(world, 2.0),
            };
            live[word] |= bit;
            if old { moved.push(id) } else { inserted.push(id) }
        }
        let changes = match round % 10 {
            3 => Changes::All,
            0 | 1 | 7 | 8 => Changes::Unknown,
            _ => Changes::Listed { moved: &moved, inserted: &inserted, removed: &removed },
        };
        let frame = Frame { live: Live::Bits(&live), ..Frame::new(&boxes).with_changes(changes) };
        structure.update(&frame, &mut context).unwrap();
        structure.validate(&frame, Strength::Geometry).unwrap_or_else(|e| panic!("{spec} round {round}: {e}"));
        if round % 6 == 4 {
            continue; // two updates before a search
        }
        structure.pairs(&frame, &mut context, &mut store).unwrap();
        let expected = truth(&frame);
        assert_same(&store.sorted(), &expected, &format!("{spec} round {round}"));
        let started: Vec<_> = expected.iter().filter(|p| last.binary_search(p).is_err()).copied().collect();
        let ended: Vec<_> = last.iter().filter(|p| expected.binary_search(p).is_err()).copied().collect();
        assert_same(store.started(), &started, &format!("{spec} round {round}, started"));
        assert_same(store.ended(), &ended, &format!("{spec} round {round}, ended"));
        last = expected;
        if round % 17 == 9 {
            let mut fresh = PairStore::default();
            structure.pairs(&frame, &mut context, &mut fresh).unwrap();
            assert_same(&fresh.sorted(), &last, &format!("{spec} round {round}, a fresh store"));
            store.clear();
            last.clear();
        }
    }
}

#[test]
fn every_variant_follows_random_changes() {
    for variant in VARIANTS {
        for options in [":t=8", ":t=64", ":t=20:mode=tree", ":mode=sweep"] {
            let spec = format!("{variant}{options}");
            follows_random_changes::<3, f32>(&spec, 1);
            follows_random_changes::<2, f64>(&spec, 2);
        }
    }
    for spec in
        ["kd-tree:t=8:k=0", "kd-tree:t=8:k=100", "kd-tree-incremental:t=8:epsilon=0", "kd-tree-incremental:t=8:epsilon=0.3"]
    {
        follows_random_changes::<2, f32>(spec, 3);
        follows_random_changes::<3, f64>(spec, 4);
    }
}

/// Cubes of edge 1 in a world of volume 50 each, as in the paper.
fn sparse(count: usize, seed: u64) -> Vec<Aabb<3, f32>> {
    let mut random = Random(seed);
    let world = (50.0 * count as f64).cbrt();
    (0..count).map(|_| random.cube(world, 1.0)).collect()
}

fn run(spec: &str, frames: &[&[Aabb<3, f32>]]) -> (Box<dyn BroadPhase<3, f32>>, PairStore) {
    let (mut structure, mut context, mut store) = (build::<3, f32>(spec), Context::new(), PairStore::default());
    for boxes in frames {
        step(&mut *structure, &Frame::new(boxes), &mut context, &mut store).unwrap();
    }
    (structure, store)
}

fn translated(boxes: &[Aabb<3, f32>], by: f32, every: usize) -> Vec<Aabb<3, f32>> {
    let mut moved = boxes.to_vec();
    moved.iter_mut().step_by(every).for_each(|value| *value = value.translate([by, -by, by]));
    moved
}

#[test]
fn unchanged_frames_keep_their_pairs_where_a_new_tree_of_the_same_objects_would_have_other_nodes() {
    let mut random = Random(17);
    // Sums over boxes that reach very far depend on the order of their terms, and so do mean and split.
    let mut far = |world: f64| {
        let mut value: Aabb<3, f32> = random.cube(world, 1.0);
        if random.below(20) == 0 {
            value.min[random.below(3) as usize] = -f32::MAX;
        }
        value
    };
    for variant in VARIANTS {
        let (mut structure, mut context) = (build::<3, f32>(&format!("{variant}:t=4")), Context::new());
        let mut store = PairStore::default();
        for round in 0..10 {
            let boxes: Vec<Aabb<3, f32>> = (0..1000).map(|_| far(20.0)).collect();
            step(&mut *structure, &Frame::new(&boxes), &mut context, &mut store).unwrap();
            let expected = truth(&Frame::new(&boxes));
            for again in 0..4 {
                let unchanged = Frame::new(&boxes).with_changes(Changes::Listed { moved: &[], inserted: &[], removed: &[] });
                step(&mut *structure, &unchanged, &mut context, &mut store).unwrap();
                assert_same(&store.sorted(), &expected, &format!("{variant}, round {round}, unchanged frame {again}"));
            }
        }
    }
}

/// The authors' own code starts its first incremental frame with an empty cache, and never finds the pairs of static objects.
#[test]
fn an_incremental_frame_after_a_complete_one_fills_the_cache() {
    let start = sparse(3000, 1);
    let jumped = translated(&start, 2.0, 1);
    let few = translated(&jumped, 0.5, 20);
    let (mut structure, mut context, mut store) = (build::<3, f32>("kd-tree:t=32"), Context::new(), PairStore::default());
    let frames =
        [(&start, 0.0), (&start, 1.0), (&start, 1.0), (&jumped, 0.0), (&jumped, 1.0), (&few, 1.0), (&start, 0.0), (&start, 1.0)];
    for (number, (boxes, incremental)) in frames.into_iter().enumerate() {
        let frame = Frame::new(boxes);
        step(&mut *structure, &frame, &mut context, &mut store).unwrap();
        assert_eq!(extra(&*structure, "incremental"), incremental, "frame {number}");
        assert_same(&store.sorted(), &truth(&frame), &format!("frame {number}"));
    }
}

/// Node caches are filled once, used while the same objects move, refilled when others do, and dropped when most do.
#[test]
fn an_incremental_search_reads_what_moves_and_what_came_to_rest_lately() {
    let start = sparse(6000, 10);
    let (mut structure, mut context, mut store) =
        (build::<3, f32>("kd-tree-incremental:t=64"), Context::new(), PairStore::default());
    let mut read = |boxes: &[Aabb<3, f32>], what: &str| {
        let frame = Frame::new(boxes);
        step(&mut *structure, &frame, &mut context, &mut store).unwrap();
        structure.validate(&frame, Strength::Geometry).unwrap();
        assert_same(&store.sorted(), &truth(&frame), what);
        extra(&*structure, "read share")
    };
    let mut boxes = start.clone();
    let push = |boxes: &mut [Aabb<3, f32>], first: usize, every: usize, round: usize| {
        let by = [0.3, -0.2, 0.25, -0.3, 0.1][round % 5];
        boxes.iter_mut().skip(first).step_by(every).for_each(|value| *value = value.translate([by, by * 0.5, -by]));
    };
    assert_eq!(read(&boxes, "the first frame"), 1.0);
    let mut anew = 0;
    for round in 0..40 {
        push(&mut boxes, 0, 20, round);
        let share = read(&boxes, &format!("the same twentieth, round {round}"));
        anew += usize::from(share == 1.0);
        assert!((0.05..0.1).contains(&share) || share == 1.0, "round {round}: {share}");
    }
    // Once, to drop the objects that always move from the caches, and not again.
    assert_eq!(anew, 1);
    let mut anew = 0;
    for round in 0..40 {
        push(&mut boxes, round % 20, 20, round / 20);
        anew += usize::from(read(&boxes, &format!("another twentieth each time, round {round}")) > 0.9);
    }
    assert!((2..20).contains(&anew), "refilled {anew} times");
    for round in 0..6 {
        push(&mut boxes, 0, 1, round);
        read(&boxes, &format!("all of them, round {round}"));
    }
    for round in 0..6 {
        push(&mut boxes, 7, 50, round);
        let share = read(&boxes, &format!("a fiftieth, round {round}"));
        assert!(round < 3 || share < 0.3, "round {round}: {share}");
    }
}

#[test]
fn motion_within_epsilon_leaves_the_tree_alone_but_pairs_are_exact() {
    let mut boxes = vec![Aabb::new([0.0f32; 3], [1.0; 3]), Aabb::new([1.001, 0.0, 0.0], [2.0, 1.0, 1.0])];
    boxes.extend(sparse(500, 2).iter().map(|value| value.translate([100.0; 3])));
    let touching = {
        let mut touching = boxes.clone();
        touching[0] = touching[0].translate([0.002, 0.0, 0.0]);
        touching
    };
    let (structure, store) = run("kd-tree-incremental:t=16", &[&boxes, &boxes, &touching]);
    assert_eq!(
        (extra(&*structure, "static share"), extra(&*structure, "raised"), extra(&*structure, "lowered")),
        (1.0, 0.0, 0.0)
    );
    assert!(store.sorted().contains(&Pair { a: 0, b: 1 }));
    let (_, store) = run("kd-tree-incremental:t=16", &[&boxes, &touching, &boxes]);
    assert!(!store.sorted().contains(&Pair { a: 0, b: 1 }), "held boxes overlap, the objects' boxes do not");
}

#[test]
fn the_list_is_the_same_for_any_thread_count_and_instruction_set() {
    let (start, moved) = (sparse(20_000, 3), translated(&sparse(20_000, 3), 0.3, 5));
    for variant in VARIANTS {
        let list = |mut context: Context| {
            let (mut structure, mut store) = (build::<3, f32>(variant), PairStore::default());
            for boxes in [&start, &moved, &start] {
                step(&mut *structure, &Frame::new(boxes), &mut context, &mut store).unwrap();
            }
            (store.to_vec(), store.tests())
        };
        let expected = list(Context::new());
        for isa in Isa::available() {
            assert!(list(Context::new().with_kernels(Kernels::new(isa).unwrap())) == expected, "{variant} {isa}");
        }
        #[cfg(feature = "parallel")]
        for threads in 2..4 {
            let context = Context::new().with_executor(broadphase::Threads::new(threads).unwrap());
            assert!(list(context) == expected, "{variant} with {threads} threads");
        }
    }
}

/// Figure 9: a larger T gives a lower tree with more of the objects in its leaves.
#[test]
fn the_tree_grows_with_falling_t_and_objects_leave_its_leaves() {
    let boxes = sparse(16_000, 4);
    let mut last: Option<(f64, f64)> = None;
    for t in [16, 64, 256, 1024, 4096, 32_768] {
        let (structure, store) = run(&format!("kd-tree-complete:t={t}"), &[&boxes]);
        assert_same(&store.sorted(), &truth(&Frame::new(&boxes)), &format!("t = {t}"));
        let now = (extra(&*structure, "leaf height mean"), extra(&*structure, "objects in leaves share"));
        assert!(extra(&*structure, "objects in fullest leaf") <= f64::from(t).max(60.0), "t = {t}");
        if let Some(last) = last {
            assert!(now.0 < last.0 && now.1 > last.1, "t = {t}: {now:?} after {last:?}");
        }
        last = Some(now);
    }
    assert_eq!(last, Some((0.0, 1.0)));
}

/// Figure 11: tree and sweep together need far fewer tests than either alone.
#[test]
fn tree_and_sweep_together_prune_more_than_either_alone() {
    let boxes = sparse(16_000, 5);
    let tests = |mode: &str| run(&format!("kd-tree-complete:mode={mode}"), &[&boxes]).1.tests();
    let (both, tree, sweep) = (tests("both"), tests("tree"), tests("sweep"));
    assert!(both * 10 < tree && both * 10 < sweep, "both {both}, tree {tree}, sweep {sweep}");
    assert!(both < 16_000 * 30, "a few tests per object: {both}");
}

/// Figures 10 and 12: with most objects static, the incremental search tests a small part of the pairs, and the tree is left alone.
#[test]
fn the_incremental_search_tests_in_proportion_to_what_moves() {
    let start = sparse(8000, 6);
    let moved = translated(&start, 0.4, 20);
    let tests = |spec: &str| {
        let (structure, store) = run(spec, &[&start, &start, &moved]);
        assert_same(&store.sorted(), &truth(&Frame::new(&moved)), spec);
        let _ = structure;
        store.tests()
    };
    let (complete, incremental, adaptive) = (tests("kd-tree-complete"), tests("kd-tree-incremental"), tests("kd-tree"));
    assert!(incremental * 4 < complete, "incremental {incremental}, complete {complete}");
    assert!(adaptive.abs_diff(incremental) * 20 < incremental, "adaptive {adaptive}, incremental {incremental}");
    let (structure, store) = run("kd-tree", &[&start, &start, &start]);
    let work: f64 = ["raised", "lowered", "partitions", "collapses", "translations", "erasures"]
        .map(|name| extra(&*structure, name))
        .iter()
        .sum();
    assert_eq!((work, store.tests()), (0.0, 0));
}

/// The same share of static objects, and few pairs or hundreds of times as many: counted work decides, not the share.
#[test]
fn the_adaptive_search_is_incremental_where_that_is_less_work_and_complete_in_a_crowd_at_equal_rest() {
    for (name, shrink, incremental) in [("sparse", 1.0, 1.0), ("crowd", 0.15, 0.0)] {
        let mut boxes: Vec<Aabb<3, f32>> =
            sparse(6000, 11).iter().map(|value| Aabb::from_center(value.center().map(|c| c * shrink), [0.5; 3])).collect();
        let (mut structure, mut context, mut store) = (build::<3, f32>("kd-tree"), Context::new(), PairStore::default());
        for round in 0..12 {
            let by = [0.2, -0.1, 0.15, -0.25][round % 4];
            boxes.iter_mut().skip(3).step_by(5).for_each(|value| *value = value.translate([by, -by, by]));
            step(&mut *structure, &Frame::new(&boxes), &mut context, &mut store).unwrap();
            assert_same(&store.sorted(), &truth(&Frame::new(&boxes)), &format!("{name}, round {round}"));
        }
        let share = extra(&*structure, "incremental work share");
        assert!((extra(&*structure, "static share") - 0.8).abs() < 0.02, "{name}");
        assert_eq!(extra(&*structure, "incremental"), incremental, "{name}: {share}");
    }
}

/// The update algorithm moves few objects where a rebuilt tree moves each at every level.
#[test]
fn following_motion_moves_far_fewer_objects_than_rebuilding() {
    let start = sparse(8000, 7);
    let moved = translated(&start, 0.1, 1);
    let lowered = |spec: &str| extra(&*run(spec, &[&start, &moved]).0, "lowered");
    let (followed, rebuilt) = (lowered("kd-tree-complete"), lowered("kd-tree-rebuilt"));
    assert!(followed * 10.0 < rebuilt, "{followed} against {rebuilt}");
}

#[test]
fn inputs_that_break_mean_splits_stay_flat_and_correct() {
    let count = 3000;
    let spots = |at: &dyn Fn(usize) -> [f32; 3], size: f32| -> Vec<Aabb<3, f32>> {
        (0..count).map(|i| Aabb::from_center(at(i), [size * 0.5; 3])).collect()
    };
    let spread = |i: usize, k: usize| ((i * (7919 + 104_729 * k)) % 1_000_003) as f32 * 1e-3;
    let cases = [
        ("one place", spots(&|_| [3.0, -1.0, 2.0], 0.0)),
        ("one axis", spots(&|i| [i as f32, 0.0, 0.0], 0.9)),
        ("one plane", spots(&|i| [spread(i, 0), 5.0, spread(i, 1)], 1.0)),
        ("half identical", spots(&|i| if i % 2 == 0 { [500.0; 3] } else { [spread(i, 0), spread(i, 1), spread(i, 2)] }, 0.1)),
        ("powers", spots(&|i| [1.3f32.powi((i % 300) as i32), 1.7f32.powi((i % 150) as i32), 0.0], 0.5)),
        ("an outlier", spots(&|i| if i == 0 { [1e30; 3] } else { [spread(i, 0), spread(i, 1), spread(i, 2)] }, 1.0)),
        ("far away", spots(&|i| [1e7 + spread(i, 0), -1e7 - spread(i, 1), 1e7], 1.0)),
    ];
    for (name, boxes) in &cases {
        for variant in VARIANTS {
            let frame = Frame::new(boxes);
            let (structure, store) = run(&format!("{variant}:t=16"), &[boxes, boxes]);
            structure.validate(&frame, Strength::Geometry).unwrap();
            assert_same(&store.sorted(), &truth(&frame), &format!("{variant}, {name}"));
            // A branch has at most 77 % of its parent's objects: log(3000 / 16) / log(1 / 0.77) is 20.
            assert!(extra(&*structure, "leaf height max") <= 21.0, "{variant}, {name}");
        }
    }
}

#[test]
fn queries_visit_what_a_scan_finds() {
    let mut boxes = sparse(2000, 8);
    boxes[7] = Aabb::new([f32::NEG_INFINITY, 0.0, 0.0], [f32::INFINITY, 1.0, 1.0]);
    let frame = Frame::new(&boxes);
    let mut tree = KdTree::new(Options { threshold: 16, ..Options::new(Variant::Adaptive) });
    tree.update(&frame, &mut Context::new()).unwrap();
    let reader: &dyn Query<3, f32> = &tree;
    let mut random = Random(9);
    let scan =
        |test: &dyn Fn(&Aabb<3, f32>) -> bool| -> Vec<u32> { frame.ids().filter(|&id| test(&boxes[id as usize])).collect() };
    type Visitor<'a> = &'a dyn Fn(&mut dyn FnMut(u32));
    let sorted = |visit: Visitor<'_>| {
        let mut ids = Vec::new();
        visit(&mut |id| ids.push(id));
        ids.sort_unstable();
        ids
    };
    for _ in 0..50 {
        let area: Aabb<3, f32> = random.cube(46.0, 4.0);
        let step = [random.unit() as f32 * 20.0 - 10.0, random.unit() as f32 * 20.0 - 10.0, 0.0];
        let go = ControlFlow::Continue::<(), ()>;
        let found = sorted(&|push| {
            reader.in_box(&frame, &area, &mut |id| {
                push(id);
                go(())
            })
        });
        assert_eq!(found, scan(&|value| value.overlaps(&area)));
        let ball = Ball { center: area.min, radius: 3.0 };
        let found = sorted(&|push| {
            reader.in_ball(&frame, &ball, &mut |id| {
                push(id);
                go(())
            })
        });
        assert_eq!(found, scan(&|value| ball.overlaps_box(value)));
        let swept = Swept::new(area, step);
        let found = sorted(&|push| {
            reader.in_swept(&frame, &swept, &mut |id, _| {
                push(id);
                go(())
            })
        });
        assert_eq!(found, scan(&|value| swept.enters(value).is_some()));
        let ray = Ray::new(area.min, step, 2.0);
        let found = sorted(&|push| {
            reader.along_ray(&frame, &ray, &mut |id, _| {
                push(id);
                ControlFlow::Continue(ray.length)
            })
        });
        assert_eq!(found, scan(&|value| ray.enters(value).is_some()));
        let sides = [
            HalfSpace { normal: [1.0, 0.0, 0.0], offset: area.max[0] },
            HalfSpace { normal: [-1.0, 0.5, 0.0], offset: 5.0 },
            HalfSpace { normal: [0.0, step[0], -3.0], offset: 2.0 },
        ];
        let found = sorted(&|push| {
            reader.search(&frame, &HalfSpaces(&sides), 0.0, &mut |id, _| {
                push(id);
                ControlFlow::Continue(0.0)
            })
        });
        assert_eq!(found, scan(&|value| sides.iter().all(|side| side.overlaps_box(value))));
    }
}

#[test]
fn options_are_checked_when_a_spec_is_read() {
    for good in ["kd-tree:t=64:k=50:epsilon=0.05:mode=tree", "kd-tree-rebuilt:t=1", "kd-tree-incremental:epsilon=0"] {
        good.parse::<Spec>().unwrap();
    }
    for bad in ["kd-tree:t=0", "kd-tree:k=101", "kd-tree:epsilon=-1", "kd-tree:mode=all", "kd-tree-complete:k=60"] {
        assert!(bad.parse::<Spec>().is_err(), "{bad}");
    }
}

/// Under listed changes, too, an object that moves within epsilon is static.
#[test]
fn epsilon_is_measured_under_listed_changes() {
    let mut boxes = sparse(3000, 4);
    let mut structure = build::<3, f32>("kd-tree-incremental:t=32");
    let (mut context, mut store) = (Context::new(), PairStore::default());
    let all: Vec<u32> = (0..boxes.len() as u32).collect();
    for round in 0..6 {
        let changes = match round {
            0 => Changes::Listed { moved: &[], inserted: &all, removed: &[] },
            _ => Changes::Listed { moved: &all, inserted: &[], removed: &[] },
        };
        let by = [0.001, -0.001][round % 2];
        boxes.iter_mut().for_each(|value| *value = value.translate([by; 3]));
        let frame = Frame::new(&boxes).with_changes(changes);
        step(&mut *structure, &frame, &mut context, &mut store).unwrap();
        assert_same(&store.sorted(), &truth(&frame), &format!("round {round}"));
        let static_share = extra(&*structure, "static share");
        assert!(round == 0 || static_share > 0.9, "round {round}: {static_share}");
    }
}

/// Complete frames classify a sample of the slots, incremental ones all of them: if the movers are not spread evenly over the slots, the two
/// counts differ, and must not switch back and forth.
#[test]
fn adaptive_does_not_switch_in_every_frame_when_the_sample_differs_from_the_whole() {
    // 16,384 slots are 256 words, of which a sample takes every 16th.
    let is_sampled = |id: usize| (id / 64).is_multiple_of(16);
    for moving_in_sample in [false, true] {
        let mut boxes = sparse(16_384, 2);
        let (mut structure, mut context, mut store) = (build::<3, f32>("kd-tree"), Context::new(), PairStore::default());
        let mut modes = Vec::new();
        for round in 0..10 {
            // A third of what the sample does not see moves, or all that it sees and a tenth of the rest.
            let moves = |id: usize| match moving_in_sample {
                true => is_sampled(id) || id.is_multiple_of(10),
                false => !is_sampled(id) && id.is_multiple_of(3),
            };
            let by = [0.4, -0.4][round % 2];
            boxes.iter_mut().enumerate().filter(|(id, _)| moves(*id)).for_each(|(_, value)| *value = value.translate([by; 3]));
            step(&mut *structure, &Frame::new(&boxes), &mut context, &mut store).unwrap();
            modes.push(extra(&*structure, "incremental"));
        }
        let switches = modes.windows(2).filter(|two| two[0] != two[1]).count();
        assert!(switches <= 1, "{modes:?}");
    }
}

/// The text's mechanisms, counted: K = 60 and nothing else decides, all objects are classified, and pairs of static objects come from the cache. Were the
/// cache not filled, an incremental frame would test what a complete one tests.
#[test]
fn by_the_paper_sixty_percent_decide_and_static_pairs_come_from_the_cache() {
    let still = sparse(4000, 3);
    for (every, static_share, incremental) in [(2, 0.5, 0.0), (3, 2.0 / 3.0, 1.0), (10, 0.9, 1.0)] {
        let moved = translated(&still, 0.4, every);
        let frames: Vec<&[Aabb<3, f32>]> = vec![&still, &moved, &still, &moved];
        let (adaptive, found) = run("kd-tree:paper=true", &frames);
        let (_, complete) = run("kd-tree-complete:paper=true", &frames);
        assert_same(&found.sorted(), &truth(&Frame::new(&moved)), &format!("one in {every} moves"));
        assert_same(&complete.sorted(), &truth(&Frame::new(&moved)), "complete");
        assert_eq!(extra(&*adaptive, "incremental"), incremental, "one in {every} moves");
        assert!((extra(&*adaptive, "static share") - static_share).abs() < 0.01, "all objects are counted, not a sample");
        if incremental == 1.0 {
            let bound = complete.tests() as f64 * (1.0 - static_share * static_share) * 1.2;
            assert!((found.tests() as f64) < bound, "one in {every} moves: {} tests of {}", found.tests(), complete.tests());
        }
    }
}

/// So many objects that subtrees are refitted, optimized and searched as jobs of their own (above 8,192), and that branches are planned as jobs of
/// their own (above 16 times as many).
#[test]
fn lists_and_counts_are_the_same_in_any_order_of_jobs_when_subtrees_are_jobs() {
    let sizes =
        [("kd-tree", 30_000), ("kd-tree-incremental", 30_000), ("kd-tree-rebuilt", 20_000), ("kd-tree-complete", 150_000)];
    for (spec, count) in sizes {
        let still = sparse(count, 11);
        let nudged = translated(&still, 0.7, 1);
        let some = translated(&nudged, -0.9, 3);
        let crowd: Vec<_> = some.iter().map(|value| value.translate(value.min.map(|c| c * -0.4))).collect();
        let few = translated(&crowd, 0.5, 10);
        let watch = |mut context: Context| {
            let (mut structure, mut store) = (build::<3, f32>(spec), PairStore::new(Report::Both));
            let frames = [&still, &nudged, &some, &crowd, &few].into_iter().map(|boxes| {
                let frame = Frame::new(boxes);
                step(&mut *structure, &frame, &mut context, &mut store).unwrap();
                structure.validate(&frame, Strength::Geometry).unwrap();
                (store.to_vec(), store.started().to_vec(), store.ended().to_vec(), store.tests(), structure.stats().extra)
            });
            frames.collect::<Vec<_>>()
        };
        let expected = watch(Context::new());
        assert!(!expected[4].0.is_empty());
        let [reversed, shuffled] = [Serialized::reversed(2), Serialized::shuffled(3, 7)];
        assert!(watch(Context::new().with_executor(reversed)) == expected, "{spec}: jobs in reverse order");
        assert!(watch(Context::new().with_executor(shuffled)) == expected, "{spec}: shuffled jobs");
        assert!(watch(Context::new().with_executor(Racing(3))) == expected, "{spec}: threads that race");
    }
}
