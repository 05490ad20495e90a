//! The broad phase of this rank's own objects.

use broadphase::{BroadPhase, Context, Pair, PairStore, Real, Report, Spec};

use crate::slots::Slots;

/// The structure and the pairs of this rank's own objects.
#[derive(Debug)]
pub(crate) struct Local<const D: usize, T: Real> {
    algorithm: Spec,
    structure: Box<dyn BroadPhase<D, T>>,
    store: PairStore,
    started: Vec<Pair>,
    ended: Vec<Pair>,
    /// The structure may have taken in a frame that the job gave up, so the next one counts as all changed.
    all_changed: bool,
}

impl<const D: usize, T: Real> Local<D, T> {
    pub(crate) fn new(algorithm: Spec, events: bool, limit: u64) -> Result<Self, broadphase::Error> {
        let structure = algorithm.build()?;
        let mut store = PairStore::new(if events { Report::Both } else { Report::All });
        store.set_limit(limit);
        Ok(Self { algorithm, structure, store, started: Vec::new(), ended: Vec::new(), all_changed: false })
    }

    pub(crate) fn algorithm(&self) -> &Spec {
        &self.algorithm
    }

    pub(crate) fn store(&self) -> &PairStore {
        &self.store
    }

    pub(crate) fn started(&self) -> &[Pair] {
        &self.started
    }

    pub(crate) fn ended(&self) -> &[Pair] {
        &self.ended
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let events = (self.started.capacity() + self.ended.capacity()) * size_of::<Pair>();
        self.structure.stats().bytes + self.store.bytes() + events
    }

    /// In the next frame everything counts as changed.
    pub(crate) fn expect_all_changed(&mut self) {
        self.all_changed = true;
    }

    /// Brings the structure up to date. The changes of `objects` must be listed.
    pub(crate) fn update(&mut self, objects: &Slots<D, T, u64>, context: &mut Context) -> Result<(), broadphase::Error> {
        let result = self.structure.update(&objects.frame(self.all_changed), context);
        self.all_changed |= result.is_err();
        result
    }

    /// Finds the pairs, and which of them started and ended. After an error there are no pairs.
    pub(crate) fn pairs(&mut self, objects: &Slots<D, T, u64>, context: &mut Context) -> Result<(), broadphase::Error> {
        // Where a slot has another object than before, all its old pairs have ended and all its present ones have started.
        let replaced = objects.replaced();
        let has_new = |pair: &Pair| [pair.a, pair.b].iter().any(|slot| replaced.binary_search(slot).is_ok());
        let events = self.store.report().delta();
        self.ended.clear();
        if events && !replaced.is_empty() {
            self.store.for_each_chunk(|pairs| self.ended.extend(pairs.iter().filter(|pair| has_new(pair))));
        }
        let result = self.structure.pairs(&objects.frame(self.all_changed), context, &mut self.store);
        self.all_changed = result.is_err();
        self.started.clear();
        if result.is_err() {
            self.ended.clear();
            return result;
        }
        if events {
            self.started.extend(self.store.started().iter().filter(|pair| !has_new(pair)));
            self.ended.extend(self.store.ended().iter().filter(|pair| !has_new(pair)));
            if !replaced.is_empty() {
                self.store.for_each_chunk(|pairs| self.started.extend(pairs.iter().filter(|pair| has_new(pair))));
                self.started.sort_unstable();
                self.ended.sort_unstable();
            }
        }
        Ok(())
    }
}
