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
    /// The format that a name promises by its ending. Text is named `.csv`, `.tsv`, `.txt` or `.dat`; what separates its fields is seen from its
    /// first line.
    pub fn of_path(path: &std::path::Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "tsv" | "txt" | "dat" => Some(Self::Csv),
            ending => ending.parse().ok(),
        }
    }

    /// The format of bytes that have no name: NumPy data has a signature, all else is text.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        if bytes.starts_with(b"\x93NUMPY") { Self::Npy } else { Self::Csv }
    }
}

/// How to unpack a file that is packed, by its ending or its first bytes.
pub(super) fn packed(path: &std::path::Path, bytes: &[u8]) -> Option<&'static str> {
    const GZIP: &str = "compressed by gzip; unpack it with gunzip, or pipe it: gunzip -c FILE | broadphase ... -";
    const ARCHIVE: &str = "a .npz or .zip archive; unpack it, or save one array with numpy.save";
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    match ending.as_deref() {
        _ if bytes.starts_with(b"\x1f\x8b") => Some(GZIP),
        _ if bytes.starts_with(b"PK\x03\x04") => Some(ARCHIVE),
        Some("gz") => Some(GZIP),
        Some("npz" | "zip") => Some(ARCHIVE),
        Some("bz2" | "xz" | "zst") => Some("compressed; unpack it, or pipe the unpacked bytes into broadphase ... -"),
        _ => None,
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

/// What a caller specifies about a recording beyond its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; by the name's ending unless given.
    pub format: Option<Format>,
    /// The columns of a text; by its header, or corners, unless given. Not for other formats.
    pub columns: Option<Columns>,
}
