//! A world as data, to save and restore it.
//!
//! # What is in it
//! The object table, from which everything else follows; the pairs of the last update, with which the next update is compared; and the settings.
//! The structures are not saved. Since their history affects the order of pairs, both the original world and the restored one rebuild them after a
//! snapshot.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::World;
use super::events::Events;
use super::motion::Motion;
use super::values::Values;
use crate::error::Error;
use crate::geometry::{Aabb, Period, Real};
use crate::objects::table::Table;
use crate::objects::{Handle, Pairing, Shape};
use crate::pairs::{Pair, PairStore, Report};

/// The version of the format. Other versions are rejected.
const VERSION: u32 = 3;

/// A world at one moment; any serde format can write and read it. See [`World::snapshot`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "T: Real")]
pub struct Snapshot<const D: usize, T: Real> {
    // First, so that a reader can reject the rest.
    version: u32,
    dimension: usize,
    scalar: String,
    algorithm: String,
    static_algorithm: String,
    report: Report,
    limit: u64,
    shape: Shape,
    pairing: Pairing,
    period: Option<Space<D, T>>,
    table: Table<D, T>,
    /// The pairs of two movers.
    own: Held,
    /// The pairs of a mover and a static.
    mixed: Held,
    started: Vec<(Handle, Handle)>,
    ended: Vec<(Handle, Handle)>,
    events: Events,
    whole: bool,
    failed: bool,
    tests: u64,
    values: Vec<(Pair, u64)>,
    values_used: bool,
    motion: Motion<D, T>,
}

/// A space that repeats, every number as bits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "T: Real")]
struct Space<const D: usize, T: Real> {
    /// From the origin by the lengths; 0 on axes that do not repeat.
    #[serde(with = "crate::objects::exact::boxes")]
    ends: Vec<Aabb<D, T>>,
}

impl<const D: usize, T: Real> Space<D, T> {
    fn new(period: &Period<D, T>) -> Self {
        let lengths = std::array::from_fn(|k| period.length(k).unwrap_or(T::ZERO));
        Self { ends: vec![Aabb::new(period.origin(), lengths)] }
    }

    fn period(&self) -> Result<Period<D, T>, Error> {
        let broken = || Error::InvalidSnapshot { reason: "its period is not positive and finite".to_string() };
        let [Aabb { min, max }] = self.ends[..] else { return Err(broken()) };
        let period = Period::axes(max.map(|length| (length != T::ZERO).then_some(length))).with_origin(min);
        period.check().map_err(|_| broken())?;
        Ok(period)
    }
}

/// The content of a pair store.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Held {
    pairs: Vec<Pair>,
    /// Their number, which is all there is if only the number was reported.
    count: u64,
    /// The kind of report of the last update; that of the next one may differ.
    report: Report,
}

impl Held {
    fn new(store: &PairStore) -> Self {
        Self { pairs: store.to_vec(), count: store.len(), report: store.report() }
    }

    /// Are these pairs of slots below `a` and `b`, and is their number right? If the last update reported only a number, there are no pairs.
    fn is_sound(&self, a: usize, b: usize) -> bool {
        self.pairs.iter().all(|pair| (pair.a as usize) < a && (pair.b as usize) < b)
            && match self.report {
                Report::Count => self.pairs.is_empty() && self.count <= a as u64 * b as u64,
                _ => self.count == self.pairs.len() as u64,
            }
    }

    fn store(&self, limit: u64) -> Result<PairStore, Error> {
        let mut store = PairStore::new(self.report);
        store.set_limit(limit);
        store.hold(&self.pairs, self.count)?;
        Ok(store)
    }
}

impl<const D: usize, T: Real> World<D, T> {
    /// The world as data. A world that is [restored](World::restore) from it continues as this one does: the same handles, the same pairs in
    /// the same order, the same differences. Filter and threads are not part of it.
    ///
    /// Cost: a copy of all objects and pairs. The next frame builds the structures from scratch in both worlds, so that the order of pairs does not
    /// depend on the history of this one.
    ///
    /// ```
    /// use broadphase::{Aabb, Snapshot, World2};
    /// let mut world = World2::new();
    /// let [a, b] = world.insert_many(&[Aabb::point([0.0, 0.0]); 2])?[..] else { unreachable!() };
    /// world.update()?;
    /// let text = serde_json::to_string(&world.snapshot())?;
    /// let snapshot: Snapshot<2, f32> = serde_json::from_str(&text)?;
    /// let mut again = World2::new();
    /// again.restore(&snapshot)?;
    /// again.remove(b)?;
    /// assert_eq!(again.update()?.ended(), [(a, b)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&mut self) -> Snapshot<D, T> {
        for engine in [&mut self.movers, &mut self.statics] {
            *engine = engine.fresh();
        }
        self.mover_pairs.disown();
        self.mixed.forget();
        Snapshot {
            version: VERSION,
            dimension: D,
            scalar: T::NAME.to_string(),
            algorithm: self.movers.spec.to_string(),
            static_algorithm: self.statics.spec.to_string(),
            report: self.report,
            limit: self.limit,
            shape: self.shape,
            pairing: self.pairing,
            period: self.period.as_ref().map(Space::new),
            table: self.table.clone(),
            own: Held::new(&self.mover_pairs),
            mixed: Held::new(&self.mixed.store),
            started: self.started.clone(),
            ended: self.ended.clone(),
            events: Events::clone(&self.events),
            whole: self.whole,
            failed: self.failed,
            tests: self.tests,
            values: self.values.to_list(),
            values_used: self.values.used,
            motion: self.motion.clone(),
        }
    }

    /// Replaces this world by the one in a snapshot; threads and filter stay. If there was a filter, set it before the next update.
    ///
    /// A snapshot of another version, dimension or scalar is [`Error::ForeignSnapshot`]; one that was cut short or changed
    /// [`Error::InvalidSnapshot`], or already an error of the format that read it. On error the world is unchanged.
    pub fn restore(&mut self, snapshot: &Snapshot<D, T>) -> Result<(), Error> {
        let describe = |version, dimension, scalar: &str| format!("version {version}, {dimension}D, {scalar}");
        let found = describe(snapshot.version, snapshot.dimension, &snapshot.scalar);
        let expected = describe(VERSION, D, T::NAME);
        if found != expected {
            return Err(Error::ForeignSnapshot { found, expected });
        }
        let Snapshot { table, report, limit, shape, .. } = snapshot;
        let period = snapshot.period.as_ref().map(Space::period).transpose()?;
        table.check(period.as_ref())?;
        let broken = |error: Error| Error::InvalidSnapshot { reason: error.to_string() };
        snapshot.motion.detection.check().map_err(broken)?;
        let (movers, statics) = (table.movers.slots.len(), table.statics.slots.len());
        if !snapshot.own.is_sound(movers, movers) || !snapshot.mixed.is_sound(movers, statics) {
            return Err(Error::InvalidSnapshot { reason: "its pairs are not of its objects".to_string() });
        }
        if !snapshot.events.is_sound(table.indices()) {
            return Err(Error::InvalidSnapshot { reason: "its events are not of its objects".to_string() });
        }
        if !snapshot.motion.is_sound(table.indices()) {
            return Err(Error::InvalidSnapshot { reason: "its passing pairs are not of its objects".to_string() });
        }
        let engine = |text: &str| super::settings::build(&text.parse()?, period);
        let (movers, statics) = (engine(&snapshot.algorithm)?, engine(&snapshot.static_algorithm)?);
        let before = std::mem::take(&mut self.movers.spec);
        self.use_kernels_of(&before, &movers.spec);
        let mut mixed = super::mixed::Mixed::default();
        mixed.store = snapshot.mixed.store(*limit)?;
        *self = Self {
            table: table.clone(),
            movers,
            statics,
            context: self.context.clone(),
            report: *report,
            limit: *limit,
            shape: *shape,
            period,
            pairing: snapshot.pairing,
            filter: self.filter.take(),
            mover_pairs: snapshot.own.store(*limit)?,
            mixed,
            started: snapshot.started.clone(),
            ended: snapshot.ended.clone(),
            converter: super::update::HandleConverter::default(),
            events: Arc::new(snapshot.events.clone()),
            whole: snapshot.whole,
            failed: snapshot.failed,
            tests: snapshot.tests,
            values: Values::from_list(&snapshot.values, snapshot.values_used),
            neighbors: super::neighbors::Lazy::default(),
            motion: snapshot.motion.clone(),
        };
        Ok(())
    }
}
