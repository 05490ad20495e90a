//! The steps of a search: prepare, join, return.

use std::borrow::Cow;

use super::Search;
use super::balls::CELLS_FROM;
use super::cancel::{Cancel, Cancellable, Shared};
use super::chunks::{Chunks, Plan};
use super::prepare::{Prepared, Treatment, again};
use super::rules::Rules;
use crate::algorithms::{BroadPhase, Probes, Spec};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Ball, Real};
use crate::memory::reserve;
use crate::objects::{Changes, Filter, Frame, Shape, Tag};
use crate::pairs::{Pair, PairSort, PairStore, Report, Retain};

/// The number of pairs of two lists that may wait for a filter, or the pair limit if that is larger.
pub(super) const WAITING: u64 = 1 << 22;
/// Up to this many boxes, a single search with `auto` tests all pairs. Over many frames, `auto` builds a structure for fewer boxes, since they
/// share the cost of building it.
const FEW_FOR_ONE_SEARCH: usize = 128;
/// Algorithms whose remaining tiles a cancelled search skips. Others finish their current stage.
const STOPPABLE: [&str; 3] = ["auto", "tiles", "brute-force"];

impl<'a, const D: usize, T: Real> Search<'a, D, T> {
    /// Boxes that are ready to be searched: one list or two.
    #[allow(clippy::type_complexity)] // two lists, the second one optional
    pub(super) fn prepare(&self) -> Result<(Prepared<'a, D, T>, Option<Prepared<'a, D, T>>), Error> {
        let Treatment { margin, period, half_open } = &self.treatment;
        if !(*margin >= T::ZERO && margin.is_finite()) {
            return Err(Error::InvalidMargin { index: None, margin: margin.to_f64() });
        }
        if let Some(period) = period {
            period.check()?;
        }
        if *half_open && self.shape == Shape::Ball {
            return Err(Error::Unsuited { algorithm: self.spec.descriptor().name, reason: "balls are closed, not half-open" });
        }
        if let Some(cancel) = &self.cancel {
            cancel.check()?;
        }
        if let Some(points) = self.points {
            // Grown at once: a point grown is a valid box if the point is one.
            let mut boxes = Vec::new();
            reserve(&mut boxes, points.len(), "boxes")?;
            boxes.extend(points.iter().map(|&point| Aabb::point(point).grow(*margin)));
            let treatment = Treatment { margin: T::ZERO, ..self.treatment };
            return Ok((Prepared::new(Cow::Owned(boxes), self.tags, &treatment)?, None));
        }
        let Some(b) = &self.b else {
            return Ok((Prepared::new(again(&self.a)?, self.tags, &self.treatment)?, None));
        };
        let prepare = |boxes: &Cow<'a, [Aabb<D, T>]>, tags: Option<&'a [Tag]>, name: &'static str| {
            let prepared = Frame::new(boxes).check().and_then(|()| Prepared::new(again(boxes)?, tags, &self.treatment));
            prepared.map_err(|error| error.in_argument(name))
        };
        let (tags_a, tags_b) = (self.tags, self.tags_b);
        Ok((prepare(&self.a, tags_a, "a")?, Some(prepare(b, tags_b, "b")?)))
    }

    pub(super) fn rules<'r>(&'r self, a: &'r Prepared<'a, D, T>, b: &'r Prepared<'a, D, T>) -> Rules<'r, 'a, D, T> {
        Rules { a, b, is_self: self.b.is_none(), shape: self.shape, keep: self.keep.as_ref() }
    }

    pub(super) fn context(&self) -> Context {
        Context::new().with_shared_executor(self.executor.0.clone()).with_kernels(self.spec.kernels())
    }

    pub(super) fn check_cancel(&self) -> Result<(), Error> {
        self.cancel.as_ref().map_or(Ok(()), Cancel::check)
    }

    /// All pairs of one list, at most `limit`.
    pub(super) fn all_of(&self, a: &Prepared<'a, D, T>, limit: u64, sort: bool) -> Result<Vec<Pair>, Error> {
        if a.boxes.len() >= CELLS_FROM
            && let Some(pairs) = self.alike_balls(a, limit)?
        {
            return Ok(pairs);
        }
        let rules = self.rules(a, a);
        let mut out = PairStore::new(Report::All);
        out.set_limit(limit);
        self.find(&rules, None, &mut out)?;
        if sort && a.is_plain() {
            return out.try_sorted(a.count);
        }
        let mut list = out.try_to_vec()?;
        if !a.is_plain() {
            list.iter_mut().for_each(|pair| *pair = rules.objects(*pair));
        }
        if sort {
            PairSort::default().sort(&mut list, a.count);
        }
        Ok(list)
    }

    /// The pairs of two lists in a store, (index in `a`, index in `b`), not sorted: the longer list is put into a structure, and the boxes of the other one
    /// are its probes. `None` if that does not suit: lists with images or empty boxes, a count with a filter, and filters that keep few of very many pairs.
    pub(super) fn join_both(
        &self,
        a: &Prepared<'a, D, T>,
        b: &Prepared<'a, D, T>,
        report: Report,
    ) -> Result<Option<PairStore>, Error> {
        let decides = a.tag(0).is_some() || b.tag(0).is_some() || self.shape != Shape::Box || self.keep.is_some();
        let is_plain = a.is_plain() && b.is_plain() && a.is_full() && b.is_full();
        if !is_plain || (decides && report == Report::Count) {
            return Ok(None);
        }
        let is_swapped = a.count > b.count;
        let (probes, others) = if is_swapped { (b, a) } else { (a, b) };
        let frame = Frame::new(&others.boxes).with_changes(Changes::All);
        let mut structure = self.spec.build::<D, T>()?;
        structure.update(&frame, &mut self.context())?;
        self.check_cancel()?;
        let mut out = PairStore::new(report);
        out.set_limit(if decides { self.limit.max(WAITING) } else { self.limit });
        let probes = Probes { boxes: &probes.boxes, ids: None, recurring: false };
        match structure.probe(&frame, probes, &mut self.stoppable_context(self.cancel.as_ref()), &mut out) {
            Err(Error::TooManyPairs { .. }) if decides => return Ok(None),
            result => result?,
        }
        self.check_cancel()?;
        if is_swapped {
            out.swap_ids();
        }
        if decides {
            let rules = self.rules(a, b);
            out.retain(|pair| rules.allows_overlap(pair));
            if out.len() > self.limit {
                return Err(Error::TooManyPairs { limit: self.limit });
            }
        }
        Ok(Some(out))
    }

    /// A context whose jobs are skipped once `stop` is set, if the algorithm supports that.
    fn stoppable_context(&self, stop: Option<&Cancel>) -> Context {
        let stoppable = STOPPABLE.contains(&self.spec.descriptor().name);
        let executor = self.executor.clone();
        match stop.filter(|_| stoppable) {
            Some(stop) => Context::new().with_executor(Cancellable { executor, cancel: stop.clone() }),
            None => Context::new().with_shared_executor(executor.0),
        }
        .with_kernels(self.spec.kernels())
    }

    /// Finds all pairs of slots of one list. With a sink, one thread passes them to it, until it returns a break.
    pub(super) fn find(
        &self,
        rules: &Rules<'_, '_, D, T>,
        sink: Option<(Filter<'_>, &Cancel)>,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        let mut structure = self.structure(rules.a.boxes.len())?;
        let decides = rules.decide();
        let balls = self.packed_balls(rules)?;
        let filter = |retain: &mut Retain<'_>| {
            if self.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
                return retain.retain(|_| false); // the search was cancelled, and its pairs are discarded
            }
            if let Some(balls) = &balls {
                retain.retain(|slots| balls[slots.a as usize].overlaps(&balls[slots.b as usize]));
            }
            if decides {
                retain.retain(|slots| rules.allows(slots));
            }
            if let Some((sink, _)) = sink {
                sink(retain);
            }
        };
        let mut frame = rules.a.frame(if balls.is_some() { Shape::Box } else { self.shape });
        if decides || balls.is_some() || sink.is_some() || self.cancel.is_some() {
            frame.filter = Some(&filter);
        }
        let mut context = self.context();
        structure.update(&frame, &mut context)?;
        self.check_cancel()?;
        let executor = if sink.is_some() { Shared::default() } else { self.executor.clone() };
        let stop = sink.map(|(_, stop)| stop).or(self.cancel.as_ref());
        let stoppable = STOPPABLE.contains(&self.spec.descriptor().name);
        let mut context = match stop.filter(|_| stoppable) {
            Some(stop) => Context::new().with_executor(Cancellable { executor, cancel: stop.clone() }),
            None => Context::new().with_shared_executor(executor.0),
        }
        .with_kernels(self.spec.kernels());
        structure.pairs(&frame, &mut context, out)?;
        self.check_cancel()
    }

    /// A structure for one search over `slots` slots.
    fn structure(&self, slots: usize) -> Result<Box<dyn BroadPhase<D, T>>, Error> {
        if slots <= FEW_FOR_ONE_SEARCH && self.spec.descriptor().name == "auto" {
            return Spec::brute_force().build();
        }
        self.spec.build()
    }

    /// The balls that the slots stand for, if the structure finds overlapping boxes and the ball test comes afterwards.
    ///
    /// A structure can test balls too, but computes them from the boxes. A stored ball has about half as many numbers as a box, and its center and
    /// radius are computed once instead of once per candidate.
    fn packed_balls(&self, rules: &Rules<'_, '_, D, T>) -> Result<Option<Vec<Ball<D, T>>>, Error> {
        if self.shape != Shape::Ball || !self.spec.descriptor().shapes.contains(&Shape::Box) {
            return Ok(None);
        }
        let boxes = &rules.a.boxes;
        let mut balls = Vec::new();
        balls.try_reserve_exact(boxes.len()).map_err(|_| Error::OutOfMemory { what: "balls" })?;
        balls.extend(boxes.iter().map(Ball::of_box));
        Ok(Some(balls))
    }

    /// The iterator over the sorted list, which is found piece by piece.
    pub(super) fn pieces(
        &self,
        a: Prepared<'a, D, T>,
        b: Option<Prepared<'a, D, T>>,
        size: usize,
    ) -> Result<Chunks<'a, D, T>, Error> {
        let mut plan = self.plan(a, b, size)?;
        let frame = plan.b.as_ref().unwrap_or(&plan.a).frame(Shape::Box);
        plan.structure.update(&Frame { tags: None, ..frame }, &mut plan.context)?;
        self.check_cancel()?;
        Ok(Chunks::new(plan))
    }

    /// The input of an iterator over pieces; its structure is empty.
    pub(super) fn plan(
        &self,
        a: Prepared<'a, D, T>,
        b: Option<Prepared<'a, D, T>>,
        size: usize,
    ) -> Result<Plan<'a, D, T>, Error> {
        Ok(Plan {
            a,
            b,
            structure: self.spec.build()?,
            context: self.context(),
            shape: self.shape,
            keep: self.keep.clone(),
            cancel: self.cancel.clone(),
            limit: self.limit,
            size,
        })
    }
}
