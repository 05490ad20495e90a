//! The arguments of `view`.

use std::path::{Path, PathBuf};

use broadphase_bench::failure::Failure;
use broadphase_bench::selection::{self, Source};
use broadphase_scenes::ReadOptions;
use broadphase_view::{DEFAULT_SCENE, Origin, Request};

use super::cli::ViewLine;
use super::{ending, inputs};

/// The arguments of `view`.
pub struct ViewArguments {
    /// What is shown.
    pub request: Request,
    /// `--port`; 0 is any.
    pub port: u16,
    /// Open a browser?
    pub open: bool,
    /// `-o`.
    pub output: Option<PathBuf>,
}

pub(super) fn check(line: ViewLine) -> Result<ViewArguments, Failure> {
    let (name, n) = match &line.source {
        Some(name) => (name.clone(), line.n),
        None => (DEFAULT_SCENE.0.into(), line.n.or(Some(DEFAULT_SCENE.1))),
    };
    let options = ReadOptions { format: line.reading.format, columns: line.reading.columns.clone() };
    let path = Path::new(name.as_os_str());
    let input = inputs([path].into_iter(), line.reading)?.into_iter().next().map(Source::read);
    let origin = match input.unwrap_or_else(|| Err(Failure::Usage("view needs a SCENE or FILE".to_string())))? {
        Source::Scene(spec) => Origin::Scene(spec),
        Source::File(input) if input.is_stdin() => {
            return Err(Failure::Usage(
                "view reads its frames more than once: save them to a file and give its name, not -".to_string(),
            ));
        }
        Source::File(input) if n.is_some() => {
            return Err(Failure::Usage(format!("--n is for scenes: {} has what was recorded; leave it out", input.name())));
        }
        Source::File(_) => Origin::File(path.to_path_buf(), options),
    };
    if let Some(page) = line.output.as_deref().filter(|page| !matches!(ending(page).as_deref(), Some("html" | "htm"))) {
        return Err(Failure::Usage(format!("{}: the page is written as .html; give such a name", page.display())));
    }
    let mut chosen = selection::algorithms(&line.algorithms.to_string_lossy())?;
    // What was named is drawn first; of `all`, the default is.
    chosen.sort_by_key(|choice| !choice.named && choice.spec.to_string() != "auto");
    let algorithms = chosen.into_iter().map(|choice| choice.spec).collect();
    Ok(ViewArguments {
        request: Request { origin, n, algorithms },
        port: line.port.unwrap_or(0),
        open: !line.no_open,
        output: line.output,
    })
}
