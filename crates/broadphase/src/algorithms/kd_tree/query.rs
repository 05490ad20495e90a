//! Queries: boxes, rays, and whatever lies inside several half-spaces.

use std::ops::ControlFlow;

use super::KdTree;
use super::nodes::{Node, ROOT};
use crate::algorithms::Query;
use crate::geometry::{Aabb, Ray, Real};
use crate::objects::Frame;

/// A half-space: the points whose product with `normal` is at most `offset`. A view frustum is six of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace<const D: usize, T> {
    /// Points out of the half-space; of any length but zero.
    pub normal: [T; D],
    /// How far the boundary is from the origin, in lengths of `normal`.
    pub offset: T,
}

impl<const D: usize, T: Real> HalfSpace<D, T> {
    /// Does the closed half-space reach the closed box? Its innermost corner decides; a side at infinity is always reached.
    #[inline(always)]
    pub fn overlaps_box(&self, value: &Aabb<D, T>) -> bool {
        let mut least = T::ZERO;
        for k in 0..D {
            let corner = if self.normal[k] > T::ZERO { value.min[k] } else { value.max[k] };
            if self.normal[k] != T::ZERO {
                if !corner.is_finite() {
                    return true;
                }
                least += self.normal[k] * corner;
            }
        }
        least <= self.offset
    }
}

impl<const D: usize, T: Real> KdTree<D, T> {
    /// Visits the nodes that `enter` lets in, parents first, until `visit` breaks.
    fn visit_nodes(
        &self,
        mut enter: impl FnMut(&Node<D, T>) -> bool,
        mut visit: impl FnMut(&[u32]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.visit_below(ROOT, &mut enter, &mut visit)
    }

    fn visit_below(
        &self,
        node: u32,
        enter: &mut impl FnMut(&Node<D, T>) -> bool,
        visit: &mut impl FnMut(&[u32]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let this = self.tree.node(node);
        if this.population == 0 || !enter(this) {
            return ControlFlow::Continue(());
        }
        visit(&self.tree.order[this.own()])?;
        if !this.is_leaf() {
            self.visit_below(this.left, enter, visit)?;
            self.visit_below(this.right, enter, visit)?;
        }
        ControlFlow::Continue(())
    }

    /// Objects whose box every one of these half-spaces reaches: what a camera may see, if they are the sides of its frustum.
    /// Conservative in the usual way: a box near an edge of the frustum can pass although it is outside.
    pub fn in_half_spaces(
        &self,
        frame: &Frame<'_, D, T>,
        sides: &[HalfSpace<D, T>],
        visit: &mut dyn FnMut(u32) -> ControlFlow<()>,
    ) {
        let reached = |value: &Aabb<D, T>| sides.iter().all(|side| side.overlaps_box(value));
        let mut each = |ids: &[u32]| ids.iter().filter(|&&id| reached(&frame.boxes[id as usize])).try_for_each(|&id| visit(id));
        if each(self.unbounded.ids()).is_continue() {
            let _ = self.visit_nodes(|node| reached(&node.region), each);
        }
    }
}

impl<const D: usize, T: Real> Query<D, T> for KdTree<D, T> {
    fn in_box(&self, frame: &Frame<'_, D, T>, area: &Aabb<D, T>, visit: &mut dyn FnMut(u32) -> ControlFlow<()>) {
        let mut each =
            |ids: &[u32]| ids.iter().filter(|&&id| frame.boxes[id as usize].overlaps(area)).try_for_each(|&id| visit(id));
        if each(self.unbounded.ids()).is_continue() {
            let _ = self.visit_nodes(|node| node.region.overlaps(area), each);
        }
    }

    fn along_ray(&self, frame: &Frame<'_, D, T>, ray: &Ray<D, T>, visit: &mut dyn FnMut(u32, T) -> ControlFlow<(), T>) {
        let ray = std::cell::Cell::new(*ray);
        let mut each = |ids: &[u32]| {
            for &id in ids {
                let mut now = ray.get();
                if let Some(t) = now.enters(&frame.boxes[id as usize]) {
                    match visit(id, t) {
                        ControlFlow::Continue(length) => now.length = length,
                        ControlFlow::Break(()) => return ControlFlow::Break(()),
                    }
                    ray.set(now);
                }
            }
            ControlFlow::Continue(())
        };
        if each(self.unbounded.ids()).is_continue() {
            let _ = self.visit_nodes(|node| ray.get().enters(&node.region).is_some(), each);
        }
    }
}
