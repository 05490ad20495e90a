//! `plane-crossing` (paper 002, section 7): equal cubes on a square lattice in two coordinates, spread at random in the third, all of them in
//! one plane at mid-run.
//!
//! The cubes have edge 1 and the lattice a gap of 1 %, so there is never a pair. In the third coordinate, `u`, they start anywhere within the
//! lattice's width, at constant speeds that bring all of them to `u = 0` in the middle frame and to the mirrored place in the last one.

use broadphase::Aabb;

use crate::Scene;
use crate::random::Random;

/// Distance of neighbors on the lattice of unit cubes.
const SPACING: f64 = 1.01;

/// The scene.
pub(crate) struct PlaneCrossing {
    /// 0, 1 or 2: the coordinate that all cross.
    axis: usize,
    /// The frame of the crossing.
    middle: f64,
    frame: u64,
    /// Lattice place in the other two coordinates, and the start in the crossing one.
    starts: Vec<([f32; 2], f64)>,
    boxes: Vec<Aabb<3, f32>>,
}

impl PlaneCrossing {
    /// Frame 0 of a run of `frames`.
    pub fn new(axis: usize, frames: f64, n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let per_axis = (1..).find(|&m: &usize| m * m >= n).expect("some square reaches n");
        let half = 0.5 * per_axis as f64 * SPACING;
        let place = |at: usize| ((at as f64 + 0.5) * SPACING - half) as f32;
        let order = random.permutation(n);
        let start = |&site: &u32| {
            let site = site as usize;
            ([place(site % per_axis), place(site / per_axis)], random.between(-half, half))
        };
        let starts = order.iter().map(start).collect();
        let middle = (0.5 * frames).floor();
        let mut scene = Self { axis, middle, frame: 0, starts, boxes: vec![Aabb::default(); n] };
        scene.place();
        scene
    }

    fn place(&mut self) {
        let left = (self.middle - self.frame as f64) / self.middle;
        for (aabb, (site, start)) in self.boxes.iter_mut().zip(&self.starts) {
            let mut center = [site[0]; 3];
            center[(self.axis + 2) % 3] = site[1];
            center[self.axis] = (start * left) as f32;
            *aabb = Aabb::from_center(center, [0.5; 3]);
        }
    }
}

impl Scene<3> for PlaneCrossing {
    fn boxes(&self) -> &[Aabb<3, f32>] {
        &self.boxes
    }

    fn advance(&mut self) {
        self.frame += 1;
        self.place();
    }
}
