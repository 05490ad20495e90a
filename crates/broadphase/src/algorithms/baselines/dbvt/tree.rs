//! The tree by itself: leaves come and go.

use crate::algorithms::common::{NONE, bytes_of, push};
use crate::algorithms::{Violation, ensure};
use crate::geometry::{Aabb, Real};

/// A binary tree of boxes. Nodes are numbered; numbers of removed nodes are used again.
#[derive(Clone, Debug)]
pub(super) struct Tree<const D: usize, T> {
    nodes: Vec<Node<D, T>>,
    free: Vec<u32>,
    root: u32,
}

/// A leaf, or the union of two nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<const D: usize, T> {
    pub(super) bounds: Aabb<D, T>,
    parent: u32,
    /// For a leaf: none, and the object.
    children: [u32; 2],
    /// 0 for a leaf.
    height: u32,
}

impl<const D: usize, T: Real> Default for Tree<D, T> {
    fn default() -> Self {
        Self { nodes: Vec::new(), free: Vec::new(), root: NONE }
    }
}

impl<const D: usize, T: Real> Node<D, T> {
    /// The object, if this is a leaf.
    #[inline(always)]
    pub(super) fn object(&self) -> Option<u32> {
        (self.children[0] == NONE).then_some(self.children[1])
    }

    /// The children, if this is not a leaf.
    pub(super) fn children(&self) -> [u32; 2] {
        self.children
    }

    /// The levels below.
    pub(super) fn height(&self) -> u32 {
        self.height
    }
}

/// The sum of sides: what a box costs. Infinite if it overflows, which only makes the tree worse.
fn cost<const D: usize, T: Real>(bounds: &Aabb<D, T>) -> T {
    bounds.size().into_iter().sum()
}

impl<const D: usize, T: Real> Tree<D, T> {
    /// The topmost node, or [`NONE`].
    pub(super) fn root(&self) -> u32 {
        self.root
    }

    #[inline(always)]
    pub(super) fn node(&self, number: u32) -> &Node<D, T> {
        &self.nodes[number as usize]
    }

    /// The levels.
    pub(super) fn height(&self) -> u32 {
        if self.root == NONE { 0 } else { self.node(self.root).height + 1 }
    }

    fn add(&mut self, node: Node<D, T>) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.nodes[number as usize] = node;
                number
            }
            None => {
                push(&mut self.nodes, node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    /// Inserts a leaf, and returns its number.
    pub(super) fn insert(&mut self, bounds: Aabb<D, T>, object: u32) -> u32 {
        let leaf = self.add(Node { bounds, parent: NONE, children: [NONE, object], height: 0 });
        if self.root == NONE {
            self.root = leaf;
            return leaf;
        }
        let sibling = self.sibling_for(&bounds);
        let parent = self.node(sibling).parent;
        let joint = self.add(Node { bounds, parent, children: [sibling, leaf], height: 1 });
        self.replace_child(parent, sibling, joint);
        self.nodes[sibling as usize].parent = joint;
        self.nodes[leaf as usize].parent = joint;
        self.refit_from(joint);
        leaf
    }

    /// Down to where the boxes grow least.
    fn sibling_for(&self, bounds: &Aabb<D, T>) -> u32 {
        let mut at = self.root;
        while self.node(at).object().is_none() {
            let [left, right] = self.node(at).children;
            let growth = |child: u32| {
                let own = &self.node(child).bounds;
                cost(&own.union(bounds)) - cost(own)
            };
            let (by_left, by_right) = (growth(left), growth(right));
            // Of two that grow alike (most often: not at all), the lower one keeps the tree even.
            let lower = self.node(left).height <= self.node(right).height;
            at = if by_left < by_right || (by_left == by_right && lower) { left } else { right };
        }
        at
    }

    /// Removes a leaf.
    pub(super) fn remove(&mut self, leaf: u32) {
        push(&mut self.free, leaf);
        let joint = self.node(leaf).parent;
        if joint == NONE {
            self.root = NONE;
            return;
        }
        let Node { parent, children: [left, right], .. } = *self.node(joint);
        let sibling = if left == leaf { right } else { left };
        self.replace_child(parent, joint, sibling);
        self.nodes[sibling as usize].parent = parent;
        push(&mut self.free, joint);
        self.refit_from(parent);
    }

    fn replace_child(&mut self, parent: u32, old: u32, new: u32) {
        if parent == NONE {
            self.root = new;
        } else {
            let children = &mut self.nodes[parent as usize].children;
            children[usize::from(children[0] != old)] = new;
        }
    }

    /// Boxes, heights and balance from a node up to the root.
    fn refit_from(&mut self, mut at: u32) {
        while at != NONE {
            at = self.balance(at);
            self.refit(at);
            at = self.node(at).parent;
        }
    }

    fn refit(&mut self, at: u32) {
        let [left, right] = self.node(at).children.map(|child| *self.node(child));
        let node = &mut self.nodes[at as usize];
        node.bounds = left.bounds.union(&right.bounds);
        node.height = 1 + left.height.max(right.height);
    }

    /// If one child is more than a level higher than the other, it takes the node's place, keeps its own higher child, and leaves the other
    /// one to the node. Returns who is in the place now.
    fn balance(&mut self, at: u32) -> u32 {
        let Node { children, parent, .. } = *self.node(at);
        let heights = children.map(|child| self.node(child).height);
        if heights[0].abs_diff(heights[1]) < 2 {
            return at;
        }
        let side = usize::from(heights[1] > heights[0]);
        let up = children[side];
        let below = self.node(up).children;
        let higher = usize::from(self.node(below[1]).height > self.node(below[0]).height);
        let (kept, given) = (below[higher], below[1 - higher]);
        self.replace_child(parent, at, up);
        self.nodes[up as usize].parent = parent;
        self.nodes[up as usize].children = [at, kept];
        self.nodes[at as usize].parent = up;
        self.nodes[at as usize].children[side] = given;
        self.nodes[given as usize].parent = at;
        self.refit(at);
        up
    }

    /// Links, heights and boxes of all nodes; returns the number of leaves.
    pub(super) fn check(&self) -> Result<usize, Violation> {
        let (mut leaves, mut nodes) = (0, 0);
        let mut stack = if self.root == NONE { vec![] } else { vec![self.root] };
        while let Some(at) = stack.pop() {
            nodes += 1;
            ensure!(nodes <= self.nodes.len(), "the tree has a loop at node {at}");
            let node = self.node(at);
            ensure!((at == self.root) == (node.parent == NONE), "node {at} has parent {}", node.parent);
            if node.object().is_some() {
                ensure!(node.height == 0, "leaf {at} has height {}", node.height);
                leaves += 1;
                continue;
            }
            for child in node.children {
                let below = self.node(child);
                ensure!(below.parent == at, "node {child} is a child of {at}, and thinks of {}", below.parent);
                ensure!(node.bounds.contains(&below.bounds), "node {child} is not inside node {at}");
            }
            let highest = node.children.map(|child| self.node(child).height).into_iter().max();
            ensure!(Some(node.height) == highest.map(|h| h + 1), "node {at} has height {}", node.height);
            stack.extend(node.children);
        }
        let free = self.free.len();
        ensure!(nodes + free == self.nodes.len(), "{nodes} nodes and {free} free ones are not {}", self.nodes.len());
        Ok(leaves)
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        bytes_of(&self.nodes) + bytes_of(&self.free)
    }
}

#[cfg(test)]
impl<const D: usize, T: Real> Tree<D, T> {
    /// For tests of the validator.
    pub(super) fn node_mut(&mut self, number: u32) -> &mut Node<D, T> {
        &mut self.nodes[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_inserted_in_order_make_no_list_of_a_tree() {
        let mut tree = Tree::default();
        let leaves: Vec<u32> = (0..4096).map(|i| tree.insert(Aabb::new([i as f32, 0.0], [i as f32 + 0.5, 1.0]), i)).collect();
        assert!(tree.height() <= 20, "4096 leaves in {} levels", tree.height());
        assert_eq!(tree.check().unwrap(), 4096);
        leaves.iter().step_by(2).for_each(|&leaf| tree.remove(leaf));
        assert_eq!(tree.check().unwrap(), 2048);
        leaves.iter().skip(1).step_by(2).for_each(|&leaf| tree.remove(leaf));
        assert_eq!((tree.check().unwrap(), tree.root()), (0, NONE));
    }
}
