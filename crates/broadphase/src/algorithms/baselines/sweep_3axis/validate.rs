//! The lists hold all objects and all pairs.

use super::Sweep3Axis;
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::objects::Frame;

impl<const D: usize, T: Real> Sweep3Axis<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        let (listed, objects) = (self.lists.ids()?, self.tracked.ids().count());
        ensure!(self.tracked.ids().eq(listed), "the lists are not of all {objects} objects");
        self.lists.check(&self.tracked, strength, |_| true)?;
        let differs = self.tracked.differs_from(frame);
        ensure!(strength == Strength::Structure || differs.is_none(), "slot {differs:?} differs from the frame");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aabb, Context};

    #[test]
    fn the_validator_detects_an_object_without_ends_and_another_box() {
        let mut boxes: Vec<_> = (0..30).map(|i| Aabb::from_center([(i % 6) as f32, (i / 6) as f32], [0.6; 2])).collect();
        let mut sweep = Sweep3Axis::new();
        sweep.update(&Frame::new(&boxes), &mut Context::new()).unwrap();
        sweep.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
        let mut lost = sweep.clone();
        lost.lists.remove_and_renew(&sweep.tracked, |id| id == 7);
        assert!(lost.validate(&Frame::new(&boxes), Strength::Structure).is_err());
        boxes[3] = boxes[3].translate([1.0, 0.0]);
        assert!(sweep.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
    }
}
