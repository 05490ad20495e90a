//! A frame into the structure.

use std::sync::Mutex;

use super::lattice::{Cell, Lattice};
use super::partition::{Partition, Sample};
use super::{Load, Tiles, lock, open};
use crate::context::Context;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Frame;

/// Slots per block at least, and blocks at most: enough for several threads, few enough that a tile's runs stay long.
const BLOCK: usize = 1 << 16;
const BLOCKS: usize = 8;
/// The partition is cut anew when joins would cost this much more than when it was cut.
const UNEVEN: f64 = 1.5;
/// Objects that the cuts are made from, at most.
const SAMPLE: usize = 1 << 17;

impl<const D: usize, T: Real> Tiles<D, T> {
    pub(super) fn take_in(&mut self, frame: &Frame<'_, D, T>, context: &mut Context) -> Result<(), Error> {
        frame.check_lists()?;
        let count = frame.count();
        if self.stale || self.slots != frame.slots() || self.outgrown(count) {
            frame.check_boxes()?;
            self.cut(frame, count);
        }
        self.scatter(frame, context)?;
        if self.load.work > UNEVEN * self.load.work_when_cut {
            self.cut(frame, count);
            self.scatter(frame, context)?;
        }
        Ok(())
    }

    /// Has the number of objects changed so much that tiles of the old size are wrong?
    fn outgrown(&self, count: usize) -> bool {
        let then = self.load.objects_when_cut;
        count > then + then / 2 + 64 || count < then / 2
    }

    /// Makes a new lattice and partition.
    fn cut(&mut self, frame: &Frame<'_, D, T>, count: usize) {
        self.lattice = Lattice::over(frame);
        self.partition = if count <= 2 * self.options.target { Partition::whole() } else { self.cut_by_sample(frame, count) };
        self.slots = frame.slots();
        let size = BLOCK.max(self.slots.div_ceil(BLOCKS));
        self.blocks.resize_with(self.slots.div_ceil(size), Mutex::default);
        for (index, block) in self.blocks.iter_mut().enumerate() {
            open(block).reset(index * size, ((index + 1) * size).min(self.slots), &self.partition);
        }
        self.load = Load { work_when_cut: f64::INFINITY, objects_when_cut: count, ..Load::default() };
        self.lineage = Default::default();
    }

    fn cut_by_sample(&self, frame: &Frame<'_, D, T>, count: usize) -> Partition {
        let weight = count.div_ceil(SAMPLE);
        let mut size = [0.0; 3];
        let mut points: Vec<Cell> = Vec::with_capacity(count / weight + 1);
        for id in frame.ids().step_by(weight) {
            let (low, high) = self.lattice.corners(&frame.boxes[id as usize]);
            points.push(std::array::from_fn(|k| low[k] + (high[k] - low[k]) / 2));
            (0..3).for_each(|k| size[k] += f64::from(high[k] - low[k]));
        }
        let size = size.map(|sum| sum / points.len().max(1) as f64);
        Partition::cut(Sample { points: &mut points, weight, size, target: self.options.target })
    }

    fn scatter(&mut self, frame: &Frame<'_, D, T>, context: &Context) -> Result<(), Error> {
        self.stale = true;
        let (lattice, partition, kernels) = (&self.lattice, &self.partition, context.kernels());
        context.run(self.blocks.len(), |block, _| lock(&self.blocks[block]).scatter(kernels, frame, lattice, partition));
        if !self.blocks.iter_mut().all(|block| open(block).valid) {
            frame.check_boxes()?;
        }
        self.stale = false;
        let (mut work, mut records) = (0.0, 0);
        for tile in 0..self.partition.tiles.len() {
            let population: usize = self.blocks.iter_mut().map(|block| open(block).runs[tile].len()).sum();
            records += population;
            work += (population as f64).powi(2);
        }
        self.load.records = records;
        self.load.objects = frame.count();
        self.load.work = work;
        if self.load.work_when_cut == f64::INFINITY {
            self.load.work_when_cut = work.max(1.0);
        }
        Ok(())
    }
}
