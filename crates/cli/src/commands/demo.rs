//! No arguments: the tool's main job, shown on a moving scene in under a minute.

use std::time::Duration;

use broadphase::{Shape, Spec};

use broadphase_bench::failure::Failure;
use broadphase_bench::selection::all_algorithms;
use broadphase_bench::source::Setting;
use broadphase_bench::table::{self, thousands};
use broadphase_bench::{Choice, Drive, Request, Source, machine, output, sentence, verdict};

const SCENE: &str = "brownian-cubes";
const OBJECTS: usize = 100_000;
const FRAMES: usize = 24;

/// Seconds for all rows together. Each row may exceed its share by one frame.
const SECONDS: f64 = 25.0;

/// Runs the demonstration.
pub fn run() -> Result<(), Failure> {
    let algorithms = all_algorithms()?;
    output::print(&format!(
        "{} cubes move at random; each algorithm finds every pair that overlaps, frame\nafter frame ({}).\n\n",
        thousands(OBJECTS as u64),
        machine::summary()
    ))?;
    let request = Request {
        algorithms: &algorithms,
        peers: &[],
        shape: Shape::Box,
        threads: &[1],
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
    output::print(&format!("{}\n{}\n\n{}", table::render_rows(&outcomes), table::LEGEND, sentence::of(&outcomes)))?;
    verdict(&outcomes)
}

fn limit(algorithms: &[Choice<Spec>]) -> Duration {
    Duration::from_secs_f64(SECONDS / algorithms.len().max(1) as f64)
}
