//! Sweep and prune on every axis, kept sorted from frame to frame.
//!
//! # The structure
//! For each axis a list of the ends of all boxes, sorted; at equal coordinates lower ends stand before upper ends, so that touching counts. A
//! set of all overlapping pairs. A frame writes the new coordinates into the lists and sorts them by insertion. Each exchange of a lower end
//! with an upper end is the moment at which two boxes meet or part on that axis: meeting, they are tested, and are a pair if they
//! overlap on all axes; parting, they are a pair no more.
//!
//! New objects are appended, as if they came from infinity. If many are inserted at once, the lists are sorted from scratch, and one axis is swept.
//!
//! # Cost
//! One pass over the ends, and a step per exchange. Exchanges are few if little moves; if everything does, each object passes by n others on
//! every axis: n² steps. That collapse is what the papers report, and why this remains a baseline. A start takes a step per pair that
//! overlaps on the first axis: n² as well, if all stand in one plane across it. Infinite sides are just coordinates.
//! Memory: 2·D ends of 16 bytes per object, a copy of the box, and the pairs with a hash table.
//!
//! # Source
//! The sweep and prune of paper 000, section 4.5, and the AxisSweep of paper 001, both after Baraff and Witkin.

mod ends;
mod pair_set;
mod pairs;
mod update;
mod validate;

use crate::algorithms::Stats;
use crate::algorithms::common::{TrackedBoxes, assert_dimension, bytes_of, implement_broad_phase};
use crate::geometry::Real;

use ends::End;
use pair_set::PairSet;

/// The incremental three-axis sweep and prune (two axes in the plane). See the module documentation.
#[derive(Clone, Debug)]
pub struct Sweep3Axis<const D: usize, T: Real> {
    tracked: TrackedBoxes<D, T>,
    /// The ends on each axis, sorted.
    axes: [Vec<End<T>>; D],
    /// All overlapping pairs.
    overlaps: PairSet,
    /// Tests since the last pair list.
    tests: u64,
    /// Did an update run out of memory? The next one starts over.
    is_broken: bool,
}

impl<const D: usize, T: Real> Default for Sweep3Axis<D, T> {
    fn default() -> Self {
        assert_dimension::<D>();
        Self {
            tracked: TrackedBoxes::default(),
            axes: std::array::from_fn(|_| Vec::new()),
            overlaps: PairSet::default(),
            tests: 0,
            is_broken: false,
        }
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
        let ends: usize = self.axes.iter().map(bytes_of).sum();
        Stats { bytes: self.tracked.bytes() + ends + self.overlaps.bytes(), ..Stats::default() }
    }
}

implement_broad_phase!(Sweep3Axis);
