//! Queries: the cells of each grid that the box around the question can reach.

use std::ops::ControlFlow;

use super::PaperHashGrid;
use crate::algorithms::common::{Search, Visit};
use crate::algorithms::{Found, Query};
use crate::geometry::{Aabb, Measure, Real};
use crate::objects::Frame;

impl<const D: usize, T: Real> PaperHashGrid<D, T> {
    /// Visits all that may overlap `area`.
    pub(super) fn visit_in(&self, frame: &Frame<'_, D, T>, area: &Aabb<D, T>, visit: Visit<'_>) {
        let mut flow = ControlFlow::Continue(());
        if !self.active {
            flow = frame.ids().try_for_each(&mut *visit);
        }
        for grid in &self.grids {
            grid.visit_in(area, |objects| {
                if flow.is_continue() {
                    flow = objects.iter().copied().try_for_each(&mut *visit);
                }
            });
        }
        if flow.is_continue() {
            let _broken = self.unbounded.ids().iter().copied().try_for_each(visit);
        }
    }
}

impl<const D: usize, T: Real> Query<D, T> for PaperHashGrid<D, T> {
    /// All that may overlap the box around the question: much for a long oblique ray, everything for the nearest.
    fn search(&self, frame: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        let search = Search::new(frame, measure, limit, visit);
        self.visit_in(frame, &search.reach(), &mut |id| search.offer(id));
    }
}
