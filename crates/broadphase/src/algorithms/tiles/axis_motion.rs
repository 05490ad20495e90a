//! The axis-motion cache: if all objects move along one axis, as drops and pistons do, the pairs that overlap on the other two axes stay the same.
//!
//! A sample shows whether all objects move along one axis. If so, every rewritten record is compared with the last one, tile by tile
//! ([`TileDelta`]). In a tile whose records changed along that axis only, the neighbors on the other axes (`kernels/tile/neighbors.rs`) are listed
//! once, and are the only candidates from then on. Records that arrive in the tile are few, and are compared with all others. Records that leave
//! stay on the list, which does no harm: a pair is reported only in the tile where its intersection starts. An object that comes back is listed
//! again.
//!
//! If there are many neighbors, or if many records arrive and leave, the list does not pay: the tile is swept for a number of frames, which
//! doubles each time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::partition::Partition;
use super::plan::tuned::{BLOCKS, LONG_WAIT, SHORT_WAIT, WORTH};
use super::records::Block;
use super::{lock, open};
use crate::backoff::Backoff;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::quantize::axis_in_record;
use crate::kernels::tile::{Neighbors, Record, Scratch};
use crate::kernels::{Kernels, PairSink};
use crate::memory;
use crate::pairs::Pair;

/// The candidates of each tile, while all objects move along one axis. Used only in space.
#[derive(Debug, Default)]
pub(super) struct AxisMotionCache {
    axis: Option<usize>,
    tiles: Vec<Mutex<TileCandidates>>,
    /// Has any list been made or used since the last update?
    used: AtomicBool,
}

/// How the records of a tile differ from those of the last frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TileDelta {
    /// Did some records change across the motion axis, or were some removed?
    pub(super) across: bool,
    /// The number of records that arrived; they are the last ones.
    pub(super) arrived: usize,
}

impl TileDelta {
    /// Everything changed.
    pub(super) const ALL: Self = Self { across: true, arrived: 0 };
}

impl Clone for AxisMotionCache {
    fn clone(&self) -> Self {
        let tiles = self.tiles.iter().map(|tile| Mutex::new(lock(tile).clone())).collect();
        Self { axis: self.axis, tiles, used: AtomicBool::new(self.is_used()) }
    }
}

/// The cached candidates of a tile.
#[derive(Clone, Debug, Default)]
struct TileCandidates {
    neighbors: Neighbors,
    /// Is the list complete?
    is_valid: bool,
    /// Frames in which the list was used.
    served: u32,
    /// Frames without a list, after one that did not pay.
    wait: Backoff<SHORT_WAIT, LONG_WAIT>,
}

impl TileCandidates {
    /// Marks the list as incomplete.
    fn invalidate(&mut self) {
        if std::mem::take(&mut self.is_valid) {
            if self.served >= WORTH { self.wait.succeed() } else { self.wait.fail() }
        }
    }
}

impl AxisMotionCache {
    /// The axis along which all objects move.
    pub(super) fn axis(&self) -> Option<usize> {
        self.axis
    }

    /// Drops all lists, for a new partition.
    pub(super) fn reset(&mut self, tiles: usize) -> Result<(), Error> {
        self.axis = None;
        self.tiles.clear();
        memory::cover(&mut self.tiles, tiles, "tiles")
    }

    /// Starts an update in which all objects move along `axis`, or along several axes if it is `None`.
    pub(super) fn set_axis(&mut self, axis: Option<usize>) {
        if axis.is_none() || axis != self.axis {
            self.tiles.iter_mut().for_each(|tile| open(tile).invalidate());
        }
        self.axis = axis;
        *self.used.get_mut() = false;
    }

    /// Invalidates the lists of tiles whose records changed across the axis; adds the neighbors of records that arrived.
    pub(super) fn apply_deltas(&mut self, blocks: &mut [Mutex<Block>], partition: &Partition, kernels: Kernels) {
        let Some(axis) = self.axis else { return };
        for (index, tile) in self.tiles.iter_mut().enumerate() {
            let candidates = open(tile);
            if !candidates.is_valid {
                continue;
            }
            let (mut across, mut arrived) = (false, 0);
            for block in &mut *blocks {
                let delta = open(block).deltas[index];
                (across, arrived) = (across | delta.across, arrived + delta.arrived);
            }
            if arrived > 0 && !across {
                let mut blocks = blocks.iter_mut().map(open).map(|block| (block.records(index), block.deltas[index].arrived));
                let runs: [_; BLOCKS] = std::array::from_fn(|_| blocks.next().unwrap_or((&[], 0)));
                let axis = axis_in_record(partition.tiles[index].axis, axis);
                across = !candidates.neighbors.add_arrivals(kernels, &runs, axis);
            }
            if across {
                candidates.invalidate();
            }
        }
    }

    /// Has any list been made or used since the last update? Then the number of tests says nothing about the partition.
    pub(super) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// Reports all pairs of a tile from its candidates, if these are few: those for which `overlap_here` holds. Otherwise reports nothing. Returns
    /// whether it reported. `runs` are the records of the tile, whose sweep axis is `swept`.
    pub(super) fn join<T: Real>(
        &self,
        (tile, swept): (usize, u8),
        (kernels, runs): (Kernels, &[&[Record]]),
        scratch: &mut Scratch<T>,
        overlap_here: impl Fn(Pair) -> bool,
        sink: &mut PairSink<'_>,
    ) -> bool {
        let Some(axis) = self.axis else { return false };
        let candidates = &mut *lock(&self.tiles[tile]);
        if candidates.wait.step() > 0 {
            return false;
        }
        self.used.store(true, Ordering::Relaxed);
        if !candidates.is_valid {
            let (are_few, tests) = candidates.neighbors.find(kernels, runs, axis_in_record(swept, axis), scratch);
            sink.count_tests(tests);
            (candidates.is_valid, candidates.served) = (are_few, 0);
            if !are_few {
                candidates.wait.fail();
                return false;
            }
        }
        candidates.served += 1;
        let neighbors = candidates.neighbors.pairs();
        sink.count_tests(neighbors.len() as u64);
        neighbors.iter().filter(|pair| overlap_here(**pair)).for_each(|pair| sink.push(*pair));
        true
    }

    /// Does a valid list of a tile miss a candidate, or hold one twice? `runs` are the records of the tile, swept along `swept`.
    pub(super) fn is_wrong(&self, (tile, swept): (usize, u8), runs: &[&[Record]]) -> bool {
        let candidates = lock(&self.tiles[tile]);
        let Some(axis) = self.axis.filter(|_| candidates.is_valid) else { return false };
        let mut all = Neighbors::default();
        let mut known = candidates.neighbors.pairs().to_vec();
        known.sort_unstable();
        all.find(Kernels::best(), runs, axis_in_record(swept, axis), &mut Scratch::<f32>::default());
        all.pairs().iter().any(|pair| known.binary_search(pair).is_err()) || known.windows(2).any(|two| two[0] == two[1])
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        let lists: usize = self.tiles.iter().map(|tile| lock(tile).neighbors.bytes()).sum();
        self.tiles.capacity() * size_of::<Mutex<TileCandidates>>() + lists
    }
}

#[cfg(test)]
mod tests {
    use crate::algorithms::tiles::{Options, Tiles};
    use crate::{Aabb, Context, Frame, PairStore, step};

    #[test]
    fn frames_with_cached_candidates_do_not_count_as_the_fewest_tests() {
        let mut tiles = Tiles::<3, f32>::new(Options::default());
        let (mut context, mut store) = (Context::new(), PairStore::default());
        for frame in 0..20 {
            let piston = |i: usize| {
                let at =
                    [(i % 100) as f32, (i / 100 % 100) as f32, (i / 10_000) as f32 * 2.0 + ((i * 7 + frame) % 60) as f32 * 0.01];
                Aabb::new(at, at.map(|x| x + 0.9))
            };
            let boxes: Vec<_> = (0..20_000).map(piston).collect();
            step(&mut tiles, &Frame::new(&boxes), &mut context, &mut store).unwrap();
            let few = store.tests() < boxes.len() as u64;
            assert!(few == tiles.axis_motion.is_used() || frame < 2, "{} tests in frame {frame}", store.tests());
            assert!(tiles.load.fewest_tests > 10 * boxes.len() as u64, "frame {frame}");
        }
        assert!(tiles.axis_motion.is_used());
    }
}
