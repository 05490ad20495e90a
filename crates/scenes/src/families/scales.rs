//! `scales` and `telescope`: crowds of very different sizes, for structures whose cells, tiles or levels fit one size.
//!
//! In both, objects of one size have about one pair each. In `telescope`, a small object also lies in a cube of every fourth larger size, about:
//! a dozen pairs per object in all.
//!
//! - `scales`: half of the objects are cubes of edge 1, spread over a cube; the other half are 2^-30 as large, and spread over a cube 2^-30 as
//!   wide, at the center of the first. Every object wanders by up to a tenth of its size a frame.
//! - `telescope`: edges of 2^0 down to 2^-99, one octave for each of a hundred groups of about equal number. The objects of a group lie in
//!   the cube, around the origin, that their size times a factor spans: each group fills the middle of the one before.

use broadphase::Aabb;

use crate::Scene;
use crate::random::Random;

/// The ratio of the two sizes of `scales`.
const RATIO: f64 = 1.0 / (1u64 << 30) as f64;
/// Octaves of `telescope`.
const OCTAVES: usize = 100;
/// Volume of a crowd over that of its objects.
const SPACE: f64 = 4.0;
/// The longest move along an axis in a frame, as a share of the edge.
const MOTION: f64 = 0.1;

/// The scene.
pub(crate) struct Scales {
    /// Of each object: its edge, and the half side of its crowd's cube around the origin.
    edges: Vec<(f64, f64)>,
    centers: Vec<[f64; 3]>,
    boxes: Vec<Aabb<3, f32>>,
    random: Random,
}

impl Scales {
    /// Frame 0 of `scales`.
    pub fn two(n: usize, seed: u64) -> Self {
        Self::new(n, seed, |index| (index % 2, 2, if index.is_multiple_of(2) { 1.0 } else { RATIO }))
    }

    /// Frame 0 of `telescope`.
    pub fn telescope(n: usize, seed: u64) -> Self {
        Self::new(n, seed, |index| {
            let octave = index % OCTAVES;
            (octave, OCTAVES, libm::exp2(-(octave as f64)))
        })
    }

    /// `crowd` gives an object's crowd, the number of crowds, and the edge there.
    fn new(n: usize, seed: u64, crowd: impl Fn(usize) -> (usize, usize, f64)) -> Self {
        let mut random = Random::new(seed, 0);
        let order = random.permutation(n);
        let edges = order.iter().map(|&index| {
            let (number, crowds, edge) = crowd(index as usize);
            let count = (n + crowds - 1 - number) / crowds;
            (edge, 0.5 * edge * libm::cbrt(SPACE * count as f64))
        });
        let edges: Vec<(f64, f64)> = edges.collect();
        let centers = edges.iter().map(|&(_, half)| std::array::from_fn(|_| random.between(-half, half))).collect();
        let mut scene = Self { edges, centers, boxes: vec![Aabb::default(); n], random };
        scene.place();
        scene
    }

    fn place(&mut self) {
        for ((aabb, center), (edge, _)) in self.boxes.iter_mut().zip(&self.centers).zip(&self.edges) {
            *aabb = Aabb::from_center(center.map(|x| x as f32), [(0.5 * edge) as f32; 3]);
        }
    }
}

impl Scene<3> for Scales {
    fn boxes(&self) -> &[Aabb<3, f32>] {
        &self.boxes
    }

    fn advance(&mut self) {
        for (center, &(edge, half)) in self.centers.iter_mut().zip(&self.edges) {
            for x in center {
                let moved = *x + self.random.between(-MOTION, MOTION) * edge;
                *x = if moved.abs() > half { 2.0 * half * moved.signum() - moved } else { moved };
            }
        }
        self.place();
    }
}
