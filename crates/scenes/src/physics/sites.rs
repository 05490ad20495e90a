//! Room for one object in each cell of a cubic lattice: how rigid bodies keep apart without a test between two of them.
//!
//! An object may enter a cell only if it is free. So heaps have at most the lattice's density, at any speed and any pressure, and a
//! frame costs O(n): one look at each cell crossed. What it does not do: keep two objects in adjacent cells from overlapping.
//!
//! One bit per cell tells whether it is taken, a table by which object. Most look-ups need only the bits, which stay in the cache; the table does
//! not.

/// Which cells of a cube are taken, and by which object.
#[derive(Debug)]
pub(crate) struct Sites {
    per_axis: usize,
    width: f32,
    inverse: f32,
    taken: Vec<u64>,
    /// The last object that took each cell.
    owners: Vec<u32>,
}

impl Sites {
    /// The cube `[0, side]` in cells about `width` wide that fill it exactly, all free.
    pub fn new(side: f64, width: f64) -> Self {
        let per_axis = ((side / width).floor() as usize).max(1);
        let width = side / per_axis as f64;
        let cells = per_axis * per_axis * per_axis;
        let (taken, owners) = (vec![0; cells.div_ceil(64)], vec![0; cells]);
        Self { per_axis, width: width as f32, inverse: (1.0 / width) as f32, taken, owners }
    }

    /// Cells along one axis.
    pub fn per_axis(&self) -> usize {
        self.per_axis
    }

    /// The width of a cell.
    pub fn width(&self) -> f32 {
        self.width
    }

    /// The cell of a point, the nearest one if it is outside.
    #[inline]
    pub fn cell(&self, at: [f32; 3]) -> usize {
        let [x, y, z] = at.map(|x| ((x * self.inverse) as usize).min(self.per_axis - 1));
        (z * self.per_axis + y) * self.per_axis + x
    }

    #[inline]
    fn is_taken(&self, cell: usize) -> bool {
        self.taken[cell / 64] >> (cell % 64) & 1 != 0
    }

    /// Is the cell of a point inside the world free?
    #[inline]
    pub fn is_free(&self, at: [f32; 3]) -> bool {
        let side = self.width * self.per_axis as f32;
        at.iter().all(|x| (0.0..side).contains(x)) && !self.is_taken(self.cell(at))
    }

    /// Which object has the cell?
    #[inline]
    pub fn owner(&self, cell: usize) -> Option<u32> {
        self.is_taken(cell).then(|| self.owners[cell])
    }

    /// Takes a cell; false if it was taken before.
    #[inline]
    pub fn take(&mut self, cell: usize, owner: u32) -> bool {
        if self.is_taken(cell) {
            return false;
        }
        self.taken[cell / 64] |= 1 << (cell % 64);
        self.owners[cell] = owner;
        true
    }

    /// Frees a cell.
    #[inline]
    pub fn free(&mut self, cell: usize) {
        self.taken[cell / 64] &= !(1 << (cell % 64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_taken_once_until_it_is_freed() {
        let mut sites = Sites::new(10.0, 1.3);
        assert_eq!(sites.per_axis(), 7);
        let cell = sites.cell([9.99, 0.0, 3.0]);
        assert!(sites.take(cell, 3) && !sites.take(cell, 4));
        assert_eq!(sites.owner(cell), Some(3));
        sites.free(cell);
        assert_eq!(sites.owner(cell), None);
        assert!(sites.is_free([9.9, 0.1, 3.1]) && !sites.is_free([10.1, 0.1, 3.1]));
    }

    #[test]
    fn points_outside_are_in_the_nearest_cell() {
        let sites = Sites::new(10.0, 1.0);
        assert_eq!(sites.cell([-5.0, 10.0, 1e30]), sites.cell([0.0, 9.99, 9.99]));
        assert_eq!(Sites::new(0.1, 1.0).per_axis(), 1, "never without a cell");
    }
}
