//! The whole run: how far ahead of the best peer, over scenes, over n.

use super::{DrawnRows, label, ours_and_best_peer, unit};
use crate::charts::{self, BarChart, LineChart, RadarChart, Scale, Series};
use crate::{Clock, Outcome, ratios, table};

/// Fewer scenes are not compared: each has its own section.
const FEWEST_SCENES: usize = 2;

/// All sections that have something to show.
pub fn render(settings: &[&[Outcome]], clock: Clock, drawn: &DrawnRows) -> String {
    [ahead(settings, clock), over_scenes(settings, clock, drawn), over_n(settings, clock, drawn)].concat()
}

/// Ratios to the best peer of each setting.
fn ahead(settings: &[&[Outcome]], clock: Clock) -> String {
    let (mut bars, mut rows, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for outcomes in settings {
        let Some((our, peer)) = ours_and_best_peer(outcomes, clock) else { continue };
        let Some(ratio) = ratios::ratio(peer, our, clock) else { continue };
        // The number first: what is cut off a long label is the end of the scene's name.
        bars.push((format!("{} {}", charts::short(our.setting.n as f64), our.setting.scene), ratio.median));
        names.push(our.name.clone());
        let ms = |outcome: &Outcome| charts::number(outcome.rank(clock));
        let times = ratios::times(ratio.median);
        rows.push(vec![label(our), our.name.clone(), ms(our), peer.name.clone(), ms(peer), times, ratio.interval_text()]);
    }
    if bars.is_empty() {
        return String::new();
    }
    names.sort();
    names.dedup();
    let highlight = bars.iter().filter(|bar| bar.1 >= 1.0).map(|bar| bar.0.clone()).collect();
    let chart = BarChart {
        title: format!("{}: times as fast as the best peer", names.join(", ")),
        unit: "times as fast, logarithmic; solid: ahead, ring: behind".to_string(),
        bars,
        highlight,
        reference: Some(("as fast as the best peer".to_string(), 1.0)),
        scale: Scale::Log,
    };
    let head = ["scene", "ours", unit(clock), "best peer", unit(clock), "times as fast", "95 % interval"].map(str::to_string);
    let caption = "The median of the ratios of blocks in which both took turns, with its interval.";
    let table = charts::html_table(caption, &head, &rows);
    format!("<h2>Against the best peer</h2>\n{}", charts::figure(&chart.svg(), &table, ""))
}

/// One radar chart for each n that several scenes were measured with; groups of rows where they are few.
fn over_scenes(settings: &[&[Outcome]], clock: Clock, drawn: &DrawnRows) -> String {
    let counts = firsts(settings.iter().filter_map(|outcomes| outcomes.first()).map(|outcome| outcome.setting.n));
    let mut figures = String::new();
    for n in counts {
        let scenes: Vec<&[Outcome]> =
            settings.iter().copied().filter(|outcomes| outcomes.first().is_some_and(|outcome| outcome.setting.n == n)).collect();
        if scenes.len() < FEWEST_SCENES {
            continue;
        }
        let value = |name: &String, outcomes: &[Outcome]| {
            let found = outcomes.iter().find(|outcome| outcome.name == *name && outcome.right());
            found.map_or(f64::NAN, |outcome| outcome.rank(clock))
        };
        let series = drawn.names.iter().map(|name| (name.clone(), scenes.iter().map(|outcomes| value(name, outcomes)).collect()));
        let chart = RadarChart {
            title: format!("Time per frame over scenes, {} objects", table::thousands(n as u64)),
            unit: format!("{}, logarithmic; less is faster", unit(clock)),
            axes: scenes.iter().map(|outcomes| outcomes[0].setting.scene.clone()).collect(),
            rings: Vec::new(),
            reference: None,
            scale: Scale::Log,
            series: series.collect(),
        };
        figures.push_str(&charts::figure(&chart.svg(), &chart.table(), ""));
    }
    section("Over scenes", &figures)
}

/// A heading and its charts; nothing without charts.
fn section(title: &str, figures: &str) -> String {
    if figures.is_empty() { String::new() } else { format!("<h2>{title}</h2>\n<div class=\"charts\">\n{figures}</div>\n") }
}

/// One scaling curve for each scene that was measured with several n.
fn over_n(settings: &[&[Outcome]], clock: Clock, drawn: &DrawnRows) -> String {
    let scenes = firsts(settings.iter().filter_map(|outcomes| outcomes.first()).map(|outcome| &outcome.setting.scene));
    let mut figures = String::new();
    for scene in scenes {
        let sizes: Vec<&[Outcome]> = settings
            .iter()
            .copied()
            .filter(|outcomes| outcomes.first().is_some_and(|outcome| outcome.setting.scene == *scene && outcome.setting.n > 0))
            .collect();
        if firsts(sizes.iter().map(|outcomes| outcomes[0].setting.n)).len() < 2 {
            continue;
        }
        let chart = LineChart {
            title: format!("{scene}: cost of an object over the number of objects"),
            x_label: "objects".to_string(),
            y_label: match clock {
                Clock::Cpu => "CPU ns per object and frame".to_string(),
                Clock::Wall => "ns per object and frame".to_string(),
            },
            x_scale: Scale::Log,
            y_scale: Scale::Log,
            reference: None,
            series: drawn.names.iter().map(|name| curve(name, &sizes, clock)).collect(),
        };
        figures.push_str(&charts::figure(&chart.svg(), &chart.table(), "A level line is linear scaling."));
    }
    section("Over numbers of objects", &figures)
}

/// The cost per object of one row over n.
fn curve(name: &str, sizes: &[&[Outcome]], clock: Clock) -> Series {
    let found = sizes.iter().filter_map(|outcomes| outcomes.iter().find(|outcome| outcome.name == name && outcome.right()));
    let mut points: Vec<(f64, f64)> =
        found.map(|outcome| (outcome.setting.n as f64, outcome.rank(clock) * 1e6 / outcome.setting.n as f64)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Series { name: name.to_string(), points }
}

/// Each value once, in the order of first appearance.
fn firsts<T: PartialEq>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}
