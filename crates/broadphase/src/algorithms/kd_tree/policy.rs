//! The choice between a complete and an incremental search: one pure function, and its constants.

use super::{Options, Variant};

/// An incremental tree goes back to complete searches when the share of static objects falls this far below K, in percentage points. Both
/// searches cost about the same around K, so small fluctuations must not switch.
const BAND: f64 = 5.0;
/// Incremental frames in a row that pay for the cache, which the first of them fills: filling costs more than a complete search, and the
/// second frame makes up for it.
const PAYS_OFF: u32 = 2;
/// The most frames with enough static objects that are waited for before the next switch. The wait doubles with each switch that
/// did not pay off.
const LONGEST_WAIT: u32 = 16;

/// The paper's K, in percent.
const PAPER_K: f64 = 60.0;
/// Our K, in percent. Here the complete search gains more from its sweeps than in the paper, and both searches cost the same at 70 % of 16,000
/// and 80 % of 128,000 objects (`broadphase bench settled:moving=0.2 settled:moving=0.3 --n 16000,128000 --algorithms
/// kd-tree:k=0,kd-tree-complete`).
const K: f64 = 75.0;

/// How the last frame was searched, and what the next decision depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    pub(super) incremental: bool,
    /// If incremental: frames so far. If not: frames in a row with more than K % static objects.
    frames: u32,
    /// The frames with more than K % static objects that the next switch waits for.
    wait: u32,
}

impl Default for Mode {
    fn default() -> Self {
        Self { incremental: false, frames: 0, wait: 1 }
    }
}

/// How the next frame is searched, if this share of its objects is static.
pub(super) fn decide(options: &Options, last: Mode, static_share: f64) -> Mode {
    let percent = static_share * 100.0;
    let k = options.adaptive_percent.unwrap_or(if options.paper { PAPER_K } else { K });
    match (options.variant, last.incremental) {
        (Variant::Adaptive, _) if options.paper => Mode { incremental: percent > k, ..last },
        (Variant::Complete | Variant::Rebuilt, _) => last,
        (Variant::Incremental, _) => Mode { incremental: true, ..last },
        (Variant::Adaptive, true) if percent > k - BAND => {
            let frames = last.frames.saturating_add(1);
            Mode { frames, wait: if frames >= PAYS_OFF { 1 } else { last.wait }, ..last }
        }
        (Variant::Adaptive, true) => {
            let wait = if last.frames >= PAYS_OFF { 1 } else { (2 * last.wait).min(LONGEST_WAIT) };
            Mode { incremental: false, frames: 0, wait }
        }
        (Variant::Adaptive, false) => {
            let frames = if percent > k { last.frames.saturating_add(1) } else { 0 };
            let incremental = frames >= last.wait;
            Mode { incremental, frames: if incremental { 1 } else { frames }, ..last }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The searches of successive frames with these percentages of static objects: `c` for complete, `i` for incremental.
    fn searches(options: &Options, percentages: &[u32]) -> String {
        let mut mode = Mode::default();
        let mut search = |&percent: &u32| {
            mode = decide(options, mode, f64::from(percent) / 100.0);
            if mode.incremental { 'i' } else { 'c' }
        };
        percentages.iter().map(&mut search).collect()
    }

    #[test]
    fn the_table_of_decisions() {
        let cases: &[(Variant, f64, &[u32], &str)] = &[
            (Variant::Complete, 75.0, &[0, 100, 100], "ccc"),
            (Variant::Rebuilt, 75.0, &[0, 100, 100], "ccc"),
            (Variant::Incremental, 75.0, &[0, 0, 100], "iii"),
            // More than K is needed to switch, K - 5 to stay.
            (Variant::Adaptive, 75.0, &[0, 75, 76, 75, 71, 70, 75, 76], "cciiicci"),
            (Variant::Adaptive, 60.0, &[0, 61, 56, 54], "ciic"),
            // The limits of K.
            (Variant::Adaptive, 100.0, &[0, 100, 100], "ccc"),
            (Variant::Adaptive, 0.0, &[0, 1, 0, 0], "ciii"),
            // A fluctuation around K does not switch every frame.
            (Variant::Adaptive, 75.0, &[0, 76, 74, 76, 74, 76, 74], "ciiiiii"),
            // Switches that do not pay off are followed by longer and longer waits.
            (Variant::Adaptive, 75.0, &[0, 90, 0, 90, 90, 0, 90, 90, 90, 90, 0], "cicciccccic"),
            // One that pays off ends the waiting.
            (Variant::Adaptive, 75.0, &[0, 90, 0, 90, 90, 90, 0, 90], "cicciici"),
            // Alternation of motion and rest: the complete search prevails.
            (Variant::Adaptive, 75.0, &[0, 90, 0, 90, 0, 90, 0, 90, 0], "ciccccccc"),
        ];
        for &(variant, k, percentages, expected) in cases {
            let options = Options { adaptive_percent: Some(k), ..Options::new(variant) };
            assert_eq!(searches(&options, percentages), expected, "{variant:?}, K = {k}, {percentages:?}");
        }
    }

    #[test]
    fn by_the_paper_nothing_but_k_decides() {
        let paper = Options { paper: true, ..Options::new(Variant::Adaptive) };
        assert_eq!(searches(&paper, &[0, 60, 61, 0, 61, 59, 100]), "ccicici");
        assert_eq!(searches(&Options { adaptive_percent: Some(80.0), ..paper }, &[0, 61, 81, 80]), "ccic");
        assert_eq!(searches(&Options { variant: Variant::Complete, ..paper }, &[100]), "c");
        assert_eq!(searches(&Options { variant: Variant::Incremental, ..paper }, &[0]), "i");
    }
}
