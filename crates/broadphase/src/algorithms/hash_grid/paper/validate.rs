//! Every object is in the container and the grid that it memorizes, and where its box belongs.

use super::{ABSENT, PaperHashGrid, UNBOUNDED};
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::objects::Frame;
use crate::objects::unbounded::is_bounded;

impl<const D: usize, T: Real> PaperHashGrid<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        ensure!(self.live == frame.count(), "{} objects for {} in the frame", self.live, frame.count());
        if !self.active {
            ensure!(self.live <= self.options.threshold, "{} objects without a grid", self.live);
            ensure!(self.grids.is_empty() && self.objects.is_empty(), "grids below the threshold");
            return Ok(());
        }
        ensure!(self.objects.len() == frame.slots(), "{} entries for {} slots", self.objects.len(), frame.slots());
        ensure!(self.list.len() == self.grids.len(), "the list has not every grid");
        let exponents = || self.list.iter().map(|&index| self.grids[index as usize].exponent);
        ensure!(exponents().zip(exponents().skip(1)).all(|(a, b)| a < b), "the grid list is not sorted by cell size");
        let mut seen = self.unbounded.ids().len();
        for (index, grid) in self.grids.iter().enumerate() {
            let mut count = 0;
            for (place, &cell) in grid.occupied().iter().enumerate() {
                let objects = grid.objects(cell);
                ensure!(!objects.is_empty(), "grid {index}: the occupied cell {cell} has no objects");
                ensure!(grid.place_of(cell) as usize == place, "grid {index}: cell {cell} does not know its place in the list");
                for (at, &id) in objects.iter().enumerate() {
                    let object = self.objects.get(id as usize);
                    let knows = object.is_some_and(|o| o.grid as usize == index && o.cell == cell && o.place as usize == at);
                    ensure!(knows, "grid {index}: cell {cell} holds {id}, which is elsewhere");
                }
                count += objects.len();
            }
            ensure!(count == grid.count, "grid {index}: {count} objects, {} counted", grid.count);
            seen += count;
        }
        ensure!(seen == self.live, "{seen} objects in cells and beside them, {} live", self.live);
        for id in 0..frame.slots() as u32 {
            let object = self.objects[id as usize];
            ensure!((object.grid != ABSENT) == frame.live.contains(id), "slot {id} is live on one side only");
            ensure!(object.grid != UNBOUNDED || self.unbounded.contains(id), "slot {id} is not in the global container");
        }
        if strength == Strength::Geometry { self.check_boxes(frame) } else { Ok(()) }
    }

    fn check_boxes(&self, frame: &Frame<'_, D, T>) -> Result<(), Violation> {
        for id in frame.ids() {
            let (value, object) = (&frame.boxes[id as usize], self.objects[id as usize]);
            let key = self.cell_sizes.as_ref().and_then(|cell_sizes| cell_sizes.keys(value)).filter(|_| is_bounded(value));
            let Some(grid) = self.grids.get(object.grid as usize) else {
                let fits = key
                    .is_some_and(|(_, cube)| self.cell_sizes.as_ref().is_some_and(|l| l.size::<T>(cube[0].into()).is_finite()));
                ensure!(!fits, "object {id} is in the global container without need");
                continue;
            };
            ensure!(grid.holds(value), "object {id} is larger than the cells of its grid");
            ensure!(grid.hash(value) == object.cell, "object {id} has left its cell");
            // Sizes at the border between two grids may count for either.
            let near =
                key.is_some_and(|(_, cube)| grid.exponent >= cube[0] - 1 && (grid.suits(value) || grid.exponent >= cube[0]));
            ensure!(near, "object {id} is in a grid of another size");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Options;
    use super::*;
    use crate::{Aabb, BroadPhase, Context, PairStore};

    /// Cubes of three sizes on a lattice, each of which touches others of its own size and of others'.
    fn boxes() -> Vec<Aabb<3, f32>> {
        let at = |i: usize| [(i % 5) as f32, (i / 5 % 5) as f32, (i / 25) as f32];
        (0..125).map(|i| Aabb::from_center(at(i), [[0.55, 1.3, 2.9][i % 3]; 3])).collect()
    }

    fn grid(boxes: &[Aabb<3, f32>]) -> PaperHashGrid<3, f32> {
        let mut grid = PaperHashGrid::new(Options { threshold: 0, ..Options::default() });
        grid.update(&Frame::new(boxes), &mut Context::new()).unwrap();
        BroadPhase::validate(&grid, &Frame::new(boxes), Strength::Geometry).unwrap();
        grid
    }

    #[test]
    fn the_validator_detects_lost_objects_wrong_places_and_grids() {
        let boxes = boxes();
        let whole = grid(&boxes);
        type Damage = (&'static str, fn(&mut PaperHashGrid<3, f32>));
        let damage: [Damage; 5] = [
            ("a lost object", |g| g.live -= 1),
            ("another cell", |g| g.objects[7].cell ^= 1),
            ("another place", |g| g.objects[7].place += 1),
            ("another grid", |g| g.objects[7].grid = g.objects[8].grid),
            ("an unsorted list", |g| g.list.reverse()),
        ];
        for (name, change) in damage {
            let mut damaged = whole.clone();
            change(&mut damaged);
            assert!(damaged.validate(&Frame::new(&boxes), Strength::Structure).is_err(), "{name} goes unnoticed");
        }
        let mut moved = boxes.clone();
        moved[3] = moved[3].translate([40.0; 3]);
        assert!(whole.validate(&Frame::new(&moved), Strength::Geometry).is_err());
        moved[3] = Aabb::from_center([3.0; 3], [50.0; 3]);
        assert!(whole.validate(&Frame::new(&moved), Strength::Geometry).is_err());
    }

    /// Sizes in three grids, so that the pairs depend on the search in cells, in neighbors and in the grids above.
    #[test]
    fn cubes_of_three_sizes_have_pairs_within_cells_between_neighbors_and_between_grids() {
        let (boxes, mut store) = (boxes(), PairStore::default());
        let mut grid = grid(&boxes);
        grid.pairs(&Frame::new(&boxes), &mut Context::new(), &mut store).unwrap();
        let mut expected = crate::pairs(&boxes).unwrap();
        expected.sort_unstable();
        assert_eq!(store.sorted(), expected);
        let of = |id: u32| grid.objects[id as usize];
        let kinds = expected.iter().map(|pair| (of(pair.a), of(pair.b))).fold([0; 3], |mut kinds, (a, b)| {
            kinds[if a.grid != b.grid { 2 } else { usize::from(a.cell != b.cell) }] += 1;
            kinds
        });
        assert!(kinds.iter().all(|&count| count > 10), "{kinds:?}");
    }
}
