//! rstar: an R*-tree, bulk-loaded each frame, since moving an object in it means a removal and an insertion.

use broadphase::{Aabb, Pair, Real};
use rstar::{AABB, Point, RTree, RTreeNum, RTreeObject};

use crate::{Peer, PeerError};

/// A leaf: the box and its object.
struct Item<const D: usize, T: Real + RTreeNum>
where
    [T; D]: Point<Scalar = T>,
{
    id: u32,
    envelope: AABB<[T; D]>,
}

impl<const D: usize, T: Real + RTreeNum> RTreeObject for Item<D, T>
where
    [T; D]: Point<Scalar = T>,
{
    type Envelope = AABB<[T; D]>;

    fn envelope(&self) -> Self::Envelope {
        self.envelope
    }
}

/// `bulk_load` owns its elements and its nodes, so nothing can be kept for the next frame. The library's own join of two trees
/// is used, the tree with itself: it reports each pair in both orders and each object with itself, of which one order is taken.
/// Envelopes are closed boxes: the pairs are exact.
pub(crate) struct RStar<const D: usize, T: Real + RTreeNum>
where
    [T; D]: Point<Scalar = T>,
{
    tree: RTree<Item<D, T>>,
}

impl<const D: usize, T: Real + RTreeNum> Default for RStar<D, T>
where
    [T; D]: Point<Scalar = T>,
{
    fn default() -> Self {
        Self { tree: RTree::new() }
    }
}

impl<const D: usize, T: Real + RTreeNum> Peer<D, T> for RStar<D, T>
where
    [T; D]: Point<Scalar = T>,
{
    fn update(&mut self, boxes: &[Aabb<D, T>]) -> Result<(), PeerError> {
        let item = |(id, at): (usize, &Aabb<D, T>)| Item { id: id as u32, envelope: AABB::from_corners(at.min, at.max) };
        self.tree = RTree::bulk_load(boxes.iter().enumerate().map(item).collect());
        Ok(())
    }

    fn detect(&mut self, _: &[Aabb<D, T>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        out.clear();
        for (a, b) in self.tree.intersection_candidates_with_other_tree(&self.tree) {
            if a.id < b.id {
                out.push(Pair { a: a.id, b: b.id });
            }
        }
        Ok(())
    }

    /// Its nodes are not told.
    fn bytes(&self) -> Option<usize> {
        None
    }
}
