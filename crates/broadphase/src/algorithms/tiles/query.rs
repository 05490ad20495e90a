//! Queries: the tiles that a query reaches, and in each the records.

use std::ops::ControlFlow;

use super::{Tiles, lock};
use crate::algorithms::Query;
use crate::geometry::{Aabb, Ray, Real};
use crate::objects::Frame;

impl<const D: usize, T: Real> Tiles<D, T> {
    /// Visits each object whose box overlaps `area`, once: in the tile that holds the lower corner of the common part.
    pub(super) fn visit_box(
        &self,
        frame: &Frame<'_, D, T>,
        area: &Aabb<D, T>,
        tests: &mut u64,
        visit: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.stale {
            return frame.ids().filter(|&id| frame.boxes[id as usize].overlaps(area)).try_for_each(visit);
        }
        let corners = self.lattice.corners(area);
        let (low, high) = (corners.low(), corners.high());
        let mut flow = ControlFlow::Continue(());
        self.partition.visit(&low, &high, &mut |tile| {
            let place = &self.partition.tiles[tile as usize];
            for block in &self.blocks {
                let block = lock(block);
                for record in block.records(tile as usize) {
                    if flow.is_break() {
                        return;
                    }
                    *tests += 1;
                    let id = record.id();
                    let value = &frame.boxes[id as usize];
                    let before = |k: usize| low[k] < place.low[k] && record.0[k] == 0;
                    if value.overlaps(area) && !(0..D).any(before) {
                        flow = visit(id);
                    }
                }
            }
        });
        flow
    }
}

impl<const D: usize, T: Real> Query<D, T> for Tiles<D, T> {
    fn in_box(&self, frame: &Frame<'_, D, T>, area: &Aabb<D, T>, visit: &mut dyn FnMut(u32) -> ControlFlow<()>) {
        let _ = self.visit_box(frame, area, &mut 0, visit);
    }

    fn along_ray(&self, frame: &Frame<'_, D, T>, ray: &Ray<D, T>, visit: &mut dyn FnMut(u32, T) -> ControlFlow<(), T>) {
        let mut ray = *ray;
        for id in frame.ids() {
            if let Some(t) = ray.enters(&frame.boxes[id as usize]) {
                match visit(id, t) {
                    ControlFlow::Continue(length) => ray.length = length,
                    ControlFlow::Break(()) => return,
                }
            }
        }
    }
}
