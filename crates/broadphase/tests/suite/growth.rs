//! The number of objects grows and shrinks by a factor of a thousand: no structure keeps what suited another number.

use broadphase::{Aabb, Context, Frame, Pair, PairStore, Real, step};

use crate::data::Random;
use crate::subjects::{Trial, in_every_space};
use broadphase_testing::naive::{assert_holds, meet};

const FEW: usize = 6;
const MANY: usize = 1000 * FEW;
/// How often it grows and shrinks.
const ROUNDS: usize = 3;

/// Cubes on the lattice that equal balls need, about one pair per object.
fn crowd<const D: usize, T: Real>(random: &mut Random, n: usize) -> Vec<Aabb<D, T>> {
    let side = 2.0 * (4.0 * n as f64).powf(1.0 / D as f64);
    let mut cube = || {
        let min: [f64; D] = std::array::from_fn(|_| (random.between(-side / 2.0, side / 2.0) * 4.0).round() / 4.0);
        Aabb::new(min.map(T::from_f64), min.map(|c| T::from_f64(c + 2.0)))
    };
    (0..n).map(|_| cube()).collect()
}

/// All pairs by definition; boxes are sorted along one axis first, since there are too many for a double loop.
fn pairs<const D: usize, T: Real>(frame: &Frame<'_, D, T>) -> Vec<Pair> {
    let mut ids: Vec<u32> = frame.ids().collect();
    let low = |id: u32| frame.boxes[id as usize].min[0];
    ids.sort_by(|&a, &b| low(a).partial_cmp(&low(b)).expect("no NaN"));
    let mut found = Vec::new();
    for (at, &a) in ids.iter().enumerate() {
        let reach = frame.boxes[a as usize].max[0];
        let near = ids[at + 1..].iter().take_while(|&&b| low(b) <= reach);
        found.extend(near.filter(|&&b| meet(frame, a, b)).map(|&b| Pair::new(a, b)));
    }
    found.sort_unstable();
    found
}

fn a_thousand_times_more_objects_cost_what_they_cost_a_fresh_structure<const D: usize, T: Real>(trial: &mut Trial) {
    let mut random = Random(77);
    let (few, many) = (crowd::<D, T>(&mut random, FEW), crowd::<D, T>(&mut random, MANY));
    trial.each(|subject| {
        let run = |structure: &mut dyn broadphase::BroadPhase<D, T>, store: &mut PairStore, boxes: &[Aabb<D, T>]| {
            let frame = subject.frame(boxes);
            step(structure, &frame, &mut Context::new(), store).expect("a good frame");
            assert_holds(store, &pairs(&frame), "the pairs");
            store.tests()
        };
        // The second frame of a structure that has seen nothing else: some count the tests of sorting in the first.
        let fresh = |boxes: &[Aabb<D, T>]| {
            let (mut structure, mut store) = (subject.build::<D, T>(), PairStore::default());
            run(&mut *structure, &mut store, boxes).max(run(&mut *structure, &mut store, boxes))
        };
        let (usual_few, usual_many) = (fresh(&few), fresh(&many));
        let (mut structure, mut store) = (subject.build::<D, T>(), PairStore::default());
        let mut bytes = Vec::new();
        for round in 0..ROUNDS {
            for (boxes, usual) in [(&few, usual_few), (&many, usual_many), (&many, usual_many)] {
                let tests = run(&mut *structure, &mut store, boxes);
                assert!(
                    tests <= usual + usual / 2 + 1000,
                    "round {round}: {tests} tests of {} objects, {usual} fresh",
                    boxes.len()
                );
            }
            bytes.push(structure.stats().bytes + store.bytes());
        }
        assert!(bytes[ROUNDS - 1] <= bytes[0] + bytes[0] / 4, "memory grows: {bytes:?}");
    });
}

in_every_space!(a_thousand_times_more_objects_cost_what_they_cost_a_fresh_structure);
