//! Every object is in the lists of its cells and nowhere else; the lists of every cell are sorted, and its pairs are all there are.

use super::GridSap;
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::objects::Frame;

impl<const D: usize, T: Real> GridSap<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        let thoroughly = strength == Strength::Geometry;
        ensure!(self.scratch.touched.is_empty() && !self.is_broken, "an update is not finished");
        let differs = self.ledger.differs_from(frame);
        ensure!(!thoroughly || differs.is_none(), "slot {differs:?} differs from the frame");
        let Some(cells) = &self.cells else {
            ensure!(self.lists.is_empty(), "lists without cells");
            return Ok(());
        };
        ensure!(self.lists.len() == cells.count() as usize, "{} lists of {} cells", self.lists.len(), cells.count());
        let mut expected = vec![0; self.lists.len()];
        for id in self.ledger.ids() {
            let (known, block) = (self.blocks[id as usize], cells.block(self.ledger.get(id)));
            ensure!(!thoroughly || known == block, "object {id} has left its cells");
            known.for_each(|cell| expected[cells.number(&cell) as usize] += 1);
        }
        for (number, (lists, &objects)) in self.lists.iter().zip(&expected).enumerate() {
            lists.validate(&self.ledger, objects, thoroughly)?;
            let cell = cells.cell(number as u32);
            let stray = lists.started(T::INFINITY).find(|&id| !self.blocks[id as usize].contains(&cell));
            ensure!(stray.is_none(), "object {stray:?} is in the lists of cell {number}");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;
    use crate::{Aabb, Context};

    #[test]
    fn the_validator_notices_exchanged_and_lost_ends_a_lost_pair_and_another_box() {
        let mut boxes: Vec<_> = (0..60).map(|i| Aabb::from_center([(i % 8) as f32, (i / 8) as f32], [0.6; 2])).collect();
        let mut grid = GridSap::new(Options { cells: 3 });
        grid.update(&Frame::new(&boxes), &mut Context::new()).unwrap();
        grid.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
        let mut exchanged = grid.clone();
        let last = exchanged.lists[4].axes[1].len() - 1;
        exchanged.lists[4].axes[1].swap(0, last);
        assert!(exchanged.validate(&Frame::new(&boxes), Strength::Structure).is_err());
        let mut lost = grid.clone();
        lost.lists[4].axes[0].remove(7);
        assert!(lost.validate(&Frame::new(&boxes), Strength::Structure).is_err());
        let mut parted = grid.clone();
        let pair = parted.lists[4].overlaps.pairs()[0];
        parted.lists[4].overlaps.remove(pair);
        assert!(parted.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
        boxes[3] = boxes[3].translate([3.0, 0.0]);
        assert!(grid.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
    }

    /// What makes it Tracy's: a frame in which one object moves touches the lists of its cells alone, and tests what it meets there.
    #[test]
    fn one_mover_is_tested_with_what_it_meets_and_no_pair_is_searched_for_anew() {
        let mut boxes: Vec<_> = (0..900).map(|i| Aabb::from_center([(i % 30) as f32, (i / 30) as f32], [0.6; 2])).collect();
        let (mut grid, mut context, mut store) =
            (GridSap::new(Options { cells: 5 }), Context::new(), crate::PairStore::default());
        crate::step(&mut grid, &Frame::new(&boxes), &mut context, &mut store).unwrap();
        let all = store.tests();
        for by in [[0.3, 0.0], [0.0, 0.3], [7.0, 0.0], [-7.3, -0.3]] {
            boxes[444] = boxes[444].translate(by);
            crate::step(&mut grid, &Frame::new(&boxes), &mut context, &mut store).unwrap();
            grid.validate(&Frame::new(&boxes), Strength::Geometry).unwrap();
            assert!(store.tests() < all / 50, "{} tests of {all} for {by:?}", store.tests());
        }
    }
}
