//! The ends are sorted, and the set holds all pairs and no others.

use super::Sweep3Axis;
use super::ends::End;
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::objects::Frame;
use crate::pairs::Pair;

impl<const D: usize, T: Real> Sweep3Axis<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        let objects = self.tracked.ids().count();
        for (axis, ends) in self.axes.iter().enumerate() {
            ensure!(ends.len() == 2 * objects, "{} ends on axis {axis} for {objects} objects", ends.len());
            let unsorted = ends.windows(2).position(|two| two[1].is_before(two[0]));
            ensure!(unsorted.is_none(), "the ends on axis {axis} are not sorted at {unsorted:?}");
            for end in ends {
                let own = End::both(end.id(), self.tracked.get(end.id()), axis)[usize::from(end.is_upper())];
                ensure!(end.at() == own.at(), "object {} has moved on axis {axis}", end.id());
            }
        }
        let mut pairs = self.overlaps.pairs().to_vec();
        pairs.sort_unstable();
        ensure!(pairs.is_sorted_by(|a, b| a < b), "a pair stands twice");
        let lost = pairs.iter().find(|&&pair| !self.overlaps.contains(pair));
        ensure!(lost.is_none(), "the table does not find {lost:?}");
        if strength == Strength::Geometry {
            let differs = self.tracked.differs_from(frame);
            ensure!(differs.is_none(), "slot {differs:?} differs from the frame");
            let expected = self.sweep();
            ensure!(pairs == expected, "{} pairs instead of {}", pairs.len(), expected.len());
        }
        Ok(())
    }

    /// All pairs from the first axis, sorted.
    fn sweep(&self) -> Vec<Pair> {
        let (mut found, mut open) = (Vec::new(), Vec::new());
        for end in &self.axes[0] {
            if end.is_upper() {
                open.retain(|&id| id != end.id());
            } else {
                let of = |id: u32| self.tracked.get(id);
                found.extend(open.iter().filter(|&&id| of(id).overlaps(of(end.id()))).map(|&id| Pair::new(id, end.id())));
                open.push(end.id());
            }
        }
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aabb, Context};

    #[test]
    fn the_validator_detects_exchanged_ends_a_lost_pair_and_another_box() {
        let mut boxes: Vec<_> = (0..30).map(|i| Aabb::from_center([(i % 6) as f32, (i / 6) as f32], [0.6; 2])).collect();
        let mut sweep = Sweep3Axis::new();
        sweep.update(&Frame::new(&boxes), &mut Context::new()).unwrap();
        sweep.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
        let mut exchanged = sweep.clone();
        exchanged.axes[1].swap(0, 40);
        assert!(exchanged.validate(&Frame::new(&boxes), Strength::Structure).is_err());
        let mut lost = sweep.clone();
        lost.overlaps.remove(sweep.overlaps.pairs()[7]);
        assert!(lost.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
        boxes[3] = boxes[3].translate([1.0, 0.0]);
        assert!(sweep.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
    }
}
