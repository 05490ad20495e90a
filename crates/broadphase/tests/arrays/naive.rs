//! Data, and the double loops that everything is compared with.

use broadphase::{Aabb, Pair, Real};

/// Random numbers, the same in every run.
pub struct Random(pub u64);

impl Random {
    /// A number in `[0, 1)`.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }

    /// A whole number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.unit() * end as f64) as usize
    }
}

/// Boxes of mixed sizes in a cube; every fourth one has whole coordinates, so that many touch.
pub fn boxes<const D: usize, T: Real>(count: usize, side: f64, largest: f64, seed: u64) -> Vec<Aabb<D, T>> {
    let mut random = Random(seed);
    (0..count)
        .map(|index| {
            let mut min: [f64; D] = std::array::from_fn(|_| random.unit() * side);
            let mut size: [f64; D] = std::array::from_fn(|_| random.unit().powi(3) * largest);
            if index % 4 == 0 {
                min = min.map(f64::floor);
                size = size.map(f64::round);
            }
            Aabb::new(min.map(T::from_f64), std::array::from_fn(|k| T::from_f64(min[k] + size[k])))
        })
        .collect()
}

/// All pairs of indices below `count` for which `meets` says so.
pub fn pairs(count: usize, meets: impl Fn(usize, usize) -> bool) -> Vec<Pair> {
    let all = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    all.filter(|&(a, b)| meets(a, b)).map(|(a, b)| Pair { a: a as u32, b: b as u32 }).collect()
}

/// The same for two lists.
pub fn pairs_between(a: usize, b: usize, meets: impl Fn(usize, usize) -> bool) -> Vec<Pair> {
    let all = (0..a).flat_map(|x| (0..b).map(move |y| (x, y)));
    all.filter(|&(x, y)| meets(x, y)).map(|(x, y)| Pair { a: x as u32, b: y as u32 }).collect()
}

/// Calls a generic function for both dimensions and both scalars.
#[macro_export]
macro_rules! for_all_kinds {
    ($function:ident) => {
        $function::<2, f32>();
        $function::<2, f64>();
        $function::<3, f32>();
        $function::<3, f64>();
    };
}
