//! Which algorithm, and why: a pure function of counted features.

use std::fmt;

/// What is counted in passing. Counts only: no clock, no core count, no instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Features {
    /// Objects in the frame.
    pub objects: usize,
}

/// What `auto` can choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Choice {
    /// All pairs.
    BruteForce,
    /// Tiles.
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
    /// What was chosen.
    pub choice: Choice,
    /// From what.
    pub features: Features,
}

/// Up to this many objects, testing all pairs costs less than setting anything up. `broadphase bench brownian-cubes pile sizes
/// --n 32,64,96,128,192 --algorithms brute-force,tiles` shows where the two cross: near 96 with AVX2 on the first and the
/// last; later on `pile`, which drifts, so that tiles are cut anew.
pub const FEW: usize = 96;
/// Having chosen, the border is moved by this factor in favour of the choice.
const HYSTERESIS: usize = 2;

/// The policy. `current` is what runs now, if anything does.
///
/// ```
/// use broadphase::auto::{Choice, Features, policy};
/// assert_eq!(policy(Features { objects: 50 }, None).choice, Choice::BruteForce);
/// assert_eq!(policy(Features { objects: 50_000 }, None).choice, Choice::Tiles);
/// // Near the border, what runs goes on running.
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
    fn the_border_moves_in_favour_of_what_runs() {
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
