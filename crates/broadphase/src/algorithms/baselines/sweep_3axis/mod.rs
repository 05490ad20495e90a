//! Sweep and prune on every axis, kept sorted from frame to frame.
//!
//! # The structure
//! One `EndpointLists` of all objects: for each axis a sorted list of the ends of all boxes, and a set of all overlapping
//! pairs. A frame sorts the lists by insertion; each exchange of a lower end with an upper one adds or removes a pair.
//!
//! # Cost
//! One pass over the ends, and a step per exchange. Exchanges are few if little moves; if everything does, each object passes by n others on
//! every axis: n² steps. That collapse is what the papers report, and why this remains a baseline. A start takes a step per pair that
//! overlaps on the first axis: n² as well, if all stand in one plane across it. Infinite sides are just coordinates.
//! Memory: 2·D ends of 16 bytes per object, a copy of the box, and the pairs with a hash table.
//!
//! # Source
//! The sweep and prune of paper 000, section 4.5, and the AxisSweep of paper 001, both after Baraff and Witkin.

mod pairs;
mod update;
mod validate;

use super::endpoint_lists::{EndpointLists, Sorter};
use crate::algorithms::Stats;
use crate::algorithms::common::{TrackedBoxes, assert_dimension, implement_broad_phase};
use crate::geometry::Real;

/// The incremental three-axis sweep and prune (two axes in the plane). See the module documentation.
#[derive(Clone, Debug)]
pub struct Sweep3Axis<const D: usize, T: Real> {
    tracked: TrackedBoxes<D, T>,
    /// All objects and all pairs.
    lists: EndpointLists<D, T>,
    sorter: Sorter,
    /// Did an update run out of memory? The next one starts over.
    is_broken: bool,
}

impl<const D: usize, T: Real> Default for Sweep3Axis<D, T> {
    fn default() -> Self {
        assert_dimension::<D>();
        Self { tracked: TrackedBoxes::default(), lists: EndpointLists::default(), sorter: Sorter::default(), is_broken: false }
    }
}

impl<const D: usize, T: Real> Sweep3Axis<D, T> {
    /// An empty structure.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<const D: usize, T: Real> Sweep3Axis<D, T> {
    fn stats(&self) -> Stats {
        Stats { bytes: self.tracked.bytes() + self.lists.bytes() + self.sorter.bytes(), ..Stats::default() }
    }
}

implement_broad_phase!(Sweep3Axis);
