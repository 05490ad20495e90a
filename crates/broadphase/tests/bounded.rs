//! The world of bounded structures: fitted to the objects, fitted again when they leave it, or given by the caller.

use broadphase::algorithms::list;
use broadphase::{Aabb, BroadPhase, Context, Frame, Pair, PairStore, Shape, Spec, Strength, step};

/// The bounded structures of the list.
fn bounded() -> Vec<&'static str> {
    list().iter().filter(|descriptor| descriptor.bounded).map(|descriptor| descriptor.name).collect()
}

/// Cubes of side 2 on a lattice of quarters, so that they are exactly equal, in a world of this side around `middle`.
fn crowd<const D: usize>(n: usize, middle: f64, side: f64) -> Vec<Aabb<D, f64>> {
    let mut state = 5u64;
    let mut unit = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let mut cube = || {
        let min: [f64; D] = std::array::from_fn(|_| middle + ((unit() - 0.5) * side * 4.0).round() / 4.0);
        Aabb::new(min, min.map(|c| c + 2.0))
    };
    (0..n).map(|_| cube()).collect()
}

/// One structure with its store.
struct Run<const D: usize> {
    structure: Box<dyn BroadPhase<D, f64>>,
    store: PairStore,
}

impl<const D: usize> Run<D> {
    fn new(spec: &str) -> Self {
        Self { structure: spec.parse::<Spec>().unwrap().build().unwrap(), store: PairStore::default() }
    }

    /// The tests of a frame whose pairs are all found.
    fn tests(&mut self, boxes: &[Aabb<D, f64>]) -> u64 {
        let frame = Frame { shape: Shape::Ball, ..Frame::new(boxes) };
        step(&mut *self.structure, &frame, &mut Context::new(), &mut self.store).unwrap();
        self.structure.validate(&frame, Strength::Geometry).unwrap();
        assert!(self.store.sorted() == reference(boxes));
        self.store.tests()
    }
}

fn reference<const D: usize>(boxes: &[Aabb<D, f64>]) -> Vec<Pair> {
    let mut structure = "sort-and-sweep".parse::<Spec>().unwrap().build().unwrap();
    let (frame, mut store) = (Frame { shape: Shape::Ball, ..Frame::new(boxes) }, PairStore::default());
    step(&mut *structure, &frame, &mut Context::new(), &mut store).unwrap();
    store.sorted()
}

/// The tests of frames shown one after the other, and those of a fresh structure for the last one.
fn history<const D: usize>(name: &str, frames: &[&[Aabb<D, f64>]]) -> (u64, u64) {
    let mut run = Run::new(name);
    let mut tests = 0;
    frames.iter().for_each(|boxes| tests = run.tests(boxes));
    (tests, Run::new(name).tests(frames[frames.len() - 1]))
}

fn worlds_follow<const D: usize>() {
    let (one, many) = (crowd::<D>(1, 0.0, 0.0), crowd::<D>(8000, 0.0, 120.0));
    let (elsewhere, shrunk) = (crowd::<D>(8000, 5000.0, 120.0), crowd::<D>(8000, 0.0, 60.0));
    let mut half = many.clone();
    half[..4000].iter_mut().for_each(|b| *b = b.translate([400.0; D]));
    let wide: Vec<_> = many.iter().map(|b| b.translate(std::array::from_fn(|k| b.min[k] * 63.0))).collect();
    for name in bounded() {
        let cases: [(&str, Vec<&[Aabb<D, f64>]>); 5] = [
            ("one object first", vec![&one, &many]),
            ("no object first", vec![&[], &many]),
            ("all move away", vec![&many, &elsewhere]),
            ("half of them move away", vec![&many, &half]),
            // The size is checked after a few changes per object.
            ("they crowd together", vec![&wide, &shrunk, &many, &shrunk, &many, &shrunk]),
        ];
        for (what, frames) in cases {
            let (tests, fresh) = history(name, &frames);
            assert!(tests <= fresh + fresh / 2 + 1000, "{name} in {D}D, {what}: {tests} tests, {fresh} fresh");
        }
    }
}

#[test]
fn objects_that_leave_the_world_of_the_first_frame_cost_what_they_cost_a_fresh_structure() {
    worlds_follow::<2>();
    worlds_follow::<3>();
}

#[test]
fn a_few_objects_outside_leave_the_world_as_it_is() {
    let many = crowd::<3>(4000, 0.0, 60.0);
    let mut strays = many.clone();
    strays.iter_mut().step_by(500).for_each(|b| *b = b.translate([1e6; 3]));
    for name in bounded() {
        let mut run = Run::new(name);
        run.tests(&many);
        let (tests, fresh) = (run.tests(&strays), Run::new(name).tests(&strays));
        // A fresh structure takes the strays into its world, where all the others share a cell.
        assert!(tests * 4 < fresh, "{name}: {tests} tests, {fresh} fresh");
    }
}

#[test]
fn a_given_world_stays_whatever_the_objects_do() {
    let (inside, outside) = (crowd::<3>(3000, 50.0, 90.0), crowd::<3>(3000, 5000.0, 90.0));
    for name in bounded() {
        let mut run = Run::new(&format!("{name}:world=0/0/0/100/100/100"));
        let few = run.tests(&inside);
        let many = run.tests(&outside);
        assert!(many > 4 * few && many * 24 >= 3000 * 2999 / 2, "{name}: {few} tests inside, {many} outside");
        assert_eq!(run.tests(&inside), few, "{name} is as before when all are back");
    }
}

#[test]
fn a_given_world_has_a_corner_and_its_opposite_in_the_dimension_of_the_structure() {
    for name in bounded() {
        let parse = |world: &str| format!("{name}:world={world}").parse::<Spec>();
        for world in ["auto", "0/0/0/1/1/1", "-1e3/-5/0.5/1e3/-5/0.5"] {
            let spec = parse(world).unwrap();
            assert!(spec.build::<3, f32>().is_ok() && spec.build::<3, f64>().is_ok(), "{spec}");
        }
        let flat = parse("0/0/10/10").unwrap();
        assert!(flat.build::<2, f32>().is_ok());
        assert_eq!(flat.build::<3, f32>().map(|_| ()).unwrap_err().code(), "invalid-option");
        // Too far for single precision.
        let far = parse("0/0/0/1e60/1e60/1e60").unwrap();
        assert!(far.build::<3, f64>().is_ok());
        assert_eq!(far.build::<3, f32>().map(|_| ()).unwrap_err().code(), "invalid-option");
        for world in ["", "0", "0/0/0/1/1", "1/0/0/0/1/1", "0/0/0/1/1/inf", "0/0/0/1/1/nan", "0,0,0,1,1,1", "a/b/c/d/e/f"] {
            let error = parse(world).map(|_| ()).unwrap_err();
            assert_eq!(error.code(), "invalid-option", "{name}:world={world}: {error}");
        }
    }
}
