//! Has a list moved since the last frame?

use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::memory;
use crate::sample::sample;

/// What the memory is for, in errors.
const BOXES: &str = "boxes of the last frame";
/// Boxes of the second list that are compared in every frame.
const SAMPLE: usize = 64;

/// What is known about the second list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    /// It differs from the last one.
    Moved,
    /// The sample is that of the last one. The other boxes cannot be compared, since they are copied only once the list rests.
    Unknown,
    /// It is the last one.
    Still,
}

/// The two lists of the last frame. While the second one moves, a sample of it is enough to see that, and nothing is copied.
#[derive(Debug)]
pub(super) struct LastLists<const D: usize, T> {
    /// The first list, if there are copies.
    a: Vec<Aabb<D, T>>,
    b: Vec<Aabb<D, T>>,
    /// Are there copies of both lists?
    are_copied: bool,
    /// The sample of the second list, and the number of its boxes.
    sample: Vec<Aabb<D, T>>,
    count: usize,
}

impl<const D: usize, T: Real> LastLists<D, T> {
    /// Lists of a frame before the first one.
    pub(super) fn new() -> Self {
        Self { a: Vec::new(), b: Vec::new(), are_copied: false, sample: Vec::new(), count: 0 }
    }

    /// Has the second list moved?
    pub(super) fn motion(&self, b: &[Aabb<D, T>]) -> Motion {
        if b.len() != self.count || !sample_of(b).eq(&self.sample) {
            Motion::Moved
        } else if !self.are_copied {
            Motion::Unknown
        } else if b == self.b {
            Motion::Still
        } else {
            Motion::Moved
        }
    }

    /// Has the box at `index` of the first list changed? Both lists must have copies.
    pub(super) fn has_changed(&self, index: usize, now: &Aabb<D, T>) -> bool {
        self.a.get(index) != Some(now)
    }

    /// Makes these the lists of the last frame. On error nothing is known about them.
    pub(super) fn remember(&mut self, a: &[Aabb<D, T>], b: &[Aabb<D, T>], motion: Motion) -> Result<(), Error> {
        // A box outside of the sample may be all that moved: the list is then copied again.
        let looks_still = motion != Motion::Moved || (b.len() == self.count && sample_of(b).eq(&self.sample));
        self.are_copied = false;
        if !looks_still {
            self.count = usize::MAX;
            memory::extend(cleared(&mut self.sample), SAMPLE, sample_of(b).copied(), BOXES)?;
            self.count = b.len();
            return Ok(());
        }
        memory::copy(&mut self.a, a, BOXES)?;
        if motion != Motion::Still {
            memory::copy(&mut self.b, b, BOXES)?;
        }
        self.are_copied = true;
        Ok(())
    }
}

fn cleared<X>(list: &mut Vec<X>) -> &mut Vec<X> {
    list.clear();
    list
}

/// At most [`SAMPLE`] boxes, spread over the list.
fn sample_of<const D: usize, T>(boxes: &[Aabb<D, T>]) -> impl Iterator<Item = &Aabb<D, T>> {
    sample(boxes.len(), boxes.len().div_ceil(SAMPLE).max(1)).map(|at| &boxes[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_copied_once_its_sample_stays_and_compared_from_then_on() {
        let still: Vec<Aabb<2, f32>> = (0..1000).map(|k| Aabb::point([k as f32, 0.0])).collect();
        let mut one_moves = still.clone();
        one_moves[1] = Aabb::point([0.5, 0.5]); // not in the sample
        let all_move: Vec<_> = still.iter().map(|value| value.translate([0.1, 0.0])).collect();
        let mut last = LastLists::new();
        for (b, motion) in [
            (&still, Motion::Moved),
            (&still, Motion::Unknown),
            (&still, Motion::Still),
            (&one_moves, Motion::Moved),
            (&one_moves, Motion::Still),
            (&all_move, Motion::Moved),
            (&all_move, Motion::Unknown),
            (&all_move, Motion::Still),
        ] {
            assert_eq!(last.motion(b), motion);
            last.remember(&still, b, motion).unwrap();
            assert!(motion == Motion::Moved || !last.has_changed(1, &still[1]));
        }
        assert!(last.has_changed(1, &one_moves[1]) && last.has_changed(1000, &still[1]));
        assert_eq!(last.motion(&all_move[1..]), Motion::Moved);
    }
}
