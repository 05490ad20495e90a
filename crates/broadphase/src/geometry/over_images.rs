//! Queries in a space that repeats: the same measure applied to every image of an object.

use super::{Aabb, Ball, LANES, Measure, Pack, Period, Real, each_axis};

/// Combinations of periods that a question may reach over.
const MOST: usize = 1 << 15;
/// Combinations that are stored without an allocation: more than most questions need.
const FEW: usize = 12;
/// Where no reach is known, images up to this many periods away are looked for.
const FAR: i64 = 1 << 24;
/// Cubes of images that are looked at, at most, while they are looked for; and images that may be found.
const PATIENCE: usize = 1 << 17;
const MANY: usize = 1 << 12;

/// A measure of wrapped boxes in a space that repeats: the least over those images of a box that it may reach.
pub(crate) struct OverImages<'m, const D: usize, T> {
    measure: &'m dyn Measure<D, T>,
    /// By how much boxes are moved: the first [`FEW`], of which `count` are used, and the others.
    few: [[T; D]; FEW],
    count: usize,
    more: Vec<[T; D]>,
}

/// The space of wrapped boxes that are at most `longest` periods long.
fn extent<const D: usize, T: Real>(period: &Period<D, T>, longest: T) -> Aabb<D, T> {
    let mut space = Aabb::everything();
    for k in 0..D {
        let (Some((low, high)), Some(length)) = (period.ends(k), period.length(k)) else { continue };
        (space.min[k], space.max[k]) = (low, high + length * longest);
    }
    space
}

/// The displacement of an image that is a number of periods away.
fn shift<const D: usize, T: Real>(period: &Period<D, T>, steps: [i64; D]) -> [T; D] {
    each_axis(|k| T::from_f64(steps[k] as f64) * period.length(k).unwrap_or(T::ZERO))
}

impl<'m, const D: usize, T: Real> OverImages<'m, D, T> {
    fn none(measure: &'m dyn Measure<D, T>) -> Self {
        Self { measure, few: [[T::ZERO; D]; FEW], count: 0, more: Vec::new() }
    }

    fn push(&mut self, by: [T; D]) {
        match self.few.get_mut(self.count) {
            Some(place) => (*place, self.count) = (by, self.count + 1),
            None => self.more.push(by),
        }
    }

    /// A measure that reaches no farther than `reach`; `None` if that is over too many periods, or without end.
    ///
    /// Boxes are wrapped, and at most `longest` periods long.
    pub(crate) fn new(measure: &'m dyn Measure<D, T>, reach: &Aabb<D, T>, period: &Period<D, T>, longest: T) -> Option<Self> {
        let space = extent(period, longest);
        let mut counts = [(0i64, 0i64); D];
        let mut total = 1usize;
        for k in 0..D {
            let Some(length) = period.length(k) else { continue };
            if reach.min[k] == T::NEG_INFINITY && reach.max[k] == T::INFINITY {
                continue; // it does not look at this axis
            }
            // One more to each side than the reach says, since all of it is rounded.
            let step = |from: T, to: T| ((from.to_f64() - to.to_f64()) / length.to_f64()).floor();
            let (first, last) = (step(reach.min[k], space.max[k]) - 1.0, step(reach.max[k], space.min[k]) + 1.0);
            if !(last - first < MOST as f64 && first.abs().max(last.abs()) < (1u64 << 53) as f64) {
                return None;
            }
            counts[k] = (first as i64, last as i64);
            total = total.saturating_mul((last - first) as usize + 1);
        }
        if total > MOST {
            return None;
        }
        let mut images = Self::none(measure);
        let mut steps = counts.map(|(first, _)| first);
        loop {
            let by = shift(period, steps);
            if measure.bound(&space.translate(by)).is_some() {
                images.push(by);
            }
            let Some(k) = (0..D).find(|&k| steps[k] < counts[k].1) else { break };
            steps[k] += 1;
            (0..k).for_each(|k| steps[k] = counts[k].0);
        }
        Some(images)
    }

    /// A measure whose reach is not known, such as a frustum: cubes of images that it does not reach are left out, the others are halved along all
    /// axes until they are single images. `None` if there are too many, as for a frustum without an end.
    ///
    /// Boxes are wrapped, and at most `longest` periods long. Axes that do not repeat are cut too, in cells of the longest period, since a
    /// frustum is seen to end only within a finite box.
    pub(crate) fn without_reach(measure: &'m dyn Measure<D, T>, period: &Period<D, T>, longest: T) -> Option<Self> {
        let mut space = extent(period, longest);
        let side = (0..D).filter_map(|k| period.length(k)).fold(T::ZERO, T::max);
        for k in (0..D).filter(|&k| period.length(k).is_none()) {
            (space.min[k], space.max[k]) = (T::ZERO, side);
        }
        let place = |steps: [i64; D]| {
            let by = |k: usize| T::from_f64(steps[k] as f64) * period.length(k).unwrap_or(side);
            space.translate(each_axis(by))
        };
        let mut images = Self::none(measure);
        // Cubes of `2^level` cells a side, by their lowest cell.
        let mut cubes = vec![([-FAR; D], (2 * FAR).trailing_zeros())];
        for looked_at in 0.. {
            let Some((first, level)) = cubes.pop() else { break };
            if looked_at > PATIENCE || images.more.len() > MANY {
                return None;
            }
            let last = first.map(|step| step + (1 << level) - 1);
            if measure.bound(&place(first).union(&place(last))).is_none() {
                continue;
            }
            if level == 0 {
                let by = shift(period, first);
                if !images.shifts().any(|known| *known == by) {
                    images.push(by);
                }
                continue;
            }
            for part in 0..1usize << D {
                cubes.push((each_axis(|k| first[k] + (((part >> k & 1) as i64) << (level - 1))), level - 1));
            }
        }
        Some(images)
    }

    fn shifts(&self) -> impl Iterator<Item = &[T; D]> {
        self.few[..self.count].iter().chain(&self.more)
    }

    /// The least over all images of what `distance` says of an image.
    fn least(&self, target: &Aabb<D, T>, distance: impl Fn(&Aabb<D, T>) -> Option<T>) -> Option<T> {
        let distances = self.shifts().filter_map(|&by| distance(&target.translate(by)));
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
        for by in self.shifts() {
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
