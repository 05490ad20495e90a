//! The join of this rank's objects near others with the ghosts of others.
//!
//! An object that overlaps a ghost overlaps a box of the ghost's rank, so it was itself sent there: only objects that were sent to someone, the
//! boundary, can pair with a ghost. Both lists are kept in one structure of their own; pairs of one kind are found and passed over. Its cost is that
//! of a frame of that many objects, and it profits from what did not move. (Tags that let only the two kinds pair would make the structure treat every
//! frame as entirely new.)

use broadphase::{Aabb, BroadPhase, Context, PairStore, Real, Report, step};

use crate::ghosts::Origin;
use crate::select::Chosen;
use crate::slots::{Slots, ascending};

/// Boundary and ghosts.
#[derive(Debug)]
pub(crate) struct Cross<const D: usize, T: Real> {
    rank: u32,
    slots: Slots<D, T, Origin>,
    /// This rank's slots, ascending, and their copies' slots.
    boundary: Vec<(u32, u32)>,
    next: Vec<(u32, u32)>,
    structure: Box<dyn BroadPhase<D, T>>,
    store: PairStore,
    /// The structure may have missed changes.
    all: bool,
}

impl<const D: usize, T: Real> Cross<D, T> {
    pub(crate) fn new(rank: usize, structure: Box<dyn BroadPhase<D, T>>, limit: u64) -> Self {
        let mut store = PairStore::new(Report::All);
        store.set_limit(limit);
        Self { rank: rank as u32, slots: Slots::default(), boundary: Vec::new(), next: Vec::new(), structure, store, all: true }
    }

    /// Where ghosts are held.
    pub(crate) fn ghosts(&mut self) -> &mut Slots<D, T, Origin> {
        &mut self.slots
    }

    /// The number of ghosts.
    pub(crate) fn ghost_count(&self) -> usize {
        self.slots.count() - self.boundary.len()
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let lists = (self.boundary.capacity() + self.next.capacity()) * size_of::<(u32, u32)>();
        self.slots.bytes() + lists + self.structure.stats().bytes + self.store.bytes()
    }

    /// Follows this rank's objects: `boundary` lists those that were sent to someone, ascending. Their changes are listed.
    pub(crate) fn set_boundary(
        &mut self,
        boundary: &[Chosen<D, T>],
        objects: &Slots<D, T, u64>,
    ) -> Result<(), broadphase::Error> {
        let Self { rank, slots, boundary: old, next, .. } = self;
        let mut replaced = ascending(objects.replaced());
        next.clear();
        let (mut at, mut result) = (0, Ok(()));
        for &(slot, value) in boundary {
            while let Some(&(_, copy)) = old.get(at).filter(|old| old.0 < slot) {
                slots.remove(copy);
                at += 1;
            }
            let known = old.get(at).filter(|old| old.0 == slot).map(|old| old.1);
            at += usize::from(known.is_some());
            if let Some(copy) = known {
                if !replaced.has(slot) {
                    slots.set_box(copy, value);
                    next.push((slot, copy));
                    continue;
                }
                slots.remove(copy);
            }
            match slots.insert(value, Origin { rank: *rank, index: slot, id: objects.value(slot) }) {
                Ok(copy) => next.push((slot, copy)),
                Err(error) => result = Err(error),
            }
        }
        for &(_, copy) in &old[at..] {
            slots.remove(copy);
        }
        std::mem::swap(old, next);
        result
    }

    /// Finds the pairs. On error there are none, and the next call finds them all.
    pub(crate) fn join(&mut self, context: &mut Context) -> Result<(), broadphase::Error> {
        if self.boundary.is_empty() || self.ghost_count() == 0 {
            self.store.clear(); // the structure follows when there is something to join
            return Ok(());
        }
        self.slots.list_changes();
        let frame = self.slots.frame(self.all);
        let result = step(&mut *self.structure, &frame, context, &mut self.store);
        self.all = result.is_err();
        if result.is_err() {
            self.store.clear();
        }
        self.slots.settle();
        result
    }

    /// Calls `visit` with each pair: this rank's object and the ghost, with their boxes.
    pub(crate) fn for_each(&self, mut visit: impl FnMut((Origin, Origin), (&Aabb<D, T>, &Aabb<D, T>))) {
        let boxes = self.slots.boxes();
        self.store.for_each_chunk(|pairs| {
            for pair in pairs {
                let (a, b) = (self.slots.value(pair.a), self.slots.value(pair.b));
                let (box_a, box_b) = (&boxes[pair.a as usize], &boxes[pair.b as usize]);
                match (a.rank == self.rank, b.rank == self.rank) {
                    (true, false) => visit((a, b), (box_a, box_b)),
                    (false, true) => visit((b, a), (box_b, box_a)),
                    _ => {}
                }
            }
        });
    }
}
