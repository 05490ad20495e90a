//! The update of a few changed objects, which the change set lists: their records are rewritten, dropped and inserted in the tiles that they reach.
//!
//! Cost: in sorted tiles (`sorted_tiles.rs`), O(log n) per record on average, and a move within its run; in others, a search of the tile.

use std::sync::Mutex;

use super::movers::MoverRecords;
use super::partition::Partition;
use super::pending::PendingChanges;
use super::plan::tuned::AHEAD;
use super::records::Block;
use super::sorted_tiles::SortedTiles;
use super::{Tiles, open};
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::quantize::Corners;
use crate::kernels::tile::{Record, RunOrder};
use crate::objects::Frame;

/// A changed object on the lattice.
#[derive(Clone, Copy, Default)]
struct Change {
    id: u32,
    /// Its corners in the last frame and now, each if it was or is live.
    before: Option<Corners>,
    now: Option<Corners>,
    /// The tile, if the object was wholly inside one and still is.
    home: Option<u16>,
    /// The block of its records.
    block: u32,
}

impl<const D: usize, T: Real> Tiles<D, T> {
    /// Patches the records of the changed objects: rewrites or drops them in the tiles that the objects reached before, and inserts them in tiles that
    /// they did not reach.
    pub(super) fn patch(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        let changes = self.tracker.changes().slots();
        changes.iter().filter(|&&id| frame.live.contains(id)).try_for_each(|&id| frame.boxes[id as usize].check(id as usize))?;
        self.sorted.begin(self.partition.tiles.len())?;
        self.set_slots(frame.slots());
        self.pending.fit(frame.slots(), self.tracker.changes().len())?;
        if std::mem::take(&mut self.pending.flagged) {
            self.movers.invalidate();
        }
        let count = self.tracker.changes().len();
        // A pipeline: boxes are prefetched first, then records, and then the records are changed.
        let mut coming = [Change::default(); AHEAD];
        for at in 0..count + AHEAD {
            self.tracker.prefetch_change(frame, at + AHEAD);
            if at >= AHEAD {
                let Self { blocks, sorted, pending, movers, partition, .. } = self;
                apply(&coming[at % AHEAD], blocks, sorted, (pending, movers), partition);
            }
            if at < count {
                coming[at % AHEAD] = self.locate(frame, self.tracker.changes().slots()[at]);
            }
        }
        let corners = |id: u32| frame.live.contains(id).then(|| self.lattice.corners(&frame.boxes[id as usize]));
        // Where memory runs out from here on, the records are incomplete.
        for block in &mut self.blocks {
            open(block).patch(&corners, &self.partition, &self.pending.bits);
        }
        self.check_memory()?;
        let (blocks, partition) = (&mut self.blocks, &self.partition);
        self.sorted.finish(|tile, buffer| {
            let mut order = RunOrder::new(partition.tiles[tile].quanta());
            blocks.iter_mut().for_each(|block| open(block).sort_run(tile, &mut order, buffer));
            order
        });
        self.tracker.commit_changes(frame)
    }

    /// Finds where an object was and is, and prefetches its record.
    fn locate(&mut self, frame: &Frame<'_, D, T>, id: u32) -> Change {
        let now = frame.live.contains(id).then(|| self.lattice.corners(&frame.boxes[id as usize]));
        let before = self.tracker.previous(id).map(|value| self.lattice.corners(value));
        let block = (id as usize / self.slots_per_block).min(self.blocks.len() - 1); // the last one may be extended
        let mut home = None;
        if let (Some(before), Some(now)) = (&before, &now) {
            let tile = self.partition.tile_at(&before.low());
            let others = [before.high(), now.low(), now.high()];
            // A tile is a box, so a box with both corners inside is wholly inside.
            if others.iter().all(|corner| self.partition.tile_at(corner) == tile) {
                home = Some(tile);
                if let Some(order) = self.sorted.order(tile as usize) {
                    open(&mut self.blocks[block]).prefetch_record(tile as usize, order, before);
                }
            }
        }
        Change { id, before, now, home, block: block as u32 }
    }
}

/// Changes the records of one object in sorted tiles; in others, marks the tile, or the record to be appended. Does not depend on the type of boxes,
/// so it is compiled once.
fn apply(
    change: &Change,
    blocks: &mut [Mutex<Block>],
    sorted: &mut SortedTiles,
    (pending, movers): (&mut PendingChanges, &mut MoverRecords),
    partition: &Partition,
) {
    let Change { id, before, now, home, block } = change;
    let (id, index) = (*id, *block as usize);
    let block = open(&mut blocks[index]);
    if before.is_some() != now.is_some() {
        block.set_live(id, now.is_some());
    }
    if !pending.insert(id) {
        movers.invalidate(); // an earlier update has added a record of the object
    }
    if let (Some(tile), Some(before), Some(now)) = (*home, before, now) {
        pending.touch(tile, id);
        let record = if let Some(order) = sorted.order(tile as usize) {
            let record = block.move_record((tile as usize, order), before, now, id);
            sorted.widen(tile as usize, &record);
            record
        } else {
            sorted.note(tile);
            block.mark(tile);
            block.runs[tile as usize].record(now, id)
        };
        return movers.note(tile, record);
    }
    if let Some(before) = before {
        partition.visit(&before.low(), &before.high(), &mut |tile| {
            pending.touch(tile, id);
            let stays = now.as_ref().is_some_and(|now| partition.tiles[tile as usize].is_reached_by(now));
            match (sorted.order(tile as usize), now) {
                (None, _) => {
                    sorted.note(tile);
                    block.mark(tile);
                }
                (Some(order), Some(now)) if stays => {
                    let record = block.move_record((tile as usize, order), before, now, id);
                    sorted.widen(tile as usize, &record);
                }
                (Some(order), _) => block.remove_record((tile as usize, order), before, id),
            }
        });
    }
    let Some(now) = now else { return };
    partition.visit(&now.low(), &now.high(), &mut |tile| {
        let mut record: Option<Record> = None;
        if !before.as_ref().is_some_and(|before| partition.tiles[tile as usize].is_reached_by(before)) {
            pending.touch(tile, id);
            if let Some(order) = sorted.order(tile as usize) {
                let inserted = block.insert_record((tile as usize, order), now, id);
                sorted.widen(tile as usize, &inserted);
                record = Some(inserted);
            } else {
                sorted.note(tile);
                block.append_later(tile, id);
            }
        }
        movers.note(tile, record.unwrap_or_else(|| block.runs[tile as usize].record(now, id)));
    });
}
