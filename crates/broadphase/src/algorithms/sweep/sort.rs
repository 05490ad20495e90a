//! The endpoints of all objects on one axis, sorted (algorithm 2 of the paper).
//!
//! Endpoint `i` is the start of object `i` if `i < n`, else the end of object `i - n`. The sort is stable, so of equal
//! coordinates the starts come first: closed boxes that touch are active together.
//!
//! In parallel, every segment of the input is dealt into buckets by last frame's boundaries, which were quantiles then and,
//! things moving little, nearly are now; then every bucket is sorted on its own. Segments are read in order, so this is
//! stable too, and gives the same order as the sequential sort, whatever the boundaries: they decide the balance, not the result.
//! Segments and buckets are parts of lists of all endpoints, so the boundaries do not decide the memory either.

use super::parts::{cut, split};
use crate::bits::{IndexSort, Key, sort_entries};
use crate::context::{Context, PerWorker};

/// Sorts endpoints. All of it is scratch.
#[derive(Clone, Debug)]
pub(super) struct EndpointSort<K> {
    whole: IndexSort<K>,
    segments: PerWorker<Segment<K>>,
    /// All endpoints, bucket by bucket, and room for as many.
    entries: Vec<(K, u32)>,
    other: Vec<(K, u32)>,
    /// The digits of each bucket.
    counts: PerWorker<Vec<u32>>,
    /// Where each bucket begins in the whole order.
    begins: Vec<usize>,
}

/// A run of endpoints, bucket by bucket.
#[derive(Clone, Debug)]
struct Segment<K> {
    entries: Vec<(K, u32)>,
    /// The bucket of each endpoint, in the order given.
    buckets: Vec<u16>,
    /// Where each bucket ends.
    ends: Vec<u32>,
}

impl<K> Default for Segment<K> {
    fn default() -> Self {
        Self { entries: Vec::new(), buckets: Vec::new(), ends: Vec::new() }
    }
}

impl<K: Key> Segment<K> {
    /// Takes endpoints with their keys and buckets, of which there are `count`.
    fn fill(&mut self, count: usize, endpoints: impl Iterator<Item = (u64, u32)> + Clone, bucket: impl Fn(u64) -> usize) {
        self.buckets.clear();
        self.buckets.extend(endpoints.clone().map(|(key, _)| bucket(key) as u16));
        self.ends.clear();
        self.ends.resize(count + 1, 0);
        self.buckets.iter().for_each(|&bucket| self.ends[bucket as usize + 1] += 1);
        (0..count).for_each(|bucket| self.ends[bucket + 1] += self.ends[bucket]);
        self.entries.resize(self.buckets.len(), (K::default(), 0));
        // ends[b] is where the next endpoint of bucket b goes; after the pass it is where b ends.
        for ((key, endpoint), &bucket) in endpoints.zip(&self.buckets) {
            let place = &mut self.ends[bucket as usize];
            self.entries[*place as usize] = (K::truncate(key), endpoint);
            *place += 1;
        }
    }

    /// The endpoints of a bucket.
    fn bucket(&self, bucket: usize) -> &[(K, u32)] {
        let begin = bucket.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[begin as usize..self.ends[bucket] as usize]
    }
}

impl<K> Default for EndpointSort<K> {
    fn default() -> Self {
        let (entries, other, begins) = (Vec::new(), Vec::new(), Vec::new());
        let (segments, counts) = (PerWorker::default(), PerWorker::default());
        Self { whole: IndexSort::default(), segments, entries, other, counts, begins }
    }
}

impl<K: Key> EndpointSort<K> {
    /// All endpoints by ascending key, one pass after the other. `starts` and `ends` are the keys by object.
    pub(super) fn sequential(
        &mut self,
        starts: impl ExactSizeIterator<Item = u64>,
        ends: impl Iterator<Item = u64>,
        order: &mut Vec<u32>,
    ) {
        self.whole.load(starts.chain(ends).map(K::truncate).zip(0..));
        self.whole.sort_into(order);
    }

    /// The same order, bucket by bucket. `key` returns the key of each of `count` endpoints.
    pub(super) fn parallel(
        &mut self,
        context: &Context,
        count: usize,
        boundaries: &[u64],
        key: impl Fn(usize) -> u64 + Sync,
        order: &mut Vec<u32>,
    ) {
        let parts = boundaries.len() + 1;
        self.segments.prepare_for(parts);
        self.counts.prepare_for(parts);
        let (segments, counts) = (&self.segments, &self.counts);
        let bucket_of = BucketOf::<K>::new(boundaries);
        context.run_weighted(parts, 10 * count, |job, _| {
            let endpoints = cut(count, parts, job)..cut(count, parts, job + 1);
            let keys = endpoints.map(|endpoint| (key(endpoint), endpoint as u32));
            segments.get(job).fill(parts, keys, |key| bucket_of.find(key));
        });
        let size = |bucket: usize| -> usize { (0..parts).map(|segment| segments.read(segment).bucket(bucket).len()).sum() };
        self.begins.clear();
        self.begins.extend((0..parts).scan(0, |begin, bucket| {
            let first = *begin;
            *begin += size(bucket);
            Some(first)
        }));
        order.resize(count, 0);
        self.entries.resize(count, (K::default(), 0));
        self.other.resize(count, (K::default(), 0));
        let begins = &self.begins[..];
        let places = split(order, begins).zip(split(&mut self.entries, begins)).zip(split(&mut self.other, begins)).zip(0..);
        context.run_each(places, parts, 20 * count, |(((order, entries), other), bucket), _| {
            let mut rest = &mut *entries;
            for segment in 0..parts {
                let segment = segments.read(segment);
                let (place, behind) = std::mem::take(&mut rest).split_at_mut(segment.bucket(bucket).len());
                place.copy_from_slice(segment.bucket(bucket));
                rest = behind;
            }
            sort_entries(entries, other, &mut counts.get(bucket), order);
        });
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<(K, u32)>();
        let of = |s: &Segment<K>| s.entries.capacity() * entry + s.buckets.capacity() * 2 + s.ends.capacity() * 4;
        let segments: usize = self.segments.iter().map(|segment| of(&segment)).sum();
        let counts: usize = self.counts.iter().map(|counts| counts.capacity() * 4).sum();
        self.whole.bytes() + segments + counts + (self.entries.capacity() + self.other.capacity()) * entry
    }
}

/// The bucket of a key: the number of boundaries below it.
struct BucketOf<'a, K> {
    boundaries: &'a [u64],
    /// The first boundaries; if there are fewer, the largest keys follow.
    few: [K; FEW],
}

/// Up to this many boundaries, counting all of them is faster than a bisection, whose branches are mispredicted.
const FEW: usize = 16;

impl<'a, K: Key> BucketOf<'a, K> {
    fn new(boundaries: &'a [u64]) -> Self {
        let few = std::array::from_fn(|at| K::truncate(boundaries.get(at).copied().unwrap_or(u64::MAX)));
        Self { boundaries, few }
    }

    #[inline(always)]
    fn find(&self, key: u64) -> usize {
        if self.boundaries.len() > FEW {
            return self.boundaries.partition_point(|&boundary| key > boundary);
        }
        let key = K::truncate(key);
        self.few.iter().map(|&boundary| u32::from(key > boundary)).sum::<u32>() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_boundaries_give_the_order_of_the_sequential_sort() {
        let keys: Vec<u64> = (0..4000u64).map(|i| (i * 7919) % 601).collect();
        let mut sort = EndpointSort::<u32>::default();
        let (mut expected, mut order) = (Vec::new(), Vec::new());
        sort.sequential(keys[..2000].iter().copied(), keys[2000..].iter().copied(), &mut expected);
        for boundaries in [&[][..], &[300], &[0, 0, 0], &[900, 900], &[10, 100, 101, 500, 600], &[5; 70]] {
            sort.parallel(&Context::new(), keys.len(), boundaries, |i| keys[i], &mut order);
            assert_eq!(order, expected, "{boundaries:?}");
        }
        sort.parallel(&Context::new(), 0, &[3, 4], |i| keys[i], &mut order);
        assert!(order.is_empty());
    }
}
