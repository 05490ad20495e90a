//! A memory-mapped file whose pages are given back to the system after they were read.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use memmap2::Mmap;

use super::error::{FileFault, RecordingError, io_error};

/// Bytes handed out before pages go back to the system.
const WINDOW: usize = 64 << 20;

/// A mapped file.
#[derive(Debug)]
pub(super) struct Map {
    map: Mmap,
    /// Bytes handed out since pages were last given back.
    touched: AtomicUsize,
}

impl Map {
    /// Maps a regular file that has at least one byte.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        // Before opening: a named pipe would wait for its writer.
        let kind = std::fs::metadata(path).map_err(io_error(path, "open"))?;
        if !kind.is_file() {
            return Err(FileFault::NotAFile.of(path));
        }
        let file = File::open(path).map_err(io_error(path, "open"))?;
        if kind.len() == 0 {
            return Err(FileFault::Empty.of(path));
        }
        // SAFETY: (the bytes behind a shared slice must not change) nothing in this process writes to the map. Another process that
        // changes the file while we read can make a frame's values change, which every reader tolerates: any bit pattern is a
        // float, and lengths are taken from the map, not from its content. One that truncates it ends this process with a bus
        // error, as it would any reader of a map; the documentation of a recording asks to leave the file alone.
        let map = unsafe { Mmap::map(&file) }.map_err(io_error(path, "map"))?;
        Ok(Self { map, touched: AtomicUsize::new(0) })
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// A range that is about to be read as data. After every [`WINDOW`] bytes, what was read before is given back.
    pub fn read(&self, at: usize, size: usize) -> &[u8] {
        if self.touched.fetch_add(size, Ordering::Relaxed) > WINDOW {
            self.touched.store(size, Ordering::Relaxed);
            self.give_back();
        }
        &self.map[at..at + size]
    }

    #[cfg(unix)]
    fn give_back(&self) {
        // SAFETY: (advised pages must not hold data that exists only in memory) the map is read-only and backed by the file: a slice
        // that is still borrowed reads the same bytes again, from the file. Advice that the system refuses changes nothing.
        let _ = unsafe { self.map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
    }

    #[cfg(not(unix))]
    fn give_back(&self) {}
}
