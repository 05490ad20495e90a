//! Two boxes or balls in motion, and when they first touch.

use super::{Aabb, Ball, Real, SweptBall, each_axis};

/// The way of a box during one frame: every side moves evenly from where it is in `from` to where it is in `to`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Path<const D: usize, T> {
    pub(crate) from: Aabb<D, T>,
    pub(crate) to: Aabb<D, T>,
}

impl<const D: usize, T: Real> Path<D, T> {
    /// A box that stays where it is.
    pub(crate) fn still(at: Aabb<D, T>) -> Self {
        Self { from: at, to: at }
    }

    /// Do the boxes around the two ways overlap along one axis?
    #[inline]
    pub(crate) fn overlaps_along(&self, other: &Self, axis: usize) -> bool {
        let ends = |path: &Self| (path.from.min[axis].min(path.to.min[axis]), path.from.max[axis].max(path.to.max[axis]));
        let ((low, high), (other_low, other_high)) = (ends(self), ends(other));
        low <= other_high && other_low <= high
    }

    /// The fraction of the frame, in 0..=1, at which the two closed boxes first touch, or `None` if they never do.
    ///
    /// Boxes that overlap at the start touch at 0, boxes that overlap at the end always touch, and boxes that touch lie in unions of their
    /// ends that overlap: all three also when the arithmetic rounds.
    pub(crate) fn boxes_touch(&self, other: &Self) -> Option<T> {
        let (mut near, mut far) = (T::ZERO, T::ONE);
        for k in 0..D {
            // How far each lower side is above the other one's upper side, at the start and at the end.
            for (start, end) in [
                (self.from.min[k] - other.from.max[k], self.to.min[k] - other.to.max[k]),
                (other.from.min[k] - self.from.max[k], other.to.min[k] - self.to.max[k]),
            ] {
                match (start > T::ZERO, end > T::ZERO) {
                    (false, false) => {}
                    (true, true) => return None,
                    (true, false) => near = near.max(crossing(start, end)),
                    (false, true) => far = far.min(crossing(start, end)),
                }
            }
        }
        (near <= far).then_some(near)
    }

    /// The same for two balls, each inscribed in its box.
    pub(crate) fn balls_touch(&self, other: &Self) -> Option<T> {
        let at = |path: &Self| (Ball::of_box(&path.from), Ball::of_box(&path.to));
        let ((a, a_end), (b, b_end)) = (at(self), at(other));
        if a.overlaps(&b) {
            return Some(T::ZERO);
        }
        let last = a_end.overlaps(&b_end).then_some(T::ONE);
        // The square of the distance of the centers less the square of the sum of the radii: a parabola in the time.
        let (reach, growth) = {
            let (start, end) = (a.radius.to_f64() + b.radius.to_f64(), a_end.radius.to_f64() + b_end.radius.to_f64());
            (start, end - start)
        };
        let (mut square, mut half, mut rest) = (-growth * growth, -reach * growth, -reach * reach);
        for k in 0..D {
            let start = a.center[k].to_f64() - b.center[k].to_f64();
            let way = a_end.center[k].to_f64() - b_end.center[k].to_f64() - start;
            square += way * way;
            half += start * way;
            rest += start * start;
        }
        match first_root(square, half, rest) {
            Some(time) => Some(T::from_f64(time)),
            None => last,
        }
    }

    /// The same for a ball, inscribed in this box, and a box. Exact where neither changes its size; otherwise the larger size counts all
    /// the time.
    pub(crate) fn ball_touches_box(&self, other: &Self) -> Option<T> {
        let (start, end) = (Ball::of_box(&self.from), Ball::of_box(&self.to));
        if start.overlaps_box(&other.from) {
            return Some(T::ZERO);
        }
        let last = end.overlaps_box(&other.to).then_some(T::ONE);
        let (from, to) = (other.from.center(), other.to.center());
        let size: [T; D] = each_axis(|k| other.from.size()[k].max(other.to.size()[k]));
        let still = if other.from.size() == other.to.size() || !other.to.is_finite() || !other.from.is_finite() {
            other.from
        } else {
            Aabb::from_center(from, size.map(|side| side * T::HALF))
        };
        // As seen from the box.
        let way = each_axis(|k| {
            let shift = if to[k] == from[k] || !(to[k] - from[k]).is_finite() { T::ZERO } else { to[k] - from[k] };
            end.center[k] - start.center[k] - shift
        });
        let ball = Ball { center: start.center, radius: start.radius.max(end.radius) };
        SweptBall::new(ball, way).enters(&still).or(last)
    }
}

/// Where a line from `start` to `end`, of different signs, crosses zero, as a fraction of the way.
#[inline]
fn crossing<T: Real>(start: T, end: T) -> T {
    if start == end || (start == T::ZERO && end == T::ZERO) {
        return T::ZERO;
    }
    let way = start - end;
    if way.is_finite() {
        return start / way;
    }
    // A difference that overflows, or a side that is infinite.
    let (start, end) = (start * T::HALF, end * T::HALF);
    match (start.is_finite(), end.is_finite()) {
        (true, true) => start / (start - end),
        (true, false) => T::ZERO,
        _ => T::ONE,
    }
}

/// The first time in 0..=1 at which `square * t² + 2 * half * t + rest`, positive at 0, is not positive any more.
fn first_root(square: f64, half: f64, rest: f64) -> Option<f64> {
    let inside = half * half - square * rest;
    if inside.is_nan() || inside < 0.0 || (half >= 0.0 && square >= 0.0) {
        return None;
    }
    // The smaller positive root, in the form that does not cancel.
    let time = rest / (-half + inside.sqrt());
    (0.0..=1.0).contains(&time).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(from: f64, to: f64) -> Path<2, f64> {
        let at = |x: f64| Aabb::new([x, 0.0], [x + 1.0, 1.0]);
        Path { from: at(from), to: at(to) }
    }

    #[test]
    fn movers_touch_when_their_distance_is_used_up_by_both() {
        assert_eq!(path(0.0, 4.0).boxes_touch(&path(9.0, 5.0)), Some(1.0));
        assert_eq!(path(0.0, 8.0).boxes_touch(&path(9.0, 1.0)), Some(0.5));
        assert_eq!(path(0.0, 8.0).balls_touch(&path(9.0, 1.0)), Some(0.5));
        assert_eq!(path(0.0, 8.0).ball_touches_box(&path(9.0, 1.0)), Some(0.5));
        assert_eq!(path(0.0, 8.0).boxes_touch(&path(2.0, 10.0)), None, "they keep their distance");
        assert_eq!(path(0.0, 8.0).balls_touch(&path(2.0, 10.0)), None);
        assert_eq!(path(0.5, 8.0).boxes_touch(&path(1.5, 90.0)), Some(0.0), "they touch at the start");
    }

    #[test]
    fn a_side_that_becomes_infinite_or_a_way_that_overflows_is_no_number_trouble() {
        let wall = Path::still(Aabb::new([-1e308, 0.0], [1e308, 1.0]));
        let far = Path { from: Aabb::new([-1.7e308, 0.0], [-1.6e308, 1.0]), to: Aabb::new([1.6e308, 0.0], [1.7e308, 1.0]) };
        assert!(far.boxes_touch(&wall).is_some_and(|time| (0.0..0.5).contains(&time)));
        let grows = Path { from: Aabb::new([5.0, 0.0], [6.0, 1.0]), to: Aabb::new([f64::NEG_INFINITY, 0.0], [6.0, 1.0]) };
        assert!(grows.boxes_touch(&path(0.0, 0.0)).is_some());
        let plane = Path::still(Aabb::new([f64::NEG_INFINITY, f64::NEG_INFINITY], [f64::INFINITY, 0.0]));
        assert_eq!(path(0.0, 8.0).boxes_touch(&plane), Some(0.0));
        assert_eq!(path(0.0, 8.0).ball_touches_box(&plane), Some(0.0));
    }
}
