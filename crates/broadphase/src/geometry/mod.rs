//! Boxes, balls, rays and swept boxes. Knows nothing of the rest of the crate.

mod aabb;
mod ball;
mod convert;
mod ray;
mod real;
mod swept;

pub use aabb::Aabb;
pub use ball::Ball;
pub use ray::Ray;
pub use real::Real;
pub use swept::Swept;

pub(crate) use real::sealed;
