//! Exponential backoff, counted in frames: how long to wait before retrying an optimization that did not pay.

/// A wait that doubles with every failure in a row: `FIRST` steps after the first one, at most `LONGEST`. The owner decides what a step is: a
/// frame, or a frame with changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Backoff<const FIRST: u32, const LONGEST: u32> {
    /// Steps left in the current wait, and the length of the last wait.
    left: u32,
    last: u32,
}

impl<const FIRST: u32, const LONGEST: u32> Backoff<FIRST, LONGEST> {
    /// Starts a wait, after a failure: longer than the last one.
    pub(crate) fn fail(&mut self) {
        self.last = self.last.saturating_mul(2).clamp(FIRST, LONGEST);
        self.left = self.last;
    }

    /// Ends the wait, after a success; the next failure counts as the first one.
    pub(crate) fn succeed(&mut self) {
        (self.left, self.last) = (0, 0);
    }

    /// Counts a step. Returns how many were left before it; 0 means that there is no wait.
    pub(crate) fn step(&mut self) -> u32 {
        let before = self.left;
        self.left = before.saturating_sub(1);
        before
    }

    /// Is there a wait?
    pub(crate) fn is_waiting(&self) -> bool {
        self.left > 0
    }

    /// Ends the wait with the next step.
    pub(crate) fn end_soon(&mut self) {
        self.left = self.left.min(1);
    }

    /// The length of the last wait.
    #[cfg(test)]
    pub(crate) fn last(&self) -> u32 {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_success_starts_again() {
        let mut backoff = Backoff::<4, 10>::default();
        let wait = |backoff: &mut Backoff<4, 10>| {
            backoff.fail();
            (0..).take_while(|_| backoff.step() > 0).count()
        };
        assert_eq!([wait(&mut backoff), wait(&mut backoff), wait(&mut backoff), wait(&mut backoff)], [4, 8, 10, 10]);
        backoff.succeed();
        assert!(!backoff.is_waiting());
        assert_eq!(wait(&mut backoff), 4);
        backoff.fail();
        backoff.end_soon();
        assert_eq!((backoff.step(), backoff.step(), backoff.last()), (1, 0, 8));
    }
}
