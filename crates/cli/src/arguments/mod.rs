//! The command line, parsed and checked: every name is known before anything runs.
//!
//! `cli` is the form that clap reads, with its help; `errors` turns clap's errors into one line; the other modules check names and
//! files, one for each command.

mod bench;
mod cli;
mod doctor;
mod errors;
mod names;
mod pairs;
mod record;
mod reproduce;
mod values;
mod view;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;

use broadphase_scenes::ReadOptions;
use clap::{CommandFactory, Parser};

pub use bench::BenchArguments;
use broadphase_bench::failure::Failure;
use broadphase_bench::input::Input;
use cli::{Line, LineCommand, ReadingLine};
pub use doctor::DoctorArguments;
pub use pairs::PairsArguments;
pub use record::RecordArguments;
pub use view::ViewArguments;

/// The command of the command line, with its arguments.
pub enum Command {
    /// No command: the demonstration.
    Demonstrate,
    /// A text to print: help, the version, completions.
    Print(Vec<u8>),
    /// `list`.
    List {
        /// For scripts.
        json: bool,
    },
    /// `pairs`.
    Pairs(PairsArguments),
    /// `record`.
    Record(RecordArguments),
    /// `bench`.
    Bench(Box<BenchArguments>),
    /// `doctor`.
    Doctor(DoctorArguments),
    /// `view`.
    View(Box<ViewArguments>),
    /// `reproduce`.
    Reproduce(broadphase_reproduce::Run),
}

/// Parses the arguments after the program's name.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command, Failure> {
    let words: Vec<OsString> = arguments.collect();
    let program = OsString::from("broadphase");
    let line = match Line::try_parse_from([program].iter().chain(&words)) {
        Ok(line) => line,
        Err(error) if !error.use_stderr() => return Ok(Command::Print(help(&error))),
        Err(error) => return Err(errors::failure(&error, &words)),
    };
    match line.command {
        None => Ok(Command::Demonstrate),
        Some(LineCommand::List(line)) => Ok(Command::List { json: line.json }),
        Some(LineCommand::Pairs(line)) => pairs::check(line).map(Command::Pairs),
        Some(LineCommand::Record(line)) => record::check(line).map(Command::Record),
        Some(LineCommand::Bench(line)) => bench::check(*line).map(|asked| Command::Bench(Box::new(asked))),
        Some(LineCommand::Doctor(line)) => doctor::check(line).map(Command::Doctor),
        Some(LineCommand::View(line)) => view::check(line).map(|asked| Command::View(Box::new(asked))),
        Some(LineCommand::Reproduce(line)) => reproduce::check(line).map(Command::Reproduce),
        Some(LineCommand::Completions(line)) => {
            let mut script = Vec::new();
            clap_complete::generate(line.shell, &mut Line::command(), "broadphase", &mut script);
            Ok(Command::Print(script))
        }
    }
}

/// Help and version, with emphasis on a terminal only.
fn help(error: &clap::Error) -> Vec<u8> {
    let styled = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let text = error.render();
    if styled { text.ansi().to_string() } else { text.to_string() }.into_bytes()
}

/// The recordings of a command, with `--format` and `--columns` applied.
fn inputs<'a>(paths: impl Iterator<Item = &'a Path>, reading: ReadingLine) -> Result<Vec<Input>, Failure> {
    let columns_given = reading.columns.is_some();
    let options = ReadOptions { format: reading.format, columns: reading.columns };
    let inputs: Vec<Input> = paths.map(|path| Input::new(path, &options)).collect();
    if inputs.iter().filter(|input| input.is_stdin()).count() > 1 {
        return Err(Failure::Usage("standard input can be read once; give a file for one of the two".to_string()));
    }
    if let (true, Some(binary)) = (columns_given, inputs.iter().find(|_| !inputs.iter().any(Input::may_be_text))) {
        let text = format!("--columns is for text: {} has its own order of columns; leave out --columns", binary.name());
        return Err(Failure::Usage(text));
    }
    Ok(inputs)
}

/// A file's ending, in lower case.
pub fn ending(path: &Path) -> Option<String> {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(line: &str) -> Result<Command, Failure> {
        parse(line.split_whitespace().map(OsString::from))
    }

    fn refusal(line: &str) -> String {
        match parse_words(line) {
            Err(Failure::Usage(text)) => text,
            Err(other) => panic!("{line}: {other:?}"),
            Ok(_) => panic!("{line}: accepted"),
        }
    }

    #[test]
    fn the_form_of_the_command_line_is_consistent() {
        Line::command().debug_assert();
    }

    #[test]
    fn a_misspelled_command_or_option_is_answered_with_the_nearest() {
        assert!(refusal("bnech pile").contains("did you mean 'bench'?"));
        assert!(refusal("xyzzy").contains("unknown command 'xyzzy'"));
        assert!(refusal("pairs a.npy --algoritm brute-force").contains("did you mean '--algorithm'?"));
        assert!(refusal("bench pile --peer all").contains("did you mean '--peers'?"));
        assert!(refusal("bench pile --zzz=3").contains("unknown option '--zzz'"));
        assert!(refusal("pairs a.npy -x").contains("pairs has no option '-x'; it has --frame"));
        assert!(refusal("--vresion").contains("did you mean '--version'?"));
    }

    #[test]
    fn values_are_checked_before_anything_runs() {
        assert!(refusal("record pile --n many --frames 5 -o a.npy").contains("--n cannot be 'many'; it takes a number"));
        assert!(refusal("record pile --n 10 --frames 0 -o a.npy").contains("--frames"));
        assert!(refusal("record pile --frames 5 -o a.npy").contains("needs --n"));
        assert!(refusal("record pile --n 10 --frames 5 -o a.txt").contains(".npy"));
        assert!(refusal("pairs a.npy --algorithm brute-force --shape disc").contains("box or ball"));
        assert!(refusal("pairs a.npy --algorithm brute-force --count -o b.npy").contains("--count"));
        assert!(refusal("list --json=yes").contains("--json takes no value such as 'yes'"));
        assert!(refusal("pairs a.npy --frame").contains("--frame needs a value, as in: --frame K"));
    }

    #[test]
    fn every_message_is_a_sentence_without_holes() {
        for line in ["record", "bench", "reproduce", "completions", "completions tcsh", "list extra", "pairs a.npy -o"] {
            let text = refusal(line);
            assert!(
                !text.contains("''") && !text.contains("  ") && !text.contains('<') && !text.contains('\n'),
                "{line}: {text}"
            );
        }
        assert_eq!(refusal("completions tcsh"), "SHELL cannot be 'tcsh'; it takes bash or zsh or fish");
    }

    #[test]
    fn an_option_that_is_repeated_counts_once_and_the_last_one_wins() {
        let Ok(Command::Record(asked)) = parse_words("record pile --n 1 --n 2_000 --frames 5 -o a.npy -o b.npy") else {
            panic!()
        };
        assert_eq!((asked.n, asked.output.as_path()), (2000, Path::new("b.npy")));
    }

    #[test]
    fn nothing_said_is_the_demonstration() {
        assert!(matches!(parse_words(""), Ok(Command::Demonstrate)));
    }
}
