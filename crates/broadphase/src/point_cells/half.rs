//! Each pair of near points once: a cell is compared with itself and with the adjacent cells that follow it in the order of the grid.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Points;
use super::grid::Grid;
use super::rounded::Rounded;
use super::runs::Runs;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::point_runs::{Columns, PairFinder, Reach};
use crate::kernels::{Kernel, Simd};
use crate::memory::{refill, reserve};
use crate::pairs::{Pair, PairSort};

/// Points per job, about.
const PER_JOB: usize = 1 << 13;
/// Points of a cell that are searched at once.
const FEW: usize = 64;
/// What the memory is for, in errors.
const PAIRS: &str = "pairs";

/// Which pairs are wanted.
pub(crate) struct Wanted<'a, T> {
    pub(crate) reach: Reach<T>,
    /// Decides, by the definition, on pairs within reach that are not surely pairs. It is also asked about some a little on either side of those
    /// limits.
    pub(crate) confirm: &'a (dyn Fn(Pair) -> bool + Sync),
    /// Ends the search; its result is then not used.
    pub(crate) is_stopped: &'a (dyn Fn() -> bool + Sync),
    /// The most pairs.
    pub(crate) limit: u64,
}

/// All pairs within reach, `a < b`, sorted. The grid must not be [narrow](Points::is_narrow).
///
/// # Errors
/// [`Error::TooManyPairs`] and [`Error::OutOfMemory`].
pub(crate) fn sorted_pairs<const D: usize, T: Real>(
    set: &Points<'_, D, T>,
    grid: &Grid,
    wanted: &Wanted<'_, T>,
    context: &Context,
) -> Result<Vec<Pair>, Error> {
    let lists = pair_lists(set, grid, wanted, context)?;
    let mut sorted = Vec::new();
    refill(&mut sorted, lists.iter().map(Vec::len).sum(), Pair::default(), PAIRS)?;
    PairSort::default().collect(&mut sorted, set.points.len(), |visit| lists.iter().for_each(|list| visit(list)));
    Ok(sorted)
}

/// The same in several lists, not sorted.
///
/// # Errors
/// As for [`sorted_pairs`].
pub(crate) fn pair_lists<const D: usize, T: Real>(
    set: &Points<'_, D, T>,
    grid: &Grid,
    wanted: &Wanted<'_, T>,
    context: &Context,
) -> Result<Vec<Vec<Pair>>, Error> {
    let Some(Rounded { points, period, reach }) = Rounded::new(set, grid, wanted.reach)? else {
        return pair_lists_of(set, grid, wanted, context);
    };
    let Wanted { confirm, is_stopped, limit, .. } = *wanted;
    let set = Points { points: &points, radius: set.radius.to_f64() as f32, period };
    pair_lists_of(&set, grid, &Wanted { reach, confirm, is_stopped, limit }, context)
}

/// The same in the precision of the points.
fn pair_lists_of<const D: usize, T: Real>(
    set: &Points<'_, D, T>,
    grid: &Grid,
    wanted: &Wanted<'_, T>,
    context: &Context,
) -> Result<Vec<Vec<Pair>>, Error> {
    let points = Columns::gather(set.points, &grid.order);
    let cuts = grid.cut(PER_JOB);
    let jobs = cuts.len() - 1;
    let seen = AtomicU64::new(0);
    let blocks: Vec<Mutex<Result<Vec<Pair>, Error>>> = (0..jobs).map(|_| Mutex::new(Ok(Vec::new()))).collect();
    context.run(jobs, |job, _| {
        let search = Half { set, grid, points: &points, cells: cuts[job]..cuts[job + 1], wanted, seen: &seen };
        let found = context.kernels().run(search);
        *blocks[job].lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = found;
    });
    let mut lists = Vec::with_capacity(jobs);
    for block in blocks {
        lists.push(block.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())?);
    }
    if lists.iter().map(|list| list.len() as u64).sum::<u64>() > wanted.limit {
        return Err(Error::TooManyPairs { limit: wanted.limit });
    }
    Ok(lists)
}

/// The pairs of some cells with each other and with those that follow them.
struct Half<'a, 'p, const D: usize, T> {
    set: &'a Points<'p, D, T>,
    grid: &'a Grid,
    points: &'a Columns<D, T>,
    cells: Range<usize>,
    wanted: &'a Wanted<'a, T>,
    /// The pairs that all jobs have found so far.
    seen: &'a AtomicU64,
}

impl<const D: usize, T: Real> Kernel for Half<'_, '_, D, T> {
    type Output = Result<Vec<Pair>, Error>;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Self::Output {
        let Self { set, grid, points, cells, wanted, seen } = self;
        let Wanted { reach, confirm, is_stopped, limit } = wanted;
        let (mut around, mut runs, mut finder) = (Runs::new(set, grid, true), Vec::new(), PairFinder::default());
        let (mut found, mut doubtful) = (Vec::new(), Vec::new());
        reserve(&mut found, (grid.starts[cells.end] - grid.starts[cells.start]) as usize * 2, PAIRS)?;
        let no_room = |_| Error::OutOfMemory { what: PAIRS };
        let mut counted = 0;
        for cell in cells {
            let own = grid.starts[cell] as usize..grid.starts[cell + 1] as usize;
            if own.is_empty() {
                continue;
            }
            around.list(cell, &mut runs);
            // Few points of a crowded cell at once, so that the limit is noticed in time.
            for from in own.clone().step_by(FEW) {
                let part = from..(from + FEW).min(own.end);
                finder.find(simd, points, (part, &mut runs), *reach, (&mut found, &mut doubtful)).map_err(no_room)?;
                if found.len() > counted {
                    let more = (found.len() - counted) as u64;
                    counted = found.len();
                    if seen.fetch_add(more, Ordering::Relaxed) + more > *limit {
                        return Err(Error::TooManyPairs { limit: *limit });
                    }
                    if is_stopped() {
                        return Ok(Vec::new());
                    }
                }
            }
        }
        finder.list(points, &mut found, &mut doubtful).map_err(no_room)?;
        doubtful.retain(|&pair| confirm(pair));
        reserve(&mut found, doubtful.len(), PAIRS)?;
        found.append(&mut doubtful);
        Ok(found)
    }
}
