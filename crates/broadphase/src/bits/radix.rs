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

/// Sorts indices by key; see the module documentation. Its buffers are scratch.
#[derive(Clone, Debug)]
pub(crate) struct IndexSort<K> {
    entries: Vec<(K, u32)>,
    other: Vec<(K, u32)>,
    /// By pass and digit: how many, then where the next one goes.
    counts: Vec<u32>,
}

impl<K> Default for IndexSort<K> {
    fn default() -> Self {
        Self { entries: Vec::new(), other: Vec::new(), counts: Vec::new() }
    }
}

impl<K: Key> IndexSort<K> {
    /// Takes the entries to sort, replacing what was there.
    pub(crate) fn load(&mut self, entries: impl Iterator<Item = (K, u32)>) {
        self.entries.clear();
        self.entries.extend(entries);
    }

    /// Replaces `order` by the indices of all entries by ascending key; equal keys keep their order.
    pub(crate) fn sort_into(&mut self, order: &mut Vec<u32>) {
        order.resize(self.entries.len(), 0);
        self.other.resize(self.entries.len(), (K::default(), 0));
        sort_entries(&mut self.entries, &mut self.other, &mut self.counts, order);
    }

    /// The bytes it holds beside itself.
    pub(crate) fn bytes(&self) -> usize {
        (self.entries.capacity() + self.other.capacity()) * size_of::<(K, u32)>() + self.counts.capacity() * 4
    }
}

/// Writes the indices of all `entries` by ascending key to `order`; equal keys keep their order. `other` is as long; both are scratch
/// afterwards, and so is `counts`.
pub(crate) fn sort_entries<K: Key>(entries: &mut [(K, u32)], other: &mut [(K, u32)], counts: &mut Vec<u32>, order: &mut [u32]) {
    assert!(order.len() == entries.len() && other.len() == entries.len());
    if entries.len() <= SHORT {
        insertion_sort(entries);
        copy_indices(entries, order);
    } else if entries.len() < LONG {
        radix_sort::<K, FEW_BITS>(entries, other, counts, order);
    } else {
        radix_sort::<K, MANY_BITS>(entries, other, counts, order);
    }
}

fn copy_indices<K>(entries: &[(K, u32)], order: &mut [u32]) {
    order.iter_mut().zip(entries).for_each(|(to, entry)| *to = entry.1);
}

fn radix_sort<K: Key, const BITS: u32>(
    entries: &mut [(K, u32)],
    other: &mut [(K, u32)],
    counts: &mut Vec<u32>,
    order: &mut [u32],
) {
    let (used, passes) = count::<K, BITS>(entries, counts);
    let Some((&last, earlier)) = passes[..used].split_last() else { return copy_indices(entries, order) };
    let len = entries.len();
    let (mut from, mut to) = (entries, other);
    for &pass in earlier {
        let next = &mut counts[pass << BITS..(pass + 1) << BITS];
        let places = &mut to[..len];
        for &entry in &*from {
            let place = &mut next[entry.0.digit(pass as u32 * BITS, BITS)];
            places[*place as usize] = entry;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    let next = &mut counts[last << BITS..(last + 1) << BITS];
    for &(key, index) in &*from {
        let place = &mut next[key.digit(last as u32 * BITS, BITS)];
        order[*place as usize] = index;
        *place += 1;
    }
}

/// Turns `counts` into the first place of each digit, and lists the passes whose digit is not constant.
fn count<K: Key, const BITS: u32>(entries: &[(K, u32)], counts: &mut Vec<u32>) -> (usize, [usize; MAX_PASSES]) {
    let all = K::BITS.div_ceil(BITS) as usize;
    counts.clear();
    counts.resize(all << BITS, 0);
    let counts = &mut counts[..];
    for &(key, _) in entries {
        for pass in 0..all {
            counts[(pass << BITS) + key.digit(pass as u32 * BITS, BITS)] += 1;
        }
    }
    let first = entries[0].0;
    let (mut used, mut passes) = (0, [0; MAX_PASSES]);
    for (pass, digits) in counts.chunks_exact_mut(1 << BITS).enumerate() {
        if digits[first.digit(pass as u32 * BITS, BITS)] as usize == entries.len() {
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

fn insertion_sort<K: Key>(entries: &mut [(K, u32)]) {
    for i in 1..entries.len() {
        let entry = entries[i];
        let mut hole = i;
        while hole > 0 && entries[hole - 1].0 > entry.0 {
            entries[hole] = entries[hole - 1];
            hole -= 1;
        }
        entries[hole] = entry;
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
    fn entries_keep_their_own_indices_and_buffers_are_reused() {
        let mut sort = IndexSort::<u32>::default();
        let mut order = Vec::new();
        for round in 0..3 {
            sort.load((0..500u32).map(|i| (i % 7, i)).chain([(3, 9000), (0, 9001)]));
            sort.sort_into(&mut order);
            assert_eq!(order.len(), 502);
            assert_eq!(order.iter().position(|&i| i == 9001), Some(72), "behind the 72 zeros before it");
            if round > 0 {
                assert!(sort.bytes() <= 4 * 512 * 8 + 4 * 256 * 4, "{}", sort.bytes());
            }
        }
    }
}
