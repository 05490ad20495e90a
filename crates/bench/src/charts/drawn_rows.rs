//! Chooses the rows that are drawn as lines if many ran: few enough to be distinguishable, and the same in every chart of a page.

use std::collections::{BTreeMap, HashMap};

/// The algorithm that a page is about, if it ran.
pub const DEFAULT: &str = "auto";

/// The most lines of a chart: as many as there are colors.
const MOST: usize = 8;

/// The most peers among them, if there are enough rows of ours to fill the rest.
const MOST_PEERS: usize = 4;

/// One measurement.
pub struct Entry<'a> {
    /// What was measured: a number for each scene and number of objects.
    pub place: usize,
    /// The name of the row.
    pub name: &'a str,
    /// Is it a peer?
    pub peer: bool,
    /// The time.
    pub time: f64,
}

/// The names to draw, of those with at least `fewest` entries: the default first, then the best of both sides by the mean factor
/// behind the fastest of each place.
pub fn rows_to_draw(entries: &[Entry<'_>], fewest: usize) -> Vec<String> {
    let mut best: HashMap<usize, f64> = HashMap::new();
    for entry in entries {
        let best = best.entry(entry.place).or_insert(f64::INFINITY);
        *best = best.min(entry.time);
    }
    let mut factors: BTreeMap<(&str, bool), Vec<f64>> = BTreeMap::new();
    for entry in entries {
        let behind = (entry.time / best[&entry.place]).ln();
        // A clock too coarse for a tiny n may read 0.
        factors.entry((entry.name, entry.peer)).or_default().push(if behind.is_finite() { behind } else { 0.0 });
    }
    let ranked = factors.into_iter().filter(|(_, factors)| factors.len() >= fewest);
    let mean = |factors: Vec<f64>| factors.iter().sum::<f64>() / factors.len() as f64;
    let mut ranked: Vec<_> = ranked.map(|((name, peer), factors)| (name, peer, mean(factors))).collect();
    ranked.sort_by(|a, b| (b.0 == DEFAULT).cmp(&(a.0 == DEFAULT)).then(a.2.total_cmp(&b.2)));
    let peers = ranked.iter().filter(|row| row.1).count();
    let ours = ranked.len() - peers;
    let mut peers_left = peers.min(MOST_PEERS.max(MOST.saturating_sub(ours)));
    let mut ours_left = MOST - peers_left;
    ranked.retain(|&(_, peer, _)| {
        let left = if peer { &mut peers_left } else { &mut ours_left };
        let stays = *left > 0;
        *left = left.saturating_sub(1);
        stays
    });
    ranked.into_iter().map(|(name, ..)| name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows drawn for one place, where each takes a millisecond more than the one before.
    fn of(names: &[(String, bool)]) -> Vec<String> {
        let entries = names.iter().enumerate();
        let entries = entries.map(|(k, (name, peer))| Entry { place: 0, name, peer: *peer, time: 10.0 + k as f64 });
        rows_to_draw(&entries.collect::<Vec<_>>(), 1)
    }

    #[test]
    fn the_default_is_first_and_the_rest_is_the_best_of_both_sides() {
        let ours = (0..12).map(|k| (format!("ours{k}"), false));
        let peers = (0..9).map(|k| (format!("peer{k}"), true));
        let many: Vec<_> = ours.chain(peers).chain([(DEFAULT.to_string(), false)]).collect();
        assert_eq!(of(&many), ["auto", "ours0", "ours1", "ours2", "peer0", "peer1", "peer2", "peer3"]);
        assert_eq!(of(&many[11..19]).len(), 8, "all of a few, though most are peers");
        assert_eq!(of(&many[..10]).len(), 8, "ours fill the place of absent peers");
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn means_are_over_factors_and_names_with_few_entries_stay_out() {
        let entry = |place, name, time| Entry { place, name, peer: false, time };
        // a is fastest by far at 0 and a little slower at 1; c was measured once.
        let entries = [entry(0, "b", 9.0), entry(0, "a", 1.0), entry(1, "b", 900.0), entry(1, "a", 1000.0), entry(1, "c", 1.0)];
        assert_eq!(rows_to_draw(&entries, 2), ["a", "b"]);
        assert_eq!(rows_to_draw(&entries, 1), ["c", "a", "b"]);
        assert_eq!(rows_to_draw(&[entry(0, "zero", 0.0), entry(0, "some", 1.0)], 1).len(), 2);
    }
}
