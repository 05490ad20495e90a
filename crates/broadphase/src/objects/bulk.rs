//! Changes of many objects in one call, which applies to all of them or, on error, to none.

use super::table::Table;
use super::{Handle, Object, ObjectKind};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::memory;

impl<const D: usize, T: Real> Table<D, T> {
    /// Inserts all objects, or none; an error names the position in the list.
    pub(crate) fn insert_many<O: Into<Object<D, T>> + Copy>(&mut self, objects: &[O]) -> Result<Vec<Handle>, Error> {
        let mut statics = 0;
        for (at, &object) in objects.iter().enumerate() {
            let object = object.into();
            self.check_object(&object, Some(at))?;
            statics += usize::from(object.kind == ObjectKind::Static);
        }
        self.reserve(objects.len() - statics, statics)?;
        let mut handles = Vec::new();
        handles.try_reserve_exact(objects.len()).map_err(|_| Error::OutOfMemory { what: "handles" })?;
        for (at, &object) in objects.iter().enumerate() {
            handles.push(self.insert(&object.into(), Some(at))?);
        }
        Ok(handles)
    }

    /// Removes all objects of the list, or none. A handle that is in the list twice is stale the second time.
    pub(crate) fn remove_many(&mut self, handles: &[Handle]) -> Result<(), Error> {
        let words = self.indices().div_ceil(64);
        memory::cover(&mut self.seen, words, "handles")?;
        let mut result = Ok(());
        for &handle in handles {
            result = self.find(handle).and_then(|index| {
                let (word, bit) = (&mut self.seen[index as usize / 64], 1 << (index % 64));
                let twice = *word & bit != 0;
                *word |= bit;
                if twice { Err(Error::StaleHandle { index, generation: handle.generation }) } else { Ok(()) }
            });
            if result.is_err() {
                break;
            }
        }
        for handle in handles {
            if let Some(word) = self.seen.get_mut(handle.index as usize / 64) {
                *word = 0;
            }
        }
        result?;
        handles.iter().try_for_each(|&handle| self.remove(handle).map(|_| ()))
    }

    /// Gives all objects of the list new boxes, or none. If a handle is in the list twice, its last box counts.
    pub(crate) fn set_boxes_of(&mut self, list: &[(Handle, Aabb<D, T>)]) -> Result<(), Error> {
        for (handle, aabb) in list {
            let index = self.find(*handle)?;
            if !aabb.is_valid() {
                aabb.check(index as usize)?; // returns the error
            }
        }
        list.iter().for_each(|(handle, aabb)| self.put_box(handle.index, *aabb));
        Ok(())
    }

    /// Gives all movers new boxes, in the order of their slots.
    pub(crate) fn set_boxes(&mut self, boxes: &[Aabb<D, T>]) -> Result<(), Error> {
        let count = self.movers.slots.count();
        if boxes.len() != count {
            return Err(Error::CountMismatch {
                what: "boxes of dynamic and kinematic objects",
                expected: count,
                found: boxes.len(),
            });
        }
        let dense = count == self.movers.slots.len();
        let survey = if dense {
            Survey::of(self.movers.plain_boxes().iter().zip(boxes))
        } else {
            let old = self.movers.plain_boxes();
            Survey::of(self.movers.slots.ids().map(|slot| &old[slot as usize]).zip(boxes))
        };
        if !survey.valid {
            boxes.iter().enumerate().try_for_each(|(at, aabb)| aabb.check(at))?;
        }
        let most = survey.changed > count / 2;
        self.movers.all |= most;
        if survey.changed == 0 {
            return Ok(());
        }
        if most && dense && self.movers.plain.is_none() {
            self.movers.boxes.copy_from_slice(boxes);
            return Ok(());
        }
        let mut boxes = boxes.iter();
        for slot in 0..self.movers.slots.len() as u32 {
            if !self.movers.slots.contains(slot) {
                continue;
            }
            let Some(&aabb) = boxes.next() else { break };
            let growth = self.growth(self.movers.owners[slot as usize]);
            if aabb == self.movers.plain(slot) {
                continue; // an object that did not move may be swept, and keeps its swept box
            }
            if most {
                self.movers.store(slot, aabb, growth);
            } else {
                self.movers.set(slot, aabb, || growth);
            }
        }
        Ok(())
    }

    /// Exchanges the boxes of all mover slots, empty ones included, without copying them.
    pub(crate) fn swap_boxes(&mut self, boxes: &mut Vec<Aabb<D, T>>) -> Result<(), Error> {
        let side = &mut self.movers;
        let (slots, count) = (side.slots.len(), side.slots.count());
        if boxes.len() != slots {
            return Err(Error::CountMismatch {
                what: "boxes, one for each slot of the movers,",
                expected: slots,
                found: boxes.len(),
            });
        }
        let survey = if count == slots {
            Survey::of(side.plain_boxes().iter().zip(boxes.iter()))
        } else {
            let old = side.plain_boxes();
            Survey::of(side.slots.ids().map(|slot| (&old[slot as usize], &boxes[slot as usize])))
        };
        if !survey.valid {
            side.slots.ids().try_for_each(|slot| boxes[slot as usize].check(slot as usize))?;
        }
        if survey.changed > count / 2 {
            side.all = true;
        } else if survey.changed > 0 {
            for slot in 0..slots as u32 {
                if side.slots.contains(slot) && side.plain(slot) != boxes[slot as usize] {
                    side.touch(slot);
                }
            }
        }
        let Some(plain) = &mut side.plain else {
            std::mem::swap(&mut side.boxes, boxes);
            return Ok(());
        };
        std::mem::swap(plain, boxes);
        for slot in 0..slots as u32 {
            // An object that did not move may be swept, and keeps its swept box.
            if self.movers.slots.contains(slot) && self.movers.plain(slot) != boxes[slot as usize] {
                let (plain, growth) = (self.movers.plain(slot), self.growth(self.movers.owners[slot as usize]));
                self.movers.store(slot, plain, growth);
            }
        }
        Ok(())
    }
}

/// One pass over old and new boxes, without branches.
struct Survey {
    /// Are all new boxes valid?
    valid: bool,
    /// How many differ from the old ones.
    changed: usize,
}

impl Survey {
    fn of<'a, const D: usize, T: Real>(boxes: impl Iterator<Item = (&'a Aabb<D, T>, &'a Aabb<D, T>)>) -> Self {
        let (mut valid, mut changed) = (true, 0);
        for (old, new) in boxes {
            let mut differs = false;
            for k in 0..D {
                differs |= (old.min[k] != new.min[k]) | (old.max[k] != new.max[k]);
            }
            valid &= new.is_valid();
            changed += usize::from(differs);
        }
        Self { valid, changed }
    }
}
