//! The command line, parsed and checked: every name is known before anything runs.
//!
//! A command line is split by `lexopt`; all else is here, so that an error is one line that offers the nearest word.

mod bench;
mod help;
mod reproduce;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use broadphase::{Shape, Spec};
use broadphase_scenes::SceneSpec;
use lexopt::{Arg, Parser};

use crate::failure::Failure;
use crate::output::Target;
pub use bench::{BenchArguments, Choice, Source, all_algorithms};
pub use reproduce::ReproduceArguments;
pub use values::shape_name;
use values::{number, shape, text, threads, usage};

/// What the command line asks for.
pub enum Command {
    /// Nothing said: the demonstration.
    Demonstrate,
    /// `--help`, of the tool or of one command.
    Help(&'static str),
    /// `--version`.
    Version,
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
    /// `reproduce`.
    Reproduce(ReproduceArguments),
}

/// The arguments of `pairs`.
pub struct PairsArguments {
    /// The recording.
    pub file: PathBuf,
    /// `--frame`.
    pub frame: Option<usize>,
    /// `--algorithm`.
    pub algorithm: Spec,
    /// `--shape`.
    pub shape: Shape,
    /// `--threads`.
    pub threads: usize,
    /// `--count`.
    pub count: bool,
    /// `-o`.
    pub output: Target,
}

/// The arguments of `record`.
pub struct RecordArguments {
    /// The scene.
    pub scene: SceneSpec,
    /// `--n`.
    pub n: usize,
    /// `--frames`.
    pub frames: usize,
    /// `--seed`.
    pub seed: u64,
    /// `-o`.
    pub output: PathBuf,
}

/// The seed of `record` unless given, and of every scene that `bench` runs.
pub const DEFAULT_SEED: u64 = 0;

const COMMANDS: [&str; 5] = ["list", "pairs", "record", "bench", "reproduce"];

/// Parses the arguments behind the program's name.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command, Failure> {
    let mut parser = Parser::from_args(arguments);
    match parser.next().map_err(usage)? {
        None => Ok(Command::Demonstrate),
        Some(Arg::Short('h') | Arg::Long("help")) => Ok(Command::Help(help::TOOL)),
        Some(Arg::Short('V') | Arg::Long("version")) => Ok(Command::Version),
        Some(Arg::Value(name)) => match name.to_string_lossy().as_ref() {
            "help" => parse_help(&mut parser),
            "list" => parse_list(&mut parser),
            "pairs" => parse_pairs(&mut parser),
            "record" => parse_record(&mut parser),
            "bench" => bench::parse(&mut parser),
            "reproduce" => reproduce::parse(&mut parser),
            other => Err(unknown("command", other, &COMMANDS)),
        },
        Some(other) => Err(unexpected(&other, "broadphase", &["--help", "--version"])),
    }
}

/// `help`, perhaps of one command.
fn parse_help(parser: &mut Parser) -> Result<Command, Failure> {
    let Some(Arg::Value(name)) = parser.next().map_err(usage)? else { return Ok(Command::Help(help::TOOL)) };
    Ok(Command::Help(match name.to_string_lossy().as_ref() {
        "list" => help::LIST,
        "pairs" => help::PAIRS,
        "record" => help::RECORD,
        "bench" => help::BENCH,
        "reproduce" => help::REPRODUCE,
        other => return Err(unknown("command", other, &COMMANDS)),
    }))
}

fn parse_list(parser: &mut Parser) -> Result<Command, Failure> {
    let mut json = false;
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Arg::Long("json") => json = true,
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help(help::LIST)),
            other => return Err(unexpected(&other, "list", &["--json"])),
        }
    }
    Ok(Command::List { json })
}

fn parse_pairs(parser: &mut Parser) -> Result<Command, Failure> {
    const OPTIONS: [&str; 6] = ["--frame", "--algorithm", "--shape", "--threads", "--count", "--output"];
    let (mut file, mut frame, mut output) = (None, None, None);
    let (mut algorithm, mut threads_asked, mut shape_asked, mut count) = ("auto".to_string(), 1, Shape::Box, false);
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Arg::Long("frame") => frame = Some(number(parser, "--frame", "a frame number, from 0")?),
            Arg::Long("algorithm") => algorithm = text(parser)?,
            Arg::Long("shape") => shape_asked = shape(parser)?,
            Arg::Long("threads") => threads_asked = threads(parser)?,
            Arg::Long("count") => count = true,
            Arg::Short('o') | Arg::Long("output") => output = Some(pairs_target(parser)?),
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help(help::PAIRS)),
            Arg::Value(path) if file.is_none() => file = Some(PathBuf::from(path)),
            other => return Err(unexpected(&other, "pairs", &OPTIONS)),
        }
    }
    let file = file.ok_or_else(|| missing("pairs", "a FILE (.npy, .csv or .aabbs)", "broadphase pairs boxes.npy"))?;
    if count && matches!(output, Some(Target::File(_))) {
        return Err(Failure::Usage("--count prints lines of text; leave out -o, or redirect stdout".to_string()));
    }
    let output = output.unwrap_or(Target::Stdout);
    output.must_not_be(&file)?;
    Ok(Command::Pairs(PairsArguments {
        file,
        frame,
        algorithm: algorithm.parse()?,
        shape: shape_asked,
        threads: threads_asked,
        count,
        output,
    }))
}

/// `-o` of `pairs`: `-`, or a file whose ending says its format.
fn pairs_target(parser: &mut Parser) -> Result<Target, Failure> {
    let value = parser.value().map_err(usage)?;
    if value == "-" {
        return Ok(Target::Stdout);
    }
    let path = PathBuf::from(value);
    match ending(&path).as_deref() {
        Some("npy" | "csv") => Ok(Target::File(path)),
        _ => Err(Failure::Usage(format!("{}: pairs are written as .npy or .csv; give such a name, or -", path.display()))),
    }
}

fn parse_record(parser: &mut Parser) -> Result<Command, Failure> {
    const OPTIONS: [&str; 4] = ["--n", "--frames", "--seed", "--output"];
    const EXAMPLE: &str = "broadphase record brownian-cubes --n 20000 --frames 5 -o a.npy";
    let (mut scene, mut n, mut frames, mut seed, mut output) = (None, None, None, DEFAULT_SEED, None);
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Arg::Long("n") => n = Some(number(parser, "--n", "a number of objects")?),
            Arg::Long("frames") => frames = Some(values::frames(parser)?),
            Arg::Long("seed") => seed = number(parser, "--seed", "a whole number, 0 or more")?,
            Arg::Short('o') | Arg::Long("output") => output = Some(PathBuf::from(parser.value().map_err(usage)?)),
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help(help::RECORD)),
            Arg::Value(name) if scene.is_none() => scene = Some(name.to_string_lossy().parse::<SceneSpec>()?),
            other => return Err(unexpected(&other, "record", &OPTIONS)),
        }
    }
    let scene = scene.ok_or_else(|| missing("record", "a SCENE", EXAMPLE))?;
    let n = n.ok_or_else(|| missing("record", "--n", EXAMPLE))?;
    let frames = frames.ok_or_else(|| missing("record", "--frames", EXAMPLE))?;
    let output = output.ok_or_else(|| missing("record", "-o FILE.npy", EXAMPLE))?;
    match ending(&output).as_deref() {
        Some("npy") => {}
        Some("aabbs") if scene.dim() == 3 => {}
        Some("aabbs") => return Err(Failure::Usage(format!("{}: .aabbs recordings are 3D; give a .npy name", output.display()))),
        _ => return Err(Failure::Usage(format!("{}: recordings are written as .npy; give such a name", output.display()))),
    }
    Ok(Command::Record(RecordArguments { scene, n, frames, seed, output }))
}

/// A file's ending, in lower case.
pub fn ending(path: &std::path::Path) -> Option<String> {
    path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase())
}

fn missing(command: &str, what: &str, example: &str) -> Failure {
    Failure::Usage(format!("{command} needs {what}, as in: {example}"))
}

/// A word that is none of the known ones; the nearest is offered.
fn unknown(kind: &str, word: &str, known: &[&str]) -> Failure {
    let nearest = broadphase::algorithms::nearest(word, known.iter().copied()).unwrap_or("--help");
    let all = if kind == "experiment" { "list" } else { "--help" };
    Failure::Usage(format!("unknown {kind} '{word}'; did you mean '{nearest}'? (broadphase {all} lists all)"))
}

/// An argument that a command does not take.
fn unexpected(argument: &Arg<'_>, command: &str, options: &[&str]) -> Failure {
    match argument {
        Arg::Long(name) => unknown("option", &format!("--{name}"), options),
        Arg::Short(letter) => Failure::Usage(format!("{command} has no option '-{letter}'; it has {}", options.join(", "))),
        Arg::Value(value) => {
            Failure::Usage(format!("{command}: one argument too many: '{}'; remove it", value.to_string_lossy()))
        }
    }
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
    fn a_misspelt_command_or_option_is_answered_with_the_nearest() {
        assert!(refusal("bnech pile").contains("did you mean 'bench'?"));
        assert!(refusal("pairs a.npy --algoritm brute-force").contains("did you mean '--algorithm'?"));
        assert!(refusal("bench pile --peer all").contains("did you mean '--peers'?"));
    }

    #[test]
    fn values_are_checked_before_anything_runs() {
        assert!(refusal("record pile --n many --frames 5 -o a.npy").contains("--n cannot be 'many'"));
        assert!(refusal("record pile --n 10 --frames 0 -o a.npy").contains("--frames"));
        assert!(refusal("record pile --frames 5 -o a.npy").contains("needs --n"));
        assert!(refusal("record pile --n 10 --frames 5 -o a.txt").contains(".npy"));
        assert!(refusal("pairs a.npy --algorithm brute-force --shape disc").contains("box or ball"));
        assert!(refusal("pairs a.npy --algorithm brute-force --count -o b.npy").contains("--count"));
    }

    #[test]
    fn nothing_said_is_the_demonstration() {
        assert!(matches!(parse_words(""), Ok(Command::Demonstrate)));
    }
}
