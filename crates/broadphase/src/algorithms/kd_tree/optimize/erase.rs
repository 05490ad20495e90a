//! Erase: a node whose plane cannot be saved, and its less populated branch, give way to the other branch.

use super::Optimizer;
use crate::geometry::Real;

impl<const D: usize, T: Real> Optimizer<'_, D, T> {
    /// The more populated child takes the node's place, with all objects of both branches. The node keeps its place in the arena
    /// and its region, which every object fits.
    pub(super) fn erase(&mut self, node: u32) {
        self.work.erasures += 1;
        self.tree.pull_up(node);
        let this = *self.tree.node(node);
        // `pull_up` does not settle the children's counts, so they still show which branch had more.
        let (left, right) = (*self.tree.node(this.left), *self.tree.node(this.right));
        let (heir, heir_at, gone) =
            if left.population >= right.population { (left, this.left, this.right) } else { (right, this.right, this.left) };
        self.tree.release(gone);
        let target = self.tree.node_mut(node);
        (target.left, target.right) = (heir.left, heir.right);
        (target.axis, target.plane) = (heir.axis, heir.plane);
        self.tree.release_one(heir_at);
        self.tree.empty(heir.left, this.begin);
        self.tree.empty(heir.right, this.end);
    }
}
