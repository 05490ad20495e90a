//! Continuous detection in spaces that repeat.

use broadphase::{Aabb, ContinuousDetection, Error, Object, Period, World};

use crate::motion::follow;
use crate::specs;

/// The lengths of a space that repeats, by axis.
#[derive(Clone, Copy)]
pub(crate) struct Space(pub(crate) [Option<f64>; 2]);

impl Space {
    /// All combinations of up to three periods to each side.
    pub(crate) fn shifts(&self) -> Vec<[f64; 2]> {
        let steps = |k: usize| match self.0[k] {
            Some(length) => (-3..=3).map(|step| f64::from(step) * length).collect(),
            None => vec![0.0],
        };
        let (x, y): (Vec<f64>, Vec<f64>) = (steps(0), steps(1));
        x.iter().flat_map(|&x| y.iter().map(move |&y| [x, y])).collect()
    }
}

/// No motion of these boxes is exactly half a period long, so that the shorter way around is never a tie.
#[test]
fn every_method_finds_the_pairs_of_its_definition_across_the_borders_of_a_space_that_repeats() {
    for spec in &specs(2) {
        for (seed, lengths) in (1..).zip([[Some(25.125), Some(25.125)], [Some(6.125), Some(9.625)], [None, Some(6.125)]]) {
            follow(spec, seed, Space(lengths));
        }
    }
}

#[test]
fn a_bullet_over_the_border_of_a_space_that_repeats_hits_once_and_in_time() {
    let at = |x: f64| Aabb::new([x, 4.0], [x + 1.0, 5.0]);
    for (from, to) in [(8.0, 12.0), (8.0, 2.0), (28.0, -8.0)] {
        let mut world: World<2, f64> = World::new();
        world.set_period(Some(Period::new([10.0, 10.0]))).unwrap();
        world.set_continuous_detection(ContinuousDetection::Swept).unwrap();
        let wall = world.insert(Object::fixed(Aabb::new([0.5, 0.0], [0.75, 5.0]))).unwrap();
        let bullet = world.insert(at(from)).unwrap();
        assert_eq!(world.update().unwrap().len(), 0);
        world.set_box(bullet, at(to)).unwrap();
        let update = world.update().unwrap();
        let hits: Vec<_> = update.started().iter().map(|hit| (hit.a, hit.b, hit.time)).collect();
        assert_eq!(hits, [(wall, bullet, 0.375)], "from {from} to {to}");
        assert_eq!(world.update().unwrap().ended(), [(wall, bullet)]);
    }
}

#[test]
fn a_box_and_its_path_may_together_be_as_long_as_the_period_but_the_box_at_most_half_of_it() {
    let mut world: World<2, f64> = World::new();
    world.set_continuous_detection(ContinuousDetection::Swept).unwrap();
    world.set_period(Some(Period::new([10.0, 10.0]))).unwrap();
    let train = world.insert(Aabb::new([0.0, 0.0], [5.0, 5.0])).unwrap();
    let stones: Vec<_> = (0..10).map(|x| world.insert(Aabb::point([f64::from(x) + 0.5, 9.0])).unwrap()).collect();
    world.update().unwrap();
    world.set_box(train, Aabb::new([4.75, 4.75], [9.75, 9.75])).unwrap();
    let expected: Vec<_> = stones[1..].iter().map(|&stone| (train, stone)).collect();
    let met = world.update().unwrap().started().handles().to_vec();
    assert!(met.iter().all(|pair| expected.contains(pair)) && met.contains(&(train, stones[7])), "{met:?}");
    world.set_box(train, Aabb::new([0.0, 0.0], [5.25, 1.0])).unwrap();
    let error = Error::BoxTooLong { index: train.index as usize, axis: 0, length: 5.25, period: 10.0 };
    assert_eq!(world.update().unwrap_err(), error);
    assert_eq!(world.read().unwrap_err(), error);
    world.set_continuous_detection(ContinuousDetection::None).unwrap();
    assert_eq!(world.update().unwrap_err(), error);
    world.set_box(train, Aabb::new([0.0, 8.5], [5.0, 9.5])).unwrap();
    assert_eq!(world.update().unwrap().len(), 5);
}
