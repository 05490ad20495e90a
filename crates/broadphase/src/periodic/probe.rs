//! Probes of a periodic space: wrapped, with images of their own.

use super::{LONGEST_SWEPT, Periodic};
use crate::algorithms::Probes;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Ball, Period, Real};
use crate::memory::push;
use crate::objects::{Frame, Shape};
use crate::pairs::{Pair, PairStore, Report, Revision};

/// What the memory is for, in errors.
const PROBES: &str = "probes";

/// Buffers of one call.
#[derive(Debug)]
pub(super) struct ProbeScratch<const D: usize, T> {
    /// The probes, wrapped, then their images.
    boxes: Vec<Aabb<D, T>>,
    /// By image: its probe, and the axes along which it is moved.
    images: Vec<(u32, u8)>,
    found: PairStore,
}

impl<const D: usize, T> Default for ProbeScratch<D, T> {
    fn default() -> Self {
        Self { boxes: Vec::new(), images: Vec::new(), found: PairStore::new(Report::All) }
    }
}

impl<const D: usize, T> ProbeScratch<D, T> {
    pub(super) fn bytes(&self) -> usize {
        self.boxes.capacity() * size_of::<Aabb<D, T>>() + self.images.capacity() * 8 + self.found.bytes()
    }
}

impl<const D: usize, T: Real> Periodic<D, T> {
    /// All pairs of a probe and an object, each once.
    pub(super) fn find_probes(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
    ) -> Result<(), Error> {
        let mut scratch = self.scratch.take();
        let result = self.find_with(frame, probes, context, out, &mut scratch);
        self.scratch.give(scratch);
        result
    }

    fn find_with(
        &self,
        frame: &Frame<'_, D, T>,
        probes: Probes<'_, D, T>,
        context: &mut Context,
        out: &mut PairStore,
        scratch: &mut ProbeScratch<D, T>,
    ) -> Result<(), Error> {
        if let Some(ids) = probes.ids.filter(|ids| ids.len() != probes.boxes.len()) {
            return Err(Error::InvalidFrame { index: ids.len(), reason: "there are not as many probe ids as probe boxes" });
        }
        let ProbeScratch { boxes, images, found } = scratch;
        let are_balls = probes.ids.is_some() && frame.shape == Shape::Ball;
        self.wrap(probes.boxes, if are_balls { T::HALF } else { T::from_f64(LONGEST_SWEPT) }, boxes, images)?;
        // An overlap of images that does not count is removed below, as is what the frame forbids.
        found.set_limit(if probes.ids.is_some() { PairStore::DEFAULT_LIMIT } else { out.limit().saturating_mul(1 << D) });
        self.inner.probe(&self.images.frame(Shape::Box, None), Probes { boxes, ids: None, recurring: false }, context, found)?;
        let count = probes.boxes.len();
        let origin = |probe: u32| match (probe as usize).checked_sub(count) {
            Some(image) => images[image],
            None => (probe, 0),
        };
        let plain = Frame { live: frame.live, ..Frame::new(frame.boxes) };
        // Balls are tested here, where their images are known.
        let view = if probes.ids.is_some() { Frame { shape: Shape::Box, ..*frame } } else { plain };
        out.begin(&view, context, Revision::default(), 1)?;
        out.rewrite(0, 0, &view, |sink| {
            sink.count_tests(found.tests());
            found.for_each_chunk(|pairs| {
                for &Pair { a, b } in pairs {
                    let ((probe, shift), object) = (origin(a), self.images.owner(b));
                    let is_first = Period::is_first((&boxes[probe as usize], shift), self.images.origin(b));
                    if is_first && (!are_balls || self.balls_meet(&probes.boxes[probe as usize], self.images.boxed(object))) {
                        sink.push(probes.pair(probe as usize, object));
                    }
                }
            });
        });
        out.finish(context, 1).map(|_| ())
    }

    /// Wraps the probes, which are at most `longest` periods long, and lists their images behind them.
    fn wrap(
        &self,
        probes: &[Aabb<D, T>],
        longest: T,
        boxes: &mut Vec<Aabb<D, T>>,
        images: &mut Vec<(u32, u8)>,
    ) -> Result<(), Error> {
        boxes.clear();
        images.clear();
        for (index, probe) in probes.iter().enumerate() {
            self.period.check_length(probe, index, longest)?;
            push(boxes, self.period.wrap_box(probe), PROBES)?;
        }
        for probe in 0..probes.len() {
            let wrapped = boxes[probe];
            let mut stored = Ok(());
            self.period.for_each_image(&wrapped, |image, shift| {
                let entry = push(boxes, image, PROBES).and_then(|()| push(images, (probe as u32, shift), PROBES));
                stored = stored.clone().and(entry);
            });
            stored?;
        }
        Ok(())
    }

    fn balls_meet(&self, a: &Aabb<D, T>, b: &Aabb<D, T>) -> bool {
        self.period.any_image(a, b, |a, b| Ball::of_box(a).overlaps(&Ball::of_box(b)))
    }
}
