//! The join of this rank's objects near others with the ghosts of others.
//!
//! Only objects that overlap a box of a neighbor can pair with a ghost; they are called the *boundary*. The ghosts have a structure of their own, which
//! is kept from frame to frame. The boundary's boxes are its probes, all in one call, so that the two sets are joined tile by tile without searching for
//! pairs within a set. If nothing has changed in either set, the pairs are kept.
//!
//! Cost: a frame of as many objects as both sets have, if any of them has changed. Bad case: a few changes among many ghosts, which are all joined again.

use broadphase::{Aabb, BroadPhase, Context, PairStore, Probes, Real, Report};

use crate::boundary::Boundary;
use crate::ghosts::Origin;
use crate::slots::Slots;

/// The ghosts, and their pairs with the boundary.
#[derive(Debug)]
pub(crate) struct Cross<const D: usize, T: Real> {
    ghosts: Slots<D, T, Origin>,
    structure: Box<dyn BroadPhase<D, T>>,
    /// Positions in the boundary and slots of ghosts.
    store: PairStore,
    /// The structure may have missed changes.
    all: bool,
}

impl<const D: usize, T: Real> Cross<D, T> {
    pub(crate) fn new(structure: Box<dyn BroadPhase<D, T>>, limit: u64) -> Self {
        let mut store = PairStore::new(Report::All);
        store.set_limit(limit);
        Self { ghosts: Slots::default(), structure, store, all: true }
    }

    /// The ghosts, to be brought up to date.
    pub(crate) fn ghosts(&mut self) -> &mut Slots<D, T, Origin> {
        &mut self.ghosts
    }

    /// A ghost and its box.
    pub(crate) fn ghost(&self, slot: u32) -> (Origin, &Aabb<D, T>) {
        (self.ghosts.value(slot), &self.ghosts.boxes()[slot as usize])
    }

    /// The number of ghosts.
    pub(crate) fn ghost_count(&self) -> usize {
        self.ghosts.count()
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.ghosts.bytes() + self.structure.stats().bytes + self.store.bytes()
    }

    /// Finds the pairs with the boundary of this frame. On error there are none, and the next call finds them all.
    pub(crate) fn join(&mut self, boundary: &Boundary<D, T>, context: &mut Context) -> Result<(), broadphase::Error> {
        let Self { ghosts, structure, store, all } = self;
        let boxes = boundary.boxes();
        let is_same = !boundary.has_changed() && !ghosts.has_changed();
        let mut result = Ok(());
        if boxes.is_empty() || ghosts.count() == 0 {
            store.clear();
            *all = true; // the structure follows when there is something to join
        } else if *all || !is_same {
            ghosts.list_changes();
            let frame = ghosts.frame(*all);
            let probes = Probes { boxes, ids: None, recurring: false };
            result = structure.update(&frame, context).and_then(|()| structure.probe(&frame, probes, context, store));
            *all = result.is_err();
        }
        if result.is_err() {
            store.clear();
        }
        ghosts.settle();
        result
    }

    /// Calls `visit` with each pair: the position in the boundary and the slot of the ghost.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(usize, u32)) {
        self.store.for_each_chunk(|pairs| pairs.iter().for_each(|pair| visit(pair.a as usize, pair.b)));
    }
}
