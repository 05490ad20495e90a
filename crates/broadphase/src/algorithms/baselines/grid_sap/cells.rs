//! The grid: which cells a box overlaps.

use std::cmp::Ordering;

use crate::algorithms::common::{TrackedBoxes, World};
use crate::geometry::{Aabb, Real};
use crate::objects::unbounded::is_bounded;

/// Objects per cell that the number of cells aims at.
pub(super) const TARGET: usize = 32;
/// The most cells per axis.
const MOST: usize = 64;

/// The cells of a bounded world, numbered in a row.
#[derive(Clone, Debug)]
pub(super) struct Cells<const D: usize, T> {
    min: [T; D],
    count: [u32; D],
    /// Cells per unit; 0 on an axis that is not cut.
    per_unit: [T; D],
}

/// The cells of an object: from one corner to the other, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block<const D: usize> {
    pub(super) from: [u16; D],
    pub(super) to: [u16; D],
}

/// An object in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry<T> {
    pub(super) cell: u32,
    pub(super) id: u32,
    /// The object's lower end on the first axis.
    pub(super) at: T,
}

impl<T: Real> Entry<T> {
    /// Does it stand strictly before the other one?
    #[inline(always)]
    pub(super) fn is_before(&self, other: &Self) -> bool {
        self.cell < other.cell || (self.cell == other.cell && self.at < other.at)
    }

    /// The order of [`is_before`](Entry::is_before), made total by the object.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let along = self.at.partial_cmp(&other.at).unwrap_or(Ordering::Equal);
        self.cell.cmp(&other.cell).then(along).then(self.id.cmp(&other.id))
    }
}

impl<const D: usize> Block<D> {
    /// No cell.
    pub(super) const NOWHERE: Self = Self { from: [1; D], to: [0; D] };

    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        (0..D).map(|k| usize::from(self.to[k]) + 1 - usize::from(self.from[k])).product()
    }

    /// Is it the cell at which a pair of this block and the other one counts?
    #[inline(always)]
    pub(super) fn counts_at(&self, other: &Self, cell: &[u16; D]) -> bool {
        (0..D).all(|k| self.from[k].max(other.from[k]) == cell[k])
    }

    /// Every cell, the first axis fastest.
    pub(super) fn for_each(&self, mut visit: impl FnMut([u16; D])) {
        let mut at = self.from;
        loop {
            visit(at);
            let Some(axis) = (0..D).find(|&k| at[k] < self.to[k]) else { return };
            at[axis] += 1;
            at[..axis].copy_from_slice(&self.from[..axis]);
        }
    }
}

impl<const D: usize, T: Real> Cells<D, T> {
    /// `per_axis` cells on each axis, or with 0 as many as number and mean size of the objects suggest.
    pub(super) fn new(world: &World<D, T>, tracked: &TrackedBoxes<D, T>, per_axis: usize) -> Self {
        let objects = tracked.ids().count();
        let wanted = match per_axis {
            0 => (1..=MOST).rev().find(|c| c.pow(D as u32) * TARGET <= objects).unwrap_or(1),
            fixed => fixed,
        };
        let count: [u32; D] = std::array::from_fn(|k| {
            let sizes = tracked.ids().map(|id| tracked.get(id)).filter(|b| is_bounded(b)).map(|b| (b.max[k] - b.min[k]).to_f64());
            let room = world.extent[k].to_f64() / (2.0 * sizes.sum::<f64>() / objects.max(1) as f64);
            if per_axis > 0 || room >= wanted as f64 { wanted as u32 } else { (room as u32).max(1) }
        });
        let per_unit = std::array::from_fn(|k| {
            let per_unit = T::from_f64(f64::from(count[k])) / world.extent[k];
            if per_unit.is_finite() { per_unit } else { T::ZERO }
        });
        Self { min: world.min, count, per_unit }
    }

    /// The number of cells.
    pub(super) fn count(&self) -> u32 {
        self.count.iter().product()
    }

    /// The cell of a coordinate, as monotone as float subtraction and multiplication are. Outside is the border.
    #[inline(always)]
    fn index(&self, axis: usize, c: T) -> u16 {
        let at = ((c - self.min[axis]) * self.per_unit[axis]).to_f64();
        (at as u32).min(self.count[axis] - 1) as u16 // negative numbers and NaN (an axis that is not cut) become 0
    }

    /// The cells that a box overlaps.
    pub(super) fn block(&self, value: &Aabb<D, T>) -> Block<D> {
        Block {
            from: std::array::from_fn(|k| self.index(k, value.min[k])),
            to: std::array::from_fn(|k| self.index(k, value.max[k])),
        }
    }

    /// The number of a cell.
    pub(super) fn number(&self, cell: &[u16; D]) -> u32 {
        (0..D).rev().fold(0, |number, k| number * self.count[k] + u32::from(cell[k]))
    }

    /// The cell of a number.
    pub(super) fn cell(&self, mut number: u32) -> [u16; D] {
        std::array::from_fn(|k| {
            let along = number % self.count[k];
            number /= self.count[k];
            along as u16
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_cells_are_one_to_one_and_blocks_reach_to_the_border() {
        let world = World { min: [0.0f32; 3], extent: [8.0; 3] };
        let cells = Cells::new(&world, &TrackedBoxes::default(), 4);
        assert_eq!(cells.count(), 64);
        assert!((0..64).all(|number| cells.number(&cells.cell(number)) == number));
        let block = cells.block(&Aabb::new([1.0, -9.0, f32::NEG_INFINITY], [2.0, 99.0, -5.0]));
        assert_eq!((block.from, block.to, block.len()), ([0; 3], [1, 3, 0], 8));
        let mut seen = Vec::new();
        block.for_each(|cell| seen.push(cell));
        assert_eq!(seen.len(), 8);
        assert!(seen.is_sorted_by_key(|cell| cells.number(cell)));
    }
}
