//! Queries go down where the node's box may hold an answer.

use std::ops::ControlFlow;

use super::Dbvt;
use crate::algorithms::common::{NONE, Search, Visit};
use crate::algorithms::{Found, Outline, Query, Region};
use crate::geometry::{Aabb, Measure, Real};
use crate::objects::Frame;

impl<const D: usize, T: Real> Dbvt<D, T> {
    /// Visits what is not in the tree, and all leaves that `enter` accepts, with their ancestors.
    fn descend(&self, enter: &dyn Fn(&Aabb<D, T>) -> bool, visit: Visit<'_>) -> ControlFlow<()> {
        self.unbounded.ids().iter().copied().try_for_each(&mut *visit)?;
        let mut stack = self.scratch.queries.take();
        stack.clear();
        stack.extend(Some(self.tree.root()).filter(|&root| root != NONE));
        let mut flow = ControlFlow::Continue(());
        while let (Some(at), ControlFlow::Continue(())) = (stack.pop(), flow) {
            let node = self.tree.node(at);
            if enter(&node.bounds) {
                match node.object() {
                    Some(id) => flow = visit(id),
                    None => stack.extend(node.children()),
                }
            }
        }
        self.scratch.queries.give(stack);
        flow
    }

    /// Visits all nodes, leaves included.
    pub(super) fn outline(&self, _frame: &Frame<'_, D, T>, visit: &mut dyn FnMut(Region<D, T>)) {
        let visit = std::cell::RefCell::new(visit);
        let show = |bounds: &Aabb<D, T>| {
            (visit.borrow_mut())(Region::new(Outline::Node, *bounds));
            true
        };
        let _all = self.descend(&show, &mut |_| ControlFlow::Continue(()));
    }

    /// Visits all that may overlap `area`.
    pub(super) fn visit_in(&self, area: &Aabb<D, T>, visit: Visit<'_>) {
        let _broken = self.descend(&|bounds| bounds.overlaps(area), visit);
    }
}

impl<const D: usize, T: Real> Query<D, T> for Dbvt<D, T> {
    fn search(&self, frame: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        let search = Search::new(frame, measure, limit, visit);
        let _broken = self.descend(&|bounds| search.may_hold(bounds), &mut |id| search.offer(id));
    }
}
