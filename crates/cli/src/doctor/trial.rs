//! Which algorithm is fastest: a short measurement of a few candidates on the analyzed frames.

use std::rc::Rc;
use std::time::Duration;

use broadphase::{Aabb, Real, Shape, Spec};
use broadphase_scenes::Scalar;

use super::sample::{Sample, Window};
use broadphase_bench::Choice;
use broadphase_bench::failure::Failure;
use broadphase_bench::source::{Setting, Stream};
use broadphase_bench::table::digits;
use broadphase_bench::{Clock, Drive, Outcome, Request, ratios};

/// The candidates: what a user may choose instead of `auto`, one for each way of searching.
const CANDIDATES: [&str; 5] = ["auto", "tiles", "kd-tree", "hash-grid", "sort-and-sweep"];
/// Up to this many objects, brute force is measured too.
const BRUTE_FORCE: usize = 20_000;
/// Seconds for each candidate.
const SECONDS: f64 = 0.5;
/// Frames of a window that holds a whole block of the measurement.
const BLOCK: usize = 8;

/// The result of the measurement.
#[derive(Debug)]
pub struct Trial {
    /// The rows, fastest first, those that are wrong or failed left out.
    pub rows: Vec<Outcome>,
    /// The clock that ranks them.
    pub clock: Clock,
}

/// Frames in memory, one after the other.
struct Frames<const D: usize, T> {
    frames: Rc<Vec<Vec<Aabb<D, T>>>>,
    next: usize,
}

impl<const D: usize, T: Real> Stream<D, T> for Frames<D, T> {
    fn next(&mut self, boxes: &mut Vec<Aabb<D, T>>) -> Result<(), Failure> {
        boxes.clone_from(&self.frames[self.next]);
        self.next += 1;
        Ok(())
    }

    fn skip(&mut self) {
        self.next += 1;
    }
}

impl Trial {
    /// Runs the candidates, in turns.
    pub fn run<const D: usize, T: Real>(sample: Sample<D, T>, name: &str, shape: Shape, equal: bool) -> Result<Self, Failure> {
        let n = sample.count();
        let names = CANDIDATES.into_iter().chain((n <= BRUTE_FORCE).then_some("brute-force"));
        let names = names.chain((shape == Shape::Ball && equal).then_some("particle-grid"));
        let algorithms = names.map(|name| Ok(Choice { spec: name.parse()?, named: false }));
        let algorithms = algorithms.collect::<Result<Vec<Choice<Spec>>, Failure>>()?;
        let frames = whole_windows(sample.windows);
        let setting = Setting { scene: name.to_string(), n, dim: D, scalar: Scalar::of::<T>(), frames: frames.len(), skip: 0 };
        let request = Request {
            algorithms: &algorithms,
            peers: &[],
            shape,
            threads: &[1],
            drive: Drive::Step,
            row_limit: Duration::from_secs_f64(SECONDS),
            min_frames: 2,
            check: false,
            series: false,
            title: "doctor ",
        };
        let outcomes = request.measure_stream(Box::new(Frames { frames: Rc::new(frames), next: 0 }), setting)?;
        let clock = Clock::of(&outcomes);
        let mut rows: Vec<Outcome> = outcomes.into_iter().filter(Outcome::right).collect();
        rows.sort_by(|a, b| a.rank(clock).total_cmp(&b.rank(clock)));
        Ok(Self { rows, clock })
    }

    /// The row of `auto`.
    pub fn auto(&self) -> Option<&Outcome> {
        self.rows.iter().find(|row| row.base == "auto")
    }

    /// The winner: the fastest row, or `auto` if it runs the same algorithm or is as fast within the noise of a short measurement.
    pub fn winner(&self) -> Option<&Outcome> {
        let fastest = self.rows.first()?;
        let equal = |auto: &&Outcome| chosen(auto) == fastest.base || auto.rank(self.clock) <= NOISE * fastest.rank(self.clock);
        self.auto().filter(equal).or(Some(fastest))
    }

    /// Is the measurement long enough to advise against `auto`? One frame, or the few of a row that stopped, are not.
    pub fn is_long(&self) -> bool {
        self.rows.iter().take(2).all(|row| row.measured().count() >= FEW)
    }

    /// Why the winner wins, in a sentence or two.
    pub fn why(&self) -> Option<String> {
        let winner = self.winner()?;
        let mut text = winner.facts.choice.as_ref().map_or(String::new(), |choice| format!("It runs {choice}. "));
        // `auto` runs another algorithm inside, so it is compared with the fastest row that runs a different one.
        let other = self.rows.iter().find(|row| row.name != winner.name && row.base != chosen(winner) && row.base != "auto");
        let Some(other) = other else { return Some(text.trim_end().to_string()) };
        let times = other.rank(self.clock) / winner.rank(self.clock);
        if times < NOISE {
            text.push_str(&format!("{} is as fast, within the noise of a short race.", other.name));
            return Some(text);
        }
        text.push_str(&format!("{} is {} times as fast as {}, the next", winner.name, ratios::times(times), other.name));
        let per_pair = |row: &Outcome| Some(row.tests_total()? as f64 / row.pairs_total().max(1) as f64);
        let shown = |tests: f64| digits(Some(tests));
        text.push_str(&match per_pair(winner).zip(per_pair(other)).filter(|_| winner.pairs_total() > 0) {
            Some((ours, theirs)) if ours * NOISE < theirs => {
                format!(", with {} box comparisons for each pair found against {}.", shown(ours), shown(theirs))
            }
            Some((ours, theirs)) if theirs * NOISE < ours => {
                format!(
                    ": it makes more box comparisons for each pair ({} against {}), many at once.",
                    shown(ours),
                    shown(theirs)
                )
            }
            Some(_) => ", with about as many box comparisons.".to_string(),
            None => ".".to_string(),
        });
        Some(text)
    }
}

/// The algorithm that a row reports to run inside; empty if it runs itself.
fn chosen(row: &Outcome) -> &str {
    row.facts.choice.as_deref().and_then(|choice| choice.split([':', ' ', ',']).next()).unwrap_or_default()
}

/// The fewest measured frames that are enough for advice.
const FEW: usize = 4;

/// How much slower a row may be in a short measurement and still count as equal.
pub const NOISE: f64 = 1.1;

/// The frames of all windows if each is a block of the measurement, so that no block spans a gap; else those of the last one.
fn whole_windows<const D: usize, T>(windows: Vec<Window<D, T>>) -> Vec<Vec<Aabb<D, T>>> {
    let whole = windows.len() == 1 || windows.iter().all(|window| window.frames.len() == BLOCK);
    let skip = if whole { 0 } else { windows.len() - 1 };
    windows.into_iter().skip(skip).flat_map(|window| window.frames).collect()
}
