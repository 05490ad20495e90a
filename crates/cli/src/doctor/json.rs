//! The findings for scripts: every key always there, null where unknown.

use serde_json::{Value, json};

use super::Findings;
use super::facts::Outlier;
use super::page::fault_name;

/// One object.
pub fn render(found: &Findings) -> String {
    let facts = &found.facts;
    let invalid: Vec<Value> = found
        .invalid
        .iter()
        .map(|one| {
            json!({
                "frame": one.frame,
                "object": one.object,
                "axis": (["x", "y", "z"][one.axis.min(2)]),
                "fault": fault_name(one.fault),
                "line": one.line,
            })
        })
        .collect();
    let value = json!({
        "source": found.name,
        "n": found.n,
        "dim": found.dim,
        "scalar": found.scalar.to_string(),
        "frames": found.frames,
        "frames_looked_at": found.looked_at,
        "invalid": { "boxes": found.invalid_boxes, "objects": found.invalid_objects, "first": invalid },
        "sizes": facts.sizes.map(|sizes| json!({
            "min": sizes.min, "median": sizes.median, "p99": sizes.p99, "max": sizes.max, "equal": sizes.equal,
            "elongated_share": sizes.elongated, "points": facts.points, "flat": facts.flat, "infinite": facts.infinite,
        })),
        "space": facts.space.as_ref().map(|space| json!({
            "sides": space.sides, "filled": space.filled, "rounding": space.rounding,
            "giants": outliers(&space.giants), "far": outliers(&space.far),
        })),
        "motion": facts.motion.map(|motion| json!({
            "still_share": motion.still, "moved_share": motion.moved, "step_median": motion.median, "step_p99": motion.p99,
            "step_max": motion.max, "jump_share": motion.jumps, "drift": motion.drift,
        })),
        "pairs": found.pair_stats.as_ref().map(|pair_stats| json!({
            "per_object": pair_stats.mean, "per_object_min": pair_stats.least, "per_object_max": pair_stats.most,
            "started_share": pair_stats.started,
            "first_frame": pair_stats.detail.as_ref().map(|detail| json!({
                "pairs": detail.pairs, "busiest": detail.busiest.map(|(object, pairs)| json!({ "object": object, "pairs": pairs })),
                "alone_share": detail.alone, "touching_share": detail.touching, "giants_share": detail.with_giants,
            })),
        })),
        "duplicates": facts.duplicates,
        "equal_x_share": facts.equal_x,
        "algorithms": found.trial.as_ref().map(|trial| trial.rows.iter().map(|row| json!({
            "algorithm": row.name, "ms": row.rank(trial.clock), "choice": row.facts.choice,
        })).collect::<Vec<_>>()),
        "clock": found.trial.as_ref().map(|trial| trial.clock.name()),
        "winner": found.trial.as_ref().and_then(|trial| trial.winner()).map(|winner| &winner.name),
        "why": found.trial.as_ref().and_then(super::trial::Trial::why),
        "advice": found.advice,
    });
    format!("{value:#}\n")
}

/// The number of outliers, and the most extreme of them.
fn outliers(all: &[Outlier]) -> Value {
    let mut worst: Vec<&Outlier> = all.iter().collect();
    worst.sort_by(|a, b| b.value.total_cmp(&a.value).then(a.object.cmp(&b.object)));
    let first: Vec<Value> = worst.iter().take(10).map(|one| json!({ "object": one.object, "value": one.value })).collect();
    json!({ "count": all.len(), "first": first })
}
