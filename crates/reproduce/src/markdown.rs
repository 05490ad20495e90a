//! One Markdown page of everything that is finished, for a reader on a forge: a table per paper, and the charts.

use std::fmt::Write;

use super::pages::paper_title;
use super::state::Finished;
use super::verdict::Tally;
use super::{Experiment, Mode};
use broadphase_bench::charts::number;
use broadphase_bench::machine;

/// The page. Pictures are the files beside it.
pub fn record(all: &[(&Experiment, Option<Finished>)]) -> String {
    let done: Vec<&Finished> = all.iter().filter_map(|(_, finished)| finished.as_ref()).collect();
    let tally = Tally::of(done.iter().flat_map(|finished| finished.verdicts()));
    let mut page = String::from("# The papers' experiments, run again\n\n");
    let _ = writeln!(page, "{} of {} experiments are done. Their findings: {tally}.\n", done.len(), all.len());
    summary(&mut page, all);
    let _ = writeln!(
        page,
        "A verdict follows from the figures of the column *paper mode here* by the rule beside it, which was written before the run. Where a \
         structure has no paper mode, or a claim is about something else, the column says what was measured. *Ours* is what this project \
         runs by default, on the same frames; it does not affect the verdict. A ratio has a 95 % interval in brackets, and counts only if all of it \
         lies within the bounds; otherwise the finding is open. *Refuted* means that this machine does not show the claim. The papers' machines had \
         smaller caches, narrower registers or more cores, so it does not mean that their figures were wrong.\n"
    );
    sizes(&mut page, all);
    let _ = writeln!(
        page,
        "{}; broadphase {}. Times are CPU times of one thread unless a text says otherwise. `benchmarks/reproduce-record` makes this page.\n",
        machine::summary(),
        env!("CARGO_PKG_VERSION")
    );
    for papers in all.chunk_by(|a, b| a.0.paper == b.0.paper) {
        let paper = papers[0].0.paper;
        let _ = writeln!(page, "## Paper {paper}: {}\n", paper_title(paper));
        page.push_str("| figure | claim | the paper's number | paper mode here | ours | verdict | rule |\n");
        page.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
        papers.iter().for_each(|(experiment, finished)| rows(&mut page, experiment, finished.as_ref()));
        page.push('\n');
        papers.iter().for_each(|(experiment, finished)| pictures(&mut page, experiment, finished.as_ref()));
    }
    page
}

/// How many findings of each paper have which verdict.
fn summary(page: &mut String, all: &[(&Experiment, Option<Finished>)]) {
    page.push_str("| paper | experiments | confirmed | partly | refuted | open |\n| --- | --- | --- | --- | --- | --- |\n");
    for papers in all.chunk_by(|a, b| a.0.paper == b.0.paper) {
        let tally = Tally::of(papers.iter().filter_map(|one| one.1.as_ref()).flat_map(Finished::verdicts));
        let [confirmed, partly, refuted, open] = tally.counts().map(|count| count.1);
        let (paper, done) = (papers[0].0.paper, papers.iter().filter(|one| one.1.is_some()).count());
        let title = paper_title(paper);
        let anchor = format!("paper-{paper}-{}", title.replace(' ', "-"));
        let _ = writeln!(page, "| [{paper}, {title}](#{anchor}) | {done} | {confirmed} | {partly} | {refuted} | {open} |");
    }
    page.push('\n');
}

/// Which experiments were run at which size.
fn sizes(page: &mut String, all: &[(&Experiment, Option<Finished>)]) {
    let of = |mode: Mode| -> Vec<&str> {
        let made = |one: &&(&Experiment, Option<Finished>)| one.1.as_ref().is_some_and(|finished| finished.mode() == mode.name());
        all.iter().filter(made).map(|one| one.0.name).collect()
    };
    let (full, quick) = (of(Mode::Full), of(Mode::Quick));
    if !full.is_empty() {
        let _ = writeln!(page, "At the papers' sizes (`--full`): {}.\n", full.join(", "));
    }
    if !quick.is_empty() {
        let _ = writeln!(
            page,
            "With fewer objects and frames (`--quick`), since at the papers' sizes they take hours on two cores: {}. The text of each says how many.\n",
            quick.join(", ")
        );
    }
}

/// The findings of one experiment.
fn rows(page: &mut String, experiment: &Experiment, finished: Option<&Finished>) {
    let name = experiment.name;
    let Some(finished) = finished else {
        let _ = writeln!(page, "| {name} | {} | | | | not run | |", cell(experiment.title));
        return;
    };
    for finding in finished.findings() {
        let text = |key: &str| cell(finding[key].as_str().unwrap_or(""));
        let _ = writeln!(
            page,
            "| [{name}](#{name}) | {} ({}) | {} | {} | {} | **{}** | {} |",
            text("paper"),
            text("source"),
            or_dash(text("paper_figure")),
            text("ours"),
            or_dash(text("our_mode")),
            text("verdict"),
            text("rule")
        );
    }
}

/// What was run, the notes, and the charts.
fn pictures(page: &mut String, experiment: &Experiment, finished: Option<&Finished>) {
    let Some(finished) = finished else { return };
    let name = experiment.name;
    let (mode, seconds) = (finished.mode(), number(finished.seconds()));
    let _ = writeln!(page, "### {name}\n\n{}. {}\n", experiment.title, finished.text("setup"));
    for note in finished.texts("notes") {
        let _ = writeln!(page, "- {note}");
    }
    let _ = writeln!(page, "\nAgain: `broadphase reproduce {name} --{mode} -o DIR` ({seconds} s).\n");
    for (k, title) in finished.chart_titles().into_iter().enumerate() {
        let _ = writeln!(page, "![{}]({})\n", title.replace(['[', ']'], ""), picture(name, k));
    }
}

/// The file of an experiment's chart number `k`.
pub fn picture(name: &str, k: usize) -> String {
    if k == 0 { format!("{name}.svg") } else { format!("{name}-{}.svg", k + 1) }
}

/// Escapes a text for the cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "–".to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::super::curves::Points;
    use super::super::lab::Curves;
    use super::super::report::{Chart, Report};
    use super::super::verdict::{Finding, Rule};
    use super::super::{Mode, list};
    use super::*;

    #[test]
    fn a_finding_becomes_a_row_whatever_its_texts_hold() {
        let finding = Finding::new("a | b", "figure 1", "it takes {} times", Some(1.5), Rule::from(1.0).because("c|d"));
        let finding = finding.paper_says("1.4").beside("{} with ours", Some(0.5));
        let curves = Curves(vec![("x".to_string(), Points::from([(1.0, 2.0)]))]);
        let charts = vec![Chart::scaling("one [1]", "x", "y", &curves), Chart::scaling("two", "x", "y", &curves)];
        let report = Report { setup: "A set-up".to_string(), charts, findings: vec![finding] };
        let all: Vec<_> = list()
            .enumerate()
            .map(|(k, one)| {
                (one, (k == 0).then(|| Finished::new(one, Mode::Quick, &report, (Vec::new(), &["note".to_string()], 1.0))))
            })
            .collect();
        let page = record(&all);
        let name = all[0].0.name;
        let row = format!(
            "| [{name}](#{name}) | a \\| b (figure 1) | 1.4 | it takes 1.5 times | 0.5 with ours | **confirmed** | \
             confirmed if 1 or more, else refuted; c\\|d |\n"
        );
        assert!(page.contains(&row), "{page}");
        assert!(page.contains(&format!("![one 1]({name}.svg)")) && page.contains(&format!("![two]({name}-2.svg)")));
        assert!(page.contains("- note\n") && page.contains("Their findings: 1 confirmed."));
        assert!(page.contains("| [000, hierarchical hash grids](#paper-000-hierarchical-hash-grids) | 1 | 1 | 0 | 0 | 0 |\n"));
        assert!(page.contains(&format!("on two cores: {name}. The text")) && !page.contains("(`--full`)"));
        assert_eq!(page.matches("| not run | |").count(), list().count() - 1);
    }
}
