//! One algorithm, stepped and measured.

use std::time::{Duration, Instant};

use broadphase::{Aabb, BroadPhase, Context, Error, Frame, PairStore, Real, Report, Spec};
use serde_json::{Value, json};

/// From this number of objects on, comparing all pairs takes seconds a frame.
const TOO_MANY_FOR_ALL_PAIRS: usize = 200_000;

/// An algorithm with its structure and its pairs.
pub struct Runner<const D: usize, T: Real> {
    name: String,
    structure: Box<dyn BroadPhase<D, T>>,
    context: Context,
    store: PairStore,
}

/// What a frame cost.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The number of the frame.
    pub frame: usize,
    /// Wall times: the structure's update, the search less its events, and the events.
    pub update: Duration,
    pub join: Duration,
    pub events: Duration,
    /// Box-box comparisons.
    pub tests: u64,
    /// Pairs found.
    pub pairs: u64,
    /// Bytes of structure and pairs.
    pub bytes: usize,
    /// For `auto`: what was chosen, and why.
    pub choice: Option<String>,
    /// The structure's own figures.
    pub extra: Vec<(&'static str, f64)>,
}

impl Measured {
    /// For the page.
    pub fn json(&self) -> Value {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        json!({
            "frame": self.frame, "update": ms(self.update), "join": ms(self.join), "events": ms(self.events),
            "tests": self.tests, "pairs": self.pairs, "bytes": self.bytes, "choice": self.choice,
            "extra": self.extra.iter().map(|(name, value)| (name.replace('_', " "), (*value).into())).collect::<serde_json::Map<_, Value>>(),
        })
    }
}

impl<const D: usize, T: Real> Runner<D, T> {
    /// An empty structure. Fails if the algorithm would take minutes per frame with `n` objects.
    pub fn new(spec: &Spec, n: usize) -> Result<Self, String> {
        let name = spec.to_string();
        if name.split(':').next() == Some("brute-force") && n > TOO_MANY_FOR_ALL_PAIRS {
            return Err(format!(
                "brute-force compares all pairs, which takes minutes with {n} objects; choose fewer than {TOO_MANY_FOR_ALL_PAIRS}, or another algorithm"
            ));
        }
        let structure = spec.build().map_err(|error| error.to_string())?;
        Ok(Self { name, structure, context: Context::new().with_timing(), store: PairStore::new(Report::Both) })
    }

    /// Its name, with options.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One frame, timed.
    pub fn step(&mut self, number: usize, boxes: &[Aabb<D, T>]) -> Result<Measured, Error> {
        let frame = Frame::new(boxes);
        let start = Instant::now();
        self.structure.update(&frame, &mut self.context)?;
        let updated = Instant::now();
        self.structure.pairs(&frame, &mut self.context, &mut self.store)?;
        let search = updated.elapsed();
        let events = self.store.event_time().min(search);
        self.context.clear_stages();
        let stats = self.structure.stats();
        Ok(Measured {
            frame: number,
            update: updated - start,
            join: search - events,
            events,
            tests: self.store.tests(),
            pairs: self.store.len(),
            bytes: stats.bytes + self.store.bytes(),
            choice: stats.choice,
            extra: stats.extra,
        })
    }

    /// The pairs of the last frame.
    pub fn store(&self) -> &PairStore {
        &self.store
    }

    /// The structure, for its outline and queries.
    pub fn structure(&self) -> &dyn BroadPhase<D, T> {
        &*self.structure
    }
}
