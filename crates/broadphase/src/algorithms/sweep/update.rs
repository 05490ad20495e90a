//! Ranks, candidate ranges and the order of events: all that pairing needs of a frame.
//!
//! The first half of algorithm 1: sort the endpoints of the primary axis, sweep them for candidates; put the boxes into rank
//! order; sort the endpoints of the secondary axis, by rank from the start, so that no rank is looked up later.

use super::candidates::Objects;
use super::options::Path;
use super::sort::EndpointSort;
use super::survey::{self, Survey};
use super::{Scratch, Sweep};
use crate::bits::Key;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::active::Event;
use crate::objects::{Changes, Frame};

/// The work on one object, in the units of [`Context::run_weighted`], that counts when workers are to share it: cutting it costs some of it.
const SHARED: usize = 3;

impl<const D: usize, T: Real> Sweep<D, T> {
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        survey::check(frame, context)?;
        let count = frame.count();
        if count > Event::MAX_RANKS {
            return Err(Error::TooManyObjects { count, limit: Event::MAX_RANKS });
        }
        let unchanged = match frame.changes {
            Changes::Listed { moved: [], inserted: [], removed: [] } => self.boxes.len() == count,
            Changes::Unknown if frame.may_compare() => self.boxes.is_current(frame.boxes, count, |id| frame.live.contains(id)),
            _ => false,
        };
        if unchanged {
            return Ok(());
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.ids.clear();
        scratch.ids.extend(frame.ids());
        if count > 0 {
            let survey = Survey { context, boxes: frame.boxes, ids: &scratch.ids };
            self.axes.choose(|| survey.crowding());
        }
        if T::KEY_BITS == 32 {
            let mut sort = std::mem::take(&mut scratch.narrow);
            self.build(frame, context, &mut sort, &mut scratch);
            scratch.narrow = sort;
        } else {
            let mut sort = std::mem::take(&mut scratch.wide);
            self.build(frame, context, &mut sort, &mut scratch);
            scratch.wide = sort;
        }
        let survey = Survey { context, boxes: frame.boxes, ids: &scratch.ids };
        self.axes.reconsider(&self.options, || survey.crowding());
        self.scratch = scratch;
        self.changed = true;
        Ok(())
    }

    /// Is the work on `n` objects cut for several workers? That takes more steps in all, so it pays only for many. In paper mode the number of
    /// partitions decides.
    pub(super) fn is_parallel(&self, context: &Context, n: usize) -> bool {
        match self.options.path {
            Path::Auto if self.options.paper => self.options.partitions > 1,
            Path::Auto => context.workers_for(SHARED * n) > 1,
            Path::Sequential => false,
            Path::Parallel => true,
        }
    }

    fn build<K: Key>(
        &mut self,
        frame: &Frame<'_, D, T>,
        context: &mut Context,
        sort: &mut EndpointSort<K>,
        scratch: &mut Scratch<T>,
    ) {
        let buckets = self.options.buckets;
        let axes = self.axes.order();
        let ids = &scratch.ids;
        let n = ids.len();
        let parallel = self.is_parallel(context, n);

        let clock = context.clock();
        self.sort_objects(0, frame, context, sort, ids);
        context.record("sort", clock);

        let clock = context.clock();
        if self.options.paper {
            let intervals = if parallel { buckets } else { 1 };
            self.ranges.generate(context, &self.order, ids, intervals);
            context.record("candidates", clock);
            let clock = context.clock();
            // Pairing does without a copy of the boxes; queries and probes need it.
            self.boxes.fill(frame.boxes, axes, self.ranges.ids_by_rank());
            context.record("copy for queries", clock);
            let clock = context.clock();
            self.sort_objects(1, frame, context, sort, ids);
            context.record("sort", clock);
            return;
        }
        let objects = Objects { ids, boxes: frame.boxes, axes };
        if parallel {
            self.candidates.parallel(context, buckets, &self.order, objects, &mut scratch.candidates, &mut self.boxes);
        } else {
            self.candidates.sequential(&self.order, objects, &mut scratch.candidates, &mut self.boxes);
        }
        context.record("candidates", clock);

        let clock = context.clock();
        let columns = self.boxes.columns();
        let (low, high) = (&columns.min(D - 1)[..n], &columns.max(D - 1)[..n]);
        let key = |endpoint: usize| match endpoint.checked_sub(n) {
            None => low[endpoint].order_key(),
            Some(rank) => high[rank].order_key(),
        };
        let boundaries = self.axes.boundaries(1);
        let survey = Survey { context, boxes: frame.boxes, ids };
        let keys = boundaries.keys::<T>(buckets, || survey.span(axes[D - 1]));
        if parallel {
            sort.parallel(context, 2 * n, keys, key, &mut self.order);
        } else {
            sort.sequential(low.iter().map(|v| v.order_key()), high.iter().map(|v| v.order_key()), &mut self.order);
        }
        boundaries.follow(&self.order, key);
        context.record("sort", clock);
    }

    /// Sorts the endpoints of all objects, numbered in the order of `ids`, on the primary (0) or secondary (1) axis.
    fn sort_objects<K: Key>(
        &mut self,
        which: usize,
        frame: &Frame<'_, D, T>,
        context: &Context,
        sort: &mut EndpointSort<K>,
        ids: &[u32],
    ) {
        let n = ids.len();
        let axis = self.axes.order()[which * (D - 1)];
        let parallel = self.is_parallel(context, n);
        let start = |&id: &u32| frame.boxes[id as usize].min[axis].order_key();
        let end = |&id: &u32| frame.boxes[id as usize].max[axis].order_key();
        let key = |endpoint: usize| match endpoint.checked_sub(n) {
            None => start(&ids[endpoint]),
            Some(object) => end(&ids[object]),
        };
        let boundaries = self.axes.boundaries(which);
        let survey = Survey { context, boxes: frame.boxes, ids };
        let keys = boundaries.keys::<T>(self.options.buckets, || survey.span(axis));
        if parallel {
            sort.parallel(context, 2 * n, keys, key, &mut self.order);
        } else {
            sort.sequential(ids.iter().map(start), ids.iter().map(end), &mut self.order);
        }
        boundaries.follow(&self.order, key);
    }
}
