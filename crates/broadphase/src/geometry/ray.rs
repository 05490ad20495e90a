//! Rays against boxes.

use super::{Aabb, Ball, Real};

/// A ray: the points `origin + t * direction` for `0 <= t <= length`.
///
/// The direction need not have length one; `length` counts in multiples of it.
///
/// ```
/// use broadphase::{Aabb, Ray};
/// let ray = Ray::new([0.0, 0.5], [1.0, 0.0], f32::INFINITY);
/// assert_eq!(ray.enters(&Aabb::new([2.0, 0.0], [3.0, 1.0])), Some(2.0));
/// assert_eq!(ray.enters(&Aabb::new([2.0, 1.0], [3.0, 2.0])), None);
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray<const D: usize, T> {
    /// Where the ray starts.
    pub origin: [T; D],
    /// Where it goes; at least one component is not zero.
    pub direction: [T; D],
    /// How far it goes, as a multiple of `direction`.
    pub length: T,
}

impl<const D: usize, T: Real> Ray<D, T> {
    /// A ray from its parts. Not checked; see [`Ray::is_valid`].
    pub const fn new(origin: [T; D], direction: [T; D], length: T) -> Self {
        Self { origin, direction, length }
    }

    /// Are origin and direction finite, the direction not zero, and the length not negative or NaN?
    pub fn is_valid(&self) -> bool {
        self.origin.iter().chain(&self.direction).all(|c| c.is_finite())
            && self.direction.iter().any(|&c| c != T::ZERO)
            && self.length >= T::ZERO
    }

    /// The `t` at which the ray enters the closed ball (0 if it starts inside), or `None` if it misses.
    ///
    /// ```
    /// use broadphase::{Ball, Ray};
    /// let ray = Ray::new([0.0, 0.0], [2.0, 0.0], 10.0);
    /// assert_eq!(ray.enters_ball(&Ball { center: [9.0, 0.0], radius: 1.0 }), Some(4.0));
    /// assert_eq!(ray.enters_ball(&Ball { center: [9.0, 2.0], radius: 1.0 }), None);
    /// ```
    pub fn enters_ball(&self, target: &Ball<D, T>) -> Option<T> {
        // The square of the distance from the center, less that of the radius: `square * t * t + 2 * half * t + rest`.
        let (mut square, mut half, mut rest) = (T::ZERO, T::ZERO, -(target.radius * target.radius));
        for k in 0..D {
            let (from, way) = (self.origin[k] - target.center[k], self.direction[k]);
            square += way * way;
            half += from * way;
            rest += from * from;
        }
        if rest <= T::ZERO {
            return Some(T::ZERO);
        }
        let inside = half * half - square * rest;
        // Away from the ball, past it, or nowhere at all: no comparison holds.
        let at = rest / (inside.sqrt() - half);
        (half < T::ZERO && inside >= T::ZERO && at <= self.length).then_some(at)
    }

    /// The `t` at which the ray enters the closed box (0 if it starts inside), or `None` if it misses.
    #[inline(always)]
    pub fn enters(&self, target: &Aabb<D, T>) -> Option<T> {
        let (mut near, mut far) = (T::ZERO, self.length);
        for k in 0..D {
            if self.direction[k] == T::ZERO {
                // Parallel to the slab: inside for ever, or never.
                if !(target.min[k] <= self.origin[k] && self.origin[k] <= target.max[k]) {
                    return None;
                }
                continue;
            }
            // Times the inverse, as for eight boxes at once. A product that is no number (a box that begins where the ray does, and a
            // direction whose inverse overflows) decides nothing.
            let inverse = T::ONE / self.direction[k];
            let (a, b) = ((target.min[k] - self.origin[k]) * inverse, (target.max[k] - self.origin[k]) * inverse);
            let (a, b) = if self.direction[k] > T::ZERO { (a, b) } else { (b, a) };
            near = if a > near { a } else { near };
            far = if b < far { b } else { far };
        }
        (near <= far).then_some(near)
    }
}
