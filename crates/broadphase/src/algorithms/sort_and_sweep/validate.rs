//! Every object stands once, where its lower coordinate belongs.

use super::SortAndSweep;
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::objects::Frame;

impl<const D: usize, T: Real> SortAndSweep<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        let len = self.boxes.len();
        ensure!(len == frame.count(), "{len} positions for {} objects", frame.count());
        let columns = self.boxes.columns();
        ensure!(columns.min(0)[..len].is_sorted(), "the boxes do not ascend");
        ensure!(columns.min(0)[len..].iter().all(|v| v.is_nan()), "padding is a box");
        let mut seen = vec![false; frame.slots()];
        let mut reach = T::NEG_INFINITY;
        for position in 0..len {
            let (id, value) = self.boxes.get(position);
            ensure!(
                (id as usize) < frame.slots() && frame.live.contains(id),
                "position {position} holds {id}, which is not live"
            );
            ensure!(!std::mem::replace(&mut seen[id as usize], true), "object {id} stands twice");
            reach = reach.max(value.max[0]);
            ensure!(self.boxes.reach()[position] == reach, "the reach at position {position} is wrong");
        }
        if strength == Strength::Geometry {
            let current = self.boxes.is_current(frame.boxes, len, |id| frame.live.contains(id));
            ensure!(current, "a position holds another box than the frame");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aabb, Context, Spec};

    #[test]
    fn the_validator_detects_disorder_doubles_and_stale_boxes() {
        let boxes: Vec<_> = (0..9).map(|i| Aabb::new([i as f32; 3], [i as f32 + 1.5; 3])).collect();
        let frame = Frame::new(&boxes);
        let mut structure = SortAndSweep::new(&"sort-and-sweep".parse::<Spec>().unwrap()).unwrap();
        structure.update(&frame, &mut Context::new()).unwrap();
        structure.validate(&frame, Strength::Geometry).unwrap();

        let damaged = |position: usize, id: u32, value: Aabb<3, f32>, strength| {
            let mut copy = structure.clone();
            copy.boxes.set(position, id, &value);
            copy.validate(&frame, strength)
        };
        assert!(damaged(3, 3, boxes[7], Strength::Structure).is_err());
        assert!(damaged(3, 4, boxes[3], Strength::Structure).is_err());
        assert!(damaged(3, 3, Aabb::new([3.0, 3.0, 2.0], [4.5; 3]), Strength::Structure).is_ok());
        assert!(damaged(3, 3, Aabb::new([3.0, 3.0, 2.0], [4.5; 3]), Strength::Geometry).is_err());
        assert!(structure.validate(&Frame::new(&boxes[..8]), Strength::Structure).is_err());
    }
}
