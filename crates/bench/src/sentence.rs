//! What a table says, in a sentence.

use crate::outcome::{Clock, Outcome};
use crate::ratios;
use crate::table::{digits, thousands};

/// What the table says, in a sentence: of `auto` if it is listed, else of the fastest; compared with brute force, which needs no
/// explanation. Time and factor are those of the table's first column: the factor is the quotient of two of its figures.
pub fn of(outcomes: &[Outcome]) -> String {
    let mut sorted: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.right()).collect();
    let clock = Clock::of(outcomes);
    sorted.sort_by(|a, b| a.rank(clock).total_cmp(&b.rank(clock)));
    let Some(&chosen) = sorted.iter().find(|outcome| outcome.base == "auto").or(sorted.first()) else {
        return String::new();
    };
    let pairs = chosen.pairs_total() / chosen.records.len().max(1) as u64;
    let mut text = format!(
        "{} found {} pairs among {} objects in {} ms of {} a frame",
        chosen.name,
        thousands(pairs),
        thousands(chosen.setting.n as u64),
        digits(Some(chosen.rank(clock))),
        clock.name()
    );
    if let Some(brute_force) = sorted.iter().find(|outcome| outcome.base == "brute-force" && outcome.name != chosen.name) {
        let times = brute_force.rank(clock) / chosen.rank(clock);
        text.push_str(&format!(",\n{} times as fast as comparing every object with every other", ratios::times(times)));
    }
    let agree = outcomes.len() > 1 && outcomes.iter().all(Outcome::right);
    text.push_str(if agree { ".\nAll algorithms agree on the pairs.\n" } else { ".\n" });
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::outcome;
    use crate::table;

    #[test]
    fn the_factor_is_the_quotient_of_two_figures_of_the_table() {
        // Brute force stopped after its first block, in which `auto` was slower than later: a factor of paired blocks would be 100.
        let mut brute_force = outcome("brute-force", "brute-force", false, &[500], &[]);
        brute_force.stopped = true;
        let rows = [outcome("auto", "auto", false, &[5, 2, 2, 2], &[]), brute_force];
        let (table, text) = (table::render_rows(&rows), of(&rows));
        assert!(text.contains("in 2.00 ms of CPU time a frame") && text.contains("250 times as fast"), "{text}");
        assert!(table.contains(" 2.00 ") && table.contains(" 500 ") && !table.contains("times as fast"), "{table}");
        assert!(text.contains("All algorithms agree"), "{text}");
    }
}
