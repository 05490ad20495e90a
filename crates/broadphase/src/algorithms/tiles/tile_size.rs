//! The tile-size tuner: how many objects a tile should hold, found by counting tests.
//!
//! Fewer objects per tile mean fewer tests and more copies. For evenly spread objects the option's number is right. If objects form clusters,
//! smaller tiles are worth their copies; if objects are large compared with their distances, they are not. No simple feature of a scene
//! predicts which is the case, so the tuner tries half the size when a partition is new, and starts over when a cluster has dispersed.

use super::plan::tuned::{LEFT_OF_THREE, MANY_TESTS, SMALLEST_TILE};

/// Searches for the number of objects per tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileSizeTuner {
    /// Objects per tile that the next partition aims at.
    pub(super) target: usize,
    /// The option's number.
    largest: usize,
    /// The target before the current trial, and its number of tests.
    before: Option<(usize, u64)>,
    /// The number of tests when the search ended.
    settled: Option<u64>,
}

impl TileSizeTuner {
    /// A search that starts with the option's number.
    pub(super) fn new(largest: usize) -> Self {
        Self { target: largest, largest, before: None, settled: None }
    }

    /// Records the tests of a full join. Returns whether the partition should be rebuilt with another target.
    pub(super) fn record(&mut self, tests: u64, objects: usize) -> bool {
        if let Some(then) = self.settled {
            // After a cluster has dispersed, tiles of the option's size need few tests again, and fewer copies. Requiring far fewer tests
            // than at the end of the search keeps the search from being repeated over and over.
            let few = MANY_TESTS.min(then / objects.max(1) as u64) * objects as u64;
            let dispersed = self.target < self.largest && tests * (SMALLEST_TILE as u64) < few;
            if dispersed {
                *self = Self::new(self.largest);
            }
            return dispersed;
        }
        if let Some((target, _)) = self.before.filter(|(_, then)| tests * 3 > then * LEFT_OF_THREE) {
            (self.target, self.settled) = (target, Some(tests));
            return true;
        }
        if tests <= MANY_TESTS * objects as u64 || self.target / 2 < self.largest / SMALLEST_TILE || objects <= self.target {
            self.settled = Some(tests);
            return false;
        }
        self.before = Some((self.target, tests));
        self.target /= 2;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_successful_trial_is_kept_and_others_are_reverted() {
        let mut tuner = TileSizeTuner::new(1000);
        assert!(!tuner.record(150_000, 2000), "few tests are fine");
        assert!(!tuner.record(500_000, 2000) && tuner.target == 1000, "a search that has ended stays ended");
        let mut tuner = TileSizeTuner::new(1000);
        assert!(tuner.record(120_000, 1001));
        assert_eq!(tuner.target, 500);
        assert!(tuner.record(119_000, 1001), "no better");
        assert_eq!(tuner.target, 1000);
        assert!(!tuner.record(500_000, 1001), "and not tried again");

        let mut tuner = TileSizeTuner::new(1000);
        assert!(tuner.record(800_000, 2000) && tuner.record(400_000, 2000));
        assert_eq!(tuner.target, 250);
        assert!(!tuner.record(250_000, 2000), "tiles of the smallest size are not halved");
        assert_eq!(tuner.target, 250);
        assert!(!tuner.record(60_000, 2000), "not few enough for tiles four times as large");
        assert!(tuner.record(40_000, 2000) && tuner.target == 1000, "the cluster has dispersed");
        assert!(!tuner.record(160_000, 2000) && tuner.target == 1000, "and not tried again");

        let mut tuner = TileSizeTuner::new(1000);
        assert!(tuner.record(800_000, 2000) && tuner.record(400_000, 2000) && !tuner.record(40_000, 2000));
        assert!(
            (0..100).all(|_| !tuner.record(40_000, 2000)) && tuner.target == 250,
            "small tiles made the tests few, no scattering"
        );
    }
}
