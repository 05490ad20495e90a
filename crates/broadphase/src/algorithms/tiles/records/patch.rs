//! The records of a few listed objects, rewritten, dropped and appended in the tiles that these touch.

use super::{Block, put};
use crate::algorithms::tiles::partition::Partition;
use crate::algorithms::tiles::update::RECORDS;
use crate::bits::set_bit;
use crate::error::Error;
use crate::kernels::Scalar;
use crate::kernels::quantize::Corners;
use crate::kernels::tile::Record;
use crate::memory;

/// The edits that the next patch makes; empty outside an update.
#[derive(Clone, Debug, Default)]
pub(super) struct Patch {
    /// Tiles whose records are searched for changed objects, as a list and by tile.
    marked: Vec<u16>,
    is_marked: Vec<bool>,
    /// Records to append: tile and object.
    appended: Vec<(u16, u32)>,
}

impl Patch {
    /// Removes all edits, and makes room for marks on `tiles` tiles.
    pub(super) fn reset(&mut self, tiles: usize) -> Result<(), Error> {
        self.marked.clear();
        self.appended.clear();
        memory::refill(&mut self.is_marked, tiles, false, RECORDS)
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.marked.capacity() * 2 + self.is_marked.capacity() + self.appended.capacity() * 8
    }
}

impl Block {
    /// Stores whether a slot is live.
    pub(in crate::algorithms::tiles) fn set_live(&mut self, id: u32, is_live: bool) {
        let words = (self.last as usize).div_ceil(64) - self.first as usize / 64;
        match memory::resize(&mut self.live, words, 0, RECORDS) {
            Ok(()) => set_bit(&mut self.live, id - self.first, is_live),
            Err(_) => self.refused = true,
        }
    }

    /// Makes the next patch search the records of a tile.
    pub(in crate::algorithms::tiles) fn mark(&mut self, tile: u16) {
        let is_marked = &mut self.patch.is_marked[tile as usize];
        if !*is_marked {
            *is_marked = true;
            self.refused |= memory::push(&mut self.patch.marked, tile, RECORDS).is_err();
        }
    }

    /// Makes the next patch append a record of an object to a tile.
    pub(in crate::algorithms::tiles) fn append_later(&mut self, tile: u16, id: u32) {
        self.refused |= memory::push(&mut self.patch.appended, (tile, id), RECORDS).is_err();
    }

    /// Applies the patch: rewrites or drops the records of changed objects in the marked tiles, then appends new records. `corners` are those of an
    /// object that is live. Does not depend on the type of boxes, so it is compiled once.
    pub(in crate::algorithms::tiles) fn patch(
        &mut self,
        corners: &dyn Fn(u32) -> Option<Corners>,
        partition: &Partition,
        changed: &[u64],
    ) {
        for tile in self.patch.marked.drain(..) {
            let run = &mut self.runs[tile as usize];
            self.patch.is_marked[tile as usize] = false;
            run.inner = run.start;
            let mut at = run.start as usize;
            while let Some(found) = next_changed(&self.arena[at..run.next as usize], changed) {
                at += found;
                let id = self.arena[at].id();
                match corners(id) {
                    Some(corners) if partition.tiles[tile as usize].is_reached_by(&corners) => {
                        self.arena[at] = run.record(&corners, id);
                        at += 1;
                    }
                    _ => {
                        run.next -= 1;
                        self.arena[at] = self.arena[run.next as usize];
                    }
                }
            }
        }
        for at in 0..self.patch.appended.len() {
            let (tile, id) = self.patch.appended[at];
            let run = &mut self.runs[tile as usize];
            if run.next == run.end && run.move_to_end(&mut self.arena, run.next, &mut self.left_behind).is_err() {
                self.refused = true;
                break;
            }
            let Some(corners) = corners(id) else { continue };
            put(Scalar, &mut self.runs, &mut self.arena, &mut self.spilled, tile, (&corners, id));
        }
        self.patch.appended.clear();
    }
}

/// Is bit `id` set? The bit must have a word.
#[inline(always)]
fn is_set(words: &[u64], id: u32) -> bool {
    words[id as usize / 64] >> (id % 64) & 1 == 1
}

/// The position of the first record whose object has a bit in `changed`. Few have one, so four are tested together.
fn next_changed(records: &[Record], changed: &[u64]) -> Option<usize> {
    let is_changed = |record: &Record| is_set(changed, record.id());
    let (fours, rest) = records.as_chunks::<4>();
    for (index, [a, b, c, d]) in fours.iter().enumerate() {
        if is_changed(a) | is_changed(b) | is_changed(c) | is_changed(d) {
            return [a, b, c, d].into_iter().position(is_changed).map(|at| 4 * index + at);
        }
    }
    rest.iter().position(is_changed).map(|at| 4 * fours.len() + at)
}
