//! Frames in: a scene or a recording as a stream of blocks, a few frames in memory at a time.

use std::rc::Rc;

use broadphase::{Aabb, Real};
use broadphase_scenes::{AnyScene, Recording, Scalar, Scene, SceneSpec};

use crate::failure::Failure;
use crate::input::Input;
use crate::selection::{DEFAULT_SEED, Source};

/// The most frames in a block.
const BLOCK: usize = 8;

/// The most bytes of boxes in a block, unless two frames need more: the first frame of a block is not measured, so a block of one
/// would measure nothing.
const BLOCK_BYTES: usize = 512 << 20;

/// What is measured on: everything about the frames but the boxes.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The scene or file, as given.
    pub scene: String,
    /// Objects in each frame.
    pub n: usize,
    /// 2 or 3.
    pub dim: usize,
    /// The scalar of the boxes.
    pub scalar: Scalar,
    /// Frames to run.
    pub frames: usize,
    /// Frames between two blocks that are skipped: a long run is sampled. The first frame behind the gap is not measured anyway.
    pub skip: usize,
}

impl Setting {
    /// What `source` offers with `n` objects (for scenes) and `frames` frames. Cheap: no frame is made or read.
    pub fn of(source: &Source, n: Option<usize>, frames: Option<usize>) -> Result<Self, Failure> {
        match source {
            Source::Scene(spec) => {
                let descriptor = spec.descriptor();
                spec.build(0, DEFAULT_SEED)?; // an error now if this build lacks the scene
                Ok(Self {
                    scene: spec.to_string(),
                    n: n.unwrap_or(descriptor.default_n),
                    dim: spec.dim(),
                    scalar: Scalar::F32,
                    frames: frames.unwrap_or(descriptor.default_frames),
                    skip: 0,
                })
            }
            Source::File(input) => Self::of_file(input, frames),
        }
    }

    fn of_file(input: &Input, frames: Option<usize>) -> Result<Self, Failure> {
        let recording = input.open()?;
        let (name, has) = (input.name(), recording.frames());
        if has == 0 {
            return Err(Failure::Data(format!("{name}: the recording has no frames; record at least one")));
        }
        if let Some(asked) = frames.filter(|&asked| asked > has) {
            crate::progress::note(&format!("{name} has {has} frames, not {asked}: all of them are run"));
        }
        let frames = frames.map_or(has, |asked| asked.min(has));
        Ok(Self { scene: name, n: recording.n(), dim: recording.dim(), scalar: recording.scalar(), frames, skip: 0 })
    }
}

/// Frames one after the other.
pub trait Stream<const D: usize, T> {
    /// Puts the next frame into `boxes`, which is cleared first. Every box is valid.
    fn next(&mut self, boxes: &mut Vec<Aabb<D, T>>) -> Result<(), Failure>;

    /// Passes over a frame.
    fn skip(&mut self);
}

/// A stream of either dimension and scalar.
pub enum AnyStream {
    /// 2D, f32.
    Flat32(Box<dyn Stream<2, f32>>),
    /// 2D, f64.
    Flat64(Box<dyn Stream<2, f64>>),
    /// 3D, f32.
    Solid32(Box<dyn Stream<3, f32>>),
    /// 3D, f64.
    Solid64(Box<dyn Stream<3, f64>>),
}

impl AnyStream {
    /// Opens the stream of a setting.
    pub fn open(source: &Source, setting: &Setting) -> Result<Self, Failure> {
        match source {
            Source::Scene(spec) => Self::of_scene(spec, setting.n),
            Source::File(input) => {
                let recording = input.open()?;
                Ok(match (recording.dim(), recording.scalar()) {
                    (2, Scalar::F32) => AnyStream::Flat32(Box::new(FileStream { recording, next: 0 })),
                    (2, Scalar::F64) => AnyStream::Flat64(Box::new(FileStream { recording, next: 0 })),
                    (_, Scalar::F32) => AnyStream::Solid32(Box::new(FileStream { recording, next: 0 })),
                    (_, Scalar::F64) => AnyStream::Solid64(Box::new(FileStream { recording, next: 0 })),
                })
            }
        }
    }

    fn of_scene(spec: &SceneSpec, n: usize) -> Result<Self, Failure> {
        Ok(match spec.build(n, DEFAULT_SEED)? {
            AnyScene::Two(scene) => AnyStream::Flat32(Box::new(SceneStream { scene, started: false })),
            AnyScene::Three(scene) => AnyStream::Solid32(Box::new(SceneStream { scene, started: false })),
        })
    }
}

/// A scene, advanced when its next frame is needed.
struct SceneStream<const D: usize> {
    scene: Box<dyn Scene<D>>,
    started: bool,
}

impl<const D: usize> Stream<D, f32> for SceneStream<D> {
    fn next(&mut self, boxes: &mut Vec<Aabb<D, f32>>) -> Result<(), Failure> {
        if self.started {
            self.scene.advance();
        }
        self.started = true;
        boxes.clear();
        boxes.extend_from_slice(self.scene.boxes());
        Ok(())
    }

    fn skip(&mut self) {
        self.scene.advance();
    }
}

/// A recording, read and checked frame by frame.
struct FileStream {
    recording: Rc<Recording>,
    next: usize,
}

impl<const D: usize, T: Real> Stream<D, T> for FileStream {
    fn next(&mut self, boxes: &mut Vec<Aabb<D, T>>) -> Result<(), Failure> {
        let frame = self.next;
        self.next += 1;
        self.recording.check_frame(frame)?;
        boxes.clear();
        boxes.extend_from_slice(&self.recording.frame::<D, T>(frame)?);
        Ok(())
    }

    fn skip(&mut self) {
        self.next += 1;
    }
}

/// Which objects stand still over all frames of a setting.
pub fn still(source: &Source, setting: &Setting) -> Result<Vec<bool>, Failure> {
    match AnyStream::open(source, setting)? {
        AnyStream::Flat32(stream) => still_in(stream, setting),
        AnyStream::Flat64(stream) => still_in(stream, setting),
        AnyStream::Solid32(stream) => still_in(stream, setting),
        AnyStream::Solid64(stream) => still_in(stream, setting),
    }
}

fn still_in<const D: usize, T: Real>(stream: Box<dyn Stream<D, T>>, setting: &Setting) -> Result<Vec<bool>, Failure> {
    let mut blocks = Blocks::new(stream, setting, false);
    let (mut first, mut still) = (Vec::new(), vec![true; setting.n]);
    while let Some(block) = blocks.read()? {
        for boxes in block.frames() {
            if first.is_empty() {
                first.clone_from(boxes);
            }
            still.iter_mut().zip(first.iter().zip(boxes)).for_each(|(still, (a, b))| *still &= a == b);
        }
    }
    Ok(still)
}

/// A few consecutive frames in memory.
pub struct Block<const D: usize, T> {
    /// The number of the block, from 0.
    pub number: usize,
    /// The number of its first frame.
    pub first: usize,
    /// How many frames it has; buffers behind are leftovers.
    count: usize,
    buffers: Vec<Vec<Aabb<D, T>>>,
}

impl<const D: usize, T> Block<D, T> {
    /// The frames.
    pub fn frames(&self) -> &[Vec<Aabb<D, T>>] {
        &self.buffers[..self.count]
    }
}

/// A stream cut into blocks.
pub struct Blocks<const D: usize, T> {
    stream: Box<dyn Stream<D, T>>,
    frames: usize,
    /// Frames passed over between blocks.
    skip: usize,
    /// Blocks in all.
    blocks: usize,
    block: Block<D, T>,
    /// The share of objects that moved into each frame so far; `None` if not requested.
    moved: Option<Vec<Option<f64>>>,
    /// The last frame of the block before, if moves are counted.
    last: Vec<Aabb<D, T>>,
}

impl<const D: usize, T: Real> Blocks<D, T> {
    /// Cuts `setting.frames` frames of a stream; counts moves if `series`.
    pub fn new(stream: Box<dyn Stream<D, T>>, setting: &Setting, series: bool) -> Self {
        let frame_bytes = (setting.n * size_of::<Aabb<D, T>>()).max(1);
        let size = (BLOCK_BYTES / frame_bytes).clamp(2, BLOCK);
        Self {
            stream,
            frames: setting.frames,
            skip: setting.skip,
            blocks: setting.frames.div_ceil(size),
            block: Block { number: 0, first: 0, count: 0, buffers: Vec::new() },
            moved: series.then(Vec::new),
            last: Vec::new(),
        }
    }

    /// Reads the next block into memory, in place of the last one.
    pub fn read(&mut self) -> Result<Option<&Block<D, T>>, Failure> {
        let block = &mut self.block;
        let number = if block.count == 0 { 0 } else { block.number + 1 };
        if number >= self.blocks {
            return Ok(None);
        }
        if self.moved.is_some() && block.count > 0 {
            self.last.clone_from(&block.buffers[block.count - 1]);
        }
        if number > 0 {
            (0..self.skip).for_each(|_| self.stream.skip());
        }
        block.number = number;
        block.first = cut(self.frames, self.blocks, number);
        block.count = cut(self.frames, self.blocks, number + 1) - block.first;
        block.buffers.resize_with(block.buffers.len().max(block.count), Vec::new);
        for boxes in &mut block.buffers[..block.count] {
            self.stream.next(boxes)?;
        }
        if let Some(moved) = &mut self.moved {
            let frames = self.block.frames();
            for (k, boxes) in frames.iter().enumerate() {
                let before = if k == 0 { &self.last } else { &frames[k - 1] };
                moved.push((self.block.first + k > 0).then(|| moved_share(before, boxes)));
            }
        }
        Ok(Some(&self.block))
    }

    /// The share of objects that moved into each frame, if requested.
    pub fn into_moved(self) -> Option<Vec<Option<f64>>> {
        self.moved
    }
}

/// Where block `number` of `blocks` starts: sizes differ by one at most, so that no block is a single frame, which is not measured.
fn cut(frames: usize, blocks: usize, number: usize) -> usize {
    frames / blocks * number + (frames % blocks).min(number)
}

/// The share of objects whose box is not the same, 0 if there are none.
fn moved_share<const D: usize, T: Real>(before: &[Aabb<D, T>], now: &[Aabb<D, T>]) -> f64 {
    let moved = before.iter().zip(now).filter(|(a, b)| a != b).count();
    moved as f64 / now.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_block_is_a_single_frame_unless_there_is_only_one() {
        for frames in 1..100usize {
            let blocks = frames.div_ceil(BLOCK);
            let sizes: Vec<_> = (0..blocks).map(|k| cut(frames, blocks, k + 1) - cut(frames, blocks, k)).collect();
            assert_eq!(sizes.iter().sum::<usize>(), frames);
            assert!(sizes.iter().all(|&size| size <= BLOCK && (size >= 2 || frames == 1)), "{frames}: {sizes:?}");
        }
    }

    #[test]
    fn blocks_hand_out_every_frame_once_in_order() {
        let source = Source::Scene("pile:dim=2".parse().unwrap());
        let setting = Setting::of(&source, Some(50), Some(19)).unwrap();
        let AnyStream::Flat32(mut plain) = AnyStream::open(&source, &setting).unwrap() else { panic!("2D float32") };
        let AnyStream::Flat32(stream) = AnyStream::open(&source, &setting).unwrap() else { panic!("2D float32") };
        let mut blocks = Blocks::new(stream, &setting, true);
        let (mut seen, mut expected) = (0, Vec::new());
        while let Some(block) = blocks.read().unwrap() {
            assert_eq!(block.first, seen);
            for boxes in block.frames() {
                plain.next(&mut expected).unwrap();
                assert_eq!(boxes, &expected);
                seen += 1;
            }
        }
        assert_eq!(seen, 19);
        let moved = blocks.into_moved().unwrap();
        assert_eq!((moved.len(), moved[0]), (19, None));
        assert!(moved[1..].iter().all(|&share| share == Some(1.0)), "everything moves in a pile: {moved:?}");
    }

    #[test]
    fn skipped_frames_lie_between_blocks() {
        let source = Source::Scene("pile:dim=2".parse().unwrap());
        let mut setting = Setting::of(&source, Some(50), Some(12)).unwrap();
        setting.skip = 5;
        let AnyStream::Flat32(mut plain) = AnyStream::open(&source, &setting).unwrap() else { panic!("2D float32") };
        let AnyStream::Flat32(stream) = AnyStream::open(&source, &setting).unwrap() else { panic!("2D float32") };
        let mut blocks = Blocks::new(stream, &setting, false);
        let mut expected = Vec::new();
        while let Some(block) = blocks.read().unwrap() {
            (0..if block.number > 0 { 5 } else { 0 }).for_each(|_| plain.skip());
            for boxes in block.frames() {
                plain.next(&mut expected).unwrap();
                assert_eq!(boxes, &expected);
            }
        }
    }
}
