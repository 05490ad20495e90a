//! The papers' own evaluations, run again: `broadphase reproduce`.
//!
//! Each experiment measures what a figure or table of its paper shows, with our algorithms and the clocks of `bench`, and compares the
//! paper's finding with ours. The experiments are in one folder or file for each paper. They measure with `lab` and `single`, evaluate with
//! `curves` and `verdict`, and return a `report`. `runner` runs them; `pages`, `markdown` and `state` write the files.

mod curves;
mod lab;
mod markdown;
mod pages;
mod paper000;
mod paper001;
mod paper002;
mod paper003;
mod paper004;
mod report;
mod runner;
mod single;
mod state;
mod verdict;

use std::path::PathBuf;

use broadphase_bench::failure::Failure;
use lab::Lab;
use report::Report;
pub use runner::run;

/// An experiment of a paper that can be run again.
pub struct Experiment {
    /// Its name.
    pub name: &'static str,
    /// The paper it comes from.
    pub paper: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Measures, and computes the verdicts.
    measure: fn(&mut Lab) -> Result<Report, Failure>,
}

/// A run: which experiments, at what size, and where results go.
pub struct Run {
    /// The experiments, each once, in the order given.
    pub experiments: Vec<&'static Experiment>,
    /// The size of each.
    pub mode: Mode,
    /// The folder for results.
    pub output: PathBuf,
}

/// The size of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every experiment in seconds, with fewer objects and frames than the papers.
    Quick,
    /// The papers' sizes: hours.
    Full,
}

impl Mode {
    /// Its name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Quick => "quick",
            Mode::Full => "full",
        }
    }
}

/// Every experiment, paper by paper.
pub fn list() -> impl Iterator<Item = &'static Experiment> + Clone {
    let papers: [&'static [Experiment]; 5] =
        [paper000::EXPERIMENTS, paper001::EXPERIMENTS, paper002::EXPERIMENTS, paper003::EXPERIMENTS, paper004::EXPERIMENTS];
    papers.into_iter().flatten()
}

/// The experiment of that name.
pub fn find(name: &str) -> Option<&'static Experiment> {
    list().find(|experiment| experiment.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that the contract promises, written out.
    const PROMISED: &str = "\
        000-fig19 000-fig20 000-fig21 000-fig22 000-fig23 000-fig24 000-fig25 000-fig26 000-fig27 000-fig28 000-fig29 000-fig30 000-levels 000-memory \
        001-fig1 001-fig9 001-fig10 001-fig11 001-fig12 001-fig13 001-fig14 001-table1 001-table2 \
        002-fig1 002-fig2 002-fig3 002-fig4 002-fig5 002-fig6 003-checks \
        004-test1 004-test2 004-test3 004-test4 004-test5 004-test6 004-burden 004-tunneling 004-memory";

    #[test]
    fn every_promised_experiment_is_listed_once_under_its_paper() {
        let listed: Vec<&str> = list().map(|experiment| experiment.name).collect();
        assert_eq!(listed, PROMISED.split_whitespace().collect::<Vec<_>>());
        assert!(list().all(|experiment| experiment.name.starts_with(experiment.paper) && !experiment.title.is_empty()));
        assert!(find("000-fig20").is_some() && find("000-fig99").is_none());
    }

    #[test]
    fn every_experiment_runs_to_its_end() {
        for experiment in list() {
            let mut lab = Lab::tiny();
            let report = (experiment.measure)(&mut lab).unwrap_or_else(|failure| panic!("{}: {failure:?}", experiment.name));
            let checked = lab.unchecked().is_empty() || experiment.paper == "002";
            assert!(checked, "{}: rows with which nothing was compared: {:?}", experiment.name, lab.unchecked());
            let (rows, notes, seconds) = lab.finish();
            assert!(!rows.is_empty() && !report.findings.is_empty(), "{}", experiment.name);
            assert!(report.charts.first().is_some_and(|chart| chart.svg().starts_with("<svg")), "{}", experiment.name);
            let page = pages::experiment(experiment, Mode::Quick, &report, &notes, seconds);
            for finding in &report.findings {
                // A rule says why its bounds are what they are, and "partly" has a stated weaker form.
                let stated = finding.rule.contains("; ") && (!finding.rule.contains("partly") || finding.rule.contains('('));
                assert!(stated || ["001", "002"].contains(&experiment.paper), "{}: {}", experiment.name, finding.rule);
                assert!(page.contains(finding.source) && !finding.ours.contains("{}"), "{}: {}", experiment.name, finding.ours);
            }
        }
    }
}
