//! How a file is read when its name and header do not say it.

use std::str::FromStr;

use super::csv::Columns;

/// The format of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// NumPy data.
    Npy,
    /// Text.
    Csv,
    /// The recordings of the Broadmark benchmark.
    Aabbs,
}

impl Format {
    /// The format that a name promises by its ending.
    pub fn of_path(path: &std::path::Path) -> Option<Self> {
        path.extension()?.to_str()?.to_ascii_lowercase().parse().ok()
    }

    /// The format of bytes that have no name: NumPy data has a signature, all else is text.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        if bytes.starts_with(b"\x93NUMPY") { Self::Npy } else { Self::Csv }
    }
}

impl FromStr for Format {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        match name {
            "npy" => Ok(Self::Npy),
            "csv" => Ok(Self::Csv),
            "aabbs" => Ok(Self::Aabbs),
            _ => Err(()),
        }
    }
}

/// What a caller knows about a recording beyond its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; by the name's ending unless given.
    pub format: Option<Format>,
    /// The columns of a text; by its header, or corners, unless given. Not for other formats.
    pub columns: Option<Columns>,
}
