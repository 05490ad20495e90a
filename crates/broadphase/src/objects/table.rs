//! The object table of a world: handles, and the properties of each object.
//!
//! # The structure
//! A handle's index is a row. Boxes and tags are stored in one of two [`Side`]s, movers (dynamic and kinematic) and statics, each with
//! dense slots of its own, so that a hundred movers among a million statics are a small frame. A row stores its slot, and a slot its
//! row. In a world without statics both numbers are usually the same ([`Side::aligned`]). A property that has its default everywhere (tags,
//! margins, user data) is not stored.
//!
//! # Cost
//! Every change of one object is O(1); a removal, and an insertion that reuses a slot, are O(log n). Memory: a box and about 14 bytes per object.

use super::column::Column;
use super::handle::first_generation;
use super::side::Side;
use super::slots::Slots;
use super::{Handle, MAX_OBJECTS, Object, ObjectKind, Shape, Tag};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::pair::Pair;

/// The objects of a world. Every change is checked before anything is written.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(bound = "T: Real"))]
pub(crate) struct Table<const D: usize, T> {
    slots: Slots,
    generations: Vec<u32>,
    /// By index: the slot in the object's side.
    places: Vec<u32>,
    kinds: Vec<ObjectKind>,
    users: Column<u64>,
    #[cfg_attr(feature = "serde", serde(with = "super::exact::column"))]
    margins: Column<T>,
    /// The world's margin.
    #[cfg_attr(feature = "serde", serde(with = "super::exact::number"))]
    margin: T,
    first_generation: u32,
    /// Vacated indices that were known.
    retired: Vec<u32>,
    /// The user data of objects that were removed since pairs were last found, for the events in which their pairs end.
    #[cfg_attr(feature = "serde", serde(alias = "graves"))] // its name in earlier snapshots
    removed_users: Vec<(Handle, u64)>,
    /// The indices seen so far in a list of handles; empty between calls.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(super) seen: Vec<u64>,
    statics_count: usize,
    kinematic_count: usize,
    /// Has an object changed between movers and statics since pairs were last found?
    switched: bool,
    /// Dynamic and kinematic objects.
    pub(crate) movers: Side<D, T>,
    /// Static objects.
    pub(crate) statics: Side<D, T>,
}

impl<const D: usize, T: Real> Default for Table<D, T> {
    fn default() -> Self {
        Self {
            slots: Slots::default(),
            generations: Vec::new(),
            places: Vec::new(),
            kinds: Vec::new(),
            users: Column::new(0),
            margins: Column::new(T::ZERO),
            margin: T::ZERO,
            first_generation: first_generation(),
            retired: Vec::new(),
            removed_users: Vec::new(),
            seen: Vec::new(),
            statics_count: 0,
            kinematic_count: 0,
            switched: false,
            movers: Side::default(),
            statics: Side::default(),
        }
    }
}

/// A margin must be finite and not negative; so must its sum with the other one that applies.
fn check_margin<T: Real>(margin: T, with: T, index: Option<u32>) -> Result<(), Error> {
    let valid = margin >= T::ZERO && margin.is_finite() && (margin + with).is_finite();
    if valid { Ok(()) } else { Err(Error::InvalidMargin { index, margin: margin.to_f64() }) }
}

/// An error unless the memory for a change could be reserved.
fn ensure_room(is_reserved: bool) -> Result<(), Error> {
    if is_reserved { Ok(()) } else { Err(Error::OutOfMemory { what: "objects" }) }
}

/// # Reading
impl<const D: usize, T: Real> Table<D, T> {
    /// The number of objects.
    pub(crate) fn len(&self) -> usize {
        self.slots.count()
    }

    /// The number of indices, in use or not.
    pub(crate) fn indices(&self) -> usize {
        self.slots.len()
    }

    /// The number of objects of a kind.
    pub(crate) fn count(&self, kind: ObjectKind) -> usize {
        match kind {
            ObjectKind::Static => self.statics_count,
            ObjectKind::Kinematic => self.kinematic_count,
            ObjectKind::Dynamic => self.len() - self.statics_count - self.kinematic_count,
        }
    }

    /// The handle's index, if its object exists.
    #[inline]
    pub(crate) fn find(&self, handle: Handle) -> Result<u32, Error> {
        let Handle { index, generation } = handle;
        // Usually all indices are in use, and generations alone decide.
        let is_live = |index: u32| self.slots.are_all_live() || self.slots.contains(index);
        if self.generations.get(index as usize) == Some(&generation) && is_live(index) {
            Ok(index)
        } else {
            Err(Error::StaleHandle { index, generation })
        }
    }

    /// The handle of an index that is live, or was live when pairs were last found.
    #[inline(always)]
    pub(crate) fn handle(&self, index: u32) -> Handle {
        Handle { index, generation: self.generations[index as usize] }
    }

    /// The handles of all objects, by index.
    pub(crate) fn handles(&self) -> impl Iterator<Item = Handle> + '_ {
        self.slots.ids().map(|index| self.handle(index))
    }

    /// The side of the object at `index`, and its slot there.
    pub(crate) fn place(&self, index: u32) -> (&Side<D, T>, u32) {
        let side = if self.is_static(index) { &self.statics } else { &self.movers };
        (side, self.places[index as usize])
    }

    /// The properties of an object.
    pub(crate) fn object(&self, index: u32) -> Object<D, T> {
        let (side, slot) = self.place(index);
        Object {
            aabb: side.plain(slot),
            tag: side.tags.get(slot),
            kind: self.kinds[index as usize],
            margin: self.margins.get(index),
            user: self.users.get(index),
            shape: side.shapes.get(slot),
            sensor: side.sensors.get(slot),
            previous: None,
        }
    }

    /// The kind of an object.
    pub(crate) fn kind(&self, index: u32) -> ObjectKind {
        self.kinds[index as usize]
    }

    /// The user data of an object.
    pub(crate) fn user(&self, index: u32) -> u64 {
        self.users.get(index)
    }

    /// Does any object have user data, or any removed object whose pairs have not ended yet?
    pub(crate) fn has_users(&self) -> bool {
        self.users.any() || !self.removed_users.is_empty()
    }

    /// The user data of an object that exists, or that was removed since pairs were last found. Call [`sort_removed`](Table::sort_removed) before.
    pub(crate) fn user_of(&self, handle: Handle) -> u64 {
        match self.find(handle) {
            Ok(index) => self.users.get(index),
            Err(_) => {
                let found = self.removed_users.binary_search_by_key(&handle, |removed| removed.0);
                found.map_or(0, |at| self.removed_users[at].1)
            }
        }
    }

    /// Forgets removed objects, after all ended pairs were reported.
    pub(crate) fn forget_removed(&mut self) {
        self.removed_users.clear();
    }

    /// Prepares calls of [`user_of`](Table::user_of).
    pub(crate) fn sort_removed(&mut self) {
        self.removed_users.sort_unstable();
    }

    /// Has an object changed between movers and statics since pairs were last found?
    pub(crate) fn has_switched(&self) -> bool {
        self.switched
    }

    /// The world's margin.
    pub(crate) fn margin(&self) -> T {
        self.margin
    }

    fn is_static(&self, index: u32) -> bool {
        self.kinds[index as usize] == ObjectKind::Static
    }

    #[inline]
    pub(super) fn side_mut(&mut self, index: u32) -> (&mut Side<D, T>, u32) {
        let side = if self.is_static(index) { &mut self.statics } else { &mut self.movers };
        (side, self.places[index as usize])
    }

    /// By how much the box at `index` is grown.
    #[inline]
    pub(crate) fn growth(&self, index: u32) -> T {
        self.margin + self.margins.get(index)
    }

    /// Converts a pair of slots (two movers, or a mover and a static if `mixed`) to a pair of indices.
    #[inline(always)]
    pub(crate) fn to_indices(&self, pair: Pair, mixed: bool) -> Pair {
        if !mixed && self.movers.aligned {
            return pair;
        }
        let others = if mixed { &self.statics } else { &self.movers };
        Pair::new(self.movers.owners[pair.a as usize], others.owners[pair.b as usize])
    }

    /// Converts a pair of indices of existing objects back to a pair of slots.
    pub(crate) fn to_slots(&self, pair: Pair, mixed: bool) -> Pair {
        let (a, b) = (self.places[pair.a as usize], self.places[pair.b as usize]);
        match mixed {
            false => Pair::new(a, b),
            true if self.is_static(pair.a) => Pair { a: b, b: a },
            true => Pair { a, b },
        }
    }

    /// Is a deserialized table safe to use? If so, [`validate`](Table::validate) can check the rest without panicking.
    #[cfg(feature = "serde")]
    pub(super) fn is_sound(&self) -> bool {
        let len = self.slots.len();
        let count = |kind| self.slots.ids().filter(|&index| self.kinds[index as usize] == kind).count();
        let margins = self.slots.ids().map(|index| self.margins.get(index));
        self.slots.is_sound()
            && [self.generations.len(), self.places.len(), self.kinds.len()] == [len; 3]
            && self.users.is_sound(0)
            && self.margins.is_sound(T::ZERO)
            && self.slots.are_vacated(self.retired.iter().copied())
            && (count(ObjectKind::Static), count(ObjectKind::Kinematic)) == (self.statics_count, self.kinematic_count)
            && check_margin(margins.fold(T::ZERO, T::max), self.margin, None).is_ok()
            && check_margin(self.margin, T::ZERO, None).is_ok()
            && self.slots.ids().all(|index| self.margins.get(index) >= T::ZERO)
            && self.movers.is_sound(len)
            && self.statics.is_sound(len)
    }

    /// Frees memory that the current objects do not need. Indices stay, since a handle must not be issued twice.
    pub(crate) fn shrink(&mut self) {
        self.slots.shrink();
        self.generations.shrink_to_fit();
        self.places.shrink_to_fit();
        self.kinds.shrink_to_fit();
        self.users.shrink();
        self.margins.shrink();
        self.retired.shrink_to_fit();
        self.removed_users.shrink_to_fit();
        self.seen = Vec::new();
        self.movers.shrink();
        self.statics.shrink();
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.bytes()
            + (self.generations.capacity() + self.places.capacity() + self.retired.capacity()) * 4
            + self.kinds.capacity() * size_of::<ObjectKind>()
            + self.users.bytes()
            + self.margins.bytes()
            + self.seen.capacity() * 8
            + self.removed_users.capacity() * size_of::<(Handle, u64)>()
            + self.movers.bytes()
            + self.statics.bytes()
    }
}

/// # Changes
impl<const D: usize, T: Real> Table<D, T> {
    /// Checks that the object's boxes and margin are valid. The error names `at`, its position in a list, if there is one.
    pub(super) fn check_object(&self, object: &Object<D, T>, at: Option<usize>) -> Result<(), Error> {
        for aabb in [Some(&object.aabb), object.previous.as_ref()].into_iter().flatten() {
            if let Some((axis, fault)) = aabb.fault() {
                return Err(Error::InvalidBox { index: at, axis, fault });
            }
        }
        check_margin(object.margin, self.margin, at.map(|at| at as u32))
    }

    /// Makes room for more movers and statics.
    pub(crate) fn reserve(&mut self, movers: usize, statics: usize) -> Result<(), Error> {
        let (count, more) = (self.slots.len(), movers.saturating_add(statics));
        if more > MAX_OBJECTS - count {
            return Err(Error::TooManyObjects { count: count.saturating_add(more), limit: MAX_OBJECTS });
        }
        let fits = self.slots.reserve(more)
            && self.generations.try_reserve(more).is_ok()
            && self.places.try_reserve(more).is_ok()
            && self.kinds.try_reserve(more).is_ok()
            && self.movers.reserve(movers)
            && self.statics.reserve(statics);
        ensure_room(fits)
    }

    /// Inserts an object. An error names `at`, its position in a list, if there is one.
    pub(crate) fn insert(&mut self, object: &Object<D, T>, at: Option<usize>) -> Result<Handle, Error> {
        self.check_object(object, at)?;
        if self.slots.next() >= MAX_OBJECTS {
            return Err(Error::TooManyObjects { count: self.slots.len() + 1, limit: MAX_OBJECTS });
        }
        self.reserve_insertion(object)?;
        let index = self.slots.take();
        if index as usize == self.generations.len() {
            self.generations.push(self.first_generation);
            self.places.push(0);
            self.kinds.push(object.kind);
        }
        self.margins.set(index, object.margin);
        self.users.set(index, object.user);
        self.insert_into_side(index, object);
        Ok(self.handle(index))
    }

    /// Makes sure that an object can be inserted; on error nothing has changed.
    fn reserve_insertion(&mut self, object: &Object<D, T>) -> Result<(), Error> {
        let is_static = object.kind == ObjectKind::Static;
        self.reserve(usize::from(!is_static), usize::from(is_static))?;
        if object.margin != T::ZERO {
            self.keep_plain()?;
        }
        let index = self.slots.next() as u32;
        let side = if is_static { &mut self.statics } else { &mut self.movers };
        let fits = side.reserve_properties(object)
            && self.margins.reserve(index, object.margin)
            && self.users.reserve(index, object.user);
        ensure_room(fits)
    }

    /// Makes sure that an object can be removed; on error nothing has changed.
    fn reserve_removal(&mut self, index: u32) -> Result<(), Error> {
        let fits = self.side_mut(index).0.reserve_removal()
            && self.slots.reserve_release()
            && self.retired.try_reserve(1).is_ok()
            && self.removed_users.try_reserve(1).is_ok();
        ensure_room(fits)
    }

    /// Gives an object, whose index is known, a slot in the side of its kind, and stores its properties there.
    fn insert_into_side(&mut self, index: u32, object: &Object<D, T>) {
        let growth = self.growth(index);
        self.kinds[index as usize] = object.kind;
        let (side, _) = self.side_mut(index);
        let slot = side.insert(index, &object.aabb, growth);
        side.set_tag(slot, object.tag);
        side.kinematic.set(slot, object.kind == ObjectKind::Kinematic);
        side.sensors.set(slot, object.sensor);
        side.shapes.set(slot, object.shape);
        self.places[index as usize] = slot;
        self.count_kind(object.kind, true);
    }

    fn count_kind(&mut self, kind: ObjectKind, more: bool) {
        let count = match kind {
            ObjectKind::Dynamic => return,
            ObjectKind::Static => &mut self.statics_count,
            ObjectKind::Kinematic => &mut self.kinematic_count,
        };
        *count = if more { *count + 1 } else { *count - 1 };
    }

    /// Removes an object, and returns its properties.
    pub(crate) fn remove(&mut self, handle: Handle) -> Result<Object<D, T>, Error> {
        let index = self.find(handle)?;
        self.reserve_removal(index)?;
        let object = self.object(index);
        let (side, slot) = self.side_mut(index);
        side.remove(slot);
        self.count_kind(object.kind, false);
        self.margins.set(index, T::ZERO);
        self.users.set(index, 0);
        self.slots.vacate(index);
        if self.slots.knows(index) {
            self.retired.push(index);
            if object.user != 0 {
                self.removed_users.push((handle, object.user));
            }
        } else {
            self.release(index); // no pair with it was ever reported
        }
        Ok(object)
    }

    fn release(&mut self, index: u32) {
        let generation = &mut self.generations[index as usize];
        *generation = generation.wrapping_add(1);
        self.slots.release(index);
    }

    /// Moves or resizes an object.
    #[inline]
    pub(crate) fn set_box(&mut self, handle: Handle, aabb: &Aabb<D, T>) -> Result<(), Error> {
        let index = self.find(handle)?;
        if !aabb.is_valid() {
            return aabb.check(index as usize); // an error
        }
        self.put_box(index, aabb);
        Ok(())
    }

    /// Gives an object a box that is known to be valid.
    #[inline]
    pub(super) fn put_box(&mut self, index: u32, aabb: &Aabb<D, T>) {
        if self.has_plain_movers() {
            self.movers.set(index, aabb, || T::ZERO);
        } else {
            self.put_in_side(index, aabb);
        }
    }

    /// Changes an object's tag.
    pub(crate) fn set_tag(&mut self, handle: Handle, tag: Tag) -> Result<(), Error> {
        let index = self.find(handle)?;
        let (side, slot) = self.side_mut(index);
        ensure_room(side.tags.reserve(slot, tag))?;
        if side.set_tag(slot, tag) {
            side.touch(slot);
        }
        Ok(())
    }

    /// Changes the shape that an object's box stands for.
    pub(crate) fn set_shape(&mut self, handle: Handle, shape: Option<Shape>) -> Result<(), Error> {
        let index = self.find(handle)?;
        let (side, slot) = self.side_mut(index);
        ensure_room(side.shapes.reserve(slot, shape))?;
        if side.shapes.set(slot, shape) {
            side.touch(slot);
        }
        Ok(())
    }

    /// Makes an object a sensor, or no longer one.
    pub(crate) fn set_sensor(&mut self, handle: Handle, sensor: bool) -> Result<(), Error> {
        let index = self.find(handle)?;
        let (side, slot) = self.side_mut(index);
        ensure_room(side.sensors.reserve(slot, sensor))?;
        if side.sensors.set(slot, sensor) {
            side.touch(slot);
        }
        Ok(())
    }

    /// Marks an object as changed, so that its pairs are found again.
    pub(crate) fn touch(&mut self, handle: Handle) -> Result<(), Error> {
        let index = self.find(handle)?;
        let (side, slot) = self.side_mut(index);
        side.touch(slot);
        Ok(())
    }

    /// Changes an object's user data.
    pub(crate) fn set_user(&mut self, handle: Handle, user: u64) -> Result<(), Error> {
        let index = self.find(handle)?;
        ensure_room(self.users.reserve(index, user))?;
        self.users.set(index, user);
        Ok(())
    }

    /// Changes an object's kind; its handle stays.
    pub(crate) fn set_kind(&mut self, handle: Handle, kind: ObjectKind) -> Result<(), Error> {
        let index = self.find(handle)?;
        let object = self.object(index).with_kind(kind);
        let old = self.kinds[index as usize];
        if old == kind {
            return Ok(());
        }
        let (side, slot) = self.side_mut(index);
        if old != ObjectKind::Static && kind != ObjectKind::Static {
            ensure_room(side.kinematic.reserve(slot, kind == ObjectKind::Kinematic))?;
            side.kinematic.set(slot, kind == ObjectKind::Kinematic);
            side.touch(slot);
            self.kinds[index as usize] = kind;
            self.count_kind(kind, true);
        } else {
            self.reserve_removal(index)?;
            self.reserve_insertion(&object)?;
            let (side, slot) = self.side_mut(index);
            side.remove(slot);
            self.insert_into_side(index, &object);
            self.switched = true;
        }
        self.count_kind(old, false);
        Ok(())
    }

    /// Changes an object's own margin.
    pub(crate) fn set_margin(&mut self, handle: Handle, margin: T) -> Result<(), Error> {
        let index = self.find(handle)?;
        check_margin(margin, self.margin, Some(index))?;
        ensure_room(self.margins.reserve(index, margin))?;
        if margin != self.margins.get(index) {
            self.keep_plain()?;
            self.margins.set(index, margin);
            let aabb = self.object(index).aabb;
            self.put_box(index, &aabb);
        }
        Ok(())
    }

    /// Changes the world's margin.
    pub(crate) fn set_world_margin(&mut self, margin: T) -> Result<(), Error> {
        let largest = self.slots.ids().map(|index| self.margins.get(index)).fold(T::ZERO, T::max);
        check_margin(margin, largest, None)?;
        if margin != self.margin {
            self.keep_plain()?;
            self.margin = margin;
            for index in 0..self.slots.len() as u32 {
                if self.slots.contains(index) {
                    let aabb = self.object(index).aabb;
                    self.put_box(index, &aabb);
                }
            }
        }
        Ok(())
    }

    /// Would all finite boxes stay finite?
    pub(crate) fn can_translate(&self, by: [T; D]) -> bool {
        let stays = |aabb: &Aabb<D, T>| {
            let moved = aabb.translate(by);
            (0..D).all(|k| {
                moved.min[k].is_finite() == aabb.min[k].is_finite() && moved.max[k].is_finite() == aabb.max[k].is_finite()
            })
        };
        [&self.movers, &self.statics].into_iter().all(|side| side.slots.ids().all(|slot| stays(&side.plain(slot))))
    }

    /// Moves all objects; everything counts as changed.
    pub(crate) fn translate(&mut self, by: [T; D]) {
        for index in 0..self.slots.len() as u32 {
            if self.slots.contains(index) {
                let growth = self.growth(index);
                let (side, slot) = self.side_mut(index);
                side.translate(slot, by, growth);
            }
        }
        self.movers.all = true;
        self.statics.all = true;
    }

    /// Keeps plain boxes beside those that structures see from now on.
    pub(crate) fn keep_plain(&mut self) -> Result<(), Error> {
        self.movers.keep_plain()?;
        self.statics.keep_plain()
    }

    /// Gives structures the current boxes again, after [`Side::cover`] replaced them by swept ones.
    pub(crate) fn uncover(&mut self) {
        for slot in 0..self.movers.slots.len() as u32 {
            if self.movers.swept.get(slot) {
                let growth = self.growth(self.movers.owners[slot as usize]);
                let plain = self.movers.plain(slot);
                self.movers.cover(slot, plain, growth);
            }
        }
    }

    /// Frees vacated slots and indices, after pairs were found; the indices get new generations.
    pub(crate) fn after_pairs(&mut self) {
        self.movers.after_pairs();
        self.statics.after_pairs();
        while let Some(index) = self.retired.pop() {
            self.release(index);
        }
        self.slots.remember();
        self.switched = false;
    }

    /// Makes the live slots and indices known as well, after an update that failed: it may have found pairs with them, so they must not be reused
    /// before the next pairs.
    pub(crate) fn after_failure(&mut self) {
        self.slots.remember_also();
        self.movers.slots.remember_also();
        self.statics.slots.remember_also();
    }
}
