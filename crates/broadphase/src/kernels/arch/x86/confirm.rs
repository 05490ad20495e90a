//! Candidates listed and confirmed four and eight at a time, with AVX-512.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::Avx512;
use crate::kernels::tile::{Candidate, Confirmation, FOUR, LOWEST_INSIDE, MOST, Record, WIDEST};
use crate::pair::Pair;

impl Confirmation for Avx512 {
    #[inline(always)]
    fn list(self, bits: u64, first: Candidate, room: &mut [Candidate]) {
        // SAFETY: (isa) a value of this type exists only where the CPU has AVX-512 with VBMI2.
        unsafe { list(bits, first, room) }
    }

    #[inline(always)]
    unsafe fn confirm_by_words<'c, const CANONICAL: bool>(
        self,
        rows: &[Record],
        sorted: &[Record],
        candidates: &'c [Candidate],
        room: &mut [MaybeUninit<Pair>],
        open: &mut [Candidate],
    ) -> (usize, usize, &'c [Candidate]) {
        // SAFETY: (isa) as above; (in bounds, room) the caller's duties.
        unsafe { confirm_by_words::<CANONICAL>([rows, sorted], candidates, room, open) }
    }
}

/// The bytes 0 to 63, from which the places of the bits that are set are selected.
static PLACES: [u8; 64] = {
    let mut places = [0; 64];
    let mut at = 0;
    while at < 64 {
        places[at] = at as u8;
        at += 1;
    }
    places
};

/// Writes `first`, moved by the place of each bit that is set, eight at once. More than eight are rare.
///
/// # Safety
/// *isa*: AVX-512 with VBMI2.
#[inline(always)]
unsafe fn list(bits: u64, first: Candidate, room: &mut [Candidate]) {
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

/// Like the plain loop, four at once, as long as there are four: returns the numbers of pairs and of undecided candidates, and the rest.
///
/// # Safety
/// *isa*: AVX-512 with BMI2. *In bounds*: candidates are places in both lists. *Room*: for as many pairs and open candidates, and
/// [`FOUR`] more.
#[inline(always)]
unsafe fn confirm_by_words<'c, const CANONICAL: bool>(
    [rows, columns]: [&[Record]; 2],
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
            let (own, other) = (load(rows, four.map(|c| c.places().0)), load(columns, four.map(|c| c.places().1)));
            let (fits, equal) = compare(own, other);
            let (sure, unsure) = (fits & !equal, fits & equal);
            let pairs = _mm256_maskz_compress_epi64(sure, pairs::<CANONICAL>(own, other));
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

/// The comparison of the portable form, for four: a bit for each that may be a pair here, by words, and one for each with equal words.
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
        // Two bits for each candidate, of which none may be set; then one for each word.
        let fails = u32::from(_mm512_test_epi64_mask(beyond, beyond));
        let fits = _pext_u32(!(fails | fails << 1), 0xaa);
        let equal = _mm512_mask_cmpeq_epi16_mask(0x3f3f_3f3f, other, bound);
        // Adding 127 sets the highest bit of every byte that is not zero.
        (fits as u8, _pext_u32(equal + 0x7f7f_7f7f, 0x8080_8080) as u8)
    }
}

/// The pairs of four and four records; if not `CANONICAL`, the id of the first one comes first.
///
/// # Safety
/// *isa*.
#[inline(always)]
unsafe fn pairs<const CANONICAL: bool>(own: __m512i, other: __m512i) -> __m256i {
    // SAFETY: (isa) the caller's duty.
    unsafe {
        let no_flag = _mm512_set1_epi32(!Record::FLAG as i32);
        let (a, b) = (_mm512_and_si512(own, no_flag), _mm512_and_si512(other, no_flag));
        let (first, second) = if CANONICAL { (_mm512_min_epu32(a, b), _mm512_max_epu32(a, b)) } else { (a, b) };
        let pairs = _mm512_unpackhi_epi32(first, second);
        _mm512_castsi512_si256(_mm512_permutexvar_epi64(_mm512_setr_epi64(1, 3, 5, 7, 1, 3, 5, 7), pairs))
    }
}
