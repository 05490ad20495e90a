//! Single records in sorted runs: found by bisection from their old value, and moved, inserted and removed in place.

use super::{Block, Run};
use crate::kernels::quantize::Corners;
use crate::kernels::tile::{self, Record, RunOrder};

impl Block {
    /// Sorts the run of a tile, and widens `order` by its records. `buffer` is scratch.
    pub(in crate::algorithms::tiles) fn sort_run(&mut self, tile: usize, order: &mut RunOrder, buffer: &mut Vec<Record>) {
        let run = &mut self.runs[tile];
        run.inner = run.start;
        let records = &mut self.arena[run.start as usize..run.next as usize];
        tile::sort_run(records, buffer);
        records.iter().for_each(|record| order.widen(record));
    }

    /// Prefetches an object's record in the sorted run of a tile. `before` are the object's corners in the last frame.
    #[inline]
    pub(in crate::algorithms::tiles) fn prefetch_record(&self, tile: usize, order: RunOrder, before: &Corners) {
        let run = &self.runs[tile];
        order.prefetch_from(&self.arena[run.start as usize..run.next as usize], run.record(before, 0).span().0);
    }

    /// Replaces the record of an object in the sorted run of a tile. Returns the new one.
    #[inline]
    pub(in crate::algorithms::tiles) fn move_record(
        &mut self,
        (tile, order): (usize, RunOrder),
        before: &Corners,
        now: &Corners,
        id: u32,
    ) -> Record {
        let run = self.runs[tile];
        let records = &mut self.arena[run.start as usize..run.next as usize];
        let (old, new) = (run.record(before, id), run.record(now, id));
        match order.position(records, old.span().0, id) {
            Some(at) => {
                records[at] = new;
                tile::reinsert(records, at);
            }
            None => debug_assert!(false, "an object has a record in each tile that it reaches"),
        }
        new
    }

    /// Removes the record of an object from the sorted run of a tile.
    pub(in crate::algorithms::tiles) fn remove_record(&mut self, (tile, order): (usize, RunOrder), before: &Corners, id: u32) {
        let run = &mut self.runs[tile];
        let records = &mut self.arena[run.start as usize..run.next as usize];
        if let Some(at) = order.position(records, run.record(before, id).span().0, id) {
            records.copy_within(at + 1.., at);
            run.next -= 1;
        }
    }

    /// Inserts a record of an object into the sorted run of a tile, unless memory runs out, and returns it.
    pub(in crate::algorithms::tiles) fn insert_record(
        &mut self,
        (tile, order): (usize, RunOrder),
        now: &Corners,
        id: u32,
    ) -> Record {
        let Self { runs, arena, left_behind, refused, .. } = self;
        let run = &mut runs[tile];
        if run.next == run.end && run.move_to_end(arena, run.next, left_behind).is_err() {
            *refused = true;
            return run.record(now, id);
        }
        run.next += 1;
        let Run { start, next, .. } = *run;
        let record = run.record(now, id);
        let records = &mut arena[start as usize..next as usize];
        let (last, x) = (records.len() - 1, record.span().0);
        let at = order.first_from(&records[..last], x);
        records.copy_within(at..last, at + 1);
        records[at] = record;
        record
    }
}
