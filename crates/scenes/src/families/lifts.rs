//! `lifts`: cars in shafts, many to a shaft, that all move along one axis.
//!
//! Shafts stand side by side on a square lattice, a tenth of a car apart, so that cars of different shafts never touch. A car is a unit cube; the
//! cars of a shaft keep a mean distance of three of their heights, move up or down at a speed of their own, turn at the ends, and pass through
//! each other. Nothing ever moves across the axis.

use broadphase::Aabb;

use crate::Scene;
use crate::physics::reflect;
use crate::random::Random;

/// Cars of a shaft.
const CARS: usize = 40;
/// The distance between the axes of two shafts.
const SPACING: f64 = 1.1;
/// The height of a shaft for each of its cars.
const HEADWAY: f64 = 3.0;
/// The fastest move a frame.
const SPEED: f64 = 0.2;

/// The scene.
pub(crate) struct Lifts {
    height: f32,
    /// Where the shaft of each car stands.
    shafts: Vec<[f32; 2]>,
    levels: Vec<f32>,
    speeds: Vec<f32>,
    boxes: Vec<Aabb<3, f32>>,
}

impl Lifts {
    /// Frame 0.
    pub fn new(n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let shafts = n.div_ceil(CARS).max(1);
        let per_side = (1..).find(|side: &usize| side * side >= shafts).expect("some square reaches every number");
        let height = (HEADWAY * CARS as f64) as f32;
        let place = |car: u32| {
            let shaft = car as usize % shafts;
            [(shaft % per_side) as f64 * SPACING, (shaft / per_side) as f64 * SPACING].map(|x| x as f32)
        };
        let places: Vec<[f32; 2]> = random.permutation(n).into_iter().map(place).collect();
        let levels = (0..n).map(|_| random.between(0.5, f64::from(height) - 0.5) as f32).collect();
        let speeds = (0..n).map(|_| random.between(-SPEED, SPEED) as f32).collect();
        let mut scene = Self { height, shafts: places, levels, speeds, boxes: vec![Aabb::default(); n] };
        scene.place();
        scene
    }

    fn place(&mut self) {
        for ((aabb, [x, y]), level) in self.boxes.iter_mut().zip(&self.shafts).zip(&self.levels) {
            *aabb = Aabb::from_center([*x, *y, *level], [0.5; 3]);
        }
    }
}

impl Scene<3> for Lifts {
    fn boxes(&self) -> &[Aabb<3, f32>] {
        &self.boxes
    }

    fn advance(&mut self) {
        for (level, speed) in self.levels.iter_mut().zip(&mut self.speeds) {
            (*level, *speed) = reflect(*level + *speed, *speed, 0.5, self.height - 0.5);
        }
        self.place();
    }
}
