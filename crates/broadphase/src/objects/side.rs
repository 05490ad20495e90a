//! One of the two sides of a world, movers or statics: dense slots, their boxes, and what changed. Each side has a structure of its own.
//!
//! # Three kinds of change tracking
//! A slot's *mark* says what changed since the structure was last updated; the marks become `Changes::Listed`. *Touched* slots
//! have changed since pairs were last found; in between, the structure may have been updated only for queries. *Known* slots (in [`Slots`])
//! were live when pairs were last found: such a slot, once vacated, is not reused before pairs are found again,
//! so that a pair of slots never means two different pairs of objects in one difference.

use std::collections::BTreeMap;

use super::bulk::differ;
use super::column::Column;
use super::slots::Slots;
use super::touched::Touched;
use super::{Changes, Filter, Frame, Object, ObjectKind, Shape, Tag};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::memory;

/// What the memory is for, in errors.
const CHANGES: &str = "lists of changed objects";

/// The change of a slot since the last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Mark {
    /// None; the slot is not in the list of marked slots.
    None,
    /// A new box, tag or kind.
    Moved,
    /// The slot was empty and is live now.
    Inserted,
    /// The slot was live and is empty now.
    Removed,
    /// The slot was empty, was filled, and is empty again; it is in the list of marked slots.
    Void,
}

/// The movers or the statics of a world.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(bound = "T: Real"))]
pub(crate) struct Side<const D: usize, T> {
    pub(crate) slots: Slots,
    /// By slot: grown by the margins, as structures see them.
    #[cfg_attr(feature = "serde", serde(with = "super::exact::boxes"))]
    pub(crate) boxes: Vec<Aabb<D, T>>,
    /// By slot: as the user gave them; kept only if there are margins.
    #[cfg_attr(feature = "serde", serde(with = "super::exact::some_boxes"))]
    pub(super) plain: Option<Vec<Aabb<D, T>>>,
    /// By slot: the index of the object's handle.
    pub(crate) owners: Vec<u32>,
    /// Is every slot, of current objects and of those in the last pairs, equal to its handle's index?
    pub(crate) aligned: bool,
    pub(crate) tags: Column<Tag>,
    /// The environments except 0, with their numbers of objects.
    envs: BTreeMap<u32, usize>,
    pub(crate) kinematic: Column<bool>,
    pub(crate) sensors: Column<bool>,
    /// The shapes of objects that override the world's.
    pub(crate) shapes: Column<Option<Shape>>,
    /// Is the box the bounding box of a whole motion? Then it does not stand for a ball.
    pub(crate) swept: Column<bool>,
    marks: Vec<Mark>,
    /// The slots with a mark.
    marked: Vec<u32>,
    /// Does everything count as moved?
    pub(crate) all: bool,
    /// Vacated slots that were known.
    retired: Vec<u32>,
    pub(crate) touched: Touched,
    #[cfg_attr(feature = "serde", serde(skip))]
    moved: Vec<u32>,
    #[cfg_attr(feature = "serde", serde(skip))]
    inserted: Vec<u32>,
    #[cfg_attr(feature = "serde", serde(skip))]
    removed: Vec<u32>,
}

impl<const D: usize, T: Real> Default for Side<D, T> {
    fn default() -> Self {
        Self {
            slots: Slots::default(),
            boxes: Vec::new(),
            plain: None,
            owners: Vec::new(),
            aligned: true,
            tags: Column::new(Tag::default()),
            envs: BTreeMap::new(),
            kinematic: Column::new(false),
            sensors: Column::new(false),
            shapes: Column::new(None),
            swept: Column::new(false),
            marks: Vec::new(),
            marked: Vec::new(),
            all: false,
            retired: Vec::new(),
            touched: Touched::default(),
            moved: Vec::new(),
            inserted: Vec::new(),
            removed: Vec::new(),
        }
    }
}

/// # Changes
impl<const D: usize, T: Real> Side<D, T> {
    /// The box as the user gave it.
    pub(crate) fn plain(&self, slot: u32) -> Aabb<D, T> {
        self.plain_boxes()[slot as usize]
    }

    /// The boxes as the user gave them, by slot.
    pub(super) fn plain_boxes(&self) -> &[Aabb<D, T>] {
        self.plain.as_ref().unwrap_or(&self.boxes)
    }

    /// Do structures see the boxes as the user gave them: without margins, none swept?
    #[inline(always)]
    pub(super) fn has_plain_boxes(&self) -> bool {
        self.plain.is_none() && !self.swept.any()
    }

    /// The shape that the box of a slot stands for, in a world of shape `default`. A swept box is a box.
    pub(crate) fn shape(&self, slot: u32, default: Shape) -> Shape {
        if self.swept.get(slot) { Shape::Box } else { self.own_shape(slot, default) }
    }

    /// The shape that the box of a slot stands for, in a world of shape `default`, whether it is swept or not.
    pub(crate) fn own_shape(&self, slot: u32, default: Shape) -> Shape {
        self.shapes.get(slot).unwrap_or(default)
    }

    /// Moves the box of a slot without marking the slot, for a translation of all objects: the caller marks everything as changed.
    pub(super) fn translate(&mut self, slot: u32, by: [T; D], margin: T) {
        let moved = self.plain(slot).translate(by);
        self.store(slot, &moved, margin);
    }

    /// Inserts an object, whose box is grown by `margin`; returns its slot.
    pub(super) fn insert(&mut self, owner: u32, plain: &Aabb<D, T>, margin: T) -> u32 {
        let slot = self.slots.take();
        self.aligned &= owner == slot;
        let at = slot as usize;
        if at == self.boxes.len() {
            self.boxes.push(*plain);
            self.owners.push(owner);
            self.marks.push(Mark::None);
            self.plain.iter_mut().for_each(|list| list.push(*plain));
        }
        self.owners[at] = owner;
        self.store(slot, plain, margin);
        self.mark(slot, Mark::Inserted);
        slot
    }

    /// Removes the object of a slot.
    pub(super) fn remove(&mut self, slot: u32) {
        self.slots.vacate(slot);
        self.set_tag(slot, Tag::default());
        self.kinematic.set(slot, false);
        self.sensors.set(slot, false);
        self.shapes.set(slot, None);
        self.swept.set(slot, false);
        if self.marks[slot as usize] == Mark::Inserted {
            self.marks[slot as usize] = Mark::Void; // no structure ever saw it
            self.slots.release(slot);
        } else {
            self.mark(slot, Mark::Removed);
        }
    }

    /// Sets an object's tag; returns whether it changed.
    pub(super) fn set_tag(&mut self, slot: u32, tag: Tag) -> bool {
        let old = self.tags.get(slot).env;
        if old != tag.env {
            if tag.env != 0 {
                *self.envs.entry(tag.env).or_default() += 1;
            }
            if let Some(count) = self.envs.get_mut(&old) {
                *count -= 1;
                if *count == 0 {
                    self.envs.remove(&old);
                }
            }
        }
        self.tags.set(slot, tag)
    }

    /// The number of environments except 0, and of the objects in them.
    pub(crate) fn environments(&self) -> (usize, usize) {
        (self.envs.len(), self.envs.values().sum())
    }

    /// Sets the box and margin of a slot. Setting the same box again is not a change.
    #[inline(always)]
    pub(crate) fn set(&mut self, slot: u32, plain: &Aabb<D, T>, margin: impl FnOnce() -> T) {
        if !self.has_plain_boxes() {
            return self.set_grown(slot, plain, margin());
        }
        let old = &mut self.boxes[slot as usize];
        if self.all {
            // Everything counts as changed already.
            *old = *plain;
            return;
        }
        let differs = differ(old, plain);
        *old = *plain;
        if differs {
            self.touch(slot);
        }
    }

    /// [`set`](Side::set) where there are margins or swept boxes.
    #[cold]
    fn set_grown(&mut self, slot: u32, plain: &Aabb<D, T>, margin: T) {
        let (old, was_swept) = (self.boxes[slot as usize], self.swept.get(slot));
        self.store(slot, plain, margin);
        if self.boxes[slot as usize] != old || was_swept {
            self.touch(slot);
        }
    }

    /// Makes room for the marks of [swept boxes](Side::cover).
    pub(crate) fn reserve_swept(&mut self) -> Result<(), Error> {
        let last = (self.slots.len() as u32).saturating_sub(1);
        if self.swept.reserve(last, true) { Ok(()) } else { Err(Error::OutOfMemory { what: "marks of swept boxes" }) }
    }

    /// Gives structures the box `whole` around a motion, grown by the margin, instead of the current box. Plain boxes must be kept beside the grown
    /// ones, and there must be [room](Side::reserve_swept) for the mark. Returns whether `whole` differs from the current box, so that the box counts as swept.
    pub(crate) fn cover(&mut self, slot: u32, whole: Aabb<D, T>, margin: T) -> bool {
        let swept = whole != self.plain(slot);
        let seen = if margin == T::ZERO { whole } else { whole.grow(margin) };
        let old = std::mem::replace(&mut self.boxes[slot as usize], seen);
        if self.swept.set(slot, swept) || old != seen {
            self.touch(slot);
        }
        swept
    }

    /// Writes a box without marking the slot.
    pub(super) fn store(&mut self, slot: u32, plain: &Aabb<D, T>, margin: T) {
        self.swept.set(slot, false);
        let at = slot as usize;
        match &mut self.plain {
            None => self.boxes[at] = *plain,
            Some(list) => {
                list[at] = *plain;
                self.boxes[at] = if margin == T::ZERO { *plain } else { plain.grow(margin) };
            }
        }
    }

    /// Marks an object as changed.
    #[inline(always)]
    pub(super) fn touch(&mut self, slot: u32) {
        self.mark(slot, Mark::Moved);
        // If everything counts as changed, the other slots need neither comparisons nor marks.
        self.all |= self.most_changed();
    }

    #[inline(always)]
    fn mark(&mut self, slot: u32, mark: Mark) {
        let old = &mut self.marks[slot as usize];
        if *old == Mark::None {
            // Insertions and removals have reserved the memory. If there is none for a move, everything counts as moved.
            if self.marked.len() == self.marked.capacity() && self.marked.try_reserve(1).is_err() {
                self.all = true;
                return;
            }
            self.marked.push(slot); // reserved
        }
        if !(mark == Mark::Moved && *old == Mark::Inserted) {
            *old = mark;
        }
    }

    /// Keeps plain boxes beside the grown ones from now on.
    pub(super) fn keep_plain(&mut self) -> Result<(), Error> {
        if self.plain.is_none() {
            let mut plain = Vec::new();
            memory::copy(&mut plain, &self.boxes, "boxes without margins")?;
            self.plain = Some(plain);
        }
        Ok(())
    }
}

/// # Frames
impl<const D: usize, T: Real> Side<D, T> {
    /// Are there changes that the structure has not been updated with?
    pub(crate) fn pending(&self) -> bool {
        self.all || !self.marked.is_empty()
    }

    /// Did so many slots change that listing them does not pay?
    #[inline(always)]
    fn most_changed(&self) -> bool {
        self.marked.len() > self.slots.count().div_ceil(2)
    }

    /// Prepares the lists of changes, and the memory for [`clear_marks`](Side::clear_marks). Can be repeated.
    pub(crate) fn gather(&mut self) -> Result<(), Error> {
        self.trim();
        self.tags.fit(self.slots.len())?;
        let most_changed = self.most_changed();
        let Self { marks, marked, moved, inserted, removed, .. } = self;
        [&mut *moved, &mut *inserted, &mut *removed].into_iter().for_each(Vec::clear);
        if most_changed {
            // Everything counts as changed: only the slots that became empty are listed.
            if self.slots.has_changed() {
                let empty = marked.iter().copied().filter(|&slot| marks[slot as usize] == Mark::Removed);
                memory::extend(removed, marked.len(), empty, CHANGES)?;
                removed.sort_unstable();
            }
            return memory::reserve(&mut self.retired, removed.len(), CHANGES);
        }
        marked.sort_unstable(); // results do not depend on the order of calls
        for &slot in marked.iter() {
            match marks[slot as usize] {
                Mark::Moved => memory::push(moved, slot, CHANGES)?,
                Mark::Inserted => memory::push(inserted, slot, CHANGES)?,
                Mark::Removed => memory::push(removed, slot, CHANGES)?,
                Mark::None | Mark::Void => {}
            }
        }
        memory::reserve(&mut self.retired, removed.len(), CHANGES)
    }

    /// Frees the slots after the last object, if they are at least half of all.
    fn trim(&mut self) {
        let len = self.slots.len();
        if len < 256 || self.slots.count() > len / 4 {
            return;
        }
        let busy = self.retired.iter().chain(self.marked.iter().filter(|&&slot| self.marks[slot as usize] == Mark::Removed));
        let end = busy.fold(self.slots.end(), |end, &slot| end.max(slot as usize + 1));
        if end > len / 2 {
            return;
        }
        self.marked.retain(|&slot| (slot as usize) < end); // marked slots from `end` on are void
        self.slots.truncate(end);
        self.boxes.truncate(end);
        self.owners.truncate(end);
        self.marks.truncate(end);
        self.plain.iter_mut().for_each(|list| list.truncate(end));
    }

    /// All changes that [`gather`](Side::gather) found.
    pub(crate) fn changes(&self) -> Changes<'_> {
        let Self { moved, inserted, removed, .. } = self;
        if self.all || self.most_changed() { Changes::All } else { Changes::Listed { moved, inserted, removed } }
    }

    /// The current frame, in which nothing changed. If objects have shapes of their own, or are swept, its shape is the box, and `filter` has to
    /// test the balls.
    pub(crate) fn frame<'a>(&'a self, shape: Shape, filter: Option<Filter<'a>>) -> Frame<'a, D, T> {
        Frame {
            boxes: &self.boxes,
            live: self.slots.live(),
            tags: self.tags.slice(self.slots.len()),
            changes: Changes::Listed { moved: &[], inserted: &[], removed: &[] },
            shape: if self.shapes.any() || self.swept.any() { Shape::Box } else { shape },
            filter,
        }
    }

    /// Clears the marks, after the structure was updated with the gathered changes.
    pub(crate) fn clear_marks(&mut self) {
        // If most slots have changed, visiting all costs little more than listing the changed ones.
        self.touched.all |= self.most_changed();
        if self.touched.all {
            self.marks.fill(Mark::None);
            self.marked.clear();
        }
        for slot in self.marked.drain(..) {
            let mark = std::mem::replace(&mut self.marks[slot as usize], Mark::None);
            if mark != Mark::Void {
                self.touched.insert(slot);
            }
        }
        for &slot in &self.removed {
            if self.slots.knows(slot) {
                self.retired.push(slot); // reserved
            } else {
                self.slots.release(slot);
            }
        }
        [&mut self.moved, &mut self.inserted, &mut self.removed].into_iter().for_each(Vec::clear);
        self.touched.all |= std::mem::take(&mut self.all);
    }

    /// Clears the touched slots and frees the retired ones, after pairs were found.
    pub(super) fn after_pairs(&mut self) {
        self.retired.drain(..).for_each(|slot| self.slots.release(slot));
        self.slots.remember();
        self.touched.clear();
        self.aligned |= self.slots.count() == 0;
    }

    #[cfg(feature = "serde")]
    fn count_envs(&self) -> BTreeMap<u32, usize> {
        let mut envs = BTreeMap::new();
        let others = self.slots.ids().map(|slot| self.tags.get(slot).env).filter(|&env| env != 0);
        others.for_each(|env| *envs.entry(env).or_default() += 1);
        envs
    }

    /// Is a deserialized side safe to use? Every list must have a value per slot and name existing slots, and owners must be
    /// below `indices`. The table's validation checks the values themselves.
    #[cfg(feature = "serde")]
    pub(super) fn is_sound(&self, indices: usize) -> bool {
        let len = self.slots.len();
        let exists = |slot: &u32| (*slot as usize) < len;
        let mut marked = self.marked.clone();
        marked.sort_unstable();
        let removed = marked.iter().copied().filter(|&slot| self.marks.get(slot as usize) == Some(&Mark::Removed));
        let fits = |slot: u32| match self.marks[slot as usize] {
            Mark::None => false,
            Mark::Moved | Mark::Inserted => self.slots.contains(slot),
            Mark::Removed | Mark::Void => !self.slots.contains(slot),
        };
        self.slots.is_sound()
            && [self.boxes.len(), self.owners.len(), self.marks.len()] == [len; 3]
            && self.plain.as_ref().is_none_or(|list| list.len() == len)
            && self.owners.iter().all(|&owner| (owner as usize) < indices)
            && self.tags.is_sound(Tag::default())
            && self.kinematic.is_sound(false)
            && self.sensors.is_sound(false)
            && self.envs == self.count_envs()
            && self.shapes.is_sound(None)
            && self.swept.is_sound(false)
            && self.slots.are_vacated(self.retired.iter().copied().chain(removed))
            && marked.windows(2).all(|two| two[0] != two[1])
            && marked.iter().all(|slot| exists(slot) && fits(*slot))
            && self.marks.iter().filter(|&&mark| mark != Mark::None).count() == marked.len()
            && self.touched.list.iter().all(|&slot| (slot as usize) < self.touched.bits.slots())
    }

    /// Makes room for `more` objects; false if there is no memory for it.
    pub(super) fn reserve(&mut self, more: usize) -> bool {
        self.slots.reserve(more)
            && self.boxes.try_reserve(more).is_ok()
            && self.owners.try_reserve(more).is_ok()
            && self.marks.try_reserve(more).is_ok()
            && self.marked.try_reserve(more).is_ok()
            && self.plain.as_mut().is_none_or(|list| list.try_reserve(more).is_ok())
    }

    /// Makes sure that the properties of the next object can be stored; false if there is no memory for it.
    pub(super) fn reserve_properties(&mut self, object: &Object<D, T>) -> bool {
        let slot = self.slots.next() as u32;
        self.tags.reserve(slot, object.tag)
            && self.kinematic.reserve(slot, object.kind == ObjectKind::Kinematic)
            && self.sensors.reserve(slot, object.sensor)
            && self.shapes.reserve(slot, object.shape)
    }

    /// Makes sure that an object can be removed; false if there is no memory for it.
    pub(super) fn reserve_removal(&mut self) -> bool {
        self.slots.reserve_release() && self.marked.try_reserve(1).is_ok()
    }

    /// Frees memory that the current objects do not need.
    pub(super) fn shrink(&mut self) {
        self.trim();
        self.slots.shrink();
        self.boxes.shrink_to_fit();
        self.plain.iter_mut().for_each(Vec::shrink_to_fit);
        self.owners.shrink_to_fit();
        self.marks.shrink_to_fit();
        self.tags.shrink();
        self.kinematic.shrink();
        self.sensors.shrink();
        self.shapes.shrink();
        self.swept.shrink();
        self.touched.bits.shrink();
        for list in
            [&mut self.marked, &mut self.retired, &mut self.touched.list, &mut self.moved, &mut self.inserted, &mut self.removed]
        {
            list.shrink_to_fit();
        }
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let Self { owners, marked, retired, touched, moved, inserted, removed, .. } = self;
        let lists = [owners, marked, retired, &touched.list, moved, inserted, removed];
        let boxes = self.boxes.capacity() + self.plain.as_ref().map_or(0, Vec::capacity);
        self.slots.bytes()
            + boxes * size_of::<Aabb<D, T>>()
            + lists.iter().map(|list| list.capacity() * 4).sum::<usize>()
            + self.marks.capacity()
            + touched.bits.bytes()
            + self.tags.bytes()
            + self.kinematic.bytes()
            + self.sensors.bytes()
            + self.shapes.bytes()
            + self.swept.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f32) -> Aabb<1, f32> {
        Aabb::point([x])
    }

    /// Slots 0 to 9, whose insertion a structure and the pairs already reflect.
    fn settled() -> Side<1, f32> {
        let mut side = Side::default();
        (0..10).for_each(|k| _ = side.insert(k, &at(k as f32), 0.0));
        side.gather().unwrap();
        assert!(matches!(side.changes(), Changes::All), "everything is new");
        side.clear_marks();
        side.after_pairs();
        side
    }

    fn listed(side: &mut Side<1, f32>) -> [Vec<u32>; 3] {
        side.gather().unwrap();
        match side.changes() {
            Changes::Listed { moved, inserted, removed } => [moved, inserted, removed].map(<[u32]>::to_vec),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_change_is_in_one_list_once() {
        let mut side = settled();
        side.set(3, &at(33.0), || 0.0);
        side.set(3, &at(34.0), || 0.0);
        side.set(5, &at(5.0), || 0.0); // the same box
        side.set(7, &at(70.0), || 0.0);
        side.remove(7); // moved, then removed
        let brief = side.insert(10, &at(1.0), 0.0);
        side.remove(brief); // inserted and removed in one frame
        let new = side.insert(11, &at(2.0), 0.0);
        side.set(new, &at(2.5), || 0.0); // inserted, then moved
        assert_eq!(new, brief, "a slot that no structure has seen is free at once");
        assert_eq!(listed(&mut side), [vec![3], vec![new], vec![7]]);
        side.clear_marks();
        assert_eq!(listed(&mut side), [vec![0u32; 0], vec![], vec![]]);
    }

    #[test]
    fn a_known_slot_is_not_reused_before_the_next_pairs() {
        let mut side = settled();
        side.remove(2);
        side.gather().unwrap();
        side.clear_marks();
        assert_eq!(side.insert(12, &at(0.0), 0.0), 10);
        side.gather().unwrap();
        side.clear_marks();
        assert!(side.touched.contains(2) && side.touched.contains(10) && !side.touched.contains(3));
        side.after_pairs();
        assert_eq!(side.insert(13, &at(0.0), 0.0), 2);
    }

    #[test]
    fn if_most_slots_change_everything_counts_as_changed() {
        let mut side = settled();
        (0..6).for_each(|slot| side.set(slot, &at(100.0), || 0.0));
        side.gather().unwrap();
        assert!(matches!(side.changes(), Changes::All));
    }
}
