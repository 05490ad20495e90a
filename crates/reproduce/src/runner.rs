//! Runs experiments one after the other. Finished ones are kept, the others are measured, and after each one all files in the folder are complete.

use std::fs;
use std::path::Path;
use std::time::Instant;

use broadphase_scenes::PendingFile;

use super::lab::{Lab, budget};
use super::state::{Finished, file};
use super::{Experiment, list, markdown, pages};
use crate::Run;
use broadphase_bench::failure::Failure;
use broadphase_bench::output;

/// Runs the command.
pub fn run(asked: &Run) -> Result<(), Failure> {
    let folder = &asked.output;
    prepare(folder)?;
    let started = Instant::now();
    for (done, experiment) in asked.experiments.iter().enumerate() {
        let kept = Finished::read(folder, experiment).filter(|finished| finished.stands_for(asked.mode));
        let (finished, word) = match kept {
            Some(finished) => (finished, "kept"),
            None => {
                let title = format!("{}/{} {} ", done + 1, asked.experiments.len(), experiment.name);
                let left = asked.experiments.len() - done;
                let lab = Lab::new(asked.mode, title, budget(started.elapsed().as_secs_f64(), left));
                let finished = measure(asked, experiment, lab)?;
                (finished.map_err(|failure| interrupted(failure, folder, done))?, "done")
            }
        };
        write_index(folder).map_err(|failure| interrupted(failure, folder, done + 1))?;
        output::print(&format!("{:<10} {word}  {}\n", experiment.name, finished.text("sentence")))?;
    }
    output::print(&format!("{}\n", folder.join("index.html").display()))
}

/// Fails if the folder cannot be created or written to, before anything is measured.
fn prepare(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::Data(format!("{}: cannot create: {error}", folder.display())))?;
    drop(PendingFile::create(&folder.join("index.html"))?);
    Ok(())
}

/// Measures an experiment and writes its files. The outer error is one of the measurement, the inner one of writing.
fn measure(asked: &Run, experiment: &Experiment, mut lab: Lab) -> Result<Result<Finished, Failure>, Failure> {
    let report = (experiment.measure)(&mut lab)?;
    let (rows, notes, seconds) = lab.finish();
    let page = pages::experiment(experiment, asked.mode, &report, &notes, seconds);
    let pictures = report.charts.iter().enumerate().skip(1);
    let more = pictures.map(|(k, chart)| write(&asked.output.join(markdown::picture(experiment.name, k)), &chart.svg()));
    let more: Result<Vec<()>, Failure> = more.collect();
    let picture = report.charts.first().map(super::report::Chart::svg).unwrap_or_default();
    let finished = Finished::new(experiment, asked.mode, &report, (rows, &notes, seconds));
    // The JSON file comes last: with it the experiment counts as finished.
    let files = [("svg", picture), ("html", page), ("json", finished.to_json())];
    let written = files.iter().try_for_each(|(ending, text)| write(&file(&asked.output, experiment, ending), text));
    Ok(more.and(written).map(|()| finished))
}

/// Writes the index of all experiments that this version has finished, in either mode, as HTML and as Markdown.
fn write_index(folder: &Path) -> Result<(), Failure> {
    let finished = |experiment| Finished::read(folder, experiment).filter(Finished::is_current);
    let all: Vec<_> = list().map(|experiment| (experiment, finished(experiment))).collect();
    write(&folder.join("README.md"), &markdown::record(&all))?;
    write(&folder.join("index.html"), &pages::index(&all))
}

/// Writes a file that appears complete or not at all.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    output::with_file(path, |out| out.write_all(text.as_bytes()))
}

/// Adds to a failure to write which results are safe, and how to go on.
fn interrupted(failure: Failure, folder: &Path, done: usize) -> Failure {
    let Failure::Data(text) = failure else { return failure };
    let safe = match done {
        0 => "no experiment was finished before".to_string(),
        1 => "the experiment finished before it is whole".to_string(),
        _ => format!("the {done} experiments finished before it are whole"),
    };
    Failure::Data(format!("{text}; {safe} in {}: make room and run the same command again to go on", folder.display()))
}
