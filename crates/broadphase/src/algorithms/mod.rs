//! The algorithms, behind one interface and in one list.
//!
//! Every folder has the same rooms: `mod.rs` (data and invariants), `update.rs`, `pairs.rs`, `query.rs`, `validate.rs`.
//! No algorithm knows another one. Tests, benches, CLI and bindings loop over [`list`]: what is listed is tested.

pub mod brute_force;
mod interface;
mod spec;
pub mod tiles;

pub(crate) use interface::ensure;
pub use interface::{BroadPhase, Probes, Query, Stats, Strength, Violation};
pub use spec::{COMMON_OPTIONS, Spec, nearest};

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
    Tiles,
    Auto,
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
            Build::Auto => Box::new(crate::auto::Auto::new()),
            Build::Tiles => Box::new(tiles::Tiles::new(tiles::Options::from_spec(self)?)),
        })
    }
}
