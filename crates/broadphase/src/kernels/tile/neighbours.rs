//! Neighbours: objects of a tile that overlap on two axes, whatever happens on the third.
//!
//! As long as nothing changes on the two, they are all the candidates there are, and nobody has to sort and to sweep.
//!
//! # Exactness
//! They are found by words, as candidates are: for a monotone map, boxes that overlap have words that overlap. So the pairs of later frames
//! are among them if the words on the two axes are still the same, even if the map is another. Boxes decide.

use super::join::sort_and_sweep;
use super::judge::{compare, list_some};
use super::{Record, Scratch, WORDS};
use crate::geometry::Real;
use crate::kernels::isa::{Kernel, Kernels};
use crate::kernels::lanes::Simd;
use crate::pairs::Pair;

/// Neighbours per record at most: to look at more costs as much as to sweep.
const MOST_PER_RECORD: usize = 1;
/// Records that may come to a tile in a frame: to find the neighbours of more by themselves costs as much as to sweep.
const MOST_NEW: usize = 4;

/// The neighbours in a tile.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbours(Vec<Pair>);

impl Neighbours {
    /// Those of the records in `runs`, on the axes but `axis`, of the three in a record's order. Returns whether they are few enough to be of
    /// use, and how many records were compared.
    pub(crate) fn find<T: Real>(
        &mut self,
        kernels: Kernels,
        runs: &[&[Record]],
        axis: usize,
        scratch: &mut Scratch<T>,
    ) -> (bool, u64) {
        let mut opened = std::mem::take(&mut scratch.opened);
        opened.clear();
        let first = narrower(runs, axis);
        opened.extend(runs.iter().copied().flatten().map(|record| record.turned(first, axis).opened(2)));
        self.0.clear();
        let most = MOST_PER_RECORD * opened.len();
        let tests = sort_and_sweep(kernels, &[&opened], scratch, |scratch, count| {
            kernels.run(Listing { scratch, count, list: &mut self.0, most });
            self.0.len() > most
        });
        let are_few = self.shrink(opened.len());
        scratch.opened = opened;
        (are_few, tests)
    }

    /// Adds those of records that have come: the last ones of each run, so many. Returns whether there still are few. Those of records that
    /// have left may stay.
    pub(crate) fn admit(&mut self, kernels: Kernels, runs: &[(&[Record], usize)], axis: usize) -> bool {
        let new = runs.iter().flat_map(|(run, new)| &run[run.len() - new..]);
        if new.clone().count() > MOST_NEW {
            return false;
        }
        for own in new {
            self.0.retain(|pair| pair.a != own.id() && pair.b != own.id()); // from when it was here before
            kernels.run(Encounters { own, runs, axis, list: &mut self.0 });
        }
        self.shrink(runs.iter().map(|(run, _)| run.len()).sum())
    }

    /// Of so many records: are there few? Otherwise there is no need to keep them.
    fn shrink(&mut self, records: usize) -> bool {
        let are_few = self.0.len() <= MOST_PER_RECORD * records;
        if !are_few {
            self.0 = Vec::new();
        }
        are_few
    }

    /// All of them, and some that have been.
    pub(crate) fn pairs(&self) -> &[Pair] {
        &self.0
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Pair>()
    }
}

/// Which of the axes but one the records are narrower on.
fn narrower(runs: &[&[Record]], but: usize) -> usize {
    let width = |axis: usize, record: &Record| {
        let [low, not_high] = WORDS[axis].map(|word| record.0[word]);
        usize::from((!not_high).saturating_sub(low))
    };
    let all = |axis: usize| runs.iter().copied().flatten().map(|record| width(axis, record)).sum::<usize>();
    (0..3).filter(|&axis| axis != but).min_by_key(|&axis| all(axis)).unwrap_or(0)
}

impl Record {
    /// The same with the axes in another order.
    fn turned(&self, first: usize, last: usize) -> Self {
        let span = |axis: usize| WORDS[axis].map(|word| self.0[word]);
        let [[x, not_u], [y, not_v], [z, not_w]] = [first, 3 - first - last, last].map(span);
        Self::new([x, y, z, !not_u, !not_v, !not_w], self.id())
    }

    /// The same, but reaching over the whole tile on an axis.
    fn opened(mut self, axis: usize) -> Self {
        let [low, not_high] = WORDS[axis];
        (self.0[low], self.0[not_high]) = (1, !u16::MAX);
        self
    }
}

/// Adds what the finds of opened records lead to, until there are more than `most`.
struct Listing<'a, T> {
    scratch: &'a mut Scratch<T>,
    count: usize,
    list: &'a mut Vec<Pair>,
    most: usize,
}

impl<T: Real> Kernel for Listing<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Scratch { sorted, len, finds, candidates, .. } = self.scratch;
        let (sorted, mut finds) = (&sorted[..*len], &finds[..self.count]);
        while !finds.is_empty() && self.list.len() <= self.most {
            let count = list_some(simd, &mut finds, candidates);
            for candidate in &candidates[..count] {
                let (row, column) = candidate.places();
                let (pair, may_be_pair, _) = compare(simd, &sorted[row], &sorted[column]);
                if may_be_pair {
                    self.list.push(pair);
                }
            }
        }
    }
}

/// Adds the neighbours of one record.
struct Encounters<'a> {
    own: &'a Record,
    runs: &'a [(&'a [Record], usize)],
    axis: usize,
    list: &'a mut Vec<Pair>,
}

impl Kernel for Encounters<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let opened = self.own.opened(self.axis);
        for (run, _) in self.runs {
            for other in *run {
                let (pair, may_be_pair, _) = compare(simd, &opened, other);
                if may_be_pair && other.id() != self.own.id() {
                    self.list.push(pair);
                }
            }
        }
    }
}
