//! The choice of an algorithm: a pure function of counted features.

use std::fmt;

/// The counted features. No clock, core count or instruction set is among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Features {
    /// Objects in the frame.
    pub objects: usize,
}

/// The algorithms that `auto` chooses from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// `brute-force`: all pairs are tested.
    BruteForce,
    /// `tiles`.
    Tiles,
}

impl Choice {
    /// The algorithm's name in the list.
    pub fn name(self) -> &'static str {
        match self {
            Choice::BruteForce => "brute-force",
            Choice::Tiles => "tiles",
        }
    }
}

/// A choice with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The chosen algorithm.
    pub choice: Choice,
    /// The features that it was chosen from.
    pub features: Features,
}

/// Up to this many objects, testing all pairs costs less than `tiles`. `broadphase bench brownian-cubes pile sizes
/// --n 32,64,96,128,192 --algorithms brute-force,tiles` shows the crossover: near 96 objects with AVX2 on the first and the
/// last scene, later on `pile`, whose objects drift so that `tiles` has to repartition.
pub const FEW: usize = 96;
/// The threshold is moved by this factor in favor of the algorithm that runs already.
const HYSTERESIS: usize = 2;

/// The policy. `current` is the algorithm that runs now, if there is one.
///
/// ```
/// use broadphase::auto::{Choice, Features, policy};
/// assert_eq!(policy(Features { objects: 50 }, None).choice, Choice::BruteForce);
/// assert_eq!(policy(Features { objects: 50_000 }, None).choice, Choice::Tiles);
/// // Near the threshold, the current algorithm is kept.
/// assert_eq!(policy(Features { objects: 150 }, Some(Choice::BruteForce)).choice, Choice::BruteForce);
/// ```
pub fn policy(features: Features, current: Option<Choice>) -> Verdict {
    let few = match current {
        Some(Choice::BruteForce) => FEW * HYSTERESIS,
        Some(Choice::Tiles) => FEW / HYSTERESIS,
        None => FEW,
    };
    let choice = if features.objects <= few { Choice::BruteForce } else { Choice::Tiles };
    Verdict { choice, features }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Features { objects } = self.features;
        match self.choice {
            Choice::BruteForce => write!(f, "brute-force: few objects, {objects}"),
            Choice::Tiles => write!(f, "tiles: many objects, {objects}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_moves_in_favor_of_the_current_algorithm() {
        let choose = |objects, current| policy(Features { objects }, current).choice;
        for (objects, fresh, from_brute_force, from_tiles) in [
            (0, Choice::BruteForce, Choice::BruteForce, Choice::BruteForce),
            (48, Choice::BruteForce, Choice::BruteForce, Choice::BruteForce),
            (49, Choice::BruteForce, Choice::BruteForce, Choice::Tiles),
            (96, Choice::BruteForce, Choice::BruteForce, Choice::Tiles),
            (97, Choice::Tiles, Choice::BruteForce, Choice::Tiles),
            (192, Choice::Tiles, Choice::BruteForce, Choice::Tiles),
            (193, Choice::Tiles, Choice::Tiles, Choice::Tiles),
            (10_000_000, Choice::Tiles, Choice::Tiles, Choice::Tiles),
        ] {
            assert_eq!(choose(objects, None), fresh, "{objects}");
            assert_eq!(choose(objects, Some(Choice::BruteForce)), from_brute_force, "{objects}");
            assert_eq!(choose(objects, Some(Choice::Tiles)), from_tiles, "{objects}");
        }
    }
}
