//! What the structure holds and did, in figures.

use super::grid::Grid;
use super::{Counters, PaperHashGrid};
use crate::algorithms::Stats;
use crate::algorithms::common::bytes_of;
use crate::algorithms::hash_grid::cell_sizes::CellSizes;
use crate::geometry::Real;

impl<const D: usize, T: Real> PaperHashGrid<D, T> {
    pub(super) fn stats(&self) -> Stats {
        let sum = |of: &dyn Fn(&Grid<D, T>) -> usize| self.grids.iter().map(of).sum::<usize>() as f64;
        let (objects, occupied) = (sum(&|grid| grid.count), sum(&|grid| grid.occupied().len()));
        let most = self.grids.iter().map(Grid::most_per_cell).max().unwrap_or(0);
        let Counters { updated, insertions, removals, cell_changes, level_changes, growths, growth_work } = self.counters;
        let touched: u64 = self.grids.iter().map(|grid| grid.touched).sum();
        let counted = [
            ("updated", updated),
            ("insertions", insertions),
            ("removals", removals),
            ("cell_changes", cell_changes),
            ("level_changes", level_changes),
            ("touched", touched),
            ("growths", growths),
            ("growth_work", growth_work),
        ];
        let mut extra = vec![
            ("levels", self.grids.len() as f64),
            ("busy_levels", sum(&|grid| usize::from(grid.count > 0))),
            ("cells", sum(&|grid| grid.cells())),
            ("occupied", occupied),
            ("objects_per_cell", if occupied > 0.0 { objects / occupied } else { 0.0 }),
            ("most_per_cell", most as f64),
            ("offset_arrays", sum(&|grid| grid.offset_arrays())),
        ];
        extra.extend(counted.map(|(name, count)| (name, count as f64)));
        let grids: usize = self.grids.iter().map(Grid::bytes).sum();
        let lists = bytes_of(&self.objects) + bytes_of(&self.chunks) + bytes_of(&self.ids) + bytes_of(&self.list);
        let cell_sizes = self.cell_sizes.as_ref().map_or(0, CellSizes::bytes);
        let bytes = grids + bytes_of(&self.grids) + lists + cell_sizes + self.unbounded.bytes();
        Stats { bytes, choice: None, extra }
    }
}
