//! The runs of points around a cell: cells that follow each other in the order of the grid.

use super::Points;
use super::grid::{AXES, Grid};
use crate::geometry::Real;
use crate::kernels::point_runs::{Image, Run};

/// Lists the runs around cells: the cells from the one before to the one behind it, in each of the rows around its own. Cells are best asked for in
/// order, since all cells of a row have the same rows around them.
#[derive(Debug)]
pub(crate) struct Runs<'a, 'p, const D: usize, T> {
    set: &'a Points<'p, D, T>,
    grid: &'a Grid,
    /// Only one half of them: of each two cells that touch, one lists the other, and the first run begins with the cell itself.
    half: bool,
    /// The first cell of the current row, and the rows around it, by their first cells. The row itself comes first, if it is one half.
    start: usize,
    rows: Vec<Row>,
}

/// A row of cells: its first one, and over which borders of the second and third axis it is seen.
#[derive(Clone, Copy, Debug)]
struct Row {
    start: usize,
    over: [i8; 2],
}

impl<'a, 'p, const D: usize, T: Real> Runs<'a, 'p, D, T> {
    pub(crate) fn new(set: &'a Points<'p, D, T>, grid: &'a Grid, half: bool) -> Self {
        Self { set, grid, half, start: usize::MAX, rows: Vec::new() }
    }

    /// The runs around a cell that are not empty.
    #[inline(always)]
    pub(crate) fn list(&mut self, cell: usize, runs: &mut Vec<Run<D, T>>) {
        let axis = &self.grid.axes[0];
        if self.start > cell || cell - self.start >= axis.cells {
            self.enter_row(cell);
        }
        runs.clear();
        let (x, last) = (cell - self.start, axis.cells - 1);
        let wraps = axis.periodic && axis.cells >= 3;
        let (before, behind) = (x.saturating_sub(1), (x + 1).min(last));
        for (index, row) in self.rows.iter().enumerate() {
            // Cells that no border separates are one run.
            let is_own = self.half && index == 0;
            self.push(row, if is_own { x } else { before }, behind, 0, runs);
            if wraps && x == 0 && !is_own {
                self.push(row, last, last, -1, runs);
            }
            if wraps && x == last {
                self.push(row, 0, 0, 1, runs);
            }
        }
    }

    /// Lists the rows around that of a cell.
    fn enter_row(&mut self, cell: usize) {
        let [nx, ny, _] = self.grid.axes.map(|axis| axis.cells);
        let row = cell / nx;
        let (y, z) = (row % ny, row / ny);
        let [along_y, along_z] = [steps_along(self.grid, 1, y), steps_along(self.grid, 2, z)];
        self.start = row * nx;
        self.rows.clear();
        for (at_z, step_z) in along_z.into_iter().enumerate() {
            for (at_y, step_y) in along_y.into_iter().enumerate() {
                // Behind it: in the next layer, or in its own layer from its own row on.
                let is_behind = at_z == 2 || (at_z == 1 && at_y >= 1);
                if let (Some((z, over_z)), Some((y, over_y)), true) = (step_z, step_y, is_behind || !self.half) {
                    self.rows.push(Row { start: nx * (y + ny * z), over: [over_y, over_z] });
                }
            }
        }
    }

    /// Lists the points of the cells of a row from one to another, unless there are none.
    #[inline(always)]
    fn push(&self, row: &Row, from: usize, to: usize, over_x: i8, runs: &mut Vec<Run<D, T>>) {
        let starts = &self.grid.starts[row.start..];
        let points = starts[from] as usize..starts[to + 1] as usize;
        if !points.is_empty() {
            let is_plain = over_x == 0 && row.over == [0, 0];
            let image = if is_plain { None } else { Some(image(self.set, self.grid, [over_x, row.over[0], row.over[1]])) };
            runs.push(Run { points, image });
        }
    }
}

/// The cells along an axis that touch a cell, each once: the one before it, itself, the one behind it; and over which border each is seen: -1 the
/// lower one, 1 the upper one.
fn steps_along(grid: &Grid, axis: usize, at: usize) -> [Option<(usize, i8)>; 3] {
    let axis = &grid.axes[axis];
    let last = axis.cells - 1;
    let wraps = axis.periodic && axis.cells >= 3;
    let before = if at > 0 { Some((at - 1, 0)) } else { wraps.then_some((last, -1)) };
    let behind = if at < last { Some((at + 1, 0)) } else { wraps.then_some((0, 1)) };
    [before, Some((at, 0)), behind]
}

/// How points across these borders are moved.
#[cold]
fn image<const D: usize, T: Real>(set: &Points<'_, D, T>, grid: &Grid, over: [i8; AXES]) -> Image<D, T> {
    let mut image = Image { length: [T::ZERO; D], sign: [T::ONE; D] };
    for (axis, over) in grid.axes.iter().zip(over) {
        let Some(length) = set.period.and_then(|period| period.length(axis.k)).filter(|_| over != 0) else { continue };
        image.length[axis.k] = length;
        // Over the lower border the others are larger: own - other is negative.
        image.sign[axis.k] = if over < 0 { T::ONE } else { -T::ONE };
    }
    image
}
