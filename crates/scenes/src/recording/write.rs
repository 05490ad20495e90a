//! Writers. Each writes a temporary file beside its target and renames it at the end, so that nothing half-written stays.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use broadphase::{Aabb, Pair};

use super::error::{FileFault, RecordingError, io_error};
use super::{broadmark, npy};

/// A file that appears under its name only when it is finished. Dropped before that, it leaves nothing behind.
///
/// ```
/// use std::io::Write;
/// use broadphase_scenes::PendingFile;
/// # let path = std::env::temp_dir().join(format!("broadphase-doc-{}.txt", std::process::id()));
/// let mut file = PendingFile::create(&path)?;
/// file.write_all(b"half")?;
/// drop(file);
/// assert!(!path.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PendingFile {
    target: PathBuf,
    temporary: PathBuf,
    /// `None` once finished.
    file: Option<BufWriter<File>>,
}

impl PendingFile {
    /// Starts a file. The temporary one stands beside it, named after it and this process. A link to a file stays a link: the file
    /// behind it is the one that is replaced.
    pub fn create(path: &Path) -> Result<Self, RecordingError> {
        // A directory, a device or a pipe is nothing that a finished file may replace.
        if path.exists() && !path.is_file() {
            return Err(FileFault::NotAFile.of(path));
        }
        let target = if path.is_symlink() { fs::canonicalize(path).ok() } else { None }.unwrap_or_else(|| path.to_path_buf());
        let mut name = target.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".{}.partial", std::process::id()));
        let temporary = target.with_file_name(name);
        let file =
            OpenOptions::new().write(true).create(true).truncate(true).open(&temporary).map_err(io_error(path, "create"))?;
        Ok(Self { target, temporary, file: Some(BufWriter::with_capacity(1 << 20, file)) })
    }

    /// Gives the file its name, replacing one that has it.
    pub fn finish(mut self) -> Result<(), RecordingError> {
        let flushed = self.open().and_then(BufWriter::flush);
        flushed.map_err(io_error(&self.target, "write"))?;
        fs::rename(&self.temporary, &self.target).map_err(io_error(&self.target, "create"))?;
        self.file = None;
        Ok(())
    }

    fn open(&mut self) -> io::Result<&mut BufWriter<File>> {
        self.file.as_mut().ok_or_else(|| io::Error::other("already finished"))
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.open()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.open()?.flush()
    }
}

impl Seek for PendingFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.open()?.seek(to)
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // A second failure would hide the first one, and could not be handled anyway.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// How many frames of which shape a writer expects, and has.
#[derive(Debug)]
struct Progress {
    dim: usize,
    n: usize,
    frames: usize,
    written: usize,
}

impl Progress {
    /// Counts one more frame, if it fits.
    fn add(&mut self, path: &Path, n: usize, dim: usize) -> Result<(), RecordingError> {
        if (n, dim) != (self.n, self.dim) {
            let (expected, found) = ((self.n, self.dim), (n, dim));
            return Err(FileFault::WrongFrame { frame: self.written, expected, found }.of(path));
        }
        if self.written == self.frames {
            return Err(FileFault::WrongFrames { expected: self.frames, found: self.written + 1 }.of(path));
        }
        self.written += 1;
        Ok(())
    }

    fn complete(&self, path: &Path) -> Result<(), RecordingError> {
        if self.written < self.frames {
            return Err(FileFault::WrongFrames { expected: self.frames, found: self.written }.of(path));
        }
        Ok(())
    }
}

/// Writes a recording `(frames, n, 2 D)` of float32 as NumPy data, frame by frame. See [`Recording`](crate::Recording) for an example.
#[derive(Debug)]
pub struct NpyWriter {
    file: PendingFile,
    progress: Progress,
}

impl NpyWriter {
    /// Starts a file for `frames` frames of `n` boxes in `dim` dimensions.
    pub fn create(path: &Path, dim: usize, n: usize, frames: usize) -> Result<Self, RecordingError> {
        let mut file = PendingFile::create(path)?;
        file.write_all(&npy::head_bytes("<f4", &[frames, n, 2 * dim])).map_err(io_error(path, "write"))?;
        Ok(Self { file, progress: Progress { dim, n, frames, written: 0 } })
    }

    /// Appends one frame.
    pub fn write_frame<const D: usize>(&mut self, boxes: &[Aabb<D, f32>]) -> Result<(), RecordingError> {
        self.progress.add(&self.file.target, boxes.len(), D)?;
        let written = match cfg!(target_endian = "little") {
            true => self.file.write_all(bytemuck::cast_slice(boxes)),
            false => bytemuck::cast_slice::<_, f32>(boxes).iter().try_for_each(|x| self.file.write_all(&x.to_le_bytes())),
        };
        written.map_err(io_error(&self.file.target, "write"))
    }

    /// Gives the file its name. Errors, and leaves nothing, if frames are missing.
    pub fn finish(self) -> Result<(), RecordingError> {
        self.progress.complete(&self.file.target)?;
        self.file.finish()
    }
}

/// Writes a recording as text, frame by frame: a header, then one box a line with the shortest digits that give the same float32. With
/// several frames the first column is `frame`.
#[derive(Debug)]
pub struct CsvWriter {
    file: PendingFile,
    progress: Progress,
}

impl CsvWriter {
    /// Starts a file for `frames` frames of `n` boxes in `dim` dimensions.
    pub fn create(path: &Path, dim: usize, n: usize, frames: usize) -> Result<Self, RecordingError> {
        let mut file = PendingFile::create(path)?;
        let axes = &["x", "y", "z"][..dim];
        let corners = ["min", "max"].iter().flat_map(|end| axes.iter().map(move |axis| format!("{end}_{axis}")));
        let header: Vec<String> = (frames > 1).then(|| "frame".to_string()).into_iter().chain(corners).collect();
        writeln!(file, "{}", header.join(",")).map_err(io_error(path, "write"))?;
        Ok(Self { file, progress: Progress { dim, n, frames, written: 0 } })
    }

    /// Appends one frame.
    pub fn write_frame<const D: usize>(&mut self, boxes: &[Aabb<D, f32>]) -> Result<(), RecordingError> {
        let frame = self.progress.written;
        self.progress.add(&self.file.target, boxes.len(), D)?;
        let numbered = self.progress.frames > 1;
        let mut line = String::new();
        for aabb in boxes {
            line.clear();
            if numbered {
                let _ = write!(line, "{frame},");
            }
            for (k, value) in aabb.min.iter().chain(&aabb.max).enumerate() {
                let _ = write!(line, "{}{value}", if k > 0 { "," } else { "" });
            }
            line.push('\n');
            self.file.write_all(line.as_bytes()).map_err(io_error(&self.file.target, "write"))?;
        }
        Ok(())
    }

    /// Gives the file its name. Errors, and leaves nothing, if frames are missing.
    pub fn finish(self) -> Result<(), RecordingError> {
        self.progress.complete(&self.file.target)?;
        self.file.finish()
    }
}

/// Writes a Broadmark recording, frame by frame: the first one as the initial boxes.
#[derive(Debug)]
pub struct AabbsWriter {
    file: PendingFile,
    progress: Progress,
    /// The union of all boxes: the world, known at the end.
    world: Aabb<3, f32>,
    names: (String, String),
}

impl AabbsWriter {
    /// Starts a file for `frames` frames, at least one, of `n` boxes.
    pub fn create(path: &Path, scene: &str, object_type: &str, n: usize, frames: usize) -> Result<Self, RecordingError> {
        if i32::try_from(n).is_err() || i32::try_from(frames).is_err() {
            return Err(FileFault::TooLarge { what: "a Broadmark recording counts objects and frames up to 2^31 - 1" }.of(path));
        }
        if frames == 0 {
            return Err(FileFault::WrongFrames { expected: 1, found: 0 }.of(path));
        }
        let mut file = PendingFile::create(path)?;
        file.write_all(&[0; broadmark::HEAD]).map_err(io_error(path, "write"))?;
        let names = (scene.to_string(), object_type.to_string());
        Ok(Self { file, progress: Progress { dim: 3, n, frames, written: 0 }, world: Aabb::empty(), names })
    }

    /// Appends one frame.
    pub fn write_frame(&mut self, boxes: &[Aabb<3, f32>]) -> Result<(), RecordingError> {
        self.progress.add(&self.file.target, boxes.len(), 3)?;
        for aabb in boxes {
            self.world = self.world.union(aabb);
            self.file.write_all(&broadmark::pad(aabb)).map_err(io_error(&self.file.target, "write"))?;
        }
        Ok(())
    }

    /// Writes the head and gives the file its name. Errors, and leaves nothing, if frames are missing.
    pub fn finish(mut self) -> Result<(), RecordingError> {
        self.progress.complete(&self.file.target)?;
        let world = if self.progress.n == 0 { Aabb::default() } else { self.world };
        let (n, blocks) = (self.progress.n as i32, self.progress.frames as i32 - 1);
        let head = broadmark::head_bytes(&self.names.0, &self.names.1, n, blocks, &world);
        let written = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.write_all(&head));
        written.map_err(io_error(&self.file.target, "write"))?;
        self.file.finish()
    }
}

/// Writes all frames of a Broadmark recording at once; [`AabbsWriter`] takes them one by one.
pub fn write_aabbs(path: &Path, scene: &str, object_type: &str, frames: &[&[Aabb<3, f32>]]) -> Result<(), RecordingError> {
    let n = frames.first().map_or(0, |frame| frame.len());
    let mut writer = AabbsWriter::create(path, scene, object_type, n, frames.len())?;
    for frame in frames {
        writer.write_frame(frame)?;
    }
    writer.finish()
}

/// Writes pairs as a NumPy array `(k, 2)` of uint32, in the order given.
pub fn write_pairs_npy(path: &Path, pairs: &[Pair]) -> Result<(), RecordingError> {
    let mut file = PendingFile::create(path)?;
    let head = file.write_all(&npy::head_bytes("<u4", &[pairs.len(), 2]));
    let written = head.and_then(|()| match cfg!(target_endian = "little") {
        true => file.write_all(bytemuck::cast_slice(pairs)),
        false => pairs.iter().flat_map(|pair| [pair.a, pair.b]).try_for_each(|id| file.write_all(&id.to_le_bytes())),
    });
    written.map_err(io_error(path, "write"))?;
    file.finish()
}

/// Writes pairs as text, in the order given: the header `a,b`, then one pair a line.
///
/// ```
/// use broadphase::Pair;
/// let mut text = Vec::new();
/// broadphase_scenes::write_pairs_csv(&mut text, &[Pair::new(3, 1)])?;
/// assert_eq!(text, b"a,b\n1,3\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_pairs_csv(to: impl Write, pairs: &[Pair]) -> io::Result<()> {
    let mut to = BufWriter::with_capacity(1 << 16, to);
    to.write_all(b"a,b\n")?;
    for pair in pairs {
        writeln!(to, "{},{}", pair.a, pair.b)?;
    }
    to.flush()
}
