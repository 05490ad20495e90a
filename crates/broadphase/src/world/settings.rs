//! Settings of the whole world: algorithm, threads, filter, margin, report.

use std::sync::Arc;

use super::rules::{KeptFilter, PairCandidate};
use super::{Engine, World};
use crate::algorithms::{BroadPhase, Spec};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Period, Real};
use crate::objects::{Handle, Pairing, Shape};
use crate::pairs::{Report, Retain};

impl<const D: usize, T: Real> World<D, T> {
    /// Switches to another algorithm, for movers and statics. Objects, handles and pairs stay; the next difference is against the
    /// last frame, whichever algorithm found it. Cost: the next frame builds the structure from scratch.
    ///
    /// ```
    /// let mut world = broadphase::World3::new();
    /// world.set_algorithm(&"brute-force:isa=scalar".parse()?)?;
    /// assert_eq!(world.algorithm().to_string(), "brute-force:isa=scalar");
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn set_algorithm(&mut self, spec: &Spec) -> Result<(), Error> {
        let [movers, statics] = [build(spec, self.period)?, build(spec, self.period)?];
        let before = std::mem::replace(&mut self.movers, movers).spec;
        self.statics = statics;
        self.use_kernels_of(&before, spec);
        self.whole = true;
        Ok(())
    }

    /// Sets the kernels that an algorithm's option `isa` names, or the best ones if it no longer has the option; without it, those of the context stay.
    pub(super) fn use_kernels_of(&mut self, before: &Spec, spec: &Spec) {
        if before.text("isa").is_some() || spec.text("isa").is_some() {
            self.context = std::mem::take(&mut self.context).with_kernels(spec.kernels());
        }
    }

    /// Switches to another algorithm for the statics alone. They are rarely rebuilt and often probed, so another algorithm may suit them better than
    /// the movers'. Its option `isa` counts for the statics alone.
    pub fn set_static_algorithm(&mut self, spec: &Spec) -> Result<(), Error> {
        self.statics = build(spec, self.period)?;
        Ok(())
    }

    /// Runs with structures of your own, one for the movers and one for the statics, both empty. They must follow the contract of
    /// [`BroadPhase`]; objects, handles, pairs, tags, filters, events and queries work as with any other. Environments share one structure.
    /// [`implement`](crate::implement) shows how to write one.
    ///
    /// A snapshot (feature `serde`) does not contain them: a restored world uses the algorithm that was set last.
    ///
    /// ```
    /// use broadphase::{Aabb, Spec, World2};
    /// let mut world = World2::new();
    /// let mine = || "brute-force".parse::<Spec>()?.build(); // or a type of yours
    /// world.set_structures(mine()?, mine()?);
    /// world.insert_many(&[Aabb::point([0.0, 0.0]); 3])?;
    /// assert_eq!(world.update()?.len(), 3);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn set_structures(&mut self, movers: Box<dyn BroadPhase<D, T>>, statics: Box<dyn BroadPhase<D, T>>) {
        for (engine, custom) in [(&mut self.movers, movers), (&mut self.statics, statics)] {
            *engine = Engine { custom: Some(custom), ..engine.fresh() };
        }
        self.whole = true;
    }

    /// Frees memory that the current objects and pairs do not need, such as after a large scene was removed. Pairs, handles and settings stay; the
    /// next update builds the structures from scratch.
    ///
    /// ```
    /// use broadphase::{Aabb, World2};
    /// let mut world = World2::new();
    /// let handles = world.insert_many(&[Aabb::point([0.0, 0.0]); 1000])?;
    /// world.update()?;
    /// world.remove_many(&handles[2..])?;
    /// world.update()?; // half a million pairs end,
    /// world.update()?; // and their events are over
    /// let before = world.stats().bytes();
    /// world.shrink();
    /// assert!(world.stats().bytes() < before / 20 && world.update()?.len() == 1);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn shrink(&mut self) {
        for engine in [&mut self.movers, &mut self.statics] {
            *engine = engine.fresh();
        }
        self.table.shrink();
        self.mover_pairs.shrink();
        let mut mixed = super::mixed::Mixed::default();
        std::mem::swap(&mut mixed.store, &mut self.mixed.store);
        mixed.store.shrink();
        self.mixed = mixed;
        self.started.shrink_to_fit();
        self.ended.shrink_to_fit();
        self.converter = super::update::HandleConverter::default();
        self.events = Arc::new(super::events::Events::clone(&self.events));
        self.neighbors = super::neighbors::Lazy::default();
        self.values.shrink();
        self.motion.shrink();
    }

    /// The algorithm of the movers.
    pub fn algorithm(&self) -> &Spec {
        &self.movers.spec
    }

    /// The algorithm of the statics.
    pub fn static_algorithm(&self) -> &Spec {
        &self.statics.spec
    }

    /// Sets threads and kernels. They never change a result.
    pub fn set_context(&mut self, context: Context) {
        self.context = context;
    }

    /// Threads, kernels and timed stages.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Threads, kernels and timed stages; mutable, to clear the stages.
    pub fn context_mut(&mut self) -> &mut Context {
        &mut self.context
    }

    /// Sets what [`update`](World::update) finds: pairs, differences, or only a number; [`Report::Both`] by default. With
    /// [`Report::All`] there is no difference, with [`Report::Count`] no list; after `Count`, all pairs count as started, and values
    /// of pairs are gone.
    pub fn set_report(&mut self, report: Report) {
        if report != self.report {
            self.report = report;
            self.whole = true;
            if report == Report::Count {
                self.values.clear();
            }
        }
    }

    /// What [`update`](World::update) finds.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Sets the largest number of pairs: with more, [`update`](World::update) returns [`Error::TooManyPairs`].
    pub fn set_pair_limit(&mut self, limit: u64) {
        self.limit = limit;
        self.whole = true;
    }

    /// The largest number of pairs.
    pub fn pair_limit(&self) -> u64 {
        self.limit
    }

    /// Removes pairs by a closure, chunk by chunk, after the exact test, kinds and tags. In its pairs, `a < b` are the
    /// [indices](crate::Handle::index) of two handles: look things up in arrays of your own. It runs for new pairs only; all
    /// pairs are found again when it is set. If its decisions change, set it again.
    ///
    /// ```
    /// use broadphase::{Aabb, World2};
    /// let mut world = World2::new();
    /// world.insert_many(&[Aabb::new([0.0, 0.0], [1.0, 1.0]); 4])?;
    /// world.set_filter(|fresh| fresh.retain(|pair| (pair.a + pair.b) % 2 == 1));
    /// assert_eq!(world.update()?.len(), 4); // of six: 0-1, 0-3, 1-2, 2-3
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn set_filter(&mut self, filter: impl Fn(&mut Retain<'_>) + Send + Sync + 'static) {
        self.filter = Some(KeptFilter::Chunks(Arc::new(filter)));
        self.table.movers.all = true;
    }

    /// Removes pairs by a closure, pair by pair, which gets handles and user data. Otherwise like [`set_filter`](World::set_filter), whose filter it
    /// replaces: it is called for new pairs only. For a filter that borrows, call [`update_with`](World::update_with).
    ///
    /// ```
    /// use broadphase::{Aabb, Object, World2};
    /// let mut world = World2::new();
    /// for body in [1, 1, 2] {
    ///     world.insert(Object::new(Aabb::point([0.0, 0.0])).with_user(body))?;
    /// }
    /// world.set_pair_filter(|pair| pair.user_a != pair.user_b);
    /// assert_eq!(world.update()?.len(), 2);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn set_pair_filter(&mut self, keep: impl Fn(&PairCandidate) -> bool + Send + Sync + 'static) {
        self.filter = Some(KeptFilter::Pairs(Arc::new(keep)));
        self.table.movers.all = true;
    }

    /// Makes the next update call the filter again for all pairs of one object, because its decisions have changed. Cost: as if the object had moved.
    pub fn refilter(&mut self, handle: Handle) -> Result<(), Error> {
        self.table.touch(handle)
    }

    /// Sets which kinds of objects pair, besides dynamic ones; [`Pairing::CONTACTS`] by default.
    ///
    /// ```
    /// use broadphase::{Aabb, Object, ObjectKind, Pairing, World2};
    /// let mut world = World2::new();
    /// let floor = world.insert(Object::fixed(Aabb::new([0.0, -1.0], [9.0, 0.0])))?;
    /// let character = world.insert(Object::new(Aabb::new([1.0, 0.0], [2.0, 2.0])).with_kind(ObjectKind::Kinematic))?;
    /// assert_eq!(world.update()?.len(), 0);
    /// world.set_pairing(Pairing { kinematic_static: true, ..Pairing::CONTACTS });
    /// assert_eq!(world.update()?.started(), [(floor, character)]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn set_pairing(&mut self, pairing: Pairing) {
        if pairing != self.pairing {
            self.pairing = pairing;
            self.table.movers.all = true;
        }
    }

    /// Which kinds of objects pair.
    pub fn pairing(&self) -> Pairing {
        self.pairing
    }

    /// Removes the filter.
    pub fn clear_filter(&mut self) {
        if self.filter.take().is_some() {
            self.table.movers.all = true;
        }
    }

    /// Sets what boxes represent: themselves, or their inscribed balls. An object may have a [shape of its own](World::set_shape).
    pub fn set_world_shape(&mut self, shape: Shape) {
        if shape != self.shape {
            self.shape = shape;
            self.table.movers.all = true;
        }
    }

    /// What boxes represent.
    pub fn world_shape(&self) -> Shape {
        self.shape
    }

    /// Grows every box by `margin` on every side, in addition to each object's own margin: the box is grown once, by the sum. A margin
    /// that is negative, infinite or NaN is an error.
    pub fn set_world_margin(&mut self, margin: T) -> Result<(), Error> {
        self.table.set_world_margin(margin)
    }

    /// Makes the space repeat along some or all axes, or along none. Objects keep the boxes they are given, wherever these lie; pairs are found
    /// as if each box repeated with the period. Events, statics, tags, filters, shapes and margins work as in plain space.
    ///
    /// On a periodic axis a box, grown by its margins, may be up to half the period long. A longer one makes [`update`](World::update) and
    /// [`read`](World::read) return [`Error::BoxTooLong`], which names the object, until it is changed or removed.
    ///
    /// Queries look across the borders; only [`Reader::search`](crate::Reader::search) sees each object once, where its box is when its lower corner is
    /// moved into the space. [Continuous detection](World::set_continuous_detection) takes the shorter way around: an object moves by up to half a
    /// period per frame, whether or not you wrap its coordinates. Environments share one structure.
    ///
    /// Cost: a pass over the boxes that changed, an image for each box that reaches over a border, and the next update starts from scratch.
    ///
    /// ```
    /// use broadphase::{Aabb, Period, World2};
    /// let mut world = World2::new();
    /// world.set_period(Some(Period::axes([Some(100.0), None])))?; // a strip that is closed along x
    /// let left = world.insert(Aabb::new([0.0, 0.0], [1.0, 1.0]))?;
    /// let right = world.insert(Aabb::new([98.0, 0.0], [99.0, 1.0]))?;
    /// assert_eq!(world.update()?.len(), 0);
    /// world.set_box(right, Aabb::new([99.5, 0.0], [100.5, 1.0]))?;
    /// assert_eq!(world.update()?.started(), [(left, right)]);
    /// let mut found = Vec::new();
    /// world.read()?.nearest([98.0, 0.5], 2, &mut found)?;
    /// assert_eq!(found, [(right, 1.5), (left, 2.0)]);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::InvalidValue`] for a period that is not positive and finite; [`Error::BoxTooLong`] if an object is longer than half of it. The world
    /// is then unchanged.
    pub fn set_period(&mut self, period: Option<Period<D, T>>) -> Result<(), Error> {
        if let Some(period) = &period {
            period.check()?;
            for handle in self.table.handles() {
                period.check_box(&self.grown_box(handle)?, handle.index as usize)?;
            }
        }
        if period != self.period {
            self.period = period;
            for engine in [&mut self.movers, &mut self.statics] {
                *engine = Engine { period, ..engine.fresh() };
            }
            self.table.movers.all = true;
            self.table.statics.all = true;
            self.mixed.forget();
            self.whole = true;
        }
        Ok(())
    }

    /// The space, if it repeats.
    pub fn period(&self) -> Option<Period<D, T>> {
        self.period
    }

    /// The margin by which every box is grown.
    pub fn world_margin(&self) -> T {
        self.table.margin()
    }
}

/// An engine with the given algorithm. Its structure is built here to detect errors, and again with the first frame.
pub(super) fn build<const D: usize, T: Real>(spec: &Spec, period: Option<Period<D, T>>) -> Result<Engine<D, T>, Error> {
    spec.build::<D, T>()?;
    Ok(Engine { period, ..Engine::new(spec.clone()) })
}
