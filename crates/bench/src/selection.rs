//! What is measured and on what: scenes and files, algorithms and peers, as their names say.

use std::path::Path;
use std::str::FromStr;

use broadphase::{Shape, Spec};
use broadphase_peers::PeerSpec;
use broadphase_scenes::{Format, SceneError, SceneSpec};

use crate::failure::Failure;
use crate::input::Input;

/// The seed of every scene that is measured.
pub const DEFAULT_SEED: u64 = 0;

/// The name of a shape in options and results.
pub fn shape_name(shape: Shape) -> &'static str {
    match shape {
        Shape::Box => "box",
        Shape::Ball => "ball",
    }
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

impl Source {
    /// A known scene, or else a file if it looks like one, or else the error that offers the nearest scene.
    pub fn read(input: Input) -> Result<Self, Failure> {
        match input.path().to_string_lossy().parse::<SceneSpec>() {
            Ok(scene) => Ok(Source::Scene(scene)),
            Err(SceneError::UnknownScene { .. }) if is_file_like(&input) => Ok(Source::File(input)),
            Err(error) => Err(error.into()),
        }
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
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

/// `all`, or names with commas between, or both: `all,kd-tree:t=64`.
pub fn algorithms(text: &str) -> Result<Vec<Choice<Spec>>, Failure> {
    select(text, broadphase::algorithms::list().iter().map(|descriptor| descriptor.name))
}

/// `none`, `all` that this build has, or names with commas between.
pub fn peers(text: &str) -> Result<Vec<Choice<PeerSpec>>, Failure> {
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
    algorithms("all")
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
