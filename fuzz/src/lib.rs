//! Fuzz targets: each decodes bytes into calls of the library, and compares every answer with a naive model.
//!
//! A target is a function of bytes ([`TARGETS`]), so the same code runs in three ways: under libFuzzer (`fuzz_targets`, `scripts/fuzz-long`), under a
//! plain random driver (`src/bin/soak.rs`, `scripts/check-fuzz`), and as tests over the committed corpus (`tests/corpus.rs`). Any bytes are a valid
//! input: reading past the end gives zeros. A target panics if an answer is wrong.

mod bytes;
mod counts;
mod nasty;
#[allow(dead_code)] // shared with the tests of the library, which use all of it
#[path = "../../crates/broadphase/tests/world/model.rs"]
mod model;
mod capi;
mod continuous;
mod files;
mod particles;
mod queries;
mod spec;
mod step;
mod world;

pub use bytes::Bytes;
pub use counts::Counts;

/// A target: what it is called, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]) -> Counts);

/// All targets.
pub const TARGETS: [Target; 7] = [
    ("world", world::run),
    ("step", step::run),
    ("queries", queries::run),
    ("particles", particles::run),
    ("files", files::run),
    ("capi", capi::run),
    ("spec", spec::run),
];

/// The target of a name.
pub fn target(name: &str) -> Option<fn(&[u8]) -> Counts> {
    TARGETS.iter().find(|target| target.0 == name).map(|target| target.1)
}
