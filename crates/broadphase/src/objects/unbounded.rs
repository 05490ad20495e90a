//! What a structure cannot hold natively (infinite sides, extents that overflow) is joined here: one list against all.
//!
//! Cost: k objects in the list and n in all take k·n tests. That is the price of a plane or two; thousands of infinite objects
//! want an algorithm that holds them natively (`brute-force`, the sweeps).

use crate::context::Context;
use crate::geometry::{Aabb, Real};
use crate::kernels::{Order, PairSink, Soa, all_pairs};
use crate::objects::Frame;

/// The objects that a structure leaves out, in ascending order of ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unbounded {
    ids: Vec<u32>,
}

/// Are all coordinates finite, and sizes and centres as well? What grids and trees compute with.
#[inline(always)]
pub(crate) fn is_bounded<const D: usize, T: Real>(value: &Aabb<D, T>) -> bool {
    let mut all = true;
    for k in 0..D {
        // Both sums are finite only if both coordinates are.
        all &= (value.max[k] - value.min[k]).is_finite() & (value.max[k] + value.min[k]).is_finite();
    }
    all
}

impl Unbounded {
    /// Nobody is left out.
    pub(crate) fn clear(&mut self) {
        self.ids.clear();
    }

    /// Is nobody left out?
    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Is `id` left out? O(log k).
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.ids.binary_search(&id).is_ok()
    }

    /// Leaves `id` out. O(1) for ascending ids, O(k) else.
    pub(crate) fn insert(&mut self, id: u32) {
        if self.ids.last().is_none_or(|&last| last < id) {
            self.ids.push(id);
        } else if let Err(at) = self.ids.binary_search(&id) {
            self.ids.insert(at, id);
        }
    }

    /// Takes `id` back in. O(k).
    pub(crate) fn remove(&mut self, id: u32) -> bool {
        let found = self.ids.binary_search(&id);
        if let Ok(at) = found {
            self.ids.remove(at);
        }
        found.is_ok()
    }

    /// All of them.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.ids.capacity() * 4
    }

    /// All pairs with at least one of them, each once.
    pub(crate) fn join<const D: usize, T: Real>(&self, frame: &Frame<'_, D, T>, context: &Context, hits: &mut PairSink) {
        if self.ids.is_empty() {
            return;
        }
        let (mut own, mut others) = (Soa::default(), Soa::default());
        own.gather(frame.boxes, &self.ids);
        all_pairs::join_self(context.kernels(), own.columns(), 0..own.len(), hits);
        // The others pass by in blocks: no second copy of the world.
        let mut block = Vec::with_capacity(BLOCK);
        let mut ids = frame.ids().filter(|&id| !self.contains(id));
        loop {
            block.clear();
            block.extend(ids.by_ref().take(BLOCK));
            if block.is_empty() {
                break;
            }
            others.gather(frame.boxes, &block);
            all_pairs::join_between(context.kernels(), own.columns(), others.columns(), Order::Canonical, hits);
        }
    }
}

/// Others per block of a join.
const BLOCK: usize = 1024;
