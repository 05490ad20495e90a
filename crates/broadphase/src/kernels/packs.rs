//! Tests of eight values, or eight boxes, at once, for searching trees.
//!
//! They use the instructions that every CPU of the target has: a query reads a few packs here and there, so wider registers gain nothing.

use super::arch::{BASELINE, Lanes, Mask, Registers};
use crate::geometry::sealed::Sealed;
use crate::geometry::{Aabb, LANES, Pack, Real, each_axis};

/// A bit for each value that is at most `limit`; none for NaN.
#[inline(always)]
pub(crate) fn within<T: Real>(values: &[T; LANES], limit: T) -> u32 {
    within_in(BASELINE, values, limit)
}

#[inline(always)]
fn within_in<S: Registers, T: Real>(_: S, values: &[T; LANES], limit: T) -> u32 {
    let n = <<T as Sealed>::In<S> as Lanes>::N;
    let mut bits = 0;
    // SAFETY: (isa) the baseline is part of the target; (in bounds) `n` divides the number of lanes.
    unsafe {
        let limit = <T as Sealed>::In::<S>::splat(limit);
        for at in (0..LANES).step_by(n) {
            bits |= <T as Sealed>::In::<S>::load(values.as_ptr().add(at)).le(limit).bits() << at;
        }
    }
    bits
}

/// A bit for each box that overlaps `area`.
#[inline(always)]
pub(crate) fn overlapping<const D: usize, T: Real>(area: &Aabb<D, T>, pack: &Pack<D, T>) -> u32 {
    overlapping_in(BASELINE, area, pack)
}

#[inline(always)]
fn overlapping_in<S: Registers, const D: usize, T: Real>(_: S, area: &Aabb<D, T>, pack: &Pack<D, T>) -> u32 {
    let n = <<T as Sealed>::In<S> as Lanes>::N;
    let mut bits = 0;
    for at in (0..LANES).step_by(n) {
        let of_axis = |k: usize| {
            // SAFETY: (isa) the baseline is part of the target; (in bounds) `n` divides the number of lanes.
            unsafe {
                let (min, max) = (<T as Sealed>::In::<S>::splat(area.min[k]), <T as Sealed>::In::<S>::splat(area.max[k]));
                let low = <T as Sealed>::In::<S>::load(pack.min[k].as_ptr().add(at));
                let high = <T as Sealed>::In::<S>::load(pack.max[k].as_ptr().add(at));
                min.le(high).and(low.le(max))
            }
        };
        bits |= (1..D).fold(of_axis(0), |all, k| all.and(of_axis(k))).bits() << at;
    }
    bits
}

/// The lane of the mask with the least value; of several, the first. The mask is not empty, and none of its values is NaN.
///
/// Without branches: which lane it is cannot be predicted.
#[inline(always)]
pub(crate) fn least<T: Real>(values: &[T; LANES], mask: u32) -> usize {
    let smaller = |a: T, b: T| if a < b { a } else { b };
    let left: [T; LANES] = each_axis(|lane| if mask & (1 << lane) != 0 { values[lane] } else { T::INFINITY });
    let four: [T; 4] = each_axis(|lane| smaller(left[lane], left[lane + 4]));
    let least = smaller(smaller(four[0], four[2]), smaller(four[1], four[3]));
    (within(values, least) & mask).trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: Real>() {
        let t = T::from_f64;
        let values = [t(3.0), t(-1.0), T::NAN, t(2.0), T::INFINITY, t(-1.0), t(0.0), t(7.0)];
        assert_eq!(within(&values, t(2.0)), 0b0110_1010);
        assert_eq!(within(&values, T::INFINITY), 0b1111_1011);
        for (mask, lane) in [(0b1111_1011, 1), (0b1111_1001, 5), (0b1101_1001, 6), (0b1001_0001, 0), (0b0001_0000, 4)] {
            assert_eq!(least(&values, mask), lane, "{mask:b}");
        }
        let mut pack = Pack::<3, T>::default();
        for lane in 0..LANES {
            pack.set(lane, &Aabb::new([t(lane as f64), T::ZERO, T::ZERO], [t(lane as f64), t(lane as f64), T::ONE]));
        }
        assert_eq!(overlapping(&Aabb::new([t(2.0), t(3.0), T::ONE], [t(5.0), t(9.0), T::ONE]), &pack), 0b0011_1000);
        assert_eq!(overlapping(&Aabb::new([t(2.0), t(3.0), t(1.5)], [t(5.0), t(9.0), t(2.0)]), &pack), 0);
    }

    #[test]
    fn eight_at_once_give_what_each_gives() {
        check::<f32>();
        check::<f64>();
    }
}
