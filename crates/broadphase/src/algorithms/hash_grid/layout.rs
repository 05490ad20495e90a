//! Where a cell's index gets its bits from: the coordinates of all axes, interleaved.
//!
//! The paper numbers the cells of a grid row by row. Here each bit of the index belongs to one axis, in turn, so that cells that
//! are near in space are near in memory: 64 consecutive cells, one word of an occupancy set, are a small cube, and
//! [`BLOCK_BITS`] bits are a larger one. Three things stay as simple as in the paper: wrapping around is a bit mask, a step to
//! the neighbor is one addition within the mask of its axis, and doubling an axis puts one more bit on top, so a cell splits in
//! two and no cell changes its number.

/// Cells that are joined together, as bits of the index: at most 4,096, a cube of 16 x 16 x 16.
pub(super) const BLOCK_BITS: u32 = 12;
/// Cells in a word, as bits of the index.
pub(super) const WORD_BITS: u32 = 6;
/// The most bits of an index.
pub(super) const MAX_BITS: u32 = 31;

/// The bits of a cell index, and what follows from them.
#[derive(Clone, Debug)]
pub(super) struct Layout<const D: usize> {
    /// The axis of each bit of the index, lowest first.
    order: Vec<u8>,
    /// The bits of each axis.
    masks: [u32; D],
    /// How many bits each axis has.
    counts: [u32; D],
    /// Per axis, for each byte of a coordinate: its bits at their places in the index.
    spread: [Vec<[u32; 256]>; D],
    /// Per axis: bits of a coordinate inside a word of 64 cells.
    pub(super) word_bits: [u32; D],
    /// Per axis and coordinate inside a word: the cells of the word at or above it, and at or below it.
    pub(super) from: [Vec<u64>; D],
    pub(super) to: [Vec<u64>; D],
}

impl<const D: usize> Layout<D> {
    /// A grid of `1 << bits[k]` cells on axis k.
    pub(super) fn new(bits: [u32; D]) -> Self {
        let most = bits.iter().copied().max().unwrap_or(0);
        let order = (0..most).flat_map(|j| (0..D).filter(move |&k| j < bits[k]).map(|k| k as u8)).collect();
        Self::from_order(order)
    }

    fn from_order(order: Vec<u8>) -> Self {
        let places: [Vec<u32>; D] =
            std::array::from_fn(|k| (0..order.len() as u32).filter(|&place| order[place as usize] == k as u8).collect());
        let masks: [u32; D] = std::array::from_fn(|k| places[k].iter().fold(0, |mask, place| mask | 1 << place));
        let spread = std::array::from_fn(|k| {
            let bytes = places[k].chunks(8);
            bytes.map(|bits| std::array::from_fn(|byte| deposit(byte, bits))).collect::<Vec<[u32; 256]>>()
        });
        let word_bits: [u32; D] = std::array::from_fn(|k| places[k].iter().filter(|&&place| place < WORD_BITS).count() as u32);
        let word_set = |k: usize, inside: &dyn Fn(usize) -> bool| {
            (0..64usize).filter(|&cell| inside(extract(cell, &places[k]))).fold(0u64, |set, cell| set | 1 << cell)
        };
        let coordinates = |k: usize| 0..1usize << word_bits[k];
        let from = std::array::from_fn(|k| coordinates(k).map(|c| word_set(k, &|x| x >= c)).collect());
        let to = std::array::from_fn(|k| coordinates(k).map(|c| word_set(k, &|x| x <= c)).collect());
        Self { order, masks, counts: masks.map(u32::count_ones), spread, word_bits, from, to }
    }

    /// The same grid with twice the cells on `axis`.
    pub(super) fn doubled(&self, axis: usize) -> Self {
        let mut order = self.order.clone();
        order.push(axis as u8);
        Self::from_order(order)
    }

    /// The bits of the index.
    pub(super) fn bits(&self) -> u32 {
        self.order.len() as u32
    }

    /// The number of cells.
    pub(super) fn cells(&self) -> usize {
        1 << self.order.len()
    }

    /// The number of cells on an axis, as bits.
    #[inline(always)]
    pub(super) fn axis_bits(&self, axis: usize) -> u32 {
        self.counts[axis]
    }

    /// The bits of an axis among the lowest `below` bits of the index.
    pub(super) fn axis_bits_below(&self, axis: usize, below: u32) -> u32 {
        (self.masks[axis] & !(u32::MAX << below.min(31))).count_ones()
    }

    /// A coordinate, wrapped around, at its places in the index.
    #[inline(always)]
    pub(super) fn place(&self, axis: usize, coordinate: i64) -> u32 {
        let mut rest = coordinate as u64;
        let mut index = 0;
        for table in &self.spread[axis] {
            index |= table[(rest & 255) as usize];
            rest >>= 8;
        }
        index
    }

    /// The part of an index that belongs to an axis.
    #[inline(always)]
    pub(super) fn part(&self, axis: usize, index: u32) -> u32 {
        index & self.masks[axis]
    }

    /// `part` moved up by `step`, another part of the same axis, wrapping around.
    #[inline(always)]
    pub(super) fn ahead(&self, axis: usize, part: u32, step: u32) -> u32 {
        // Ones between the bits of the axis carry the sum across.
        (part | !self.masks[axis]).wrapping_add(step) & self.masks[axis]
    }

    /// `part` moved down by `step`, wrapping around.
    #[inline(always)]
    pub(super) fn back(&self, axis: usize, part: u32, step: u32) -> u32 {
        part.wrapping_sub(step) & self.masks[axis]
    }

    /// The coordinate of a cell of the first word on an axis.
    pub(super) fn coordinate(&self, axis: usize, index: u32) -> usize {
        let places = (0..self.bits()).filter(|&place| self.order[place as usize] == axis as u8);
        places.enumerate().fold(0, |x, (bit, place)| x | (index as usize >> place & 1) << bit)
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        let tables: usize = self.spread.iter().map(|t| t.capacity() * 1024).sum();
        let sets: usize = self.from.iter().chain(&self.to).map(|t| t.capacity() * 8).sum();
        tables + sets + self.order.capacity()
    }
}

/// The bits of `value` at `places`.
fn deposit(value: usize, places: &[u32]) -> u32 {
    places.iter().enumerate().fold(0, |index, (bit, place)| index | ((value >> bit & 1) as u32) << place)
}

/// The bits of `index` at `places`.
fn extract(index: usize, places: &[u32]) -> usize {
    places.iter().enumerate().fold(0, |value, (bit, place)| value | (index >> place & 1) << bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_wrap_around_and_doubling_keeps_every_cell() {
        let layout = Layout::<3>::new([4, 2, 5]);
        assert_eq!((layout.bits(), layout.cells()), (11, 2048));
        let mut seen = vec![false; layout.cells()];
        for x in 0..16 {
            for y in 0..4 {
                for z in 0..32 {
                    let index = layout.place(0, x) | layout.place(1, y) | layout.place(2, z);
                    assert!(!std::mem::replace(&mut seen[index as usize], true));
                    assert_eq!(layout.coordinate(2, index), z as usize);
                    let one = layout.place(2, 1);
                    assert_eq!(layout.ahead(2, layout.part(2, index), one), layout.place(2, z + 1));
                    assert_eq!(layout.back(2, layout.part(2, index), one), layout.place(2, z - 1));
                    let doubled = layout.doubled(1);
                    assert_eq!(doubled.place(0, x) | doubled.place(1, y) | doubled.place(2, z), index);
                    assert_eq!(doubled.place(1, y + 4), layout.place(1, y) | 1 << 11);
                }
            }
        }
        assert_eq!(layout.place(0, -1), layout.place(0, 15));
    }

    #[test]
    fn sets_of_a_word_follow_its_coordinates() {
        let layout = Layout::<2>::new([3, 4]);
        assert_eq!(layout.word_bits, [3, 3]);
        assert_eq!(layout.from[0][0], u64::MAX);
        assert_eq!(layout.to[1][7], u64::MAX);
        assert_eq!((layout.from[0][3] & layout.to[0][3]).count_ones(), 8);
    }
}
