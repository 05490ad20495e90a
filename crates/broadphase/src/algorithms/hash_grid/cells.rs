//! The cells of one grid: flat storage, constant-time insertion and removal.
//!
//! The paper's cell holds three pointers, to its neighbors' offsets, to a heap vector and into the list of occupied cells.
//! A cell here is four bytes and two bits:
//! 1. `occupied`, one bit per cell in index order, replaces the list of occupied cells. It is entered and left without an index
//!    into a list, and read in the order of the index, hence of space. One bit of `summary` per word lets a reader skip 4,096
//!    empty cells at a time.
//! 2. `heads` holds the id itself while a cell has one object: most cells of a sparse grid never need a container.
//! 3. From the second object on, the bit in `crowded` is set and `heads` names a container in one pool: room for `capacity`
//!    ids, whose successors are full. No allocation per cell, and freed containers are used again.
//!
//! Removal moves the cell's last id into the gap, as in the paper; a [`Placement`] per object says where its id stands.
//!
//! The cost of a change to a large grid is that of its cache misses, one after the other. So the two bits of a cell are in one line, and so
//! is a container; a removal finds the container from the object's place, without reading the head. Long lists request huge
//! pages, without which every access to a million objects walks the page table as well.

use std::hint::select_unpredictable;

use super::Placement;
use crate::kernels::{prefer_huge_pages, prefetch};

/// No container; the place of an object that is alone in its cell.
pub(super) const NONE: u32 = u32::MAX;
/// Words of a container before its ids: how many objects the cell has, which is zero in all containers but the first, and the
/// next container.
const TOTAL: usize = 0;
const NEXT: usize = 1;
const HEADER: usize = 2;
/// Words of a row.
const ROW: usize = 8;

/// The unit of the pool: a container of up to six ids is one row, and a row is in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Row([u32; ROW]);

/// Flat storage of one grid's cells.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    heads: Vec<u32>,
    pub(super) words: Vec<Word>,
    /// One bit per word with an occupied cell.
    pub(super) summary: Vec<u64>,
    /// Rows of words; a container is named by its first row, a place is a word.
    pool: Vec<Row>,
    capacity: usize,
    /// Rows of a container.
    rows: usize,
    /// The first free container; each names the next.
    free: u32,
    /// Occupied cells.
    pub(super) filled: usize,
    /// Cells and containers written since the beginning.
    pub(super) touched: u64,
}

/// The bits of 64 cells.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Word {
    pub(super) occupied: u64,
    /// Cells with more than one object.
    crowded: u64,
}

/// `len` times `value`, in huge pages if there are such.
fn long_list<X: Clone>(len: usize, value: X) -> Vec<X> {
    let mut list = Vec::with_capacity(len);
    prefer_huge_pages(&list, len);
    list.resize(len, value);
    list
}

impl Cells {
    /// `cells` empty cells, a power of two, whose containers hold `capacity` ids each.
    pub(super) fn new(cells: usize, capacity: usize) -> Self {
        let words = cells.div_ceil(64);
        Self {
            heads: long_list(cells, NONE),
            words: long_list(words, Word::default()),
            summary: vec![0; words.div_ceil(64)],
            pool: Vec::new(),
            capacity,
            rows: (capacity + HEADER).div_ceil(ROW),
            free: NONE,
            filled: 0,
            touched: 0,
        }
    }

    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.heads.len()
    }

    /// The first row of a container.
    #[inline(always)]
    fn header(&mut self, container: u32) -> &mut [u32; ROW] {
        &mut self.pool[container as usize].0
    }

    #[inline(always)]
    fn word(&mut self, place: u32) -> &mut u32 {
        &mut self.pool[place as usize / ROW].0[place as usize % ROW]
    }

    /// The place of a container's id number `index`.
    #[inline(always)]
    fn place(&self, container: u32, index: usize) -> u32 {
        (container as usize * ROW + HEADER + index) as u32
    }

    /// The container that a place is in.
    #[inline(always)]
    fn container(&self, place: u32) -> u32 {
        let row = place as usize / ROW;
        (if self.rows == 1 { row } else { row - row % self.rows }) as u32
    }

    /// Ids in the first container of a cell with `total` objects; the containers behind it are full.
    #[inline(always)]
    fn fill(&self, total: u32) -> usize {
        let total = total as usize;
        if total <= self.capacity { total } else { (total - 1) % self.capacity + 1 }
    }

    /// Has the cell a container?
    #[inline(always)]
    pub(super) fn is_crowded(&self, cell: u32) -> bool {
        self.words[cell as usize / 64].crowded >> (cell % 64) & 1 == 1
    }

    /// Puts `id` into a cell, and stores its place in `placements`.
    #[inline]
    pub(super) fn insert(&mut self, cell: u32, id: u32, placements: &mut [Placement]) {
        let (word, bit) = (cell as usize / 64, 1u64 << (cell % 64));
        self.touched += 1;
        if self.words[word].occupied & bit == 0 {
            self.words[word].occupied |= bit;
            self.summary[word / 64] |= 1 << (word % 64);
            self.heads[cell as usize] = id;
            self.filled += 1;
            placements[id as usize].place = NONE;
            return;
        }
        if self.words[word].crowded & bit == 0 {
            self.words[word].crowded |= bit;
            let first = self.heads[cell as usize];
            self.start_container(cell, NONE, 1, first, placements);
        }
        let head = self.heads[cell as usize];
        let total = self.header(head)[TOTAL];
        let fill = self.fill(total);
        if fill == self.capacity {
            self.header(head)[TOTAL] = 0;
            self.start_container(cell, head, total + 1, id, placements);
        } else {
            self.header(head)[TOTAL] = total + 1;
            let place = self.place(head, fill);
            *self.word(place) = id;
            placements[id as usize].place = place;
        }
    }

    /// A new first container for a cell, with one id.
    fn start_container(&mut self, cell: u32, next: u32, total: u32, id: u32, placements: &mut [Placement]) {
        self.touched += 1;
        let container = self.take_container();
        let row = self.header(container);
        (row[TOTAL], row[NEXT], row[HEADER]) = (total, next, id);
        placements[id as usize].place = self.place(container, 0);
        self.heads[cell as usize] = container;
    }

    fn take_container(&mut self) -> u32 {
        if self.free != NONE {
            let container = self.free;
            self.free = self.header(container)[NEXT];
            return container;
        }
        let container = self.pool.len();
        if self.pool.capacity() - container < self.rows {
            // A quarter more at a time: amortized, and less unused memory than doubling.
            self.pool.reserve_exact((container / 4).max(64 * self.rows));
            prefer_huge_pages(&self.pool, self.pool.capacity());
        }
        self.pool.resize(container + self.rows, Row([NONE; ROW]));
        container as u32
    }

    fn give_back(&mut self, container: u32) {
        let free = std::mem::replace(&mut self.free, container);
        let row = self.header(container);
        (row[TOTAL], row[NEXT]) = (0, free);
    }

    /// Takes `id` out of its cell.
    ///
    /// Its place determines the container, which is nearly always the cell's first one. So the container, the head and the bits are read
    /// at once, none by way of another.
    #[inline]
    pub(super) fn remove(&mut self, cell: u32, id: u32, placements: &mut [Placement]) {
        let (word, bit) = (cell as usize / 64, 1u64 << (cell % 64));
        let place = placements[id as usize].place;
        self.prefetch(cell);
        self.touched += 1;
        if place == NONE {
            self.words[word].occupied &= !bit;
            if self.words[word].occupied == 0 {
                self.summary[word / 64] &= !(1 << (word % 64));
            }
            self.filled -= 1;
            return;
        }
        let own = self.container(place);
        let head = if self.header(own)[TOTAL] != 0 { own } else { self.heads[cell as usize] };
        let total = self.header(head)[TOTAL] - 1;
        let fill = self.fill(total + 1);
        let last = *self.word(self.place(head, fill - 1));
        prefetch(placements, last as usize);
        *self.word(place) = last;
        if fill == 1 {
            let next = self.header(head)[NEXT];
            self.give_back(head);
            self.header(next)[TOTAL] = total;
            self.heads[cell as usize] = next;
            self.touched += 1;
            placements[last as usize].place = place;
            placements[id as usize].place = NONE;
            return;
        }
        // Whether one object is left, which needs no container, is unpredictable, and a misprediction would delay the next change
        // until this container has arrived. So everything is written in both cases.
        let one = total == 1;
        let row = &mut self.pool[head as usize].0;
        let only = row[HEADER];
        row[TOTAL] = select_unpredictable(one, 0, total);
        row[NEXT] = select_unpredictable(one, self.free, row[NEXT]);
        self.free = select_unpredictable(one, head, self.free);
        self.heads[cell as usize] = select_unpredictable(one, only, head);
        self.words[word].crowded &= !select_unpredictable(one, bit, 0);
        placements[select_unpredictable(one, only, last) as usize].place = select_unpredictable(one, NONE, place);
        placements[id as usize].place = NONE;
    }

    /// Prefetches a cell.
    #[inline(always)]
    pub(super) fn prefetch(&self, cell: u32) {
        prefetch(&self.heads, cell as usize);
        prefetch(&self.words, cell as usize / 64);
    }

    /// Prefetches the container that a place is in, if there is one.
    #[inline(always)]
    pub(super) fn prefetch_place(&self, place: u32) {
        prefetch(&self.pool, self.container(place) as usize);
    }

    /// Prefetches the container of a cell, if it has one.
    #[inline(always)]
    pub(super) fn prefetch_container(&self, cell: u32) {
        let Some((word, head)) = self.words.get(cell as usize / 64).zip(self.heads.get(cell as usize)) else { return };
        // Unpredictable, so computed without a branch: the first row is prefetched in place of none.
        prefetch(&self.pool, *head as usize * (word.crowded >> (cell % 64) & 1) as usize);
    }

    /// The number of objects in an occupied cell.
    #[inline(always)]
    pub(super) fn count(&self, cell: u32) -> u32 {
        if self.is_crowded(cell) { self.pool[self.heads[cell as usize] as usize].0[TOTAL] } else { 1 }
    }

    /// The ids in an occupied cell.
    #[inline(always)]
    pub(super) fn for_each(&self, cell: u32, mut visit: impl FnMut(u32)) {
        let head = self.heads[cell as usize];
        if !self.is_crowded(cell) {
            return visit(head);
        }
        let mut container = head;
        let mut fill = self.fill(self.pool[head as usize].0[TOTAL]);
        while container != NONE {
            let row = &self.pool[container as usize].0;
            row[HEADER..ROW.min(HEADER + fill)].iter().for_each(|&id| visit(id));
            for at in ROW..HEADER + fill {
                visit(self.pool[container as usize + at / ROW].0[at % ROW]);
            }
            container = row[NEXT];
            fill = self.capacity;
        }
    }

    /// The occupied cells, ascending, skipping empty regions.
    pub(super) fn for_each_cell(&self, mut visit: impl FnMut(u32)) {
        for (block, &words) in self.summary.iter().enumerate() {
            for_each_bit(words, |word| {
                let word = block as u32 * 64 + word;
                for_each_bit(self.words[word as usize].occupied, |bit| visit(word * 64 + bit));
            });
        }
    }

    /// Empties every cell: the cost is that of the occupied ones.
    pub(super) fn clear(&mut self) {
        for block in 0..self.summary.len() {
            for_each_bit(std::mem::take(&mut self.summary[block]), |word| {
                self.words[block * 64 + word as usize] = Word::default();
            });
        }
        self.touched += self.filled as u64;
        self.filled = 0;
        self.pool.clear();
        self.free = NONE;
    }

    /// The containers that are in use or free, for validation.
    pub(super) fn containers(&self) -> (usize, usize) {
        let mut free = 0;
        let mut container = self.free;
        while container != NONE {
            free += 1;
            container = self.pool[container as usize].0[NEXT];
        }
        (self.pool.len() / self.rows, free)
    }

    /// Does the first container of a cell have the total, and no other one, for validation?
    pub(super) fn has_one_total(&self, cell: u32) -> bool {
        if !self.is_crowded(cell) {
            return true;
        }
        let first = &self.pool[self.heads[cell as usize] as usize].0;
        let mut next = first[NEXT];
        while next != NONE {
            let row = &self.pool[next as usize].0;
            if row[TOTAL] != 0 {
                return false;
            }
            next = row[NEXT];
        }
        first[TOTAL] > 1
    }

    /// The id at a place in the pool, if there is one.
    pub(super) fn at(&self, place: u32) -> Option<u32> {
        self.pool.get(place as usize / ROW).map(|row| row.0[place as usize % ROW])
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.heads.capacity() * 4
            + self.pool.capacity() * size_of::<Row>()
            + self.words.capacity() * size_of::<Word>()
            + self.summary.capacity() * 8
    }
}

/// The set bits of a word, ascending.
#[inline(always)]
pub(super) fn for_each_bit(mut bits: u64, mut visit: impl FnMut(u32)) {
    while bits != 0 {
        visit(bits.trailing_zeros());
        bits &= bits - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(cells: &Cells, cell: u32) -> Vec<u32> {
        let mut ids = Vec::new();
        if cells.words[cell as usize / 64].occupied >> (cell % 64) & 1 == 1 {
            cells.for_each(cell, |id| ids.push(id));
        }
        ids.sort_unstable();
        ids
    }

    #[test]
    fn a_cell_fills_chains_and_empties_again_without_new_containers() {
        // Containers of one row and of several.
        [2, 3, 6, 7, 20].into_iter().for_each(fill_and_empty);
    }

    fn fill_and_empty(capacity: usize) {
        let mut cells = Cells::new(64, capacity);
        let mut placements = vec![Placement::EMPTY; 20];
        for round in 0..3 {
            (0..20).for_each(|id| cells.insert(id % 2 * 40, id, &mut placements));
            assert_eq!(content(&cells, 40), (0..10).map(|k| 2 * k + 1).collect::<Vec<_>>());
            assert_eq!((cells.count(0), cells.filled), (10, 2));
            let order: Vec<u32> = (0..20).map(|k| k * 7 % 20).collect();
            for (done, &id) in order.iter().enumerate() {
                cells.remove(id % 2 * 40, id, &mut placements);
                let mut left: Vec<u32> = order[done + 1..].iter().copied().filter(|k| k % 2 == id % 2).collect();
                left.sort_unstable();
                assert_eq!(content(&cells, id % 2 * 40), left, "round {round}");
                assert!(left.is_empty() || cells.has_one_total(id % 2 * 40), "round {round}");
            }
            let (all, free) = cells.containers();
            let most = 2 * 10usize.div_ceil(capacity);
            assert_eq!((all, free, cells.filled), (most, most, 0));
        }
    }

    #[test]
    fn a_second_total_is_detected() {
        let mut cells = Cells::new(64, 3);
        let mut placements = vec![Placement::EMPTY; 7];
        (0..7).for_each(|id| cells.insert(5, id, &mut placements));
        assert!(cells.has_one_total(5));
        let second = cells.container(placements[0].place);
        assert_ne!(second, cells.heads[5]);
        cells.header(second)[TOTAL] = 3;
        assert!(!cells.has_one_total(5));
    }
}
