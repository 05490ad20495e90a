//! The sweeps of a node: each row is compared with a run of boxes, and the candidates are confirmed.

use super::byte_boxes::ByteBoxes;
use super::cache::AtRest;
use super::{BATCH, Entry, Runs, WIDEST};
use crate::geometry::Real;
use crate::kernels::arch::{Bytes, Simd};
use crate::kernels::pair_sink::PairSink;
use crate::kernels::prefetch;
use crate::pair::Pair;

/// How many candidates ahead a cached box is prefetched.
const AHEAD: usize = 8;

/// Boxes as bytes, and the entries that they were loaded from.
pub(super) type Loaded<'a, const D: usize, T> = (&'a ByteBoxes<D>, &'a [Entry<D, T>]);

#[inline(always)]
pub(super) fn sweep_within<const D: usize, T: Real, S: Simd>(simd: S, side: Loaded<'_, D, T>, out: &mut Out<'_, '_, '_>) {
    for row in 0..side.0.len {
        let end = side.0.starts[side.0.high[out.axis][row] as usize + 1] as usize;
        out.row(simd, (side.0, row), (side.0, row + 1, end));
        out.confirm_batch(side, side);
    }
    out.confirm(side, side);
}

/// Of two boxes, the one with the lower byte is the row, and is tested against the boxes of the other list from its byte on. If the bytes are equal, the
/// row is the box of the left list.
#[inline(always)]
pub(super) fn sweep_between<const D: usize, T: Real, S: Simd>(
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

/// Tests boxes that moved, and that `meets` selects, against the cached ones that may reach them.
#[inline(always)]
pub(super) fn sweep_cached<const D: usize, T: Real, S: Simd>(
    simd: S,
    rows: Loaded<'_, D, T>,
    (cache, rest): (&ByteBoxes<D>, AtRest<'_, D, T>),
    meets: impl Fn(&Entry<D, T>) -> bool,
    out: &mut Out<'_, '_, '_>,
) {
    if cache.len == 0 {
        return;
    }
    for row in 0..rows.0.len {
        let entry = &rows.1[rows.0.index[row] as usize];
        if entry.moved && meets(entry) {
            let (from, end) = cache.around(rows.0.low[out.axis][row], rows.0.high[out.axis][row]);
            out.row(simd, (rows.0, row), (cache, from, end));
            if out.waiting >= BATCH {
                out.confirm_cached(rows, (cache, rest));
            }
        }
    }
    out.confirm_cached(rows, (cache, rest));
}

/// The candidates that wait for confirmation, and the sink for pairs.
pub(super) struct Out<'a, 'h, 'r> {
    /// `(row, column)` in two halves of a word.
    pub(super) candidates: &'a mut Vec<u64>,
    pub(super) waiting: usize,
    /// The sweep axis, which is not compared.
    pub(super) axis: usize,
    pub(super) runs: &'a mut Runs,
    pub(super) hits: &'h mut PairSink<'r>,
}

impl Out<'_, '_, '_> {
    /// Compares box `row` of one list with boxes `from..end` of another, on all axes but the sweep axis.
    #[inline(always)]
    fn row<const D: usize, S: Simd>(
        &mut self,
        _: S,
        (rows, row): (&ByteBoxes<D>, usize),
        (columns, from, end): (&ByteBoxes<D>, usize, usize),
    ) {
        let axis = self.axis;
        if from >= end || self.hits.stopped() {
            return;
        }
        let length = end - from;
        self.runs.add(length);
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
                // The first four are written whether they exist or not: most steps have fewer, and there is no branch to mispredict.
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

    /// Confirms if many candidates wait.
    #[inline(always)]
    fn confirm_batch<const D: usize, T: Real>(&mut self, rows: Loaded<'_, D, T>, columns: Loaded<'_, D, T>) {
        if self.waiting >= BATCH {
            self.confirm(rows, columns);
        }
    }

    /// Reports the candidates whose boxes overlap, and of which at least one moved.
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
            found += usize::from(a.aabb.overlaps(&b.aabb) & (a.moved | b.moved));
        }
        // SAFETY: (initialized, room) `found <= count` pairs were written, one behind the other.
        unsafe { self.hits.commit(found) };
    }

    /// Like [`confirm`](Out::confirm), where the columns are cached objects: only those that have rested since count.
    #[inline(always)]
    fn confirm_cached<const D: usize, T: Real>(
        &mut self,
        rows: Loaded<'_, D, T>,
        (cache, rest): (&ByteBoxes<D>, AtRest<'_, D, T>),
    ) {
        let count = std::mem::take(&mut self.waiting);
        let object = |candidate: u64| cache.index[candidate as u32 as usize];
        let room = self.hits.room(count + 1);
        let mut found = 0;
        for at in 0..count {
            if let Some(&ahead) = self.candidates[..count].get(at + AHEAD) {
                prefetch(rest.boxes, object(ahead) as usize);
            }
            let (row, id) = ((self.candidates[at] >> 32) as usize, object(self.candidates[at]));
            let a = &rows.1[rows.0.index[row] as usize];
            room[found].write(Pair::new(a.id, id));
            found += usize::from(a.aabb.overlaps(&rest.boxes[id as usize]) & rest.holds(id));
        }
        // SAFETY: (initialized, room) `found <= count` pairs were written, one behind the other.
        unsafe { self.hits.commit(found) };
    }
}
