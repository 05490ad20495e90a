//! The index radix sort: keys with an index each, least significant digit first.
//!
//! # The structure
//! Entries of key and index go back and forth between two buffers, once per digit of [`DIGIT_BITS`] bits; a pass keeps the order
//! of equal digits, so after the last digit the entries are sorted and equal keys stand as they were pushed. One pass over the
//! keys counts all digits beforehand. Two departures from the textbook:
//!
//! 1. A digit that is the same in all keys is skipped: coordinates of one magnitude share their topmost bits.
//! 2. The last pass writes indices only: nobody needs the keys in order, and it halves the traffic.
//!
//! # Cost
//! One read and at most `bits / DIGIT_BITS` passes of n entries: linear, whatever the order. Bad cases: 64-bit keys take twice as
//! many passes as 32-bit ones, and a pass writes to 256 places at once, which short inputs do not repay: up to [`SHORT`]
//! entries are sorted by insertion. Memory: two buffers of entries, kept for the next call.
//!
//! # Source
//! Section 4.1 of paper 002 (its "LSDR"), which returns indices and leaves the endpoints where they are.

/// Bits per pass.
const DIGIT_BITS: u32 = 8;
const DIGITS: usize = 1 << DIGIT_BITS;
/// The most passes: 64-bit keys.
const MAX_PASSES: usize = (u64::BITS / DIGIT_BITS) as usize;
/// Up to this many entries, insertion is faster than counting.
const SHORT: usize = 48;

/// An unsigned integer to sort by.
pub(crate) trait Key: Copy + Default + Ord + Send + Sync {
    /// The number of digits.
    const PASSES: usize;
    /// The low bits of a 64-bit key.
    fn truncate(key: u64) -> Self;
    /// The digit that pass `pass` sorts by.
    fn digit(self, pass: usize) -> usize;
}

macro_rules! key {
    ($t:ty) => {
        impl Key for $t {
            const PASSES: usize = (<$t>::BITS / DIGIT_BITS) as usize;

            #[inline(always)]
            fn truncate(key: u64) -> Self {
                key as $t
            }
            #[inline(always)]
            fn digit(self, pass: usize) -> usize {
                (self >> (pass as u32 * DIGIT_BITS)) as usize % DIGITS
            }
        }
    };
}

key!(u32);
key!(u64);

/// Sorts indices by key; see the module's text. Its buffers are scratch.
#[derive(Clone, Debug)]
pub(crate) struct IndexSort<K> {
    entries: Vec<(K, u32)>,
    other: Vec<(K, u32)>,
    counts: [[u32; DIGITS]; MAX_PASSES],
}

impl<K: Key> Default for IndexSort<K> {
    fn default() -> Self {
        Self { entries: Vec::new(), other: Vec::new(), counts: [[0; DIGITS]; MAX_PASSES] }
    }
}

impl<K: Key> IndexSort<K> {
    /// Takes the entries to sort, replacing what was there.
    pub(crate) fn load(&mut self, entries: impl Iterator<Item = (K, u32)>) {
        self.entries.clear();
        self.entries.extend(entries);
    }

    /// Takes more entries, behind those that are there.
    pub(crate) fn append(&mut self, entries: &[(K, u32)]) {
        self.entries.extend_from_slice(entries);
    }

    /// Replaces `order` by the indices of all entries by ascending key; equal keys keep their order.
    pub(crate) fn sort_into(&mut self, order: &mut Vec<u32>) {
        order.clear();
        if self.entries.len() <= SHORT {
            self.insertion_sort();
            order.extend(self.entries.iter().map(|e| e.1));
            return;
        }
        let passes = self.count();
        let Some((&last, earlier)) = passes.1[..passes.0].split_last() else {
            order.extend(self.entries.iter().map(|e| e.1));
            return;
        };
        self.other.resize(self.entries.len(), (K::default(), 0));
        for &pass in earlier {
            let next = &mut self.counts[pass];
            for &entry in &self.entries {
                let place = &mut next[entry.0.digit(pass)];
                self.other[*place as usize] = entry;
                *place += 1;
            }
            std::mem::swap(&mut self.entries, &mut self.other);
        }
        order.resize(self.entries.len(), 0);
        let next = &mut self.counts[last];
        for &(key, index) in &self.entries {
            let place = &mut next[key.digit(last)];
            order[*place as usize] = index;
            *place += 1;
        }
    }

    /// Turns `counts` into the first place of each digit, and lists the passes whose digit is not constant.
    fn count(&mut self) -> (usize, [usize; MAX_PASSES]) {
        let counts = &mut self.counts[..K::PASSES];
        counts.iter_mut().for_each(|digits| digits.fill(0));
        for &(key, _) in &self.entries {
            for (pass, digits) in counts.iter_mut().enumerate() {
                digits[key.digit(pass)] += 1;
            }
        }
        let first = self.entries[0].0;
        let (mut used, mut passes) = (0, [0; MAX_PASSES]);
        for (pass, digits) in counts.iter_mut().enumerate() {
            if digits[first.digit(pass)] as usize == self.entries.len() {
                continue;
            }
            passes[used] = pass;
            used += 1;
            let mut sum = 0;
            for digit in digits {
                sum += std::mem::replace(digit, sum);
            }
        }
        (used, passes)
    }

    fn insertion_sort(&mut self) {
        for i in 1..self.entries.len() {
            let entry = self.entries[i];
            let mut hole = i;
            while hole > 0 && self.entries[hole - 1].0 > entry.0 {
                self.entries[hole] = self.entries[hole - 1];
                hole -= 1;
            }
            self.entries[hole] = entry;
        }
    }

    /// The bytes it holds beside itself.
    pub(crate) fn bytes(&self) -> usize {
        (self.entries.capacity() + self.other.capacity()) * size_of::<(K, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *seed ^ (*seed >> 29)
    }

    /// Compares with the standard library's stable sort.
    fn agrees<K: Key + std::fmt::Debug>(keys: &[K], sort: &mut IndexSort<K>) {
        let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
        expected.sort_by_key(|&i| keys[i as usize]);
        let mut order = vec![7; 3]; // what was there before does not matter
        sort.load(keys.iter().copied().zip(0..));
        sort.sort_into(&mut order);
        assert_eq!(order, expected, "{} keys", keys.len());
    }

    #[test]
    fn it_sorts_as_a_stable_sort_does_for_all_lengths_and_masks() {
        let mut seed = 3;
        let (mut narrow, mut wide) = (IndexSort::<u32>::default(), IndexSort::<u64>::default());
        for length in [0, 1, 2, 3, SHORT - 1, SHORT, SHORT + 1, 100, 257, 5000] {
            // Masks leave some digits constant, and many keys equal.
            for mask in [!0, 0, 0xff, 0xff00_0000, 0x00ff_00ff_0000_ff00, 3, 0x8000_0000_8000_0000] {
                let keys: Vec<u64> = (0..length).map(|_| random(&mut seed) & mask | 0x0100_0000).collect();
                agrees(&keys, &mut wide);
                let keys: Vec<u32> = keys.iter().map(|&k| k as u32).collect();
                agrees(&keys, &mut narrow);
            }
        }
    }

    #[test]
    fn appended_entries_keep_their_own_indices_and_buffers_are_reused() {
        let mut sort = IndexSort::<u32>::default();
        let mut order = Vec::new();
        for round in 0..3 {
            sort.load((0..500u32).map(|i| (i % 7, i)));
            sort.append(&[(3, 9000), (0, 9001)]);
            sort.sort_into(&mut order);
            assert_eq!(order.len(), 502);
            assert_eq!(order.iter().position(|&i| i == 9001), Some(72), "behind the 72 zeros before it");
            if round > 0 {
                assert!(sort.bytes() <= 4 * 512 * 8, "{}", sort.bytes());
            }
        }
    }
}
