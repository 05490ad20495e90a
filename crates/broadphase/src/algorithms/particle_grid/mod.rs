//! The particle hash grid: points of one radius, sorted into cells as wide as a particle.
//!
//! # The structure
//! Three arrays, as the text has them: a table from cell to the start of its slice, with a sentinel behind the last; the
//! particles' indices, sorted by cell with one counting sort; and the particles themselves, which stay in the caller's array.
//! Particles that touch are in the same or in adjacent cells. A bounded world has a dense table, and what lies outside belongs
//! to the cells at the border; unless it is given, the world is fitted again when many particles have left it. An unbounded one has a hash table, with one of three functions ([`enum@Hash`]); two cells may share a
//! slot, so a particle is compared with the cell it is met in. A world may repeat ([`Options::periodic`]).
//!
//! # Departures from the paper
//! With `paper=true` (`paper.rs`) only the first two are made. What the others gain together (paired CPU times of one thread, equal pairs, an AMD EPYC
//! with AVX-512; `broadphase bench particles:dim=2 particles --shape ball --n 16000 --frames 65 --algorithms
//! particle-grid,particle-grid:paper=true`): 2.8 times as fast in the plane and 4.5 times in space; with `grid=hashed` in both, 1.7 and 2.3 times.
//! 1. Cells are wider than a particle by a thousandth: with floats, two that touch could land two cells apart.
//! 2. The table is never larger than a few cells per particle: wider cells stand in for a sparse world's.
//! 3. Each pair is met once: the slots of a dense table are rows, and the half of the neighbors that lies ahead is a handful of
//!    runs, which vector comparisons test many at once (`kernels/ball_runs.rs`). The text tests each pair from both sides.
//! 4. In a hashed grid particles search block of cells by block of cells, not in the order of the table, so that what one has looked
//!    up is in the cache for its neighbors; and the table of two of the functions has a power of two of slots, which saves a division per look. The
//!    order of the table was far slower.
//! 5. A search copies the particles into columns, cell by cell, once a frame; the text warns of copies and follows indices into the arena. Each
//!    particle is read by all of its neighbors: a copy in the order of cells is read in order, and compared many at once.
//!
//! # Two doors
//! [`ParticleGrid`] takes points and a radius, in any dimension, and also gives the neighbors of one particle and compressed
//! lists of all. [`ParticlePhase`] is the adapter into the one list, for boxes of one size that stand for balls; it answers
//! with the pairs whose boxes and balls overlap. Sizes that differ by more than a hundredth are refused.
//!
//! # Cost
//! Linear in particles and pairs. The bound breaks where many particles outside of a bounded world share a border cell, and where a few
//! far ones stretch it, so that its cells are wide and a crowd shares one: n² tests at worst. A hashed grid minds neither.
//!
//! # Source
//! Paper 003, "Particle Collisions with Spatial Hash Grid".

mod grid;
mod hash;
mod neighbors;
mod pairs;
pub mod paper;
mod separate;
mod space;
mod update;
mod validate;

pub use grid::{Options, ParticleGrid, Storage};
pub use hash::Hash;
pub use neighbors::NeighborLists;
pub use paper::PaperParticles;
pub use separate::Separation;

use crate::algorithms::common::{PAPER_OPTION, WORLD_OPTION, assert_dimension, implement_broad_phase};
use crate::algorithms::{BroadPhase, OptionDescriptor, Spec, Stats};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::Soa;
use crate::pairs::Revision;

/// What the list shows.
pub(crate) const OPTIONS: &[OptionDescriptor] = &[
    OptionDescriptor {
        name: "grid",
        default: "dense",
        help: "dense: a table of the cells of a bounded world; hashed: a hash table, for an unbounded one",
    },
    OptionDescriptor { name: "hash", default: "xor", help: "of a hashed grid: chain, xor or modular" },
    OptionDescriptor {
        name: "slots",
        default: "0",
        help: "of a hashed grid: the size of the table; 0: at least two per particle",
    },
    OptionDescriptor {
        help: "of a dense grid: the region of the cells, min then max joined by slashes, as in 0/0/0/10/10/10; auto: around the particles, fitted again when they leave it",
        ..WORLD_OPTION
    },
    PAPER_OPTION,
];

/// Reads the options of a spec.
pub(crate) fn storage(spec: &Spec) -> Result<Storage, Error> {
    let slots = spec.value("slots", 0usize, "a whole number up to 2^31", |s| *s <= 1 << 31)?;
    let name = spec.text("hash").unwrap_or("xor");
    let Some((_, hash)) = Hash::ALL.into_iter().find(|entry| entry.0 == name) else {
        return Err(spec.invalid("hash", name, "chain, xor or modular".to_string()));
    };
    match spec.text("grid") {
        None | Some("dense") => Ok(Storage::Dense),
        Some("hashed") => Ok(Storage::Hashed { hash, slots: (slots > 0).then_some(slots) }),
        Some(other) => Err(spec.invalid("grid", other, "dense or hashed".to_string())),
    }
}

/// The particle grid as an algorithm among the others: boxes of one size that stand for balls.
#[derive(Clone, Debug)]
pub struct ParticlePhase<const D: usize, T: Real> {
    storage: Storage,
    /// The world, if the caller gave one.
    world: Option<Aabb<D, T>>,
    /// Built from `centers`; none before the first particle.
    grid: Option<ParticleGrid<D, T>>,
    /// The ids of the live slots, ascending, and the centers of their boxes.
    ids: Vec<u32>,
    centers: Vec<[T; D]>,
    /// Has anything changed since the last `pairs`?
    dirty: bool,
    revision: Revision,
    /// The boxes in the order of cells: a buffer of the search.
    sorted: Soa<D, T>,
    sorted_ids: Vec<u32>,
}

impl<const D: usize, T: Real> ParticlePhase<D, T> {
    /// An empty structure.
    pub fn new(storage: Storage) -> Self {
        assert_dimension::<D>();
        Self {
            storage,
            world: None,
            grid: None,
            ids: Vec::new(),
            centers: Vec::new(),
            dirty: true,
            revision: Revision::default(),
            sorted: Soa::default(),
            sorted_ids: Vec::new(),
        }
    }

    /// The same structure, with a dense grid over a world that stays as it is given. Particles outside are found too, but share the cells
    /// at the border.
    ///
    /// # Errors
    /// [`Error::InvalidBox`] for a box that is not valid, [`Error::Unsuited`] for one that is not finite.
    pub fn with_world(self, world: &Aabb<D, T>) -> Result<Self, Error> {
        let options = Options { storage: self.storage, world: Some(*world), periodic: false };
        ParticleGrid::new(T::ONE, options)?;
        Ok(Self { world: Some(*world), ..self })
    }

    /// From the options of a [`Spec`].
    pub(crate) fn from_spec(spec: &Spec) -> Result<Self, Error> {
        let structure = Self::new(storage(spec)?);
        match spec.world()? {
            Some(world) => structure.with_world(&world),
            None => Ok(structure),
        }
    }
}

impl<const D: usize, T: Real> ParticlePhase<D, T> {
    fn stats(&self) -> Stats {
        let slots = self.grid.as_ref().map_or(0, |grid| grid.space.slots);
        let lists = (self.ids.capacity() + self.sorted_ids.capacity()) * 4 + self.centers.capacity() * size_of::<[T; D]>();
        let bytes = self.grid.as_ref().map_or(0, ParticleGrid::bytes) + lists + self.sorted.bytes();
        Stats { bytes, choice: None, extra: vec![("cells", slots as f64)] }
    }
}

implement_broad_phase!(ParticlePhase);

/// What a [`Spec`] asks for: the paper's grid with `paper=true`, ours else.
pub(crate) fn build<const D: usize, T: Real>(spec: &Spec) -> Result<Box<dyn BroadPhase<D, T>>, Error> {
    match spec.paper_mode()? {
        true => Ok(Box::new(PaperParticles::from_spec(spec)?)),
        false => Ok(Box::new(ParticlePhase::from_spec(spec)?)),
    }
}
