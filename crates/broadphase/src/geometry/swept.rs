//! Boxes and balls in motion during a step.

use super::measure::outwards;
use super::{Aabb, Ball, Measure, Ray, Real};

/// A box and its displacement during one step.
///
/// ```
/// use broadphase::{Aabb, Swept};
/// let bullet = Swept::new(Aabb::new([0.0, 0.0], [1.0, 1.0]), [10.0, 0.0]);
/// let wall = Aabb::new([5.0, -9.0], [5.1, 9.0]);
/// assert!(bullet.bounds().overlaps(&wall)); // neither end position touches the wall
/// assert_eq!(bullet.enters(&wall), Some(0.4));
/// ```
#[repr(C)]
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

    /// Is the box valid, and the displacement finite?
    pub fn is_valid(&self) -> bool {
        self.start.is_valid() && self.displacement.iter().all(|c| c.is_finite())
    }

    /// The box around the whole motion: the union of both ends. Pass these boxes to an algorithm to prevent tunneling.
    #[inline(always)]
    pub fn bounds(&self) -> Aabb<D, T> {
        self.start.union(&self.start.translate(self.displacement))
    }

    /// The fraction of the step, in 0..=1, at which the moving box first touches `target`, or `None` if it never does.
    #[inline(always)]
    pub fn enters(&self, target: &Aabb<D, T>) -> Option<T> {
        let (mut near, mut far) = (T::ZERO, T::ONE);
        for k in 0..D {
            // Two sides at the same infinity are at the same place.
            let apart = |x: T, y: T| if x == y { T::ZERO } else { x - y };
            let (a, b) = (apart(target.min[k], self.start.max[k]), apart(target.max[k], self.start.min[k]));
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

/// Boxes by the fraction of the step at which the moving box touches them.
impl<const D: usize, T: Real> Measure<D, T> for Swept<D, T> {
    fn bound(&self, bounds: &Aabb<D, T>) -> Option<T> {
        self.enters(bounds)
    }

    fn distance_to_ball(&self, target: &Ball<D, T>, bound: T) -> Option<T> {
        // As seen from the box, the ball moves.
        let back = self.displacement.map(|way| -way);
        SweptBall::new(*target, back).enters(&self.start).map(|at| at.max(bound))
    }

    fn reach(&self, _: T) -> Aabb<D, T> {
        let mut reach = self.bounds();
        for k in 0..D {
            let size = self.start.min[k].abs() + self.start.max[k].abs() + self.displacement[k].abs();
            (reach.min[k], reach.max[k]) = outwards(reach.min[k], reach.max[k], size);
        }
        reach
    }
}

/// A ball and its displacement during one step.
///
/// ```
/// use broadphase::{Aabb, Ball, SweptBall};
/// let ball = SweptBall::new(Ball { center: [0.0, 0.0], radius: 1.0 }, [10.0, 0.0]);
/// assert_eq!(ball.enters(&Aabb::new([6.0, -1.0], [7.0, 1.0])), Some(0.5));
/// assert_eq!(ball.enters(&Aabb::new([20.0, -1.0], [21.0, 1.0])), None);
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweptBall<const D: usize, T> {
    /// The ball at the start of the step.
    pub start: Ball<D, T>,
    /// How far it moves during the step.
    pub displacement: [T; D],
}

impl<const D: usize, T: Real> SweptBall<D, T> {
    /// A swept ball from its parts.
    pub const fn new(start: Ball<D, T>, displacement: [T; D]) -> Self {
        Self { start, displacement }
    }

    /// Is the ball valid, and the displacement finite?
    pub fn is_valid(&self) -> bool {
        self.start.is_valid() && self.displacement.iter().all(|c| c.is_finite())
    }

    /// The box around the ball, in the same motion.
    pub fn boxed(&self) -> Swept<D, T> {
        Swept::new(self.start.bounds(), self.displacement)
    }

    /// The fraction of the step, in 0..=1, at which the moving ball first touches `target`, or `None` if it never does.
    ///
    /// The box around the ball must touch `target` too, and counts if it does so later, which only rounding can make it.
    pub fn enters(&self, target: &Aabb<D, T>) -> Option<T> {
        let boxed = self.boxed().enters(target)?;
        self.touches(target).map(|t| t.max(boxed))
    }

    /// The first time at which the center is as near as the radius. The squared distance is a parabola between the times at which the
    /// center passes a side of the box; of each piece the first root counts.
    fn touches(&self, target: &Aabb<D, T>) -> Option<T> {
        if self.start.overlaps_box(target) {
            return Some(T::ZERO);
        }
        let mut from = T::ZERO;
        // At most two sides per axis: each iteration continues with the next side that is passed.
        for _ in 0..=2 * D {
            let to = self.next_side(target, from);
            if let Some(t) = self.root(target, from, to) {
                return Some(t);
            }
            if to >= T::ONE {
                return None;
            }
            from = to;
        }
        None
    }

    /// The next time after `from` at which the center passes a side, 1 at most.
    fn next_side(&self, target: &Aabb<D, T>, from: T) -> T {
        let mut next = T::ONE;
        for k in 0..D {
            for side in [target.min[k], target.max[k]] {
                let t = (side - self.start.center[k]) / self.displacement[k];
                if t > from && t < next {
                    next = t;
                }
            }
        }
        next
    }

    /// The first time in `from..=to` at which the ball touches, between two passages of sides.
    fn root(&self, target: &Aabb<D, T>, from: T, to: T) -> Option<T> {
        let middle = (from + to) * T::HALF;
        // The squared distance is a t^2 + 2 b t + c.
        let (mut a, mut b, mut c) = (T::ZERO, T::ZERO, -(self.start.radius * self.start.radius));
        for k in 0..D {
            let (at, speed) = (self.start.center[k], self.displacement[k]);
            let now = at + speed * middle;
            let side = now.max(target.min[k]).min(target.max[k]);
            if side != now {
                let offset = at - side;
                a += speed * speed;
                b += speed * offset;
                c += offset * offset;
            }
        }
        if c <= T::ZERO && a == T::ZERO {
            return Some(from);
        }
        let under = b * b - a * c;
        // Of the two forms of each root, the one that does not cancel.
        // Without a root, both are no numbers, and no comparison holds.
        let root = under.sqrt();
        let (first, last) = if b < T::ZERO { (c / (root - b), (root - b) / a) } else { ((-b - root) / a, c / (-b - root)) };
        // It touches from the first root to the last one.
        (first <= to && last >= from).then(|| first.max(from))
    }
}

/// Boxes by the fraction of the step at which the moving ball touches them.
impl<const D: usize, T: Real> Measure<D, T> for SweptBall<D, T> {
    fn bound(&self, bounds: &Aabb<D, T>) -> Option<T> {
        self.boxed().enters(bounds)
    }

    fn refines(&self) -> bool {
        true
    }

    fn distance(&self, target: &Aabb<D, T>, bound: T) -> Option<T> {
        self.touches(target).map(|t| t.max(bound))
    }

    fn distance_to_ball(&self, target: &Ball<D, T>, bound: T) -> Option<T> {
        let both = Ball { center: target.center, radius: target.radius + self.start.radius };
        Ray::new(self.start.center, self.displacement, T::ONE).enters_ball(&both).map(|at| at.max(bound))
    }

    fn reach(&self, limit: T) -> Aabb<D, T> {
        self.boxed().reach(limit)
    }
}
