//! Confirmed or refuted: decided from measured figures by a stated rule, and nothing else.

use broadphase_bench::charts::number;

/// What became of a paper's finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Our figures show it too.
    Confirmed,
    /// The direction is right, the size is not; or some cases show it and others do not.
    Partly,
    /// Our figures show something else.
    Refuted,
    /// Not measured: a row ran out of time, or this machine lacks what it takes.
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

    /// Several findings in one word. What is open does not count beside what is not.
    pub fn of_all(verdicts: impl Iterator<Item = Verdict> + Clone) -> Verdict {
        let mut judged = verdicts.filter(|&verdict| verdict != Verdict::Open);
        let Some(first) = judged.next() else { return Verdict::Open };
        if judged.all(|verdict| verdict == first) { first } else { Verdict::Partly }
    }
}

/// Where a figure must lie: in the inner range for "confirmed", in the outer one for "partly".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    inner: (f64, f64),
    outer: (f64, f64),
}

impl Rule {
    /// Confirmed from `inner.0` to `inner.1`, partly from `outer.0` to `outer.1`.
    pub const fn within(inner: (f64, f64), outer: (f64, f64)) -> Self {
        Self { inner, outer }
    }

    /// Confirmed up to `inner`, partly up to `outer`.
    pub const fn at_most(inner: f64, outer: f64) -> Self {
        Self { inner: (f64::NEG_INFINITY, inner), outer: (f64::NEG_INFINITY, outer) }
    }

    /// Confirmed from `inner`, partly from `outer`.
    pub const fn at_least(inner: f64, outer: f64) -> Self {
        Self { inner: (inner, f64::INFINITY), outer: (outer, f64::INFINITY) }
    }

    /// Confirmed if all cases show it, partly if at least one does. The figure is a share.
    pub const ALL: Rule = Rule::at_least(1.0, f64::MIN_POSITIVE);

    /// A cost that grows in proportion: the exponent of a power law.
    pub const LINEAR: Rule = Rule::within((0.85, 1.15), (0.7, 1.3));

    /// A cost that grows with the square.
    pub const QUADRATIC: Rule = Rule::within((1.7, 2.3), (1.4, 2.6));

    /// Judges a figure; nothing measured leaves it open.
    pub fn judge(&self, value: Option<f64>) -> Verdict {
        let holds = |range: (f64, f64), value: f64| range.0 <= value && value <= range.1;
        match value {
            Some(value) if holds(self.inner, value) => Verdict::Confirmed,
            Some(value) if holds(self.outer, value) => Verdict::Partly,
            Some(value) if !value.is_nan() => Verdict::Refuted,
            _ => Verdict::Open,
        }
    }

    /// The rule in words.
    pub fn words(&self) -> String {
        if *self == Rule::ALL {
            return "confirmed if all cases show it, partly if some do".to_string();
        }
        format!("confirmed if {}, partly if {}", range(self.inner), range(self.outer))
    }
}

fn range((low, high): (f64, f64)) -> String {
    match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("{} to {}", number(low), number(high)),
        (true, false) => format!("{} or more", number(low)),
        (false, true) => format!("{} or less", number(high)),
        (false, false) => "whatever".to_string(),
    }
}

/// A finding of a paper beside ours.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What the paper says.
    pub claim: String,
    /// Where it says so.
    pub source: &'static str,
    /// What we measured, as a clause.
    pub ours: String,
    /// How the verdict follows from it.
    pub rule: String,
    /// The verdict.
    pub verdict: Verdict,
}

impl Finding {
    /// Judges one figure. `ours` says what it is, with `{}` in place of the figure.
    pub fn new(claim: &str, source: &'static str, ours: &str, value: Option<f64>, rule: Rule) -> Self {
        let verdict = rule.judge(value);
        let figure = value.filter(|_| verdict != Verdict::Open).map(shown);
        Self { claim: claim.to_string(), source, ours: fill(ours, figure), rule: rule.words(), verdict }
    }

    /// Judges a claim over several cases: in how many of them does it hold? Cases that were not measured do not count.
    pub fn cases(claim: &str, source: &'static str, ours: &str, cases: &[Option<bool>]) -> Self {
        let measured: Vec<bool> = cases.iter().copied().flatten().collect();
        let holds = measured.iter().filter(|&&holds| holds).count();
        let share = (!measured.is_empty()).then(|| holds as f64 / measured.len() as f64);
        let counted = share.map(|_| format!("{holds} of {}", measured.len()));
        let (ours, rule, verdict) = (fill(ours, counted), Rule::ALL.words(), Rule::ALL.judge(share));
        Self { claim: claim.to_string(), source, ours, rule, verdict }
    }
}

/// Puts the figure into the clause; without one, it says so.
fn fill(clause: &str, figure: Option<String>) -> String {
    match figure {
        Some(figure) => clause.replace("{}", &figure),
        None => format!("not measured: {}", clause.replace("{}", "…")),
    }
}

fn shown(value: f64) -> String {
    if value == f64::INFINITY { "never".to_string() } else { number(value) }
}

/// All findings in one sentence, the verdict first. What is open is left out beside what is not.
pub fn sentence(findings: &[Finding]) -> String {
    let verdict = Verdict::of_all(findings.iter().map(|finding| finding.verdict));
    let judged: Vec<&Finding> =
        findings.iter().filter(|finding| verdict == Verdict::Open || finding.verdict != Verdict::Open).collect();
    let same = judged.iter().all(|finding| finding.verdict == verdict);
    let clause = |finding: &Finding| match same {
        true => finding.ours.clone(),
        false => format!("{} ({})", finding.ours, finding.verdict.name()),
    };
    let clauses: Vec<String> = judged.into_iter().map(clause).collect();
    let word = match verdict {
        Verdict::Confirmed => "Confirmed",
        Verdict::Partly => "Partly confirmed",
        Verdict::Refuted => "Refuted",
        Verdict::Open => "Open",
    };
    format!("{word}: {}.", clauses.join("; "))
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
        assert_eq!([1.02, 1.25, 2.0].map(|exponent| Rule::LINEAR.judge(Some(exponent))), [Confirmed, Partly, Refuted]);
        assert_eq!([1.9, 1.5, 1.0].map(|exponent| Rule::QUADRATIC.judge(Some(exponent))), [Confirmed, Partly, Refuted]);
    }

    #[test]
    fn a_rule_can_be_read() {
        assert_eq!(Rule::at_most(0.3, 0.4).words(), "confirmed if 0.3 or less, partly if 0.4 or less");
        assert_eq!(Rule::within((2.0, 3.0), (1.0, 5.5)).words(), "confirmed if 2 to 3, partly if 1 to 5.5");
    }

    #[test]
    fn findings_that_disagree_are_partly_confirmed_and_open_ones_do_not_count() {
        use Verdict::{Confirmed, Open, Partly, Refuted};
        let all = |verdicts: &[Verdict]| Verdict::of_all(verdicts.iter().copied());
        assert_eq!(all(&[Confirmed, Confirmed, Open]), Confirmed);
        assert_eq!(all(&[Refuted, Refuted]), Refuted);
        assert_eq!([all(&[Confirmed, Refuted]), all(&[Partly, Confirmed]), all(&[Partly])], [Partly; 3]);
        assert_eq!([all(&[]), all(&[Open])], [Open; 2]);
    }

    #[test]
    fn the_sentence_follows_the_figures() {
        let share = |value| Finding::new("at most 30 %", "here", "the share is {}", value, Rule::at_most(0.3, 0.4));
        assert_eq!(sentence(&[share(Some(0.25))]), "Confirmed: the share is 0.25.");
        assert_eq!(sentence(&[share(Some(0.9))]), "Refuted: the share is 0.9.");
        assert_eq!(sentence(&[share(None)]), "Open: not measured: the share is ….");
        assert_eq!(sentence(&[share(None), share(Some(0.25))]), "Confirmed: the share is 0.25.");
        let mixed = [share(Some(0.25)), share(Some(0.9))];
        assert_eq!(sentence(&mixed), "Partly confirmed: the share is 0.25 (confirmed); the share is 0.9 (refuted).");
    }

    #[test]
    fn cases_are_counted_without_those_that_were_not_measured() {
        let cases = |cases: &[Option<bool>]| Finding::cases("always", "here", "in {} scenes", cases);
        let found = cases(&[Some(true), None, Some(true)]);
        assert_eq!((found.verdict, found.ours.as_str()), (Verdict::Confirmed, "in 2 of 2 scenes"));
        assert_eq!(cases(&[Some(true), Some(false)]).verdict, Verdict::Partly);
        assert_eq!(cases(&[Some(false)]).verdict, Verdict::Refuted);
        assert_eq!(cases(&[None]).verdict, Verdict::Open);
    }
}
