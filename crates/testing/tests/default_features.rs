//! The library with its default features, in which the structures for `f64` are compiled in the crate that uses them: here. (A build of the whole
//! workspace turns on all features; `cargo test -p broadphase-testing` does not.)

use broadphase::{
    Aabb, Changes, Context, Error, Frame, Isa, PairStore, Ray, Real, Report, Search, Spec, World, algorithms, pairs,
    pairs_between, step,
};
use broadphase_testing::{Random, naive};

/// Cubes of up to three times the least edge, about two pairs for each.
fn cubes<const D: usize, T: Real>(random: &mut Random, n: usize) -> Vec<Aabb<D, T>> {
    let side = (n as f64 * 2.5).powf(1.0 / D as f64);
    (0..n).map(|_| random.cube(side, 1.0)).collect()
}

/// Every listed algorithm over some frames, of which each moves a part of the objects, with every instruction set.
fn structures<const D: usize, T: Real>() {
    let algorithms = algorithms::list().iter().filter(|algorithm| ["auto", "tiles", "brute-force"].contains(&algorithm.name));
    let specs = algorithms.flat_map(|algorithm| {
        let isas = Isa::available().map(|isa| format!("{}:isa={}", algorithm.name, isa.name()));
        isas.chain([algorithm.name.to_string()]).collect::<Vec<_>>()
    });
    for spec in specs.chain(["tiles:target=100".to_string()]) {
        for n in [0, 1, 50, 900] {
            let random = &mut Random(7);
            let mut boxes = cubes::<D, T>(random, n);
            let mut structure = spec.parse::<Spec>().unwrap().build::<D, T>().unwrap();
            let (mut context, mut store, mut last) = (Context::new(), PairStore::new(Report::Both), Vec::new());
            for frame in 0..4 {
                let moved: Vec<u32> = (0..n as u32).filter(|_| frame > 0 && random.below(1 << frame) == 0).collect();
                for &id in &moved {
                    boxes[id as usize] = boxes[id as usize].translate([T::from_f64(random.unit()); D]);
                }
                let listed = Changes::Listed { moved: &moved, inserted: &[], removed: &[] };
                let changes = if frame == 2 { listed } else { Changes::Unknown };
                let frame = Frame::new(&boxes).with_changes(changes);
                step(&mut *structure, &frame, &mut context, &mut store).unwrap();
                let now = naive::pairs(&frame);
                naive::assert_events(&store, &last, &now, &spec);
                structure.validate(&frame, algorithms::Strength::Geometry).unwrap();
                last = now;
            }
        }
    }
}

/// The calls for arrays and a world of moving objects, against double loops.
fn calls<const D: usize, T: Real>() {
    for n in [5, 200, 1500] {
        let random = &mut Random(11);
        let (boxes, others) = (cubes::<D, T>(random, n), cubes::<D, T>(random, n / 2));
        let expected = naive::pairs(&Frame::new(&boxes));
        naive::assert_same(&pairs(&boxes).unwrap(), &expected, "pairs");
        naive::assert_same(&Search::new(&boxes[..]).algorithm("tiles".parse().unwrap()).list().unwrap(), &expected, "Search");
        let between = pairs_between(&boxes, &others).unwrap();
        let meet = |a: &Aabb<D, T>| others.iter().filter(|b| naive::touch(a, b)).count();
        assert_eq!(between.len(), boxes.iter().map(meet).sum::<usize>());

        let mut world = World::<D, T>::new();
        let handles: Vec<_> = boxes.iter().map(|&value| world.insert(value).unwrap()).collect();
        assert_eq!(world.update().unwrap().started().len(), expected.len());
        assert_eq!(world.update().unwrap().started().len(), 0);
        world.set_box(handles[0], boxes[1]).unwrap();
        assert!(world.update().unwrap().started().iter().any(|pair| pair.a == handles[0] && pair.b == handles[1]));
        let ray = Ray::new(boxes[1].center(), [T::ONE; D], T::ONE);
        assert!(world.read().unwrap().first_along_ray(&ray).unwrap().is_some_and(|(_, way)| way == T::ZERO));
        world.remove(handles[1]).unwrap();
        assert!(!world.update().unwrap().ended().is_empty());
    }
}

#[test]
fn structures_for_f64_are_right_where_they_are_compiled() {
    structures::<2, f64>();
    structures::<3, f64>();
}

#[test]
fn structures_for_f32_are_right_with_default_features() {
    structures::<2, f32>();
    structures::<3, f32>();
}

#[test]
fn calls_and_worlds_of_both_scalars_are_right_with_default_features() {
    calls::<2, f64>();
    calls::<3, f64>();
    calls::<2, f32>();
    calls::<3, f32>();
}

#[test]
fn other_dimensions_are_an_error_for_a_scalar_that_is_compiled_here() {
    let spec = Spec::default();
    assert!(matches!(spec.build::<1, f64>().map(|_| ()), Err(Error::Unsuited { .. })));
    assert!(matches!(spec.build::<4, f64>().map(|_| ()), Err(Error::Unsuited { .. })));
    assert!(matches!(spec.build::<4, f32>().map(|_| ()), Err(Error::Unsuited { .. })));
}
