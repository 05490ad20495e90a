//! Queries over the run of positions that the sweep axis leaves.

use super::SortAndSweep;
use crate::algorithms::common::Search;
use crate::algorithms::{Found, Query};
use crate::geometry::{Measure, Real};
use crate::objects::Frame;

impl<const D: usize, T: Real> Query<D, T> for SortAndSweep<D, T> {
    /// Positions within reach on one axis: cheap for what is short on it, a scan for an endless ray along it and for the nearest.
    fn search(&self, frame: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        let search = Search::new(frame, measure, limit, visit);
        let range = self.boxes.range(&search.reach());
        let _broken = self.boxes.columns().ids()[range].iter().try_for_each(|&id| search.offer(id));
    }
}
