//! The one list of algorithms, in the order of their papers.

use super::kd_tree::Variant;
use super::{BroadPhase, Spec};
use super::{brute_force, hash_grid, kd_tree, particle_grid, sort_and_sweep, sweep, tiles};
use crate::auto;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Shape;

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
    /// Its options, beside [`COMMON_OPTIONS`](super::COMMON_OPTIONS).
    pub options: &'static [OptionDescriptor],
    /// Which algorithm to build.
    build: Build,
}

/// The algorithms that [`Spec::build`] tells apart.
#[derive(Clone, Copy, Debug)]
enum Build {
    BruteForce,
    HashGrid(hash_grid::Strategy),
    KdTree(Variant),
    Sweep,
    ParticleGrid,
    Tiles,
    Auto,
    SortAndSweep,
}

/// What most entries share.
const PAPER: Descriptor = Descriptor {
    name: "",
    kind: Kind::Paper,
    paper: None,
    summary: "",
    dims: &[2, 3],
    shapes: &[Shape::Box, Shape::Ball],
    bounded: false,
    options: &[],
    build: Build::BruteForce,
};
const OURS: Descriptor = Descriptor { kind: Kind::Ours, ..PAPER };
const BASELINE: Descriptor = Descriptor { kind: Kind::Baseline, ..PAPER };

static LIST: &[Descriptor] = &[
    Descriptor {
        name: "brute-force",
        paper: Some("000, 004"),
        summary: "all pairs, many at once: the oracle, and the fastest for tiny n",
        build: Build::BruteForce,
        ..PAPER
    },
    Descriptor {
        name: "hash-grid",
        paper: Some("000"),
        summary: "hierarchical hash grid: constant time per object, any sizes, no world bounds; objects are moved one by one",
        options: hash_grid::options::INDIVIDUAL,
        build: Build::HashGrid(hash_grid::Strategy::Individual),
        ..PAPER
    },
    Descriptor {
        name: "hash-grid-reinsert",
        paper: Some("000"),
        summary: "hierarchical hash grid, cleared and filled again in every frame",
        options: hash_grid::options::REINSERT,
        build: Build::HashGrid(hash_grid::Strategy::Reinsert),
        ..PAPER
    },
    Descriptor {
        name: "kd-tree",
        paper: Some("001"),
        summary: "kd-tree with a sweep in each node; pairs of static objects are cached if most are static",
        options: kd_tree::ADAPTIVE,
        build: Build::KdTree(Variant::Adaptive),
        ..PAPER
    },
    Descriptor {
        name: "kd-tree-complete",
        paper: Some("001"),
        summary: "the kd-tree, all pairs searched for in each frame",
        options: kd_tree::COMMON,
        build: Build::KdTree(Variant::Complete),
        ..PAPER
    },
    Descriptor {
        name: "kd-tree-incremental",
        paper: Some("001"),
        summary: "the kd-tree, pairs of static objects always cached",
        options: kd_tree::COHERENT,
        build: Build::KdTree(Variant::Incremental),
        ..PAPER
    },
    Descriptor {
        name: "kd-tree-rebuilt",
        paper: Some("001"),
        summary: "the kd-tree, built anew in each frame",
        options: kd_tree::COMMON,
        build: Build::KdTree(Variant::Rebuilt),
        ..PAPER
    },
    Descriptor {
        name: "sweep",
        paper: Some("002"),
        summary: "candidates on one axis, pairing on another, in partitions of equal size; swaps a clustered axis",
        options: sweep::OPTIONS,
        build: Build::Sweep,
        ..PAPER
    },
    Descriptor {
        name: "particle-grid",
        paper: Some("003"),
        summary: "balls of one size, sorted into cells as wide as they are",
        shapes: &[Shape::Ball],
        bounded: true,
        options: particle_grid::OPTIONS,
        build: Build::ParticleGrid,
        ..PAPER
    },
    Descriptor {
        name: "tiles",
        summary: "space in tiles of equal population, each joined on its own in quantised coordinates",
        options: tiles::OPTIONS,
        build: Build::Tiles,
        ..OURS
    },
    Descriptor { name: "auto", summary: "the default: chooses and switches by itself", build: Build::Auto, ..OURS },
    Descriptor {
        name: "sort-and-sweep",
        paper: Some("002"),
        summary: "sort along one axis, sweep along it: the yardstick of the sweeps",
        options: sort_and_sweep::OPTIONS,
        build: Build::SortAndSweep,
        ..BASELINE
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
            Build::HashGrid(strategy) => Box::new(hash_grid::HashGrid::new(hash_grid::Options::from_spec(self, strategy)?)),
            Build::KdTree(variant) => Box::new(kd_tree::KdTree::new(kd_tree::Options::from_spec(variant, self)?)),
            Build::Sweep => Box::new(sweep::Sweep::new(self)?),
            Build::ParticleGrid => Box::new(particle_grid::ParticlePhase::new(particle_grid::storage(self)?)),
            Build::Tiles => Box::new(tiles::Tiles::new(tiles::Options::from_spec(self)?)),
            Build::Auto => Box::new(auto::Auto::new()),
            Build::SortAndSweep => Box::new(sort_and_sweep::SortAndSweep::new(self)?),
        })
    }

    /// Are the option values what the algorithm takes? Building it tells, and an empty structure costs next to nothing.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.descriptor().dims.contains(&3) {
            true => self.build::<3, f32>().map(|_| ()),
            false => self.build::<2, f32>().map(|_| ()),
        }
    }
}
