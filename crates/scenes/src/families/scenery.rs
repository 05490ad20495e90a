//! `scenery`: objects that move among many that never do.
//!
//! A share `movers` of the objects are cubes of edge 0.5 to 1.5 in straight flight, by up to 0.2 a frame, reflected at the sides of the world. The
//! others are the scenery: boxes with edges of 0.5 to 8, log-uniform, each axis by itself, that keep their bits from the first frame to the last.
//! The volume of all boxes is 15 % of the world's. For `World` with static objects, and for two sets.

use broadphase::Aabb;

use crate::Scene;
use crate::physics::reflect;
use crate::random::Random;

/// Edges of movers and of the scenery: from, to.
const MOVERS: (f64, f64) = (0.5, 1.5);
const STILL: (f64, f64) = (0.5, 8.0);
/// Volume of the boxes over that of the world.
const FILLING: f64 = 0.15;
/// Largest move a frame.
const SPEED: f64 = 0.2;

/// The scene.
pub(crate) struct Scenery {
    side: f32,
    /// The movers, and how they fly.
    movers: Vec<(u32, [f32; 3])>,
    halves: Vec<[f32; 3]>,
    centers: Vec<[f32; 3]>,
    boxes: Vec<Aabb<3, f32>>,
}

impl Scenery {
    /// Frame 0. `movers` is the share of the objects that move.
    pub fn new(movers: f64, n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let moves = random.choose(n, (n as f64 * movers).round() as usize);
        let octaves = libm::log2(STILL.1 / STILL.0);
        let edges: Vec<[f64; 3]> = moves
            .iter()
            .map(|&moves| {
                let cube = random.between(MOVERS.0, MOVERS.1);
                let still: [f64; 3] = std::array::from_fn(|_| STILL.0 * libm::exp2(octaves * random.unit()));
                if moves { [cube; 3] } else { still }
            })
            .collect();
        let volume = edges.iter().map(|edges| edges.iter().product::<f64>()).sum::<f64>() / FILLING;
        let side = libm::cbrt(volume).max(STILL.1);
        let place = |edges: &[f64; 3]| edges.map(|edge| random.between(0.5 * edge, side - 0.5 * edge) as f32);
        let centers: Vec<[f32; 3]> = edges.iter().map(place).collect();
        let halves: Vec<[f32; 3]> = edges.iter().map(|edges| edges.map(|edge| (0.5 * edge) as f32)).collect();
        let flight = |id: usize| {
            let speed = random.between(0.0, SPEED);
            (id as u32, random.direction::<3>().map(|x| (x * speed) as f32))
        };
        let movers = (0..n).filter(|&id| moves[id]).map(flight).collect();
        let boxes = centers.iter().zip(&halves).map(|(center, half)| Aabb::from_center(*center, *half)).collect();
        Self { side: side as f32, movers, halves, centers, boxes }
    }
}

impl Scene<3> for Scenery {
    fn boxes(&self) -> &[Aabb<3, f32>] {
        &self.boxes
    }

    fn advance(&mut self) {
        for (id, velocity) in &mut self.movers {
            let id = *id as usize;
            let (center, half) = (&mut self.centers[id], &self.halves[id]);
            for k in 0..3 {
                (center[k], velocity[k]) = reflect(center[k] + velocity[k], velocity[k], half[k], self.side - half[k]);
            }
            self.boxes[id] = Aabb::from_center(*center, *half);
        }
    }
}
