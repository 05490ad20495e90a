//! Which axes are swept: boundaries, dispersion and the axis swap (section 5 of the paper).
//!
//! The boundaries of an axis are last frame's quantiles of its endpoints. The dispersion D measures how far this frame's endpoints
//! are from filling the buckets between them evenly: the mean deviation of the bucket sizes over their mean. It is small in
//! steady motion, and large when objects gather or lie in one plane. Then the third axis takes the place of the
//! clustered one, from the next frame on. Departures from the paper:
//!
//! 1. Hysteresis: the third axis must be clearly better ([`ADVANTAGE`]), as measured by the crowding: mean extent over spread.
//! 2. Objects that gather slowly never show in D, since the boundaries follow them. So crowding is also measured in the
//!    first frame and at regular intervals (option `patrol`); D shows at once what happens in between.
//!
//! With `paper=true` there is neither: an axis whose D is above the threshold is swapped, the more dispersed one if both are.
//!
//! In the first frame of an axis the boundaries are cut evenly from its span. D then measures how unevenly the objects lie, not that they
//! gather, and the text does not say what it means for the swap: it is ignored. In 2D there is no third axis.

use super::options::Options;
use crate::geometry::{Aabb, Real};

/// A swap needs a third axis that is less crowded by this factor.
const ADVANTAGE: f64 = 1.5;

/// The boundaries of one axis, as sort keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Boundaries {
    /// One less than there are buckets, ascending; empty: not known yet.
    keys: Vec<u64>,
    /// Were they cut from the span, so that the dispersion means nothing?
    from_span: bool,
    /// The dispersion that was last measured with them.
    dispersion: f64,
}

/// The axes, and what decides about them.
#[derive(Clone, Debug)]
pub(super) struct Axes<const D: usize> {
    /// Primary first, secondary last, the third between them.
    order: [usize; D],
    /// Of the primary and the secondary axis.
    boundaries: [Boundaries; 2],
    chosen: bool,
    swaps: u64,
    frames: u64,
}

impl Boundaries {
    /// The boundaries for this frame; if there are none, they are cut from the span of the finite coordinates.
    pub(super) fn keys<T: Real>(&mut self, buckets: usize, span: impl FnOnce() -> Option<(f64, f64)>) -> &[u64] {
        if self.keys.len() + 1 != buckets {
            let (low, high) = span().unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
            self.keys.clear();
            let mut last = 0;
            self.keys.extend((1..buckets).map(|i| {
                // Weighing both ends cannot overflow, as a span can; but where they are close, rounding may descend.
                let share = i as f64 / buckets as f64;
                let key = T::from_f64((low * (1.0 - share) + high * share).max(low).min(high)).order_key();
                last = key.max(last);
                last
            }));
            if low > high {
                self.keys.fill(0);
            }
            self.from_span = true;
        }
        &self.keys
    }

    /// Measures the dispersion of the sorted endpoints, then takes their quantiles as next frame's boundaries.
    pub(super) fn follow(&mut self, order: &[u32], key: impl Fn(usize) -> u64) {
        if order.is_empty() {
            self.keys.clear();
            self.dispersion = 0.0;
            return;
        }
        let buckets = self.keys.len() + 1;
        let mean = order.len() as f64 / buckets as f64;
        let (mut before, mut deviation) = (0, 0.0);
        for bucket in 0..buckets {
            let until = match self.keys.get(bucket) {
                Some(&boundary) => order.partition_point(|&endpoint| key(endpoint as usize) <= boundary),
                None => order.len(),
            };
            deviation += ((until - before) as f64 - mean).abs();
            before = until;
        }
        self.dispersion = if self.from_span { 0.0 } else { deviation / order.len() as f64 };
        self.from_span = false;
        for (i, boundary) in self.keys.iter_mut().enumerate() {
            *boundary = key(order[(i + 1) * order.len() / buckets] as usize);
        }
    }

    /// Do they ascend?
    pub(super) fn are_sorted(&self) -> bool {
        self.keys.is_sorted()
    }
}

impl<const D: usize> Axes<D> {
    /// The axes that the options name, or x and y.
    pub(super) fn new(options: &Options) -> Self {
        let [primary, secondary] = options.axes.unwrap_or([0, 1]);
        let mut order = std::array::from_fn(|k| k);
        order.swap(0, primary);
        let at = order.iter().position(|&axis| axis == secondary).unwrap_or(D - 1);
        order.swap(at, D - 1);
        Self { order, boundaries: Default::default(), chosen: options.axes.is_some(), swaps: 0, frames: 0 }
    }

    /// Primary first, secondary last.
    pub(super) fn order(&self) -> [usize; D] {
        self.order
    }

    /// The boundaries of the primary (0) or secondary (1) axis.
    pub(super) fn boundaries(&mut self, which: usize) -> &mut Boundaries {
        &mut self.boundaries[which]
    }

    /// Before the first frame with objects: swaps a crowded axis away, unless the axes were given.
    pub(super) fn choose(&mut self, crowding: impl FnOnce() -> [f64; D]) {
        if self.chosen || D < 3 {
            return;
        }
        let crowding = crowding();
        let worst = if crowding[self.order[0]] >= crowding[self.order[D - 1]] { 0 } else { D - 1 };
        if crowding[self.order[worst]] > ADVANTAGE * crowding[self.order[1]] {
            self.order.swap(worst, 1);
        }
        self.chosen = true;
    }

    /// At the end of a frame: decides about a swap, for the next frame.
    pub(super) fn reconsider(&mut self, options: &Options, crowding: impl FnOnce() -> [f64; D]) {
        self.frames += 1;
        if !options.swap || D < 3 {
            return;
        }
        let [primary, secondary] = [0, 1].map(|which| self.boundaries[which].dispersion);
        if options.paper {
            let which = usize::from(secondary > primary);
            if primary.max(secondary) > options.threshold {
                self.swap(which);
            }
            return;
        }
        let patrol = options.patrol > 0 && self.frames.is_multiple_of(options.patrol);
        if primary.max(secondary) <= options.threshold && !patrol {
            return;
        }
        let crowding = crowding();
        let places = if primary >= secondary { [0, D - 1] } else { [D - 1, 0] };
        for place in places {
            let which = usize::from(place != 0);
            let suspect = patrol || self.boundaries[which].dispersion > options.threshold;
            if suspect && crowding[self.order[place]] > ADVANTAGE * crowding[self.order[1]] {
                return self.swap(which);
            }
        }
    }

    /// Swaps the primary (0) or secondary (1) axis with the third one.
    fn swap(&mut self, which: usize) {
        self.order.swap(which * (D - 1), 1);
        self.boundaries[which] = Boundaries::default();
        self.swaps += 1;
    }

    /// The dispersion of the primary and of the secondary axis, and the number of swaps so far.
    pub(super) fn figures(&self) -> ([f64; 2], u64) {
        ([0, 1].map(|which| self.boundaries[which].dispersion), self.swaps)
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.boundaries.iter().map(|b| b.keys.capacity() * 8).sum()
    }
}

/// Sums over boxes, by axis, over finite values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments<const D: usize> {
    count: [f64; D],
    extent: [f64; D],
    sum: [f64; D],
    squares: [f64; D],
}

impl<const D: usize> Default for Moments<D> {
    fn default() -> Self {
        Self { count: [0.0; D], extent: [0.0; D], sum: [0.0; D], squares: [0.0; D] }
    }
}

/// The extent and the center on an axis, if both ends are finite.
fn interval<const D: usize, T: Real>(value: &Aabb<D, T>, axis: usize) -> Option<(f64, f64)> {
    let (min, max) = (value.min[axis].to_f64(), value.max[axis].to_f64());
    (min.is_finite() && max.is_finite()).then_some((max - min, min * 0.5 + max * 0.5))
}

impl<const D: usize> Moments<D> {
    /// What centers are measured from: the first one on each axis. Far from zero, squares would swallow the differences.
    pub(super) fn origin<T: Real>(boxes: impl Iterator<Item = Aabb<D, T>> + Clone) -> [f64; D] {
        std::array::from_fn(|k| boxes.clone().find_map(|value| interval(&value, k)).map_or(0.0, |(_, center)| center))
    }

    /// The sums over some boxes.
    pub(super) fn of<T: Real>(origin: &[f64; D], boxes: impl Iterator<Item = Aabb<D, T>>) -> Self {
        let mut all = Self::default();
        for value in boxes {
            for k in 0..D {
                if let Some((extent, center)) = interval(&value, k) {
                    let offset = center - origin[k];
                    all.count[k] += 1.0;
                    all.extent[k] += extent;
                    all.sum[k] += offset;
                    all.squares[k] += offset * offset;
                }
            }
        }
        all
    }

    /// Both together, of one origin.
    pub(super) fn plus(&self, other: &Self) -> Self {
        let add = |a: &[f64; D], b: &[f64; D]| std::array::from_fn(|k| a[k] + b[k]);
        Self {
            count: add(&self.count, &other.count),
            extent: add(&self.extent, &other.extent),
            sum: add(&self.sum, &other.sum),
            squares: add(&self.squares, &other.squares),
        }
    }

    /// By axis: the mean extent of the boxes over the standard deviation of their centers; infinite if there is no spread. Twice the crowding, twice
    /// the overlaps on that axis.
    pub(super) fn crowding(&self) -> [f64; D] {
        std::array::from_fn(|k| {
            let count = f64::max(self.count[k], 1.0);
            let variance = (self.squares[k] - self.sum[k] * self.sum[k] / count).max(0.0);
            // Points have no extent, but can be crowded all the same.
            self.extent[k] / (self.count[k] * variance).sqrt() + 1e-9 / (variance / count).sqrt()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(spread: [f64; 3]) -> impl Iterator<Item = Aabb<3, f64>> + Clone {
        (0..500).map(move |i| {
            let at = [i * 7 % 500, i * 11 % 500, i * 13 % 500].map(f64::from);
            let at = std::array::from_fn(|k| at[k] * spread[k]);
            Aabb::from_center(at, [0.5; 3])
        })
    }

    fn crowding(spread: [f64; 3]) -> [f64; 3] {
        Moments::of(&Moments::origin(boxes(spread)), boxes(spread)).crowding()
    }

    fn span() -> Option<(f64, f64)> {
        Some((0.0, 500.0))
    }

    fn axes(text: &str) -> (Axes<3>, Options) {
        let options = Options::new(&text.parse().unwrap()).unwrap();
        (Axes::new(&options), options)
    }

    #[test]
    fn given_axes_stand_first_and_last() {
        for (text, order) in
            [("sweep", [0, 2, 1]), ("sweep:axes=zy", [2, 0, 1]), ("sweep:axes=yx", [1, 2, 0]), ("sweep:axes=xz", [0, 1, 2])]
        {
            assert_eq!(axes(text).0.order(), order, "{text}");
        }
    }

    #[test]
    fn a_crowded_axis_is_not_chosen_unless_it_is_given() {
        for (text, spread, order) in [
            ("sweep", [1.0, 1.0, 1.0], [0, 2, 1]),
            ("sweep", [0.01, 1.0, 1.0], [2, 0, 1]),
            ("sweep", [1.0, 0.0, 1.0], [0, 1, 2]),
            ("sweep", [1.0, 1.0, 0.01], [0, 2, 1]),
            ("sweep:axes=xy", [0.01, 1.0, 1.0], [0, 2, 1]),
        ] {
            let (mut axes, _) = axes(text);
            axes.choose(|| crowding(spread));
            assert_eq!(axes.order(), order, "{text} {spread:?}");
        }
    }

    #[test]
    fn dispersion_is_zero_for_quantiles_and_high_for_a_heap() {
        let mut boundaries = Boundaries::default();
        let order: Vec<u32> = (0..1600).collect();
        assert_eq!(boundaries.keys::<f64>(16, span).len(), 15);
        boundaries.follow(&order, |i| i as u64);
        assert_eq!(boundaries.dispersion, 0.0, "cut from the span: not trusted");
        boundaries.follow(&order, |i| i as u64 + 1);
        assert!(boundaries.dispersion < 0.01, "{}", boundaries.dispersion);
        boundaries.follow(&order, |_| 800);
        assert!(boundaries.dispersion > 1.8, "{}", boundaries.dispersion);
    }

    /// The paper's rule: only the dispersion decides, so an axis is swapped although the third one is as crowded.
    #[test]
    fn by_the_paper_the_dispersion_alone_decides() {
        for (text, swaps) in
            [("sweep:patrol=0", 0), ("sweep:paper=true:partitions=16", 1), ("sweep:paper=true:partitions=16:swap=off", 0)]
        {
            let (mut axes, options) = axes(text);
            let order: Vec<u32> = (0..1600).collect();
            for frame in 0..4 {
                for which in [0, 1] {
                    let axis = axes.order()[which * 2];
                    axes.boundaries(which).keys::<f64>(16, span);
                    axes.boundaries(which).follow(&order, |i| if frame == 2 && axis == 1 { 800 } else { i as u64 });
                }
                axes.reconsider(&options, || crowding([1.0; 3]));
            }
            assert_eq!(axes.swaps, swaps, "{text}");
        }
    }

    #[test]
    fn a_clustered_axis_is_swapped_once_and_not_back() {
        let (mut axes, options) = axes("sweep:patrol=0");
        let order: Vec<u32> = (0..1600).collect();
        for frame in 0..8 {
            let heap = frame >= 4;
            let spread = if heap { [1.0, 0.001, 1.0] } else { [1.0; 3] };
            for which in [0, 1] {
                let axis = axes.order()[which * 2];
                axes.boundaries(which).keys::<f64>(16, span);
                axes.boundaries(which).follow(&order, |i| if heap && axis == 1 { 800 } else { i as u64 });
            }
            axes.reconsider(&options, || crowding(spread));
            assert_eq!((axes.order(), axes.swaps), if heap { ([0, 1, 2], 1) } else { ([0, 2, 1], 0) }, "frame {frame}");
        }
    }
}
