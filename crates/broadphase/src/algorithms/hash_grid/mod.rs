//! The hierarchical hash grid: O(1) per object, for any number of objects, sizes and extents of the world.
//!
//! # The structure
//! A hierarchy of grids (*levels*). An object belongs to the level whose cells are the smallest that are larger than it: cell
//! sizes are `base * factor^k` for integers k, the base being the first object's size times the root of the factor, or an option. Levels are
//! made when an object needs one. In its level an object belongs to the one cell that holds its lower corner. Space is
//! infinite, a level's cells are not: coordinates wrap around by a bit mask, so that adjacent cells stay adjacent, and objects
//! that share a cell although they are far apart are separated by the exact test. A level with more objects than cells / 8 is
//! doubled along one axis. It does not shrink while it has objects; a level that has none left after levels were merged frees its memory.
//!
//! So all overlaps of an object are with objects in its own and the adjacent cells of its level, of which half are searched (13
//! of 26 in space), and in those cells of every other level that its box can reach: at most 27 in a coarser level, more in a
//! finer one. See `level.rs` for why this holds whatever the floats round to.
//!
//! # Departures from the paper
//! `hash-grid:paper=true` (`paper/`) makes none of them. What they gain together (paired CPU times of one thread, equal pairs, an AMD EPYC with AVX-512;
//! `broadphase bench brownian-cubes sizes uniform:shape=long uniform:world=1024 --n 16000 --frames 65 --algorithms hash-grid,hash-grid:paper=true`):
//! 1.06 times as fast on `brownian-cubes`, 7.6 times on `sizes`, 14.8 times with long objects, 3.3 times in a world of 1024:1:1. With
//! `hash-grid-reinsert` in place of `hash-grid`, 33 frames: 1.6 times on `brownian-cubes`, 7.5 times on `sizes`.
//! 1. *Flat storage.* The paper's cell points to a heap vector; a cell here is 4 bytes and 2 bits (`cells.rs`), an object 12
//!    bytes, and boxes are copied only into the buffers of a search: about 670 bytes per object in the paper's example are at most 96.
//! 2. *Order.* A cell's index interleaves the axes' bits (`layout.rs`). The list of occupied cells is a bit set, read in the
//!    order of space, so a search touches memory that its predecessor has just touched.
//! 3. *Search by block.* The objects of up to 4,096 cells are copied into columns, row by row, so that neighbors are runs that
//!    one vector comparison tests many at once (`cell_block.rs`).
//! 4. *Growth one axis at a time*, along the axis that separates most objects which share a cell, and not at all if hardly any
//!    do. A world of 1024:1:1, a plane or a line gets a grid of its own shape, in place of the paper's 50 % loss.
//! 5. *Long and flat objects* get cells of their own shape if they are common (`shape_levels.rs`).
//! 6. *Many levels.* Levels share one grid where that costs less than to search each other (`level_merging.rs`). Of two levels, the one whose
//!    objects have less to search searches the other; a level of at most `FEW`
//!    objects is not searched at all, but tested against each block in passing: one giant among a million costs one
//!    comparison for every few objects. Empty levels cost nothing.
//! 7. *Sizes and places.* A size of zero or below all reason counts as the smallest one, a size beyond all levels goes to the
//!    list of unbounded objects, and a box is never in cells finer than the precision of its coordinates.
//!
//! # Cost
//! Insertion, removal and move: constant (`touched` / operations in the statistics; the example `operations` of the tool times
//! them). What is left to grow with the number of objects is the wait for memory, so changes to a large grid wait in a queue
//! until it has arrived (`prefetch_queue.rs`). Doubling: constant per insertion, spread out (`growth_work`). Detection: linear, if a bounded
//! number of objects share a cell, which the hierarchy guarantees for objects
//! that do not overlap, except for uncommon long ones. The bound breaks where overlaps themselves are quadratic, and where
//! thousands of different long shapes are mixed evenly.
//!
//! # Source
//! Paper 000, sections 2 and 3: F. Schornbaum, "Hierarchical Hash Grids for Coarse Collision Detection".

mod cells;
mod shape_levels;
mod level_merging;
mod cell_sizes;
mod layout;
mod level;
pub(crate) mod options;
mod pairs;
pub mod paper;
mod policy;
mod query;
mod cell_block;
mod update;
mod validate;
mod prefetch_queue;

use std::sync::Mutex;

pub use options::{Options, Strategy};
pub use paper::PaperHashGrid;

use crate::algorithms::common::{assert_dimension, implement_broad_phase};
use crate::algorithms::{BroadPhase, Spec, Stats};
use crate::context::PerWorker;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::Soa;
use crate::objects::unbounded::Unbounded;
use crate::pairs::Revision;
pub(crate) use policy::FEW;

use cell_block::Gathered;
use cell_sizes::CellSizes;
use level::{Key, Level};
use prefetch_queue::PrefetchQueue;

/// The entry of an object: its level, and [`MISFIT`] if a long or flat box is in cubic cells.
const LEVEL: u16 = 0x3fff;
const MISFIT: u16 = 0x4000;
/// The entries of a slot without an object, and of an object on the unbounded list.
const ABSENT: u16 = 0xffff;
const UNBOUNDED: u16 = 0xfffe;
/// The most levels: more than the sizes of any two floats differ by, at factors from 1.1 on.
const MOST_LEVELS: usize = 0x3f00;

/// The hierarchical hash grid.
#[derive(Clone, Debug)]
pub struct HashGrid<const D: usize, T: Real> {
    options: Options,
    /// Have there ever been more objects than the threshold? If not, nothing below but `live` and `dirty` is in use.
    active: bool,
    live: usize,
    cell_sizes: Option<CellSizes>,
    levels: Vec<Level<D, T>>,
    /// The levels by key, sorted.
    keys: Vec<(Key<D>, u16)>,
    /// By slot: where the object is.
    placements: Vec<Placement>,
    /// Slots whose changes have not been applied yet.
    queue: PrefetchQueue,
    unbounded: Unbounded<D, T>,
    misfits: usize,
    /// Objects up to this exponent share the grid of the level of this exponent.
    merged_up_to: Option<i16>,
    /// The entry of the last insertion: the first guess for the next.
    recent: u16,
    /// Has anything changed since the last `pairs`?
    dirty: bool,
    revision: Revision,
    counters: Counters,
    scratch: Scratch<D, T>,
}

/// Where an object is. One record per object: a change reads all of it, so it should be in one cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Placement {
    cell: u32,
    /// Where in the level's pool the id stands, if the object is not alone in its cell.
    place: u32,
    /// The level and its notes: the entry.
    level: u16,
}

impl Placement {
    const EMPTY: Self = Self { cell: 0, place: cells::NONE, level: ABSENT };
}

/// Counts of operations since the structure was created.
#[derive(Clone, Debug, Default)]
struct Counters {
    insertions: u64,
    /// Insertions by which the reinserting strategy put an object back into its cell.
    returns: u64,
    removals: u64,
    moves: u64,
    /// Moves to another level.
    level_changes: u64,
    growths: u64,
    /// Objects looked at or put in their new cells by growth.
    growth_work: u64,
    censuses: u64,
    /// Insertions when shapes were last counted.
    shapes_counted_at: u64,
    /// When it was last chosen which levels share a grid.
    merging_chosen_at: Option<policy::Choice>,
    /// The tests of the first frame after that, and whether a later one needed many more.
    usual_tests: Option<u64>,
    crowded: bool,
}

impl Counters {
    /// Insertions of objects that were not there before.
    fn newly_placed(&self) -> u64 {
        self.insertions - self.returns
    }

    /// Insertions and moves.
    fn operations(&self) -> u64 {
        self.newly_placed() + self.moves
    }
}

/// Buffers that can be dropped without changing a result.
#[derive(Debug, Default)]
struct Scratch<const D: usize, T: Real> {
    /// Objects that have to move, by job of the comparing pass.
    pending: Vec<Mutex<Vec<update::Pending>>>,
    lists: Vec<Vec<update::Pending>>,
    ids: Vec<u32>,
    /// The objects of levels with few of them; all objects below the threshold.
    few: Soa<D, T>,
    plan: pairs::Plan,
    counting: shape_levels::Buffers<D>,
    gathered: PerWorker<Gathered<D, T>>,
    /// How many buffers there are.
    workers: usize,
}

impl<const D: usize, T: Real> Clone for Scratch<D, T> {
    /// Scratch is not copied.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<const D: usize, T: Real> HashGrid<D, T> {
    /// An empty structure. Options are clamped to their ranges.
    pub fn new(options: Options) -> Self {
        assert_dimension::<D>();
        let options = options.in_range(D);
        Self {
            options,
            active: false,
            live: 0,
            cell_sizes: None,
            levels: Vec::new(),
            keys: Vec::new(),
            placements: Vec::new(),
            queue: PrefetchQueue::EMPTY,
            unbounded: Unbounded::default(),
            misfits: 0,
            merged_up_to: None,
            recent: ABSENT,
            dirty: true,
            revision: Revision::default(),
            counters: Counters::default(),
            scratch: Scratch::default(),
        }
    }

    fn bytes(&self) -> usize {
        let scratch = &self.scratch;
        let lock = |list: &Mutex<Vec<update::Pending>>| list.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).capacity();
        let pending: usize = scratch.pending.iter().map(|list| lock(list) * 8 + size_of::<Mutex<Vec<u32>>>()).sum();
        let gathered: usize = (0..scratch.workers).map(|worker| scratch.gathered.get(worker).bytes()).sum();
        self.placements.capacity() * size_of::<Placement>()
            + scratch.ids.capacity() * 4
            + self.levels.iter().map(Level::bytes).sum::<usize>()
            + self.levels.capacity() * size_of::<Level<D, T>>()
            + self.keys.capacity() * size_of::<(Key<D>, u16)>()
            + self.unbounded.bytes()
            + self.cell_sizes.as_ref().map_or(0, CellSizes::bytes)
            + scratch.few.bytes()
            + scratch.plan.bytes()
            + scratch.counting.bytes()
            + pending
            + gathered
    }
}

impl<const D: usize, T: Real> HashGrid<D, T> {
    fn stats(&self) -> Stats {
        let sum = |of: &dyn Fn(&Level<D, T>) -> usize| self.levels.iter().map(of).sum::<usize>() as f64;
        let touched: u64 = self.levels.iter().map(|level| level.cells.touched).sum();
        let extra = vec![
            ("levels", self.levels.len() as f64),
            ("busy_levels", sum(&|level| usize::from(level.count > 0))),
            ("shapes", sum(&|level| usize::from(!level.is_cubic()))),
            ("cells", sum(&|level| level.cells.len())),
            ("occupied", sum(&|level| level.cells.filled)),
            ("insertions", self.counters.insertions as f64),
            ("removals", self.counters.removals as f64),
            ("moves", self.counters.moves as f64),
            ("touched", touched as f64),
            ("growths", self.counters.growths as f64),
            ("growth_work", self.counters.growth_work as f64),
            ("censuses", self.counters.censuses as f64),
            ("level_changes", self.counters.level_changes as f64),
        ];
        Stats { bytes: self.bytes(), choice: None, extra }
    }
}

implement_broad_phase!(HashGrid, reader, outline);

/// Builds the grid of a [`Spec`]: the paper's with `paper=true`, otherwise ours; `strategy` is that of the listed name.
pub(crate) fn build<const D: usize, T: Real>(spec: &Spec, strategy: Strategy) -> Result<Box<dyn BroadPhase<D, T>>, Error> {
    match spec.paper_mode()? {
        true => Ok(Box::new(PaperHashGrid::from_spec(spec, strategy)?)),
        false => Ok(Box::new(HashGrid::new(Options::from_spec(spec, strategy)?))),
    }
}
