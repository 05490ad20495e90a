//! Work stealing: each worker has a contiguous range of jobs, and takes half of another's range when it runs out.
//!
//! Jobs of neighboring numbers share data, and the same number means about the same data in the next region. So a worker takes its
//! range from the front, and another one steals from the back, only when it has nothing left. A range is one atomic word: a job is in
//! exactly one share until a compare-and-swap takes it out, so it runs exactly once.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// The remaining jobs of one worker, in a cache line of its own (and the neighboring line, which is fetched with it).
#[derive(Debug, Default)]
#[repr(align(128))]
struct Share(AtomicU64);

/// The first job in the low half, the end in the high half.
fn pack(range: Range<u32>) -> u64 {
    u64::from(range.start) | u64::from(range.end) << 32
}

fn unpack(word: u64) -> Range<u32> {
    word as u32..(word >> 32) as u32
}

impl Share {
    fn set(&self, range: Range<u32>) {
        self.0.store(pack(range), Ordering::Relaxed);
    }

    /// Takes some of the jobs: `split` returns what is left and what is taken.
    ///
    /// The numbers carry no data with them (entering a region has made that visible), so relaxed order is enough.
    fn take<X>(&self, split: impl Fn(Range<u32>) -> (Range<u32>, X)) -> Option<X> {
        let mut word = self.0.load(Ordering::Relaxed);
        while !unpack(word).is_empty() {
            let (left, taken) = split(unpack(word));
            match self.0.compare_exchange_weak(word, pack(left), Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(taken),
                Err(now) => word = now,
            }
        }
        None
    }
}

/// A share for each worker.
#[derive(Debug)]
pub(super) struct Shares(Box<[Share]>);

impl Shares {
    /// The most jobs that can be dealt at once.
    pub(super) const MOST: usize = u32::MAX as usize;

    pub(super) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| Share::default()).collect())
    }

    /// Deals jobs `0..jobs` to the first `workers` workers. No worker may be at work.
    pub(super) fn deal(&self, workers: usize, jobs: usize) {
        debug_assert!(jobs <= Self::MOST);
        let bound = |worker: usize| (worker as u64 * jobs as u64 / workers as u64) as u32;
        for (worker, share) in self.0[..workers].iter().enumerate() {
            share.set(bound(worker)..bound(worker + 1));
        }
    }

    /// The next job for `worker`: the first one of its own, else the back half of what another one has left, else none.
    pub(super) fn next(&self, worker: usize, workers: usize) -> Option<usize> {
        let front = |range: Range<u32>| (range.start + 1..range.end, range.start);
        if let Some(job) = self.0[worker].take(front) {
            return Some(job as usize);
        }
        let back_half = |range: Range<u32>| {
            let middle = range.start + (range.end - range.start) / 2;
            (range.start..middle, middle..range.end)
        };
        let stolen = (1..workers).find_map(|step| self.0[(worker + step) % workers].take(back_half))?;
        // This share is empty, and only its owner writes to an empty share.
        self.0[worker].set(stolen.start + 1..stolen.end);
        Some(stolen.start as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_takes_its_own_jobs_in_order_then_the_back_half_of_another_share() {
        let shares = Shares::new(3);
        shares.deal(2, 10);
        let own: Vec<_> = (0..5).map(|_| shares.next(1, 2).unwrap()).collect();
        assert_eq!(own, [5, 6, 7, 8, 9]);
        assert_eq!(shares.next(1, 2), Some(2), "of 0..5, the half 2..5");
        assert_eq!([shares.next(0, 2), shares.next(0, 2)], [Some(0), Some(1)]);
        assert_eq!(shares.next(0, 2), Some(4), "of 3..5, the half 4..5");
        assert_eq!([shares.next(1, 2), shares.next(1, 2), shares.next(0, 2)], [Some(3), None, None]);
    }

    #[test]
    fn every_job_is_dealt_once_even_if_there_are_fewer_jobs_than_workers() {
        let shares = Shares::new(7);
        for jobs in 0..40 {
            for workers in 1..=7 {
                shares.deal(workers, jobs);
                let mut all: Vec<_> = (0..jobs).map(|turn| shares.next(turn % workers, workers).unwrap()).collect();
                all.sort_unstable();
                assert!(all.iter().copied().eq(0..jobs), "{jobs} jobs, {workers} workers");
                assert!((0..workers).all(|worker| shares.next(worker, workers).is_none()));
            }
        }
    }
}
