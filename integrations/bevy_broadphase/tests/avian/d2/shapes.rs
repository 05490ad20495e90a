//! Vectors and shapes in the plane.

use super::avian::math::{Scalar, Vector};
use super::avian::prelude::*;

/// A vector; in the plane the last coordinate is left out.
pub(super) fn v(x: f64, y: f64, _z: f64) -> Vector {
    Vector::new(x as Scalar, y as Scalar)
}

/// A box with these sides.
pub(super) fn boxy(x: f64, y: f64, _z: f64) -> Collider {
    Collider::rectangle(x as Scalar, y as Scalar)
}

/// A ball.
pub(super) fn ball(radius: f64) -> Collider {
    Collider::circle(radius as Scalar)
}
