//! What becomes of the finds of a sweep: candidates, which words or boxes decide.

use super::sweep::{Find, LONGEST};
use super::{BATCH, COORDINATES, Record, Scratch};
use crate::geometry::{Aabb, Real};
use crate::kernels::lanes::{Simd, Words};
use crate::kernels::pair_sink::PairSink;
use crate::pairs::Pair;

/// All words, as bits of [`Words::zeros`].
const ALL: u32 = 0xffff;
/// Where lower coordinates are, the lowest that is not before the tile.
const LOWEST_INSIDE: [u16; 8] = [1, 0, 1, 1, 0, 0, 0, 0];
/// Candidates of a find that are written whether they exist or not, also by the widest registers; and the most that are written for one.
const SPARE: usize = 4;
const WIDEST: usize = 8;
pub(super) const MOST: usize = LONGEST + WIDEST;
/// Candidates that the widest registers decide at once.
pub(super) const FOUR: usize = 4;
/// Open candidates of a batch that are many.
const MANY: usize = BATCH / 4;

/// Two sorted records whose bytes overlap: a row, in the upper half, and a column. In one word, to be written at once.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub(super) struct Candidate(u64);

impl Candidate {
    /// The record `bit` places behind `at`, as a candidate of `row`.
    #[inline(always)]
    fn new(row: u32, at: u32, bit: u32) -> Self {
        Self((u64::from(row) << 32 | u64::from(at)) + u64::from(bit))
    }

    /// The row and the column.
    #[inline(always)]
    pub(super) fn places(self) -> (usize, usize) {
        ((self.0 >> 32) as usize, self.0 as u32 as usize)
    }
}

impl Find {
    /// Writes the candidates; returns how many there are.
    ///
    /// How many that is, one or two or three, is nobody's guess, so it is not asked: some are written always, and counted if they are there.
    #[inline(always)]
    fn list<S: Simd>(&self, _: S, room: &mut [Candidate]) -> usize {
        let count = self.bits.count_ones() as usize;
        if S::HAS_AVX512 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: (isa) `S` is proven by the kernel table, and says that it has AVX-512.
            unsafe {
                avx512::list(self.bits, Candidate::new(self.row, self.at, 0), room);
            }
            return count;
        }
        let mut bits = self.bits;
        let (first, more) = room.split_at_mut(SPARE);
        for candidate in first {
            *candidate = Candidate::new(self.row, self.at, bits.trailing_zeros());
            bits &= bits.wrapping_sub(1);
        }
        for candidate in more {
            if bits == 0 {
                break;
            }
            *candidate = Candidate::new(self.row, self.at, bits.trailing_zeros());
            bits &= bits - 1;
        }
        count
    }
}

/// Writes the candidates of the first finds, about a batch of them, and takes those finds off; returns how many candidates there are.
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

/// The box of a sorted record, so that one comparison of all lanes tells whether two overlap: `min` and `-max` of the one are at most `max`
/// and `-min` of the other. What is not used is zero.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct Sides<T>([[T; 4]; 2]);

impl<T: Real> Sides<T> {
    #[inline(always)]
    fn new<const D: usize>(value: &Aabb<D, T>) -> Self {
        let mut sides = [[T::ZERO; 4]; 2];
        for k in 0..D {
            (sides[0][k], sides[1][k]) = (value.min[k], -value.max[k]);
        }
        Self(sides)
    }

    #[inline(always)]
    fn meets(&self, other: &Self) -> bool {
        let ([low, high], [other_low, other_high]) = (&self.0, &other.0);
        (0..4).fold(true, |all, k| all & (low[k] <= -other_high[k]) & (high[k] <= -other_low[k]))
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
        hits: &mut PairSink,
    ) -> bool {
        if *waiting < BATCH && !is_last {
            return false;
        }
        self.confirm(simd, scratch, std::mem::take(waiting), hits);
        hits.stopped()
    }

    /// Turns finds into hits.
    #[inline(always)]
    pub(super) fn confirm<S: Simd>(self, simd: S, scratch: &mut Scratch<T>, count: usize, hits: &mut PairSink) {
        let Scratch { sorted, len, finds, candidates, open, sides, .. } = scratch;
        let sorted = &sorted[..*len];
        let mut finds = &finds[..count];
        while !finds.is_empty() {
            let waiting = list_some(simd, &mut finds, candidates);
            let open = self.decide_by_words(simd, sorted, &candidates[..waiting], open, hits);
            if self.rows.is_none() && (open.len() > MANY || !sides.is_empty()) {
                // As they are where objects stand side by side: the boxes of the tile are laid out like the records.
                if sides.is_empty() {
                    sides.extend(sorted.iter().map(|record| Sides::new(&self.boxes[record.id() as usize])));
                }
                let sides = &sides[..sorted.len()];
                self.settle(sorted, open, hits, |(row, column), _| sides[row].meets(&sides[column]));
            } else {
                self.settle(sorted, open, hits, |_, (a, b)| overlap(self.boxes, a, b));
            }
        }
    }

    /// Turns candidates into hits, but for those that words leave open, which are returned in `open`. Whether two records overlap is nobody's
    /// guess, so it is not asked: each candidate is written as a hit, and counted if it is one. (To write each as an open one too lost.)
    #[inline(always)]
    fn decide_by_words<'o, S: Simd>(
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
        if S::HAS_AVX512 && self.rows.is_none() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: (isa) `S` is proven by the kernel table, and says that it has AVX-512; (in bounds, room) as below.
            unsafe {
                (found, left, rest) = avx512::decide_by_words(sorted, candidates, room, open);
            }
        }
        for candidate in rest {
            let (row, column) = candidate.places();
            // SAFETY: (in bounds) candidates come from sweeps of the rows over the sorted records; (room) no more is found than there are
            // candidates, nor left open.
            unsafe {
                let (a, b) = (rows.get_unchecked(row), sorted.get_unchecked(column));
                let (pair, is_pair, is_open) = compare(simd, a, b);
                let counts = is_pair & (self.counts)(a.id(), b.id());
                room.get_unchecked_mut(found).write(pair);
                found += usize::from(counts & !is_open);
                if counts & is_open {
                    *open.get_unchecked_mut(left) = *candidate;
                    left += 1;
                }
            }
        }
        // SAFETY: (initialised, room) `found` pairs were written, one behind the other, and at most as many as candidates.
        unsafe { hits.commit(found) };
        &open[..left]
    }

    /// Turns candidates into hits that words have left open, as boxes decide: those of two places in the lists, or of two objects.
    #[inline(always)]
    fn settle(
        self,
        sorted: &[Record],
        open: &[Candidate],
        hits: &mut PairSink,
        meet: impl Fn((usize, usize), (u32, u32)) -> bool,
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
                found += usize::from(meet((row, column), (a, b)));
            }
        }
        // SAFETY: (initialised, room) `found` pairs were written, one behind the other, and at most as many as candidates.
        unsafe { hits.commit(found) };
    }
}

/// The pair of two records, whether it may be one here, by words, and whether only the boxes could tell.
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

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;
    use std::mem::MaybeUninit;

    use super::*;

    /// 0 to 63.
    static PLACES: [u8; 64] = {
        let mut places = [0; 64];
        let mut at = 0;
        while at < 64 {
            places[at] = at as u8;
            at += 1;
        }
        places
    };

    /// Writes `first`, moved by the place of each bit that is set: eight at once, and seldom more.
    ///
    /// # Safety
    /// *isa*: AVX-512 with VBMI2.
    #[inline(always)]
    pub(super) unsafe fn list(bits: u64, first: Candidate, room: &mut [Candidate]) {
        let room = &mut room[..MOST];
        // SAFETY: (isa) the caller's duty; (in bounds) eight are written at a time, from at most 56 on.
        unsafe {
            let first = _mm512_set1_epi64(first.0 as i64);
            let mut places = _mm512_maskz_compress_epi8(bits, _mm512_loadu_si512(PLACES.as_ptr().cast()));
            let mut to = room.as_mut_ptr().cast();
            _mm512_storeu_si512(to, _mm512_add_epi64(first, _mm512_cvtepu8_epi64(_mm512_castsi512_si128(places))));
            let mut left = bits.count_ones();
            while left > WIDEST as u32 {
                left -= WIDEST as u32;
                to = to.add(1);
                places = _mm512_alignr_epi64::<1>(places, places);
                _mm512_storeu_si512(to, _mm512_add_epi64(first, _mm512_cvtepu8_epi64(_mm512_castsi512_si128(places))));
            }
        }
    }

    /// As the plain loop, four at once, as long as there are four: returns the pairs found, the candidates left open, and the rest.
    ///
    /// # Safety
    /// *isa*: AVX-512 with BMI2. *In bounds*: candidates are places in `sorted`. *Room*: for as many pairs and open candidates, and
    /// [`FOUR`] more.
    #[inline(always)]
    pub(super) unsafe fn decide_by_words<'c>(
        sorted: &[Record],
        candidates: &'c [Candidate],
        room: &mut [MaybeUninit<Pair>],
        open: &mut [Candidate],
    ) -> (usize, usize, &'c [Candidate]) {
        let (mut found, mut left) = (0, 0);
        let (fours, rest) = candidates.as_chunks::<FOUR>();
        for four in fours {
            debug_assert!(found + FOUR <= room.len() && left + FOUR <= open.len());
            // SAFETY: (isa, in bounds, room) the caller's duties.
            unsafe {
                let (own, other) = (load(sorted, four.map(|c| c.places().0)), load(sorted, four.map(|c| c.places().1)));
                let (fits, equal) = compare(own, other);
                let (sure, unsure) = (fits & !equal, fits & equal);
                let pairs = _mm256_maskz_compress_epi64(sure, pairs(own, other));
                _mm256_storeu_si256(room.as_mut_ptr().add(found).cast(), pairs);
                let unsures = _mm256_maskz_compress_epi64(unsure, _mm256_loadu_si256(four.as_ptr().cast()));
                _mm256_storeu_si256(open.as_mut_ptr().add(left).cast(), unsures);
                found += sure.count_ones() as usize;
                left += unsure.count_ones() as usize;
            }
        }
        (found, left, rest)
    }

    /// Four records.
    ///
    /// # Safety
    /// *isa*; *in bounds*.
    #[inline(always)]
    unsafe fn load(sorted: &[Record], at: [usize; FOUR]) -> __m512i {
        debug_assert!(at.iter().all(|&at| at < sorted.len()));
        // SAFETY: (isa, in bounds) the caller's duties.
        unsafe {
            let load = |at: usize| _mm_load_si128(sorted.as_ptr().add(at).cast());
            let two = |a: usize, b: usize| _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(load(a)), load(b));
            _mm512_inserti64x4::<1>(_mm512_castsi256_si512(two(at[0], at[1])), two(at[2], at[3]))
        }
    }

    /// [`super::compare`] of four: a bit for each that may be a pair here, by words, and one for each with equal words.
    ///
    /// # Safety
    /// *isa*.
    #[inline(always)]
    unsafe fn compare(own: __m512i, other: __m512i) -> (u8, u8) {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let swapped = _mm512_shufflelo_epi16::<0b11_10_00_01>(_mm512_shuffle_epi32::<0b11_01_10_00>(own));
            let bound = _mm512_or_si512(_mm512_xor_si512(swapped, _mm512_set1_epi32(-1)), _mm512_set4_epi32(-1, 0, 0, 0));
            let lowest_inside = _mm512_broadcast_i32x4(_mm_loadu_si128(LOWEST_INSIDE.as_ptr().cast()));
            let both_before = _mm512_subs_epu16(lowest_inside, _mm512_or_si512(own, other));
            let beyond = _mm512_or_si512(_mm512_subs_epu16(other, bound), both_before);
            // Two bits for each, of which none may be set; then one for each word.
            let fails = u32::from(_mm512_test_epi64_mask(beyond, beyond));
            let fits = _pext_u32(!(fails | fails << 1), 0xaa);
            let equal = _mm512_mask_cmpeq_epi16_mask(0x3f3f_3f3f, other, bound);
            // A byte that is not zero has its highest bit set when 127 is added.
            (fits as u8, _pext_u32(equal + 0x7f7f_7f7f, 0x8080_8080) as u8)
        }
    }

    /// The pairs of four and four records.
    ///
    /// # Safety
    /// *isa*.
    #[inline(always)]
    unsafe fn pairs(own: __m512i, other: __m512i) -> __m256i {
        // SAFETY: (isa) the caller's duty.
        unsafe {
            let no_flag = _mm512_set1_epi32(!Record::FLAG as i32);
            let (a, b) = (_mm512_and_si512(own, no_flag), _mm512_and_si512(other, no_flag));
            let pairs = _mm512_unpackhi_epi32(_mm512_min_epu32(a, b), _mm512_max_epu32(a, b));
            _mm512_castsi512_si256(_mm512_permutexvar_epi64(_mm512_setr_epi64(1, 3, 5, 7, 1, 3, 5, 7), pairs))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{Isa, Kernel, Kernels};

    struct Confirm<'a>(&'a [Aabb<3, f32>], &'a [Record], &'a [Find]);

    impl Kernel for Confirm<'_> {
        type Output = Vec<Pair>;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Vec<Pair> {
            let Self(boxes, records, finds) = self;
            let (mut scratch, mut hits) = (Scratch::<f32>::default(), PairSink::plain());
            scratch.resize(records.len());
            scratch.sorted[..records.len()].copy_from_slice(records);
            scratch.finds.resize(finds.len(), Find::default());
            scratch.finds[..finds.len()].copy_from_slice(finds);
            Judge { rows: None, boxes, counts: |_, _| true }.confirm(simd, &mut scratch, finds.len(), &mut hits);
            hits.finish().0
        }
    }

    #[test]
    fn every_instruction_set_judges_alike_windows_with_any_number_of_bits_and_any_share_of_equal_words() {
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
            let expected = Kernels::new(Isa::Scalar).unwrap().run(Confirm(&boxes, &records, &finds));
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
                assert_eq!(Kernels::new(isa).unwrap().run(Confirm(&boxes, &records, &finds)), expected, "{isa}, range {range}");
            }
        }
    }
}
