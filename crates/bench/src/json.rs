//! The results for scripts: one object, every key always there, null where unknown.

use serde_json::{Map, Value, json};

use super::measure::ms;
use super::outcome::Outcome;
use super::span::{Span, speed_up};
use crate::machine;
use crate::selection::shape_name;

/// All results as one JSON text.
pub fn render(outcomes: &[Outcome], series: bool) -> String {
    let with_speed_up = |outcome: &Outcome| {
        let mut row = row(outcome, series);
        if let Some(parallel) = row["parallel"].as_object_mut() {
            parallel.insert("speed_up".to_string(), speed_up(outcomes, outcome));
        }
        row
    };
    let rows: Vec<Value> = outcomes.iter().map(with_speed_up).collect();
    let mut text = format!("{:#}", json!({ "machine": machine::describe(), "rows": rows }));
    text.push('\n');
    text
}

/// One row, not compared with others.
pub fn row(outcome: &Outcome, series: bool) -> Value {
    let (setting, wall) = (&outcome.setting, outcome.wall());
    let mut row = json!({
        "scene": setting.scene,
        "n": setting.n,
        "dim": setting.dim,
        "scalar": setting.scalar.to_string(),
        "shape": shape_name(outcome.shape),
        "frames": outcome.records.len(),
        "algorithm": outcome.name,
        "peer": outcome.peer,
        "threads": outcome.threads,
        "drive": outcome.drive.name(),
        "isa": outcome.isa,
        "setup_ms": outcome.records.first().map(|record| ms(record.timing.wall)),
        "ms_median": wall.median(),
        "ms_mean": wall.mean(),
        "ms_min": wall.min(),
        "ms_p95": wall.percentile(95.0),
        "ms_p99": wall.percentile(99.0),
        "ms_max": wall.max(),
        "cpu_ms_median": outcome.cpu_median(),
        "cpu_ms_mean": outcome.cpu_mean(),
        "update_ms_median": outcome.part_median(|timing| timing.update),
        "detect_ms_median": outcome.part_median(|timing| timing.detect),
        "stages": stages(outcome),
        "pairs_total": outcome.pairs_total(),
        "pairs_hash": format!("{:016x}", outcome.hash()),
        "tests_total": outcome.tests_total(),
        "bytes": outcome.facts.bytes,
        "choice": outcome.facts.choice,
        "stopped": outcome.stopped,
        "wrong": outcome.wrong.any().then(|| json!({ "missing": outcome.wrong.missing, "extra": outcome.wrong.extra })),
        "parallel": Span::of(outcome).map(|span| span.json()),
        "extra": extra(outcome),
    });
    if let (true, Some(row)) = (series, row.as_object_mut()) {
        add_series(row, outcome);
    }
    row
}

fn stages(outcome: &Outcome) -> Map<String, Value> {
    outcome.stage_medians().into_iter().map(|(name, time)| (name.to_string(), json!(time))).collect()
}

fn extra(outcome: &Outcome) -> Map<String, Value> {
    let mut extra: Map<String, Value> =
        outcome.facts.extra.iter().map(|&(name, value)| (name.to_string(), json!(value))).collect();
    if let Some(reason) = &outcome.failed {
        extra.insert("failed".to_string(), json!(reason));
    }
    extra
}

/// Arrays over the row's frames, frame 0 included. What moved into frame 0 is not known.
fn add_series(row: &mut Map<String, Value>, outcome: &Outcome) {
    let records = &outcome.records;
    row.insert("ms".to_string(), records.iter().map(|record| ms(record.timing.wall)).collect());
    row.insert("pairs".to_string(), records.iter().map(|record| record.pairs).collect());
    let moved = outcome.moved.as_deref().map_or(&[][..], Vec::as_slice);
    row.insert("moved_share".to_string(), moved.iter().take(records.len()).map(|share| json!(share)).collect());
}
