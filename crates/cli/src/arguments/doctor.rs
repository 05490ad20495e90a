//! The arguments of `doctor`.

use std::path::Path;

use broadphase::Shape;
use broadphase_bench::Source;
use broadphase_bench::failure::Failure;

use super::cli::DoctorLine;
use super::inputs;

/// The arguments of `doctor`.
pub struct DoctorArguments {
    /// A scene or a recording.
    pub source: Source,
    /// `--n`, for a scene.
    pub n: Option<usize>,
    /// `--frames`, for a scene.
    pub frames: Option<usize>,
    /// `--shape`.
    pub shape: Shape,
    /// For scripts.
    pub json: bool,
}

pub(super) fn check(line: DoctorLine) -> Result<DoctorArguments, Failure> {
    let inputs = inputs([Path::new(line.source.as_os_str())].into_iter(), line.reading)?;
    let source = inputs.into_iter().next().map(Source::read);
    let source = source.unwrap_or_else(|| Err(Failure::Usage("doctor needs a SCENE or FILE".to_string())))?;
    if let (Source::File(input), true) = (&source, line.n.is_some() || line.frames.is_some()) {
        let text = format!("--n and --frames are for scenes: {} has what was recorded; leave them out", input.name());
        return Err(Failure::Usage(text));
    }
    Ok(DoctorArguments { source, n: line.n, frames: line.frames, shape: line.shape, json: line.json })
}
