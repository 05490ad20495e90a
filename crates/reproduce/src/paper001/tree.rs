//! Figures 9 to 12: the tree by itself.

use broadphase::Isa;

use super::{RUN, SCENES, gap};
use crate::curves::{Points, falls_to_one, geometric_mean, lowest, median};
use crate::lab::{Curves, Lab, Rows, Trial};
use crate::report::{Chart, Report};
use crate::verdict::{Finding, Rule};
use broadphase_bench::charts::Scale;
use broadphase_bench::failure::Failure;
use broadphase_bench::ms;

pub fn fig9(lab: &mut Lab) -> Result<Report, Failure> {
    let (n, frames) = lab.pick((32_000, 24), (128_000, 64));
    let rows: Vec<(f64, String)> = (4..=15).map(|power| (f64::from(1 << power), format!("kd-tree:t={}", 1 << power))).collect();
    let names: Vec<&str> = rows.iter().map(|row| row.1.as_str()).collect();
    let (mut times, mut heights, mut shares) = (Curves::default(), Curves::default(), Curves::default());
    for (name, scene) in SCENES {
        let skip = lab.pick(100, gap(frames));
        let measured = lab.run(&Trial::new(scene, n, frames, &names).skipping(skip))?;
        for (t, row) in &rows {
            times.add(name, *t, measured.mean_ms(row));
            heights.add(name, *t, measured.extra(row, "leaf height mean"));
            shares.add(name, *t, measured.extra(row, "objects in leaves share").map(|share| 100.0 * share));
        }
    }
    let source = "section 5, figure 9";
    let plateau: Vec<Option<bool>> = times.0.iter().map(|curve| plateau(&curve.1)).collect();
    let lower: Vec<Option<bool>> =
        heights.0.iter().map(|curve| Some(curve.1.windows(2).all(|pair| pair[0].1 >= pair[1].1))).collect();
    let extremes: Vec<Option<bool>> = times.0.iter().map(|curve| worse_at_ends(&curve.1)).collect();
    let findings = vec![
        Finding::cases(
            "The time is practically constant for T from 256 to 1,024, and there is the minimum.",
            source,
            "times of T = 256, 512 and 1,024 are within 20 % of the best in {} scenes",
            &plateau,
        ),
        Finding::cases(
            "Very small and very large T are worse than T = 512.",
            source,
            "T = 16 and T = 32,768 take at least 10 % longer than T = 512 in {} scenes",
            &extremes,
        ),
        Finding::cases(
            "The smaller T, the taller the tree.",
            source,
            "leaves are never higher with a larger T in {} scenes",
            &lower,
        ),
    ];
    let setup = format!(
        "`kd-tree` with T from 16 to 32,768 on the scenes of cubes, {n} objects; {frames} measured frames spread over the run."
    );
    let x = ("T", Scale::Log);
    let charts = vec![
        Chart::lines("Time over T", x, ("ms a frame", Scale::Log), &times),
        Chart::lines("Mean height of leaves over T", x, ("height", Scale::Linear), &heights),
        Chart::lines("Objects in leaves over T", x, ("% of objects", Scale::Linear), &shares),
    ];
    Ok(Report { setup, charts, findings })
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

const COMPLETE: &str = "kd-tree-complete";
const INCREMENTAL: &str = "kd-tree-incremental";

/// The time of the complete search over that of the incremental one, by the share of static objects: medians of bins of 5 %.
fn gain(rows: &Rows) -> Points {
    let (Some(complete), Some(incremental)) = (rows.get(COMPLETE), rows.get(INCREMENTAL)) else { return Points::new() };
    let shares = incremental.traced("static share");
    let pairs = complete.records.iter().zip(&incremental.records).zip(shares).filter(|((a, b), _)| a.counts && b.counts);
    let time = |record: &broadphase_bench::Record| ms(record.timing.cpu.unwrap_or(record.timing.wall));
    let points: Vec<(f64, f64)> = pairs.map(|((a, b), share)| (share, time(a) / time(b))).collect();
    let bin = |k: usize| {
        let inside = points.iter().filter(|(share, _)| (share * 20.0).floor().min(19.0) as usize == k);
        median(inside.map(|point| point.1)).map(|gain| (k as f64 * 5.0 + 2.5, gain))
    };
    (0..20).filter_map(bin).collect()
}

pub fn fig10(lab: &mut Lab) -> Result<Report, Failure> {
    let sizes: &[usize] = lab.pick(&[1000, 4000, 8000], &[1000, 4000, 16_000, 64_000, 256_000, 1_024_000]);
    let mut curves = Curves::default();
    for &n in sizes {
        if !lab.has_time_for(&format!("n = {n}")) {
            break;
        }
        let rows = lab.run(&Trial::new("free-fall-cubes", n, RUN, &[COMPLETE, INCREMENTAL]).with_series())?;
        curves.0.push((format!("{n} objects"), gain(&rows)));
    }
    // All runs together: the mean gain in each bin.
    let mut bins: Points = Vec::new();
    for k in 0..20 {
        let x = f64::from(k) * 5.0 + 2.5;
        let values: Vec<f64> = curves.0.iter().filter_map(|curve| crate::curves::at(&curve.1, x)).collect();
        bins.extend(geometric_mean(&values).map(|gain| (x, gain)));
    }
    let below: Vec<f64> = bins.iter().filter(|point| point.0 < 50.0).map(|point| point.1).collect();
    let above: Vec<f64> = bins.iter().filter(|point| point.0 > 60.0).map(|point| point.1).collect();
    let inverse: Points = bins.iter().map(|point| (point.0, 1.0 / point.1)).collect();
    let source = "section 5, figure 10";
    let findings = vec![
        Finding::new(
            "Both are equal at 50 to 60 % static objects.",
            source,
            "the incremental search is as fast from {} % static objects on",
            falls_to_one(&inverse),
            Rule::within((45.0, 65.0), (30.0, 80.0)),
        ),
        Finding::new(
            "Below 50 %, the complete search is 5 to 15 % faster.",
            source,
            "below 50 % the complete search takes {} of the time of the incremental one",
            geometric_mean(&below),
            Rule::within((0.83, 0.97), (0.7, 1.0)),
        ),
        Finding::new(
            "Above 60 %, the incremental search is considerably faster.",
            source,
            "above 60 % it takes {} times as long",
            geometric_mean(&above),
            Rule::at_least(1.15, 1.0),
        ),
    ];
    curves.0.push(("all".to_string(), bins));
    let setup = format!(
        "Every frame of `free-fall-cubes` ({RUN} frames): time of `kd-tree-complete` over that of `kd-tree-incremental`, by the share of objects that the tree takes for static."
    );
    let chart = Chart::ratios(
        "Gain over the share of static objects",
        ("static objects, %", Scale::Linear),
        "gain of the incremental search, times as fast",
        &curves,
    );
    Ok(Report { setup, charts: vec![chart], findings })
}

/// Which stages prune: the paper's name and ours.
const STAGES: [(&str, &str); 3] = [("sweep only", "sweep"), ("tree only", "tree"), ("both", "both")];

pub fn fig11(lab: &mut Lab) -> Result<Report, Failure> {
    let (n, frames) = lab.pick((16_000, 16), (128_000, 64));
    let isas: Vec<&str> = Isa::available().map(Isa::name).collect();
    let row = |mode: &str, isa: &str| format!("kd-tree-complete:mode={mode}:isa={isa}");
    let rows: Vec<String> = STAGES.iter().flat_map(|stage| isas.iter().map(|isa| row(stage.1, isa))).collect();
    let names: Vec<&str> = rows.iter().map(String::as_str).collect();
    let (mut charts, mut combined, mut needs_less, mut wider) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut batch, mut short) = (None, None);
    for (name, scene) in SCENES {
        let measured = lab.run(&Trial::new(scene, n, frames, &names).skipping(lab.pick(150, gap(frames))))?;
        let time = |mode: &str, isa: &str| measured.ms(&row(mode, isa));
        let bar = |stage: &str, mode: &str, isa: &str| Some((format!("{stage}, {isa}"), time(mode, isa)?));
        let bars = STAGES.iter().flat_map(|(stage, mode)| isas.iter().filter_map(|isa| bar(stage, mode, isa)));
        charts.push(Chart::bars(&format!("Time of a frame, {name}"), "ms", bars.collect()));
        let widest = isas.last().copied().unwrap_or("scalar");
        let best = |mode: &str| time(mode, widest);
        let holds = |both: f64, tree: f64, sweep: f64| both < tree && both < sweep;
        combined.push(best("both").zip(best("tree")).zip(best("sweep")).map(|((both, tree), sweep)| holds(both, tree, sweep)));
        let simd = |mode: &str| Some(time(mode, "scalar")? / best(mode)?);
        needs_less.push(simd("sweep").zip(simd("both")).map(|(alone, both)| alone > both));
        wider.extend(time("both", "sse2").zip(time("both", "avx2")).map(|(sse, avx)| sse / avx));
        if name == "gravity" {
            batch = measured.extra(&row("both", widest), "batch mean");
            short = measured.extra(&row("both", widest), "batches of up to 8 share");
        }
    }
    let source = "section 5, figure 11";
    let findings = vec![
        Finding::cases("Tree and sweep together beat either alone.", source, "both together are fastest in {} scenes", &combined),
        Finding::cases(
            "SIMD gains more where only one stage prunes.",
            source,
            "SIMD gains more for the sweep alone than for both in {} scenes",
            &needs_less,
        ),
        Finding::new(
            "AVX is only marginally faster than SSE.",
            source,
            "with both stages SSE takes {} times as long as AVX",
            geometric_mean(&wider),
            Rule::within((0.95, 1.15), (0.9, 1.35)),
        ),
        Finding::new(
            "In gravity, a batch has 15.8 tests on average.",
            source,
            "a batch has {} tests on average in gravity",
            batch,
            Rule::within((10.0, 25.0), (5.0, 50.0)),
        ),
        Finding::new(
            "About 48 % of the batches have eight tests or fewer.",
            source,
            "{} of them have eight or fewer",
            short,
            Rule::within((0.33, 0.63), (0.2, 0.8)),
        ),
    ];
    let setup = format!(
        "`kd-tree-complete` on the scenes of cubes, {n} objects: with the tree alone, one sweep alone, and both; with every instruction set of this machine ({}).",
        isas.join(", ")
    );
    Ok(Report { setup, charts, findings })
}

const VARIANTS: [&str; 4] = ["kd-tree-complete", "kd-tree-incremental", "kd-tree", "kd-tree-rebuilt"];

pub fn fig12(lab: &mut Lab) -> Result<Report, Failure> {
    let (n, frames) = lab.pick((8000, 64), (128_000, 256));
    let (mut charts, mut rebuilt, mut adaptive, mut own) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (name, scene) in SCENES {
        let measured = lab.run(&Trial::new(scene, n, frames, &VARIANTS).skipping(gap(frames)))?;
        let times = VARIANTS.map(|variant| measured.mean_ms(variant));
        let bars = VARIANTS.iter().zip(times).filter_map(|(variant, time)| Some((variant.to_string(), time?)));
        charts.push(Chart::bars(&format!("Time of a frame, {name}"), "ms", bars.collect()));
        let [Some(complete), Some(incremental), Some(adapts), Some(anew)] = times else { continue };
        rebuilt.push(Some(anew >= complete.max(incremental).max(adapts)));
        adaptive.push(Some(adapts <= 1.1 * complete.min(incremental)));
        own.push(Some(if name == "free fall" { incremental < complete } else { complete <= 1.02 * incremental }));
    }
    let source = "section 5, figure 12";
    let findings = vec![
        Finding::cases(
            "Rebuilding the tree is slowest, even without coherence.",
            source,
            "rebuilding is slowest in {} scenes",
            &rebuilt,
        ),
        Finding::cases(
            "Incremental is best for free fall, complete for the others.",
            source,
            "the better of complete and incremental is the paper's in {} scenes",
            &own,
        ),
        Finding::cases(
            "Adaptive is a close second in all scenes.",
            source,
            "adaptive is within 10 % of the better one in {} scenes",
            &adaptive,
        ),
    ];
    let setup =
        format!("The four variants on the scenes of cubes, {n} objects, {frames} measured frames spread over a run of {RUN}.");
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
}
