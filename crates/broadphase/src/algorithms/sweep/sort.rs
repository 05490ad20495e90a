//! The endpoints of all objects on one axis, sorted (algorithm 2 of the paper).
//!
//! Endpoint `i` is the start of object `i` if `i < n`, else the end of object `i - n`. The sort is stable, so of equal
//! coordinates the starts come first: closed boxes that touch are active together.
//!
//! In parallel, every segment of the input is dealt into buckets by last frame's boundaries, which were quantiles then and,
//! things moving little, nearly are now; then every bucket is sorted on its own. Segments are read in order, so this is
//! stable too, and gives the same order as the sequential sort, whatever the boundaries: they decide the balance, not the result.

use super::parts::{cut, split};
use crate::bits::{IndexSort, Key};
use crate::context::{Context, PerWorker};

/// Sorts endpoints. All of it is scratch.
#[derive(Clone, Debug)]
pub(super) struct EndpointSort<K> {
    whole: IndexSort<K>,
    /// By segment: its endpoints, bucket by bucket.
    segments: PerWorker<Vec<Vec<(K, u32)>>>,
    buckets: PerWorker<IndexSort<K>>,
    /// Where each bucket begins in the whole order.
    begins: Vec<usize>,
}

impl<K: Key> Default for EndpointSort<K> {
    fn default() -> Self {
        Self { whole: IndexSort::default(), segments: PerWorker::default(), buckets: PerWorker::default(), begins: Vec::new() }
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

    /// The same order, bucket by bucket. `key` tells the key of each of `count` endpoints.
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
        self.buckets.prepare_for(parts);
        let (segments, buckets) = (&self.segments, &self.buckets);
        let bucket_of = BucketOf::<K>::new(boundaries);
        context.run_weighted(parts, 10 * count, |job, _| {
            let mut lists = segments.get(job);
            lists.resize_with(parts, Vec::new);
            lists.iter_mut().for_each(Vec::clear);
            for endpoint in cut(count, parts, job)..cut(count, parts, job + 1) {
                let value = key(endpoint);
                lists[bucket_of.find(value)].push((K::truncate(value), endpoint as u32));
            }
        });
        order.resize(count, 0);
        let size = |bucket: usize| -> usize { (0..parts).map(|segment| segments.read(segment)[bucket].len()).sum() };
        self.begins.clear();
        self.begins.extend((0..parts).scan(0, |begin, bucket| {
            let first = *begin;
            *begin += size(bucket);
            Some(first)
        }));
        let places = split(order, &self.begins).zip(0..);
        context.run_each(places, parts, 20 * count, |(place, bucket), _| {
            let mut sort = buckets.get(bucket);
            sort.load([].into_iter());
            (0..parts).for_each(|segment| sort.append(&segments.read(segment)[bucket]));
            sort.sort_into_slice(place);
        });
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<(K, u32)>();
        let segments: usize = self.segments.iter().flat_map(|s| s.iter().map(|b| b.capacity() * entry).collect::<Vec<_>>()).sum();
        let buckets: usize = self.buckets.iter().map(|bucket| bucket.bytes()).sum();
        self.whole.bytes() + segments + buckets
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
