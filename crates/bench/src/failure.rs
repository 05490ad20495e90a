//! What ends a command early: one line on stderr, and an exit code.

use std::io::{self, Write};
use std::process::ExitCode;

use broadphase::Error;
use broadphase_peers::PeerError;
use broadphase_scenes::{RecordingError, SceneError};

/// Why a command ends without success.
#[derive(Debug)]
pub enum Failure {
    /// The command line names something that does not exist: exit 2.
    Usage(String),
    /// The data is bad, cannot be read or written, or a result is wrong: exit 1.
    Data(String),
    /// Ctrl-C, or another request to end the process: exit 130, as shells expect.
    Interrupted,
    /// The reader of our output closed the pipe, as `head` does: exit 0, without a message.
    ClosedPipe,
}

impl Failure {
    /// Prints the message and returns the exit code.
    pub fn report(self) -> ExitCode {
        let (text, code) = match self {
            Failure::Usage(text) => (text, 2),
            Failure::Data(text) => (text, 1),
            Failure::Interrupted => ("interrupted; nothing was written".to_string(), 130),
            Failure::ClosedPipe => return ExitCode::SUCCESS,
        };
        tell("broadphase", &text);
        ExitCode::from(code)
    }

    /// A failure to write to `place`.
    pub fn writing(place: &str, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Data(format!("{place}: cannot write: {error}")),
        }
    }
}

/// One line on stderr. A failure to write it is ignored.
pub fn tell(who: &str, text: &str) {
    let _ = writeln!(io::stderr(), "{who}: {}", one_line(text));
}

/// The text on one line: a file name or a file may contain line breaks and terminal escape sequences, a message must not.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::UnknownAlgorithm { .. }
            | Error::UnknownOption { .. }
            | Error::InvalidOption { .. }
            | Error::Unsuited { .. } => Failure::Usage(error.to_string()),
            _ => Failure::Data(error.to_string()),
        }
    }
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Self {
        Failure::Usage(error.to_string())
    }
}

impl From<PeerError> for Failure {
    fn from(error: PeerError) -> Self {
        match error {
            PeerError::Failed { .. } => Failure::Data(error.to_string()),
            _ => Failure::Usage(error.to_string()),
        }
    }
}

impl From<RecordingError> for Failure {
    fn from(error: RecordingError) -> Self {
        Failure::Data(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_break_in_a_file_name_does_not_break_the_message() {
        assert_eq!(one_line("no\nsuch.npy: cannot open"), "no such.npy: cannot open");
    }

    #[test]
    fn bytes_of_a_file_that_a_terminal_obeys_do_not_reach_it() {
        assert_eq!(one_line("unknown column `\u{1b}[2J\0\u{9b}x`"), "unknown column ` [2J  x`");
    }
}
