//! `broadphase bench`: algorithms and peers on the same frames, side by side.

use crate::arguments::BenchArguments;
use broadphase_bench::failure::Failure;
use broadphase_bench::machine;
use broadphase_bench::output::{self, Target};
use broadphase_bench::report::{self, Report};
use broadphase_bench::source::Setting;
use broadphase_bench::{Drive, Request, Source, json, table, verdict};

/// Runs the command.
pub fn run(asked: &BenchArguments) -> Result<(), Failure> {
    let request = |drive: Drive| Request {
        algorithms: &asked.algorithms,
        peers: &asked.peers,
        shape: asked.shape,
        threads: &asked.threads,
        drive,
        row_limit: asked.row_limit,
        min_frames: 1,
        check: asked.check,
        series: asked.series,
        title: "",
    };
    let settings = settings(asked, &request(Drive::Step))?;
    let targets = || asked.json.iter().chain(&asked.html);
    targets().try_for_each(Target::probe)?;
    let quiet = targets().any(|target| *target == Target::Stdout);
    if !quiet {
        output::print(&format!("{}\n{}\n", machine::summary(), table::LEGEND))?;
    }
    let mut outcomes = Vec::new();
    for (source, setting) in settings {
        for &drive in &asked.drives {
            let measured = request(drive).measure(source, setting.clone())?;
            if !quiet {
                output::print(&format!("\n{}", table::render(&measured)))?;
            }
            outcomes.extend(measured);
        }
    }
    if let Some(target) = &asked.json {
        target.write_text(&json::render(&outcomes, asked.series))?;
    }
    if let Some(target) = &asked.html {
        let (json, command) = (json::render(&outcomes, asked.series), report::command_line());
        target.write_text(&Report { outcomes: &outcomes, json: &json, command: &command }.render())?;
    }
    verdict(&outcomes)
}

/// Every source with every number of objects; all of it opened and checked before the first one runs.
fn settings<'a>(asked: &'a BenchArguments, request: &Request<'_>) -> Result<Vec<(&'a Source, Setting)>, Failure> {
    let mut settings = Vec::new();
    for source in &asked.sources {
        let counts = match &asked.n {
            Some(counts) => counts.iter().map(|&n| Some(n)).collect(),
            None => vec![None],
        };
        for n in counts {
            let setting = Setting::of(source, n, asked.frames)?;
            request.check_named(&setting)?;
            settings.push((source, setting));
        }
    }
    Ok(settings)
}
