//! Collapse: an underpopulated subtree becomes a leaf again.

use super::Optimizer;
use crate::algorithms::kd_tree::nodes::NONE;
use crate::geometry::Real;

impl<const D: usize, T: Real> Optimizer<'_, D, T> {
    /// All objects of the subtree into the node, and no children. No object moves: the subtree's block is the node's block.
    pub(super) fn collapse(&mut self, node: u32) {
        self.work.collapses += 1;
        self.tree.pull_up(node);
        let (left, right) = (self.tree.node(node).left, self.tree.node(node).right);
        self.tree.release(left);
        self.tree.release(right);
        let this = self.tree.node_mut(node);
        (this.left, this.right) = (NONE, NONE);
        (this.axis, this.plane) = (0, T::ZERO);
    }
}
