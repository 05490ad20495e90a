//! rstar: an R*-tree, bulk-loaded each frame, since moving an object in it means a removal and an insertion.

use broadphase::{Aabb, Pair, Real};
use rstar::{AABB, Point, RTree, RTreeNum, RTreeObject};

use crate::groups::Division;
use crate::{Groups, Peer, PeerError};

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
/// Envelopes are closed boxes: the pairs are exact. Two groups are two trees, joined with each other.
pub(crate) struct RStar<const D: usize, T: Real + RTreeNum>
where
    [T; D]: Point<Scalar = T>,
{
    tree: RTree<Item<D, T>>,
    /// The second group.
    other: RTree<Item<D, T>>,
    division: Division,
}

impl<const D: usize, T: Real + RTreeNum> Default for RStar<D, T>
where
    [T; D]: Point<Scalar = T>,
{
    fn default() -> Self {
        Self { tree: RTree::new(), other: RTree::new(), division: Division::default() }
    }
}

impl<const D: usize, T: Real + RTreeNum> Peer<D, T> for RStar<D, T>
where
    [T; D]: Point<Scalar = T>,
{
    fn set_groups(&mut self, groups: &Groups) -> bool {
        self.division.set(groups);
        true
    }

    fn update(&mut self, boxes: &[Aabb<D, T>]) -> Result<(), PeerError> {
        let item = |(id, at): (usize, &Aabb<D, T>)| Item { id: id as u32, envelope: AABB::from_corners(at.min, at.max) };
        let load = |division: &Division, second: bool| {
            RTree::bulk_load(boxes.iter().enumerate().map(item).filter(|item| division.holds(second, item.id)).collect())
        };
        self.tree = load(&self.division, false);
        if self.division.update_second(boxes.len()) {
            self.other = load(&self.division, true);
        }
        Ok(())
    }

    fn detect(&mut self, _: &[Aabb<D, T>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        out.clear();
        if self.division.within_first() {
            for (a, b) in self.tree.intersection_candidates_with_other_tree(&self.tree) {
                if a.id < b.id {
                    out.push(Pair { a: a.id, b: b.id });
                }
            }
        }
        if self.division.divides() {
            let across = self.tree.intersection_candidates_with_other_tree(&self.other);
            out.extend(across.map(|(a, b)| Pair::new(a.id, b.id)));
        }
        Ok(())
    }

    /// The library does not report its nodes.
    fn bytes(&self) -> Option<usize> {
        None
    }
}
