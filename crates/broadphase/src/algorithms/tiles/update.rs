//! A frame into the structure: all of it, or what changed.

use std::sync::Mutex;

use super::changes::bit;
use super::grain::Grain;
use super::lattice::Lattice;
use super::partition::{Partition, Point, Sample, Tile, mean_size};
use super::plan::tuned::{AHEAD, BLOCK, BLOCKS, CUT_SAMPLE, LOOKS, SAMPLE_PER_TILE};
use super::plan::{
    Changed, Observations, Partitioning, Rewrite, UpdatePlan, has_degraded, is_uneven, most_changed, outgrown, plan_update,
};
use super::{Load, Tiles, lock, open};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::quantise::Corners;
use crate::kernels::tile::Record;
use crate::kernels::{LAST_PLACE, prefetch};
use crate::objects::Frame;

/// Slots that a record can name beside its flag.
const MAX_SLOTS: usize = Record::FLAG as usize;
impl<const D: usize, T: Real> Tiles<D, T> {
    /// Takes a frame in. One that is refused is not remembered, so that the next list cannot be taken for the difference to it.
    pub(super) fn take_in(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        let result = self.try_take_in(frame, context);
        if result.is_err() {
            self.coherence.lose_track();
        }
        result
    }

    fn try_take_in(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        frame.check_lists()?;
        if frame.slots() > MAX_SLOTS {
            return Err(Error::TooManyObjects { count: frame.slots(), limit: MAX_SLOTS });
        }
        let count = frame.count();
        let per_mille = most_changed(frame.slots(), self.load.tests_per_object());
        let changed = self.coherence.changed(frame, self.options.coherence, per_mille);
        let mut lattice = self.lattice.clone();
        let (mut rail, mut relocated) = (None, 0);
        if changed == Changed::Everything && frame.slots() == self.slots {
            rail = self.coherence.rail(frame);
            // Where all objects drift, spread or gather, the lattice follows: objects stay in their tiles and on the lattice.
            lattice = lattice.following(self.coherence.flow(frame, &lattice));
            relocated = self.coherence.relocated(frame, (&self.lattice, &lattice), &self.partition);
        }
        let plan = plan_update(&Observations {
            has_records: !self.stale,
            slots_fit: self.fits(frame.slots()),
            slots: frame.slots(),
            objects: count,
            objects_at_partition: self.load.objects_when_cut,
            needs_repartition: self.load.worn,
            off_lattice: off_lattice(&lattice, frame),
            off_lattice_at_partition: self.load.off_lattice_when_cut,
            changed,
            relocated,
            sampled: self.coherence.sampled(),
            jumping: self.load.jumping,
            jump_pause: self.load.jump_pause,
        });
        (self.load.jumping, self.load.jump_pause) = (plan.jumping, plan.jump_pause);
        self.rails.lay(rail.filter(|_| plan.partition == Partitioning::Keep));
        match plan {
            UpdatePlan { partition: Partitioning::Rebuild, .. } => self.cut_and_scatter(frame, context, count)?,
            UpdatePlan { records: Rewrite::Listed, .. } => self.apply(frame)?,
            UpdatePlan { records: Rewrite::Flagged, .. } => self.scatter_flagged(frame, context)?,
            UpdatePlan { records: all, .. } => {
                self.lattice = lattice;
                self.scatter_all(frame, context, all == Rewrite::InOrder)?;
            }
        }
        let work = self.measure(count);
        if is_uneven(work, self.load.work_when_cut) {
            self.cut_and_scatter(frame, context, count)?;
            self.measure(count);
        }
        Ok(())
    }

    /// Takes the tests of a full join into account: when they have doubled, the lattice has become too coarse or is left behind; when they
    /// are many, smaller tiles are tried.
    pub(super) fn book_tests(&mut self, tests: u64) {
        let load = &mut self.load;
        load.tests_when_cut = load.tests_when_cut.min(tests);
        let has_degraded = has_degraded(tests, load.tests_when_cut, load.objects);
        if has_degraded {
            self.grain = Grain::new(self.options.target);
        }
        load.worn = has_degraded || self.grain.book(tests, load.objects);
    }

    /// Do the blocks hold this many slots, the last one stretched if need be?
    fn fits(&self, slots: usize) -> bool {
        let last = self.blocks.last().map_or(0, |block| lock(block).first as usize);
        slots >= self.slots && slots <= last + 2 * BLOCK.max(self.slots.div_ceil(BLOCKS)) && self.slots > 0
    }

    fn cut_and_scatter(&mut self, frame: &Frame<'_, D, T>, context: &Context, count: usize) -> Result<(), Error> {
        frame.check_boxes()?;
        self.cut(frame, count);
        self.scatter_all(frame, context, true)
    }

    /// Writes all records, in the order of the slots or starting from those of the last frame.
    fn scatter_all(&mut self, frame: &Frame<'_, D, T>, context: &Context, in_order: bool) -> Result<(), Error> {
        self.scatter(frame, context, &[], in_order)?;
        self.coherence.remember(frame, self.partition.tiles.len());
        Ok(())
    }

    /// Scatters everything, and flags the records of what has changed, as listed: the joins then seek only their pairs.
    fn scatter_flagged(&mut self, frame: &Frame<'_, D, T>, context: &Context) -> Result<(), Error> {
        let list = std::mem::take(&mut self.coherence.list);
        self.coherence.grow(frame.slots());
        for (at, &id) in list.iter().enumerate().filter(|(_, id)| (**id as usize) < frame.slots()) {
            if let Some(&coming) = list.get(at + AHEAD) {
                prefetch(frame.boxes, coming as usize);
                prefetch(&self.coherence.previous, coming as usize);
            }
            self.coherence.book(id, frame.live.contains(id).then(|| &frame.boxes[id as usize]));
        }
        self.coherence.list = list;
        let bits = std::mem::take(&mut self.coherence.bits);
        let result = self.scatter(frame, context, &bits, false);
        self.coherence.bits = bits;
        self.coherence.flagged = true;
        self.coherence.touched.fill(true);
        result
    }

    /// Writes all records anew; those of objects with a bit in `changed` get a flag.
    fn scatter(&mut self, frame: &Frame<'_, D, T>, context: &Context, changed: &[u64], in_order: bool) -> Result<(), Error> {
        self.stretch(frame.slots());
        let in_order = std::mem::replace(&mut self.stale, true) || in_order;
        let (lattice, partition, kernels, rail) = (&self.lattice, &self.partition, context.kernels(), self.rails.axis());
        context.run(self.blocks.len(), |block, _| {
            let mut block = lock(&self.blocks[block]);
            if in_order {
                block.scatter(kernels, frame, lattice, partition, changed);
            } else {
                block.refresh(kernels, frame, lattice, partition, changed, rail);
            }
        });
        if !self.blocks.iter_mut().all(|block| open(block).valid) {
            frame.check_boxes()?;
        }
        self.rails.book(&mut self.blocks, &self.partition, kernels);
        self.stale = false;
        Ok(())
    }

    /// Makes a new lattice and partition.
    fn cut(&mut self, frame: &Frame<'_, D, T>, count: usize) {
        if outgrown(count, self.load.objects_when_cut) {
            self.grain = Grain::new(self.options.target);
        }
        self.lattice = Lattice::over(frame);
        self.partition = self.cut_by_sample(frame, count);
        self.slots = frame.slots();
        let size = BLOCK.max(self.slots.div_ceil(BLOCKS)).next_multiple_of(64);
        self.block = size;
        self.blocks.resize_with(self.slots.div_ceil(size).max(1), Mutex::default);
        for (index, block) in self.blocks.iter_mut().enumerate() {
            open(block).reset(index * size, ((index + 1) * size).min(self.slots), &self.partition);
        }
        let off_lattice_when_cut = off_lattice(&self.lattice, frame);
        let Load { jumping, jump_pause, .. } = self.load;
        self.load = Load {
            work_when_cut: f64::INFINITY,
            objects_when_cut: count,
            tests_when_cut: u64::MAX,
            jumping,
            jump_pause,
            ..Load::default()
        };
        self.load.off_lattice_when_cut = off_lattice_when_cut;
        self.revision = Default::default();
        self.rails.reset(self.partition.tiles.len());
        self.stale = true;
    }

    fn cut_by_sample(&self, frame: &Frame<'_, D, T>, count: usize) -> Partition {
        // Odd, since lists of objects like even periods.
        let weight = count.div_ceil(CUT_SAMPLE).max(self.grain.target / SAMPLE_PER_TILE) | 1;
        let mut points: Vec<Point> = Vec::with_capacity(count / weight + 1);
        for id in frame.ids().step_by(weight) {
            let corners = self.lattice.corners(&frame.boxes[id as usize]);
            let (low, high) = (corners.low(), corners.high());
            // In the plane, nothing is cut or swept across the third axis.
            let size = |k: usize| if k < D { (high[k] - low[k]) as f32 } else { f32::INFINITY };
            let center = std::array::from_fn(|k| low[k] + (high[k] - low[k]) / 2);
            points.push(Point { center, size: std::array::from_fn(size) });
        }
        if count <= 2 * self.grain.target {
            return Partition::whole(mean_size(&points));
        }
        Partition::cut(Sample { points: &mut points, weight, target: self.grain.target })
    }

    /// Gives new slots to the last block.
    fn stretch(&mut self, slots: usize) {
        self.slots = slots;
        if let Some(block) = self.blocks.last_mut() {
            open(block).last = slots as u32;
        }
    }

    /// Books populations; returns what the joins cost.
    fn measure(&mut self, count: usize) -> f64 {
        let (mut work, mut records) = (0.0, 0);
        for tile in 0..self.partition.tiles.len() {
            let population: usize = self.blocks.iter_mut().map(|block| open(block).runs[tile].len()).sum();
            records += population;
            work += (population as f64).powi(2);
        }
        self.load.records = records;
        self.load.objects = count;
        if self.load.work_when_cut == f64::INFINITY {
            self.load.work_when_cut = work.max(1.0);
        }
        work
    }
}

/// How many of [`LOOKS`] objects, one from each stretch of slots, start at the first place or end at the last one, on any axis. There, all places
/// are one, and only the boxes could tell objects apart.
fn off_lattice<const D: usize, T: Real>(lattice: &Lattice<D, T>, frame: &Frame<'_, D, T>) -> usize {
    let slots = frame.slots() as u32;
    let stretch = slots.div_ceil(LOOKS as u32).max(1);
    let first_live = |from: u32| (from..slots.min(from.saturating_add(stretch))).find(|&id| frame.live.contains(id));
    let looks = (0..slots).step_by(stretch as usize).filter_map(first_live);
    let is_off = |id: &u32| {
        let corners = lattice.corners(&frame.boxes[*id as usize]);
        let (low, high) = (corners.low(), corners.high());
        (0..D).any(|k| low[k] == 0 || high[k] >= LAST_PLACE)
    };
    looks.filter(is_off).count()
}

/// Does the box reach the tile?
pub(super) fn reaches(corners: &Corners, tile: &Tile) -> bool {
    let (low, high) = (corners.low(), corners.high());
    (0..3).all(|k| low[k] < tile.high[k] && tile.low[k] <= high[k])
}

impl<const D: usize, T: Real> Tiles<D, T> {
    /// Takes the listed changes in: records of changed objects are rewritten where they lie or dropped, and appended in tiles
    /// that the object has newly reached. Cost: the listed objects, and a pass over the tiles they touch.
    fn apply(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        let list = std::mem::take(&mut self.coherence.list);
        let valid =
            list.iter().filter(|&&id| frame.live.contains(id)).try_for_each(|&id| frame.boxes[id as usize].check(id as usize));
        if valid.is_ok() {
            self.stretch(frame.slots());
            self.coherence.grow(frame.slots());
            self.coherence.flagged = false;
            list.iter().for_each(|&id| self.mark(frame, id));
            for block in &mut self.blocks {
                open(block).redo(frame, &self.lattice, &self.partition, &self.coherence.bits);
            }
        }
        self.coherence.list = list;
        valid
    }

    /// Marks the tiles that one changed object touches, and books the change.
    fn mark(&mut self, frame: &Frame<'_, D, T>, id: u32) {
        if id as usize >= frame.slots() {
            return; // a slot that came and went
        }
        let now = frame.live.contains(id).then(|| &frame.boxes[id as usize]);
        let before = bit(&self.coherence.live, id).then(|| self.lattice.corners(&self.coherence.previous[id as usize]));
        if before.is_some() || now.is_some() {
            let last = self.blocks.len() - 1; // which is stretched
            let block = open(&mut self.blocks[(id as usize / self.block).min(last)]);
            block.set_live(id, now.is_some());
            if let Some(before) = &before {
                self.partition.visit(&before.low(), &before.high(), &mut |tile| {
                    block.mark(tile);
                    self.coherence.touched[tile as usize] = true;
                });
            }
            if let Some(now) = now {
                let corners = self.lattice.corners(now);
                self.partition.visit(&corners.low(), &corners.high(), &mut |tile| {
                    if !before.as_ref().is_some_and(|before| reaches(before, &self.partition.tiles[tile as usize])) {
                        block.append_later(tile, id);
                        self.coherence.touched[tile as usize] = true;
                    }
                });
            }
            self.coherence.book(id, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Aabb;
    use crate::algorithms::BroadPhase;
    use crate::algorithms::tiles::Options;

    #[test]
    fn a_lattice_follows_what_drifts_or_spreads_and_is_made_anew_where_objects_leave_it_otherwise_also_for_one_tile() {
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
                let mut cuts = 0;
                for step in 0..60 {
                    let boxes: Vec<Aabb<2, f32>> = (0..150)
                        .map(|i| {
                            let mut at = [(i % 12) as f32, (i / 12) as f32];
                            at[axis] = motion(step, i, at[axis]);
                            Aabb::new(at, at.map(|x| x + 0.9))
                        })
                        .collect();
                    let frame = Frame::new(&boxes);
                    tiles.load.objects_when_cut += 1; // which a new cut forgets
                    tiles.update(&frame, &mut context).unwrap();
                    cuts += usize::from(tiles.load.objects_when_cut == boxes.len());
                    assert!(off_lattice(&tiles.lattice, &frame) <= 2, "{name} along {axis}, step {step}");
                }
                assert_eq!(cuts > 3, name == "tears", "{name} along {axis}: {cuts} cuts");
            }
        }
    }
}
