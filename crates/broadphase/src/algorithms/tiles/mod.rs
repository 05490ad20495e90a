//! Tiles: space is partitioned into boxes that hold up to about a thousand objects each, and every tile is joined on its own, in the cache.
//!
//! # The structure
//! 1. A *lattice* maps coordinates to 30-bit integers, by a monotone map per axis (`lattice.rs`). Where all objects drift,
//!    spread or gather, it follows them (`motion.rs`); where clusters differ in scale too much for a linear map, it is piecewise linear.
//! 2. A *partition* cuts the lattice into tiles of about equal population (`partition`). It is kept from frame to frame,
//!    and rebuilt only when tiles have become too uneven, after a jump, or when smaller tiles are worth a try (`tile_size.rs`).
//! 3. An object has a 16-byte *record*, quantized relative to the tile, in each tile that it reaches (`records`).
//! 4. Each tile is sorted and swept in bytes, along the axis on which its objects are spread most, confirmed in words, and by the
//!    boxes only where words are equal (`kernels/tile`, which also proves that no pair is lost, invented or reported twice).
//!
//! # A frame
//! `update` (`update.rs`) gets the changes from the change tracker, counts what the plan needs, and calls `plan.rs`, which holds all thresholds and
//! decides whether the partition is kept and which records are written. It then writes them. `pairs` (`pairs.rs`) joins the tiles that
//! changes touch, in one of three ways: by a sweep; by the changed objects alone (`movers.rs`), which does not even read the whole tile if it is
//! kept sorted (`sorted_tiles.rs`); or from candidates that are cached while all objects move along one axis (`axis_motion.rs`).
//! `pending.rs` accumulates the changes between two calls of `pairs`. `query_trees.rs` has trees for queries, built on demand.
//! `probe` (`probe.rs`) pairs the objects with the boxes of another set; if these are many, by a join of the two sets in each tile. Objects that do
//! not change, such as statics, are sorted once; if a call has as many recurring probes as the last one, their records are rewritten in place.
//!
//! # Consequences
//! Tiles are independent: threads take them one by one, and a tile's pairs are a chunk of the store. Infinite sides, outliers and
//! extents that overflow need no special case, since clamping keeps coordinates in order. Coordinates are read once per frame. Records
//! are grouped into blocks of slots; a block is small enough for its boxes to stay in the cache while they are read in the order of the tiles.
//!
//! # Cost
//! Each box is read once, 16 bytes are written per object and tile reached, and each object is swept over those of the tile that start
//! within its width on the sweep axis. An object that reaches several tiles costs a copy for each; one that no longer reaches the same tiles costs
//! a look-up. If more than half of the objects do that, all records are written in order, as in the first frame; after a sudden jump, the partition
//! is rebuilt first. The bad case: objects much larger than the distances between them, so that each reaches many tiles. Tiles are never cut below
//! a few mean sizes, so copies stay few and tiles hold more objects instead; the cost is then that of a sweep.
//! A solid object larger than many tiles is copied into each, but it also overlaps nearly all objects in them, so large objects need no level of
//! their own. If most objects are large, so are the tiles.
//!
//! Objects at rest are not tested again. If up to 1/64 of the objects change (1/128 in large frames), only the tiles that they touch are searched and
//! joined; if such changes go on for several frames, only the neighborhoods of the changed objects (`listed.rs`). If more change, and a full join would
//! make many tests, all tiles are searched, but only the records of changed objects are rewritten, and only their pairs are tested. Beyond
//! that, all pairs are found again. The limits are lower if the objects do not fit into the cache (`plan.rs` has the numbers).
//! (Keeping candidates of enlarged boxes over a few frames was slower, in random walks and on cloth alike: so many objects change tiles
//! or leave their enlarged boxes that finding their pairs costs as much as the joins.)
//!
//! # Memory
//! 16 bytes per copy and an eighth more, 32 for each object that is relocated in a frame; while changes are tracked, a copy of the boxes and one
//! byte per object; with queries, about another copy; if objects at rest are probed, 20 bytes per copy.
//!
//! # Source
//! Our own combination of known parts: counting sorts, sweeps, grids that avoid duplicates by a reference corner.

mod axis_motion;
mod lattice;
mod listed;
mod motion;
mod movers;
mod pairs;
mod partition;
mod pending;
mod plan;
mod probe;
mod query;
mod query_trees;
mod records;
mod sorted_tiles;
mod tile_size;
mod update;
mod validate;

use std::sync::Mutex;

use crate::algorithms::common::{assert_dimension, implement_broad_phase};
use crate::algorithms::{OptionDescriptor, Spec, Stats};
use crate::buffer_pool::BufferPool;
use crate::context::PerWorker;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::tile;
use crate::objects::changes::ChangeTracker;
use crate::pairs::Revision;
use axis_motion::AxisMotionCache;
use lattice::Lattice;
use movers::MoverRecords;
use partition::Partition;
use pending::PendingChanges;
use probe::{ProbeColumns, ProbeRecords};
use query_trees::QueryTrees;
use records::Block;
use sorted_tiles::SortedTiles;
use tile_size::TileSizeTuner;

/// The options that a [`Spec`] accepts.
pub(crate) const OPTIONS: &[OptionDescriptor] = &[
    OptionDescriptor { name: "target", default: "1000", help: "objects per tile" },
    OptionDescriptor { name: "coherence", default: "true", help: "compare with the last frame and patch only what moved" },
];

/// The options of `tiles`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The number of objects per tile that the partition aims at.
    pub target: usize,
    /// Compare boxes with the last frame's, and patch only what moved? If not, only changes that the caller lists are used.
    pub coherence: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { target: 1000, coherence: true }
    }
}

impl Options {
    /// The options, each clamped to its range.
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

/// The structure of the algorithm `tiles`. See the [module documentation](self).
#[derive(Debug)]
pub struct Tiles<const D: usize, T: Real> {
    options: Options,
    lattice: Lattice<D, T>,
    partition: Partition,
    /// Identifies the current partition: the number of partitions made so far.
    partition_number: u64,
    /// Ranges of consecutive slots; each block has its own records for every tile, so that blocks are written in parallel.
    blocks: Vec<Mutex<Block>>,
    /// The last block may have more, until the next partition.
    slots_per_block: usize,
    /// The number of slots in the last update.
    slots: usize,
    load: Load,
    tile_size: TileSizeTuner,
    tracker: ChangeTracker<D, T>,
    pending: PendingChanges,
    axis_motion: AxisMotionCache,
    sorted: SortedTiles,
    /// The last update failed midway: there are no records, and the next frame writes all of them.
    stale: bool,
    revision: Revision,
    scratch: PerWorker<tile::Scratch<T>>,
    /// The tiles to join; scratch.
    jobs: Vec<u32>,
    /// The records of changed objects, if they are few; scratch.
    movers: MoverRecords,
    /// Trees for queries; scratch.
    query_trees: QueryTrees<D, T>,
    /// Ids that a probe finds in a tile, and whether each is certain; scratch.
    probed: BufferPool<Vec<(u32, bool)>>,
    /// The records of joined probes; those of recurring probes are where the next call starts from.
    probe_records: BufferPool<ProbeRecords>,
    /// The buffers of these joins; scratch.
    probe_scratch: BufferPool<(tile::Scratch<T>, tile::Columns)>,
    /// The records of objects, sorted for probes; they can be dropped without changing a result.
    probe_columns: ProbeColumns,
}

/// The counts of past frames that the plan of the next update needs.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    /// The number of records in all tiles.
    records: usize,
    /// The number of objects.
    objects: usize,
    /// When the partition was made: the sum of squared tile populations, to which the cost of the joins is proportional, and the number of objects.
    work_at_partition: f64,
    objects_at_partition: usize,
    /// The fewest tests of a full join since then, and whether the last one showed that the partition should be rebuilt.
    fewest_tests: u64,
    needs_repartition: bool,
    /// How many of a few sampled objects were off the lattice when the partition was made.
    off_lattice_at_partition: usize,
    /// Did many objects jump to other tiles in the last frame?
    jumping: bool,
    /// Frames until a jump may rebuild the partition again.
    jump_pause: u32,
}

impl Load {
    /// The tests per object of a full join, if one has been counted.
    fn tests_per_object(&self) -> Option<usize> {
        (self.fewest_tests < u64::MAX).then(|| (self.fewest_tests / self.objects.max(1) as u64) as usize)
    }
}

impl<const D: usize, T: Real> Tiles<D, T> {
    /// An empty structure. Options are clamped to their ranges.
    pub fn new(options: Options) -> Self {
        assert_dimension::<D>();
        Self::of_any_dimension(options)
    }

    /// The same where the dimension is checked at run time.
    pub(crate) fn of_any_dimension(options: Options) -> Self {
        let options = options.in_range();
        Self {
            options,
            lattice: Lattice::default(),
            partition: Partition::default(),
            partition_number: 0,
            blocks: Vec::new(),
            slots_per_block: 1,
            slots: 0,
            load: Load::default(),
            tile_size: TileSizeTuner::new(options.target),
            tracker: ChangeTracker::default(),
            pending: PendingChanges::default(),
            axis_motion: AxisMotionCache::default(),
            sorted: SortedTiles::default(),
            stale: true,
            revision: Revision::default(),
            scratch: PerWorker::default(),
            jobs: Vec::new(),
            movers: MoverRecords::default(),
            query_trees: QueryTrees::default(),
            probed: BufferPool::default(),
            probe_records: BufferPool::default(),
            probe_scratch: BufferPool::default(),
            probe_columns: ProbeColumns::default(),
        }
    }
}

/// The content of a mutex that is borrowed exclusively, without locking.
fn open<X>(mutex: &mut Mutex<X>) -> &mut X {
    mutex.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn lock<X>(mutex: &Mutex<X>) -> std::sync::MutexGuard<'_, X> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Scratch is not copied. The records of probes are, since they determine the order of the pairs of the next probe.
impl<const D: usize, T: Real> Clone for Tiles<D, T> {
    fn clone(&self) -> Self {
        let mut query_trees = QueryTrees::default();
        query_trees.fit(self.partition.tiles.len());
        Self {
            options: self.options,
            lattice: self.lattice.clone(),
            partition: self.partition.clone(),
            partition_number: self.partition_number,
            blocks: self.blocks.iter().map(|block| Mutex::new(lock(block).clone())).collect(),
            slots_per_block: self.slots_per_block,
            slots: self.slots,
            load: self.load,
            tile_size: self.tile_size,
            tracker: self.tracker.clone(),
            pending: self.pending.clone(),
            axis_motion: self.axis_motion.clone(),
            sorted: self.sorted.clone(),
            stale: self.stale,
            revision: self.revision,
            scratch: PerWorker::default(),
            jobs: Vec::new(),
            movers: MoverRecords::default(),
            query_trees,
            probed: BufferPool::default(),
            probe_records: self.probe_records.copy(),
            probe_scratch: BufferPool::default(),
            probe_columns: ProbeColumns::default(),
        }
    }
}

impl<const D: usize, T: Real> Tiles<D, T> {
    /// Size and counters.
    fn stats(&self) -> Stats {
        let blocks: usize = self.blocks.iter().map(|block| lock(block).bytes()).sum();
        let copies = self.load.records as f64 / self.load.objects.max(1) as f64;
        Stats {
            bytes: self.partition.bytes()
                + blocks
                + self.tracker.bytes()
                + self.pending.bytes()
                + self.axis_motion.bytes()
                + self.movers.bytes()
                + self.sorted.bytes()
                + self.scratch_bytes()
                + self.probe_records.bytes(ProbeRecords::bytes)
                + self.probe_scratch.bytes(|(scratch, columns)| scratch.bytes() + columns.bytes())
                + self.probe_columns.bytes()
                + self.query_trees.bytes(),
            choice: None,
            extra: vec![("tiles", self.partition.tiles.len() as f64), ("copies_per_object", copies)],
        }
    }
}

implement_broad_phase!(Tiles, reader, outline);
