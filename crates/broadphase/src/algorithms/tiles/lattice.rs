//! Coordinates as integers: one monotone map per axis.

use crate::geometry::{Aabb, Real};
use crate::kernels::LATTICE_END;
use crate::kernels::quantise::{self, Corners, Map};
use crate::objects::Frame;

/// A place on the lattice. In 2D, all boxes reach over the whole of the third axis.
pub(crate) type Cell = [i32; 3];

impl Corners {
    /// The lower corner.
    #[inline(always)]
    pub(crate) fn low(&self) -> Cell {
        [self.0[0], self.0[1], self.0[2]]
    }

    /// The upper corner.
    #[inline(always)]
    pub(crate) fn high(&self) -> Cell {
        [self.0[3], self.0[4], self.0[5]]
    }
}

/// The map from coordinates to lattice coordinates: `truncate((x - origin) * scale)`, clamped to the lattice.
///
/// Monotone, since every step is: rounding, multiplication with a positive number, clamping, truncation. Nothing else is needed
/// for exactness, so what lies outside (an outlier, an infinite side) may share the outermost place with others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lattice<const D: usize, T> {
    map: Map<T>,
}

/// How objects have moved together along an axis: by so much, and away from a center by a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Flow {
    pub(crate) center: f64,
    pub(crate) by: f64,
    pub(crate) factor: f64,
}

impl Flow {
    pub(crate) const NONE: Self = Self { center: 0.0, by: 0.0, factor: 1.0 };

    /// Where the flow has taken what was at `x`.
    pub(crate) fn of(&self, x: f64) -> f64 {
        x + self.by + (self.factor - 1.0) * (x - self.center)
    }
}

/// Boxes looked at to place the lattice.
const SAMPLE: usize = 1024;
/// The part of the sample at each end that counts as outliers if it lies far off.
const TAIL: usize = 64;

impl<const D: usize, T: Real> Default for Lattice<D, T> {
    fn default() -> Self {
        Self { map: Map::new([T::ZERO; 3], [T::ONE; 3]) }
    }
}

impl<const D: usize, T: Real> Lattice<D, T> {
    /// A lattice over the live boxes of a frame, by a sample of them. A few far outliers do not stretch it.
    pub(crate) fn over(frame: &Frame<'_, D, T>) -> Self {
        let stride = (frame.slots() / SAMPLE).max(1);
        let sample: Vec<&Aabb<D, T>> =
            (0..frame.slots()).step_by(stride).filter(|&id| frame.live.contains(id as u32)).map(|id| &frame.boxes[id]).collect();
        let (mut origin, mut factor) = ([T::ZERO; 3], [T::ONE; 3]);
        for k in 0..D {
            let mut values: Vec<T> = sample.iter().flat_map(|b| [b.min[k], b.max[k]]).filter(|x| x.is_finite()).collect();
            if let Some((low, high)) = trimmed(&mut values) {
                (origin[k], factor[k]) = (low, scale(low, high));
            }
        }
        Self { map: Map::new(origin, factor) }
    }

    /// The same lattice, moved along with objects that drift, spread or gather together: each keeps its place. As it is on an axis where that
    /// cannot be told in numbers.
    pub(crate) fn following(&self, flows: [Flow; D]) -> Self {
        let (mut origin, mut factor) = ([T::ZERO; 3], [T::ONE; 3]);
        for k in 0..3 {
            (origin[k], factor[k]) = self.map.axis(k);
            if let Some(flow) = flows.get(k) {
                let (start, scale) = (origin[k].to_f64(), factor[k].to_f64());
                let moved = (T::from_f64(flow.of(start)), T::from_f64(scale / flow.factor));
                if moved.0.is_finite() && moved.1.is_finite() && moved.1 >= T::MIN_POSITIVE {
                    (origin[k], factor[k]) = moved;
                }
            }
        }
        Self { map: Map::new(origin, factor) }
    }

    /// Where the lattice starts on an axis.
    pub(crate) fn start(&self, axis: usize) -> f64 {
        self.map.axis(axis).0.to_f64()
    }

    /// Is the box on the lattice, and not only on its rim, as outliers are?
    pub(crate) fn holds(&self, value: &Aabb<D, T>) -> bool {
        self.map.holds(value)
    }

    /// The map, as the kernels take it.
    #[inline(always)]
    pub(crate) fn map(&self) -> &Map<T> {
        &self.map
    }

    /// The places of a box's corners.
    #[inline(always)]
    pub(crate) fn corners(&self, value: &Aabb<D, T>) -> Corners {
        quantise::corners(value, &self.map)
    }
}

/// The range of the values, cut where its ends lie further out than a quarter of the bulk's width. `None` if there are no values.
fn trimmed<T: Real>(values: &mut [T]) -> Option<(T, T)> {
    let tail = values.len() / TAIL;
    let order = |a: &T, b: &T| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal);
    let low = values.iter().copied().reduce(T::min)?;
    let high = values.iter().copied().reduce(T::max)?;
    // Two places of the sorted order: sorting all would be half of the cost of a new lattice.
    let a = values.select_nth_unstable_by(tail, order).1.to_f64();
    let b = values.select_nth_unstable_by(values.len() - 1 - tail, order).1.to_f64();
    let slack = (b * 0.25 - a * 0.25).max(0.0);
    if slack == 0.0 {
        return Some((low, high));
    }
    // The extremes of a sample are exceeded by a few: an eighth of the slack more costs nothing but a little resolution.
    let (low, high) = ((low.to_f64() - slack * 0.125).max(a - slack), (high.to_f64() + slack * 0.125).min(b + slack));
    Some((T::from_f64(low), T::from_f64(high)))
}

/// A finite positive factor that spreads `low..high` over the lattice.
fn scale<T: Real>(low: T, high: T) -> T {
    // Halves, since the difference of two finite numbers can overflow; a quarter of the largest number as a cap, since zero times
    // infinity is no number.
    let half_span = high.to_f64() * 0.5 - low.to_f64() * 0.5;
    let wanted = f64::from(LATTICE_END / 2) / half_span.max(f64::MIN_POSITIVE);
    T::from_f64(wanted.min(T::MAX.to_f64() * 0.25).max(f64::MIN_POSITIVE)).max(T::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place<T: Real>(lattice: &Lattice<2, T>, x: T) -> i32 {
        lattice.corners(&Aabb::point([x; 2])).0[0]
    }

    fn holds_order<T: Real>(boxes: &[Aabb<2, T>]) -> Lattice<2, T> {
        let lattice = Lattice::over(&Frame::new(boxes));
        let mut xs: Vec<T> = boxes.iter().flat_map(|b| [b.min[0], b.max[0]]).collect();
        xs.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert!(xs.windows(2).all(|w| place(&lattice, w[0]) <= place(&lattice, w[1])), "{lattice:?}");
        lattice
    }

    #[test]
    fn the_map_is_monotone_for_extreme_ranges() {
        let make = |xs: &[f64]| -> Vec<Aabb<2, f64>> { xs.iter().map(|&x| Aabb::new([x, 0.0], [f64::INFINITY, 0.0])).collect() };
        holds_order(&make(&[f64::NEG_INFINITY, f64::MIN, -1.0, -0.0, 0.0, 5e-324, 1.0, f64::MAX]));
        holds_order(&make(&[1e-310, 2e-310, 3e-310]));
        holds_order(&make(&[7.0, 7.0]));
        holds_order(&[Aabb::new([f32::MIN, 0.0], [f32::MAX, 0.0]), Aabb::new([-1e-45, 0.0], [1e-45, 0.0])]);
    }

    #[test]
    fn a_lattice_that_follows_a_flow_keeps_everything_in_its_place() {
        let boxes: Vec<Aabb<2, f64>> = (0..1000).map(|i| Aabb::point([f64::from(i), 0.0])).collect();
        let lattice = Lattice::over(&Frame::new(&boxes));
        let flow = Flow { center: 300.0, by: -70.0, factor: 1.25 };
        let followed = lattice.following([flow, Flow::NONE]);
        for x in [0.0, 17.0, 300.0, 999.0] {
            assert!(place(&lattice, x).abs_diff(place(&followed, flow.of(x))) <= 1, "{x}");
        }
        // What cannot be told in numbers is not followed.
        let endless = Flow { by: f64::INFINITY, ..flow };
        assert_eq!(place(&lattice.following([endless; 2]), 500.0), place(&lattice, 500.0));
    }

    #[test]
    fn one_far_outlier_does_not_stretch_the_lattice() {
        let mut boxes: Vec<Aabb<2, f32>> = (0..1000).map(|i| Aabb::point([i as f32, 0.0])).collect();
        boxes.push(Aabb::point([1e30, 0.0]));
        let lattice = holds_order(&boxes);
        assert!(place(&lattice, 500.0) - place(&lattice, 499.0) > 1 << 18, "neighbours stay apart");
    }
}
