//! Filter: a node's objects that lie wholly on one side of its plane go to that branch.

use super::Optimizer;
use crate::geometry::Real;

impl<const D: usize, T: Real> Optimizer<'_, D, T> {
    /// Filters an inner node whose own indices are settled; settles its children and gives them their regions. Objects that are
    /// not loose are looked at only if `all` says so: else they stand on the plane already.
    pub(super) fn filter(&mut self, node: u32, all: bool) {
        let (left, right) = (self.tree.node(node).left, self.tree.node(node).right);
        self.tree.settle(left);
        self.tree.settle(right);
        let this = *self.tree.node(node);
        let halves = this.halves();
        self.tree.node_mut(left).region = halves.0;
        self.tree.node_mut(right).region = halves.1;

        let axis = this.axis as usize;
        let (stays, rights) = (&mut self.scratch.ids, &mut self.scratch.rights);
        stays.clear();
        rights.clear();
        let block = &mut self.tree.order[this.own()];
        let mut lefts = 0;
        for at in 0..block.len() {
            let id = block[at];
            if all || self.loose.contains(id) {
                let value = &self.boxes[id as usize];
                if value.max[axis] < this.plane {
                    block[lefts] = id;
                    lefts += 1;
                    continue;
                }
                if value.min[axis] > this.plane {
                    rights.push(id);
                    continue;
                }
            }
            stays.push(id);
        }
        let kept = stays.len();
        if kept == block.len() {
            return;
        }
        block[lefts..lefts + kept].copy_from_slice(stays);
        block[lefts + kept..].copy_from_slice(rights);
        self.work.lowered += (block.len() - kept) as u64;
        let rights = rights.len();
        if lefts > 0 {
            self.lower_left(node, lefts);
        }
        if rights > 0 {
            self.lower_right(node, rights);
        }
    }

    /// The first `count` of the node's objects become the last of its left child's, across the block of that child's right branch.
    fn lower_left(&mut self, node: u32, count: usize) {
        let (left, begin) = (self.tree.node(node).left, self.tree.node(node).begin);
        let grandchild = self.tree.node(left).right;
        let between = self.tree.population(grandchild);
        // Both neighbors change places: [branch | movers] becomes [movers | branch].
        self.tree.order[begin - between..begin + count].rotate_right(count);
        let child = self.tree.node_mut(left);
        child.end += count;
        child.population += count;
        self.tree.shift(grandchild, count as isize);
        self.tree.node_mut(node).begin += count;
    }

    /// The last `count` of the node's objects become the first of its right child's.
    fn lower_right(&mut self, node: u32, count: usize) {
        let (right, end) = (self.tree.node(node).right, self.tree.node(node).end);
        let grandchild = self.tree.node(right).left;
        let between = self.tree.population(grandchild);
        self.tree.order[end - count..end + between].rotate_left(count);
        let child = self.tree.node_mut(right);
        child.begin -= count;
        child.population += count;
        self.tree.shift(grandchild, -(count as isize));
        self.tree.node_mut(node).end -= count;
    }
}
