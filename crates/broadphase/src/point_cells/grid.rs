//! Points in cells a little wider than the radius.

use std::sync::Mutex;

use super::Points;
use crate::context::Context;
use crate::geometry::{Real, each_axis, sort_few};

/// Axes that cells are cut along, at most.
pub(crate) const AXES: usize = 3;
/// Cells are wider than the radius by this factor, so that two neighbors are never two cells apart, however their coordinates round.
const WIDER: f64 = 1.001;
/// Cells per point, at most, and cells that any number of points may have.
const CELLS_PER_POINT: usize = 4;
const FEW_CELLS: usize = 4096;
/// Points per cell to aim at where points are sparse.
const POINTS_PER_CELL: usize = 2;
/// Points are sparse if this many share a cell with each point, itself included, on average. With [`POINTS_PER_CELL`] points per cell at random, three do.
const SPARSE_CROWD: usize = 4;
/// Cells along one axis, at most.
const MOST_CELLS: f64 = (1u64 << 30) as f64;
/// Points per job of the pass that finds cells.
const PER_JOB: usize = 1 << 14;
/// A point without a cell, since a coordinate is infinite.
const NOWHERE: u32 = u32::MAX;
/// Wider cells may hold this many points, averaged over all points.
const CROWD: u64 = 48;

/// One axis of the grid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    /// Which coordinate.
    pub(crate) k: usize,
    low: f64,
    /// Cells per unit of length.
    scale: f64,
    /// The number of cells.
    pub(crate) cells: usize,
    pub(crate) periodic: bool,
}

impl Axis {
    /// The low end, and how far the grid reaches from there.
    pub(crate) fn extent(&self) -> (f64, f64) {
        (self.low, if self.scale > 0.0 { self.cells as f64 / self.scale } else { 0.0 })
    }

    /// The cell of a coordinate; the nearest one outside of the grid.
    #[inline(always)]
    fn cell(&self, x: f64) -> usize {
        (((x - self.low) * self.scale) as usize).min(self.cells - 1)
    }
}

/// Points by cell. The first axis is the fastest one: cell (x, y, z) is number `x + nx * (y + ny * z)`.
#[derive(Debug)]
pub(crate) struct Grid {
    pub(crate) axes: [Axis; AXES],
    /// `order[starts[c]..starts[c + 1]]` are the points of cell c, ascending. Infinite points are in none.
    pub(crate) starts: Vec<u32>,
    pub(crate) order: Vec<u32>,
    /// Are cells wider than the radius asks for?
    is_coarse: bool,
}

impl Grid {
    /// Sorts the points into cells. Where cells as narrow as the radius allows would hold hardly more than a point each, wider ones are searched as fast, and
    /// there are fewer: they are tried first, and kept unless many points share a cell.
    pub(crate) fn new<const D: usize, T: Real>(set: &Points<'_, D, T>, context: &Context) -> Self {
        let points = set.points.len();
        let (few, most) = (points / POINTS_PER_CELL, CELLS_PER_POINT * points);
        let bounds = bounds(set);
        let (axes, is_coarse) = choose_axes(set, &bounds, most.max(FEW_CELLS));
        if few > FEW_CELLS && cells_of(&axes) > few {
            let (axes, is_coarse) = choose_axes(set, &bounds, few);
            let grid = Self::sort(set, axes, is_coarse, context);
            if grid.is_sparse() {
                return grid;
            }
        }
        Self::sort(set, axes, is_coarse, context)
    }

    fn sort<const D: usize, T: Real>(set: &Points<'_, D, T>, axes: [Axis; AXES], is_coarse: bool, context: &Context) -> Self {
        let (points, cells) = (set.points, cells_of(&axes));
        let jobs = points.len().div_ceil(PER_JOB);
        let keys: Vec<Mutex<Vec<u32>>> = (0..jobs).map(|_| Mutex::default()).collect();
        let number = |point: &[T; D]| {
            let finite = point.iter().fold(true, |all, x| all & x.is_finite());
            let at = |axis: &Axis| axis.cell(point[axis.k].to_f64());
            let cell = at(&axes[0]) + axes[0].cells * (at(&axes[1]) + axes[1].cells * at(&axes[2]));
            if finite { cell as u32 } else { NOWHERE }
        };
        context.run(jobs, |job, _| {
            let end = ((job + 1) * PER_JOB).min(points.len());
            let list = points[job * PER_JOB..end].iter().map(number).collect();
            *keys[job].lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = list;
        });
        let keys: Vec<Vec<u32>> =
            keys.into_iter().map(|list| list.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())).collect();
        let (starts, order) = counting_sort(&keys, cells);
        Self { axes, starts, order, is_coarse }
    }

    /// Are cells wider than the radius asks for, and full of points that are not neighbors?
    pub(crate) fn is_crowded(&self) -> bool {
        self.is_coarse && self.crowd() > CROWD * self.order.len() as u64
    }

    /// Do few points share a cell?
    pub(crate) fn is_sparse(&self) -> bool {
        self.crowd() <= (SPARSE_CROWD * self.order.len()) as u64
    }

    /// How many share a cell with each point, itself included, over all points.
    fn crowd(&self) -> u64 {
        self.starts.windows(2).map(|w| u64::from(w[1] - w[0])).map(|count| count * count).sum()
    }

    /// The number of cells.
    pub(crate) fn cells(&self) -> usize {
        self.starts.len() - 1
    }

    /// Cells cut into jobs of about as many points each: the first cell of each job, and the end.
    pub(crate) fn cut(&self, per_job: usize) -> Vec<usize> {
        let mut cuts = vec![0];
        let mut from = 0;
        for cell in 0..self.cells() {
            if (self.starts[cell + 1] - from) as usize >= per_job {
                cuts.push(cell + 1);
                from = self.starts[cell + 1];
            }
        }
        if cuts.last() != Some(&self.cells()) {
            cuts.push(self.cells());
        }
        cuts
    }
}

/// The number of cells.
fn cells_of(axes: &[Axis; AXES]) -> usize {
    axes.iter().map(|axis| axis.cells).product()
}

/// The least and the greatest finite coordinate along each axis; not in that order if there is none.
fn bounds<const D: usize, T: Real>(set: &Points<'_, D, T>) -> [(f64, f64); D] {
    let (low, high) = extremes(set.points);
    let ends = |k: usize| (low[k].to_f64(), high[k].to_f64());
    if (0..D).all(|k| low[k].is_finite() && high[k].is_finite()) {
        return each_axis(ends);
    }
    let finite = |k: usize| set.points.iter().map(move |point| point[k].to_f64()).filter(|x| x.is_finite());
    each_axis(|k| finite(k).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x))))
}

/// The least and the greatest coordinate along each axis, whether or not they are finite.
fn extremes<const D: usize, T: Real>(points: &[[T; D]]) -> ([T; D], [T; D]) {
    // Eight points side by side, so that the compiler compares whole registers.
    let (mut lows, mut highs) = ([[T::INFINITY; D]; 8], [[T::NEG_INFINITY; D]; 8]);
    let (blocks, rest) = points.as_chunks::<8>();
    let mut take = |lane: usize, point: &[T; D]| {
        for k in 0..D {
            let (x, low, high) = (point[k], lows[lane][k], highs[lane][k]);
            lows[lane][k] = if x < low { x } else { low };
            highs[lane][k] = if x > high { x } else { high };
        }
    };
    for block in blocks {
        (0..8).for_each(|lane| take(lane, &block[lane]));
    }
    rest.iter().for_each(|point| take(0, point));
    let least = |k: usize| lows.iter().map(|low| low[k]).fold(T::INFINITY, |a, b| if b < a { b } else { a });
    let greatest = |k: usize| highs.iter().map(|high| high[k]).fold(T::NEG_INFINITY, |a, b| if b > a { b } else { a });
    (each_axis(least), each_axis(greatest))
}

/// Up to three axes, those with the most cells first, and whether cells are wider than the radius asks for.
fn choose_axes<const D: usize, T: Real>(set: &Points<'_, D, T>, bounds: &[(f64, f64); D], most: usize) -> ([Axis; AXES], bool) {
    // Squares of differences below this one underflow, and count as zero.
    let tiny = T::MIN_POSITIVE.to_f64().sqrt() * 4.0;
    let width = (set.radius.to_f64() * WIDER).max(tiny);
    // Low end, length, and whether it repeats, by axis; the longest first. Equal ones stay in order.
    let mut sides: Vec<(usize, f64, f64, bool)> = (0..D)
        .map(|k| match set.period.and_then(|period| period.ends(k)) {
            Some((low, high)) => (k, low.to_f64(), high.to_f64() - low.to_f64(), true),
            None if bounds[k].0 <= bounds[k].1 => (k, bounds[k].0, (bounds[k].1 - bounds[k].0).min(f64::MAX), false),
            None => (k, 0.0, 0.0, false),
        })
        .collect();
    sort_few(&mut sides, |a, b| a.2.total_cmp(&b.2).is_gt());
    sides.truncate(AXES);
    let most = most as f64;
    let count = |length: f64, width: f64, periodic: bool| {
        let cells = (length / width).floor().clamp(0.0, MOST_CELLS);
        if periodic { cells.max(1.0) } else { cells + 1.0 }
    };
    let product = |width: f64| sides.iter().map(|side| count(side.2, width, side.3)).product::<f64>();
    let mut wide = width;
    while product(2.0 * wide) > most {
        wide *= 2.0;
    }
    while product(wide) > most {
        wide *= 1.08; // a quarter more volume in space
    }
    let mut axes = [Axis { k: 0, low: 0.0, scale: 0.0, cells: 1, periodic: false }; AXES];
    for (axis, &(k, low, length, periodic)) in axes.iter_mut().zip(&sides) {
        let cells = count(length, wide, periodic);
        let scale = if periodic { cells / length } else { 1.0 / wide };
        *axis = Axis { k, low, scale, cells: cells as usize, periodic };
    }
    (axes, wide > width)
}

/// Indices by key, ascending for equal keys, and the start of each key.
fn counting_sort(keys: &[Vec<u32>], cells: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; cells + 1];
    let mut count = 0;
    for &key in keys.iter().flatten().filter(|&&key| key != NOWHERE) {
        starts[key as usize] += 1;
        count += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        (*start, sum) = (sum, sum + *start);
    }
    let mut order = vec![0; count];
    for (&key, index) in keys.iter().flatten().zip(0..).filter(|(key, _)| **key != NOWHERE) {
        let start = &mut starts[key as usize];
        order[*start as usize] = index;
        *start += 1;
    }
    // Each start has become the end of its cell, which is the next cell's start.
    starts.rotate_right(1);
    starts[0] = 0;
    (starts, order)
}
