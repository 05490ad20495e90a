//! bvh: a binned-SAH hierarchy for ray casting, rebuilt each frame and queried once per object.

use broadphase::{Aabb, Pair, Real};
use bvh::aabb::Bounded;
use bvh::bounding_hierarchy::{BHShape, BHValue};
use bvh::bvh::Bvh;
use nalgebra::Point;

use crate::groups::Division;
use crate::{Groups, Peer, PeerError};

/// A shape of the hierarchy: the box, its object and the node it sits in.
struct Shape<const D: usize, T: BHValue> {
    bounds: bvh::aabb::Aabb<T, D>,
    id: u32,
    node: usize,
}

impl<const D: usize, T: BHValue> Bounded<T, D> for Shape<D, T> {
    fn aabb(&self) -> bvh::aabb::Aabb<T, D> {
        self.bounds
    }
}

impl<const D: usize, T: BHValue> BHShape<T, D> for Shape<D, T> {
    fn set_bh_node_index(&mut self, index: usize) {
        self.node = index;
    }

    fn bh_node_index(&self) -> usize {
        self.node
    }
}

/// Built on one thread; the shapes are kept between frames, the nodes are not (its interface hands out a new hierarchy).
/// Each object queries for the boxes it overlaps and keeps those with a larger id. The hierarchy's own incremental update is for a
/// few moving objects: here everything may move.
///
/// Two groups are two hierarchies; objects of the first query the second.
///
/// Trap: a query's stack holds 32 nodes, so a hierarchy deeper than that (many boxes with the same center) panics.
pub(crate) struct Rebuilt<const D: usize, T: BHValue> {
    first: Hierarchy<D, T>,
    second: Hierarchy<D, T>,
    division: Division,
}

/// The shapes of a group, and the hierarchy over them.
struct Hierarchy<const D: usize, T: BHValue> {
    shapes: Vec<Shape<D, T>>,
    bvh: Bvh<T, D>,
}

impl<const D: usize, T: BHValue> Default for Hierarchy<D, T> {
    fn default() -> Self {
        Self { shapes: Vec::new(), bvh: Bvh { nodes: Vec::new() } }
    }
}

impl<const D: usize, T: BHValue> Default for Rebuilt<D, T> {
    fn default() -> Self {
        Self { first: Hierarchy::default(), second: Hierarchy::default(), division: Division::default() }
    }
}

impl<const D: usize, T: Real + BHValue + std::iter::Sum> Hierarchy<D, T> {
    fn rebuild(&mut self, boxes: &[Aabb<D, T>], holds: impl Fn(u32) -> bool) {
        self.shapes.clear();
        let objects = boxes.iter().enumerate().map(|(id, at)| (id as u32, at));
        self.shapes.extend(objects.filter(|(id, _)| holds(*id)).map(|(id, at)| Shape {
            bounds: bvh::aabb::Aabb { min: Point::from(at.min), max: Point::from(at.max) },
            id,
            node: 0,
        }));
        self.bvh = Bvh::build(&mut self.shapes);
    }

    fn bytes(&self) -> usize {
        let nodes = self.bvh.nodes.capacity() * size_of::<bvh::bvh::BvhNode<T, D>>();
        nodes + self.shapes.capacity() * size_of::<Shape<D, T>>()
    }
}

impl<const D: usize, T: Real + BHValue + std::iter::Sum> Peer<D, T> for Rebuilt<D, T> {
    fn set_groups(&mut self, groups: &Groups) -> bool {
        self.division.set(groups);
        true
    }

    fn update(&mut self, boxes: &[Aabb<D, T>]) -> Result<(), PeerError> {
        let second = self.division.update_second(boxes.len());
        self.first.rebuild(boxes, |id| self.division.holds(false, id));
        if second {
            self.second.rebuild(boxes, |id| self.division.holds(true, id));
        }
        Ok(())
    }

    fn detect(&mut self, _: &[Aabb<D, T>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        out.clear();
        if self.division.within_first() {
            for shape in &self.first.shapes {
                for other in self.first.bvh.traverse_iterator(&shape.bounds, &self.first.shapes) {
                    if shape.id < other.id {
                        out.push(Pair { a: shape.id, b: other.id });
                    }
                }
            }
        }
        if self.division.divides() {
            for shape in &self.first.shapes {
                let found = self.second.bvh.traverse_iterator(&shape.bounds, &self.second.shapes);
                out.extend(found.map(|other| Pair::new(shape.id, other.id)));
            }
        }
        Ok(())
    }

    fn bytes(&self) -> Option<usize> {
        Some(self.first.bytes() + self.second.bytes())
    }
}
