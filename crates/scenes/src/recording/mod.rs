//! Recordings: frames in a file.
//!
//! The way in: [`Recording::open`] maps the file, reads its header ([`npy`], [`broadmark`]) or parses it ([`csv`]) and checks its
//! length, so that [`Recording::frame`] only slices. Values are looked at by [`Recording::check_frame`]. The way out is [`write`].

mod broadmark;
mod csv;
mod error;
mod map;
mod npy;
mod write;

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use broadphase::{Aabb, Real};

pub use error::{FileFault, RecordingError};
pub use write::{AabbsWriter, NpyWriter, PendingFile, write_aabbs, write_pairs_csv, write_pairs_npy};

use map::Map;

/// The scalar of a recording's boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// 32-bit floats.
    F32,
    /// 64-bit floats.
    F64,
}

impl Scalar {
    /// Bytes of one.
    pub fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The scalar of a type.
    pub fn of<T: Real>() -> Self {
        if size_of::<T>() == 4 { Self::F32 } else { Self::F64 }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "float32",
            Self::F64 => "float64",
        })
    }
}

/// What the head of a file says about the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub dim: usize,
    pub scalar: Scalar,
    pub n: usize,
    pub frames: usize,
    /// Where frame 0 starts.
    pub start: usize,
    /// Bytes of one box, padding included.
    pub stride: usize,
}

impl Layout {
    /// The length that a file of this layout has. Saturates, whatever a header claims.
    pub fn length(&self) -> u128 {
        let boxes = self.frames as u128 * self.n as u128;
        boxes.saturating_mul(self.stride as u128).saturating_add(self.start as u128)
    }
}

/// The bytes of the frames.
#[derive(Debug)]
enum Data {
    Mapped(Map),
    /// Rows of float64, from text.
    Parsed(Vec<f64>),
}

/// A recording on disk: `.npy` and `.aabbs` memory-mapped, `.csv` parsed into memory (one frame of float64).
///
/// Frames of a mapped file are handed out without a copy where the file's alignment allows. Pages that were read are given back
/// to the system after some 64 MB, so that streaming over a file of any size stays small. Leave the file alone while it is open:
/// a map shows changes of its file, and one that is cut short ends the process.
///
/// ```
/// use broadphase::Aabb;
/// use broadphase_scenes::{NpyWriter, Recording};
/// # let folder = std::env::temp_dir().join(format!("broadphase-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let path = folder.join("two.npy");
/// let mut writer = NpyWriter::create(&path, 2, 1, 2)?; // 2D, one object, two frames
/// writer.write_frame(&[Aabb::new([0.0, 0.0], [1.0, 1.0])])?;
/// writer.write_frame(&[Aabb::new([0.5, 0.0], [1.5, 1.0])])?;
/// writer.finish()?;
///
/// let recording = Recording::open(&path)?;
/// assert_eq!((recording.dim(), recording.n(), recording.frames()), (2, 1, 2));
/// assert_eq!(recording.frame::<2, f32>(1)?[0].min, [0.5, 0.0]);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    layout: Layout,
    data: Data,
}

impl Recording {
    /// Opens a file, by its ending. Checks everything but the values.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
        let head = match ending.as_deref() {
            Some("npy") => npy::layout,
            Some("aabbs") => broadmark::layout,
            Some("csv") => return Self::open_csv(path),
            _ if path.is_dir() => return Err(FileFault::NotAFile.of(path)),
            _ => return Err(FileFault::UnknownEnding.of(path)),
        };
        let map = Map::open(path)?;
        let layout = head(map.bytes()).map_err(|fault| fault.of(path))?;
        let found = map.bytes().len() as u64;
        if layout.length() != u128::from(found) {
            return Err(FileFault::WrongLength { expected: layout.length(), found }.of(path));
        }
        // Only a file without data gets here with such counts: one of them is zero, the other one anything.
        if layout.n.max(layout.frames) > u32::MAX as usize {
            return Err(FileFault::TooLarge { what: "a recording has at most 2^32 - 1 objects and frames" }.of(path));
        }
        Ok(Self { path: path.to_path_buf(), layout, data: Data::Mapped(map) })
    }

    fn open_csv(path: &Path) -> Result<Self, RecordingError> {
        let map = Map::open(path)?;
        let (dim, values) = csv::parse(map.bytes()).map_err(|fault| fault.of(path))?;
        let layout = Layout { dim, scalar: Scalar::F64, n: values.len() / (2 * dim), frames: 1, start: 0, stride: 16 * dim };
        Ok(Self { path: path.to_path_buf(), layout, data: Data::Parsed(values) })
    }

    /// The dimension of the boxes: 2 or 3.
    pub fn dim(&self) -> usize {
        self.layout.dim
    }

    /// The scalar of the boxes.
    pub fn scalar(&self) -> Scalar {
        self.layout.scalar
    }

    /// Objects in each frame.
    pub fn n(&self) -> usize {
        self.layout.n
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.layout.frames
    }

    /// The file it came from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Frame `k` as boxes. Errors if `D` or `T` are not the file's, or if there is no such frame.
    ///
    /// Borrowed where the file is aligned and has no padding, copied otherwise. Values are not looked at; see
    /// [`check_frame`](Recording::check_frame).
    pub fn frame<const D: usize, T: Real>(&self, k: usize) -> Result<Cow<'_, [Aabb<D, T>]>, RecordingError> {
        let layout = &self.layout;
        let asked = (D, Scalar::of::<T>());
        if asked != (layout.dim, layout.scalar) {
            return Err(FileFault::Mismatch { asked, has: (layout.dim, layout.scalar) }.of(&self.path));
        }
        if k >= layout.frames {
            return Err(FileFault::NoSuchFrame { frame: k, frames: layout.frames }.of(&self.path));
        }
        if layout.n == 0 {
            return Ok(Cow::Borrowed(&[]));
        }
        // The length was checked on opening, so neither product overflows.
        let size = layout.n * layout.stride;
        let at = layout.start + k * size;
        match &self.data {
            Data::Parsed(values) => Ok(boxes(bytemuck::cast_slice(values))),
            Data::Mapped(map) if layout.stride == size_of::<Aabb<D, T>>() => Ok(from_little_endian(map.read(at, size))),
            Data::Mapped(map) => {
                let values = broadmark::unpad(map.read(at, size));
                Ok(Cow::Owned(boxes(bytemuck::cast_slice(&values)).into_owned()))
            }
        }
    }

    /// Errors if a box of frame `k` is not valid: NaN, or min above max. Names the first one, and the axis.
    pub fn check_frame(&self, k: usize) -> Result<(), RecordingError> {
        match (self.layout.dim, self.layout.scalar) {
            (2, Scalar::F32) => self.check::<2, f32>(k),
            (2, Scalar::F64) => self.check::<2, f64>(k),
            (_, Scalar::F32) => self.check::<3, f32>(k),
            (_, Scalar::F64) => self.check::<3, f64>(k),
        }
    }

    fn check<const D: usize, T: Real>(&self, frame: usize) -> Result<(), RecordingError> {
        for (object, aabb) in self.frame::<D, T>(frame)?.iter().enumerate() {
            if let Some((axis, fault)) = aabb.fault() {
                return Err(FileFault::InvalidBox { frame, object, axis, fault }.of(&self.path));
            }
        }
        Ok(())
    }
}

/// Bytes in this machine's order as boxes: borrowed if aligned, copied otherwise.
fn boxes<const D: usize, T: Real>(bytes: &[u8]) -> Cow<'_, [Aabb<D, T>]> {
    match bytemuck::try_cast_slice(bytes) {
        Ok(boxes) => Cow::Borrowed(boxes),
        Err(_) => Cow::Owned(bytes.chunks_exact(size_of::<Aabb<D, T>>()).map(bytemuck::pod_read_unaligned).collect()),
    }
}

/// Little-endian bytes as boxes. On a big-endian machine they are turned around in a copy.
fn from_little_endian<const D: usize, T: Real>(bytes: &[u8]) -> Cow<'_, [Aabb<D, T>]> {
    if cfg!(target_endian = "little") {
        return boxes(bytes);
    }
    let mut turned = bytes.to_vec();
    turned.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    Cow::Owned(boxes(&turned).into_owned())
}
