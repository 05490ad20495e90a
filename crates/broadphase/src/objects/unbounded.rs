//! The objects that a structure cannot hold (infinite sides, extents that overflow), and their join with all objects.
//!
//! Cost: k such objects and n in all take about k·n tests, which is fine for a few ground planes. For thousands of infinite objects, use an algorithm
//! that holds them natively (`tiles`, `brute-force`, the sweeps).

use std::sync::{Mutex, MutexGuard};

use crate::context::Context;
use crate::geometry::{Aabb, Real};
use crate::kernels::{Order, PairSink, Soa, all_pairs};
use crate::objects::Frame;

/// The objects that a structure leaves out, in ascending order of ids.
#[derive(Debug)]
pub(crate) struct Unbounded<const D: usize, T: Real> {
    ids: Vec<u32>,
    /// Locked by the only job that joins these objects.
    buffers: Mutex<Buffers<D, T>>,
}

/// Buffers of a join, which can be dropped without changing a result.
#[derive(Debug, Default)]
struct Buffers<const D: usize, T: Real> {
    own: Soa<D, T>,
    others: Soa<D, T>,
    block: Vec<u32>,
}

impl<const D: usize, T: Real> Default for Unbounded<D, T> {
    fn default() -> Self {
        Self { ids: Vec::new(), buffers: Mutex::default() }
    }
}

impl<const D: usize, T: Real> Clone for Unbounded<D, T> {
    /// Buffers are not copied.
    fn clone(&self) -> Self {
        Self { ids: self.ids.clone(), ..Self::default() }
    }
}

/// Are all coordinates, sizes and centers finite, as grids and trees need them?
#[inline(always)]
pub(crate) fn is_bounded<const D: usize, T: Real>(value: &Aabb<D, T>) -> bool {
    let mut all = true;
    for k in 0..D {
        // Both sums are finite only if both coordinates are.
        all &= (value.max[k] - value.min[k]).is_finite() & (value.max[k] + value.min[k]).is_finite();
    }
    all
}

impl<const D: usize, T: Real> Unbounded<D, T> {
    /// Removes all ids.
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
    }

    /// Are there none?
    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Is `id` one of them? O(log k).
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.ids.binary_search(&id).is_ok()
    }

    /// Adds `id`. O(1) for ascending ids, O(k) otherwise.
    pub(crate) fn insert(&mut self, id: u32) {
        if self.ids.last().is_none_or(|&last| last < id) {
            self.ids.push(id);
        } else if let Err(at) = self.ids.binary_search(&id) {
            self.ids.insert(at, id);
        }
    }

    /// Removes `id`, if it is one of them. O(k).
    pub(crate) fn remove(&mut self, id: u32) -> bool {
        let found = self.ids.binary_search(&id);
        if let Ok(at) = found {
            self.ids.remove(at);
        }
        found.is_ok()
    }

    /// All ids, ascending.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let buffers = self.buffers();
        (self.ids.capacity() + buffers.block.capacity()) * 4 + buffers.own.bytes() + buffers.others.bytes()
    }

    fn buffers(&self) -> MutexGuard<'_, Buffers<D, T>> {
        self.buffers.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Reports all pairs with at least one of these objects, each once.
    pub(crate) fn join(&self, frame: &Frame<'_, D, T>, context: &Context, hits: &mut PairSink) {
        if self.ids.is_empty() {
            return;
        }
        let Buffers { own, others, block } = &mut *self.buffers();
        own.gather(frame.boxes, &self.ids);
        all_pairs::join_self(context.kernels(), own.columns(), 0..own.len(), hits);
        // The others are copied block by block, so that the buffer stays small.
        let mut ids = frame.ids().filter(|&id| !self.contains(id));
        loop {
            block.clear();
            block.extend(ids.by_ref().take(BLOCK));
            if block.is_empty() || hits.stopped() {
                break;
            }
            others.gather(frame.boxes, block);
            all_pairs::join_between(context.kernels(), own.columns(), others.columns(), Order::Canonical, hits);
        }
    }
}

/// Others per block of a join.
const BLOCK: usize = 1024;
