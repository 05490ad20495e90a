//! Changes of many objects in one call, which applies to all of them or, on error, to none.
//!
//! Boxes are first compared with the old ones and checked, then written. Long lists are cut into parts, which are jobs.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::table::Table;
use super::{Handle, Object, ObjectKind};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::memory;

/// The number of parts: enough to balance the load of a few threads. Workers take ranges of parts, so a worker writes boxes that lie together, as it
/// later reads them.
const PARTS: usize = 16;
/// The work of a pass over one box, in the units of [`Context::run_weighted`].
const PASS: usize = 2;

/// The range of a part of a list.
fn part(number: usize, len: usize) -> Range<usize> {
    len * number / PARTS..len * (number + 1) / PARTS
}

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

    /// Are all objects movers whose boxes structures see as the user gave them, at slots that equal their indices? The usual case.
    #[inline(always)]
    pub(super) fn has_plain_movers(&self) -> bool {
        self.count(ObjectKind::Static) == 0 && self.movers.aligned && self.movers.has_plain_boxes()
    }

    /// [`put_box`](Table::put_box) where there are statics, margins or swept boxes.
    #[inline(never)]
    pub(super) fn put_in_side(&mut self, index: u32, aabb: &Aabb<D, T>) {
        let growth = self.growth(index);
        let (side, slot) = self.side_mut(index);
        side.set(slot, aabb, || growth);
    }

    /// Gives all objects of the list new boxes, or none. If a handle is in the list twice, its last box counts.
    pub(crate) fn set_boxes_of(&mut self, list: &[(Handle, Aabb<D, T>)], context: &Context) -> Result<(), Error> {
        let survey = self.has_plain_movers().then(|| self.survey_list(list, context));
        if survey.as_ref().is_none_or(|survey| !survey.valid) {
            for (handle, aabb) in list {
                let index = self.find(*handle)?;
                if !aabb.is_valid() {
                    aabb.check(index as usize)?; // returns the error
                }
            }
        }
        let movers = &mut self.movers;
        let most = movers.slots.count().div_ceil(2);
        if survey.is_some_and(|survey| survey.is_ascending && survey.changed > most) {
            movers.all = true;
            write_list(&mut movers.boxes, list, context);
        } else {
            list.iter().for_each(|(handle, aabb)| self.put_box(handle.index, aabb));
        }
        Ok(())
    }

    /// Surveys a list of new boxes, in a world of [plain movers](Table::has_plain_movers).
    fn survey_list(&self, list: &[(Handle, Aabb<D, T>)], context: &Context) -> Survey {
        let old = &self.movers.boxes[..];
        Survey::of_parts(list.len(), context, |range| {
            let mut survey = Survey { valid: true, is_ascending: true, changed: 0 };
            let mut last = list[..range.start].last().map(|(handle, _)| handle.index);
            for (handle, aabb) in &list[range] {
                survey.valid &= self.find(*handle).is_ok() & aabb.is_valid();
                survey.is_ascending &= last < Some(handle.index);
                survey.changed += usize::from(old.get(handle.index as usize).is_some_and(|old| differ(old, aabb)));
                last = Some(handle.index);
            }
            survey
        })
    }

    /// Gives all movers new boxes, in the order of their slots.
    pub(crate) fn set_boxes(&mut self, boxes: &[Aabb<D, T>], context: &Context) -> Result<(), Error> {
        let count = self.movers.slots.count();
        if boxes.len() != count {
            return Err(Error::CountMismatch {
                what: "boxes of dynamic and kinematic objects",
                expected: count,
                found: boxes.len(),
            });
        }
        let (old, dense) = (self.movers.plain_boxes(), self.movers.slots.are_all_live());
        let survey = if dense {
            Survey::of_boxes(old, boxes, context)
        } else {
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
        if dense && self.movers.has_plain_boxes() {
            if most {
                copy(&mut self.movers.boxes, boxes, context);
            } else {
                (0..).zip(boxes).for_each(|(slot, aabb)| self.movers.set(slot, aabb, || T::ZERO));
            }
            return Ok(());
        }
        let mut boxes = boxes.iter();
        for slot in 0..self.movers.slots.len() as u32 {
            if !self.movers.slots.contains(slot) {
                continue;
            }
            let Some(aabb) = boxes.next() else { break };
            let growth = self.growth(self.movers.owners[slot as usize]);
            if *aabb == self.movers.plain(slot) {
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
    pub(crate) fn swap_boxes(&mut self, boxes: &mut Vec<Aabb<D, T>>, context: &Context) -> Result<(), Error> {
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
            Survey::of_boxes(side.plain_boxes(), boxes, context)
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
                self.movers.store(slot, &plain, growth);
            }
        }
        Ok(())
    }
}

/// What a pass over old and new boxes has found.
struct Survey {
    /// Are all new boxes valid, and all handles?
    valid: bool,
    /// Is each slot listed once, in ascending order?
    is_ascending: bool,
    /// How many boxes differ from the old ones.
    changed: usize,
}

impl Survey {
    /// One pass, without branches.
    fn of<'a, const D: usize, T: Real>(boxes: impl Iterator<Item = (&'a Aabb<D, T>, &'a Aabb<D, T>)>) -> Self {
        let (mut valid, mut changed) = (true, 0);
        for (old, new) in boxes {
            valid &= new.is_valid();
            changed += usize::from(differ(old, new));
        }
        Self { valid, is_ascending: true, changed }
    }

    /// A pass over two lists of the same length.
    fn of_boxes<const D: usize, T: Real>(old: &[Aabb<D, T>], new: &[Aabb<D, T>], context: &Context) -> Self {
        Self::of_parts(new.len(), context, |range| Self::of(old[range.clone()].iter().zip(&new[range])))
    }

    /// The sum of the surveys of all parts of a list.
    fn of_parts(len: usize, context: &Context, survey: impl Fn(Range<usize>) -> Self + Sync) -> Self {
        let (valid, is_ascending, changed) = (AtomicBool::new(true), AtomicBool::new(true), AtomicUsize::new(0));
        context.run_weighted(PARTS, PASS * len, |number, _| {
            let found = survey(part(number, len));
            valid.fetch_and(found.valid, Ordering::Relaxed);
            is_ascending.fetch_and(found.is_ascending, Ordering::Relaxed);
            changed.fetch_add(found.changed, Ordering::Relaxed);
        });
        Self { valid: valid.into_inner(), is_ascending: is_ascending.into_inner(), changed: changed.into_inner() }
    }
}

/// Do two boxes differ? Without branches.
#[inline(always)]
pub(super) fn differ<const D: usize, T: Real>(old: &Aabb<D, T>, new: &Aabb<D, T>) -> bool {
    (0..D).fold(false, |any, k| any | (old.min[k] != new.min[k]) | (old.max[k] != new.max[k]))
}

/// Copies a list of boxes to another one of the same length.
fn copy<const D: usize, T: Real>(to: &mut [Aabb<D, T>], from: &[Aabb<D, T>], context: &Context) {
    let mut rest = to;
    let parts: [_; PARTS] = std::array::from_fn(|number| {
        let from = &from[part(number, from.len())];
        let (own, behind) = std::mem::take(&mut rest).split_at_mut(from.len());
        rest = behind;
        Mutex::new((own, from))
    });
    context.run_weighted(PARTS, PASS * from.len(), |number, _| {
        let (to, from) = &mut *parts[number].lock().unwrap_or_else(PoisonError::into_inner);
        to.copy_from_slice(from);
    });
}

/// Writes listed boxes to their slots, which are the indices of the handles and ascend.
fn write_list<const D: usize, T: Real>(to: &mut [Aabb<D, T>], list: &[(Handle, Aabb<D, T>)], context: &Context) {
    let (mut rest, mut next) = (to, 0);
    let parts: [_; PARTS] = std::array::from_fn(|number| {
        let listed = &list[part(number, list.len())];
        let (first, end) = (next, listed.last().map_or(next, |(handle, _)| handle.index as usize + 1));
        let (own, behind) = std::mem::take(&mut rest).split_at_mut(end - first);
        (rest, next) = (behind, end);
        Mutex::new((own, first, listed))
    });
    context.run_weighted(PARTS, PASS * list.len(), |number, _| {
        let (to, first, listed) = &mut *parts[number].lock().unwrap_or_else(PoisonError::into_inner);
        listed.iter().for_each(|(handle, aabb)| to[handle.index as usize - *first] = *aabb);
    });
}
