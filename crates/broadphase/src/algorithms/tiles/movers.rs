//! The records of a few changed objects by tile, so that the joins need not search for them.

use super::Tiles;
use super::records::Run;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::tile::Record;
use crate::memory;
use crate::objects::Frame;

/// What the memory is for, in errors.
const RECORDS: &str = "records of changed objects";

/// The records of changed objects, by tile.
#[derive(Debug, Default)]
pub(super) struct MoverRecords {
    /// The records of tile `t` are `records[starts[t]..starts[t + 1]]`.
    starts: Vec<u32>,
    records: Vec<Record>,
    /// The same records with their tiles, not yet sorted: gathered while the records are patched.
    found: Vec<(u16, Record)>,
    /// Are these the records of all objects that have changed since the last `pairs`?
    is_complete: bool,
}

impl MoverRecords {
    /// The records of a tile.
    pub(super) fn of(&self, tile: usize) -> &[Record] {
        &self.records[self.starts[tile] as usize..self.starts[tile + 1] as usize]
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.starts.capacity() * 4 + self.records.capacity() * 16 + self.found.capacity() * size_of::<(u16, Record)>()
    }

    /// Removes all records, after pairs were found.
    pub(super) fn clear(&mut self) {
        self.found.clear();
        self.is_complete = true;
    }

    /// Marks the gathered records as outdated.
    pub(super) fn invalidate(&mut self) {
        self.is_complete = false;
    }

    /// Adds the record of a changed object in a tile.
    #[inline(always)]
    pub(super) fn note(&mut self, tile: u16, record: Record) {
        // If there is no memory for the list, the records are made again when they are needed.
        self.is_complete = self.is_complete && memory::push(&mut self.found, (tile, record), RECORDS).is_ok();
    }

    /// Sorts `found` by tile, for the given number of tiles; stable.
    fn sort(&mut self, tiles: usize) -> Result<(), Error> {
        memory::refill(&mut self.starts, tiles + 2, 0, RECORDS)?;
        for (tile, _) in &self.found {
            self.starts[*tile as usize + 2] += 1;
        }
        for tile in 2..tiles + 2 {
            self.starts[tile] += self.starts[tile - 1];
        }
        // starts[t + 1] is the position of tile t's next record; after the loop, it is the end of tile t's records.
        memory::resize(&mut self.records, self.found.len(), Record::default(), RECORDS)?;
        for (tile, record) in &self.found {
            let next = &mut self.starts[*tile as usize + 1];
            self.records[*next as usize] = *record;
            *next += 1;
        }
        Ok(())
    }
}

impl<const D: usize, T: Real> Tiles<D, T> {
    /// Gathers the records of all live objects that have changed since the last `pairs`.
    pub(super) fn gather_movers(&mut self, frame: &Frame<'_, D, T>) -> Result<(), Error> {
        if self.movers.is_complete {
            return self.movers.sort(self.partition.tiles.len());
        }
        self.movers.found.clear();
        let mut result = Ok(());
        for &id in self.pending.slots.iter().filter(|&&id| frame.live.contains(id)) {
            let corners = self.lattice.corners(&frame.boxes[id as usize]);
            self.partition.visit(&corners.low(), &corners.high(), &mut |tile| {
                let run = Run::new(&self.partition.tiles[tile as usize]);
                if result.is_ok() {
                    result = memory::push(&mut self.movers.found, (tile, run.record(&corners, id)), RECORDS);
                }
            });
        }
        result?;
        self.movers.sort(self.partition.tiles.len())
    }
}
