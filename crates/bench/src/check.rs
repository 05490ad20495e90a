//! Checks of the results: an oracle for every frame if requested, and agreement of hashes always.

use std::fmt::Display;
use std::time::Duration;

use broadphase::{Context, Pair, Real, Report, Shape, Spec, algorithms};
use broadphase_peers::PeerSpec;

use super::drives::Scope;
use super::outcome::{Outcome, Wrong};
use super::rows::{Ours, Refusal, RowRunner};
use super::source::{Block, Setting};
use crate::failure::Failure;

/// Up to this many objects brute force is the reference.
const BRUTE_FORCE_LIMIT: usize = 50_000;

/// The reference for small n.
const BRUTE_FORCE: &str = "brute-force";

/// The oracles for more objects: fast enough for a million, and no two share their search for candidates.
const SUBSTITUTES: [&str; 5] = ["kd-tree", "sweep", "hash-grid", "sort-and-sweep", "tiles"];

/// No core tests more pairs than this in a second.
const TESTS_PER_SECOND: f64 = 2e10;

/// Why an algorithm is not started: a frame cannot be interrupted, and the first one alone would exceed the limit, by hours for brute force at
/// ten million objects. Only brute force's cost is known beforehand.
pub fn exceeds_limit(spec: &Spec, n: usize, limit: Duration) -> Option<String> {
    let tests = if spec.descriptor().name == BRUTE_FORCE { n as f64 * n as f64 / 2.0 } else { 0.0 };
    beyond(spec, n, tests / TESTS_PER_SECOND, limit)
}

/// Why a peer is not started, by the time of its set-up in its descriptor.
pub fn peer_exceeds_limit(spec: &PeerSpec, n: usize, limit: Duration) -> Option<String> {
    beyond(spec, n, spec.descriptor().least_setup(n), limit)
}

fn beyond(name: impl Display, n: usize, seconds: f64, limit: Duration) -> Option<String> {
    let beyond = seconds > limit.as_secs_f64();
    beyond.then(|| format!("{name} would pass its limit in the first of its frames with {n} objects; name it to run it"))
}

/// Finds the true pairs of each frame, untimed.
pub struct Oracle<const D: usize, T: Real> {
    name: &'static str,
    oracle: Ours<D, T>,
    /// The pairs that are requested.
    scope: Scope,
    /// The sorted pairs of each frame of the block.
    truth: Vec<Vec<Pair>>,
}

impl<const D: usize, T: Real> Oracle<D, T> {
    /// Brute force up to 50 k objects; above, the first substitute that suits and is not the one row of ours to be checked. `None`
    /// if there is no such algorithm: then the rows are compared with each other.
    pub fn new(setting: &Setting, shape: Shape, ours: &[&str]) -> Result<Option<Self>, Failure> {
        let names: &[&str] = if setting.n <= BRUTE_FORCE_LIMIT { &[BRUTE_FORCE] } else { &SUBSTITUTES };
        let suits = |name: &&&str| {
            let found = algorithms::list().iter().find(|descriptor| descriptor.name == **name);
            let fits = found.is_some_and(|d| d.dims.contains(&setting.dim) && d.shapes.contains(&shape));
            fits && (setting.n <= BRUTE_FORCE_LIMIT || ours != [**name])
        };
        let Some(name) = names.iter().find(suits) else { return Ok(None) };
        let spec: Spec = name.parse()?;
        let oracle = Ours::new(&spec, Context::new(), shape, Report::All)?;
        Ok(Some(Self { name: spec.descriptor().name, oracle, scope: Scope::All, truth: Vec::new() }))
    }

    /// The same, for rows that report only these of all pairs.
    pub fn with_scope(self, scope: &Scope) -> Self {
        Self { scope: scope.clone(), ..self }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Finds the pairs of a block.
    pub fn learn(&mut self, block: &Block<D, T>) -> Result<(), Failure> {
        self.truth.resize_with(block.frames().len(), Vec::new);
        for (k, boxes) in block.frames().iter().enumerate() {
            self.oracle.frame(boxes).map_err(|refusal| match refusal {
                Refusal::Unsuited(text) | Refusal::Failed(text) => {
                    Failure::Data(format!("the oracle {} gives up in frame {}: {text}", self.name, block.first + k))
                }
            })?;
            let truth = &mut self.truth[k];
            truth.clear();
            self.oracle.store().copy_into(truth);
            truth.retain(|pair| self.scope.holds(pair));
            sort(truth);
        }
        Ok(())
    }

    /// Compares the pairs of frame `k` of the block with the truth, as sets.
    pub fn compare(&self, k: usize, pairs: &mut [Pair]) -> Wrong {
        sort(pairs);
        difference(&self.truth[k], pairs)
    }
}

/// A pair as one word: comparing one word is faster than comparing two.
fn sort(pairs: &mut [Pair]) {
    pairs.sort_unstable_by_key(|pair| pair.key());
}

/// How many pairs `found` lacks and how many it has in excess; both lists are sorted. A pair that is reported twice is extra once.
fn difference(truth: &[Pair], found: &[Pair]) -> Wrong {
    let (mut t, mut f, mut wrong) = (0, 0, Wrong::default());
    while t < truth.len() || f < found.len() {
        match (truth.get(t), found.get(f)) {
            (Some(a), Some(b)) if a == b => (t, f) = (t + 1, f + 1),
            (Some(a), b) if b.is_none_or(|b| a < b) => (t, wrong.missing) = (t + 1, wrong.missing + 1),
            _ => (f, wrong.extra) = (f + 1, wrong.extra + 1),
        }
    }
    wrong
}

/// Compares the rows' hashes frame by frame and notes what is wrong with each row, for rows that no oracle checked.
///
/// The reference of a frame is brute force's hash if it ran and n is at most 50 k, else the one that most of our rows have, the
/// first of them on a tie. A hash shows that a frame is wrong, not how many pairs are: the smallest number that explains it is noted.
pub fn agree(outcomes: &mut [Outcome]) {
    let frames = outcomes.iter().map(|outcome| outcome.records.len()).max().unwrap_or(0);
    for frame in 0..frames {
        let Some((pairs, hash)) = reference(outcomes, frame) else { continue };
        for outcome in outcomes.iter_mut() {
            let Some(record) = outcome.records.get(frame) else { continue };
            if (record.pairs, record.hash) != (pairs, hash) {
                let wrong = match record.pairs.cmp(&pairs) {
                    std::cmp::Ordering::Equal => Wrong { missing: 1, extra: 1 },
                    _ => Wrong { missing: pairs.saturating_sub(record.pairs), extra: record.pairs.saturating_sub(pairs) },
                };
                outcome.wrong.add(wrong);
            }
        }
    }
}

/// The number of pairs and the hash that a frame should have.
fn reference(outcomes: &[Outcome], frame: usize) -> Option<(u64, u64)> {
    let ours = || outcomes.iter().filter(|outcome| !outcome.peer && outcome.records.len() > frame);
    let result = |outcome: &Outcome| (outcome.records[frame].pairs, outcome.records[frame].hash);
    let brute_force = ours().find(|outcome| outcome.base == BRUTE_FORCE && outcome.setting.n <= BRUTE_FORCE_LIMIT);
    if let Some(brute_force) = brute_force {
        return Some(result(brute_force));
    }
    let votes = |value: (u64, u64)| ours().filter(|outcome| result(outcome) == value).count();
    // `max_by_key` takes the last of equals, so the order is turned around.
    ours().map(result).collect::<Vec<_>>().into_iter().rev().max_by_key(|&value| votes(value))
}

#[cfg(test)]
mod tests {
    use super::super::fakes::outcome;
    use super::*;

    fn pairs(keys: &[(u32, u32)]) -> Vec<Pair> {
        keys.iter().map(|&(a, b)| Pair::new(a, b)).collect()
    }

    #[test]
    fn the_difference_counts_both_sides_and_repetitions() {
        let truth = pairs(&[(0, 1), (0, 2), (3, 4)]);
        assert_eq!(difference(&truth, &truth), Wrong::default());
        assert_eq!(difference(&truth, &[]), Wrong { missing: 3, extra: 0 });
        assert_eq!(difference(&[], &truth), Wrong { missing: 0, extra: 3 });
        assert_eq!(difference(&truth, &pairs(&[(0, 1), (0, 1), (1, 2), (3, 4)])), Wrong { missing: 1, extra: 2 });
    }

    #[test]
    fn brute_force_decides_over_a_majority() {
        let row = |name: &'static str, hash: u64| outcome(name, name, false, &[1], &[hash, hash]);
        let mut rows = [row("x", 5), row("y", 5), row("brute-force", 7)];
        agree(&mut rows);
        assert_eq!(rows.each_ref().map(|row| row.wrong.any()), [true, true, false]);
        assert_eq!(rows[0].wrong, Wrong { missing: 2, extra: 2 }, "one pair each way in two frames is the least");
    }

    #[test]
    fn without_brute_force_most_of_ours_decide_and_peers_have_no_vote() {
        let row = |name: &'static str, peer: bool, hash: u64| outcome(name, name, peer, &[1], &[7, hash]);
        let mut rows = [row("x", false, 5), row("y", false, 7), row("z", false, 7), row("p", true, 5), row("q", true, 5)];
        agree(&mut rows);
        assert_eq!(rows.each_ref().map(|row| row.wrong.any()), [true, false, false, true, true]);
        let mut tie = [row("x", false, 5), row("y", false, 7)];
        agree(&mut tie);
        assert_eq!(tie.each_ref().map(|row| row.wrong.any()), [false, true], "the first of ours on a tie");
    }

    #[test]
    fn a_stopped_row_is_compared_over_its_frames() {
        let mut rows = [outcome("x", "x", false, &[1, 1], &[7, 7, 8, 9]), outcome("y", "y", false, &[1], &[7, 7])];
        agree(&mut rows);
        assert!(rows.iter().all(|row| !row.wrong.any()));
    }

    #[test]
    fn only_brute_force_ever_exceeds_the_limit() {
        let limit = Duration::from_secs(30);
        let exceeds = |n: usize| exceeds_limit(&"brute-force".parse().unwrap(), n, limit).is_some();
        assert_eq!([exceeds(128_000), exceeds(1_000_000), exceeds(10_000_000)], [false, false, true]);
    }

    #[test]
    fn a_peer_with_a_quadratic_setup_exceeds_the_limit_from_some_number_of_objects_on() {
        let exceeds = |name: &str, n: usize| {
            let peer = broadphase_peers::list().iter().find(|peer| peer.name == name).unwrap();
            beyond(name, n, peer.least_setup(n), Duration::from_secs(30)).is_some()
        };
        assert_eq!([exceeds("bullet-axis-sweep", 16_000), exceeds("bullet-axis-sweep", 128_000)], [false, true]);
        assert!(!exceeds("bullet-dbvt-f", 10_000_000));
    }
}
