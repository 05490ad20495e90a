//! Every point's row, from the runs of cells around it.

use std::ops::Range;
use std::sync::Mutex;

use super::{Neighbors, Task};
use crate::arrays::Cancel;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::point_runs::{Columns, near};
use crate::kernels::{Kernel, Simd};
use crate::point_cells::{Grid, Runs};

/// Points per job, about.
const PER_JOB: usize = 4096;
/// Rows up to this length are sorted by counting smaller entries, which takes no branches.
const SHORT: usize = 96;

/// The rows of some cells' points, in the order of the cells.
#[derive(Default)]
struct Block {
    /// The end of each row.
    ends: Vec<usize>,
    items: Vec<u32>,
}

/// All rows.
pub(super) fn list<const D: usize, T: Real>(
    task: &Task<'_, D, T>,
    grid: &Grid,
    context: &Context,
    cancel: &Cancel,
) -> Result<Neighbors<T>, Error> {
    let points = Columns::gather(task.set.points, &grid.order);
    let cuts = grid.cut(PER_JOB);
    let jobs = cuts.len() - 1;
    let blocks: Vec<Mutex<Block>> = (0..jobs).map(|_| Mutex::default()).collect();
    context.run(jobs, |job, _| {
        if !cancel.is_cancelled() {
            let mut block = Block::default();
            let cells = cuts[job]..cuts[job + 1];
            context.kernels().run(Rows { task, grid, points: &points, cells, block: &mut block });
            *blocks[job].lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = block;
        }
    });
    cancel.check()?;
    let blocks: Vec<Block> =
        blocks.into_iter().map(|block| block.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())).collect();
    gather(task, grid, &cuts, &blocks, context)
}

/// Copies the rows into the order of the points.
fn gather<const D: usize, T: Real>(
    task: &Task<'_, D, T>,
    grid: &Grid,
    cuts: &[usize],
    blocks: &[Block],
    context: &Context,
) -> Result<Neighbors<T>, Error> {
    let count = task.set.points.len();
    // Of each point its row: block, start, end.
    let mut rows = vec![(0u32, 0usize, 0usize); count];
    for (job, block) in blocks.iter().enumerate() {
        let (first, mut start) = (grid.starts[cuts[job]] as usize, 0);
        for (position, &end) in block.ends.iter().enumerate() {
            rows[grid.order[first + position] as usize] = (job as u32, start, end);
            start = end;
        }
    }
    let mut offsets = Vec::with_capacity(count + 1);
    offsets.push(0);
    let mut total = 0;
    offsets.extend(rows.iter().map(|&(_, start, end)| {
        total += end - start;
        total
    }));
    let room = |_| Error::OutOfMemory { what: "neighbors" };
    let mut indices: Vec<u32> = Vec::new();
    indices.try_reserve_exact(total).map_err(room)?;
    indices.resize(total, 0);
    let mut distances: Vec<T> = Vec::new();
    if task.distances {
        distances.try_reserve_exact(total).map_err(room)?;
        distances.resize(total, T::ZERO);
    }
    // Each job fills its own part of both lists.
    let mut parts = Vec::new();
    let (mut rest, mut rest_distances) = (&mut indices[..], &mut distances[..]);
    for from in (0..count).step_by(PER_JOB) {
        let to = (from + PER_JOB).min(count);
        let len = offsets[to] - offsets[from];
        let (part, behind) = rest.split_at_mut(len);
        let (part_distances, behind_distances) = rest_distances.split_at_mut(if task.distances { len } else { 0 });
        (rest, rest_distances) = (behind, behind_distances);
        parts.push(Mutex::new((from..to, part, part_distances)));
    }
    context.run(parts.len(), |job, _| {
        let (points, part, part_distances) = &mut *parts[job].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let first = offsets[points.start];
        for point in points.clone() {
            let (block, start, end) = rows[point];
            let row = &blocks[block as usize].items[start..end];
            let place = offsets[point] - first..offsets[point + 1] - first;
            part[place.clone()].copy_from_slice(row);
            if task.distances {
                let each = part_distances[place].iter_mut().zip(row);
                each.for_each(|(distance, &other)| *distance = task.squared_distance(point as u32, other).sqrt());
            }
        }
    });
    drop(parts);
    Ok(Neighbors { offsets, indices, distances })
}

/// The rows of all points in some cells.
struct Rows<'a, 'p, const D: usize, T> {
    task: &'a Task<'p, D, T>,
    grid: &'a Grid,
    points: &'a Columns<D, T>,
    cells: Range<usize>,
    block: &'a mut Block,
}

impl<const D: usize, T: Real> Kernel for Rows<'_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { task, grid, points, cells, block } = self;
        let reach = task.set.radius * task.set.radius;
        let is_narrow = task.set.is_narrow(grid);
        let (mut around, mut runs, mut row) = (Runs::new(&task.set, grid, false), Vec::new(), Vec::new());
        for cell in cells {
            let own = grid.starts[cell] as usize..grid.starts[cell + 1] as usize;
            if own.is_empty() {
                continue;
            }
            around.list(cell, &mut runs);
            for position in own {
                if is_narrow {
                    let id = points.id(position);
                    let all = runs.iter().flat_map(|run| run.points.clone()).map(|other| points.id(other));
                    row.clear();
                    row.extend(all.filter(|&other| other != id && task.squared_distance(id, other) <= reach));
                } else {
                    near(simd, points, &runs, position, reach, &mut row);
                }
                if task.half {
                    let id = points.id(position);
                    row.retain(|&other| other > id);
                }
                append_sorted(&mut row, &mut block.items);
                block.ends.push(block.items.len());
            }
        }
    }
}

/// Appends a row of different entries, ascending.
#[inline(always)]
fn append_sorted(row: &mut [u32], items: &mut Vec<u32>) {
    if row.len() > SHORT {
        row.sort_unstable();
        items.extend_from_slice(row);
        return;
    }
    let from = items.len();
    items.resize(from + row.len(), 0);
    let sorted = &mut items[from..];
    for &entry in &*row {
        let mut smaller = 0u32;
        for &other in &*row {
            smaller += u32::from(other < entry);
        }
        sorted[smaller as usize] = entry;
    }
}
