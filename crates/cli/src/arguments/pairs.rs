//! The arguments of `pairs`.

use std::path::PathBuf;

use broadphase::{Shape, Spec};

use super::cli::PairsLine;
use super::ending;
use crate::failure::Failure;
use crate::output::Target;

/// The arguments of `pairs`.
pub struct PairsArguments {
    /// The recording.
    pub file: PathBuf,
    /// `--frame`.
    pub frame: Option<usize>,
    /// `--algorithm`.
    pub algorithm: Spec,
    /// `--shape`.
    pub shape: Shape,
    /// `--threads`.
    pub threads: usize,
    /// `--count`.
    pub count: bool,
    /// `-o`.
    pub output: Target,
}

pub(super) fn check(line: PairsLine) -> Result<PairsArguments, Failure> {
    let output = line.output.map_or(Ok(Target::Stdout), target)?;
    if line.count && output != Target::Stdout {
        return Err(Failure::Usage("--count prints lines of text; leave out -o, or redirect stdout".to_string()));
    }
    output.must_not_be(&line.file)?;
    Ok(PairsArguments {
        file: line.file,
        frame: line.frame,
        algorithm: line.algorithm.to_string_lossy().parse()?,
        shape: line.shape,
        threads: line.threads,
        count: line.count,
        output,
    })
}

/// `-o`: `-`, or a file whose ending says its format.
fn target(path: PathBuf) -> Result<Target, Failure> {
    match ending(&path).as_deref() {
        _ if path.as_os_str() == "-" => Ok(Target::Stdout),
        Some("npy" | "csv") => Ok(Target::File(path)),
        _ => Err(Failure::Usage(format!("{}: pairs are written as .npy or .csv; give such a name, or -", path.display()))),
    }
}
