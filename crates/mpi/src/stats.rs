//! The CPU time of a frame by stage, and what it exchanged.

use std::time::Duration;

use cpu_time::ThreadTime;

/// CPU time of the calling thread in the last frame, by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// This rank's own objects: update and join.
    pub local: Duration,
    /// Tight boxes, choice of what travels, packing and unpacking.
    pub exchange: Duration,
    /// The joins with ghosts.
    pub cross: Duration,
    /// Inside calls of the transport. Waiting counts if the transport spins.
    pub transport: Duration,
}

impl Stages {
    /// All but the transport.
    pub fn outside_transport(&self) -> Duration {
        self.local + self.exchange + self.cross
    }
}

/// What was exchanged in the last frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Ghosts that this rank holds.
    pub ghosts: usize,
    /// Those of them that are wide.
    pub wide_ghosts: usize,
    /// Copies of this rank's objects that other ranks hold.
    pub copies: usize,
    /// Ranks with which messages were exchanged.
    pub neighbors: usize,
    /// Messages sent to single ranks.
    pub messages: usize,
    /// Bytes of these messages.
    pub bytes_sent: usize,
    /// Bytes received from single ranks.
    pub bytes_received: usize,
    /// Bytes of the table of all ranks' boxes.
    pub table_bytes: usize,
}

/// A stopwatch of CPU time.
pub(crate) struct Clock(ThreadTime);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(ThreadTime::now())
    }

    /// Adds the time since the last lap.
    pub(crate) fn lap(&mut self, to: &mut Duration) {
        let now = ThreadTime::now();
        *to += now.duration_since(self.0);
        self.0 = now;
    }
}
