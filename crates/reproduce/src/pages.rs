//! The pages: one for each experiment, and the index. Each is one file, and opens without a server.

use std::fmt::Write;

use super::report::Report;
use super::state::Finished;
use super::verdict::{Finding, Tally, Verdict, sentence};
use super::{Experiment, Mode};
use broadphase_bench::charts::{escape, figure, number, page};
use broadphase_bench::machine;

/// The page of an experiment.
pub fn experiment(experiment: &Experiment, mode: Mode, report: &Report, notes: &[String], seconds: f64) -> String {
    let (name, title) = (experiment.name, escape(experiment.title));
    let mut body = format!("<p><a href=\"index.html\">All experiments</a></p>\n<h1>{name}: {title}</h1>\n");
    let tally = Tally::of(report.findings.iter().map(|finding| finding.verdict));
    let sentence = sentence(&report.findings);
    // The badge shows the counts, so only the part of the sentence after the colon follows it.
    let found = sentence.split_once(": ").map_or(sentence.as_str(), |(_, found)| found);
    let _ =
        writeln!(body, "<p class=\"lead\">{} <strong>{}</strong></p>", badge(class(tally), &tally.to_string()), escape(found));
    let charts = report.charts.iter().filter(|chart| !chart.is_empty());
    let charts: String = charts.map(|chart| figure(&chart.svg(), &chart.table(), "")).collect();
    if !charts.is_empty() {
        let _ = writeln!(body, "<div class=\"charts\">\n{charts}</div>");
    }
    if !report.findings.is_empty() {
        let _ = writeln!(body, "<h2>The paper's findings and ours</h2>\n{}", findings(&report.findings));
    }
    let _ = writeln!(body, "<h2>What was run</h2>\n<p>{}</p>\n<p>{}</p>", prose(&report.setup), scale(mode));
    if !notes.is_empty() {
        let items: String = notes.iter().map(|note| format!("<li>{}</li>\n", escape(note))).collect();
        let _ = writeln!(body, "<ul>\n{items}</ul>");
    }
    let _ = writeln!(
        body,
        "<p class=\"soft\">{}; broadphase {}; {} s; times are medians of CPU time unless the text says otherwise. \
         Every row: <a href=\"{name}.json\">{name}.json</a>. The chart alone: <a href=\"{name}.svg\">{name}.svg</a>. \
         Again: <code>broadphase reproduce {name} --{} -o DIR</code></p>",
        escape(&machine::summary()),
        env!("CARGO_PKG_VERSION"),
        number(seconds),
        mode.name()
    );
    page(&format!("{name}: {}", experiment.title), &body)
}

/// Text as HTML, names between backticks as code.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(k, part)| if k % 2 == 1 { format!("<code>{}</code>", escape(part)) } else { escape(part) }).collect()
}

fn scale(mode: Mode) -> &'static str {
    match mode {
        Mode::Quick => "A quick run: fewer objects and frames than in the paper. <code>--full</code> has the paper's sizes.",
        Mode::Full => "A full run: the paper's sizes.",
    }
}

/// A card for each finding: the verdict first, then the claim, our figures and the rule. Cards fit narrow screens, where a table would not.
fn findings(findings: &[Finding]) -> String {
    let mut text = String::from("<div class=\"findings\">\n");
    for finding in findings {
        let verdict = finding.verdict.name();
        let paper = if finding.paper.is_empty() { String::new() } else { format!("Paper: {}. ", escape(&finding.paper)) };
        let beside =
            if finding.beside.is_empty() { String::new() } else { format!(" Our own mode: {}.", escape(&finding.beside)) };
        let _ = writeln!(
            text,
            "<div class=\"finding is-{verdict}\">\n<p>{} <strong>{}</strong> <span class=\"soft\">{}</span></p>\n\
             <p>{paper}Here: {}.{beside}</p>\n<p class=\"soft\">Rule: {}.</p>\n</div>",
            badge(verdict, verdict),
            escape(&finding.claim),
            escape(finding.source),
            escape(&finding.ours),
            escape(&finding.rule),
        );
    }
    text.push_str("</div>\n");
    text
}

/// A verdict in its color, and in words for readers who do not see the color.
fn badge(class: &str, words: &str) -> String {
    format!("<span class=\"verdict {}\">{}</span>", class.replace(' ', "-"), escape(words))
}

/// The color of several findings: that of their common verdict, or that of "partly" if they differ.
fn class(tally: Tally) -> &'static str {
    tally.unanimous().map_or("partly", Verdict::name)
}

/// The page that links to all experiments, with the results of those that are finished.
pub fn index(all: &[(&Experiment, Option<Finished>)]) -> String {
    let done: Vec<&Finished> = all.iter().filter_map(|(_, finished)| finished.as_ref()).collect();
    let tally = Tally::of(done.iter().flat_map(|finished| finished.verdicts()));
    let mut body = String::from("<h1>The papers' experiments, run again</h1>\n");
    let _ = writeln!(
        body,
        "<p class=\"lead\"><strong>{} of {} experiments are done. Their findings: {tally}.</strong></p>\n\
         <p>Each verdict is computed from the figures by the rule on its page.</p>\n<p class=\"soft\">{}; broadphase {}</p>",
        done.len(),
        all.len(),
        escape(&machine::summary()),
        env!("CARGO_PKG_VERSION")
    );
    for papers in all.chunk_by(|a, b| a.0.paper == b.0.paper) {
        let paper = papers[0].0.paper;
        let _ = writeln!(body, "<h2>Paper {paper}: {}</h2>\n<div class=\"wide\"><table>", escape(paper_title(paper)));
        body.push_str("<thead><tr><th>experiment</th><th class=\"left\">verdict</th><th class=\"text\">in a sentence</th>");
        body.push_str("<th class=\"text\">what</th><th>run</th></tr></thead>\n<tbody>\n");
        for (experiment, finished) in papers {
            body.push_str(&entry(experiment, finished.as_ref()));
        }
        body.push_str("</tbody></table></div>\n");
    }
    page("The papers' experiments, run again", &body)
}

fn entry(experiment: &Experiment, finished: Option<&Finished>) -> String {
    let (name, title) = (experiment.name, escape(experiment.title));
    let Some(finished) = finished else {
        return format!(
            "<tr><th>{name}</th><td class=\"left\">{}</td><td></td><td class=\"text\">{title}</td><td></td></tr>\n",
            badge("not run", "not run")
        );
    };
    format!(
        "<tr><th><a href=\"{name}.html\">{name}</a></th><td class=\"left\">{}</td><td class=\"text\">{}</td>\
         <td class=\"text\">{title}</td><td>{}, {} s</td></tr>\n",
        badge(class(Tally::of(finished.verdicts().into_iter())), finished.text("verdict")),
        escape(finished.text("sentence")),
        escape(finished.mode()),
        number(finished.seconds())
    )
}

/// What a paper is about.
pub fn paper_title(paper: &str) -> &'static str {
    match paper {
        "000" => "hierarchical hash grids",
        "001" => "a kd-tree with sweeps in its nodes",
        "002" => "a parallel sweep and prune over two axes",
        "003" => "particles in a hash grid",
        "004" => "an octree and a hierarchical grid",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_between_backticks_are_code_and_all_is_escaped() {
        assert_eq!(prose("a `b<c` & d"), "a <code>b&lt;c</code> &amp; d");
        assert_eq!(prose("plain"), "plain");
    }

    #[test]
    fn every_paper_has_a_title() {
        assert!(super::super::list().all(|experiment| !paper_title(experiment.paper).is_empty()));
    }
}
