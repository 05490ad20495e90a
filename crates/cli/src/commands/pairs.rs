//! `broadphase pairs`: the overlapping pairs of a recording's frame, or their number in every frame.

use broadphase::{Pair, Real, Report};
use broadphase_scenes::{Recording, Scalar, write_pairs_csv, write_pairs_npy};

use crate::arguments::{PairsArguments, ending};
use crate::bench::context;
use crate::bench::rows::{Contestant, Ours, Refusal};
use crate::failure::Failure;
use crate::output::{self, Target};
use crate::progress::Progress;

/// Runs the command.
pub fn run(asked: &PairsArguments) -> Result<(), Failure> {
    let recording = Recording::open(&asked.file)?;
    if let Some(frame) = asked.frame.filter(|&frame| frame >= recording.frames()) {
        let (file, has) = (asked.file.display(), recording.frames());
        return Err(Failure::Usage(format!("{file}: there is no frame {frame}; it has {has} frames, counted from 0")));
    }
    match (recording.dim(), recording.scalar()) {
        (2, Scalar::F32) => find::<2, f32>(asked, &recording),
        (2, Scalar::F64) => find::<2, f64>(asked, &recording),
        (_, Scalar::F32) => find::<3, f32>(asked, &recording),
        (_, Scalar::F64) => find::<3, f64>(asked, &recording),
    }
}

fn find<const D: usize, T: Real>(asked: &PairsArguments, recording: &Recording) -> Result<(), Failure> {
    let report = if asked.count { Report::Count } else { Report::All };
    let mut ours = Ours::<D, T>::new(&asked.algorithm, context(asked.threads)?, asked.shape, report)?;
    if asked.count {
        return count(asked, recording, &mut ours);
    }
    frame(asked, recording, &mut ours, asked.frame.unwrap_or(0))?;
    write(&asked.output, &ours.store().sorted())
}

/// One line `frame n pairs` for each frame, as soon as it is known.
fn count<const D: usize, T: Real>(asked: &PairsArguments, recording: &Recording, ours: &mut Ours<D, T>) -> Result<(), Failure> {
    let frames = asked.frame.map_or(0..recording.frames(), |frame| frame..frame + 1);
    let progress = Progress::new("pairs", frames.len());
    for number in frames {
        frame(asked, recording, ours, number)?;
        let (n, pairs) = (recording.n(), ours.store().len());
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
    let place = || format!("{}: frame {number}", asked.file.display());
    match ours.frame(&boxes) {
        Ok(_) => Ok(()),
        Err(Refusal::Unsuited(text)) => {
            Err(Failure::Usage(format!("{}: {text}; choose another --algorithm or --shape", place())))
        }
        Err(Refusal::Failed(text)) => Err(Failure::Data(format!("{}: {text}", place()))),
    }
}

fn write(target: &Target, pairs: &[Pair]) -> Result<(), Failure> {
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
