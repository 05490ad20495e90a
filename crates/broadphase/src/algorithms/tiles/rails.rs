//! Rails: where all objects move along one axis, as drops and pistons do, those that overlap on the other two stay the same.
//!
//! Whether all do is asked of a sample; then every record is watched while it is made anew, tile by tile. In a tile whose records have
//! changed along the rails only, the neighbours across the rails (`kernels/tile/neighbours.rs`) are listed once, and are all that has to be
//! looked at from then on. The few that come to the tile are compared with all that is there. Those that leave stay on the list: a
//! pair is reported only in the tile where its intersection starts, so nobody hears of them, and whoever comes back is listed anew.
//!
//! Where neighbours are many, or where many come and go, that does not pay: the tile is left alone for a while, which gets longer each
//! time.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::partition::Partition;
use super::plan::tuned::{LONG_WAIT, SHORT_WAIT, WORTH};
use super::scatter::Block;
use super::{lock, open};
use crate::geometry::Real;
use crate::kernels::quantise::axis_in_record;
use crate::kernels::tile::{Neighbours, Record, Scratch};
use crate::kernels::{Kernels, PairSink};
use crate::pairs::Pair;

/// The neighbours across the rails, by tile, while there are rails.
#[derive(Debug, Default)]
pub(super) struct Rails {
    axis: Option<usize>,
    tiles: Vec<Mutex<Siding>>,
    /// Has any list been made or used since the last update?
    used: AtomicBool,
}

/// What has become of the records of a tile since the last frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stir {
    /// Some have changed across the rails, or are gone for good.
    pub(super) across: bool,
    /// So many have come; they are the last ones.
    pub(super) came: usize,
}

impl Stir {
    /// Nothing is what it was.
    pub(super) const ALL: Self = Self { across: true, came: 0 };
}

impl Clone for Rails {
    fn clone(&self) -> Self {
        let tiles = self.tiles.iter().map(|tile| Mutex::new(lock(tile).clone())).collect();
        Self { axis: self.axis, tiles, used: AtomicBool::new(self.is_used()) }
    }
}

/// What is known in a tile.
#[derive(Clone, Debug, Default)]
struct Siding {
    neighbours: Neighbours,
    /// Are they known?
    is_listed: bool,
    /// Frames that they have served.
    served: u32,
    /// Frames until it is worth a try, and how many those were last time.
    wait: u32,
    pause: u32,
}

impl Siding {
    /// The list is of no use any more.
    fn forget(&mut self) {
        if std::mem::take(&mut self.is_listed) {
            self.judge(self.served >= WORTH);
        }
    }

    /// If a list was not worth its while, the tile is left alone for longer than last time.
    fn judge(&mut self, was_worth: bool) {
        self.pause = if was_worth { 0 } else { (2 * self.pause).clamp(SHORT_WAIT, LONG_WAIT) };
        self.wait = self.pause;
    }
}

impl Rails {
    /// The axis along which all objects move.
    pub(super) fn axis(&self) -> Option<usize> {
        self.axis
    }

    /// A new partition: nothing is known.
    pub(super) fn reset(&mut self, tiles: usize) {
        self.axis = None;
        self.tiles.clear();
        self.tiles.resize_with(tiles, Mutex::default);
    }

    /// All objects move along the axis, or along several.
    pub(super) fn lay(&mut self, axis: Option<usize>) {
        if axis.is_none() || axis != self.axis {
            self.tiles.iter_mut().for_each(|tile| open(tile).forget());
        }
        self.axis = axis;
        *self.used.get_mut() = false;
    }

    /// Forgets the neighbours in tiles whose records have changed across the rails; takes in those of records that have come.
    pub(super) fn book(&mut self, blocks: &mut [Mutex<Block>], partition: &Partition, kernels: Kernels) {
        let Some(axis) = self.axis else { return };
        for (index, tile) in self.tiles.iter_mut().enumerate() {
            let siding = open(tile);
            if !siding.is_listed {
                continue;
            }
            let (mut across, mut came) = (false, 0);
            for block in &mut *blocks {
                let stir = open(block).stirs[index];
                (across, came) = (across | stir.across, came + stir.came);
            }
            if came > 0 && !across {
                let runs = blocks.iter_mut().map(open).map(|block| (block.records(index), block.stirs[index].came));
                let axis = axis_in_record(partition.tiles[index].axis, axis);
                across = !siding.neighbours.admit(kernels, &runs.collect::<Vec<_>>(), axis);
            }
            if across {
                siding.forget();
            }
        }
    }

    /// Has any list been made or used since the last update? Then the tests say nothing about the tiles.
    pub(super) fn is_used(&self) -> bool {
        self.used.load(Ordering::Relaxed)
    }

    /// Reports all pairs of a tile whose records are `runs`, swept along `swept`, if it is on rails and has few neighbours: those that overlap
    /// here. Otherwise nothing. Returns whether it has.
    pub(super) fn join<T: Real>(
        &self,
        (tile, swept): (usize, u8),
        (kernels, runs): (Kernels, &[&[Record]]),
        scratch: &mut Scratch<T>,
        overlap_here: impl Fn(Pair) -> bool,
        hits: &mut PairSink<'_>,
    ) -> bool {
        let Some(axis) = self.axis else { return false };
        let siding = &mut *lock(&self.tiles[tile]);
        if siding.wait > 0 {
            siding.wait -= 1;
            return false;
        }
        self.used.store(true, Ordering::Relaxed);
        if !siding.is_listed {
            let (are_few, tests) = siding.neighbours.find(kernels, runs, axis_in_record(swept, axis), scratch);
            hits.count_tests(tests);
            (siding.is_listed, siding.served) = (are_few, 0);
            if !are_few {
                siding.judge(false);
                return false;
            }
        }
        siding.served += 1;
        let neighbours = siding.neighbours.pairs();
        hits.count_tests(neighbours.len() as u64);
        neighbours.iter().filter(|pair| overlap_here(**pair)).for_each(|pair| hits.push(*pair));
        true
    }

    /// Is any neighbour in a tile missing, where they are known? `runs` are the records of the tile, swept along `swept`.
    pub(super) fn any_missing(&self, (tile, swept): (usize, u8), runs: &[&[Record]]) -> bool {
        let siding = lock(&self.tiles[tile]);
        let Some(axis) = self.axis.filter(|_| siding.is_listed) else { return false };
        let mut all = Neighbours::default();
        let known: BTreeSet<&Pair> = siding.neighbours.pairs().iter().collect();
        all.find(Kernels::best(), runs, axis_in_record(swept, axis), &mut Scratch::<f32>::default());
        all.pairs().iter().any(|pair| !known.contains(pair)) || known.len() < siding.neighbours.pairs().len()
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        let lists: usize = self.tiles.iter().map(|tile| lock(tile).neighbours.bytes()).sum();
        self.tiles.capacity() * size_of::<Mutex<Siding>>() + lists
    }
}

#[cfg(test)]
mod tests {
    use crate::algorithms::tiles::{Options, Tiles};
    use crate::{Aabb, Context, Frame, PairStore, step};

    #[test]
    fn tests_that_lists_have_saved_are_not_missed_when_objects_leave_their_rails() {
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
            assert!(few == tiles.rails.is_used() || frame < 2, "{} tests in frame {frame}", store.tests());
            assert!(tiles.load.tests_when_cut > 10 * boxes.len() as u64, "frame {frame}");
        }
        assert!(tiles.rails.is_used());
    }
}
