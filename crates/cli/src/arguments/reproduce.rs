//! The arguments of `reproduce`: which experiments, how much of them, and where results go.

use std::path::PathBuf;

use lexopt::{Arg, Parser};

use super::values::usage;
use super::{Command, help, missing, unexpected, unknown};
use crate::failure::Failure;
use crate::reproduce::{Experiment, Mode, find, list};

/// The arguments of `reproduce`.
pub struct ReproduceArguments {
    /// The experiments, each once, in the order given; all of them if none was.
    pub experiments: Vec<&'static Experiment>,
    /// `--quick` or `--full`.
    pub mode: Mode,
    /// `-o`.
    pub output: PathBuf,
}

pub(super) fn parse(parser: &mut Parser) -> Result<Command, Failure> {
    const OPTIONS: [&str; 3] = ["--quick", "--full", "--output"];
    let (mut experiments, mut mode, mut output) = (Vec::<&Experiment>::new(), None, None);
    while let Some(argument) = parser.next().map_err(usage)? {
        match argument {
            Arg::Long("quick") => set_mode(&mut mode, Mode::Quick)?,
            Arg::Long("full") => set_mode(&mut mode, Mode::Full)?,
            Arg::Short('o') | Arg::Long("output") => output = Some(PathBuf::from(parser.value().map_err(usage)?)),
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Help(help::REPRODUCE)),
            Arg::Value(name) => {
                let name = name.to_string_lossy();
                let names: Vec<&str> = list().map(|experiment| experiment.name).collect();
                let found = find(&name).ok_or_else(|| unknown("experiment", &name, &names))?;
                if !experiments.iter().any(|known| known.name == found.name) {
                    experiments.push(found);
                }
            }
            other => return Err(unexpected(&other, "reproduce", &OPTIONS)),
        }
    }
    let output = output.ok_or_else(|| missing("reproduce", "-o DIR", "broadphase reproduce 000-fig20 -o results"))?;
    if experiments.is_empty() {
        experiments.extend(list());
    }
    Ok(Command::Reproduce(ReproduceArguments { experiments, mode: mode.unwrap_or(Mode::Quick), output }))
}

fn set_mode(mode: &mut Option<Mode>, asked: Mode) -> Result<(), Failure> {
    if mode.is_some_and(|mode| mode != asked) {
        return Err(Failure::Usage("--quick and --full exclude each other; give one of them".to_string()));
    }
    *mode = Some(asked);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(line: &str) -> Result<ReproduceArguments, Failure> {
        match super::parse(&mut Parser::from_args(line.split_whitespace()))? {
            Command::Reproduce(asked) => Ok(asked),
            _ => Err(Failure::Interrupted),
        }
    }

    fn refusal(line: &str) -> String {
        match parse_words(line) {
            Err(Failure::Usage(text)) => text,
            _ => String::new(),
        }
    }

    #[test]
    fn nothing_named_is_everything_quickly() {
        let asked = parse_words("-o out").unwrap();
        assert_eq!((asked.mode, asked.experiments.len()), (Mode::Quick, list().count()));
        let asked = parse_words("003-checks 000-fig20 003-checks --full -o out").unwrap();
        let names: Vec<&str> = asked.experiments.iter().map(|experiment| experiment.name).collect();
        assert_eq!((asked.mode, names), (Mode::Full, vec!["003-checks", "000-fig20"]));
    }

    #[test]
    fn what_is_unknown_missing_or_contradictory_is_refused() {
        assert!(refusal("000-fig2O -o out").contains("did you mean '000-fig20'?"));
        assert!(refusal("003-checks").contains("needs -o DIR"));
        assert!(refusal("--quick --full -o out").contains("exclude each other"));
        assert!(refusal("--quik -o out").contains("did you mean '--quick'?"));
    }
}
