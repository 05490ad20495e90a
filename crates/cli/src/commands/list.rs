//! `broadphase list`: algorithms, scenes, experiments, peers, each with its options and defaults.

use std::fmt::Write;

use broadphase::algorithms::{self, COMMON_OPTIONS};
use broadphase::{Descriptor, Kind};
use broadphase_scenes::SceneDescriptor;
use serde_json::{Value, json};

use broadphase_bench::failure::Failure;
use broadphase_bench::output;
use broadphase_bench::shape_name;
use broadphase_reproduce::Experiment;

/// Prints the list.
pub fn run(json: bool) -> Result<(), Failure> {
    if json { output::print(&format!("{:#}\n", as_json())) } else { output::print(&as_text()) }
}

/// An option as all lists have it: name, default, what it does.
type ListedOption = (&'static str, &'static str, &'static str);

fn algorithm_options(descriptor: &Descriptor) -> Vec<ListedOption> {
    descriptor.options.iter().chain(COMMON_OPTIONS).map(|option| (option.name, option.default, option.help)).collect()
}

fn scene_options(descriptor: &SceneDescriptor) -> Vec<ListedOption> {
    descriptor.options.iter().map(|option| (option.name, option.default, option.help)).collect()
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Paper => "paper",
        Kind::Ours => "ours",
        Kind::Baseline => "baseline",
    }
}

fn options_as_json(options: &[ListedOption]) -> Value {
    options.iter().map(|(name, default, help)| json!({ "name": name, "default": default, "help": help })).collect()
}

fn as_json() -> Value {
    let algorithm = |descriptor: &Descriptor| {
        json!({
            "name": descriptor.name,
            "kind": kind_name(descriptor.kind),
            "paper": descriptor.paper,
            "dims": descriptor.dims,
            "shapes": descriptor.shapes.iter().map(|&shape| shape_name(shape)).collect::<Vec<_>>(),
            "bounded": descriptor.bounded,
            "options": options_as_json(&algorithm_options(descriptor)),
        })
    };
    let scene = |descriptor: &SceneDescriptor| {
        json!({
            "name": descriptor.name,
            "paper": descriptor.paper,
            "dim": descriptor.dims[0],
            "options": options_as_json(&scene_options(descriptor)),
        })
    };
    let experiment = |one: &Experiment| json!({ "name": one.name, "paper": one.paper, "title": one.title });
    let peers = broadphase_peers::list().iter();
    json!({
        "algorithms": algorithms::list().iter().map(algorithm).collect::<Vec<_>>(),
        "scenes": broadphase_scenes::list().iter().map(scene).collect::<Vec<_>>(),
        "experiments": broadphase_reproduce::list().map(experiment).collect::<Vec<_>>(),
        "peers": peers
            .map(|peer| json!({ "name": peer.name, "built": peer.built, "feature": peer.feature }))
            .collect::<Vec<_>>(),
    })
}

fn as_text() -> String {
    let mut text = String::new();
    text.push_str("Algorithms (all find the same pairs; NAME:key=value:... sets options)\n");
    for descriptor in algorithms::list() {
        let origin = match descriptor.paper {
            Some(paper) => format!("{} {paper}", kind_name(descriptor.kind)),
            None => kind_name(descriptor.kind).to_string(),
        };
        add_entry(&mut text, descriptor.name, descriptor.summary, &origin, &algorithm_options(descriptor));
    }
    text.push_str("\nScenes\n");
    for scene in broadphase_scenes::list() {
        let origin = scene.paper.map_or("ours".to_string(), |paper| format!("paper {paper}"));
        let feature = scene.feature.map_or(String::new(), |feature| format!(", feature {feature}"));
        let size = format!("{origin}, {} objects, {} frames{feature}", scene.default_n, scene.default_frames);
        add_entry(&mut text, scene.name, scene.summary, &size, &scene_options(scene));
    }
    text.push_str("\nExperiments (run again by `broadphase reproduce`)\n");
    for experiment in broadphase_reproduce::list() {
        add_entry(&mut text, experiment.name, experiment.title, &format!("paper {}", experiment.paper), &[]);
    }
    text.push_str("\nPeers (libraries to compare with)\n");
    for peer in broadphase_peers::list() {
        let state = match (peer.built, peer.version) {
            (false, _) => format!("not in this build: add --features {}", peer.feature),
            (true, "") => "in this build".to_string(),
            (true, version) => format!("version {version}"),
        };
        add_entry(&mut text, peer.name, peer.driven, &state, peer.options);
    }
    text
}

fn add_entry(text: &mut String, name: &str, summary: &str, origin: &str, options: &[ListedOption]) {
    let _ = writeln!(text, "  {name:<28} {summary} ({origin})");
    for (option, default, help) in options {
        let _ = writeln!(text, "  {:<28}   :{option}={default}  {help}", "");
    }
}
