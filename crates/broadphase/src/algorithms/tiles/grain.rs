//! How many objects a tile should hold: found out by counting tests.
//!
//! Fewer objects per tile make fewer tests and more copies. For objects spread evenly the option's number is right. Where they crowd, or
//! where a tile that is mostly empty has a crowd in one corner, smaller tiles are worth their copies; where objects are large
//! compared with their distances, they are not. Nobody can tell from outside, so it is tried, by halves, when a partition is new,
//! and again when a crowd has scattered.

use super::plan::tuned::{LEFT_OF_THREE, MANY_TESTS, SMALLEST_TILE};

/// The search for the number of objects per tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grain {
    /// Objects per tile that the next partition aims at.
    pub(super) target: usize,
    /// The number of the option.
    largest: usize,
    /// The number before this try, and its tests.
    before: Option<(usize, u64)>,
    /// The tests when the search was over.
    settled: Option<u64>,
}

impl Grain {
    /// A search that starts with the option's number.
    pub(super) fn new(largest: usize) -> Self {
        Self { target: largest, largest, before: None, settled: None }
    }

    /// Takes the tests of a full join into account. Returns whether a partition with another target should be made.
    pub(super) fn book(&mut self, tests: u64, objects: usize) -> bool {
        if let Some(then) = self.settled {
            // Where a crowd has scattered, tiles of the option's number make few tests again, and fewer copies. That there are far fewer tests
            // than when it was settled keeps the search from going round in circles.
            let few = MANY_TESTS.min(then / objects.max(1) as u64) * objects as u64;
            let scattered = self.target < self.largest && tests * (SMALLEST_TILE as u64) < few;
            if scattered {
                *self = Self::new(self.largest);
            }
            return scattered;
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
    fn a_try_that_helps_is_followed_and_one_that_does_not_is_taken_back() {
        let mut grain = Grain::new(1000);
        assert!(!grain.book(150_000, 2000), "few tests are fine");
        assert!(!grain.book(500_000, 2000) && grain.target == 1000, "what is settled is settled");
        let mut grain = Grain::new(1000);
        assert!(grain.book(120_000, 1001));
        assert_eq!(grain.target, 500);
        assert!(grain.book(119_000, 1001), "no better");
        assert_eq!(grain.target, 1000);
        assert!(!grain.book(500_000, 1001), "and not tried again");

        let mut grain = Grain::new(1000);
        assert!(grain.book(800_000, 2000) && grain.book(400_000, 2000));
        assert_eq!(grain.target, 250);
        assert!(!grain.book(250_000, 2000), "the smallest is the smallest");
        assert_eq!(grain.target, 250);
        assert!(!grain.book(60_000, 2000), "not few enough for tiles four times as large");
        assert!(grain.book(40_000, 2000) && grain.target == 1000, "the crowd has scattered");
        assert!(!grain.book(160_000, 2000) && grain.target == 1000, "and that is that");

        let mut grain = Grain::new(1000);
        assert!(grain.book(800_000, 2000) && grain.book(400_000, 2000) && !grain.book(40_000, 2000));
        assert!(
            (0..100).all(|_| !grain.book(40_000, 2000)) && grain.target == 250,
            "small tiles made the tests few, no scattering"
        );
    }
}
