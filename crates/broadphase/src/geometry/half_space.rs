//! Half-spaces, and what several of them have in common: a view frustum.

use super::{Aabb, Ball, Measure, Real};

/// A half-space: the points whose product with `normal` is at most `offset`. A view frustum is six of them.
///
/// ```
/// use broadphase::{Aabb, HalfSpace};
/// let below = HalfSpace { normal: [0.0, 1.0], offset: 2.0 }; // y <= 2
/// assert!(below.overlaps_box(&Aabb::new([0.0, 2.0], [1.0, 3.0])));
/// assert!(!below.overlaps_box(&Aabb::new([0.0, 2.5], [1.0, 3.0])));
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace<const D: usize, T> {
    /// Points out of the half-space; of any length but zero.
    pub normal: [T; D],
    /// The product of `normal` with any point of the boundary: its distance from the origin times the length of `normal`.
    pub offset: T,
}

impl<const D: usize, T: Real> HalfSpace<D, T> {
    /// Is the normal finite and not zero, and the offset not NaN?
    pub fn is_valid(&self) -> bool {
        self.normal.iter().all(|c| c.is_finite()) && self.normal.iter().any(|&c| c != T::ZERO) && !self.offset.is_nan()
    }

    /// Does the closed half-space reach the closed box? Its innermost corner decides; one that is infinitely far inside is reached.
    #[inline(always)]
    pub fn overlaps_box(&self, value: &Aabb<D, T>) -> bool {
        let mut least = T::ZERO;
        for k in 0..D {
            let corner = if self.normal[k] > T::ZERO { value.min[k] } else { value.max[k] };
            if self.normal[k] != T::ZERO {
                let inwards = self.normal[k] * corner;
                if inwards == T::NEG_INFINITY {
                    return true;
                }
                least += inwards;
            }
        }
        // A sum that overflows inwards and then meets a side that is infinitely far outside is NaN. It counts as reached, so that the box around boxes is
        // reached if one of these is: searches rely on that.
        least <= self.offset || least.is_nan()
    }

    /// Does the closed half-space reach the closed ball?
    pub fn overlaps_ball(&self, ball: &Ball<D, T>) -> bool {
        let (mut product, mut square) = (T::ZERO, T::ZERO);
        for k in 0..D {
            product += self.normal[k] * ball.center[k];
            square += self.normal[k] * self.normal[k];
        }
        product - ball.radius * square.sqrt() <= self.offset
    }
}

/// Boxes that every one of these half-spaces reaches: what a camera may see, if they are the sides of its frustum.
///
/// Conservative in the usual way: a box near an edge of the frustum can pass although it is outside. No half-space at all is the whole
/// space; half-spaces that have no point in common may still all reach one large box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpaces<'a, const D: usize, T>(
    /// The sides.
    pub &'a [HalfSpace<D, T>],
);

impl<const D: usize, T: Real> Measure<D, T> for HalfSpaces<'_, D, T> {
    fn bound(&self, bounds: &Aabb<D, T>) -> Option<T> {
        self.0.iter().all(|side| side.overlaps_box(bounds)).then_some(T::ZERO)
    }

    fn distance_to_ball(&self, target: &Ball<D, T>, bound: T) -> Option<T> {
        self.0.iter().all(|side| side.overlaps_ball(target)).then_some(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_that_overflows_does_not_hide_a_box_from_a_search() {
        let side = HalfSpace { normal: [-1.7e38f32, 3.4e38, -1e19], offset: f32::INFINITY };
        let inner = Aabb::new([0.0, 0.0, -1.7e38], [1.75, 0.0, -1.7e38]);
        let outer = Aabb::new([-0.1, -0.1, -1.7e38], [1.9, 0.1, -1.7e38]);
        assert!(side.is_valid() && inner.union(&outer) == outer);
        assert!(side.overlaps_box(&inner), "infinitely far outside, and so is the boundary");
        assert!(side.overlaps_box(&outer), "the sum of the first two axes overflows");
        let near = HalfSpace { offset: 0.0, ..side };
        assert!(!near.overlaps_box(&inner));
    }
}
