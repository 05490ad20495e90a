//! The joins of a mesh's elements.

use super::Topology;
use super::elements::Elements;
use crate::algorithms::{BroadPhase, Probes, Spec};
use crate::arrays::Cancel;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::memory::{refill, reserve};
use crate::objects::{Frame, Live};
use crate::pairs::{Pair, PairSort, PairStore, Retain};
use crate::step::step;

/// Pairs of elements that may collide, as indices, each list sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeshCandidates {
    /// In space: `a` is a vertex, `b` a face.
    pub vertex_face: Vec<Pair>,
    /// In space: two edges, `a < b`.
    pub edge_edge: Vec<Pair>,
    /// In the plane: `a` is an edge, `b` a vertex.
    pub edge_vertex: Vec<Pair>,
}

impl MeshCandidates {
    /// How many there are of all kinds.
    pub fn len(&self) -> usize {
        self.vertex_face.len() + self.edge_edge.len() + self.edge_vertex.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Boxes and the structure that joins them.
#[derive(Debug)]
struct Join<const D: usize, T: Real> {
    structure: Box<dyn BroadPhase<D, T>>,
    boxes: Vec<Aabb<D, T>>,
    /// Of a join of two sets: the slots of the first set, and a bit for each slot of the second one.
    slots: Vec<u32>,
    live: Vec<u64>,
    store: PairStore,
    found: Vec<Pair>,
}

impl<const D: usize, T: Real> Join<D, T> {
    fn new(spec: &Spec) -> Result<Self, Error> {
        let structure = spec.build()?;
        let store = PairStore::default();
        Ok(Self { structure, boxes: Vec::new(), slots: Vec::new(), live: Vec::new(), store, found: Vec::new() })
    }

    /// Joins the boxes with each other, or the first `probes` of them with the others; `keep` filters the pairs.
    fn run(
        &mut self,
        probes: Option<usize>,
        keep: impl Fn(Pair) -> bool + Sync,
        cancel: Option<&Cancel>,
        context: &mut Context,
    ) -> Result<(), Error> {
        let filter = |retain: &mut Retain<'_>| match cancel {
            Some(cancel) if cancel.is_cancelled() => retain.retain(|_| false), // the pairs are discarded
            _ => retain.retain(&keep),
        };
        let frame = Frame { filter: Some(&filter), ..Frame::new(&self.boxes) };
        match probes {
            None => step(&mut *self.structure, &frame, context, &mut self.store)?,
            Some(count) => {
                let frame = Frame { live: Live::Bits(&self.live), ..frame };
                self.structure.update(&frame, context)?;
                let probes = Probes { boxes: &self.boxes[..count], ids: Some(&self.slots), recurring: false };
                self.structure.probe(&frame, probes, context, &mut self.store)?;
            }
        }
        cancel.map_or(Ok(()), Cancel::check)?;
        self.found.clear();
        self.store.copy_into(&mut self.found);
        Ok(())
    }
}

/// The structures of a mesh.
#[derive(Debug)]
pub(super) struct Joins<const D: usize, T: Real> {
    /// Vertices with faces; in the plane with edges.
    mixed: Join<D, T>,
    edges: Join<D, T>,
    sorter: PairSort,
}

impl<const D: usize, T: Real> Joins<D, T> {
    pub(super) fn new(spec: &Spec) -> Result<Self, Error> {
        Ok(Self { mixed: Join::new(spec)?, edges: Join::new(spec)?, sorter: PairSort::default() })
    }

    /// Finds all candidates; on error `out` is unchanged.
    pub(super) fn find(
        &mut self,
        topology: &Topology<'_>,
        elements: &Elements<D, T>,
        context: &mut Context,
        out: &mut MeshCandidates,
    ) -> Result<(), Error> {
        let Topology { edges, faces, rules, cancel } = topology;
        let count = elements.vertices();
        let Self { mixed, edges: by_edges, sorter } = self;
        if D == 2 {
            mixed.join_vertices(elements, edges, |vertex, edge| rules.allow(edge, &[vertex]), *cancel, context)?;
            std::mem::swap(&mut out.edge_vertex, &mut mixed.found);
            out.edge_vertex.iter_mut().for_each(|pair| *pair = Pair { a: pair.b - count as u32, b: pair.a });
            sorter.sort(&mut out.edge_vertex, edges.len());
            return Ok(());
        }
        by_edges.boxes.clear();
        by_edges.boxes.extend(edges.iter().map(|edge| elements.around(edge)));
        by_edges.run(None, |pair| rules.allow(&edges[pair.a as usize], &edges[pair.b as usize]), *cancel, context)?;
        mixed.join_vertices(elements, faces, |vertex, face| rules.allow(&[vertex], face), *cancel, context)?;
        std::mem::swap(&mut out.edge_edge, &mut by_edges.found);
        sorter.sort(&mut out.edge_edge, edges.len());
        std::mem::swap(&mut out.vertex_face, &mut mixed.found);
        out.vertex_face.iter_mut().for_each(|pair| pair.b -= count as u32);
        sorter.sort(&mut out.vertex_face, count);
        Ok(())
    }
}

impl<const D: usize, T: Real> Join<D, T> {
    /// Pairs of a vertex and another element, whose slots follow those of the vertices. The others are in the structure, and the vertices are paired
    /// with them, so that no two vertices and no two others are compared.
    fn join_vertices<const N: usize>(
        &mut self,
        elements: &Elements<D, T>,
        others: &[[u32; N]],
        allow: impl Fn(u32, &[u32; N]) -> bool + Sync,
        cancel: Option<&Cancel>,
        context: &mut Context,
    ) -> Result<(), Error> {
        let first = elements.vertices();
        let slots = first + others.len();
        self.boxes.clear();
        reserve(&mut self.boxes, slots, "boxes of a mesh")?;
        self.boxes.extend_from_slice(elements.boxes());
        self.boxes.extend(others.iter().map(|other| elements.around(other)));
        if self.slots.len() != first || self.live.len() != slots.div_ceil(64) {
            self.slots.clear();
            reserve(&mut self.slots, first, "vertices of a mesh")?;
            self.slots.extend(0..first as u32);
            refill(&mut self.live, slots.div_ceil(64), 0, "elements of a mesh")?;
            (first..slots).for_each(|slot| self.live[slot / 64] |= 1 << (slot % 64));
        }
        let allows = |pair: Pair| allow(pair.a, &others[pair.b as usize - first]);
        self.run(Some(first), allows, cancel, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_whose_memory_was_refused_midway_probes_each_vertex_once() {
        let mut elements = Elements::<2, f32>::new(3);
        elements.set("vertices", &[[0.0, 0.0], [2.0, 0.0], [1.0, 0.0]], None, 0.0).unwrap();
        let mut join = Join::new(&Spec::default()).unwrap();
        join.slots = vec![0, 1, 2]; // the last call ended here, before it could reserve `live`
        for _ in 0..2 {
            join.join_vertices(&elements, &[[0, 1]], |vertex, edge| !edge.contains(&vertex), None, &mut Context::new()).unwrap();
            assert_eq!((join.slots.len(), &join.found[..]), (3, &[Pair { a: 2, b: 3 }][..]));
        }
    }
}
