//! Every object is at the deepest node that holds it whole, and all counts are right.

use super::Octree;
use crate::algorithms::common::NONE;
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::objects::Frame;

impl<const D: usize, T: Real> Octree<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        let objects = self.tracked.ids().count();
        let listed = self.bins.check().map_err(Violation)?;
        ensure!(listed == objects, "{listed} objects in nodes, {objects} in all");
        ensure!(self.bins.len() == self.nodes.len(), "{} lists for {} nodes", self.bins.len(), self.nodes.len());
        for (number, node) in self.nodes.iter().enumerate() {
            let own = self.bins.iter(number as u32).count();
            let children = if node.is_leaf() { 0..0 } else { node.children..node.children + (1 << D) };
            let below: usize = children.clone().map(|child| self.nodes[child as usize].population as usize).sum();
            let population = node.population as usize;
            ensure!(population == own + below, "node {number} counts {population} objects, and has {own} and {below} below");
            for child in children {
                let parent = self.nodes[child as usize].parent as usize;
                ensure!(parent == number, "node {child} is a child of {number}, and thinks of {parent}");
            }
            ensure!(node.parent != NONE || number == 0, "node {number} has no parent");
            ensure!(!self.is_overfull(number as u32), "leaf {number} holds {own} objects");
        }
        if strength == Strength::Geometry {
            let differs = self.tracked.differs_from(frame);
            ensure!(differs.is_none(), "slot {differs:?} differs from the frame");
            for id in self.tracked.ids() {
                let (home, wanted) = (self.bins.bin_of(id), self.node_for(self.tracked.get(id)));
                ensure!(home == Some(wanted), "object {id} is at node {home:?}, and belongs to {wanted}");
                ensure!(self.nodes[wanted as usize].region.contains(self.tracked.get(id)), "object {id} leaves node {wanted}");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;
    use crate::{Aabb, Context};

    #[test]
    fn the_validator_detects_a_misplaced_object_a_wrong_count_and_another_box() {
        let mut boxes: Vec<_> = (0..40).map(|i| Aabb::from_center([(i % 7) as f32, (i / 7) as f32], [0.4, 0.3])).collect();
        for options in
            [Options::default(), Options { depth: 9, split: 4, paper: false }, Options { paper: true, ..Options::default() }]
        {
            let mut tree = Octree::new(options);
            tree.update(&Frame::new(&boxes), &mut Context::new()).unwrap();
            tree.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
            let (low, high) = (tree.bins.bin_of(0).unwrap(), tree.bins.bin_of(39).unwrap());
            assert_ne!(low, high, "the corners are far apart");
            let mut misplaced = tree.clone();
            misplaced.bins.take(0);
            misplaced.bins.place(0, high);
            misplaced.count(low, high);
            assert!(misplaced.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
            let mut miscounted = tree.clone();
            miscounted.nodes[0].population += 1;
            assert!(miscounted.validate(&Frame::new(&boxes), Strength::Structure).is_err());
            boxes[3].max[0] += 0.25;
            assert!(tree.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
            boxes[3].max[0] -= 0.25;
        }
    }

    impl<const D: usize, T: Real> Octree<D, T> {
        /// Moves one object's count from a node to another one, so that only its place is wrong.
        fn count(&mut self, from: u32, to: u32) {
            for (start, up) in [(from, false), (to, true)] {
                let mut node = start;
                while node != NONE {
                    let place = &mut self.nodes[node as usize];
                    place.population = if up { place.population + 1 } else { place.population - 1 };
                    node = place.parent;
                }
            }
        }
    }
}
