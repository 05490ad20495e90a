//! The boxes of avian's trees in a [`World`], object by object.
//!
//! Avian identifies a proxy by its tree and a number that is used again after a removal. [`Mirror::update_tree`] compares all proxies of a tree with the
//! world and brings it to the same state: it does not rely on events, so no change of a tree between two frames can be missed. Cost: one comparison of
//! boxes per proxy, and the world's own cost for those that changed.

use broadphase::{Aabb, Error, Handle, Object, ObjectKind, Report, World};

/// The number of trees: of dynamic, kinematic and static bodies, and of colliders without a body.
pub(crate) const TREES: usize = 4;

/// A proxy: its tree, and its number there. Ordered as avian compares proxies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) tree: u8,
    pub(crate) id: u32,
}

impl Key {
    /// Names no proxy.
    const NONE: Self = Self { tree: u8::MAX, id: u32::MAX };
}

/// A proxy that the world does not hold: there is none, or its box is not valid.
const ABSENT: Handle = Handle { index: u32::MAX, generation: 0 };

/// A proxy as of the last update.
#[derive(Clone, Copy)]
struct Entry<const D: usize> {
    /// Equal to what the world has, unless the proxy is absent.
    aabb: Aabb<D, f32>,
    handle: Handle,
    kind: ObjectKind,
}

/// Are two boxes the same, bit by bit? Without a branch per coordinate: most boxes are the same in most frames.
#[inline]
fn same_bits<const D: usize>(a: &Aabb<D, f32>, b: &Aabb<D, f32>) -> bool {
    let differs = |a: &[f32; D], b: &[f32; D]| (0..D).fold(0, |bits, axis| bits | (a[axis].to_bits() ^ b[axis].to_bits()));
    differs(&a.min, &b.min) | differs(&a.max, &b.max) == 0
}

/// A world with the boxes of all proxies.
pub(crate) struct Mirror<const D: usize> {
    world: World<D, f32>,
    /// By tree and number.
    entries: [Vec<Entry<D>>; TREES],
    /// The proxy of each object, by the index of its handle.
    keys: Vec<Key>,
    /// Where each object stands in the list of moved proxies, plus one; 0 if it does not. By the index of its handle.
    positions: Vec<u32>,
    /// Boxes that changed, gathered for one call.
    moved: Vec<(Handle, Aabb<D, f32>)>,
}

impl<const D: usize> Default for Mirror<D> {
    fn default() -> Self {
        let mut world = World::new();
        world.set_report(Report::All);
        Self { world, entries: Default::default(), keys: Vec::new(), positions: Vec::new(), moved: Vec::new() }
    }
}

impl<const D: usize> Mirror<D> {
    /// The world. Objects carry no tags: layers are compared when a pair is examined.
    pub(crate) fn world(&self) -> &World<D, f32> {
        &self.world
    }

    /// The world, for its settings and queries.
    pub(crate) fn world_mut(&mut self) -> &mut World<D, f32> {
        &mut self.world
    }

    /// The proxy of an object.
    pub(crate) fn key(&self, handle: Handle) -> Option<Key> {
        self.world.contains(handle).then(|| self.keys[handle.index as usize])
    }

    /// Brings the objects of one tree to the state of `proxies`: number, box and kind of each, by ascending number.
    pub(crate) fn update_tree(
        &mut self,
        tree: u8,
        proxies: impl Iterator<Item = (u32, Aabb<D, f32>, ObjectKind)>,
    ) -> Result<(), Error> {
        let compared = self.compare_tree(tree, proxies);
        if compared.is_ok() {
            self.world.set_boxes_of(&self.moved)?;
        } else {
            // Entries have their new boxes already. An object may have been inserted and removed since, so each is set alone.
            for &(handle, aabb) in &self.moved {
                if self.world.contains(handle) {
                    self.world.set_box(handle, aabb)?;
                }
            }
        }
        self.moved.clear();
        compared
    }

    /// Compares the proxies of a tree with the entries, and lists those that moved; inserts and removes the others.
    fn compare_tree(&mut self, tree: u8, proxies: impl Iterator<Item = (u32, Aabb<D, f32>, ObjectKind)>) -> Result<(), Error> {
        let mut next = 0;
        for (id, aabb, kind) in proxies {
            if next != id {
                self.vacate(tree, next..id)?;
            }
            next = id + 1;
            match self.entries[tree as usize].get_mut(id as usize) {
                Some(entry) if entry.handle != ABSENT && entry.kind == kind => {
                    if same_bits(&entry.aabb, &aabb) {
                        continue;
                    }
                    if aabb.is_valid() {
                        entry.aabb = aabb;
                        self.moved.push((entry.handle, aabb));
                        continue;
                    }
                }
                _ => {}
            }
            self.change(Key { tree, id }, aabb, kind)?;
        }
        let end = self.entries[tree as usize].len() as u32;
        self.vacate(tree, next..end)
    }

    /// Updates a proxy that is new, has changed its kind, or has a box that is not valid.
    #[cold]
    fn change(&mut self, key: Key, aabb: Aabb<D, f32>, kind: ObjectKind) -> Result<(), Error> {
        if !aabb.is_valid() {
            return self.vacate(key.tree, key.id..key.id + 1);
        }
        let entries = &mut self.entries[key.tree as usize];
        if entries.len() <= key.id as usize {
            entries.resize(key.id as usize + 1, Entry { aabb, handle: ABSENT, kind });
        }
        let entry = &mut entries[key.id as usize];
        if entry.handle == ABSENT {
            entry.handle = self.world.insert(Object::new(aabb).with_kind(kind))?;
            let index = entry.handle.index as usize;
            if self.keys.len() <= index {
                self.keys.resize(index + 1, Key::NONE);
                self.positions.resize(index + 1, 0);
            }
            self.keys[index] = key;
        } else {
            if entry.kind != kind {
                self.world.set_kind(entry.handle, kind)?;
            }
            self.moved.push((entry.handle, aabb));
        }
        (entry.aabb, entry.kind) = (aabb, kind);
        Ok(())
    }

    /// Removes the objects of these numbers, which no proxy has any more.
    fn vacate(&mut self, tree: u8, ids: std::ops::Range<u32>) -> Result<(), Error> {
        for id in ids {
            let Some(entry) = self.entries[tree as usize].get_mut(id as usize) else { break };
            if entry.handle != ABSENT {
                self.keys[entry.handle.index as usize] = Key::NONE;
                self.world.remove(std::mem::replace(&mut entry.handle, ABSENT))?;
            }
        }
        Ok(())
    }

    /// Finds all pairs of boxes, and calls `examine` for those of which one proxy or both are in `moved`: with each proxy, and its position in that
    /// list if it is in it.
    pub(crate) fn pairs_of_moved(
        &mut self,
        moved: impl Iterator<Item = Key> + Clone,
        mut examine: impl FnMut([(Key, Option<u32>); 2]),
    ) -> Result<(), Error> {
        self.world.update()?;
        for (position, key) in (1..).zip(moved.clone()) {
            if let Some(index) = self.index(key) {
                self.positions[index] = position;
            }
        }
        for (a, b) in self.world.pairs() {
            let [at_a, at_b] = [a, b].map(|handle| self.positions[handle.index as usize]);
            if at_a | at_b != 0 {
                let proxy = |handle: Handle, at: u32| (self.keys[handle.index as usize], at.checked_sub(1));
                examine([proxy(a, at_a), proxy(b, at_b)]);
            }
        }
        for key in moved {
            if let Some(index) = self.index(key) {
                self.positions[index] = 0;
            }
        }
        Ok(())
    }

    /// The index of a proxy's object.
    fn index(&self, key: Key) -> Option<usize> {
        let entry = self.entries[key.tree as usize].get(key.id as usize)?;
        (entry.handle != ABSENT).then_some(entry.handle.index as usize)
    }
}
