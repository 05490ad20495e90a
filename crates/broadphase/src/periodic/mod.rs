//! A structure for a space that repeats, built on one for plain space.
//!
//! # The structure
//! The inner structure sees every box wrapped into the space, and images of the boxes that reach over an upper end (`images.rs`). Two objects
//! are a pair if any two of their images overlap; of several such overlaps exactly one counts, so that a pair is reported once, under the
//! objects' own slots. The chunks of pairs are the inner structure's, so what it keeps from frame to frame is kept here too.
//!
//! # Cost
//! A copy of the boxes, a pass over those that changed, an image for each box at a border (up to 7 for one at a corner in space), and a test of each fresh
//! pair. Bad case: many boxes nearly half as long as the period, most of which have images.

mod bounds;
mod images;
mod probe;
mod resolve;
mod validate;

use images::Images;
use probe::ProbeScratch;

use crate::algorithms::{BroadPhase, Found, Probes, Query, Region, Stats, Strength, Violation, scan};
use crate::buffer_pool::BufferPool;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Measure, Period, Real};
use crate::objects::Frame;
use crate::pairs::{PairStore, Retain};

/// The longest box around a path, in periods: half a period for the box, half a period for its motion, and more than rounding adds.
pub(crate) const LONGEST_SWEPT: f64 = 1.5;

/// A structure of yours or of the [list](crate::algorithms::list) in a space that repeats, for callers with arrays of their own. A periodic
/// [`World`](crate::World::set_period) uses it too.
///
/// Boxes may lie anywhere; they are wrapped. On a periodic axis, a box may be up to half the period long; a longer one is
/// [`Error::BoxTooLong`]. Queries of its [`reader`](BroadPhase::reader) see the wrapped boxes, each once, and do not look over the borders:
/// those of a periodic world do.
///
/// ```
/// use broadphase::{Aabb, Context, Frame, Pair, PairStore, Period, Periodic, Report, Spec, step};
/// let space = Period::new([10.0, 10.0]);
/// let mut structure = Periodic::new(Spec::default().build()?, space)?;
/// let boxes = [Aabb::new([9.5, 1.0], [10.5, 2.0]), Aabb::new([0.2, 1.0], [1.0, 2.0]), Aabb::new([5.0, 5.0], [6.0, 6.0])];
/// let mut found = PairStore::new(Report::All);
/// step(&mut structure, &Frame::new(&boxes), &mut Context::new(), &mut found)?;
/// assert_eq!(found.sorted(), [Pair { a: 0, b: 1 }]);
/// # Ok::<(), broadphase::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Periodic<const D: usize, T: Real> {
    period: Period<D, T>,
    /// How many periods long a box may be.
    longest: T,
    inner: Box<dyn BroadPhase<D, T>>,
    images: Images<D, T>,
    scratch: BufferPool<ProbeScratch<D, T>>,
}

impl<const D: usize, T: Real> Periodic<D, T> {
    /// An empty structure in that space, from an empty one in plain space.
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a period that is not positive and finite.
    pub fn new(inner: Box<dyn BroadPhase<D, T>>, period: Period<D, T>) -> Result<Self, Error> {
        period.check()?;
        Ok(Self { period, longest: T::HALF, inner, images: Images::default(), scratch: BufferPool::default() })
    }

    /// Sets the longest box, in periods. Pairs of boxes are correct for any length, since a box of at least one period and its images cover the
    /// space together; pairs of balls are correct up to half a period.
    pub(crate) fn with_longest(mut self, longest: T) -> Self {
        self.longest = longest;
        self
    }

    /// The space.
    pub fn period(&self) -> Period<D, T> {
        self.period
    }
}

impl<const D: usize, T: Real> BroadPhase<D, T> for Periodic<D, T> {
    fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        self.images.follow(frame, &self.period, self.longest, context)?;
        let filter = |_: &mut Retain<'_>| (); // `pairs` has one, and a frame with a filter is prepared for it
        let result = self.inner.update(&self.images.changed_frame(frame.shape, Some(&filter)), context);
        if result.is_err() {
            self.images.forget();
        }
        result
    }

    fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let Self { inner, images, .. } = self;
        let filter = |fresh: &mut Retain<'_>| {
            images.resolve(fresh, frame.shape);
            if let Some(filter) = frame.filter {
                filter(fresh);
            }
        };
        inner.pairs(&images.frame(frame.shape, Some(&filter)), context, out)
    }

    fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        self.find_probes(frame, probes, context, out)
    }

    fn reader(&self) -> Option<&dyn Query<D, T>> {
        Some(self)
    }

    fn outline(&self, frame: &Frame<'_, D, T>, visit: &mut dyn FnMut(Region<D, T>)) {
        self.inner.outline(&self.images.frame(frame.shape, None), visit);
    }

    fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        if let Some(fault) = self.images.fault(frame, &self.period) {
            return Err(Violation(fault));
        }
        self.inner.validate(&self.images.frame(frame.shape, None), strength)
    }

    fn stats(&self) -> Stats {
        let mut stats = self.inner.stats();
        stats.bytes += self.images.bytes() + self.scratch.bytes(ProbeScratch::bytes);
        stats.extra.push(("images", self.images.count() as f64));
        stats
    }

    fn boxed_clone(&self) -> Box<dyn BroadPhase<D, T>> {
        Box::new(self.clone())
    }
}

impl<const D: usize, T: Real> Query<D, T> for Periodic<D, T> {
    fn search(&self, frame: &Frame<'_, D, T>, measure: &dyn Measure<D, T>, limit: T, visit: Found<'_, T>) {
        let mut left = limit;
        // Images are not objects.
        let mut visit = |slot: u32, distance: T| {
            if self.images.is_image(slot) {
                return std::ops::ControlFlow::Continue(left);
            }
            let flow = visit(slot, distance);
            if let std::ops::ControlFlow::Continue(limit) = flow {
                left = limit;
            }
            flow
        };
        let frame = self.images.frame(frame.shape, None);
        match self.inner.reader() {
            Some(reader) => reader.search(&frame, measure, limit, &mut visit),
            None => scan(&frame, measure, limit, &mut visit),
        }
    }
}
