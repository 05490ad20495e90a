//! Every object is inside its leaf, and every pair of overlapping leaves is a candidate.

use super::{Dbvt, Mode};
use crate::algorithms::common::NONE;
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::objects::Frame;
use crate::objects::unbounded::is_bounded;
use crate::pairs::Pair;

impl<const D: usize, T: Real> Dbvt<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        let leaves = self.tree.check()?;
        let outside = self.unbounded.ids().len();
        let objects = self.tracked.ids().count();
        ensure!(leaves + outside == objects, "{leaves} leaves and {outside} outside for {objects} objects");
        ensure!(self.leaves.len() == self.tracked.slots(), "{} leaves for {} slots", self.leaves.len(), self.tracked.slots());
        for (id, &leaf) in self.leaves.iter().enumerate().filter(|(_, leaf)| **leaf != NONE) {
            let object = self.tree.node(leaf).object();
            ensure!(object == Some(id as u32), "the leaf of object {id} is that of {object:?}");
        }
        ensure!(!self.touched.contains(&true), "an update is not finished");
        if strength == Strength::Geometry {
            let differs = self.tracked.differs_from(frame);
            ensure!(differs.is_none(), "slot {differs:?} differs from the frame");
            for id in self.tracked.ids() {
                let (value, leaf) = (self.tracked.get(id), self.leaves[id as usize]);
                ensure!(is_bounded(value) == (leaf != NONE), "object {id} is in the wrong place: leaf {leaf}");
                ensure!(self.unbounded.contains(id) == (leaf == NONE), "object {id} is inside and outside, or neither");
                ensure!(leaf == NONE || self.tree.node(leaf).bounds.contains(value), "object {id} has left its leaf");
            }
            self.check_candidates()?;
        }
        Ok(())
    }

    fn check_candidates(&self) -> Result<(), Violation> {
        let mut found = self.candidates.clone();
        found.sort_unstable();
        ensure!(found.is_sorted_by(|a, b| a < b), "a candidate is listed twice");
        let mut expected = Vec::new();
        if self.options.mode == Mode::Eager && self.budget.keeps() {
            for (id, &leaf) in self.leaves.iter().enumerate().filter(|(_, leaf)| **leaf != NONE) {
                let bounds = &self.tree.node(leaf).bounds;
                self.visit_in(bounds, &mut |other| {
                    if (id as u32) < other && self.leaves[other as usize] != NONE {
                        expected.push(Pair { a: id as u32, b: other });
                    }
                    std::ops::ControlFlow::Continue(())
                });
            }
            expected.sort_unstable();
        }
        ensure!(found == expected, "{} candidates instead of {}", found.len(), expected.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;
    use crate::{Aabb, Context};

    #[test]
    fn the_validator_detects_a_small_node_a_lost_candidate_and_a_leaf_that_was_left() {
        let mut boxes: Vec<_> = (0..60).map(|i| Aabb::from_center([(i % 8) as f32, (i / 8) as f32], [0.5; 2])).collect();
        let mut tree = Dbvt::new(Options { mode: Mode::Eager, margin: 0.1 });
        tree.update(&Frame::new(&boxes), &mut Context::new()).unwrap();
        tree.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
        let mut small = tree.clone();
        let root = small.tree.root();
        small.tree.node_mut(root).bounds.max[0] = 1.0;
        assert!(small.validate(&Frame::new(&boxes), Strength::Structure).is_err());
        let mut lost = tree.clone();
        lost.candidates.pop().unwrap();
        assert!(lost.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
        boxes[3] = boxes[3].translate([1.0, 0.0]);
        assert!(tree.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
    }
}
