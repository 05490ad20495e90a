//! Pairs in bounded pieces, each found when the iterator reaches it.

use std::fmt;

use super::cancel::Cancel;
use super::prepare::Prepared;
use super::rules::{Keep, Rules};
use crate::algorithms::{BroadPhase, Probes};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::memory::{extend, push, reserve};
use crate::objects::{Frame, Shape};
use crate::pairs::{Pair, PairSort, PairStore};

/// Objects whose pairs are searched for at once, in the first batch.
const FIRST_BATCH: usize = 1 << 12;
/// The largest batch.
const LARGEST_BATCH: usize = 1 << 16;

/// The input of a search in pieces.
pub(super) struct Plan<'a, const D: usize, T: Real> {
    pub(super) a: Prepared<'a, D, T>,
    /// The second list, if there are two.
    pub(super) b: Option<Prepared<'a, D, T>>,
    /// Over the second list, or the only one.
    pub(super) structure: Box<dyn BroadPhase<D, T>>,
    pub(super) context: Context,
    pub(super) shape: Shape,
    pub(super) keep: Option<Keep<'a>>,
    pub(super) cancel: Option<Cancel>,
    pub(super) limit: u64,
    /// Pairs per piece, at most.
    pub(super) size: usize,
}

/// An iterator over sorted pairs in bounded pieces; see [`Search::chunks`](super::Search::chunks).
///
/// Consecutive objects are looked up in the structure, about as many at once as fill a piece; a batch with too many pairs is cut in half.
pub struct Chunks<'a, const D: usize, T: Real> {
    plan: Plan<'a, D, T>,
    /// The next object to look up.
    next: usize,
    batch: usize,
    /// The pairs found so far; those from `taken` on have not been returned yet.
    pending: Vec<Pair>,
    taken: usize,
    /// The number of pairs returned so far.
    total: u64,
    store: PairStore,
    sorter: PairSort,
    boxes: Vec<Aabb<D, T>>,
    slots: Vec<u32>,
}

impl<const D: usize, T: Real> fmt::Debug for Chunks<'_, D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").field("next", &self.next).field("size", &self.plan.size).finish_non_exhaustive()
    }
}

impl<'a, const D: usize, T: Real> Chunks<'a, D, T> {
    /// The pieces of a list that has been found already.
    pub(super) fn of(plan: Plan<'a, D, T>, pairs: Vec<Pair>) -> Self {
        Self { next: plan.a.count, pending: pairs, ..Self::new(plan) }
    }

    pub(super) fn new(plan: Plan<'a, D, T>) -> Self {
        Self {
            plan,
            next: 0,
            batch: FIRST_BATCH,
            pending: Vec::new(),
            taken: 0,
            total: 0,
            store: PairStore::default(),
            sorter: PairSort::default(),
            boxes: Vec::new(),
            slots: Vec::new(),
        }
    }

    /// Finds the pairs of the next objects.
    fn advance(&mut self) -> Result<(), Error> {
        let count = self.plan.a.count;
        loop {
            if let Some(cancel) = &self.plan.cancel {
                cancel.check()?;
            }
            let end = count.min(self.next + self.batch);
            match self.look_up(self.next, end) {
                Err(Error::TooManyPairs { .. }) if end - self.next > 1 => self.batch = (end - self.next).div_ceil(2),
                result => {
                    result?;
                    self.next = end;
                    break;
                }
            }
        }
        if self.pending.len() < self.plan.size / 2 {
            self.batch = (2 * self.batch).min(LARGEST_BATCH);
        }
        Ok(())
    }

    /// Finds the pairs of some objects.
    fn look_up(&mut self, from: usize, to: usize) -> Result<(), Error> {
        let Self { plan, pending, store, sorter, boxes, slots, .. } = self;
        let Plan { a, b, structure, context, shape, keep, size, .. } = plan;
        let others = b.as_ref().unwrap_or(a);
        slots.clear();
        for object in from as u32..to as u32 {
            for slot in a.slots(object) {
                push(slots, slot, "objects")?;
            }
        }
        boxes.clear();
        extend(boxes, slots.len(), slots.iter().map(|&slot| a.boxes[slot as usize]), "boxes")?;
        // One object has at most as many pairs as there are others. In one list, each pair is found twice, and each object finds itself.
        store.set_limit(if to - from > 1 {
            (*size as u64).saturating_mul(4).saturating_add(boxes.len() as u64)
        } else {
            u64::MAX
        });
        let frame = Frame { tags: None, ..others.frame(Shape::Box) };
        structure.probe(&frame, Probes { boxes, ids: None, recurring: false }, context, store)?;
        let rules = Rules { a, b: others, is_self: b.is_none(), shape: *shape, keep: keep.as_ref() };
        pending.clear();
        reserve(pending, store.len() as usize, "pairs")?;
        store.for_each_chunk(|chunk| {
            // reserved
            pending.extend(chunk.iter().filter_map(|pair| {
                let found = Pair { a: slots[pair.a as usize], b: pair.b };
                let is_forward = !rules.is_self || a.owner(found.a) < a.owner(found.b);
                (is_forward && rules.allows_overlap(found)).then(|| rules.objects(found))
            }));
        });
        sorter.sort(pending, a.count);
        self.taken = 0;
        Ok(())
    }

    /// The next piece.
    fn piece(&mut self) -> Result<Vec<Pair>, Error> {
        let size = self.plan.size;
        let mut piece = Vec::new();
        if let Some(cancel) = self.plan.cancel.as_ref().filter(|_| self.taken < self.pending.len()) {
            cancel.check()?;
        }
        loop {
            let rest = &self.pending[self.taken..];
            let room = rest.len().min(size - piece.len());
            piece.try_reserve(room).map_err(|_| Error::OutOfMemory { what: "pairs" })?;
            piece.extend_from_slice(&rest[..room]);
            self.taken += room;
            if piece.len() == size || self.next >= self.plan.a.count {
                self.total += piece.len() as u64;
                let limit = self.plan.limit;
                return if self.total > limit { Err(Error::TooManyPairs { limit }) } else { Ok(piece) };
            }
            self.advance()?;
        }
    }
}

impl<const D: usize, T: Real> Iterator for Chunks<'_, D, T> {
    type Item = Result<Vec<Pair>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.piece() {
            Ok(piece) if piece.is_empty() => None,
            Ok(piece) => Some(Ok(piece)),
            Err(error) => {
                // Nothing comes after an error.
                self.next = self.plan.a.count;
                self.plan.limit = u64::MAX;
                self.pending.clear();
                self.taken = 0;
                Some(Err(error))
            }
        }
    }
}

impl<const D: usize, T: Real> std::iter::FusedIterator for Chunks<'_, D, T> {}
