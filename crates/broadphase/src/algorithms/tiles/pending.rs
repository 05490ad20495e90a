//! The changes since pairs were last found, over one or more updates: the changed objects, and the tiles that they touch.

use crate::bits::{bit, set_bit};
use crate::error::Error;
use crate::memory;

/// What the memory is for, in errors.
const CHANGES: &str = "the changed objects and tiles";

/// The changes that the next `pairs` has to take into account.
#[derive(Clone, Debug)]
pub(super) struct PendingChanges {
    /// The changed slots: as bits, which stay in the cache while both objects of every kept pair are looked up; and as a list.
    pub(super) bits: Vec<u64>,
    pub(super) slots: Vec<u32>,
    /// By tile: does or did a changed object reach it?
    touched: Vec<bool>,
    /// By tile: these objects, if they are few; and whether that is known.
    few: Vec<FewIds>,
    are_few_known: bool,
    /// Has everything changed?
    pub(super) all_touched: bool,
    /// Do exactly the records of changed objects have a flag?
    pub(super) flagged: bool,
}

impl Default for PendingChanges {
    fn default() -> Self {
        Self {
            bits: Vec::new(),
            slots: Vec::new(),
            touched: Vec::new(),
            few: Vec::new(),
            are_few_known: false,
            all_touched: true,
            flagged: false,
        }
    }
}

/// A few ids: with more, comparing each pair with all of them costs as much as looking its objects up in the set.
#[derive(Clone, Copy, Debug, Default)]
struct FewIds {
    ids: [u32; 4],
    /// How many were added; those beyond the fourth are not listed.
    count: usize,
}

impl PendingChanges {
    /// Marks everything as changed.
    pub(super) fn set_all(&mut self, slots: usize, tiles: usize) -> Result<(), Error> {
        self.clear();
        (self.all_touched, self.are_few_known) = (true, false);
        memory::refill(&mut self.touched, tiles, false, CHANGES)?;
        memory::refill(&mut self.few, tiles, FewIds::default(), CHANGES)?;
        self.fit(slots, 0)
    }

    /// Marks a tile that a changed object reaches, or did before the change.
    #[inline(always)]
    pub(super) fn touch(&mut self, tile: u16, id: u32) {
        self.touched[tile as usize] = true;
        let few = &mut self.few[tile as usize];
        if let Some(next) = few.ids.get_mut(few.count) {
            *next = id;
        }
        few.count += 1;
    }

    /// Marks all tiles, each of which any changed object may reach.
    pub(super) fn touch_all(&mut self) {
        self.touched.fill(true);
        self.are_few_known = false;
    }

    /// Does or did a changed object reach the tile?
    #[inline(always)]
    pub(super) fn touches(&self, tile: u32) -> bool {
        self.touched[tile as usize]
    }

    /// The changed objects that reach the tile or did, if they are known and few. An object may be listed twice.
    #[inline(always)]
    pub(super) fn few(&self, tile: usize) -> Option<&[u32]> {
        self.few.get(tile).filter(|_| self.are_few_known).and_then(|few| few.ids.get(..few.count))
    }

    /// Makes sure that every slot has a bit, and that `more` slots can be marked.
    pub(super) fn fit(&mut self, slots: usize, more: usize) -> Result<(), Error> {
        memory::reserve(&mut self.slots, more, CHANGES)?;
        memory::resize(&mut self.bits, slots.div_ceil(64), 0, CHANGES)
    }

    /// Marks a slot as changed; [`fit`](PendingChanges::fit) has made room for it. Returns whether it was not marked before.
    pub(super) fn insert(&mut self, id: u32) -> bool {
        let is_new = !bit(&self.bits, id);
        if is_new {
            set_bit(&mut self.bits, id, true);
            self.slots.push(id); // reserved
        }
        is_new
    }

    /// Removes all changes, after pairs were found.
    pub(super) fn clear(&mut self) {
        for id in self.slots.drain(..) {
            set_bit(&mut self.bits, id, false);
        }
        self.touched.fill(false);
        self.few.fill(FewIds::default());
        (self.all_touched, self.are_few_known) = (false, true);
    }

    /// The touched tiles, or `None` for all.
    pub(super) fn touched_tiles(&self) -> Option<&[bool]> {
        (!self.all_touched).then_some(&self.touched[..])
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.bits.capacity() * 8 + self.slots.capacity() * 4 + self.touched.capacity() + self.few.capacity() * size_of::<FewIds>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_objects_of_a_tile_are_known_only_if_they_are_few_and_were_all_named() {
        let mut pending = PendingChanges::default();
        pending.set_all(100, 3).unwrap();
        assert_eq!(pending.few(1), None, "everything has changed");
        pending.clear();
        [7, 9, 7, 8].into_iter().for_each(|id| pending.touch(1, id));
        assert_eq!([pending.few(0), pending.few(1)], [Some(&[][..]), Some(&[7, 9, 7, 8][..])]);
        pending.touch(1, 50);
        assert_eq!([pending.few(1), pending.few(2)], [None, Some(&[][..])], "a fifth is not listed");
        assert!(pending.touches(1) && !pending.touches(2));
        pending.touch_all();
        assert_eq!(pending.few(2), None, "a pass over all records names no tiles");
        pending.clear();
        assert_eq!((pending.few(1), pending.touches(1)), (Some(&[][..]), false));
    }
}
