//! No arguments: the tool's main job, shown on a moving scene in under a minute.

use std::time::Duration;

use broadphase::{Shape, Spec};

use crate::arguments::{Choice, Source, all_algorithms};
use crate::bench::source::Setting;
use crate::bench::table::{digits, thousands};
use crate::bench::{Clock, Drive, Outcome, Request, ratios, table};
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
        drive: Drive::Step,
        row_limit: limit(&algorithms),
        min_frames: 2, // the first one sets up; with the second, every row has a time that can be compared
        check: false,
        series: false,
        title: "",
    };
    let source = Source::Scene(SCENE.parse()?);
    let setting = Setting::of(&source, Some(OBJECTS), Some(FRAMES))?;
    let outcomes = request.measure(&source, setting)?;
    output::print(&format!("{}\n{}\n\n{}", table::render_rows(&outcomes), table::LEGEND, conclusion(&outcomes)))?;
    verdict(&outcomes)
}

fn limit(algorithms: &[Choice<Spec>]) -> Duration {
    Duration::from_secs_f64(SECONDS / algorithms.len().max(1) as f64)
}

/// What the table says, in a sentence: of `auto` if it is listed, else of the fastest; compared with brute force, which needs no
/// explanation. Time and factor are those of the table's first column: the factor is the quotient of two of its figures.
fn conclusion(outcomes: &[Outcome]) -> String {
    let mut sorted: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.right()).collect();
    let clock = Clock::of(outcomes);
    sorted.sort_by(|a, b| a.rank(clock).total_cmp(&b.rank(clock)));
    let Some(&hero) = sorted.iter().find(|outcome| outcome.base == "auto").or(sorted.first()) else {
        return String::new();
    };
    let pairs = hero.pairs_total() / hero.records.len().max(1) as u64;
    let mut text = format!(
        "{} found {} pairs among {} objects in {} ms of {} a frame",
        hero.name,
        thousands(pairs),
        thousands(hero.setting.n as u64),
        digits(Some(hero.rank(clock))),
        clock.name()
    );
    if let Some(brute_force) = sorted.iter().find(|outcome| outcome.base == "brute-force" && outcome.name != hero.name) {
        let times = brute_force.rank(clock) / hero.rank(clock);
        text.push_str(&format!(",\n{} times as fast as comparing every object with every other", ratios::times(times)));
    }
    let agree = outcomes.len() > 1 && outcomes.iter().all(Outcome::right);
    text.push_str(if agree { ". All algorithms agree on the pairs.\n" } else { ".\n" });
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::fakes::outcome;

    #[test]
    fn the_factor_is_the_quotient_of_two_figures_of_the_table() {
        // Brute force stopped after its first block, in which `auto` was slower than later: a factor of paired blocks would be 100.
        let mut brute_force = outcome("brute-force", "brute-force", false, &[500], &[]);
        brute_force.stopped = true;
        let rows = [outcome("auto", "auto", false, &[5, 2, 2, 2], &[]), brute_force];
        let (table, text) = (table::render_rows(&rows), conclusion(&rows));
        assert!(text.contains("in 2.00 ms of CPU time a frame") && text.contains("250 times as fast"), "{text}");
        assert!(table.contains(" 2.00 ") && table.contains(" 500 ") && !table.contains("times as fast"), "{table}");
        assert!(text.contains("All algorithms agree"), "{text}");
    }
}
