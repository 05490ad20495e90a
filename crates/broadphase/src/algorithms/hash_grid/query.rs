//! Queries: the cells of each level that the area or the ray can reach.

use std::ops::ControlFlow;

use super::HashGrid;
use super::level::Level;
use crate::algorithms::common::{Search, scan};
use crate::algorithms::{Found, Outline, Query, Region};
use crate::geometry::{Aabb, Measure, Ray, Real};
use crate::objects::Frame;

/// Cells that a ray passes through at a time, on its fastest axis.
const STRIDE: f64 = 3.0;
/// Cells that the exact test may be wrong by in one rounding: it makes a few, and a walk allows for a cell.
const ROUNDED: f64 = 1.0 / 32.0;

impl<const D: usize, T: Real> Query<D, T> for HashGrid<D, T> {
    /// The cells within reach on each level, or along the ray; all of them for the nearest.
    fn search(&self, frame: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        if !self.active {
            return scan(frame, measure, limit, visit);
        }
        let search = Search::new(frame, measure, limit, visit);
        // Objects with queued changes are skipped in cells, and tested one by one at the end.
        let offer = |id: u32| if self.queue.contains(id) { ControlFlow::Continue(()) } else { search.offer(id) };
        for level in self.levels.iter().filter(|level| level.count > 0) {
            let flow = match measure.as_ray() {
                Some(ray) => level.along(frame, ray, &search, offer),
                None => level.within(&search.reach(), offer),
            };
            if flow.is_break() {
                return;
            }
        }
        if self.unbounded.ids().iter().try_for_each(|&id| offer(id)).is_continue() {
            let _broken = self.queue.live(frame).try_for_each(|id| search.offer(id));
        }
    }
}

impl<const D: usize, T: Real> HashGrid<D, T> {
    /// Visits the cell of the first object in each place of each level.
    pub(super) fn outline(&self, frame: &Frame<'_, D, T>, visit: &mut dyn FnMut(Region<D, T>)) {
        let settled = self.settled(frame);
        for level in settled.as_ref().unwrap_or(self).levels.iter().filter(|level| self.active && level.count > 0) {
            level.cells.for_each_cell(|cell| {
                let mut first = None;
                level.cells.for_each(cell, |id| first = first.or(Some(id)));
                if let Some(id) = first {
                    let at = level.coordinates(&frame.boxes[id as usize]);
                    let side = |k: usize, more: i64| T::from_f64(at[k].saturating_add(more) as f64) * level.cell[k];
                    let bounds = Aabb::new(std::array::from_fn(|k| side(k, 0)), std::array::from_fn(|k| side(k, 1)));
                    visit(Region::new(Outline::Cell, bounds));
                }
            });
        }
    }
}

impl<const D: usize, T: Real> Level<D, T> {
    /// Offers the objects in the cells that an area can reach.
    fn within(&self, area: &Aabb<D, T>, offer: impl Fn(u32) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut flow = ControlFlow::Continue(());
        self.for_each_in(&self.reach(area), |cell| {
            self.cells.for_each(cell, |id| {
                if flow.is_continue() {
                    flow = offer(id);
                }
            });
        });
        flow
    }

    /// All objects.
    fn everywhere(&self, offer: impl Fn(u32) -> ControlFlow<()>) -> ControlFlow<()> {
        let mut flow = ControlFlow::Continue(());
        self.cells.for_each_cell(|cell| {
            self.cells.for_each(cell, |id| {
                if flow.is_continue() {
                    flow = offer(id);
                }
            });
        });
        flow
    }

    /// The objects that the ray enters: stretch by stretch of a few cells, or all at once if that is less to look at.
    ///
    /// A cell may be in the boxes of two successive stretches, never of two others alone, since the boxes only move on. An
    /// object counts where its own cell, before wrapping around, is in this box and not in the one before.
    fn along(
        &self,
        frame: &Frame<'_, D, T>,
        ray: &Ray<D, T>,
        search: &Search<'_, '_, D, T>,
        offer: impl Fn(u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let cell: [f64; D] = self.cell.map(Real::to_f64);
        let origin: [f64; D] = std::array::from_fn(|k| ray.origin[k].to_f64() / cell[k]);
        let speed: [f64; D] = std::array::from_fn(|k| ray.direction[k].to_f64() / cell[k]);
        // This many cells away, the exact test rounds by more than the walk allows for; NaN counts as far away too.
        let grain = (T::ONE.next_up() - T::ONE).to_f64();
        let is_far = |cells: f64| cells.is_nan() || cells.abs() * grain > ROUNDED;
        let is_lost = |k: usize| is_far(origin[k]) || (speed[k] == 0.0) != (ray.direction[k] == T::ZERO);
        if (0..D).any(is_lost) || (0..D).any(|k| self.is_time_rounded(ray, &origin, k)) {
            return self.everywhere(offer);
        }
        let Some((start, end)) = self.stretch_inside(&origin, &speed, search.limit().to_f64()) else {
            return ControlFlow::Continue(());
        };
        let step = STRIDE / speed.iter().fold(0.0, |fastest: f64, s| fastest.max(s.abs()));
        let steps = (end - start) / step;
        let short = steps < self.cells.filled as f64 / 4.0 + 4.0; // an endless ray or one that is NaN is not
        if !short || !step.is_finite() || speed.iter().any(|s| is_far(end * s)) {
            return self.everywhere(offer);
        }
        let mut flow = ControlFlow::Continue(());
        let mut before = [(1, 0); D];
        for number in 0..=steps as u64 {
            let from = start + number as f64 * step;
            if flow.is_break() || from > search.limit().to_f64() {
                break;
            }
            // A cell more on each side, for what floats may round; one more below, for objects that reach up from there.
            let range: [(i64, i64); D] = std::array::from_fn(|k| {
                let (a, b) = (origin[k] + from * speed[k], origin[k] + (from + step) * speed[k]);
                ((a.min(b).floor() as i64).saturating_sub(2), (a.max(b).floor() as i64).saturating_add(1))
            });
            let inside = |at: &[i64; D], range: &[(i64, i64); D]| (0..D).all(|k| range[k].0 <= at[k] && at[k] <= range[k].1);
            self.for_each_in(&range, |c| {
                self.cells.for_each(c, |id| {
                    let at = self.coordinates(&frame.boxes[id as usize]);
                    if flow.is_continue() && inside(&at, &range) && !inside(&at, &before) {
                        flow = offer(id);
                    }
                });
            });
            before = range;
        }
        flow
    }

    /// May the times at which the ray enters cells on an axis overflow, or underflow so far that the exact test does not tell two cells
    /// apart? It then accepts boxes that the ray does not pass.
    fn is_time_rounded(&self, ray: &Ray<D, T>, origin: &[f64; D], k: usize) -> bool {
        let (direction, least, most) = (ray.direction[k].to_f64().abs(), T::MIN_POSITIVE.to_f64(), 0.5 * T::MAX.to_f64());
        let farthest = (origin[k] - self.lowest[k] as f64).abs().max((origin[k] - self.highest[k] as f64).abs()) + 4.0;
        let (inverse, per_cell) = (1.0 / direction, self.cell[k].to_f64() / direction);
        let is_exact = inverse >= least && inverse <= most && per_cell >= least && farthest * per_cell <= most;
        direction != 0.0 && !is_exact
    }

    /// The part of a ray, in cells, that passes the cells in use.
    fn stretch_inside(&self, origin: &[f64; D], speed: &[f64; D], length: f64) -> Option<(f64, f64)> {
        let (mut near, mut far) = (0.0f64, length);
        for k in 0..D {
            let (low, high) = (self.lowest[k] as f64 - 1.0, self.highest[k] as f64 + 3.0);
            if speed[k] == 0.0 {
                if origin[k] < low || origin[k] > high {
                    return None;
                }
                continue;
            }
            let (a, b) = ((low - origin[k]) / speed[k], (high - origin[k]) / speed[k]);
            near = near.max(a.min(b));
            far = far.min(a.max(b));
        }
        (near <= far).then_some((near, far))
    }
}
