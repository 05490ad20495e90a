//! The invariant: the columns hold the frame's boxes.

use super::BruteForce;
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::kernels::PAD;
use crate::objects::Frame;

impl<const D: usize, T: Real> BruteForce<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        let len = self.columns.len();
        let padding = self.columns.allocated() - len;
        ensure!(padding == PAD || (padding, len) == (0, 0), "{padding} boxes of padding");
        ensure!(len == frame.slots(), "{len} columns for {} slots", frame.slots());
        for position in len..self.columns.allocated() {
            ensure!(!self.columns.get(position).is_valid(), "padding at {position} is a box");
        }
        ensure!(self.changes.slots().is_sorted_by(|a, b| a < b), "the changed slots are not ascending");
        if strength == Strength::Geometry {
            for id in 0..len as u32 {
                ensure!(self.holds(id) == frame.live.contains(id), "slot {id} is live on one side only");
                if self.holds(id) {
                    ensure!(self.columns.get(id as usize) == frame.boxes[id as usize], "slot {id} has another box");
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aabb, Context};

    #[test]
    fn the_validator_detects_a_damaged_column_and_a_lost_slot() {
        let boxes = [Aabb::new([0.0f32; 3], [1.0; 3]); 5];
        let frame = Frame::new(&boxes);
        let mut structure = BruteForce::new();
        structure.update(&frame, &mut Context::new()).unwrap();
        structure.validate(&frame, Strength::Geometry).unwrap();

        let mut moved = structure.clone();
        moved.columns.set(3, 3, &Aabb::new([0.5; 3], [1.0; 3]));
        assert!(moved.validate(&frame, Strength::Geometry).is_err());
        let mut lost = structure.clone();
        lost.columns.vacate(2);
        assert!(lost.validate(&frame, Strength::Geometry).is_err());
        assert!(structure.validate(&Frame::new(&boxes[..4]), Strength::Structure).is_err());
    }
}
