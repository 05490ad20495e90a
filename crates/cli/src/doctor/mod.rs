//! `broadphase doctor`: what a recording contains, which algorithm wins on it and why, and what to change.
//!
//! `sample` reads frames, `facts` and `pair_stats` describe them, `trial` compares a few algorithms, `advice` draws conclusions; `page` and
//! `json` print the findings.

mod advice;
mod facts;
mod json;
mod pair_stats;
mod page;
mod sample;
mod trial;

use broadphase::{Real, Shape};
use broadphase_scenes::{AnyScene, Scalar};

use crate::arguments::DoctorArguments;
use broadphase_bench::failure::Failure;
use broadphase_bench::output;
use broadphase_bench::{DEFAULT_SEED, Source};
use facts::Facts;
use pair_stats::PairStats;
use sample::{Invalid, Sample};
use trial::Trial;

/// All that is known about a recording.
struct Findings {
    name: String,
    n: usize,
    dim: usize,
    scalar: Scalar,
    frames: usize,
    looked_at: usize,
    /// The frames that were analyzed, as in `0-7`.
    windows: Vec<String>,
    invalid: Vec<Invalid>,
    invalid_boxes: usize,
    invalid_objects: usize,
    facts: Facts,
    /// `None` without objects or frames.
    pair_stats: Option<PairStats>,
    trial: Option<Trial>,
    advice: Vec<String>,
}

/// Runs the command.
pub fn run(asked: &DoctorArguments) -> Result<(), Failure> {
    let found = match &asked.source {
        Source::Scene(spec) => {
            let n = asked.n.unwrap_or(spec.descriptor().default_n);
            let frames = asked.frames.unwrap_or(spec.descriptor().default_frames);
            match spec.build(n, DEFAULT_SEED)? {
                AnyScene::Two(scene) => examine(asked, &spec.to_string(), Sample::of_scene(scene, frames))?,
                AnyScene::Three(scene) => examine(asked, &spec.to_string(), Sample::of_scene(scene, frames))?,
            }
        }
        Source::File(input) => {
            let (recording, name) = (input.open()?, input.name());
            if recording.frames() == 0 {
                return Err(Failure::Data(format!("{name}: the recording has no frames; record at least one")));
            }
            match (recording.dim(), recording.scalar()) {
                (2, Scalar::F32) => examine(asked, &name, Sample::<2, f32>::of_recording(&recording)?)?,
                (2, Scalar::F64) => examine(asked, &name, Sample::<2, f64>::of_recording(&recording)?)?,
                (_, Scalar::F32) => examine(asked, &name, Sample::<3, f32>::of_recording(&recording)?)?,
                (_, Scalar::F64) => examine(asked, &name, Sample::<3, f64>::of_recording(&recording)?)?,
            }
        }
    };
    output::print(&if asked.json { json::render(&found) } else { page::render(&found) })?;
    match found.invalid.first() {
        None => Ok(()),
        Some(first) => {
            let (count, place) = (found.invalid_boxes, page::place(first));
            let boxes = if count == 1 { "1 invalid box, in" } else { &format!("{count} invalid boxes, the first in") };
            let them = if count == 1 { "it" } else { "them" };
            Err(Failure::Data(format!("{}: {boxes} {place}; repair or remove {them}", found.name)))
        }
    }
}

/// Computes all findings from a sample.
fn examine<const D: usize, T: Real>(asked: &DoctorArguments, name: &str, sample: Sample<D, T>) -> Result<Findings, Failure> {
    let facts = Facts::of(&sample);
    let span = |first: usize, count: usize| if count == 1 { first.to_string() } else { format!("{first}-{}", first + count - 1) };
    let mut found = Findings {
        name: name.to_string(),
        n: sample.n,
        dim: D,
        scalar: Scalar::of::<T>(),
        frames: sample.frames,
        looked_at: sample.looked_at(),
        windows: sample.windows.iter().map(|window| span(window.first, window.frames.len())).collect(),
        invalid: sample.invalid.clone(),
        invalid_boxes: sample.invalid_boxes,
        invalid_objects: sample.invalid_objects,
        facts,
        pair_stats: None,
        trial: None,
        advice: Vec::new(),
    };
    if sample.count() > 1 {
        let infinite = sample.first().iter().zip(&sample.ids).filter(|(aabb, _)| !aabb.is_finite()).map(|(_, &id)| id);
        let giants = found.facts.space.iter().flat_map(|space| &space.giants).map(|one| one.object);
        let giants: Vec<u32> = giants.chain(infinite).collect();
        found.pair_stats = Some(PairStats::of(&sample, asked.shape, &giants).map_err(|failure| named(failure, name))?);
        let equal = found.facts.sizes.is_some_and(|sizes| sizes.equal);
        found.trial = Some(Trial::run(sample, name, asked.shape, asked.shape == Shape::Ball && equal)?);
    }
    found.advice = advice::advice(&found);
    Ok(found)
}

fn named(failure: Failure, name: &str) -> Failure {
    match failure {
        Failure::Data(text) => Failure::Data(format!("{name}: {text}")),
        other => other,
    }
}
