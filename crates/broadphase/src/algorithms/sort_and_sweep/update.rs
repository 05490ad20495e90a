//! The boxes, sorted by their lower coordinate on the axis of greatest variance.

use super::SortAndSweep;
use crate::bits::{IndexSort, Key};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::{Changes, Frame};

impl<const D: usize, T: Real> SortAndSweep<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        frame.check()?;
        let unchanged = match frame.changes {
            Changes::Listed { .. } if frame.changes.lists_nothing() => self.boxes.len() == frame.count(),
            Changes::Unknown if frame.may_compare() => {
                self.boxes.is_current(frame.boxes, frame.count(), |id| frame.live.contains(id))
            }
            _ => false,
        };
        if unchanged {
            return Ok(());
        }
        let clock = context.clock();
        let axis = self.fixed_axis.unwrap_or_else(|| widest_axis(frame));
        if T::KEY_BITS == 32 {
            sort(frame, axis, &mut self.scratch.narrow, &mut self.scratch.order);
        } else {
            sort(frame, axis, &mut self.scratch.wide, &mut self.scratch.order);
        }
        let mut axes = std::array::from_fn(|k| k);
        axes.swap(0, axis);
        self.boxes.fill(frame.boxes, axes, self.scratch.order.iter().copied());
        self.changed = true;
        context.record("sort", clock);
        Ok(())
    }
}

/// The live ids by lower coordinate on `axis`; of equal ones, the smaller id first.
fn sort<const D: usize, T: Real, K: Key>(frame: &Frame<'_, D, T>, axis: usize, sort: &mut IndexSort<K>, order: &mut Vec<u32>) {
    sort.load(frame.ids().map(|id| (K::truncate(frame.boxes[id as usize].min[axis].order_key()), id)));
    sort.sort_into(order);
}

/// The axis on which the centers of the objects vary most, counting finite ones only.
fn widest_axis<const D: usize, T: Real>(frame: &Frame<'_, D, T>) -> usize {
    let mut count = [0.0; D];
    let mut sum = [0.0; D];
    let mut squares = [0.0; D];
    let mut origin = [None; D];
    for id in frame.ids() {
        let center = frame.boxes[id as usize].center();
        for k in 0..D {
            if center[k].is_finite() {
                // Differences to the first center: far from the origin, squares of coordinates would swamp their variance.
                let value = center[k].to_f64() - *origin[k].get_or_insert(center[k].to_f64());
                count[k] += 1.0;
                sum[k] += value;
                squares[k] += value * value;
            }
        }
    }
    let mut best = (0, 0.0);
    for k in 0..D {
        let variance = (squares[k] - sum[k] * sum[k] / f64::max(count[k], 1.0)) / f64::max(count[k], 1.0);
        if variance > best.1 {
            best = (k, variance);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aabb, Spec};

    fn axis_of(boxes: &[Aabb<3, f32>]) -> f64 {
        let mut structure = SortAndSweep::new(&"sort-and-sweep".parse::<Spec>().unwrap()).unwrap();
        structure.update(&Frame::new(boxes), &mut Context::new()).unwrap();
        structure.stats().extra[0].1
    }

    #[test]
    fn the_axis_of_greatest_variance_is_taken_over_finite_values_only() {
        let mut boxes: Vec<_> = (0..50).map(|i| Aabb::point([0.0, 1e6 + i as f32, (i % 2) as f32])).collect();
        assert_eq!(axis_of(&boxes), 1.0);
        boxes.push(Aabb::new([f32::NEG_INFINITY, 0.0, f32::MAX], [f32::INFINITY, f32::INFINITY, f32::MAX]));
        assert_eq!(axis_of(&boxes), 1.0);
        assert_eq!(axis_of(&[]), 0.0);
    }
}
