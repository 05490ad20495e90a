//! The boxes of a node as bytes, in sweep order: one of the two inputs of a sweep.

use super::{Entry, WIDEST};
use crate::geometry::{Aabb, Real};
use crate::kernels::prefetch;

/// Boxes in sweep order, as bytes.
#[derive(Clone, Debug)]
pub(super) struct ByteBoxes<const D: usize> {
    /// The lower and upper corners as bytes, in the order given.
    raw: Vec<([u8; D], [u8; D])>,
    /// By position in sweep order: the entry, or, in a cache, the object.
    pub(super) index: Vec<u32>,
    pub(super) low: [Vec<u8>; D],
    pub(super) high: [Vec<u8>; D],
    /// Where the boxes of each lower byte start, and two more.
    pub(super) starts: [u32; 258],
    /// The longest box on the sweep axis, in bytes.
    longest: u8,
    pub(super) len: usize,
}

impl<const D: usize> Default for ByteBoxes<D> {
    fn default() -> Self {
        let columns = || std::array::from_fn(|_| vec![0; WIDEST]);
        Self { raw: Vec::new(), index: Vec::new(), low: columns(), high: columns(), starts: [0; 258], longest: 0, len: 0 }
    }
}

impl<const D: usize> ByteBoxes<D> {
    pub(super) fn bytes(&self) -> usize {
        let columns: usize = self.low.iter().chain(&self.high).map(Vec::capacity).sum();
        columns + self.raw.capacity() * 2 * D + self.index.capacity() * 4
    }

    /// The boxes that may overlap a box from byte `first` to byte `last` on the sweep axis, as a range of positions.
    #[inline(always)]
    pub(super) fn around(&self, first: u8, last: u8) -> (usize, usize) {
        (self.starts[first.saturating_sub(self.longest) as usize] as usize, self.starts[last as usize + 1] as usize)
    }

    fn resize(&mut self, len: usize) {
        self.len = len;
        if self.raw.len() < len {
            self.raw.resize(len, ([0; D], [0; D]));
            self.index.resize(len, 0);
            self.low.iter_mut().chain(&mut self.high).for_each(|column| column.resize(len + WIDEST, 0));
        }
    }

    /// Prefetches everything that a sweep reads.
    pub(super) fn fetch(&self) {
        const LINE: usize = 64;
        for column in self.low.iter().chain(&self.high) {
            (0..self.len).step_by(LINE).for_each(|at| prefetch(column, at));
        }
        (0..self.starts.len()).step_by(LINE / 4).for_each(|at| prefetch(&self.starts, at));
    }

    /// Copies from `from`, which was loaded with `entries`, the boxes for which `stays` is true. The index then holds objects instead of entries.
    pub(super) fn keep<T>(&mut self, from: &Self, entries: &[Entry<D, T>], stays: impl Fn(&Entry<D, T>) -> bool) {
        self.longest = from.longest;
        self.index.clear();
        self.low.iter_mut().chain(&mut self.high).for_each(Vec::clear);
        for bucket in 0..257 {
            self.starts[bucket] = self.index.len() as u32;
            for at in from.starts[bucket] as usize..from.starts[bucket + 1] as usize {
                let entry = &entries[from.index[at] as usize];
                if stays(entry) {
                    self.index.push(entry.id);
                    for k in 0..D {
                        self.low[k].push(from.low[k][at]);
                        self.high[k].push(from.high[k][at]);
                    }
                }
            }
        }
        self.len = self.index.len();
        self.starts[257] = self.len as u32;
        self.low.iter_mut().chain(&mut self.high).for_each(|column| column.resize(self.len + WIDEST, 0));
    }

    /// Sorts the entries by their lower byte on `axis`.
    #[inline(always)]
    pub(super) fn load<T: Real>(&mut self, entries: &[Entry<D, T>], map: &Map<D, T>, axis: usize) {
        self.resize(entries.len());
        self.starts = [0; 258];
        let mut longest = 0;
        for (entry, raw) in entries.iter().zip(&mut self.raw) {
            *raw = map.quantize(&entry.aabb);
            longest = longest.max(raw.1[axis] - raw.0[axis]);
            self.starts[raw.0[axis] as usize + 2] += 1;
        }
        self.longest = longest;
        for bucket in 2..258 {
            self.starts[bucket] += self.starts[bucket - 1];
        }
        // starts[b + 1] is where the next box of byte b goes; after the pass it is where b + 1 starts.
        let (mut lows, mut highs) = ([std::ptr::null_mut::<u8>(); D], [std::ptr::null_mut::<u8>(); D]);
        for k in 0..D {
            lows[k] = self.low[k].as_mut_ptr();
            highs[k] = self.high[k].as_mut_ptr();
        }
        let Self { raw, index, starts, .. } = self;
        let index = &mut index[..entries.len()];
        for (raw, at) in raw.iter().zip(0..entries.len() as u32) {
            let next = &mut starts[raw.0[axis] as usize + 1];
            let to = *next as usize;
            *next += 1;
            index[to] = at;
            for k in 0..D {
                // SAFETY: (in bounds) `index` has checked `to`, and every column is longer.
                unsafe {
                    *lows[k].add(to) = raw.0[k];
                    *highs[k].add(to) = raw.1[k];
                }
            }
        }
    }
}

/// The map from coordinates to bytes: monotone on each axis, and beyond the bounds it saturates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map<const D: usize, T> {
    origin: [T; D],
    scale: [T; D],
}

impl<const D: usize, T: Real> Map<D, T> {
    /// A map that takes every coordinate to 0.
    pub(super) fn nowhere() -> Self {
        Self { origin: [T::ZERO; D], scale: [T::ZERO; D] }
    }

    /// Spreads the bounds over all bytes. A scale of zero or infinity (no extent, or one that overflows) is monotone as well:
    /// NaN becomes 0, where only the origin itself, or everything, ends up.
    pub(super) fn over(bounds: &Aabb<D, T>) -> Self {
        let size = bounds.size();
        let mut scale = [T::ZERO; D];
        for k in 0..D {
            scale[k] = T::from_f64(255.9) / size[k].abs(); // from 0.0 to -0.0 it is -0.0, and the map would descend
        }
        Self { origin: bounds.min, scale }
    }

    #[inline(always)]
    fn quantize(&self, value: &Aabb<D, T>) -> ([u8; D], [u8; D]) {
        let (mut low, mut high) = ([0; D], [0; D]);
        for k in 0..D {
            low[k] = ((value.min[k] - self.origin[k]) * self.scale[k]).truncate().min(255) as u8;
            high[k] = ((value.max[k] - self.origin[k]) * self.scale[k]).truncate().min(255) as u8;
        }
        (low, high)
    }
}
