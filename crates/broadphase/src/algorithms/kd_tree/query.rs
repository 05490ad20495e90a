//! Queries: descend into the nodes whose region may hold a result.

use std::ops::ControlFlow;

use super::KdTree;
use super::nodes::{Node, ROOT};
use crate::algorithms::common::Search;
use crate::algorithms::{Found, Outline, Query, Region};
use crate::geometry::{Aabb, Measure, Real};
use crate::objects::Frame;

impl<const D: usize, T: Real> KdTree<D, T> {
    /// Visits the nodes that `enter` lets in, parents first, until `visit` breaks.
    fn visit_nodes(
        &self,
        mut enter: impl FnMut(u32, &Node<D, T>) -> bool,
        mut visit: impl FnMut(&[u32]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.visit_below(ROOT, &mut enter, &mut visit)
    }

    fn visit_below(
        &self,
        node: u32,
        enter: &mut impl FnMut(u32, &Node<D, T>) -> bool,
        visit: &mut impl FnMut(&[u32]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let this = self.tree.node(node);
        if this.population == 0 || !enter(node, this) {
            return ControlFlow::Continue(());
        }
        visit(&self.tree.order[this.own()])?;
        if !this.is_leaf() {
            self.visit_below(this.left, enter, visit)?;
            self.visit_below(this.right, enter, visit)?;
        }
        ControlFlow::Continue(())
    }
}

impl<const D: usize, T: Real> KdTree<D, T> {
    /// Visits the nodes that hold objects.
    pub(super) fn outline(&self, _frame: &Frame<'_, D, T>, visit: &mut dyn FnMut(Region<D, T>)) {
        let show = |place: u32, node: &Node<D, T>| {
            visit(Region::new(Outline::Node, node.region).with_chunk(place as usize + 1));
            true
        };
        let _all = self.visit_nodes(show, |_| ControlFlow::Continue(()));
    }
}

impl<const D: usize, T: Real> Query<D, T> for KdTree<D, T> {
    fn search(&self, frame: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        let search = Search::new(frame, measure, limit, visit);
        let each = |ids: &[u32]| ids.iter().try_for_each(|&id| search.offer(id));
        if each(self.unbounded.ids()).is_continue() {
            let _broken = self.visit_nodes(|_, node| search.may_hold(&node.region), each);
        }
    }

    fn in_box(&self, frame: &Frame<'_, D, T>, area: &Aabb<D, T>, visit: &mut dyn FnMut(u32) -> ControlFlow<()>) {
        let mut each =
            |ids: &[u32]| ids.iter().filter(|&&id| frame.boxes[id as usize].overlaps(area)).try_for_each(|&id| visit(id));
        if each(self.unbounded.ids()).is_continue() {
            let _broken = self.visit_nodes(|_, node| node.region.overlaps(area), each);
        }
    }
}
