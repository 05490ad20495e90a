//! Queries go down where the node's box may hold an answer.

use std::ops::ControlFlow;

use super::Dbvt;
use crate::algorithms::Query;
use crate::algorithms::common::{NONE, Visit, scan_ray};
use crate::geometry::{Aabb, Ray, Real};
use crate::objects::Frame;

impl<const D: usize, T: Real> Dbvt<D, T> {
    /// Visits what is not in the tree, and all leaves that `enter` accepts, with their ancestors.
    fn descend(&self, enter: &dyn Fn(&Aabb<D, T>) -> bool, visit: Visit<'_>) -> ControlFlow<()> {
        self.unbounded.ids().iter().copied().try_for_each(&mut *visit)?;
        let mut stack = if self.tree.root() == NONE { vec![] } else { vec![self.tree.root()] };
        while let Some(at) = stack.pop() {
            let node = self.tree.node(at);
            if enter(&node.bounds) {
                match node.object() {
                    Some(id) => visit(id)?,
                    None => stack.extend(node.children()),
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Visits all that may overlap `area`.
    pub(super) fn visit_in(&self, area: &Aabb<D, T>, visit: Visit<'_>) {
        let _broken = self.descend(&|bounds| bounds.overlaps(area), visit);
    }
}

impl<const D: usize, T: Real> Query<D, T> for Dbvt<D, T> {
    fn in_box(&self, frame: &Frame<'_, D, T>, area: &Aabb<D, T>, visit: &mut dyn FnMut(u32) -> ControlFlow<()>) {
        self.visit_in(area, &mut |id| {
            if frame.boxes[id as usize].overlaps(area) { visit(id) } else { ControlFlow::Continue(()) }
        });
    }

    fn along_ray(&self, frame: &Frame<'_, D, T>, ray: &Ray<D, T>, visit: &mut dyn FnMut(u32, T) -> ControlFlow<(), T>) {
        scan_ray(frame, ray, visit, |ray, visit| {
            let _broken = self.descend(&|bounds| ray.get().enters(bounds).is_some(), visit);
        });
    }
}
