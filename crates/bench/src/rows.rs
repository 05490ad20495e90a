//! What runs in a row: an algorithm of ours or a peer, behind one trait.

use std::time::Duration;

use broadphase::{Aabb, Ball, BroadPhase, Context, Error, Frame, Pair, PairStore, Real, Regions, Report, Shape, Spec};
use broadphase_peers::{Groups, Peer, PeerError, PeerSpec};

use super::measure::{Timing, timed};

/// Turns boxes into pairs, frame by frame.
pub trait RowRunner<const D: usize, T> {
    /// One frame, timed: from these boxes to their exact pairs.
    fn frame(&mut self, boxes: &[Aabb<D, T>]) -> Result<Timing, Refusal>;

    /// Visits the pairs of the last frame, in pieces.
    fn visit(&self, visit: &mut dyn FnMut(&[Pair]));

    /// The tests of the last frame, if they are counted.
    fn tests(&self) -> Option<u64> {
        None
    }

    /// The stages of the last frame.
    fn stages(&self) -> &[(&'static str, Duration)] {
        &[]
    }

    /// What the parallel regions of the last frame took, if they are measured.
    fn regions(&self) -> Option<Regions> {
        None
    }

    /// What it reports about itself after the last frame.
    fn facts(&self) -> Facts;
}

/// Why a row does not go on.
#[derive(Debug)]
pub enum Refusal {
    /// The frames are not of a kind that it works on.
    Unsuited(String),
    /// It cannot: too many pairs, no memory, a peer's panic.
    Failed(String),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error {
            Error::Unsuited { .. } => Refusal::Unsuited(error.to_string()),
            // The library's own text advises functions, which a user of the tool does not call.
            Error::TooManyPairs { limit } => {
                Refusal::Failed(format!("more than {limit} pairs; `broadphase pairs --count` counts any number"))
            }
            _ => Refusal::Failed(error.to_string()),
        }
    }
}

impl From<PeerError> for Refusal {
    fn from(error: PeerError) -> Self {
        match error {
            PeerError::Unsuited { .. } => Refusal::Unsuited(error.to_string()),
            _ => Refusal::Failed(error.to_string()),
        }
    }
}

/// What a row reports about itself.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Bytes that it holds.
    pub bytes: Option<usize>,
    /// What `auto` chose, and why.
    pub choice: Option<String>,
    /// Figures of its own.
    pub extra: Vec<(&'static str, f64)>,
}

/// One of our algorithms: one structure and one store over all frames.
pub struct Ours<const D: usize, T: Real> {
    structure: Box<dyn BroadPhase<D, T>>,
    context: Context,
    shape: Shape,
    store: PairStore,
    /// Tests of all frames so far, by worker.
    worker_tests: Vec<u64>,
}

impl<const D: usize, T: Real> Ours<D, T> {
    /// Builds the structure. The context brings the threads; the kernels are the spec's.
    pub fn new(spec: &Spec, context: Context, shape: Shape, report: Report) -> Result<Self, Error> {
        let context = context.with_kernels(spec.kernels()).with_timing();
        let mut store = PairStore::new(report);
        if report == Report::Count {
            store.set_limit(u64::MAX); // pairs are only counted, which needs no memory
        }
        Ok(Self { structure: spec.build()?, context, shape, store, worker_tests: Vec::new() })
    }

    /// The pairs of the last frame.
    pub fn store(&self) -> &PairStore {
        &self.store
    }

    /// The share of all tests that the busiest worker made.
    fn largest_worker_share(&self) -> Option<f64> {
        let total: u64 = self.worker_tests.iter().sum();
        let largest = self.worker_tests.iter().max()?;
        (total > 0).then(|| *largest as f64 / total as f64)
    }
}

impl<const D: usize, T: Real> RowRunner<D, T> for Ours<D, T> {
    fn frame(&mut self, boxes: &[Aabb<D, T>]) -> Result<Timing, Refusal> {
        let mut frame = Frame::new(boxes);
        frame.shape = self.shape;
        self.context.clear_stages();
        let mut timing = timed(
            self,
            |ours| ours.structure.update(&frame, &mut ours.context),
            |ours| ours.structure.pairs(&frame, &mut ours.context, &mut ours.store),
        )?;
        if self.context.width() > 1 {
            (timing.cpu, timing.cpu_update) = (None, None); // the calling thread's time is not the whole
        }
        for (worker, tests) in self.store.worker_tests().enumerate() {
            self.worker_tests.resize(self.worker_tests.len().max(worker + 1), 0);
            self.worker_tests[worker] += tests;
        }
        Ok(timing)
    }

    fn visit(&self, visit: &mut dyn FnMut(&[Pair])) {
        self.store.for_each_chunk(visit);
    }

    fn tests(&self) -> Option<u64> {
        Some(self.store.tests())
    }

    fn stages(&self) -> &[(&'static str, Duration)] {
        self.context.stages()
    }

    fn regions(&self) -> Option<Regions> {
        self.context.regions()
    }

    fn facts(&self) -> Facts {
        let stats = self.structure.stats();
        let mut extra = stats.extra;
        if self.context.width() > 1 {
            extra.extend(self.largest_worker_share().map(|share| ("largest_worker_share", share)));
        }
        Facts { bytes: Some(stats.bytes), choice: stats.choice, extra }
    }
}

/// A peer: one structure over all frames, or a new one for each.
pub struct Theirs<const D: usize, T: Real> {
    spec: PeerSpec,
    /// Between frames there is none if each frame has its own.
    peer: Option<Box<dyn Peer<D, T>>>,
    /// Is nothing kept from frame to frame?
    fresh: bool,
    /// Which pairs are requested; all if `None`.
    groups: Option<Groups>,
    /// The library has no way to leave pairs out, so we filter, inside the timed frame.
    filter_groups: bool,
    /// Does it find boxes although balls are requested? As its user would have to, we filter inside the timed frame.
    filter_balls: bool,
    pairs: Vec<Pair>,
}

impl<const D: usize, T: Real> Theirs<D, T> {
    /// Builds the peer.
    pub fn new(spec: &PeerSpec, shape: Shape) -> Result<Self, PeerError> {
        let filter_balls = shape == Shape::Ball && !spec.descriptor().balls;
        let peer = Some(spec.build()?);
        let (fresh, groups, filter_groups) = (false, None, false);
        Ok(Self { spec: spec.clone(), peer, fresh, groups, filter_groups, filter_balls, pairs: Vec::new() })
    }

    /// The same, with a new structure for each frame: set-up is part of the frame.
    pub fn fresh(self) -> Self {
        Self { fresh: true, ..self }
    }

    /// The same, for these pairs only.
    pub fn with_groups(mut self, groups: Groups) -> Self {
        self.filter_groups = self.peer.as_mut().is_some_and(|peer| !peer.set_groups(&groups));
        Self { groups: Some(groups), ..self }
    }

    /// The structure of this frame.
    fn open(&mut self) -> Result<&mut Box<dyn Peer<D, T>>, PeerError> {
        let peer = match self.peer.take() {
            Some(peer) => peer,
            None => {
                let mut peer = self.spec.build()?;
                self.groups.as_ref().map(|groups| peer.set_groups(groups));
                peer
            }
        };
        Ok(self.peer.insert(peer))
    }
}

impl<const D: usize, T: Real> RowRunner<D, T> for Theirs<D, T> {
    fn frame(&mut self, boxes: &[Aabb<D, T>]) -> Result<Timing, Refusal> {
        let ball = |id: u32| Ball::of_box(&boxes[id as usize]);
        if self.fresh {
            self.peer = None; // freeing the last one is not timed, nor is freeing our own lists
        }
        let timing = timed(
            self,
            |theirs| theirs.open()?.update(boxes),
            |theirs| {
                let mut pairs = std::mem::take(&mut theirs.pairs);
                theirs.open()?.detect(boxes, &mut pairs)?;
                theirs.pairs = pairs;
                if let Some(groups) = theirs.groups.as_ref().filter(|_| theirs.filter_groups) {
                    theirs.pairs.retain(|pair| groups.allows(pair));
                }
                if theirs.filter_balls {
                    theirs.pairs.retain(|pair| ball(pair.a).overlaps(&ball(pair.b)));
                }
                Ok(())
            },
        )?;
        Ok(timing)
    }

    fn visit(&self, visit: &mut dyn FnMut(&[Pair])) {
        visit(&self.pairs);
    }

    fn facts(&self) -> Facts {
        Facts { bytes: self.peer.as_ref().and_then(|peer| peer.bytes()), ..Facts::default() }
    }
}
