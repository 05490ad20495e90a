//! What can be wrong with a file.

use std::fmt::{self, Write};
use std::io;
use std::path::{Path, PathBuf};

use broadphase::BoxFault;

use super::Scalar;

/// Why a recording cannot be read or written: which file, where in it, and what is wrong there.
///
/// Displays as one line that ends with a remedy.
#[derive(Debug)]
pub struct RecordingError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: FileFault,
}

/// What is wrong with a file.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileFault {
    /// An error of the system.
    Io {
        /// What was tried, as in "open".
        tried: &'static str,
        /// What the system says.
        error: io::Error,
    },
    /// A directory, or something else without bytes to map.
    NotAFile,
    /// Not one byte inside.
    Empty,
    /// The ending of the name is unknown.
    UnknownEnding,
    /// Not the format that the name promises.
    BadHeader {
        /// Where, in bytes from the start.
        byte: usize,
        /// What is wrong there.
        reason: String,
    },
    /// An array of something other than float32 or float64.
    WrongType {
        /// The type as the file names it.
        found: String,
    },
    /// Big-endian numbers.
    ByteOrder {
        /// The type as the file names it.
        found: String,
    },
    /// Column-major order.
    FortranOrder,
    /// Neither `(n, 4 or 6)` nor `(frames, n, 4 or 6)`.
    WrongShape {
        /// The shape as the file gives it.
        shape: String,
    },
    /// A compressed file or an archive.
    Packed {
        /// What it is, and how to unpack it.
        how: &'static str,
    },
    /// Fewer or more bytes than the header promises.
    WrongLength {
        /// What the header promises for the whole file.
        expected: u128,
        /// The length of the file.
        found: u64,
    },
    /// A text file with something unreadable.
    BadText {
        /// The line, from 1.
        line: usize,
        /// The column (field), from 1.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// No such frame.
    NoSuchFrame {
        /// The requested frame.
        frame: usize,
        /// How many there are.
        frames: usize,
    },
    /// Asked for boxes of another dimension or scalar.
    Mismatch {
        /// What was requested.
        asked: (usize, Scalar),
        /// What the file has.
        has: (usize, Scalar),
    },
    /// A box that is not valid.
    InvalidBox {
        /// The line, from 1, if the file is a text.
        line: Option<usize>,
        /// The frame.
        frame: usize,
        /// The object.
        object: usize,
        /// 0 for x, 1 for y, 2 for z.
        axis: usize,
        /// What is wrong there.
        fault: BoxFault,
    },
    /// A frame handed to a writer does not fit what it was created for.
    WrongFrame {
        /// The frame.
        frame: usize,
        /// Objects and dimension that the file was created for.
        expected: (usize, usize),
        /// Objects and dimension of the frame.
        found: (usize, usize),
    },
    /// A writer was finished after fewer, or was given more, frames than it was created for.
    WrongFrames {
        /// How many it was created for.
        expected: usize,
        /// How many it was given.
        found: usize,
    },
    /// More objects or frames than the format can count.
    TooLarge {
        /// What there is too much of, and the limit.
        what: &'static str,
    },
}

impl FileFault {
    /// The error for this file.
    pub(crate) fn of(self, path: &Path) -> RecordingError {
        RecordingError { path: path.to_path_buf(), fault: self }
    }
}

/// For `Result::map_err` on errors of the system.
pub(crate) fn io_error<'a>(path: &'a Path, tried: &'static str) -> impl Fn(io::Error) -> RecordingError + 'a {
    move |error| FileFault::Io { tried, error }.of(path)
}

fn boxes_of((n, dim): &(usize, usize)) -> String {
    format!("{n} boxes in {dim}D")
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        // A fault may quote the file. Its text stays one line, whatever the file holds.
        self.fault.to_string().chars().try_for_each(|c| match c.is_control() {
            true => write!(f, "{}", c.escape_default()),
            false => f.write_char(c),
        })
    }
}

impl fmt::Display for FileFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { tried: "open", error } if error.kind() == io::ErrorKind::NotFound => {
                write!(f, "cannot open: no such file; check the name and the folder")
            }
            Self::Io { tried, error } => write!(f, "cannot {tried}: {error}"),
            Self::NotAFile => write!(f, "not a regular file; give a .npy, text or .aabbs file"),
            Self::Empty => write!(f, "the file is empty; write it again"),
            Self::UnknownEnding => {
                write!(f, "unknown ending; name it .npy, .csv, .tsv, .txt, .dat or .aabbs, or say its --format")
            }
            Self::Packed { how } => write!(f, "{how}"),
            Self::BadHeader { byte, reason } => write!(f, "byte {byte}: {reason}"),
            Self::WrongType { found } => {
                write!(f, "the array has type {found}; save it as float32 or float64, as in `a.astype('<f4')`")
            }
            Self::ByteOrder { found } => write!(f, "the array is big-endian ({found}); save it as `a.astype('<f4')` or `'<f8'`"),
            Self::FortranOrder => write!(f, "the array is in Fortran order; save `numpy.ascontiguousarray(a)`"),
            Self::WrongShape { shape } => {
                write!(
                    f,
                    "the array has shape {shape}; it must be (n, 4), (n, 6), (frames, n, 4) or (frames, n, 6), rows min..., max..."
                )
            }
            Self::WrongLength { expected, found } if u128::from(*found) < *expected => {
                write!(f, "cut off at byte {found}: the header promises {expected} bytes; copy or record it again")
            }
            Self::WrongLength { expected, found } => {
                write!(f, "{} bytes too many after byte {expected}; copy or record it again", u128::from(*found) - expected)
            }
            Self::BadText { line, column, reason } => write!(f, "line {line}, column {column}: {reason}"),
            Self::NoSuchFrame { frame, frames: 0 } => write!(f, "no frame {frame}: the recording has no frames"),
            Self::NoSuchFrame { frame, frames } => write!(f, "no frame {frame}; the last one is {}", frames - 1),
            Self::Mismatch { asked, has } => {
                write!(f, "holds {}D {} boxes, not {}D {}; ask for what it holds", has.0, has.1, asked.0, asked.1)
            }
            Self::InvalidBox { line, frame, object, axis, fault } => {
                let axis = ["x", "y", "z"].get(*axis).unwrap_or(&"?");
                let (wrong, remedy) = match fault {
                    BoxFault::NotANumber => ("a corner is NaN", "remove or mend the object"),
                    BoxFault::MinAboveMax => ("min is above max", "swap the corners"),
                };
                let line = line.map_or(String::new(), |line| format!("line {line}, "));
                write!(f, "{line}frame {frame}, object {object}: {wrong} on axis {axis}; {remedy}")
            }
            Self::WrongFrame { frame, expected, found } => {
                write!(f, "frame {frame} has {}, the file was created for {}", boxes_of(found), boxes_of(expected))
            }
            Self::WrongFrames { expected, found } => write!(f, "given {found} frames, the file was created for {expected}"),
            Self::TooLarge { what } => write!(f, "too large: {what}"),
        }
    }
}

impl std::error::Error for RecordingError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.fault {
            FileFault::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}
