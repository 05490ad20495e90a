//! The table for people: fastest first, units explained.

use std::fmt::Write;

use super::outcome::{Clock, Outcome};
use super::ratios;
use crate::arguments::shape_name;

/// One line that explains the columns.
pub const LEGEND: &str = "\
ms: median time of a frame, boxes in to exact pairs out; p95: 19 of 20 frames take at most this; cpu ms: CPU time of the thread;\n\
ns/object: time over objects; tests/pair: box comparisons made for each pair found; Mtests/s: millions of them a second;\n\
B/object: bytes held for each object.";

/// The columns.
pub const HEAD: [&str; 10] =
    ["algorithm", "ms", "p95", "cpu ms", "ns/object", "pairs/frame", "tests/pair", "Mtests/s", "B/object", "notes"];

/// The table of one scene and number of objects, with its heading and the ratios below.
pub fn render(outcomes: &[Outcome]) -> String {
    let Some(first) = outcomes.first() else { return String::new() };
    let setting = &first.setting;
    let mut text = format!("{}: {}\n", setting.scene, heading(first, outcomes));
    text.push_str(&align(&rows(outcomes)));
    for line in ratios::lines(outcomes) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// What all rows of a setting have in common, in a line.
pub fn heading(first: &Outcome, outcomes: &[Outcome]) -> String {
    let setting = &first.setting;
    let threads = outcomes.iter().map(|outcome| outcome.threads).max().unwrap_or(1);
    format!(
        "{} objects, {}D {} {}, {} frames, {threads} thread{}{}",
        thousands(setting.n as u64),
        setting.dim,
        setting.scalar,
        shape_name(first.shape),
        thousands(setting.frames as u64),
        if threads == 1 { "" } else { "s" },
        first.oracle.map_or(String::new(), |oracle| format!(", every frame checked against {oracle}")),
    )
}

/// The cells of all rows, fastest first, wrong ones last.
pub fn rows(outcomes: &[Outcome]) -> Vec<[String; 10]> {
    let mut sorted: Vec<&Outcome> = outcomes.iter().collect();
    let clock = Clock::of(outcomes);
    sorted.sort_by(|a, b| (!a.right()).cmp(&!b.right()).then(a.rank(clock).total_cmp(&b.rank(clock))));
    sorted.into_iter().map(cells).collect()
}

/// The cells of one row.
fn cells(outcome: &Outcome) -> [String; 10] {
    let (wall, n) = (outcome.wall(), outcome.setting.n as f64);
    let frames = outcome.records.len() as f64;
    let per_object = |value: Option<f64>| value.filter(|_| n > 0.0).map(|value| value / n);
    let pairs = outcome.pairs_total() as f64;
    let tests_per_pair = outcome.tests_total().filter(|_| pairs > 0.0).map(|tests| tests as f64 / pairs);
    [
        outcome.name.clone(),
        digits(wall.median()),
        digits(wall.percentile(95.0)),
        digits(outcome.cpu_median()),
        digits(per_object(wall.median().map(|ms| ms * 1e6))),
        if frames > 0.0 { thousands((pairs / frames).round() as u64) } else { "-".to_string() },
        digits(tests_per_pair),
        digits(outcome.tests_per_second().map(|rate| rate / 1e6)),
        digits(per_object(outcome.facts.bytes.map(|bytes| bytes as f64))),
        notes(outcome),
    ]
}

/// What a reader must know beside the figures.
fn notes(outcome: &Outcome) -> String {
    let mut notes = Vec::new();
    if outcome.wrong.any() {
        notes.push(format!("WRONG: misses {}, invents {}", outcome.wrong.missing, outcome.wrong.extra));
    }
    if let Some(reason) = &outcome.failed {
        notes.push(format!("failed: {reason}"));
    } else if outcome.stopped {
        notes.push(format!("stopped at its limit after {} of {} frames", outcome.records.len(), outcome.setting.frames));
    }
    if outcome.peer {
        notes.push("peer".to_string());
    }
    notes.extend(outcome.facts.choice.clone());
    notes.join("; ")
}

/// Columns aligned: names and notes to the left, figures to the right.
fn align(rows: &[[String; 10]]) -> String {
    let head = HEAD.map(str::to_string);
    let widths: [usize; 10] =
        std::array::from_fn(|k| rows.iter().chain([&head]).map(|row| row[k].chars().count()).max().unwrap_or(0));
    let mut text = String::new();
    for row in [&head].into_iter().chain(rows) {
        let mut line = String::from(" ");
        for (k, (cell, width)) in row.iter().zip(widths).enumerate() {
            let _ = if k == 0 || k == 9 { write!(line, " {cell:<width$} ") } else { write!(line, " {cell:>width$} ") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A figure with three or more significant digits, or `-`.
pub fn digits(value: Option<f64>) -> String {
    match value {
        None => "-".to_string(),
        Some(value) if value >= 999.5 => thousands(value.round() as u64),
        Some(value) if value >= 99.95 => format!("{value:.0}"),
        Some(value) if value >= 9.995 => format!("{value:.1}"),
        Some(value) if value >= 0.9995 => format!("{value:.2}"),
        Some(value) if value >= 0.09995 => format!("{value:.3}"),
        Some(value) => format!("{value:.4}"),
    }
}

/// A whole number with commas.
pub fn thousands(value: u64) -> String {
    let plain = value.to_string();
    let mut text = String::new();
    for (k, digit) in plain.chars().enumerate() {
        if k > 0 && (plain.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::fakes::outcome;
    use super::*;

    #[test]
    fn figures_are_short_and_readable() {
        assert_eq!([thousands(0), thousands(999), thousands(1000), thousands(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        let shown = [0.01234, 0.5, 1.5, 12.34, 123.4, 12345.6].map(|value| digits(Some(value)));
        assert_eq!(shown, ["0.0123", "0.500", "1.50", "12.3", "123", "12,346"]);
        assert_eq!(digits(None), "-");
    }

    #[test]
    fn figures_end_where_their_heading_ends() {
        let row = std::array::from_fn(|k| if k == 0 { "a-rather-long-name".to_string() } else { "7".to_string() });
        let text = align(&[row]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0].find("p95").map(|at| at + 2), lines[1].match_indices('7').nth(1).map(|found| found.0));
    }

    #[test]
    fn the_fastest_comes_first_and_the_wrong_ones_last() {
        let mut wrong = outcome("wrong", "wrong", false, &[1], &[]);
        wrong.wrong.missing = 4;
        let rows = [wrong, outcome("slow", "slow", false, &[9], &[]), outcome("fast", "fast", true, &[3], &[])];
        let text = render(&rows);
        let at = |name: &str| text.lines().position(|line| line.trim_start().starts_with(name)).unwrap();
        assert!(at("fast") < at("slow") && at("slow") < at("wrong"), "{text}");
        assert!(text.contains("WRONG: misses 4, invents 0") && text.contains("peer"), "{text}");
    }
}
