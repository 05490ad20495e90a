//! Balls of about the same size in one list: found by cells of points (`point_cells`) instead of by a structure of boxes.
//!
//! Two balls are a pair if their boxes overlap and the balls do. The cells compare centers: two balls whose distance is well below twice the
//! least radius surely are a pair, two that are farther apart than twice the greatest are none, and the few in between are tested by the
//! definition. So rounding changes no pair.

use super::Search;
use super::prepare::Prepared;
use super::run::FEW_FOR_ONE_SEARCH;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Ball, Real};
use crate::kernels::point_runs::Reach;
use crate::memory::reserve;
use crate::objects::Shape;
use crate::pairs::Pair;
use crate::point_cells::{Grid, Points, Wanted, sorted_pairs};

/// How many times the least radius the greatest may be: balls between twice the two are tested one by one.
const ALIKE: f64 = 1.01;

impl<'a, const D: usize, T: Real> Search<'a, D, T> {
    /// All pairs of one list, sorted, if they are balls of about the same size and nothing but their shape decides. `None` if cells do not suit.
    pub(super) fn alike_balls(&self, a: &Prepared<'a, D, T>, limit: u64) -> Result<Option<Vec<Pair>>, Error> {
        let is_plain = a.is_plain() && a.is_full() && a.tag(0).is_none() && self.keep.is_none();
        let is_default = self.spec.descriptor().name == "auto";
        if self.shape != Shape::Ball || !is_plain || !is_default || a.boxes.len() <= FEW_FOR_ONE_SEARCH {
            return Ok(None);
        }
        let Some((radius, reach)) = reach_of(&a.boxes) else { return Ok(None) };
        let mut centers = Vec::new();
        reserve(&mut centers, a.boxes.len(), "centers of balls")?;
        centers.extend(a.boxes.iter().map(Aabb::center));
        let set = Points { points: &centers, radius, period: None };
        let context: Context = self.context();
        let grid = Grid::new(&set, &context);
        if grid.is_crowded() {
            return Ok(None);
        }
        let confirm = |pair: Pair| {
            let (a, b) = (&a.boxes[pair.a as usize], &a.boxes[pair.b as usize]);
            a.overlaps(b) && Ball::of_box(a).overlaps(&Ball::of_box(b))
        };
        let is_stopped = || self.check_cancel().is_err();
        let pairs = sorted_pairs(&set, &grid, &Wanted { reach, confirm: &confirm, is_stopped: &is_stopped, limit }, &context)?;
        self.check_cancel()?;
        Ok(Some(pairs))
    }
}

/// The greatest distance of two centers, and the squares of distances within which two balls are a pair. `None` if the boxes are not balls of about the
/// same size.
fn reach_of<const D: usize, T: Real>(boxes: &[Aabb<D, T>]) -> Option<(T, Reach<T>)> {
    // The least side of any box, the greatest along the first axis, which is a ball's diameter, and the largest coordinate.
    let (mut least, mut greatest, mut largest, mut all_finite) = (T::INFINITY, T::ZERO, T::ZERO, true);
    for value in boxes {
        for k in 0..D {
            let (low, high) = (value.min[k], value.max[k]);
            let side = high - low;
            least = if side < least { side } else { least };
            let size = low.abs().max(high.abs());
            largest = if size > largest { size } else { largest };
            all_finite &= side.is_finite() & size.is_finite();
        }
        let side = value.max[0] - value.min[0];
        greatest = if side > greatest { side } else { greatest };
    }
    let (least, greatest) = (least * T::HALF, greatest * T::HALF);
    let epsilon = T::ONE.next_up() - T::ONE;
    // Less what corners and centers may be rounded by, so that boxes whose centers are that close overlap.
    let sure = least + least - largest * epsilon * T::from_f64(16.0);
    let (square, most) = (sure * sure, (greatest + greatest) * (greatest + greatest));
    let is_normal = sure > T::ZERO && square > T::MIN_POSITIVE / epsilon && most.is_finite();
    let are_alike = all_finite && greatest <= least * T::from_f64(ALIKE);
    let reach = Reach { sure: square * (T::ONE - epsilon * T::from_f64(16.0)), most };
    (is_normal && are_alike).then_some((greatest + greatest, reach))
}
