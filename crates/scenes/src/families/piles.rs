//! `pile` and `settled`: unit cubes on a lattice, each wandering around its own site.
//!
//! The lattice's spacing gives 65 % volume. An object's offset from its site walks in a cube of fixed reach, reflected at its
//! sides, so it stays uniform there: the number of pairs is the same in every frame. With a reach of 0.33 that is 1.5 pairs per
//! object in space. In the plane, even independent squares have only 1.3 at 65 %; the reach is 0.45, for 0.7.
//!
//! In `pile` all objects move, by 0.05 to 0.3 a frame, and drift together. In `settled` only a share of them moves, always the
//! same ones, without drift; the others' boxes stay as they are, bit for bit.

use broadphase::Aabb;

use crate::Scene;
use crate::random::Random;

/// Share of the volume that the cubes fill.
const FILLING: f64 = 0.65;
/// The move that all objects of `pile` share.
const DRIFT: [f64; 3] = [0.11, 0.05, -0.03];
/// The length of an object's own move: from, to.
const NOISE: (f64, f64) = (0.05, 0.3);

/// The scene.
pub(crate) struct Pile<const D: usize> {
    /// Lattice sites in space.
    sites: Vec<[f32; D]>,
    offsets: Vec<[f32; D]>,
    /// The objects that move, ascending.
    movers: Vec<u32>,
    drift: [f64; D],
    drifted: [f64; D],
    boxes: Vec<Aabb<D, f32>>,
    random: Random,
}

impl<const D: usize> Pile<D> {
    const REACH: f64 = if D == 2 { 0.45 } else { 0.33 };

    /// Frame 0. `moving` is the share of the objects that moves; `None` for all of them, drifting.
    pub fn new(moving: Option<f64>, n: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let spacing = match D {
            2 => 1.0 / FILLING.sqrt(),
            _ => 1.0 / libm::cbrt(FILLING),
        };
        let per_axis = (1..).find(|&m: &usize| m.pow(D as u32) >= n).expect("some power reaches n");
        let sites = random.permutation(n).into_iter().map(|i| {
            let mut rest = i as usize;
            std::array::from_fn(|_| {
                let place = rest % per_axis;
                rest /= per_axis;
                (place as f64 * spacing) as f32
            })
        });
        let sites: Vec<[f32; D]> = sites.collect();
        let offsets = (0..n).map(|_| std::array::from_fn(|_| random.between(-Self::REACH, Self::REACH) as f32)).collect();
        let movers = match moving {
            None => (0..n as u32).collect(),
            Some(share) => {
                let marked = random.choose(n, (n as f64 * share).round() as usize);
                (0..n as u32).filter(|&i| marked[i as usize]).collect()
            }
        };
        let drift = std::array::from_fn(|k| if moving.is_none() { DRIFT[k] } else { 0.0 });
        let boxes = vec![Aabb::default(); n];
        let mut scene = Self { sites, offsets, movers, drift, drifted: [0.0; D], boxes, random };
        for i in 0..n {
            scene.place(i);
        }
        scene
    }

    fn place(&mut self, i: usize) {
        let (site, offset) = (self.sites[i], self.offsets[i]);
        let center = std::array::from_fn(|k| site[k] + offset[k] + self.drifted[k] as f32);
        self.boxes[i] = Aabb::from_center(center, [0.5; D]);
    }

    /// One move of random direction and length, reflected at the sides of the reach.
    fn wander(&mut self, i: usize) {
        let length = self.random.between(NOISE.0, NOISE.1);
        let direction = self.random.direction::<D>();
        for k in 0..D {
            let mut at = f64::from(self.offsets[i][k]) + direction[k] * length;
            if at > Self::REACH {
                at = 2.0 * Self::REACH - at;
            } else if at < -Self::REACH {
                at = -2.0 * Self::REACH - at;
            }
            self.offsets[i][k] = at as f32;
        }
    }
}

impl<const D: usize> Scene<D> for Pile<D> {
    fn boxes(&self) -> &[Aabb<D, f32>] {
        &self.boxes
    }

    fn advance(&mut self) {
        for k in 0..D {
            self.drifted[k] += self.drift[k];
        }
        for m in 0..self.movers.len() {
            let i = self.movers[m] as usize;
            self.wander(i);
            self.place(i);
        }
    }
}
