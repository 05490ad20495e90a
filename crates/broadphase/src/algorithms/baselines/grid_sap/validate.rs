//! Every object is in each of its cells and in no other, and the content of every cell is sorted; with lists, each cell has the pairs that it owns.

use super::cell_lists::{self, CellLists};
use super::cells::Cells;
use super::{Content, GridSap};
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::objects::Frame;

impl<const D: usize, T: Real> GridSap<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        ensure!(!self.is_broken && !self.scratch.stale.contains(&true), "an update is not finished");
        let differs = self.tracked.differs_from(frame);
        ensure!(strength == Strength::Structure || differs.is_none(), "slot {differs:?} differs from the frame");
        let Some(cells) = &self.cells else {
            ensure!(self.tracked.ids().next().is_none(), "objects without cells");
            return Ok(());
        };
        let mut expected = Vec::new();
        for id in self.tracked.ids() {
            let (known, block) = (self.blocks[id as usize], cells.block(self.tracked.get(id)));
            ensure!(strength == Strength::Structure || known == block, "object {id} has left its cells");
            known.for_each(|cell| expected.push((cells.number(&cell), id)));
        }
        expected.sort_unstable();
        let found = match &self.content {
            Content::Lists(lists) => self.check_lists(lists, cells, strength)?,
            Content::Sweeps(sweeps) => {
                let unsorted = sweeps.entries().windows(2).position(|two| two[1].is_before(&two[0]));
                ensure!(unsorted.is_none(), "the entries are not sorted at {unsorted:?}");
                let moved = sweeps.entries().iter().find(|entry| entry.at != self.tracked.get(entry.id).min[0]);
                ensure!(moved.is_none(), "an object has moved: {moved:?}");
                let mut found: Vec<(u32, u32)> = sweeps.entries().iter().map(|entry| (entry.cell, entry.id)).collect();
                found.sort_unstable();
                found
            }
        };
        let wrong = expected.iter().zip(&found).find(|(expected, found)| expected != found);
        ensure!(wrong.is_none(), "cell and object: expected and found are {wrong:?}");
        ensure!(expected.len() == found.len(), "{} objects in cells instead of {}", found.len(), expected.len());
        Ok(())
    }

    /// Checks the lists of every cell; the objects of each, by cell.
    fn check_lists(
        &self,
        lists: &CellLists<D, T>,
        cells: &Cells<D, T>,
        strength: Strength,
    ) -> Result<Vec<(u32, u32)>, Violation> {
        ensure!(lists.is_settled(), "an update is not finished, or the cells with pairs are not those that are noted");
        ensure!(lists.lists().len() == cells.count() as usize, "{} lists, {} cells", lists.lists().len(), cells.count());
        let mut found = Vec::new();
        for (number, of_cell) in (0..).zip(lists.lists()) {
            let cell = cells.cell(number);
            of_cell.check(&self.tracked, strength, |pair| cell_lists::owns(&self.blocks, &cell, pair))?;
            found.extend(of_cell.ids()?.into_iter().map(|id| (number, id)));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;
    use crate::{Aabb, Context};

    fn crowd() -> Vec<Aabb<2, f32>> {
        (0..60).map(|i| Aabb::from_center([(i % 8) as f32, (i / 8) as f32], [0.6; 2])).collect()
    }

    fn grid(resweep: bool) -> GridSap<2, f32> {
        let mut grid = GridSap::new(Options { cells: 3, resweep });
        grid.update(&Frame::new(&crowd()), &mut Context::new()).unwrap();
        grid.validate(&Frame::new(&crowd()), Strength::Geometry).unwrap();
        let mut other = crowd();
        other[3] = other[3].translate([3.0, 0.0]);
        assert!(grid.validate(&Frame::new(&other), Strength::Geometry).is_err());
        grid
    }

    #[test]
    fn the_validator_detects_exchanged_and_lost_entries() {
        let damage = |harm: &dyn Fn(&mut Vec<super::super::Entry<f32>>)| {
            let mut grid = grid(true);
            let Content::Sweeps(sweeps) = &mut grid.content else { panic!("no sweeps") };
            harm(sweeps.entries_mut());
            grid.validate(&Frame::new(&crowd()), Strength::Structure)
        };
        assert!(damage(&|_| ()).is_ok());
        assert!(damage(&|entries| entries.reverse()).is_err());
        assert!(damage(&|entries| _ = entries.remove(7)).is_err());
    }

    #[test]
    fn the_validator_detects_an_object_that_a_cell_lost_and_pairs_of_another_owner() {
        let mut lost = grid(false);
        let tracked = lost.tracked.clone();
        let Content::Lists(lists) = &mut lost.content else { panic!("no lists") };
        let first = lists.lists()[4].ids().unwrap()[0];
        lists.lists_mut()[4].remove_and_renew(&tracked, |id| id == first);
        assert!(lost.validate(&Frame::new(&crowd()), Strength::Structure).is_err());
        let mut foreign = grid(false);
        let Content::Lists(lists) = &mut foreign.content else { panic!("no lists") };
        lists.lists_mut().swap(3, 4);
        assert!(foreign.validate(&Frame::new(&crowd()), Strength::Geometry).is_err());
    }
}
