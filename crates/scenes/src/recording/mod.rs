//! Recordings: frames in a file.
//!
//! Reading: [`Recording::open`] maps the file, reads its header ([`npy`], [`broadmark`]) or parses it ([`csv`]) and checks its
//! length, so that [`Recording::frame`] only slices; [`Recording::read`] does the same with a stream. Values are checked by
//! [`Recording::check_frame`]. Writing: [`write`].

mod broadmark;
mod csv;
mod error;
mod input;
mod map;
mod npy;
mod write;

use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use broadphase::{Aabb, Real};

pub use csv::{Columns, ColumnsError};
pub use error::{FileFault, RecordingError};
pub use input::{Format, ReadOptions};
pub use write::{AabbsWriter, CsvWriter, NpyWriter, PendingFile, write_aabbs, write_pairs_csv, write_pairs_npy};

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

/// The layout of a file, from its head.
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

/// The most frames of a recording without objects.
const MAX_EMPTY_FRAMES: usize = 1 << 16;

/// The bytes of the frames.
#[derive(Debug)]
enum Data {
    Mapped(Map),
    /// The bytes of a stream.
    Held(Vec<u8>),
    /// Rows of float64, from text, and the line of each.
    Parsed {
        values: Vec<f64>,
        lines: Vec<u32>,
        /// A column of ids is not read.
        ignores: bool,
    },
}

/// A recording: `.npy` and `.aabbs` memory-mapped; text (`.csv`, `.tsv`, `.txt`, `.dat`) parsed into memory as float64 ([`Columns`] has the names that
/// are known).
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
        Self::open_with(path, &ReadOptions::default())
    }

    /// Opens a file, with information that its ending and header do not contain.
    pub fn open_with(path: &Path, options: &ReadOptions) -> Result<Self, RecordingError> {
        let Some(format) = options.format.or_else(|| Format::of_path(path)) else {
            let packed = input::packed(path, &[]).filter(|_| path.is_file());
            let unknown = packed.map_or(FileFault::UnknownEnding, |how| FileFault::Packed { how });
            return Err(if path.is_dir() { FileFault::NotAFile } else { unknown }.of(path));
        };
        let map = Map::open(path)?;
        if let Some(how) = input::packed(path, map.bytes()) {
            return Err(FileFault::Packed { how }.of(path));
        }
        match format {
            Format::Csv => Self::parse(path, map.bytes(), options),
            _ => {
                let layout = Self::layout(format, map.bytes()).map_err(|fault| fault.of(path))?;
                Ok(Self { path: path.to_path_buf(), layout, data: Data::Mapped(map) })
            }
        }
    }

    /// Reads a stream to its end, as [`open_with`](Self::open_with) reads a file. Without a format, NumPy's signature decides between
    /// NumPy data and text. Errors speak of `name`.
    ///
    /// ```
    /// use broadphase_scenes::{ReadOptions, Recording};
    /// let recording = Recording::read("stdin", &b"0 0 1 1\n0.5 0.5 2 2\n"[..], &ReadOptions::default())?;
    /// assert_eq!((recording.dim(), recording.n()), (2, 2));
    /// # Ok::<(), broadphase_scenes::RecordingError>(())
    /// ```
    pub fn read(name: &str, mut from: impl Read, options: &ReadOptions) -> Result<Self, RecordingError> {
        let path = Path::new(name);
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).map_err(error::io_error(path, "read"))?;
        if bytes.is_empty() {
            return Err(FileFault::Empty.of(path));
        }
        if let Some(how) = input::packed(path, &bytes) {
            return Err(FileFault::Packed { how }.of(path));
        }
        match options.format.unwrap_or_else(|| Format::of_bytes(&bytes)) {
            Format::Csv => Self::parse(path, &bytes, options),
            format => {
                let layout = Self::layout(format, &bytes).map_err(|fault| fault.of(path))?;
                Ok(Self { path: path.to_path_buf(), layout, data: Data::Held(bytes) })
            }
        }
    }

    /// The layout that the head of binary data promises, checked against its length.
    fn layout(format: Format, bytes: &[u8]) -> Result<Layout, FileFault> {
        let layout = if format == Format::Aabbs { broadmark::layout(bytes)? } else { npy::layout(bytes)? };
        let found = bytes.len() as u64;
        if layout.length() != u128::from(found) {
            return Err(FileFault::WrongLength { expected: layout.length(), found });
        }
        // Only a file without data gets here with such counts: one of them is zero, the other one anything.
        if layout.n.max(layout.frames) > u32::MAX as usize {
            return Err(FileFault::TooLarge { what: "a recording has at most 2^32 - 1 objects and frames" });
        }
        // Frames without objects take no bytes, so the length of the file does not limit them.
        if layout.n == 0 && layout.frames > MAX_EMPTY_FRAMES {
            return Err(FileFault::TooLarge { what: "a recording without objects has at most 2^16 frames" });
        }
        Ok(layout)
    }

    fn parse(path: &Path, bytes: &[u8], options: &ReadOptions) -> Result<Self, RecordingError> {
        let csv::Text { dim, frames, values, lines, ignores } =
            csv::parse(bytes, options.columns.as_ref()).map_err(|fault| fault.of(path))?;
        let n = lines.len() / frames;
        let layout = Layout { dim, scalar: Scalar::F64, n, frames, start: 0, stride: 16 * dim };
        Ok(Self { path: path.to_path_buf(), layout, data: Data::Parsed { values, lines, ignores } })
    }

    /// Does a text have a column of ids or names that is not read? Objects are numbered by their rows.
    pub fn ignores_ids(&self) -> bool {
        matches!(self.data, Data::Parsed { ignores: true, .. })
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
    /// Borrowed where the file is aligned and has no padding, copied otherwise. Values are not checked; see
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
            Data::Parsed { values, .. } => Ok(boxes(&bytemuck::cast_slice(values)[at..at + size])),
            Data::Mapped(map) => Ok(self.unpacked(map.read(at, size))),
            Data::Held(bytes) => Ok(self.unpacked(&bytes[at..at + size])),
        }
    }

    /// The bytes of a frame as boxes, without the padding that a format may have.
    fn unpacked<'a, const D: usize, T: Real>(&self, bytes: &'a [u8]) -> Cow<'a, [Aabb<D, T>]> {
        if self.layout.stride == size_of::<Aabb<D, T>>() {
            return from_little_endian(bytes);
        }
        let values = broadmark::unpad(bytes);
        Cow::Owned(boxes(bytemuck::cast_slice(&values)).into_owned())
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

    /// The line of an object in a text, from 1.
    pub fn line(&self, frame: usize, object: usize) -> Option<usize> {
        match &self.data {
            Data::Parsed { lines, .. } => lines.get(frame * self.layout.n + object).map(|&line| line as usize),
            _ => None,
        }
    }

    fn check<const D: usize, T: Real>(&self, frame: usize) -> Result<(), RecordingError> {
        for (object, aabb) in self.frame::<D, T>(frame)?.iter().enumerate() {
            if let Some((axis, fault)) = aabb.fault() {
                return Err(FileFault::InvalidBox { line: self.line(frame, object), frame, object, axis, fault }.of(&self.path));
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
