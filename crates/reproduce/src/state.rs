//! Results on disk: one JSON file for each finished experiment, which a later run reads instead of measuring again.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::report::{Chart, Report};
use super::verdict::{Tally, Verdict, sentence};
use super::{Experiment, Mode};
use broadphase_bench::machine;

/// The result of an experiment, as its JSON file has it.
pub struct Finished(Value);

/// What identifies a run: its mode, version and set of peers. Results of another run are not reused.
fn identity(mode: Mode) -> Value {
    let peers: Vec<&str> = broadphase_peers::list().iter().filter(|peer| peer.built).map(|peer| peer.name).collect();
    json!({ "mode": mode.name(), "version": env!("CARGO_PKG_VERSION"), "peers": peers })
}

impl Finished {
    /// The result of an experiment, with every row it measured.
    pub fn new(
        experiment: &Experiment,
        mode: Mode,
        report: &Report,
        (rows, notes, seconds): (Vec<Value>, &[String], f64),
    ) -> Self {
        let findings: Vec<Value> = report
            .findings
            .iter()
            .map(|finding| {
                json!({
                    "paper": finding.claim,
                    "source": finding.source,
                    "paper_figure": finding.paper,
                    "ours": finding.ours,
                    "our_mode": finding.beside,
                    "rule": finding.rule,
                    "verdict": finding.verdict.name(),
                })
            })
            .collect();
        Self(json!({
            "experiment": experiment.name,
            "paper": experiment.paper,
            "title": experiment.title,
            "run": identity(mode),
            "machine": machine::describe(),
            "seconds": seconds,
            "setup": report.setup,
            "notes": notes,
            "verdict": Tally::of(report.findings.iter().map(|finding| finding.verdict)).to_string(),
            "sentence": sentence(&report.findings),
            "findings": findings,
            "charts": report.charts.iter().map(Chart::json).collect::<Vec<_>>(),
            "rows": rows,
        }))
    }

    /// Reads the result of an experiment, if its JSON file is complete and its page and chart exist.
    pub fn read(folder: &Path, experiment: &Experiment) -> Option<Self> {
        let text = fs::read_to_string(file(folder, experiment, "json")).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let named = value["experiment"] == experiment.name && value["sentence"].is_string();
        let whole = ["html", "svg"].iter().all(|ending| file(folder, experiment, ending).is_file());
        (named && whole).then_some(Self(value))
    }

    /// Was it made by a run with the same identity as one in `mode` would have now, so that it need not be repeated?
    pub fn stands_for(&self, mode: Mode) -> bool {
        self.0["run"] == identity(mode)
    }

    /// Was it made by this version, in whatever mode?
    pub fn is_current(&self) -> bool {
        self.0["run"]["version"] == env!("CARGO_PKG_VERSION")
    }

    /// The text under a key; empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or("")
    }

    /// The findings, each an object of texts.
    pub fn findings(&self) -> impl Iterator<Item = &Value> {
        self.0["findings"].as_array().into_iter().flatten()
    }

    /// The list of texts under a key; empty if there is none.
    pub fn texts(&self, key: &str) -> Vec<&str> {
        self.0[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The verdict of each finding.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let named = |name: &str| {
            [Verdict::Confirmed, Verdict::Partly, Verdict::Refuted].into_iter().find(|verdict| verdict.name() == name)
        };
        self.findings().map(|finding| finding["verdict"].as_str().and_then(named).unwrap_or(Verdict::Open)).collect()
    }

    /// The titles of the charts, the main one first.
    pub fn chart_titles(&self) -> Vec<&str> {
        self.0["charts"].as_array().into_iter().flatten().filter_map(|chart| chart["title"].as_str()).collect()
    }

    /// The mode it was made in.
    pub fn mode(&self) -> &str {
        self.0["run"]["mode"].as_str().unwrap_or("")
    }

    /// The seconds it took.
    pub fn seconds(&self) -> f64 {
        self.0["seconds"].as_f64().unwrap_or(0.0)
    }

    /// The file's text.
    pub fn to_json(&self) -> String {
        format!("{:#}\n", self.0)
    }
}

/// The file of an experiment with that ending.
pub fn file(folder: &Path, experiment: &Experiment, ending: &str) -> PathBuf {
    folder.join(format!("{}.{ending}", experiment.name))
}
