//! Boxes to test with, from a small generator of the suite's own.

use broadphase::{Aabb, Real};

/// A small deterministic generator (SplitMix64).
#[derive(Clone)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// An integer below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// In `from..to`.
    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * ((self.next() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// A box with its lower corner in a cube around `middle`, and sides up to `size`.
    pub fn around<const D: usize, T: Real>(&mut self, middle: [f64; D], reach: f64, size: f64) -> Aabb<D, T> {
        let min: [T; D] = middle.map(|m| T::from_f64(m + self.between(-reach, reach)));
        Aabb::new(min, min.map(|c| c + T::from_f64(self.between(0.0, size))))
    }
}

/// How boxes lie in space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Small integers: faces, edges and corners touch all the time, and boxes coincide.
    Lattice,
    /// Anywhere in a cube, sizes alike.
    Smooth,
    /// A few dense heaps far apart.
    Clusters,
    /// Sizes over six orders of magnitude.
    Sizes,
    /// A lattice with a few infinite sides and overflowing extents among the boxes.
    Infinite,
    /// Around 1e6, below zero.
    Far,
}

impl Layout {
    pub const ALL: [Layout; 6] =
        [Layout::Lattice, Layout::Smooth, Layout::Clusters, Layout::Sizes, Layout::Infinite, Layout::Far];

    /// A box of this layout in a scene of about `n` objects; a few pairs per object.
    pub fn draw<const D: usize, T: Real>(self, random: &mut Random, n: usize) -> Aabb<D, T> {
        // The side of a world in which unit boxes take a fifth of the volume.
        let side = (5.0 * n.max(2) as f64).powf(1.0 / D as f64);
        match self {
            Layout::Lattice => lattice_box(random, side.ceil() as usize * 2),
            Layout::Smooth => random.around([0.0; D], side / 2.0, 2.0),
            Layout::Clusters => {
                let heap = random.below(4) as f64;
                random.around([heap * 1000.0 - 1500.0; D], side / 4.0, 1.0)
            }
            Layout::Sizes => {
                let size = 10f64.powf(random.between(-4.0, 2.0)) * side / 50.0;
                random.around([0.0; D], side / 2.0, size)
            }
            Layout::Infinite => {
                let mut value = lattice_box(random, side.ceil() as usize * 2);
                if random.below(20) == 0 {
                    let (k, l) = (random.below(D), random.below(D));
                    value.min[k] = [T::NEG_INFINITY, -T::MAX, value.min[k]][random.below(3)];
                    value.max[l] = [T::INFINITY, T::MAX, value.max[l]][random.below(3)];
                }
                value
            }
            Layout::Far => random.around([-1e6; D], side / 2.0, 2.0),
        }
    }

    /// `n` boxes of this layout.
    pub fn boxes<const D: usize, T: Real>(self, random: &mut Random, n: usize) -> Vec<Aabb<D, T>> {
        (0..n).map(|_| self.draw(random, n)).collect()
    }
}

fn lattice_box<const D: usize, T: Real>(random: &mut Random, side: usize) -> Aabb<D, T> {
    let half = side as f64 / 2.0;
    let min: [f64; D] = std::array::from_fn(|_| random.below(side.max(1)) as f64 - half.floor());
    let max: [f64; D] = min.map(|c| c + random.below(3) as f64);
    Aabb::new(min.map(T::from_f64), max.map(T::from_f64))
}
