//! What structures share: probes and queries, a small tree over boxes; and for those of the papers, the boxes of the last frame and what changed, a
//! bounded world, and linked lists by slot.
//!
//! The trees, grids and sweeps of papers 000, 001 and 004 differ in where they keep an object, and in little else. They all rewrite every
//! chunk when anything changed, and none when nothing did.

use crate::algorithms::OptionDescriptor;

#[cfg(feature = "papers")]
mod linked_bins;
#[cfg(feature = "papers")]
mod tracked_boxes;
mod implement;
mod pack_tree;
mod probing;
mod searching;
#[cfg(feature = "papers")]
mod world;

pub(crate) use implement::implement_broad_phase;
#[cfg(feature = "papers")]
pub(crate) use linked_bins::{LinkedBins, NONE};
pub(crate) use pack_tree::{PackTree, order};
#[cfg(feature = "papers")]
pub(crate) use probing::query_each_object;
pub(crate) use probing::{ProbeBuffers, Visit, check_ids, probe_chunks, probe_each, probe_sorted};
pub(crate) use searching::{Search, scan};
#[cfg(feature = "papers")]
pub(crate) use tracked_boxes::TrackedBoxes;
#[cfg(feature = "papers")]
pub(crate) use world::{Bounds, World, is_too_large, too_many_outside};

/// The option of every bounded structure.
pub(crate) const WORLD_OPTION: OptionDescriptor = OptionDescriptor {
    name: "world",
    default: "auto",
    help: "the region to subdivide, min then max joined by slashes, as in 0/0/0/10/10/10; auto: around the objects, fitted again when they leave it",
};

/// The option of every structure that has a mode in which it does what its paper says.
pub(crate) const PAPER_OPTION: OptionDescriptor = OptionDescriptor {
    name: "paper",
    default: "false",
    help: "true: every mechanism as the paper describes it, in place of our own mode",
};

/// Fails to compile unless `D` is 2 or 3, the dimensions that structures support.
pub(crate) fn assert_dimension<const D: usize>() {
    const { assert!(D == 2 || D == 3, "structures work in two and three dimensions") }
}

/// The value, or the nearest one that is in range; for NaN, the least.
pub(crate) fn nearest_in(value: f64, least: f64, most: f64) -> f64 {
    value.max(least).min(most)
}

/// The bytes of a list, by its capacity.
pub(crate) fn bytes_of<V>(list: &Vec<V>) -> usize {
    list.capacity() * size_of::<V>()
}

/// Appends with growth by an eighth: a list that grows to a plateau does not overshoot it twofold.
pub(crate) fn push<V>(list: &mut Vec<V>, value: V) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 32);
    }
    list.push(value);
}
