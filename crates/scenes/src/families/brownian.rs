//! `brownian-cubes` and `brownian-assorted` (paper 001): evenly spread objects in random walks.
//!
//! The world's volume is 50 times the objects'. A velocity keeps most of itself from frame to frame and gets a random kick; at
//! the world's sides it is reflected. Objects turn as they go and pass through each other: in so thin a scene a collision is rare, and
//! ignoring it changes neither the spread nor the number of pairs much (the `-simulated` scenes show how much).

use broadphase::Aabb;

use crate::Scene;
use crate::physics::reflect;
use crate::random::Random;
use crate::shapes::{Kind, Turn};

/// World volume over object volume.
pub(crate) const SPACE: f64 = 50.0;
/// Share of the velocity that survives a frame.
pub(crate) const KEPT: f64 = 0.9;
/// Largest kick a frame on each axis. Speeds then have a standard deviation of 0.08 a frame on each axis.
pub(crate) const KICK: f64 = 0.06;

/// The side of the world of `n` objects of mean volume 1.
pub(crate) fn side<const D: usize>(n: usize) -> f64 {
    let volume = SPACE * n.max(1) as f64;
    if D == 2 { volume.sqrt() } else { libm::cbrt(volume) }
}

/// The scene.
pub(crate) struct Brownian<const D: usize> {
    side: f32,
    centers: Vec<[f32; D]>,
    velocities: Vec<[f32; D]>,
    halves: Vec<[f32; D]>,
    /// Rotations and spins; empty if objects do not turn.
    turns: Vec<(Turn, [f32; 3])>,
    boxes: Vec<Aabb<D, f32>>,
    random: Random,
}

impl<const D: usize> Brownian<D> {
    /// Frame 0.
    pub fn new(kind: Kind, tumble: bool, n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let side = side::<D>(n);
        let halves = kind.halves(n, &mut random);
        let centers = (0..n).map(|_| std::array::from_fn(|_| random.between(0.0, side) as f32)).collect();
        let velocities = (0..n).map(|_| random.in_ball::<D>().map(|x| (x * 0.15) as f32)).collect();
        let spun = if tumble { n } else { 0 };
        let turns =
            (0..spun).map(|_| (Turn::random::<D>(&mut random), random.in_ball::<3>().map(|x| (x * 0.06) as f32))).collect();
        let boxes = vec![Aabb::default(); n];
        let mut scene = Self { side: side as f32, centers, velocities, halves, turns, boxes, random: Random::new(seed, 1) };
        scene.place();
        scene
    }

    fn place(&mut self) {
        for (i, cell) in self.boxes.iter_mut().enumerate() {
            let half = self.turns.get(i).map_or(self.halves[i], |(turn, _)| turn.half_box(self.halves[i]));
            *cell = Aabb::from_center(self.centers[i], half);
        }
    }

    fn walk(&mut self) {
        for (center, velocity) in self.centers.iter_mut().zip(&mut self.velocities) {
            // One draw for all axes: 21 bits each are plenty for a kick.
            let bits = self.random.bits();
            for k in 0..D {
                let unit = ((bits >> (21 * k)) & 0x1f_ffff) as f32 * (1.0 / 1_048_576.0) - 1.0;
                velocity[k] = velocity[k] * KEPT as f32 + unit * KICK as f32;
                (center[k], velocity[k]) = reflect(center[k] + velocity[k], velocity[k], 0.0, self.side);
            }
        }
    }
}

impl<const D: usize> Scene<D> for Brownian<D> {
    fn boxes(&self) -> &[Aabb<D, f32>] {
        &self.boxes
    }

    fn advance(&mut self) {
        self.walk();
        for (turn, spin) in &mut self.turns {
            turn.step::<D>(*spin);
        }
        self.place();
    }
}
