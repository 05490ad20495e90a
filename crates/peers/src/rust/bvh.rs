//! bvh: a binned-SAH hierarchy for ray casting, rebuilt each frame and asked once per object.

use broadphase::{Aabb, Pair, Real};
use bvh::aabb::Bounded;
use bvh::bounding_hierarchy::{BHShape, BHValue};
use bvh::bvh::Bvh;
use nalgebra::Point;

use crate::{Peer, PeerError};

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
/// Each object asks for the boxes it overlaps and keeps those with a larger id. The hierarchy's own incremental update is for a
/// few moving objects: here everything may move.
///
/// Trap: a query's stack holds 32 nodes, so a hierarchy deeper than that (many boxes with the same centre) panics.
pub(crate) struct Rebuilt<const D: usize, T: BHValue> {
    shapes: Vec<Shape<D, T>>,
    bvh: Bvh<T, D>,
}

impl<const D: usize, T: BHValue> Default for Rebuilt<D, T> {
    fn default() -> Self {
        Self { shapes: Vec::new(), bvh: Bvh { nodes: Vec::new() } }
    }
}

impl<const D: usize, T: Real + BHValue + std::iter::Sum> Peer<D, T> for Rebuilt<D, T> {
    fn update(&mut self, boxes: &[Aabb<D, T>]) -> Result<(), PeerError> {
        self.shapes.clear();
        self.shapes.extend(boxes.iter().enumerate().map(|(id, at)| Shape {
            bounds: bvh::aabb::Aabb { min: Point::from(at.min), max: Point::from(at.max) },
            id: id as u32,
            node: 0,
        }));
        self.bvh = Bvh::build(&mut self.shapes);
        Ok(())
    }

    fn detect(&mut self, _: &[Aabb<D, T>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        out.clear();
        for shape in &self.shapes {
            for other in self.bvh.traverse_iterator(&shape.bounds, &self.shapes) {
                if shape.id < other.id {
                    out.push(Pair { a: shape.id, b: other.id });
                }
            }
        }
        Ok(())
    }

    fn bytes(&self) -> Option<usize> {
        let nodes = self.bvh.nodes.capacity() * size_of::<bvh::bvh::BvhNode<T, D>>();
        Some(nodes + self.shapes.capacity() * size_of::<Shape<D, T>>())
    }
}
