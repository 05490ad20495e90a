//! The slices hold every particle once, each in the slot of its cell.

use super::{ParticleGrid, ParticlePhase};
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::{Ball, Real};
use crate::objects::Frame;

impl<const D: usize, T: Real> ParticleGrid<D, T> {
    /// Checks every invariant against the points of the last build.
    pub fn validate(&self, points: &[[T; D]]) -> Result<(), Violation> {
        ensure!(self.order.len() == points.len(), "{} indices for {} particles", self.order.len(), points.len());
        if points.is_empty() {
            return Ok(());
        }
        ensure!(self.starts.is_sorted(), "the slices' starts are not ascending");
        ensure!(self.starts.len() > self.space.slots, "the sentinel is missing");
        ensure!(self.starts[self.space.slots] as usize == points.len(), "the sentinel is not the number of particles");
        let mut searches = vec![false; points.len()];
        for &index in self.searchers() {
            ensure!((index as usize) < points.len(), "particle {index} searches and is not there");
            searches[index as usize] = true;
        }
        let all = self.searchers().len() == points.len() && searches.iter().all(|&own| own);
        ensure!(all, "not every particle searches once");
        let mut seen = vec![false; points.len()];
        for slot in 0..self.space.slots {
            for &index in self.slice(slot) {
                ensure!((index as usize) < points.len(), "slot {slot} holds particle {index}, which is not there");
                ensure!(!std::mem::replace(&mut seen[index as usize], true), "particle {index} is in two places");
                let own = self.space.slot(&self.space.cell(&points[index as usize]));
                ensure!(own == slot, "particle {index} is in slot {slot} and belongs to {own}");
            }
        }
        Ok(())
    }
}

impl<const D: usize, T: Real> ParticlePhase<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        ensure!(self.ids.len() == frame.count(), "{} particles for {} objects", self.ids.len(), frame.count());
        ensure!(self.ids.len() == self.centers.len(), "{} centers for {} particles", self.centers.len(), self.ids.len());
        ensure!(self.ids.iter().copied().eq(frame.ids()), "the ids are not those of the frame");
        let Some(grid) = &self.grid else {
            ensure!(self.ids.is_empty(), "particles without a grid");
            return Ok(());
        };
        grid.validate(&self.centers)?;
        if strength == Strength::Geometry {
            for (&id, center) in self.ids.iter().zip(&self.centers) {
                let ball = Ball::of_box(&frame.boxes[id as usize]);
                ensure!(ball.center == *center, "object {id} has moved");
                let fits = ball.radius <= grid.radius();
                ensure!(fits, "object {id} is larger than the cells are made for");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Hash, Options, Storage};
    use super::*;
    use crate::Context;

    #[test]
    fn the_validator_detects_moved_lost_and_doubled_particles() {
        let points: Vec<[f32; 2]> = (0..50).map(|i| [(i % 7) as f32, (i / 7) as f32]).collect();
        for storage in [Storage::Dense, Storage::Hashed { hash: Hash::Chain, slots: None }] {
            let mut grid = ParticleGrid::new(0.4, Options { storage, ..Options::default() }).unwrap();
            grid.build(&points, &Context::new()).unwrap();
            grid.validate(&points).unwrap();
            let mut moved = points.clone();
            moved[3] = [6.0, 6.0];
            assert!(grid.validate(&moved).is_err());
            assert!(grid.validate(&points[..49]).is_err());
            let mut doubled = grid.clone();
            doubled.order[4] = doubled.order[5];
            assert!(doubled.validate(&points).is_err());
            let mut silent = grid.clone();
            silent.route.iter_mut().for_each(|index| *index = (*index).min(48));
            assert_eq!(silent.validate(&points).is_err(), storage != Storage::Dense);
            let mut shifted = grid.clone();
            let slot = (0..shifted.space.slots).find(|&s| !shifted.slice(s).is_empty()).unwrap();
            shifted.starts[slot + 1] -= 1;
            assert!(shifted.validate(&points).is_err());
        }
    }
}
