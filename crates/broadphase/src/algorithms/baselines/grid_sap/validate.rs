//! Every object has an entry in each of its cells and nowhere else, and every cell is sorted.

use super::GridSap;
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::objects::Frame;

impl<const D: usize, T: Real> GridSap<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        let unsorted = self.entries.windows(2).position(|two| two[1].is_before(&two[0]));
        ensure!(unsorted.is_none(), "the entries are not sorted at {unsorted:?}");
        ensure!(!self.scratch.stale.contains(&true), "an update is not finished");
        let differs = self.tracked.differs_from(frame);
        ensure!(strength == Strength::Structure || differs.is_none(), "slot {differs:?} differs from the frame");
        let Some(cells) = &self.cells else {
            ensure!(self.entries.is_empty(), "entries without cells");
            return Ok(());
        };
        let mut left: Vec<usize> = vec![0; self.tracked.slots()];
        for id in self.tracked.ids() {
            let (known, block) = (self.blocks[id as usize], cells.block(self.tracked.get(id)));
            ensure!(strength == Strength::Structure || known == block, "object {id} has left its cells");
            left[id as usize] = known.len();
        }
        let mut seen: Vec<(u32, u32)> = self.entries.iter().map(|entry| (entry.cell, entry.id)).collect();
        seen.sort_unstable();
        ensure!(seen.is_sorted_by(|a, b| a < b), "an object stands in a cell twice");
        for entry in &self.entries {
            let id = entry.id as usize;
            ensure!(left.get(id).is_some_and(|&left| left > 0), "object {id} has more entries than cells");
            left[id] -= 1;
            let (cell, block) = (cells.cell(entry.cell), self.blocks[id]);
            let inside = (0..D).all(|k| block.from[k] <= cell[k] && cell[k] <= block.to[k]);
            ensure!(inside, "object {id} has an entry in cell {}", entry.cell);
            ensure!(entry.at == self.tracked.get(entry.id).min[0], "object {id} has moved in cell {}", entry.cell);
        }
        let missing = left.iter().position(|&left| left > 0);
        ensure!(missing.is_none(), "object {missing:?} lacks an entry");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;
    use crate::{Aabb, Context};

    #[test]
    fn the_validator_detects_exchanged_and_lost_entries_and_another_box() {
        let mut boxes: Vec<_> = (0..60).map(|i| Aabb::from_center([(i % 8) as f32, (i / 8) as f32], [0.6; 2])).collect();
        let mut grid = GridSap::new(Options { cells: 3 });
        grid.update(&Frame::new(&boxes), &mut Context::new()).unwrap();
        grid.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
        let mut exchanged = grid.clone();
        let last = exchanged.entries.len() - 1;
        exchanged.entries.swap(0, last);
        assert!(exchanged.validate(&Frame::new(&boxes), Strength::Structure).is_err());
        let mut lost = grid.clone();
        lost.entries.remove(7);
        assert!(lost.validate(&Frame::new(&boxes), Strength::Structure).is_err());
        boxes[3] = boxes[3].translate([3.0, 0.0]);
        assert!(grid.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
    }
}
