//! Refit: from the leaves up, objects that left their node's region go to its parent, until they fit.
//!
//! The root's region is the whole space, so every object fits somewhere. Each step moves the misfits of one node across the block of
//! one grandchild, whose indices are corrected later (see `nodes.rs`).
//!
//! With several workers, the misfits are found first, all nodes at once; the way up is then a matter of the few.

use std::sync::atomic::{AtomicU64, Ordering};

use super::nodes::{NONE, Node, ROOT, Tree};
use super::optimize::Loose;
use crate::context::Context;
use crate::geometry::{Aabb, Real};
use crate::kernels::prefetch;

/// How many objects ahead a box is asked for.
const AHEAD: usize = 12;

/// Nodes whose misfits are found by one job.
const NODES_PER_JOB: usize = 16;

/// Refits the whole tree. `boxes` are those that the tree arranges, by slot. Returns how often an object went up a level.
pub(super) fn refit<const D: usize, T: Real>(
    tree: &mut Tree<D, T>,
    boxes: &[Aabb<D, T>],
    loose: Loose<'_>,
    misfits: &mut Vec<u32>,
) -> u64 {
    let (left, right) = (tree.node(ROOT).left, tree.node(ROOT).right);
    let mut raised = 0;
    if left != NONE {
        raised += climb(tree, left, ROOT, boxes, loose, misfits);
        raised += climb(tree, right, ROOT, boxes, loose, misfits);
    }
    raised
}

/// Marks the objects that do not fit their node, a bit per slot, with all workers. The marks may then stand for the loose objects:
/// no other object goes up.
pub(super) fn mark<const D: usize, T: Real>(
    tree: &Tree<D, T>,
    boxes: &[Aabb<D, T>],
    loose: Loose<'_>,
    context: &Context,
    marks: &mut Vec<AtomicU64>,
) {
    marks.clear();
    marks.resize_with(boxes.len().div_ceil(64), AtomicU64::default);
    let marks = &marks[..];
    context.run_weighted(tree.nodes.len().div_ceil(NODES_PER_JOB), 2 * boxes.len(), |job, _| {
        let from = job * NODES_PER_JOB;
        for node in &tree.nodes[from..(from + NODES_PER_JOB).min(tree.nodes.len())] {
            for &id in &tree.order[node.own()] {
                if loose.contains(id) && !node.fits(&boxes[id as usize]) {
                    marks[id as usize / 64].fetch_or(1 << (id % 64), Ordering::Relaxed);
                }
            }
        }
    });
}

fn climb<const D: usize, T: Real>(
    tree: &mut Tree<D, T>,
    node: u32,
    parent: u32,
    boxes: &[Aabb<D, T>],
    loose: Loose<'_>,
    misfits: &mut Vec<u32>,
) -> u64 {
    let (left, right) = (tree.node(node).left, tree.node(node).right);
    let mut raised = 0;
    if left != NONE {
        raised += climb(tree, left, node, boxes, loose, misfits);
        raised += climb(tree, right, node, boxes, loose, misfits);
    }
    let this = *tree.node(node);
    let kept = split_off(&mut tree.order[this.own()], &this, boxes, loose, misfits);
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
