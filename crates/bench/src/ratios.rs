//! How many times as fast: paired block by block, with a 95 % interval.
//!
//! Two rows that take turns run under the same load of the machine, so the ratio of their times in one block varies far less than
//! either time. The figure is the median of the blocks' ratios. Its interval follows from order statistics, which assume nothing about the
//! distribution; if there are too few blocks for 95 %, its actual confidence is stated.

use super::measure::{Sorted, ms};
use super::outcome::{Clock, Outcome, Record};

/// How much faster one row is than another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The median of the blocks' ratios.
    pub median: f64,
    /// The interval and the probability that the true median is in it; `None` with a single block.
    pub interval: Option<(f64, f64, f64)>,
    /// Is it one of first frames, since one of the rows stopped there?
    pub first_frames: bool,
}

/// The ratio of the time of `slow` to that of `fast`, over the frames that count in both; `None` if there are none.
pub fn ratio(slow: &Outcome, fast: &Outcome, clock: Clock) -> Option<Ratio> {
    let time = |record: &Record| ms(clock.read(&record.timing));
    let mut sums: Vec<(usize, f64, f64)> = Vec::new();
    let only_setup = !both(slow, fast).any(|(a, b)| a.counts && b.counts);
    for (a, b) in both(slow, fast).filter(|(a, b)| only_setup || (a.counts && b.counts)) {
        if sums.last().is_none_or(|last| last.0 != a.block) {
            sums.push((a.block, 0.0, 0.0));
        }
        if let Some(sum) = sums.last_mut() {
            (sum.1, sum.2) = (sum.1 + time(a), sum.2 + time(b));
        }
    }
    let ratios = Sorted::new(sums.iter().filter(|sum| sum.1 > 0.0 && sum.2 > 0.0).map(|sum| sum.1 / sum.2));
    Some(Ratio { median: ratios.median()?, interval: interval(ratios.values()), first_frames: only_setup })
}

fn both<'a>(a: &'a Outcome, b: &'a Outcome) -> impl Iterator<Item = (&'a Record, &'a Record)> {
    a.records.iter().zip(&b.records)
}

/// The narrowest interval between two of the sorted values, equally far from both ends, that holds the median with a probability
/// of 95 %; the whole range, with its smaller probability, if there are fewer than six values.
fn interval(sorted: &[f64]) -> Option<(f64, f64, f64)> {
    let count = sorted.len();
    if count < 2 {
        return None;
    }
    if count > 1000 {
        // The normal approximation, where binomial terms would underflow.
        let cut = (count as f64 / 2.0 - 1.96 * (count as f64).sqrt() / 2.0).floor() as usize;
        return Some((sorted[cut], sorted[count - 1 - cut], 0.95));
    }
    // `below`: the chance that at most `cut` of the values lie below the median, a sum of binomial terms.
    let mut term = 0.5f64.powi(count as i32);
    let (mut below, mut cut, mut sure) = (term, 0, 1.0 - 2.0 * term);
    for k in 1..count / 2 {
        term *= (count - k + 1) as f64 / k as f64;
        below += term;
        if 1.0 - 2.0 * below < 0.95 {
            break;
        }
        (cut, sure) = (k, 1.0 - 2.0 * below);
    }
    Some((sorted[cut], sorted[count - 1 - cut], sure))
}

/// The rows that are right, ours or peers, fastest first.
pub fn ranked(outcomes: &[Outcome], peer: bool, clock: Clock) -> Vec<&Outcome> {
    let mut right: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.peer == peer && outcome.right()).collect();
    right.sort_by(|a, b| a.rank(clock).total_cmp(&b.rank(clock)));
    right
}

/// The lines under a table: the fastest peer against each of our rows, or, without peers, our fastest against the others.
pub fn lines(outcomes: &[Outcome]) -> Vec<String> {
    let clock = Clock::of(outcomes);
    let (ours, peers) = (ranked(outcomes, false, clock), ranked(outcomes, true, clock));
    let mut lines = speed_ups(&ours);
    match (ours.as_slice(), peers.first()) {
        (ours, Some(peer)) => lines.extend(ours.iter().filter_map(|our| line(our, peer, clock))),
        ([best, others @ ..], None) => {
            let others = others.iter().filter(|other| other.name != best.name);
            lines.extend(others.filter_map(|other| line(best, other, clock)));
        }
        ([], None) => {}
    }
    lines
}

/// For each algorithm that ran on several numbers of threads: the others against the fewest, by wall time.
fn speed_ups(ours: &[&Outcome]) -> Vec<String> {
    let mut lines = Vec::new();
    for &base in ours {
        let mut others: Vec<&Outcome> = ours.iter().copied().filter(|other| other.name == base.name).collect();
        others.sort_by_key(|other| other.threads);
        if others.first().is_some_and(|first| first.threads == base.threads) {
            lines.extend(others[1..].iter().filter_map(|other| line(other, base, Clock::Wall)));
        }
    }
    lines
}

/// "A is x times as fast as B [lo, hi]".
fn line(fast: &Outcome, slow: &Outcome, clock: Clock) -> Option<String> {
    let ratio = ratio(slow, fast, clock)?;
    Some(format!("{} is {} times as fast as {} {}", fast.title(), times(ratio.median), slow.title(), ratio.interval_text()))
}

impl Ratio {
    /// The interval in words.
    pub fn interval_text(&self) -> String {
        match self.interval {
            _ if self.first_frames => "(first frames only)".to_string(),
            None => "(one block: no interval)".to_string(),
            Some((low, high, sure)) if sure >= 0.95 => format!("[{}, {}]", times(low), times(high)),
            Some((low, high, sure)) => {
                format!("[{}, {}] (few blocks: {:.0} % sure; more --frames make it 95)", times(low), times(high), sure * 100.0)
            }
        }
    }
}

/// A factor with three significant digits.
pub fn times(value: f64) -> String {
    match value {
        value if value >= 99.95 => format!("{value:.0}"),
        value if value >= 9.995 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fakes::outcome;
    use super::*;

    #[test]
    fn an_interval_of_order_statistics_is_as_sure_as_the_binomial_says() {
        assert_eq!(interval(&[1.0]), None);
        assert_eq!(interval(&[1.0, 2.0, 3.0]), Some((1.0, 3.0, 0.75)));
        let six: Vec<f64> = (1..=6).map(f64::from).collect();
        assert_eq!(interval(&six), Some((1.0, 6.0, 1.0 - 2.0 / 64.0)));
        // For 20 values the tables of the sign test give ranks 6 and 15, at 95.9 %.
        let twenty: Vec<f64> = (1..=20).map(f64::from).collect();
        let (low, high, sure) = interval(&twenty).unwrap();
        assert_eq!((low, high), (6.0, 15.0));
        assert!((sure - 0.9586).abs() < 1e-4);
    }

    #[test]
    fn many_blocks_narrow_the_interval() {
        let many: Vec<f64> = (0..5000).map(f64::from).collect();
        let (low, high, _) = interval(&many).unwrap();
        assert!(low > 2400.0 && high < 2600.0 && low < 2500.0 && high > 2500.0);
    }

    #[test]
    fn factors_have_three_digits() {
        assert_eq!([times(0.5), times(3.456), times(12.34), times(123.4)], ["0.50", "3.46", "12.3", "123"]);
    }

    #[test]
    fn ratios_are_paired_block_by_block() {
        // The machine halves its speed in the second half; the ratio does not notice.
        let fast = outcome("fast", "fast", false, &[10, 10, 10, 20, 20, 20], &[]);
        let slow = outcome("slow", "slow", true, &[30, 30, 30, 60, 60, 60], &[]);
        let ratio = ratio(&slow, &fast, Clock::Cpu).unwrap();
        assert_eq!((ratio.median, ratio.interval), (3.0, Some((3.0, 3.0, 1.0 - 2.0 / 64.0))));
        assert_eq!(lines(&[fast, slow]), ["fast is 3.00 times as fast as slow [3.00, 3.00]"]);
    }

    #[test]
    fn rows_of_several_numbers_of_threads_are_compared_with_the_fewest() {
        let row = |name: &'static str, threads: usize, ms: u64| {
            let mut row = outcome(name, name, false, &[ms; 6], &[]);
            row.threads = threads;
            row
        };
        let rows = [row("a", 2, 15), row("a", 1, 30), row("a", 4, 10), row("b", 1, 60)];
        assert_eq!(
            lines(&rows),
            [
                "a on 2 threads is 2.00 times as fast as a [2.00, 2.00]",
                "a on 4 threads is 3.00 times as fast as a [3.00, 3.00]",
                "a on 4 threads is 6.00 times as fast as b [6.00, 6.00]"
            ]
        );
    }

    #[test]
    fn the_fastest_peer_that_is_right_is_the_measure() {
        let ours = outcome("ours", "ours", false, &[10; 6], &[]);
        let mut liar = outcome("liar", "liar", true, &[1; 6], &[]);
        liar.wrong.missing = 1;
        let (peer, slower) = (outcome("peer", "peer", true, &[40; 6], &[]), outcome("slower", "slower", true, &[90; 6], &[]));
        assert_eq!(lines(&[ours, liar, slower, peer]), ["ours is 4.00 times as fast as peer [4.00, 4.00]"]);
    }

    #[test]
    fn a_stopped_row_is_compared_over_the_blocks_it_ran() {
        let fast = outcome("fast", "fast", false, &[10, 10, 10], &[]);
        let stopped = outcome("stopped", "stopped", true, &[50], &[]);
        assert_eq!(ratio(&stopped, &fast, Clock::Cpu), Some(Ratio { median: 5.0, interval: None, first_frames: false }));
        let mut first = stopped.clone();
        first.records.truncate(1);
        let text = ratio(&first, &fast, Clock::Cpu).unwrap().interval_text();
        assert_eq!(text, "(first frames only)");
    }
}
