//! Passes over all boxes, in parallel: are they valid, what is the span of an axis, how crowded is each axis?
//!
//! The boxes are cut into [`PARTS`] parts whatever the number of workers, and sums are added up part by part, so that the same boxes give the same
//! figures on any number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::axes::Moments;
use super::parts::cut;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::span::span;
use crate::objects::{Changes, Frame, Live};

/// Parts of a pass.
const PARTS: usize = 16;

/// Is the frame valid? What is wrong with it is found by the sequential check.
pub(super) fn check<const D: usize, T: Real>(frame: &Frame<'_, D, T>, context: &Context) -> Result<(), Error> {
    let boxes = frame.boxes;
    if matches!(frame.changes, Changes::Listed { .. }) || !matches!(frame.live, Live::All) {
        return frame.check();
    }
    frame.check_lists()?;
    let valid = AtomicBool::new(true);
    context.run_weighted(PARTS, boxes.len(), |part, _| {
        let part = &boxes[cut(boxes.len(), PARTS, part)..cut(boxes.len(), PARTS, part + 1)];
        if !part.iter().fold(true, |all, value| all & value.is_valid()) {
            valid.store(false, Ordering::Relaxed);
        }
    });
    if valid.into_inner() { Ok(()) } else { frame.check_boxes() }
}

/// The objects of a frame.
#[derive(Clone, Copy)]
pub(super) struct Survey<'a, const D: usize, T> {
    pub(super) context: &'a Context,
    pub(super) boxes: &'a [Aabb<D, T>],
    /// Those that are live, ascending.
    pub(super) ids: &'a [u32],
}

impl<const D: usize, T: Real> Survey<'_, D, T> {
    fn part(&self, part: usize) -> &[u32] {
        let n = self.ids.len();
        &self.ids[cut(n, PARTS, part)..cut(n, PARTS, part + 1)]
    }

    /// The least and the greatest finite coordinate on `axis`; none if there is no finite one.
    pub(super) fn span(&self, axis: usize) -> Option<(f64, f64)> {
        let all = Mutex::new(Aabb::<D, T>::empty());
        self.context.run_weighted(PARTS, self.ids.len(), |part, _| {
            let ids = self.part(part);
            let (Some(&first), Some(&last)) = (ids.first(), ids.last()) else { return };
            let found = if (last - first) as usize + 1 == ids.len() {
                span(self.context.kernels(), &self.boxes[first as usize..=last as usize])
            } else {
                ids.iter().fold(Aabb::empty(), |all, &id| all.union(&self.boxes[id as usize]))
            };
            let mut all = all.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            *all = all.union(&found);
        });
        let all = all.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        if all.min[axis].is_finite() && all.max[axis].is_finite() {
            return Some((all.min[axis].to_f64(), all.max[axis].to_f64()));
        }
        // There are infinite sides, or no objects.
        let sides = self.ids.iter().flat_map(|&id| [self.boxes[id as usize].min[axis], self.boxes[id as usize].max[axis]]);
        let finite = sides.filter(|side| side.is_finite()).map(Real::to_f64);
        finite.fold(None, |span, side| {
            let (low, high) = span.unwrap_or((side, side));
            Some((low.min(side), high.max(side)))
        })
    }

    /// See [`Moments::crowding`].
    pub(super) fn crowding(&self) -> [f64; D] {
        // On the stack: a frame in the steady state allocates nothing.
        let parts: [Mutex<Moments<D>>; PARTS] = std::array::from_fn(|_| Mutex::default());
        let origin = Moments::origin(self.ids.iter().map(|&id| self.boxes[id as usize]));
        self.context.run_weighted(PARTS, 10 * self.ids.len(), |part, _| {
            let sums = Moments::of(&origin, self.part(part).iter().map(|&id| self.boxes[id as usize]));
            *parts[part].lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = sums;
        });
        let sums = parts.into_iter().map(|part| part.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()));
        sums.fold(Moments::default(), |sum, part| sum.plus(&part)).crowding()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(n: usize) -> Vec<Aabb<3, f32>> {
        let place = |i: usize, k: usize| ((i * (7919 + 104_729 * k)) % 10_007) as f32 * 0.01 - 50.0;
        (0..n).map(|i| Aabb::from_center(std::array::from_fn(|k| place(i, k)), [0.5; 3])).collect()
    }

    #[test]
    fn the_span_is_that_of_the_finite_sides_of_live_objects() {
        let context = Context::new();
        for n in [0, 1, 15, 16, 17, 1000] {
            let mut boxes = boxes(n);
            for gaps in [false, true] {
                for infinite in [false, true] {
                    if infinite && n > 2 {
                        boxes[n / 2].max[1] = f32::INFINITY;
                    }
                    let ids: Vec<u32> = (0..n as u32).filter(|id| !gaps || id % 3 != 0).collect();
                    let survey = Survey { context: &context, boxes: &boxes, ids: &ids };
                    for axis in 0..3 {
                        let sides = ids.iter().flat_map(|&id| [boxes[id as usize].min[axis], boxes[id as usize].max[axis]]);
                        let finite: Vec<f64> = sides.filter(|side| side.is_finite()).map(f64::from).collect();
                        let least = finite.iter().copied().fold(f64::INFINITY, f64::min);
                        let most = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                        assert_eq!(survey.span(axis), (!finite.is_empty()).then_some((least, most)), "{n} boxes, axis {axis}");
                    }
                }
            }
        }
    }

    /// A choice that follows from these figures must not depend on the number of threads.
    #[cfg(feature = "parallel")]
    #[test]
    fn the_crowding_is_the_same_to_the_last_bit_on_any_number_of_threads() {
        let boxes = boxes(20_000);
        let ids: Vec<u32> = (0..20_000).collect();
        let of = |context: &Context| Survey { context, boxes: &boxes, ids: &ids }.crowding().map(f64::to_bits);
        let alone = of(&Context::new());
        for threads in [2, 3] {
            assert_eq!(of(&Context::new().with_executor(crate::Threads::new(threads).unwrap())), alone);
        }
    }
}
