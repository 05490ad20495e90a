//! A few grids of fixed resolution over one world, each object in the grid of its size.
//!
//! # The structure
//! Level `l` cuts the world into `2^(l+1)` sections on every axis: 8, 64, 512 and 4,096 sections on the four levels of the paper (4, 16, 64 and
//! 256 in the plane). An object is caught by the finest level on whose sections it takes at most a quarter of the side, on every axis
//! (`ratio`, up to 1). Its center decides the section. What no level catches, and what is infinite, stands in one more section: the oversize
//! list. Every section has a linked list of its objects, every object stores its section.
//!
//! # Consequences
//! An object of level `l` reaches at most half of `ratio` section sides beyond its center. So what overlaps a box has its center in a
//! section that the box, grown by that reach, touches; these are few. They are probed on every level, and all of them: the paper's
//! pseudocode probes end points only, and skips sections in between where a box is larger than a section.
//!
//! # The world
//! The box of the objects' finite coordinates plus 10 %, taken in the first frame and again when many objects have left it or they fill
//! only a part of it (`common/world.rs`); or the box that the caller gives, which stays. What lies outside belongs to the section at the
//! border. On an axis without extent there is one section.
//!
//! # Cost
//! Insertion and removal O(1). A pair list takes one probe per object on its own level and the coarser ones. Bad cases: many oversize objects
//! (k·n tests), which all are in a flat or thin world, if it is no wider on one axis than a few of them; everything in one section or a
//! few (all have left the world, clusters or one outlier have stretched it, or they are more than the fixed levels part), with n² tests.
//! Memory: per slot a copy of the box and 12 bytes of links, per section 8 bytes.
//!
//! # Source
//! Paper 004, section 2.1.3.
//!
//! # Departures from the paper
//! With `paper=true` none of the first three is made. What they gain together (paired CPU times of one thread, equal pairs, an AMD EPYC with AVX-512;
//! `broadphase bench city city-even --n 6400 --frames 65 --algorithms level-grid,level-grid:paper=true`): 3.4 times as fast on `city`, 4.3 times
//! on `city-even`.
//! 1. A pair of two levels is found from the finer side, where fewer sections are within reach, and a pair of one level once. The paper searches
//!    for each object separately, on all levels, so a pair is tested from both sides.
//! 2. Objects are laid out by section before they are joined; the paper's follow the linked lists.
//! 3. Removal does not search. The paper's object stores its section, whose list is searched from the front.
//! 4. In both modes: boxes in place of balls, which makes no difference for the boxes of balls in a cubic world; the oversize list, since the text
//!    has no place for objects above a quarter of the coarsest section.
//! 5. In both modes: all sections within reach are probed. The pseudocode names the end points, and the text "all relevant sections". They are walked
//!    row by row, where the text calls its hash function for every probe: the fixed cost of a search is smaller than the paper's.

mod pairs;
mod query;
mod sections;
mod update;
mod validate;

use crate::algorithms::common::{
    Bounds, LinkedBins, PAPER_OPTION, TrackedBoxes, WORLD_OPTION, assert_dimension, bytes_of, implement_broad_phase, nearest_in,
};
use crate::algorithms::{OptionDescriptor, Spec, Stats};
use crate::error::Error;
use crate::geometry::{Aabb, Real};

use sections::Sections;

/// The options by name.
pub(crate) const OPTIONS: &[OptionDescriptor] = &[
    OptionDescriptor { name: "levels", default: "4", help: "grids, each twice as fine as the one before: 1 to 7" },
    OptionDescriptor {
        name: "ratio",
        default: "0.25",
        help: "the largest share of a section's side that an object may take: up to 1",
    },
    WORLD_OPTION,
    PAPER_OPTION,
];

/// The options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The number of grids.
    pub levels: usize,
    /// The largest share of a section's side that an object may take.
    pub ratio: f64,
    /// The paper's own mode, without our departures.
    pub paper: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { levels: 4, ratio: 0.25, paper: false }
    }
}

impl Options {
    /// The options, each clamped to its range.
    fn in_range(self) -> Self {
        Self { levels: self.levels.clamp(1, 7), ratio: nearest_in(self.ratio, f64::MIN_POSITIVE, 1.0), ..self }
    }

    /// From the options of a [`Spec`].
    pub(crate) fn from_spec(spec: &Spec) -> Result<Self, Error> {
        let default = Self::default();
        let levels = spec.value("levels", default.levels, "a number from 1 to 7", |levels| (1..=7).contains(levels))?;
        let ratio = spec.value("ratio", default.ratio, "a number above 0, up to 1", |ratio| *ratio > 0.0 && *ratio <= 1.0)?;
        Ok(Self { levels, ratio, paper: spec.paper_mode()? })
    }
}

/// The fixed-level hierarchical grid. See the module documentation.
#[derive(Clone, Debug)]
pub struct LevelGrid<const D: usize, T: Real> {
    options: Options,
    tracked: TrackedBoxes<D, T>,
    bounds: Bounds<D, T>,
    /// The sections of the current world; known from the first object on.
    sections: Option<Sections<D, T>>,
    /// The objects of each section, all levels in a row, coarsest first; the last one is the oversize list.
    bins: LinkedBins,
    /// The objects of each level, the oversize ones last.
    population: Vec<u32>,
    /// Objects that changed their section, and objects that removals passed in the lists.
    section_changes: u64,
    passed: u64,
    scratch: Scratch<D, T>,
}

/// Buffers that can be dropped without changing a result: the objects in the order of sections.
#[derive(Clone, Debug)]
struct Scratch<const D: usize, T: Real> {
    ids: Vec<u32>,
    starts: Vec<u32>,
    boxes: Vec<Aabb<D, T>>,
}

impl<const D: usize, T: Real> LevelGrid<D, T> {
    /// An empty structure. Options are clamped to their ranges.
    pub fn new(options: Options) -> Self {
        assert_dimension::<D>();
        let options = options.in_range();
        Self {
            options,
            tracked: TrackedBoxes::default(),
            bounds: Bounds::default(),
            sections: None,
            bins: LinkedBins::default(),
            population: vec![0; options.levels + 1],
            section_changes: 0,
            passed: 0,
            scratch: Scratch { ids: Vec::new(), starts: Vec::new(), boxes: Vec::new() },
        }
    }

    /// The same structure over a world that stays as it is given. Objects outside are found too, but share the sections at the border.
    ///
    /// # Errors
    /// [`Error::InvalidBox`] for a box that is not valid, [`Error::Unsuited`] for one that is not finite.
    pub fn with_world(self, world: &Aabb<D, T>) -> Result<Self, Error> {
        Ok(Self { bounds: Bounds::given(world, "level-grid")?, ..self })
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

impl<const D: usize, T: Real> LevelGrid<D, T> {
    fn stats(&self) -> Stats {
        let Scratch { ids, starts, boxes } = &self.scratch;
        let scratch = bytes_of(ids) + bytes_of(starts) + bytes_of(boxes);
        let oversize = self.population.last().copied().unwrap_or(0);
        Stats {
            bytes: self.tracked.bytes() + self.bounds.bytes() + self.bins.bytes() + bytes_of(&self.population) + scratch,
            extra: vec![
                ("sections", self.bins.len().saturating_sub(1) as f64),
                ("oversize", f64::from(oversize)),
                ("section_changes", self.section_changes as f64),
                ("passed_in_removal", self.passed as f64),
            ],
            ..Stats::default()
        }
    }
}

implement_broad_phase!(LevelGrid, reader);
