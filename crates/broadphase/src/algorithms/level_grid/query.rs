//! Queries: probe every level, as in the paper.

use super::LevelGrid;
use crate::algorithms::common::{Search, Visit};
use crate::algorithms::{Found, Query};
use crate::geometry::{Aabb, Measure, Real};
use crate::objects::Frame;

impl<const D: usize, T: Real> LevelGrid<D, T> {
    /// Visits all that may overlap `area`: every section within reach, on every level that has objects, and the oversize list.
    pub(super) fn visit_in(&self, area: &Aabb<D, T>, visit: Visit<'_>) {
        let Some(sections) = &self.sections else { return };
        let _broken = (0..self.population.len()).filter(|&level| self.population[level] > 0).try_for_each(|level| {
            sections.within_reach(level, area, |mut run| {
                run.try_for_each(|section| self.bins.iter(section).try_for_each(&mut *visit))
            })
        });
    }
}

impl<const D: usize, T: Real> Query<D, T> for LevelGrid<D, T> {
    /// All that may overlap the box around the question: much for a long oblique ray, everything for the nearest.
    fn search(&self, frame: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        let search = Search::new(frame, measure, limit, visit);
        self.visit_in(&search.reach(), &mut |id| search.offer(id));
    }
}
