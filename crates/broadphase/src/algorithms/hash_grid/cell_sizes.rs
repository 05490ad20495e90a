//! Which cell size suits which box: the sizes `base * factor^exponent`.

use super::level::Key;
use super::options::Options;
use crate::geometry::{Aabb, Real};

/// Sides of an object may count as shorter than its longest by at most this many steps.
const MOST_STEPS: i32 = 24;

/// The cell sizes of all possible levels.
#[derive(Clone, Debug)]
pub(super) struct CellSizes {
    /// The cell sizes of the exponents from `lowest` on.
    sizes: Vec<f64>,
    lowest: i32,
    /// Steps per doubling.
    steps: f64,
}

/// The smallest and the largest size that cells are made for, and the share of a coordinate that is its grain.
///
/// Sizes below the first, zero and subnormal ones included, count as that size, so no loop runs down to them. Above the
/// second, an object is held with the unbounded ones. A box is at least as large as four steps of its coordinates' precision:
/// finer cells could not separate two places, and the number of cells from the origin stays within 2^22 in `f32` and 2^51 in
/// `f64`.
fn limits<T: Real>() -> (f64, f64, f64) {
    if T::KEY_BITS == 32 {
        ((-100f64).exp2(), 100f64.exp2(), (-21f64).exp2())
    } else {
        ((-900f64).exp2(), 900f64.exp2(), (-50f64).exp2())
    }
}

/// The sides of a box as far as levels are concerned; `None` if one is beyond all levels.
fn sides<const D: usize, T: Real>(value: &Aabb<D, T>) -> Option<[f64; D]> {
    let (least, most, grain) = limits::<T>();
    let mut sides = [0.0; D];
    for k in 0..D {
        let (low, high) = (value.min[k].to_f64(), value.max[k].to_f64());
        sides[k] = (value.max[k] - value.min[k]).to_f64().max(low.abs().max(high.abs()) * grain).max(least);
    }
    sides.iter().all(|&side| side < most).then_some(sides)
}

impl CellSizes {
    /// The sizes that follow from the base of the options. If there is none, those that have the first object in the middle of a step: its longest
    /// side times the root of the factor.
    pub(super) fn new<const D: usize, T: Real>(first: &Aabb<D, T>, options: &Options) -> Option<Self> {
        let factor = options.factor;
        let longest = sides(first)?.into_iter().fold(0.0, f64::max);
        // A point at the origin says nothing of sizes.
        let size = if longest <= limits::<T>().0 { 1.0 } else { longest };
        let base = options.base.unwrap_or(size * factor.sqrt());
        let (least, most, _) = limits::<T>();
        // By logarithms, since the ratio of two sizes may be beyond all numbers.
        let steps_to = |size: f64| (size.ln() - base.ln()) / factor.ln();
        let (lowest, highest) = (steps_to(least).floor() as i32 - 2, steps_to(most).ceil() as i32 + 2);
        let size_at = |exponent: i32| match factor.powi(exponent) {
            ratio if ratio.is_normal() => base * ratio,
            _ => (base.ln() + f64::from(exponent) * factor.ln()).exp(),
        };
        let sizes = (lowest..=highest).map(|exponent| T::from_f64(size_at(exponent)).to_f64()).collect();
        Some(Self { sizes, lowest, steps: 1.0 / factor.log2() })
    }

    /// The cell size of an exponent; infinite beyond the last one.
    pub(super) fn size<T: Real>(&self, exponent: i32) -> T {
        self.sizes.get((exponent - self.lowest) as usize).map_or(T::INFINITY, |&size| T::from_f64(size))
    }

    /// The smallest exponent whose cells are larger than `side`, which is within the sizes.
    fn exponent(&self, side: f64) -> i32 {
        let doublings = |x: f64| (x.to_bits() >> 52) as f64;
        let guess = (doublings(side) - doublings(self.sizes[0])) * self.steps;
        let mut at = (guess as usize).clamp(1, self.sizes.len() - 2);
        while self.sizes[at] <= side && at + 1 < self.sizes.len() {
            at += 1;
        }
        while self.sizes[at - 1] > side && at > 1 {
            at -= 1;
        }
        at as i32 + self.lowest
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.sizes.capacity() * 8
    }

    /// The level of a box by its own shape, and by its longest side alone. The two are equal unless a side is two steps or more
    /// shorter than the longest. `None`: too large for any level.
    pub(super) fn keys<const D: usize, T: Real>(&self, value: &Aabb<D, T>) -> Option<(Key<D>, Key<D>)> {
        let exact = sides(value)?.map(|side| self.exponent(side));
        let most = exact.into_iter().max().unwrap_or(0);
        let own = exact.map(|e| if most - e < 2 { most } else { e.max(most - MOST_STEPS) } as i16);
        Some((own, [most as i16; D]))
    }

    /// A level's cells, one step larger on every axis than those of `key`.
    pub(super) fn above<const D: usize>(key: Key<D>) -> Key<D> {
        key.map(|e| e + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_factor(factor: f64) -> Options {
        Options { factor, ..Options::default() }
    }

    #[test]
    fn sizes_of_zero_and_subnormal_have_a_level() {
        for (first, other) in [(0.0f32, 1.0f32), (1.0, 0.0), (1e-44, 1e-44), (1.0, 1e-45), (1e30, 0.0), (0.0, 0.0)] {
            let boxed = |size: f32| Aabb::new([0.0f32; 3], [size; 3]);
            let cell_sizes = CellSizes::new(&boxed(first), &with_factor(2.0)).unwrap();
            for size in [first, other] {
                let (own, cube) = cell_sizes.keys(&boxed(size)).unwrap();
                assert_eq!(own, cube);
                assert!(cell_sizes.size::<f32>(own[0].into()) > size);
            }
        }
        assert!(CellSizes::new(&Aabb::new([-1e38f32; 2], [1e38; 2]), &with_factor(2.0)).is_none());
    }

    #[test]
    fn a_level_suits_sizes_from_its_cell_by_the_factor_up_to_its_cell() {
        for factor in [1.1, 1.5, 2.0, 4.0] {
            let cell_sizes = CellSizes::new(&Aabb::new([0.0f64; 2], [1.0, 0.5]), &with_factor(factor)).unwrap();
            for step in -200..200 {
                let size = 1.07f64.powi(step);
                let (_, cube) = cell_sizes.keys(&Aabb::new([0.0; 2], [size, size * 0.1])).unwrap();
                let cell: f64 = cell_sizes.size(cube[0].into());
                assert!(size < cell && cell / factor <= size * (1.0 + 1e-12), "{size} {cell}");
            }
        }
    }

    #[test]
    fn long_boxes_have_long_cells_and_nearly_cubic_ones_cubes() {
        let cell_sizes = CellSizes::new(&Aabb::new([0.0f32; 3], [10.0, 1.0, 1.0]), &with_factor(2.0)).unwrap();
        assert_eq!(cell_sizes.keys(&Aabb::new([0.0f32; 3], [10.0, 1.0, 1.0])), Some(([0, -3, -3], [0; 3])));
        assert_eq!(cell_sizes.keys(&Aabb::new([0.0f32; 3], [10.0, 6.0, 4.0])), Some(([0; 3], [0; 3])));
    }

    #[test]
    fn with_a_base_the_first_object_does_not_matter() {
        for (base, factor) in [(0.7, 2.0), (1e300, 1.1), (1e-300, 1.5), (f64::MIN_POSITIVE, 16.0)] {
            let options = Options { base: Some(base), ..with_factor(factor) };
            let of = |side: f64| CellSizes::new(&Aabb::new([0.0; 2], [side; 2]), &options).unwrap();
            for first in [0.0, 1e-9, 1.0, 300.0] {
                assert_eq!(of(first).sizes, of(3.0).sizes, "{base} {factor}");
                let cell: f64 = of(first).size(of(first).keys(&Aabb::new([0.0; 2], [5.0; 2])).unwrap().0[0].into());
                assert!(5.0 < cell && cell / factor <= 5.0 * (1.0 + 1e-9), "{base} {factor} {cell}");
            }
        }
        let options = Options { base: Some(0.7), ..with_factor(2.0) };
        assert_eq!(CellSizes::new(&Aabb::new([0.0f64; 3], [5.0; 3]), &options).unwrap().size::<f64>(0), 0.7);
    }
}
