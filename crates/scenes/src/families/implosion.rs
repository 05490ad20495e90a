//! `implosion` (paper 002, section 7): objects spread in a large ball fly to its center, collide, and fly apart.
//!
//! Each starts with the velocity that would bring it to the center in frame [`ARRIVAL`], all of them at once. Objects collide as balls of
//! diameter 1: overlapping ones are pushed apart, and what a push moved them by becomes part of their velocity. So a dense core grows
//! from frame 75 or so, and then blows the rest out again. Boxes are cubes of edge 1.

use broadphase::Aabb;

use crate::Scene;
use crate::physics::PushApart;
use crate::random::Random;

/// The frame in which all would meet in the center.
const ARRIVAL: f64 = 150.0;
/// Volume of the ball over that of the objects' boxes.
const SPACE: f64 = 20.0;
/// Share of an overlap that each of two objects moves in a frame.
const SHARE: f32 = 0.3;
/// Share of a push that stays in the velocity.
const SPRING: f32 = 0.5;

/// The scene.
pub(crate) struct Implosion {
    centers: Vec<[f32; 3]>,
    velocities: Vec<[f32; 3]>,
    before: Vec<[f32; 3]>,
    push: PushApart<3>,
    boxes: Vec<Aabb<3, f32>>,
}

impl Implosion {
    /// Frame 0.
    pub fn new(n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let volume = SPACE * n.max(1) as f64;
        let radius = libm::cbrt(volume * 3.0 / (4.0 * std::f64::consts::PI));
        let centers: Vec<[f32; 3]> = (0..n).map(|_| random.in_ball::<3>().map(|x| (x * radius) as f32)).collect();
        let velocities = centers.iter().map(|center| center.map(|x| (-f64::from(x) / ARRIVAL) as f32)).collect();
        let boxes = vec![Aabb::default(); n];
        let mut scene = Self { centers, velocities, before: Vec::new(), push: PushApart::default(), boxes };
        scene.place();
        scene
    }

    fn place(&mut self) {
        for (aabb, center) in self.boxes.iter_mut().zip(&self.centers) {
            *aabb = Aabb::from_center(*center, [0.5; 3]);
        }
    }
}

impl Scene<3> for Implosion {
    fn boxes(&self) -> &[Aabb<3, f32>] {
        &self.boxes
    }

    fn advance(&mut self) {
        for (center, velocity) in self.centers.iter_mut().zip(&self.velocities) {
            for k in 0..3 {
                center[k] += velocity[k];
            }
        }
        self.before.clone_from(&self.centers);
        self.push.step(&mut self.centers, 1.0, SHARE);
        for (velocity, (center, before)) in self.velocities.iter_mut().zip(self.centers.iter().zip(&self.before)) {
            for k in 0..3 {
                velocity[k] += SPRING * (center[k] - before[k]);
            }
        }
        self.place();
    }
}
