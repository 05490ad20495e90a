//! Neighbors: pairs of objects of a tile that overlap on two axes, wherever they are on the third.
//!
//! As long as no record changes on the two axes, the neighbors are all the candidates, and sorting and sweeping are not needed.
//!
//! # Exactness
//! They are found by words, as candidates are: for a monotone map, boxes that overlap have words that overlap. So the pairs of later frames
//! are among them if the words on the two axes are still the same, even if the map is a different one. The boxes decide.

use super::confirm::{compare, list_some};
use super::join::sort_and_sweep;
use super::{Record, Scratch, WORDS};
use crate::geometry::Real;
use crate::kernels::arch::{Kernel, Simd};
use crate::kernels::isa::Kernels;
use crate::memory;
use crate::pair::Pair;

/// What the memory is for, in errors.
const NEIGHBORS: &str = "neighbors in a tile";

/// The most neighbors per record: testing more costs as much as a sweep.
const MOST_PER_RECORD: usize = 1;
/// Records that may arrive in a tile in one frame: finding the neighbors of more one by one costs as much as a sweep.
const MOST_NEW: usize = 4;

/// The neighbors in a tile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbors(Vec<Pair>);

impl Neighbors {
    /// Finds the neighbors of the records in `runs` on the axes except `axis`, of the three in a record's order. Returns whether all were found and are few
    /// enough to be useful, and how many pairs of records were compared.
    pub(crate) fn find<T: Real>(
        &mut self,
        kernels: Kernels,
        runs: &[&[Record]],
        axis: usize,
        scratch: &mut Scratch<T>,
    ) -> (bool, u64) {
        let mut unbounded = std::mem::take(&mut scratch.unbounded);
        unbounded.clear();
        let first = narrower(runs, axis);
        let (all, len) = (runs.iter().copied().flatten(), runs.iter().map(|run| run.len()).sum());
        let all = all.map(|record| record.permuted(first, axis).unbounded(2));
        let has_room = memory::extend(&mut unbounded, len, all, NEIGHBORS).is_ok() && scratch.prepare(len).is_ok();
        self.0.clear();
        if !has_room {
            return (false, 0);
        }
        let most = MOST_PER_RECORD * unbounded.len();
        let mut has_failed = false;
        let tests = sort_and_sweep(kernels, &[&unbounded], scratch, &mut |scratch, count| {
            has_failed = !kernels.run_narrow(ListNeighbors { scratch, count, list: &mut self.0, most });
            has_failed || self.0.len() > most
        });
        let are_few = self.shrink(unbounded.len()) && !has_failed;
        scratch.unbounded = unbounded;
        (are_few, tests)
    }

    /// Adds the neighbors of records that arrived: the last ones of each run, by their number. Returns whether the neighbors are still few. Those of
    /// records that left may stay.
    pub(crate) fn add_arrivals(&mut self, kernels: Kernels, runs: &[(&[Record], usize)], axis: usize) -> bool {
        let new = runs.iter().flat_map(|(run, new)| &run[run.len() - new..]);
        if new.clone().count() > MOST_NEW {
            return false;
        }
        for own in new {
            self.0.retain(|pair| pair.a != own.id() && pair.b != own.id()); // from an earlier stay in this tile
            if !kernels.run_narrow(NeighborsOf { own, runs, axis, list: &mut self.0 }) {
                return false;
            }
        }
        self.shrink(runs.iter().map(|(run, _)| run.len()).sum())
    }

    /// Are the neighbors few, compared with the number of records? If not, they are dropped.
    fn shrink(&mut self, records: usize) -> bool {
        let are_few = self.0.len() <= MOST_PER_RECORD * records;
        if !are_few {
            self.0 = Vec::new();
        }
        are_few
    }

    /// All neighbors, and some pairs that were neighbors in earlier frames.
    pub(crate) fn pairs(&self) -> &[Pair] {
        &self.0
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Pair>()
    }
}

/// Of the two axes other than `but`, the one on which the records are narrower.
fn narrower(runs: &[&[Record]], but: usize) -> usize {
    let width = |axis: usize, record: &Record| {
        let [low, not_high] = WORDS[axis].map(|word| record.0[word]);
        usize::from((!not_high).saturating_sub(low))
    };
    let all = |axis: usize| runs.iter().copied().flatten().map(|record| width(axis, record)).sum::<usize>();
    (0..3).filter(|&axis| axis != but).min_by_key(|&axis| all(axis)).unwrap_or(0)
}

impl Record {
    /// The same record with the axes in another order.
    fn permuted(&self, first: usize, last: usize) -> Self {
        let span = |axis: usize| WORDS[axis].map(|word| self.0[word]);
        let [[x, not_u], [y, not_v], [z, not_w]] = [first, 3 - first - last, last].map(span);
        Self::new([x, y, z, !not_u, !not_v, !not_w], self.id())
    }

    /// The same record, unbounded on an axis.
    fn unbounded(mut self, axis: usize) -> Self {
        let [low, not_high] = WORDS[axis];
        (self.0[low], self.0[not_high]) = (1, !u16::MAX);
        self
    }
}

/// Adds the neighbors among the finds, until there are more than `most`. Returns false if memory runs out.
struct ListNeighbors<'a, T> {
    scratch: &'a mut Scratch<T>,
    count: usize,
    list: &'a mut Vec<Pair>,
    most: usize,
}

impl<T: Real> Kernel for ListNeighbors<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let Scratch { sorted, len, finds, candidates, .. } = self.scratch;
        let (sorted, mut finds) = (&sorted[..*len], &finds[..self.count]);
        while !finds.is_empty() && self.list.len() <= self.most {
            let count = list_some(simd, &mut finds, candidates);
            for candidate in &candidates[..count] {
                let (row, column) = candidate.places();
                let (pair, may_be_pair, _) = compare(simd, &sorted[row], &sorted[column]);
                if may_be_pair && memory::push(self.list, pair, NEIGHBORS).is_err() {
                    return false;
                }
            }
        }
        true
    }
}

/// Adds the neighbors of one record. Returns false if memory runs out.
struct NeighborsOf<'a> {
    own: &'a Record,
    runs: &'a [(&'a [Record], usize)],
    axis: usize,
    list: &'a mut Vec<Pair>,
}

impl Kernel for NeighborsOf<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> bool {
        let unbounded = self.own.unbounded(self.axis);
        for (run, _) in self.runs {
            for other in *run {
                let (pair, may_be_pair, _) = compare(simd, &unbounded, other);
                if may_be_pair && other.id() != self.own.id() && memory::push(self.list, pair, NEIGHBORS).is_err() {
                    return false;
                }
            }
        }
        true
    }
}
