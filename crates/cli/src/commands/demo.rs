//! No arguments: the tool's main job, shown on a moving scene in under a minute.

use std::time::Duration;

use broadphase::{Shape, Spec};

use crate::arguments::{Choice, Source, all_algorithms};
use crate::bench::source::Setting;
use crate::bench::table::{digits, thousands};
use crate::bench::{Clock, Outcome, Request, ratios, table};
use crate::failure::Failure;
use crate::{machine, output};

use super::bench::verdict;

const SCENE: &str = "brownian-cubes";
const OBJECTS: usize = 100_000;
const FRAMES: usize = 24;

/// Seconds that all rows share. The slowest overshoot by one frame.
const SECONDS: f64 = 25.0;

/// Runs the demonstration.
pub fn run() -> Result<(), Failure> {
    let algorithms = all_algorithms()?;
    output::print(&format!(
        "{} cubes move at random; each algorithm finds every pair of them that overlaps, frame after frame ({}).\n\n",
        thousands(OBJECTS as u64),
        machine::summary()
    ))?;
    let request = Request {
        algorithms: &algorithms,
        peers: &[],
        shape: Shape::Box,
        threads: 1,
        row_limit: limit(&algorithms),
        check: false,
        series: false,
        title: "",
    };
    let source = Source::Scene(SCENE.parse()?);
    let setting = Setting::of(&source, Some(OBJECTS), Some(FRAMES))?;
    let outcomes = request.measure(&source, setting)?;
    output::print(&format!("{}\n{}\n\n{}", table::render(&outcomes), table::LEGEND, conclusion(&outcomes)))?;
    verdict(&outcomes)
}

fn limit(algorithms: &[Choice<Spec>]) -> Duration {
    Duration::from_secs_f64(SECONDS / algorithms.len().max(1) as f64)
}

/// What the table says, in a sentence: of `auto` if it is listed, else of the fastest; compared with brute force, which needs no
/// explanation, and with the fastest of the others.
fn conclusion(outcomes: &[Outcome]) -> String {
    let mut sorted: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.right()).collect();
    let clock = Clock::of(outcomes);
    sorted.sort_by(|a, b| a.rank(clock).total_cmp(&b.rank(clock)));
    let Some(&hero) = sorted.iter().find(|outcome| outcome.base == "auto").or(sorted.first()) else {
        return String::new();
    };
    let pairs = hero.pairs_total() / hero.records.len().max(1) as u64;
    let mut text = format!(
        "{} found {} pairs among {} objects in {} ms a frame",
        hero.name,
        thousands(pairs),
        thousands(OBJECTS as u64),
        digits(hero.wall().median())
    );
    if let Some(brute_force) = sorted.iter().find(|outcome| outcome.base == "brute-force" && outcome.name != hero.name) {
        let times = brute_force.rank(clock) / hero.rank(clock);
        text.push_str(&format!(", {} times as fast as comparing every object with every other", ratios::times(times)));
    }
    let agree = outcomes.len() > 1 && outcomes.iter().all(Outcome::right);
    text.push_str(if agree { ". All algorithms agree on the pairs.\n" } else { ".\n" });
    text
}
