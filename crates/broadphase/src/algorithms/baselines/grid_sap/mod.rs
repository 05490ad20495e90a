//! A grid of sweeps: each cell keeps its objects sorted along every axis, and the pairs among them.
//!
//! # The structure
//! The world is cut into cells. An object is in every cell that it overlaps. Each cell has a sorted list of ends per axis and a set of pairs, which
//! follow the motion by insertion sort (`axis_lists`): the pairs of a cell are never searched for anew. An object that overlaps other cells than
//! before is removed from the lists that it left, and inserted into those that it entered, all at once for each cell.
//!
//! # What follows
//! A pair may share several cells, and is in the set of each. It is reported by one of them: the cell of the lower corner of what the two have in
//! common, which on each axis is the larger of their first cells.
//!
//! # The world
//! The box of the objects' finite coordinates plus 10 %, taken in the first frame and again when many objects have left it or they fill
//! only a part of it (`common/world.rs`); or the box that the caller gives, which stays. It is cut into cells of about 32 objects, but no
//! smaller than two mean objects, and again when there are twice as many objects. What lies outside belongs to the cells at the border;
//! infinite sides are just coordinates.
//!
//! # Cost
//! One pass over the ends of the cells in which anything changed, and a step per exchange: few if little moves, and at most as many as a cell has
//! objects if everything does. Bad cases: objects that are large against a cell (an infinite one is in each), and crowds in one cell (all have
//! left the world, or one outlier has stretched it), with n² exchanges. Memory: 2·D ends of 16 bytes per object and cell, the pairs with
//! their hash tables, per slot a copy of the box and 4·D bytes.
//!
//! # Source
//! The "Tracy" of paper 001: large-scale sweep and prune with insertion and removal, after Tracy, Buss and Woods.

mod cells;
mod pairs;
mod update;
mod validate;

use crate::algorithms::common::{Bounds, Ledger, WORLD_OPTION, assert_dimension, bytes_of, implement_broad_phase};
use crate::algorithms::{OptionDescriptor, Spec, Stats};
use crate::error::Error;
use crate::geometry::{Aabb, Real};

use super::axis_lists::AxisLists;
use cells::{Block, Cells};

/// The options by name.
pub(crate) const OPTIONS: &[OptionDescriptor] = &[
    OptionDescriptor { name: "cells", default: "0", help: "cells per axis, 1 to 64; 0: by number and sizes of the objects" },
    WORLD_OPTION,
];

/// What can be set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Cells per axis; 0: by number and sizes of the objects.
    pub cells: usize,
}

impl Options {
    /// Each value, or the nearest in its range.
    fn in_range(self) -> Self {
        Self { cells: self.cells.min(64) }
    }

    /// From the options of a [`Spec`].
    pub(crate) fn from_spec(spec: &Spec) -> Result<Self, Error> {
        Ok(Self { cells: spec.value("cells", 0, "a number from 0 to 64", |cells| *cells <= 64)? })
    }
}

/// The grid of sweeps. See the module's text.
#[derive(Clone, Debug)]
pub struct GridSap<const D: usize, T: Real> {
    options: Options,
    ledger: Ledger<D, T>,
    bounds: Bounds<D, T>,
    /// The cells of the present world; known from the first object on.
    cells: Option<Cells<D, T>>,
    /// Of each cell.
    lists: Vec<AxisLists<D, T>>,
    /// The cells of each slot's object.
    blocks: Vec<Block<D>>,
    /// Did an update run out of memory? The next one starts over.
    is_broken: bool,
    scratch: Scratch,
}

/// Buffers that can be dropped without changing a result.
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// Cells in which something changed, and what: see `update.rs`.
    touched: Vec<u32>,
    changes: Vec<u8>,
    /// Cells and the objects that enter them.
    arrivals: Vec<(u32, u32)>,
    /// Those of one cell.
    come: Vec<u32>,
}

impl<const D: usize, T: Real> GridSap<D, T> {
    /// An empty structure. Options outside their range count as the nearest value inside.
    pub fn new(options: Options) -> Self {
        assert_dimension::<D>();
        let options = options.in_range();
        Self {
            options,
            ledger: Ledger::default(),
            bounds: Bounds::default(),
            cells: None,
            lists: Vec::new(),
            blocks: Vec::new(),
            is_broken: false,
            scratch: Scratch::default(),
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
        let Scratch { touched, changes, arrivals, come } = &self.scratch;
        let scratch = bytes_of(touched) + bytes_of(changes) + bytes_of(arrivals) + bytes_of(come);
        let lists = bytes_of(&self.lists) + self.lists.iter().map(AxisLists::bytes).sum::<usize>();
        let entries: usize = self.lists.iter().map(AxisLists::len).sum();
        Stats {
            bytes: self.ledger.bytes() + self.bounds.bytes() + lists + bytes_of(&self.blocks) + scratch,
            extra: vec![("cells", self.lists.len() as f64), ("entries", entries as f64)],
            ..Stats::default()
        }
    }
}

implement_broad_phase!(GridSap);
