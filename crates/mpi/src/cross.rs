//! The join of this rank's objects near others with the ghosts of others.
//!
//! Only objects that overlap a box of a neighbor can pair with a ghost; they are called the *boundary*. The ghosts have a structure of their own, which
//! is kept from frame to frame. The boundary's boxes are its probes, all in one call, so that the two sets are joined tile by tile without searching for
//! pairs within a set. If nothing has changed in either set, the pairs are kept.
//!
//! Cost: a frame of as many objects as both sets have, if any of them has changed. Bad case: a few changes among many ghosts, which are all joined again.

use broadphase::{Aabb, BroadPhase, Context, PairStore, Probes, Real, Report};

use crate::ghosts::Origin;
use crate::select::Chosen;
use crate::slots::Slots;

/// The boundary, the ghosts, and the pairs between them.
#[derive(Debug)]
pub(crate) struct Cross<const D: usize, T: Real> {
    /// This rank's objects near others: slots, ascending, and boxes.
    boundary: Vec<u32>,
    boxes: Vec<Aabb<D, T>>,
    boundary_changed: bool,
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
        let (boundary, boxes, ghosts) = (Vec::new(), Vec::new(), Slots::default());
        Self { boundary, boxes, boundary_changed: false, ghosts, structure, store, all: true }
    }

    /// The ghosts, to be brought up to date.
    pub(crate) fn ghosts(&mut self) -> &mut Slots<D, T, Origin> {
        &mut self.ghosts
    }

    /// The number of ghosts.
    pub(crate) fn ghost_count(&self) -> usize {
        self.ghosts.count()
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let boundary = self.boundary.capacity() * size_of::<u32>() + self.boxes.capacity() * size_of::<Aabb<D, T>>();
        self.ghosts.bytes() + boundary + self.structure.stats().bytes + self.store.bytes()
    }

    /// Replaces the boundary, ascending by slot.
    pub(crate) fn set_boundary(&mut self, boundary: &[Chosen<D, T>]) {
        let Self { boundary: slots, boxes, boundary_changed, .. } = self;
        let is_same = boundary.len() == slots.len()
            && boundary.iter().zip(slots.iter().zip(&*boxes)).all(|(new, old)| (&new.0, &new.1) == old);
        *boundary_changed |= !is_same;
        if !is_same {
            slots.clear();
            slots.extend(boundary.iter().map(|object| object.0));
            boxes.clear();
            boxes.extend(boundary.iter().map(|object| object.1));
        }
    }

    /// Finds the pairs. On error there are none, and the next call finds them all.
    pub(crate) fn join(&mut self, context: &mut Context) -> Result<(), broadphase::Error> {
        let Self { boxes, ghosts, structure, store, all, .. } = self;
        let is_same = !std::mem::take(&mut self.boundary_changed) && !ghosts.has_changed();
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

    /// Calls `visit` with each pair: this rank's slot and the ghost, with their boxes.
    pub(crate) fn for_each(&self, mut visit: impl FnMut((u32, Origin), (&Aabb<D, T>, &Aabb<D, T>))) {
        let ghosts = self.ghosts.boxes();
        self.store.for_each_chunk(|pairs| {
            for pair in pairs {
                let (own, ghost) = (pair.a as usize, pair.b as usize);
                visit((self.boundary[own], self.ghosts.value(pair.b)), (&self.boxes[own], &ghosts[ghost]));
            }
        });
    }
}
