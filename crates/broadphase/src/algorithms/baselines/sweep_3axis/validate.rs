//! The ends are sorted, and the set holds all pairs and no others.

use super::Sweep3Axis;
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::objects::Frame;

impl<const D: usize, T: Real> Sweep3Axis<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        let thoroughly = strength == Strength::Geometry;
        let differs = self.ledger.differs_from(frame);
        ensure!(!thoroughly || differs.is_none(), "slot {differs:?} differs from the frame");
        self.lists.validate(&self.ledger, self.ledger.ids().count(), thoroughly)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aabb, Context};

    #[test]
    fn the_validator_notices_exchanged_ends_a_lost_pair_and_another_box() {
        let mut boxes: Vec<_> = (0..30).map(|i| Aabb::from_center([(i % 6) as f32, (i / 6) as f32], [0.6; 2])).collect();
        let mut sweep = Sweep3Axis::new();
        sweep.update(&Frame::new(&boxes), &mut Context::new()).unwrap();
        sweep.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
        let mut exchanged = sweep.clone();
        exchanged.lists.axes[1].swap(0, 40);
        assert!(exchanged.validate(&Frame::new(&boxes), Strength::Structure).is_err());
        let mut lost = sweep.clone();
        lost.lists.overlaps.remove(sweep.lists.overlaps.pairs()[7]);
        assert!(lost.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
        boxes[3] = boxes[3].translate([1.0, 0.0]);
        assert!(sweep.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
    }
}
