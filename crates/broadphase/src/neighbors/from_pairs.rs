//! Rows made of pairs; and the pairs of points for which cells do not work, since a few points are far from the rest: boxes around the points are searched
//! instead.

use super::{Neighbors, Task};
use crate::arrays::{Cancel, Search, Shared};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Period, Real, sort_few};
use crate::pairs::Pair;
use crate::point_cells::{Grid, pair_lists};

/// Boxes are wider than the radius by this factor, so that none is lost to rounding.
const WIDER: f64 = 1.001;

/// Do boxes of that width work in a periodic space? The radius must be less than half a period, and not so small that rounding, when a box is moved by a
/// period, takes away what [`WIDER`] adds.
pub(super) fn suits<const D: usize, T: Real>(task: &Task<'_, D, T>) -> bool {
    let (radius, Some(period)) = (task.set.radius.to_f64(), &task.set.period) else { return true };
    (0..D).all(|k| {
        let (Some(length), Some((low, high))) = (period.length(k), period.ends(k)) else { return true };
        let largest = low.abs().max(high.abs());
        let rounding = (largest.next_up() - largest).to_f64();
        radius * 1.01 < length.to_f64() * 0.5 && rounding * 16.0 <= radius * (WIDER - 1.0)
    })
}

/// All pairs, sorted, from those of boxes around the points.
pub(super) fn far_pairs<const D: usize, T: Real>(
    task: &Task<'_, D, T>,
    executor: Shared,
    cancel: &Cancel,
) -> Result<Vec<Pair>, Error> {
    // Boxes are cut along three axes at most, or along two: the longest.
    let mut extents: Vec<(usize, f64)> = (0..D)
        .map(|k| {
            let finite = task.set.points.iter().map(|point| point[k].to_f64()).filter(|x| x.is_finite());
            let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
            (k, high - low)
        })
        .collect();
    sort_few(&mut extents, |a, b| a.1.total_cmp(&b.1).is_gt());
    let mut pairs = match D {
        0..=2 => pairs_of::<D, T, 2>(task, &extents, executor, cancel)?,
        _ => pairs_of::<D, T, 3>(task, &extents, executor, cancel)?,
    };
    let reach = task.set.radius * task.set.radius;
    pairs.retain(|pair| task.squared_distance(pair.a, pair.b) <= reach);
    Ok(pairs)
}

/// Pairs of boxes around the points, sorted, along `E` of their axes.
fn pairs_of<const D: usize, T: Real, const E: usize>(
    task: &Task<'_, D, T>,
    axes: &[(usize, f64)],
    executor: Shared,
    cancel: &Cancel,
) -> Result<Vec<Pair>, Error> {
    let axis = |e: usize| axes.get(e).map(|axis| axis.0);
    let tiny = T::MIN_POSITIVE.sqrt() * T::from_f64(4.0);
    let half = task.set.radius * T::from_f64(0.5 * WIDER) + tiny;
    let around = |point: &[T; D]| {
        let center: [T; E] = std::array::from_fn(|e| axis(e).map_or(T::ZERO, |k| point[k]));
        let grown = Aabb::point(center).grow(half);
        Aabb::new(grown.min.map(Real::next_down), grown.max.map(Real::next_up))
    };
    let boxes: Vec<Aabb<E, T>> = task.set.points.iter().map(around).collect();
    let mut search = Search::new(boxes).executor(executor).cancel(cancel);
    if let Some(period) = &task.set.period {
        let ends: [Option<(T, T)>; E] = std::array::from_fn(|e| axis(e).and_then(|k| period.ends(k)));
        let lengths = std::array::from_fn(|e| axis(e).and_then(|k| period.length(k)));
        search = search.periodic(Period::axes(lengths).with_origin(ends.map(|ends| ends.map_or(T::ZERO, |ends| ends.0))));
    }
    search.list()
}

/// Full rows, with each pair in the rows of both points, made of unsorted pairs that are found once.
pub(super) fn rows_of_lists<const D: usize, T: Real>(
    task: &Task<'_, D, T>,
    grid: &Grid,
    context: &Context,
    cancel: &Cancel,
) -> Result<Neighbors<T>, Error> {
    let (is_near, is_stopped) = (|pair| task.is_near(pair), || cancel.is_cancelled());
    let lists = pair_lists(&task.set, grid, &task.wanted(&is_near, &is_stopped), context)?;
    cancel.check()?;
    let count = task.set.points.len();
    // One entry further on, so that filling the rows moves each start to its place.
    let mut offsets = vec![0usize; count + 2];
    for pair in lists.iter().flatten() {
        offsets[pair.a as usize + 2] += 1;
        offsets[pair.b as usize + 2] += 1;
    }
    let mut total = 0;
    for offset in &mut offsets {
        total += *offset;
        *offset = total;
    }
    let mut indices: Vec<u32> = Vec::new();
    indices.try_reserve_exact(total).map_err(|_| Error::OutOfMemory { what: "neighbors" })?;
    indices.resize(total, 0);
    for pair in lists.iter().flatten() {
        for (of, neighbor) in [(pair.a, pair.b), (pair.b, pair.a)] {
            let next = &mut offsets[of as usize + 1];
            indices[*next] = neighbor;
            *next += 1;
        }
    }
    offsets.pop();
    offsets.windows(2).for_each(|row| indices[row[0]..row[1]].sort_unstable());
    let mut neighbors = Neighbors { offsets, indices, distances: Vec::new() };
    neighbors.measure(task);
    Ok(neighbors)
}

impl<T: Real> Neighbors<T> {
    /// Fills in the distances, if they are wanted.
    fn measure<const D: usize>(&mut self, task: &Task<'_, D, T>) {
        if task.distances {
            let rows = self.offsets.windows(2).enumerate();
            let entries = rows.flat_map(|(a, row)| self.indices[row[0]..row[1]].iter().map(move |&b| (a as u32, b)));
            self.distances = entries.map(|(a, b)| task.squared_distance(a, b).sqrt()).collect();
        }
    }
}

/// Rows from sorted pairs.
pub(super) fn rows_of<const D: usize, T: Real>(task: &Task<'_, D, T>, pairs: &[Pair]) -> Neighbors<T> {
    let count = task.set.points.len();
    let mut offsets = vec![0usize; count + 1];
    for pair in pairs {
        offsets[pair.a as usize] += 1;
        offsets[pair.b as usize] += usize::from(!task.half);
    }
    let mut total = 0;
    for offset in &mut offsets {
        (*offset, total) = (total, total + *offset);
    }
    let indices = if task.half {
        pairs.iter().map(|pair| pair.b).collect()
    } else {
        let (mut indices, mut next) = (vec![0; total], offsets.clone());
        let mut put = |of: u32, neighbor: u32| {
            indices[next[of as usize]] = neighbor;
            next[of as usize] += 1;
        };
        // Sorted pairs, first from their second side, then from their first one: rows come out ascending.
        pairs.iter().for_each(|pair| put(pair.b, pair.a));
        pairs.iter().for_each(|pair| put(pair.a, pair.b));
        indices
    };
    let mut neighbors = Neighbors { offsets, indices, distances: Vec::new() };
    neighbors.measure(task);
    neighbors
}
