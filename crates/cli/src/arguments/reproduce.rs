//! The arguments of `reproduce`: which experiments, how much of them, and where results go.

use broadphase::spec_text::nearest;

use super::cli::ReproduceLine;
use broadphase_bench::failure::Failure;
use broadphase_reproduce::{Experiment, Mode, Run, find, list};

pub(super) fn check(line: ReproduceLine) -> Result<Run, Failure> {
    let mut experiments = Vec::<&Experiment>::new();
    for name in &line.experiments {
        let name = name.to_string_lossy();
        let found = find(&name).ok_or_else(|| unknown(&name))?;
        if !experiments.iter().any(|known| known.name == found.name) {
            experiments.push(found);
        }
    }
    if experiments.is_empty() {
        experiments.extend(list());
    }
    Ok(Run { experiments, mode: if line.full { Mode::Full } else { Mode::Quick }, output: line.output })
}

fn unknown(name: &str) -> Failure {
    let nearest = nearest(name, list().map(|experiment| experiment.name)).unwrap_or("003-checks");
    Failure::Usage(format!("unknown experiment '{name}'; did you mean '{nearest}'? (broadphase list lists all)"))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::super::{Command, parse};
    use super::*;

    fn parse_words(line: &str) -> Result<Run, Failure> {
        match parse(["reproduce"].into_iter().chain(line.split_whitespace()).map(OsString::from))? {
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
