//! The table for people: the time that ranks first, fastest row first, units explained.

use std::fmt::Write;

use super::drives::Drive;
use super::outcome::{Clock, Outcome};
use super::{ratios, span};
use crate::selection::shape_name;

/// A few lines that explain the columns.
pub const LEGEND: &str = "\
Rows are ranked by the first time: the median over frames, from boxes in to
exact pairs out. cpu ms: CPU time of the thread, which a busy machine does not
disturb; wall ms: time that passes; p95: 19 of 20 frames take at most this wall
time; ns/object: the first time over objects; tests/pair: box comparisons for
each pair found; Mtests/s: millions of them a second; B/object: bytes held for
each object.";

/// A column: its heading, and the order in which columns give way on a narrow terminal; 0 never does.
struct Column {
    head: &'static str,
    gives_way: u8,
}

const fn column(head: &'static str, gives_way: u8) -> Column {
    Column { head, gives_way }
}

/// The columns when rows are ranked by this clock.
fn columns(clock: Clock) -> [Column; 10] {
    let [first, second] = match clock {
        Clock::Cpu => ["cpu ms", "wall ms"],
        Clock::Wall => ["wall ms", "cpu ms"],
    };
    [
        column("algorithm", 0),
        column(first, 0),
        column(second, 0),
        column("p95", 3),
        column("ns/object", 5),
        column("pairs/frame", 0),
        column("tests/pair", 2),
        column("Mtests/s", 1),
        column("B/object", 4),
        column("notes", 0),
    ]
}

/// The headings of the columns.
pub fn head(clock: Clock) -> [&'static str; 10] {
    columns(clock).map(|column| column.head)
}

/// The table of one scene and number of objects, with its heading and the ratios below.
pub fn render(outcomes: &[Outcome]) -> String {
    let mut text = render_rows(outcomes);
    for line in ratios::lines(outcomes).into_iter().chain(span::lines(outcomes)) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// The same without the ratios.
pub fn render_rows(outcomes: &[Outcome]) -> String {
    let Some(first) = outcomes.first() else { return String::new() };
    let (setting, clock) = (&first.setting, Clock::of(outcomes));
    let mut text = format!("{}: {}, ranked by {}\n", setting.scene, heading(first, outcomes), clock.name());
    text.push_str(&align(&columns(clock), &rows(outcomes), terminal_width()));
    text
}

/// What all rows of a setting have in common, in a line.
pub fn heading(first: &Outcome, outcomes: &[Outcome]) -> String {
    let setting = &first.setting;
    let mut threads: Vec<usize> = outcomes.iter().filter(|outcome| !outcome.peer).map(|outcome| outcome.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    let one = threads.iter().all(|&count| count == 1);
    let threads = if threads.is_empty() { "1".to_string() } else { join(&threads) };
    let drive = if first.drive == Drive::Step { String::new() } else { format!(", drive {}", first.drive) };
    format!(
        "{} objects, {}D {} {}, {} frames, {threads} thread{}{drive}{}",
        thousands(setting.n as u64),
        setting.dim,
        setting.scalar,
        shape_name(first.shape),
        thousands(setting.frames as u64),
        if one { "" } else { "s" },
        first.oracle.map_or(String::new(), |oracle| format!(", every frame checked against {oracle}")),
    )
}

fn join(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// The cells of all rows, fastest first, wrong ones last.
pub fn rows(outcomes: &[Outcome]) -> Vec<[String; 10]> {
    let mut sorted: Vec<&Outcome> = outcomes.iter().collect();
    let clock = Clock::of(outcomes);
    sorted.sort_by(|a, b| (!a.right()).cmp(&!b.right()).then(a.rank(clock).total_cmp(&b.rank(clock))));
    let compared = outcomes.len() > 1 || outcomes.iter().any(|outcome| outcome.oracle.is_some());
    sorted.into_iter().map(|outcome| cells(outcome, clock, compared)).collect()
}

/// The cells of one row.
fn cells(outcome: &Outcome, clock: Clock, compared: bool) -> [String; 10] {
    let (wall, n) = (outcome.wall(), outcome.setting.n as f64);
    let frames = outcome.records.len() as f64;
    let per_object = |value: Option<f64>| value.filter(|_| n > 0.0).map(|value| value / n);
    let pairs = outcome.pairs_total() as f64;
    let tests_per_pair = outcome.tests_total().filter(|_| pairs > 0.0).map(|tests| tests as f64 / pairs);
    let (first, second) = match clock {
        Clock::Cpu => (outcome.cpu_median(), wall.median()),
        Clock::Wall => (wall.median(), outcome.cpu_median()),
    };
    // A row that stopped early has seen other frames than the rest: its mean number of pairs would look like a wrong result.
    let whole = frames > 0.0 && (!outcome.stopped || outcome.wrong.any());
    [
        outcome.title(),
        digits(first),
        digits(second),
        digits(wall.percentile(95.0)),
        digits(per_object(first.map(|ms| ms * 1e6))),
        if whole { thousands((pairs / frames).round() as u64) } else { "-".to_string() },
        digits(tests_per_pair),
        digits(outcome.tests_per_second().map(|rate| rate / 1e6)),
        digits(per_object(outcome.facts.bytes.map(|bytes| bytes as f64))),
        notes(outcome, compared),
    ]
}

/// The notes that belong to the figures; `compared` if there was something to compare the pairs with.
fn notes(outcome: &Outcome, compared: bool) -> String {
    let mut notes = Vec::new();
    if outcome.wrong.any() {
        notes.push(format!("WRONG: misses {}, invents {}", outcome.wrong.missing, outcome.wrong.extra));
    }
    if let Some(reason) = &outcome.failed {
        notes.push(format!("failed: {reason}"));
    } else if outcome.stopped {
        let right = if compared && outcome.right() { ", all with the right pairs" } else { "" };
        notes.push(format!("stopped at its limit after {} of {} frames{right}", outcome.records.len(), outcome.setting.frames));
    }
    if outcome.peer {
        notes.push("peer".to_string());
    }
    notes.extend(outcome.facts.choice.clone());
    notes.join("; ")
}

/// The columns of the terminal that the table goes to; unknown in a pipe, where nothing gives way.
fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// Columns aligned: names and notes to the left, figures to the right. What does not fit into `width` gives way: first the notes go
/// below the table, then columns are left out.
fn align(columns: &[Column; 10], rows: &[[String; 10]], width: Option<usize>) -> String {
    let limit = width.unwrap_or(usize::MAX);
    let notes = columns.len() - 1;
    let widths: [usize; 10] = std::array::from_fn(|k| {
        let cells = rows.iter().map(|row| row[k].chars().count());
        cells.chain([columns[k].head.chars().count()]).max().unwrap_or(0)
    });
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    let total = |shown: &[usize]| 1 + shown.iter().map(|&k| widths[k] + 2).sum::<usize>();
    let notes_below = total(&shown) > limit;
    if notes_below {
        shown.retain(|&k| k != notes);
    }
    for turn in 1..=5 {
        if total(&shown) > limit {
            shown.retain(|&k| columns[k].gives_way != turn);
        }
    }
    let head: [String; 10] = std::array::from_fn(|k| columns[k].head.to_string());
    let mut text = String::new();
    for row in [&head].into_iter().chain(rows) {
        let mut line = String::from(" ");
        for &k in &shown {
            let (cell, width) = (&row[k], widths[k]);
            let _ = if k == 0 || k == notes { write!(line, " {cell:<width$} ") } else { write!(line, " {cell:>width$} ") };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if notes_below {
        for row in rows.iter().filter(|row| !row[notes].is_empty()) {
            let _ = writeln!(text, "  {}: {}", row[0], row[notes]);
        }
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
        let text = align(&columns(Clock::Cpu), &[row], None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0].find("p95").map(|at| at + 2), lines[1].match_indices('7').nth(2).map(|found| found.0));
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

    #[test]
    fn the_time_that_ranks_comes_first_and_is_named() {
        let fast = outcome("fast", "fast", false, &[3], &[]);
        let lines = |rows: &[Outcome]| render(rows).lines().map(str::to_string).collect::<Vec<_>>();
        let cpu = lines(std::slice::from_ref(&fast));
        assert!(
            cpu[0].ends_with("ranked by CPU time") && cpu[1].trim_start().starts_with("algorithm  cpu ms  wall ms"),
            "{cpu:?}"
        );
        let mut parallel = fast;
        parallel.threads = 2;
        parallel.records.iter_mut().for_each(|record| record.timing.cpu = None);
        let wall = lines(&[parallel]);
        assert!(wall[0].ends_with("ranked by wall time"), "{wall:?}");
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&wall[1]).starts_with("algorithm wall ms cpu ms"), "{wall:?}");
        assert!(words(&wall[2]).starts_with("fast on 2 threads 3.00 - "), "{wall:?}");
    }

    #[test]
    fn a_stopped_row_does_not_show_another_number_of_pairs() {
        let mut stopped = outcome("stopped", "stopped", false, &[9], &[]);
        stopped.stopped = true;
        stopped.records.iter_mut().for_each(|record| record.pairs = 4);
        let cells = &rows(&[outcome("whole", "whole", false, &[3, 3], &[]), stopped])[1];
        assert_eq!((cells[0].as_str(), cells[5].as_str()), ("stopped", "-"));
        assert!(cells[9].contains("stopped at its limit after 2 of 2 frames, all with the right pairs"), "{}", cells[9]);
    }

    #[test]
    fn a_narrow_terminal_gets_fewer_columns_and_the_notes_below() {
        let mut row = outcome("a-name-of-an-algorithm", "a", false, &[3], &[]);
        row.facts.choice = Some("tiles: because of something that takes a line to say".to_string());
        let columns = columns(Clock::Cpu);
        let cells = rows(&[row]);
        for width in [60, 80, 100] {
            let text = align(&columns, &cells, Some(width));
            let table: Vec<&str> = text.lines().take(2).collect();
            assert!(table.iter().all(|line| line.chars().count() <= width), "{width}: {text}");
            assert!(text.contains("cpu ms") && text.lines().nth(2).is_some_and(|line| line.contains("because")), "{text}");
        }
        assert!(align(&columns, &cells, None).lines().count() == 2);
    }
}
