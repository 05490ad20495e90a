//! The arguments of `record`.

use std::path::PathBuf;

use broadphase_scenes::SceneSpec;

use super::cli::RecordLine;
use super::ending;
use broadphase_bench::failure::Failure;

/// The arguments of `record`.
pub struct RecordArguments {
    /// The scene.
    pub scene: SceneSpec,
    /// `--n`.
    pub n: usize,
    /// `--frames`.
    pub frames: usize,
    /// `--seed`.
    pub seed: u64,
    /// `-o`.
    pub output: PathBuf,
}

pub(super) fn check(line: RecordLine) -> Result<RecordArguments, Failure> {
    let scene: SceneSpec = line.scene.to_string_lossy().parse()?;
    let output = line.output;
    match ending(&output).as_deref() {
        Some("npy" | "csv") => {}
        Some("aabbs") if scene.dim() == 3 => {}
        Some("aabbs") => return Err(Failure::Usage(format!("{}: .aabbs recordings are 3D; give a .npy name", output.display()))),
        _ => {
            return Err(Failure::Usage(format!(
                "{}: recordings are written as .npy or .csv; give such a name",
                output.display()
            )));
        }
    }
    Ok(RecordArguments { scene, n: line.n, frames: line.frames, seed: line.seed, output })
}
