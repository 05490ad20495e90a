//! Every object is in the section that its center and size select, and all counts are right.

use super::LevelGrid;
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::objects::Frame;

impl<const D: usize, T: Real> LevelGrid<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        let objects = self.tracked.ids().count();
        let listed = self.bins.check().map_err(Violation)?;
        ensure!(listed == objects, "{listed} objects in sections, {objects} in all");
        let differs = self.tracked.differs_from(frame);
        ensure!(strength == Strength::Structure || differs.is_none(), "slot {differs:?} differs from the frame");
        let Some(sections) = &self.sections else { return Ok(()) };
        let mut population = vec![0; self.population.len()];
        for section in 0..=sections.oversize {
            population[sections.level_of(section)] += self.bins.iter(section).count() as u32;
        }
        ensure!(population == self.population, "{population:?} objects by level, counted as {:?}", self.population);
        if strength == Strength::Geometry {
            for id in self.tracked.ids() {
                let (home, wanted) = (self.bins.bin_of(id), sections.of(self.tracked.get(id)));
                ensure!(home == Some(wanted), "object {id} is in section {home:?}, and belongs to {wanted}");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;
    use crate::{Aabb, Context};

    #[test]
    fn the_validator_detects_a_misplaced_object_a_wrong_count_and_another_box() {
        let mut boxes: Vec<_> = (0..50).map(|i| Aabb::from_center([(i % 7) as f64, (i / 7) as f64], [0.04; 2])).collect();
        let mut grid = LevelGrid::new(Options::default());
        grid.update(&Frame::new(&boxes), &mut Context::new()).unwrap();
        grid.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
        let (low, high) = (grid.bins.bin_of(0).unwrap(), grid.bins.bin_of(48).unwrap());
        assert_ne!(low, high, "they are far apart");
        let mut misplaced = grid.clone();
        misplaced.bins.take(0);
        misplaced.bins.place(0, high);
        misplaced.validate(&Frame::new(&boxes), Strength::Structure).unwrap();
        assert!(misplaced.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
        let mut miscounted = grid.clone();
        miscounted.population[1] += 1;
        assert!(miscounted.validate(&Frame::new(&boxes), Strength::Structure).is_err());
        boxes[3].max[0] += 0.25;
        assert!(grid.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
    }
}
