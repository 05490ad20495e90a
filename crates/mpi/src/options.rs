//! The options of a job; the same on all ranks except for threads and the limit of pairs.

use broadphase::{Context, PairStore, Spec};

use crate::pairs::Reporting;

/// How a job's broad phase works. All ranks must choose the same, except for [`context`](Options::context) and [`pair_limit`](Options::pair_limit);
/// [`Distributed::new`](crate::Distributed::new) returns an error otherwise.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where a pair of two ranks is reported.
    pub reporting: Reporting,
    /// Are started and ended pairs wanted?
    pub events: bool,
    /// The algorithm for a rank's own objects. The cell sizes of `hash-grid` follow from its option `base`; if that is not given, all ranks compute
    /// it from the first object of the lowest rank that has one.
    pub algorithm: Spec,
    /// The most tight boxes that a rank sends to the others, besides the box of its interior: 1 to 64, rounded down to a power of two. More boxes mean
    /// fewer ghosts where a rank's objects do not fill a box, and a longer table for all ranks.
    pub boxes: usize,
    /// If there are more local pairs, or more pairs with ghosts, the update of this rank fails.
    pub pair_limit: u64,
    /// Threads and kernels of this rank.
    pub context: Context,
}

impl Default for Options {
    /// Each pair once, no events, `auto`, 16 boxes, one thread.
    fn default() -> Self {
        Self {
            reporting: Reporting::Once,
            events: false,
            algorithm: Spec::default(),
            boxes: 16,
            pair_limit: PairStore::DEFAULT_LIMIT,
            context: Context::new(),
        }
    }
}

impl Options {
    /// Sets where pairs of two ranks are reported.
    pub fn with_reporting(mut self, reporting: Reporting) -> Self {
        self.reporting = reporting;
        self
    }

    /// Also finds started and ended pairs.
    pub fn with_events(mut self) -> Self {
        self.events = true;
        self
    }

    /// Sets the algorithm for a rank's own objects.
    pub fn with_algorithm(mut self, algorithm: Spec) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Sets the number of tight boxes per rank.
    pub fn with_boxes(mut self, boxes: usize) -> Self {
        self.boxes = boxes;
        self
    }

    /// Sets threads and kernels.
    pub fn with_context(mut self, context: Context) -> Self {
        self.context = context;
        self
    }
}
