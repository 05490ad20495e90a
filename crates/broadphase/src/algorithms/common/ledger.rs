//! The last frame's boxes, and what changed against them.

use crate::bits::BitSet;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::{Changes, Frame};
use crate::pairs::Revision;

use super::bytes_of;

/// A copy of the boxes by slot, the slots that changed with the last update, and whether a pair list is still right.
///
/// After [`update`](Ledger::update), a slot stands in one of the lists at most: `gone` (held an object, is empty or cut off now), `come`
/// (was empty, holds one now), `moved` (held one and holds one, with another box or tag).
#[derive(Clone, Debug)]
pub(crate) struct Ledger<const D: usize, T: Real> {
    /// An empty slot is NaN, which overlaps nothing.
    boxes: Vec<Aabb<D, T>>,
    gone: Vec<u32>,
    come: Vec<u32>,
    moved: Vec<u32>,
    /// The slots listed so far, while lists are taken.
    listed: BitSet,
    dirty: bool,
    revision: Revision,
}

impl<const D: usize, T: Real> Default for Ledger<D, T> {
    fn default() -> Self {
        let empty = Vec::new;
        Self {
            boxes: Vec::new(),
            gone: empty(),
            come: empty(),
            moved: empty(),
            listed: BitSet::default(),
            dirty: false,
            revision: Revision::default(),
        }
    }
}

impl<const D: usize, T: Real> Ledger<D, T> {
    const VACANT: Aabb<D, T> = Aabb { min: [T::NAN; D], max: [T::NAN; D] };

    /// Compares, or believes the list; on error nothing has changed.
    pub(crate) fn update(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        frame.check()?;
        [&mut self.gone, &mut self.come, &mut self.moved].into_iter().for_each(Vec::clear);
        let slots = frame.slots();
        let cut = (slots..self.boxes.len()).filter(|&id| self.boxes[id].is_valid());
        self.gone.extend(cut.map(|id| id as u32));
        self.boxes.resize(slots, Self::VACANT);
        match frame.changes {
            Changes::Listed { moved, inserted, removed } => {
                let listed = removed.iter().chain(moved).chain(inserted).copied().filter(|&id| (id as usize) < slots);
                self.listed.cover(slots);
                for id in listed.clone() {
                    if !self.listed.contains(id) {
                        self.listed.insert(id);
                        self.note(frame, id);
                    }
                }
                listed.for_each(|id| self.listed.remove(id));
            }
            Changes::Unknown if frame.may_compare() => {
                for id in 0..slots as u32 {
                    let live = frame.live.contains(id);
                    if live != self.holds(id) || (live && self.boxes[id as usize] != frame.boxes[id as usize]) {
                        self.note(frame, id);
                    }
                }
            }
            Changes::Unknown | Changes::All => {
                (0..slots as u32).for_each(|id| self.note(frame, id));
                self.dirty = true;
            }
        }
        self.dirty |= !(self.gone.is_empty() && self.come.is_empty() && self.moved.is_empty());
        Ok(())
    }

    fn note(&mut self, frame: &Frame<'_, D, T>, id: u32) {
        match (self.holds(id), frame.live.contains(id)) {
            (true, true) => self.moved.push(id),
            (false, true) => self.come.push(id),
            (true, false) => self.gone.push(id),
            (false, false) => return,
        }
        self.boxes[id as usize] = if frame.live.contains(id) { frame.boxes[id as usize] } else { Self::VACANT };
    }

    /// Does the slot hold an object?
    #[inline(always)]
    pub(crate) fn holds(&self, id: u32) -> bool {
        self.boxes.get(id as usize).is_some_and(Aabb::is_valid)
    }

    /// The boxes by slot.
    #[inline(always)]
    pub(crate) fn boxes(&self) -> &[Aabb<D, T>] {
        &self.boxes
    }

    /// The box of an object.
    #[inline(always)]
    pub(crate) fn get(&self, id: u32) -> &Aabb<D, T> {
        &self.boxes[id as usize]
    }

    /// The number of slots.
    pub(crate) fn slots(&self) -> usize {
        self.boxes.len()
    }

    /// The objects, ascending.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.boxes.len() as u32).filter(|&id| self.holds(id))
    }

    /// Slots that held an object and do not any more.
    pub(crate) fn gone(&self) -> &[u32] {
        &self.gone
    }

    /// Slots that hold an object and did not before.
    pub(crate) fn come(&self) -> &[u32] {
        &self.come
    }

    /// Objects with another box or tag.
    pub(crate) fn moved(&self) -> &[u32] {
        &self.moved
    }

    /// Has anything changed since the last [`settle`](Ledger::settle)?
    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// The name of the pair list that was written last.
    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// The pair list is right, and has this name.
    pub(crate) fn settle(&mut self, revision: Revision) {
        self.revision = revision;
        self.dirty = false;
    }

    /// Is it the frame's table? The first slot at which it is not.
    pub(crate) fn differs_from(&self, frame: &Frame<'_, D, T>) -> Option<u32> {
        let slots = frame.slots().max(self.slots()) as u32;
        (0..slots).find(|&id| {
            let live = (id as usize) < frame.slots() && frame.live.contains(id);
            live != self.holds(id) || (live && frame.boxes[id as usize] != self.boxes[id as usize])
        })
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        bytes_of(&self.boxes) + bytes_of(&self.gone) + bytes_of(&self.come) + bytes_of(&self.moved) + self.listed.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_that_is_listed_twice_stands_in_one_list() {
        let boxes = [Aabb::<2, f32>::point([0.0; 2]), Aabb::point([1.0; 2]), Aabb::point([2.0; 2])];
        let mut ledger = Ledger::default();
        ledger.update(&Frame::new(&boxes[..2])).unwrap();
        let lists = Changes::Listed { moved: &[2, 1, 1], inserted: &[2, 2], removed: &[] };
        ledger.update(&Frame::new(&boxes).with_changes(lists)).unwrap();
        assert_eq!((ledger.gone(), ledger.moved(), ledger.come()), (&[][..], &[1][..], &[2][..]));
        ledger.update(&Frame::new(&boxes).with_changes(lists)).unwrap();
        assert_eq!((ledger.gone(), ledger.moved(), ledger.come()), (&[][..], &[2, 1][..], &[][..]), "in the order of the lists");
    }
}
