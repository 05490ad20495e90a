//! Results out: to stdout, which may close early, or to a file that appears whole or not at all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use broadphase_scenes::PendingFile;

use crate::failure::Failure;

/// Where a result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `-`, or nothing said.
    Stdout,
    /// A file.
    File(PathBuf),
}

/// Prints a text to stdout.
pub fn print(text: &str) -> Result<(), Failure> {
    with_stdout(|out| out.write_all(text.as_bytes()))
}

/// Runs `write` on a buffered stdout, and flushes it.
pub fn with_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).map_err(|error| Failure::writing("stdout", &error))
}

/// Runs `write` on a file that gets its name at the end.
pub fn with_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut file = PendingFile::create(path)?;
    write(&mut file).map_err(|error| Failure::writing(&path.display().to_string(), &error))?;
    Ok(file.finish()?)
}

impl Target {
    /// Errors now if the file cannot be created, rather than after a long measurement. Leaves nothing behind.
    pub fn probe(&self) -> Result<(), Failure> {
        if let Target::File(path) = self {
            drop(PendingFile::create(path)?);
        }
        Ok(())
    }

    /// Writes a text.
    pub fn write_text(&self, text: &str) -> Result<(), Failure> {
        match self {
            Target::Stdout => print(text),
            Target::File(path) => with_file(path, |out| out.write_all(text.as_bytes())),
        }
    }
}
