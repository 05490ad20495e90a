//! Errors of the command line as one line, which names the option, the values it accepts, or the nearest word.

use std::error::Error;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error as ClapError};

use super::cli::Line;
use broadphase_bench::failure::Failure;

/// The line for an error; `words` is the command line without the program's name.
pub fn failure(error: &ClapError, words: &[OsString]) -> Failure {
    let mut tool = Line::command();
    tool.build(); // adds --help and --version
    let command = words.iter().filter_map(|word| tool.find_subcommand(word)).next();
    let argument = context(error, ContextKind::InvalidArg);
    let (option, value) = (option(&argument), context(error, ContextKind::InvalidValue));
    Failure::Usage(match error.kind() {
        ErrorKind::InvalidSubcommand => unknown_command(&context(error, ContextKind::InvalidSubcommand), &tool),
        ErrorKind::UnknownArgument => match command {
            Some(command) => unexpected(&argument, command),
            None if argument.starts_with('-') => unexpected(&argument, &tool),
            None => unknown_command(&argument, &tool),
        },
        ErrorKind::MissingRequiredArgument => {
            let name = command.map_or("broadphase", |command| command.get_name());
            let needed: Vec<&str> = argument.split(", ").map(plain_name).collect();
            format!("{name} needs {}, as in: {}", needed.join(", ").replace('|', " or "), example(name))
        }
        ErrorKind::ValueValidation => {
            let expected = error.source().map_or(String::new(), |source| format!("; it takes {source}"));
            format!("{option} cannot be '{value}'{expected}")
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            format!("{option} needs a value, as in: {}", plain(&argument))
        }
        ErrorKind::InvalidValue => {
            let valid = context(error, ContextKind::ValidValue).replace(", ", " or ");
            format!("{option} cannot be '{value}'; it takes {valid}")
        }
        ErrorKind::TooManyValues => format!("{option} takes no value such as '{value}'; leave it out"),
        ErrorKind::ArgumentConflict => {
            let other = plain(&context(error, ContextKind::PriorArg));
            format!("{option} and {other} exclude each other; give one of them")
        }
        ErrorKind::InvalidUtf8 => "an argument is not text (UTF-8); rename it, or give another".to_string(),
        _ => format!("{}; broadphase --help shows what is possible", error.kind()),
    })
}

/// An argument that a command does not take; the nearest of its own is offered.
fn unexpected(argument: &str, command: &clap::Command) -> String {
    let name = command.get_name();
    let options: Vec<String> = command.get_arguments().filter_map(|arg| arg.get_long().map(|long| format!("--{long}"))).collect();
    let options = || options.iter().map(String::as_str);
    if argument.starts_with("--") {
        let word = argument.split('=').next().unwrap_or(argument);
        let nearest = broadphase::spec_text::nearest(word, options()).unwrap_or("--help");
        return format!("unknown option '{word}'; did you mean '{nearest}'? (broadphase --help lists all)");
    }
    if argument.starts_with('-') {
        return format!("{name} has no option '{argument}'; it has {}", options().collect::<Vec<_>>().join(", "));
    }
    format!("{name}: one argument too many: '{argument}'; remove it")
}

fn unknown_command(word: &str, tool: &clap::Command) -> String {
    let nearest = broadphase::spec_text::nearest(word, tool.get_subcommands().map(clap::Command::get_name));
    format!("unknown command '{word}'; did you mean '{}'? (broadphase --help lists all)", nearest.unwrap_or("--help"))
}

/// An example of a complete command line, shown when an argument is missing.
fn example(command: &str) -> &'static str {
    match command {
        "pairs" => "broadphase pairs boxes.npy",
        "record" => "broadphase record brownian-cubes --n 20000 --frames 5 -o a.npy",
        "bench" => "broadphase bench brownian-cubes --n 16000",
        "doctor" => "broadphase doctor boxes.npy",
        "reproduce" => "broadphase reproduce 000-fig20 -o results",
        "completions" => "broadphase completions bash",
        _ => "broadphase --help",
    }
}

/// One part of an error, as text; several are joined by commas.
fn context(error: &ClapError, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    }
}

/// `--frame <K>` as users write it: `--frame K`.
fn plain(argument: &str) -> String {
    argument.replace(['<', '>'], "").replace("...", "")
}

/// The option of `--frame <K>`: `--frame`.
fn option(argument: &str) -> String {
    plain(argument.split(' ').next().unwrap_or(argument))
}

/// A missing argument as users write it: `--n`, `-o FILE`, `FILE`.
fn plain_name(argument: &str) -> &str {
    match argument {
        "--output <FILE>" => "-o FILE.npy",
        "--output <DIR>" => "-o DIR",
        "--n <N>" => "--n",
        "--frames <F>" => "--frames",
        "<FILE>" => "a FILE (.npy, .csv, .tsv, .txt, .dat or .aabbs)",
        "<SCENE>" => "a SCENE",
        "<SCENE|FILE>..." => "a SCENE|FILE",
        "<FILE|SCENE>" => "a FILE|SCENE",
        "<SHELL>" => "a SHELL (bash, zsh or fish)",
        other => other,
    }
}
