//! The decisions of a frame, as pure functions of counted observations, and all tuned constants of `tiles`.
//!
//! `update.rs` and `pairs.rs` count, ask this file, and carry the answer out. No function here touches a box or a record, so every decision is
//! tested by a table of cases, and a threshold is changed in one place. No clock, core count or instruction set is an observation: the order
//! of pairs follows from these decisions, and it must be the same on every machine.

/// The tuned constants. Where a command is named, it shows the effect; *share* is
/// `cargo run --release -p broadphase-cli --example moving_share -- 16000 128000`.
#[rustfmt::skip]
pub(super) mod tuned {
    // Partition: when it is rebuilt.
    pub const UNEVEN: f64 = 1.5;                  // growth of the sum of squared tile populations, which joins cost, that a rebuild repays
    pub const MORE_TESTS: u64 = 2;                // growth of the tests of a full join that says that the lattice no longer fits,
    pub const SPARE_TESTS: u64 = 32;              // plus so many per object, so that a few tests more do not count
    pub const LOOKS: usize = 16;                  // objects looked at each frame for being off the lattice:
    pub const OFF_LATTICE: usize = 2;             // and how many more of them than after the last rebuild are too many
    pub const JUMPED: usize = 4;                  // one sampled object in so many in another tile is a jump: relocation would cost more than a rebuild
    pub const CALM: usize = 8;                    // one in so many ends a jump; two thresholds, so that the state does not flip
    pub const IN_ORDER: usize = 2;                // above one in so many, writing all records in slot order costs less than relocating
    pub const JUMP_PAUSE: u32 = 16;               // frames between rebuilds by jumps: where objects always jump, a rebuild gains nothing
    // Partition: how it is made.
    pub const SAMPLE_PER_TILE: usize = 64;        // objects that cuts are chosen from, per tile: even enough,
    pub const CUT_SAMPLE: usize = 1 << 17;        // and at most in all
    pub const CELLS_PER_TILE: u32 = 6;            // cells of a table per tile, as a power of two: the places a cut can choose from;
    pub const FEWER_CELLS_PER_TILE: u32 = 4;      // fewer, where the table would push the records out of the second-level cache,
    pub const CELLS_IN_CACHE: u32 = 15;           // which it does from this many cells on, as a power of two
    pub const FINEST_CELL: f64 = 4.0;             // mean sizes that a cell is wide to get a finer table: below, an object reaches too many tiles
    pub const NARROWEST_PART: f64 = 3.0;          // mean sizes that a part is wide to be cut: the same reason
    pub const EXPECTED_SLACK: f64 = 1.25;         // capacity of a new run, compared with what the sample lets expect: with less, many overflow;
    pub const SPILLED: usize = 8;                 // one slot in so many may have a record that did not fit: beyond, writing the block again costs less
    pub const BLOCK: usize = 1 << 15;             // slots per block at least: their boxes fit the second-level cache while records are rewritten;
    pub const BLOCKS: usize = 16;                 // blocks at most: a tile's runs stay long
    pub const PARTS: usize = 8;                   // parts of a single block, which several workers rewrite: enough to share evenly
    // Tile size: tried by halves.
    pub const MANY_TESTS: u64 = 96;               // tests per object from which on smaller tiles are tried
    pub const LEFT_OF_THREE: u64 = 2;             // a try has helped if at most two thirds of the tests are left
    pub const SMALLEST_TILE: usize = 4;           // the smallest tiles are a quarter of the option's size
    // Lattice.
    pub const LATTICE_SAMPLE: usize = 1024;       // boxes that place it
    pub const TRIM_SAMPLE: usize = 256;           // of them, those whose order tells where the bulk of the objects ends:
    pub const OUTLIERS: usize = 64;               // one in so many at each end does not stretch it
    pub const COARSE: i32 = 4;                    // lattice steps below which a straight map hardly separates boxes,
    pub const CROWD: usize = 16;                  // and one box in so many that makes a piecewise map worth a search per coordinate
    pub const SEGMENTS: usize = 40;              // segments of equal population of a piecewise map
    pub const ALIKE: f64 = 2.0;                   // densities whose ratio is smaller share a segment: each knot costs time
    // Coherence: what is kept from the last frame. *share*
    pub const IN_CACHE: usize = 1 << 15;          // slots up to which boxes, records and pairs stay in the second-level cache
    pub const OUT_OF_CACHE: usize = 20;           // what waiting for memory costs beyond, in tests per object
    pub const LEAST_LIMIT: usize = 10;            // the range of the limit on changed slots per mille
    pub const GREATEST_LIMIT: usize = 125;        // (`most_changed`)
    pub const TYPICAL_TESTS: usize = 48;          // tests per object of a full join that has not been counted yet
    pub const FIT: usize = 1 << 18;               // up to so many slots, records are searched for tile by tile for one changed slot in `FEW`,
    pub const FEW: usize = 32;                    // beyond, where misses are dearer, for one in `FEW_OF_MANY`;
    pub const FEW_OF_MANY: usize = 128;           // for more changes, a pass over all records in order costs less
    pub const SORT_AFTER: u8 = 3;                 // updates with listed changes in a tile after which its records are kept sorted: sorting costs what a few searches do
    pub const AHEAD: usize = 16;                  // changed slots between prefetching a box and reading it: a miss takes as long as their records
    pub const KEEP: usize = 5;                    // one mover in so many records of a tile: above, a full sweep of the tile costs less
    // Global motion.
    pub const SIGNIFICANT: f64 = 3.0;             // standard errors from which on a common move counts
    pub const STEEP: f64 = 0.5;                   // objects that spread or gather faster in one frame jump instead
    pub const FEWEST_MOVES: f64 = 4.0;            // fewer lie on a line by chance
    pub const FOLLOWERS: f64 = 0.6;               // share of the sample that a slope must explain
    // Axis-motion cache and query trees.
    pub const WORTH: u32 = 4;                     // frames that a list must serve: making one costs little more than a join
    pub const SHORT_WAIT: u32 = 4;                // frames without a list after one failed; doubled each time, up to
    pub const LONG_WAIT: u32 = 64;                // so many
    pub const PROBES_PER_TILE: usize = 2;         // probes per tile from which on they are joined with the objects instead of looked up: the records of
    pub const FEWEST_JOINED: usize = 16;          // a tile are then read once for all of its probes; and so many at least, since the join has a fixed cost
    pub const PROBES_BEFORE_TREES: u32 = 2;       // calls of `probe` without a change that scan records: cheaper than building trees
}

use tuned::*;

/// What has changed in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    /// Everything, or more than it pays to tell apart.
    Everything,
    /// So many slots, which are listed.
    Slots(usize),
}

/// What is counted before an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Observations {
    /// Are there records of an earlier frame?
    pub(super) has_records: bool,
    /// Do the blocks have a place for every slot?
    pub(super) slots_fit: bool,
    /// The slots of the frame.
    pub(super) slots: usize,
    /// The objects now, and when the partition was made.
    pub(super) objects: usize,
    pub(super) objects_at_partition: usize,
    /// Did the last full join ask for another partition?
    pub(super) needs_repartition: bool,
    /// Of [`LOOKS`] objects, those off the lattice now, and when the partition was made.
    pub(super) off_lattice: usize,
    pub(super) off_lattice_at_partition: usize,
    /// What changed.
    pub(super) changed: Changed,
    /// Sampled objects in another tile than in the last frame, and all sampled objects.
    pub(super) relocated: usize,
    pub(super) sampled: usize,
    /// Did objects jump in the last frame, and for how many frames does a jump not rebuild the partition?
    pub(super) jumping: bool,
    pub(super) jump_pause: u32,
}

/// What becomes of the partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Partitioning {
    /// It stays.
    Keep,
    /// A new lattice, a new partition, all records written in order.
    Rebuild,
}

/// Which records are written, where the partition stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rewrite {
    /// All, in the order of the slots. The lattice follows the objects.
    InOrder,
    /// All, where they lie; objects that reach other tiles are relocated. The lattice follows the objects.
    InPlace,
    /// Those of the listed objects, in one pass over all records, which flags them.
    Flagged,
    /// Those of the listed objects, in the tiles that these touch.
    Listed,
}

/// What an update does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UpdatePlan {
    pub(super) partition: Partitioning,
    pub(super) records: Rewrite,
    /// Do objects jump in this frame?
    pub(super) jumping: bool,
    /// The frames for which a jump does not rebuild the partition.
    pub(super) jump_pause: u32,
}

/// Plans an update.
pub(super) fn plan_update(o: &Observations) -> UpdatePlan {
    let must_rebuild = !o.has_records
        || !o.slots_fit
        || outgrown(o.objects, o.objects_at_partition)
        || o.needs_repartition
        || o.off_lattice > o.off_lattice_at_partition + OFF_LATTICE;
    let is_more_than = |share: usize| o.relocated * share > o.sampled;
    let everything = o.changed == Changed::Everything;
    let jumps = everything && !must_rebuild && is_more_than(if o.jumping { CALM } else { JUMPED });
    let jump_rebuilds = jumps && !o.jumping && o.jump_pause == 0;
    let records = match o.changed {
        Changed::Everything if jumps && is_more_than(IN_ORDER) => Rewrite::InOrder,
        Changed::Everything => Rewrite::InPlace,
        Changed::Slots(count) if count > o.slots / few(o.slots) => Rewrite::Flagged,
        Changed::Slots(_) => Rewrite::Listed,
    };
    UpdatePlan {
        partition: if must_rebuild || jump_rebuilds { Partitioning::Rebuild } else { Partitioning::Keep },
        records,
        jumping: if everything && !must_rebuild { jumps } else { o.jumping },
        jump_pause: if jump_rebuilds { JUMP_PAUSE } else { o.jump_pause.saturating_sub(1) },
    }
}

/// Has the number of objects changed so much since the partition was made that its tiles have the wrong size?
pub(super) fn outgrown(objects: usize, at_partition: usize) -> bool {
    objects > at_partition + at_partition / 2 + 64 || objects < at_partition / 2
}

/// The share of changed slots, one in so many, above which their records are found by a pass over all.
fn few(slots: usize) -> usize {
    if slots <= FIT { FEW } else { FEW_OF_MANY }
}

/// After the records are written: are tiles so uneven that the partition is rebuilt at once? `work` is the sum of squared populations.
pub(super) fn is_uneven(work: f64, work_at_partition: f64) -> bool {
    work > UNEVEN * work_at_partition
}

/// After a full join: has the number of tests grown so much that the lattice and the partition no longer fit the objects?
pub(super) fn has_degraded(tests: u64, fewest_tests: u64, objects: usize) -> bool {
    tests > fewest_tests.saturating_mul(MORE_TESTS).saturating_add(SPARE_TESTS * objects as u64)
}

/// Up to how many changed slots of a thousand it pays to keep the pairs of the others.
///
/// Keeping them costs a comparison of all boxes, a look at every kept pair, and the joins of the changed objects; finding all pairs again costs
/// more where a full join makes more tests per object. With boxes of one size the two cost the same at 45, 60 and 90 per mille for 46,
/// 62 and 84 tests per object where boxes, records and pairs stay in the second-level cache, and at 22, 45 and 85 per mille where they do not
/// (CPU time of 16,000 and 128,000 objects).
pub(super) fn most_changed(slots: usize, tests_per_object: Option<usize>) -> usize {
    let tests = tests_per_object.unwrap_or(TYPICAL_TESTS);
    let per_mille = if slots <= IN_CACHE { tests } else { tests.saturating_sub(OUT_OF_CACHE) };
    per_mille.clamp(LEAST_LIMIT, GREATEST_LIMIT)
}

/// The same where changes are listed: nothing is compared, and in sorted tiles only the neighborhoods of changed objects are read. With boxes of one size,
/// a list of 35 per mille takes about as long as a full frame with 35 tests per object (CPU time of 128,000 objects).
pub(super) fn most_listed(tests_per_object: Option<usize>) -> usize {
    tests_per_object.unwrap_or(TYPICAL_TESTS).clamp(LEAST_LIMIT, GREATEST_LIMIT)
}

/// Is a tile to be sorted, after so many updates with listed changes in it since the last pass over all records?
pub(super) fn is_worth_sorting(patches: u8) -> bool {
    patches >= SORT_AFTER
}

/// How a tile is joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TileJoin {
    /// Its changed objects against all; the pairs of the others are kept.
    Movers,
    /// From cached candidates if there are few, since objects move along one axis; otherwise by a sweep.
    Candidates,
    /// By a sweep of all its records.
    Sweep,
}

/// Plans the join of a tile. `movers` counts the records of changed objects among its `records`.
#[inline]
pub(super) fn plan_join(pairs_are_kept: bool, movers: usize, records: usize, has_axis_motion: bool) -> TileJoin {
    if pairs_are_kept && movers * KEEP <= records {
        TileJoin::Movers
    } else if has_axis_motion {
        TileJoin::Candidates
    } else {
        TileJoin::Sweep
    }
}

/// How probes are paired with the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probing {
    /// They get records, and each tile is joined.
    Join,
    /// One by one.
    LookUp,
}

/// Plans the pairing of so many probes with the objects in so many tiles.
pub(super) fn plan_probe(probes: usize, tiles: usize) -> Probing {
    if probes >= FEWEST_JOINED.max(PROBES_PER_TILE * tiles) { Probing::Join } else { Probing::LookUp }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of 1,000 objects that all move a little.
    const WALK: Observations = Observations {
        has_records: true,
        slots_fit: true,
        slots: 1000,
        objects: 1000,
        objects_at_partition: 1000,
        needs_repartition: false,
        off_lattice: 0,
        off_lattice_at_partition: 0,
        changed: Changed::Everything,
        relocated: 0,
        sampled: 100,
        jumping: false,
        jump_pause: 0,
    };

    #[test]
    fn an_update_follows_from_what_was_counted() {
        use Partitioning::{Keep, Rebuild};
        use Rewrite::{Flagged, InOrder, InPlace, Listed};
        let listed = |count| Observations { changed: Changed::Slots(count), ..WALK };
        let cases = [
            ("a walk", WALK, Keep, InPlace),
            ("the first frame", Observations { has_records: false, ..WALK }, Rebuild, InPlace),
            ("too many slots", Observations { slots_fit: false, ..WALK }, Rebuild, InPlace),
            ("half as many again", Observations { objects: 1564, ..WALK }, Keep, InPlace),
            ("more than that", Observations { objects: 1565, ..WALK }, Rebuild, InPlace),
            ("half are left", Observations { objects: 500, ..WALK }, Keep, InPlace),
            ("fewer than half", Observations { objects: 499, ..WALK }, Rebuild, InPlace),
            ("more tests", Observations { needs_repartition: true, ..WALK }, Rebuild, InPlace),
            ("two left the lattice", Observations { off_lattice: 2, ..WALK }, Keep, InPlace),
            ("three left it", Observations { off_lattice: 3, ..WALK }, Rebuild, InPlace),
            ("they were outside", Observations { off_lattice: 3, off_lattice_at_partition: 1, ..WALK }, Keep, InPlace),
            ("a quarter relocates", Observations { relocated: 25, ..WALK }, Keep, InPlace),
            ("a jump", Observations { relocated: 26, ..WALK }, Rebuild, InPlace),
            ("a jump soon after a jump", Observations { relocated: 26, jump_pause: 3, ..WALK }, Keep, InPlace),
            ("jumps in a row", Observations { relocated: 50, jumping: true, ..WALK }, Keep, InPlace),
            ("large jumps in a row", Observations { relocated: 51, jumping: true, ..WALK }, Keep, InOrder),
            ("a few slots", listed(31), Keep, Listed),
            ("more slots", listed(32), Keep, Flagged),
            ("a list after a failure", Observations { has_records: false, ..listed(3) }, Rebuild, Listed),
            ("a list does not jump", Observations { relocated: 99, ..listed(3) }, Keep, Listed),
        ];
        for (name, observations, partition, records) in cases {
            let plan = plan_update(&observations);
            assert_eq!((plan.partition, plan.records), (partition, records), "{name}");
        }
        let many = |slots, count| plan_update(&Observations { slots, ..listed(count) }).records;
        assert_eq!((many(1 << 20, 1 << 13), many(1 << 20, (1 << 13) + 1)), (Listed, Flagged), "beyond the cache");
    }

    #[test]
    fn a_jump_rebuilds_once_and_ends_when_few_relocate() {
        let first = plan_update(&Observations { relocated: 60, ..WALK });
        assert_eq!((first.partition, first.jumping, first.jump_pause), (Partitioning::Rebuild, true, JUMP_PAUSE));
        let then = Observations { jumping: true, jump_pause: JUMP_PAUSE, ..WALK };
        assert!(plan_update(&Observations { relocated: 13, ..then }).jumping);
        assert!(!plan_update(&Observations { relocated: 12, ..then }).jumping);
        assert_eq!(plan_update(&then).jump_pause, JUMP_PAUSE - 1);
        // A frame that cannot tell leaves the state as it is: one that rebuilds for another reason, and one that lists its changes.
        assert!(plan_update(&Observations { slots_fit: false, ..then }).jumping);
        assert!(plan_update(&Observations { changed: Changed::Slots(3), ..then }).jumping);
    }

    #[test]
    fn the_limit_on_changes_grows_with_the_tests_that_keeping_pairs_saves() {
        for (slots, tests, per_mille) in [
            (1 << 15, Some(46), 46),
            ((1 << 15) + 1, Some(46), 26),
            (1 << 15, None, TYPICAL_TESTS),
            (1 << 20, Some(93), 73),
            (1 << 20, Some(5), LEAST_LIMIT),
            (1000, Some(5000), GREATEST_LIMIT),
        ] {
            assert_eq!(most_changed(slots, tests), per_mille, "{slots} slots, {tests:?} tests");
        }
    }

    #[test]
    fn a_tile_is_joined_by_its_movers_where_they_are_few() {
        for (kept, movers, has_axis, join) in [
            (true, 0, false, TileJoin::Movers),
            (true, 20, true, TileJoin::Movers),
            (true, 21, false, TileJoin::Sweep),
            (true, 21, true, TileJoin::Candidates),
            (false, 0, false, TileJoin::Sweep),
            (false, 0, true, TileJoin::Candidates),
        ] {
            assert_eq!(plan_join(kept, movers, 100, has_axis), join, "{movers} movers, kept: {kept}");
        }
        for (probes, tiles, plan) in
            [(15, 1, Probing::LookUp), (16, 1, Probing::Join), (199, 100, Probing::LookUp), (200, 100, Probing::Join)]
        {
            assert_eq!(plan_probe(probes, tiles), plan, "{probes} probes");
        }
        assert!(is_uneven(151.0, 100.0) && !is_uneven(150.0, 100.0));
        assert!(has_degraded(5201, 1000, 100) && !has_degraded(5200, 1000, 100) && !has_degraded(5200, u64::MAX, 100));
    }
}
