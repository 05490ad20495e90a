//! The choice of an algorithm: one pure function of counts, and its constants.

use std::fmt;

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
    /// The number of objects that it was chosen for, updated while it stays the best choice.
    pub objects: usize,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let objects = self.objects;
        match self.choice {
            Choice::BruteForce => write!(f, "brute-force: few objects, {objects}"),
            Choice::Tiles => write!(f, "tiles: many objects, {objects}"),
        }
    }
}

/// The tuned constants.
///
/// Up to [`few`](Tuning::few) objects, testing all pairs costs less than `tiles`. `broadphase bench brownian-cubes pile sizes
/// --n 32,64,96,128,192 --algorithms brute-force,tiles` shows the crossover: with AVX2 near 96 objects on the first and the
/// last scene, and at more objects on `pile`, whose objects drift so that `tiles` has to repartition.
struct Tuning {
    few: usize,
    /// The factor by which the threshold moves in favor of the current algorithm.
    hysteresis: usize,
    /// Frames after a switch for which `tiles` is kept although brute force would be faster: the difference is small.
    patience: u32,
}

const TUNING: Tuning = Tuning { few: 96, hysteresis: 2, patience: 32 };

/// What an update does about the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Keep the current algorithm, which is the best one.
    Keep,
    /// Keep the current algorithm for now: another one is better, but the last switch is too recent.
    Delay,
    /// Build a structure of this algorithm.
    Switch(Choice),
}

/// Decides for a frame with the given number of objects. `current` is the algorithm that runs now, if there is one, with the number of frames
/// since it was chosen. A switch to `tiles` is never delayed, since brute force costs the square of the number of objects.
pub(super) fn decide(objects: usize, current: Option<(Choice, u32)>) -> Decision {
    let Tuning { few, hysteresis, patience } = TUNING;
    let few = match current {
        Some((Choice::BruteForce, _)) => few * hysteresis,
        Some((Choice::Tiles, _)) => few / hysteresis,
        None => few,
    };
    let best = if objects <= few { Choice::BruteForce } else { Choice::Tiles };
    match current {
        Some((choice, _)) if choice == best => Decision::Keep,
        Some((_, frames)) if best == Choice::BruteForce && frames < patience => Decision::Delay,
        _ => Decision::Switch(best),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_decisions() {
        use Choice::{BruteForce, Tiles};
        use Decision::{Delay, Keep, Switch};
        for (objects, fresh, from_brute_force, from_tiles, from_recent_tiles) in [
            (0, Switch(BruteForce), Keep, Switch(BruteForce), Delay),
            (48, Switch(BruteForce), Keep, Switch(BruteForce), Delay),
            (49, Switch(BruteForce), Keep, Keep, Keep),
            (96, Switch(BruteForce), Keep, Keep, Keep),
            (97, Switch(Tiles), Keep, Keep, Keep),
            (192, Switch(Tiles), Keep, Keep, Keep),
            (193, Switch(Tiles), Switch(Tiles), Keep, Keep),
            (10_000_000, Switch(Tiles), Switch(Tiles), Keep, Keep),
        ] {
            assert_eq!(decide(objects, None), fresh, "{objects}");
            for frames in [0, 1, 1000] {
                assert_eq!(decide(objects, Some((BruteForce, frames))), from_brute_force, "{objects}");
            }
            for frames in [TUNING.patience, u32::MAX] {
                assert_eq!(decide(objects, Some((Tiles, frames))), from_tiles, "{objects}");
            }
            for frames in [0, TUNING.patience - 1] {
                assert_eq!(decide(objects, Some((Tiles, frames))), from_recent_tiles, "{objects}");
            }
        }
    }
    #[test]
    fn a_verdict_names_the_algorithm_and_its_reason() {
        let verdict = |choice| Verdict { choice, objects: 70 }.to_string();
        assert_eq!(verdict(Choice::BruteForce), "brute-force: few objects, 70");
        assert_eq!(verdict(Choice::Tiles), "tiles: many objects, 70");
        assert_eq!([Choice::BruteForce, Choice::Tiles].map(Choice::name), ["brute-force", "tiles"]);
    }
}
