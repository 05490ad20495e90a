//! Vectors and shapes in space.

use super::avian::math::{Scalar, Vector};
use super::avian::prelude::*;

/// A vector; in the plane the last coordinate is left out.
pub(super) fn v(x: f64, y: f64, z: f64) -> Vector {
    Vector::new(x as Scalar, y as Scalar, z as Scalar)
}

/// A box with these sides.
pub(super) fn boxy(x: f64, y: f64, z: f64) -> Collider {
    Collider::cuboid(x as Scalar, y as Scalar, z as Scalar)
}

/// A ball.
pub(super) fn ball(radius: f64) -> Collider {
    Collider::sphere(radius as Scalar)
}
