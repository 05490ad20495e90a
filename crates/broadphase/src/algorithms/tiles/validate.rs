//! The invariant: every object has a record in each tile that it reaches, and in no other.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::axis_motion::AxisMotionCache;
use super::partition::Partition;
use super::records::Block;
use super::sorted_tiles::SortedTiles;
use super::{Tiles, lock};
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::kernels::quantize::Corners;
use crate::kernels::tile::{Record, RunOrder};
use crate::objects::Frame;

impl<const D: usize, T: Real> Tiles<D, T> {
    /// Checks the structure against a frame.
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        if self.stale {
            return Ok(()); // there are no records
        }
        ensure!(self.slots == frame.slots(), "{} slots are known, the frame has {}", self.slots, frame.slots());
        let corners = |id: u32| self.lattice.corners(&frame.boxes[id as usize]);
        let Self { partition, blocks, sorted, axis_motion, .. } = self;
        Records { partition, blocks, sorted, axis_motion }.validate(&corners, &mut frame.ids(), strength)
    }
}

/// The parts of the structure that do not depend on the type of boxes, so that their check is compiled once.
struct Records<'a> {
    partition: &'a Partition,
    blocks: &'a [Mutex<Block>],
    sorted: &'a SortedTiles,
    axis_motion: &'a AxisMotionCache,
}

impl Records<'_> {
    /// Checks them, given the corners of every live object.
    fn validate(
        &self,
        corners: &dyn Fn(u32) -> Corners,
        ids: &mut dyn Iterator<Item = u32>,
        strength: Strength,
    ) -> Result<(), Violation> {
        let tiles = self.partition.tiles.len();
        ensure!(
            self.partition.entries.len() == self.partition.tables.iter().map(|t| t.cells()).sum::<usize>(),
            "tables and entries differ"
        );
        let mut found: BTreeMap<u32, Vec<u16>> = BTreeMap::new();
        for block in self.blocks {
            let block = lock(block);
            ensure!(block.runs.len() == tiles, "{} runs for {tiles} tiles", block.runs.len());
            for tile in 0..tiles {
                for record in block.records(tile) {
                    let id = record.id();
                    ensure!(
                        (block.first..block.last).contains(&id),
                        "record of {id} in the block of {}..{}",
                        block.first,
                        block.last
                    );
                    found.entry(id).or_default().push(tile as u16);
                    if strength == Strength::Geometry {
                        let corners = corners(id);
                        let flag = if record.is_flagged() { Record::FLAG } else { 0 };
                        let expected = block.runs[tile].record(&corners, id | flag);
                        ensure!(*record == expected, "object {id} is {record:?} in tile {tile}, and should be {expected:?}");
                    }
                }
            }
        }
        let blocks: Vec<_> = self.blocks.iter().map(lock).collect();
        for (tile, place) in self.partition.tiles.iter().enumerate() {
            let runs: Vec<&[Record]> = blocks.iter().map(|block| block.records(tile)).collect();
            let is_in_order = |order: RunOrder| runs.iter().all(|run| order.holds(run));
            ensure!(
                self.sorted.order(tile).is_none_or(is_in_order),
                "tile {tile} counts as sorted, but its records are not in order, or one is wider than known"
            );
            ensure!(
                !self.axis_motion.is_wrong((tile, place.axis), &runs),
                "tile {tile} misses a cached candidate, or has one twice"
            );
        }
        for id in ids {
            let corners = corners(id);
            let mut expected = Vec::new();
            self.partition.visit(&corners.low(), &corners.high(), &mut |tile| expected.push(tile));
            expected.sort_unstable();
            let have = found.remove(&id).unwrap_or_default();
            ensure!(
                strength < Strength::Geometry || have == expected,
                "object {id} is in tiles {have:?}, belongs in {expected:?}"
            );
        }
        ensure!(found.is_empty(), "records of objects that are not live: {:?}", found.keys().next());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::tiles::{Options, open};
    use crate::context::Context;
    use crate::geometry::Aabb;
    use crate::objects::Changes;
    use crate::pairs::{PairStore, Report};

    #[test]
    fn the_validator_detects_sorted_tiles_out_of_order_and_unknown_wide_records() {
        let place = |id: usize| [0.7 * (id % 40) as f32, 1.1 * (id / 40) as f32, (id * 7 % 31) as f32];
        let mut boxes: Vec<Aabb<3, f32>> = (0..2000).map(|id| Aabb::new(place(id), place(id).map(|x| x + 1.0))).collect();
        let mut tiles = Tiles::<3, f32>::new(Options { target: 100, ..Options::default() });
        let (mut context, mut store) = (Context::new(), PairStore::new(Report::All));
        let moved: Vec<u32> = (0..2000).step_by(100).collect();
        for round in 0..8 {
            moved.iter().for_each(|&id| boxes[id as usize] = boxes[id as usize].translate([0.01; 3]));
            let changes = Changes::Listed { moved: &moved, inserted: &[], removed: &[] };
            let frame = Frame::new(&boxes).with_changes(if round == 0 { Changes::All } else { changes });
            tiles.update(&frame, &mut context).unwrap();
            tiles.pairs(&frame, &mut context, &mut store).unwrap();
            tiles.validate(&frame, Strength::Geometry).unwrap();
        }
        let frame = Frame::new(&boxes);
        let tile = (0..tiles.partition.tiles.len()).find(|&tile| tiles.sorted.order(tile).is_some()).unwrap();
        let mut damaged = tiles.clone();
        open(&mut damaged.blocks[0]).records_mut(tile).reverse();
        assert!(damaged.validate(&frame, Strength::Structure).is_err(), "another order goes unnoticed");
        let mut damaged = tiles.clone();
        damaged.sorted.forget_widest(tile);
        assert!(damaged.validate(&frame, Strength::Structure).is_err(), "a wide record goes unnoticed");
    }
}
