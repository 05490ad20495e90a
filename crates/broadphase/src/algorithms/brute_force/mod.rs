//! All pairs, many at once.
//!
//! # The structure
//! A copy of the boxes as columns, one position per slot; an empty slot is padding, which overlaps nothing. Rows of
//! `ROWS_PER_CHUNK` slots make a chunk of pairs: chunk `c` holds the pairs whose smaller id is in its rows.
//!
//! # Cost
//! n(n-1)/2 tests, several billion a second: the fastest of all for a few hundred objects, and the oracle for all n. With m
//! changed objects, m·n tests and a pass over the pairs. Memory: the columns, 28 bytes per slot for three `f32` axes.
//!
//! # Source
//! The all-pairs test that papers 000 and 004 compare with; the blocking is ours (`kernels/all_pairs.rs`).

mod pairs;
mod query;
mod update;
mod validate;

use crate::algorithms::Stats;
use crate::algorithms::common::implement_broad_phase;
use crate::buffer_pool::BufferPool;
use crate::geometry::Real;
use crate::kernels::Soa;
use crate::objects::changes::ChangeSet;
use crate::pairs::{Pair, Revision};

/// Slots whose pairs share a chunk.
pub(crate) const ROWS_PER_CHUNK: usize = 256;

/// The structure of the algorithm `brute-force`.
#[derive(Clone, Debug)]
pub struct BruteForce<const D: usize, T: Real> {
    columns: Soa<D, T>,
    /// What changed since the last `pairs`; ascending after each update.
    changes: ChangeSet,
    /// The revision that the last `pairs` wrote.
    revision: Revision,
    scratch: Scratch<D, T>,
}

/// Buffers that can be dropped without changing a result.
#[derive(Clone, Debug)]
struct Scratch<const D: usize, T: Real> {
    probes: Soa<D, T>,
    found: Vec<Pair>,
    /// The boxes of probes, by columns.
    rows: BufferPool<Soa<D, T>>,
}

impl<const D: usize, T: Real> Default for BruteForce<D, T> {
    fn default() -> Self {
        Self {
            columns: Soa::unallocated(),
            changes: ChangeSet::default(),
            revision: Revision::default(),
            scratch: Scratch { probes: Soa::unallocated(), found: Vec::new(), rows: BufferPool::default() },
        }
    }
}

impl<const D: usize, T: Real> BruteForce<D, T> {
    /// An empty structure. Allocates nothing before the first update.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<const D: usize, T: Real> BruteForce<D, T> {
    fn stats(&self) -> Stats {
        let lists = self.changes.bytes() + self.scratch.found.capacity() * size_of::<Pair>();
        Stats {
            bytes: self.columns.bytes() + self.scratch.probes.bytes() + self.scratch.rows.bytes(Soa::bytes) + lists,
            ..Stats::default()
        }
    }
}

implement_broad_phase!(BruteForce, reader);
