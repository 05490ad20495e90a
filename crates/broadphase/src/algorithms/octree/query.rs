//! Queries: descend into the nodes whose region may hold a result.

use std::ops::ControlFlow;

use super::Octree;
use crate::algorithms::common::{Search, Visit};
use crate::algorithms::{Found, Outline, Query, Region};
use crate::geometry::{Aabb, Measure, Real};
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

    /// Visits the nodes that hold objects.
    pub(super) fn outline(&self, _frame: &Frame<'_, D, T>, visit: &mut dyn FnMut(Region<D, T>)) {
        self.nodes.iter().filter(|node| node.population > 0).for_each(|node| visit(Region::new(Outline::Node, node.region)));
    }

    /// Figure 2.4: the objects of the nodes on the way down, as long as the box fits into one child, then of all nodes below.
    fn walk_as_in_the_paper(&self, area: &Aabb<D, T>, visit: Visit<'_>) -> ControlFlow<()> {
        let mut number = 0;
        loop {
            let node = &self.nodes[number as usize];
            match node.octant_of(area) {
                Some(octant) if !node.is_leaf() => {
                    self.bins.iter(number).try_for_each(&mut *visit)?;
                    number = node.children + octant;
                }
                _ => return self.walk_all(number, visit),
            }
        }
    }

    /// The objects of a node and of all nodes below it, wherever they are.
    fn walk_all(&self, node: u32, visit: Visit<'_>) -> ControlFlow<()> {
        self.bins.iter(node).try_for_each(&mut *visit)?;
        let here = &self.nodes[node as usize];
        let children = if here.is_leaf() { 0..0 } else { here.children..here.children + (1 << D) };
        children.into_iter().try_for_each(|child| self.walk_all(child, visit))
    }

    /// Visits all that may overlap `area`.
    pub(super) fn visit_in(&self, area: &Aabb<D, T>, visit: Visit<'_>) {
        if self.options.paper && !self.nodes.is_empty() {
            let _broken = self.walk_as_in_the_paper(area, visit);
        } else if !self.nodes.is_empty() {
            let _broken = self.walk(0, &|region| region.overlaps(area), visit);
        }
    }
}

impl<const D: usize, T: Real> Query<D, T> for Octree<D, T> {
    fn search(&self, frame: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        if !self.nodes.is_empty() {
            let search = Search::new(frame, measure, limit, visit);
            if self.options.paper {
                return self.visit_in(&search.reach(), &mut |id| search.offer(id));
            }
            let _broken = self.walk(0, &|region| search.may_hold(region), &mut |id| search.offer(id));
        }
    }
}
