//! `broadphase view`: a scene or a recording in a browser, with the structure, the pairs and what they cost.
//!
//! How a frame gets to the page: `timeline` has the boxes; `runner` steps the chosen algorithms, the first one in place, the others in a thread
//! each (`background`); `picture` quantizes what the page draws, with `regions` and `queries`; `wire` puts it into one binary message; `session`
//! sends it to one tab, and drops frames that a slow tab cannot take; `server` answers requests, on the loopback address only. The page itself
//! is in `page/`: plain WebGL2 and SVG, no library, nothing loaded from outside. `export` writes the page with a recording inside.

mod background;
mod commands;
mod export;
mod lists;
mod page;
mod picture;
mod queries;
mod quantize;
mod regions;
mod runner;
mod server;
mod session;
mod simulation;
mod timeline;
pub mod wire;

use std::path::PathBuf;

use broadphase::Spec;
use broadphase_bench::Source;
use broadphase_bench::failure::Failure;
use broadphase_bench::input::Input;
use broadphase_scenes::{ReadOptions, SceneSpec};

pub use server::{Running, start};

/// The default scene, and its number of objects.
pub const DEFAULT_SCENE: (&str, usize) = ("brownian-cubes", 100_000);

/// Where frames come from. Unlike [`Source`], it can be handed to another thread: each tab opens its own.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A generator.
    Scene(SceneSpec),
    /// A recording.
    File(PathBuf, ReadOptions),
}

impl Origin {
    /// The same source as the measurements take it.
    fn source(&self) -> Source {
        match self {
            Origin::Scene(spec) => Source::Scene(spec.clone()),
            Origin::File(path, options) => Source::File(Input::new(path, options)),
        }
    }

    /// As the user wrote it.
    fn name(&self) -> String {
        match self {
            Origin::Scene(spec) => spec.to_string(),
            Origin::File(path, _) => path.display().to_string(),
        }
    }
}

/// The arguments of `broadphase view`.
#[derive(Clone, Debug)]
pub struct Request {
    /// What is shown first.
    pub origin: Origin,
    /// Objects of a scene; its own number unless given.
    pub n: Option<usize>,
    /// The algorithms: the first one is drawn, the others are measured beside it.
    pub algorithms: Vec<Spec>,
}

impl Request {
    /// Errors if the first frame cannot be shown: a file that is broken, a scene that this build lacks.
    pub fn check(&self) -> Result<(), Failure> {
        simulation::open(self).map(|_| ())
    }
}

/// Writes the page with a short recording inside.
pub fn export(request: &Request) -> Result<String, Failure> {
    export::page(request)
}
