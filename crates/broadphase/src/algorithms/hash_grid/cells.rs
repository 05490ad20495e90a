//! The cells of one grid: flat storage, constant-time insertion and removal.
//!
//! The paper's cell holds three pointers, to its neighbours' offsets, to a heap vector and into the list of occupied cells.
//! A cell here is four bytes and two bits:
//! 1. `occupied`, one bit per cell in index order, replaces the list of occupied cells. It is entered and left without an index
//!    into a list, and read in the order of the index, hence of space. One bit of `summary` per word lets a reader skip 4,096
//!    empty cells at a time.
//! 2. `heads` holds the id itself while a cell has one object: most cells of a sparse grid never need a container.
//! 3. From the second object on, the bit in `crowded` is set and `heads` names a container in one pool: a row of `capacity`
//!    ids, whose successors are full. No allocation per cell, and freed containers are used again.
//!
//! Removal moves the cell's last id into the gap, as in the paper; a [`Seat`] tells each object where its id stands.
//!
//! A change to a large grid costs what its cache lines cost. So the two bits of a cell are in one line, and long lists ask for
//! huge pages, without which every access to a million objects walks the page table as well.

use super::Seat;
use crate::kernels::{prefer_huge_pages, prefetch};

/// No container; the place of an object that is alone in its cell.
pub(super) const NONE: u32 = u32::MAX;
/// Words of a container before its ids: how many objects the cell has (valid in the first container), and the next container.
const HEADER: usize = 2;

/// Flat storage of one grid's cells.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    heads: Vec<u32>,
    pub(super) words: Vec<Word>,
    /// One bit per word with an occupied cell.
    pub(super) summary: Vec<u64>,
    pool: Vec<u32>,
    capacity: usize,
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
            free: NONE,
            filled: 0,
            touched: 0,
        }
    }

    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.heads.len()
    }

    #[inline(always)]
    fn base(&self, container: u32) -> usize {
        container as usize * (self.capacity + HEADER)
    }

    /// Ids in the first container of a cell with `total` objects; the containers behind it are full.
    #[inline(always)]
    fn fill(&self, total: u32) -> usize {
        (total as usize - 1) % self.capacity + 1
    }

    /// Has the cell a container?
    #[inline(always)]
    pub(super) fn is_crowded(&self, cell: u32) -> bool {
        self.words[cell as usize / 64].crowded >> (cell % 64) & 1 == 1
    }

    /// Puts `id` into a cell; `seats` learns where it stands.
    #[inline]
    pub(super) fn insert(&mut self, cell: u32, id: u32, seats: &mut [Seat]) {
        let (word, bit) = (cell as usize / 64, 1u64 << (cell % 64));
        self.touched += 1;
        if self.words[word].occupied & bit == 0 {
            self.words[word].occupied |= bit;
            self.summary[word / 64] |= 1 << (word % 64);
            self.heads[cell as usize] = id;
            self.filled += 1;
            seats[id as usize].place = NONE;
            return;
        }
        if self.words[word].crowded & bit == 0 {
            self.words[word].crowded |= bit;
            let first = self.heads[cell as usize];
            self.start_container(cell, NONE, 1, first, seats);
        }
        let head = self.heads[cell as usize];
        let base = self.base(head);
        let total = self.pool[base];
        let fill = self.fill(total);
        if fill == self.capacity {
            self.start_container(cell, head, total + 1, id, seats);
        } else {
            self.pool[base] = total + 1;
            let at = base + HEADER + fill;
            self.pool[at] = id;
            seats[id as usize].place = at as u32;
        }
    }

    /// A new first container for a cell, with one id.
    fn start_container(&mut self, cell: u32, next: u32, total: u32, id: u32, seats: &mut [Seat]) {
        self.touched += 1;
        let container = self.take_container();
        let base = self.base(container);
        self.pool[base] = total;
        self.pool[base + 1] = next;
        self.pool[base + HEADER] = id;
        seats[id as usize].place = (base + HEADER) as u32;
        self.heads[cell as usize] = container;
    }

    fn take_container(&mut self) -> u32 {
        if self.free != NONE {
            let container = self.free;
            self.free = self.pool[self.base(container) + 1];
            return container;
        }
        let stride = self.capacity + HEADER;
        let container = (self.pool.len() / stride) as u32;
        if self.pool.capacity() - self.pool.len() < stride {
            // A quarter more at a time: amortised, and less idle memory than doubling.
            self.pool.reserve_exact((self.pool.len() / 4).max(64 * stride));
            prefer_huge_pages(&self.pool, self.pool.capacity());
        }
        self.pool.resize(self.pool.len() + stride, NONE);
        container
    }

    fn give_back(&mut self, container: u32) {
        let base = self.base(container);
        self.pool[base] = 0;
        self.pool[base + 1] = self.free;
        self.free = container;
    }

    /// Takes `id` out of its cell.
    #[inline]
    pub(super) fn remove(&mut self, cell: u32, id: u32, seats: &mut [Seat]) {
        let (word, bit) = (cell as usize / 64, 1u64 << (cell % 64));
        let place = seats[id as usize].place;
        self.touched += 1;
        if place == NONE {
            self.words[word].occupied &= !bit;
            if self.words[word].occupied == 0 {
                self.summary[word / 64] &= !(1 << (word % 64));
            }
            self.filled -= 1;
            return;
        }
        let head = self.heads[cell as usize];
        let base = self.base(head);
        let total = self.pool[base] - 1;
        let fill = self.fill(total + 1);
        let last = self.pool[base + HEADER + fill - 1];
        self.pool[place as usize] = last;
        seats[last as usize].place = place;
        seats[id as usize].place = NONE;
        let mut first = base;
        if fill == 1 {
            let next = self.pool[base + 1];
            self.give_back(head);
            self.heads[cell as usize] = next;
            first = self.base(next);
            self.touched += 1;
        }
        self.pool[first] = total;
        if total == 1 {
            let only = self.pool[first + HEADER];
            self.give_back(self.heads[cell as usize]);
            self.heads[cell as usize] = only;
            self.words[word].crowded &= !bit;
            seats[only as usize].place = NONE;
        }
    }

    /// Requests a cell from memory.
    #[inline(always)]
    pub(super) fn prefetch(&self, cell: u32) {
        prefetch(&self.heads, cell as usize);
        prefetch(&self.words, cell as usize / 64);
    }

    /// Requests the container of a cell from memory, if it has one.
    #[inline(always)]
    pub(super) fn prefetch_container(&self, cell: u32) {
        if self.is_crowded(cell) {
            prefetch(&self.pool, self.base(self.heads[cell as usize]));
        }
    }

    /// The number of objects in an occupied cell.
    #[inline(always)]
    pub(super) fn count(&self, cell: u32) -> u32 {
        if self.is_crowded(cell) { self.pool[self.base(self.heads[cell as usize])] } else { 1 }
    }

    /// The ids in an occupied cell.
    #[inline(always)]
    pub(super) fn for_each(&self, cell: u32, mut visit: impl FnMut(u32)) {
        let head = self.heads[cell as usize];
        if !self.is_crowded(cell) {
            return visit(head);
        }
        let mut container = head;
        let mut fill = self.fill(self.pool[self.base(head)]);
        while container != NONE {
            let base = self.base(container);
            self.pool[base + HEADER..base + HEADER + fill].iter().for_each(|&id| visit(id));
            container = self.pool[base + 1];
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
            container = self.pool[self.base(container) + 1];
        }
        (self.pool.len() / (self.capacity + HEADER), free)
    }

    /// The id at a place in the pool, if there is one.
    pub(super) fn at(&self, place: u32) -> Option<u32> {
        self.pool.get(place as usize).copied()
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        (self.heads.capacity() + self.pool.capacity()) * 4
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
        let mut cells = Cells::new(64, 3);
        let mut seats = vec![Seat::EMPTY; 20];
        for round in 0..3 {
            (0..20).for_each(|id| cells.insert(id % 2 * 40, id, &mut seats));
            assert_eq!(content(&cells, 40), (0..10).map(|k| 2 * k + 1).collect::<Vec<_>>());
            assert_eq!((cells.count(0), cells.filled), (10, 2));
            let order: Vec<u32> = (0..20).map(|k| k * 7 % 20).collect();
            for (done, &id) in order.iter().enumerate() {
                cells.remove(id % 2 * 40, id, &mut seats);
                let mut left: Vec<u32> = order[done + 1..].iter().copied().filter(|k| k % 2 == id % 2).collect();
                left.sort_unstable();
                assert_eq!(content(&cells, id % 2 * 40), left, "round {round}");
            }
            let (all, free) = cells.containers();
            assert_eq!((all, free, cells.filled), (8, 8, 0));
        }
    }
}
