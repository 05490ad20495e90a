//! The invariants: every object in one cell, every cell in its place, every box in its level.

use super::cells::NONE;
use super::level::Level;
use super::{ABSENT, HashGrid, LEVEL, MISFIT, UNBOUNDED};
use crate::algorithms::{Strength, Violation, ensure};
use crate::geometry::Real;
use crate::objects::Frame;
use crate::objects::unbounded::is_bounded;

impl<const D: usize, T: Real> HashGrid<D, T> {
    pub(super) fn validate(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        self.settled(frame).as_ref().unwrap_or(self).validate_settled(frame, strength)
    }

    fn validate_settled(&self, frame: &Frame<'_, D, T>, strength: Strength) -> Result<(), Violation> {
        ensure!(self.live == frame.count(), "{} objects for {} in the frame", self.live, frame.count());
        if !self.active {
            ensure!(self.live <= self.options.threshold, "{} objects without a grid", self.live);
            ensure!(self.levels.is_empty() && self.placements.is_empty(), "grids below the threshold");
            return Ok(());
        }
        let slots = frame.slots();
        ensure!(self.placements.len() == slots, "{} entries for {slots} slots", self.placements.len());
        ensure!(self.keys.len() == self.levels.len(), "{} keys for {} levels", self.keys.len(), self.levels.len());
        ensure!(self.keys.is_sorted_by(|a, b| a.0 < b.0), "the keys are not ascending");
        for (key, index) in &self.keys {
            ensure!(self.levels.get(*index as usize).is_some_and(|level| level.key == *key), "level {index} has another key");
        }
        let mut seen = 0;
        for (index, level) in self.levels.iter().enumerate() {
            seen += self.check_level(index, level, slots)?;
        }
        let misfits = self.placements.iter().filter(|s| s.level < UNBOUNDED && s.level & MISFIT != 0).count();
        ensure!(misfits == self.misfits, "{misfits} unsuited objects, {} counted", self.misfits);
        let unbounded = self.unbounded.ids();
        ensure!(
            self.placements.iter().filter(|s| s.level == UNBOUNDED).count() == unbounded.len(),
            "the unbounded list is another"
        );
        ensure!(seen + unbounded.len() == self.live, "{seen} objects in cells, {} live", self.live);
        for id in 0..slots as u32 {
            let entry = self.placements[id as usize].level;
            ensure!((entry != ABSENT) == frame.live.contains(id), "slot {id} is live on one side only");
            ensure!(entry != UNBOUNDED || self.unbounded.contains(id), "slot {id} is not on the unbounded list");
        }
        if strength == Strength::Geometry { self.check_boxes(frame) } else { Ok(()) }
    }

    /// Bits, counts and back references of one level; returns its objects.
    fn check_level(&self, index: usize, level: &Level<D, T>, slots: usize) -> Result<usize, Violation> {
        let cells = &level.cells;
        let (mut fault, mut filled, mut objects, mut ids_in_containers) = (None, 0, 0, 0usize);
        let mut note = |text: String| fault = fault.take().or(Some(Violation(text)));
        cells.for_each_cell(|cell| {
            filled += 1;
            let count = cells.count(cell);
            let crowded = cells.is_crowded(cell);
            if crowded != (count > 1) {
                note(format!("level {index}: cell {cell} has {count} objects and the wrong kind of head"));
            }
            if !cells.has_one_total(cell) {
                note(format!("level {index}: a container of cell {cell} has the wrong total"));
            }
            let mut found = 0;
            cells.for_each(cell, |id| {
                found += 1;
                let slot = id as usize;
                let placed = |place: u32| if crowded { cells.at(place) == Some(id) } else { place == NONE };
                if slot >= slots || (self.placements[slot].level & LEVEL) as usize != index || self.placements[slot].cell != cell
                {
                    note(format!("level {index}: cell {cell} holds {id}, which is elsewhere"));
                } else if !placed(self.placements[slot].place) {
                    note(format!("level {index}: object {id} has the wrong place in cell {cell}"));
                }
            });
            if found != count {
                note(format!("level {index}: cell {cell} counts {count} objects and holds {found}"));
            }
            objects += found as usize;
            ids_in_containers += if crowded { (found as usize).div_ceil(self.options.capacity) } else { 0 };
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
        let (all, free) = cells.containers();
        ensure!(ids_in_containers + free == all, "level {index}: {all} containers, {ids_in_containers} used, {free} free");
        ensure!(filled == cells.filled, "level {index}: {filled} occupied cells, {} counted", cells.filled);
        ensure!(objects == level.count, "level {index}: {objects} objects, {} counted", level.count);
        for (word, bits) in cells.words.iter().enumerate() {
            let bit = cells.summary[word / 64] >> (word % 64) & 1 == 1;
            ensure!(bit == (bits.occupied != 0), "level {index}: the summary of word {word} is wrong");
        }
        ensure!(cells.len() == level.layout.cells(), "level {index}: cells and layout differ");
        Ok(objects)
    }

    fn check_boxes(&self, frame: &Frame<'_, D, T>) -> Result<(), Violation> {
        for id in frame.ids() {
            let value = &frame.boxes[id as usize];
            let entry = self.placements[id as usize].level;
            let Some(level) = self.levels.get((entry & LEVEL) as usize) else {
                let suits = self.cell_sizes.as_ref().is_some_and(|cell_sizes| cell_sizes.keys(value).is_some());
                ensure!(!is_bounded(value) || !suits, "object {id} is on the unbounded list without need");
                continue;
            };
            let is_finite = (0..D).all(|k| value.min[k].is_finite() && value.max[k].is_finite());
            ensure!(is_finite, "object {id} has infinite sides and is in a cell");
            ensure!(level.holds(value), "object {id} is larger than the cells of its level");
            let (cell, suits) = level.locate(value);
            ensure!(cell == self.placements[id as usize].cell, "object {id} has left its cell");
            ensure!(level.covers(value), "object {id} is outside of the coordinates in use");
            if suits {
                continue;
            }
            let Some((own, cube)) = self.cell_sizes.as_ref().and_then(|cell_sizes| cell_sizes.keys(value)) else {
                return Err(Violation(format!("object {id} has no level and is in a cell")));
            };
            // Sizes at the border between two levels may count for either.
            let near = |key: &[i16; D], slack: i16| (0..D).all(|k| level.key[k] >= key[k] - 1 && level.key[k] <= key[k] + slack);
            ensure!(
                near(&own, 2) || (level.is_cubic() && near(&cube, i16::MAX / 2)),
                "object {id} is in a level of another shape"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Options, cells::Cells};
    use super::*;
    use crate::{Aabb, Context};

    fn grid(boxes: &[Aabb<3, f32>]) -> HashGrid<3, f32> {
        let mut grid = HashGrid::new(Options { threshold: 0, ..Options::default() });
        grid.update(&Frame::new(boxes), &mut Context::new()).unwrap();
        grid.validate(&Frame::new(boxes), Strength::Geometry).unwrap();
        grid
    }

    #[test]
    fn the_validator_detects_lost_objects_wrong_places_bits_and_levels() {
        let boxes: Vec<Aabb<3, f32>> =
            (0..40).map(|i| Aabb::from_center([(i / 4) as f32; 3], [0.4 + (i % 4) as f32; 3])).collect();
        let frame = Frame::new(&boxes);
        let whole = grid(&boxes);
        type Damage = (&'static str, fn(&mut HashGrid<3, f32>));
        let damage: [Damage; 8] = [
            ("a lost object", |g| g.live -= 1),
            ("another cell", |g| g.placements[7].cell ^= 1),
            ("another place", |g| {
                let [first, last] = [g.placements[0].place, g.placements[39].place];
                (g.placements[0].place, g.placements[39].place) = (last, first);
            }),
            ("another level", |g| g.placements[5].level = g.placements[6].level),
            ("a wrong note", |g| g.placements[5].level |= MISFIT),
            ("a lost bit", |g| {
                let word = g.levels[0].cells.words.iter_mut().find(|word| word.occupied != 0).unwrap();
                word.occupied &= word.occupied - 1;
            }),
            ("a lost summary", |g| g.levels[1].cells.summary[0] = 0),
            ("an empty level", |g| g.levels[0].cells = Cells::new(g.levels[0].layout.cells(), 6)),
        ];
        for (name, change) in damage {
            let mut damaged = whole.clone();
            change(&mut damaged);
            assert!(damaged.validate(&frame, Strength::Structure).is_err(), "{name} is not detected");
        }
    }

    #[test]
    fn the_validator_detects_boxes_that_moved_or_grew_without_an_update() {
        let mut boxes: Vec<Aabb<3, f32>> = (0..30).map(|i| Aabb::from_center([i as f32; 3], [0.5; 3])).collect();
        let whole = grid(&boxes);
        boxes[3] = boxes[3].translate([5.0; 3]);
        assert!(whole.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
        assert!(whole.validate(&Frame::new(&boxes), Strength::Structure).is_ok());
        boxes[3] = Aabb::from_center([3.0; 3], [50.0; 3]);
        assert!(whole.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
        boxes[3] = Aabb::everything();
        assert!(whole.validate(&Frame::new(&boxes), Strength::Geometry).is_err());
    }
}
