//! Boxes as columns in ascending order of their lower coordinate on a sweep axis, and searches in that order.
//!
//! The axes are permuted: column 0 is always the sweep axis, so kernels do not depend on which axis of the caller that is.
//! `reach[r]` is the largest upper coordinate among the boxes up to `r`. Boxes that may overlap an interval on the sweep axis start
//! before its end, and come after the last position whose `reach` is before its start. Both ends of that range are found by
//! bisection. Bad case: one long box makes `reach` long for every box after it.

use std::ops::Range;

use super::all_pairs::{self, ROWS};
use super::isa::Kernels;
use super::pair_sink::{Order, PairSink};
use super::soa::{Columns, Part, Soa};
use crate::geometry::{Aabb, Real};

/// Boxes in columns, sorted along a sweep axis. See the module documentation.
#[derive(Clone, Debug)]
pub(crate) struct Sorted<const D: usize, T> {
    columns: Soa<D, T>,
    reach: Vec<T>,
    /// `axes[column]` is the caller's axis.
    axes: [usize; D],
}

impl<const D: usize, T: Real> Default for Sorted<D, T> {
    fn default() -> Self {
        Self { columns: Soa::default(), reach: Vec::new(), axes: std::array::from_fn(|k| k) }
    }
}

/// The box with its axes in the order of `axes`.
#[inline(always)]
pub(crate) fn permuted<const D: usize, T: Real>(value: &Aabb<D, T>, axes: &[usize; D]) -> Aabb<D, T> {
    Aabb { min: axes.map(|k| value.min[k]), max: axes.map(|k| value.max[k]) }
}

impl<const D: usize, T: Real> Sorted<D, T> {
    /// Fills the columns with the boxes of `ids`, which ascend on axis `axes[0]`.
    pub(crate) fn fill(&mut self, boxes: &[Aabb<D, T>], axes: [usize; D], ids: impl ExactSizeIterator<Item = u32>) {
        self.axes = axes;
        self.columns.resize(ids.len());
        self.reach.clear();
        let mut reach = T::NEG_INFINITY;
        for (position, id) in ids.enumerate() {
            let value = permuted(&boxes[id as usize], &axes);
            self.columns.set(position, id, &value);
            reach = reach.max(value.max[0]);
            self.reach.push(reach);
        }
    }

    /// Makes room for `len` boxes, to be written in parts that start at the positions `cuts`, the first being 0.
    pub(crate) fn parts<'a>(
        &'a mut self,
        axes: [usize; D],
        len: usize,
        cuts: &'a [usize],
    ) -> impl Iterator<Item = SortedPart<'a, D, T>> {
        self.axes = axes;
        self.columns.resize(len);
        self.reach.resize(len, T::ZERO);
        let mut rest = &mut self.reach[..];
        self.columns.parts(cuts).enumerate().map(move |(part, columns)| {
            let count = cuts.get(part + 1).copied().unwrap_or(len) - cuts[part];
            let (reach, behind) = std::mem::take(&mut rest).split_at_mut(count);
            rest = behind;
            SortedPart { columns, reach, axes }
        })
    }

    /// Carries `reach` from part to part, after all parts have been written.
    pub(crate) fn join_parts(&mut self, cuts: &[usize]) {
        for &cut in cuts.iter().filter(|&&cut| cut > 0) {
            let carried = self.reach[cut - 1];
            // From the first box that reaches further on, the part was right by itself.
            self.reach[cut..].iter_mut().take_while(|reach| **reach < carried).for_each(|reach| *reach = carried);
        }
    }

    /// The number of boxes.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// The order of the axes.
    pub(crate) fn axes(&self) -> [usize; D] {
        self.axes
    }

    /// The columns; their axes are permuted.
    #[inline(always)]
    pub(crate) fn columns(&self) -> Columns<'_, D, T> {
        self.columns.columns()
    }

    /// One box, its axes permuted, and its id.
    pub(crate) fn get(&self, position: usize) -> (u32, Aabb<D, T>) {
        (self.columns.columns().ids()[position], self.columns.get(position))
    }

    /// For damaging it in tests of validators.
    #[cfg(test)]
    pub(crate) fn set(&mut self, position: usize, id: u32, value: &Aabb<D, T>) {
        self.columns.set(position, id, value);
    }

    /// How far the boxes up to each position reach.
    pub(crate) fn reach(&self) -> &[T] {
        &self.reach
    }

    /// Are these still the boxes of all `count` objects? Stops at the first difference, so it is cheap where things move.
    pub(crate) fn is_current(&self, boxes: &[Aabb<D, T>], count: usize, live: impl Fn(u32) -> bool) -> bool {
        let same = |position: usize| {
            let (id, value) = self.get(position);
            (id as usize) < boxes.len() && live(id) && permuted(&boxes[id as usize], &self.axes) == value
        };
        self.len() == count && (0..count).all(same)
    }

    /// The positions whose boxes can overlap `area` (axes not permuted) on the sweep axis.
    pub(crate) fn range(&self, area: &Aabb<D, T>) -> Range<usize> {
        let axis = self.axes[0];
        let end = self.columns.columns().min(0)[..self.len()].partition_point(|&min| min <= area.max[axis]);
        self.reach[..end].partition_point(|&reach| reach < area.min[axis])..end
    }

    /// Tests every probe against the boxes in its range. `probes` are (id to report, box), in ascending order of their lower
    /// coordinate on the sweep axis: neighbors share a range.
    pub(crate) fn probe(
        &self,
        kernels: Kernels,
        probes: impl Iterator<Item = (u32, Aabb<D, T>)>,
        rows: &mut Soa<D, T>,
        order: Order,
        hits: &mut PairSink,
    ) {
        let mut probes = probes.peekable();
        while probes.peek().is_some() && !hits.stopped() {
            let mut hull = Aabb::empty();
            rows.resize(ROWS);
            let mut count = 0;
            for (id, value) in probes.by_ref().take(ROWS) {
                rows.set(count, id, &permuted(&value, &self.axes));
                hull = hull.union(&value);
                count += 1;
            }
            rows.resize(count);
            let range = self.range(&hull);
            let boxes = self.columns.columns().slice(range.start, range.end);
            all_pairs::join_between(kernels, rows.columns(), boxes, order, hits);
        }
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.columns.bytes() + self.reach.capacity() * size_of::<T>()
    }
}

/// A run of positions of a [`Sorted`], borrowed for writing.
pub(crate) struct SortedPart<'a, const D: usize, T> {
    columns: Part<'a, D, T>,
    reach: &'a mut [T],
    axes: [usize; D],
}

impl<const D: usize, T: Real> SortedPart<'_, D, T> {
    /// Writes the boxes of `ids`, as many as the part has positions.
    pub(crate) fn fill(&mut self, boxes: &[Aabb<D, T>], ids: impl Iterator<Item = u32>) {
        let mut reach = T::NEG_INFINITY;
        for (position, id) in ids.enumerate() {
            let value = permuted(&boxes[id as usize], &self.axes);
            self.columns.set(position, id, &value);
            reach = reach.max(value.max[0]);
            self.reach[position] = reach;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes() -> Vec<Aabb<2, f32>> {
        (0..100).map(|i| Aabb::new([0.0, i as f32], [1.0, i as f32 + if i % 10 == 0 { 25.0 } else { 0.5 }])).collect()
    }

    #[test]
    fn parts_make_the_same_whole() {
        let boxes = boxes();
        let (mut whole, mut cut) = (Sorted::default(), Sorted::default());
        whole.fill(&boxes, [1, 0], 0..100);
        for cuts in [&[0][..], &[0, 0, 7, 50, 50, 93, 100]] {
            for (part, mut place) in cut.parts([1, 0], 100, cuts).enumerate() {
                let end = cuts.get(part + 1).copied().unwrap_or(100);
                place.fill(&boxes, cuts[part] as u32..end as u32);
            }
            cut.join_parts(cuts);
            assert_eq!(cut.reach(), whole.reach());
            assert!((0..100).all(|i| cut.get(i) == whole.get(i)));
        }
    }

    #[test]
    fn a_range_holds_all_that_can_overlap() {
        let boxes = boxes();
        let mut sorted = Sorted::default();
        sorted.fill(&boxes, [1, 0], 0..100);
        for at in [-1.0, 0.0, 0.5, 33.25, 99.5, 115.0, 115.5] {
            let area = Aabb::new([0.0, at], [1.0, at + 0.25]);
            let range = sorted.range(&area);
            for (i, value) in boxes.iter().enumerate() {
                assert!(range.contains(&i) || !value.overlaps(&area), "{i} at {at}");
            }
        }
        assert_eq!(sorted.range(&Aabb::new([0.0, 200.0], [0.0, 300.0])).len(), 0);
    }
}
