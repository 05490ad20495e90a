//! Balls of about the same size in one list: found by cells of points (`point_cells`) instead of by a structure of boxes.
//!
//! Two balls are a pair if their boxes overlap and the balls do. The cells compare centers: two balls whose distance is well below twice the
//! least radius surely are a pair, two that are farther apart than twice the greatest are none, and the few in between are tested by the
//! definition. So rounding changes no pair.

use super::Search;
use super::prepare::Prepared;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Ball, Real};
use crate::kernels::point_runs::Reach;
use crate::memory::reserve;
use crate::objects::Shape;
use crate::pairs::Pair;
use crate::point_cells::{Grid, Points, Wanted, sorted_pairs};

/// The number of balls from which cells are faster than a structure of boxes, whose records no longer fit into the cache
/// (`python -m broadphase compare --cases balls`).
pub(super) const CELLS_FROM: usize = 1 << 16;
/// The largest ratio of the greatest radius to the least: pairs at distances between twice the two are tested one by one.
const ALIKE: f64 = 1.01;

impl<'a, const D: usize, T: Real> Search<'a, D, T> {
    /// All pairs of one list, sorted, if the boxes are balls of about the same size and only their shape decides. `None` if cells do not suit.
    pub(super) fn alike_balls(&self, a: &Prepared<'a, D, T>, limit: u64) -> Result<Option<Vec<Pair>>, Error> {
        let is_plain = a.is_plain() && a.is_full() && a.tag(0).is_none() && self.keep.is_none();
        let is_default = self.spec.descriptor().name == "auto";
        if self.shape != Shape::Ball || !is_plain || !is_default {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Balls of radius 1 to `spread`, every third one at a whole number, so that many touch exactly.
    fn balls<const D: usize, T: Real>(spread: f64, shift: f64) -> Vec<Aabb<D, T>> {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let side = 1500f64.powf(1.0 / D as f64);
        let mut ball = |index: usize| {
            let center: [f64; D] = std::array::from_fn(|_| random() * side);
            let center = if index.is_multiple_of(3) { center.map(f64::floor) } else { center };
            Aabb::from_center(center.map(|x| T::from_f64(x + shift)), [T::from_f64(1.0 + (spread - 1.0) * random()); D])
        };
        (0..500).map(&mut ball).collect()
    }

    /// Compares with a double loop; returns whether cells were used.
    fn compare<const D: usize, T: Real>(list: &[Aabb<D, T>]) -> bool {
        let search = Search::new(list).shape(Shape::Ball);
        let (prepared, _) = search.prepare().unwrap();
        let Some(found) = search.alike_balls(&prepared, u64::MAX).unwrap() else { return false };
        let all = (0..list.len()).flat_map(|a| (a + 1..list.len()).map(move |b| (a, b)));
        let meet = |&(a, b): &(usize, usize)| {
            let (a, b) = (&list[a], &list[b]);
            a.overlaps(b) && Ball::of_box(a).overlaps(&Ball::of_box(b))
        };
        assert!(found.into_iter().eq(all.filter(meet).map(|(a, b)| Pair { a: a as u32, b: b as u32 })));
        true
    }

    fn follow<const D: usize, T: Real>() {
        assert!(compare(&balls::<D, T>(1.0, 0.0)) && compare(&balls::<D, T>(1.005, -1000.3)));
        // Far from the origin, centers and radii are rounded: at 3e6 to a quarter, if they are of 32 bits.
        assert!(compare(&balls::<D, f64>(1.0, 3e6)));
        compare(&balls::<D, T>(1.0, 3e6));
        assert!(!compare(&balls::<D, T>(1.1, 0.0)), "their sizes differ");
        let mut flat = balls::<D, T>(1.0, 0.0);
        flat[7].max[D - 1] = flat[7].center()[D - 1];
        assert!(!compare(&flat), "a box that is not a cube separates what its ball does not");
        flat[7] = Aabb::everything();
        assert!(!compare(&flat), "an infinite box is no ball");
        let points: Vec<_> = flat.iter().map(|value| Aabb::point(value.min)).collect();
        assert!(!compare(&points), "a ball without extent has no cells");
        let list = balls::<D, T>(1.0, 0.0);
        let search = Search::new(&list).shape(Shape::Ball);
        let (prepared, _) = search.prepare().unwrap();
        assert_eq!(search.alike_balls(&prepared, 10), Err(Error::TooManyPairs { limit: 10 }));
    }

    #[test]
    fn cells_find_the_pairs_of_a_double_loop_or_decline() {
        follow::<2, f32>();
        follow::<2, f64>();
        follow::<3, f32>();
        follow::<3, f64>();
    }
}
