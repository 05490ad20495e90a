//! One scene and number of objects: times, ratios, frames, memory, and the table with every row. Charts without data are left out.

use super::{DrawnRows, label, unit};
use crate::charts::{self, BarChart, DEFAULT, LineChart, Scale, Series, escape};
use crate::{Clock, Outcome, Sorted, ms, ratios, table};

/// Bars and frame times that differ by more than this factor are drawn on a logarithmic scale.
const WIDE: f64 = 20.0;

/// The section of a setting.
pub fn render(outcomes: &[Outcome], clock: Clock, drawn: &DrawnRows) -> String {
    let Some(first) = outcomes.first() else { return String::new() };
    let mut text = format!("<h2>{}</h2>\n", escape(&label(first)));
    text.push_str(&format!("<p>{}.</p>\n", escape(&table::heading(first, outcomes))));
    let figures: String = [times(outcomes, clock), ratios_of(outcomes, clock), frames(outcomes, clock, drawn), memory(outcomes)]
        .into_iter()
        .flatten()
        .collect();
    if !figures.is_empty() {
        text.push_str(&format!("<div class=\"charts\">\n{figures}</div>\n"));
    }
    text.push_str(&every_row(outcomes, clock));
    text
}

/// The table of all rows, right or wrong, by the one clock of the page. Notes stand below the name, where no scrolling hides them.
fn every_row(outcomes: &[Outcome], clock: Clock) -> String {
    let time = format!("{} ms", clock.name());
    let head = ["row", &time, "p95 ms", "ns/object", "pairs/frame", "tests/pair", "Mtests/s", "B/object"];
    let head: String = head.iter().map(|name| format!("<th>{name}</th>")).collect();
    let cells = |row: &[String; 10]| {
        let outcome = outcomes.iter().find(|outcome| outcome.title() == row[0]);
        let late =
            outcome.and_then(|row| Sorted::new(row.measured().map(|record| ms(clock.read(&record.timing)))).percentile(95.0));
        let first = outcome.map(|row| row.rank(clock)).filter(|time| time.is_finite());
        let class = if outcome.is_some_and(Outcome::right) { "soft" } else { "refuted" };
        let notes =
            if row[9].is_empty() { String::new() } else { format!("<br><small class=\"{class}\">{}</small>", escape(&row[9])) };
        let figures = [table::digits(first), table::digits(late)].into_iter().chain(row[4..9].iter().cloned());
        let figures: String = figures.map(|cell| format!("<td>{}</td>", escape(&cell))).collect();
        format!("<tr><th class=\"row\">{}{notes}</th>{figures}</tr>\n", escape(&row[0]))
    };
    let rows: String = table::rows(outcomes).iter().map(cells).collect();
    format!(
        "<details open><summary>Every row</summary>\n<div class=\"wide\"><table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>\n\
         <p class=\"soft\">{} of a frame: its median, from boxes in to exact pairs out. p95: 19 of 20 frames take at most this. \
         tests/pair: box comparisons for each pair found; Mtests/s: millions of them a second; B/object: bytes held for each object.</p></details>\n",
        capital(clock.name())
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// A chart, if there is something to draw.
type Figure = Option<String>;

/// The median time of every row that is right.
fn times(outcomes: &[Outcome], clock: Clock) -> Figure {
    let mut right: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.right()).collect();
    right.sort_by(|a, b| a.rank(clock).total_cmp(&b.rank(clock)));
    let bars: Vec<(String, f64)> = right.iter().map(|outcome| (outcome.title(), outcome.rank(clock))).collect();
    if bars.is_empty() {
        return None;
    }
    bar_chart("Median time", unit(clock), bars, outcomes)
}

/// Each of ours against the fastest peer.
fn ratios_of(outcomes: &[Outcome], clock: Clock) -> Figure {
    let (ours, peers) = (ratios::ranked(outcomes, false, clock), ratios::ranked(outcomes, true, clock));
    let peer = peers.first()?;
    let found: Vec<_> = ours.iter().filter_map(|our| Some((our.title(), ratios::ratio(peer, our, clock)?))).collect();
    if found.is_empty() {
        return None;
    }
    let chart = BarChart {
        title: format!("Times as fast as {}, the best peer here", peer.name),
        unit: "times as fast, logarithmic; solid: ahead, ring: behind".to_string(),
        bars: found.iter().map(|(name, ratio)| (name.clone(), ratio.median)).collect(),
        highlight: found.iter().filter(|(_, ratio)| ratio.median >= 1.0).map(|(name, _)| name.clone()).collect(),
        reference: Some((peer.name.clone(), 1.0)),
        scale: Scale::Log,
    };
    let rows: Vec<Vec<String>> =
        found.iter().map(|(name, ratio)| vec![name.clone(), ratios::times(ratio.median), ratio.interval_text()]).collect();
    let table = charts::html_table(&chart.title, &["row", "times as fast", "95 % interval"].map(str::to_string), &rows);
    Some(charts::figure(&chart.svg(), &table, ""))
}

/// The time of every frame but the first.
fn frames(outcomes: &[Outcome], clock: Clock, drawn: &DrawnRows) -> Figure {
    let series: Vec<Series> = drawn
        .rows(outcomes)
        .into_iter()
        .map(|(name, row)| {
            let times = row.into_iter().flat_map(|outcome| outcome.times(clock));
            Series { name, points: times.enumerate().skip(1).map(|(frame, ms)| (frame as f64, ms)).collect() }
        })
        .collect();
    let values = || series.iter().flat_map(|series| series.points.iter().map(|point| point.1));
    if series.iter().all(|series| series.points.len() < 2) {
        return None; // frame 0 is the set-up, and a line needs two more
    }
    let wide = spread(values()) > WIDE;
    let chart = LineChart {
        title: "Time of each frame".to_string(),
        x_label: "frame".to_string(),
        y_label: format!("{}{}", unit(clock), if wide { ", logarithmic" } else { "" }),
        x_scale: Scale::Linear,
        y_scale: if wide { Scale::Log } else { Scale::Linear },
        reference: None,
        series,
    };
    let caption = "Without frame 0, the set-up. Every row finds cold caches at the start of its turn, every eighth frame or so: such \
                   frames are drawn, but not in the medians.";
    Some(charts::figure(&chart.svg(), &chart.table(), caption))
}

/// Bytes that each row holds for an object.
fn memory(outcomes: &[Outcome]) -> Figure {
    let per_object = |outcome: &Outcome| {
        let n = outcome.setting.n;
        outcome.facts.bytes.filter(|_| n > 0 && outcome.right()).map(|bytes| (outcome.title(), bytes as f64 / n as f64))
    };
    let mut bars: Vec<(String, f64)> = outcomes.iter().filter_map(per_object).collect();
    if bars.is_empty() {
        return None;
    }
    bars.sort_by(|a, b| a.1.total_cmp(&b.1));
    bar_chart("Memory held", "bytes per object", bars, outcomes)
}

/// Bars in which ours are solid, or, without peers, the default.
fn bar_chart(title: &str, unit: &str, bars: Vec<(String, f64)>, outcomes: &[Outcome]) -> Figure {
    let peers = outcomes.iter().any(|outcome| outcome.peer);
    let solid = |outcome: &&Outcome| if peers { !outcome.peer } else { outcome.name == DEFAULT };
    let highlight: Vec<String> = outcomes.iter().filter(solid).map(Outcome::title).collect();
    let scale = if spread(bars.iter().map(|bar| bar.1)) > WIDE { Scale::Log } else { Scale::Linear };
    let unit = format!("{unit}{}", if scale == Scale::Log { ", logarithmic" } else { "" });
    let unit = match peers {
        true => format!("{unit}; solid: ours, {}: peers", if scale == Scale::Log { "ring" } else { "dashed" }),
        false if highlight.len() == 1 && bars.len() > 1 => format!("{unit}; solid: {DEFAULT}"),
        false => unit,
    };
    let chart = BarChart { title: title.to_string(), unit, bars, highlight, reference: None, scale };
    Some(charts::figure(&chart.svg(), &chart.table(), ""))
}

/// The factor between the largest and the smallest value above 0.
fn spread(values: impl Iterator<Item = f64>) -> f64 {
    let (low, high) = values
        .filter(|&value| value > 0.0 && value.is_finite())
        .fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
    high / low
}
