//! The pair sink: the growing buffer that kernels write their pairs to. It never drops a pair.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::pair::Pair;

/// A pass over new pairs, `pairs[from..]`, that removes those that the frame's filters reject.
pub(crate) type Refine<'a> = &'a (dyn Fn(&mut Vec<Pair>, usize) + Sync);

/// The number of unrefined pairs from which they are refined, while they are still in the cache, and dropped if only their number is reported.
const FLUSH: usize = 1 << 14;

/// The order of a reported pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// The smaller id first.
    Canonical,
    /// In the order of the two sets of a bipartite join.
    AsGiven,
}

/// Why a join had to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stop {
    /// The limit on pairs was passed.
    Limit,
    /// The buffer could not grow.
    Memory,
}

/// What a sink has collected.
pub(crate) struct Output {
    /// The refined pairs.
    pub(crate) pairs: Vec<Pair>,
    /// How many there are, those included that were counted and dropped.
    pub(crate) count: u64,
    /// The tests made.
    pub(crate) tests: u64,
    pub(crate) stop: Option<Stop>,
    /// The buffer of [`PairSink::with_reserve`].
    pub(crate) reserve: Vec<Pair>,
}

/// At least as many pairs as the joins of `tiles` and `brute-force` ask [`room`](PairSink::room) for at once. (Those of papers may ask for more.)
pub(crate) const RESERVE: usize = 1 << 11;

/// The output of joins into one chunk of a [`PairStore`](crate::PairStore): a growing buffer that never drops a pair.
pub struct PairSink<'a> {
    pairs: Vec<Pair>,
    /// `pairs[..given]` were there before.
    given: usize,
    /// `pairs[..settled]` are refined.
    settled: usize,
    /// The number of pairs that were refined and dropped, since only their number is reported.
    counted: u64,
    refine: Option<Refine<'a>>,
    keep: bool,
    limit: u64,
    /// Refined pairs of all sinks of the frame, and how many of them are this one's.
    written: Option<&'a AtomicU64>,
    own: u64,
    stop: Option<Stop>,
    /// After an allocation failed, the pairs that were there before: `pairs` is then a small buffer whose content is discarded.
    aside: Option<Vec<Pair>>,
    /// That small buffer, allocated beforehand.
    reserve: Vec<Pair>,
    /// Object pairs compared, padding excluded.
    tests: u64,
}

impl fmt::Debug for PairSink<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PairSink").field("pairs", &self.pairs.len()).field("tests", &self.tests).finish_non_exhaustive()
    }
}

impl<'a> PairSink<'a> {
    /// A sink that appends to `pairs`, whose current content counts as refined. With `keep = false`, pairs are counted and dropped.
    pub(crate) fn new(pairs: Vec<Pair>, refine: Option<Refine<'a>>, keep: bool, limit: u64) -> Self {
        Self {
            given: pairs.len(),
            settled: pairs.len(),
            pairs,
            counted: 0,
            refine,
            keep,
            limit,
            written: None,
            own: 0,
            stop: None,
            aside: None,
            reserve: Vec::new(),
            tests: 0,
        }
    }

    /// Gives the sink a buffer of at least [`RESERVE`] pairs, to be used if an allocation fails.
    pub(crate) fn with_reserve(mut self, reserve: Vec<Pair>) -> Self {
        debug_assert!(reserve.is_empty() && reserve.capacity() >= RESERVE);
        self.reserve = reserve;
        self
    }

    /// Shares the limit with the other sinks of the frame, through a count of the pairs that all of them have written.
    pub(crate) fn share(&mut self, written: &'a AtomicU64) {
        self.written = Some(written);
        if written.load(Ordering::Relaxed) > self.limit {
            self.stop = Some(Stop::Limit);
        }
    }

    /// Adds the number of refined pairs here to the count that all sinks share.
    fn publish(&mut self) {
        let own = self.settled as u64 + self.counted;
        if let (Some(written), true) = (self.written, own > self.own) {
            written.fetch_add(own - self.own, Ordering::Relaxed);
            self.own = own;
        }
    }

    /// Are there more pairs than allowed, those of the other sinks included?
    fn is_over(&self) -> bool {
        let others = self.written.map_or(0, |written| written.load(Ordering::Relaxed).saturating_sub(self.own));
        self.pairs.len() as u64 + self.counted + others > self.limit
    }

    /// An unfiltered, unlimited buffer.
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self::new(Vec::new(), None, true, u64::MAX)
    }

    /// Adds to the number of tests.
    #[inline(always)]
    pub fn count_tests(&mut self, tests: u64) {
        self.tests += tests;
    }

    /// Has a limit stopped the output? Joins check this once per row, and return if so.
    #[inline(always)]
    pub fn stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Appends one pair.
    #[inline(always)]
    pub fn push(&mut self, pair: Pair) {
        if self.pairs.len() == self.pairs.capacity() {
            self.make_room(1);
        }
        self.pairs.push(pair);
    }

    /// Appends a list of pairs.
    pub(crate) fn extend(&mut self, pairs: &[Pair]) {
        for piece in pairs.chunks(RESERVE) {
            if self.pairs.capacity() - self.pairs.len() < piece.len() {
                self.make_room(piece.len());
            }
            self.pairs.extend_from_slice(piece);
        }
    }

    /// Appends a pair of `a` with each `others[bit]` whose bit is set.
    #[inline(always)]
    pub(crate) fn push_bits(&mut self, a: u32, others: &[u32], mut bits: u32, order: Order) {
        while bits != 0 {
            let b = others[bits.trailing_zeros() as usize];
            bits &= bits - 1;
            self.push(match order {
                Order::Canonical => Pair::new(a, b),
                Order::AsGiven => Pair { a, b },
            });
        }
    }

    /// Room for `count` more pairs, written by [`commit`](PairSink::commit): for kernels that append without branches.
    #[inline(always)]
    pub(crate) fn room(&mut self, count: usize) -> &mut [std::mem::MaybeUninit<Pair>] {
        if self.pairs.capacity() - self.pairs.len() < count {
            self.make_room(count);
        }
        self.pairs.spare_capacity_mut()
    }

    /// Takes over the first `count` pairs that were written to [`room`](PairSink::room).
    ///
    /// # Safety
    /// *initialized*: the caller wrote them all since the last call to `room`, which was for at least `count`.
    #[inline(always)]
    pub(crate) unsafe fn commit(&mut self, count: usize) {
        debug_assert!(self.pairs.len() + count <= self.pairs.capacity());
        // SAFETY: (initialized, room) the caller's duty.
        unsafe { self.pairs.set_len(self.pairs.len() + count) };
    }

    /// Refines new pairs, then grows the buffer so that `count` more pairs fit. After a stop, found pairs are discarded, so
    /// that a join that does not check at once cannot overrun the buffer.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, count: usize) {
        // Pairs that a filter removes do not count.
        if self.pairs.len() - self.settled >= FLUSH || self.stop.is_some() || self.is_over() {
            self.settle();
        }
        if self.is_over() {
            self.stop = Some(Stop::Limit);
        }
        if self.stop.is_some() {
            self.empty();
        }
        if self.pairs.capacity() - self.pairs.len() < count && self.pairs.try_reserve(count.max(64)).is_err() {
            self.fail(count);
        }
    }

    /// Stops because a buffer of the search could not grow: the frame fails.
    pub(crate) fn stop_out_of_memory(&mut self) {
        self.fail(0);
    }

    /// Stops after a failed allocation: discards found pairs, and provides room for `count` pairs without moving those that were there before.
    fn fail(&mut self, count: usize) {
        self.stop = Some(Stop::Memory);
        self.empty();
        if self.pairs.capacity() - self.pairs.len() < count {
            let mut small = std::mem::take(&mut self.reserve);
            small.clear();
            small.reserve(count); // reserved, if the sink was given a buffer
            let given = std::mem::replace(&mut self.pairs, small);
            self.aside.get_or_insert(given);
            (self.given, self.settled) = (0, 0);
        }
    }

    /// Discards found pairs.
    fn empty(&mut self) {
        self.pairs.truncate(self.given);
        self.settled = self.given;
    }

    /// Refines new pairs; counts and drops them if only their number is reported.
    fn settle(&mut self) {
        if let Some(refine) = self.refine {
            refine(&mut self.pairs, self.settled);
        }
        self.settled = self.pairs.len();
        if !self.keep {
            self.counted += (self.pairs.len() - self.given) as u64;
            self.empty();
        }
        self.publish();
    }

    /// Ends the output.
    pub(crate) fn finish(mut self) -> Output {
        self.settle();
        if let Some(given) = self.aside.take() {
            self.reserve = std::mem::replace(&mut self.pairs, given);
            self.reserve.clear();
        }
        let count = if self.keep { self.pairs.len() as u64 } else { self.counted };
        if count > self.limit {
            self.stop = Some(Stop::Limit);
        }
        Output { pairs: self.pairs, count, tests: self.tests, stop: self.stop, reserve: self.reserve }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_stops_instead_of_dropping() {
        let mut hits = PairSink::new(Vec::new(), None, true, 10);
        for i in 0..100_000 {
            hits.push(Pair::new(i, i + 1));
        }
        assert_eq!(hits.finish().stop, Some(Stop::Limit));
    }

    #[test]
    fn counting_keeps_no_pairs_and_refines_all() {
        let even = |pairs: &mut Vec<Pair>, from: usize| {
            let tail: Vec<_> = pairs.drain(from..).filter(|p| p.a % 2 == 0).collect();
            pairs.extend(tail);
        };
        let mut hits = PairSink::new(Vec::new(), Some(&even), false, u64::MAX);
        for i in 0..100_000 {
            hits.push(Pair::new(i, i + 1));
        }
        let Output { pairs, count, stop, .. } = hits.finish();
        assert_eq!((pairs.len(), count, stop), (0, 50_000, None));
        assert!(pairs.capacity() <= 2 * FLUSH, "the buffer stays small: {}", pairs.capacity());
    }
}
