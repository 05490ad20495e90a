//! Queries go down where the node's region may hold an answer.

use std::ops::ControlFlow;

use super::Octree;
use crate::algorithms::Query;
use crate::algorithms::common::{Visit, scan_ray};
use crate::geometry::{Aabb, Ray, Real};
use crate::objects::Frame;

impl<const D: usize, T: Real> Octree<D, T> {
    /// Visits the objects of all nodes whose region, and whose ancestors' regions, `enter` accepts.
    fn walk(&self, node: u32, enter: &dyn Fn(&Aabb<D, T>) -> bool, visit: Visit<'_>) -> ControlFlow<()> {
        let here = &self.nodes[node as usize];
        if here.population == 0 || !enter(&here.region) {
            return ControlFlow::Continue(());
        }
        self.bins.iter(node).try_for_each(&mut *visit)?;
        if !here.is_leaf() {
            (here.children..here.children + (1 << D)).try_for_each(|child| self.walk(child, enter, visit))?;
        }
        ControlFlow::Continue(())
    }

    /// Visits all that may overlap `area`.
    pub(super) fn visit_in(&self, area: &Aabb<D, T>, visit: Visit<'_>) {
        if !self.nodes.is_empty() {
            let _broken = self.walk(0, &|region| region.overlaps(area), visit);
        }
    }
}

impl<const D: usize, T: Real> Query<D, T> for Octree<D, T> {
    fn in_box(&self, frame: &Frame<'_, D, T>, area: &Aabb<D, T>, visit: &mut dyn FnMut(u32) -> ControlFlow<()>) {
        self.visit_in(area, &mut |id| {
            if frame.boxes[id as usize].overlaps(area) { visit(id) } else { ControlFlow::Continue(()) }
        });
    }

    fn along_ray(&self, frame: &Frame<'_, D, T>, ray: &Ray<D, T>, visit: &mut dyn FnMut(u32, T) -> ControlFlow<(), T>) {
        if !self.nodes.is_empty() {
            scan_ray(frame, ray, visit, |ray, visit| {
                let _broken = self.walk(0, &|region| ray.get().enters(region).is_some(), visit);
            });
        }
    }
}
