//! Boxes as columns, padded so that a vector load past the end reads boxes that overlap nothing.

use crate::error::Error;
use crate::geometry::{Aabb, Real, each_axis};
use crate::memory;

/// How many padding boxes follow the last one: the widest step of any kernel.
pub(crate) const PAD: usize = 16;

/// Boxes as columns: `min[axis][position]`, `max[axis][position]`, `ids[position]`.
///
/// Every column is [`PAD`] longer than `len`; the padding is NaN, which fails every comparison.
#[derive(Clone, Debug)]
pub(crate) struct Soa<const D: usize, T> {
    min: [Vec<T>; D],
    max: [Vec<T>; D],
    ids: Vec<u32>,
    len: usize,
}

/// A borrowed, possibly shorter part of a [`Soa`]; still padded in the sense that `PAD` more entries can be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'a, const D: usize, T> {
    min: [&'a [T]; D],
    max: [&'a [T]; D],
    ids: &'a [u32],
    len: usize,
}

/// A run of positions of a [`Soa`], borrowed for writing.
pub(crate) struct Part<'a, const D: usize, T> {
    min: [&'a mut [T]; D],
    max: [&'a mut [T]; D],
    ids: &'a mut [u32],
}

impl<const D: usize, T: Real> Part<'_, D, T> {
    /// Writes one box; positions count from the start of the part.
    #[inline(always)]
    pub(crate) fn set(&mut self, position: usize, id: u32, value: &Aabb<D, T>) {
        for k in 0..D {
            self.min[k][position] = value.min[k];
            self.max[k][position] = value.max[k];
        }
        self.ids[position] = id;
    }
}

/// Splits the first `count` elements off.
fn take_front<'a, E>(rest: &mut &'a mut [E], count: usize) -> &'a mut [E] {
    let (front, back) = std::mem::take(rest).split_at_mut(count);
    *rest = back;
    front
}

impl<const D: usize, T: Real> Default for Soa<D, T> {
    fn default() -> Self {
        let column = || vec![T::NAN; PAD];
        Self { min: std::array::from_fn(|_| column()), max: std::array::from_fn(|_| column()), ids: vec![u32::MAX; PAD], len: 0 }
    }
}

impl<const D: usize, T: Real> Soa<D, T> {
    /// The number of boxes.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// No boxes, and no padding yet: [`try_resize`](Soa::try_resize) before the columns are used.
    pub(crate) fn unallocated() -> Self {
        Self { min: [const { Vec::new() }; D], max: [const { Vec::new() }; D], ids: Vec::new(), len: 0 }
    }

    /// The length of the columns, padding included.
    pub(crate) fn allocated(&self) -> usize {
        self.ids.len()
    }

    /// [`resize`](Soa::resize), where memory may run out; then nothing has changed.
    pub(crate) fn try_resize(&mut self, len: usize) -> Result<(), Error> {
        let more = (len + PAD).saturating_sub(self.ids.len());
        for column in self.min.iter_mut().chain(&mut self.max) {
            memory::reserve(column, more, "columns of boxes")?;
        }
        memory::reserve(&mut self.ids, more, "columns of boxes")?;
        self.resize(len); // reserved
        Ok(())
    }

    /// Makes room for `len` boxes and their padding; new positions are padding until [`set`](Soa::set).
    pub(crate) fn resize(&mut self, len: usize) {
        for column in self.min.iter_mut().chain(&mut self.max) {
            column.resize(len + PAD, T::NAN);
            column[len..].fill(T::NAN);
        }
        self.ids.resize(len + PAD, u32::MAX);
        self.ids[len..].fill(u32::MAX);
        self.len = len;
    }

    /// Writes one box.
    #[inline(always)]
    pub(crate) fn set(&mut self, position: usize, id: u32, value: &Aabb<D, T>) {
        debug_assert!(position < self.len);
        for k in 0..D {
            self.min[k][position] = value.min[k];
            self.max[k][position] = value.max[k];
        }
        self.ids[position] = id;
    }

    /// Turns one box into padding: it overlaps nothing.
    pub(crate) fn vacate(&mut self, position: usize) {
        self.set(position, u32::MAX, &Aabb { min: [T::NAN; D], max: [T::NAN; D] });
    }

    /// Fills with the boxes of `ids`, in that order.
    pub(crate) fn gather(&mut self, boxes: &[Aabb<D, T>], ids: &[u32]) {
        self.resize(ids.len());
        for (position, &id) in ids.iter().enumerate() {
            self.set(position, id, &boxes[id as usize]);
        }
    }

    /// One box, as it was set.
    pub(crate) fn get(&self, position: usize) -> Aabb<D, T> {
        Aabb { min: each_axis(|k| self.min[k][position]), max: each_axis(|k| self.max[k][position]) }
    }

    /// All columns, borrowed.
    #[inline(always)]
    pub(crate) fn columns(&self) -> Columns<'_, D, T> {
        Columns { min: each_axis(|k| &self.min[k][..]), max: each_axis(|k| &self.max[k][..]), ids: &self.ids, len: self.len }
    }

    /// Cuts the boxes at the ascending positions `cuts`, the first being 0, into parts that several workers can write at once.
    pub(crate) fn parts<'a>(&'a mut self, cuts: &'a [usize]) -> impl Iterator<Item = Part<'a, D, T>> {
        let len = self.len;
        let mut min = self.min.each_mut().map(|column| &mut column[..len]);
        let mut max = self.max.each_mut().map(|column| &mut column[..len]);
        let mut ids = &mut self.ids[..len];
        cuts.iter().enumerate().map(move |(part, &from)| {
            let count = cuts.get(part + 1).copied().unwrap_or(len) - from;
            Part {
                min: min.each_mut().map(|rest| take_front(rest, count)),
                max: max.each_mut().map(|rest| take_front(rest, count)),
                ids: take_front(&mut ids, count),
            }
        })
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let columns: usize = self.min.iter().chain(&self.max).map(Vec::capacity).sum();
        columns * size_of::<T>() + self.ids.capacity() * 4
    }
}

impl<'a, const D: usize, T: Real> Columns<'a, D, T> {
    /// The number of boxes.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Boxes `from..to` of these columns; the boxes after them serve as padding, so a kernel masks by `len` where they matter.
    #[inline(always)]
    pub(crate) fn slice(&self, from: usize, to: usize) -> Self {
        assert!(from <= to && to <= self.len);
        Columns {
            min: each_axis(|k| &self.min[k][from..to + PAD]),
            max: each_axis(|k| &self.max[k][from..to + PAD]),
            ids: &self.ids[from..to + PAD],
            len: to - from,
        }
    }

    /// The lower coordinates on one axis, padding included.
    #[inline(always)]
    pub(crate) fn min(&self, axis: usize) -> &'a [T] {
        self.min[axis]
    }

    /// The upper coordinates on one axis, padding included.
    #[inline(always)]
    pub(crate) fn max(&self, axis: usize) -> &'a [T] {
        self.max[axis]
    }

    /// One box.
    #[inline(always)]
    pub(crate) fn get(&self, position: usize) -> Aabb<D, T> {
        Aabb { min: each_axis(|k| self.min[k][position]), max: each_axis(|k| self.max[k][position]) }
    }

    /// The ids, padding included.
    #[inline(always)]
    pub(crate) fn ids(&self) -> &'a [u32] {
        self.ids
    }
}
