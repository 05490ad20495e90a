//! Figures 1 to 4: each phase over the number of objects and the density.

use super::{OURS, SEQUENTIAL, paired, parallel};
use crate::curves::{at, last};
use crate::lab::{Curves, Lab, Rows, Trial, cores, has_free_cores};
use crate::report::{Chart, Report};
use crate::verdict::{Finding, Rule};
use broadphase_bench::charts::Scale;
use broadphase_bench::failure::Failure;
use broadphase_bench::ratios::{Ratio, times};

const DENSITIES: [f64; 3] = [0.05, 0.2, 0.35];
/// Passes over the endpoints in algorithm 3.
const PASSES: usize = 3;
/// The partitions of the paper's run, and those for which it measured the balance.
const SIXTEEN: &str = "sweep:paper=true:partitions=16";
const MANY: [&str; 3] = ["sweep:paper=true:partitions=4", SIXTEEN, "sweep:paper=true:partitions=64"];

fn scene(density: f64) -> String {
    format!("boxes:d={density}")
}

fn sizes(lab: &Lab) -> &'static [usize] {
    lab.pick(&[1 << 13, 1 << 15, 1 << 17], &[1 << 15, 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 21])
}

/// Measures algorithm 1, algorithms 2 to 4 and our default, taking turns.
fn measure(lab: &mut Lab, density: f64, n: usize) -> Result<Rows, Failure> {
    let frames = lab.pick(48, 100);
    let parallel: &str = &parallel();
    lab.run(&Trial::new(&scene(density), n, frames, &[SEQUENTIAL, parallel, OURS]).on_threads(cores()))
}

/// What was measured of one stage.
#[derive(Default)]
struct Stage {
    /// Its times, by row and density.
    times: Curves,
    /// The speed-ups at the largest number of objects, by density: the paper's mode, and ours over algorithm 1.
    speed_ups: Vec<(f64, Option<Ratio>, Option<Ratio>)>,
}

impl Stage {
    /// The speed-ups at a density; `None` if it was not reached.
    fn speed_up(&self, density: f64) -> (Option<Ratio>, Option<Ratio>) {
        self.speed_ups.iter().find(|found| found.0 == density).map_or((None, None), |found| (found.1, found.2))
    }
}

/// Times of a stage for some densities, and speed-ups at the largest number of objects.
fn stage(lab: &mut Lab, stage: &str, densities: &[f64]) -> Result<Stage, Failure> {
    let parallel: &str = &parallel();
    let mut found = Stage::default();
    let free = has_free_cores(lab);
    for &n in sizes(lab) {
        for &density in densities {
            if !lab.has_time_for(&format!("n = {n}, d = {density}")) {
                break;
            }
            let rows = measure(lab, density, n)?;
            for (name, row) in [("algorithm 1", SEQUENTIAL), ("algorithms 2 to 4", parallel), ("ours", OURS)] {
                found.times.add(&format!("{name}, d={density}"), n as f64, rows.stage_ms(row, stage));
            }
            let over = |row: &str| paired(&rows, SEQUENTIAL, row, Some(stage), 0..usize::MAX).filter(|_| free);
            found.speed_ups.retain(|known| known.0 != density);
            found.speed_ups.push((density, over(parallel), over(OURS)));
        }
    }
    Ok(found)
}

fn setup(what: &str) -> String {
    format!(
        "Scene `boxes`, {what}. Algorithm 1: `{SEQUENTIAL}`, which starts no thread. Algorithms 2 to 4: `{}` on {} threads (the paper: 16 cores). Ours: \
         `{OURS}` on the same threads. All take turns; times that passed; speed-ups are paired block by block, at the largest number of objects that time allowed.",
        parallel(),
        cores()
    )
}

pub fn fig1(lab: &mut Lab) -> Result<Report, Failure> {
    let found = stage(lab, "sort", &[0.35])?;
    let (speed_up, ours) = found.speed_up(0.35);
    let n = lab.pick(1 << 15, 1 << 20);
    let mut worst: Option<f64> = None;
    let mut sorts = Vec::new();
    for density in [0.05, 0.35] {
        let rows = lab.run(&Trial::new(&scene(density), n, lab.pick(16, 100), &[SEQUENTIAL, SIXTEEN]).with_series())?;
        sorts.push(rows.stage_ms(SEQUENTIAL, "sort"));
        for axis in ["dispersion_primary", "dispersion_secondary"] {
            let traced = rows.get(SIXTEEN).map(|row| row.traced(axis)).unwrap_or_default();
            worst = traced.into_iter().chain(worst).max_by(f64::total_cmp);
        }
    }
    let source = "section 6.1, figure 1";
    let findings = vec![
        Finding::paired(
            "Sorting in parallel is faster, if modestly so.",
            source,
            &format!("sorting is {{}} times as fast on {} threads", cores()),
            speed_up,
            Rule::from(1.1).because("modest, yet clear: the paper's speed-up is a fifth to a third of its cores"),
        )
        .paper_says("3.0 to 4.8 times on 16 cores")
        .beside_ratio("{} times", ours),
        Finding::new(
            "The dispersion D was always below 0.01.",
            source,
            "with 16 buckets, D is at most {} over two densities and all frames",
            worst,
            Rule::up_to(0.01).because("the paper's bound"),
        )
        .paper_says("below 0.01"),
        Finding::new(
            "The density affects sorting only slightly.",
            source,
            "algorithm 1 sorts {} times as long at d = 0.35 as at d = 0.05",
            sorts[1].zip(sorts[0]).map(|(dense, thin)| dense / thin),
            Rule::only(0.8, 1.25).because("slightly: less than a quarter either way"),
        ),
    ];
    let charts = vec![Chart::scaling("Sorting", "objects", "ms", &found.times)];
    Ok(Report { setup: setup("density 0.35"), charts, findings })
}

pub fn fig2(lab: &mut Lab) -> Result<Report, Failure> {
    let found = stage(lab, "candidates", &DENSITIES)?;
    let source = "section 6.2, figure 2";
    let ((thin, _), (dense, ours)) = (found.speed_up(0.05), found.speed_up(0.35));
    // Algorithm 3 passes over the endpoints three times where algorithm 1 does so once: fewer threads than that cannot gain anything.
    let enough = cores() > PASSES;
    if let Some(ratio) = dense.filter(|_| !enough) {
        let measured = times(ratio.median);
        lab.note(format!("Algorithm 3 makes {PASSES} passes for one of algorithm 1, so that {} threads cannot show its speed-up, which is not judged: {measured}.", cores()));
    }
    let findings = vec![
        Finding::paired(
            "Generating candidates in parallel has a good speed-up.",
            source,
            &format!("candidates are generated {{}} times as fast on {} threads", cores()),
            dense.filter(|_| enough),
            Rule::from(0.6 * cores() as f64)
                .because("good: at least 0.6 of the number of threads; judged with more threads than algorithm 3 makes passes"),
        )
        .beside_ratio("{} times", ours),
        Finding::new(
            "The speed-up decreases slightly with the density, in some cases.",
            source,
            "the speed-up at d = 0.35 is {} of that at d = 0.05",
            dense.zip(thin).map(|(dense, thin)| dense.median / thin.median),
            Rule::only(0.7, 1.05).because("slightly: by less than a third; a clear increase contradicts it"),
        ),
    ];
    let charts = vec![Chart::scaling("Candidates", "objects", "ms", &found.times)];
    Ok(Report { setup: setup("densities 0.05 to 0.35"), charts, findings })
}

pub fn fig3(lab: &mut Lab) -> Result<Report, Failure> {
    let n = lab.pick(1 << 15, 1 << 20);
    let mut balance = Curves::default();
    for density in [0.05, 0.35] {
        let rows = lab.run(&Trial::new(&scene(density), n, lab.pick(8, 50), &MANY).with_series())?;
        for (row, count) in MANY.iter().zip([4.0, 16.0, 64.0]) {
            let shares = rows.get(row).map_or(Vec::new(), |row| row.traced("pair_share_deviation"));
            balance.add(&format!("d={density}"), count, shares.into_iter().max_by(f64::total_cmp));
        }
    }
    let found = stage(lab, "pairing", &[0.05, 0.35])?;
    let source = "section 6.3, figure 3";
    let ((thin, _), (dense, ours)) = (found.speed_up(0.05), found.speed_up(0.35));
    let worst = balance.0.iter().flat_map(|curve| curve.1.iter().map(|point| point.1)).max_by(f64::total_cmp);
    let threads = cores() as f64;
    let clause = format!("pairing is {{}} times as fast on {} threads at d = 0.35", cores());
    let findings = vec![
        Finding::paired(
            "Pairing scales well with the threads.",
            source,
            &clause,
            dense,
            Rule::from(0.8 * threads).because("nearly ideal, as the abstract has it: at least 0.8 of the number of threads"),
        )
        .beside_ratio("{} times", ours),
        Finding::paired(
            "In dense scenes of many objects the speed-up is super-linear.",
            source,
            &clause,
            dense,
            Rule::from(threads).because("more than the number of threads"),
        ),
        Finding::new(
            "The speed-up increases with the density.",
            source,
            "the speed-up at d = 0.35 is {} times that at d = 0.05",
            dense.zip(thin).map(|(dense, thin)| dense.median / thin.median),
            Rule::from(1.02).because("an increase that is more than noise"),
        ),
        Finding::new(
            "The standard deviation of the threads' shares of pairs is below 1.5 points.",
            source,
            "the deviation is at most {} points, over 4 to 64 partitions and all frames",
            worst,
            Rule::up_to(1.5).because("the paper's bound"),
        )
        .paper_says("below 1.5 %"),
    ];
    let x = ("partitions", Scale::Log);
    let charts = vec![
        Chart::scaling("Pairing", "objects", "ms", &found.times),
        Chart::lines("Balance of the partitions", x, ("deviation of their shares, points", Scale::Linear), &balance),
    ];
    Ok(Report { setup: setup("densities 0.05 to 0.35; the balance with 4, 16 and 64 partitions"), charts, findings })
}

/// Objects per millisecond of the GPUs that section 8 compares with: 960,000 in 161 ms, and ten million in a second.
const GPUS: [f64; 2] = [960_000.0 / 161.0, 10_000.0];

pub fn fig4(lab: &mut Lab) -> Result<Report, Failure> {
    let sizes: &[usize] = lab.pick(&[1 << 14, 1 << 17], &[1 << 19, 1 << 20, 1 << 21]);
    let stages = ["sort", "candidates", "pairing"];
    let parallel: &str = &parallel();
    let rows_of = [parallel, OURS, "auto"];
    let mut charts = Vec::new();
    // Milliseconds for a million objects, and objects per millisecond of each row in the sparsest scene of the largest size.
    let (mut curves, mut million, mut rates) = (Curves::default(), [None; 2], [None; 3]);
    for &n in sizes {
        curves = Curves::default();
        for density in [0.05, 0.1, 0.2, 0.35] {
            if !lab.has_time_for(&format!("n = {n}, d = {density}")) {
                break;
            }
            let rows = lab.run(&Trial::new(&scene(density), n, lab.pick(24, 100), &rows_of).on_threads(cores()))?;
            stages.iter().for_each(|stage| curves.add(stage, density, rows.stage_ms(parallel, stage)));
            if density == 0.05 {
                rates = rows_of.map(|row| rows.ms(row).map(|ms| lab.objects(n) as f64 / ms));
            }
            if n == 1 << 20 {
                million = [rows.ms(parallel), rows.ms(OURS)];
            }
        }
        let axes = (("density", Scale::Linear), ("ms", Scale::Linear));
        charts.push(Chart::lines(&format!("Phases of algorithms 2 to 4, {n} objects"), axes.0, axes.1, &curves));
    }
    charts.reverse();
    let grows = |name: &str| at(curves.get(name), 0.35).zip(at(curves.get(name), 0.05)).map(|(dense, thin)| dense / thin);
    let ends: Vec<f64> = stages.iter().filter_map(|stage| last(curves.get(stage))).collect();
    let share = (ends.len() == 3).then(|| ends[2] / ends.iter().sum::<f64>());
    let source = "section 6.4, figure 4";
    let constant = Rule::only(0.8, 1.25).because("almost constant: less than a quarter either way, from d = 0.05 to 0.35");
    let mut findings = vec![
        Finding::new(
            "Sorting stays almost constant over the density.",
            source,
            "sorting takes {} times as long",
            grows("sort"),
            constant,
        ),
        Finding::new(
            "So does the generation of candidates.",
            source,
            "candidates take {} times as long",
            grows("candidates"),
            constant,
        ),
        Finding::new(
            "Pairing grows with the density.",
            source,
            "pairing takes {} times as long at d = 0.35 as at 0.05",
            grows("pairing"),
            Rule::from(1.25).because("more than what counts as constant above"),
        ),
        Finding::new(
            "Pairing dominates.",
            source,
            "pairing is {} of the phases at the highest density",
            share,
            Rule::from(0.5).because("more than all the rest"),
        ),
        Finding::new(
            "A million objects take 122 to 167 ms, by density.",
            "section 8, figure 4",
            "a million objects take {} ms at d = 0.35 (full runs only)",
            million[0],
            Rule::up_to(167.0).because("the paper's time, with its 16 cores; here there may be fewer"),
        )
        .paper_says("122 to 167 ms on 16 cores")
        .beside("{} ms", million[1]),
    ];
    findings.extend(against_gpus(rates));
    let setup = format!(
        "Scene `boxes`, densities 0.05 to 0.35. Algorithms 2 to 4: `{parallel}` on {} threads (the paper: 16 cores); the charts show their phases. Ours, \
         `{OURS}`, and `auto` run on the same threads. All take turns; times that passed.",
        cores()
    );
    Ok(Report { setup, charts, findings })
}

/// Section 8: the CPU compared with the GPUs of its time. The paper's own rate, a million in 122 ms, is between the two.
fn against_gpus([paper, ours, auto]: [Option<f64>; 3]) -> [Finding; 3] {
    let source = "section 8";
    let clause = &format!("algorithms 2 to 4 handle {{}} objects a millisecond on {} threads at d = 0.05", cores());
    [
        Finding::new(
            "The CPU keeps up with a Tesla C1060, which took 161 ms for 960,000 objects.",
            source,
            clause,
            paper,
            Rule::from(GPUS[0]).because("the GPU's rate, whatever the number of cores here"),
        )
        .paper_says("960,000 in 161 ms (GPU), a million in 122 ms (16 cores)")
        .beside("{} with `sweep`", ours),
        Finding::new(
            "A Tesla C2070 is faster than that: ten million boxes within a second.",
            source,
            clause,
            paper,
            Rule::up_to(GPUS[1]).because("the GPU's rate; the paper does not claim more"),
        )
        .paper_says("10,000,000 in 1 s (GPU)"),
        Finding::new(
            "The algorithm is a highly competitive choice for CPUs.",
            "sections 8 and 9",
            "`sweep`, our faster form of it, has {} of the rate of `auto`",
            ours.zip(auto).map(|(ours, auto)| ours / auto),
            Rule::from(0.5).because("highly competitive: at least half as fast as the fastest structure here"),
        ),
    ]
}
