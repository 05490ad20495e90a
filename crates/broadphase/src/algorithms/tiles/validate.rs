//! The invariant: every object has a record in each tile that it reaches, and in no other.

use std::collections::BTreeMap;

use super::{Tiles, lock};
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::kernels::tile::Record;
use crate::objects::Frame;

impl<const D: usize, T: Real> Tiles<D, T> {
    /// Checks the structure against a frame.
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        if self.stale {
            return Ok(()); // there are no records
        }
        ensure!(self.slots == frame.slots(), "{} slots are known, the frame has {}", self.slots, frame.slots());
        let tiles = self.partition.tiles.len();
        ensure!(
            self.partition.entries.len() == self.partition.tables.iter().map(|t| t.cells()).sum::<usize>(),
            "tables and entries differ"
        );
        let mut found: BTreeMap<u32, Vec<u16>> = BTreeMap::new();
        for block in &self.blocks {
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
                        let corners = self.lattice.corners(&frame.boxes[id as usize]);
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
            ensure!(
                !self.axis_motion.is_wrong((tile, place.axis), &runs),
                "tile {tile} misses a cached candidate, or has one twice"
            );
        }
        for id in frame.ids() {
            let corners = self.lattice.corners(&frame.boxes[id as usize]);
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
