//! Queries by a scan of all objects: what the others are compared with.

use std::ops::ControlFlow;

use super::BruteForce;
use crate::algorithms::Query;
use crate::geometry::{Aabb, Ray, Real};
use crate::objects::Frame;

impl<const D: usize, T: Real> Query<D, T> for BruteForce<D, T> {
    fn in_box(&self, frame: &Frame<'_, D, T>, area: &Aabb<D, T>, visit: &mut dyn FnMut(u32) -> ControlFlow<()>) {
        for id in frame.ids() {
            if frame.boxes[id as usize].overlaps(area) && visit(id).is_break() {
                return;
            }
        }
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
