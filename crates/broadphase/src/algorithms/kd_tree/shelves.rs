//! Shelves: what incremental searches keep of the nodes from one search to the next (`kernels/node/shelf.rs`).
//!
//! An object's node follows from its held box and the planes alone, and so do the nodes it is external to. While an object is static
//! and no plane moves, it stays on the shelves of the same nodes. All nodes of a job fill their shelves in the same search; objects
//! that were dynamic in that search or later are *loose*, and only those are gathered. (If the search was the first, everything
//! was dynamic, and only who is so later is loose.)
//!
//! A job fills its shelves anew when a plane in it or above it has moved, and when what is in the wrong place, loose objects that
//! rest and shelved ones that do not, has cost as much as that: the sum over the searches is counted. While many of its objects are
//! dynamic, a job has no use for shelves.
//!
//! An object has a place on the shelf of its node and of each node it is external to. For long objects that lie across each other, those
//! are many: then shelves, not the cache, are most of the memory.

use std::sync::{Mutex, MutexGuard};

use super::nodes::{NONE, Tree};
use super::walk::Gather;
use crate::geometry::Real;
use crate::kernels::node::Shelf;

/// From this share of loose objects on, shelves do not pay.
const MANY: f64 = 0.4;

/// Objects in the wrong place, summed over the searches, per object of the job, that cost as much as shelves filled anew.
const PATIENCE: f64 = 0.5;

/// The shelf of a node, and what its job remembers, if it is the first node of one.
#[derive(Clone, Debug)]
pub(super) struct Shelved<const D: usize, T> {
    pub(super) shelf: Shelf<D, T>,
    /// The search that filled it; 0 for none.
    pub(super) filled: u32,
    /// Were many of the job's objects dynamic when it was last searched?
    busy: bool,
    /// Own objects of the job that were put on shelves.
    put: usize,
    /// Loose objects at rest, and shelved ones that are loose, summed over the searches since.
    idle: usize,
}

impl<const D: usize, T: Real> Default for Shelved<D, T> {
    fn default() -> Self {
        Self { shelf: Shelf::default(), filled: 0, busy: false, put: 0, idle: 0 }
    }
}

/// What a job does with its shelves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Nothing: all objects are gathered.
    Without,
    /// All objects are gathered, and fill them.
    Fill,
    /// Who was dynamic in this search or later is loose, the others are on them.
    Use(u32),
}

impl Plan {
    pub(super) fn gathers(self) -> Gather {
        if let Plan::Use(since) = self { Gather::Since(since) } else { Gather::All }
    }
}

/// The shelves of all nodes, by chunk; never contended, since a chunk belongs to one job.
#[derive(Debug, Default)]
pub(super) struct Shelves<const D: usize, T: Real>(Vec<Mutex<Shelved<D, T>>>);

impl<const D: usize, T: Real> Clone for Shelves<D, T> {
    fn clone(&self) -> Self {
        Self((0..self.0.len()).map(|chunk| Mutex::new(self.get(chunk).clone())).collect())
    }
}

impl<const D: usize, T: Real> Shelves<D, T> {
    pub(super) fn bytes(&self) -> usize {
        let kept: usize = (0..self.0.len()).map(|chunk| self.get(chunk).shelf.bytes()).sum();
        kept + self.0.capacity() * size_of::<Mutex<Shelved<D, T>>>()
    }

    /// Makes sure that each chunk has its shelf.
    pub(super) fn prepare(&mut self, chunks: usize) {
        if self.0.len() < chunks {
            self.0.resize_with(chunks, Mutex::default);
        }
    }

    pub(super) fn get(&self, chunk: usize) -> MutexGuard<'_, Shelved<D, T>> {
        self.0[chunk].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// No shelf is of use any more.
    pub(super) fn clear(&mut self) {
        for shelved in &mut self.0 {
            shelved.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).filled = 0;
        }
    }

    /// What the job of `node`, alone or with all below, does in this search.
    pub(super) fn plan(&self, tree: &Tree<D, T>, node: u32, whole: bool) -> Plan {
        let first = self.get(node as usize + 1);
        let (busy, filled, since) = (first.busy, first.filled, first.filled + u32::from(first.shelf.takes_all));
        drop(first);
        if busy {
            Plan::Without
        } else if filled != 0 && self.agree(tree, node, whole, filled) {
            Plan::Use(since)
        } else {
            Plan::Fill
        }
    }

    /// Were all shelves of the job filled in that search, and has no plane moved since?
    fn agree(&self, tree: &Tree<D, T>, node: u32, whole: bool, filled: u32) -> bool {
        let this = tree.node(node);
        this.shaped <= filled
            && self.get(node as usize + 1).filled == filled
            && (!whole
                || this.left == NONE
                || self.agree(tree, this.left, true, filled) && self.agree(tree, this.right, true, filled))
    }

    /// Takes down what a job found: of `all` own objects it gathered some, of which some were dynamic.
    pub(super) fn learn(&self, node: u32, plan: Plan, all: usize, gathered: usize, dynamic: usize) {
        let mut first = self.get(node as usize + 1);
        let many = MANY * all as f64;
        match plan {
            Plan::Without | Plan::Fill => {
                first.busy = dynamic as f64 > many;
                first.put = if first.shelf.takes_all { all } else { all - dynamic };
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
