//! Balls, and the exact ball test.

use super::{Aabb, Real};

/// A ball: center and radius. Closed, like the box: balls that touch overlap.
///
/// ```
/// use broadphase::{Aabb, Ball};
/// let ball = Ball { center: [1.0, 1.0], radius: 1.0 };
/// assert_eq!(Ball::inscribed(&Aabb::new([0.0, 0.0], [2.0, 2.0])), Some(ball));
/// assert!(ball.overlaps(&Ball { center: [3.0, 1.0], radius: 1.0 }));
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball<const D: usize, T> {
    /// The center.
    pub center: [T; D],
    /// The radius, not negative.
    pub radius: T,
}

impl<const D: usize, T: Real> Ball<D, T> {
    /// The ball inscribed in a cube (a square in 2D), or `None` if the box is not a cube: if a side differs from the first one by more than
    /// the rounding of the corners explains. So [`Ball::bounds`] of a finite ball is always accepted.
    ///
    /// ```
    /// use broadphase::{Aabb, Ball};
    /// let cube = Aabb::new([0.1, 0.2, 0.3], [1.1, 1.2, 1.3]); // sides of about 1
    /// assert!(Ball::inscribed(&cube).is_some());
    /// assert_eq!(Ball::inscribed(&Aabb::new([0.0, 0.0, 0.0], [1.0, 1.0, 2.0])), None);
    /// ```
    pub fn inscribed(of: &Aabb<D, T>) -> Option<Self> {
        let epsilon = T::ONE.next_up() - T::ONE;
        let side = |k: usize| of.max[k] - of.min[k];
        let is_cube = (0..D).all(|k| {
            let corners = [of.min[0], of.max[0], of.min[k], of.max[k]];
            let largest = corners.iter().fold(T::ZERO, |most, x| most.max(x.abs()));
            let difference = (side(k) - side(0)).abs();
            difference.is_finite() && difference <= largest * epsilon * T::from_f64(4.0)
        });
        is_cube.then(|| Self::of_box(of))
    }

    /// The ball that a box stands for if objects are [balls](crate::Shape::Ball): center `(min + max) * 0.5`, radius
    /// `(max.x - min.x) * 0.5`. The other sides are ignored; if they may differ, call [`inscribed`](Ball::inscribed).
    #[inline(always)]
    pub fn of_box(of: &Aabb<D, T>) -> Self {
        Self { center: of.center(), radius: (of.max[0] - of.min[0]) * T::HALF }
    }

    /// Is the center finite, and the radius not negative or NaN?
    pub fn is_valid(&self) -> bool {
        self.center.iter().all(|c| c.is_finite()) && self.radius >= T::ZERO
    }

    /// The smallest box around the ball.
    #[inline(always)]
    pub fn bounds(&self) -> Aabb<D, T> {
        Aabb::from_center(self.center, [self.radius; D])
    }

    /// Do the closed balls overlap? Evaluated in `T`, left to right, without fused operations:
    /// `dx*dx + dy*dy (+ dz*dz) <= (ra + rb) * (ra + rb)`.
    #[inline(always)]
    pub fn overlaps(&self, other: &Self) -> bool {
        let mut distance = T::ZERO;
        for k in 0..D {
            let d = self.center[k] - other.center[k];
            // The first term is stored, not added to zero: 0 + x*x is x*x in every case but the sign of zero.
            distance = if k == 0 { d * d } else { distance + d * d };
        }
        let reach = self.radius + other.radius;
        distance <= reach * reach
    }

    /// Does the closed ball reach the closed box?
    #[inline(always)]
    pub fn overlaps_box(&self, other: &Aabb<D, T>) -> bool {
        let mut distance = T::ZERO;
        for k in 0..D {
            let nearest = self.center[k].max(other.min[k]).min(other.max[k]);
            let d = self.center[k] - nearest;
            distance = if k == 0 { d * d } else { distance + d * d };
        }
        distance <= self.radius * self.radius
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_reaches_the_face_of_a_box_but_not_past_its_corner() {
        let ball = Ball { center: [0.0f32, 0.0], radius: 5.0 };
        assert!(ball.overlaps_box(&Aabb::new([5.0, -1.0], [9.0, 1.0])), "they touch at one point");
        assert!(ball.overlaps_box(&Aabb::new([3.0, 4.0], [9.0, 9.0])), "3, 4, 5: the corner is on the ball");
        assert!(!ball.overlaps_box(&Aabb::new([3.0, 4.000_001], [9.0, 9.0])));
        assert!(ball.overlaps_box(&Aabb::new([-9.0, -9.0], [9.0, 9.0])), "the center is inside");
    }

    #[test]
    fn only_cubes_have_an_inscribed_ball_whatever_their_corners_round_to() {
        for shift in [0.0f32, 0.1, 1e3, -7e5, 3e7] {
            for radius in [0.0f32, 1e-3, 0.7, 33.3] {
                let ball = Ball { center: [shift, shift * 0.37, 1.0 - shift], radius };
                assert!(Ball::inscribed(&ball.bounds()).is_some(), "{ball:?}");
            }
        }
        let flat = |side: f64| Aabb::new([0.0, 5.0], [1.0, 5.0 + side]);
        assert!(Ball::inscribed(&flat(1.0)).is_some());
        assert!([0.0, 0.999, 1.001, 2.0, f64::INFINITY, f64::NAN].iter().all(|&side| Ball::inscribed(&flat(side)).is_none()));
        assert_eq!(Ball::inscribed(&Aabb::<2, f32>::everything()), None, "an infinite side is no number to compare");
    }

    #[test]
    fn half_spaces_are_boxes_to_a_ball_and_an_infinite_ball_is_none() {
        let below = Aabb::new([f64::NEG_INFINITY, f64::NEG_INFINITY], [f64::INFINITY, 0.0]);
        assert!(Ball { center: [1e300, 1.0], radius: 1.0 }.overlaps_box(&below));
        assert!(!Ball { center: [1e300, 1.5], radius: 1.0 }.overlaps_box(&below));
        assert!(!Ball::of_box(&Aabb::everything()).overlaps_box(&below), "its center is nowhere");
    }
}
