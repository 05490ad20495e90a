//! The arguments of `bench`: what is measured, on what, for how long.

use std::path::{Path, PathBuf};
use std::time::Duration;

use broadphase::{Shape, Spec};
use broadphase_bench::failure::Failure;
use broadphase_bench::output::Target;
use broadphase_bench::{Choice, Drive, Source, selection};
use broadphase_peers::PeerSpec;

use super::cli::BenchLine;
use super::inputs;

/// The arguments of `bench`.
pub struct BenchArguments {
    /// Scenes and files, in the order given.
    pub sources: Vec<Source>,
    /// `--n`, for scenes.
    pub n: Option<Vec<usize>>,
    /// `--frames`.
    pub frames: Option<usize>,
    /// `--algorithms`.
    pub algorithms: Vec<Choice<Spec>>,
    /// `--peers`.
    pub peers: Vec<Choice<PeerSpec>>,
    /// `--shape`.
    pub shape: Shape,
    /// `--threads`.
    pub threads: Vec<usize>,
    /// `--drive`.
    pub drives: Vec<Drive>,
    /// `--row-limit`.
    pub row_limit: Duration,
    /// `--check`.
    pub check: bool,
    /// `--series`.
    pub series: bool,
    /// `--json`.
    pub json: Option<Target>,
    /// `--html`.
    pub html: Option<Target>,
}

pub(super) fn check(line: BenchLine) -> Result<BenchArguments, Failure> {
    let paths = line.sources.iter().map(|value| Path::new(value.as_os_str()));
    let inputs = inputs(paths, line.reading)?;
    let sources = inputs.into_iter().map(Source::read).collect::<Result<Vec<_>, _>>()?;
    if let (Some(_), Some(file)) = (&line.n, sources.iter().find_map(Source::file)) {
        let text = format!("--n is for scenes: {} has as many objects as were recorded; leave out --n", file.display());
        return Err(Failure::Usage(text));
    }
    let (json, html) = (line.json.map(target), line.html.map(target));
    for target in [&json, &html].into_iter().flatten() {
        sources.iter().filter_map(Source::file).try_for_each(|file| target.must_not_be(file))?;
    }
    let is_same = |html: &Target| matches!(&json, Some(Target::File(json)) if html.is_file(json)) || json.as_ref() == Some(html);
    if html.as_ref().is_some_and(is_same) {
        return Err(Failure::Usage("--json and --html cannot go to the same place; give one of them another name".to_string()));
    }
    Ok(BenchArguments {
        sources,
        n: line.n.map(|counts| counts.0),
        frames: line.frames,
        algorithms: selection::algorithms(&line.algorithms.to_string_lossy())?,
        peers: selection::peers(&line.peers.to_string_lossy())?,
        shape: line.shape,
        threads: line.threads.0,
        drives: line.drive.0,
        row_limit: line.row_limit,
        check: line.check,
        series: line.series,
        json,
        html,
    })
}

/// `-`, or a file.
fn target(path: PathBuf) -> Target {
    if path.as_os_str() == "-" { Target::Stdout } else { Target::File(path) }
}
