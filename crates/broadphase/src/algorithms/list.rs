//! The one list of algorithms, in the order of their papers.

use std::any::Any;

use super::baselines::{dbvt, grid_sap, sweep_3axis};
use super::kd_tree::Variant;
use super::{BroadPhase, Spec};
use super::{brute_force, hash_grid, kd_tree, level_grid, octree, particle_grid, sort_and_sweep, sweep, tiles};
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
    Octree,
    LevelGrid,
    Tiles,
    Auto,
    SortAndSweep,
    Sweep3Axis,
    Dbvt(dbvt::Mode),
    GridSap,
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
        name: "octree",
        paper: Some("004"),
        summary: "four levels of halves (a quadtree in the plane); an object stands at the deepest node that holds it whole",
        bounded: true,
        options: octree::OPTIONS,
        build: Build::Octree,
        ..PAPER
    },
    Descriptor {
        name: "level-grid",
        paper: Some("004"),
        summary: "four fixed grids over a bounded world; an object is caught by the grid of its size, its centre decides the section",
        bounded: true,
        options: level_grid::OPTIONS,
        build: Build::LevelGrid,
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
    Descriptor {
        name: "sweep-3axis",
        paper: Some("000, 001"),
        summary: "sweep and prune on every axis, kept sorted by insertion from frame to frame",
        build: Build::Sweep3Axis,
        ..BASELINE
    },
    Descriptor {
        name: "dbvt-f",
        paper: Some("001"),
        summary: "a dynamic tree of boxes; leaves are larger than their objects, and compared with the tree when they are left",
        options: dbvt::OPTIONS,
        build: Build::Dbvt(dbvt::Mode::Eager),
        ..BASELINE
    },
    Descriptor {
        name: "dbvt-d",
        paper: Some("001"),
        summary: "a dynamic tree of boxes, compared with itself in one walk",
        options: dbvt::OPTIONS,
        build: Build::Dbvt(dbvt::Mode::Deferred),
        ..BASELINE
    },
    Descriptor {
        name: "grid-sap",
        paper: Some("001"),
        summary: "a grid whose cells keep their objects sorted, with insertion and removal in one pass",
        bounded: true,
        options: grid_sap::OPTIONS,
        build: Build::GridSap,
        ..BASELINE
    },
];

/// All algorithms.
pub fn list() -> &'static [Descriptor] {
    LIST
}

impl Spec {
    /// Builds the structure.
    ///
    /// ```
    /// use broadphase::Spec;
    /// let structure = "kd-tree:t=64".parse::<Spec>()?.build::<2, f64>()?;
    /// assert!(structure.stats().bytes < 100_000);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsuited`] but in two and three dimensions; [`Error::InvalidOption`] for an axis that the plane does not have.
    pub fn build<const D: usize, T: Real>(&self) -> Result<Box<dyn BroadPhase<D, T>>, Error> {
        let descriptor = self.descriptor();
        // The four kinds of boxes are instantiated here, once, and not again in every crate that asks for one.
        let built: Box<dyn Any> = match (D, T::NAME) {
            (2, f32::NAME) => Box::new(build_2f(self, descriptor)?),
            (3, f32::NAME) => Box::new(build_3f(self, descriptor)?),
            (2, f64::NAME) => Box::new(build_2d(self, descriptor)?),
            (3, f64::NAME) => Box::new(build_3d(self, descriptor)?),
            _ => return Err(Error::Unsuited { algorithm: descriptor.name, reason: "it works in two and three dimensions" }),
        };
        match built.downcast::<Box<dyn BroadPhase<D, T>>>() {
            Ok(structure) => Ok(*structure),
            Err(_) => unreachable!("the dimension and the scalar were compared above"),
        }
    }

    /// Are the option values what the algorithm takes? Building it tells, and an empty structure costs next to nothing.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.build::<3, f32>().map(|_| ())
    }
}

/// Entries of the four instantiations.
macro_rules! instantiate {
    ($($name:ident: $d:literal, $t:ty;)+) => {$(
        fn $name(spec: &Spec, descriptor: &Descriptor) -> Result<Box<dyn BroadPhase<$d, $t>>, Error> {
            instance(spec, descriptor)
        }
    )+};
}

instantiate! {
    build_2f: 2, f32;
    build_3f: 3, f32;
    build_2d: 2, f64;
    build_3d: 3, f64;
}

fn instance<const D: usize, T: Real>(spec: &Spec, descriptor: &Descriptor) -> Result<Box<dyn BroadPhase<D, T>>, Error> {
    Ok(match descriptor.build {
        Build::BruteForce => Box::new(brute_force::BruteForce::new()),
        Build::HashGrid(strategy) => Box::new(hash_grid::HashGrid::new(hash_grid::Options::from_spec(spec, strategy)?)),
        Build::KdTree(variant) => Box::new(kd_tree::KdTree::new(kd_tree::Options::from_spec(variant, spec)?)),
        Build::Sweep => Box::new(sweep::Sweep::new(spec)?),
        Build::ParticleGrid => Box::new(particle_grid::ParticlePhase::new(particle_grid::storage(spec)?)),
        Build::Octree => Box::new(octree::Octree::new(octree::Options::from_spec(spec)?)),
        Build::LevelGrid => Box::new(level_grid::LevelGrid::new(level_grid::Options::from_spec(spec)?)),
        Build::Tiles => Box::new(tiles::Tiles::new(tiles::Options::from_spec(spec)?)),
        Build::Auto => Box::new(auto::Auto::new()),
        Build::SortAndSweep => Box::new(sort_and_sweep::SortAndSweep::new(spec)?),
        Build::Sweep3Axis => Box::new(sweep_3axis::Sweep3Axis::new()),
        Build::Dbvt(mode) => Box::new(dbvt::Dbvt::new(dbvt::Options::from_spec(mode, spec)?)),
        Build::GridSap => Box::new(grid_sap::GridSap::new(grid_sap::Options::from_spec(spec)?)),
    })
}
