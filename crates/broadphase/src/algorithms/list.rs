//! The one list of algorithms, in the order of their papers.

use std::any::Any;

#[cfg(feature = "papers")]
use super::baselines::{dbvt, grid_sap, sweep_3axis};
use super::{BroadPhase, Spec};
use super::{brute_force, tiles};
#[cfg(feature = "papers")]
use super::{hash_grid, kd_tree, level_grid, octree, particle_grid, sort_and_sweep, sweep};
use crate::auto;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::boxed;
use crate::objects::Shape;

/// Where an algorithm comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One of the five papers.
    Paper,
    /// This project.
    Ours,
    /// A structure that the papers compare with.
    Baseline,
}

/// One option of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionDescriptor {
    /// The key.
    pub name: &'static str,
    /// The value if it is not given.
    pub default: &'static str,
    /// What it does, and the values that it accepts.
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
    /// Does it subdivide a bounded world: that of the option `world`, or the objects' finite coordinates plus 10 %?
    pub bounded: bool,
    /// Its options, beside [`COMMON_OPTIONS`](super::COMMON_OPTIONS).
    pub options: &'static [OptionDescriptor],
    /// Its constructors.
    build: Build,
}

/// The constructors that [`Spec::build`] calls, one for each dimension and scalar. They are instantiated once, in this crate, and not in every crate
/// that builds a structure. Those of `f64` only with the feature: without it, [`build_there`] is instantiated in the crate that uses `f64`.
#[derive(Clone, Copy, Debug)]
struct Build {
    plane_f32: fn(&Spec) -> Built<2, f32>,
    space_f32: fn(&Spec) -> Built<3, f32>,
    #[cfg(feature = "f64")]
    plane_f64: fn(&Spec) -> Built<2, f64>,
    #[cfg(feature = "f64")]
    space_f64: fn(&Spec) -> Built<3, f64>,
}

/// What the memory of a structure is for.
const STRUCTURE: &str = "an algorithm";

type Built<const D: usize, T> = Result<Box<dyn BroadPhase<D, T>>, Error>;

/// The [`Build`] of a generic constructor: an expression of `spec` in which `D` and `T` are inferred. With `boxed`, the expression is a [`Built`]
/// already, since options decide which type is built.
macro_rules! build {
    (boxed $spec:ident => $structure:expr) => {
        Build {
            plane_f32: |$spec| $structure,
            space_f32: |$spec| $structure,
            #[cfg(feature = "f64")]
            plane_f64: |$spec| $structure,
            #[cfg(feature = "f64")]
            space_f64: |$spec| $structure,
        }
    };
    ($spec:ident => $structure:expr) => {
        build!(boxed $spec => Ok(boxed($structure, STRUCTURE)?))
    };
}

/// The defaults of an entry; the next two constants differ in `kind` alone.
const PAPER: Descriptor = Descriptor {
    name: "",
    kind: Kind::Paper,
    paper: None,
    summary: "",
    dims: &[2, 3],
    shapes: &[Shape::Box, Shape::Ball],
    bounded: false,
    options: &[],
    build: build!(boxed _spec => build_all_pairs()),
};
const OURS: Descriptor = Descriptor { kind: Kind::Ours, ..PAPER };
#[cfg(feature = "papers")]
const BASELINE: Descriptor = Descriptor { kind: Kind::Baseline, ..PAPER };

static LIST: &[Descriptor] = &[
    Descriptor {
        name: "brute-force",
        paper: Some("000, 004"),
        summary: "all pairs, many at once: the oracle, and the fastest for tiny n",
        #[cfg(feature = "papers")]
        options: &[super::common::PAPER_OPTION],
        #[cfg(feature = "papers")]
        build: build!(boxed spec => build_brute_force(spec)),
        ..PAPER
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "hash-grid",
        paper: Some("000"),
        summary: "hierarchical hash grid: constant time per object, any sizes, no world bounds; objects are moved one by one",
        options: hash_grid::options::INDIVIDUAL,
        build: build!(boxed spec => hash_grid::build(spec, hash_grid::Strategy::Individual)),
        ..PAPER
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "hash-grid-reinsert",
        paper: Some("000"),
        summary: "hierarchical hash grid, cleared and filled again in every frame",
        options: hash_grid::options::REINSERT,
        build: build!(boxed spec => hash_grid::build(spec, hash_grid::Strategy::Reinsert)),
        ..PAPER
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "kd-tree",
        paper: Some("001"),
        summary: "kd-tree with a sweep in each node; pairs of static objects are cached if most are static",
        options: kd_tree::ADAPTIVE,
        build: build!(spec => kd_tree::KdTree::new(kd_tree::Options::from_spec(kd_tree::Variant::Adaptive, spec)?)),
        ..PAPER
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "kd-tree-complete",
        paper: Some("001"),
        summary: "the kd-tree, all pairs searched for in each frame",
        options: kd_tree::COMMON,
        build: build!(spec => kd_tree::KdTree::new(kd_tree::Options::from_spec(kd_tree::Variant::Complete, spec)?)),
        ..PAPER
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "kd-tree-incremental",
        paper: Some("001"),
        summary: "the kd-tree, pairs of static objects always cached",
        options: kd_tree::COHERENT,
        build: build!(spec => kd_tree::KdTree::new(kd_tree::Options::from_spec(kd_tree::Variant::Incremental, spec)?)),
        ..PAPER
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "kd-tree-rebuilt",
        paper: Some("001"),
        summary: "the kd-tree, built anew in each frame",
        options: kd_tree::COMMON,
        build: build!(spec => kd_tree::KdTree::new(kd_tree::Options::from_spec(kd_tree::Variant::Rebuilt, spec)?)),
        ..PAPER
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "sweep",
        paper: Some("002"),
        summary: "candidates on one axis, pairing on another, in partitions of equal size; swaps a clustered axis",
        options: sweep::OPTIONS,
        build: build!(spec => sweep::Sweep::new(spec)?),
        ..PAPER
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "particle-grid",
        paper: Some("003"),
        summary: "balls of one size, sorted into cells as wide as they are",
        shapes: &[Shape::Ball],
        bounded: true,
        options: particle_grid::OPTIONS,
        build: build!(boxed spec => particle_grid::build(spec)),
        ..PAPER
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "octree",
        paper: Some("004"),
        summary: "four levels of halves (a quadtree in the plane); an object is stored in the deepest node that contains it entirely",
        bounded: true,
        options: octree::OPTIONS,
        build: build!(spec => octree::Octree::from_spec(spec)?),
        ..PAPER
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "level-grid",
        paper: Some("004"),
        summary: "four fixed grids over a bounded world; an object is stored in the grid of its size, in the section that holds its center",
        bounded: true,
        options: level_grid::OPTIONS,
        build: build!(spec => level_grid::LevelGrid::from_spec(spec)?),
        ..PAPER
    },
    Descriptor {
        name: "tiles",
        summary: "space in tiles of equal population, each joined on its own in quantized coordinates",
        options: tiles::OPTIONS,
        build: build!(boxed spec => build_tiles(spec)),
        ..OURS
    },
    Descriptor {
        name: "auto",
        summary: "the default: chooses and switches by itself",
        build: build!(boxed _spec => build_auto()),
        ..OURS
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "sort-and-sweep",
        paper: Some("002"),
        summary: "sort along one axis, sweep along it: the yardstick of the sweeps",
        options: sort_and_sweep::OPTIONS,
        build: build!(spec => sort_and_sweep::SortAndSweep::new(spec)?),
        ..BASELINE
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "sweep-3axis",
        paper: Some("000, 001"),
        summary: "sweep and prune on every axis, kept sorted by insertion from frame to frame",
        build: build!(_spec => sweep_3axis::Sweep3Axis::new()),
        ..BASELINE
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "dbvt-f",
        paper: Some("001"),
        summary: "a dynamic tree of boxes; leaves are larger than their objects, and compared with the tree when they are left",
        options: dbvt::OPTIONS,
        build: build!(spec => dbvt::Dbvt::new(dbvt::Options::from_spec(dbvt::Mode::Eager, spec)?)),
        ..BASELINE
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "dbvt-d",
        paper: Some("001"),
        summary: "a dynamic tree of boxes, compared with itself in one walk",
        options: dbvt::OPTIONS,
        build: build!(spec => dbvt::Dbvt::new(dbvt::Options::from_spec(dbvt::Mode::Deferred, spec)?)),
        ..BASELINE
    },
    #[cfg(feature = "papers")]
    Descriptor {
        name: "grid-sap",
        paper: Some("001"),
        summary: "a grid of sweep and prunes: each cell keeps its objects sorted on every axis, and a set of pairs",
        bounded: true,
        options: grid_sap::OPTIONS,
        build: build!(spec => grid_sap::GridSap::from_spec(spec)?),
        ..BASELINE
    },
];

/// `brute-force`: with `paper=true` the linked list of paper 004, otherwise the join that tests many pairs at once.
#[cfg(feature = "papers")]
fn build_brute_force<const D: usize, T: Real>(spec: &Spec) -> Built<D, T> {
    match spec.paper_mode()? {
        true => Ok(boxed(super::baselines::naive_list::NaiveList::new(), STRUCTURE)?),
        false => build_all_pairs(),
    }
}

fn build_all_pairs<const D: usize, T: Real>() -> Built<D, T> {
    Ok(boxed(brute_force::BruteForce::new(), STRUCTURE)?)
}

fn build_tiles<const D: usize, T: Real>(spec: &Spec) -> Built<D, T> {
    Ok(boxed(tiles::Tiles::of_any_dimension(tiles::Options::from_spec(spec)?), STRUCTURE)?)
}

fn build_auto<const D: usize, T: Real>() -> Built<D, T> {
    Ok(boxed(auto::Auto::of_any_dimension(), STRUCTURE)?)
}

/// Builds a structure for a scalar that the list has no constructors for. Instantiated in the crate that uses the scalar, and for the dimensions that
/// it uses.
fn build_there<const D: usize, T: Real>(spec: &Spec) -> Built<D, T> {
    match spec.descriptor().name {
        "brute-force" => build_all_pairs(),
        "tiles" => build_tiles(spec),
        _ => build_auto(),
    }
}

/// The names of the algorithms that a build without the feature `papers` leaves out: their error names the feature.
pub(super) const OF_PAPERS: &[&str] = &[
    "hash-grid",
    "hash-grid-reinsert",
    "kd-tree",
    "kd-tree-complete",
    "kd-tree-incremental",
    "kd-tree-rebuilt",
    "sweep",
    "particle-grid",
    "octree",
    "level-grid",
    "sort-and-sweep",
    "sweep-3axis",
    "dbvt-f",
    "dbvt-d",
    "grid-sap",
];

/// All algorithms of this build: with the feature `papers`, those of the papers and their baselines as well.
pub fn list() -> &'static [Descriptor] {
    LIST
}

/// Stores a value in an option of its type.
fn put<X: 'static>(option: &mut dyn Any, value: X) {
    if let Some(option) = option.downcast_mut() {
        *option = Some(value);
    }
}

impl Spec {
    /// Builds the structure. With the option `isa` it uses these kernels, whatever the [`Context`](crate::Context) says.
    ///
    /// ```
    /// use broadphase::Spec;
    /// let structure = "kd-tree:t=64".parse::<Spec>()?.build::<2, f64>()?;
    /// assert!(structure.stats().bytes < 100_000);
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsuited`] except in two and three dimensions; [`Error::InvalidOption`] for an axis that the plane does not have.
    pub fn build<const D: usize, T: Real>(&self) -> Result<Box<dyn BroadPhase<D, T>>, Error> {
        if !self.descriptor().dims.contains(&D) {
            return Err(Error::Unsuited { algorithm: self.descriptor().name, reason: "it works in two and three dimensions" });
        }
        T::compiled(|| self.build_here(), || build_there(self)).map(|structure| self.apply_isa(structure))
    }

    /// Builds the structure with the constructors of the list.
    fn build_here<const D: usize, T: Real>(&self) -> Built<D, T> {
        let build = &self.descriptor().build;
        let mut built: Option<Box<dyn BroadPhase<D, T>>> = None;
        match (D, T::NAME) {
            (2, f32::NAME) => put(&mut built, (build.plane_f32)(self)?),
            (3, f32::NAME) => put(&mut built, (build.space_f32)(self)?),
            #[cfg(feature = "f64")]
            (2, f64::NAME) => put(&mut built, (build.plane_f64)(self)?),
            #[cfg(feature = "f64")]
            (3, f64::NAME) => put(&mut built, (build.space_f64)(self)?),
            _ => {}
        }
        match built {
            Some(structure) => Ok(structure),
            None => unreachable!("the dimension was checked, and the scalar is compiled here"),
        }
    }

    /// Checks that the algorithm accepts the option values, in space or in the plane, by building it: an empty structure costs little.
    pub(super) fn check(&self) -> Result<(), Error> {
        #[cfg(feature = "f64")]
        type Scalar = f64; // what is too large for `f32` may be a coordinate
        #[cfg(not(feature = "f64"))]
        type Scalar = f32; // the options of these algorithms are no coordinates
        self.build::<3, Scalar>().map(|_| ()).or_else(|error| self.build::<2, Scalar>().map(|_| ()).map_err(|_| error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_missing_without_the_feature_papers_are_listed() {
        let always = ["brute-force", "tiles", "auto"];
        let listed: Vec<&str> = list().iter().map(|descriptor| descriptor.name).filter(|name| !always.contains(name)).collect();
        let expected: &[&str] = if cfg!(feature = "papers") { OF_PAPERS } else { &[] };
        assert_eq!(listed, expected);
        if !cfg!(feature = "papers") {
            let error = OF_PAPERS[0].parse::<Spec>().unwrap_err();
            assert!(error.to_string().contains("'papers'"), "{error}");
        }
    }
}
