//! A grid of sweeps: each cell keeps its objects sorted along one axis.
//!
//! # The structure
//! The world is cut into cells. An object has an entry in every cell that it overlaps; entries are sorted by cell, and within a cell by the
//! object's lower end on the first axis: one array holds all sweeps. A frame takes out the entries of objects that are gone or overlap other
//! cells now, sorts the rest by insertion (within a cell little changes), and merges the new entries, sorted, in one pass.
//!
//! # Consequences
//! A pair may share several cells. It counts in one of them: the cell of the lower corner of what the two have in common, which on each axis is the
//! larger of their first cells. So each pair is tested at most once.
//!
//! # The world
//! The box of the objects' finite coordinates plus 10 %, taken in the first frame and again when many objects have left it or they fill
//! only a part of it (`common/world.rs`); or the box that the caller gives, which stays. It is cut into cells of about 32 objects, but no
//! smaller than two mean objects, and again when there are twice as many objects. What lies outside belongs to the cells at the border;
//! infinite sides are just coordinates.
//!
//! # Cost
//! One pass over the entries, the exchanges within cells, and the sweeps. Bad cases: objects that are large against a cell (an infinite one has an
//! entry in each), and crowds in one cell (all have left the world, or one outlier has stretched it), with n² tests.
//! Memory: 12 bytes (`f32`) per entry, per slot a copy of the box and 4·D bytes.
//!
//! # Source
//! After the "Tracy" of paper 001: large-scale sweep and prune with insertion and removal, by Tracy, Buss and Woods. Theirs keeps lists on every axis and
//! a set of pairs in each cell; this one sweeps each cell anew along one axis.

mod cells;
mod pairs;
mod update;
mod validate;

use crate::algorithms::common::{Bounds, TrackedBoxes, WORLD_OPTION, assert_dimension, bytes_of, implement_broad_phase};
use crate::algorithms::{OptionDescriptor, Spec, Stats};
use crate::error::Error;
use crate::geometry::{Aabb, Real};

use cells::{Block, Cells, Entry};

/// The options by name.
pub(crate) const OPTIONS: &[OptionDescriptor] = &[
    OptionDescriptor { name: "cells", default: "0", help: "cells per axis, 1 to 64; 0: by number and sizes of the objects" },
    WORLD_OPTION,
];

/// The options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Cells per axis; 0: by number and sizes of the objects.
    pub cells: usize,
}

impl Options {
    /// The options, each clamped to its range.
    fn in_range(self) -> Self {
        Self { cells: self.cells.min(64) }
    }

    /// From the options of a [`Spec`].
    pub(crate) fn from_spec(spec: &Spec) -> Result<Self, Error> {
        Ok(Self { cells: spec.value("cells", 0, "a number from 0 to 64", |cells| *cells <= 64)? })
    }
}

/// The grid of sweeps. See the module documentation.
#[derive(Clone, Debug)]
pub struct GridSap<const D: usize, T: Real> {
    options: Options,
    tracked: TrackedBoxes<D, T>,
    bounds: Bounds<D, T>,
    /// The cells of the current world; known from the first object on.
    cells: Option<Cells<D, T>>,
    /// Sorted by cell, then along the first axis.
    entries: Vec<Entry<T>>,
    /// The cells of each slot's object.
    blocks: Vec<Block<D>>,
    scratch: Scratch<T>,
}

/// Buffers that can be dropped without changing a result.
#[derive(Clone, Debug)]
struct Scratch<T> {
    /// Entries to be merged.
    fresh: Vec<Entry<T>>,
    /// Slots whose entries are to be taken out. All `false` between updates.
    stale: Vec<bool>,
    /// Where each cell that has entries starts, and where the last one ends.
    starts: Vec<u32>,
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
            entries: Vec::new(),
            blocks: Vec::new(),
            scratch: Scratch { fresh: Vec::new(), stale: Vec::new(), starts: Vec::new() },
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
        let Scratch { fresh, stale, starts } = &self.scratch;
        let scratch = bytes_of(fresh) + bytes_of(stale) + bytes_of(starts);
        let cells = self.cells.as_ref().map_or(0, Cells::count);
        Stats {
            bytes: self.tracked.bytes() + self.bounds.bytes() + bytes_of(&self.entries) + bytes_of(&self.blocks) + scratch,
            extra: vec![("cells", f64::from(cells)), ("entries", self.entries.len() as f64)],
            ..Stats::default()
        }
    }
}

implement_broad_phase!(GridSap);
