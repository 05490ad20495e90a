//! A grid of sweep and prunes: each cell keeps its objects sorted on every axis, and the set of its pairs.
//!
//! # The structure
//! The world is cut into cells. An object is in every cell that it overlaps. Each cell has `EndpointLists` of its own: for
//! each axis a list of the ends of its objects' boxes, and a set of overlapping pairs. A frame writes the new coordinates into the lists of those
//! cells in which something changed, and sorts them by insertion: an exchange of a lower end with an upper one is the moment at which two boxes
//! meet or part, and adds or removes a pair. An object that overlaps other cells than before is removed from its old cells and inserted
//! into its new ones.
//!
//! # Consequences
//! Two objects may share several cells. One of these owns the pair: the cell of the lower corner of what the two have in common, which on each axis is
//! the larger of their first cells. Only that cell tests the two, and only its set holds the pair, so the sets of all cells together are the list.
//! Which cell it is depends on the cells of both, so an object that crosses a border is inserted anew into all of its cells.
//!
//! # The world
//! The box of the objects' finite coordinates plus 10 %, taken in the first frame and again when many objects have left it or they fill
//! only a part of it (`common/world.rs`); or the box that the caller gives, which stays. It is cut into cells of about 32 objects, but no
//! smaller than two mean objects, and again when there are twice as many objects. What lies outside belongs to the cells at the border;
//! infinite sides are just coordinates.
//!
//! # Cost
//! A cell in which something changed: a pass over its ends, and a step per exchange. An insertion passes by half of the ends of the cell on each axis; if
//! more than one object in 8 of a cell is new, its lists are sorted from scratch and swept along one axis. So, unlike `sweep-3axis`, it does
//! not collapse when everything moves far. Cells at rest cost nothing. All pairs are handed out again in a frame in which anything changed.
//!
//! Bad cases: objects that are large against a cell (an infinite one has ends in each, and is sorted in each); objects that cross borders in every
//! frame; and crowds in one cell (all have left the world, or one outlier has stretched it), with n² exchanges when they move.
//! Memory: 2·D ends of 16 bytes per object and cell, the pairs with hash tables, per slot a copy of the box and 4·D bytes, and 24·D + 48 bytes
//! per cell, even if it is empty.
//!
//! # Source
//! The "Tracy" of paper 001: sweep and prune with subdivision, by Tracy, Buss and Woods (IEEE Virtual Reality 2009), after Baraff and Witkin. Paper 001
//! says of it: a grid and sweep and prune, with sorted lists of projections, one per axis, in which moves add and remove pairs of a cache.
//!
//! # Departures from the paper
//! 1. Their lists are also cut into segments, so that an insertion need not pass by half of a list of thousands. A cell here has about 32 objects;
//!    with many more (`cells=1`) segments would pay, and are missing.
//! 2. Their size of cells is set by hand; here by number and sizes of the objects, unless the option `cells` says otherwise.
//! 3. A pair is in the set of one cell. The paper does not say how pairs of several cells are told apart.
//! 4. `resweep=true` is a form of our own, not Tracy's: no lists of ends and no sets, but one array of all objects of all cells, sorted by the lower
//!    end on the first axis, in which every cell is swept anew in every frame in which anything changed (`cell_sweeps.rs`).

mod cell_lists;
mod cell_sweeps;
mod cells;
mod pairs;
mod update;
mod validate;

use crate::algorithms::common::{Bounds, TrackedBoxes, WORLD_OPTION, assert_dimension, bytes_of, implement_broad_phase};
use crate::algorithms::{OptionDescriptor, Spec, Stats};
use crate::error::Error;
use crate::geometry::{Aabb, Real};

use cell_lists::CellLists;
use cell_sweeps::CellSweeps;
use cells::{Block, Cells, Entry};

/// The options by name.
pub(crate) const OPTIONS: &[OptionDescriptor] = &[
    OptionDescriptor { name: "cells", default: "0", help: "cells per axis, 1 to 64; 0: by number and sizes of the objects" },
    OptionDescriptor {
        name: "resweep",
        default: "false",
        help: "true: not Tracy's lists on every axis with a set of pairs, but a new sweep along one axis in each cell and frame",
    },
    WORLD_OPTION,
];

/// The options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Cells per axis; 0: by number and sizes of the objects.
    pub cells: usize,
    /// Sweep each cell anew along one axis, in place of sorted lists on every axis and a set of pairs?
    pub resweep: bool,
}

impl Options {
    /// The options, each clamped to its range.
    fn in_range(self) -> Self {
        Self { cells: self.cells.min(64), ..self }
    }

    /// From the options of a [`Spec`].
    pub(crate) fn from_spec(spec: &Spec) -> Result<Self, Error> {
        Ok(Self {
            cells: spec.value("cells", 0, "a number from 0 to 64", |cells| *cells <= 64)?,
            resweep: spec.value("resweep", false, "true or false", |_| true)?,
        })
    }
}

/// The grid of sweep and prunes. See the module documentation.
#[derive(Clone, Debug)]
pub struct GridSap<const D: usize, T: Real> {
    options: Options,
    tracked: TrackedBoxes<D, T>,
    bounds: Bounds<D, T>,
    /// The cells of the current world; known from the first object on.
    cells: Option<Cells<D, T>>,
    /// The cells of each slot's object.
    blocks: Vec<Block<D>>,
    content: Content<D, T>,
    scratch: Scratch<T>,
    /// Did an update run out of memory? The next one places all objects anew.
    is_broken: bool,
}

/// What the cells hold.
#[derive(Clone, Debug)]
enum Content<const D: usize, T: Real> {
    /// Tracy's.
    Lists(CellLists<D, T>),
    /// With `resweep`.
    Sweeps(CellSweeps<T>),
}

/// Buffers that can be dropped without changing a result.
#[derive(Clone, Debug)]
struct Scratch<T> {
    /// Objects to be inserted into cells.
    fresh: Vec<Entry<T>>,
    /// Slots whose objects are to be removed from their old cells. All `false` between updates.
    stale: Vec<bool>,
}

impl<const D: usize, T: Real> GridSap<D, T> {
    /// An empty structure. Options are clamped to their ranges.
    pub fn new(options: Options) -> Self {
        assert_dimension::<D>();
        let options = options.in_range();
        Self {
            options,
            tracked: TrackedBoxes::default(),
            bounds: Bounds::default(),
            cells: None,
            blocks: Vec::new(),
            content: match options.resweep {
                true => Content::Sweeps(CellSweeps::default()),
                false => Content::Lists(CellLists::default()),
            },
            scratch: Scratch { fresh: Vec::new(), stale: Vec::new() },
            is_broken: false,
        }
    }

    /// The same structure over a world that stays as it is given. Objects outside are found too, but share the cells at the border.
    ///
    /// # Errors
    /// [`Error::InvalidBox`] for a box that is not valid, [`Error::Unsuited`] for one that is not finite.
    pub fn with_world(self, world: &Aabb<D, T>) -> Result<Self, Error> {
        Ok(Self { bounds: Bounds::given(world, "grid-sap")?, ..self })
    }

    /// From the options of a [`Spec`].
    pub(crate) fn from_spec(spec: &Spec) -> Result<Self, Error> {
        let structure = Self::new(Options::from_spec(spec)?);
        match spec.world()? {
            Some(world) => structure.with_world(&world),
            None => Ok(structure),
        }
    }
}

impl<const D: usize, T: Real> GridSap<D, T> {
    fn stats(&self) -> Stats {
        let (bytes, entries) = match &self.content {
            Content::Lists(lists) => (lists.bytes(), lists.entries()),
            Content::Sweeps(sweeps) => (sweeps.bytes(), sweeps.entries().len()),
        };
        let scratch = bytes_of(&self.scratch.fresh) + bytes_of(&self.scratch.stale);
        let cells = self.cells.as_ref().map_or(0, Cells::count);
        Stats {
            bytes: self.tracked.bytes() + self.bounds.bytes() + bytes_of(&self.blocks) + bytes + scratch,
            extra: Vec::from([("cells", f64::from(cells)), ("entries", entries as f64)]),
            ..Stats::default()
        }
    }
}

implement_broad_phase!(GridSap);
