//! The arguments of `pairs`.

use std::path::PathBuf;

use broadphase::{Shape, Spec};

use super::cli::PairsLine;
use super::{ending, inputs};
use broadphase_bench::failure::Failure;
use broadphase_bench::input::Input;
use broadphase_bench::output::Target;

/// The arguments of `pairs`.
pub struct PairsArguments {
    /// The recording.
    pub input: Input,
    /// The second recording, for pairs between two.
    pub other: Option<Input>,
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
    let files: Vec<PathBuf> = [line.file].into_iter().chain(line.other).collect();
    files.iter().try_for_each(|file| output.must_not_be(file))?;
    let mut inputs = inputs(files.iter().map(PathBuf::as_path), line.reading)?.into_iter();
    let (Some(input), other) = (inputs.next(), inputs.next()) else {
        return Err(Failure::Usage("pairs needs a FILE".to_string()));
    };
    Ok(PairsArguments {
        input,
        other,
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
