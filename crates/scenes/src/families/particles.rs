//! `particles` (paper 003): equal balls that fill 40 % of a box, jostle and are pushed apart each frame.
//!
//! Balls have diameter 1. Velocities are random walks, as in `brownian`. Each frame moves the balls, then pushes the two balls of every
//! overlapping pair apart equally, as the paper does, but by 70 % of their overlap in all: the pushes of all pairs are computed from the same
//! positions and added up, and full pushes would overshoot where many balls meet. So some overlap remains. The sides of the box hold the balls in.

use std::f64::consts::PI;

use broadphase::Aabb;

use crate::Scene;
use crate::physics::{PushApart, reflect};
use crate::random::Random;

/// Share of the volume that the balls fill.
const FILLING: f64 = 0.4;
/// Share of the velocity that survives a frame, and the largest kick on each axis.
const KEPT: f32 = 0.9;
const KICK: f64 = 0.04;
/// Share of an overlap that each of two balls moves.
const SHARE: f32 = 0.35;

/// The scene.
pub(crate) struct Particles<const D: usize> {
    side: f32,
    centers: Vec<[f32; D]>,
    velocities: Vec<[f32; D]>,
    push: PushApart<D>,
    boxes: Vec<Aabb<D, f32>>,
    random: Random,
}

impl<const D: usize> Particles<D> {
    /// Frame 0: at random, then pushed apart a few times, so that the first frames are like the others.
    pub fn new(n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let balls = n.max(1) as f64;
        let side = if D == 2 { (balls * PI / 4.0 / FILLING).sqrt() } else { libm::cbrt(balls * PI / 6.0 / FILLING) };
        let centers = (0..n).map(|_| std::array::from_fn(|_| random.between(0.5, side - 0.5) as f32)).collect();
        let boxes = vec![Aabb::default(); n];
        let velocities = vec![[0.0; D]; n];
        let mut scene = Self { side: side as f32, centers, velocities, push: PushApart::default(), boxes, random };
        for _ in 0..8 {
            scene.separate();
        }
        scene.place();
        scene
    }

    fn separate(&mut self) {
        self.push.step(&mut self.centers, 1.0, SHARE);
        for center in &mut self.centers {
            *center = center.map(|x| x.clamp(0.5, self.side - 0.5));
        }
    }

    fn place(&mut self) {
        for (aabb, center) in self.boxes.iter_mut().zip(&self.centers) {
            *aabb = Aabb::from_center(*center, [0.5; D]);
        }
    }
}

impl<const D: usize> Scene<D> for Particles<D> {
    fn boxes(&self) -> &[Aabb<D, f32>] {
        &self.boxes
    }

    fn advance(&mut self) {
        for (center, velocity) in self.centers.iter_mut().zip(&mut self.velocities) {
            for k in 0..D {
                velocity[k] = velocity[k] * KEPT + self.random.between(-KICK, KICK) as f32;
                (center[k], velocity[k]) = reflect(center[k] + velocity[k], velocity[k], 0.5, self.side - 0.5);
            }
        }
        self.separate();
        self.place();
    }
}
