//! Verdicts on the papers' findings, computed from measured figures by stated rules, and from nothing else.

use std::fmt;

use broadphase_bench::charts::number;
use broadphase_bench::ratios::{Ratio, times};

/// The verdict on a paper's finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Our figures show it too.
    Confirmed,
    /// The direction is right, the size is not; or some cases show it and others do not.
    Partly,
    /// Our figures show something else.
    Refuted,
    /// Undecided: a row ran out of time, this machine lacks what the claim needs, or the interval of a ratio includes a bound.
    Open,
}

impl Verdict {
    /// Its name in pages and files.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Confirmed => "confirmed",
            Verdict::Partly => "partly",
            Verdict::Refuted => "refuted",
            Verdict::Open => "open",
        }
    }
}

/// How many findings have which verdict: the summary of a set of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([usize; 4]);

impl Tally {
    const ORDER: [Verdict; 4] = [Verdict::Confirmed, Verdict::Partly, Verdict::Refuted, Verdict::Open];

    /// Counts the verdicts.
    pub fn of(verdicts: impl Iterator<Item = Verdict>) -> Self {
        let mut tally = Self::default();
        verdicts.for_each(|verdict| tally.0[verdict as usize] += 1);
        tally
    }

    /// Each verdict and its count, zeros included.
    pub fn counts(self) -> [(Verdict, usize); 4] {
        std::array::from_fn(|k| (Self::ORDER[k], self.0[k]))
    }

    /// The verdict that all findings have, if they agree.
    pub fn unanimous(self) -> Option<Verdict> {
        let mut some = self.counts().into_iter().filter(|count| count.1 > 0);
        some.next().filter(|_| some.next().is_none()).map(|count| count.0)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let some: Vec<String> =
            self.counts().iter().filter(|count| count.1 > 0).map(|(verdict, n)| format!("{n} {}", verdict.name())).collect();
        f.write_str(if some.is_empty() { "nothing judged".to_string() } else { some.join(", ") }.as_str())
    }
}

/// Where a figure must lie: in the inner range for "confirmed"; in the outer one, which stands for a weaker form of the claim, for
/// "partly".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    inner: (f64, f64),
    outer: (f64, f64),
    /// The weaker form of the claim, if one is stated.
    weaker: Option<&'static str>,
    /// Why the bounds are what they are.
    why: Option<&'static str>,
    /// Is the figure the share of cases that show the claim?
    of_cases: bool,
}

impl Rule {
    /// Confirmed from `inner.0` to `inner.1`, partly from `outer.0` to `outer.1`.
    pub const fn within(inner: (f64, f64), outer: (f64, f64)) -> Self {
        Self { inner, outer, weaker: None, why: None, of_cases: false }
    }

    /// Confirmed up to `inner`, partly up to `outer`.
    pub const fn at_most(inner: f64, outer: f64) -> Self {
        Self::within((f64::NEG_INFINITY, inner), (f64::NEG_INFINITY, outer))
    }

    /// Confirmed from `inner`, partly from `outer`.
    pub const fn at_least(inner: f64, outer: f64) -> Self {
        Self::within((inner, f64::INFINITY), (outer, f64::INFINITY))
    }

    /// Confirmed from `low` to `high`, refuted elsewhere.
    pub const fn only(low: f64, high: f64) -> Self {
        Self::within((low, high), (low, high))
    }

    /// Confirmed from `low` on, refuted below.
    pub const fn from(low: f64) -> Self {
        Self::only(low, f64::INFINITY)
    }

    /// Confirmed up to `high`, refuted above.
    pub const fn up_to(high: f64) -> Self {
        Self::only(f64::NEG_INFINITY, high)
    }

    /// Adds why the bounds are what they are.
    pub const fn because(self, why: &'static str) -> Self {
        Self { why: Some(why), ..self }
    }

    /// Adds what "partly" means, as a weaker form of the claim.
    pub const fn weaker(self, form: &'static str) -> Self {
        Self { weaker: Some(form), ..self }
    }

    /// Confirmed if all cases show it, partly if at least one does. The figure is a share.
    pub const ALL: Rule = Rule { of_cases: true, ..Rule::at_least(1.0, f64::MIN_POSITIVE) };

    /// Confirmed if all cases show it, refuted if one does not. The figure is a share.
    pub const EVERY: Rule = Rule { of_cases: true, ..Rule::from(1.0) };

    /// Judges a figure; nothing measured leaves it open.
    pub fn judge(&self, value: Option<f64>) -> Verdict {
        match value {
            Some(value) if holds(self.inner, value) => Verdict::Confirmed,
            Some(value) if holds(self.outer, value) => Verdict::Partly,
            Some(value) if !value.is_nan() => Verdict::Refuted,
            _ => Verdict::Open,
        }
    }

    /// Judges a ratio by its interval, all of which must lie in a range, so that noise neither confirms nor refutes. If only a part of it
    /// lies in the outer range, if there is no interval, or if only first frames were measured, the finding stays open.
    pub fn judge_ratio(&self, ratio: Option<Ratio>) -> Verdict {
        let Some((low, high, _)) = ratio.filter(|ratio| !ratio.first_frames).and_then(|ratio| ratio.interval) else {
            return Verdict::Open;
        };
        let straddles = low < self.outer.0 && high > self.outer.1; // on both sides of the range: both ends alone would refute
        match (self.judge(Some(low)), self.judge(Some(high))) {
            (low, high) if low == high && !straddles => low,
            (Verdict::Confirmed, Verdict::Partly) | (Verdict::Partly, Verdict::Confirmed) => Verdict::Partly,
            _ => Verdict::Open,
        }
    }

    /// The rule in words.
    pub fn words(&self) -> String {
        let strict = self.inner == self.outer;
        let mut words = match (self.of_cases, strict) {
            (true, false) => "confirmed if all cases show it, partly if some do".to_string(),
            (true, true) => "confirmed if all cases show it, else refuted".to_string(),
            (false, true) => format!("confirmed if {}, else refuted", range(self.inner)),
            (false, false) => format!("confirmed if {}, partly if {}", range(self.inner), range(self.outer)),
        };
        self.weaker.iter().for_each(|form| words.push_str(&format!(" ({form})")));
        self.why.iter().for_each(|why| words.push_str(&format!("; {why}")));
        words
    }
}

fn holds(range: (f64, f64), value: f64) -> bool {
    range.0 <= value && value <= range.1
}

fn range((low, high): (f64, f64)) -> String {
    match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("{} to {}", number(low), number(high)),
        (true, false) => format!("{} or more", number(low)),
        (false, true) => format!("{} or less", number(high)),
        (false, false) => "whatever".to_string(),
    }
}

/// A finding of a paper, and ours.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What the paper says.
    pub claim: String,
    /// Where it says so.
    pub source: &'static str,
    /// The paper's figure, if it has one.
    pub paper: String,
    /// What we measured, as a clause: of the paper's mechanism, if the structure has a paper mode. The verdict follows from it.
    pub ours: String,
    /// What our own mode does in its place, for comparison; it does not decide anything.
    pub beside: String,
    /// How the verdict follows from `ours`.
    pub rule: String,
    /// The verdict.
    pub verdict: Verdict,
}

impl Finding {
    fn judged(claim: &str, source: &'static str, ours: String, rule: Rule, verdict: Verdict) -> Self {
        let (paper, beside) = (String::new(), String::new());
        Self { claim: claim.to_string(), source, paper, ours, beside, rule: rule.words(), verdict }
    }

    /// Judges one figure. `ours` says what it is, with `{}` in place of the figure.
    pub fn new(claim: &str, source: &'static str, ours: &str, value: Option<f64>, rule: Rule) -> Self {
        let verdict = rule.judge(value);
        let figure = value.filter(|_| verdict != Verdict::Open).map(shown);
        Self::judged(claim, source, fill(ours, figure), rule, verdict)
    }

    /// Judges a ratio of two rows that took turns: `{}` stands for the ratio and its interval, all of which must lie in the range.
    pub fn paired(claim: &str, source: &'static str, ours: &str, ratio: Option<Ratio>, rule: Rule) -> Self {
        let figure = ratio.map(|ratio| format!("{} {}", times(ratio.median), ratio.interval_text()));
        Self::judged(claim, source, fill(ours, figure), rule, rule.judge_ratio(ratio))
    }

    /// Judges a claim over several cases by the share in which it holds. Cases that were not measured do not count.
    pub fn cases_by(claim: &str, source: &'static str, ours: &str, cases: &[Option<bool>], rule: Rule) -> Self {
        let measured: Vec<bool> = cases.iter().copied().flatten().collect();
        let holds = measured.iter().filter(|&&holds| holds).count();
        let share = (!measured.is_empty()).then(|| holds as f64 / measured.len() as f64);
        let counted = share.map(|_| format!("{holds} of {}", measured.len()));
        Self::judged(claim, source, fill(ours, counted), rule, rule.judge(share))
    }

    /// Adds the paper's own figure, as printed there.
    pub fn paper_says(self, figure: &str) -> Self {
        Self { paper: figure.to_string(), ..self }
    }

    /// Adds the figure of our own mode: `{}` stands for the figure. Without a figure nothing is added.
    pub fn beside(self, clause: &str, value: Option<f64>) -> Self {
        let beside = value.filter(|value| !value.is_nan()).map(|value| clause.replace("{}", &shown(value)));
        Self { beside: beside.unwrap_or_default(), ..self }
    }

    /// The same with a ratio and its interval.
    pub fn beside_ratio(self, clause: &str, ratio: Option<Ratio>) -> Self {
        let figure = ratio.map(|ratio| format!("{} {}", times(ratio.median), ratio.interval_text()));
        Self { beside: figure.map(|figure| clause.replace("{}", &figure)).unwrap_or_default(), ..self }
    }
}

/// Puts the figure into the clause, or states that it was not measured.
fn fill(clause: &str, figure: Option<String>) -> String {
    match figure {
        Some(figure) => clause.replace("{}", &figure),
        None => format!("not measured: {}", clause.replace("{}", "…")),
    }
}

fn shown(value: f64) -> String {
    if value == f64::INFINITY { "never".to_string() } else { number(value) }
}

/// All findings in one sentence, the counts of verdicts first.
pub fn sentence(findings: &[Finding]) -> String {
    let tally = Tally::of(findings.iter().map(|finding| finding.verdict));
    let same = tally.unanimous().is_some();
    let clause = |finding: &Finding| match same {
        true => finding.ours.clone(),
        false => format!("{} ({})", finding.ours, finding.verdict.name()),
    };
    let clauses: Vec<String> = findings.iter().map(clause).collect();
    format!("{tally}: {}.", clauses.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_gives_every_verdict() {
        let rule = Rule::within((2.0, 3.0), (1.0, 5.0));
        let verdicts = [2.5, 1.5, 4.0, 0.5, 6.0, f64::INFINITY].map(|value| rule.judge(Some(value)));
        use Verdict::{Confirmed, Open, Partly, Refuted};
        assert_eq!(verdicts, [Confirmed, Partly, Partly, Refuted, Refuted, Refuted]);
        assert_eq!([rule.judge(None), rule.judge(Some(f64::NAN))], [Open, Open]);
        assert_eq!([0.3, 0.35, 0.5].map(|value| Rule::at_most(0.3, 0.4).judge(Some(value))), [Confirmed, Partly, Refuted]);
        assert_eq!([2.0, 1.2, 1.0].map(|value| Rule::at_least(2.0, 1.1).judge(Some(value))), [Confirmed, Partly, Refuted]);
        assert_eq!([1.0, 0.5, 0.0].map(|share| Rule::ALL.judge(Some(share))), [Confirmed, Partly, Refuted]);
    }

    #[test]
    fn a_rule_can_be_read() {
        assert_eq!(Rule::at_most(0.3, 0.4).words(), "confirmed if 0.3 or less, partly if 0.4 or less");
        assert_eq!(Rule::within((2.0, 3.0), (1.0, 5.5)).words(), "confirmed if 2 to 3, partly if 1 to 5.5");
        let rule = Rule::from(2.0).because("half of the paper's 4, for another machine");
        assert_eq!(rule.words(), "confirmed if 2 or more, else refuted; half of the paper's 4, for another machine");
        let rule = Rule::at_least(2.0, 1.0).weaker("faster at all");
        assert_eq!(rule.words(), "confirmed if 2 or more, partly if 1 or more (faster at all)");
        assert_eq!(Rule::EVERY.words(), "confirmed if all cases show it, else refuted");
    }

    #[test]
    fn findings_are_summarized_by_counts() {
        use Verdict::{Confirmed, Open, Partly, Refuted};
        let tally = |verdicts: &[Verdict]| Tally::of(verdicts.iter().copied());
        assert_eq!(tally(&[Confirmed, Confirmed, Open]).to_string(), "2 confirmed, 1 open");
        assert_eq!(tally(&[Refuted, Partly, Refuted]).to_string(), "1 partly, 2 refuted");
        assert_eq!(tally(&[]).to_string(), "nothing judged");
        assert_eq!([tally(&[Refuted, Refuted]).unanimous(), tally(&[Open]).unanimous()], [Some(Refuted), Some(Open)]);
        assert_eq!([tally(&[Confirmed, Open]).unanimous(), tally(&[]).unanimous()], [None, None]);
    }

    #[test]
    fn the_sentence_follows_the_figures() {
        let share = |value| Finding::new("at most 30 %", "here", "the share is {}", value, Rule::at_most(0.3, 0.4));
        assert_eq!(sentence(&[share(Some(0.25))]), "1 confirmed: the share is 0.25.");
        assert_eq!(sentence(&[share(Some(0.9))]), "1 refuted: the share is 0.9.");
        assert_eq!(sentence(&[share(None)]), "1 open: not measured: the share is ….");
        let mixed = [share(Some(0.25)), share(Some(0.9))];
        let expected = "1 confirmed, 1 refuted: the share is 0.25 (confirmed); the share is 0.9 (refuted).";
        assert_eq!(sentence(&mixed), expected);
    }

    #[test]
    fn a_ratio_counts_only_with_all_of_its_interval() {
        use Verdict::{Confirmed, Open, Partly, Refuted};
        let ratio = |low: f64, high: f64| {
            Some(Ratio { median: 0.5 * (low + high), interval: Some((low, high, 0.95)), first_frames: false })
        };
        let rule = Rule::at_least(1.3, 1.05);
        let judged =
            [(1.4, 1.5), (1.2, 1.5), (1.1, 1.2), (1.0, 1.5), (0.8, 1.0)].map(|(low, high)| rule.judge_ratio(ratio(low, high)));
        assert_eq!(judged, [Confirmed, Partly, Partly, Open, Refuted]);
        assert_eq!(Rule::only(0.9, 1.1).judge_ratio(ratio(0.5, 1.5)), Open, "from one side of the range to the other");
        assert_eq!(Rule::only(0.9, 1.1).judge_ratio(ratio(0.5, 5.0)), Open, "the same, with the median outside of it");
        let blocks = |interval, first_frames| Some(Ratio { median: 2.0, interval, first_frames });
        assert_eq!([rule.judge_ratio(blocks(None, false)), rule.judge_ratio(None)], [Open, Open]);
        assert_eq!(rule.judge_ratio(blocks(Some((1.9, 2.1, 0.95)), true)), Open);
        let found =
            Finding::paired("40 %", "here", "{} times", ratio(1.4, 1.5), rule).paper_says("1.4").beside("{} of ours", Some(2.0));
        assert_eq!(
            (found.ours.as_str(), found.beside.as_str(), found.paper.as_str()),
            ("1.45 [1.40, 1.50] times", "2 of ours", "1.4")
        );
    }

    #[test]
    fn cases_are_counted_without_those_that_were_not_measured() {
        let cases = |cases: &[Option<bool>]| Finding::cases_by("always", "here", "in {} scenes", cases, Rule::ALL);
        let found = cases(&[Some(true), None, Some(true)]);
        assert_eq!((found.verdict, found.ours.as_str()), (Verdict::Confirmed, "in 2 of 2 scenes"));
        assert_eq!(cases(&[Some(true), Some(false)]).verdict, Verdict::Partly);
        assert_eq!(cases(&[Some(false)]).verdict, Verdict::Refuted);
        assert_eq!(cases(&[None]).verdict, Verdict::Open);
    }
}
