//! parry without rapier: exact leaves, and every pair found again.

use broadphase::{Aabb, Pair};

use super::Tree;
use crate::groups::Division;
use crate::{Groups, Peer, PeerError};

/// The tree is built once by parry's binned builder. From then on each frame writes all leaves, lets parry improve a part of the
/// tree, refits it and traverses it against itself. Leaves are the boxes, so the pairs are exact without a filter, and nothing is
/// kept between frames but the tree: fast when everything moves, no gain from objects at rest. Two groups are two trees; that of
/// the scenery is built once.
#[derive(Default)]
pub(crate) struct Refit<const D: usize, B: Tree<D>> {
    tree: B,
    /// The second group.
    other: B,
    division: Division,
    n: usize,
}

impl<const D: usize, B: Tree<D>> Peer<D, f32> for Refit<D, B> {
    fn set_groups(&mut self, groups: &Groups) -> bool {
        self.division.set(groups);
        self.n = 0;
        true
    }

    fn update(&mut self, boxes: &[Aabb<D, f32>]) -> Result<(), PeerError> {
        let second = self.division.update_second(boxes.len());
        let fresh = boxes.len() != self.n;
        self.n = boxes.len();
        let division = &self.division;
        let members = |second: bool| {
            let objects = boxes.iter().enumerate().map(|(id, at)| (id as u32, at));
            objects.filter(move |(id, _)| division.holds(second, *id))
        };
        take_in(&mut self.tree, members(false), fresh);
        if second {
            take_in(&mut self.other, members(true), fresh);
        }
        Ok(())
    }

    fn detect(&mut self, boxes: &[Aabb<D, f32>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        out.clear();
        if self.division.within_first() {
            self.tree.pairs::<false>(|a, b| out.push(Pair::new(a, b)));
        }
        if self.division.divides() {
            self.tree.pairs_with(&self.other, |a, b| {
                if boxes[a as usize].overlaps(&boxes[b as usize]) {
                    out.push(Pair::new(a, b));
                }
            });
        }
        Ok(())
    }

    fn bytes(&self) -> Option<usize> {
        Some(self.tree.bytes() + self.other.bytes())
    }
}

/// Builds a tree, or writes its leaves and refits it.
fn take_in<'a, const D: usize, B: Tree<D>>(tree: &mut B, members: impl Iterator<Item = (u32, &'a Aabb<D, f32>)>, fresh: bool) {
    if fresh {
        *tree = B::built(members);
        return;
    }
    for (id, at) in members {
        tree.write(id, at, 0.0);
    }
    tree.optimize();
    tree.refit();
}
