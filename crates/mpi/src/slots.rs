//! Objects by slot, with what changed since the last frame: this rank's own objects, and its ghosts.

use broadphase::{Aabb, Changes, Frame, Live, MAX_OBJECTS, Real};

/// The states of a slot: what happened to it since the last frame.
const CLEAN: u8 = 0;
const MOVED: u8 = 1;
const INSERTED: u8 = 2;
const REMOVED: u8 = 3;
/// Removed and filled again: a structure treats this as a move, events as another object.
const REPLACED: u8 = 4;
/// Flag: the slot is in the list of touched slots.
const LISTED: u8 = 0x80;

/// If more than one in this many slots changed, a structure compares all boxes instead of reading a list.
const FEW: usize = 4;

/// Looks up slots in an ascending list, in ascending order: a merge, in one pass over the list.
#[derive(Clone, Debug)]
pub(crate) struct Ascending<'a>(&'a [u32]);

impl Ascending<'_> {
    /// Is the slot in the list?
    #[inline(always)]
    pub(crate) fn has(&mut self, slot: u32) -> bool {
        while let [first, rest @ ..] = self.0
            && *first < slot
        {
            self.0 = rest;
        }
        self.0.first() == Some(&slot)
    }
}

/// Starts a look-up in an ascending list.
pub(crate) fn ascending(list: &[u32]) -> Ascending<'_> {
    Ascending(list)
}

/// Boxes by slot, each with a value of type `X`.
#[derive(Clone, Debug)]
pub(crate) struct Slots<const D: usize, T: Real, X> {
    boxes: Vec<Aabb<D, T>>,
    values: Vec<X>,
    live: Vec<u64>,
    free: Vec<u32>,
    count: usize,
    state: Vec<u8>,
    touched: Vec<u32>,
    lists: Lists,
    /// Any box may have changed, besides those of the touched slots.
    bulk: bool,
    /// Counts changes of boxes, to recognize the present ones.
    revision: u64,
    /// The revision at the end of the last frame.
    settled: u64,
}

/// The changed slots, sorted by what happened to them.
#[derive(Clone, Debug, Default)]
struct Lists {
    moved: Vec<u32>,
    inserted: Vec<u32>,
    removed: Vec<u32>,
    /// Those of `moved` that hold another object than in the last frame.
    replaced: Vec<u32>,
}

impl<const D: usize, T: Real, X> Default for Slots<D, T, X> {
    fn default() -> Self {
        Self {
            boxes: Vec::new(),
            values: Vec::new(),
            live: Vec::new(),
            free: Vec::new(),
            count: 0,
            state: Vec::new(),
            touched: Vec::new(),
            lists: Lists::default(),
            bulk: false,
            revision: 0,
            settled: 0,
        }
    }
}

impl<const D: usize, T: Real, X: Copy + PartialEq> Slots<D, T, X> {
    /// The number of slots, empty ones included.
    pub(crate) fn len(&self) -> usize {
        self.boxes.len()
    }

    /// The number of objects.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// A number that differs after each change of a box. A removal changes none.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn is_live(&self, slot: u32) -> bool {
        self.live.get(slot as usize / 64).is_some_and(|word| word >> (slot % 64) & 1 == 1)
    }

    pub(crate) fn boxes(&self) -> &[Aabb<D, T>] {
        &self.boxes
    }

    pub(crate) fn value(&self, slot: u32) -> X {
        self.values[slot as usize]
    }

    /// The slots in use, ascending.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        let full = self.count == self.boxes.len();
        (0..self.boxes.len() as u32).filter(move |&slot| full || self.is_live(slot))
    }

    fn touch(&mut self, slot: u32, state: u8) {
        let entry = &mut self.state[slot as usize];
        if *entry & LISTED == 0 {
            self.touched.push(slot);
        }
        *entry = state | LISTED;
    }

    fn state(&self, slot: u32) -> u8 {
        self.state[slot as usize] & !LISTED
    }

    /// Adds an object to a free slot. O(1).
    pub(crate) fn insert(&mut self, aabb: Aabb<D, T>, value: X) -> Result<u32, broadphase::Error> {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                if self.boxes.len() >= MAX_OBJECTS {
                    return Err(broadphase::Error::TooManyObjects { count: self.boxes.len() + 1, limit: MAX_OBJECTS });
                }
                let slot = self.boxes.len() as u32;
                self.boxes.push(aabb);
                self.values.push(value);
                self.state.push(CLEAN);
                self.live.resize(self.boxes.len().div_ceil(64), 0);
                slot
            }
        };
        self.fill(slot, aabb, value);
        Ok(slot)
    }

    fn fill(&mut self, slot: u32, aabb: Aabb<D, T>, value: X) {
        self.boxes[slot as usize] = aabb;
        self.values[slot as usize] = value;
        self.live[slot as usize / 64] |= 1 << (slot % 64);
        self.count += 1;
        self.revision += 1;
        let state = if self.state(slot) == REMOVED { REPLACED } else { INSERTED };
        self.touch(slot, state);
    }

    /// Empties a slot, if it holds an object. O(1).
    pub(crate) fn remove(&mut self, slot: u32) -> bool {
        if !self.is_live(slot) {
            return false;
        }
        self.empty(slot);
        self.free.push(slot);
        true
    }

    fn empty(&mut self, slot: u32) {
        self.live[slot as usize / 64] &= !(1 << (slot % 64));
        self.count -= 1;
        let state = if self.state(slot) == INSERTED { CLEAN } else { REMOVED };
        self.touch(slot, state);
    }

    /// Gives an object another box. O(1).
    #[inline]
    pub(crate) fn set_box(&mut self, slot: u32, aabb: Aabb<D, T>) -> bool {
        if !self.is_live(slot) {
            return false;
        }
        self.revision += 1;
        if self.bulk {
            self.boxes[slot as usize] = aabb;
        } else if self.boxes[slot as usize] != aabb {
            self.boxes[slot as usize] = aabb;
            if self.state(slot) == CLEAN {
                self.touch(slot, MOVED);
            }
        }
        true
    }

    /// Gives all slots another box; boxes of empty slots are ignored.
    pub(crate) fn set_boxes(&mut self, boxes: &[Aabb<D, T>]) {
        self.boxes.copy_from_slice(boxes);
        self.bulk = true;
        self.revision += 1;
    }

    /// Replaces everything: slot `i` holds an object with `values[i]` and `boxes[i]`.
    pub(crate) fn assign(&mut self, values: &[X], boxes: &[Aabb<D, T>]) {
        let (old, new) = (self.len(), boxes.len());
        for slot in new..old {
            if self.is_live(slot as u32) {
                self.empty(slot as u32);
            }
        }
        self.free.clear();
        self.free.extend((new..old).rev().map(|slot| slot as u32));
        if new > old {
            self.boxes.extend_from_slice(&boxes[old..]);
            self.values.extend_from_slice(&values[old..]);
            self.state.resize(new, CLEAN);
            self.live.resize(new.div_ceil(64), 0);
        }
        let common = old.min(new);
        let same = self.values[..common] == values[..common] && self.count >= new;
        for slot in 0..new {
            let is_live = if slot < common { same || self.is_live(slot as u32) } else { false };
            if is_live && (same || self.values[slot] == values[slot]) {
                continue;
            }
            if is_live {
                self.empty(slot as u32);
            }
            self.fill(slot as u32, boxes[slot], values[slot]);
        }
        self.boxes[..new].copy_from_slice(boxes);
        self.bulk = true;
        self.revision += 1;
    }

    /// Sorts the changed slots into lists. Call it once before [`frame`](Slots::frame).
    pub(crate) fn list_changes(&mut self) {
        let few = self.few_changed();
        let Self { lists: Lists { moved, inserted, removed, replaced }, touched, state, .. } = self;
        [&mut *moved, inserted, removed, replaced].into_iter().for_each(Vec::clear);
        // If many slots changed, no caller reads the moves.
        if few {
            touched.sort_unstable();
        }
        for &slot in &*touched {
            match state[slot as usize] & !LISTED {
                MOVED if few => moved.push(slot),
                INSERTED => inserted.push(slot),
                REMOVED => removed.push(slot),
                REPLACED => {
                    moved.push(slot);
                    replaced.push(slot);
                }
                _ => {}
            }
        }
        if !few {
            inserted.sort_unstable();
            replaced.sort_unstable();
        }
    }

    /// Are the touched slots the only ones that changed, and few?
    pub(crate) fn few_changed(&self) -> bool {
        !self.bulk && self.touched.len() * FEW <= self.len()
    }

    /// May anything have changed since the last frame?
    pub(crate) fn has_changed(&self) -> bool {
        self.revision != self.settled || !self.touched.is_empty()
    }

    /// The slots that hold another object than in the last frame, but are not empty in either.
    pub(crate) fn replaced(&self) -> &[u32] {
        &self.lists.replaced
    }

    /// Call it if most objects will move before the frame ends: moves are then not listed.
    pub(crate) fn expect_many(&mut self) {
        self.bulk = true;
    }

    /// The touched slots. If [`few_changed`](Slots::few_changed), after [`list_changes`](Slots::list_changes), they are all changed ones, ascending.
    pub(crate) fn touched(&self) -> &[u32] {
        &self.touched
    }

    /// Slots whose object is new since the last frame.
    pub(crate) fn new_objects(&self) -> impl Iterator<Item = u32> + '_ {
        self.lists.inserted.iter().chain(&self.lists.replaced).copied()
    }

    /// The frame for a structure. With `all`, everything counts as changed.
    pub(crate) fn frame(&self, all: bool) -> Frame<'_, D, T> {
        let Lists { moved, inserted, removed, .. } = &self.lists;
        let changes = match (all, self.few_changed()) {
            (true, _) => Changes::All,
            (false, true) => Changes::Listed { moved, inserted, removed },
            (false, false) => Changes::Unknown,
        };
        let live = if self.count == self.boxes.len() { Live::All } else { Live::Bits(&self.live) };
        Frame { live, changes, ..Frame::new(&self.boxes) }
    }

    /// Ends the frame: changes are counted from the present state on.
    pub(crate) fn settle(&mut self) {
        for &slot in &self.touched {
            self.state[slot as usize] = CLEAN;
        }
        self.touched.clear();
        self.bulk = false;
        self.settled = self.revision;
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let lists = &self.lists;
        let slots = [&self.free, &self.touched, &lists.moved, &lists.inserted, &lists.removed, &lists.replaced];
        self.boxes.capacity() * size_of::<Aabb<D, T>>()
            + self.values.capacity() * size_of::<X>()
            + self.live.capacity() * size_of::<u64>()
            + self.state.capacity()
            + slots.into_iter().map(|list| list.capacity() * size_of::<u32>()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x: f32) -> Aabb<2, f32> {
        Aabb::point([x, 0.0])
    }

    fn changes(slots: &mut Slots<2, f32, u64>) -> [Vec<u32>; 4] {
        slots.list_changes();
        let Lists { moved, inserted, removed, replaced } = slots.lists.clone();
        slots.settle();
        [moved, inserted, removed, replaced]
    }

    #[test]
    fn every_history_of_a_slot_ends_in_one_list() {
        let mut slots = Slots::default();
        (0..40).for_each(|id| assert_eq!(slots.insert(point(0.0), id), Ok(id as u32)));
        assert_eq!(changes(&mut slots), [vec![], (0..40).collect(), vec![], vec![]]);
        assert!(slots.set_box(0, point(1.0)) && slots.remove(1) && slots.remove(2) && !slots.remove(2));
        assert_eq!(slots.insert(point(0.0), 9), Ok(2)); // replaced
        slots.insert(point(0.0), 10).unwrap(); // slot 1
        assert!(slots.remove(1)); // and empty again
        assert_eq!(changes(&mut slots), [vec![0, 2], vec![], vec![1], vec![2]]);
        slots.insert(point(0.0), 11).unwrap();
        assert!(slots.remove(1) && slots.set_box(3, point(0.0)) && !slots.set_box(1, point(0.0)));
        assert!(changes(&mut slots).iter().all(Vec::is_empty));
    }

    #[test]
    fn an_assignment_keeps_what_has_the_same_value_at_the_same_place() {
        let mut slots = Slots::default();
        slots.assign(&[5, 6, 7], &[point(0.0); 3]);
        assert_eq!(changes(&mut slots), [vec![], vec![0, 1, 2], vec![], vec![]]);
        slots.assign(&[5, 8], &[point(0.0); 2]);
        assert_eq!((slots.count(), slots.len(), slots.is_live(2)), (2, 3, false));
        assert_eq!(changes(&mut slots), [vec![1], vec![], vec![2], vec![1]]);
        slots.assign(&[5, 8, 9, 10], &[point(0.0); 4]);
        assert_eq!(changes(&mut slots), [vec![], vec![2, 3], vec![], vec![]]);
        assert!(slots.insert(point(0.0), 1).is_ok_and(|slot| slot == 4));
    }
}
