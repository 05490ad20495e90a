//! One grid for several sparse levels.
//!
//! The paper makes a level for each size, and each level is one more to search: its second stated weakness. A search costs as much as
//! hundreds of tests, since many tests are made at once. So all objects up to some size may share the grid of that size, and the levels below
//! are empty. The size that costs least is chosen (`policy.rs` has the costs): tests in the shared grid, and searches between the
//! levels that are left. In the scene `sizes` (edges of 1 to 64) one grid takes a fifth of the time of seven.
//!
//! The choice counts objects by cell, so it takes clusters into account.

use super::cell_sizes::CellSizes;
use super::level::{self, Key};
use super::policy::{self, Choice, FEW};
use super::shape_levels::Buffers;
use super::{Counters, HashGrid};
use crate::geometry::Real;
use crate::objects::Frame;
use crate::objects::unbounded::is_bounded;

/// The exponent of the longest side of a level's cells.
pub(super) fn longest<const D: usize>(key: &Key<D>) -> i16 {
    key.iter().copied().fold(i16::MIN, i16::max)
}

impl<const D: usize, T: Real> HashGrid<D, T> {
    /// Should it be chosen again which levels share a grid? `live` is the number of objects: counting them in the frame would cost a small
    /// change more than all the rest.
    #[inline(always)]
    pub(super) fn is_merging_due(&self, live: usize) -> bool {
        let Counters { merging_chosen_at, crowded, .. } = self.counters;
        self.options.merge != 0.0 && policy::is_choice_due(merging_chosen_at, self.counters.operations(), live, crowded)
    }

    /// Chooses which levels share a grid, and moves objects if the choice is another one. All boxes must be valid; `live` is their number.
    pub(super) fn choose_merging(&mut self, frame: &Frame<'_, D, T>, live: usize) {
        self.counters.merging_chosen_at = Some(Choice { operations: self.counters.operations(), objects: live.max(1) as u64 });
        (self.counters.usual_tests, self.counters.crowded) = (None, false);
        let busy = self.levels.iter().filter(|level| level.count > FEW).count();
        if self.merged_up_to.is_none() && busy < 2 && !self.levels.is_empty() {
            return; // nothing to merge
        }
        if self.cell_sizes.is_none() {
            let first = frame.ids().map(|id| &frame.boxes[id as usize]).find(|value| is_bounded(value));
            self.cell_sizes = first.and_then(|value| CellSizes::new(value, &self.options));
        }
        let mut buffers = std::mem::take(&mut self.scratch.counting);
        let up_to = self.best_merging(frame, &mut buffers);
        // Objects of one size need no other choice for now: the buffers would only take memory.
        self.scratch.counting = if buffers.levels.len() > 1 { buffers } else { Buffers::default() };
        if up_to != self.merged_up_to {
            self.merged_up_to = up_to;
            self.merge_levels(frame);
        }
    }

    /// Records the tests of a frame whose pairs were all found. (Those of a stopped frame depend on where it stopped.)
    pub(super) fn note_tests(&mut self, tests: u64) {
        let usual = *self.counters.usual_tests.get_or_insert(tests);
        self.counters.crowded |= policy::is_crowded(tests, usual, self.live);
    }

    fn best_merging(&self, frame: &Frame<'_, D, T>, buffers: &mut Buffers<D>) -> Option<i16> {
        let cell_sizes = self.cell_sizes.as_ref()?;
        buffers.sizes.clear();
        buffers.keys.clear();
        for id in frame.ids() {
            let value = &frame.boxes[id as usize];
            let key = cell_sizes.keys(value).map(|keys| keys.0).filter(|_| is_bounded(value));
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
        // Merging one level alone changes nothing.
        present.retain(|&exponent| exponent >= second);
        let (mut best, mut least) = (None, self.searches(levels, None, populations));
        for up_to in present.iter().copied().map(Some) {
            let searches = self.searches(levels, up_to, populations);
            if searches >= least {
                continue;
            }
            let cost = searches + self.tests_in(cell_sizes, frame, sizes, up_to, counts);
            let cost = policy::compared_cost(cost, up_to == self.merged_up_to);
            if cost < least {
                (best, least) = (up_to, cost);
            }
        }
        best
    }

    /// The cost of searches between levels, in tests, if those up to a size share one grid.
    fn searches(&self, levels: &[(i16, usize)], up_to: Option<i16>, populations: &mut Vec<usize>) -> f64 {
        let below: usize = levels.iter().filter(|level| Some(level.0) <= up_to).map(|level| level.1).sum();
        let above = levels.iter().filter(|level| Some(level.0) > up_to).map(|level| level.1);
        populations.clear();
        populations.extend(above.chain((below > 0).then_some(below)));
        populations.sort_unstable();
        policy::search_cost(self.options.merge, populations)
    }

    /// The cost of tests in the shared grid, if all objects up to a size are in it; `sizes` are the exponents of all objects, in order.
    fn tests_in(
        &self,
        cell_sizes: &CellSizes,
        frame: &Frame<'_, D, T>,
        sizes: &[i16],
        up_to: Option<i16>,
        counts: &mut Vec<u32>,
    ) -> f64 {
        let Some(exponent) = up_to else { return 0.0 };
        let inverse = T::ONE / cell_sizes.size::<T>(exponent.into());
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
        policy::test_cost(meetings)
    }

    /// Moves all objects to where they belong by the current choice.
    fn merge_levels(&mut self, frame: &Frame<'_, D, T>) {
        self.levels.iter_mut().for_each(|level| level.set_merged(self.merged_up_to, self.options.factor));
        let counters = (self.counters.moves, self.counters.insertions, self.counters.removals);
        for id in 0..self.placements.len() as u32 {
            if frame.live.contains(id) && self.placements[id as usize].level != super::ABSENT {
                self.move_object(frame, id);
            }
        }
        // Only their level changed, which does not count as motion.
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

    /// If a choice were due all the time, single changes would never wait in the queue, which is emptied before a choice.
    #[test]
    fn a_choice_that_finds_nothing_to_merge_counts_as_made() {
        let boxes: Vec<_> =
            (0..400).map(|i| Aabb::from_center([(i % 20) as f32 * 3.0, (i / 20) as f32 * 3.0], [0.5; 2])).collect();
        let mut grid = HashGrid::new(Options { threshold: 0, patience: 0, ..Options::default() });
        grid.update(&Frame::new(&boxes), &mut Context::new()).unwrap();
        for id in 0..5 {
            let changes = Changes::Listed { moved: &[id], inserted: &[], removed: &[] };
            grid.update(&Frame::new(&boxes).with_changes(changes), &mut Context::new()).unwrap();
            assert!(grid.counters.merging_chosen_at.is_some() && !grid.is_merging_due(grid.live));
        }
        assert!(grid.queue.contains(4), "the change waits for its memory");
    }
}
