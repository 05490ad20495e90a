//! Frames by number, from a generator that only goes forward or from a file.

use std::collections::VecDeque;
use std::sync::Arc;

use broadphase::{Aabb, Real};
use broadphase_bench::failure::Failure;
use broadphase_bench::source::Stream;

/// The boxes of a frame, shared with the threads that measure.
pub type Boxes<const D: usize, T> = Arc<Vec<Aabb<D, T>>>;

/// Opens a stream at its first frame.
pub type Opener<const D: usize, T> = Box<dyn Fn() -> Result<Box<dyn Stream<D, T>>, Failure>>;

/// Bytes of past frames that are kept for going back.
const HISTORY: usize = 192 << 20;

/// Frames by number. Going back within what is kept is free; farther back, a scene is built again and advanced.
pub struct Timeline<const D: usize, T> {
    open: Opener<D, T>,
    stream: Box<dyn Stream<D, T>>,
    /// The frame that the stream gives next.
    next: usize,
    /// Frames in all.
    frames: usize,
    /// Past frames with their numbers, oldest first.
    history: VecDeque<(usize, Boxes<D, T>)>,
}

impl<const D: usize, T: Real> Timeline<D, T> {
    /// Frames `0..frames` of what `open` opens.
    pub fn new(open: Opener<D, T>, frames: usize) -> Result<Self, Failure> {
        let stream = open()?;
        Ok(Self { open, stream, next: 0, frames: frames.max(1), history: VecDeque::new() })
    }

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// The boxes of a frame.
    pub fn frame(&mut self, number: usize) -> Result<Boxes<D, T>, Failure> {
        if let Some((_, boxes)) = self.history.iter().rev().find(|(kept, _)| *kept == number) {
            return Ok(Arc::clone(boxes));
        }
        if number < self.next {
            self.stream = (self.open)()?;
            self.next = 0;
        }
        while self.next < number {
            self.stream.skip();
            self.next += 1;
        }
        let mut boxes = Vec::new();
        self.stream.next(&mut boxes)?;
        self.next += 1;
        let boxes = Arc::new(boxes);
        self.keep(number, &boxes);
        Ok(boxes)
    }

    fn keep(&mut self, number: usize, boxes: &Boxes<D, T>) {
        let each = size_of_val(&boxes[..]).max(1);
        while self.history.len() >= (HISTORY / each).max(2) {
            self.history.pop_front();
        }
        self.history.push_back((number, Arc::clone(boxes)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadphase_bench::Source;
    use broadphase_bench::source::{AnyStream, Setting};

    fn timeline() -> Timeline<2, f32> {
        let source = Source::Scene("pile:dim=2".parse().unwrap());
        let open = move || {
            let setting = Setting::of(&source, Some(40), None)?;
            let AnyStream::Flat32(stream) = AnyStream::open(&source, &setting)? else { panic!("2D float32") };
            Ok(stream)
        };
        Timeline::new(Box::new(open), 100).unwrap()
    }

    #[test]
    fn a_frame_is_the_same_however_it_is_reached() {
        let mut forward = timeline();
        let frames: Vec<_> = (0..12).map(|number| forward.frame(number).unwrap()).collect();
        assert_ne!(frames[0], frames[11]);
        let mut jumping = timeline();
        for number in [7, 3, 11, 0, 11, 10] {
            assert_eq!(jumping.frame(number).unwrap(), frames[number], "frame {number}");
            jumping.history.clear();
        }
        assert!(Arc::ptr_eq(&forward.frame(5).unwrap(), &frames[5]), "what is kept is not made again");
    }
}
