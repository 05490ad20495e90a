//! Figures 9 to 12: the tree by itself.

use broadphase::Isa;

use super::{FALLING, SCENES};
use crate::curves::{Points, falls_to_one, geometric_mean, lowest};
use crate::lab::{Curves, Lab, Rows, Trial};
use crate::report::{Chart, Report};
use crate::verdict::{Finding, Rule};
use broadphase_bench::charts::Scale;
use broadphase_bench::failure::Failure;
use broadphase_bench::ratios::Ratio;
use broadphase_bench::{Sorted, ms};

/// The default T of the paper.
const T: f64 = 512.0;

pub fn fig9(lab: &mut Lab) -> Result<Report, Failure> {
    let (n, frames) = lab.pick((32_000, 16), (128_000, 64));
    let rows: Vec<(f64, String)> =
        (4..=15).map(|power| (f64::from(1 << power), format!("kd-tree:paper=true:t={}", 1 << power))).collect();
    let mut names: Vec<&str> = rows.iter().map(|row| row.1.as_str()).collect();
    names.push("kd-tree");
    let (mut times, mut heights, mut shares, mut ours) = (Curves::default(), Curves::default(), Curves::default(), Vec::new());
    // For some T: the share of leaves at each height, averaged over the scenes.
    let mut distribution = Curves::default();
    for scene in SCENES {
        let measured = lab.run(&Trial::new(scene.name, n, frames, &names).skipping(scene.gap(frames)))?;
        for (t, row) in &rows {
            times.add(scene.title, *t, measured.mean_ms(row));
            heights.add(scene.title, *t, measured.extra(row, "leaf height mean"));
            shares.add(scene.title, *t, measured.extra(row, "objects in leaves share").map(|share| 100.0 * share));
            if [64.0, 256.0, T, 1024.0, 4096.0].contains(t) {
                leaf_heights(&measured, row, &mut distribution, &format!("T = {t}"));
            }
        }
        let paper = rows.iter().find(|row| row.0 == T).and_then(|row| measured.paired(&row.1, "kd-tree"));
        ours.extend(paper.map(|ratio| ratio.median));
    }
    let source = "section 5, figure 9";
    let plateau: Vec<Option<bool>> = times.0.iter().map(|curve| plateau(&curve.1)).collect();
    let lower: Vec<Option<bool>> =
        heights.0.iter().map(|curve| Some(curve.1.windows(2).all(|pair| pair[0].1 >= pair[1].1))).collect();
    let extremes: Vec<Option<bool>> = times.0.iter().map(|curve| worse_at_ends(&curve.1)).collect();
    let findings = vec![
        Finding::cases_by(
            "The time is practically constant for T from 256 to 1,024, and there is the minimum.",
            source,
            "times of T = 256, 512 and 1,024 are within 20 % of the best in {} scenes",
            &plateau,
            Rule::EVERY.because("practically constant, where the axis of the figure has decades: within a fifth"),
        )
        .beside("T = 512 takes {} times as long as our mode, on average", geometric_mean(&ours)),
        Finding::cases_by(
            "Very small and very large T are worse than T = 512.",
            source,
            "T = 16 and T = 32,768 take at least 10 % longer than T = 512 in {} scenes",
            &extremes,
            Rule::EVERY.because("worse by more than noise"),
        ),
        Finding::cases_by(
            "The smaller T, the taller the tree.",
            source,
            "leaves are never higher with a larger T in {} scenes",
            &lower,
            Rule::EVERY.because("counted, so no noise is allowed for"),
        ),
    ];
    let setup = format!(
        "`kd-tree:paper=true` with T from 16 to 32,768, and our mode with T = 512, on the scenes of cubes, {n} objects (the paper: 128,000); {frames} measured \
         frames spread over the run. The distribution of heights is the paper's upper figure: shares of the leaves after the last frame, added up over the scenes."
    );
    let x = ("T", Scale::Log);
    let charts = vec![
        Chart::lines("Time over T", x, ("ms a frame", Scale::Log), &times),
        Chart::lines("Heights of leaves", ("height", Scale::Linear), ("% of the leaves", Scale::Linear), &distribution),
        Chart::lines("Mean height of leaves over T", x, ("height", Scale::Linear), &heights),
        Chart::lines("Objects in leaves over T", x, ("% of objects", Scale::Linear), &shares),
    ];
    Ok(Report { setup, charts, findings })
}

/// Adds the share of leaves at each height of one scene's tree, a third of the whole.
fn leaf_heights(rows: &Rows, row: &str, distribution: &mut Curves, name: &str) {
    let Some(outcome) = rows.get(row) else { return };
    let leaves = rows.extra(row, "leaves").unwrap_or(1.0);
    for (figure, count) in &outcome.facts.extra {
        let height = figure.strip_prefix("leaves at height ").and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
        let Some(height) = height else { continue };
        let share = 100.0 * count / leaves / SCENES.len() as f64;
        match distribution.0.iter_mut().find(|curve| curve.0 == name).and_then(|c| c.1.iter_mut().find(|p| p.0 == height)) {
            Some(point) => point.1 += share,
            None => distribution.add(name, height, Some(share)),
        }
    }
    distribution.0.iter_mut().for_each(|curve| curve.1.sort_by(|a, b| a.0.total_cmp(&b.0)));
}

/// Are the times from 256 to 1,024 all within 20 % of the best?
fn plateau(times: &Points) -> Option<bool> {
    let best = lowest(times)?.1;
    let inside: Vec<f64> = times.iter().filter(|(t, _)| (256.0..=1024.0).contains(t)).map(|point| point.1).collect();
    (inside.len() == 3).then(|| inside.iter().all(|&time| time <= 1.2 * best))
}

/// Do the smallest and the largest T take at least 10 % longer than 512?
fn worse_at_ends(times: &Points) -> Option<bool> {
    let middle = times.iter().find(|point| point.0 == 512.0)?.1;
    let (first, last) = (times.first()?.1, times.last()?.1);
    Some(first >= 1.1 * middle && last >= 1.1 * middle)
}

const COMPLETE: &str = "kd-tree-complete:paper=true";
const INCREMENTAL: &str = "kd-tree-incremental:paper=true";
/// The same by our mode.
const OURS: [&str; 2] = ["kd-tree-complete", "kd-tree-incremental"];

/// A point for every frame: the share of static objects in percent, and the time of the complete search over that of the incremental one.
fn scatter(rows: &Rows, [complete, incremental]: [&str; 2]) -> Points {
    let (Some(complete), Some(incremental)) = (rows.get(complete), rows.get(incremental)) else { return Points::new() };
    let shares = incremental.traced("static share");
    let pairs = complete.records.iter().zip(&incremental.records).zip(shares).filter(|((a, b), _)| a.counts && b.counts);
    let time = |record: &broadphase_bench::Record| ms(record.timing.cpu.unwrap_or(record.timing.wall));
    pairs.map(|((a, b), share)| (100.0 * share, time(a) / time(b))).collect()
}

/// A percentile of the gains in each bin of 5 % static objects, at the middle of the bin; bins of fewer than four points are left out.
fn in_bins(points: &Points, percent: f64) -> Points {
    let bin = |k: usize| {
        let inside = points.iter().filter(|(share, _)| (share / 5.0).floor().clamp(0.0, 19.0) as usize == k);
        let sorted = Sorted::new(inside.map(|point| point.1));
        (sorted.values().len() >= 4).then(|| sorted.percentile(percent)).flatten().map(|gain| (k as f64 * 5.0 + 2.5, gain))
    };
    (0..20).filter_map(bin).collect()
}

/// The share of static objects from which the incremental search is as fast as the complete one, or faster.
fn break_even(gains: &Points) -> Option<f64> {
    let inverse: Points = gains.iter().map(|point| (point.0, 1.0 / point.1)).collect();
    falls_to_one(&inverse)
}

/// The mean of the gains between two shares.
fn mean_gain(gains: &Points, shares: std::ops::Range<f64>) -> Option<f64> {
    let inside: Vec<f64> = gains.iter().filter(|point| shares.contains(&point.0)).map(|point| point.1).collect();
    geometric_mean(&inside)
}

pub fn fig10(lab: &mut Lab) -> Result<Report, Failure> {
    let sizes: &[usize] = lab.pick(&[1000, 4000, 16_000, 32_000], &[1000, 4000, 16_000, 64_000, 256_000, 1_024_000]);
    let (mut points, mut own, mut sized) = (Points::new(), Points::new(), Curves::default());
    for &n in sizes {
        if !lab.has_time_for(&format!("n = {n}")) {
            break;
        }
        let names = [COMPLETE, INCREMENTAL, OURS[0], OURS[1]];
        let rows = lab.run(&Trial::new("free-fall-cubes", n, FALLING, &names).with_series())?;
        let found = scatter(&rows, [COMPLETE, INCREMENTAL]);
        sized.0.push((format!("{n} objects"), in_bins(&found, 50.0)));
        points.extend(found);
        own.extend(scatter(&rows, OURS));
    }
    let (gains, own_gains) = (in_bins(&points, 50.0), in_bins(&own, 50.0));
    let source = "section 5, figure 10";
    let findings = vec![
        Finding::new(
            "Both are equal at 50 to 60 % static objects.",
            source,
            "the incremental search is as fast from {} % static objects on",
            break_even(&gains),
            Rule::only(45.0, 65.0).because("the paper's 50 to 60, give or take one bin of 5 %"),
        )
        .paper_says("50 to 60 %")
        .beside("from {} % on", break_even(&own_gains)),
        Finding::new(
            "Below 50 %, the complete search is 5 to 15 % faster.",
            source,
            "below 50 % the complete search takes {} of the time of the incremental one",
            mean_gain(&gains, 0.0..50.0),
            Rule::only(0.85, 0.96).because("1 / 1.15 to 1 / 1.05, rounded outward"),
        )
        .paper_says("0.87 to 0.95")
        .beside("{}", mean_gain(&own_gains, 0.0..50.0)),
        Finding::new(
            "Above 60 %, the incremental search is considerably faster.",
            source,
            "above 60 % the complete search takes {} times as long",
            mean_gain(&gains, 60.0..100.0),
            Rule::from(1.15).because("considerably: more than the 15 % that it costs where it loses"),
        )
        .beside("{} times", mean_gain(&own_gains, 60.0..100.0)),
    ];
    let bands: Vec<(String, Points)> = [5.0, 25.0, 50.0, 75.0, 95.0]
        .map(|percent| (format!("{percent} % of the frames are below"), in_bins(&points, percent)))
        .into();
    let beside = Curves(vec![("as in the paper".to_string(), gains), ("ours".to_string(), own_gains)]);
    let setup = format!(
        "The first {FALLING} frames of `free-fall-cubes`: after that everything rests here. Each frame is a point: time of the complete search over that of \
         the incremental one, by the share of objects that the tree takes for static. The scatter is shown by its percentiles in bins of 5 %. The paper \
         reports the pairs of boxes that are grown by ε; here every pair of grown boxes is also compared by the objects' own boxes whenever one of the two \
         changes at all, which the incremental search pays for and the complete one does not."
    );
    let x = ("static objects, %", Scale::Linear);
    let y = "gain of the incremental search, times as fast";
    let charts = vec![
        Chart::ratios("The scatter of all frames of all runs", x, y, &Curves(bands)),
        Chart::ratios("Medians by the number of objects", x, y, &sized),
        Chart::ratios("The paper's mode and ours", x, y, &beside),
    ];
    Ok(Report { setup, charts, findings })
}

/// Which stages prune: the paper's name and ours.
const STAGES: [(&str, &str); 3] = [("sweep only", "sweep"), ("tree only", "tree"), ("both", "both")];

pub fn fig11(lab: &mut Lab) -> Result<Report, Failure> {
    let (n, frames) = lab.pick((32_000, 16), (128_000, 64));
    let isas: Vec<&str> = Isa::available().map(Isa::name).collect();
    let row = |mode: &str, isa: &str| format!("kd-tree-complete:paper=true:mode={mode}:isa={isa}");
    let rows: Vec<String> = STAGES.iter().flat_map(|stage| isas.iter().map(|isa| row(stage.1, isa))).collect();
    let mut names: Vec<&str> = rows.iter().map(String::as_str).collect();
    names.push(OURS[0]);
    let widest = isas.last().copied().unwrap_or("scalar");
    let (mut charts, mut combined, mut needs_less, mut wider, mut ours) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut batch, mut short, mut own_batch) = (None, None, None);
    for scene in SCENES {
        let measured = lab.run(&Trial::new(scene.name, n, frames, &names).skipping(scene.gap(frames)))?;
        let time = |mode: &str, isa: &str| measured.mean_ms(&row(mode, isa));
        let bar = |stage: &str, mode: &str, isa: &str| Some((format!("{stage}, {isa}"), time(mode, isa)?));
        let bars = STAGES.iter().flat_map(|(stage, mode)| isas.iter().filter_map(|isa| bar(stage, mode, isa)));
        charts.push(Chart::bars(&format!("Time of a frame, {}", scene.title), "ms", bars.collect()));
        let versus = |slow: (&str, &str), fast: (&str, &str)| measured.paired(&row(slow.0, slow.1), &row(fast.0, fast.1));
        for alone in ["tree", "sweep"] {
            combined.push(clearly_above(versus((alone, widest), ("both", widest)), 1.0));
        }
        let simd = |mode: &str| versus((mode, "scalar"), (mode, widest)).map(|ratio| ratio.median);
        needs_less.push(simd("sweep").zip(simd("both")).map(|(alone, both)| alone > both));
        wider.extend(versus(("both", "sse2"), ("both", "avx2")).map(|ratio| ratio.median));
        ours.extend(measured.paired(&row("both", widest), OURS[0]).map(|ratio| ratio.median));
        if scene.title == "gravity" {
            let of = |figure: &str| measured.extra(&row("both", widest), figure);
            (batch, short, own_batch) = (of("batch mean"), of("batches of up to 8 share"), measured.extra(OURS[0], "batch mean"));
        }
    }
    let source = "section 5, figure 11";
    let mut findings = vec![
        Finding::cases_by(
            "Tree and sweep together beat either alone.",
            source,
            "both together are clearly faster in {} comparisons",
            &combined,
            Rule::EVERY.because("the whole interval of the ratio must be above 1, in three scenes against two stages"),
        )
        .beside("both together take {} times as long as our mode", geometric_mean(&ours)),
        Finding::cases_by(
            "SIMD gains more where only one stage prunes.",
            source,
            "SIMD gains more for the sweep alone than for both in {} scenes",
            &needs_less,
            Rule::EVERY.because("the paper names no exception; the tree alone is not judged, since compilers turn its scalar loop into vector code"),
        ),
        Finding::new(
            "AVX is only marginally faster than SSE.",
            source,
            "with both stages SSE takes {} times as long as AVX",
            geometric_mean(&wider),
            Rule::only(1.0, 1.15).because("faster, but by less than the 15 % that the paper calls considerable elsewhere"),
        ),
    ];
    findings.extend(batch_findings(source, (batch, own_batch), short));
    let setup = format!(
        "`kd-tree-complete:paper=true` on the scenes of cubes, {n} objects (the paper: 128,000): with the tree alone, one sweep alone, and both; with every instruction \
         set of this machine ({}). A batch is the run of candidates of one object. Our mode, `{}`, takes turns with them.",
        isas.join(", "),
        OURS[0]
    );
    Ok(Report { setup, charts, findings })
}

/// How many candidates an object has: the mean of the paper's mode and of ours, and the share of short runs.
fn batch_findings(source: &'static str, (batch, own_batch): (Option<f64>, Option<f64>), short: Option<f64>) -> [Finding; 2] {
    [
        Finding::new(
            "In gravity, a batch has 15.8 tests on average.",
            source,
            "a batch has {} tests on average in gravity",
            batch,
            Rule::only(10.0, 25.0).because("the paper's 15.8, within a factor of 1.6 for another simulation of the same scene"),
        )
        .paper_says("15.8")
        .beside("{}", own_batch),
        Finding::new(
            "About 48 % of the batches have eight tests or fewer.",
            source,
            "{} of them have eight or fewer",
            short,
            Rule::only(0.38, 0.58).because("the paper's 0.48, give or take a tenth"),
        )
        .paper_says("0.48"),
    ]
}

/// Is the whole interval of a ratio above a bound? `None` if the interval includes the bound.
fn clearly_above(ratio: Option<Ratio>, bound: f64) -> Option<bool> {
    let (low, high, _) = ratio?.interval?;
    if low > bound { Some(true) } else { (high < bound).then_some(false) }
}

/// Complete, incremental, adaptive, rebuilt: the paper's, then ours.
const VARIANTS: [&str; 8] = [
    "kd-tree-complete:paper=true",
    "kd-tree-incremental:paper=true",
    "kd-tree:paper=true",
    "kd-tree-rebuilt:paper=true",
    "kd-tree-complete",
    "kd-tree-incremental",
    "kd-tree",
    "kd-tree-rebuilt",
];

pub fn fig12(lab: &mut Lab) -> Result<Report, Failure> {
    let (n, frames) = lab.pick((32_000, 96), (128_000, 256));
    let [complete, incremental, adaptive, rebuilt, ..] = VARIANTS;
    let mut charts = Vec::new();
    let (mut slowest, mut close, mut own, mut ours_close) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for scene in SCENES {
        let measured = lab.run(&Trial::new(scene.name, n, frames, &VARIANTS).skipping(scene.gap(frames)))?;
        let bars = VARIANTS.iter().filter_map(|variant| Some((variant.to_string(), measured.mean_ms(variant)?)));
        charts.push(Chart::bars(&format!("Time of a frame, {}", scene.title), "ms", bars.collect()));
        for other in [complete, incremental, adaptive] {
            slowest.push(clearly_above(measured.paired(rebuilt, other), 1.0));
        }
        let (good, bad) = if scene.title == "free fall" { (incremental, complete) } else { (complete, incremental) };
        own.push(clearly_above(measured.paired(bad, good), 1.0));
        // The faster one here, which need not be the paper's.
        let within = |[complete, incremental, adaptive]: [&str; 3]| {
            let better = if measured.mean_ms(complete)? < measured.mean_ms(incremental)? { complete } else { incremental };
            clearly_above(measured.paired(adaptive, better), 1.1).map(|above| !above)
        };
        close.push(within([complete, incremental, adaptive]));
        ours_close.push(within([VARIANTS[4], VARIANTS[5], VARIANTS[6]]));
    }
    let source = "section 5, figure 12";
    let held =
        |cases: &[Option<bool>]| Some(cases.iter().flatten().filter(|&&held| held).count() as f64).filter(|_| !cases.is_empty());
    let interval = "a case counts if the whole interval of its ratio is on one side";
    let findings = vec![
        Finding::cases_by(
            "Rebuilding the tree is slowest, even without coherence.",
            source,
            "rebuilding is clearly slower in {} comparisons",
            &slowest,
            Rule::EVERY.because(interval),
        ),
        Finding::cases_by(
            "Incremental is best for free fall, complete for the others.",
            source,
            "the better of complete and incremental is clearly the paper's in {} scenes",
            &own,
            Rule::EVERY.because(interval),
        ),
        Finding::cases_by(
            "Adaptive is a close second in all scenes.",
            source,
            "adaptive is within 10 % of the better one in {} scenes",
            &close,
            Rule::EVERY.because("close: within a tenth, with the whole interval"),
        )
        .beside("in {} scenes", held(&ours_close)),
    ];
    let setup = format!(
        "The four variants of the paper, and ours beside them, on the scenes of cubes, {n} objects (the paper: 128,000), {frames} measured frames spread over the \
         run; ratios are paired block by block."
    );
    Ok(Report { setup, charts, findings })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(of: impl Fn(f64) -> f64) -> Points {
        (4..=15).map(|power| f64::from(1 << power)).map(|t| (t, of(t))).collect()
    }

    #[test]
    fn a_plateau_is_where_the_best_is_and_flat() {
        let bowl = times(|t| 1.0 + 0.1 * (t / 512.0).log2().powi(2));
        assert_eq!((plateau(&bowl), worse_at_ends(&bowl)), (Some(true), Some(true)));
        let falling = times(|t| 1e5 / t);
        assert_eq!((plateau(&falling), worse_at_ends(&falling)), (Some(false), Some(false)));
        assert_eq!((plateau(&Points::new()), worse_at_ends(&Points::new())), (None, None));
    }

    #[test]
    fn a_case_counts_only_with_all_of_its_interval() {
        let ratio = |low, high| Some(Ratio { median: 1.0, interval: Some((low, high, 0.95)), first_frames: false });
        assert_eq!(clearly_above(ratio(1.1, 1.2), 1.0), Some(true));
        assert_eq!(clearly_above(ratio(0.8, 0.9), 1.0), Some(false));
        assert_eq!([clearly_above(ratio(0.9, 1.1), 1.0), clearly_above(None, 1.0)], [None, None]);
    }

    #[test]
    fn gains_are_binned_by_share_and_meet_where_the_curve_crosses_one() {
        let points: Points = (0..1000).map(|k| (f64::from(k) * 0.1, 0.5 + f64::from(k) * 0.001)).collect();
        let gains = in_bins(&points, 50.0);
        assert_eq!(gains.len(), 20);
        assert!(break_even(&gains).is_some_and(|share| (48.0..52.0).contains(&share)), "{:?}", break_even(&gains));
        assert!(mean_gain(&gains, 0.0..50.0).is_some_and(|gain| gain < 0.9));
        assert_eq!(in_bins(&points[..3].to_vec(), 50.0), [], "too few points");
    }
}
