//! The pairs of one object: an index over all pairs of the last update, built on the first request.

use std::sync::{Mutex, OnceLock};

use super::World;
use crate::error::Error;
use crate::geometry::Real;
use crate::objects::Handle;

/// For each index, the indices that it pairs with, ascending.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbors {
    /// Where the list of each index starts, and the end of the last one.
    starts: Vec<usize>,
    others: Vec<u32>,
}

impl Neighbors {
    /// The neighbors of an index.
    pub(super) fn of(&self, index: u32) -> &[u32] {
        let at = index as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(&from), Some(&to)) => &self.others[from..to],
            _ => &[],
        }
    }

    /// Counting sort of both directions of every pair.
    fn build<const D: usize, T: Real>(&mut self, world: &World<D, T>) {
        let Self { starts, others } = self;
        starts.clear();
        starts.resize(world.table.indices() + 1, 0);
        let mut total = 0;
        for (a, b) in world.pairs() {
            starts[a.index as usize] += 1;
            starts[b.index as usize] += 1;
            total += 2;
        }
        let mut end = 0;
        for start in starts.iter_mut() {
            end += *start;
            *start = end; // the end of each list; filling backwards makes it the start
        }
        others.clear();
        others.resize(total, 0);
        for (a, b) in world.pairs() {
            for (from, to) in [(a.index, b.index), (b.index, a.index)] {
                let at = &mut starts[from as usize];
                *at -= 1;
                others[*at] = to;
            }
        }
        for window in starts.windows(2) {
            others[window[0]..window[1]].sort_unstable();
        }
    }
}

/// Neighbors that are built on the first request, in buffers that are kept.
#[derive(Debug, Default)]
pub(super) struct Lazy {
    built: OnceLock<Neighbors>,
    spare: Mutex<Neighbors>,
}

impl Clone for Lazy {
    /// Rebuilt on the next request.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Lazy {
    /// Drops the index, since the pairs have changed; the next one is built in its buffers.
    pub(super) fn reset(&mut self) {
        if let Some(old) = self.built.take() {
            *self.spare.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()) = old;
        }
    }

    /// The buffers of the last index.
    fn spare(&self) -> Neighbors {
        std::mem::take(&mut *self.spare.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    pub(super) fn bytes(&self) -> usize {
        let bytes = |n: &Neighbors| n.starts.capacity() * size_of::<usize>() + n.others.capacity() * 4;
        let spare = self.spare.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        bytes(&spare) + self.built.get().map_or(0, bytes)
    }
}

impl<const D: usize, T: Real> World<D, T> {
    /// The index over all pairs of the last update, which the first call builds.
    pub(super) fn neighbors(&self) -> &Neighbors {
        self.neighbors.built.get_or_init(|| {
            let mut neighbors = self.neighbors.spare();
            neighbors.build(self);
            neighbors
        })
    }

    /// The objects that `handle` pairs with, as of the last update, by index.
    ///
    /// Cost: the first call after an update makes an index in one pass over all objects and pairs; then O(pairs of the object).
    ///
    /// ```
    /// use broadphase::{Aabb, World2};
    /// let mut world = World2::new();
    /// let h = world.insert_many(&[Aabb::new([0.0, 0.0], [4.0, 1.0]), Aabb::point([1.0, 1.0]), Aabb::point([3.0, 1.0])])?;
    /// world.update()?;
    /// assert!(world.pairs_of(h[0])?.eq([h[1], h[2]]));
    /// assert!(world.pairs_of(h[1])?.eq([h[0]]));
    /// # Ok::<(), broadphase::Error>(())
    /// ```
    pub fn pairs_of(&self, handle: Handle) -> Result<impl Iterator<Item = Handle> + '_, Error> {
        let index = self.table.find(handle)?;
        Ok(self.neighbors().of(index).iter().map(|&other| self.table.handle(other)))
    }
}
