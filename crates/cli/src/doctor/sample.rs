//! The frames that are analyzed: all of a short recording, or windows of consecutive frames from its start, middle and end.

use std::collections::BTreeSet;

use broadphase::{Aabb, BoxFault, Real};
use broadphase_scenes::{Recording, Scene};

use broadphase_bench::failure::Failure;
use broadphase_bench::progress::Progress;

/// The most frames that are analyzed.
const FRAMES: usize = 24;
/// The number of windows of a longer recording.
const WINDOWS: usize = 3;
/// The most bytes of boxes that are held, unless the fewest frames need more.
const BYTES: usize = 256 << 20;
/// The fewest frames in a window: motion is seen between two.
const FEWEST: usize = 2;

/// A box that no algorithm accepts, and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Invalid {
    pub frame: usize,
    pub object: usize,
    pub axis: usize,
    pub fault: BoxFault,
    /// The line in a text.
    pub line: Option<usize>,
}

/// Consecutive frames.
#[derive(Debug)]
pub struct Window<const D: usize, T> {
    /// The number of the first one.
    pub first: usize,
    pub frames: Vec<Vec<Aabb<D, T>>>,
}

/// The frames that are analyzed.
#[derive(Debug)]
pub struct Sample<const D: usize, T> {
    /// Objects of the recording.
    pub n: usize,
    /// Frames of the recording.
    pub frames: usize,
    /// Valid objects only.
    pub windows: Vec<Window<D, T>>,
    /// The number in the recording of each object in the windows.
    pub ids: Vec<u32>,
    /// The first invalid boxes.
    pub invalid: Vec<Invalid>,
    /// How many boxes are invalid.
    pub invalid_boxes: usize,
    /// How many objects have an invalid box in some frame; they are not in the windows.
    pub invalid_objects: usize,
}

/// Invalid boxes that are named.
const NAMED: usize = 5;

/// First frames and lengths of windows over `frames` frames of `frame_bytes` bytes each.
fn windows(frames: usize, frame_bytes: usize) -> Vec<(usize, usize)> {
    let budget = (BYTES / frame_bytes.max(1)).clamp(FEWEST, FRAMES);
    if frames <= budget {
        return vec![(0, frames)];
    }
    let length = (budget / WINDOWS).max(FEWEST);
    let count = if frames < WINDOWS * length { 1 } else { WINDOWS };
    let last = frames - length;
    (0..count).map(|k| (if count == 1 { 0 } else { last * k / (count - 1) }, length)).collect()
}

impl<const D: usize, T: Real> Sample<D, T> {
    /// Checks every frame for invalid boxes, and keeps the windows.
    pub fn of_recording(recording: &Recording) -> Result<Self, Failure> {
        let (n, frames) = (recording.n(), recording.frames());
        let (mut invalid, mut invalid_boxes, mut bad) = (Vec::new(), 0, BTreeSet::new());
        let progress = Progress::new("reading", frames);
        for frame in 0..frames {
            for (object, aabb) in recording.frame::<D, T>(frame)?.iter().enumerate() {
                let Some((axis, fault)) = aabb.fault() else { continue };
                invalid_boxes += 1;
                bad.insert(object);
                if invalid.len() < NAMED {
                    invalid.push(Invalid { frame, object, axis, fault, line: recording.line(frame, object) });
                }
            }
            progress.step();
        }
        let ids: Vec<u32> = (0..n).filter(|object| !bad.contains(object)).map(|object| object as u32).collect();
        let mut kept = Vec::new();
        for (first, length) in windows(frames, n * size_of::<Aabb<D, T>>()) {
            let mut window = Window { first, frames: Vec::new() };
            for frame in first..first + length {
                let boxes = recording.frame::<D, T>(frame)?;
                window.frames.push(if bad.is_empty() {
                    boxes.to_vec()
                } else {
                    ids.iter().map(|&id| boxes[id as usize]).collect()
                });
            }
            kept.push(window);
        }
        Ok(Self { n, frames, windows: kept, ids, invalid, invalid_boxes, invalid_objects: bad.len() })
    }

    /// The frames of a sample in their order, with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &Vec<Aabb<D, T>>)> {
        self.windows.iter().flat_map(|window| window.frames.iter().enumerate().map(|(k, boxes)| (window.first + k, boxes)))
    }

    /// The number of frames analyzed.
    pub fn looked_at(&self) -> usize {
        self.windows.iter().map(|window| window.frames.len()).sum()
    }

    /// Objects in the windows.
    pub fn count(&self) -> usize {
        self.ids.len()
    }

    /// The first frame.
    pub fn first(&self) -> &[Aabb<D, T>] {
        self.windows.first().and_then(|window| window.frames.first()).map_or(&[], Vec::as_slice)
    }
}

impl<const D: usize> Sample<D, f32> {
    /// The first frames of a scene.
    pub fn of_scene(mut scene: Box<dyn Scene<D>>, frames: usize) -> Self {
        let n = scene.boxes().len();
        let most = (BYTES / size_of_val(scene.boxes()).max(1)).clamp(FEWEST, FRAMES);
        let mut kept = vec![scene.boxes().to_vec()];
        for _ in 1..frames.min(most) {
            scene.advance();
            kept.push(scene.boxes().to_vec());
        }
        let windows = vec![Window { first: 0, frames: kept }];
        let ids = (0..n as u32).collect();
        Self { n, frames, windows, ids, invalid: Vec::new(), invalid_boxes: 0, invalid_objects: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_recording_is_looked_at_through_windows_that_fit_into_memory() {
        assert_eq!(windows(1, 100), [(0, 1)]);
        assert_eq!(windows(24, 100), [(0, 24)]);
        assert_eq!(windows(1000, 100), [(0, 8), (496, 8), (992, 8)]);
        assert_eq!(windows(1000, BYTES), [(0, 2), (499, 2), (998, 2)]);
        assert_eq!(windows(3, BYTES), [(0, 2)]);
        for frames in 1..80 {
            for (first, length) in windows(frames, BYTES / 7) {
                assert!(length > 0 && first + length <= frames, "{frames}");
            }
        }
    }
}
