//! Queries: probes scan the records of the tiles they reach; other queries, and probes that are repeated without a change, descend the trees of
//! `query_trees.rs`.

use std::ops::ControlFlow;

use super::query_trees::Tree;
use super::{Tiles, lock};
use crate::algorithms::common::{Search, scan};
use crate::algorithms::{Found, Outline, Query, Region};
use crate::geometry::{Aabb, Measure, PackRay, Real, each_axis};
use crate::kernels::{Kernels, LATTICE_END, tile};
use crate::objects::Frame;

impl<const D: usize, T: Real> Tiles<D, T> {
    /// Calls `visit` for each object whose box overlaps `area`, once: in the tile that holds the lower corner of the intersection.
    /// Returns the number of records compared. `found` is scratch.
    pub(super) fn visit_box(
        &self,
        frame: &Frame<'_, D, T>,
        kernels: Kernels,
        area: &Aabb<D, T>,
        found: &mut Vec<(u32, bool)>,
        visit: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) -> u64 {
        if self.stale {
            // There are no records: scan the boxes.
            let _ = frame.ids().filter(|&id| frame.boxes[id as usize].overlaps(area)).try_for_each(visit);
            return frame.count() as u64;
        }
        let corners = self.lattice.corners(area);
        let mut tests = 0;
        let mut flow = ControlFlow::Continue(());
        self.partition.visit(&corners.low(), &corners.high(), &mut |tile| {
            for block in &self.blocks {
                if flow.is_break() {
                    return;
                }
                found.clear();
                let block = lock(block);
                let records = block.records(tile as usize);
                tests += records.len() as u64;
                if found.try_reserve(records.len()).is_err() {
                    // There is no memory for the list: compare the boxes one by one.
                    let starts_here = |value: &Aabb<D, T>| {
                        self.partition.tiles[tile as usize].contains_start(&self.lattice.corners(value), &corners)
                    };
                    let values = records.iter().map(|record| (record.id(), &frame.boxes[record.id() as usize]));
                    let mut hits = values.filter(|(_, value)| value.overlaps(area) && starts_here(value));
                    flow = hits.try_for_each(|(id, _)| visit(id));
                    continue;
                }
                tile::probe(kernels, records, &block.runs[tile as usize].record(&corners, u32::MAX), found);
                drop(block);
                let mut hits = found.iter().filter(|(id, sure)| *sure || frame.boxes[*id as usize].overlaps(area));
                flow = hits.try_for_each(|(id, _)| visit(*id));
            }
        });
        tests
    }
}

impl<const D: usize, T: Real> Tiles<D, T> {
    /// Like [`visit_box`](Tiles::visit_box), by the trees.
    pub(super) fn visit_trees(&self, frame: &Frame<'_, D, T>, area: &Aabb<D, T>, visit: &mut impl FnMut(u32)) -> u64 {
        let Some(top) = self.top(frame) else {
            // There is no memory for trees: scan the boxes.
            frame.ids().filter(|&id| frame.boxes[id as usize].overlaps(area)).for_each(visit);
            return frame.count() as u64;
        };
        let mut tests = 0;
        top.packs.visit_overlapping(area, &mut |item| match self.tree(top.ids[item] as usize, frame) {
            Some(tree) => tests += tree.packs.visit_overlapping(area, &mut |item| visit(tree.ids[item])),
            None => self.at_home(top.ids[item] as usize, frame, &mut |id, value| {
                tests += 1;
                if value.overlaps(area) {
                    visit(id);
                }
            }),
        });
        tests
    }

    /// Offers all objects at home in a tile, for which there is no tree.
    fn offer_tile(&self, frame: &Frame<'_, D, T>, tile: usize, search: &Search<'_, '_, D, T>) -> ControlFlow<()> {
        let mut flow = ControlFlow::Continue(());
        self.at_home(tile, frame, &mut |id, _| {
            if flow.is_continue() {
                flow = search.offer(id);
            }
        });
        flow
    }

    /// Offers all objects in the trees within the limit to the search.
    fn search_trees<M: Measure<D, T> + ?Sized>(
        &self,
        frame: &Frame<'_, D, T>,
        top: &Tree<D, T>,
        measure: &M,
        search: &Search<'_, '_, D, T>,
    ) {
        let _broken = top.packs.search(measure, &search.limit, &mut |item, _| {
            let Some(tree) = self.tree(top.ids[item] as usize, frame) else {
                return self.offer_tile(frame, top.ids[item] as usize, search);
            };
            tree.packs.search(measure, &search.limit, &mut |item, bound| search.offer_at(tree.ids[item], bound))
        });
    }

    /// Calls `visit` with each tile. Those at the border extend to infinity, as their objects may.
    pub(super) fn outline(&self, _frame: &Frame<'_, D, T>, visit: &mut dyn FnMut(Region<D, T>)) {
        let side = |k: usize, place: i32| match place {
            0 => T::NEG_INFINITY,
            LATTICE_END => T::INFINITY,
            _ => self.start_of(k, place),
        };
        for (chunk, tile) in self.partition.tiles.iter().enumerate().filter(|_| !self.stale) {
            let (low, high) = (each_axis(|k| side(k, tile.low[k])), each_axis(|k| side(k, tile.high[k])));
            visit(Region::new(Outline::Tile, Aabb::new(low, high)).with_chunk(chunk));
        }
    }

    /// The lowest coordinate that the lattice maps to `place` or higher on axis `k`: found by bisection, since the map is monotone.
    fn start_of(&self, k: usize, place: i32) -> T {
        let (mut below, mut above) = (-T::MAX, T::MAX);
        loop {
            let middle = below * T::HALF + above * T::HALF;
            if !(below < middle && middle < above) {
                return above;
            }
            let up = self.lattice.corners(&Aabb::point([middle; D])).low()[k] >= place;
            *(if up { &mut above } else { &mut below }) = middle;
        }
    }
}

impl<const D: usize, T: Real> Query<D, T> for Tiles<D, T> {
    fn search(&self, frame: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        if self.stale {
            // There are no records: scan the boxes.
            return scan(frame, measure, limit, visit);
        }
        let Some(top) = self.top(frame) else { return scan(frame, measure, limit, visit) };
        let search = Search::new(frame, measure, limit, visit);
        if let Some(area) = measure.as_box().filter(|_| !measure.refines() && limit >= T::ZERO) {
            let mut tests = 0;
            let _broken = top.packs.search_box(area, &mut 0, &mut |item| {
                let Some(tree) = self.tree(top.ids[item] as usize, frame) else {
                    return self.offer_tile(frame, top.ids[item] as usize, &search);
                };
                tree.packs.search_box(area, &mut tests, &mut |item| search.offer_at(tree.ids[item], T::ZERO))
            });
            return;
        }
        // The usual queries are compiled for their measure, without a virtual call for each pack.
        match (measure.as_ray().map(PackRay::new), measure.as_nearest()) {
            (Some(ray), _) => self.search_trees(frame, top, &ray, &search),
            (_, Some(nearest)) => self.search_trees(frame, top, nearest, &search),
            _ => self.search_trees(frame, top, measure, &search),
        }
    }
}
