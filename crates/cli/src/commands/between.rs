//! `broadphase pairs A B`: the pairs between two recordings, frame by frame.

use std::borrow::Cow;

use broadphase::{Aabb, Ball, Context, Error, Frame, Pair, PairStore, Probes, Real, Report, Shape, pairs_between};
use broadphase_scenes::{Recording, RecordingError, Scalar};

use super::pairs::{check_frame, count, write};
use crate::arguments::PairsArguments;
use crate::bench::context;
use crate::bench::rows::Refusal;
use crate::failure::Failure;

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

/// Two recordings that are paired.
struct Both<'a> {
    asked: &'a PairsArguments,
    a: &'a Recording,
    b: &'a Recording,
}

impl Both<'_> {
    fn find<const D: usize, T: Real + Widened>(&self, frames: usize) -> Result<(), Failure> {
        let asked = self.asked;
        let mut context = context(asked.threads)?.with_kernels(asked.algorithm.kernels());
        if asked.count {
            return count(asked, frames, |number| {
                let (a, b) = self.boxes::<D, T>(number)?;
                Ok((a.len() + b.len(), self.counted(&a, &b, &mut context, number)?))
            });
        }
        let number = asked.frame.unwrap_or(0);
        let (a, b) = self.boxes::<D, T>(number)?;
        write(&asked.output, &self.listed(&a, &b, &mut context, number)?)
    }

    /// The boxes of both in a frame; a recording with one frame has it always.
    #[expect(clippy::type_complexity)]
    fn boxes<const D: usize, T: Real + Widened>(
        &self,
        number: usize,
    ) -> Result<(Cow<'_, [Aabb<D, T>]>, Cow<'_, [Aabb<D, T>]>), Failure> {
        let read = |recording: &'_ Recording| -> Result<_, RecordingError> {
            let number = if recording.frames() == 1 { 0 } else { number };
            recording.check_frame(number)?;
            Ok(number)
        };
        let (in_a, in_b) = (read(self.a)?, read(self.b)?);
        Ok((T::boxes(self.a, in_a)?, T::boxes(self.b, in_b)?))
    }

    /// The number of pairs. Boxes are counted without a list, so that there may be any number of them.
    fn counted<const D: usize, T: Real>(
        &self,
        a: &[Aabb<D, T>],
        b: &[Aabb<D, T>],
        context: &mut Context,
        number: usize,
    ) -> Result<u64, Failure> {
        if self.asked.shape == Shape::Ball {
            return Ok(self.listed(a, b, context, number)?.len() as u64);
        }
        let mut out = PairStore::new(Report::Count);
        out.set_limit(u64::MAX);
        self.probe(a, b, context, &mut out).map_err(|error| self.failure(error, number))?;
        Ok(out.len())
    }

    /// The pairs: index in A, index in B, sorted.
    fn listed<const D: usize, T: Real>(
        &self,
        a: &[Aabb<D, T>],
        b: &[Aabb<D, T>],
        context: &mut Context,
        number: usize,
    ) -> Result<Vec<Pair>, Failure> {
        let asked = self.asked;
        let plain = asked.algorithm.to_string() == "auto" && asked.threads == 1;
        let found = if plain { pairs_between(a, b) } else { self.probed(a, b, context) };
        let mut pairs = found.map_err(|error| self.failure(error, number))?;
        if asked.shape == Shape::Ball {
            let overlap = |pair: &Pair| Ball::inscribed(&a[pair.a as usize]).overlaps(&Ball::inscribed(&b[pair.b as usize]));
            pairs.retain(overlap);
        }
        Ok(pairs)
    }

    fn probed<const D: usize, T: Real>(
        &self,
        a: &[Aabb<D, T>],
        b: &[Aabb<D, T>],
        context: &mut Context,
    ) -> Result<Vec<Pair>, Error> {
        let mut out = PairStore::new(Report::All);
        self.probe(a, b, context, &mut out)?;
        Ok(out.sorted())
    }

    /// A structure over `b`, probed with `a`.
    fn probe<const D: usize, T: Real>(
        &self,
        a: &[Aabb<D, T>],
        b: &[Aabb<D, T>],
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        let mut structure = self.asked.algorithm.build()?;
        let mut frame = Frame::new(b);
        frame.shape = self.asked.shape;
        structure.update(&frame, context)?;
        structure.probe(&frame, Probes { boxes: a, ids: None }, context, out)
    }

    fn failure(&self, error: Error, number: usize) -> Failure {
        let place = format!("{} and {}: frame {number}", self.a.path().display(), self.b.path().display());
        match Refusal::from(error) {
            Refusal::Unsuited(text) => Failure::Usage(format!("{place}: {text}; choose another --algorithm or --shape")),
            Refusal::Failed(text) => Failure::Data(format!("{place}: {text}")),
        }
    }
}

/// A scalar to which the boxes of a recording are brought without rounding: float32 becomes float64 where the other recording has that.
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
