//! Making a partition: bisection of a grid of cells, with finer grids in dense cells.

use std::ops::Range;

use super::{FINER, MAX_TILES, Partition, Point, TILES, Table, mean_size};
use crate::algorithms::tiles::lattice::Place;
use crate::algorithms::tiles::plan::tuned::{CELLS_IN_CACHE, CELLS_PER_TILE, FEWER_CELLS_PER_TILE, FINEST_CELL, NARROWEST_PART};
use crate::error::Error;
use crate::geometry::{each_axis, sort_few};
use crate::memory;

/// The most copies that are expected per object: for larger objects, the mean is a poor estimate.
const MOST_COPIES: f64 = 4.0;

/// The parameters of the cuts, in units of the sample.
pub(super) struct Rules {
    pub(super) target: usize,
    pub(super) size: [f64; 3],
}

impl Rules {
    /// The extent of a box of cells on axis `k`, in mean sizes of objects.
    fn extent(&self, steps: f64, k: usize) -> f64 {
        steps / self.size[k].max(1.0)
    }
}

/// A box of cells, `low` inside and `high` outside, in cells of the table, and the number of sampled objects in it.
#[derive(Clone, Copy)]
struct Part {
    low: [i32; 3],
    high: [i32; 3],
    count: usize,
}

impl Part {
    /// Its side on axis `k`, in lattice steps.
    fn extent(&self, table: &Table, k: usize) -> f64 {
        f64::from(self.high[k] - self.low[k]) * f64::from(1u32 << table.shift[k])
    }
}

impl Partition {
    /// Builds the table over `low`, `2^extent` wide, for the points in it; returns its index.
    pub(super) fn build_table(&mut self, points: &mut [Point], low: Place, extent: [u8; 3], rules: &Rules) -> Result<u16, Error> {
        let table = Table { low, ..grid(points.len(), extent, self.entries.len(), rules) };
        let index = self.tables.len();
        memory::push(&mut self.tables, table, TILES)?;
        let entries = self.entries.len() + table.cells();
        memory::resize(&mut self.entries, entries, 0, TILES)?;
        // Sorted by cell, so that the points of a dense cell are one slice.
        let counts = sort_by_cell(&table, points)?;

        let mut dense = Vec::new();
        let all = Part { low: [0; 3], high: each_axis(|k| 1 << table.bits[k]), count: points.len() };
        let mut stack = Vec::new();
        memory::push(&mut stack, all, TILES)?;
        while let Some(part) = stack.pop() {
            // Every part on the stack and every dense cell needs a tile, and entries can name only a limited number.
            let named = self.tiles.len() + self.promised + stack.len() + dense.len() + 2;
            if part.count > rules.target && named < MAX_TILES {
                if let Some((left, right)) = cut_part(&table, &counts, &part, rules) {
                    memory::push(&mut stack, right, TILES)?;
                    memory::push(&mut stack, left, TILES)?;
                    continue;
                }
                let single = (0..3).all(|k| part.high[k] - part.low[k] == 1);
                if single && part.count > 2 * rules.target && self.tables.len() + dense.len() < MAX_TILES {
                    // Uses the sizes of the objects in the cell, so that a cluster of small objects among large ones is refined.
                    let at: Place = each_axis(|k| table.low[k] + (part.low[k] << table.shift[k]));
                    let inside = within(&table, points, table.index(&at));
                    let rules = Rules { size: mean_size(&points[inside.clone()]), ..*rules };
                    if (0..3).any(|k| table.shift[k] > 0 && rules.extent(f64::from(1u32 << table.shift[k]), k) >= FINEST_CELL) {
                        memory::push(&mut dense, (at, inside, rules), TILES)?;
                        continue;
                    }
                }
            }
            self.fill(&table, &counts, &part, rules)?;
        }
        self.promised += dense.len();
        for (at, inside, rules) in dense {
            self.promised -= 1;
            self.entries[table.index(&at)] = FINER | self.build_table(&mut points[inside], at, table.shift, &rules)?;
        }
        Ok(index as u16)
    }

    /// Makes one tile of a box of cells.
    fn fill(&mut self, table: &Table, counts: &[u32], part: &Part, rules: &Rules) -> Result<(), Error> {
        let place = |cell: &[i32; 3]| -> Place { each_axis(|k| table.low[k] + (cell[k] << table.shift[k])) };
        // The distance from the first to the last slab that is not empty, in mean sizes.
        let spread = |k: usize| {
            let mut used = (part.low[k]..part.high[k]).filter(|&at| slab(table, counts, part, k, at) > 0);
            let first = used.next().unwrap_or(0);
            rules.extent(f64::from(used.next_back().unwrap_or(first) - first + 1) * f64::from(1u32 << table.shift[k]), k)
        };
        let axis = (1..3).fold(0, |best, k| if spread(k) > spread(best) { k } else { best });
        let tile = self.add_tile(place(&part.low), place(&part.high), axis as u8)?;
        // An object of mean size whose lower corner is in this tile reaches this many tiles on average; about as many records of objects from
        // other tiles are in this one.
        let extents = (0..3).map(|k| rules.extent(part.extent(table, k), k)).filter(|&extent| extent > 0.0);
        let copies: f64 = extents.map(|extent| 1.0 + 1.0 / extent).product();
        memory::push(&mut self.expected, (part.count as f64 * copies.min(MOST_COPIES)) as f32, TILES)?;
        for z in part.low[2]..part.high[2] {
            for y in part.low[1]..part.high[1] {
                let from = table.index(&place(&[part.low[0], y, z]));
                self.entries[from..from + (part.high[0] - part.low[0]) as usize].fill(tile);
            }
        }
        Ok(())
    }
}

/// Sorts points by their cell, by counting; returns the number of points in each cell.
fn sort_by_cell(table: &Table, points: &mut [Point]) -> Result<Vec<u32>, Error> {
    let cell = |point: &Point| table.index(&point.center) - table.start as usize;
    let (mut counts, mut next, mut unsorted) = (Vec::new(), Vec::new(), Vec::new());
    memory::refill(&mut counts, table.cells(), 0u32, TILES)?;
    points.iter().for_each(|point| counts[cell(point)] += 1);
    memory::copy(&mut next, &counts, TILES)?;
    let mut sum = 0;
    next.iter_mut().for_each(|start| sum += std::mem::replace(start, sum));
    memory::copy(&mut unsorted, points, TILES)?;
    for point in unsorted {
        let next = &mut next[cell(&point)];
        points[*next as usize] = point;
        *next += 1;
    }
    Ok(counts)
}

/// The points of a cell, of points sorted by cell.
fn within(table: &Table, points: &[Point], cell: usize) -> Range<usize> {
    let from = points.partition_point(|point| table.index(&point.center) < cell);
    from..points.partition_point(|point| table.index(&point.center) <= cell)
}

/// Chooses the cells of a table, bit by bit: each bit halves the cells on the axis where they are widest, relative to the objects.
fn grid(count: usize, extent: [u8; 3], start: usize, rules: &Rules) -> Table {
    let tiles = (count / rules.target.max(1)).max(1).ilog2();
    let cells = (tiles + CELLS_PER_TILE).min(CELLS_IN_CACHE.max(tiles + FEWER_CELLS_PER_TILE)).min(24);
    let mut bits = [0u8; 3];
    for _ in 0..cells {
        let width = |k: usize| if bits[k] < extent[k] { rules.extent(f64::from(1u32 << (extent[k] - bits[k])), k) } else { 0.0 };
        let widest = (0..3).fold(0, |best, k| if width(k) > width(best) { k } else { best });
        if width(widest) < NARROWEST_PART / 2.0 {
            break;
        }
        bits[widest] += 1;
    }
    Table { low: [0; 3], shift: each_axis(|k| extent[k] - bits[k]), bits, start: start as u32 }
}

/// Cuts a part in two halves of about equal count, across its longest side that can be cut. (Tiles two or three times as long on one axis
/// made fewer tests, but frames were not faster.)
fn cut_part(table: &Table, counts: &[u32], part: &Part, rules: &Rules) -> Option<(Part, Part)> {
    let extent = |k: usize| rules.extent(part.extent(table, k), k);
    let mut axes = [0, 1, 2];
    sort_few(&mut axes, |&a, &b| extent(a).total_cmp(&extent(b)).is_gt());
    for k in axes {
        if part.high[k] - part.low[k] < 2 || extent(k) < NARROWEST_PART {
            continue;
        }
        let mut left = 0;
        let mut best: Option<(usize, i32, usize)> = None;
        for cut in part.low[k] + 1..part.high[k] {
            left += slab(table, counts, part, k, cut - 1);
            let uneven = left.abs_diff(part.count - left);
            if best.is_none_or(|(least, ..)| uneven < least) {
                best = Some((uneven, cut, left));
            }
        }
        // A cut that leaves nearly all objects on one side still narrows the rest; one that leaves all is useless.
        if let Some((_, cut, left)) = best.filter(|&(_, _, left)| left > 0 && left < part.count) {
            let (mut low, mut high) = (Part { count: left, ..*part }, Part { count: part.count - left, ..*part });
            low.high[k] = cut;
            high.low[k] = cut;
            return Some((low, high));
        }
        // All objects are in one slab: cut off the empty space, so that a finer table is possible.
        if let Some(cut) = (part.low[k]..part.high[k]).find(|&at| slab(table, counts, part, k, at) > 0) {
            let (mut low, mut high) = (*part, *part);
            let at = if cut > part.low[k] { cut } else { cut + 1 };
            low.high[k] = at;
            high.low[k] = at;
            let inside = |p: &Part| if (p.low[k]..p.high[k]).contains(&cut) { part.count } else { 0 };
            (low.count, high.count) = (inside(&low), inside(&high));
            return Some((low, high));
        }
    }
    None
}

/// The objects of a part in the cells with coordinate `at` on axis `k`.
fn slab(table: &Table, counts: &[u32], part: &Part, k: usize, at: i32) -> usize {
    let range = |axis: usize| if axis == k { at..at + 1 } else { part.low[axis]..part.high[axis] };
    let mut sum = 0;
    for z in range(2) {
        for y in range(1) {
            let row = (y as usize) << table.bits[0] | (z as usize) << (table.bits[0] + table.bits[1]);
            let xs = range(0);
            sum += counts[row + xs.start as usize..row + xs.end as usize].iter().map(|&c| c as usize).sum::<usize>();
        }
    }
    sum
}
