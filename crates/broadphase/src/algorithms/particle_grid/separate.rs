//! Particles that overlap are pushed apart, both by the same distance.

use super::ParticleGrid;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::pairs::PairStore;

/// What one pass of [`ParticleGrid::separate`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Separation<T> {
    /// The pairs that were pushed apart.
    pub pushed: usize,
    /// The deepest overlap that was found.
    pub deepest: T,
}

impl<const D: usize, T: Real> ParticleGrid<D, T> {
    /// One pass of the text's collision response: sorts the particles into cells, and pushes both of every pair that overlaps away from their
    /// midpoint until they touch. A push may make a new overlap with a third particle, so several passes are needed until none is left.
    ///
    /// Pairs are treated one after the other, in the order in which the grid finds them, each with the positions that the pushes before it have left. Two
    /// particles in one place go apart along the first axis. In a world that repeats, particles are pushed along the shortest way, and may
    /// leave the world's box by that.
    ///
    /// ```
    /// use broadphase::Context;
    /// use broadphase::algorithms::particle_grid::{Options, ParticleGrid};
    /// let mut points = [[0.0, 0.0, 0.0], [0.6, 0.0, 0.0], [5.0, 5.0, 5.0]];
    /// let mut grid = ParticleGrid::new(0.5, Options::default())?;
    /// let done = grid.separate(&mut points, &Context::new())?;
    /// assert_eq!((done.pushed, points[1][0] - points[0][0]), (1, 1.0));
    /// assert_eq!(points[2], [5.0; 3]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`build`](ParticleGrid::build); the points are unchanged then.
    pub fn separate(&mut self, points: &mut [[T; D]], context: &Context) -> Result<Separation<T>, Error> {
        let mut pairs = PairStore::default();
        self.build(points, context)?;
        self.find_pairs(points, context, &mut pairs)?;
        let mut done = Separation { pushed: 0, deepest: T::ZERO };
        pairs.for_each_chunk(|chunk| {
            for pair in chunk {
                let overlap = self.push_apart(points, pair.a as usize, pair.b as usize);
                done.pushed += usize::from(overlap > T::ZERO);
                done.deepest = done.deepest.max(overlap);
            }
        });
        Ok(done)
    }

    /// Moves two particles by half of their overlap each; returns the overlap, zero if there is none.
    fn push_apart(&self, points: &mut [[T; D]], a: usize, b: usize) -> T {
        let mut way = [T::ZERO; D];
        for k in 0..D {
            way[k] = points[b][k] - points[a][k];
            let side = self.space.sides[k];
            if self.space.periodic {
                way[k] = T::from_f64(way[k].to_f64() - side * (way[k].to_f64() / side).round());
            }
        }
        let distance = way.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>().sqrt();
        let overlap = 2.0 * self.radius.to_f64() - distance;
        if overlap.is_nan() || overlap <= 0.0 {
            return T::ZERO; // pushed apart already, by another pair
        }
        for k in 0..D {
            let along = if distance > 0.0 { way[k].to_f64() / distance } else { f64::from(u8::from(k == 0)) };
            let push = T::from_f64(0.5 * overlap * along);
            points[a][k] -= push;
            points[b][k] += push;
        }
        T::from_f64(overlap)
    }
}
