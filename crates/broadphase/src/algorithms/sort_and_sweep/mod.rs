//! Sort along one axis, sweep along it: the baseline that `sweep` is measured against.
//!
//! # The structure
//! All boxes as columns, in ascending order of their lower coordinate on the sweep axis: the one on which the centers vary most,
//! unless option `axis` names one. Every frame sorts again, by radix sort. Rows of `ROWS_PER_CHUNK` positions make
//! a chunk of pairs: chunk `c` holds the pairs whose box that starts first is in its rows. Infinite sides are held natively.
//!
//! # Cost
//! O(n) for the sort, then one test per pair that overlaps on the sweep axis, a register of tests at once. That number is the
//! bad case, and not a rare one: in a cube of evenly spread objects it grows with n^(5/3), and if all objects stand in one plane
//! across the axis, with n².
//! Changes are not followed one by one: whatever changed, everything is sorted and swept; if nothing changed, nothing is done.
//!
//! # Source
//! Baraff's sort and sweep as section 2 of paper 002 describes it; the radix sort and the vector tests make it a fair baseline.

mod pairs;
mod query;
mod update;
mod validate;

use crate::algorithms::common::{ProbeBuffers, assert_dimension, implement_broad_phase};
use crate::algorithms::{OptionDescriptor, Spec, Stats};
use crate::bits::IndexSort;
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::Sorted;
use crate::pairs::Revision;

/// Positions whose pairs share a chunk.
const ROWS_PER_CHUNK: usize = 4096;

/// The one-axis sweep.
#[derive(Clone, Debug)]
pub struct SortAndSweep<const D: usize, T: Real> {
    /// The axis to use always, if one is given.
    fixed_axis: Option<usize>,
    boxes: Sorted<D, T>,
    /// Has anything changed since the last `pairs`?
    changed: bool,
    /// What the last `pairs` wrote.
    revision: Revision,
    scratch: Scratch,
    probe_buffers: ProbeBuffers<D, T>,
}

/// Buffers that can be dropped without changing a result.
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// One of the two is used: keys are as wide as the scalar.
    narrow: IndexSort<u32>,
    wide: IndexSort<u64>,
    order: Vec<u32>,
}

impl<const D: usize, T: Real> SortAndSweep<D, T> {
    /// An empty structure with the options of `spec`.
    pub fn new(spec: &Spec) -> Result<Self, Error> {
        assert_dimension::<D>();
        let fixed_axis = axis_option(spec)?;
        if fixed_axis.is_some_and(|axis| axis >= D) {
            return Err(spec.invalid("axis", "z", "x, y or auto in two dimensions".to_string()));
        }
        Ok(Self {
            fixed_axis,
            boxes: Sorted::default(),
            changed: true,
            revision: Revision::default(),
            scratch: Scratch::default(),
            probe_buffers: ProbeBuffers::default(),
        })
    }
}

/// The options as a [`Spec`] takes them.
pub(crate) const OPTIONS: &[OptionDescriptor] = &[OptionDescriptor {
    name: "axis",
    default: "auto",
    help: "the sweep axis: x, y, z, or auto for the one of greatest variance",
}];

/// The axis that option `axis` names.
fn axis_option(spec: &Spec) -> Result<Option<usize>, Error> {
    match spec.text("axis") {
        None | Some("auto") => Ok(None),
        Some("x") => Ok(Some(0)),
        Some("y") => Ok(Some(1)),
        Some("z") => Ok(Some(2)),
        Some(other) => Err(spec.invalid("axis", other, "x, y, z or auto".to_string())),
    }
}

impl<const D: usize, T: Real> SortAndSweep<D, T> {
    fn stats(&self) -> Stats {
        let Scratch { narrow, wide, order } = &self.scratch;
        let scratch = narrow.bytes() + wide.bytes() + order.capacity() * 4 + self.probe_buffers.bytes();
        let extra = vec![("axis", self.boxes.axes()[0] as f64)];
        Stats { bytes: self.boxes.bytes() + scratch, choice: None, extra }
    }
}

implement_broad_phase!(SortAndSweep, reader);
