//! Queries over the run of ranks that the primary axis leaves.

use std::ops::ControlFlow;

use super::Sweep;
use crate::algorithms::Query;
use crate::geometry::{Aabb, Ray, Real};
use crate::objects::Frame;

impl<const D: usize, T: Real> Query<D, T> for Sweep<D, T> {
    fn in_box(&self, frame: &Frame<'_, D, T>, area: &Aabb<D, T>, visit: &mut dyn FnMut(u32) -> ControlFlow<()>) {
        for &id in &self.boxes.columns().ids()[self.boxes.range(area)] {
            if frame.boxes[id as usize].overlaps(area) && visit(id).is_break() {
                return;
            }
        }
    }

    /// All ranks: the bounds of a ray are subject to rounding, its entry into a box is not.
    fn along_ray(&self, frame: &Frame<'_, D, T>, ray: &Ray<D, T>, visit: &mut dyn FnMut(u32, T) -> ControlFlow<(), T>) {
        let mut ray = *ray;
        for &id in &self.boxes.columns().ids()[..self.boxes.len()] {
            if let Some(t) = ray.enters(&frame.boxes[id as usize]) {
                match visit(id, t) {
                    ControlFlow::Continue(length) => ray.length = length,
                    ControlFlow::Break(()) => return,
                }
            }
        }
    }
}
