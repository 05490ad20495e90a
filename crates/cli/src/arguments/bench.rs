//! The arguments of `bench`: what is measured, on what, for how long.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use broadphase::{Shape, Spec, algorithms};
use broadphase_peers::PeerSpec;
use broadphase_scenes::{Format, SceneError, SceneSpec};

use super::cli::BenchLine;
use super::inputs;
use crate::bench::Drive;
use crate::failure::Failure;
use crate::input::Input;
use crate::output::Target;

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
    pub threads: usize,
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

/// Where frames come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A generator.
    Scene(SceneSpec),
    /// A recording.
    File(Input),
}

/// One algorithm or peer of a selection.
#[derive(Clone, Debug)]
pub struct Choice<S> {
    /// Which, with its options.
    pub spec: S,
    /// Named by the user, so that it must run; or only part of `all`, so that it may be skipped with a note.
    pub named: bool,
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
        algorithms: parse_algorithms(&line.algorithms.to_string_lossy())?,
        peers: parse_peers(&line.peers.to_string_lossy())?,
        shape: line.shape,
        threads: line.threads,
        drives: line.drive.0,
        row_limit: line.row_limit,
        check: line.check,
        series: line.series,
        json,
        html,
    })
}

impl Source {
    /// A known scene, or else a file if it looks like one, or else the error that offers the nearest scene.
    pub(super) fn read(input: Input) -> Result<Self, Failure> {
        match input.path().to_string_lossy().parse::<SceneSpec>() {
            Ok(scene) => Ok(Source::Scene(scene)),
            Err(SceneError::UnknownScene { .. }) if is_file_like(&input) => Ok(Source::File(input)),
            Err(error) => Err(error.into()),
        }
    }

    fn file(&self) -> Option<&Path> {
        match self {
            Source::File(input) => Some(input.path()),
            Source::Scene(_) => None,
        }
    }
}

fn is_file_like(input: &Input) -> bool {
    let path = input.path();
    input.is_stdin() || Format::of_path(path).is_some() || path.components().count() > 1 || path.exists()
}

/// `-`, or a file.
fn target(path: PathBuf) -> Target {
    if path.as_os_str() == "-" { Target::Stdout } else { Target::File(path) }
}

/// `all`, or names with commas between, or both: `all,kd-tree:t=64`.
fn parse_algorithms(text: &str) -> Result<Vec<Choice<Spec>>, Failure> {
    select(text, algorithms::list().iter().map(|descriptor| descriptor.name))
}

/// `none`, `all` that this build has, or names with commas between.
fn parse_peers(text: &str) -> Result<Vec<Choice<PeerSpec>>, Failure> {
    if text == "none" {
        return Ok(Vec::new());
    }
    let built = broadphase_peers::list().iter().filter(|peer| peer.built).map(|peer| peer.name);
    let chosen = select(text, built)?;
    if chosen.is_empty() {
        crate::progress::note("this build has no peers; add them with `--features peers` (see `broadphase list`)");
    }
    Ok(chosen)
}

/// Resolves a selection: each text once, in the order given.
fn select<S: FromStr>(text: &str, all: impl Iterator<Item = &'static str> + Clone) -> Result<Vec<Choice<S>>, Failure>
where
    Failure: From<S::Err>,
{
    let mut texts: Vec<(&str, bool)> = Vec::new();
    for part in text.split(',') {
        let whole: Vec<(&str, bool)> =
            if part == "all" { all.clone().map(|name| (name, false)).collect() } else { vec![(part, true)] };
        for (name, named) in whole {
            match texts.iter_mut().find(|known| known.0 == name) {
                Some(known) => known.1 |= named,
                None => texts.push((name, named)),
            }
        }
    }
    texts.into_iter().map(|(text, named)| Ok(Choice { spec: text.parse()?, named })).collect()
}

/// Every algorithm in the list, none of them named.
pub fn all_algorithms() -> Result<Vec<Choice<Spec>>, Failure> {
    parse_algorithms("all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_names_each_row_once_and_remembers_who_was_named() {
        let chosen: Vec<Choice<Spec>> = select("all,brute-force,brute-force:isa=scalar", ["brute-force"].into_iter()).unwrap();
        let rows: Vec<_> = chosen.iter().map(|choice| (choice.spec.to_string(), choice.named)).collect();
        assert_eq!(rows, [("brute-force".to_string(), true), ("brute-force:isa=scalar".to_string(), true)]);
    }

    #[test]
    fn a_source_is_a_scene_first_then_a_file_then_a_spelling_error() {
        let read = |name: &str| Source::read(Input::new(Path::new(name), &Default::default()));
        assert!(matches!(read("pile:dim=2"), Ok(Source::Scene(_))));
        assert!(matches!(read("nowhere/pile"), Ok(Source::File(_))));
        assert!(matches!(read("missing.npy"), Ok(Source::File(_))));
        assert!(matches!(read("-"), Ok(Source::File(_))));
        assert!(matches!(read("piel"), Err(Failure::Usage(text)) if text.contains("`pile`")));
        assert!(matches!(read("pile:dim=7"), Err(Failure::Usage(_))));
    }
}
