//! A progress bar: on a terminal only, and not redrawn while time is measured.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::failure::tell;

/// Progress over a known number of steps.
///
/// It redraws only in [`step`](Progress::step), which is called outside of timed sections: no thread ticks in the background.
pub struct Progress(ProgressBar);

impl Progress {
    /// A bar for `steps` steps on stderr, or nothing if that is not a terminal.
    pub fn new(title: &str, steps: usize) -> Self {
        let target = if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(steps as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(title.to_string());
        Self(bar)
    }

    /// One step done.
    pub fn step(&self) {
        self.0.inc(1);
    }

    /// Several steps that will not be done.
    pub fn skip(&self, steps: usize) {
        self.0.inc(steps as u64);
    }

    /// Shows what runs now.
    pub fn say(&self, what: &str) {
        self.0.set_message(what.to_string());
    }

    /// A line on stderr above the bar.
    pub fn note(&self, text: &str) {
        self.0.suspend(|| note(text));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A line on stderr that is not an error.
pub fn note(text: &str) {
    tell("note", text);
}

/// The same, but each text only once: a note that holds for every number of objects is not repeated for each.
pub fn note_once(text: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if TOLD.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_string()) {
        note(text);
    }
}
