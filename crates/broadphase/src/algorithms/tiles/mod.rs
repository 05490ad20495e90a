//! Tiles: space is cut into boxes that hold up to a thousand objects each; every tile is joined on its own, in the cache.
//!
//! # The structure
//! 1. A *lattice* maps coordinates to 30-bit integers, by a monotone map per axis (`lattice.rs`). Where all objects drift,
//!    spread or gather, it does so too; where crowds live on scales too different for a straight map, it is bent.
//! 2. A *partition* cuts the lattice into tiles of about equal population (`partition.rs`). It stays as it is from frame to frame,
//!    and is cut anew only when tiles have grown too uneven, or when smaller ones are worth a try (`grain.rs`).
//! 3. An object has a 16-byte *record*, quantised relative to the tile, in each tile that it reaches. A new partition is filled in one
//!    pass over the boxes (`scatter.rs`). From then on, records of objects that reach the same tiles as before are made anew where they
//!    lie, and only the others are placed anew (`refresh.rs`).
//! 4. Each tile is sorted and swept in bytes, along the axis that spreads its objects most, confirmed in words, and decided on the
//!    boxes only where words are equal (`kernels/tile`, which also has the argument why no pair is lost, invented or reported twice).
//!
//! # What follows
//! Tiles are independent: threads take them one by one, and a tile's pairs are a chunk of the store. Infinite sides, outliers and
//! extents that overflow need no special case, since a clamped coordinate is still in order. Coordinates are read once per frame. Records
//! lie in blocks of slots small enough for their boxes to stay in the cache while they are read in the order of the tiles.
//!
//! # Cost
//! Each box is read once, 16 bytes are written per object and tile reached, and each object is swept over those of the tile that start
//! within its width on the sweep axis. An object that reaches several tiles costs a copy for each; one that comes to reach others, a look-up.
//! Where more than half do, all records are written in order, as in the first frame; after a sudden jump, space is cut anew first. The bad case: objects much larger than their
//! distances, so that each reaches many tiles. Tiles are never cut below a few mean sizes, so that copies stay few and tiles grow fuller
//! instead; the cost is then that of a sweep.
//! A solid object larger than many tiles is copied into each, but it also overlaps nearly all that is in them: large objects need no level of
//! their own, and where many are large, tiles are.
//!
//! What stands still is not tested again (`changes.rs`). Up to about 3 % of moved objects, only the tiles they touch are looked through, and
//! the records of the moved are at hand (`movers.rs`). For more of them, where a full join would make many tests, all tiles are looked through,
//! but only records of the moved are written again, and only their pairs are sought. Beyond that, all pairs are found again. Among so
//! many objects that the cache does not hold them, it pays for fewer.
//! (To keep candidates of boxes with some leeway over a few frames lost, in random walks and on cloth alike: so many objects change tiles
//! or leave their leeway that to seek their pairs costs what the joins would have.)
//!
//! Where all objects move along one axis, those that overlap on the other two are known from frame to frame, and are looked at alone, if they
//! are few (`rails.rs`).
//!
//! # Memory
//! 16 bytes per copy with an eighth to spare, 32 for each object that is placed anew in a frame; with coherence (`changes.rs`) one copy of
//! the boxes and a byte; where questions are asked (`index.rs`) about another.
//!
//! # Source
//! Ours. The parts are old: counting sorts, sweeps, grids whose duplicates vanish by a reference corner.

mod changes;
mod grain;
mod index;
mod lattice;
mod movers;
mod pairs;
mod partition;
mod plan;
mod query;
mod rails;
mod refresh;
mod scatter;
mod update;
mod validate;

use std::sync::Mutex;

use crate::algorithms::common::assert_dimension;
use crate::algorithms::{BroadPhase, OptionDescriptor, Outline, Probes, Query, Spec, Stats, Strength, Violation};
use crate::context::{Context, PerWorker};
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::kernels::tile;
use crate::objects::{Changes, Frame};
use crate::pairs::{PairStore, Revision};
use crate::spare::Spare;
use changes::Coherence;
use grain::Grain;
use index::Index;
use lattice::Lattice;
use movers::Movers;
use partition::Partition;
use rails::Rails;
use scatter::Block;

/// The options as a [`Spec`] takes them.
pub(crate) const OPTIONS: &[OptionDescriptor] = &[
    OptionDescriptor { name: "target", default: "1000", help: "objects per tile" },
    OptionDescriptor { name: "coherence", default: "true", help: "compare with the last frame and redo only what moved" },
];

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Objects per tile that the partition aims at.
    pub target: usize,
    /// Compare boxes with the last frame's, and redo only what moved? Otherwise only listed changes are believed.
    pub coherence: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { target: 1000, coherence: true }
    }
}

impl Options {
    /// Each value, or the nearest in its range.
    fn in_range(self) -> Self {
        Self { target: self.target.clamp(16, 65536), ..self }
    }

    /// From the options of a [`Spec`].
    pub(crate) fn from_spec(spec: &Spec) -> Result<Self, Error> {
        let default = Self::default();
        let target = spec.value("target", default.target, "a number from 16 to 65536", |t| (16..=65536).contains(t))?;
        let coherence = spec.value("coherence", default.coherence, "true or false", |_| true)?;
        Ok(Self { target, coherence })
    }
}

/// The tiles algorithm. See the module's text.
#[derive(Debug)]
pub struct Tiles<const D: usize, T: Real> {
    options: Options,
    lattice: Lattice<D, T>,
    partition: Partition,
    /// Objects in blocks of consecutive slots; each block has its own records for every tile, so that blocks scatter in parallel.
    blocks: Vec<Mutex<Block>>,
    /// Slots per block; the last one may have more.
    block: usize,
    /// Slots of the last update.
    slots: usize,
    load: Load,
    grain: Grain,
    coherence: Coherence<D, T>,
    rails: Rails,
    /// The last update failed half-way: records are gone, and are made again from the next frame that comes along.
    stale: bool,
    revision: Revision,
    scratch: PerWorker<tile::Scratch<T>>,
    /// The tiles to join; scratch.
    jobs: Vec<u32>,
    /// The records of changed objects, if they are few; scratch.
    movers: Movers,
    /// What questions need; scratch.
    index: Index<D, T>,
    /// What a probe finds in a tile; scratch.
    probed: Spare<Vec<(u32, bool)>>,
}

/// How even the tiles are: what the decision to cut anew is made from.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// Records in all tiles.
    records: usize,
    /// Objects.
    objects: usize,
    /// The sum of squared tile populations, what the joins cost, and the objects, when the partition was made.
    work_when_cut: f64,
    objects_when_cut: usize,
    /// The fewest tests of a full join since then, and whether there are far more of them now.
    tests_when_cut: u64,
    worn: bool,
    /// Of a few objects, how many were off the lattice then.
    off_lattice_when_cut: usize,
    /// Did many objects jump to other tiles in the last frame?
    jumping: bool,
    /// Frames until a jump may rebuild the partition again.
    jump_pause: u32,
}

impl Load {
    /// The tests per object of a full join, if one has been counted.
    fn tests_per_object(&self) -> Option<usize> {
        (self.tests_when_cut < u64::MAX).then(|| (self.tests_when_cut / self.objects.max(1) as u64) as usize)
    }
}

impl<const D: usize, T: Real> Tiles<D, T> {
    /// An empty structure. Options outside their range count as the nearest value inside.
    pub fn new(options: Options) -> Self {
        assert_dimension::<D>();
        let options = options.in_range();
        Self {
            options,
            lattice: Lattice::default(),
            partition: Partition::whole([0.0; 3]),
            blocks: Vec::new(),
            block: 1,
            slots: 0,
            load: Load::default(),
            grain: Grain::new(options.target),
            coherence: Coherence::default(),
            rails: Rails::default(),
            stale: true,
            revision: Revision::default(),
            scratch: PerWorker::default(),
            jobs: Vec::new(),
            movers: Movers::default(),
            index: Index::default(),
            probed: Spare::default(),
        }
    }
}

/// What nobody else can hold.
fn open<X>(mutex: &mut Mutex<X>) -> &mut X {
    mutex.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn lock<X>(mutex: &Mutex<X>) -> std::sync::MutexGuard<'_, X> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl<const D: usize, T: Real> Clone for Tiles<D, T> {
    fn clone(&self) -> Self {
        let mut index = Index::default();
        index.forget(self.partition.tiles.len(), None);
        Self {
            options: self.options,
            lattice: self.lattice.clone(),
            partition: self.partition.clone(),
            blocks: self.blocks.iter().map(|block| Mutex::new(lock(block).clone())).collect(),
            block: self.block,
            slots: self.slots,
            load: self.load,
            grain: self.grain,
            coherence: self.coherence.clone(),
            rails: self.rails.clone(),
            stale: self.stale,
            revision: self.revision,
            scratch: PerWorker::default(),
            jobs: Vec::new(),
            movers: Movers::default(),
            index,
            probed: Spare::default(),
        }
    }
}

impl<const D: usize, T: Real> BroadPhase<D, T> for Tiles<D, T> {
    fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        let nothing_listed = matches!(frame.changes, Changes::Listed { moved: [], inserted: [], removed: [] });
        if nothing_listed && !self.stale && frame.slots() == self.slots {
            return frame.check_lists();
        }
        let start = context.clock();
        let result = self.take_in(frame, context);
        let touched = if self.coherence.all_touched { None } else { Some(&self.coherence.touched[..]) };
        self.index.forget(self.partition.tiles.len(), touched);
        context.record("scatter", start);
        result
    }

    fn pairs(&mut self, frame: &Frame<'_, D, T>, context: &mut Context, out: &mut PairStore) -> Result<(), Error> {
        let start = context.clock();
        let made_again = self.stale;
        let result = self.find(frame, context, out);
        if made_again {
            self.index.forget(self.partition.tiles.len(), None);
        }
        context.record("join", start);
        result
    }

    fn probe(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        self.join_probes(frame, probes, context, out)
    }

    fn reader(&self) -> Option<&dyn Query<D, T>> {
        Some(self)
    }

    fn outline(&self, _frame: &Frame<'_, D, T>, visit: &mut dyn FnMut(Outline, Aabb<D, T>)) {
        self.draw(visit);
    }

    fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        self.check(frame, strength)
    }

    fn stats(&self) -> Stats {
        let blocks: usize = self.blocks.iter().map(|block| lock(block).bytes()).sum();
        let copies = self.load.records as f64 / self.load.objects.max(1) as f64;
        Stats {
            bytes: self.partition.bytes()
                + blocks
                + self.coherence.bytes()
                + self.rails.bytes()
                + self.movers.bytes()
                + self.scratch_bytes()
                + self.index.bytes(),
            choice: None,
            extra: vec![("tiles", self.partition.tiles.len() as f64), ("copies_per_object", copies)],
        }
    }

    fn boxed_clone(&self) -> Box<dyn BroadPhase<D, T>> {
        Box::new(self.clone())
    }
}
