//! `broadphase pairs A B`: the pairs between two recordings, frame by frame.

use std::borrow::Cow;

use broadphase::{Aabb, Error, Real, Search};
use broadphase_scenes::{Recording, RecordingError, Scalar};

use super::pairs::{check_frame, count, write};
use crate::arguments::PairsArguments;
use broadphase_bench::failure::Failure;
use broadphase_bench::rows::Refusal;

/// Runs the command.
pub fn run(asked: &PairsArguments, a: &Recording, b: &Recording) -> Result<(), Failure> {
    let names = format!("{} and {}", a.path().display(), b.path().display());
    if a.dim() != b.dim() {
        return Err(Failure::Data(format!(
            "{names}: {}D and {}D boxes have no pairs; give two of one dimension",
            a.dim(),
            b.dim()
        )));
    }
    let frames = match (a.frames(), b.frames()) {
        (one, several) | (several, one) if one == 1 || one == several => several,
        (one, other) => {
            let text = format!("{names}: {one} and {other} frames cannot be paired one by one; record as many, or one");
            return Err(Failure::Data(text));
        }
    };
    check_frame(asked, &names, frames)?;
    let both = Both { asked, a, b };
    match (a.dim(), a.scalar(), b.scalar()) {
        (2, Scalar::F32, Scalar::F32) => both.find::<2, f32>(frames),
        (2, ..) => both.find::<2, f64>(frames),
        (_, Scalar::F32, Scalar::F32) => both.find::<3, f32>(frames),
        _ => both.find::<3, f64>(frames),
    }
}

/// Two recordings between which pairs are found.
struct Both<'a> {
    asked: &'a PairsArguments,
    a: &'a Recording,
    b: &'a Recording,
}

impl Both<'_> {
    fn find<const D: usize, T: Real + Widened>(&self, frames: usize) -> Result<(), Failure> {
        let asked = self.asked;
        if asked.count {
            return count(asked, frames, |number| {
                let pairs = self.search::<D, T>(number)?.count().map_err(|error| self.failure(error, number))?;
                Ok((self.a.n() + self.b.n(), pairs))
            });
        }
        let number = asked.frame.unwrap_or(0);
        let pairs = self.search::<D, T>(number)?.list().map_err(|error| self.failure(error, number))?;
        write(&asked.output, &pairs)
    }

    /// The search between the two in a frame; of a recording with one frame, that frame is always used.
    fn search<const D: usize, T: Real + Widened>(&self, number: usize) -> Result<Search<'_, D, T>, Failure> {
        let number_in = |recording: &Recording| if recording.frames() == 1 { 0 } else { number };
        let (in_a, in_b) = (number_in(self.a), number_in(self.b));
        self.a.check_frame(in_a)?;
        self.b.check_frame(in_b)?;
        let search = Search::between(T::boxes(self.a, in_a)?, T::boxes(self.b, in_b)?);
        let search = search.algorithm(self.asked.algorithm.clone()).shape(self.asked.shape);
        Ok(if self.asked.threads > 1 { search.workers(self.asked.threads)? } else { search })
    }

    fn failure(&self, error: Error, number: usize) -> Failure {
        let place = format!("{} and {}: frame {number}", self.a.path().display(), self.b.path().display());
        match Refusal::from(error) {
            Refusal::Unsuited(text) => Failure::Usage(format!("{place}: {text}; choose another --algorithm or --shape")),
            Refusal::Failed(text) => Failure::Data(format!("{place}: {text}")),
        }
    }
}

/// A scalar to which the boxes of a recording are converted without rounding: float32 becomes float64 if the other recording has that.
trait Widened: Real {
    /// The boxes of a frame.
    fn boxes<const D: usize>(recording: &Recording, frame: usize) -> Result<Cow<'_, [Aabb<D, Self>]>, RecordingError>;
}

impl Widened for f32 {
    fn boxes<const D: usize>(recording: &Recording, frame: usize) -> Result<Cow<'_, [Aabb<D, f32>]>, RecordingError> {
        recording.frame(frame)
    }
}

impl Widened for f64 {
    fn boxes<const D: usize>(recording: &Recording, frame: usize) -> Result<Cow<'_, [Aabb<D, f64>]>, RecordingError> {
        if recording.scalar() == Scalar::F64 {
            return recording.frame(frame);
        }
        let narrow = recording.frame::<D, f32>(frame)?;
        Ok(narrow.iter().map(|aabb| Aabb::new(aabb.min.map(f64::from), aabb.max.map(f64::from))).collect())
    }
}
