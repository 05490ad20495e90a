//! The lattice: coordinates as integers, by one monotone map per axis.

use super::motion::GlobalMotion;
use super::plan::tuned::{ALIKE, COARSE, CROWD, LATTICE_SAMPLE, OUTLIERS, SEGMENTS, TRIM_SAMPLE};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::LATTICE_END;
use crate::kernels::quantize::{self, Corners, KNOTS, Map, PiecewiseMap};
use crate::memory;
use crate::objects::Frame;
use crate::sample::sample;

/// What the memory is for, in errors.
const SAMPLE: &str = "a sample of the objects";

/// A place on the lattice: an integer on each axis. In 2D, all boxes span the whole third axis.
pub(crate) type Place = [i32; 3];

impl Corners {
    /// The lower corner.
    #[inline(always)]
    pub(crate) fn low(&self) -> Place {
        [self.0[0], self.0[1], self.0[2]]
    }

    /// The upper corner.
    #[inline(always)]
    pub(crate) fn high(&self) -> Place {
        [self.0[3], self.0[4], self.0[5]]
    }
}

/// The map from coordinates to lattice coordinates: `truncate((x - origin) * scale)`, clamped to the lattice.
///
/// It is monotone, since every step is: rounding, multiplication by a positive number, clamping, truncation. Exactness needs nothing else, so
/// all coordinates outside the lattice (of outliers and infinite sides) may share the outermost place.
///
/// If a cluster is so small, compared with the whole scene, that the steps of a linear map are larger than its objects, the map is piecewise
/// linear between some of the sample's coordinates, so that each part of the lattice has about as many objects. That costs a search per
/// coordinate.
#[derive(Clone, Debug)]
pub(crate) struct Lattice<const D: usize, T> {
    map: Map<T>,
}

const _: () = assert!(3 * SEGMENTS + 3 <= KNOTS);

impl<const D: usize, T: Real> Default for Lattice<D, T> {
    fn default() -> Self {
        Self { map: Map::new([T::ZERO; 3], [T::ONE; 3]) }
    }
}

impl<const D: usize, T: Real> Lattice<D, T> {
    /// A lattice over the live boxes of a frame, by a sample of them. A few far outliers do not stretch it.
    pub(crate) fn over(frame: &Frame<'_, D, T>) -> Result<Self, Error> {
        let stride = (frame.slots() / LATTICE_SAMPLE).max(1);
        let live = sample(frame.slots(), stride).filter(|&id| frame.live.contains(id as u32)).map(|id| &frame.boxes[id]);
        let mut sample: Vec<&Aabb<D, T>> = Vec::new();
        memory::extend(&mut sample, frame.slots().div_ceil(stride), live, SAMPLE)?;
        let values = |k: usize| {
            let mut values: Vec<f64> = Vec::new();
            memory::reserve(&mut values, 2 * sample.len(), SAMPLE)?;
            for b in &sample {
                for x in [b.min[k], b.max[k]].into_iter().filter(|x| x.is_finite()) {
                    values.push(x.to_f64()); // reserved
                }
            }
            Ok(values)
        };
        let (mut origin, mut factor) = ([T::ZERO; 3], [T::ONE; 3]);
        let extremes = extremes(&sample);
        for k in 0..D {
            if let Some((low, high)) = trimmed(k, &sample, extremes[k]) {
                (origin[k], factor[k]) = (low, scale(low, high));
            }
        }
        let linear = Self { map: Map::new(origin, factor) };
        for k in 0..D {
            if linear.is_coarse(k, &sample)? {
                let rounded = |x: f64| T::from_f64(x.clamp(-T::MAX.to_f64(), T::MAX.to_f64())).to_f64();
                let mut knots = [Vec::new(), Vec::new(), Vec::new()];
                for (k, knots) in knots.iter_mut().enumerate() {
                    let found = segments(if k < D { values(k)? } else { Vec::new() }, rounded)?;
                    memory::extend(knots, found.len(), found.iter().map(|&(x, share)| (T::from_f64(x), share)), SAMPLE)?;
                }
                let map = PiecewiseMap::new([&knots[0], &knots[1], &knots[2]]);
                return Ok(Self { map: Map::piecewise(map)? });
            }
        }
        Ok(linear)
    }

    /// Are many of the sample's boxes, and many of the distances between their sides, too small for a linear map? Usually a few boxes are enough to
    /// rule this out.
    fn is_coarse(&self, k: usize, sample: &[&Aabb<D, T>]) -> Result<bool, Error> {
        let (origin, factor) = self.map.axis(k);
        let place = |x: T| ((x - origin) * factor).truncate();
        let is_small = |b: &&&Aabb<D, T>| place(b.max[k]) - place(b.min[k]) < COARSE;
        if sample.iter().step_by(CROWD).filter(is_small).count() * CROWD * CROWD < sample.len() {
            return Ok(false);
        }
        let mut starts: Vec<f64> = Vec::new();
        let small = sample.iter().filter(is_small).map(|b| b.min[k].to_f64()).filter(|x| x.is_finite());
        memory::extend(&mut starts, sample.len(), small, SAMPLE)?;
        starts.sort_unstable_by(f64::total_cmp);
        let at = |x: f64| place(T::from_f64(x));
        let is_close = |w: &&[f64]| w[0] < w[1] && at(w[1]) - at(w[0]) < COARSE;
        let close = starts.windows(2).filter(is_close).count();
        Ok(close * CROWD > sample.len())
    }

    /// The same lattice, moved along with objects that drift, spread or gather together, so that each keeps its place. Unchanged on an axis where
    /// the result would not be a finite number. `None` where the map is piecewise.
    pub(crate) fn moved_by(&self, motions: [GlobalMotion; D]) -> Option<Self> {
        if !self.map.is_linear() {
            return None;
        }
        let (mut origin, mut factor) = ([T::ZERO; 3], [T::ONE; 3]);
        for k in 0..3 {
            (origin[k], factor[k]) = self.map.axis(k);
            if let Some(motion) = motions.get(k) {
                let (start, scale) = (origin[k].to_f64(), factor[k].to_f64());
                let moved = (T::from_f64(motion.apply(start)), T::from_f64(scale / motion.factor));
                if moved.0.is_finite() && moved.1.is_finite() && moved.1 >= T::MIN_POSITIVE {
                    (origin[k], factor[k]) = moved;
                }
            }
        }
        Some(Self { map: Map::new(origin, factor) })
    }

    /// Where the lattice starts on an axis.
    pub(crate) fn start(&self, axis: usize) -> f64 {
        self.map.axis(axis).0.to_f64()
    }

    /// Is the box on the lattice without being clamped?
    pub(crate) fn contains(&self, value: &Aabb<D, T>) -> bool {
        self.map.contains(value)
    }

    /// The map for the kernels.
    #[inline(always)]
    pub(crate) fn map(&self) -> &Map<T> {
        &self.map
    }

    /// The places of a box's corners.
    #[inline(always)]
    pub(crate) fn corners(&self, value: &Aabb<D, T>) -> Corners {
        quantize::corners(value, &self.map)
    }
}

/// The knots of a piecewise map, each with the number of values up to the next one. In `f64`, which holds an `f32` exactly, so that sorting is
/// compiled once; `rounded` gives the nearest finite value of the scalar.
fn segments(mut values: Vec<f64>, rounded: fn(f64) -> f64) -> Result<Vec<(f64, usize)>, Error> {
    values.sort_unstable_by(f64::total_cmp);
    let mut knots = Vec::new();
    memory::reserve(&mut knots, KNOTS, SAMPLE)?;
    let (Some(&low), Some(&high)) = (values.first(), values.last()) else {
        knots.extend([(0.0, 1), (1.0, 0)]); // reserved
        return Ok(knots);
    };
    // A few objects exceed the extremes of the sample.
    let slack = high / 16.0 - low / 16.0;
    knots.push((rounded(low - slack), 1)); // reserved, as all below
    let step = values.len().div_ceil(SEGMENTS);
    for first in (0..values.len() - 1).step_by(step) {
        let segment = &values[first..=(first + step).min(values.len() - 1)];
        let (low, high) = (segment[0], segment[segment.len() - 1]);
        let widest = (1..segment.len()).max_by(|&a, &b| gap(segment, a).total_cmp(&gap(segment, b))).unwrap_or(1);
        if gap(segment, widest) > high * 0.25 - low * 0.25 && segment.len() > 2 {
            let three = [(segment[0], widest), (segment[widest - 1], 1), (segment[widest], segment.len() - widest)];
            knots.extend(three); // reserved
        } else {
            knots.push((segment[0], segment.len())); // reserved
        }
    }
    knots.extend([(high, 1), (rounded(high + slack), 0)]); // reserved
    join_alike(&knots)
}

/// The same without knots between segments of about equal density: each knot costs time for every coordinate of a frame.
fn join_alike(knots: &[(f64, usize)]) -> Result<Vec<(f64, usize)>, Error> {
    let density = |share: usize, from: f64, to: f64| share as f64 / (to * 0.5 - from * 0.5).max(f64::MIN_POSITIVE);
    let mut joined = Vec::new();
    memory::reserve(&mut joined, knots.len(), SAMPLE)?;
    joined.push(knots[0]); // reserved
    for two in knots[1..].windows(2) {
        let (from, share) = joined[joined.len() - 1];
        let (before, behind) = (density(share, from, two[0].0), density(two[0].1, two[0].0, two[1].0));
        if before.max(behind) <= ALIKE * before.min(behind) {
            let last = joined.len() - 1;
            joined[last].1 += two[0].1;
        } else {
            joined.push(two[0]); // reserved
        }
    }
    joined.extend(knots.last()); // reserved
    Ok(joined)
}

/// Half of the distance from the value before, which cannot overflow.
fn gap(values: &[f64], at: usize) -> f64 {
    values[at] * 0.5 - values[at - 1] * 0.5
}

/// The least and the greatest finite side of the sample on each axis; the first is greater if there is none.
fn extremes<const D: usize, T: Real>(sample: &[&Aabb<D, T>]) -> [(T, T); D] {
    let mut ends = [(T::INFINITY, T::NEG_INFINITY); D];
    for value in sample {
        for (k, (low, high)) in ends.iter_mut().enumerate() {
            for x in [value.min[k], value.max[k]] {
                // Without a branch; NaN fails both comparisons.
                *low = if (x < *low) & (x >= -T::MAX) { x } else { *low };
                *high = if (x > *high) & (x <= T::MAX) { x } else { *high };
            }
        }
    }
    ends
}

/// The range of the sample's sides on axis `k`, given their extremes `low` and `high`. An end that lies further out than a quarter of the width
/// without outliers is cut off there. `None` if no side is finite.
fn trimmed<const D: usize, T: Real>(k: usize, sample: &[&Aabb<D, T>], (low, high): (T, T)) -> Option<(T, T)> {
    if low > high {
        return None;
    }
    let few = || sample.iter().step_by(sample.len().div_ceil(TRIM_SAMPLE));
    let (mut lists, mut counts) = ([[0.0f64; TRIM_SAMPLE]; 2], [0; 2]);
    for value in few() {
        for (end, x) in [value.min[k], value.max[k]].into_iter().enumerate().filter(|(_, x)| x.is_finite()) {
            lists[end][counts[end]] = x.to_f64();
            counts[end] += 1;
        }
    }
    let [starts, ends] = &mut lists;
    let (starts, ends) = (&mut starts[..counts[0]], &mut ends[..counts[1]]);
    // An order statistic at each end. A few boxes are enough: computed from all of them, they were half of the cost of a new lattice.
    let (Some(first), Some(last)) = (starts.len().checked_sub(1), ends.len().checked_sub(1)) else { return Some((low, high)) };
    let a = *starts.select_nth_unstable_by(first / OUTLIERS, f64::total_cmp).1;
    let b = *ends.select_nth_unstable_by(last - last / OUTLIERS, f64::total_cmp).1;
    let slack = (b * 0.25 - a * 0.25).max(0.0);
    if slack == 0.0 {
        return Some((low, high));
    }
    // A few objects exceed the extremes of the sample: an eighth of the slack costs only a little resolution.
    let (low, high) = ((low.to_f64() - slack * 0.125).max(a - slack), (high.to_f64() + slack * 0.125).min(b + slack));
    Some((T::from_f64(low), T::from_f64(high)))
}

/// A finite positive factor that spreads `low..high` over the lattice.
fn scale<T: Real>(low: T, high: T) -> T {
    // Computed with halves, since the difference of two finite numbers can overflow; capped at a quarter of the largest number, since zero
    // times infinity is NaN.
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

    fn keeps_order<T: Real>(boxes: &[Aabb<2, T>]) -> Lattice<2, T> {
        let lattice = Lattice::over(&Frame::new(boxes)).unwrap();
        let mut xs: Vec<T> = boxes.iter().flat_map(|b| [b.min[0], b.max[0]]).collect();
        xs.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert!(xs.windows(2).all(|w| place(&lattice, w[0]) <= place(&lattice, w[1])), "{lattice:?}");
        lattice
    }

    #[test]
    fn a_piecewise_map_has_no_more_knots_than_scales_need() {
        let evenly = |count: u32, step: f64| (0..count).map(move |i| f64::from(i) * step);
        let two_scales: Vec<f64> = evenly(1000, 0.05).chain(evenly(1000, 1e17)).collect();
        let knots = segments(two_scales, |x| x).unwrap();
        assert!(knots.len() <= 16 && knots.is_sorted_by(|a, b| a.0 <= b.0), "{knots:?}");
        let octaves: Vec<f64> = (0..2000).map(|i| 1.05f64.powi(i)).collect();
        assert!(segments(octaves, |x| x).unwrap().len() > SEGMENTS, "each is as wide as all before it");
    }

    #[test]
    fn the_map_is_monotone_for_extreme_ranges() {
        let make = |xs: &[f64]| -> Vec<Aabb<2, f64>> { xs.iter().map(|&x| Aabb::new([x, 0.0], [f64::INFINITY, 0.0])).collect() };
        keeps_order(&make(&[f64::NEG_INFINITY, f64::MIN, -1.0, -0.0, 0.0, 5e-324, 1.0, f64::MAX]));
        keeps_order(&make(&[1e-310, 2e-310, 3e-310]));
        keeps_order(&make(&[7.0, 7.0]));
        keeps_order(&[Aabb::new([f32::MIN, 0.0], [f32::MAX, 0.0]), Aabb::new([-1e-45, 0.0], [1e-45, 0.0])]);
    }

    #[test]
    fn a_lattice_that_follows_a_global_motion_keeps_all_places() {
        let boxes: Vec<Aabb<2, f64>> = (0..1000).map(|i| Aabb::point([f64::from(i), 0.0])).collect();
        let lattice = Lattice::over(&Frame::new(&boxes)).unwrap();
        let motion = GlobalMotion { center: 300.0, shift: -70.0, factor: 1.25 };
        let followed = lattice.moved_by([motion, GlobalMotion::NONE]).unwrap();
        for x in [0.0, 17.0, 300.0, 999.0] {
            assert!(place(&lattice, x).abs_diff(place(&followed, motion.apply(x))) <= 1, "{x}");
        }
        // A motion that is not finite is not followed.
        let endless = GlobalMotion { shift: f64::INFINITY, ..motion };
        assert_eq!(place(&lattice.moved_by([endless; 2]).unwrap(), 500.0), place(&lattice, 500.0));
    }

    #[test]
    fn a_piecewise_map_separates_boxes_in_clusters_of_very_different_scales() {
        // A thousand boxes of size 1 in a row, beside a thousand of size 1e17 and one, far off, that is infinite.
        let mut boxes: Vec<Aabb<2, f32>> = (0..1000).map(|i| Aabb::new([i as f32, 0.0], [i as f32 + 1.0, 1.0])).collect();
        boxes.extend((0..1000).map(|i| Aabb::new([(i - 500) as f32 * 1e17, 5.0], [(i - 499) as f32 * 1e17, 6.0])));
        boxes.push(Aabb::new([3e38, 0.0], [f32::INFINITY, 0.0]));
        let lattice = keeps_order(&boxes);
        for x in [100.0, 400.0, 900.0, -3e19, 2e19] {
            let size = if x.abs() < 1e4 { 1.0 } else { 1e17 };
            assert!(place(&lattice, x + size) - place(&lattice, x) > 1 << 12, "{x} has a place of its own");
        }
        assert!(lattice.contains(&boxes[3]) && !lattice.contains(&boxes[2000]));
        // Small boxes that are far from each other are no cluster.
        let sparse: Vec<Aabb<2, f32>> =
            (0..1000).map(|i| Aabb::new([i as f32 * 1e9, 0.0], [i as f32 * 1e9 + 1.0, 1.0])).collect();
        assert!(keeps_order(&sparse).map.is_linear());
    }

    #[test]
    fn one_far_outlier_does_not_stretch_the_lattice() {
        let mut boxes: Vec<Aabb<2, f32>> = (0..1000).map(|i| Aabb::point([i as f32, 0.0])).collect();
        boxes.push(Aabb::point([1e30, 0.0]));
        let lattice = keeps_order(&boxes);
        assert!(place(&lattice, 500.0) - place(&lattice, 499.0) > 1 << 18, "neighbors stay apart");
    }
}
