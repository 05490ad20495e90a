//! The change tracker: compares a frame with the last one, or uses the caller's lists.
//!
//! # States
//! *Sampling*: only a small sample of boxes is remembered. If everything moves, comparing all boxes would be a waste. *Tracking*: the last frame's
//! boxes are remembered, because the sample is at rest or because the caller lists changes; a frame is compared box by box, or its
//! lists are used. After a few frames in a row with too many changes, tracking ends; if it never paid, it does not start again for a while.
//!
//! (Remembering the first frame, in case the second one is the same, was slower: for moving objects it costs half a frame more than it saves
//! for objects at rest.)

use super::ChangeSet;
use crate::backoff::Backoff;
use crate::bits::BitSet;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::prefetch;
use crate::memory;
use crate::objects::{Changes, Frame};
use crate::sample::sample;

/// The approximate number of boxes in the sample; and the fewest slots per sampled box, since in a small frame a sample of that size would take a good part
/// of the frame's time.
const SAMPLE: usize = 128;
const LEAST_STRIDE: usize = 32;
/// Frames in a row with too many changes that end tracking.
const TRIES: u32 = 2;
/// Frames without tracking after it never paid, the first time and at most. The number doubles each time.
const FIRST_PAUSE: u32 = 4;
const LONGEST_PAUSE: u32 = 64;
/// Tracking starts if the share of the sample that moved is at most 4/5 of the limit, so that it does not start where it hardly pays.
const START: [usize; 2] = [4, 5];
/// Changed slots between prefetching a box and reading it.
const AHEAD: usize = 16;

/// What the memory is for, in errors.
pub(super) const BOXES: &str = "the boxes of the last frame";

/// When changed slots are distinguished, instead of treating everything as changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparing {
    /// May boxes be compared with the last frame's? If not, only the caller's lists are used.
    pub(crate) allowed: bool,
    /// The most changed slots per thousand; more count as everything. The first limit is for changes found by comparing, the second for lists.
    pub(crate) most_per_mille: usize,
    pub(crate) most_listed_per_mille: usize,
}

/// Finds what changed since the last frame; owns the copy of that frame's boxes.
#[derive(Clone, Debug)]
pub(crate) struct ChangeTracker<const D: usize, T> {
    /// The boxes and live slots of the last update, while tracking.
    pub(super) previous: Vec<Aabb<D, T>>,
    pub(super) live: BitSet,
    tracking: bool,
    /// Frames in a row with too many changes.
    failures: u32,
    /// Has any comparison paid since tracking started?
    has_paid: bool,
    /// The wait until tracking may start again.
    pause: Backoff<FIRST_PAUSE, LONGEST_PAUSE>,
    sample: Vec<Aabb<D, T>>,
    /// The number of slots that the sample was taken from, which determines the objects in it.
    sample_slots: usize,
    pub(super) changes: ChangeSet,
}

impl<const D: usize, T> Default for ChangeTracker<D, T> {
    fn default() -> Self {
        Self {
            previous: Vec::new(),
            live: BitSet::default(),
            tracking: false,
            failures: 0,
            has_paid: false,
            pause: Backoff::default(),
            sample: Vec::new(),
            sample_slots: 0,
            changes: ChangeSet::default(),
        }
    }
}

/// # An update, in order
impl<const D: usize, T: Real> ChangeTracker<D, T> {
    /// Finds what changed since the last commit. The frame's lists must have been checked. On error, the set is everything.
    pub(crate) fn find_changes(&mut self, frame: &Frame<'_, D, T>, comparing: Comparing) -> Result<&ChangeSet, Error> {
        self.changes.try_clear(frame.slots())?;
        let limit = |per_mille: usize| frame.slots() * per_mille / 1000 + 8;
        self.pause.step();
        let may_compare = comparing.allowed && frame.may_compare();
        let distinguished = match frame.changes {
            Changes::Listed { moved, inserted, removed } if self.tracking => {
                let most = limit(comparing.most_listed_per_mille);
                let count = moved.len() + inserted.len() + removed.len();
                count <= most && {
                    self.changes.reserve_list(count)?;
                    self.take_lists(frame, [moved, inserted, removed])
                }
            }
            Changes::Unknown if may_compare && self.tracking => {
                let most = limit(comparing.most_per_mille).min(frame.slots());
                self.changes.reserve_list(most)?;
                let has_paid = self.previous.len() == frame.slots() && self.compare(frame, most);
                self.record_comparison(has_paid);
                has_paid
            }
            // The caller lists changes: once this frame's boxes are remembered, the next list can be used.
            Changes::Listed { .. } => self.track(),
            Changes::Unknown if may_compare && !self.pause.is_waiting() && self.is_at_rest(frame, comparing.most_per_mille) => {
                self.track()
            }
            Changes::Unknown => false,
            Changes::All => {
                self.tracking = false;
                false
            }
        };
        if !distinguished {
            self.changes.set_everything();
        }
        Ok(&self.changes)
    }

    /// What [`find_changes`](ChangeTracker::find_changes) found.
    pub(crate) fn changes(&self) -> &ChangeSet {
        &self.changes
    }

    /// The box that a slot had in the last frame, if it was live; for slots of the change set only.
    pub(crate) fn previous(&self, id: u32) -> Option<&Aabb<D, T>> {
        self.previous.get(id as usize).filter(|_| self.live.has(id))
    }

    /// Prefetches both boxes of the change `at`, if there is one.
    #[inline(always)]
    pub(crate) fn prefetch_change(&self, frame: &Frame<'_, D, T>, at: usize) {
        if let Some(&coming) = self.changes.slots.get(at) {
            prefetch(frame.boxes, coming as usize);
            prefetch(&self.previous, coming as usize);
        }
    }

    /// Remembers the boxes of the changed slots, after the structure was updated with them.
    pub(crate) fn commit_changes(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        self.fit_slots(frame.slots())?;
        for at in 0..self.changes.slots.len() {
            self.prefetch_change(frame, at + AHEAD);
            self.commit_slot(frame, self.changes.slots[at]);
        }
        Ok(())
    }

    /// Remembers the boxes of these slots, listed as changed or not, after the structure was updated with them. If a caller's list leaves changes
    /// out, the tracker still remembers the boxes that the structure holds.
    pub(crate) fn commit_slots(&mut self, frame: &Frame<'_, D, T>, slots: impl Iterator<Item = u32>) -> Result<(), Error> {
        self.fit_slots(frame.slots())?;
        slots.for_each(|id| self.commit_slot(frame, id));
        Ok(())
    }

    fn fit_slots(&mut self, slots: usize) -> Result<(), Error> {
        // Slots beyond the end must not keep their bits in the last word: they would count as live when boxes are compared.
        (slots..self.previous.len().min(slots.next_multiple_of(64))).for_each(|id| self.live.set(id as u32, false));
        memory::resize(&mut self.previous, slots, Aabb::default(), BOXES)?;
        self.live.try_resize(slots)
    }

    fn commit_slot(&mut self, frame: &Frame<'_, D, T>, id: u32) {
        if id as usize >= frame.slots() {
            return; // cut off
        }
        let is_live = frame.live.contains(id);
        self.live.set(id, is_live);
        if is_live {
            self.previous[id as usize] = frame.boxes[id as usize];
        }
    }

    /// Remembers the whole frame, or a sample of it, after the structure was updated with it.
    pub(crate) fn commit_everything(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        let slots = frame.slots();
        self.sample.clear();
        memory::extend(&mut self.sample, sample_of(frame.boxes).count(), sample_of(frame.boxes).copied(), BOXES)?;
        self.sample_slots = slots;
        memory::resize(&mut self.previous, if self.tracking { slots } else { 0 }, Aabb::default(), BOXES)?;
        if self.tracking {
            self.previous.copy_from_slice(frame.boxes); // extending box by box takes ten times as long
            self.live.try_resize(slots)?;
            self.live.words_mut().iter_mut().enumerate().for_each(|(word, bits)| *bits = frame.live.word(word, slots));
        }
        Ok(())
    }

    /// Makes the next change set everything, after an update failed.
    pub(crate) fn abandon(&mut self) {
        self.tracking = false;
    }
}

/// # The sample
impl<const D: usize, T: Real> ChangeTracker<D, T> {
    /// The boxes of the sampled objects, now and when everything was last committed; none if the number of slots has changed.
    pub(crate) fn sample<'a>(
        &'a self,
        frame: &Frame<'a, D, T>,
    ) -> impl Iterator<Item = (&'a Aabb<D, T>, &'a Aabb<D, T>)> + Clone + use<'a, D, T> {
        let known = if self.sample_slots == frame.slots() { &self.sample[..] } else { &[] };
        sample_of(frame.boxes).zip(known)
    }

    /// The number of sampled objects.
    pub(crate) fn sampled(&self) -> usize {
        self.sample.len()
    }

    /// Did so few objects of the sample move that comparing all boxes pays? If slots have been added since the sample was taken, the
    /// same objects are compared; if slots are gone, the answer is no.
    fn is_at_rest(&self, frame: &Frame<'_, D, T>, most_per_mille: usize) -> bool {
        let Some(now) = frame.boxes.get(..self.sample_slots) else { return false };
        let moved = sample_of(now).zip(&self.sample).filter(|(now, before)| now != before).count();
        let [part, of] = START;
        !self.sample.is_empty() && moved * 1000 * of <= self.sample.len() * most_per_mille * part
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        (self.previous.capacity() + self.sample.capacity()) * size_of::<Aabb<D, T>>() + self.live.bytes() + self.changes.bytes()
    }
}

/// # States
impl<const D: usize, T: Real> ChangeTracker<D, T> {
    /// Starts tracking with this frame. Everything counts as changed in it.
    fn track(&mut self) -> bool {
        self.tracking = true;
        (self.failures, self.has_paid) = (0, false);
        false
    }

    /// Counts a comparison that paid or did not. After too many that did not, tracking ends.
    fn record_comparison(&mut self, has_paid: bool) {
        if has_paid {
            (self.failures, self.has_paid) = (0, true);
            return;
        }
        self.failures += 1;
        if self.failures == TRIES {
            self.tracking = false;
            if self.has_paid {
                self.pause.succeed();
            } else {
                self.pause.fail();
            }
        }
    }

    /// Makes the change set from the caller's lists. A removed slot may be beyond the end of the frame.
    pub(super) fn take_lists(&mut self, frame: &Frame<'_, D, T>, lists: [&[u32]; 3]) -> bool {
        for &id in lists.into_iter().flatten().filter(|id| (**id as usize) < frame.slots()) {
            self.changes.insert(id, self.live.has(id), frame.live.contains(id));
        }
        self.changes.sort();
        true
    }

    /// Compares all boxes and live slots with the last frame's; gives up after more than `limit` changes.
    pub(super) fn compare(&mut self, frame: &Frame<'_, D, T>, limit: usize) -> bool {
        let changes = &mut self.changes;
        for (word, (now, before)) in frame.boxes.chunks(64).zip(self.previous.chunks(64)).enumerate() {
            let (is, was) = (frame.live.word(word, frame.slots()), self.live.words()[word]);
            let mut changed = (differing(now, before) & is) | (is ^ was);
            if changed == 0 {
                continue;
            }
            if changes.slots.len() + changed.count_ones() as usize > limit {
                return false;
            }
            changes.bits.words_mut()[word] = changed;
            changes.inserted += (is & !was).count_ones() as usize;
            changes.removed += (was & !is).count_ones() as usize;
            while changed != 0 {
                changes.slots.push(word as u32 * 64 + changed.trailing_zeros()); // reserved
                changed &= changed - 1;
            }
        }
        true
    }
}

/// A bit for each of up to 64 boxes that differs bitwise. So -0.0 differs from 0.0, which costs a test but is harmless.
#[inline(always)]
pub(crate) fn differing<const D: usize, T: Real>(now: &[Aabb<D, T>], before: &[Aabb<D, T>]) -> u64 {
    let mut changed = 0;
    for (at, (now, before)) in now.iter().zip(before).enumerate() {
        let mut difference = 0;
        for (x, y) in bytemuck::bytes_of(now).as_chunks::<8>().0.iter().zip(bytemuck::bytes_of(before).as_chunks::<8>().0) {
            difference |= u64::from_ne_bytes(*x) ^ u64::from_ne_bytes(*y);
        }
        changed |= u64::from(difference != 0) << at;
    }
    changed
}

/// The sample: some boxes, spread over the slots.
fn sample_of<const D: usize, T: Real>(boxes: &[Aabb<D, T>]) -> impl Iterator<Item = &Aabb<D, T>> + Clone {
    sample(boxes.len(), boxes.len().div_ceil(SAMPLE).max(LEAST_STRIDE)).map(|at| &boxes[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::Live;

    const ALWAYS: Comparing = Comparing { allowed: true, most_per_mille: 100, most_listed_per_mille: 100 };

    fn points<const D: usize, T: Real>(n: usize) -> Vec<Aabb<D, T>> {
        (0..n).map(|i| Aabb::point([T::from_f64(i as f64); D])).collect()
    }

    /// A tracker that was given the boxes twice, so it compares from now on.
    fn tracking<const D: usize, T: Real>(boxes: &[Aabb<D, T>]) -> ChangeTracker<D, T> {
        let mut tracker = ChangeTracker::default();
        for _ in 0..2 {
            assert!(tracker.find_changes(&Frame::new(boxes), ALWAYS).unwrap().is_everything());
            tracker.commit_everything(&Frame::new(boxes)).unwrap();
        }
        tracker
    }

    fn changes_are_distinguished<const D: usize, T: Real>() {
        let mut boxes = points::<D, T>(1000);
        let mut tracker = tracking(&boxes);
        let mut live = vec![!0u64; 16];
        boxes[7] = Aabb::point([-T::ONE; D]);
        live[5] &= !(1 << 3); // slot 323
        let frame = Frame { live: Live::Bits(&live), ..Frame::new(&boxes) };
        let changes = tracker.find_changes(&frame, ALWAYS).unwrap();
        assert_eq!((changes.slots(), changes.counts()), (&[7, 323][..], [0, 1, 1]));
        assert!(changes.contains(323) && !changes.contains(8));
        assert!(tracker.previous(323).is_some() && tracker.previous(7) == Some(&Aabb::point([T::from_f64(7.0); D])));
        tracker.commit_changes(&frame).unwrap();
        assert_eq!(tracker.find_changes(&frame, ALWAYS).unwrap().len(), 0);
        let lists = Changes::Listed { moved: &[900, 9], inserted: &[323], removed: &[5000] };
        let changes = tracker.find_changes(&Frame::new(&boxes).with_changes(lists), ALWAYS).unwrap();
        assert_eq!((changes.slots(), changes.counts()), (&[9, 323, 900][..], [1, 0, 2]), "in order, whatever the lists' order");
        assert_eq!(tracker.previous(323), None, "it was empty");
        tracker.commit_changes(&Frame::new(&boxes)).unwrap();
        assert_eq!(tracker.find_changes(&Frame::new(&boxes), ALWAYS).unwrap().len(), 0);
    }

    #[test]
    fn changed_slots_are_found_in_2d_and_3d() {
        changes_are_distinguished::<2, f32>();
        changes_are_distinguished::<3, f64>();
    }

    #[test]
    fn too_many_changes_are_everything_and_end_tracking_for_longer_each_time() {
        let mut boxes = points::<3, f32>(4000);
        let sampled: Vec<usize> = sample_of(&boxes).map(|b| b.min[0] as usize).collect();
        let mut tracker = ChangeTracker::default();
        let mut starts = Vec::new();
        for frame in 0..120 {
            // All move except the sample, which hides the motion.
            let is_sampled = |id: &usize| sampled.contains(id);
            (0..4000).filter(|id| !is_sampled(id)).for_each(|id| boxes[id] = boxes[id].translate([1.0; 3]));
            let was_tracking = tracker.tracking;
            assert!(tracker.find_changes(&Frame::new(&boxes), ALWAYS).unwrap().is_everything());
            tracker.commit_everything(&Frame::new(&boxes)).unwrap();
            if tracker.tracking && !was_tracking {
                starts.push(frame);
            }
        }
        assert!(starts.len() > 3, "{starts:?}");
        assert!(starts.windows(3).all(|w| w[2] - w[1] > w[1] - w[0]), "{starts:?}");
        assert!(tracker.find_changes(&Frame::new(&boxes).with_changes(Changes::All), ALWAYS).unwrap().is_everything());
    }

    #[test]
    fn after_a_rejected_frame_a_list_is_not_used() {
        let boxes = points::<2, f64>(100);
        let mut tracker = tracking(&boxes);
        tracker.abandon();
        let lists = Changes::Listed { moved: &[1], inserted: &[], removed: &[] };
        assert!(tracker.find_changes(&Frame::new(&boxes).with_changes(lists), ALWAYS).unwrap().is_everything());
        tracker.commit_everything(&Frame::new(&boxes)).unwrap();
        assert_eq!(tracker.find_changes(&Frame::new(&boxes).with_changes(lists), ALWAYS).unwrap().slots(), [1]);
    }

    #[test]
    fn slots_that_a_list_cut_off_are_not_live_when_boxes_are_compared() {
        let boxes = points::<3, f32>(100);
        let mut tracker = tracking(&boxes);
        let lists = Changes::Listed { moved: &[], inserted: &[], removed: &[99] };
        assert_eq!(tracker.find_changes(&Frame::new(&boxes[..99]).with_changes(lists), ALWAYS).unwrap().len(), 0);
        tracker.commit_changes(&Frame::new(&boxes[..99])).unwrap();
        assert_eq!(tracker.find_changes(&Frame::new(&boxes[..99]), ALWAYS).unwrap().slots(), [] as [u32; 0]);
    }
}
