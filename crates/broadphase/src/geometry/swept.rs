//! A box in motion during a step.

use super::{Aabb, Real};

/// A box and its displacement during one step.
///
/// ```
/// use broadphase::{Aabb, Swept};
/// let bullet = Swept::new(Aabb::new([0.0, 0.0], [1.0, 1.0]), [10.0, 0.0]);
/// let wall = Aabb::new([5.0, -9.0], [5.1, 9.0]);
/// assert!(bullet.bounds().overlaps(&wall)); // neither end position touches the wall
/// assert_eq!(bullet.enters(&wall), Some(0.4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swept<const D: usize, T> {
    /// The box at the start of the step.
    pub start: Aabb<D, T>,
    /// How far it moves during the step.
    pub displacement: [T; D],
}

impl<const D: usize, T: Real> Swept<D, T> {
    /// A swept box from its parts.
    pub const fn new(start: Aabb<D, T>, displacement: [T; D]) -> Self {
        Self { start, displacement }
    }

    /// The box around the whole motion: the union of both ends. Boxes in an algorithm are these if nothing may tunnel.
    #[inline(always)]
    pub fn bounds(&self) -> Aabb<D, T> {
        self.start.union(&self.start.translate(self.displacement))
    }

    /// The fraction of the step, in 0..=1, at which the moving box first touches `target`, or `None` if it never does.
    #[inline(always)]
    pub fn enters(&self, target: &Aabb<D, T>) -> Option<T> {
        let (mut near, mut far) = (T::ZERO, T::ONE);
        for k in 0..D {
            let (a, b) = (target.min[k] - self.start.max[k], target.max[k] - self.start.min[k]);
            let d = self.displacement[k];
            if d == T::ZERO {
                if !(a <= T::ZERO && T::ZERO <= b) {
                    return None;
                }
                continue;
            }
            near = near.max((a / d).min(b / d));
            far = far.min((a / d).max(b / d));
        }
        (near <= far).then_some(near)
    }
}
