//! What to change: one rule for each thing that costs time or hides a mistake.

use super::Findings;
use super::page::{figure, percent};
use broadphase_bench::ratios;
use broadphase_bench::table::thousands;

/// All advice, the most pressing first; empty if nothing is to be changed.
pub fn advice(found: &Findings) -> Vec<String> {
    let rules = [invalid, lost, rounding, no_pairs, many_pairs, giants, duplicates, still, few_moves, jumps, points, algorithm];
    rules.iter().filter_map(|rule| rule(found)).collect()
}

fn invalid(found: &Findings) -> Option<String> {
    let first = found.invalid.first()?;
    Some(format!(
        "Repair or remove {} invalid {} ({} of objects); every algorithm rejects such a frame. The first is object {} in frame {}.",
        thousands(found.invalid_boxes as u64),
        if found.invalid_boxes == 1 { "box" } else { "boxes" },
        percent(found.invalid_objects as f64 / found.n.max(1) as f64),
        first.object,
        first.frame
    ))
}

fn lost(found: &Findings) -> Option<String> {
    let far = &found.facts.space.as_ref()?.far;
    let worst = far.iter().max_by(|a, b| a.value.total_cmp(&b.value))?;
    Some(format!(
        "{} far from all others (object {} by {}). Results stay exact, but remove what has fallen out of the world.",
        objects_lie(far.len()),
        worst.object,
        figure(worst.value)
    ))
}

fn objects_lie(count: usize) -> String {
    if count == 1 { "One object lies".to_string() } else { format!("{} objects lie", thousands(count as u64)) }
}

/// Numbers coarser than this share of an object's size are noticed.
const COARSE: f64 = 0.01;

fn rounding(found: &Findings) -> Option<String> {
    let rounding = found.facts.space.as_ref()?.rounding;
    (rounding > COARSE).then(|| {
        format!(
            "Coordinates are so large that neighboring {} numbers lie {} of an object apart: move the origin closer, or record float64.",
            found.scalar,
            percent(rounding)
        )
    })
}

fn no_pairs(found: &Findings) -> Option<String> {
    (found.n > 1 && found.pair_stats.as_ref()?.most == 0.0).then(|| {
        "No frame has a pair. If that is not what you expect, compare units and sizes: boxes may lack a margin, or positions and sizes \
         may have different units."
            .to_string()
    })
}

/// More pairs per object than this are unusual for solid objects.
const CROWDED: f64 = 20.0;

fn many_pairs(found: &Findings) -> Option<String> {
    let most = found.pair_stats.as_ref()?.most;
    (most > CROWDED).then(|| {
        format!(
            "There are up to {} pairs per object, and writing them takes most of the time. Boxes that fit more tightly, smaller margins, or \
             layers that leave out pairs that do not matter make every frame cheaper.",
            figure(most)
        )
    })
}

fn giants(found: &Findings) -> Option<String> {
    let giants = &found.facts.space.as_ref()?.giants;
    let share = found.pair_stats.as_ref()?.detail.as_ref()?.with_giants;
    let infinite = found.facts.infinite;
    if (giants.is_empty() && infinite == 0) || share < 0.2 {
        return None;
    }
    Some(format!(
        "{} of the pairs are with a giant or infinite object. If you know their partners anyway (a floor, a sky), leave them out or give \
         them a layer of their own.",
        percent(share)
    ))
}

fn duplicates(found: &Findings) -> Option<String> {
    let share = found.facts.duplicates as f64 / found.n.max(1) as f64;
    (found.facts.duplicates > 0).then(|| {
        format!(
            "{} {} the same box as an earlier object ({}): were they inserted twice?",
            thousands(found.facts.duplicates as u64),
            if found.facts.duplicates == 1 { "object has" } else { "objects have" },
            percent(share)
        )
    })
}

fn still(found: &Findings) -> Option<String> {
    let still = found.facts.motion?.still;
    (still >= 0.2 && found.n > 1).then(|| {
        format!(
            "{} of the objects never move: insert them into a `World` as static objects, which are never compared with each other.",
            percent(still)
        )
    })
}

fn few_moves(found: &Findings) -> Option<String> {
    let motion = found.facts.motion?;
    (motion.moved > 0.0 && motion.moved < 0.1).then(|| {
        format!(
            "Only {} of the objects move in a frame: say which (`Changes::Listed`, or `World::set_box`), and take the pairs that started and \
             ended instead of all of them.",
            percent(motion.moved)
        )
    })
}

fn jumps(found: &Findings) -> Option<String> {
    let motion = found.facts.motion?;
    (motion.jumps > 0.001).then(|| {
        format!(
            "{} of the steps are longer than the object itself, so objects can pass through each other between two frames: use the continuous \
             detection of `World`, or more frames.",
            percent(motion.jumps)
        )
    })
}

fn points(found: &Findings) -> Option<String> {
    (found.facts.points > 0 && found.facts.points == found.n).then(|| {
        "All boxes are points, which meet only where they coincide. For pairs within a distance, give each the box of its radius.".to_string()
    })
}

/// How much faster another algorithm must be to be advised.
const CLEARLY: f64 = 1.25;

fn algorithm(found: &Findings) -> Option<String> {
    let trial = found.trial.as_ref()?;
    let (winner, auto) = (trial.winner()?, trial.auto()?);
    let times = auto.rank(trial.clock) / winner.rank(trial.clock);
    (winner.base != "auto" && times > CLEARLY && trial.is_long()).then(|| {
        format!(
            "Try `{}` instead of `auto`: here it was {} times as fast (`broadphase bench` measures longer).",
            winner.name,
            ratios::times(times)
        )
    })
}
