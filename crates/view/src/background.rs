//! An algorithm that is measured beside the one that is drawn, in a thread of its own.
//!
//! A frame waits for the quick ones, one after the other, so that no two of them are timed at once. One that takes longer goes on in its thread
//! and skips the frames that come meanwhile, so it does not slow the picture down.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::Duration;

use broadphase::{Real, Spec};
use serde_json::{Value, json};

use crate::runner::{Measured, Runner};
use crate::timeline::Boxes;

/// How long a frame waits for an algorithm beside it.
const PATIENCE: Duration = Duration::from_millis(40);

/// A job: a frame's number and boxes.
type Job<const D: usize, T> = (usize, Boxes<D, T>);

/// An algorithm beside the one that is drawn.
pub struct Background<const D: usize, T> {
    name: String,
    jobs: Option<SyncSender<Job<D, T>>>,
    results: Receiver<Result<Measured, String>>,
    busy: bool,
    last: Option<Measured>,
    /// Why it does not run.
    fault: Option<String>,
    /// Frames that came while it was busy.
    missed: u64,
}

impl<const D: usize, T: Real> Background<D, T> {
    /// Starts the thread, or keeps the reason why it cannot run.
    pub fn new(spec: &Spec, n: usize) -> Self {
        let (jobs, inbox) = mpsc::sync_channel::<Job<D, T>>(1);
        let (outbox, results) = mpsc::channel();
        let mut background =
            Self { name: spec.to_string(), jobs: Some(jobs), results, busy: false, last: None, fault: None, missed: 0 };
        match Runner::new(spec, n) {
            Err(text) => background.fail(text),
            Ok(mut runner) => {
                let work = move || {
                    // Ends when the channel closes, as this value is dropped.
                    for (number, boxes) in inbox {
                        let result = runner.step(number, &boxes).map_err(|error| error.to_string());
                        let over = result.is_err();
                        if outbox.send(result).is_err() || over {
                            return;
                        }
                    }
                };
                if let Err(error) = thread::Builder::new().name(format!("view {}", background.name)).spawn(work) {
                    background.fail(format!("no thread for it: {error}"));
                }
            }
        }
        background
    }

    fn fail(&mut self, text: String) {
        self.fault = Some(text);
        self.jobs = None;
        self.busy = false;
    }

    /// Passes on a frame and waits a little for its result.
    pub fn offer(&mut self, number: usize, boxes: &Boxes<D, T>) {
        self.collect(Duration::ZERO);
        if self.busy {
            self.missed += 1;
            return;
        }
        let Some(jobs) = &self.jobs else { return };
        self.busy = jobs.try_send((number, Arc::clone(boxes))).is_ok();
        self.collect(PATIENCE);
    }

    /// Takes a result that came after its frame; true if there was one.
    pub fn poll(&mut self) -> bool {
        let was_busy = self.busy;
        self.collect(Duration::ZERO);
        was_busy && !self.busy
    }

    /// Is a result on its way?
    pub fn is_busy(&self) -> bool {
        self.busy
    }

    /// Takes a result that is there, or arrives within `patience`.
    fn collect(&mut self, patience: Duration) {
        if !self.busy {
            return;
        }
        match self.results.recv_timeout(patience) {
            Ok(Ok(measured)) => (self.last, self.busy) = (Some(measured), false),
            Ok(Err(text)) => self.fail(text),
            Err(mpsc::RecvTimeoutError::Timeout) => (),
            Err(mpsc::RecvTimeoutError::Disconnected) => self.fail("it ended unexpectedly".to_string()),
        }
    }

    /// For the page; `pairs` is what the drawn algorithm found in frame `number`.
    pub fn json(&self, number: usize, pairs: u64) -> Value {
        let differs = self.last.as_ref().is_some_and(|last| last.frame == number && last.pairs != pairs);
        let measured = self.last.as_ref().map(Measured::json);
        json!({ "name": self.name, "measured": measured, "missed": self.missed, "fault": self.fault, "differs": differs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadphase::Aabb;

    fn background(name: &str, n: usize) -> (Background<2, f32>, Boxes<2, f32>) {
        let boxes = (0..n.min(3000)).map(|i| Aabb::new([i as f32, 0.0], [i as f32 + 1.0, 1.0])).collect();
        (Background::new(&name.parse().unwrap(), n), Arc::new(boxes))
    }

    #[test]
    fn a_result_arrives_sooner_or_later_and_frames_in_between_are_counted() {
        let (mut background, boxes) = background("brute-force", 3000);
        let mut offered = 0;
        while background.last.is_none() {
            background.offer(offered, &boxes);
            offered += 1;
        }
        assert_eq!(background.last.as_ref().map(|last| last.pairs), Some(2999));
        assert!(background.missed < offered as u64 && background.json(0, 2999)["differs"] == false);
        let frame = background.last.as_ref().map_or(0, |last| last.frame);
        assert_eq!(background.json(frame, 5)["differs"], true, "another number of pairs is an alarm");
    }

    #[test]
    fn an_algorithm_that_cannot_run_says_why() {
        let (mut background, boxes) = background("brute-force", 1_000_000);
        background.offer(0, &boxes);
        assert!(background.json(0, 0)["fault"].as_str().unwrap().contains("minutes"));
        let (mut unsuited, boxes) = self::background("particle-grid", 3000);
        while unsuited.fault.is_none() {
            unsuited.offer(0, &boxes);
        }
        assert!(unsuited.json(0, 0)["fault"].as_str().unwrap().contains("ball"));
    }
}
