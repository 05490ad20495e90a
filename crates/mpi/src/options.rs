//! How a job's broad phase works; the same on all ranks except for threads.

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
    /// The algorithm for a rank's own objects. The cell sizes of `hash-grid` follow from a base; unless this has one, all ranks take that of the first
    /// object of the lowest rank that has any.
    pub algorithm: Spec,
    /// The most tight boxes that a rank sends to the others, besides that of its interior: 1 to 64, rounded down to a power of two. More boxes mean
    /// fewer ghosts where a rank's objects do not fill a box, and a longer table for all ranks.
    pub boxes: usize,
    /// More local pairs, or pairs with ghosts, than this are an error of this rank.
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
    /// With another place where pairs are reported.
    pub fn with_reporting(mut self, reporting: Reporting) -> Self {
        self.reporting = reporting;
        self
    }

    /// With started and ended pairs.
    pub fn with_events(mut self) -> Self {
        self.events = true;
        self
    }

    /// With another algorithm for a rank's own objects.
    pub fn with_algorithm(mut self, algorithm: Spec) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// With another number of tight boxes per rank.
    pub fn with_boxes(mut self, boxes: usize) -> Self {
        self.boxes = boxes;
        self
    }

    /// With threads or other kernels.
    pub fn with_context(mut self, context: Context) -> Self {
        self.context = context;
        self
    }
}
