//! The lists that a page can choose from, sent once when it connects.

use broadphase::Kind;
use broadphase_bench::{DEFAULT_SEED, machine};
use broadphase_scenes::SceneSpec;
use serde_json::{Value, json};

use crate::Request;

/// The first message of a stream.
pub fn hello(request: &Request) -> Value {
    let scenes: Vec<Value> = broadphase_scenes::list()
        .iter()
        .filter(|scene| scene.name.parse::<SceneSpec>().is_ok_and(|spec| spec.build(0, DEFAULT_SEED).is_ok())) // this build has it
        .map(|scene| {
            let options = scene.options.iter().map(|option| json!([option.name, option.default, option.help]));
            json!({
                "name": scene.name, "summary": scene.summary, "n": scene.default_n, "dims": scene.dims,
                "options": options.collect::<Vec<_>>(),
            })
        })
        .collect();
    let algorithms: Vec<Value> = broadphase::algorithms::list()
        .iter()
        .map(|algorithm| {
            let options = algorithm.options.iter().map(|option| json!([option.name, option.default, option.help]));
            let kind = match algorithm.kind {
                Kind::Paper => "paper",
                Kind::Ours => "ours",
                Kind::Baseline => "baseline",
            };
            json!({ "name": algorithm.name, "summary": algorithm.summary, "kind": kind, "options": options.collect::<Vec<_>>() })
        })
        .collect();
    json!({
        "hello": { "given": request.origin.name(), "n": request.n, "version": env!("CARGO_PKG_VERSION"), "machine": machine::summary() },
        "scenes": scenes, "algorithms": algorithms,
    })
}
