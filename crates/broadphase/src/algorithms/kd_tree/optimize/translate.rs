//! Translate: the plane moves along its axis to the mean of the objects.

use super::Optimizer;
use crate::geometry::Real;

impl<const D: usize, T: Real> Optimizer<'_, D, T> {
    /// Takes all objects of the subtree up, moves the plane, and lets them down one level. They go further down at the pace of
    /// the walk, so the next translation or erasure finds them near by.
    pub(super) fn translate(&mut self, node: u32) {
        self.work.translations += 1;
        self.tree.pull_up(node);
        let own = self.tree.node(node).own();
        let axis = self.tree.node(node).axis as usize;
        let mean = self.moments(own).0[axis];
        self.tree.node_mut(node).plane = mean;
        self.filter(node, true);
    }
}
