//! obvhs: a BVH builder for ray tracing, fast enough to rebuild each frame. It has no self-join, so a user writes one.

use broadphase::{Aabb, Pair};
use obvhs::bvh2::Bvh2;
use obvhs::bvh2::node::Bvh2Node;
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};

use crate::groups::Division;
use crate::{Groups, Peer, PeerError};

/// The number of objects from which the nodes are put into the order of their traversal after each build. The nodes then outgrow a core's
/// cache (2 MB), and the join repays the reordering in the same frame; below, it does not.
const REORDER: usize = 32_768;

/// Built by PLOC with its preset for the fastest build (search distance 1, 64-bit sort keys, one box per leaf, no reinsertion),
/// with its 32-byte nodes; builder, nodes and index list are used again each time. Between rebuilds the leaves get their new boxes
/// and the tree is refitted: refitting alone lets the tree decay within hundreds of frames. 2D boxes lie in the plane z = 0.
///
/// The join visits each inner node once and descends into its two children while they overlap, into both sides at a time: one
/// `aabb_traverse` per object is slower. Leaves are the boxes, so the pairs are exact. Two groups are two trees, joined in the same way.
pub(crate) struct Obvhs<const D: usize> {
    /// The number of frames per rebuild; 1 rebuilds in each frame.
    every: u32,
    frame: u32,
    search: PlocSearchDistance,
    builder: PlocBuilder,
    first: Tree<D>,
    second: Tree<D>,
    division: Division,
    n: usize,
    stack: Vec<(u32, u32)>,
}

/// The tree of a group.
#[derive(Default)]
struct Tree<const D: usize> {
    bvh: Bvh2,
    boxes: Vec<obvhs::aabb::Aabb>,
    /// The object of each leaf; empty if the tree holds all objects, in their order.
    ids: Vec<u32>,
}

impl<const D: usize> Obvhs<D> {
    pub(crate) fn new(every: u32, search: Search) -> Self {
        let (first, second, division) = Default::default();
        let (every, builder) = (every.max(1), PlocBuilder::new());
        Self { every, frame: 0, search: search.0, builder, first, second, division, n: 0, stack: Vec::new() }
    }
}

impl<const D: usize> Tree<D> {
    /// Takes the boxes of a group over into the library's type.
    fn copy(&mut self, boxes: &[Aabb<D, f32>], division: &Division, second: bool) {
        self.boxes.clear();
        if !division.divides() {
            self.boxes.extend(boxes.iter().map(solid));
            return;
        }
        self.ids.clear();
        self.ids.extend((0..boxes.len() as u32).filter(|&id| division.holds(second, id)));
        self.boxes.extend(self.ids.iter().map(|&id| solid(&boxes[id as usize])));
    }

    fn rebuild(&mut self, builder: &mut PlocBuilder, search: PlocSearchDistance, reorder: bool) {
        let mut indices = std::mem::take(&mut self.bvh.primitive_indices);
        indices.clear();
        indices.extend(0..self.boxes.len() as u32);
        builder.build_with_bvh(&mut self.bvh, search, &self.boxes, indices, SortPrecision::U64, 0);
        if reorder || self.boxes.len() >= REORDER {
            self.bvh.reorder_in_stack_traversal_order();
        }
    }

    fn refit(&mut self, boxes: &[Aabb<D, f32>]) {
        for node in &mut self.bvh.nodes {
            if node.is_leaf() {
                // The index list is the identity, so a leaf's index is its place among the group's objects.
                let place = node.first_index as usize;
                node.set_aabb(solid(&boxes[self.ids.get(place).map_or(place, |&id| id as usize)]));
            }
        }
        self.bvh.refit_all();
    }

    fn bytes(&self) -> usize {
        let (nodes, indices) = (self.bvh.nodes.capacity(), self.bvh.primitive_indices.capacity() + self.ids.capacity());
        nodes * size_of::<Bvh2Node>() + indices * size_of::<u32>() + self.boxes.capacity() * size_of::<obvhs::aabb::Aabb>()
    }
}

/// How many neighbors to both sides PLOC looks at.
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

/// Descends from overlapping subtrees of two trees, or of one, to their overlapping leaves, into both sides at a time.
#[inline(always)]
fn cross(nodes: &[Bvh2Node], others: &[Bvh2Node], stack: &mut Vec<(u32, u32)>, out: &mut Vec<Pair>) {
    while let Some((a, b)) = stack.pop() {
        let (a, a_len) = children(nodes, a);
        let (b, b_len) = children(others, b);
        for a in a..a + a_len {
            for b in b..b + b_len {
                meet(nodes, others, a, b, stack, out);
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

/// If two nodes overlap: a pair of places if both are leaves, else work for later.
#[inline(always)]
fn meet(nodes: &[Bvh2Node], others: &[Bvh2Node], a: u32, b: u32, stack: &mut Vec<(u32, u32)>, out: &mut Vec<Pair>) {
    let (node, other) = (&nodes[a as usize], &others[b as usize]);
    if node.aabb().intersect_aabb(other.aabb()) {
        match node.is_leaf() && other.is_leaf() {
            true => out.push(Pair { a: node.first_index, b: other.first_index }),
            false => stack.push((a, b)),
        }
    }
}

impl<const D: usize> Peer<D, f32> for Obvhs<D> {
    fn set_groups(&mut self, groups: &Groups) -> bool {
        self.division.set(groups);
        true
    }

    fn update(&mut self, boxes: &[Aabb<D, f32>]) -> Result<(), PeerError> {
        if boxes.len() != self.n {
            (self.n, self.frame) = (boxes.len(), 0);
        }
        let rebuild = self.frame.is_multiple_of(self.every);
        self.frame = self.frame.wrapping_add(1);
        let second = self.division.update_second(boxes.len());
        for (second, tree) in [(false, &mut self.first)].into_iter().chain(second.then_some((true, &mut self.second))) {
            if rebuild {
                tree.copy(boxes, &self.division, second);
                tree.rebuild(&mut self.builder, self.search, self.every > 1);
            } else {
                tree.refit(boxes);
            }
        }
        Ok(())
    }

    fn detect(&mut self, _: &[Aabb<D, f32>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        out.clear();
        let (nodes, others) = (&self.first.bvh.nodes[..], &self.second.bvh.nodes[..]);
        if self.division.within_first() {
            for node in nodes.iter().filter(|node| !node.is_leaf()) {
                meet(nodes, nodes, node.first_index, node.first_index + 1, &mut self.stack, out);
                cross(nodes, nodes, &mut self.stack, out);
            }
        }
        let id = |tree: &Tree<D>, place: u32| tree.ids.get(place as usize).map_or(place, |&id| id);
        out.iter_mut().for_each(|pair| *pair = Pair::new(id(&self.first, pair.a), id(&self.first, pair.b)));
        if self.division.divides() && !nodes.is_empty() && !others.is_empty() {
            let from = out.len();
            meet(nodes, others, 0, 0, &mut self.stack, out);
            cross(nodes, others, &mut self.stack, out);
            out[from..].iter_mut().for_each(|pair| *pair = Pair::new(id(&self.first, pair.a), id(&self.second, pair.b)));
        }
        Ok(())
    }

    fn bytes(&self) -> Option<usize> {
        let nodes = self.builder.current_nodes.capacity() + self.builder.next_nodes.capacity();
        let keys = self.builder.mortons.capacity() * size_of::<[u128; 2]>();
        let trees = self.first.bytes() + self.second.bytes();
        Some(nodes * size_of::<Bvh2Node>() + keys + trees + self.stack.capacity() * size_of::<(u32, u32)>())
    }
}
