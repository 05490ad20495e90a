//! Long and flat cells for long and flat objects.
//!
//! The paper's cells are cubes, as large as the longest side of an object, so many long objects share a cell: up to five times
//! slower, the paper says. Here a level may have its own exponent on each axis. Such levels are not made for every odd box,
//! since each one is one more level to search: a census counts the shapes of all objects that a cube does not suit, and only
//! shapes that are common get a level. It is taken when a sixteenth of the objects are unsuited and as many objects as there
//! are have been inserted or moved since the last one, so its cost is spread over them.

use super::level::Key;
use super::{HashGrid, LEVEL, MISFIT};
use crate::geometry::Real;
use crate::objects::Frame;

/// Unsuited objects, 1 in so many, that make a census worth while; a shape with half that share gets a level.
const SHARE: usize = 16;
/// Fewer objects than this do not get a level of their own.
const FEWEST: usize = 64;

impl<const D: usize, T: Real> HashGrid<D, T> {
    /// Is it time to count shapes?
    #[inline(always)]
    pub(super) fn is_census_due(&self) -> bool {
        self.misfits >= FEWEST.max(self.live / SHARE)
            && self.options.shapes != 0
            && self.counters.insertions - self.counters.census_at >= self.live as u64
    }

    /// Counts shapes, and moves objects into the levels that come of it.
    #[cold]
    pub(super) fn take_census(&mut self, frame: &Frame<'_, D, T>) {
        self.counters.census_at = self.counters.insertions;
        self.counters.censuses += 1;
        let Some(ladder) = self.ladder.clone() else { return };
        let own = |id: u32| ladder.keys(&frame.boxes[id as usize]).map(|keys| keys.0);
        let misfits: Vec<u32> =
            (0..self.seats.len() as u32).filter(|&id| self.is_misfit(id) && frame.live.contains(id)).collect();
        let mut shapes: Vec<Key<D>> = misfits.iter().filter_map(|&id| own(id)).collect();
        shapes.sort_unstable();
        let mut counts: Vec<(Key<D>, usize)> = shapes.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect();
        counts.retain(|&(_, count)| count >= FEWEST.max(self.live / (2 * SHARE)));
        counts.sort_by_key(|&(key, count)| (std::cmp::Reverse(count), key));
        let shapes = self.levels.iter().filter(|level| !level.is_cubic()).count();
        counts.truncate(self.options.shapes.saturating_sub(shapes));
        for &(key, _) in &counts {
            self.add_level(key);
        }
        if counts.is_empty() {
            return;
        }
        let moves = self.counters.moves;
        for id in misfits {
            self.move_object(frame, id);
        }
        self.counters.moves = moves; // they did not move, their level did
        self.counters.census_at = self.counters.insertions;
        self.dirty = true;
    }

    fn is_misfit(&self, id: u32) -> bool {
        let entry = self.seats[id as usize].level;
        entry & MISFIT != 0 && ((entry & LEVEL) as usize) < self.levels.len()
    }
}
