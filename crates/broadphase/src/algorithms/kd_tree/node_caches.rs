//! Node caches: the sorted boxes of nodes, which incremental searches keep from one search to the next (`kernels/node/cache.rs`).
//!
//! An object's node follows from its held box and the planes alone, and so do the nodes it is external to. While an object is static
//! and no plane moves, it stays in the caches of the same nodes. All nodes of a job fill their caches in the same search; objects
//! that were dynamic in that search or later are *loose*, and only those are gathered. (If the search was the first, everything
//! was dynamic, and only objects that are dynamic later are loose.)
//!
//! A job fills its caches again when a plane in it or above it has moved, and when what is in the wrong place, loose objects that
//! rest and cached ones that do not, has cost as much as filling them: the sum over the searches is counted. While many of its objects are
//! dynamic, a job does not use caches.
//!
//! An object has an entry in the cache of its node and of each node that it is external to. For long objects that lie across each other, those
//! are many: then the node caches take more memory than the cached pairs.

use std::sync::{Mutex, MutexGuard};

use super::nodes::{NONE, Tree};
use super::walk::Gather;
use crate::geometry::Real;
use crate::kernels::node::NodeCache;

/// From this share of loose objects on, node caches do not pay.
const MANY: f64 = 0.4;

/// Objects in the wrong place, summed over the searches, per object of the job, that cost as much as filling the caches again.
const PATIENCE: f64 = 0.5;

/// The cache of a node, and the state of its job, if it is the first node of one.
#[derive(Clone, Debug)]
pub(super) struct CachedNode<const D: usize, T> {
    pub(super) cache: NodeCache<D, T>,
    /// The search that filled it; 0 for none.
    pub(super) filled: u32,
    /// Were many of the job's objects dynamic when it was last searched?
    busy: bool,
    /// Own objects of the job that were stored in caches.
    put: usize,
    /// Loose objects at rest, and cached ones that are loose, summed over the searches since.
    idle: usize,
}

impl<const D: usize, T: Real> Default for CachedNode<D, T> {
    fn default() -> Self {
        Self { cache: NodeCache::default(), filled: 0, busy: false, put: 0, idle: 0 }
    }
}

/// What a job does with its node caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Nothing: all objects are gathered.
    Without,
    /// All objects are gathered, and fill them.
    Fill,
    /// Objects that were dynamic in this search or later are loose; the others are in the caches.
    Use(u32),
}

impl Plan {
    pub(super) fn gathers(self) -> Gather {
        if let Plan::Use(since) = self { Gather::Since(since) } else { Gather::All }
    }
}

/// The caches of all nodes, by chunk; never contended, since a chunk belongs to one job.
#[derive(Debug, Default)]
pub(super) struct NodeCaches<const D: usize, T: Real>(Vec<Mutex<CachedNode<D, T>>>);

impl<const D: usize, T: Real> Clone for NodeCaches<D, T> {
    fn clone(&self) -> Self {
        Self((0..self.0.len()).map(|chunk| Mutex::new(self.get(chunk).clone())).collect())
    }
}

impl<const D: usize, T: Real> NodeCaches<D, T> {
    pub(super) fn bytes(&self) -> usize {
        let kept: usize = (0..self.0.len()).map(|chunk| self.get(chunk).cache.bytes()).sum();
        kept + self.0.capacity() * size_of::<Mutex<CachedNode<D, T>>>()
    }

    /// Makes sure that each chunk has its cache.
    pub(super) fn prepare(&mut self, chunks: usize) {
        if self.0.len() < chunks {
            self.0.resize_with(chunks, Mutex::default);
        }
    }

    pub(super) fn get(&self, chunk: usize) -> MutexGuard<'_, CachedNode<D, T>> {
        self.0[chunk].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Invalidates all caches.
    pub(super) fn clear(&mut self) {
        for cached in &mut self.0 {
            cached.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).filled = 0;
        }
    }

    /// What the job of `node`, alone or with all below, does in this search.
    pub(super) fn plan(&self, tree: &Tree<D, T>, node: u32, whole: bool) -> Plan {
        let first = self.get(node as usize + 1);
        let (busy, filled, since) = (first.busy, first.filled, first.filled + u32::from(first.cache.takes_all));
        drop(first);
        if busy {
            Plan::Without
        } else if filled != 0 && self.agree(tree, node, whole, filled) {
            Plan::Use(since)
        } else {
            Plan::Fill
        }
    }

    /// Were all caches of the job filled in that search, and has no plane moved since?
    fn agree(&self, tree: &Tree<D, T>, node: u32, whole: bool, filled: u32) -> bool {
        let this = tree.node(node);
        this.shaped <= filled
            && self.get(node as usize + 1).filled == filled
            && (!whole
                || this.left == NONE
                || self.agree(tree, this.left, true, filled) && self.agree(tree, this.right, true, filled))
    }

    /// Records the counts of a job: of `all` own objects it gathered some, of which some were dynamic.
    pub(super) fn learn(&self, node: u32, plan: Plan, all: usize, gathered: usize, dynamic: usize) {
        let mut first = self.get(node as usize + 1);
        let many = MANY * all as f64;
        match plan {
            Plan::Without | Plan::Fill => {
                first.busy = dynamic as f64 > many;
                first.put = if first.cache.takes_all { all } else { all - dynamic };
                first.idle = 0;
            }
            Plan::Use(_) => {
                let useless = (first.put + gathered).saturating_sub(all);
                first.idle += gathered - dynamic + useless;
                if gathered as f64 > many || first.idle as f64 > PATIENCE * all as f64 {
                    first.filled = 0;
                }
            }
        }
    }
}
