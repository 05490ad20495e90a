//! The classic structures: what papers 000, 001 and 004 say of them, counted.

use broadphase::{Aabb, BroadPhase, Changes, Context, Frame, PairStore, Spec, Strength, step};
use broadphase_scenes::{AnyScene, SceneSpec};
use broadphase_testing::naive;

/// One structure with its store.
struct Run<const D: usize> {
    structure: Box<dyn BroadPhase<D, f32>>,
    context: Context,
    store: PairStore,
}

impl<const D: usize> Run<D> {
    fn new(spec: &str) -> Self {
        let structure = spec.parse::<Spec>().unwrap().build().unwrap();
        Self { structure, context: Context::new(), store: PairStore::default() }
    }

    /// The tests of one frame.
    fn tests(&mut self, frame: &Frame<'_, D, f32>) -> u64 {
        step(&mut *self.structure, frame, &mut self.context, &mut self.store).unwrap();
        self.store.tests()
    }

    /// A figure of the structure's own.
    fn extra(&self, name: &str) -> f64 {
        let stats = self.structure.stats();
        stats.extra.iter().find(|(key, _)| *key == name).unwrap_or_else(|| panic!("no figure {name}")).1
    }
}

/// Unit cubes, `count` on each axis and `spacing` apart.
fn lattice<const D: usize>(count: usize, spacing: f32) -> Vec<Aabb<D, f32>> {
    let corner = |i: usize| std::array::from_fn(|k| (i / count.pow(k as u32) % count) as f32 * spacing);
    (0..count.pow(D as u32)).map(|i| Aabb::new(corner(i), corner(i).map(|c: f32| c + 1.0))).collect()
}

/// The first frame of a scene in space.
fn scene(name: &str, n: usize) -> Vec<Aabb<3, f32>> {
    match name.parse::<SceneSpec>().unwrap().build(n, 1).unwrap() {
        AnyScene::Three(scene) => scene.boxes().to_vec(),
        AnyScene::Two(_) => panic!("{name} is flat"),
    }
}

#[test]
fn four_levels_of_an_octree_are_585_nodes_and_85_in_the_plane() {
    let mut space = Run::<3>::new("octree");
    space.tests(&Frame::new(&lattice(3, 2.0)));
    assert_eq!(space.extra("nodes"), 585.0);
    let mut plane = Run::<2>::new("octree");
    plane.tests(&Frame::new(&lattice(3, 2.0)));
    assert_eq!(plane.extra("nodes"), 85.0);
    let mut deep = Run::<3>::new("octree:depth=6");
    deep.tests(&Frame::new(&lattice(3, 2.0)));
    assert_eq!(deep.extra("nodes"), 37449.0);
}

#[test]
fn an_adaptive_octree_grows_where_the_crowd_is_and_shrinks_when_it_leaves() {
    let crowd: Vec<Aabb<3, f32>> =
        (0..500).map(|i| Aabb::point([(i % 10) as f32, (i / 10 % 10) as f32, (i / 100) as f32])).collect();
    let mut boxes = crowd.clone();
    boxes.push(Aabb::point([1000.0; 3]));
    let (mut fixed, mut adaptive) = (Run::new("octree"), Run::new("octree:split=8"));
    assert!(adaptive.tests(&Frame::new(&boxes)) * 10 < fixed.tests(&Frame::new(&boxes)), "the crowd is split further");
    assert!(adaptive.extra("levels") > 4.0 && adaptive.extra("nodes") < 1000.0);
    adaptive.tests(&Frame::new(&boxes[499..]));
    assert_eq!(adaptive.extra("nodes"), 1.0, "two objects need no children");
}

#[test]
fn the_level_grid_makes_a_fraction_of_all_tests_and_the_octree_is_worse_when_objects_are_spread_evenly() {
    for name in ["city", "city-even"] {
        let boxes = scene(name, 3200);
        let n = boxes.len() as u64;
        let naive = n * (n - 1) / 2;
        let grid = Run::new("level-grid").tests(&Frame::new(&boxes));
        let octree = Run::new("octree").tests(&Frame::new(&boxes));
        assert!(grid * 3 < naive, "{name}: {grid} of {naive}");
        assert!(octree < naive, "{name}: {octree} of {naive}");
        if name == "city-even" {
            assert!(grid < octree, "{name}: {grid} and {octree}");
        }
    }
}

#[test]
fn more_levels_catch_smaller_objects_and_a_wider_ratio_leaves_fewer_oversize() {
    let boxes = scene("city", 1600);
    let tests = |spec: &str| Run::new(spec).tests(&Frame::new(&boxes));
    assert!(tests("level-grid:levels=4") < tests("level-grid:levels=1"));
    let oversize = |spec: &str| {
        let mut run = Run::new(spec);
        run.tests(&Frame::new(&boxes));
        run.extra("oversize")
    };
    assert!(oversize("level-grid:levels=4:ratio=0.1") > oversize("level-grid:levels=4:ratio=1"));
}

#[test]
fn what_stays_in_its_leaf_costs_dbvt_f_only_the_test_of_its_candidates() {
    let mut boxes = lattice::<3>(10, 1.15);
    let mut run = Run::new("dbvt-f");
    let first = run.tests(&Frame::new(&boxes));
    boxes.iter_mut().for_each(|b| *b = b.translate([0.04, -0.03, 0.05]));
    let nudged = run.tests(&Frame::new(&boxes));
    assert_eq!(nudged as f64, run.extra("candidates"));
    assert!(nudged * 2 < first, "{nudged} tests instead of {first}");
    boxes.iter_mut().for_each(|b| *b = b.translate([0.5, 0.0, 0.0]));
    let jumped = run.tests(&Frame::new(&boxes));
    assert!(jumped > nudged * 2, "all leaves were left: {jumped} tests");
    assert_eq!(Run::<3>::new("dbvt-d").extra("candidates"), 0.0);
}

#[test]
fn the_three_axis_sweep_lives_on_coherence_and_collapses_without_it() {
    let mut boxes = scene("uniform:motion=0.01", 2000);
    let mut run = Run::new("sweep-3axis");
    run.tests(&Frame::new(&boxes));
    for (i, b) in boxes.iter_mut().enumerate() {
        let size = b.size();
        let by: [f32; 3] = std::array::from_fn(|k| size[k] * 0.005 * ((i * 7 + k) % 3) as f32);
        *b = b.translate(by);
    }
    let coherent = run.tests(&Frame::new(&boxes));
    let n = boxes.len();
    boxes.rotate_left(n / 3);
    let incoherent = run.tests(&Frame::new(&boxes));
    assert!(coherent * 20 < incoherent, "{coherent} tests, and {incoherent} when everyone is elsewhere");
    let unchanged = Changes::Listed { moved: &[], inserted: &[], removed: &[] };
    assert_eq!(run.tests(&Frame::new(&boxes).with_changes(unchanged)), 0);
}

#[test]
fn objects_of_many_cells_are_tested_once_by_the_grid_of_sweeps() {
    for form in ["grid-sap", "grid-sap:resweep=true"] {
        let boxes = vec![Aabb::<3, f32>::everything(); 40];
        // In a world that is given: around infinite boxes there is none to cut.
        let mut run = Run::new(&format!("{form}:cells=6:world=0/0/0/9/9/9"));
        assert_eq!(run.tests(&Frame::new(&boxes)), 40 * 39 / 2, "{form}");
        assert_eq!(run.store.len(), 40 * 39 / 2);
        assert_eq!(run.extra("entries"), 40.0 * 216.0, "{form}");
        let spread = lattice::<3>(12, 1.2);
        let mut run = Run::new(form);
        let n = spread.len() as u64;
        assert!(run.tests(&Frame::new(&spread)) * 20 < n * n / 2, "{form}");
    }
}

#[test]
fn the_grid_of_sweep_and_prunes_tests_what_meets_and_does_not_collapse_without_coherence() {
    let mut boxes = scene("uniform:motion=0.01", 4000);
    let [mut lists, mut swept, mut whole] = ["grid-sap", "grid-sap:resweep=true", "sweep-3axis"].map(Run::new);
    let mut frame = |boxes: &[Aabb<3, f32>]| [&mut lists, &mut swept, &mut whole].map(|run| run.tests(&Frame::new(boxes)));
    frame(&boxes);
    for b in boxes.iter_mut().skip(1).step_by(3) {
        *b = b.translate(b.size().map(|side| side * 0.005));
    }
    let [coherent, anew, _] = frame(&boxes);
    assert!(coherent * 10 < anew, "{coherent} tests at exchanges of ends, {anew} if every cell is swept");
    let n = boxes.len();
    boxes.rotate_left(n / 3);
    let [incoherent, anew, collapsed] = frame(&boxes);
    assert!(incoherent < 4 * anew && incoherent * 20 < collapsed, "{incoherent} tests, {anew} swept, {collapsed} without cells");
    // One object that moves is tested in its own cells.
    let at = (0..n).find(|&at| boxes[at].size()[0] > 0.0).unwrap();
    boxes[at] = boxes[at].translate(boxes[at].size());
    let changes = Changes::Listed { moved: &[at as u32], inserted: &[], removed: &[] };
    let moved = lists.tests(&Frame::new(&boxes).with_changes(changes));
    assert!(0 < moved && moved < n as u64 / 4, "{moved} tests of one object");
    let unchanged = Changes::Listed { moved: &[], inserted: &[], removed: &[] };
    assert_eq!(lists.tests(&Frame::new(&boxes).with_changes(unchanged)), 0);
}

#[test]
fn pairs_of_the_incremental_sweeps_end_when_their_boxes_part() {
    for spec in ["sweep-3axis", "grid-sap", "grid-sap:cells=1", "grid-sap:cells=5"] {
        let mut boxes = lattice::<3>(6, 1.0);
        let mut run = Run::new(spec);
        run.tests(&Frame::new(&boxes));
        let touching = run.store.len();
        // Apart by less than a cell, one axis after the other, and back.
        for (round, by) in [0.02, 0.01, -0.03].into_iter().enumerate() {
            for (at, b) in boxes.iter_mut().enumerate() {
                let corner: [usize; 3] = std::array::from_fn(|k| at / 6usize.pow(k as u32) % 6);
                let apart = std::array::from_fn(|k| if k <= round || by < 0.0 { by * corner[k] as f32 } else { 0.0 });
                *b = b.translate(apart);
            }
            run.tests(&Frame::new(&boxes));
            run.structure.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
            let expected = naive::pairs(&Frame::new(&boxes));
            assert_eq!(run.store.sorted(), expected, "{spec}, round {round}");
            assert!(by < 0.0 || (expected.len() as u64) < touching, "{spec}, round {round}");
        }
    }
}

#[test]
fn bad_option_values_are_rejected_with_the_accepted_ones() {
    for text in [
        "octree:depth=0",
        "octree:depth=8",
        "level-grid:ratio=1.5",
        "level-grid:levels=x",
        "dbvt-f:margin=-1",
        "grid-sap:cells=65",
        "grid-sap:resweep=maybe",
    ] {
        let error = text.parse::<Spec>().unwrap_err();
        assert_eq!(error.code(), "invalid-option", "{text}: {error}");
    }
    assert!("octree:depth=8:split=16".parse::<Spec>().is_ok());
}
