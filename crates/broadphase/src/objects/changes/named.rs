//! Every change with its kind, for structures that insert, move and remove objects one by one.
//!
//! Such a structure needs the change of each slot even if everything moved, and it reads boxes by slot in any case. So in this mode the
//! tracker always keeps the boxes, compares every frame that may be compared, and commits its changes at once.

use super::ChangeTracker;
use super::SLOTS;
use super::tracker::BOXES;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::memory;
use crate::objects::{Changes, Frame};

impl<const D: usize, T: Real> ChangeTracker<D, T> {
    /// Finds every change since the last frame, and remembers the frame. The set names all slots if the caller says that everything changed, or if
    /// comparing is not enough because of tags or a filter. Slots beyond the end of a shorter frame are removed. On error nothing has changed.
    pub(crate) fn name_changes(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        frame.check()?;
        let (old, new) = (self.previous.len(), frame.slots());
        self.changes.try_clear(old.max(new))?;
        memory::reserve(&mut self.changes.slots, old.max(new), SLOTS)?;
        memory::reserve(&mut self.changes.by_kind, old.max(new), SLOTS)?;
        memory::resize(&mut self.previous, old.max(new), Aabb::default(), BOXES)?;
        self.live.reserve(old.max(new))?;
        self.live.cover(old.max(new));
        match frame.changes {
            Changes::Listed { moved, inserted, removed } => {
                self.take_lists(frame, [removed, moved, inserted]);
            }
            Changes::Unknown if frame.may_compare() => {
                self.compare(frame, usize::MAX);
            }
            Changes::Unknown | Changes::All => {
                for id in 0..new as u32 {
                    self.changes.insert(id, self.live.has(id), frame.live.contains(id));
                }
            }
        }
        for id in new as u32..old as u32 {
            self.changes.insert(id, self.live.has(id), false);
        }
        self.changes.group(|id| self.live.has(id), |id| (id as usize) < new && frame.live.contains(id));
        self.commit_changes(frame)
    }

    /// Does the slot hold an object?
    #[inline(always)]
    pub(crate) fn is_live(&self, id: u32) -> bool {
        self.live.has(id)
    }

    /// The boxes by slot. Those of empty slots are meaningless.
    #[inline(always)]
    pub(crate) fn boxes(&self) -> &[Aabb<D, T>] {
        &self.previous
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::Live;

    fn kinds<const D: usize, T: Real>(tracker: &ChangeTracker<D, T>) -> [&[u32]; 3] {
        let changes = tracker.changes();
        [changes.removed(), changes.moved(), changes.inserted()]
    }

    #[test]
    fn a_slot_that_is_listed_twice_is_in_one_list() {
        let boxes = [Aabb::<2, f32>::point([0.0; 2]), Aabb::point([1.0; 2]), Aabb::point([2.0; 2])];
        let mut tracker = ChangeTracker::default();
        tracker.name_changes(&Frame::new(&boxes[..2])).unwrap();
        let lists = Changes::Listed { moved: &[2, 1, 1], inserted: &[2, 2], removed: &[] };
        tracker.name_changes(&Frame::new(&boxes).with_changes(lists)).unwrap();
        assert_eq!(kinds(&tracker), [&[][..], &[1], &[2]]);
        tracker.name_changes(&Frame::new(&boxes).with_changes(lists)).unwrap();
        assert_eq!(kinds(&tracker), [&[][..], &[1, 2], &[]], "ascending, whatever the order of the lists");
    }

    #[test]
    fn every_change_has_a_kind_even_if_slots_are_cut_off_or_not_compared() {
        let boxes: Vec<_> = (0..200).map(|i| Aabb::<3, f64>::point([f64::from(i); 3])).collect();
        let all: Vec<u32> = (0..200).collect();
        let mut tracker = ChangeTracker::default();
        tracker.name_changes(&Frame::new(&boxes)).unwrap();
        assert_eq!(kinds(&tracker), [&[][..], &[], &all]);
        tracker.name_changes(&Frame::new(&boxes)).unwrap();
        assert_eq!(kinds(&tracker), [&[] as &[u32]; 3]);
        // Slot 3 empties, slot 5 moves, slots 70 and above are cut off, in the last word and behind it.
        let (mut moved, live) = (boxes.clone(), [!(1 << 3), !0]);
        moved[5] = Aabb::point([9.5; 3]);
        tracker.name_changes(&Frame { live: Live::Bits(&live), ..Frame::new(&moved[..70]) }).unwrap();
        let removed: Vec<u32> = std::iter::once(3).chain(70..200).collect();
        assert_eq!(kinds(&tracker), [&removed[..], &[5], &[]]);
        assert!(!tracker.is_live(3) && !tracker.is_live(150) && tracker.boxes().len() == 70);
        tracker.name_changes(&Frame::new(&moved).with_changes(Changes::All)).unwrap();
        let (kept, inserted): (Vec<u32>, Vec<u32>) = (0..200).partition(|&id| id < 70 && id != 3);
        assert_eq!(kinds(&tracker), [&[][..], &kept, &inserted]);
    }

    #[test]
    fn a_rejected_frame_changes_nothing() {
        let mut boxes = [Aabb::<2, f64>::point([0.0; 2]); 3];
        let mut tracker = ChangeTracker::default();
        tracker.name_changes(&Frame::new(&boxes)).unwrap();
        boxes[1].max[0] = f64::NAN;
        tracker.name_changes(&Frame::new(&boxes)).unwrap_err();
        boxes[1] = Aabb::point([1.0; 2]);
        tracker.name_changes(&Frame::new(&boxes)).unwrap();
        assert_eq!(kinds(&tracker), [&[][..], &[1], &[]]);
    }
}
