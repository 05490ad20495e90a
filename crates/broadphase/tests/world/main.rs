//! `World` against a naive model, its promises over long runs, and bad input. Every listed algorithm that takes boxes is tested.

mod bad_input;
mod bulk;
mod churn;
mod drawing;
mod environments;
mod events;
mod model;
mod motion;
mod periodic;
mod periodic_motion;
mod properties;
mod results;
mod questions;
mod scale;
#[cfg(feature = "serde")]
mod snapshots;
mod statics;
mod two_worlds;

use broadphase::{Aabb, Real, Shape, Spec, algorithms};

/// The algorithms that a world of boxes can use; `BROADPHASE_ONLY=a,b` picks some of them.
fn specs(dim: usize) -> Vec<Spec> {
    let only = std::env::var("BROADPHASE_ONLY").unwrap_or_default();
    let asked = |name: &str| only.is_empty() || only.split(',').any(|other| other == name);
    let suited = algorithms::list().iter().filter(|d| d.dims.contains(&dim) && d.shapes.contains(&Shape::Box));
    suited.filter(|d| asked(d.name)).map(|d| d.name.parse().unwrap()).collect()
}

/// A small deterministic generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    /// A box with integer corners in a cube of `world`, of sides up to `size`.
    fn aabb<const D: usize, T: Real>(&mut self, world: u64, size: u64) -> Aabb<D, T> {
        let min: [T; D] = std::array::from_fn(|_| T::from_f64(self.below(world) as f64));
        Aabb::new(min, std::array::from_fn(|k| min[k] + T::from_f64(self.below(size + 1) as f64)))
    }
}
