//! The decisions of a frame, as pure functions of counted observations, and all tuned constants of `tiles`.
//!
//! `update.rs` and `pairs.rs` count, call these functions, and execute the plans. No function here touches a box or a record, so every decision is
//! tested by a table of cases, and a threshold is changed in one place. No clock, core count or instruction set is an observation: the order
//! of pairs follows from these decisions, and it must be the same on every machine.

/// The tuned constants. Where a command is named, it shows the effect; *share* is
/// `cargo run --release -p broadphase-cli --example moving_share -- 16000 128000`.
#[rustfmt::skip]
pub(super) mod tuned {
    // Partition: when it is rebuilt.
    pub const UNEVEN: f64 = 1.5;                  // growth of the sum of squared tile populations (the cost of the joins) that pays for a rebuild
    pub const MORE_TESTS: u64 = 2;                // growth of the tests of a full join that shows that the lattice no longer fits,
    pub const SPARE_TESTS: u64 = 32;              // plus this many tests per object, so that a small increase does not count
    pub const LOOKS: usize = 16;                  // objects checked each frame for being off the lattice,
    pub const OFF_LATTICE: usize = 2;             // and how many more of them than after the last rebuild are still accepted
    pub const JUMPED: usize = 4;                  // a jump: more than 1/4 of the sample changed tiles, and relocation would cost more than a rebuild
    pub const CALM: usize = 8;                    // the end of a jump: at most 1/8 did; two thresholds, so that the state does not flip
    pub const IN_ORDER: usize = 2;                // if more than 1/2 did, writing all records in slot order costs less than relocating
    pub const JUMP_PAUSE: u32 = 16;               // frames between rebuilds after jumps: if objects jump in every frame, a rebuild gains nothing
    // Partition: how it is made.
    pub const SAMPLE_PER_TILE: usize = 64;        // sampled objects per tile, from which cuts are chosen: enough for even tiles,
    pub const CUT_SAMPLE: usize = 1 << 17;        // and the size of the sample at most
    pub const CELLS_PER_TILE: u32 = 6;            // log2 of the cells of a table per tile: cell borders are the possible cuts;
    pub const FEWER_CELLS_PER_TILE: u32 = 4;      // fewer if the table would push the records out of the second-level cache,
    pub const CELLS_IN_CACHE: u32 = 15;           // which it does with more than 2^15 cells
    pub const FINEST_CELL: f64 = 4.0;             // a narrower cell, in mean sizes, gets no finer table: objects would reach too many tiles
    pub const NARROWEST_PART: f64 = 3.0;          // a narrower part, in mean sizes, is not cut, for the same reason
    pub const EXPECTED_SLACK: f64 = 1.25;         // capacity of a new run, relative to the length expected from the sample: with less, many overflow;
    pub const SPILLED: usize = 8;                 // records that do not fit, at most 1/8 of the slots: beyond, writing the block again costs less
    pub const BLOCK: usize = 1 << 15;             // slots per block at least: their boxes fit the second-level cache while records are rewritten;
    pub const BLOCKS: usize = 16;                 // blocks at most: a tile's runs stay long
    pub const PARTS: usize = 8;                   // parts of a single block that several workers rewrite: enough to balance the load
    // Tile size: halved on trial.
    pub const MANY_TESTS: u64 = 96;               // tests per object above which smaller tiles are tried
    pub const LEFT_OF_THREE: u64 = 2;             // a trial succeeds if at most 2/3 of the tests remain
    pub const SMALLEST_TILE: usize = 4;           // the smallest tiles have 1/4 of the option's size
    // Lattice.
    pub const LATTICE_SAMPLE: usize = 1024;       // boxes that determine its position and scale
    pub const TRIM_SAMPLE: usize = 256;           // boxes of that sample from whose order statistics the range of most objects is found:
    pub const OUTLIERS: usize = 64;               // 1/64 at each end are outliers, which do not stretch the lattice
    pub const COARSE: i32 = 4;                    // lattice steps below which a linear map hardly separates boxes;
    pub const CROWD: usize = 16;                  // if 1/16 of the boxes are so small, a piecewise map is worth a search per coordinate
    pub const SEGMENTS: usize = 40;               // segments of equal population of a piecewise map
    pub const ALIKE: f64 = 2.0;                   // segments whose densities differ by less than this ratio are merged: each knot costs time
    // Coherence: what is kept from the last frame. *share*
    pub const IN_CACHE: usize = 1 << 15;          // slots up to which boxes, records and pairs stay in the second-level cache
    pub const OUT_OF_CACHE: usize = 20;           // the cost of cache misses beyond that, in tests per object
    pub const LEAST_LIMIT: usize = 10;            // the range of the limit on changed slots per mille
    pub const GREATEST_LIMIT: usize = 125;        // (`most_changed`)
    pub const TYPICAL_TESTS: usize = 48;          // tests per object of a full join, as long as none has been counted
    pub const FIT: usize = 1 << 18;               // up to this many slots, if at most 1/64 of them changed, records are searched for tile by tile;
    pub const FEW: usize = 64;                    // with more slots, where cache misses cost more, if at most 1/128 changed;
    pub const FEW_OF_MANY: usize = 128;           // for more changes, a pass over all records in order costs less (*share*)
    pub const SORT_AFTER: u8 = 3;                 // updates with listed changes in a tile until its records are kept sorted: sorting costs a few searches
    pub const AHEAD: usize = 16;                  // changed slots between prefetching a box and reading it: writing their records takes as long as a miss
    pub const KEEP: usize = 5;                    // if more than 1/5 of a tile's records are movers, a full sweep of the tile costs less
    // Global motion.
    pub const SIGNIFICANT: f64 = 3.0;             // standard errors above which a common motion is significant
    pub const STEEP: f64 = 0.5;                   // objects that spread or gather faster than this in one frame count as jumping
    pub const FEWEST_MOVES: f64 = 4.0;            // moves needed for a line: fewer lie on one by chance
    pub const FOLLOWERS: f64 = 0.6;               // share of the sample that a slope must explain
    // Axis-motion cache and query trees.
    pub const WORTH: u32 = 4;                     // frames that a list must serve to pay: making one costs little more than a join
    pub const SHORT_WAIT: u32 = 4;                // frames without a list after one that did not pay; doubled each time,
    pub const LONG_WAIT: u32 = 64;                // up to this number
    pub const PROBES_PER_TILE: usize = 2;         // probes per tile from which they are joined with the objects instead of looked up one by one:
    pub const FEWEST_JOINED: usize = 16;          // a tile's records are then read once for all its probes; at least 16, since a join has a fixed cost
    pub const PROBES_BEFORE_TREES: u32 = 2;       // calls of `probe` without a change that scan records before trees are built
}

use tuned::*;

/// How much has changed in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    /// Everything, or so much that distinguishing changed slots does not pay.
    Everything,
    /// This number of slots, which the change set lists.
    Slots(usize),
}

/// The observations that an update is planned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Observations {
    /// Are there records of an earlier frame?
    pub(super) has_records: bool,
    /// Can the blocks hold all slots?
    pub(super) slots_fit: bool,
    /// The number of slots in the frame.
    pub(super) slots: usize,
    /// The number of objects now, and when the partition was made.
    pub(super) objects: usize,
    pub(super) objects_at_partition: usize,
    /// Did the last full join show that the partition should be rebuilt?
    pub(super) needs_repartition: bool,
    /// How many of [`LOOKS`] objects are off the lattice now, and were when the partition was made.
    pub(super) off_lattice: usize,
    pub(super) off_lattice_at_partition: usize,
    /// How much changed.
    pub(super) changed: Changed,
    /// The number of sampled objects in another tile than in the last frame, and of all sampled objects.
    pub(super) relocated: usize,
    pub(super) sampled: usize,
    /// Did objects jump in the last frame, and for how many more frames does a jump not rebuild the partition?
    pub(super) jumping: bool,
    pub(super) jump_pause: u32,
}

/// Whether the partition is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Partitioning {
    /// The partition is kept.
    Keep,
    /// A new lattice and a new partition are made, and all records are written in order.
    Rebuild,
}

/// Which records are written if the partition is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rewrite {
    /// All, in the order of the slots. The lattice follows the objects.
    InOrder,
    /// All, in place; objects that reach other tiles are relocated. The lattice follows the objects.
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
    /// The number of frames for which a jump does not rebuild the partition.
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

/// The reciprocal of the share of changed slots above which their records are found by a pass over all records.
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

/// The number of changed slots per thousand up to which it pays to keep the pairs of the others.
///
/// Keeping them costs a comparison of all boxes, a look at every kept pair, and the joins of the changed objects. Finding all pairs again costs
/// more, the more tests per object a full join makes. With boxes of one size the two cost the same at 45, 60 and 90 per mille for 46,
/// 62 and 84 tests per object if boxes, records and pairs stay in the second-level cache, and at 22, 45 and 85 per mille if they do not
/// (CPU time of 16,000 and 128,000 objects; *share*).
pub(super) fn most_changed(slots: usize, tests_per_object: Option<usize>) -> usize {
    let tests = tests_per_object.unwrap_or(TYPICAL_TESTS);
    let per_mille = if slots <= IN_CACHE { tests } else { tests.saturating_sub(OUT_OF_CACHE) };
    per_mille.clamp(LEAST_LIMIT, GREATEST_LIMIT)
}

/// The same limit if changes are listed: nothing is compared, and in sorted tiles only the neighborhoods of changed objects are read. With boxes of
/// one size, a list of 35 per mille takes about as long as a full frame with 35 tests per object (CPU time of 128,000 objects).
pub(super) fn most_listed(tests_per_object: Option<usize>) -> usize {
    tests_per_object.unwrap_or(TYPICAL_TESTS).clamp(LEAST_LIMIT, GREATEST_LIMIT)
}

/// Should a tile be sorted? `patches` is the number of updates with listed changes in it since the last pass over all records.
pub(super) fn is_worth_sorting(patches: u8) -> bool {
    patches >= SORT_AFTER
}

/// How a tile is joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TileJoin {
    /// Its changed objects are tested against all; the pairs of the others are kept.
    Movers,
    /// Cached candidates are tested, if they are few, since all objects move along one axis; otherwise a sweep.
    Candidates,
    /// All its records are swept.
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
    /// Probes get records, and each tile joins its probes with its objects.
    Join,
    /// Each probe is looked up on its own.
    LookUp,
}

/// Plans how a number of probes is paired with the objects in a number of tiles.
pub(super) fn plan_probe(probes: usize, tiles: usize) -> Probing {
    if probes >= FEWEST_JOINED.max(PROBES_PER_TILE * tiles) { Probing::Join } else { Probing::LookUp }
}

/// Are the records of recurring probes rewritten in place? Otherwise, all are written in order. `has_records`: did the last call leave records of as
/// many probes, in the current partition? `relocated`: how many probes the last rewriting in place relocated; if too many, records are written in order for
/// [`JUMP_PAUSE`] calls. `pause`: how many of these calls are left. Returns the answer and the next pause.
pub(super) fn plan_probe_records(has_records: bool, probes: usize, relocated: usize, pause: u32) -> (bool, u32) {
    match pause {
        0 if !has_records => (false, 0),
        0 if relocated * IN_ORDER > probes => (false, JUMP_PAUSE),
        0 => (true, 0),
        _ => (false, pause - 1),
    }
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
    fn the_table_of_update_plans() {
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
            ("a few slots", listed(15), Keep, Listed),
            ("more slots", listed(16), Keep, Flagged),
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
    fn the_limit_on_changes_grows_with_the_tests_of_a_full_join() {
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
    fn the_table_of_join_and_probe_plans() {
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
        for (has_records, relocated, pause, plan) in
            [(true, 50, 0, (true, 0)), (true, 51, 0, (false, JUMP_PAUSE)), (false, 0, 0, (false, 0)), (true, 0, 2, (false, 1))]
        {
            assert_eq!(plan_probe_records(has_records, 100, relocated, pause), plan, "{relocated} of 100 relocated");
        }
        assert!(is_uneven(151.0, 100.0) && !is_uneven(150.0, 100.0));
        assert!(has_degraded(5201, 1000, 100) && !has_degraded(5200, 1000, 100) && !has_degraded(5200, u64::MAX, 100));
    }
}
