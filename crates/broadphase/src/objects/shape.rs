//! The exact test of two objects by the shapes that their boxes stand for.

use super::Shape;
use crate::geometry::{Aabb, Ball, Real};

impl Shape {
    /// Do two objects overlap, given that their boxes do? Two balls are tested by [`Ball::overlaps`], a ball and a box by [`Ball::overlaps_box`], each
    /// with one fixed rounding in `T`; for two boxes the answer is yes.
    ///
    /// ```
    /// use broadphase::{Aabb, Shape};
    /// let (ball, wall) = (Aabb::new([0.0, 0.0], [2.0, 2.0]), Aabb::new([1.9, 1.9], [5.0, 5.0]));
    /// assert!(Shape::Box.meets(&ball, Shape::Box, &wall));
    /// assert!(!Shape::Ball.meets(&ball, Shape::Box, &wall));
    /// ```
    #[inline]
    pub fn meets<const D: usize, T: Real>(self, own: &Aabb<D, T>, other: Shape, others: &Aabb<D, T>) -> bool {
        match (self, other) {
            (Shape::Box, Shape::Box) => true,
            (Shape::Ball, Shape::Ball) => Ball::of_box(own).overlaps(&Ball::of_box(others)),
            (Shape::Ball, Shape::Box) => Ball::of_box(own).overlaps_box(others),
            (Shape::Box, Shape::Ball) => Ball::of_box(others).overlaps_box(own),
        }
    }
}
