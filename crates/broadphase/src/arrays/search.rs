//! A single search over arrays, with options.

use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::balls::CELLS_FROM;
use super::cancel::{Cancel, Shared};
use super::chunks::Chunks;
use super::prepare::Treatment;
use super::rules::Keep;
use crate::algorithms::Spec;
use crate::error::Error;
use crate::geometry::{Aabb, Period, Real};
use crate::memory;
use crate::objects::{Shape, Tag};
use crate::pairs::{Pair, PairStore, Report, Retain};
use crate::par::{Executor, Sequential};

/// The most pairs that a visitor gets in one call.
const SLICE: usize = 1 << 14;
/// Up to this many pairs of one list are found in one pass, and held in memory, even if they are returned in pieces.
const FEW: u64 = 1 << 22;
/// The number of pairs of two lists that are found in one batch when all are requested.
const BATCH: usize = 1 << 20;

/// A search for all pairs of boxes in an array, or of two arrays, with options. [`pairs`](crate::pairs()) and
/// [`pairs_between`](crate::pairs_between) run it with the defaults.
///
/// Set the options, then call [`list`](Search::list), [`count`](Search::count), [`visit`](Search::visit) to get slices in a closure,
/// or [`chunks`](Search::chunks) for an iterator over bounded lists.
///
/// ```
/// use broadphase::{Aabb, Pair, Search};
/// let boxes = [Aabb::new([0.0, 0.0], [1.0, 1.0]), Aabb::new([1.5, 0.0], [2.0, 1.0]), Aabb::new([9.0, 0.0], [9.8, 1.0])];
/// // Closer than 0.6 to each other: each grows by 0.3.
/// assert_eq!(Search::new(&boxes).margin(0.3).list()?, [Pair { a: 0, b: 1 }]);
/// // In a space that repeats after 10, the last one is near the first one too.
/// let space = broadphase::Period::axes([Some(10.0), None]);
/// assert_eq!(Search::new(&boxes).margin(0.3).periodic(space).count()?, 2);
/// # Ok::<(), broadphase::Error>(())
/// ```
///
/// # Cost
/// About linear in boxes and pairs, sorting included. A margin, half-open boxes or a period cost one copy of the boxes; a period
/// also an image of each box that reaches over a border.
#[derive(Clone)]
pub struct Search<'a, const D: usize, T: Real> {
    pub(super) a: Cow<'a, [Aabb<D, T>]>,
    /// The points of [`Search::points`]; `a` is then empty.
    pub(super) points: Option<&'a [[T; D]]>,
    /// The second list, if there are two.
    pub(super) b: Option<Cow<'a, [Aabb<D, T>]>>,
    pub(super) tags: Option<&'a [Tag]>,
    pub(super) tags_b: Option<&'a [Tag]>,
    pub(super) spec: Spec,
    pub(super) executor: Shared,
    pub(super) shape: Shape,
    pub(super) treatment: Treatment<D, T>,
    pub(super) keep: Option<Keep<'a>>,
    pub(super) sort: bool,
    pub(super) limit: u64,
    pub(super) cancel: Option<Cancel>,
}

impl<const D: usize, T: Real> fmt::Debug for Search<'_, D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search")
            .field("boxes", &self.points.map_or(self.a.len(), <[_]>::len))
            .field("others", &self.b.as_ref().map(|b| b.len()))
            .field("algorithm", &self.spec.to_string())
            .field("workers", &self.executor.width())
            .field("shape", &self.shape)
            .field("treatment", &self.treatment)
            .field("sort", &self.sort)
            .finish_non_exhaustive()
    }
}

/// # Options
impl<'a, const D: usize, T: Real> Search<'a, D, T> {
    /// A search for the pairs of one list, with `a < b`.
    pub fn new(boxes: impl Into<Cow<'a, [Aabb<D, T>]>>) -> Self {
        Self {
            a: boxes.into(),
            points: None,
            b: None,
            tags: None,
            tags_b: None,
            spec: Spec::default(),
            executor: Shared::default(),
            shape: Shape::Box,
            treatment: Treatment { margin: T::ZERO, period: None, half_open: false },
            keep: None,
            sort: true,
            limit: PairStore::DEFAULT_LIMIT,
            cancel: None,
        }
    }

    /// A search for the pairs of points, each a box without extent; with a [`margin`](Search::margin), of equal boxes or balls around them.
    ///
    /// The result is that of [`new`](Search::new) with [`Aabb::point`] of each point. Many balls are found without making their boxes.
    ///
    /// ```
    /// use broadphase::{Pair, Search, Shape};
    /// let points = [[0.0, 0.0], [0.8, 0.8], [5.0, 5.0]];
    /// assert_eq!(Search::points(&points).margin(0.5).list()?, [Pair { a: 0, b: 1 }]);
    /// assert_eq!(Search::points(&points).margin(0.5).shape(Shape::Ball).list()?, []);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn points(points: &'a [[T; D]]) -> Self {
        Self { points: Some(points), ..Self::new(Vec::new()) }
    }

    /// A search for the pairs of a box of `a` and a box of `b`: (index in `a`, index in `b`).
    ///
    /// ```
    /// use broadphase::{Aabb, Pair, Search};
    /// let robots = [Aabb::new([0.0, 0.0], [1.0, 1.0]), Aabb::new([5.0, 0.0], [6.0, 1.0])];
    /// let walls = [Aabb::new([1.05, 0.0], [1.1, 9.0])];
    /// // On two threads; every box grows by 0.05, so the first robot touches the wall.
    /// let near = Search::between(&robots, &walls).margin(0.05).workers(2)?.list()?;
    /// assert_eq!(near, [Pair { a: 0, b: 0 }]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn between(a: impl Into<Cow<'a, [Aabb<D, T>]>>, b: impl Into<Cow<'a, [Aabb<D, T>]>>) -> Self {
        Self { b: Some(b.into()), ..Self::new(a) }
    }

    /// Sets an algorithm other than `auto`.
    pub fn algorithm(mut self, spec: Spec) -> Self {
        self.spec = spec;
        self
    }

    /// Runs on `count` threads, which are started for this search; 0 means one per core. To reuse threads, pass an
    /// [`executor`](Search::executor).
    #[cfg(feature = "parallel")]
    pub fn workers(self, count: usize) -> Result<Self, Error> {
        Ok(if count == 1 { self.executor(Sequential) } else { self.executor(crate::par::Threads::new(count)?) })
    }

    /// Runs on these threads.
    pub fn executor(mut self, executor: impl Executor + 'static) -> Self {
        self.executor = Shared(Some(Arc::new(executor)));
        self
    }

    /// Sets what the boxes represent: themselves, or their inscribed balls.
    pub fn shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// Grows every box by a margin on every side.
    pub fn margin(mut self, margin: T) -> Self {
        self.treatment.margin = margin;
        self
    }

    /// Makes the space repeat. No box may be longer than half the period, margins included.
    ///
    /// A box is moved by whole periods so that its lower corner is in the space. Two boxes overlap if they do so, or if one of them, moved
    /// down by a period along any axes on which it touches or crosses the upper end, overlaps the other.
    pub fn periodic(mut self, period: Period<D, T>) -> Self {
        self.treatment.period = Some(period);
        self
    }

    /// Makes boxes half-open, `min <= x < max` on each axis: boxes that only touch do not overlap, and a box with `min == max` on any axis is
    /// empty and overlaps nothing. For boxes only, not for balls.
    pub fn half_open(mut self) -> Self {
        self.treatment.half_open = true;
        self
    }

    /// Sets tags that decide which boxes may pair, one for each box of the (first) list.
    pub fn tags(mut self, tags: &'a [Tag]) -> Self {
        self.tags = Some(tags);
        self
    }

    /// Sets the tags of the second list. In a list without tags, all boxes have [`Tag::default`].
    pub fn tags_b(mut self, tags: &'a [Tag]) -> Self {
        self.tags_b = Some(tags);
        self
    }

    /// Keeps the pairs for which `keep` returns true. It is called at least once for each pair that overlaps and that tags allow, from
    /// any thread.
    pub fn filter(mut self, keep: impl Fn(Pair) -> bool + Send + Sync + 'a) -> Self {
        self.keep = Some(Arc::new(keep));
        self
    }

    /// Whether to sort the list, as is the default. An unsorted list, too, is the same for any number of threads.
    pub fn sort(mut self, sort: bool) -> Self {
        self.sort = sort;
        self
    }

    /// Sets the largest number of pairs; more are [`Error::TooManyPairs`].
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }

    /// Makes the search return [`Error::Cancelled`] soon after the flag is set.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = Some(cancel.clone());
        self
    }
}

/// # Results
impl<'a, const D: usize, T: Real> Search<'a, D, T> {
    /// All pairs.
    ///
    /// # Errors
    /// [`Error::InvalidBox`] for a box with a NaN corner or `min` above `max`, in an [`Error::Argument`] that names the list if there are two;
    /// [`Error::InvalidMargin`], [`Error::InvalidValue`], [`Error::WrongLength`] and [`Error::BoxTooLong`] for options that do not fit;
    /// [`Error::Unsuited`] for an algorithm that does not support such boxes; [`Error::Cancelled`]; [`Error::TooManyObjects`],
    /// [`Error::TooManyPairs`] and [`Error::OutOfMemory`] beyond the limits.
    pub fn list(&self) -> Result<Vec<Pair>, Error> {
        if self.points.is_some_and(|points| points.len() >= CELLS_FROM)
            && let Some(pairs) = self.equal_balls()?
        {
            return Ok(pairs);
        }
        let (a, b) = self.prepare()?;
        if let Some(b) = &b
            && let Some(found) = self.join_both(&a, b, Report::All)?
        {
            return if self.sort { found.try_sorted(a.count) } else { found.try_to_vec() };
        }
        if b.is_some() {
            let mut list = Vec::new();
            for piece in self.pieces(a, b, BATCH)? {
                let piece = piece?;
                memory::extend(&mut list, piece.len(), piece.into_iter(), "pairs")?;
            }
            return Ok(list);
        }
        self.all_of(&a, self.limit, self.sort)
    }

    /// The number of pairs; no list is made.
    ///
    /// # Errors
    /// As for [`list`](Search::list).
    pub fn count(&self) -> Result<u64, Error> {
        let (a, b) = self.prepare()?;
        if let Some(b) = &b
            && let Some(found) = self.join_both(&a, b, Report::Count)?
        {
            return Ok(found.len());
        }
        if b.is_some() {
            return self.pieces(a, b, BATCH)?.try_fold(0, |sum, piece| piece.map(|piece| sum + piece.len() as u64));
        }
        let mut out = PairStore::new(Report::Count);
        out.set_limit(self.limit);
        self.find(&self.rules(&a, &a), None, &mut out)?;
        Ok(out.len())
    }

    /// Passes all pairs to `visit` as they are found, up to 16,384 per call; the memory does not depend on their number. A break ends the
    /// search.
    ///
    /// The pairs of one list are not sorted, but their order is the same every time. One thread finds them, since only one at a time could call
    /// `visit` anyway. The pairs of two lists are sorted.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use broadphase::{Aabb, Search};
    /// let boxes = vec![Aabb::new([0.0, 0.0], [1.0, 1.0]); 1000];
    /// let mut count = 0;
    /// Search::new(&boxes).visit(|pairs| {
    ///     count += pairs.len();
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!(count, 499_500);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`list`](Search::list). The pairs that were passed before an error are correct.
    pub fn visit(&self, visit: impl FnMut(&[Pair]) -> ControlFlow<()> + Send) -> Result<(), Error> {
        let (a, b) = self.prepare()?;
        let mut visit = visit;
        if b.is_some() {
            for piece in self.pieces(a, b, SLICE)? {
                if visit(&piece?).is_break() {
                    break;
                }
            }
            return Ok(());
        }
        let rules = self.rules(&a, &a);
        let stop = Cancel::new();
        let seen = AtomicU64::new(0);
        let state = Mutex::new((visit, Vec::new(), Ok(())));
        let sink = |retain: &mut Retain<'_>| {
            if !stop.is_cancelled() {
                let (visit, buffer, grown) = &mut *state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                for slice in retain.pairs().chunks(SLICE) {
                    buffer.clear();
                    *grown = memory::extend(buffer, slice.len(), slice.iter().map(|&slots| rules.objects(slots)), "pairs");
                    let total = seen.fetch_add(buffer.len() as u64, Ordering::Relaxed) + buffer.len() as u64;
                    if grown.is_err() || total > self.limit || visit(buffer).is_break() {
                        stop.cancel();
                        break;
                    }
                }
            }
            retain.retain(|_| false);
        };
        let mut out = PairStore::new(Report::Count);
        self.find(&rules, Some((&sink, &stop)), &mut out)?;
        state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).2?;
        if seen.into_inner() > self.limit { Err(Error::TooManyPairs { limit: self.limit }) } else { Ok(()) }
    }

    /// The sorted list in pieces of up to `size` pairs, for results larger than memory: each piece is found when the iterator reaches it. Memory: a few
    /// pieces or a few million pairs, and what the boxes need. It can be dropped at any time.
    ///
    /// Up to four million pairs of one list are found in one pass. If there are more, objects are looked up in the structure one by one, and each pair
    /// is found from both sides, which takes a few times as long as [`visit`](Search::visit).
    ///
    /// ```
    /// use broadphase::{Aabb, Search, pairs};
    /// let boxes = vec![Aabb::new([0.0, 0.0], [1.0, 1.0]); 100];
    /// let pieces = Search::new(&boxes).chunks(1000)?.collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(pieces.iter().map(Vec::len).collect::<Vec<_>>(), [1000, 1000, 1000, 1000, 950]);
    /// assert_eq!(pieces.concat(), pairs(&boxes)?);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`list`](Search::list), here or from the iterator, which ends after an error.
    pub fn chunks(&self, size: usize) -> Result<Chunks<'a, D, T>, Error> {
        let (a, b) = self.prepare()?;
        if b.is_none() {
            match self.all_of(&a, FEW, true) {
                Ok(list) => return Ok(Chunks::of(self.plan(a, b, size.max(1))?, list)),
                Err(Error::TooManyPairs { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.pieces(a, b, size.max(1))
    }
}
