//! obvhs: a BVH builder for ray tracing, fast enough to rebuild each frame. It has no self-join, so a user writes one.

use broadphase::{Aabb, Pair};
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::node::Bvh2Node;
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};

use crate::{Peer, PeerError};

/// From so many objects on, the nodes are put into the order of their traversal after each build. The nodes then outgrow a core's
/// cache (2 MB), and the join repays the reordering in the same frame; below, it does not.
const REORDER: usize = 32_768;

/// Built by PLOC with its preset for the fastest build (search distance 1, 64-bit sort keys, one box per leaf, no reinsertion),
/// with its 32-byte nodes; builder, nodes and index list are used again each time. Between rebuilds the leaves get their new boxes
/// and the tree is refitted: refitting alone lets the tree decay within hundreds of frames. 2D boxes lie in the plane z = 0.
///
/// The join visits each inner node once and descends into its two children while they overlap, into both sides at a time: one
/// `aabb_traverse` per object is slower. Leaves are the boxes, so the pairs are exact.
pub(crate) struct Obvhs<const D: usize> {
    /// A rebuild each so many frames; 1 is each frame.
    every: u32,
    frame: u32,
    search: PlocSearchDistance,
    boxes: Vec<obvhs::aabb::Aabb>,
    builder: PlocBuilder,
    bvh: Bvh2,
    stack: Vec<(u32, u32)>,
}

impl<const D: usize> Obvhs<D> {
    pub(crate) fn new(every: u32, search: Search) -> Self {
        let every = every.max(1);
        let (builder, bvh) = (PlocBuilder::new(), Bvh2::default());
        Self { every, frame: 0, search: search.0, boxes: Vec::new(), builder, bvh, stack: Vec::new() }
    }

    fn rebuild(&mut self, boxes: &[Aabb<D, f32>]) {
        self.boxes.clear();
        self.boxes.extend(boxes.iter().map(solid));
        let mut indices = std::mem::take(&mut self.bvh.primitive_indices);
        indices.clear();
        indices.extend(0..boxes.len() as u32);
        self.builder.build_with_bvh(&mut self.bvh, self.search, &self.boxes, indices, SortPrecision::U64, 0);
        if self.every > 1 || boxes.len() >= REORDER {
            self.bvh.reorder_in_stack_traversal_order();
        }
    }

    fn refit(&mut self, boxes: &[Aabb<D, f32>]) {
        for node in &mut self.bvh.nodes {
            if node.is_leaf() {
                // The index list is the identity, so a leaf's index is its object.
                node.set_aabb(solid(&boxes[node.first_index as usize]));
            }
        }
        self.bvh.refit_all();
    }
}

/// How many neighbours to both sides PLOC looks at.
pub(crate) struct Search(PlocSearchDistance);

impl std::str::FromStr for Search {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Ok(Self(match text {
            "1" => PlocSearchDistance::Minimum,
            "2" => PlocSearchDistance::VeryLow,
            "6" => PlocSearchDistance::Low,
            "14" => PlocSearchDistance::Medium,
            _ => return Err(()),
        }))
    }
}

#[inline(always)]
fn solid<const D: usize>(of: &Aabb<D, f32>) -> obvhs::aabb::Aabb {
    let corner = |at: &[f32; D]| [at[0], at[1], if D == 3 { at[2] } else { 0.0 }];
    obvhs::aabb::Aabb::new(corner(&of.min).into(), corner(&of.max).into())
}

/// Descends from two overlapping subtrees to their overlapping leaves, into both sides at a time.
#[inline(always)]
fn cross(nodes: &[Bvh2Node], stack: &mut Vec<(u32, u32)>, out: &mut Vec<Pair>) {
    while let Some((a, b)) = stack.pop() {
        let (a, a_len) = children(nodes, a);
        let (b, b_len) = children(nodes, b);
        for a in a..a + a_len {
            for b in b..b + b_len {
                meet(nodes, a, b, stack, out);
            }
        }
    }
}

/// The two children of an inner node, or the leaf itself: its first node and the number of nodes.
#[inline(always)]
fn children(nodes: &[Bvh2Node], at: u32) -> (u32, u32) {
    let node = &nodes[at as usize];
    if node.is_leaf() { (at, 1) } else { (node.first_index, 2) }
}

/// If two nodes overlap: a pair if both are leaves, else work for later.
#[inline(always)]
fn meet(nodes: &[Bvh2Node], a: u32, b: u32, stack: &mut Vec<(u32, u32)>, out: &mut Vec<Pair>) {
    let (node, other) = (&nodes[a as usize], &nodes[b as usize]);
    if node.aabb().intersect_aabb(other.aabb()) {
        match node.is_leaf() && other.is_leaf() {
            true => out.push(Pair::new(node.first_index, other.first_index)),
            false => stack.push((a, b)),
        }
    }
}

impl<const D: usize> Peer<D, f32> for Obvhs<D> {
    fn update(&mut self, boxes: &[Aabb<D, f32>]) -> Result<(), PeerError> {
        if boxes.len() != self.bvh.primitive_indices.len() {
            self.frame = 0;
        }
        match self.frame.is_multiple_of(self.every) {
            true => self.rebuild(boxes),
            false => self.refit(boxes),
        }
        self.frame = self.frame.wrapping_add(1);
        Ok(())
    }

    fn detect(&mut self, _: &[Aabb<D, f32>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        out.clear();
        let nodes = &self.bvh.nodes;
        for node in nodes {
            if !node.is_leaf() {
                meet(nodes, node.first_index, node.first_index + 1, &mut self.stack, out);
                cross(nodes, &mut self.stack, out);
            }
        }
        Ok(())
    }

    fn bytes(&self) -> Option<usize> {
        let nodes = self.bvh.nodes.capacity() + self.builder.current_nodes.capacity() + self.builder.next_nodes.capacity();
        let indices = self.bvh.primitive_indices.capacity() * size_of::<u32>();
        let keys = self.builder.mortons.capacity() * size_of::<[u128; 2]>();
        let boxes = self.boxes.capacity() * size_of::<obvhs::aabb::Aabb>();
        Some(nodes * size_of::<Bvh2Node>() + indices + keys + boxes + self.stack.capacity() * size_of::<(u32, u32)>())
    }
}
