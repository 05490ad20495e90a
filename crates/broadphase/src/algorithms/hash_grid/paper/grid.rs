//! One hash grid: a linear array of cells, offsets to neighbors, containers, the list of occupied cells.

use super::super::level::Key;
use super::{Object, WHAT};
use crate::algorithms::common::bytes_of;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::memory;

/// The most bits of a cell's number, so that an offset is a signed 32-bit integer.
const MOST_BITS: u32 = 31;

/// A cell (code snippet 6): which offsets are its neighbors', its container, its index in the list of occupied cells.
#[derive(Clone, Debug)]
struct Cell {
    offsets: u32,
    place: u32,
    // A pointer to a vector, as in the text: an empty cell must not cost what a vector costs.
    #[allow(clippy::box_collection)]
    container: Option<Box<Vec<u32>>>,
}

/// A hash grid of the hierarchy.
///
/// Invariant: for each object and axis, the place of its upper corner is at most one cell above that of its lower one. Since the place of a
/// coordinate is monotone, two boxes that overlap are in the same or in adjacent cells, whatever the multiplication rounds to.
#[derive(Clone, Debug)]
pub(super) struct Grid<const D: usize, T> {
    /// The number of the cell size: sizes are `base * factor^exponent`.
    pub(super) exponent: i16,
    pub(super) cell: T,
    inverse: T,
    /// Objects below this size belong to a grid with smaller cells.
    least: T,
    /// Cells per axis, as bits.
    bits: [u32; D],
    cells: Vec<Cell>,
    /// The offset arrays, 3^D offsets each, the first that of all inner cells.
    offsets: Vec<i32>,
    occupied: Vec<u32>,
    capacity: usize,
    pub(super) count: usize,
    /// The number of objects at which the grid is enlarged.
    most: usize,
    /// Cells written since the beginning.
    pub(super) touched: u64,
}

/// The place of a coordinate in units of cells: monotone, and mirrored for negative values as in the text, so that the remainder of a
/// division by a power of two is `place & mask` for both.
#[inline(always)]
fn place<T: Real>(cells: T) -> i64 {
    let x = cells.to_f64();
    if x < 0.0 { !((-x) as i64) } else { x as i64 }
}

impl<const D: usize, T: Real> Grid<D, T> {
    /// An empty grid of `1 << bits[k]` cells per axis.
    pub(super) fn new(key: Key<D>, cell: T, factor: f64, bits: [u32; D], density: u32, capacity: usize) -> Result<Self, Error> {
        let total: u32 = bits.iter().sum();
        if total > MOST_BITS {
            return Err(Error::OutOfMemory { what: WHAT });
        }
        let (inverse, least) = (T::ONE / cell, cell / T::from_f64(factor));
        let mut grid = Self {
            exponent: key[0],
            cell,
            inverse,
            least,
            bits,
            cells: Vec::new(),
            offsets: Vec::new(),
            occupied: Vec::new(),
            capacity,
            count: 0,
            most: (1usize << total) / density as usize,
            touched: 0,
        };
        memory::refill(&mut grid.cells, 1 << total, Cell { offsets: 0, place: 0, container: None }, WHAT)?;
        grid.set_offsets()?;
        Ok(grid)
    }

    /// The same grid, empty, with twice the cells on every axis.
    pub(super) fn doubled(&self, factor: f64, density: u32) -> Result<Self, Error> {
        let mut grid = Self::new([self.exponent; D], self.cell, factor, self.bits.map(|bits| bits + 1), density, self.capacity)?;
        grid.touched = self.touched;
        Ok(grid)
    }

    /// One array for all inner cells, and one for every outer cell, whose neighbors wrap around.
    fn set_offsets(&mut self) -> Result<(), Error> {
        let inner = self.coordinates_of(0).map(|_| 1);
        self.add_offsets(&inner)?;
        for index in 0..self.cells.len() {
            let at = self.coordinates_of(index as u32);
            if (0..D).any(|k| at[k] == 0 || at[k] == (1 << self.bits[k]) - 1) {
                self.cells[index].offsets = self.offset_arrays() as u32;
                self.add_offsets(&at)?;
            }
        }
        Ok(())
    }

    /// The offsets from a cell to itself and its neighbors, the first axis fastest.
    fn add_offsets(&mut self, at: &[i64; D]) -> Result<(), Error> {
        memory::reserve(&mut self.offsets, Self::NEIGHBORS, WHAT)?;
        let own = i64::from(self.index(at));
        for number in 0..Self::NEIGHBORS {
            let mut rest = number as i64;
            let neighbor = at.map(|c| {
                let step = rest % 3 - 1;
                rest /= 3;
                c + step
            });
            let offset = (i64::from(self.index(&neighbor)) - own) as i32;
            memory::push(&mut self.offsets, offset, WHAT)?;
        }
        Ok(())
    }

    /// A cell and its neighbors.
    const NEIGHBORS: usize = 3usize.pow(D as u32);

    /// The number of a cell by its coordinates, which wrap around.
    #[inline(always)]
    fn index(&self, at: &[i64; D]) -> u32 {
        (0..D).rev().fold(0, |index, k| index << self.bits[k] | (at[k] & ((1 << self.bits[k]) - 1)) as u32)
    }

    fn coordinates_of(&self, mut index: u32) -> [i64; D] {
        std::array::from_fn(|k| {
            let at = index & ((1 << self.bits[k]) - 1);
            index >>= self.bits[k];
            i64::from(at)
        })
    }

    /// The hash of a box: the cell of its lower corner.
    #[inline(always)]
    pub(super) fn hash(&self, value: &Aabb<D, T>) -> u32 {
        self.index(&std::array::from_fn(|k| place(value.min[k] * self.inverse)))
    }

    /// Are the cells suitably sized for a box (equation 3.3.3)?
    #[inline(always)]
    pub(super) fn suits(&self, value: &Aabb<D, T>) -> bool {
        let size = (0..D).fold(T::ZERO, |size, k| size.max(value.max[k] - value.min[k]));
        self.least <= size && size < self.cell && self.holds(value)
    }

    /// Does the invariant hold for a box?
    #[inline(always)]
    pub(super) fn holds(&self, value: &Aabb<D, T>) -> bool {
        (0..D).all(|k| value.max[k] * self.inverse - value.min[k] * self.inverse < T::ONE)
    }

    /// Does the grid hold as many objects as it may?
    pub(super) fn is_full(&self) -> bool {
        self.count >= self.most
    }

    /// Puts an object into its cell; returns what it memorizes, beside the grid.
    pub(super) fn insert(&mut self, id: u32, value: &Aabb<D, T>) -> Result<(u32, u32), Error> {
        let hash = self.hash(value);
        let cell = &mut self.cells[hash as usize];
        self.touched += 1;
        if cell.container.is_none() {
            let mut container = Vec::new();
            memory::reserve(&mut container, self.capacity, WHAT)?;
            memory::reserve(&mut self.occupied, 1, WHAT)?;
            cell.container = Some(Box::new(container));
            cell.place = self.occupied.len() as u32;
            memory::push(&mut self.occupied, hash, WHAT)?;
        }
        let Some(container) = &mut cell.container else { unreachable!("allocated above") };
        let at = container.len() as u32;
        memory::reserve(container, 1, WHAT)?;
        memory::push(container, id, WHAT)?;
        self.count += 1;
        Ok((hash, at))
    }

    /// Takes the object at a place of a cell out: the last one of the container moves there. The last object takes the container and the
    /// cell's entry in the list of occupied cells with it.
    pub(super) fn remove(&mut self, hash: u32, at: u32, objects: &mut [Object]) {
        let cell = &mut self.cells[hash as usize];
        let Some(container) = &mut cell.container else { return };
        self.touched += 1;
        self.count -= 1;
        container.swap_remove(at as usize);
        if let Some(&moved) = container.get(at as usize) {
            objects[moved as usize].place = at;
        }
        if container.is_empty() {
            cell.container = None;
            let place = cell.place as usize;
            self.occupied.swap_remove(place);
            if let Some(&moved) = self.occupied.get(place) {
                self.cells[moved as usize].place = place as u32;
                self.touched += 1;
            }
        }
    }

    /// Empties all occupied cells.
    pub(super) fn clear(&mut self) {
        for &hash in &self.occupied {
            self.cells[hash as usize].container = None;
        }
        self.touched += self.occupied.len() as u64;
        self.occupied.clear();
        self.count = 0;
    }

    /// The list of occupied cells.
    pub(super) fn occupied(&self) -> &[u32] {
        &self.occupied
    }

    /// The objects of a cell.
    #[inline(always)]
    pub(super) fn objects(&self, cell: u32) -> &[u32] {
        self.cells[cell as usize].container.as_ref().map_or(&[], |container| container)
    }

    /// The cells that the offset array of a cell names: the first half, the cell itself, the second half.
    #[inline(always)]
    pub(super) fn neighbors(&self, cell: u32) -> impl Iterator<Item = u32> + '_ {
        let from = self.cells[cell as usize].offsets as usize * Self::NEIGHBORS;
        self.offsets[from..from + Self::NEIGHBORS].iter().map(move |&offset| cell.wrapping_add_signed(offset))
    }

    /// The first half of a cell's neighbors.
    #[inline(always)]
    pub(super) fn first_half(&self, cell: u32) -> impl Iterator<Item = u32> + '_ {
        self.neighbors(cell).take(Self::NEIGHBORS / 2)
    }

    /// Visits the objects of each cell that can hold one which overlaps `area`, each once.
    pub(super) fn visit_in(&self, area: &Aabb<D, T>, mut visit: impl FnMut(&[u32])) {
        let (mut from, mut to, mut cells) = ([0; D], [0; D], 1.0);
        for k in 0..D {
            from[k] = place(area.min[k] * self.inverse).saturating_sub(1);
            // Never more than one turn, so that no cell is visited twice.
            to[k] = place(area.max[k] * self.inverse).min(from[k].saturating_add((1 << self.bits[k]) - 1));
            cells *= (to[k] - from[k] + 1) as f64;
        }
        if cells >= self.occupied.len() as f64 {
            return self.occupied.iter().for_each(|&cell| visit(self.objects(cell)));
        }
        let mut at = from;
        loop {
            visit(self.objects(self.index(&at)));
            let Some(axis) = (0..D).find(|&k| at[k] < to[k]) else { return };
            at[axis] += 1;
            at[..axis].copy_from_slice(&from[..axis]);
        }
    }

    /// The number of cells.
    pub(super) fn cells(&self) -> usize {
        self.cells.len()
    }

    /// The number of offset arrays: one for all inner cells, one for each outer one.
    pub(super) fn offset_arrays(&self) -> usize {
        self.offsets.len() / Self::NEIGHBORS
    }

    /// The most objects in one cell.
    pub(super) fn most_per_cell(&self) -> usize {
        self.occupied.iter().map(|&cell| self.objects(cell).len()).max().unwrap_or(0)
    }

    /// The bytes it holds, containers included.
    pub(super) fn bytes(&self) -> usize {
        let container =
            |&cell: &u32| self.cells[cell as usize].container.as_ref().map_or(0, |c| size_of::<Vec<u32>>() + 4 * c.capacity());
        let containers: usize = self.occupied.iter().map(container).sum();
        bytes_of(&self.cells) + bytes_of(&self.offsets) + bytes_of(&self.occupied) + containers
    }

    /// The place of a cell in the list of occupied cells, for validation.
    pub(super) fn place_of(&self, cell: u32) -> u32 {
        self.cells[cell as usize].place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid<const D: usize>(bits: [u32; D]) -> Grid<D, f64> {
        Grid::new([0; D], 1.0, 2.0, bits, 8, 16).unwrap()
    }

    /// Equation 3.1.1a.
    fn outer(x: usize, y: usize, z: usize) -> usize {
        2 * x * y + 2 * y * (z - 2) + 2 * (x - 2) * (z - 2)
    }

    #[test]
    fn inner_cells_share_one_offset_array_and_outer_cells_have_their_own_as_equation_3_1_1_counts() {
        for bits in [[4, 4, 4], [2, 5, 3], [5, 5, 5], [2, 2, 2]] {
            let grid = grid(bits);
            let [x, y, z] = bits.map(|bits: u32| 1usize << bits);
            assert_eq!(grid.offset_arrays(), 1 + outer(x, y, z));
            // Equation 3.1.2, with an index in place of the pointer.
            let bytes = x * y * z * 4 + (1 + outer(x, y, z)) * 27 * 4;
            assert_eq!(grid.cells() * size_of::<u32>() + grid.offsets.len() * 4, bytes);
        }
        assert_eq!([16, 32, 64, 128].map(|n| 100 * outer(n, n, n) / (n * n * n)), [33, 17, 9, 4], "the text rounds 17.6 up");
        assert_eq!(grid([3, 4]).offset_arrays(), 1 + 2 * 8 + 2 * 14);
    }

    #[test]
    fn neighbors_are_the_cells_around_with_wrapping_borders_and_halves_complement_each_other() {
        let grid = grid([2, 3, 2]);
        for cell in 0..grid.cells() as u32 {
            let at = grid.coordinates_of(cell);
            let mut expected: Vec<u32> = Vec::new();
            for number in 0..27 {
                let step = [number % 3 - 1, number / 3 % 3 - 1, number / 9 - 1];
                expected.push(grid.index(&std::array::from_fn(|k| at[k] + step[k])));
            }
            assert_eq!(grid.neighbors(cell).collect::<Vec<_>>(), expected);
            assert_eq!(expected[13], cell, "the array refers to the cell itself");
            for other in grid.first_half(cell) {
                assert!(!grid.first_half(other).any(|back| back == cell), "a pair of cells is met once");
            }
        }
    }

    #[test]
    fn hashing_mirrors_negative_coordinates_and_keeps_adjacent_cells_adjacent() {
        let grid = grid([2, 2]);
        let x = |x: f64| grid.hash(&Aabb::new([x, 0.0], [x, 0.0]));
        assert_eq!([0.0, 0.9, 1.0, 3.9, 4.0, 9.5].map(x), [0, 0, 1, 3, 0, 1]);
        assert_eq!([-0.1, -0.9, -1.1, -3.9, -4.1, -0.0].map(x), [3, 3, 2, 0, 3, 0]);
    }

    #[test]
    fn more_cells_than_offsets_can_name_are_a_typed_error() {
        let error = Grid::<3, f32>::new([0; 3], 1.0, 2.0, [11, 11, 10], 8, 16).unwrap_err();
        assert_eq!(error, Error::OutOfMemory { what: WHAT });
    }

    #[test]
    fn the_last_object_of_a_cell_frees_its_container_and_a_removal_fills_the_gap() {
        let mut grid = grid([2, 2]);
        let mut objects = vec![Object::NONE; 4];
        let point = |x: f64| Aabb::new([x, 0.5], [x, 0.5]);
        for (id, x) in [0.1, 0.2, 0.3, 2.5].into_iter().enumerate() {
            let (cell, place) = grid.insert(id as u32, &point(x)).unwrap();
            objects[id] = Object { cell, place, grid: 0 };
        }
        assert_eq!((grid.occupied().len(), grid.most_per_cell()), (2, 3));
        grid.remove(objects[0].cell, objects[0].place, &mut objects);
        assert_eq!((grid.objects(objects[1].cell), objects[2].place), (&[2, 1][..], 0));
        let bytes = grid.bytes();
        grid.remove(objects[3].cell, objects[3].place, &mut objects);
        assert!(grid.bytes() <= bytes - 16 * 4 && grid.occupied() == [objects[1].cell]);
    }
}
