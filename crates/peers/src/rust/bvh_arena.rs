//! bvh-arena: a hierarchy for the broad phase of games, filled one object at a time.

use broadphase::{Aabb, Pair};
use bvh_arena::Bvh;

use crate::groups::Division;
use crate::{Groups, Peer, PeerError};

/// Bytes of stack for each object: the hierarchy inserts and searches by recursion, and a bad one is as deep as it has objects.
const STACK: usize = 512;

/// Cleared and filled again each frame, since it has no way to move an object except removal and insertion. Then its own visit of the overlapping
/// pairs. Its boxes are closed and its leaves exact. Two groups are two hierarchies; objects of the first ask the second.
///
/// Trap: it never balances. Where the volume of a box underflows, or all boxes are at one place, the tree is a list, and a frame quadratic.
#[derive(Default)]
pub(crate) struct Arena<const D: usize> {
    first: Volumes<D>,
    second: Volumes<D>,
    division: Division,
}

type Volumes<const D: usize> = Bvh<u32, bvh_arena::volumes::Aabb<D>>;

fn volume<const D: usize>(of: &Aabb<D, f32>) -> bvh_arena::volumes::Aabb<D> {
    bvh_arena::volumes::Aabb::from_min_max(of.min, of.max)
}

fn fill<const D: usize>(bvh: &mut Volumes<D>, boxes: &[Aabb<D, f32>], holds: impl Fn(u32) -> bool) {
    bvh.clear();
    for (id, at) in boxes.iter().enumerate().map(|(id, at)| (id as u32, at)) {
        if holds(id) {
            bvh.insert(id, volume(at));
        }
    }
}

impl<const D: usize> Peer<D, f32> for Arena<D> {
    fn set_groups(&mut self, groups: &Groups) -> bool {
        self.division.set(groups);
        true
    }

    fn update(&mut self, boxes: &[Aabb<D, f32>]) -> Result<(), PeerError> {
        let second = self.division.update_second(boxes.len());
        stacker::grow((1 << 20) + STACK * boxes.len(), || {
            fill(&mut self.first, boxes, |id| self.division.holds(false, id));
            if second {
                fill(&mut self.second, boxes, |id| self.division.holds(true, id));
            }
        });
        Ok(())
    }

    fn detect(&mut self, boxes: &[Aabb<D, f32>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        out.clear();
        stacker::grow((1 << 20) + STACK * boxes.len(), || {
            if self.division.within_first() {
                self.first.for_each_overlaping_pair(|&a, &b| out.push(Pair::new(a, b)));
            }
            if self.division.divides() {
                for (a, at) in boxes.iter().enumerate().filter(|(a, _)| self.division.holds(false, *a as u32)) {
                    self.second.for_each_overlaps(&volume(at), |&b| out.push(Pair::new(a as u32, b)));
                }
            }
        });
        Ok(())
    }

    /// The library does not report its nodes.
    fn bytes(&self) -> Option<usize> {
        None
    }
}
