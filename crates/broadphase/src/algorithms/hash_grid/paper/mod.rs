//! The hierarchical hash grid mechanism by mechanism as the paper has it: `hash-grid:paper=true`.
//!
//! # The structure
//! - A hierarchy of grids with cubic cells, sorted by cell size; sizes are `base * factor^k`, the base being the first object's size times
//!   the root of the factor (section 3.3). An object is in the first grid whose cells are larger than its longest side (algorithm 3). Grids are
//!   made when an object needs one; none is merged with another, and none is ever removed.
//! - A grid is a linear array of cells, powers of two on every axis, numbered row by row (`grid.rs`). Objects are hashed by their lower
//!   corner, coordinate modulo cells, negative ones mirrored (section 3.2). A cell holds a pointer to the offsets of its neighbors, which all inner cells
//!   share and every outer cell has of its own (equations 3.1.1 and 3.1.2), a pointer to its container, and its index in the
//!   list of occupied cells. A container is allocated when the first object arrives, with room for `capacity` ids, and freed when the last one leaves.
//! - When the objects of a grid exceed its cells / `density`, all data structures are allocated again with twice the cells on every axis and the
//!   objects are inserted again (section 3.4). Only a refused allocation stops that, with a typed error. A grid never shrinks (section 3.5).
//! - Up to `threshold` objects all pairs are tested (section 3.7); the text names no value, so it is that of our own mode.
//!
//! # The update and the detection step
//! Algorithm 2 moves objects whose hash has changed, and assigns those again that no longer suit their grid; the other strategy clears all occupied
//! cells and inserts all objects again. Algorithm 4 tests within each occupied cell, against the first half of its neighbors, and each object
//! against all 27 cells around its place in every grid with larger cells. One box is compared with one other at a time.
//!
//! # What the text leaves open
//! 1. Objects that no grid can hold, for which the text has a global container, are joined as everywhere in this crate
//!    (`objects/unbounded.rs`). So are sizes beyond the largest cells; sizes of zero, for which algorithm 3 would not end, count as its lowest step.
//! 2. Far from the origin a box may round to more than two cells of a grid. It then goes to the next larger grid, and its search in a grid above visits
//!    each cell that it can reach, which are the 27 ones otherwise.
//!
//! # Cost
//! As our own mode: constant per object for objects that do not overlap. It allocates and frees containers while objects move, as the paper's does.

mod grid;
mod pairs;
mod query;
mod stats;
mod update;
mod validate;

use std::ops::Range;

use super::cell_sizes::CellSizes;
use super::{Options, Strategy};
use crate::algorithms::Spec;
use crate::algorithms::common::{assert_dimension, implement_broad_phase};
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::unbounded::Unbounded;
use crate::pairs::Revision;
use grid::Grid;

/// Ids that a new container has room for, in the paper's benchmarks (section 4).
const CAPACITY: usize = 16;
/// The grid of a slot without an object, and of an object in the global container.
const ABSENT: u16 = u16::MAX;
const UNBOUNDED: u16 = u16::MAX - 1;
/// What the memory of an error is for.
const WHAT: &str = "the cells of a hash grid";

/// The hierarchical hash grid of the paper. See the module documentation.
#[derive(Clone, Debug)]
pub struct PaperHashGrid<const D: usize, T: Real> {
    options: Options,
    /// Have there ever been more objects than the threshold? If not, no grid exists.
    active: bool,
    live: usize,
    cell_sizes: Option<CellSizes>,
    grids: Vec<Grid<D, T>>,
    /// The grids in ascending order of cell size: what the paper calls the grid list.
    list: Vec<u16>,
    /// By slot: what an object memorizes.
    objects: Vec<Object>,
    /// The global container.
    unbounded: Unbounded<D, T>,
    /// Has memory been refused in the middle of an update, so that all objects have to be looked at again?
    stale: bool,
    dirty: bool,
    revision: Revision,
    counters: Counters,
    /// Of a search: chunks of occupied cells, and the objects below the threshold. Buffers.
    chunks: Vec<(u16, Range<usize>)>,
    ids: Vec<u32>,
}

/// What an object memorizes: its grid, its hash, and its index in the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Object {
    cell: u32,
    place: u32,
    grid: u16,
}

impl Object {
    const NONE: Self = Self { cell: 0, place: 0, grid: ABSENT };
}

/// What the structure did since the beginning.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    /// Objects that an update looked at.
    updated: u64,
    insertions: u64,
    removals: u64,
    /// Objects that changed their cell within a grid, and those that changed their grid.
    cell_changes: u64,
    level_changes: u64,
    growths: u64,
    growth_work: u64,
}

impl<const D: usize, T: Real> PaperHashGrid<D, T> {
    /// An empty structure. Options outside their range count as the nearest value inside; `merge`, `shapes` and `patience` are of our own mode
    /// and ignored.
    pub fn new(options: Options) -> Self {
        assert_dimension::<D>();
        Self {
            options: options.in_range(D),
            active: false,
            live: 0,
            cell_sizes: None,
            grids: Vec::new(),
            list: Vec::new(),
            objects: Vec::new(),
            unbounded: Unbounded::default(),
            stale: false,
            dirty: true,
            revision: Revision::default(),
            counters: Counters::default(),
            chunks: Vec::new(),
            ids: Vec::new(),
        }
    }

    /// From the options of a [`Spec`]; options that the paper's structure does not have are refused.
    pub(crate) fn from_spec(spec: &Spec, strategy: Strategy) -> Result<Self, Error> {
        for name in ["merge", "shapes", "patience"] {
            if let Some(text) = spec.text(name) {
                return Err(spec.invalid(name, text, "no value with paper=true, whose grid has no such mechanism".to_string()));
            }
        }
        let mut options = Options::from_spec(spec, strategy)?;
        if spec.text("capacity").is_none() {
            options.capacity = CAPACITY;
        }
        Ok(Self::new(options))
    }
}

implement_broad_phase!(PaperHashGrid, reader);
