//! The tree: inserting and removing leaves.

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

/// A child more than this many levels higher than its sibling gives up its higher child.
const STEEP: u32 = 2;

/// The distance of two centers, summed over the axes, twice. Infinite or NaN if it overflows, which only makes the tree worse.
fn apart<const D: usize, T: Real>(a: &Aabb<D, T>, b: &Aabb<D, T>) -> T {
    (0..D).map(|k| ((a.min[k] + a.max[k]) - (b.min[k] + b.max[k])).abs()).sum()
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
        let joint = self.add(Node { bounds, parent: NONE, children: [NONE; 2], height: 1 });
        let start = self.root;
        self.attach(leaf, joint, start);
        leaf
    }

    /// Gives a leaf another box. It goes up only to the first node that holds the box, and down again from there: what moves a little stays
    /// among the same few nodes.
    pub(super) fn reinsert(&mut self, leaf: u32, bounds: Aabb<D, T>) {
        self.nodes[leaf as usize].bounds = bounds;
        let Some((joint, sibling)) = self.detach(leaf) else { return };
        let mut start = sibling;
        let mut at = self.node(sibling).parent;
        while at != NONE {
            let same = self.refit(at);
            start = at;
            if same && self.node(at).bounds.contains(&bounds) {
                break;
            }
            at = self.node(at).parent;
        }
        self.attach(leaf, joint, start);
    }

    /// Removes a leaf.
    pub(super) fn remove(&mut self, leaf: u32) {
        match self.detach(leaf) {
            None => self.root = NONE,
            Some((joint, sibling)) => {
                push(&mut self.free, joint);
                self.refit_from(self.node(sibling).parent);
            }
        }
        push(&mut self.free, leaf);
    }

    /// Takes a leaf out of the tree, and returns its former parent, which is out as well, and its former sibling. Nothing is refitted. `None` if
    /// there is no other leaf.
    fn detach(&mut self, leaf: u32) -> Option<(u32, u32)> {
        let joint = self.node(leaf).parent;
        if joint == NONE {
            return None;
        }
        let Node { parent, children: [left, right], .. } = *self.node(joint);
        let sibling = if left == leaf { right } else { left };
        self.replace_child(parent, joint, sibling);
        self.nodes[sibling as usize].parent = parent;
        Some((joint, sibling))
    }

    /// Puts a leaf below `start`, with `joint` as its parent, and refits what is above.
    fn attach(&mut self, leaf: u32, joint: u32, start: u32) {
        let bounds = self.node(leaf).bounds;
        let sibling = self.sibling_for(&bounds, start);
        let parent = self.node(sibling).parent;
        self.nodes[joint as usize].parent = parent;
        self.nodes[joint as usize].children = [sibling, leaf];
        self.replace_child(parent, sibling, joint);
        self.nodes[sibling as usize].parent = joint;
        self.nodes[leaf as usize].parent = joint;
        self.refit(joint);
        self.refit_from(parent);
    }

    /// Down from `start` to the node beside which the leaf costs least: itself and the growth of all boxes on the way.
    fn sibling_for(&self, bounds: &Aabb<D, T>, start: u32) -> u32 {
        let mut at = start;
        loop {
            let node = self.node(at);
            if node.object().is_some() {
                return at;
            }
            let united = cost(&node.bounds.union(bounds));
            let inherited = united - cost(&node.bounds);
            let below = node.children.map(|child| {
                let node = self.node(child);
                let united = cost(&node.bounds.union(bounds));
                let growth = if node.object().is_some() { united } else { united - cost(&node.bounds) };
                (growth + inherited, apart(&node.bounds, bounds), node.height)
            });
            if united < below[0].0.min(below[1].0) {
                return at;
            }
            // Of two that grow alike (most often: not at all) the nearer one; of those the lower one, which keeps the tree even.
            let right = below[1].partial_cmp(&below[0]).is_some_and(|order| order.is_lt());
            at = node.children[usize::from(right)];
        }
    }

    fn replace_child(&mut self, parent: u32, old: u32, new: u32) {
        if parent == NONE {
            self.root = new;
        } else {
            let children = &mut self.nodes[parent as usize].children;
            children[usize::from(children[0] != old)] = new;
        }
    }

    /// Boxes and heights from a node upwards, until nothing changes any more, with rotations.
    fn refit_from(&mut self, mut at: u32) {
        while at != NONE {
            let same = self.refit(at);
            let turned = self.rotate(at);
            if same && !turned {
                return;
            }
            at = self.node(at).parent;
        }
    }

    /// Box and height from the children; returns whether both were right.
    fn refit(&mut self, at: u32) -> bool {
        let [left, right] = self.node(at).children.map(|child| self.node(child));
        let bounds = left.bounds.union(&right.bounds);
        let height = 1 + left.height.max(right.height);
        let node = &mut self.nodes[at as usize];
        let same = node.height == height && node.bounds == bounds;
        (node.bounds, node.height) = (bounds, height);
        same
    }

    /// Exchanges a child with a grandchild on the other side: if one side is much higher, the higher grandchild there; else the exchange that
    /// makes the other child smallest, if any makes it smaller. Returns whether the node's height changed; its box stays.
    fn rotate(&mut self, at: u32) -> bool {
        let Node { children, height, .. } = *self.node(at);
        let heights = children.map(|child| self.node(child).height);
        let mut best = (T::ZERO, None);
        for side in 0..2 {
            let (child, other) = (children[side], children[1 - side]);
            let Node { children: below, bounds, .. } = *self.node(child);
            if heights[side] == 0 {
                continue;
            }
            let forced = heights[side] > heights[1 - side] + STEEP;
            for nephew in 0..2 {
                let kept = below[1 - nephew];
                let smaller = cost(&self.node(other).bounds.union(&self.node(kept).bounds)) - cost(&bounds);
                let higher = self.node(below[nephew]).height >= self.node(kept).height;
                if forced && higher {
                    return self.exchange(at, other, child, below[nephew], height);
                }
                if smaller < best.0 {
                    best = (smaller, Some((other, child, below[nephew])));
                }
            }
        }
        match best.1 {
            Some((other, child, nephew)) => self.exchange(at, other, child, nephew, height),
            None => false,
        }
    }

    /// Exchanges `other`, a child of `at`, with `nephew`, a child of `child`; returns whether the height is not `height` any more.
    fn exchange(&mut self, at: u32, other: u32, child: u32, nephew: u32, height: u32) -> bool {
        self.replace_child(at, other, nephew);
        self.replace_child(child, nephew, other);
        self.nodes[nephew as usize].parent = at;
        self.nodes[other as usize].parent = child;
        self.refit(child);
        let [left, right] = self.node(at).children.map(|child| self.node(child).height);
        let now = 1 + left.max(right);
        self.nodes[at as usize].height = now;
        now != height
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
                ensure!(below.parent == at, "node {child} is a child of {at}, but has parent {}", below.parent);
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
