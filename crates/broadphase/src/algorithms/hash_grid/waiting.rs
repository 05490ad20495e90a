//! Single changes, which wait until the memory that they need has arrived.
//!
//! A change to a large grid is two or three cache lines away from done, each of which is known only when the one before is
//! there. A list of changes asks for the lines of later ones while it does the first ([`HashGrid::for_each`]). A caller that
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

/// How many newcomers it takes for a line to arrive. A change needs three: its seat, then its cells, then its container.
const STEP: usize = 3;
const STEPS: usize = 3;
/// Places of the ring, a power of two.
const ROOM: usize = 16;
const _: () = assert!(STEPS * STEP < ROOM);

/// The objects whose changes wait, each once: a ring, those that came first in front.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// [`NONE`] in empty places.
    ids: [u32; ROOM],
    /// The cells that they will probably be in, once they have been asked for.
    cells: [u32; ROOM],
    first: usize,
    count: usize,
}

impl Waiting {
    pub(super) const EMPTY: Self = Self { ids: [NONE; ROOM], cells: [NONE; ROOM], first: 0, count: 0 };

    /// Does a change of this object wait?
    #[inline(always)]
    pub(super) fn contains(&self, id: u32) -> bool {
        self.count > 0 && self.ids.iter().fold(false, |found, &other| found | (other == id))
    }

    /// Those that wait and are live: whom a reader of cells has to look at.
    pub(super) fn live<const D: usize, T: Real>(&self, frame: &Frame<'_, D, T>) -> impl Iterator<Item = u32> {
        self.ids.into_iter().filter(|&id| id != NONE && frame.live.contains(id))
    }

    /// Forgets all: they are in their place.
    pub(super) fn clear(&mut self) {
        *self = Self::EMPTY;
    }

    /// Forgets the slots that are no more.
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
        self.ids[(self.first + self.count) % ROOM] = id;
        self.count += 1;
    }

    /// The one that has waited longest does so no more.
    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        self.count = self.count.checked_sub(1)?;
        self.first += 1;
        Some(std::mem::replace(&mut self.ids[(self.first - 1) % ROOM], NONE))
    }
}

impl<const D: usize, T: Real> HashGrid<D, T> {
    /// Lets a change wait, and makes the one that has waited longest if its memory should be there.
    #[inline(always)]
    pub(super) fn postpone(&mut self, frame: &Frame<'_, D, T>, id: u32) {
        if self.waiting.contains(id) {
            return;
        }
        prefetch(&self.seats, id as usize);
        let Waiting { first, count, .. } = self.waiting;
        let newest = first + count;
        self.waiting.push(id);
        if count >= STEP {
            let at = (newest - STEP) % ROOM;
            self.waiting.cells[at] = self.request_cells(frame, self.waiting.ids[at]);
        }
        if count >= 2 * STEP {
            let at = (newest - 2 * STEP) % ROOM;
            self.request_container(self.waiting.ids[at], self.waiting.cells[at]);
        }
        if count >= STEPS * STEP
            && let Some(oldest) = self.waiting.next()
        {
            self.move_object(frame, oldest);
        }
    }

    /// Makes all changes that wait. The frame has been checked.
    pub(super) fn settle(&mut self, frame: &Frame<'_, D, T>) {
        while let Some(id) = self.waiting.next() {
            self.move_object(frame, id);
        }
    }

    /// The grid without waiting changes, for those that may take their time; `None` if it is as it should be.
    pub(super) fn settled(&self, frame: &Frame<'_, D, T>) -> Option<Self> {
        let mut settled = (self.waiting.count > 0).then(|| self.clone())?;
        settled.settle(frame);
        Some(settled)
    }
}
