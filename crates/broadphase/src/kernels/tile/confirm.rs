//! Confirmation of the candidates of a sweep: by words, and by boxes if words are equal.

use std::mem::MaybeUninit;

use super::sweep::{Find, LONGEST};
use super::{BATCH, COORDINATES, Record, Scratch};
use crate::geometry::{Aabb, Real};
use crate::kernels::arch::{Registers, Simd, Words};
use crate::kernels::pair_sink::PairSink;
use crate::pair::Pair;

/// All words, as bits of [`Words::zeros`].
const ALL: u32 = 0xffff;
/// The lowest value that is not before the tile, in the words of lower coordinates.
pub(in crate::kernels) const LOWEST_INSIDE: [u16; 8] = [1, 0, 1, 1, 0, 0, 0, 0];
/// Candidates of a find that are written unconditionally, by the plain loop and by the widest registers; and the most that one find writes.
const SPARE: usize = 4;
pub(in crate::kernels) const WIDEST: usize = 8;
pub(in crate::kernels) const MOST: usize = LONGEST + WIDEST;
/// Candidates that the widest registers confirm at once.
pub(in crate::kernels) const FOUR: usize = 4;
/// The number of undecided candidates in a batch from which boxes are copied into sorted order.
const MANY: usize = BATCH / 4;

/// Two sorted records whose bytes overlap: a row, in the upper half, and a column. One word, so that one store writes it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub(crate) struct Candidate(pub(in crate::kernels) u64);

impl Candidate {
    /// The record `at`, as a candidate of `row`.
    #[inline(always)]
    fn new(row: u32, at: u32) -> Self {
        Self(u64::from(row) << 32 | u64::from(at))
    }

    /// The record `places` further on, as a candidate of the same row.
    #[inline(always)]
    fn behind(self, places: u32) -> Self {
        Self(self.0 + u64::from(places))
    }

    /// The row and the column.
    #[inline(always)]
    pub(in crate::kernels) fn places(self) -> (usize, usize) {
        ((self.0 >> 32) as usize, self.0 as u32 as usize)
    }
}

/// The steps of a confirmation that an instruction set can do faster than the portable code, which they default to. All forms give the
/// same results.
pub(crate) trait Confirmation: Registers {
    /// Writes `first`, moved by the place of each bit that is set, to the start of `room`, which has space for [`MOST`].
    ///
    /// The number is unpredictable, so some are written without a branch, whether they exist or not.
    #[inline(always)]
    fn list(self, mut bits: u64, first: Candidate, room: &mut [Candidate]) {
        let (start, more) = room.split_at_mut(SPARE);
        for candidate in start {
            *candidate = first.behind(bits.trailing_zeros());
            bits &= bits.wrapping_sub(1);
        }
        for candidate in more {
            if bits == 0 {
                break;
            }
            *candidate = first.behind(bits.trailing_zeros());
            bits &= bits - 1;
        }
    }

    /// Confirms the first candidates, as many as fit into whole registers: writes pairs to `room`, and undecided ones to `open`. Returns their numbers,
    /// and the other candidates. If not `CANONICAL`, a pair is the id of the row and that of the column.
    ///
    /// # Safety
    /// *In bounds*: candidates are places in `rows` and in `sorted`. *Room*: for as many pairs and open candidates, and [`FOUR`] more.
    #[inline(always)]
    unsafe fn confirm_by_words<'c, const CANONICAL: bool>(
        self,
        _rows: &[Record],
        _sorted: &[Record],
        candidates: &'c [Candidate],
        _room: &mut [MaybeUninit<Pair>],
        _open: &mut [Candidate],
    ) -> (usize, usize, &'c [Candidate]) {
        (0, 0, candidates)
    }
}

impl Find {
    /// Writes the candidates; returns how many there are.
    #[inline(always)]
    fn list<S: Simd>(&self, simd: S, room: &mut [Candidate]) -> usize {
        simd.list(self.bits, Candidate::new(self.row, self.at), room);
        self.bits.count_ones() as usize
    }
}

/// Writes the candidates of the first finds, about a batch of them, and removes those finds; returns how many candidates there are.
#[inline(always)]
pub(super) fn list_some<S: Simd>(simd: S, finds: &mut &[Find], candidates: &mut [Candidate]) -> usize {
    let mut count = 0;
    while let Some((find, rest)) = finds.split_first()
        && count < BATCH
    {
        count += find.list(simd, &mut candidates[count..count + MOST]);
        *finds = rest;
    }
    count
}

/// The box of a sorted record, so that one comparison of all lanes tests two for overlap: `min` and `-max` of the one are at most `max`
/// and `-min` of the other. Unused lanes are zero.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct SortedBox<T>([[T; 4]; 2]);

impl<T: Real> SortedBox<T> {
    #[inline(always)]
    fn new<const D: usize>(value: &Aabb<D, T>) -> Self {
        let mut sides = [[T::ZERO; 4]; 2];
        for k in 0..D {
            (sides[0][k], sides[1][k]) = (value.min[k], -value.max[k]);
        }
        Self(sides)
    }

    #[inline(always)]
    fn overlaps(&self, other: &Self) -> bool {
        let ([low, high], [other_low, other_high]) = (&self.0, &other.0);
        (0..4).fold(true, |all, k| all & (low[k] <= -other_high[k]) & (high[k] <= -other_low[k]))
    }
}

/// Turns finds into pairs: the records of the rows, if they are not those of the columns, the boxes, and which pairs of objects are accepted.
#[derive(Clone, Copy)]
pub(super) struct Confirm<'a, const D: usize, T, F> {
    pub(super) rows: Option<&'a [Record]>,
    pub(super) boxes: &'a [Aabb<D, T>],
    pub(super) accepts: F,
}

impl<const D: usize, T: Real, F: Fn(u32, u32) -> bool + Copy> Confirm<'_, D, T, F> {
    /// Confirms the finds if many are waiting, or if these are the last ones. Returns whether the join must stop.
    #[inline(always)]
    pub(super) fn confirm_many<S: Simd>(
        self,
        simd: S,
        scratch: &mut Scratch<T>,
        waiting: &mut usize,
        is_last: bool,
        hits: &mut PairSink,
    ) -> bool {
        if *waiting < BATCH && !is_last {
            return false;
        }
        self.confirm(simd, scratch, std::mem::take(waiting), hits);
        hits.stopped()
    }

    /// Confirms the first `count` finds.
    #[inline(always)]
    pub(super) fn confirm<S: Simd>(self, simd: S, scratch: &mut Scratch<T>, count: usize, hits: &mut PairSink) {
        let Scratch { sorted, len, finds, candidates, open, sorted_boxes, .. } = scratch;
        let sorted = &sorted[..*len];
        let mut finds = &finds[..count];
        while !finds.is_empty() {
            let waiting = list_some(simd, &mut finds, candidates);
            let open = self.confirm_by_words(simd, sorted, &candidates[..waiting], open, hits);
            // Many are, where objects stand side by side: the boxes of the tile are copied into the order of the records, if there is memory.
            if self.rows.is_none()
                && sorted_boxes.is_empty()
                && open.len() > MANY
                && sorted_boxes.try_reserve(sorted.len()).is_ok()
            {
                for record in sorted {
                    sorted_boxes.push(SortedBox::new(&self.boxes[record.id() as usize])); // reserved
                }
            }
            if self.rows.is_none() && !sorted_boxes.is_empty() {
                let sorted_boxes = &sorted_boxes[..sorted.len()];
                self.confirm_by_boxes(sorted, open, hits, |(row, column), _| sorted_boxes[row].overlaps(&sorted_boxes[column]));
            } else {
                self.confirm_by_boxes(sorted, open, hits, |_, (a, b)| overlap(self.boxes, a, b));
            }
        }
    }

    /// Reports the candidates that words confirm; returns those that words cannot decide, in `open`. Unpredictable, so computed without a
    /// branch: each candidate is written as a pair, and counted if it is one. (Writing each to `open` in the same way was slower.)
    #[inline(always)]
    fn confirm_by_words<'o, S: Simd>(
        self,
        simd: S,
        sorted: &[Record],
        candidates: &[Candidate],
        open: &'o mut [Candidate],
        hits: &mut PairSink,
    ) -> &'o [Candidate] {
        let rows = self.rows.unwrap_or(sorted);
        let room = hits.room(candidates.len() + FOUR);
        let (mut found, mut left, mut rest) = (0, 0, candidates);
        if self.rows.is_none() {
            // SAFETY: (in bounds, room) as below.
            (found, left, rest) = unsafe { simd.confirm_by_words::<true>(sorted, sorted, candidates, room, open) };
        }
        for candidate in rest {
            let (row, column) = candidate.places();
            // SAFETY: (in bounds) candidates come from sweeps of the rows over the sorted records; (room) no more is found than there are
            // candidates, nor left open.
            unsafe {
                let (a, b) = (rows.get_unchecked(row), sorted.get_unchecked(column));
                let (pair, is_pair, is_open) = compare(simd, a, b);
                let accepted = is_pair & (self.accepts)(a.id(), b.id());
                room.get_unchecked_mut(found).write(pair);
                found += usize::from(accepted & !is_open);
                if accepted & is_open {
                    *open.get_unchecked_mut(left) = *candidate;
                    left += 1;
                }
            }
        }
        // SAFETY: (initialized, room) `found` pairs were written, one behind the other, and at most as many as candidates.
        unsafe { hits.commit(found) };
        &open[..left]
    }

    /// Reports the undecided candidates whose boxes overlap: `overlap` takes two places in the lists, and two objects.
    #[inline(always)]
    fn confirm_by_boxes(
        self,
        sorted: &[Record],
        open: &[Candidate],
        hits: &mut PairSink,
        overlap: impl Fn((usize, usize), (u32, u32)) -> bool,
    ) {
        let rows = self.rows.unwrap_or(sorted);
        let room = hits.room(open.len());
        let mut found = 0;
        for candidate in open {
            let (row, column) = candidate.places();
            // SAFETY: (in bounds, room) as above.
            unsafe {
                let (a, b) = (rows.get_unchecked(row).id(), sorted.get_unchecked(column).id());
                room.get_unchecked_mut(found).write(Pair::new(a, b));
                found += usize::from(overlap((row, column), (a, b)));
            }
        }
        // SAFETY: (initialized, room) `found` pairs were written, one behind the other, and at most as many as candidates.
        unsafe { hits.commit(found) };
    }
}

/// The pair of two records; whether words allow it in this tile; and whether only the boxes can decide.
#[inline(always)]
pub(super) fn compare<S: Simd>(_: S, a: &Record, b: &Record) -> (Pair, bool, bool) {
    // SAFETY: (isa) `S` is proven by the kernel table.
    let (fits, equal) = unsafe {
        let (own, other) = (S::U16::load(&a.0), S::U16::load(&b.0));
        let bound = own.reach();
        let both_before = S::U16::load(&LOWEST_INSIDE).excess(other.or(own));
        (other.excess(bound).or(both_before).zeros(), other.equal(bound))
    };
    (Pair::new(a.id(), b.id()), fits == ALL, equal & COORDINATES != 0)
}

/// The upper bounds of the words of a record that overlaps a given one. The first part of [`compare`], which rules out nearly all.
#[derive(Clone, Copy)]
pub(super) struct Reach<S: Simd>(S::U16);

impl<S: Simd> Reach<S> {
    /// The bounds for a record.
    #[inline(always)]
    pub(super) fn new(_: S, own: &Record) -> Self {
        // SAFETY: (isa) `S` is proven by the kernel table.
        Self(unsafe { S::U16::load(&own.0).reach() })
    }

    /// Do the words allow an overlap?
    #[inline(always)]
    pub(super) fn meets(self, other: &Record) -> bool {
        // SAFETY: (isa) `S` was proven when this was made.
        unsafe { S::U16::load(&other.0).excess(self.0).zeros() == ALL }
    }
}

/// The pair of two records, and whether they overlap: by words, and by boxes where words are equal.
#[inline(always)]
pub(super) fn decide<const D: usize, T: Real, S: Simd>(simd: S, a: &Record, b: &Record, boxes: &[Aabb<D, T>]) -> (Pair, bool) {
    let (pair, is_pair, is_open) = compare(simd, a, b);
    (pair, is_pair && (!is_open || overlap(boxes, pair.a, pair.b)))
}

/// Do the boxes of two objects overlap?
#[inline(always)]
fn overlap<const D: usize, T: Real>(boxes: &[Aabb<D, T>], x: u32, y: u32) -> bool {
    boxes[x as usize].overlaps(&boxes[y as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Isa, Kernel, Kernels};

    struct ConfirmAll<'a>(&'a [Aabb<3, f32>], &'a [Record], &'a [Find]);

    impl Kernel for ConfirmAll<'_> {
        type Output = Vec<Pair>;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Vec<Pair> {
            let Self(boxes, records, finds) = self;
            let (mut scratch, mut hits) = (Scratch::<f32>::default(), PairSink::plain());
            scratch.prepare(records.len()).unwrap();
            scratch.begin(records.len());
            scratch.sorted[..records.len()].copy_from_slice(records);
            scratch.finds.resize(finds.len(), Find::default());
            scratch.finds[..finds.len()].copy_from_slice(finds);
            Confirm { rows: None, boxes, accepts: |_, _| true }.confirm(simd, &mut scratch, finds.len(), &mut hits);
            hits.finish().pairs
        }
    }

    #[test]
    fn every_instruction_set_confirms_the_same_pairs_for_any_number_of_bits_and_any_share_of_equal_words() {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state ^ state >> 31
        };
        for range in [5, 40, 5000] {
            // Boxes of integers, whose words are halves of them: equal words often, and then often not equal boxes.
            let side = |random: &mut dyn FnMut() -> u64| (random() % range) as u16;
            let (mut boxes, mut records) = (Vec::new(), Vec::new());
            for id in 0..150 {
                let (low, size) = ([0; 3].map(|_| side(&mut random)), [0; 3].map(|_| side(&mut random)));
                let high: [u16; 3] = std::array::from_fn(|k| low[k] + size[k]);
                boxes.push(Aabb::new(low.map(f32::from), high.map(f32::from)));
                let corner = |k: usize| if k < 3 { low[k] / 2 } else { high[k - 3] / 2 };
                let flag = if random() % 3 == 0 { Record::FLAG } else { 0 };
                records.push(Record::new(std::array::from_fn(corner), id | flag));
            }
            let sparse = |random: &mut dyn FnMut() -> u64| (0..random() % 7).fold(!0, |bits, _| bits & random());
            let finds: Vec<Find> =
                (0..300).map(|row| Find { row: row / 2, at: (row % 2) * 64, bits: sparse(&mut random) }).collect();
            let expected = Kernels::new(Isa::Scalar).unwrap().run(ConfirmAll(&boxes, &records, &finds));
            let mut all: Vec<Pair> = Vec::new();
            for find in &finds {
                for bit in (0..64).filter(|bit| find.bits >> bit & 1 == 1) {
                    let (a, b) = (&records[find.row as usize], &records[(find.at + bit) as usize]);
                    let both_before = [0, 2, 3].iter().any(|&word| a.0[word] == 0 && b.0[word] == 0);
                    if !both_before && overlap(&boxes, a.id(), b.id()) {
                        all.push(Pair::new(a.id(), b.id()));
                    }
                }
            }
            let mut sorted = expected.clone();
            sorted.sort();
            all.sort();
            assert!(!all.is_empty() && sorted == all, "range {range}");
            for isa in Isa::available() {
                assert_eq!(
                    Kernels::new(isa).unwrap().run(ConfirmAll(&boxes, &records, &finds)),
                    expected,
                    "{isa}, range {range}"
                );
            }
        }
    }
}
