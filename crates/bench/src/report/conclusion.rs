//! The conclusion of a run, in one line.

use super::ours_and_best_peer;
use crate::charts::DEFAULT;
use crate::table::{digits, thousands};
use crate::{Clock, Outcome, ratios};

/// The conclusion: against the best peer if there is one, else among ours.
pub fn of(settings: &[&[Outcome]], clock: Clock) -> String {
    let wrong = settings.iter().copied().flatten().filter(|outcome| outcome.wrong.any()).count();
    let alarm = match wrong {
        0 => String::new(),
        1 => " One row is WRONG.".to_string(),
        count => format!(" {count} rows are WRONG."),
    };
    format!("{}{alarm}", against_peers(settings, clock).unwrap_or_else(|| among_ours(settings, clock)))
}

/// "auto is 4.1 to 9.8 times as fast as the best peer ...".
fn against_peers(settings: &[&[Outcome]], clock: Clock) -> Option<String> {
    let pairs = settings.iter().filter_map(|outcomes| ours_and_best_peer(outcomes, clock));
    let found: Vec<(&Outcome, &Outcome, f64)> =
        pairs.filter_map(|(our, peer)| Some((our, peer, ratios::ratio(peer, our, clock)?.median))).collect();
    let (first, rest) = found.split_first()?;
    if rest.is_empty() {
        let times = ratios::times(first.2);
        return Some(format!("{} is {times} times as fast as {}, the best peer here.", first.0.title(), first.1.title()));
    }
    let name = if rest.iter().all(|one| one.0.name == first.0.name) { first.0.name.as_str() } else { "Our best" };
    let factors = || found.iter().map(|one| one.2);
    let mean = (factors().map(f64::ln).sum::<f64>() / found.len() as f64).exp();
    let behind = factors().filter(|&factor| factor < 1.0).count();
    let behind = if behind == 0 { String::new() } else { format!("; it is behind in {behind} of them") };
    Some(format!(
        "{name} is {} to {} times as fast as the best peer, {} in the geometric mean of {} settings{behind}.",
        ratios::times(factors().fold(f64::INFINITY, f64::min)),
        ratios::times(factors().fold(0.0, f64::max)),
        ratios::times(mean),
        found.len()
    ))
}

/// "auto is the fastest of 5 rows in 3 of 4 settings ...".
fn among_ours(settings: &[&[Outcome]], clock: Clock) -> String {
    let ranked: Vec<Vec<&Outcome>> =
        settings.iter().map(|outcomes| ratios::ranked(outcomes, false, clock)).filter(|ranked| !ranked.is_empty()).collect();
    let Some(first) = ranked.first() else { return "No row is right.".to_string() };
    let title_of_default =
        |ranked: &[&Outcome]| ranked.iter().find(|outcome| outcome.name == DEFAULT).map(|outcome| outcome.title());
    let name = title_of_default(first).unwrap_or_else(|| first[0].title());
    if let [ranked] = &ranked[..] {
        let row = ranked.iter().find(|row| row.title() == name).unwrap_or(&ranked[0]);
        let (ms, n) = (digits(Some(row.rank(clock))), thousands(row.setting.n as u64));
        let time = format!("{name} takes {ms} ms of {} a frame for {n} objects", clock.name());
        let others = ranked.iter().filter(|other| other.title() != name);
        let Some(best) = others.min_by(|a, b| a.rank(clock).total_cmp(&b.rank(clock))) else { return format!("{time}.") };
        let factor = best.rank(clock) / row.rank(clock);
        let place = if factor >= 1.0 { "the next" } else { "the fastest" };
        return format!("{time}, {} times as fast as {}, {place}.", ratios::times(factor), best.title());
    }
    let leads = ranked.iter().filter(|ranked| ranked[0].title() == name).count();
    let rows = ranked.iter().map(Vec::len).max().unwrap_or(0);
    match rows {
        1 => format!("{name} ran in {} settings.", ranked.len()),
        _ => format!("{name} is the fastest of {rows} rows in {leads} of {} settings.", ranked.len()),
    }
}
