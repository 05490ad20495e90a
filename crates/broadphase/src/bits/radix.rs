//! The index radix sort: keys with an index each, least significant digit first.
//!
//! # The structure
//! Entries of key and index go back and forth between two buffers, once per digit; a pass keeps the order
//! of equal digits, so after the last digit the entries are sorted and equal keys stand as they were pushed. One pass over the
//! keys counts all digits beforehand. Two departures from the textbook:
//!
//! 1. A digit that is the same in all keys is skipped: coordinates of one magnitude share their topmost bits.
//! 2. The last pass writes indices only: the sorted keys are not needed, and it halves the traffic.
//!
//! # Cost
//! One read and at most three passes of n entries with 32-bit keys, six with 64-bit ones: linear, whatever the order. Bad case:
//! a pass has to count 2,048 digits and writes to as many places, which short inputs do not repay. They get digits of
//! [`FEW_BITS`], and up to [`SHORT`] entries are sorted by insertion. Memory: two buffers of entries, kept for the next call.
//!
//! # Source
//! Section 4.1 of paper 002 (its "LSDR"), which returns indices and leaves the endpoints where they are.

/// Bits of a digit: few for short inputs, since every digit has to be counted.
const FEW_BITS: u32 = 8;
/// Bits of a digit for inputs of at least [`LONG`] entries: three passes for 32-bit keys.
const MANY_BITS: u32 = 11;
const LONG: usize = 1 << 13;
/// The most passes: 64-bit keys, few bits.
const MAX_PASSES: usize = u64::BITS.div_ceil(FEW_BITS) as usize;
/// Up to this many entries, insertion is faster than counting.
const SHORT: usize = 48;

/// An unsigned integer to sort by.
pub(crate) trait Key: Copy + Default + Ord + Send + Sync {
    /// The number of bits.
    const BITS: u32;
    /// The low bits of a 64-bit key.
    fn truncate(key: u64) -> Self;
    /// The lowest bits, `bits` of them, from `shift` on.
    fn digit(self, shift: u32, bits: u32) -> usize;
}

macro_rules! key {
    ($t:ty) => {
        impl Key for $t {
            const BITS: u32 = <$t>::BITS;

            #[inline(always)]
            fn truncate(key: u64) -> Self {
                key as $t
            }
            #[inline(always)]
            fn digit(self, shift: u32, bits: u32) -> usize {
                (self >> shift) as usize & ((1 << bits) - 1)
            }
        }
    };
}

key!(u32);
key!(u64);

/// Sorts indices by key; see the module's text. Its buffers are scratch.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexSort<K> {
    entries: Vec<(K, u32)>,
    other: Vec<(K, u32)>,
    /// By pass and digit: how many, then where the next one goes.
    counts: Vec<u32>,
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
        order.resize(self.entries.len(), 0);
        self.sort_into_slice(order);
    }

    /// The same for a list that is as long as there are entries.
    pub(crate) fn sort_into_slice(&mut self, order: &mut [u32]) {
        assert_eq!(order.len(), self.entries.len());
        if self.entries.len() <= SHORT {
            self.insertion_sort();
            self.copy_indices(order);
        } else if self.entries.len() < LONG {
            self.radix_sort::<FEW_BITS>(order);
        } else {
            self.radix_sort::<MANY_BITS>(order);
        }
    }

    fn copy_indices(&self, order: &mut [u32]) {
        order.iter_mut().zip(&self.entries).for_each(|(to, entry)| *to = entry.1);
    }

    fn radix_sort<const BITS: u32>(&mut self, order: &mut [u32]) {
        let (used, passes) = self.count::<BITS>();
        let Some((&last, earlier)) = passes[..used].split_last() else { return self.copy_indices(order) };
        let len = self.entries.len();
        self.other.resize(len, (K::default(), 0));
        for &pass in earlier {
            let next = &mut self.counts[pass << BITS..(pass + 1) << BITS];
            let to = &mut self.other[..len];
            for &entry in &self.entries {
                let place = &mut next[entry.0.digit(pass as u32 * BITS, BITS)];
                to[*place as usize] = entry;
                *place += 1;
            }
            std::mem::swap(&mut self.entries, &mut self.other);
        }
        let next = &mut self.counts[last << BITS..(last + 1) << BITS];
        let to = &mut order[..len];
        for &(key, index) in &self.entries {
            let place = &mut next[key.digit(last as u32 * BITS, BITS)];
            to[*place as usize] = index;
            *place += 1;
        }
    }

    /// Turns `counts` into the first place of each digit, and lists the passes whose digit is not constant.
    fn count<const BITS: u32>(&mut self) -> (usize, [usize; MAX_PASSES]) {
        let all = K::BITS.div_ceil(BITS) as usize;
        self.counts.clear();
        self.counts.resize(all << BITS, 0);
        let counts = &mut self.counts[..];
        for &(key, _) in &self.entries {
            for pass in 0..all {
                counts[(pass << BITS) + key.digit(pass as u32 * BITS, BITS)] += 1;
            }
        }
        let first = self.entries[0].0;
        let (mut used, mut passes) = (0, [0; MAX_PASSES]);
        for (pass, digits) in counts.chunks_exact_mut(1 << BITS).enumerate() {
            if digits[first.digit(pass as u32 * BITS, BITS)] as usize == self.entries.len() {
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
        (self.entries.capacity() + self.other.capacity()) * size_of::<(K, u32)>() + self.counts.capacity() * 4
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
    fn agrees<K: Key>(keys: &[K], sort: &mut IndexSort<K>) {
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
        for length in [0, 1, 2, 3, SHORT - 1, SHORT, SHORT + 1, 100, 257, LONG - 1, LONG, LONG + 700] {
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
                assert!(sort.bytes() <= 4 * 512 * 8 + 4 * 256 * 4, "{}", sort.bytes());
            }
        }
    }
}
