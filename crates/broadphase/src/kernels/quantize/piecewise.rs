//! A piecewise-linear map to the lattice, for clusters on scales so different that one linear map would put all of a
//! cluster in one place.
//!
//! # Why it is monotone
//! Between two knots every step is monotone: a subtraction, a multiplication with a positive number, truncation. The result is at most the
//! place of the next knot, and at least the place of the knot before.

use super::super::prefetch::LATTICE_END;
use crate::geometry::Real;
use crate::kernels::arch::{Lanes, Mask, Simd};

/// Knots on an axis at most, in groups as large as the widest register.
pub(crate) const KNOTS: usize = GROUPS * GROUP;
const GROUPS: usize = 8;
const GROUP: usize = 16;

/// The segment behind a knot: where it starts on the lattice, its slope in places per unit, and its number of places.
#[derive(Clone, Copy, Debug)]
struct Segment<T> {
    place: i32,
    width: i32,
    slope: T,
}

/// One axis: the knots in ascending order, padded with NaN, in groups; the first knot of each group, padded with NaN; the segment behind each
/// knot; and the last knot.
#[derive(Clone, Debug)]
struct Axis<T> {
    knots: [[T; GROUP]; GROUPS],
    firsts: [T; GROUP],
    segments: [[Segment<T>; GROUP]; GROUPS],
    last: T,
    /// Is there only one group?
    is_short: bool,
}

/// The knots of each axis.
#[derive(Clone, Debug)]
pub(crate) struct PiecewiseMap<T> {
    axes: [Axis<T>; 3],
}

impl<T: Real> PiecewiseMap<T> {
    /// Linear between the given knots: two to [`KNOTS`] coordinates on each axis, finite and in order, each with the share of the lattice between
    /// it and the next one.
    pub(crate) fn new(axes: [&[(T, usize)]; 3]) -> Self {
        Self { axes: axes.map(Axis::new) }
    }

    /// The place of a coordinate; the first one for NaN.
    #[inline(always)]
    pub(crate) fn place<S: Simd>(&self, simd: S, axis: usize, x: T) -> i32 {
        self.axes[axis].place(simd, x)
    }

    /// Is the coordinate between the first knot and the last one?
    pub(crate) fn contains(&self, axis: usize, x: T) -> bool {
        let Axis { firsts, last, .. } = &self.axes[axis];
        (firsts[0] <= x) & (x <= *last)
    }
}

impl<T: Real> Axis<T> {
    /// Gives each segment its share of the lattice. The last knot ends the last segment.
    fn new(points: &[(T, usize)]) -> Self {
        assert!((2..=KNOTS).contains(&points.len()));
        let all: usize = points[..points.len() - 1].iter().map(|(_, share)| share).sum();
        let steps_per_share = f64::from(LATTICE_END - 1) / all.max(1) as f64;
        let nowhere = Segment { place: 0, width: 0, slope: T::ZERO };
        let mut axis = Self {
            knots: [[T::NAN; GROUP]; GROUPS],
            firsts: [T::NAN; GROUP],
            segments: [[nowhere; GROUP]; GROUPS],
            last: points[points.len() - 1].0,
            is_short: points.len() <= GROUP,
        };
        let mut before = 0;
        for (index, &(from, share)) in points.iter().enumerate() {
            let place = (before as f64 * steps_per_share) as i32;
            before += share;
            let (mut slope, mut width) = (T::ZERO, 0);
            if let Some(&(to, _)) = points.get(index + 1) {
                width = (before as f64 * steps_per_share) as i32 - place;
                // Halved and capped: the difference of two finite numbers can overflow, and infinity times zero is NaN.
                let half = to.to_f64() * 0.5 - from.to_f64() * 0.5;
                let wanted = f64::from(width) * 0.5 / half.max(f64::MIN_POSITIVE);
                slope = T::from_f64(wanted.min(T::MAX.to_f64() * 0.25)).max(T::MIN_POSITIVE);
            }
            axis.knots.as_flattened_mut()[index] = from;
            axis.segments.as_flattened_mut()[index] = Segment { place, width, slope };
        }
        axis.firsts[..GROUPS].copy_from_slice(&axis.knots.map(|group| group[0]));
        axis
    }

    /// The place of a coordinate. The first knots of the groups decide the group, the knots of the group the segment: both by counting, as many at
    /// once as a register holds. (Bisection, in seven dependent steps, was slower.)
    #[inline(always)]
    fn place<S: Simd>(&self, simd: S, x: T) -> i32 {
        let group = if self.is_short { 0 } else { count(simd, &self.firsts, x).max(1) - 1 };
        let at = count(simd, &self.knots[group % GROUPS], x).max(1) - 1;
        let (knot, Segment { place, width, slope }) = (self.knots[group % GROUPS][at], self.segments[group % GROUPS][at]);
        place + ((x - knot) * slope).truncate().min(width)
    }
}

/// How many of the knots are not behind a coordinate. NaN counts as behind.
#[inline(always)]
fn count<T: Real, S: Simd>(_: S, knots: &[T; GROUP], x: T) -> usize {
    const { assert!(GROUP.is_multiple_of(T::In::<S>::N)) };
    // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) the lanes of a group are a multiple of a register's.
    unsafe {
        let x = T::In::<S>::splat(x);
        let not_behind = |at: usize| T::In::<S>::load(knots.as_ptr().add(at)).le(x).bits().count_ones() as usize;
        (0..GROUP).step_by(T::In::<S>::N).map(not_behind).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Isa, Kernel, Kernels, Scalar};

    struct Places<'a>(&'a PiecewiseMap<f32>, usize, &'a [f32]);

    impl Kernel for Places<'_> {
        type Output = Vec<i32>;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Vec<i32> {
            self.2.iter().map(|&x| self.0.place(simd, self.1, x)).collect()
        }
    }

    #[test]
    fn places_rise_with_coordinates_over_all_knots_and_magnitudes() {
        let points = [(-1e20, 10), (-3.0, 0), (-3.0, 500), (0.0, 500), (1e-30, 3), (50.0, 20), (f32::MAX, 7)];
        let map = PiecewiseMap::new([&points, &points[..2], &points[5..]]);
        let mut xs: Vec<f32> = (0..2000).map(|i| (i as f32 - 1000.0) * 0.06).collect();
        xs.extend([f32::NEG_INFINITY, f32::MIN, -1e20, -1e19, -0.0, 0.0, 1e-45, 1e-38, 1e30, f32::MAX, f32::INFINITY]);
        xs.sort_by(f32::total_cmp);
        // Knots in all groups but a few of the last.
        let many: Vec<(f32, usize)> = (0..123).map(|at| ((at as f32 - 60.0).powi(3), at % 5)).collect();
        xs.extend(many.iter().flat_map(|(x, _)| [x.next_down(), *x, x.next_up()]));
        xs.sort_by(f32::total_cmp);
        for (map, axis) in [(&map, 0), (&map, 1), (&map, 2), (&PiecewiseMap::new([&many; 3]), 0)] {
            let places: Vec<i32> = xs.iter().map(|&x| map.place(Scalar, axis, x)).collect();
            assert!(places.is_sorted(), "axis {axis}");
            for isa in Isa::available() {
                assert_eq!(Kernels::new(isa).unwrap().run(Places(map, axis, &xs)), places, "{isa}, axis {axis}");
            }
            assert!(places[0] == 0 && places[places.len() - 1] < LATTICE_END, "axis {axis}");
        }
        assert!(map.place(Scalar, 0, -1.0) - map.place(Scalar, 0, -1.1) > 1 << 20, "a cluster has its share");
        assert_eq!(map.place(Scalar, 0, f32::NAN), 0);
        assert!(map.contains(0, 7.0) && !map.contains(0, f32::INFINITY) && !map.contains(0, -2e20) && !map.contains(0, f32::NAN));
    }
}
