//! The invariants: every object is in its ideal node, and every index is right.

use super::KdTree;
use super::nodes::{NONE, Pending, ROOT};
use super::optimize::{Counts, is_negative};
use super::options::Pruning;
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;
use crate::objects::unbounded::is_bounded;

impl<const D: usize, T: Real> KdTree<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        let mut places = 0;
        let end = self.check_node(ROOT, &Aabb::everything(), 0, &mut places)?;
        ensure!(end == self.tree.order.len(), "the blocks end at {end}, the array at {}", self.tree.order.len());
        let free = self.tree.free.len();
        ensure!(places + free == self.tree.nodes.len(), "{places} nodes and {free} free places of {}", self.tree.nodes.len());
        self.check_members(frame)?;
        if strength == Strength::Geometry {
            self.check_boxes(frame)?;
            let held = self.coherency.as_ref().filter(|coherency| coherency.arranged);
            self.check_ideal(ROOT, held.map_or(frame.boxes, |coherency| &coherency.held))?;
        }
        Ok(())
    }

    /// Blocks, populations, regions and planes below `node`, whose block starts at `from`. Returns where it ends.
    fn check_node(&self, node: u32, region: &Aabb<D, T>, from: usize, places: &mut usize) -> Result<usize, Violation> {
        let this = self.tree.node(node);
        *places += 1;
        ensure!(*places <= self.tree.nodes.len(), "the nodes form a cycle at {node}");
        ensure!(this.pending == Pending::Nothing, "node {node} has a pending correction");
        ensure!(this.region == *region, "node {node} has region {:?}, its ancestors leave {region:?}", this.region);
        ensure!((this.left == NONE) == (this.right == NONE), "node {node} has one child");
        let (mut begin, mut halves) = (from, (Aabb::empty(), Aabb::empty()));
        if !this.is_leaf() {
            halves = this.halves();
            begin = self.check_node(this.left, &halves.0, from, places)?;
        }
        ensure!(this.begin == begin && this.begin <= this.end, "node {node} starts at {}, not at {begin}", this.begin);
        let mut end = this.end;
        if !this.is_leaf() {
            end = self.check_node(this.right, &halves.1, end, places)?;
            let axis = this.axis as usize;
            let inside = region.min[axis] < this.plane && this.plane < region.max[axis];
            ensure!(axis < D && inside, "node {node} has its plane outside its region");
            let counts = Counts { own: this.end - begin, left: begin - from, right: end - this.end };
            ensure!(!is_negative(counts), "node {node} is evaluated negative: {counts:?}");
            ensure!(end - from >= self.options.threshold, "node {node} has {} objects, and should collapse", end - from);
            ensure!(self.options.pruning != Pruning::SweepOnly, "a single sweep has an inner node");
        }
        ensure!(this.population == end - from, "node {node} counts {} objects of {}", this.population, end - from);
        Ok(end)
    }

    /// The array and the unbounded list hold every live object once.
    fn check_members(&self, frame: &Frame<'_, D, T>) -> Result<(), Violation> {
        let mut seen = vec![false; frame.slots()];
        for &id in self.tree.order.iter().chain(self.unbounded.ids()) {
            ensure!((id as usize) < seen.len() && frame.live.contains(id), "object {id} is held, but not live");
            ensure!(!std::mem::replace(&mut seen[id as usize], true), "object {id} is held twice");
        }
        for id in frame.ids() {
            ensure!(seen[id as usize], "object {id} is live, but not held");
        }
        let members = self.members.count();
        ensure!(members == self.tree.order.len(), "{members} members, {} objects in the tree", self.tree.order.len());
        ensure!(self.tree.order.iter().all(|&id| self.members.contains(id)), "an object in the tree is no member");
        Ok(())
    }

    /// Bounded objects are in the tree, and held boxes contain the objects' own.
    fn check_boxes(&self, frame: &Frame<'_, D, T>) -> Result<(), Violation> {
        for id in frame.ids() {
            let value = &frame.boxes[id as usize];
            ensure!(
                is_bounded(value) == self.members.contains(id),
                "object {id} is bounded and outside the tree, or unbounded and in it"
            );
            if let Some(coherency) = self.coherency.as_ref().filter(|held| is_bounded(value) && held.holds(id)) {
                ensure!(coherency.held[id as usize].contains(value), "object {id} is outside its held box");
            }
        }
        Ok(())
    }

    /// Every object fits its node, and would fit no child.
    fn check_ideal(&self, node: u32, boxes: &[Aabb<D, T>]) -> Result<(), Violation> {
        let this = self.tree.node(node);
        for &id in &self.tree.order[this.own()] {
            let value = &boxes[id as usize];
            ensure!(this.fits(value), "object {id} does not fit node {node}");
            if !this.is_leaf() {
                let axis = this.axis as usize;
                let on_plane = value.min[axis] <= this.plane && this.plane <= value.max[axis];
                ensure!(on_plane, "object {id} in node {node} could go down");
            }
        }
        if !this.is_leaf() {
            self.check_ideal(this.left, boxes)?;
            self.check_ideal(this.right, boxes)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Options, Variant};
    use super::*;
    use crate::Context;

    fn line(count: usize) -> Vec<Aabb<2, f32>> {
        (0..count).map(|i| Aabb::new([i as f32, 0.0], [i as f32 + 1.2, 1.0])).collect()
    }

    #[test]
    fn the_validator_detects_damaged_blocks_planes_and_places() {
        let boxes = line(100);
        let frame = Frame::new(&boxes);
        for variant in [Variant::Complete, Variant::Incremental] {
            let mut good = KdTree::new(Options { threshold: 8, ..Options::new(variant) });
            good.update(&frame, &mut Context::new()).unwrap();
            good.validate(&frame, Strength::Geometry).unwrap();
            type Damage = fn(&mut KdTree<2, f32>);
            let structural: [Damage; 8] = [
                |tree| tree.tree.nodes[1].begin += 1,
                |tree| tree.tree.nodes[0].end -= 1,
                |tree| tree.tree.nodes[0].population += 1,
                |tree| tree.tree.nodes[0].plane += 1.0,
                |tree| tree.tree.nodes[2].pending = Pending::Shift(1),
                |tree| tree.tree.nodes[0].right = NONE,
                |tree| tree.tree.order[3] = tree.tree.order[4],
                |tree| tree.members.remove(7),
            ];
            for (number, damage) in structural.into_iter().enumerate() {
                let mut bad = good.clone();
                damage(&mut bad);
                assert!(bad.validate(&frame, Strength::Structure).is_err(), "{variant:?} damage {number}");
            }
            let mut swapped = good.clone();
            swapped.tree.order.swap(0, 99);
            swapped.validate(&frame, Strength::Structure).unwrap();
            assert!(swapped.validate(&frame, Strength::Geometry).is_err());
        }
    }
}
