//! `broadphase pairs`: the overlapping pairs of a recording's frame, or their number in every frame.

use broadphase::{Pair, Real, Report};
use broadphase_scenes::{Recording, Scalar, write_pairs_csv, write_pairs_npy};

use super::between;
use crate::arguments::{PairsArguments, ending};
use broadphase_bench::context;
use broadphase_bench::failure::Failure;
use broadphase_bench::output::{self, Target};
use broadphase_bench::progress::Progress;
use broadphase_bench::rows::{Ours, Refusal, RowRunner};

/// Runs the command.
pub fn run(asked: &PairsArguments) -> Result<(), Failure> {
    let recording = asked.input.open()?;
    if let Some(other) = &asked.other {
        return between::run(asked, &recording, &*other.open()?);
    }
    check_frame(asked, &asked.input.name(), recording.frames())?;
    match (recording.dim(), recording.scalar()) {
        (2, Scalar::F32) => find::<2, f32>(asked, &recording),
        (2, Scalar::F64) => find::<2, f64>(asked, &recording),
        (_, Scalar::F32) => find::<3, f32>(asked, &recording),
        (_, Scalar::F64) => find::<3, f64>(asked, &recording),
    }
}

/// Fails if the frame of `--frame` does not exist.
pub fn check_frame(asked: &PairsArguments, file: &str, has: usize) -> Result<(), Failure> {
    match asked.frame.filter(|&frame| frame >= has) {
        Some(frame) => Err(Failure::Usage(format!("{file}: there is no frame {frame}; it has {has} frames, counted from 0"))),
        None => Ok(()),
    }
}

fn find<const D: usize, T: Real>(asked: &PairsArguments, recording: &Recording) -> Result<(), Failure> {
    let report = if asked.count { Report::Count } else { Report::All };
    let mut ours = Ours::<D, T>::new(&asked.algorithm, context(asked.threads)?, asked.shape, report)?;
    if asked.count {
        return count(asked, recording.frames(), |number| {
            frame(asked, recording, &mut ours, number)?;
            Ok((recording.n(), ours.store().len()))
        });
    }
    frame(asked, recording, &mut ours, asked.frame.unwrap_or(0))?;
    write(&asked.output, &ours.store().sorted())
}

/// One line `frame n pairs` for each frame, as soon as it is known.
pub fn count(
    asked: &PairsArguments,
    frames: usize,
    mut find: impl FnMut(usize) -> Result<(usize, u64), Failure>,
) -> Result<(), Failure> {
    let frames = asked.frame.map_or(0..frames, |frame| frame..frame + 1);
    let progress = Progress::new("pairs", frames.len());
    for number in frames {
        let (n, pairs) = find(number)?;
        output::with_stdout(|out| writeln!(out, "{number} {n} {pairs}"))?;
        progress.step();
    }
    Ok(())
}

/// Reads, checks and searches one frame.
fn frame<const D: usize, T: Real>(
    asked: &PairsArguments,
    recording: &Recording,
    ours: &mut Ours<D, T>,
    number: usize,
) -> Result<(), Failure> {
    recording.check_frame(number)?;
    let boxes = recording.frame::<D, T>(number)?;
    let place = || format!("{}: frame {number}", asked.input.name());
    match ours.frame(&boxes) {
        Ok(_) => Ok(()),
        Err(Refusal::Unsuited(text)) => {
            Err(Failure::Usage(format!("{}: {text}; choose another --algorithm or --shape", place())))
        }
        Err(Refusal::Failed(text)) => Err(Failure::Data(format!("{}: {text}", place()))),
    }
}

/// Writes pairs to the output that was chosen.
pub fn write(target: &Target, pairs: &[Pair]) -> Result<(), Failure> {
    match target {
        Target::Stdout => output::with_stdout(|out| write_pairs_csv(out, pairs)),
        Target::File(path) if ending(path).as_deref() == Some("csv") => {
            output::with_file(path, |out| write_pairs_csv(out, pairs))
        }
        Target::File(path) => {
            output::must_be_file(path)?;
            Ok(write_pairs_npy(path, pairs)?)
        }
    }
}
