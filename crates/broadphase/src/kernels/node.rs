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
    /// The longest box on the sweep axis, in bytes.
    longest: u8,
    len: usize,
}

impl<const D: usize> Default for Side<D> {
    fn default() -> Self {
        let columns = || std::array::from_fn(|_| vec![0; WIDEST]);
        Self { raw: Vec::new(), index: Vec::new(), low: columns(), high: columns(), starts: [0; 258], longest: 0, len: 0 }
    }
}

impl<const D: usize> Side<D> {
    fn bytes(&self) -> usize {
        let columns: usize = self.low.iter().chain(&self.high).map(Vec::capacity).sum();
        columns + self.raw.capacity() * 2 * D + self.index.capacity() * 4
    }

    /// The boxes that may reach back to a box from byte `first` to byte `last`: a run of the order.
    #[inline(always)]
    fn around(&self, first: u8, last: u8) -> (usize, usize) {
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

    /// Sorts the entries by their lower byte on `axis`.
    #[inline(always)]
    fn load<T: Real>(&mut self, entries: &[Entry<D, T>], map: &Map<D, T>, axis: usize) {
        self.resize(entries.len());
        self.starts = [0; 258];
        let mut longest = 0;
        for (entry, raw) in entries.iter().zip(&mut self.raw) {
            *raw = map.quantise(&entry.aabb);
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

/// Which pairs a join is to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// All.
    All,
    /// Those with at least one box that moved.
    Moved,
}

/// All overlapping pairs of `own` boxes with each other, and of an own box with one of `others`. `bounds` is around the own ones.
pub(crate) fn join<const D: usize, T: Real>(
    kernels: Kernels,
    own: &[Entry<D, T>],
    bounds: &Aabb<D, T>,
    others: &[Entry<D, T>],
    which: Which,
    scratch: &mut Scratch<D, T>,
    hits: &mut Hits,
) {
    if !own.is_empty() {
        kernels.run(NodeJoin { own, bounds, others, which, scratch, hits });
    }
}

struct NodeJoin<'a, 'h, 'r, const D: usize, T> {
    own: &'a [Entry<D, T>],
    bounds: &'a Aabb<D, T>,
    others: &'a [Entry<D, T>],
    which: Which,
    scratch: &'a mut Scratch<D, T>,
    hits: &'h mut Hits<'r>,
}

impl<const D: usize, T: Real> Kernel for NodeJoin<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { own, bounds, others, which, scratch, hits } = self;
        let near = cull(others, bounds, &mut scratch.near);
        let axis = widest(own);
        let map = Map::over(bounds);
        let Scratch { own: left, other: right, near: others, candidates, runs } = scratch;
        let others = &others[..near];
        left.load(own, &map, axis);
        if near > 0 {
            right.load(others, &map, axis);
        }
        let mut out = Out { candidates, waiting: 0, axis, runs, hits };
        let (left, right) = ((&*left, own), (&*right, others));
        match which {
            Which::All => {
                sweep_within(simd, left, &mut out);
                if near > 0 {
                    sweep_between(simd, left, right, &mut out);
                }
            }
            Which::Moved => {
                sweep_moved_within(simd, left, &mut out);
                if near > 0 {
                    sweep_moved_between(simd, left, right, &mut out);
                }
            }
        }
    }
}

/// A side, and its entries in the order given.
type Loaded<'a, const D: usize, T> = (&'a Side<D>, &'a [Entry<D, T>]);

/// Did the box at a position of the order move?
#[inline(always)]
fn moved<const D: usize, T>(side: Loaded<'_, D, T>, position: usize) -> bool {
    side.1[side.0.index[position] as usize].moved
}

#[inline(always)]
fn sweep_within<const D: usize, T: Real, S: Simd>(simd: S, side: Loaded<'_, D, T>, out: &mut Out<'_, '_, '_>) {
    for row in 0..side.0.len {
        let end = side.0.starts[side.0.high[out.axis][row] as usize + 1] as usize;
        out.row(simd, (side.0, row), (side.0, row + 1, end));
        out.confirm_batch(side, side);
    }
    out.confirm(side, side);
}

/// Whoever has the lower byte meets those of the other side from its own byte on; of equals, the box of the first side does.
#[inline(always)]
fn sweep_between<const D: usize, T: Real, S: Simd>(
    simd: S,
    left: Loaded<'_, D, T>,
    right: Loaded<'_, D, T>,
    out: &mut Out<'_, '_, '_>,
) {
    for row in 0..left.0.len {
        let (first, last) = (left.0.low[out.axis][row] as usize, left.0.high[out.axis][row] as usize);
        let (from, end) = (right.0.starts[first] as usize, right.0.starts[last + 1] as usize);
        out.row(simd, (left.0, row), (right.0, from, end));
        out.confirm_batch(left, right);
    }
    out.confirm(left, right);
    for row in 0..right.0.len {
        let (first, last) = (right.0.low[out.axis][row] as usize, right.0.high[out.axis][row] as usize);
        let (from, end) = (left.0.starts[first + 1] as usize, left.0.starts[last + 1] as usize);
        out.row(simd, (right.0, row), (left.0, from, end));
        out.confirm_batch(right, left);
    }
    out.confirm(right, left);
}

/// Boxes that moved meet the run behind them, and those before them that are at rest and may reach them.
#[inline(always)]
fn sweep_moved_within<const D: usize, T: Real, S: Simd>(simd: S, side: Loaded<'_, D, T>, out: &mut Out<'_, '_, '_>) {
    for row in 0..side.0.len {
        if !moved(side, row) {
            continue;
        }
        let (from, end) = side.0.around(side.0.low[out.axis][row], side.0.high[out.axis][row]);
        out.row(simd, (side.0, row), (side.0, row + 1, end));
        let before = out.waiting;
        out.row(simd, (side.0, row), (side.0, from, row));
        out.drop_moved(side, before);
        out.confirm_batch(side, side);
    }
    out.confirm(side, side);
}

/// Own boxes that moved meet all others that may reach them; others that moved meet the own boxes at rest.
#[inline(always)]
fn sweep_moved_between<const D: usize, T: Real, S: Simd>(
    simd: S,
    left: Loaded<'_, D, T>,
    right: Loaded<'_, D, T>,
    out: &mut Out<'_, '_, '_>,
) {
    for row in 0..left.0.len {
        if moved(left, row) {
            let (from, end) = right.0.around(left.0.low[out.axis][row], left.0.high[out.axis][row]);
            out.row(simd, (left.0, row), (right.0, from, end));
            out.confirm_batch(left, right);
        }
    }
    out.confirm(left, right);
    for row in 0..right.0.len {
        if moved(right, row) {
            let (from, end) = left.0.around(right.0.low[out.axis][row], right.0.high[out.axis][row]);
            let before = out.waiting;
            out.row(simd, (right.0, row), (left.0, from, end));
            out.drop_moved(left, before);
            out.confirm_batch(right, left);
        }
    }
    out.confirm(right, left);
}

/// Candidates on their way to hits.
struct Out<'a, 'h, 'r> {
    /// `(row, column)` in two halves of a word.
    candidates: &'a mut Vec<u64>,
    waiting: usize,
    /// The sweep axis, which is not compared.
    axis: usize,
    runs: &'a mut Runs,
    hits: &'h mut Hits<'r>,
}

impl Out<'_, '_, '_> {
    /// Compares box `row` of one side with boxes `from..end` of another, on all axes but the sweep axis.
    #[inline(always)]
    fn row<const D: usize, S: Simd>(
        &mut self,
        _: S,
        (rows, row): (&Side<D>, usize),
        (columns, from, end): (&Side<D>, usize, usize),
    ) {
        let axis = self.axis;
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
    }

    /// Drops the candidates from number `from` on whose column moved: that one meets this row from its own side.
    #[inline(always)]
    fn drop_moved<const D: usize, T>(&mut self, columns: Loaded<'_, D, T>, from: usize) {
        let mut end = from;
        for at in from..self.waiting {
            let candidate = self.candidates[at];
            self.candidates[end] = candidate;
            end += usize::from(!moved(columns, candidate as u32 as usize));
        }
        self.waiting = end;
    }

    /// Confirms if many candidates wait.
    #[inline(always)]
    fn confirm_batch<const D: usize, T: Real>(&mut self, rows: Loaded<'_, D, T>, columns: Loaded<'_, D, T>) {
        if self.waiting >= BATCH {
            self.confirm(rows, columns);
        }
    }

    /// Turns the candidates whose boxes overlap into hits.
    #[inline(always)]
    fn confirm<const D: usize, T: Real>(&mut self, rows: Loaded<'_, D, T>, columns: Loaded<'_, D, T>) {
        let count = std::mem::take(&mut self.waiting);
        if count == 0 {
            return;
        }
        let room = self.hits.room(count + 1);
        let mut found = 0;
        for &candidate in &self.candidates[..count] {
            let (row, column) = ((candidate >> 32) as usize, candidate as u32 as usize);
            let (a, b) = (&rows.1[rows.0.index[row] as usize], &columns.1[columns.0.index[column] as usize]);
            room[found].write(Pair::new(a.id, b.id));
            found += usize::from(a.aabb.overlaps(&b.aabb));
        }
        // SAFETY: (initialised, room) `found <= count` pairs were written, one behind the other.
        unsafe { self.hits.commit(found) };
    }
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
            Entry { aabb: Aabb::new(min, max), id: first + id, moved: random() < 0.2 }
        };
        (0..count).map(entry).collect()
    }

    fn agrees<const D: usize, T: Real>(spread: f64, which: Which) {
        for (own, other) in [(1, 0), (3, 2), (300, 0), (300, 170), (40, 500)] {
            let (a, b) = (entries::<D, T>(own, 0, 1, spread), entries::<D, T>(other, 1000, 2, spread));
            let bounds = a.iter().fold(Aabb::empty(), |all, entry| all.union(&entry.aabb));
            let mut expected = Vec::new();
            for (i, x) in a.iter().enumerate() {
                let pairs = a[i + 1..].iter().chain(&b).filter(|y| x.aabb.overlaps(&y.aabb));
                let wanted = pairs.filter(|y| which == Which::All || x.moved || y.moved);
                expected.extend(wanted.map(|y| Pair::new(x.id, y.id)));
            }
            expected.sort_unstable();
            let mut lists = Isa::available().map(|isa| {
                let mut hits = Hits::plain();
                let kernels = Kernels::new(isa).unwrap();
                join(kernels, &a, &bounds, &b, which, &mut Scratch::default(), &mut hits);
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
            for which in [Which::All, Which::Moved] {
                agrees::<2, f32>(spread, which);
                agrees::<3, f32>(spread, which);
                agrees::<3, f64>(spread, which);
            }
        }
    }
}
