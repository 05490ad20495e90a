//! A question in a space that repeats: the same question to every image of an object.

use super::{Aabb, Ball, LANES, Measure, Pack, Period, Real};

/// Combinations of periods that a question may reach over.
const MOST: usize = 1 << 15;

/// A measure of wrapped boxes in a space that repeats: the least over those images of a box that it may reach.
pub(crate) struct OverImages<'m, const D: usize, T> {
    measure: &'m dyn Measure<D, T>,
    /// By how much boxes are moved.
    shifts: Vec<[T; D]>,
}

impl<'m, const D: usize, T: Real> OverImages<'m, D, T> {
    /// A measure that reaches no farther than `reach`; `None` if that is over too many periods, or without end.
    ///
    /// Boxes are wrapped, and at most half a period long.
    pub(crate) fn new(measure: &'m dyn Measure<D, T>, reach: &Aabb<D, T>, period: &Period<D, T>) -> Option<Self> {
        let mut space = Aabb::everything();
        let mut counts = [(0i64, 0i64); D];
        let mut total = 1usize;
        for k in 0..D {
            let (Some((low, high)), Some(length)) = (period.ends(k), period.length(k)) else { continue };
            (space.min[k], space.max[k]) = (low, high + length * T::HALF);
            if reach.min[k] == T::NEG_INFINITY && reach.max[k] == T::INFINITY {
                continue; // it does not look at this axis
            }
            // One more to each side than the reach says, since all of it is rounded.
            let step = |from: T, to: T| ((from.to_f64() - to.to_f64()) / length.to_f64()).floor();
            let (first, last) = (step(reach.min[k], space.max[k]) - 1.0, step(reach.max[k], low) + 1.0);
            if !(last - first < MOST as f64 && first.abs().max(last.abs()) < (1u64 << 53) as f64) {
                return None;
            }
            counts[k] = (first as i64, last as i64);
            total = total.saturating_mul((last - first) as usize + 1);
        }
        if total > MOST {
            return None;
        }
        let shift = |k: usize, step: i64| T::from_f64(step as f64) * period.length(k).unwrap_or(T::ZERO);
        let mut shifts = Vec::new();
        let mut steps = counts.map(|(first, _)| first);
        loop {
            let by: [T; D] = std::array::from_fn(|k| shift(k, steps[k]));
            if measure.bound(&space.translate(by)).is_some() {
                shifts.push(by);
            }
            let Some(k) = (0..D).find(|&k| steps[k] < counts[k].1) else { break };
            steps[k] += 1;
            (0..k).for_each(|k| steps[k] = counts[k].0);
        }
        Some(Self { measure, shifts })
    }

    /// The least over all images of what `distance` says of an image.
    fn least(&self, target: &Aabb<D, T>, distance: impl Fn(&Aabb<D, T>) -> Option<T>) -> Option<T> {
        let distances = self.shifts.iter().filter_map(|&by| distance(&target.translate(by)));
        distances.fold(None, |least: Option<T>, at| Some(least.map_or(at, |least| if at < least { at } else { least })))
    }

    /// The distance of an object that is a ball and has this wrapped box.
    pub(crate) fn distance_to_ball_of(&self, target: &Aabb<D, T>) -> Option<T> {
        self.least(target, |image| {
            let bound = self.measure.bound(image)?;
            self.measure.distance_to_ball(&Ball::of_box(image), self.measure.distance(image, bound)?)
        })
    }
}

impl<const D: usize, T: Real> Measure<D, T> for OverImages<'_, D, T> {
    fn bound(&self, bounds: &Aabb<D, T>) -> Option<T> {
        self.least(bounds, |image| self.measure.bound(image))
    }

    fn refines(&self) -> bool {
        self.measure.refines()
    }

    fn distance(&self, target: &Aabb<D, T>, _: T) -> Option<T> {
        self.least(target, |image| self.measure.distance(image, self.measure.bound(image)?))
    }

    fn bounds(&self, pack: &Pack<D, T>) -> [T; LANES] {
        let mut least = [T::NAN; LANES];
        for by in &self.shifts {
            let mut moved = *pack;
            for k in 0..D {
                moved.min[k].iter_mut().chain(&mut moved.max[k]).for_each(|x| *x += by[k]);
            }
            for (least, at) in least.iter_mut().zip(self.measure.bounds(&moved)) {
                // NaN is farther than anything.
                *least = if at < *least || least.is_nan() { at } else { *least };
            }
        }
        least
    }
}
