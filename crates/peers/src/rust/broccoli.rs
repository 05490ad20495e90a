//! broccoli: a hybrid of kd-tree and sweep and prune, 2D only.

use broadphase::{Aabb, Pair, Real};
use broccoli::Tree;
use broccoli::aabb::BBox;

use crate::{Peer, PeerError};

/// The tree borrows the boxes and orders them in place, so building it and asking it for its colliding pairs are one call for
/// this interface: `update` copies the boxes, `detect` builds and asks. Each element is a rectangle with its object's id, the
/// direct layout, small enough to swap. Its rectangles are closed and its comparisons plain, so the pairs are exact.
pub(crate) struct Broccoli<T> {
    elements: Vec<BBox<T, u32>>,
}

impl<T> Default for Broccoli<T> {
    fn default() -> Self {
        Self { elements: Vec::new() }
    }
}

impl<T: Real> Peer<2, T> for Broccoli<T> {
    fn update(&mut self, boxes: &[Aabb<2, T>]) -> Result<(), PeerError> {
        self.elements.clear();
        self.elements.extend(boxes.iter().enumerate().map(|(id, at)| {
            let rect = broccoli::rect(at.min[0], at.max[0], at.min[1], at.max[1]);
            broccoli::bbox(rect, id as u32)
        }));
        Ok(())
    }

    fn detect(&mut self, _: &[Aabb<2, T>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        out.clear();
        let mut tree = Tree::new(&mut self.elements);
        tree.find_colliding_pairs(|a, b| out.push(Pair::new(*a.unpack_inner(), *b.unpack_inner())));
        Ok(())
    }

    /// The elements; the tree's nodes, one for about 80 of them, are freed with it.
    fn bytes(&self) -> Option<usize> {
        Some(self.elements.capacity() * size_of::<BBox<T, u32>>())
    }
}
