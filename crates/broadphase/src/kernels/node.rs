//! The join of one tree node: a sweep over a few hundred boxes, quantised to bytes relative to the node.
//!
//! 1. A sweep sorts boxes by their lower coordinate on one axis, and compares each with the run of those that start before it ends.
//! 2. Here the sort is a counting sort by one byte, and the run's end comes from its counts: the sweep axis is never compared.
//! 3. Along the run, the other axes are compared in bytes, as many at once as a register has.
//! 4. What passes is confirmed on the boxes themselves, so the result is exact: the map to bytes is monotone, and `x <= y`
//!    implies `q(x) <= q(y)`, wherever the two boxes come from.
//!
//! The sweep axis is the one on which the centres of (a sample of) the own boxes vary most. Hits come in row order, so the list is the same for
//! every register width.

use super::hits::Hits;
use super::isa::{Kernel, Kernels};
use super::lanes::{Bytes, Simd};
use crate::geometry::{Aabb, Real};
use crate::pairs::Pair;

/// One object in a join.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<const D: usize, T> {
    pub(crate) aabb: Aabb<D, T>,
    pub(crate) id: u32,
    /// For the caller's use.
    pub(crate) moved: bool,
}

/// Boxes looked at for the variance.
const SAMPLE: usize = 64;
/// Candidates are confirmed when this many wait.
const BATCH: usize = 1024;
/// The widest register, in bytes: how far a load may reach behind the last box.
const WIDEST: usize = 64;

/// How long the runs of candidates were.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Runs {
    /// Boxes that had a run.
    pub(crate) rows: u64,
    /// And the sum of its lengths.
    pub(crate) tests: u64,
    /// Runs of up to eight.
    pub(crate) short: u64,
}

impl Runs {
    /// Both together.
    pub(crate) fn plus(self, other: Runs) -> Runs {
        Runs { rows: self.rows + other.rows, tests: self.tests + other.tests, short: self.short + other.short }
    }
}

/// Buffers of a join, reused; only [`Runs`] outlives a call.
#[derive(Clone, Debug)]
pub(crate) struct Scratch<const D: usize, T> {
    own: Side<D>,
    other: Side<D>,
    near: Vec<Entry<D, T>>,
    candidates: Vec<u64>,
    pub(crate) runs: Runs,
}

impl<const D: usize, T: Real> Default for Scratch<D, T> {
    fn default() -> Self {
        let candidates = vec![0; BATCH];
        Self { own: Side::default(), other: Side::default(), near: Vec::new(), candidates, runs: Runs::default() }
    }
}

impl<const D: usize, T: Real> Scratch<D, T> {
    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.own.bytes() + self.other.bytes() + self.near.capacity() * size_of::<Entry<D, T>>() + self.candidates.capacity() * 8
    }
}

/// Boxes in sweep order, as bytes.
#[derive(Clone, Debug)]
struct Side<const D: usize> {
    /// In the order given.
    raw: Vec<([u8; D], [u8; D])>,
    /// Which entry stands at a position of the order.
    index: Vec<u32>,
    low: [Vec<u8>; D],
    high: [Vec<u8>; D],
    /// Where the boxes of each lower byte start, and two more.
    starts: [u32; 258],
    len: usize,
}

impl<const D: usize> Default for Side<D> {
    fn default() -> Self {
        let columns = || std::array::from_fn(|_| vec![0; WIDEST]);
        Self { raw: Vec::new(), index: Vec::new(), low: columns(), high: columns(), starts: [0; 258], len: 0 }
    }
}

impl<const D: usize> Side<D> {
    fn bytes(&self) -> usize {
        let columns: usize = self.low.iter().chain(&self.high).map(Vec::capacity).sum();
        columns + self.raw.capacity() * 2 * D + self.index.capacity() * 4
    }

    fn resize(&mut self, len: usize) {
        self.len = len;
        if self.raw.len() < len {
            self.raw.resize(len, ([0; D], [0; D]));
            self.index.resize(len, 0);
            self.low.iter_mut().chain(&mut self.high).for_each(|column| column.resize(len + WIDEST, 0));
        }
    }

    /// Sorts the entries by their lower byte on `axis`.
    #[inline(always)]
    fn load<T: Real>(&mut self, entries: &[Entry<D, T>], map: &Map<D, T>, axis: usize) {
        self.resize(entries.len());
        self.starts = [0; 258];
        for (entry, raw) in entries.iter().zip(&mut self.raw) {
            *raw = map.quantise(&entry.aabb);
            self.starts[raw.0[axis] as usize + 2] += 1;
        }
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
struct Map<const D: usize, T> {
    origin: [T; D],
    scale: [T; D],
}

impl<const D: usize, T: Real> Map<D, T> {
    /// Spreads the bounds over all bytes. A scale of zero or infinity (no extent, or one that overflows) is monotone as well:
    /// NaN becomes 0, where only the origin itself, or everything, ends up.
    fn over(bounds: &Aabb<D, T>) -> Self {
        let size = bounds.size();
        let mut scale = [T::ZERO; D];
        for k in 0..D {
            scale[k] = T::from_f64(255.9) / size[k];
        }
        Self { origin: bounds.min, scale }
    }

    #[inline(always)]
    fn quantise(&self, value: &Aabb<D, T>) -> ([u8; D], [u8; D]) {
        let (mut low, mut high) = ([0; D], [0; D]);
        for k in 0..D {
            low[k] = ((value.min[k] - self.origin[k]) * self.scale[k]).truncate().min(255) as u8;
            high[k] = ((value.max[k] - self.origin[k]) * self.scale[k]).truncate().min(255) as u8;
        }
        (low, high)
    }
}

/// All overlapping pairs of `own` boxes with each other, if `within`, and of an own box with one of `others`.
pub(crate) fn join<const D: usize, T: Real>(
    kernels: Kernels,
    own: &[Entry<D, T>],
    others: &[Entry<D, T>],
    within: bool,
    scratch: &mut Scratch<D, T>,
    hits: &mut Hits,
) {
    if !own.is_empty() {
        kernels.run(NodeJoin { own, others, within, scratch, hits });
    }
}

struct NodeJoin<'a, 'h, 'r, const D: usize, T> {
    own: &'a [Entry<D, T>],
    others: &'a [Entry<D, T>],
    within: bool,
    scratch: &'a mut Scratch<D, T>,
    hits: &'h mut Hits<'r>,
}

impl<const D: usize, T: Real> Kernel for NodeJoin<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { own, others, within, scratch, hits } = self;
        let bounds = bounds(own);
        let near = cull(others, &bounds, &mut scratch.near);
        if !within && near == 0 {
            return;
        }
        let axis = widest(own);
        let map = Map::over(&bounds);
        let Scratch { own: left, other: right, near: others, candidates, runs } = scratch;
        left.load(own, &map, axis);
        let mut out = Out { candidates, waiting: 0, runs, hits };
        if within {
            for row in 0..left.len {
                let end = left.starts[left.high[axis][row] as usize + 1] as usize;
                out.row::<D, T, S>(simd, axis, (left, row), (left, row + 1, end), (own, own));
            }
            out.confirm(left, left, own, own);
        }
        if near == 0 {
            return;
        }
        let others = &others[..near];
        right.load(others, &map, axis);
        // Whoever has the lower byte meets those of the other side from its own byte on; of equals, the own box does.
        for row in 0..left.len {
            let (first, last) = (left.low[axis][row] as usize, left.high[axis][row] as usize);
            let (from, end) = (right.starts[first] as usize, right.starts[last + 1] as usize);
            out.row::<D, T, S>(simd, axis, (left, row), (right, from, end), (own, others));
        }
        out.confirm(left, right, own, others);
        for row in 0..right.len {
            let (first, last) = (right.low[axis][row] as usize, right.high[axis][row] as usize);
            let (from, end) = (left.starts[first + 1] as usize, left.starts[last + 1] as usize);
            out.row::<D, T, S>(simd, axis, (right, row), (left, from, end), (others, own));
        }
        out.confirm(right, left, others, own);
    }
}

/// Candidates on their way to hits.
struct Out<'a, 'h, 'r> {
    /// `(row, column)` in two halves of a word.
    candidates: &'a mut Vec<u64>,
    waiting: usize,
    runs: &'a mut Runs,
    hits: &'h mut Hits<'r>,
}

impl Out<'_, '_, '_> {
    /// Compares box `row` of one side with boxes `from..end` of another, on all axes but the sweep axis.
    #[inline(always)]
    fn row<const D: usize, T: Real, S: Simd>(
        &mut self,
        _: S,
        axis: usize,
        (rows, row): (&Side<D>, usize),
        (columns, from, end): (&Side<D>, usize, usize),
        (row_entries, column_entries): (&[Entry<D, T>], &[Entry<D, T>]),
    ) {
        if from >= end || self.hits.stopped() {
            return;
        }
        let length = end - from;
        self.runs.rows += 1;
        self.runs.tests += length as u64;
        self.runs.short += u64::from(length <= 8);
        self.hits.count_tests(length as u64);
        if self.candidates.len() < self.waiting + length + WIDEST {
            self.candidates.resize((self.waiting + length + WIDEST).next_power_of_two(), 0);
        }
        let n = S::U8::N;
        assert!(row < rows.len && end <= columns.len);
        // SAFETY: (isa) `S` is proven by the kernel table; (in bounds) every column is WIDEST bytes longer than the side, and a step
        // appends at most the lanes it counts plus three spare ones, for which there is room.
        unsafe {
            let (mut low, mut high) = ([S::U8::splat(0); D], [S::U8::splat(0); D]);
            let (mut lows, mut highs) = ([std::ptr::null::<u8>(); D], [std::ptr::null::<u8>(); D]);
            for k in 1..D {
                let other = if axis + k < D { axis + k } else { axis + k - D };
                low[k] = S::U8::splat(*rows.low[other].get_unchecked(row));
                high[k] = S::U8::splat(*rows.high[other].get_unchecked(row));
                lows[k] = columns.low[other].as_ptr();
                highs[k] = columns.high[other].as_ptr();
            }
            let candidates = self.candidates.as_mut_ptr();
            let (mut at, mut waiting) = (from, self.waiting);
            while at < end {
                let mut outside = S::U8::splat(0);
                for k in 1..D {
                    outside = outside.or(S::U8::load(lows[k].add(at)).excess(high[k]));
                    outside = outside.or(low[k].excess(S::U8::load(highs[k].add(at))));
                }
                let mut bits = outside.zeros() & (!0u64 >> (64 - (end - at).min(n)));
                let count = bits.count_ones() as usize;
                let base = (row as u64) << 32 | at as u64;
                // The first four are written whether they exist or not: most steps have fewer, and nobody has to guess.
                for spare in 0..4 {
                    *candidates.add(waiting + spare) = base + u64::from(bits.trailing_zeros());
                    bits &= bits.wrapping_sub(1);
                }
                let mut more = waiting + 4;
                while bits != 0 {
                    *candidates.add(more) = base + u64::from(bits.trailing_zeros());
                    bits &= bits - 1;
                    more += 1;
                }
                waiting += count;
                at += n;
            }
            self.waiting = waiting;
        }
        if self.waiting >= BATCH {
            self.confirm(rows, columns, row_entries, column_entries);
        }
    }

    /// Turns the candidates whose boxes overlap into hits.
    #[inline(always)]
    fn confirm<const D: usize, T: Real>(
        &mut self,
        rows: &Side<D>,
        columns: &Side<D>,
        row_entries: &[Entry<D, T>],
        column_entries: &[Entry<D, T>],
    ) {
        let count = std::mem::take(&mut self.waiting);
        if count == 0 {
            return;
        }
        let room = self.hits.room(count + 1);
        let mut found = 0;
        for &candidate in &self.candidates[..count] {
            let (row, column) = ((candidate >> 32) as usize, candidate as u32 as usize);
            let (a, b) = (&row_entries[rows.index[row] as usize], &column_entries[columns.index[column] as usize]);
            room[found].write(Pair::new(a.id, b.id));
            found += usize::from(a.aabb.overlaps(&b.aabb));
        }
        // SAFETY: (initialised, room) `found <= count` pairs were written, one behind the other.
        unsafe { self.hits.commit(found) };
    }
}

/// The bounds of some boxes, at least one.
#[inline(always)]
fn bounds<const D: usize, T: Real>(entries: &[Entry<D, T>]) -> Aabb<D, T> {
    let (mut min, mut max) = (entries[0].aabb.min, entries[0].aabb.max);
    for entry in entries {
        for k in 0..D {
            min[k] = if entry.aabb.min[k] < min[k] { entry.aabb.min[k] } else { min[k] };
            max[k] = if entry.aabb.max[k] > max[k] { entry.aabb.max[k] } else { max[k] };
        }
    }
    Aabb { min, max }
}

/// Copies those that overlap the bounds; returns how many.
#[inline(always)]
fn cull<const D: usize, T: Real>(entries: &[Entry<D, T>], bounds: &Aabb<D, T>, near: &mut Vec<Entry<D, T>>) -> usize {
    if near.len() < entries.len() {
        near.resize(entries.len(), Entry { aabb: Aabb::default(), id: 0, moved: false });
    }
    let mut count = 0;
    for entry in entries {
        near[count] = *entry;
        count += usize::from(bounds.overlaps(&entry.aabb));
    }
    count
}

/// The axis on which the centres of some of the boxes, evenly spread over the list, vary most.
#[inline(always)]
fn widest<const D: usize, T: Real>(entries: &[Entry<D, T>]) -> usize {
    let (mut sum, mut squares, mut count) = ([T::ZERO; D], [T::ZERO; D], 0);
    // Relative to the first one: far from the origin, squares would swallow the differences.
    let origin = entries[0].aabb.center();
    let stride = entries.len().div_ceil(SAMPLE);
    let mut at = 0;
    while at < entries.len() {
        let center = entries[at].aabb.center();
        for k in 0..D {
            let d = center[k] - origin[k];
            sum[k] += d;
            squares[k] += d * d;
        }
        count += 1;
        at += stride;
    }
    let share = T::ONE / T::from_f64(f64::from(count));
    let mut best = 0;
    let mut most = T::NEG_INFINITY;
    for k in 0..D {
        let variance = squares[k] - sum[k] * sum[k] * share;
        if variance > most {
            (best, most) = (k, variance);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Isa;

    fn entries<const D: usize, T: Real>(count: u32, first: u32, mut state: u64, spread: f64) -> Vec<Entry<D, T>> {
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f64 / (1u64 << 24) as f64
        };
        let entry = |id| {
            let min: [T; D] = std::array::from_fn(|_| T::from_f64((random() * 40.0).floor() * spread));
            let max = std::array::from_fn(|k| min[k] + T::from_f64((random() * 6.0).floor() * spread));
            Entry { aabb: Aabb::new(min, max), id: first + id, moved: false }
        };
        (0..count).map(entry).collect()
    }

    fn agrees<const D: usize, T: Real>(spread: f64) {
        for (own, other) in [(1, 0), (3, 2), (300, 0), (300, 170), (40, 500)] {
            let (a, b) = (entries::<D, T>(own, 0, 1, spread), entries::<D, T>(other, 1000, 2, spread));
            let mut expected = Vec::new();
            for (i, x) in a.iter().enumerate() {
                expected.extend(a[i + 1..].iter().chain(&b).filter(|y| x.aabb.overlaps(&y.aabb)).map(|y| Pair::new(x.id, y.id)));
            }
            expected.sort_unstable();
            let mut lists = Isa::available().map(|isa| {
                let mut hits = Hits::plain();
                let kernels = Kernels::new(isa).unwrap();
                join(kernels, &a, &b, true, &mut Scratch::default(), &mut hits);
                hits.finish().0
            });
            let first = lists.next().unwrap();
            let mut sorted = first.clone();
            sorted.sort_unstable();
            assert!(sorted == expected, "{own} and {other} boxes: {} of {} pairs", sorted.len(), expected.len());
            assert!(lists.all(|list| list == first), "the list depends on the instruction set");
        }
    }

    #[test]
    fn all_pairs_of_a_node_at_any_scale_in_the_same_order_on_every_isa() {
        for spread in [1.0, 0.0, 1e-44, 1e37] {
            agrees::<2, f32>(spread);
            agrees::<3, f32>(spread);
            agrees::<3, f64>(spread);
        }
    }
}
