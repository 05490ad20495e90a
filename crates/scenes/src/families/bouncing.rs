//! `boxes` (paper 002, section 6): boxes of varying size move freely in a cube, bounce at its sides and pass through each other.
//!
//! The paper gives the density d, the boxes' volume over the world's, and neither sizes nor speeds. Here edges are uniform in 0.5..1.5, each
//! axis by itself, and speeds uniform up to 0.1 a frame, in random directions.

use broadphase::Aabb;

use crate::Scene;
use crate::physics::reflect;
use crate::random::Random;

/// Smallest and largest edge.
const EDGES: (f64, f64) = (0.5, 1.5);
/// Largest move a frame.
const SPEED: f64 = 0.1;

/// The scene.
pub(crate) struct Boxes<const D: usize> {
    side: f32,
    centers: Vec<[f32; D]>,
    velocities: Vec<[f32; D]>,
    halves: Vec<[f32; D]>,
    boxes: Vec<Aabb<D, f32>>,
}

impl<const D: usize> Boxes<D> {
    /// Frame 0, boxes spread uniformly inside the world.
    pub fn new(density: f64, n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let edges: Vec<[f64; D]> = (0..n).map(|_| std::array::from_fn(|_| random.between(EDGES.0, EDGES.1))).collect();
        let volume = edges.iter().map(|edges| edges.iter().product::<f64>()).sum::<f64>() / density;
        // With a handful of objects the world of that volume may be smaller than one of them.
        let side = (if D == 2 { volume.sqrt() } else { libm::cbrt(volume) }).max(EDGES.1);
        let place = |edges: &[f64; D]| edges.map(|edge| random.between(0.5 * edge, side - 0.5 * edge) as f32);
        let centers = edges.iter().map(place).collect();
        let velocities = edges.iter().map(|_| {
            let speed = random.between(0.0, SPEED);
            random.direction::<D>().map(|x| (x * speed) as f32)
        });
        let velocities = velocities.collect();
        let halves = edges.iter().map(|edges| edges.map(|edge| (0.5 * edge) as f32)).collect();
        let mut scene = Self { side: side as f32, centers, velocities, halves, boxes: vec![Aabb::default(); n] };
        scene.place();
        scene
    }

    fn place(&mut self) {
        for ((aabb, center), half) in self.boxes.iter_mut().zip(&self.centers).zip(&self.halves) {
            *aabb = Aabb::from_center(*center, *half);
        }
    }
}

impl<const D: usize> Scene<D> for Boxes<D> {
    fn boxes(&self) -> &[Aabb<D, f32>] {
        &self.boxes
    }

    fn advance(&mut self) {
        for i in 0..self.boxes.len() {
            let (center, velocity, half) = (&mut self.centers[i], &mut self.velocities[i], &self.halves[i]);
            for k in 0..D {
                (center[k], velocity[k]) = reflect(center[k] + velocity[k], velocity[k], half[k], self.side - half[k]);
            }
        }
        self.place();
    }
}
