//! The input: a recording from a file or from standard input, opened once.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use broadphase_scenes::{Format, ReadOptions, Recording};

use crate::failure::Failure;
use crate::progress::note_once;

/// A recording by name, and how to read it.
#[derive(Clone, Debug)]
pub struct Input {
    path: PathBuf,
    options: ReadOptions,
    recording: OnceCell<Rc<Recording>>,
}

impl Input {
    /// A file, or standard input if the name is `-`. The format in `options` applies if the name does not tell the format.
    pub fn new(path: &Path, options: &ReadOptions) -> Self {
        let format = options.format.filter(|_| Format::of_path(path).is_none());
        let options = ReadOptions { format, columns: options.columns.clone() };
        Self { path: path.to_path_buf(), options, recording: OnceCell::new() }
    }

    /// Is it standard input?
    pub fn is_stdin(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// Can it be text? Then columns have a meaning.
    pub fn may_be_text(&self) -> bool {
        let format = self.options.format.or_else(|| Format::of_path(&self.path));
        format.is_none_or(|format| format == Format::Csv)
    }

    /// Where it comes from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name in messages and results.
    pub fn name(&self) -> String {
        if self.is_stdin() { "stdin".to_string() } else { self.path.display().to_string() }
    }

    /// Opens it the first time; later calls return the same recording.
    pub fn open(&self) -> Result<Rc<Recording>, Failure> {
        if let Some(recording) = self.recording.get() {
            return Ok(Rc::clone(recording));
        }
        let recording = match self.is_stdin() {
            true => Recording::read("stdin", std::io::stdin().lock(), &self.options)?,
            false => Recording::open_with(&self.path, &self.options)?,
        };
        if recording.ignores_ids() {
            note_once(&format!("{}: ids are not read; objects are numbered by their rows, from 0", self.name()));
        }
        Ok(Rc::clone(self.recording.get_or_init(|| Rc::new(recording))))
    }
}
