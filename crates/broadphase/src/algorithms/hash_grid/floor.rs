//! One grid for many sparse levels.
//!
//! A level per size is what the paper does, and each level is one more to search: its second stated weakness. A search costs as much as
//! hundreds of tests, since tests are made many at once. So all objects up to some size may stand in the grid of that size, the *floor*, and
//! the levels below it are empty. The floor is the one that costs least: `7 * crowd` tests per object in it, the crowd being the number of
//! objects that an object meets in its cell, and `merge` tests per object of the larger of any two levels that are left. In the scene
//! `sizes` (edges of 1 to 64) one grid takes a fifth of the time of seven.
//!
//! The census that finds it counts objects by cell, so it sees clusters. It is taken when there are half as many objects again as at the last
//! one, or four times as many as there are have been inserted or moved, so that its cost is spread over them; and when a frame needs twice
//! the tests of the first one after it.

use super::census::Buffers;
use super::ladder::Ladder;
use super::level::{self, Key};
use super::{FEW, HashGrid};
use crate::geometry::Real;
use crate::objects::Frame;
use crate::objects::unbounded::is_bounded;

/// Insertions and moves per object from one census to the next.
const OPERATIONS: u64 = 4;
/// How much more than the best floor an old one may cost, before it is given up.
const SLACK: f64 = 1.25;
/// Tests per object that are no reason for a census.
const TESTS: u64 = 16;
/// Tests per object and member of its crowd: half of the 27 cells around, and the own one.
const NEIGHBOURS: f64 = 7.0;

/// The exponent of the longest side of a level's cells.
pub(super) fn longest<const D: usize>(key: &Key<D>) -> i16 {
    key.iter().copied().fold(i16::MIN, i16::max)
}

impl<const D: usize, T: Real> HashGrid<D, T> {
    /// Is it time to look for the floor? `live` is the number of objects: the frame would have to count them, which costs a small
    /// change more than all the rest.
    #[inline(always)]
    pub(super) fn is_floor_due(&self, live: usize) -> bool {
        let operations = self.counters.operations();
        let count = live.max(1) as u64;
        let crowded = self.counters.crowded;
        let due = |(at, then): (u64, u64)| crowded || operations - at >= OPERATIONS * count || 2 * count >= 3 * then;
        self.counters.floor_at.is_none_or(due) && self.options.merge != 0.0
    }

    /// Looks for the floor, and moves objects if it is another one. All boxes must be valid; `live` is their number.
    pub(super) fn find_floor(&mut self, frame: &Frame<'_, D, T>, live: usize) {
        self.counters.floor_at = Some((self.counters.operations(), live.max(1) as u64));
        (self.counters.usual_tests, self.counters.crowded) = (None, false);
        let busy = self.levels.iter().filter(|level| level.count > FEW).count();
        if self.floor.is_none() && busy < 2 && !self.levels.is_empty() {
            return; // nothing to merge
        }
        if self.ladder.is_none() {
            let first = frame.ids().map(|id| &frame.boxes[id as usize]).find(|value| is_bounded(value));
            self.ladder = first.and_then(|value| Ladder::new(value, self.options.factor));
        }
        let mut buffers = std::mem::take(&mut self.scratch.census);
        let floor = self.best_floor(frame, &mut buffers);
        // Objects of one size need no other census for now: their buffers would only take memory.
        self.scratch.census = if buffers.levels.len() > 1 { buffers } else { Buffers::default() };
        if floor != self.floor {
            self.floor = floor;
            self.merge_levels(frame);
        }
    }

    /// Takes note of the tests of a frame whose pairs were all found. (Those of a stopped frame depend on where it stopped.)
    pub(super) fn note_tests(&mut self, tests: u64) {
        let usual = *self.counters.usual_tests.get_or_insert(tests);
        self.counters.crowded |= tests > 2 * usual + TESTS * self.live as u64;
    }

    fn best_floor(&self, frame: &Frame<'_, D, T>, buffers: &mut Buffers<D>) -> Option<i16> {
        let ladder = self.ladder.as_ref()?;
        buffers.sizes.clear();
        buffers.keys.clear();
        for id in frame.ids() {
            let value = &frame.boxes[id as usize];
            let key = ladder.keys(value).map(|keys| keys.0).filter(|_| is_bounded(value));
            buffers.sizes.push(key.map_or(i16::MAX, |own| longest(&own)));
            key.into_iter().for_each(|own| buffers.count(own));
        }
        let Buffers { sizes, keys, levels, present, populations, counts, .. } = buffers;
        // Levels with few objects are not searched: they are no reason to merge.
        levels.clear();
        levels.extend(keys.iter().filter(|(_, count)| *count > FEW).map(|(key, count)| (longest(key), *count)));
        present.clear();
        present.extend(levels.iter().map(|level| level.0));
        present.sort_unstable();
        let second = present.get(1).copied()?;
        present.dedup();
        // A floor that makes one level of one is none.
        present.retain(|&exponent| exponent >= second);
        let (mut best, mut least) = (None, self.searches(levels, None, populations));
        for floor in present.iter().copied().map(Some) {
            let searches = self.searches(levels, floor, populations);
            if searches >= least {
                continue;
            }
            let cost = searches + self.tests_in(ladder, frame, sizes, floor, counts);
            let slack = if floor == self.floor { 1.0 / SLACK } else { 1.0 };
            if cost * slack < least {
                (best, least) = (floor, cost * slack);
            }
        }
        best
    }

    /// What it costs, in tests, that levels search each other: those above the floor, and the one at the floor.
    fn searches(&self, levels: &[(i16, usize)], floor: Option<i16>, populations: &mut Vec<usize>) -> f64 {
        let below: usize = levels.iter().filter(|level| Some(level.0) <= floor).map(|level| level.1).sum();
        let above = levels.iter().filter(|level| Some(level.0) > floor).map(|level| level.1);
        populations.clear();
        populations.extend(above.chain((below > 0).then_some(below)));
        populations.sort_unstable();
        // In ascending order, each is the larger one of as many couples as there are before it.
        self.options.merge * populations.iter().enumerate().map(|(before, &count)| before as f64 * count as f64).sum::<f64>()
    }

    /// The tests in the floor's grid, if all objects up to its size stand there; `sizes` are the exponents of all objects, in order.
    fn tests_in(
        &self,
        ladder: &Ladder,
        frame: &Frame<'_, D, T>,
        sizes: &[i16],
        floor: Option<i16>,
        counts: &mut Vec<u32>,
    ) -> f64 {
        let Some(exponent) = floor else { return 0.0 };
        let inverse = T::ONE / ladder.size::<T>(exponent.into());
        let bits = (sizes.len() * 2).next_power_of_two().ilog2().max(1);
        counts.clear();
        counts.resize(1 << bits, 0);
        let mut meetings = 0u64;
        for (id, _) in frame.ids().zip(sizes).filter(|(_, size)| **size <= exponent) {
            let value = &frame.boxes[id as usize];
            let hash = (0..D).fold(0u64, |hash, k| {
                (hash ^ level::floor(value.min[k] * inverse) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
            });
            // Cells that share a place make the crowd look larger than it is: by a quarter of an object, at most.
            let count = &mut counts[(hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize];
            meetings += 2 * u64::from(*count) + 1;
            *count += 1;
        }
        NEIGHBOURS * meetings as f64
    }

    /// Moves all objects to where they belong with the present floor.
    fn merge_levels(&mut self, frame: &Frame<'_, D, T>) {
        self.levels.iter_mut().for_each(|level| level.set_floor(self.floor, self.options.factor));
        let counters = (self.counters.moves, self.counters.insertions, self.counters.removals);
        for id in 0..self.seats.len() as u32 {
            if frame.live.contains(id) && self.seats[id as usize].level != super::ABSENT {
                self.move_object(frame, id);
            }
        }
        // They did not move, their level did.
        (self.counters.moves, self.counters.insertions, self.counters.removals) = counters;
        let options = &self.options;
        for level in self.levels.iter_mut().filter(|level| level.count == 0) {
            level.shrink(std::array::from_fn(|k| options.axis_bits(k)), options.density, options.capacity);
        }
        self.dirty = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;
    use crate::{Aabb, Changes, Context};

    /// A date that is due all the time makes every single change wait for nothing: the queue is emptied before the census.
    #[test]
    fn a_census_that_finds_nothing_to_merge_sets_the_next_date() {
        let boxes: Vec<_> =
            (0..400).map(|i| Aabb::from_center([(i % 20) as f32 * 3.0, (i / 20) as f32 * 3.0], [0.5; 2])).collect();
        let mut grid = HashGrid::new(Options { threshold: 0, patience: 0, ..Options::default() });
        grid.update(&Frame::new(&boxes), &mut Context::new()).unwrap();
        for id in 0..5 {
            let changes = Changes::Listed { moved: &[id], inserted: &[], removed: &[] };
            grid.update(&Frame::new(&boxes).with_changes(changes), &mut Context::new()).unwrap();
            assert!(grid.counters.floor_at.is_some() && !grid.is_floor_due(grid.live));
        }
        assert!(grid.waiting.contains(4), "the change waits for its memory");
    }
}
