//! A queue of single changes, which are applied when the cache lines that they need have been prefetched.
//!
//! A change to a large grid needs two or three cache lines, and the address of each follows only from the one before. With a list of changes, the
//! lines of later ones are prefetched while the first are applied ([`HashGrid::for_each`]). A caller that
//! changes one object per update has no list, so its changes are queued. Each id that is added to the queue prefetches one more cache line of the
//! ids before it, and the oldest one is applied.
//!
//! The queue holds only ids. A queued object is inserted with its box in the current frame: it has not changed since, or it was
//! listed again. A search for pairs first applies the queue. Queries and probes, which change nothing, skip queued objects in cells and
//! test each of them separately.

use super::HashGrid;
use super::cells::NONE;
use crate::geometry::Real;
use crate::kernels::prefetch;
use crate::objects::Frame;

/// How many later changes it takes until a cache line has arrived. A change needs three lines: its placement, then its cells, then its container.
const STEP: usize = 3;
const STEPS: usize = 3;
/// The capacity of the ring, a power of two.
const CAPACITY: usize = 16;
const _: () = assert!(STEPS * STEP < CAPACITY);

/// The objects whose changes are queued, each once: a ring, the oldest first.
#[derive(Clone, Debug)]
pub(super) struct PrefetchQueue {
    /// [`NONE`] in empty places.
    ids: [u32; CAPACITY],
    /// The cells that they will probably be in, once those have been prefetched.
    cells: [u32; CAPACITY],
    first: usize,
    count: usize,
}

impl PrefetchQueue {
    pub(super) const EMPTY: Self = Self { ids: [NONE; CAPACITY], cells: [NONE; CAPACITY], first: 0, count: 0 };

    /// Is a change of this object queued?
    #[inline(always)]
    pub(super) fn contains(&self, id: u32) -> bool {
        self.count > 0 && self.ids.iter().fold(false, |found, &other| found | (other == id))
    }

    /// The queued objects that are live: a reader of cells has to test them separately.
    pub(super) fn live<const D: usize, T: Real>(&self, frame: &Frame<'_, D, T>) -> impl Iterator<Item = u32> {
        self.ids.into_iter().filter(|&id| id != NONE && frame.live.contains(id))
    }

    /// Removes all changes, after they were applied.
    pub(super) fn clear(&mut self) {
        *self = Self::EMPTY;
    }

    /// Removes the slots beyond the end of a shorter frame.
    pub(super) fn cut(&mut self, slots: usize) {
        let mut all = std::mem::replace(self, Self::EMPTY);
        while let Some(id) = all.next() {
            if (id as usize) < slots {
                self.push(id);
            }
        }
    }

    #[inline(always)]
    fn push(&mut self, id: u32) {
        self.ids[(self.first + self.count) % CAPACITY] = id;
        self.count += 1;
    }

    /// Takes the oldest one out.
    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        self.count = self.count.checked_sub(1)?;
        self.first += 1;
        Some(std::mem::replace(&mut self.ids[(self.first - 1) % CAPACITY], NONE))
    }
}

impl<const D: usize, T: Real> HashGrid<D, T> {
    /// Queues a change, and applies the oldest one if its cache lines should have arrived.
    #[inline(always)]
    pub(super) fn postpone(&mut self, frame: &Frame<'_, D, T>, id: u32) {
        if self.queue.contains(id) {
            return;
        }
        prefetch(&self.placements, id as usize);
        let PrefetchQueue { first, count, .. } = self.queue;
        let newest = first + count;
        self.queue.push(id);
        if count >= STEP {
            let at = (newest - STEP) % CAPACITY;
            self.queue.cells[at] = self.request_cells(frame, self.queue.ids[at]);
        }
        if count >= 2 * STEP {
            let at = (newest - 2 * STEP) % CAPACITY;
            self.request_container(self.queue.ids[at], self.queue.cells[at]);
        }
        if count >= STEPS * STEP
            && let Some(oldest) = self.queue.next()
        {
            self.move_object(frame, oldest);
        }
    }

    /// Applies all queued changes. The frame has been checked.
    pub(super) fn settle(&mut self, frame: &Frame<'_, D, T>) {
        while let Some(id) = self.queue.next() {
            self.move_object(frame, id);
        }
    }

    /// A copy of the grid with all changes applied, for callers that are not in a hurry; `None` if none is queued.
    pub(super) fn settled(&self, frame: &Frame<'_, D, T>) -> Option<Self> {
        let mut settled = (self.queue.count > 0).then(|| self.clone())?;
        settled.settle(frame);
        Some(settled)
    }
}
