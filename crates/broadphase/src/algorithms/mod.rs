//! The algorithms, behind one interface and in one list.
//!
//! Every folder has the same rooms: `mod.rs` (data and invariants), `update.rs`, `pairs.rs`, `query.rs`, `validate.rs`.
//! No algorithm knows another one. Tests, benches, CLI and bindings loop over [`list`]: what is listed is tested.

pub mod brute_force;
pub mod hash_grid;
mod interface;
pub mod kd_tree;
pub mod sort_and_sweep;
pub mod particle_grid;
mod spec;
pub mod sweep;
pub mod tiles;

pub(crate) use interface::ensure;
pub use interface::{BroadPhase, Probes, Query, Stats, Strength, Violation};
pub use spec::{COMMON_OPTIONS, Spec, nearest};

use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Shape;
use kd_tree::Variant;

/// Where an algorithm comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One of the five papers.
    Paper,
    /// This project.
    Ours,
    /// What the papers compare with.
    Baseline,
}

/// One option of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionDescriptor {
    /// The key.
    pub name: &'static str,
    /// The value if it is not given.
    pub default: &'static str,
    /// What it does and what it takes.
    pub help: &'static str,
}

/// One entry of the list of algorithms.
#[derive(Clone, Copy, Debug)]
pub struct Descriptor {
    /// The name in code, CLI and JSON.
    pub name: &'static str,
    /// Where it comes from.
    pub kind: Kind,
    /// The papers that describe it, by number.
    pub paper: Option<&'static str>,
    /// One sentence.
    pub summary: &'static str,
    /// The dimensions it works in.
    pub dims: &'static [usize],
    /// The shapes it works on.
    pub shapes: &'static [Shape],
    /// Does it take its world from the first frame's finite boxes (plus 10 %)?
    pub bounded: bool,
    /// Its options, beside [`COMMON_OPTIONS`].
    pub options: &'static [OptionDescriptor],
    /// Which algorithm to build.
    build: Build,
    /// Are the option values what it takes?
    check: fn(&Spec) -> Result<(), Error>,
}

/// The algorithms that [`Spec::build`] tells apart.
#[derive(Clone, Copy, Debug)]
enum Build {
    BruteForce,
    KdTree(kd_tree::Variant),
    Sweep,
    HashGrid(hash_grid::Strategy),
    ParticleGrid,
    Tiles,
    Auto,
    SortAndSweep,
}

const BOTH: &[usize] = &[2, 3];
const ANY_SHAPE: &[Shape] = &[Shape::Box, Shape::Ball];

static LIST: &[Descriptor] = &[
    Descriptor {
        name: "brute-force",
        kind: Kind::Paper,
        paper: Some("000, 004"),
        summary: "all pairs, many at once: the oracle, and the fastest for tiny n",
        dims: BOTH,
        shapes: ANY_SHAPE,
        bounded: false,
        options: &[],
        build: Build::BruteForce,
        check: |_| Ok(()),
    },
    Descriptor {
        name: "kd-tree",
        kind: Kind::Paper,
        paper: Some("001"),
        summary: "kd-tree with a sweep in each node; pairs of static objects are cached if most are static",
        dims: BOTH,
        shapes: ANY_SHAPE,
        bounded: false,
        options: kd_tree::ADAPTIVE,
        build: Build::KdTree(Variant::Adaptive),
        check: |spec| kd_tree::Options::from_spec(Variant::Adaptive, spec).map(|_| ()),
    },
    Descriptor {
        name: "kd-tree-complete",
        kind: Kind::Paper,
        paper: Some("001"),
        summary: "the kd-tree, all pairs searched for in each frame",
        dims: BOTH,
        shapes: ANY_SHAPE,
        bounded: false,
        options: kd_tree::COMMON,
        build: Build::KdTree(Variant::Complete),
        check: |spec| kd_tree::Options::from_spec(Variant::Complete, spec).map(|_| ()),
    },
    Descriptor {
        name: "kd-tree-incremental",
        kind: Kind::Paper,
        paper: Some("001"),
        summary: "the kd-tree, pairs of static objects always cached",
        dims: BOTH,
        shapes: ANY_SHAPE,
        bounded: false,
        options: kd_tree::COHERENT,
        build: Build::KdTree(Variant::Incremental),
        check: |spec| kd_tree::Options::from_spec(Variant::Incremental, spec).map(|_| ()),
    },
    Descriptor {
        name: "kd-tree-rebuilt",
        kind: Kind::Paper,
        paper: Some("001"),
        summary: "the kd-tree, built anew in each frame",
        dims: BOTH,
        shapes: ANY_SHAPE,
        bounded: false,
        options: kd_tree::COMMON,
        build: Build::KdTree(Variant::Rebuilt),
        check: |spec| kd_tree::Options::from_spec(Variant::Rebuilt, spec).map(|_| ()),
        name: "sweep",
        kind: Kind::Paper,
        paper: Some("002"),
        summary: "candidates on one axis, pairing on another, in partitions of equal size; swaps a clustered axis",
        dims: BOTH,
        shapes: ANY_SHAPE,
        bounded: false,
        options: sweep::OPTIONS,
        build: Build::Sweep,
        check: sweep::check_options,
        name: "hash-grid",
        kind: Kind::Paper,
        paper: Some("000"),
        summary: "hierarchical hash grid: constant time per object, any sizes, no world bounds; objects are moved one by one",
        dims: BOTH,
        shapes: ANY_SHAPE,
        bounded: false,
        options: hash_grid::options::INDIVIDUAL,
        build: Build::HashGrid(hash_grid::Strategy::Individual),
        check: |spec| hash_grid::Options::from_spec(spec, hash_grid::Strategy::Individual).map(|_| ()),
    },
    Descriptor {
        name: "hash-grid-reinsert",
        kind: Kind::Paper,
        paper: Some("000"),
        summary: "hierarchical hash grid, cleared and filled again in every frame",
        dims: BOTH,
        shapes: ANY_SHAPE,
        bounded: false,
        options: hash_grid::options::REINSERT,
        build: Build::HashGrid(hash_grid::Strategy::Reinsert),
        check: |spec| hash_grid::Options::from_spec(spec, hash_grid::Strategy::Reinsert).map(|_| ()),
    },
    Descriptor {
        name: "particle-grid",
        kind: Kind::Paper,
        paper: Some("003"),
        summary: "balls of one size, sorted into cells as wide as they are",
        dims: BOTH,
        shapes: &[Shape::Ball],
        bounded: true,
        options: particle_grid::OPTIONS,
        build: Build::ParticleGrid,
        check: |spec| particle_grid::storage(spec).map(|_| ()),
    },
    Descriptor {
        name: "tiles",
        kind: Kind::Ours,
        paper: None,
        summary: "space in tiles of equal population, each joined on its own in quantised coordinates",
        dims: BOTH,
        shapes: ANY_SHAPE,
        bounded: false,
        options: &[
            OptionDescriptor { name: "target", default: "640", help: "objects per tile" },
            OptionDescriptor { name: "coherence", default: "true", help: "compare with the last frame and redo only what moved" },
        ],
        build: Build::Tiles,
        check: |spec| tiles::Options::from_spec(spec).map(|_| ()),
    },
    Descriptor {
        name: "auto",
        kind: Kind::Ours,
        paper: None,
        summary: "the default: chooses and switches by itself",
        dims: BOTH,
        shapes: ANY_SHAPE,
        bounded: false,
        options: &[],
        build: Build::Auto,
        check: |_| Ok(()),
    },
    Descriptor {
        name: "sort-and-sweep",
        kind: Kind::Baseline,
        paper: Some("002"),
        summary: "sort along one axis, sweep along it: the yardstick of the sweeps",
        dims: BOTH,
        shapes: ANY_SHAPE,
        bounded: false,
        options: &[OptionDescriptor {
            name: "axis",
            default: "auto",
            help: "the sweep axis: x, y, z, or auto for the one of greatest variance",
        }],
        build: Build::SortAndSweep,
        check: |spec| sort_and_sweep::axis_option(spec).map(|_| ()),
    },
];

/// All algorithms.
pub fn list() -> &'static [Descriptor] {
    LIST
}

impl Spec {
    /// Builds the structure.
    pub fn build<const D: usize, T: Real>(&self) -> Result<Box<dyn BroadPhase<D, T>>, Error> {
        let descriptor = self.descriptor();
        if !descriptor.dims.contains(&D) {
            return Err(Error::Unsuited { algorithm: descriptor.name, reason: "it does not work in this dimension" });
        }
        Ok(match descriptor.build {
            Build::BruteForce => Box::new(brute_force::BruteForce::new()),
            Build::Sweep => Box::new(sweep::Sweep::new(self)?),
            Build::ParticleGrid => Box::new(particle_grid::ParticlePhase::new(particle_grid::storage(self)?)),
            Build::HashGrid(strategy) => Box::new(hash_grid::HashGrid::new(hash_grid::Options::from_spec(self, strategy)?)),
            Build::Auto => Box::new(crate::auto::Auto::new()),
            Build::KdTree(variant) => Box::new(kd_tree::KdTree::new(kd_tree::Options::from_spec(variant, self)?)),
            Build::Tiles => Box::new(tiles::Tiles::new(tiles::Options::from_spec(self)?)),
            Build::SortAndSweep => Box::new(sort_and_sweep::SortAndSweep::new(self)?),
        })
    }
}
