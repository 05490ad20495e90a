//! What becomes of the finds of a sweep: candidates, which words or boxes decide.

use super::sweep::LONGEST;
use super::{BATCH, COORDINATES, Record, Scratch};
use crate::geometry::{Aabb, Real};
use crate::kernels::hits::Hits;
use crate::kernels::lanes::{Simd, Words};
use crate::pairs::Pair;

/// All words, as bits of [`Words::zeros`].
const ALL: u32 = 0xffff;
/// Where lower coordinates are, the lowest that is not before the tile.
const LOWEST_INSIDE: [u16; 8] = [1, 0, 1, 1, 0, 0, 0, 0];
/// Candidates of a find that are written whether they exist or not, and the most that are written for one.
const SPARE: usize = 4;
pub(super) const MOST: usize = LONGEST + SPARE;
/// If the boxes have to decide at most one in so many candidates, or at most so many of a batch, they seldom do.
const RARE: usize = 8;
const FEW: usize = 32;

/// Two sorted records whose bytes overlap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Candidate {
    row: u32,
    column: u32,
}

/// The box of a sorted record, so that one comparison of all lanes tells whether two make a pair here: `own` of the one is at most
/// `bounds` of the other. Lanes are `min` and `-max`, against `max` and `-min`; the last two fail where both start before the tile on y or on z.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Sides<T> {
    own: [T; 8],
    bounds: [T; 8],
}

impl<T: Real> Sides<T> {
    #[inline(always)]
    fn new<const D: usize>(record: &Record, value: &Aabb<D, T>) -> Self {
        let (mut own, mut bounds) = ([T::ZERO; 8], [T::ZERO; 8]);
        for k in 0..D {
            (own[k], own[3 + k]) = (value.min[k], -value.max[k]);
            (bounds[k], bounds[3 + k]) = (value.max[k], -value.min[k]);
        }
        for (lane, word) in [(6, 2), (7, 3)] {
            let starts_before = record.0[word] == 0;
            own[lane] = if starts_before { T::ONE } else { T::ZERO };
            bounds[lane] = if starts_before { T::ZERO } else { T::ONE };
        }
        Self { own, bounds }
    }

    #[inline(always)]
    fn meets(&self, other: &Self) -> bool {
        (0..8).fold(true, |all, k| all & (self.own[k] <= other.bounds[k]))
    }
}

/// What makes a hit of a find: the records of the rows, where they are not those of the columns, the boxes, and whether an encounter of two
/// objects counts.
#[derive(Clone, Copy)]
pub(super) struct Judge<'a, const D: usize, T, F> {
    pub(super) rows: Option<&'a [Record]>,
    pub(super) boxes: &'a [Aabb<D, T>],
    pub(super) counts: F,
}

impl<const D: usize, T: Real, F: Fn(u32, u32) -> bool + Copy> Judge<'_, D, T, F> {
    /// Turns finds into hits if many are waiting, or if these are the last ones. Returns whether the join must stop.
    #[inline(always)]
    pub(super) fn confirm_many<S: Simd>(
        self,
        simd: S,
        scratch: &mut Scratch<T>,
        waiting: &mut usize,
        is_last: bool,
        hits: &mut Hits,
    ) -> bool {
        if *waiting < BATCH && !is_last {
            return false;
        }
        self.confirm(simd, scratch, std::mem::take(waiting), hits);
        hits.stopped()
    }

    /// Turns finds into hits.
    ///
    /// How many candidates a find holds, one or two or three, is nobody's guess, so it is not asked: four are written always, and counted
    /// if they are there.
    #[inline(always)]
    pub(super) fn confirm<S: Simd>(self, simd: S, scratch: &mut Scratch<T>, count: usize, hits: &mut Hits) {
        let Scratch { sorted, len, finds, candidates, sides, tied, .. } = scratch;
        let sorted = &sorted[..*len];
        let mut finds = finds[..count].iter();
        while !finds.as_slice().is_empty() {
            let mut waiting = 0;
            for find in finds.by_ref() {
                let (row, mut bits) = (find.row, find.bits);
                let room = &mut candidates[waiting..waiting + MOST];
                for candidate in &mut room[..SPARE] {
                    *candidate = Candidate { row, column: find.at + bits.trailing_zeros() };
                    bits &= bits.wrapping_sub(1);
                }
                let mut more = SPARE;
                while bits != 0 {
                    room[more] = Candidate { row, column: find.at + bits.trailing_zeros() };
                    more += 1;
                    bits &= bits - 1;
                }
                waiting += find.bits.count_ones() as usize;
                if waiting >= BATCH {
                    break;
                }
            }
            let candidates = &candidates[..waiting];
            if *tied && self.rows.is_none() {
                self.decide_by_boxes(sorted, candidates, sides, hits);
            } else {
                let equal = self.decide_by_words(simd, sorted, candidates, hits);
                *tied = equal > FEW.max(candidates.len() / RARE);
            }
        }
    }

    /// Turns candidates into hits, where the boxes seldom have to decide. Returns how often they had to.
    #[inline(always)]
    fn decide_by_words<S: Simd>(self, simd: S, sorted: &[Record], candidates: &[Candidate], hits: &mut Hits) -> usize {
        let rows = self.rows.unwrap_or(sorted);
        let room = hits.room(candidates.len());
        let (mut found, mut equal) = (0, 0);
        for candidate in candidates {
            // SAFETY: (in bounds) candidates come from sweeps of the rows over the sorted records; (room) no more is found than there are
            // candidates.
            unsafe {
                let a = rows.get_unchecked(candidate.row as usize);
                let b = sorted.get_unchecked(candidate.column as usize);
                let (pair, mut is_pair, is_open) = compare(simd, a, b);
                if is_pair & is_open {
                    is_pair = overlap(self.boxes, a.id(), b.id()); // (by the pair lost: who comes first need not be known)
                    equal += 1;
                }
                room.get_unchecked_mut(found).write(pair);
                found += usize::from(is_pair & (self.counts)(a.id(), b.id()));
            }
        }
        // SAFETY: (initialised, room) `found` pairs were written, one behind the other, and at most as many as candidates.
        unsafe { hits.commit(found) };
        equal
    }

    /// Turns candidates into hits, where words would leave many open, as they do where objects stand side by side.
    #[inline(always)]
    fn decide_by_boxes(self, sorted: &[Record], candidates: &[Candidate], sides: &mut Vec<Sides<T>>, hits: &mut Hits) {
        if sides.is_empty() {
            sides.extend(sorted.iter().map(|record| Sides::new(record, &self.boxes[record.id() as usize])));
        }
        let room = hits.room(candidates.len());
        let mut found = 0;
        for candidate in candidates {
            let (row, column) = (candidate.row as usize, candidate.column as usize);
            // SAFETY: (in bounds, room) as above.
            unsafe {
                let (a, b) = (sorted.get_unchecked(row).id(), sorted.get_unchecked(column).id());
                room.get_unchecked_mut(found).write(Pair::new(a, b));
                let is_pair = sides.get_unchecked(row).meets(sides.get_unchecked(column));
                found += usize::from(is_pair & (self.counts)(a, b));
            }
        }
        // SAFETY: (initialised, room) as above.
        unsafe { hits.commit(found) };
    }
}

/// The pair of two records, whether it may be one here, by words, and whether only the boxes could tell.
#[inline(always)]
fn compare<S: Simd>(_: S, a: &Record, b: &Record) -> (Pair, bool, bool) {
    // SAFETY: (isa) `S` is proven by the kernel table.
    let (fits, equal) = unsafe {
        let (own, other) = (S::U16::load(&a.0), S::U16::load(&b.0));
        let bound = own.reach();
        let both_before = S::U16::load(&LOWEST_INSIDE).excess(other.or(own));
        (other.excess(bound).or(both_before).zeros(), other.equal(bound))
    };
    (Pair::new(a.id(), b.id()), fits == ALL, equal & COORDINATES != 0)
}

/// The pair of two records, and whether it is one: by words, and by boxes where words are equal.
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
