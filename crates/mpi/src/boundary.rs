//! The boundary: this rank's objects near others, which are joined with ghosts.

use broadphase::{Aabb, Real};

use crate::batch::{Batch, Flags};

/// The objects of the boundary, in this frame and in the last one.
#[derive(Clone, Debug)]
pub(crate) struct Boundary<const D: usize, T: Real> {
    now: Objects<D, T>,
    last: Objects<D, T>,
    has_changed: bool,
}

/// Slots, ascending, and boxes.
#[derive(Clone, Debug, PartialEq)]
struct Objects<const D: usize, T: Real> {
    slots: Vec<u32>,
    boxes: Vec<Aabb<D, T>>,
}

impl<const D: usize, T: Real> Default for Boundary<D, T> {
    fn default() -> Self {
        let none = Objects { slots: Vec::new(), boxes: Vec::new() };
        Self { now: none.clone(), last: none, has_changed: false }
    }
}

impl<const D: usize, T: Real> Boundary<D, T> {
    /// The slots, ascending.
    pub(crate) fn slots(&self) -> &[u32] {
        &self.now.slots
    }

    /// The boxes, in the same order.
    pub(crate) fn boxes(&self) -> &[Aabb<D, T>] {
        &self.now.boxes
    }

    /// Does it differ from that of the last frame?
    pub(crate) fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Keeps everything in this frame.
    pub(crate) fn keep(&mut self) {
        self.has_changed = false;
    }

    /// Starts a new list.
    pub(crate) fn start(&mut self) {
        std::mem::swap(&mut self.now, &mut self.last);
        self.now.slots.clear();
        self.now.boxes.clear();
    }

    /// Starts a new list with those objects of the old one that stay.
    pub(crate) fn start_from(&mut self, stays: impl Fn(u32) -> bool) {
        self.start();
        let Self { now, last, .. } = self;
        for (&slot, &value) in last.slots.iter().zip(&last.boxes).filter(|(slot, _)| stays(**slot)) {
            now.slots.push(slot);
            now.boxes.push(value);
        }
    }

    /// Appends the objects of a batch for which the flag is set.
    #[inline(always)]
    pub(crate) fn append(&mut self, batch: &Batch<D, T>, flags: &Flags) {
        batch.append_apart(flags, &mut self.now.slots, &mut self.now.boxes);
    }

    /// Sorts the list, if it has to be.
    pub(crate) fn sort(&mut self) {
        let Objects { slots, boxes } = &mut self.now;
        if slots.is_sorted() {
            return;
        }
        let mut objects: Vec<_> = slots.iter().copied().zip(boxes.iter().copied()).collect();
        objects.sort_unstable_by_key(|object| object.0);
        slots.clear();
        slots.extend(objects.iter().map(|object| object.0));
        boxes.clear();
        boxes.extend(objects.iter().map(|object| object.1));
    }

    /// Ends the list, which is ascending now.
    pub(crate) fn finish(&mut self) {
        self.has_changed = self.now != self.last;
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        [&self.now, &self.last]
            .map(|list| list.slots.capacity() * size_of::<u32>() + list.boxes.capacity() * size_of::<Aabb<D, T>>())
            .iter()
            .sum()
    }
}
