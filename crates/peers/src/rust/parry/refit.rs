//! parry without rapier: exact leaves, and every pair found anew.

use broadphase::{Aabb, Pair};

use super::Tree;
use crate::{Peer, PeerError};

/// The tree is built once by parry's binned builder. From then on each frame writes all leaves, lets parry improve a part of the
/// tree, refits it and traverses it against itself. Leaves are the boxes, so the pairs are exact without a filter, and nothing is
/// kept between frames but the tree: fast when everything moves, no gain from objects at rest.
#[derive(Default)]
pub(crate) struct Refit<const D: usize, B: Tree<D>> {
    tree: B,
    n: usize,
}

impl<const D: usize, B: Tree<D>> Peer<D, f32> for Refit<D, B> {
    fn update(&mut self, boxes: &[Aabb<D, f32>]) -> Result<(), PeerError> {
        if boxes.len() != self.n {
            self.tree = B::built(boxes);
            self.n = boxes.len();
            return Ok(());
        }
        for (id, at) in boxes.iter().enumerate() {
            self.tree.write(id as u32, at, 0.0);
        }
        self.tree.optimize();
        self.tree.refit();
        Ok(())
    }

    fn detect(&mut self, _: &[Aabb<D, f32>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        out.clear();
        self.tree.pairs::<false>(|a, b| out.push(Pair::new(a, b)));
        Ok(())
    }

    fn bytes(&self) -> Option<usize> {
        Some(self.tree.bytes())
    }
}
