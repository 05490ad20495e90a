//! The naive case of paper 004 (section 2.1.1): one linked list of all objects.
//!
//! # The structure
//! An object enters at the front of the list, whatever its place and size, and is searched for from the front when it is removed. It is
//! tested with every other object of the list, one at a time; so a pair is tested from both sides (figure 2.2). Objects that move need no
//! update. It is what `brute-force:paper=true` builds.
//!
//! It is kept for the papers' experiments: `brute-force` is 21.6 times as fast (paired CPU times of one thread, equal pairs, an AMD EPYC with AVX-512;
//! `broadphase bench uniform --n 4000 --frames 17 --algorithms brute-force,brute-force:paper=true`), by testing each pair once and many at a time.
//!
//! # Cost
//! Insertion O(1), removal O(n), n(n - 1) tests for all pairs. Memory: a copy of the box and 12 bytes of links per slot.

use crate::algorithms::common::{
    LinkedBins, Search, TrackedBoxes, Visit, assert_dimension, implement_broad_phase, probe_each, query_each_object,
};
use crate::algorithms::{Found, Probes, Query, Stats, Strength, Violation, ensure};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Measure, Real};
use crate::objects::Frame;
use crate::pairs::PairStore;

/// The one list.
const LIST: u32 = 0;

/// All objects in one linked list. See the module documentation.
#[derive(Clone, Debug, Default)]
pub struct NaiveList<const D: usize, T: Real> {
    tracked: TrackedBoxes<D, T>,
    bins: LinkedBins,
    /// Objects that removals passed in the list.
    passed: u64,
}

impl<const D: usize, T: Real> NaiveList<D, T> {
    /// An empty structure.
    pub fn new() -> Self {
        assert_dimension::<D>();
        let mut bins = LinkedBins::default();
        bins.extend_to(1);
        Self { tracked: TrackedBoxes::default(), bins, passed: 0 }
    }

    fn update(&mut self, frame: &Frame<'_, D, T>, _context: &mut Context) -> Result<(), Error> {
        self.tracked.update(frame)?;
        for &id in self.tracked.removed() {
            self.passed += self.bins.search_and_take(id, LIST).unwrap_or(0);
        }
        self.bins.resize_slots(frame.slots());
        self.tracked.inserted().iter().for_each(|&id| self.bins.place(id, LIST));
        Ok(())
    }

    fn visit_all(&self, visit: Visit<'_>) {
        let _broken = self.bins.iter(LIST).try_for_each(visit);
    }

    fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let revision = query_each_object(&self.tracked, frame, context, out, |_, visit| self.visit_all(visit))?;
        self.tracked.set_written(revision);
        Ok(())
    }

    fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        probe_each(frame, probes, context, out, |_, visit| self.visit_all(visit))
    }

    fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        let (listed, objects) = (self.bins.check().map_err(Violation)?, self.tracked.ids().count());
        ensure!(listed == objects, "{listed} objects in the list, {objects} in all");
        let differs = self.tracked.differs_from(frame);
        ensure!(strength == Strength::Structure || differs.is_none(), "slot {differs:?} differs from the frame");
        Ok(())
    }

    fn stats(&self) -> Stats {
        let extra = Vec::from([("passed_in_removal", self.passed as f64)]);
        Stats { bytes: self.tracked.bytes() + self.bins.bytes(), extra, ..Stats::default() }
    }
}

impl<const D: usize, T: Real> Query<D, T> for NaiveList<D, T> {
    /// Every object of the list.
    fn search(&self, frame: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        let search = Search::new(frame, measure, limit, visit);
        self.visit_all(&mut |id| search.offer(id));
    }
}

implement_broad_phase!(NaiveList, reader);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Aabb;

    #[test]
    fn the_validator_detects_a_lost_object_and_another_box() {
        let mut boxes = vec![Aabb::from_center([0.0f64; 2], [1.0; 2]); 9];
        let mut list = NaiveList::new();
        list.update(&Frame::new(&boxes), &mut Context::new()).unwrap();
        list.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
        boxes[4].max[0] += 1.0;
        assert!(list.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
        list.bins.take(3);
        assert!(list.validate(&Frame::new(&boxes), Strength::Structure).is_err());
    }
}
