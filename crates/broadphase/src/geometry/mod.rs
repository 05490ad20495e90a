//! Boxes, balls, rays, half-spaces, and boxes and balls in motion; how far boxes are from each of them.

mod aabb;
mod axes;
mod ball;
mod convert;
mod half_space;
mod measure;
mod over_images;
mod path;
mod path_images;
mod period;
mod ray;
mod real;
mod swept;

pub use aabb::Aabb;
pub use ball::Ball;
pub use half_space::{HalfSpace, HalfSpaces};
pub use measure::{LANES, Measure, Nearest, NearestToBox, Pack};
pub use period::Period;
pub use ray::Ray;
pub use real::Real;
pub use swept::{Swept, SweptBall};

pub(crate) use axes::{each_axis, sort_few};
pub(crate) use measure::PackRay;
pub(crate) use over_images::OverImages;
pub(crate) use path::Path;
pub(crate) use real::sealed;
