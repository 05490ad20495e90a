//! Writes results: to stdout, which may close early, or to a file that appears whole or not at all.

use std::fs;
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

/// Turns a file that exceeds the shell's size limit into a write error, which is reported and leaves no file behind. By default the signal
/// SIGXFSZ would end the process.
pub fn survive_size_limits() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::new(false.into()));
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

/// Is there something that is neither a file nor a folder: a device such as `/dev/null`, or a pipe? Such a thing is written to; a
/// file of the same name must never take its place.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Fails if `path` is a device or a pipe, for writers that put a new file in its place.
pub fn must_be_file(path: &Path) -> Result<(), Failure> {
    if is_special(path) {
        return Err(Failure::Data(format!("{}: not a regular file; give the name of one", path.display())));
    }
    Ok(())
}

/// Runs `write` on a file that gets its name at the end; on a device or a pipe, directly.
pub fn with_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::writing(&path.display().to_string(), &error);
    if is_special(path) {
        let mut out = io::BufWriter::new(fs::OpenOptions::new().write(true).open(path).map_err(failed)?);
        return write(&mut out).and_then(|()| out.flush()).map_err(failed);
    }
    let mut file = PendingFile::create(path)?;
    write(&mut file).map_err(failed)?;
    Ok(file.finish()?)
}

/// Where a path leads, whether there is a file or not.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::canonicalize(path).ok().or_else(|| Some(fs::canonicalize(folder).ok()?.join(path.file_name()?)))
}

/// Do two paths lead to one file? Devices and pipes may be written to by several.
pub fn is_same(a: &Path, b: &Path) -> bool {
    !is_special(a) && (a == b || place(a).is_some_and(|at| Some(at) == place(b)))
}

impl Target {
    /// Is this the file of that name?
    pub fn is_file(&self, path: &Path) -> bool {
        matches!(self, Target::File(target) if is_same(target, path))
    }

    /// Fails if this is the input file: a result must not replace it.
    pub fn must_not_be(&self, input: &Path) -> Result<(), Failure> {
        if self.is_file(input) {
            return Err(Failure::Usage(format!("{}: this is the input; give the result another name", input.display())));
        }
        Ok(())
    }

    /// Fails if the file cannot be created, so that this shows before a long measurement. Leaves no file behind.
    pub fn probe(&self) -> Result<(), Failure> {
        if let Target::File(path) = self
            && !is_special(path)
        {
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
