//! The frame of a world: updates the structures, finds pairs, and converts differences from slots to handles.

use super::environments::{Environments, is_worth_separating};
use super::mixed::Mixed;
use super::motion::longest_box;
use super::rules::{PairCandidate, Rules, Scoped};
use super::{ContinuousDetection, Engine, Update, World};
use crate::algorithms::{BroadPhase, Strength, Violation};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::boxed;
use crate::memory;
use crate::objects::side::Side;
use crate::objects::table::Table;
use crate::objects::{Filter, Handle, Shape};
use crate::pairs::{Pair, PairStore, Report, events};
use crate::periodic::Periodic;

/// What the memory is for, in errors.
const STRUCTURE: &str = "a structure";

impl<const D: usize, T: Real> Engine<D, T> {
    /// The structure, built now if there is none.
    fn structure(&mut self) -> Result<&mut dyn BroadPhase<D, T>, Error> {
        let structure = match self.structure.take() {
            Some(structure) => structure,
            None => {
                let plain = match &self.custom {
                    Some(custom) => custom.clone(),
                    None if self.separates_envs => boxed(Environments::new(&self.spec)?, STRUCTURE)?,
                    None => self.spec.build()?,
                };
                match self.period {
                    Some(period) => boxed(Periodic::new(plain, period)?.with_longest(longest_box(self.sweeps)), STRUCTURE)?,
                    None => plain,
                }
            }
        };
        Ok(&mut **self.structure.insert(structure))
    }

    /// Updates the structure with the changes that `side` has gathered. On error neither changes.
    fn update(
        &mut self,
        side: &Side<D, T>,
        shape: Shape,
        filter: Option<Filter<'_>>,
        sweeps: bool,
        context: &mut Context,
    ) -> Result<(), Error> {
        let (environments, others) = side.environments();
        let is_plain = self.custom.is_none() && self.period.is_none();
        let separates_envs = is_plain && is_worth_separating(environments, others, side.slots.count(), self.separates_envs);
        if separates_envs != self.separates_envs || (sweeps != self.sweeps && self.period.is_some()) {
            *self = Self { separates_envs, sweeps, ..self.fresh() };
        }
        let changes = if self.filled { side.changes() } else { crate::objects::Changes::All };
        let updated = self.structure()?.update(&side.frame(shape, filter).with_changes(changes), context);
        updated.map_err(|error| match error {
            Error::BoxTooLong { index, axis, length, period } => {
                Error::BoxTooLong { index: side.owners[index] as usize, axis, length, period }
            }
            other => other,
        })?;
        self.filled = true;
        Ok(())
    }
}

impl<const D: usize, T: Real> World<D, T> {
    /// Applies all changes, and finds all pairs and which of them started and ended since the last successful update.
    ///
    /// A pair ends when its boxes separate, when a tag, a kind, a margin or the filter rules it out, and when one of the two objects is removed; it
    /// is then reported with the handle that was valid. An object that was removed and another that took its place are
    /// two objects, even if both happens between two updates.
    ///
    /// On error ([`Error::TooManyPairs`], [`Error::Unsuited`], [`Error::OutOfMemory`]) all objects stay as they are, and the next
    /// update reports the difference to the last successful one, if differences were already reported then. Until then there are no pairs.
    pub fn update(&mut self) -> Result<Update, Error> {
        self.update_by(None)
    }

    /// [`update`](World::update) with a filter for this update alone, which may borrow. It is called for new pairs, in addition to the filter that is
    /// [set](World::set_pair_filter): those of objects that changed, or that were passed to [`refilter`](World::refilter). Other pairs stay as they are.
    ///
    /// ```
    /// use broadphase::{Aabb, Object, World2};
    /// let mut world = World2::new();
    /// for team in [0, 0, 1] {
    ///     world.insert(Object::new(Aabb::point([0.0, 0.0])).with_user(team))?;
    /// }
    /// let allied = vec![vec![true, false], vec![false, true]]; // borrowed, not moved
    /// let update = world.update_with(|pair| !allied[pair.user_a as usize][pair.user_b as usize])?;
    /// assert_eq!(update.len(), 2);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn update_with(&mut self, keep: impl Fn(&PairCandidate) -> bool + Sync) -> Result<Update, Error> {
        self.update_by(Some(&keep))
    }

    fn update_by(&mut self, scoped: Scoped<'_>) -> Result<Update, Error> {
        let mut running = Running { world: self, is_done: false };
        let found = running.world.find_all(scoped);
        running.is_done = found.is_ok();
        drop(running);
        found?;
        self.motion.remember(&self.table);
        Ok(self.summary())
    }

    /// Finds all pairs and all differences.
    fn find_all(&mut self, scoped: Scoped<'_>) -> Result<(), Error> {
        self.motion.begin();
        self.motion.reserve(self.table.movers.slots.len())?;
        self.check_lengths()?;
        if self.motion.detection != ContinuousDetection::None {
            self.table.movers.reserve_swept()?;
        }
        if self.motion.detection == ContinuousDetection::Swept {
            self.motion.sweep(&mut self.table, self.period.as_ref());
        }
        if self.motion.has_sub_steps() {
            return self.find_in_sub_steps(scoped);
        }
        self.begin_find();
        self.flush(scoped)?;
        self.find(scoped)
    }

    /// Makes the next update find all pairs, after one that failed, and the difference to the last successful one.
    fn fail(&mut self) {
        self.failed = true;
        self.whole = true;
        self.table.after_failure();
        self.neighbors.reset();
    }

    /// Updates the structures with all changes.
    pub(super) fn flush(&mut self, scoped: Scoped<'_>) -> Result<(), Error> {
        let Self { table, movers, statics, context, shape, filter, motion, pairing, period, .. } = self;
        let sweeps = motion.detection != ContinuousDetection::None;
        if table.statics.pending() || (!statics.filled && table.statics.slots.len() > 0) {
            table.statics.gather()?;
            statics.update(&table.statics, *shape, None, sweeps, context)?;
            table.statics.clear_marks();
        }
        if table.movers.pending() || !movers.filled {
            table.movers.gather()?;
            let rules =
                Rules { table, shape: *shape, filter: filter.as_ref(), scoped, pairing: *pairing, motion, period: *period };
            let apply = |fresh: &mut crate::pairs::Retain<'_>| rules.apply_mover_rules(fresh);
            let apply: Option<Filter<'_>> = if rules.has_mover_rules() { Some(&apply) } else { None };
            movers.update(&table.movers, *shape, apply, sweeps, context)?;
            table.movers.clear_marks();
        }
        Ok(())
    }

    /// Finds pairs where something changed, and all differences.
    fn find(&mut self, scoped: Scoped<'_>) -> Result<(), Error> {
        // If an object changed between movers and statics, its pairs ended on one side and started on the other. After a failed update, the
        // lists begin with what it found.
        let overlap = self.failed || self.table.has_switched();
        if self.find_differences(scoped)? {
            if overlap {
                events::cancel(&mut self.started, &mut self.ended);
            }
            self.conclude()
        } else {
            self.publish()
        }
    }

    /// Clears the differences of the last update, unless it failed.
    pub(super) fn begin_find(&mut self) {
        self.tests = 0;
        if !self.failed {
            self.started.clear();
            self.ended.clear();
        }
    }

    /// Publishes the differences as events, after a successful search.
    pub(super) fn conclude(&mut self) -> Result<(), Error> {
        self.publish()?;
        self.neighbors.reset();
        self.failed = false;
        Ok(())
    }

    /// Finds pairs where something changed, and appends the differences; false if nothing did.
    pub(super) fn find_differences(&mut self, scoped: Scoped<'_>) -> Result<bool, Error> {
        let (movers, statics) = (self.table.movers.touched.any(), self.table.statics.touched.any());
        if !(self.whole || movers || statics) {
            return Ok(false);
        }
        let report = if self.motion.has_sub_steps() || (self.report == Report::All && self.values.used) {
            Report::Both
        } else {
            self.report
        };
        let from = (self.started.len(), self.ended.len());
        if self.whole || movers {
            self.find_mover_pairs(report, scoped)?;
            let Self { table, mover_pairs, converter, started, ended, context, .. } = &mut *self;
            converter.reserve(mover_pairs, started, ended)?;
            let lists = [(mover_pairs.started(), &mut *started, from.0), (mover_pairs.ended(), &mut *ended, from.1)];
            converter.append_both(table, false, lists, context);
        }
        if self.find_mixed_pairs(report, scoped)? {
            let Self { table, mixed: Mixed { store, .. }, converter, started, ended, context, .. } = &mut *self;
            converter.reserve(store, started, ended)?;
            let lists = [(store.started(), &mut *started, from.0), (store.ended(), &mut *ended, from.1)];
            converter.append_both(table, true, lists, context);
        }
        if self.mover_pairs.len() + self.mixed.store.len() > self.limit {
            return Err(Error::TooManyPairs { limit: self.limit });
        }
        self.table.after_pairs();
        self.whole = false;
        Ok(true)
    }

    /// Finds the pairs of two movers.
    fn find_mover_pairs(&mut self, report: Report, scoped: Scoped<'_>) -> Result<(), Error> {
        let Self { table, movers, context, shape, filter, mover_pairs, motion, pairing, period, .. } = self;
        mover_pairs.set_report(report);
        mover_pairs.set_limit(self.limit);
        let rules = Rules { table, shape: *shape, filter: filter.as_ref(), scoped, pairing: *pairing, motion, period: *period };
        let apply = |fresh: &mut crate::pairs::Retain<'_>| rules.apply_mover_rules(fresh);
        let apply: Option<Filter<'_>> = if rules.has_mover_rules() { Some(&apply) } else { None };
        movers.structure()?.pairs(&table.movers.frame(*shape, apply), context, mover_pairs)?;
        self.tests += mover_pairs.tests();
        Ok(())
    }

    /// Finds the pairs of a mover and a static; returns false if there are none and were none.
    fn find_mixed_pairs(&mut self, report: Report, scoped: Scoped<'_>) -> Result<bool, Error> {
        let Self { table, movers, statics, context, shape, filter, mixed, motion, pairing, period, .. } = self;
        mixed.store.set_report(report);
        mixed.store.set_limit(self.limit);
        if table.statics.slots.count() == 0 && mixed.store.is_empty() {
            mixed.forget();
            return Ok(false);
        }
        let start = context.clock();
        table.movers.touched.sort();
        let rules = Rules { table, shape: *shape, filter: filter.as_ref(), scoped, pairing: *pairing, motion, period: *period };
        let structures = (movers.structure()? as &dyn BroadPhase<D, T>, statics.structure()? as &dyn BroadPhase<D, T>);
        let tests = mixed.find(&rules, structures, self.limit, context)?;
        context.record("probe", start);
        self.tests += tests;
        Ok(true)
    }

    /// Applies all changes, then checks all invariants of both structures and of the table.
    pub fn validate(&mut self, strength: Strength) -> Result<(), Violation> {
        self.flush(None).map_err(|error| Violation(format!("the changes cannot be applied to the structures: {error}")))?;
        let sides = [(&self.movers, &self.table.movers), (&self.statics, &self.table.statics)];
        for (engine, side) in sides {
            if let (Some(structure), true) = (&engine.structure, engine.filled) {
                structure.validate(&side.frame(self.shape, None), strength)?;
            }
        }
        self.table.validate(self.period.as_ref())
    }
}

/// A running update. If it is dropped before it is done, because of an error or a panic in the caller's filter or executor, the update has failed.
struct Running<'a, const D: usize, T: Real> {
    world: &'a mut World<D, T>,
    is_done: bool,
}

impl<const D: usize, T: Real> Drop for Running<'_, D, T> {
    fn drop(&mut self) {
        if !self.is_done {
            self.world.fail();
        }
    }
}

/// What the memory is for, in errors.
pub(super) const EVENTS: &str = "events";
/// The work of converting one pair to handles, in the units of [`Context::run_weighted`].
const CONVERT: usize = 2;

/// Sorted pairs of slots, the list that they are appended to as handles, and the position from which that is sorted.
type Appended<'a> = (&'a [Pair], &'a mut Vec<(Handle, Handle)>, usize);

/// Converts pairs of slots to pairs of handles. Its buffers are scratch.
#[derive(Clone, Debug, Default)]
pub(super) struct HandleConverter {
    pairs: Vec<Pair>,
    sorter: events::Sorter,
}

impl HandleConverter {
    /// Makes room for the differences of a store. On error the store gives up its frame, so that the next one finds them again.
    fn reserve(
        &mut self,
        store: &mut PairStore,
        started: &mut Vec<(Handle, Handle)>,
        ended: &mut Vec<(Handle, Handle)>,
    ) -> Result<(), Error> {
        let (new, old) = (store.started().len(), store.ended().len());
        self.pairs.clear();
        memory::reserve(&mut self.pairs, new.max(old), EVENTS)
            .and_then(|()| memory::reserve(started, new, EVENTS))
            .and_then(|()| memory::reserve(ended, old, EVENTS))
            .inspect_err(|_| store.undo())
    }

    /// Converts pairs of slots to pairs of handles, and merges each list into the part of another one from a position on, which is sorted.
    fn append_both<const D: usize, T: Real>(
        &mut self,
        table: &Table<D, T>,
        mixed: bool,
        lists: [Appended<'_>; 2],
        context: &Context,
    ) {
        let is_in_order = !mixed && table.movers.aligned && lists.iter().all(|(_, to, from)| to.len() == *from);
        if !is_in_order {
            return lists.into_iter().for_each(|(pairs, to, from)| self.append(table, mixed, pairs, (to, from)));
        }
        // The usual case: the store has sorted the pairs.
        let work = CONVERT * lists.iter().map(|(pairs, ..)| pairs.len()).sum::<usize>();
        let handles = |pair: &Pair| (table.handle(pair.a), table.handle(pair.b));
        context.run_each(lists.into_iter(), 2, work, |(pairs, to, _), _| to.extend(pairs.iter().map(handles))); // reserved
    }

    /// Converts pairs of slots to pairs of handles, and merges them into the part of the list from `from` on. They are sorted as pairs of
    /// indices, in linear time.
    fn append<const D: usize, T: Real>(
        &mut self,
        table: &Table<D, T>,
        mixed: bool,
        pairs: &[Pair],
        (list, from): (&mut Vec<(Handle, Handle)>, usize),
    ) {
        let handles = |pair: &Pair| (table.handle(pair.a), table.handle(pair.b));
        let end = list.len();
        self.pairs.clear();
        self.pairs.extend(pairs.iter().map(|&pair| table.to_indices(pair, mixed)));
        self.sorter.sort(&mut self.pairs);
        list.extend(self.pairs.iter().map(handles));
        let (mut old, mut new) = (end, self.pairs.len());
        let mut to = list.len();
        while new > 0 && old > from {
            to -= 1;
            let last = handles(&self.pairs[new - 1]);
            if list[old - 1] > last {
                old -= 1;
                list[to] = list[old];
            } else {
                new -= 1;
                list[to] = last;
            }
        }
        for pair in self.pairs[..new].iter().rev() {
            to -= 1;
            list[to] = handles(pair);
        }
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<Pair>() + self.sorter.bytes()
    }
}
