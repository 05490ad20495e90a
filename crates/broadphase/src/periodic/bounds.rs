//! Quick tests for boxes that need no wrapping and no images: without a branch, since nearly all boxes pass them.

use crate::geometry::{Aabb, Period, Real, each_axis};

/// The space as plain numbers, so that one comparison per side decides; infinite on axes that do not repeat.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds<const D: usize, T> {
    low: [T; D],
    /// The largest upper corner of a box that does not reach the upper end.
    high: [T; D],
    /// The longest side of a box.
    longest: [T; D],
}

impl<const D: usize, T: Real> Bounds<D, T> {
    /// The bounds of a space in which boxes are at most `longest` periods long.
    pub(super) fn new(period: &Period<D, T>, longest: T) -> Self {
        let ends = |k: usize| period.ends(k).map_or((T::NEG_INFINITY, T::INFINITY), |(low, high)| (low, high.next_down()));
        Self {
            low: each_axis(|k| ends(k).0),
            high: each_axis(|k| ends(k).1),
            longest: each_axis(|k| period.length(k).map_or(T::INFINITY, |length| length * longest)),
        }
    }

    /// Is the box valid, not too long, and finite on axes that repeat? May be false for such a box if both of its sides on an axis are the same infinity.
    #[inline(always)]
    pub(super) fn allow(&self, value: &Aabb<D, T>) -> bool {
        let mut allowed = true;
        for k in 0..D {
            let length = value.max[k] - value.min[k];
            allowed &= (value.min[k] <= value.max[k]) & (length <= self.longest[k]);
        }
        allowed
    }

    /// Is the box in the space, and does it not reach the upper end? Then it is wrapped already, and has no images.
    #[inline(always)]
    pub(super) fn hold(&self, value: &Aabb<D, T>) -> bool {
        let mut held = true;
        for k in 0..D {
            held &= (value.min[k] >= self.low[k]) & (value.max[k] <= self.high[k]);
        }
        held
    }
}
