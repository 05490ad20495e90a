//! Refit: from the leaves up, objects that left their node's region go to its parent, until they fit.
//!
//! The root's region is the whole space, so every object fits somewhere. Each step moves the misfits of one node across the block of
//! one grandchild, whose indices are corrected later (see `nodes.rs`).
//!
//! With several workers, small subtrees are refitted at once, each on its own; objects that leave them are kept in their first node (`parts.rs`).

use super::nodes::{NONE, Node, ROOT, Tree};
use super::optimize::Loose;
use crate::geometry::{Aabb, Real};
use crate::kernels::prefetch;

/// How many objects ahead a box is prefetched.
const AHEAD: usize = 12;

/// Refits a tree. `boxes` are those that the tree arranges, by slot. Subtrees of fewer than `grain` objects have been refitted, except for their
/// first node. Returns how often an object went up a level.
pub(super) fn refit<const D: usize, T: Real>(
    tree: &mut Tree<D, T>,
    boxes: &[Aabb<D, T>],
    loose: Loose<'_>,
    misfits: &mut Vec<u32>,
    grain: usize,
) -> u64 {
    let (left, right) = (tree.node(ROOT).left, tree.node(ROOT).right);
    let mut climber = Climber { tree, boxes, loose, misfits, grain };
    if left == NONE { 0 } else { climber.climb(left, ROOT) + climber.climb(right, ROOT) }
}

/// The state of the walk from the leaves up.
struct Climber<'a, const D: usize, T> {
    tree: &'a mut Tree<D, T>,
    boxes: &'a [Aabb<D, T>],
    loose: Loose<'a>,
    misfits: &'a mut Vec<u32>,
    grain: usize,
}

impl<const D: usize, T: Real> Climber<'_, D, T> {
    /// Refits all below `node`, then the node itself. Returns how often an object went up a level.
    fn climb(&mut self, node: u32, parent: u32) -> u64 {
        let (left, right) = (self.tree.node(node).left, self.tree.node(node).right);
        let mut raised = 0;
        // Objects that go up from below stay in the subtree, so its population still is what the grain was compared with.
        if left != NONE && self.tree.population(node) >= self.grain {
            raised += self.climb(left, node);
            raised += self.climb(right, node);
        }
        let (tree, misfits) = (&mut *self.tree, &mut *self.misfits);
        let this = *tree.node(node);
        let kept = split_off(&mut tree.order[this.own()], &this, self.boxes, self.loose, misfits);
        if misfits.is_empty() {
            return raised;
        }
        let moved = misfits.len();
        tree.node_mut(node).population -= moved;
        if tree.node(parent).left == node {
            // [own | misfits | right subtree | parent] becomes [own | right subtree | misfits + parent].
            let between = tree.population(right);
            tree.order.copy_within(this.end..this.end + between, this.end - moved);
            let to = this.end - moved + between;
            tree.order[to..to + moved].copy_from_slice(misfits);
            tree.node_mut(node).end -= moved;
            tree.shift(right, -(moved as isize));
            tree.node_mut(parent).begin -= moved;
        } else {
            // [parent | left subtree | own] becomes [parent + misfits | left subtree | own].
            let between = tree.population(left);
            tree.order.copy_within(this.begin..this.begin + kept, this.begin + moved);
            let from = this.begin - between;
            tree.order.copy_within(from..this.begin, from + moved);
            tree.order[from..from + moved].copy_from_slice(misfits);
            tree.node_mut(node).begin += moved;
            tree.shift(left, moved as isize);
            tree.node_mut(parent).end += moved;
        }
        raised + moved as u64
    }
}

/// Puts those that fit to the front of the block, in order, and the others into `misfits`. Returns how many fit.
fn split_off<const D: usize, T: Real>(
    block: &mut [u32],
    node: &Node<D, T>,
    boxes: &[Aabb<D, T>],
    loose: Loose<'_>,
    misfits: &mut Vec<u32>,
) -> usize {
    misfits.clear();
    let mut kept = 0;
    for at in 0..block.len() {
        let id = block[at];
        if let Some(&ahead) = block.get(at + AHEAD) {
            prefetch(boxes, ahead as usize);
        }
        let fits = !loose.contains(id) || node.fits(&boxes[id as usize]);
        block[kept] = id;
        kept += usize::from(fits);
        if !fits {
            misfits.push(id);
        }
    }
    kept
}
