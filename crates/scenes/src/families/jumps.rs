//! `jumps`: clusters whose objects keep their places in the cluster, while the cluster jumps.
//!
//! The objects are unit cubes in clusters of a few hundred, at random places of a ball in which they have about two pairs each. Every eighth frame,
//! each cluster jumps to a random place of the world, many times its size away; in the frames between, its objects wander by up to a tenth of
//! their size along each axis. For structures that trust the last frame.

use broadphase::Aabb;

use crate::Scene;
use crate::random::Random;

/// Objects of a cluster.
const CLUSTER: usize = 250;
/// The radius of a cluster: four cubes for each cube of its volume, about.
const RADIUS: f64 = 6.2;
/// The world's side for a cluster, in radii: a jump is many sizes long.
const ROOM: f64 = 8.0;
/// Frames from jump to jump.
const PERIOD: usize = 8;
/// The longest move along an axis in the frames between.
const MOTION: f64 = 0.1;

/// The scene.
pub(crate) struct Jumps {
    side: f64,
    /// Of each object: its cluster, and its place there.
    places: Vec<(u32, [f64; 3])>,
    clusters: Vec<[f64; 3]>,
    boxes: Vec<Aabb<3, f32>>,
    random: Random,
    frame: usize,
}

impl Jumps {
    /// Frame 0.
    pub fn new(n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let count = n.div_ceil(CLUSTER).max(1);
        let side = ROOM * RADIUS * libm::cbrt(count as f64);
        let order = random.permutation(n);
        let places = order.into_iter().map(|index| (index % count as u32, random.in_ball::<3>().map(|x| x * RADIUS))).collect();
        let mut scene = Self { side, places, clusters: vec![[0.0; 3]; count], boxes: vec![Aabb::default(); n], random, frame: 0 };
        scene.jump();
        scene.place();
        scene
    }

    /// Sends every cluster to another place.
    fn jump(&mut self) {
        for cluster in &mut self.clusters {
            *cluster = std::array::from_fn(|_| self.random.between(0.0, self.side));
        }
    }

    fn place(&mut self) {
        for (aabb, (cluster, place)) in self.boxes.iter_mut().zip(&self.places) {
            let center = self.clusters[*cluster as usize];
            *aabb = Aabb::from_center(std::array::from_fn(|k| (center[k] + place[k]) as f32), [0.5; 3]);
        }
    }
}

impl Scene<3> for Jumps {
    fn boxes(&self) -> &[Aabb<3, f32>] {
        &self.boxes
    }

    fn advance(&mut self) {
        self.frame += 1;
        if self.frame.is_multiple_of(PERIOD) {
            self.jump();
        } else {
            for (_, place) in &mut self.places {
                for x in place {
                    let moved = *x + self.random.between(-MOTION, MOTION);
                    *x = if moved.abs() > RADIUS { 2.0 * RADIUS * moved.signum() - moved } else { moved };
                }
            }
        }
        self.place();
    }
}
