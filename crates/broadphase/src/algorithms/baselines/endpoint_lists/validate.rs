//! The ends are sorted and those of the boxes, and the set holds the pairs that the lists own and no others.

use super::EndpointLists;
use super::end::End;
use crate::algorithms::common::TrackedBoxes;
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::pairs::Pair;

impl<const D: usize, T: Real> EndpointLists<D, T> {
    /// The objects, ascending, if each has two ends on every axis.
    pub(in super::super) fn ids(&self) -> Result<Vec<u32>, Violation> {
        let sorted = |axis: usize, upper: bool| {
            let mut ids: Vec<u32> = self.axes[axis].iter().filter(|end| end.is_upper() == upper).map(|end| end.id()).collect();
            ids.sort_unstable();
            ids
        };
        let ids = sorted(0, false);
        for (axis, upper) in (0..D).flat_map(|axis| [(axis, false), (axis, true)]) {
            ensure!(sorted(axis, upper) == ids, "the ends on axis {axis} are of other objects than those on the first");
        }
        ensure!(ids.is_sorted_by(|a, b| a < b), "an object has two lower ends");
        Ok(ids)
    }

    /// Are the lists as they are between updates, with these boxes and these pairs? With [`Strength::Structure`], without the pairs.
    pub(in super::super) fn check(
        &self,
        tracked: &TrackedBoxes<D, T>,
        strength: Strength,
        owns: impl Fn(Pair) -> bool,
    ) -> Result<(), Violation> {
        for (axis, ends) in self.axes.iter().enumerate() {
            let unsorted = ends.windows(2).position(|two| two[1].is_before(two[0]));
            ensure!(unsorted.is_none(), "the ends on axis {axis} are not sorted at {unsorted:?}");
            for end in ends {
                ensure!(tracked.is_live(end.id()), "object {} is gone, but not its ends", end.id());
                let own = End::both(end.id(), tracked.get(end.id()), axis)[usize::from(end.is_upper())];
                ensure!(end.at() == own.at(), "object {} has moved on axis {axis}", end.id());
            }
        }
        let mut pairs = self.overlaps.pairs().to_vec();
        pairs.sort_unstable();
        ensure!(pairs.is_sorted_by(|a, b| a < b), "a pair stands twice");
        let lost = pairs.iter().find(|&&pair| !self.overlaps.contains(pair));
        ensure!(lost.is_none(), "the table does not find {lost:?}");
        if strength == Strength::Geometry {
            let mut expected = self.sweep(tracked);
            expected.retain(|&pair| owns(pair));
            ensure!(pairs == expected, "{} pairs instead of {}", pairs.len(), expected.len());
        }
        Ok(())
    }

    /// All pairs from the first axis, sorted.
    fn sweep(&self, tracked: &TrackedBoxes<D, T>) -> Vec<Pair> {
        let (mut found, mut open) = (Vec::new(), Vec::new());
        for end in &self.axes[0] {
            if end.is_upper() {
                open.retain(|&id| id != end.id());
            } else {
                let of = |id: u32| tracked.get(id);
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
    use super::super::Sorter;
    use super::*;
    use crate::{Aabb, Frame};

    #[test]
    fn the_check_detects_exchanged_and_foreign_ends_and_lost_pairs() {
        let boxes: Vec<_> = (0..30).map(|i| Aabb::from_center([(i % 6) as f32, (i / 6) as f32], [0.6; 2])).collect();
        let (mut tracked, mut lists) = (TrackedBoxes::default(), EndpointLists::<2, f32>::default());
        tracked.update(&Frame::new(&boxes)).unwrap();
        let owns = |pair: Pair| pair.a != 3;
        lists.insert_and_sort(&tracked, 0..30, owns, &mut Sorter::default()).unwrap();
        lists.check(&tracked, Strength::Geometry, owns).unwrap();
        assert!(lists.ids().unwrap().into_iter().eq(0..30));
        assert!(lists.check(&tracked, Strength::Geometry, |_| true).is_err(), "pairs of object 3 are not in the set");
        let mut exchanged = lists.clone();
        exchanged.axes[1].swap(0, 40);
        assert!(exchanged.check(&tracked, Strength::Structure, owns).is_err());
        let mut foreign = lists.clone();
        foreign.axes[1][7] = End::both(30, &boxes[0], 1)[0];
        assert!(foreign.ids().is_err());
        assert!(foreign.check(&tracked, Strength::Structure, owns).is_err());
        let mut lost = lists.clone();
        lost.overlaps.remove(lists.overlaps.pairs()[7]);
        assert!(lost.check(&tracked, Strength::Geometry, owns).is_err());
    }
}
