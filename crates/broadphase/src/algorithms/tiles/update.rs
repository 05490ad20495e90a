//! The update: counts what `plan.rs` needs to decide, then executes its plan.

use super::lattice::Lattice;
use super::motion::{global_motion, motion_axis, relocated};
use super::partition::{Partition, Point, Sample, mean_size};
use super::plan::tuned::{BLOCK, BLOCKS, CUT_SAMPLE, LOOKS, SAMPLE_PER_TILE};
use super::plan::{
    Changed, Observations, Partitioning, Rewrite, UpdatePlan, has_degraded, is_uneven, most_changed, most_listed, outgrown,
    plan_update,
};
use super::tile_size::TileSizeTuner;
use super::{Load, Tiles, lock, open};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Real, each_axis};
use crate::kernels::LAST_PLACE;
use crate::kernels::tile::Record;
use crate::memory;
use crate::objects::changes::Comparing;
use crate::objects::{Changes, Frame};
use crate::sample::sample;

/// The most slots that a record's id can name: one bit of it is the flag.
pub(super) const MAX_SLOTS: usize = Record::FLAG as usize;
/// What the memory of blocks is for.
pub(super) const RECORDS: &str = "records of objects";
/// The work of writing one object's records, and of joining one record, in the units of [`Context::run_weighted`].
pub(super) const SCATTER: usize = 5;
pub(super) const JOIN: usize = 10;

impl<const D: usize, T: Real> Tiles<D, T> {
    /// Updates the records, and drops the query trees of tiles that changed.
    pub(super) fn update(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        let nothing_listed = matches!(frame.changes, Changes::Listed { moved: [], inserted: [], removed: [] });
        if nothing_listed && !self.stale && frame.slots() == self.slots {
            return frame.check_lists();
        }
        let start = context.clock();
        let result = self.update_records(frame, context).and_then(|()| self.invalidate_readers());
        context.record("scatter", start);
        result
    }

    /// Drops what queries and probes have cached for the tiles that changes touch.
    pub(super) fn invalidate_readers(&mut self) -> Result<(), Error> {
        let touched = self.pending.touched_tiles().filter(|_| !self.stale);
        self.probe_columns.invalidate(self.partition.tiles.len(), touched);
        let result = self.query_trees.invalidate(self.partition.tiles.len(), touched);
        self.stale |= result.is_err();
        result
    }

    /// Updates the records. If the frame is rejected, the next frame's list of changes is ignored, since it is relative to the rejected frame. If memory
    /// runs out, records may be incomplete, so the next frame writes all of them.
    pub(super) fn update_records(&mut self, frame: &Frame<'_, D, T>, context: &Context) -> Result<(), Error> {
        let result = self.plan_and_write(frame, context);
        if let Err(error) = &result {
            self.tracker.abandon();
            self.stale |= matches!(error, Error::OutOfMemory { .. });
            // Queries must not see trees of other records.
            let _ = self.invalidate_readers();
        }
        result
    }

    fn plan_and_write(&mut self, frame: &Frame<'_, D, T>, context: &Context) -> Result<(), Error> {
        frame.check_lists()?;
        if frame.slots() > MAX_SLOTS {
            return Err(Error::TooManyObjects { count: frame.slots(), limit: MAX_SLOTS });
        }
        let objects = frame.count();
        let comparing = Comparing {
            allowed: self.options.coherence,
            most_per_mille: most_changed(frame.slots(), self.load.tests_per_object()),
            most_listed_per_mille: most_listed(self.load.tests_per_object()),
        };
        let changes = self.tracker.find_changes(frame, comparing)?;
        let changed = if changes.is_everything() { Changed::Everything } else { Changed::Slots(changes.len()) };
        let (mut axis, mut relocations, mut moved) = (None, 0, None);
        if changed == Changed::Everything && frame.slots() == self.slots {
            axis = motion_axis(&self.tracker, frame);
            // Where all objects drift, spread or gather, the lattice follows: objects stay in their tiles and on the lattice.
            moved = self.lattice.moved_by(global_motion(&self.tracker, frame, &self.lattice));
            let lattice = moved.as_ref().unwrap_or(&self.lattice);
            relocations = relocated(&self.tracker, frame, (&self.lattice, lattice), &self.partition);
        }
        let plan = plan_update(&Observations {
            has_records: !self.stale,
            slots_fit: self.fits(frame.slots()),
            slots: frame.slots(),
            objects,
            objects_at_partition: self.load.objects_at_partition,
            needs_repartition: self.load.needs_repartition,
            off_lattice: off_lattice(moved.as_ref().unwrap_or(&self.lattice), frame),
            off_lattice_at_partition: self.load.off_lattice_at_partition,
            changed,
            relocated: relocations,
            sampled: self.tracker.sampled(),
            jumping: self.load.jumping,
            jump_pause: self.load.jump_pause,
        });
        (self.load.jumping, self.load.jump_pause) = (plan.jumping, plan.jump_pause);
        self.axis_motion.set_axis(axis.filter(|_| plan.partition == Partitioning::Keep));
        match plan {
            UpdatePlan { partition: Partitioning::Rebuild, .. } => self.rebuild(frame, context, objects)?,
            UpdatePlan { records: Rewrite::Listed, .. } => self.patch(frame)?,
            UpdatePlan { records: Rewrite::Flagged, .. } => self.rewrite_flagged(frame, context)?,
            UpdatePlan { records: all, .. } => {
                if let Some(lattice) = moved {
                    self.lattice = lattice;
                }
                self.rewrite_all(frame, context, all == Rewrite::InOrder)?;
            }
        }
        let work = self.measure(objects);
        if is_uneven(work, self.load.work_at_partition) {
            self.rebuild(frame, context, objects)?;
            self.measure(objects);
        }
        Ok(())
    }

    /// Records the tests of a full join, which decide whether the next update rebuilds the partition: when there are far more than there were, and
    /// when smaller tiles are worth a try.
    pub(super) fn record_tests(&mut self, tests: u64) {
        let load = &mut self.load;
        load.fewest_tests = load.fewest_tests.min(tests);
        let has_degraded = has_degraded(tests, load.fewest_tests, load.objects);
        if has_degraded {
            self.tile_size = TileSizeTuner::new(self.options.target);
        }
        load.needs_repartition = has_degraded || self.tile_size.record(tests, load.objects);
    }

    /// The work of a whole frame, estimated from the records of the last one. Update and join use this number, and so the same workers: the join
    /// finds them awake, with the records that they wrote in their caches.
    pub(super) fn frame_work(&self) -> usize {
        (SCATTER + JOIN) * self.load.records
    }

    /// Can the blocks hold this many slots, if the last one is extended?
    fn fits(&self, slots: usize) -> bool {
        let last = self.blocks.last().map_or(0, |block| lock(block).first as usize);
        slots >= self.slots && slots <= last + 2 * BLOCK.max(self.slots.div_ceil(BLOCKS)) && self.slots > 0
    }
}

/// # Records
impl<const D: usize, T: Real> Tiles<D, T> {
    /// Makes a new lattice and a new partition, and writes all records.
    fn rebuild(&mut self, frame: &Frame<'_, D, T>, context: &Context, objects: usize) -> Result<(), Error> {
        // An invalid box must leave the existing records intact. If there are none, writing them checks every box.
        if !self.stale {
            frame.check_boxes()?;
        }
        self.repartition(frame, objects)?;
        self.rewrite_all(frame, context, true)
    }

    /// Writes all records, in the order of the slots or where they lie.
    fn rewrite_all(&mut self, frame: &Frame<'_, D, T>, context: &Context, in_order: bool) -> Result<(), Error> {
        self.write(frame, context, &[], in_order)?;
        self.tracker.commit_everything(frame)?;
        self.pending.set_all(frame.slots(), self.partition.tiles.len())
    }

    /// Rewrites the records of changed objects in one pass over all records, and flags them: the joins then search only for their pairs.
    fn rewrite_flagged(&mut self, frame: &Frame<'_, D, T>, context: &Context) -> Result<(), Error> {
        self.pending.fit(frame.slots(), self.tracker.changes().len())?;
        for &id in self.tracker.changes().slots() {
            self.pending.insert(id);
        }
        let bits = std::mem::take(&mut self.pending.bits);
        let result = self.write(frame, context, &bits, false);
        self.pending.bits = bits;
        self.pending.flagged = true;
        self.pending.touch_all();
        result?;
        // The tracker must remember the boxes that the records were made from, including those of slots that the caller did not list.
        self.tracker.commit_slots(frame, self.pending.slots.iter().copied())?;
        for block in &mut self.blocks {
            let block = open(block);
            if block.has_written_all {
                self.tracker.commit_slots(frame, block.first..block.last)?;
            }
        }
        Ok(())
    }

    /// Writes all records, or those of objects with a bit in `changed`, which get a flag.
    fn write(&mut self, frame: &Frame<'_, D, T>, context: &Context, changed: &[u64], in_order: bool) -> Result<(), Error> {
        self.set_slots(frame.slots());
        self.sorted.clear();
        let in_order = std::mem::replace(&mut self.stale, true) || in_order;
        let (lattice, partition, kernels, axis) = (&self.lattice, &self.partition, context.kernels(), self.axis_motion.axis());
        let work = self.frame_work();
        if let ([block], false, []) = (&mut self.blocks[..], in_order, changed)
            && context.workers_for(work) > 1
        {
            open(block).refresh_in_parts((context, work), frame, lattice, partition, axis);
        } else {
            context.run_weighted(self.blocks.len(), work.max(SCATTER * frame.slots()), |block, _| {
                let mut block = lock(&self.blocks[block]);
                if in_order {
                    block.scatter(kernels, frame, lattice, partition, changed);
                } else {
                    block.refresh(kernels, frame, lattice, partition, changed, axis);
                }
            });
        }
        self.check_memory()?;
        if !self.blocks.iter_mut().all(|block| open(block).valid) {
            frame.check_boxes()?;
        }
        self.axis_motion.apply_deltas(&mut self.blocks, &self.partition, kernels);
        self.stale = false;
        Ok(())
    }

    /// An error if a block could not allocate what its last pass needed.
    pub(super) fn check_memory(&mut self) -> Result<(), Error> {
        let ran_out = self.blocks.iter_mut().any(|block| open(block).ran_out_of_memory());
        if ran_out { Err(Error::OutOfMemory { what: RECORDS }) } else { Ok(()) }
    }

    /// Gives new slots to the last block.
    pub(super) fn set_slots(&mut self, slots: usize) {
        self.slots = slots;
        if let Some(block) = self.blocks.last_mut() {
            open(block).last = slots as u32;
        }
    }

    /// Counts the records; returns the sum of squared tile populations, to which the cost of the joins is proportional.
    fn measure(&mut self, objects: usize) -> f64 {
        let (mut work, mut records) = (0.0, 0);
        for tile in 0..self.partition.tiles.len() {
            let population: usize = self.blocks.iter_mut().map(|block| open(block).runs[tile].len()).sum();
            records += population;
            work += (population as f64).powi(2);
        }
        self.load.records = records;
        self.load.objects = objects;
        if self.load.work_at_partition == f64::INFINITY {
            self.load.work_at_partition = work.max(1.0);
        }
        work
    }
}

/// # The partition
impl<const D: usize, T: Real> Tiles<D, T> {
    /// Makes a new lattice and a new partition, without records.
    fn repartition(&mut self, frame: &Frame<'_, D, T>, objects: usize) -> Result<(), Error> {
        if outgrown(objects, self.load.objects_at_partition) {
            self.tile_size = TileSizeTuner::new(self.options.target);
        }
        self.stale = true;
        self.lattice = Lattice::over(frame)?;
        self.partition = self.partition_by_sample(frame, objects)?;
        self.partition_number += 1;
        self.slots = frame.slots();
        let size = BLOCK.max(self.slots.div_ceil(BLOCKS)).next_multiple_of(64);
        self.slots_per_block = size;
        let blocks = self.slots.div_ceil(size).max(1);
        memory::cover(&mut self.blocks, blocks, RECORDS)?;
        self.blocks.truncate(blocks);
        for (index, block) in self.blocks.iter_mut().enumerate() {
            let (first, last) = (index * size, ((index + 1) * size).min(self.slots));
            open(block).reset(first, last, &self.partition, (last - first) as f64 / self.slots.max(1) as f64)?;
        }
        self.load = Load {
            work_at_partition: f64::INFINITY,
            objects_at_partition: objects,
            fewest_tests: u64::MAX,
            off_lattice_at_partition: off_lattice(&self.lattice, frame),
            jumping: self.load.jumping,
            jump_pause: self.load.jump_pause,
            ..Load::default()
        };
        self.revision = Default::default();
        self.axis_motion.reset(self.partition.tiles.len())
    }

    fn partition_by_sample(&self, frame: &Frame<'_, D, T>, objects: usize) -> Result<Partition, Error> {
        let weight = objects.div_ceil(CUT_SAMPLE).max(self.tile_size.target / SAMPLE_PER_TILE).max(1);
        let mut points: Vec<Point> = Vec::new();
        memory::reserve(&mut points, objects / weight + 1, "a sample of the objects")?;
        let (mut ids, mut passed) = (frame.ids(), 0);
        for place in sample(objects, weight) {
            let Some(id) = ids.nth(place - passed) else { break };
            passed = place + 1;
            let corners = self.lattice.corners(&frame.boxes[id as usize]);
            let (low, high) = (corners.low(), corners.high());
            // In 2D, infinite sizes keep the third axis from being cut or swept.
            let size = |k: usize| if k < D { (high[k] - low[k]) as f32 } else { f32::INFINITY };
            let center = each_axis(|k| low[k] + (high[k] - low[k]) / 2);
            points.push(Point { center, size: each_axis(size) }); // reserved
        }
        if objects <= 2 * self.tile_size.target {
            return Partition::whole(mean_size(&points), objects);
        }
        Partition::of(Sample { points: &mut points, weight, target: self.tile_size.target })
    }
}

/// How many of [`LOOKS`] objects, one from each range of slots, start at the first place or end at the last one on any axis. All coordinates beyond
/// the lattice are clamped to these places, where only the boxes can separate objects.
fn off_lattice<const D: usize, T: Real>(lattice: &Lattice<D, T>, frame: &Frame<'_, D, T>) -> usize {
    let slots = frame.slots() as u32;
    let stride = slots.div_ceil(LOOKS as u32).max(1);
    let first_live = |from: u32| (from..slots.min(from.saturating_add(stride))).find(|&id| frame.live.contains(id));
    let looks = (0..slots).step_by(stride as usize).filter_map(first_live);
    let is_off = |id: &u32| {
        let corners = lattice.corners(&frame.boxes[*id as usize]);
        let (low, high) = (corners.low(), corners.high());
        (0..D).any(|k| low[k] == 0 || high[k] >= LAST_PLACE)
    };
    looks.filter(is_off).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Aabb;
    use crate::algorithms::tiles::Options;

    #[test]
    fn the_lattice_follows_a_global_motion_and_is_rebuilt_for_other_motions() {
        type Motion = (&'static str, fn(usize, usize, f32) -> f32);
        let motions: [Motion; 4] = [
            ("drifts", |step, _, x| x + step as f32),
            ("spreads", |step, _, x| 6.0 + (x - 6.0) * 1.05f32.powi(step as i32)),
            ("gathers", |step, _, x| 30.0 + (x - 6.0) * 0.97f32.powi(step as i32)),
            ("tears", |step, i, x| x + step as f32 * if i % 2 == 0 { -1.0 } else { 1.0 }),
        ];
        for (name, motion) in motions {
            for axis in [0, 1] {
                let (mut tiles, mut context) = (Tiles::<2, f32>::new(Options::default()), Context::new());
                let mut rebuilds = 0;
                for step in 0..60 {
                    let boxes: Vec<Aabb<2, f32>> = (0..150)
                        .map(|i| {
                            let mut at = [(i % 12) as f32, (i / 12) as f32];
                            at[axis] = motion(step, i, at[axis]);
                            Aabb::new(at, at.map(|x| x + 0.9))
                        })
                        .collect();
                    let frame = Frame::new(&boxes);
                    tiles.load.objects_at_partition += 1; // which a rebuild overwrites
                    tiles.update(&frame, &mut context).unwrap();
                    rebuilds += usize::from(tiles.load.objects_at_partition == boxes.len());
                    assert!(off_lattice(&tiles.lattice, &frame) <= 2, "{name} along {axis}, step {step}");
                }
                assert_eq!(rebuilds > 3, name == "tears", "{name} along {axis}: {rebuilds} rebuilds");
            }
        }
    }
}
