//! Long and flat cells for long and flat objects.
//!
//! The paper's cells are cubes, as large as the longest side of an object, so many long objects share a cell: up to five times
//! slower, the paper says. Here a level may have its own exponent on each axis. Such levels are not made for every odd box,
//! since each one is one more level to search: the shapes of all objects that a cube does not suit are counted, and only
//! shapes that are common get a level. `policy.rs` says when shapes are counted, and which are common.

use super::level::Key;
use super::{HashGrid, LEVEL, MISFIT, policy};
use crate::geometry::Real;
use crate::objects::Frame;

/// Buffers for counting shapes and levels. They can be dropped without changing a result.
#[derive(Debug, Default)]
pub(super) struct Buffers<const D: usize> {
    /// The objects that a cube does not suit.
    misfits: Vec<u32>,
    /// The levels that objects have by their own shapes, sorted, and their numbers of objects.
    pub(super) keys: Vec<(Key<D>, usize)>,
    /// The exponent of each object, of each level with its number of objects, and of each possible floor.
    pub(super) sizes: Vec<i16>,
    pub(super) levels: Vec<(i16, usize)>,
    pub(super) present: Vec<i16>,
    /// The numbers of objects of the levels that are left above a floor, and those of the cells of the floor.
    pub(super) populations: Vec<usize>,
    pub(super) counts: Vec<u32>,
}

impl<const D: usize> Buffers<D> {
    /// Counts an object of a level.
    pub(super) fn count(&mut self, key: Key<D>) {
        match self.keys.binary_search_by(|entry| entry.0.cmp(&key)) {
            Ok(at) => self.keys[at].1 += 1,
            Err(at) => self.keys.insert(at, (key, 1)),
        }
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        (self.misfits.capacity() + self.counts.capacity()) * 4
            + self.keys.capacity() * size_of::<(Key<D>, usize)>()
            + self.levels.capacity() * size_of::<(i16, usize)>()
            + (self.sizes.capacity() + self.present.capacity()) * 2
            + self.populations.capacity() * 8
    }
}

impl<const D: usize, T: Real> HashGrid<D, T> {
    /// Should shapes be counted?
    #[inline(always)]
    pub(super) fn is_shape_count_due(&self) -> bool {
        let inserted = self.counters.newly_placed() - self.counters.shapes_counted_at;
        self.options.shapes != 0 && policy::is_shape_count_due(self.misfits, self.live, inserted)
    }

    /// Counts shapes, and moves objects into the levels that come of it.
    #[cold]
    pub(super) fn add_common_shapes(&mut self, frame: &Frame<'_, D, T>) {
        self.counters.shapes_counted_at = self.counters.newly_placed();
        self.counters.censuses += 1;
        let mut buffers = std::mem::take(&mut self.scratch.counting);
        if self.count_shapes(frame, &mut buffers) {
            for &(key, _) in &buffers.keys {
                self.add_level(key);
            }
            let moves = self.counters.moves;
            for &id in &buffers.misfits {
                self.move_object(frame, id);
            }
            self.counters.moves = moves; // only their level changed, which does not count as motion
            self.counters.shapes_counted_at = self.counters.newly_placed();
            self.dirty = true;
        }
        self.scratch.counting = buffers;
    }

    /// Lists the objects that a cube does not suit, and as `keys` those of their shapes that are common. Returns whether there are any.
    fn count_shapes(&self, frame: &Frame<'_, D, T>, buffers: &mut Buffers<D>) -> bool {
        let Some(cell_sizes) = &self.cell_sizes else { return false };
        buffers.misfits.clear();
        buffers.keys.clear();
        for id in (0..self.placements.len() as u32).filter(|&id| self.is_misfit(id) && frame.live.contains(id)) {
            buffers.misfits.push(id);
            cell_sizes.keys(&frame.boxes[id as usize]).into_iter().for_each(|(own, _)| buffers.count(own));
        }
        let common = &mut buffers.keys;
        common.retain(|&(_, count)| policy::is_common(count, self.live));
        common.sort_unstable_by_key(|&(key, count)| (std::cmp::Reverse(count), key));
        let shapes = self.levels.iter().filter(|level| !level.is_cubic()).count();
        common.truncate(self.options.shapes.saturating_sub(shapes));
        !common.is_empty()
    }

    fn is_misfit(&self, id: u32) -> bool {
        let entry = self.placements[id as usize].level;
        entry & MISFIT != 0 && ((entry & LEVEL) as usize) < self.levels.len()
    }
}
