//! Queries probe every level, as the paper's objects do.

use std::ops::ControlFlow;

use super::LevelGrid;
use crate::algorithms::Query;
use crate::algorithms::common::{Visit, scan_ray};
use crate::geometry::{Aabb, Ray, Real};
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
    fn in_box(&self, frame: &Frame<'_, D, T>, area: &Aabb<D, T>, visit: &mut dyn FnMut(u32) -> ControlFlow<()>) {
        self.visit_in(area, &mut |id| {
            if frame.boxes[id as usize].overlaps(area) { visit(id) } else { ControlFlow::Continue(()) }
        });
    }

    /// A scan: sections hold centres, and a ray that passes one by may still meet its objects.
    fn along_ray(&self, frame: &Frame<'_, D, T>, ray: &Ray<D, T>, visit: &mut dyn FnMut(u32, T) -> ControlFlow<(), T>) {
        scan_ray(frame, ray, visit, |_, visit| {
            let _broken = self.ledger.ids().try_for_each(visit);
        });
    }
}
