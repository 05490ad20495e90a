//! Made-up rows and outcomes for tests.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use broadphase::{Aabb, Pair, Shape};
use broadphase_scenes::Scalar;

use super::measure::Timing;
use super::outcome::{Outcome, Record, Stages, Wrong};
use super::rows::{Facts, Refusal, RowRunner};
use super::source::{Setting, Stream};

/// The setting of all fakes: two objects in the plane.
pub fn setting(frames: usize) -> Rc<Setting> {
    Rc::new(Setting { scene: "fake".to_string(), n: 2, dim: 2, scalar: Scalar::F32, frames, skip: 0 })
}

/// Two boxes that always overlap.
pub struct TwoBoxes;

impl Stream<2, f32> for TwoBoxes {
    fn next(&mut self, boxes: &mut Vec<Aabb<2, f32>>) -> Result<(), crate::failure::Failure> {
        *boxes = vec![Aabb::new([0.0, 0.0], [1.0, 1.0]); 2];
        Ok(())
    }

    fn skip(&mut self) {}
}

/// A row that follows a script, and adds its name to the log in each frame.
pub struct Fake {
    pub name: &'static str,
    pub log: Rc<RefCell<Vec<(&'static str, usize)>>>,
    /// The pairs that it reports.
    pub pairs: Vec<Pair>,
    /// The time that it reports.
    pub takes: Duration,
    /// The frame in which it gives up, and how.
    pub gives_up: Option<(usize, fn() -> Refusal)>,
    pub frame: usize,
}

impl Fake {
    /// One that finds the one pair there is, in a millisecond.
    pub fn honest(name: &'static str, log: &Rc<RefCell<Vec<(&'static str, usize)>>>) -> Self {
        let pairs = vec![Pair::new(0, 1)];
        Self { name, log: Rc::clone(log), pairs, takes: Duration::from_millis(1), gives_up: None, frame: 0 }
    }
}

impl RowRunner<2, f32> for Fake {
    fn frame(&mut self, _: &[Aabb<2, f32>]) -> Result<Timing, Refusal> {
        let frame = self.frame;
        if let Some((_, refusal)) = self.gives_up.filter(|(at, _)| *at == frame) {
            return Err(refusal());
        }
        self.log.borrow_mut().push((self.name, frame));
        self.frame += 1;
        let cpu = Some(self.takes);
        Ok(Timing { wall: self.takes, cpu, cpu_update: Some(Duration::ZERO), update: Duration::ZERO, detect: self.takes })
    }

    fn visit(&self, visit: &mut dyn FnMut(&[Pair])) {
        visit(&self.pairs);
    }

    fn facts(&self) -> Facts {
        Facts::default()
    }
}

/// An outcome of blocks of two frames, whose counting frame takes `ms` each; frames have the given hashes and one pair.
pub fn outcome(name: &str, base: &'static str, peer: bool, times: &[u64], hashes: &[u64]) -> Outcome {
    let frames = 2 * times.len();
    let record = |frame: usize| {
        let time = Duration::from_millis(times[frame / 2]);
        let zero = Duration::ZERO;
        let timing = Timing { wall: time, cpu: Some(time), cpu_update: Some(zero), update: zero, detect: time };
        let hash = hashes.get(frame).copied().unwrap_or(7);
        Record { timing, pairs: 1, hash, tests: None, regions: None, block: frame / 2, counts: frame % 2 == 1 }
    };
    Outcome {
        setting: setting(frames),
        shape: Shape::Box,
        name: name.to_string(),
        base,
        peer,
        threads: 1,
        drive: Default::default(),
        isa: None,
        records: (0..frames).map(record).collect(),
        stages: Stages::default(),
        facts: Facts::default(),
        stopped: false,
        failed: None,
        oracle: None,
        wrong: Wrong::default(),
        moved: None,
        trace: Vec::new(),
    }
}
