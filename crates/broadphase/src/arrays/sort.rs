//! Sorting lists of pairs in linear time.

use crate::pairs::Pair;

/// From this many pairs on, counting digits costs less than comparing pairs.
const MANY: usize = 1 << 10;
/// Bits of a digit: as many counters as the first-level cache holds.
const DIGIT: u32 = 11;

/// Sorts pairs of ids below `a` and `b`: by the first id, then by the second.
///
/// A radix sort from the least significant digit up, over the bits that ids below these bounds have. Where its buffer cannot be allocated,
/// the list is sorted in place.
pub(crate) fn sort_pairs(list: &mut Vec<Pair>, a: usize, b: usize) {
    sort_pairs_with(list, &mut Vec::new(), a, b);
}

/// The same with a buffer that is kept for the next time.
pub(crate) fn sort_pairs_with(list: &mut Vec<Pair>, buffer: &mut Vec<Pair>, a: usize, b: usize) {
    buffer.clear();
    if list.len() < MANY || buffer.try_reserve(list.len()).is_err() {
        return list.sort_unstable();
    }
    buffer.resize(list.len(), Pair::default());
    let bits = |bound: usize| usize::BITS - bound.saturating_sub(1).leading_zeros();
    let mut pass = |digit: &dyn Fn(Pair) -> usize| {
        pass(list, buffer, digit);
        std::mem::swap(list, buffer);
    };
    for shift in digits(bits(b)) {
        pass(&|pair| (pair.b >> shift.0) as usize & shift.1);
    }
    for shift in digits(bits(a)) {
        pass(&|pair| (pair.a >> shift.0) as usize & shift.1);
    }
}

/// Digits of equal width that make up `bits` bits: the shift and the mask of each.
fn digits(bits: u32) -> impl Iterator<Item = (u32, usize)> {
    let count = bits.div_ceil(DIGIT);
    let width = if count == 0 { 0 } else { bits.div_ceil(count) };
    (0..count).map(move |index| (index * width, (1 << width) - 1))
}

/// Moves the pairs to the other buffer, in the order of a digit; equal ones keep their order.
#[inline(always)]
fn pass(from: &[Pair], to: &mut [Pair], digit: impl Fn(Pair) -> usize) {
    let mut starts = [0usize; 1 << DIGIT];
    from.iter().for_each(|&pair| starts[digit(pair)] += 1);
    let mut sum = 0;
    for start in &mut starts {
        (*start, sum) = (sum, sum + *start);
    }
    for &pair in from {
        let start = &mut starts[digit(pair)];
        to[*start] = pair;
        *start += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_short_and_long_come_out_as_a_comparison_sort_gives_them() {
        let mut state = 7u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for (count, a, b) in [(0, 0, 0), (1, 1, 1), (5000, 1, 1), (5000, 2, 3000), (3000, 1 << 20, 2), (70_000, 4096, 4097)] {
            let mut list: Vec<Pair> = (0..count).map(|_| Pair { a: random(a) as u32, b: random(b) as u32 }).collect();
            let mut expected = list.clone();
            expected.sort_unstable();
            sort_pairs(&mut list, a as usize, b as usize);
            assert_eq!(list, expected, "{count} pairs below {a} and {b}");
        }
        let mut far: Vec<Pair> = (0..2000).rev().map(|k| Pair { a: u32::MAX - k, b: u32::MAX }).collect();
        sort_pairs(&mut far, u32::MAX as usize + 1, u32::MAX as usize + 1);
        assert!(far.is_sorted());
    }
}
