//! Random numbers, the same on every platform.

use broadphase::{Aabb, Real};

/// A linear congruential generator. The field is the seed.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// A whole number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % end
    }

    /// In 0..1, in steps of 2^-30.
    pub fn unit(&mut self) -> f64 {
        self.below(1 << 30) as f64 / (1u64 << 30) as f64
    }

    /// In 0..1, in steps of 2^-24, which `f32` holds exactly.
    pub fn unit_f32(&mut self) -> f32 {
        self.below(1 << 24) as f32 / (1 << 24) as f32
    }

    /// A cube of edge `size` whose lower corner is in a cube of side `world` around the origin.
    pub fn cube<const D: usize, T: Real>(&mut self, world: f64, size: f64) -> Aabb<D, T> {
        let min: [T; D] = std::array::from_fn(|_| T::from_f64(self.unit() * world - world * 0.5));
        Aabb::new(min, std::array::from_fn(|k| min[k] + T::from_f64(size)))
    }

    /// Cubes of edge 1 whose lower corners are between 0 and `side` on each axis.
    pub fn unit_cubes<const D: usize>(&mut self, n: usize, side: f32) -> Vec<Aabb<D, f32>> {
        let mut corner = || std::array::from_fn(|_| self.unit_f32() * side);
        (0..n).map(|_| corner()).map(|at: [f32; D]| Aabb::new(at, at.map(|x| x + 1.0))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_range_and_spread() {
        let mut random = Random(1);
        let (mut low, mut seen) = (0, [false; 7]);
        for _ in 0..1000 {
            seen[random.below(7) as usize] = true;
            let (x, y) = (random.unit(), random.unit_f32());
            assert!((0.0..1.0).contains(&x) && (0.0..1.0).contains(&y));
            low += usize::from(x < 0.5);
        }
        assert!(seen == [true; 7] && (400..600).contains(&low), "{low}");
        assert_eq!(random.unit_cubes::<3>(5, 10.0).len(), 5);
        assert_eq!(random.cube::<2, f64>(4.0, 0.5).size(), [0.5; 2]);
    }
}
