//! Points in cells a little wider than a radius, so that all points within the radius of a point are in its own cell or in an adjacent one.
//!
//! Points are sorted by cell (`grid.rs`). The cells of a row are contiguous: the three cells of a row that touch a cell are one run of points, and many
//! points of a run are compared at once (`kernels/point_runs.rs`). In a periodic space runs continue at the other side; nothing is copied.
//! `half.rs` finds each pair once, with points in double precision rounded to single (`rounded.rs`). Neighbor lists and balls of one size use this module.

mod grid;
mod half;
mod rounded;
mod runs;

pub(crate) use grid::{AXES, Grid};
pub(crate) use half::{Wanted, pair_lists, sorted_pairs};
pub(crate) use runs::Runs;

use crate::geometry::{Period, Real};

/// Points, wrapped in a periodic space, and the radius within which two of them are neighbors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Points<'a, const D: usize, T> {
    pub(crate) points: &'a [[T; D]],
    pub(crate) radius: T,
    pub(crate) period: Option<Period<D, T>>,
}

impl<const D: usize, T: Real> Points<'_, D, T> {
    /// Are there fewer than three cells along a periodic axis, or periodic axes without cells? A neighbor may then be near on both sides, so the nearest
    /// image is computed for each pair of points.
    pub(crate) fn is_narrow(&self, grid: &Grid) -> bool {
        grid.axes.iter().any(|axis| axis.periodic && axis.cells < 3) || D > AXES && self.period.is_some()
    }
}
