//! Changes of many objects at once: all, or none.

use super::table::Table;
use super::{Handle, Object, ObjectKind};
use crate::error::Error;
use crate::geometry::{Aabb, Real};

impl<const D: usize, T: Real> Table<D, T> {
    /// Inserts all objects, or none; an error names the position in the list.
    pub(crate) fn insert_many<O: Into<Object<D, T>> + Copy>(&mut self, objects: &[O]) -> Result<Vec<Handle>, Error> {
        let mut statics = 0;
        for (at, &object) in objects.iter().enumerate() {
            let object = object.into();
            self.admits(&object, at)?;
            statics += usize::from(object.kind == ObjectKind::Static);
        }
        self.reserve(objects.len() - statics, statics)?;
        let mut handles = Vec::new();
        handles.try_reserve_exact(objects.len()).map_err(|_| Error::OutOfMemory { what: "handles" })?;
        for (at, &object) in objects.iter().enumerate() {
            handles.push(self.insert(&object.into(), at)?);
        }
        Ok(handles)
    }

    /// Removes all of them, or none. A handle that stands in the list twice is stale the second time.
    pub(crate) fn remove_many(&mut self, handles: &[Handle]) -> Result<(), Error> {
        self.met.resize(self.indices().div_ceil(64), 0);
        let mut result = Ok(());
        for &handle in handles {
            result = self.find(handle).and_then(|index| {
                let (word, bit) = (&mut self.met[index as usize / 64], 1 << (index % 64));
                let twice = *word & bit != 0;
                *word |= bit;
                if twice { Err(Error::StaleHandle { index, generation: handle.generation }) } else { Ok(()) }
            });
            if result.is_err() {
                break;
            }
        }
        for handle in handles {
            if let Some(word) = self.met.get_mut(handle.index as usize / 64) {
                *word = 0;
            }
        }
        result?;
        handles.iter().try_for_each(|&handle| self.remove(handle).map(|_| ()))
    }

    /// Gives all of them new boxes, or none. If a handle stands in the list twice, its last box counts.
    pub(crate) fn set_boxes_of(&mut self, list: &[(Handle, Aabb<D, T>)]) -> Result<(), Error> {
        for (handle, aabb) in list {
            aabb.check(self.find(*handle)? as usize)?;
        }
        list.iter().for_each(|(handle, aabb)| self.put_box(handle.index, *aabb));
        Ok(())
    }

    /// Gives all movers new boxes, in the order of their slots.
    pub(crate) fn set_boxes(&mut self, boxes: &[Aabb<D, T>]) -> Result<(), Error> {
        let count = self.movers.slots.count();
        if boxes.len() != count {
            let reason = "there must be one box for each dynamic or kinematic object";
            return Err(Error::InvalidFrame { index: boxes.len().min(count), reason });
        }
        if !boxes.iter().fold(true, |all, aabb| all & aabb.is_valid()) {
            boxes.iter().enumerate().try_for_each(|(at, aabb)| aabb.check(at))?;
        }
        let slots = self.movers.slots.ids();
        let changed = slots.zip(boxes).filter(|&(slot, aabb)| self.movers.plain(slot) != *aabb).count();
        let most = changed > count / 2;
        self.movers.all |= most;
        let mut boxes = boxes.iter();
        for slot in 0..self.movers.slots.len() as u32 {
            if !self.movers.slots.contains(slot) {
                continue;
            }
            let Some(&aabb) = boxes.next() else { break };
            let growth = self.growth(self.movers.owners[slot as usize]);
            if most {
                self.movers.store(slot, aabb, growth);
            } else {
                self.movers.set(slot, aabb, growth);
            }
        }
        Ok(())
    }

    /// Exchanges the boxes of all mover slots, empty ones included, without copying them.
    pub(crate) fn swap_boxes(&mut self, boxes: &mut Vec<Aabb<D, T>>) -> Result<(), Error> {
        let side = &mut self.movers;
        let slots = side.slots.len();
        if boxes.len() != slots {
            let reason = "there must be one box for each slot of the movers";
            return Err(Error::InvalidFrame { index: boxes.len().min(slots), reason });
        }
        for slot in side.slots.ids() {
            boxes[slot as usize].check(slot as usize)?;
        }
        let differs = |slot: u32| side.plain(slot) != boxes[slot as usize];
        let changed = side.slots.ids().filter(|&slot| differs(slot)).count();
        if changed > side.slots.count() / 2 {
            side.all = true;
        } else if changed > 0 {
            for slot in 0..slots as u32 {
                if side.slots.contains(slot) && side.plain(slot) != boxes[slot as usize] {
                    side.touch(slot);
                }
            }
        }
        match &mut side.plain {
            None => std::mem::swap(&mut side.boxes, boxes),
            Some(plain) => {
                std::mem::swap(plain, boxes);
                for slot in 0..slots as u32 {
                    if self.movers.slots.contains(slot) {
                        let (plain, growth) = (self.movers.plain(slot), self.growth(self.movers.owners[slot as usize]));
                        self.movers.store(slot, plain, growth);
                    }
                }
            }
        }
        Ok(())
    }
}
