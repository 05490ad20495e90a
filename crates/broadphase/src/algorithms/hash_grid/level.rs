//! One grid of the hierarchy: its cell size per axis, where a box belongs in it, and its growth.

use super::Placement;
use super::cell_block::BlockShape;
use super::cells::{Cells, NONE, for_each_bit};
use super::layout::Layout;
use crate::geometry::{Aabb, Real};
use crate::kernels::prefetch;

/// The exponents of a level's cell size on each axis, see [`CellSizes`](super::cell_sizes::CellSizes).
pub(super) type Key<const D: usize> = [i16; D];

/// How far ahead of their use boxes are prefetched.
const AHEAD: usize = 12;
/// Words per axis that a search keeps at hand.
const SHORT: usize = 4;

/// One grid.
///
/// Invariant: for each object and axis, `floor(max * inverse) <= floor(min * inverse) + 1`, all in `T`. Since that floor is
/// monotone, two boxes that overlap lie in the same or in adjacent cells, whatever the multiplication rounds to: for the boxes
/// x and y, `y.min <= x.max` gives `floor(y.min) <= floor(x.max) <= floor(x.min) + 1`, and the other way round.
#[derive(Clone, Debug)]
pub(super) struct Level<const D: usize, T> {
    pub(super) key: Key<D>,
    /// The cell's sides.
    pub(super) cell: [T; D],
    pub(super) inverse: [T; D],
    /// A box belongs here if each side, in cells, is at least this, and the longest side at least `longest`.
    least: [T; D],
    longest: T,
    pub(super) layout: Layout<D>,
    pub(super) block: BlockShape<D>,
    pub(super) cells: Cells,
    /// The number of objects.
    pub(super) count: usize,
    /// The count at which growth is considered next.
    pub(super) next_growth: usize,
    /// No object's cell is, or was since the last doubling, outside of these coordinates.
    pub(super) lowest: [i64; D],
    pub(super) highest: [i64; D],
}

/// The largest integer not above a number of cells; saturates, and monotone.
#[inline(always)]
pub(super) fn floor<T: Real>(cells: T) -> i64 {
    let x = cells.to_f64();
    let whole = x as i64;
    whole.saturating_sub(i64::from(whole as f64 > x))
}

impl<const D: usize, T: Real> Level<D, T> {
    /// An empty grid of `1 << bits[k]` cells per axis.
    pub(super) fn new(key: Key<D>, cell: [T; D], bits: [u32; D], density: u32, capacity: usize) -> Self {
        let layout = Layout::new(bits);
        let cells = layout.cells();
        Self {
            key,
            cell,
            inverse: cell.map(|c| T::ONE / c),
            least: [T::ZERO; D],
            longest: T::ZERO,
            block: BlockShape::new(&layout),
            layout,
            cells: Cells::new(cells, capacity),
            count: 0,
            next_growth: cells / density as usize,
            lowest: [i64::MAX; D],
            highest: [i64::MIN; D],
        }
    }

    /// Which boxes suit without a second look: where levels share a grid, all boxes that are small enough suit that grid, and none suits a level below.
    pub(super) fn set_merged(&mut self, up_to: Option<i16>, factor: f64) {
        let one_step = T::from_f64(1.0 / factor);
        // A side shorter than this by two steps or more makes an object long or flat: it is looked up again.
        let two_steps = T::from_f64(1.0 / (factor * factor));
        let usual = if self.is_cubic() { two_steps } else { one_step };
        let (least, longest) = match up_to {
            Some(up_to) if self.key == [up_to; D] => (T::ZERO, T::ZERO),
            Some(up_to) if super::level_merging::longest(&self.key) <= up_to => (T::INFINITY, T::INFINITY),
            _ => (usual, one_step),
        };
        (self.least, self.longest) = ([least; D], longest);
    }

    /// Gives the memory of an empty level back.
    pub(super) fn shrink(&mut self, bits: [u32; D], density: u32, capacity: usize) {
        self.layout = Layout::new(bits);
        self.block = BlockShape::new(&self.layout);
        let touched = self.cells.touched;
        self.cells = Cells::new(self.layout.cells(), capacity);
        self.cells.touched = touched;
        self.next_growth = self.layout.cells() / density as usize;
        self.clear();
    }

    /// Puts an object into its cell.
    #[inline]
    pub(super) fn insert(&mut self, id: u32, value: &Aabb<D, T>, placements: &mut [Placement]) {
        let at = self.coordinates(value);
        let cell = (0..D).fold(0, |cell, k| cell | self.layout.place(k, at[k]));
        self.insert_at(cell, id, value, placements);
    }

    /// Puts an object into a cell, which is its own.
    #[inline]
    pub(super) fn insert_at(&mut self, cell: u32, id: u32, value: &Aabb<D, T>, placements: &mut [Placement]) {
        for (k, at) in self.coordinates(value).into_iter().enumerate() {
            self.lowest[k] = self.lowest[k].min(at);
            self.highest[k] = self.highest[k].max(at);
        }
        self.cells.insert(cell, id, placements);
        placements[id as usize].cell = cell;
        self.count += 1;
    }

    /// Empties all cells.
    pub(super) fn clear(&mut self) {
        self.cells.clear();
        self.count = 0;
        self.lowest = [i64::MAX; D];
        self.highest = [i64::MIN; D];
    }

    /// Are the cells cubes?
    pub(super) fn is_cubic(&self) -> bool {
        self.key.iter().all(|&e| e == self.key[0])
    }

    /// The cell of a box, and whether the level suits its size without a second look.
    #[inline(always)]
    pub(super) fn locate(&self, value: &Aabb<D, T>) -> (u32, bool) {
        let (mut index, mut suits, mut longest) = (0, true, T::ZERO);
        for k in 0..D {
            let (low, high) = (value.min[k] * self.inverse[k], value.max[k] * self.inverse[k]);
            let side = high - low;
            suits &= (value.min[k] <= value.max[k]) & (side < T::ONE) & (side >= self.least[k]);
            longest = longest.max(side);
            index |= self.layout.place(k, floor(low));
        }
        (index, suits & (longest >= self.longest))
    }

    /// Does the invariant hold for a box? A difference that rounds to less than one is not more than one, and the floors of
    /// two numbers that are at most one apart differ by at most one.
    #[inline(always)]
    pub(super) fn holds(&self, value: &Aabb<D, T>) -> bool {
        (0..D).all(|k| value.max[k] * self.inverse[k] - value.min[k] * self.inverse[k] < T::ONE)
    }

    /// The coordinates of the cell of a box.
    #[inline(always)]
    pub(super) fn coordinates(&self, value: &Aabb<D, T>) -> [i64; D] {
        std::array::from_fn(|k| floor(value.min[k] * self.inverse[k]))
    }

    /// Is the cell of a box, before wrapping around, among the coordinates in use?
    #[inline(always)]
    pub(super) fn covers(&self, value: &Aabb<D, T>) -> bool {
        let at = self.coordinates(value);
        (0..D).fold(true, |all, k| all & (self.lowest[k] <= at[k]) & (at[k] <= self.highest[k]))
    }

    /// The cells, by first and last coordinate, that can hold an object which overlaps `area`.
    #[inline(always)]
    pub(super) fn reach(&self, area: &Aabb<D, T>) -> [(i64, i64); D] {
        std::array::from_fn(|k| (floor(area.min[k] * self.inverse[k]).saturating_sub(1), floor(area.max[k] * self.inverse[k])))
    }

    /// Visits the occupied cells whose coordinates, wrapped around, are in `range`, each once.
    #[inline]
    pub(super) fn for_each_in(&self, range: &[(i64, i64); D], mut visit: impl FnMut(u32)) {
        let layout = &self.layout;
        let range: [(i64, i64); D] = std::array::from_fn(|k| {
            let dim = 1i64 << layout.axis_bits(k);
            if range[k].1.saturating_sub(range[k].0) >= dim - 1 { (0, dim - 1) } else { range[k] }
        });
        // Most searches meet one or two words per axis: their cells, and their part of the index.
        let (mut sets, mut parts, mut words) = ([[u64::MAX; SHORT]; D], [[0u32; SHORT]; D], [0; D]);
        for k in 0..D {
            let bits = layout.word_bits[k];
            let (first, last) = (range[k].0 >> bits, range[k].1 >> bits);
            words[k] = (last - first + 1) as usize;
            if words[k] > SHORT {
                return self.pass_axis(D, 0, u64::MAX, &range, &mut visit);
            }
            for w in 0..words[k] {
                parts[k][w] = layout.place(k, (first + w as i64) << bits);
            }
            let inside = (1i64 << bits) - 1;
            sets[k][0] = layout.from[k][(range[k].0 & inside) as usize];
            sets[k][words[k] - 1] &= layout.to[k][(range[k].1 & inside) as usize];
        }
        let mut at = [0; D];
        loop {
            let (mut index, mut set) = (0, u64::MAX);
            for k in 0..D {
                index |= parts[k][at[k]];
                set &= sets[k][at[k]];
            }
            for_each_bit(self.cells.words[index as usize / 64].occupied & set, |bit| visit(index + bit));
            let mut k = 0;
            while k < D && at[k] + 1 == words[k] {
                at[k] = 0;
                k += 1;
            }
            if k == D {
                return;
            }
            at[k] += 1;
        }
    }

    /// The words along one axis, the last axis outermost: for ranges of any length.
    fn pass_axis(&self, axes: usize, index: u32, set: u64, range: &[(i64, i64); D], visit: &mut impl FnMut(u32)) {
        if axes == 0 {
            let word = self.cells.words[index as usize / 64].occupied & set;
            return for_each_bit(word, |bit| visit(index + bit));
        }
        let k = axes - 1;
        let layout = &self.layout;
        let (first, last) = range[k];
        let bits = layout.word_bits[k];
        let inside = (1i64 << bits) - 1;
        for word in first >> bits..=last >> bits {
            let from = if word == first >> bits { layout.from[k][(first & inside) as usize] } else { u64::MAX };
            let to = if word == last >> bits { layout.to[k][(last & inside) as usize] } else { u64::MAX };
            let index = index | layout.place(k, word << bits);
            self.pass_axis(k, index, set & from & to, range, visit);
        }
    }

    /// The axis on which doubling separates most objects that share a cell though they are cells apart; `None` if hardly any
    /// do, so that more cells would only be empty. `ids` are all objects, cell by cell.
    pub(super) fn best_axis(&self, ids: &[u32], placements: &[Placement], boxes: &[Aabb<D, T>]) -> Option<usize> {
        let bits: [u32; D] = std::array::from_fn(|k| self.layout.axis_bits(k));
        let (mut gain, mut strangers) = ([0usize; D], 0usize);
        let is_alone = |id: u32| placements[id as usize].place == NONE;
        let mut ahead = ids.iter().filter(|id| !is_alone(**id)).skip(AHEAD);
        for group in ids.chunk_by(|a, b| placements[*a as usize].cell == placements[*b as usize].cell) {
            if is_alone(group[0]) {
                continue;
            }
            let (mut ones, mut first) = ([0usize; D], None);
            for &id in group {
                ahead.next().into_iter().for_each(|&later| prefetch(boxes, later as usize));
                let Some(value) = boxes.get(id as usize) else { continue };
                let at = self.coordinates(value);
                strangers += usize::from(*first.get_or_insert(at) != at);
                for k in 0..D {
                    ones[k] += (at[k] >> bits[k] & 1) as usize;
                }
            }
            for k in 0..D {
                gain[k] += ones[k].min(group.len() - ones[k]);
            }
        }
        if strangers <= self.count / 64 {
            return None;
        }
        // Equal gains go to the shortest axis; so do gains of zero, where only a later bit will separate the objects.
        (0..D).max_by_key(|&k| (gain[k], std::cmp::Reverse((bits[k], k))))
    }

    /// Doubles the grid along `axis`; all cells are empty then.
    pub(super) fn double(&mut self, axis: usize, density: u32, capacity: usize) {
        self.layout = self.layout.doubled(axis);
        self.block = BlockShape::new(&self.layout);
        let touched = self.cells.touched;
        // The old cells go first: the two are never held at once.
        self.cells = Cells::new(0, capacity);
        self.cells = Cells::new(self.layout.cells(), capacity);
        self.cells.touched = touched;
        self.next_growth = self.layout.cells() / density as usize;
        self.clear();
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.cells.bytes() + self.layout.bytes() + self.block.bytes()
    }
}
