//! The way of a search: prepare, join, hand over.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::cancel::{Cancel, Cancellable, Shared};
use super::chunks::{Chunks, Plan};
use super::prepare::{Prepared, Treatment};
use super::rules::Rules;
use super::{Search, sort_pairs};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::{Changes, Filter, Frame, MAX_OBJECTS, Shape, Tag};
use crate::pairs::{Pair, PairStore, Report, Retain};
use crate::par::Sequential;

/// Two lists are joined as one if neither is longer than the other by more than this factor; and the join is given up after so many
/// pairs within a list for each object.
const SIMILAR: usize = 8;
const DROPPED: u64 = 16;
/// Algorithms of which a cancelled search leaves out the rest of the tiles. Others finish the stage that they are in.
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
        let Some(b) = &self.b else {
            return Ok((Prepared::new(self.a.clone(), self.tags, &self.treatment)?, None));
        };
        let prepare = |boxes: &Cow<'a, [Aabb<D, T>]>, tags: Option<&'a [Tag]>, name: &'static str| {
            let checked = Frame::new(boxes).check();
            checked.and_then(|()| Prepared::new(boxes.clone(), tags, &self.treatment)).map_err(|error| error.in_argument(name))
        };
        let (tags_a, tags_b) = (self.tags, self.tags_b);
        Ok((prepare(&self.a, tags_a, "a")?, Some(prepare(b, tags_b, "b")?)))
    }

    pub(super) fn rules<'r>(&'r self, a: &'r Prepared<'a, D, T>, b: &'r Prepared<'a, D, T>) -> Rules<'r, 'a, D, T> {
        Rules { a, b, is_self: self.b.is_none(), shape: self.shape, keep: self.keep.as_ref() }
    }

    pub(super) fn context(&self) -> Context {
        Context::new().with_executor(self.executor.clone()).with_kernels(self.spec.kernels())
    }

    pub(super) fn check_cancel(&self) -> Result<(), Error> {
        self.cancel.as_ref().map_or(Ok(()), Cancel::check)
    }

    /// All pairs of one list, as many as `limit`.
    pub(super) fn all_of(&self, a: &Prepared<'a, D, T>, limit: u64, sort: bool) -> Result<Vec<Pair>, Error> {
        let rules = self.rules(a, a);
        let mut out = PairStore::new(Report::All);
        out.set_limit(limit);
        self.find(&rules, None, &mut out)?;
        let mut list = Vec::new();
        list.try_reserve_exact(out.len() as usize).map_err(|_| Error::OutOfMemory { what: "pairs" })?;
        out.copy_into(&mut list);
        if !a.is_plain() {
            list.iter_mut().for_each(|pair| *pair = rules.objects(*pair));
        }
        if sort {
            sort_pairs(&mut list, a.count, a.count);
        }
        Ok(list)
    }

    /// Pairs of two lists of similar lengths, found by joining them as one list, sorted. `None` if that does not suit: lists of very different
    /// lengths or with images or empty boxes, or too many pairs within one list.
    ///
    /// A join costs a few times less per object than looking it up. Pairs within a list are found and dropped; where they are many more than
    /// objects, the join is given up.
    pub(super) fn join_both(&self, a: &Prepared<'a, D, T>, b: &Prepared<'a, D, T>) -> Result<Option<Vec<Pair>>, Error> {
        let (first, total) = (a.count as u32, a.count + b.count);
        let similar = a.count.min(b.count) * SIMILAR >= a.count.max(b.count);
        let stoppable = STOPPABLE.contains(&self.spec.descriptor().name);
        let is_plain = a.is_plain() && b.is_plain() && a.is_full() && b.is_full();
        if !(similar && stoppable && is_plain && total <= MAX_OBJECTS) {
            return Ok(None);
        }
        let boxes = [&a.boxes[..], &b.boxes[..]].concat();
        let rules = self.rules(a, b);
        let plain = a.tag(0).is_none() && b.tag(0).is_none() && self.shape == Shape::Box && self.keep.is_none();
        let (stop, dropped) = (Cancel::new(), AtomicU64::new(0));
        let filter = |retain: &mut Retain<'_>| {
            if stop.is_cancelled() || self.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
                stop.cancel();
                return retain.retain(|_| false);
            }
            let found = retain.pairs().len();
            retain.retain(|pair| (pair.a < first) & (pair.b >= first));
            let within = (found - retain.pairs().len()) as u64;
            if dropped.fetch_add(within, Ordering::Relaxed) + within > DROPPED * total as u64 {
                stop.cancel();
            }
            if !plain {
                retain.retain(|pair| rules.allows_overlap(Pair { a: pair.a, b: pair.b - first }));
            }
        };
        let frame = Frame { filter: Some(&filter), ..Frame::new(&boxes).with_changes(Changes::All) };
        let mut structure = self.spec.build::<D, T>()?;
        structure.update(&frame, &mut self.context())?;
        self.check_cancel()?;
        let executor = Cancellable { executor: self.executor.clone(), cancel: stop.clone() };
        let mut context = Context::new().with_executor(executor).with_kernels(self.spec.kernels());
        let mut out = PairStore::new(Report::All);
        out.set_limit(self.limit);
        let joined = structure.pairs(&frame, &mut context, &mut out);
        self.check_cancel()?;
        if stop.is_cancelled() {
            return Ok(None);
        }
        joined?;
        let mut list = Vec::new();
        list.try_reserve_exact(out.len() as usize).map_err(|_| Error::OutOfMemory { what: "pairs" })?;
        out.copy_into(&mut list);
        list.iter_mut().for_each(|pair| pair.b -= first);
        sort_pairs(&mut list, a.count, b.count);
        Ok(Some(list))
    }

    /// Finds all pairs of slots of one list. With a sink, they are handed to it, by one thread, until it says stop.
    pub(super) fn find(
        &self,
        rules: &Rules<'_, '_, D, T>,
        sink: Option<(Filter<'_>, &Cancel)>,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        let mut structure = self.spec.build::<D, T>()?;
        let decides = rules.decide();
        let filter = |retain: &mut Retain<'_>| {
            if self.cancel.as_ref().is_some_and(Cancel::is_cancelled) {
                return retain.retain(|_| false); // the search was cancelled, and its pairs are discarded
            }
            if decides {
                retain.retain(|slots| rules.allows(slots));
            }
            if let Some((sink, _)) = sink {
                sink(retain);
            }
        };
        let mut frame = rules.a.frame(self.shape);
        if decides || sink.is_some() || self.cancel.is_some() {
            frame.filter = Some(&filter);
        }
        let mut context = self.context();
        structure.update(&frame, &mut context)?;
        self.check_cancel()?;
        let executor = if sink.is_some() { Shared(Arc::new(Sequential)) } else { self.executor.clone() };
        let stop = sink.map(|(_, stop)| stop).or(self.cancel.as_ref());
        let stoppable = STOPPABLE.contains(&self.spec.descriptor().name);
        let mut context = match stop.filter(|_| stoppable) {
            Some(stop) => Context::new().with_executor(Cancellable { executor, cancel: stop.clone() }),
            None => Context::new().with_executor(executor),
        }
        .with_kernels(self.spec.kernels());
        structure.pairs(&frame, &mut context, out)?;
        self.check_cancel()
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

    /// What an iterator needs; its structure is empty.
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
