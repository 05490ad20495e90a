//! Bi-dimensional sweep and prune: candidates on a primary axis, pairing on a secondary one, in partitions of equal size.
//!
//! # The structure
//! The *rank* of an object is its place among all lower coordinates on the primary axis. Boxes stand in rank order. Each rank
//! has a candidate range, `lower..upper`: from the first rank that is still active when it starts to the last that starts
//! before it ends. What overlaps it on the primary axis is in that range. Then the endpoints on the secondary axis pass by in
//! order; an object that starts is tested against those active ones that are in its range, and becomes active until it ends.
//!
//! The ranks are cut into partitions of equal size, and each sweeps on its own: an object is active in the partition that its
//! rank belongs to, and searches in every partition that its range touches. A pair is found where the object that started first
//! is active, so no pair is found twice and nothing has to be merged: a partition is a chunk of the pair store. The number of
//! partitions follows from n or an option, never from the threads, so the list does not depend on them.
//!
//! # Departures from the paper
//! `paper=true` does without them (`paper.rs`): algorithm 1 with one partition, algorithms 2 to 4 with several. What they gain together over algorithm 1
//! (paired CPU times of one thread, equal pairs, an AMD EPYC with AVX-512; `broadphase bench brownian-cubes boxes:d=0.05 boxes:d=0.35 --n 16000
//! --frames 65 --algorithms sweep,sweep:paper=true`): 2.4 times as fast on `brownian-cubes`, 2.8 times at density 0.05, 5.0 times at 0.35.
//! 1. Boxes are kept in rank order and tested a register at a time; the paper tests them one by one, wherever they are. Active objects lie in packets
//!    per block of ranks (`kernels/active_blocks.rs`), or in a SuccTree (`active=tree`), as in the paper.
//! 2. The paper's partitions all read the whole list of endpoints. Here it is dealt out once, in order: each partition reads what
//!    concerns it. So partitions cost one thread nothing, and small ones stay in the cache. Their number follows from the number of objects.
//! 3. Lower bounds need no tree, sequentially or in parallel: in rank order, the first active rank only ever moves forward (`candidates.rs`).
//! 4. Long objects, a ground plane say, would hold every lower bound down. They are put into a partition of their own
//!    (`candidates.rs`), if that shortens the ranges by half.
//! 5. The axis swap has a hysteresis, and looks at the crowding of the axes in the first frame and in every eighth (`axes.rs`).
//!
//! # Cost
//! Sorting and candidates are linear. Pairing is one test per pair that overlaps on both axes, roughly, plus those in a range
//! that does not: for n evenly spread objects of one size about n^(4/3), where one axis alone takes n^(5/3). Bad cases: objects
//! crowded on both axes, for example a thin column along the third one; sizes so mixed that ranges are long although none
//! is long alone. Changes are not followed one by one: whatever changed, everything is sorted and swept; if nothing changed,
//! nothing is done. Memory: about 115 bytes per object for three `f32` axes, and 4 more for every further partition that its
//! range touches: 256 in all if every two objects overlap on the primary axis.
//!
//! # Source
//! Paper 002: algorithms 1 (`update.rs`), 2 (`sort.rs`), 3 (`candidates.rs`) and 4 (`pairs.rs`), as written in `paper.rs`; section 5 (`axes.rs`).

mod axes;
mod candidates;
mod options;
mod pairs;
mod paper;
mod query;
mod parts;
mod sort;
mod survey;
mod update;
mod validate;

pub(crate) use options::DESCRIPTORS as OPTIONS;
pub use options::{Active, Options, Path};

use crate::algorithms::common::{ProbeBuffers, assert_dimension, implement_broad_phase};
use crate::algorithms::{Spec, Stats};
use crate::error::Error;
use crate::geometry::Real;
use crate::kernels::Sorted;
use crate::pairs::Revision;
use axes::Axes;
use candidates::Candidates;
use pairs::Dealt;
use paper::Ranges;
use sort::EndpointSort;

/// The bi-dimensional sweep and prune.
#[derive(Clone, Debug)]
pub struct Sweep<const D: usize, T: Real> {
    options: Options,
    axes: Axes<D>,
    /// In rank order: column 0 is the primary axis, the last one the secondary.
    boxes: Sorted<D, T>,
    candidates: Candidates,
    /// In paper mode, in place of the candidates.
    ranges: Ranges,
    /// Endpoints on the secondary axis, in order: the start of rank `i` if `i < n`, else the end of rank `i - n`. In paper mode they are those of
    /// objects in the order of their ids.
    order: Vec<u32>,
    /// The standard deviation of the partitions' shares of pairs, in percentage points, when pairs were last found.
    deviation: f64,
    /// Has anything changed since the last `pairs`?
    changed: bool,
    /// What the last `pairs` wrote.
    revision: Revision,
    scratch: Scratch<T>,
    probe_buffers: ProbeBuffers<D, T>,
}

/// Buffers that can be dropped without changing a result.
#[derive(Clone, Debug)]
struct Scratch<T> {
    /// The ids of all objects, ascending.
    ids: Vec<u32>,
    /// One of the two is used: keys are as wide as the scalar.
    narrow: EndpointSort<u32>,
    wide: EndpointSort<u64>,
    candidates: candidates::Scratch,
    dealt: Dealt<T>,
}

impl<T> Default for Scratch<T> {
    fn default() -> Self {
        Self {
            ids: Vec::new(),
            narrow: EndpointSort::default(),
            wide: EndpointSort::default(),
            candidates: candidates::Scratch::default(),
            dealt: Dealt::default(),
        }
    }
}

impl<const D: usize, T: Real> Sweep<D, T> {
    /// An empty structure with the options of `spec`.
    pub fn new(spec: &Spec) -> Result<Self, Error> {
        assert_dimension::<D>();
        let options = Options::new(spec)?;
        if let Some(axes) = options.axes.filter(|axes| axes.iter().any(|&axis| axis >= D)) {
            let text: String = axes.iter().map(|&axis| ["x", "y", "z"][axis]).collect();
            return Err(spec.invalid("axes", &text, "auto, xy or yx in two dimensions".to_string()));
        }
        Ok(Self {
            axes: Axes::new(&options),
            options,
            boxes: Sorted::default(),
            candidates: Candidates::default(),
            ranges: Ranges::default(),
            order: Vec::new(),
            deviation: 0.0,
            changed: true,
            revision: Revision::default(),
            scratch: Scratch::default(),
            probe_buffers: ProbeBuffers::default(),
        })
    }
}

impl<const D: usize, T: Real> Sweep<D, T> {
    fn stats(&self) -> Stats {
        let Scratch { ids, narrow, wide, candidates, dealt } = &self.scratch;
        let scratch =
            ids.capacity() * 4 + narrow.bytes() + wide.bytes() + candidates.bytes() + dealt.bytes() + self.probe_buffers.bytes();
        let state =
            self.boxes.bytes() + self.candidates.bytes() + self.ranges.bytes() + self.order.capacity() * 4 + self.axes.bytes();
        let ([primary, secondary], swaps) = self.axes.figures();
        let extra = vec![
            ("primary_axis", self.boxes.axes()[0] as f64),
            ("secondary_axis", self.boxes.axes()[D - 1] as f64),
            ("axis_swaps", swaps as f64),
            ("dispersion_primary", primary),
            ("dispersion_secondary", secondary),
            ("partitions", self.options.partitions_for(self.boxes.len()) as f64),
            ("pair_share_deviation", self.deviation),
            ("long_objects", self.candidates.long().len() as f64),
        ];
        Stats { bytes: state + scratch, choice: None, extra }
    }
}

implement_broad_phase!(Sweep, reader);
