//! A map to the lattice that is straight only between knots, for crowds on scales so different that one straight map would put all of a
//! crowd in one place.
//!
//! # Why it is monotone
//! Between two knots every step is: a subtraction, a multiplication with a positive number, truncation. Nobody gets further than the
//! place of the next knot, and nobody behind a knot gets a place before it.

use super::super::prefetch::LATTICE_END;
use crate::geometry::Real;

/// Knots on an axis at most.
pub(crate) const KNOTS: usize = 128;

/// The stretch behind a knot: where it starts on the lattice, its places per unit, and how many places it has.
#[derive(Clone, Copy, Debug)]
struct Stretch<T> {
    place: i32,
    width: i32,
    slope: T,
}

/// One axis: where knots are, the lowest first, then NaN, and what lies behind each.
#[derive(Clone, Debug)]
struct Axis<T> {
    knots: [T; KNOTS],
    stretches: Vec<Stretch<T>>,
}

/// The knots of each axis.
#[derive(Clone, Debug)]
pub(crate) struct Bend<T> {
    axes: [Axis<T>; 3],
}

impl<T: Real> Bend<T> {
    /// Straight between the given coordinates, of which there are two to [`KNOTS`] on each axis, finite and in order. Each comes with the share
    /// of the lattice that lies between it and the next one.
    pub(crate) fn new(axes: [&[(T, usize)]; 3]) -> Self {
        Self { axes: axes.map(Axis::new) }
    }

    /// The place of a coordinate; the first one for NaN.
    #[inline(always)]
    pub(crate) fn place(&self, axis: usize, x: T) -> i32 {
        self.axes[axis].place(x)
    }

    /// Is the coordinate neither before the first knot nor behind the last one?
    pub(crate) fn holds(&self, axis: usize, x: T) -> bool {
        let Axis { knots, stretches } = &self.axes[axis];
        knots[0] <= x && x <= knots[stretches.len() - 1]
    }
}

impl<T: Real> Axis<T> {
    /// Gives each stretch its share of the lattice. The last knot ends it.
    fn new(points: &[(T, usize)]) -> Self {
        assert!((2..=KNOTS).contains(&points.len()));
        let all: usize = points[..points.len() - 1].iter().map(|(_, share)| share).sum();
        let steps_per_share = f64::from(LATTICE_END - 1) / all.max(1) as f64;
        let mut axis = Self { knots: [T::NAN; KNOTS], stretches: Vec::with_capacity(points.len()) };
        let mut before = 0;
        for (index, &(from, share)) in points.iter().enumerate() {
            let place = (before as f64 * steps_per_share) as i32;
            before += share;
            let (mut slope, mut width) = (T::ZERO, 0);
            if let Some(&(to, _)) = points.get(index + 1) {
                width = (before as f64 * steps_per_share) as i32 - place;
                // Halves and a cap, since the difference of two finite numbers can overflow, and infinity times zero is no number.
                let half = to.to_f64() * 0.5 - from.to_f64() * 0.5;
                let wanted = f64::from(width) * 0.5 / half.max(f64::MIN_POSITIVE);
                slope = T::from_f64(wanted.min(T::MAX.to_f64() * 0.25)).max(T::MIN_POSITIVE);
            }
            axis.knots[index] = from;
            axis.stretches.push(Stretch { place, width, slope });
        }
        axis
    }

    /// The place of a coordinate. Its knot is found by halving, in a fixed number of steps, of which none is foretold.
    #[inline(always)]
    fn place(&self, x: T) -> i32 {
        let (mut at, mut step) = (0, KNOTS / 2);
        while step > 0 {
            // What compares with NaN stays before it.
            at += step * usize::from(self.knots[at + step] <= x);
            step /= 2;
        }
        let Stretch { place, width, slope } = self.stretches[at];
        place + ((x - self.knots[at]) * slope).truncate().min(width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_rise_with_coordinates_over_all_knots_and_magnitudes() {
        let points = [(-1e20, 10), (-3.0, 0), (-3.0, 500), (0.0, 500), (1e-30, 3), (50.0, 20), (f32::MAX, 7)];
        let bend = Bend::new([&points, &points[..2], &points[5..]]);
        let mut xs: Vec<f32> = (0..2000).map(|i| (i as f32 - 1000.0) * 0.06).collect();
        xs.extend([f32::NEG_INFINITY, f32::MIN, -1e20, -1e19, -0.0, 0.0, 1e-45, 1e-38, 1e30, f32::MAX, f32::INFINITY]);
        xs.sort_by(f32::total_cmp);
        for axis in 0..3 {
            let places: Vec<i32> = xs.iter().map(|&x| bend.place(axis, x)).collect();
            assert!(places.is_sorted(), "axis {axis}");
            assert!(places[0] == 0 && places[places.len() - 1] < LATTICE_END, "axis {axis}");
        }
        assert!(bend.place(0, -1.0) - bend.place(0, -1.1) > 1 << 20, "a crowd has its share");
        assert_eq!(bend.place(0, f32::NAN), 0);
        assert!(bend.holds(0, 7.0) && !bend.holds(0, f32::INFINITY) && !bend.holds(0, -2e20) && !bend.holds(0, f32::NAN));
    }
}
