//! Figures 1 to 4: each phase over the number of objects and the density.

use super::{PARALLEL, SEQUENTIAL};
use crate::curves::{highest, last, ratio};
use crate::lab::{Curves, Lab, Rows, Trial, cores, has_free_cores};
use crate::report::{Chart, Report};
use crate::verdict::{Finding, Rule};
use broadphase_bench::charts::Scale;
use broadphase_bench::failure::Failure;

const DENSITIES: [f64; 3] = [0.05, 0.2, 0.35];

fn scene(density: f64) -> String {
    format!("boxes:d={density}")
}

/// The sequential and the parallel form, one after the other, with figures of every frame.
fn both(lab: &mut Lab, density: f64, n: usize) -> Result<(Rows, Rows), Failure> {
    let frames = lab.pick(12, 100);
    let alone = lab.run(&Trial::new(&scene(density), n, frames, &[SEQUENTIAL]).with_series())?;
    let together = lab.run(&Trial::new(&scene(density), n, frames, &[PARALLEL]).with_series().on_threads(cores()))?;
    Ok((alone, together))
}

fn sizes(lab: &Lab) -> &'static [usize] {
    lab.pick(&[1 << 13, 1 << 15, 1 << 17], &[1 << 15, 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 21])
}

/// Times of a stage, sequential and parallel, for some densities.
fn stage(lab: &mut Lab, stage: &str, densities: &[f64]) -> Result<(Curves, Vec<f64>), Failure> {
    let (mut curves, mut dispersions) = (Curves::default(), Vec::new());
    for &n in sizes(lab) {
        for &density in densities {
            if !lab.has_time_for(&format!("n = {n}, d = {density}")) {
                break;
            }
            let (alone, together) = both(lab, density, n)?;
            curves.add(&format!("sequential, d={density}"), n as f64, alone.stage_ms(SEQUENTIAL, stage));
            curves.add(&format!("parallel, d={density}"), n as f64, together.stage_ms(PARALLEL, stage));
            for name in ["dispersion_primary", "dispersion_secondary"] {
                dispersions.extend(together.get(PARALLEL).iter().flat_map(|row| row.traced(name)));
            }
        }
    }
    Ok((curves, dispersions))
}

/// How many times as fast the parallel form is at the largest number of objects; unknown without free cores.
fn speed_up(lab: &mut Lab, curves: &Curves, density: f64) -> Option<f64> {
    let factors = ratio(curves.get(&format!("sequential, d={density}")), curves.get(&format!("parallel, d={density}")));
    last(&factors).filter(|_| has_free_cores(lab))
}

fn setup(what: &str) -> String {
    format!(
        "Scene `boxes`, {what}. Sequential: `{SEQUENTIAL}`, one thread. Parallel: `{PARALLEL}`, {} threads (the paper: 16 cores). Times that \
         passed, of the fastest frame.",
        cores()
    )
}

pub fn fig1(lab: &mut Lab) -> Result<Report, Failure> {
    let (mut curves, dispersions) = stage(lab, "sort", &[0.35])?;
    let largest = curves.get("sequential, d=0.35").last().copied();
    let mut density = None;
    if let Some((n, dense)) = largest {
        let thin = lab.run(&Trial::new(&scene(0.05), n as usize, lab.pick(12, 100), &[SEQUENTIAL]))?;
        let sparse = thin.stage_ms(SEQUENTIAL, "sort");
        curves.add("sequential, d=0.05", n, sparse);
        density = sparse.map(|sparse| dense / sparse);
    }
    let source = "section 6.1, figure 1";
    let findings = vec![
        Finding::new(
            "Sorting in parallel is faster, if modestly so (3.0 to 4.8 times on 16 cores).",
            source,
            &format!("sorting is {{}} times as fast on {} threads", cores()),
            speed_up(lab, &curves, 0.35),
            Rule::at_least(1.15, 1.0),
        ),
        Finding::new(
            "The dispersion D was always below 0.01.",
            source,
            "D is at most {}",
            dispersions.iter().copied().max_by(f64::total_cmp),
            Rule::at_most(0.01, 0.02),
        ),
        Finding::new(
            "The density affects sorting only slightly.",
            source,
            "d = 0.35 takes {} times as long as d = 0.05",
            density,
            Rule::within((0.85, 1.2), (0.7, 1.5)),
        ),
    ];
    let charts = vec![Chart::scaling("Sorting", "objects", "ms", &curves)];
    Ok(Report { setup: setup("density 0.35"), charts, findings })
}

pub fn fig2(lab: &mut Lab) -> Result<Report, Failure> {
    let (curves, _) = stage(lab, "candidates", &DENSITIES)?;
    let source = "section 6.2, figure 2";
    let [thin, _, dense] = DENSITIES.map(|density| speed_up(lab, &curves, density));
    let findings = vec![
        Finding::new(
            "Generating candidates in parallel has a good speed-up.",
            source,
            &format!("candidates are generated {{}} times as fast on {} threads", cores()),
            dense,
            Rule::at_least(1.3, 1.0),
        ),
        Finding::new(
            "The speed-up decreases slightly with the density, in some cases.",
            source,
            "the speed-up at d = 0.35 is {} of that at d = 0.05",
            dense.zip(thin).map(|(dense, thin)| dense / thin),
            Rule::within((0.7, 1.0), (0.5, 1.1)),
        ),
    ];
    let charts = vec![Chart::scaling("Candidates", "objects", "ms", &curves)];
    Ok(Report { setup: setup("densities 0.05 to 0.35"), charts, findings })
}

/// Partitions on one thread: name of the row, number.
const PARTITIONS: [(&str, f64); 4] = [
    ("sweep:partitions=1:active=tree", 1.0),
    ("sweep:partitions=4:active=tree", 4.0),
    ("sweep:partitions=16:active=tree", 16.0),
    ("sweep:partitions=64:active=tree", 64.0),
];

pub fn fig3(lab: &mut Lab) -> Result<Report, Failure> {
    let (n, frames) = lab.pick((1 << 16, 8), (1 << 20, 50));
    let (mut work, mut balance) = (Curves::default(), Curves::default());
    for density in DENSITIES {
        let rows = lab.run(&Trial::new(&scene(density), n, frames, &PARTITIONS.map(|row| row.0)).with_series())?;
        let whole = rows.stage_ms(PARTITIONS[0].0, "pairing");
        for (row, count) in PARTITIONS {
            let part = rows.stage_ms(row, "pairing");
            work.add(&format!("d={density}"), count, whole.zip(part).map(|(whole, part)| whole / part));
            if count > 1.0 {
                let shares = rows.get(row).map_or(Vec::new(), |row| row.traced("pair_share_deviation"));
                balance.add(&format!("d={density}"), count, shares.into_iter().max_by(f64::total_cmp));
            }
        }
    }
    let (curves, _) = stage(lab, "pairing", &[0.05, 0.35])?;
    let source = "section 6.3, figure 3";
    let worst = balance.0.iter().filter_map(|curve| highest(&curve.1)).max_by(f64::total_cmp);
    let findings = vec![
        Finding::new(
            "Pairing scales well with the threads.",
            source,
            &format!("pairing is {{}} times as fast on {} threads at d = 0.35", cores()),
            speed_up(lab, &curves, 0.35),
            Rule::at_least(1.4, 1.1),
        ),
        Finding::new(
            "The standard deviation of the partitions' shares of pairs is below 1.5 points.",
            source,
            "the deviation is at most {} points, over 4 to 64 partitions and all frames",
            worst,
            Rule::at_most(1.5, 3.0),
        ),
        Finding::new(
            "In dense scenes the speed-up is super-linear: partitions save work.",
            source,
            "16 partitions on one thread are {} times as fast as one at d = 0.35",
            crate::curves::at(work.get("d=0.35"), 16.0),
            Rule::at_least(1.1, 1.0),
        ),
        Finding::new(
            "It is super-linear because of density.",
            source,
            "the saving at d = 0.35 is {} times that at d = 0.05",
            crate::curves::at(&ratio(work.get("d=0.35"), work.get("d=0.05")), 16.0),
            Rule::at_least(1.05, 1.0),
        ),
    ];
    let x = ("partitions", Scale::Log);
    let charts = vec![
        Chart::scaling("Pairing", "objects", "ms", &curves),
        Chart::ratios("Work saved by partitions, one thread", x, "times as fast as one partition", &work),
        Chart::lines("Balance of the partitions", x, ("deviation of their shares, points", Scale::Linear), &balance),
    ];
    Ok(Report { setup: setup("densities 0.05 to 0.35; partitions with 1 thread"), charts, findings })
}

pub fn fig4(lab: &mut Lab) -> Result<Report, Failure> {
    let sizes: &[usize] = lab.pick(&[1 << 14, 1 << 16], &[1 << 19, 1 << 20, 1 << 21]);
    let stages = ["sort", "candidates", "pairing"];
    let mut charts = Vec::new();
    let (mut curves, mut total) = (Curves::default(), None);
    for &n in sizes {
        curves = Curves::default();
        for density in [0.05, 0.1, 0.2, 0.3, 0.35] {
            if !lab.has_time_for(&format!("n = {n}, d = {density}")) {
                break;
            }
            let trial = Trial::new(&scene(density), n, lab.pick(10, 100), &[PARALLEL]);
            let rows = lab.run(&trial.on_threads(cores()))?;
            stages.iter().for_each(|stage| curves.add(stage, density, rows.stage_ms(PARALLEL, stage)));
            total = if n == 1 << 20 { rows.ms(PARALLEL) } else { total };
        }
        let axes = (("density", Scale::Linear), ("ms", Scale::Linear));
        charts.push(Chart::lines(&format!("Phases, {n} objects"), axes.0, axes.1, &curves));
    }
    let grows = |name: &str| {
        let points = curves.get(name);
        points.first().zip(points.last()).map(|(thin, dense)| dense.1 / thin.1)
    };
    let ends: Vec<f64> = stages.iter().filter_map(|stage| last(curves.get(stage))).collect();
    let share = (ends.len() == 3).then(|| ends[2] / ends.iter().sum::<f64>());
    let source = "section 6.4, figure 4";
    let findings = vec![
        Finding::new(
            "Sorting stays almost constant over the density.",
            source,
            "sorting takes {} times as long at d = 0.35 as at 0.05",
            grows("sort"),
            Rule::within((0.8, 1.25), (0.6, 1.6)),
        ),
        Finding::new(
            "So does the generation of candidates.",
            source,
            "candidates {} times",
            grows("candidates"),
            Rule::within((0.8, 1.25), (0.6, 1.6)),
        ),
        Finding::new("Pairing grows with the density.", source, "pairing {} times", grows("pairing"), Rule::at_least(1.5, 1.1)),
        Finding::new("Pairing dominates.", source, "pairing is {} of the frame at d = 0.35", share, Rule::at_least(0.5, 0.34)),
        Finding::new(
            "A million objects take 122 to 167 ms, by density (16 cores).",
            "section 8, figure 4",
            "a million objects take {} ms (full runs only)",
            total,
            Rule::at_most(167.0, 1000.0),
        ),
    ];
    charts.reverse();
    Ok(Report { setup: setup("densities 0.05 to 0.35, the parallel form"), charts, findings })
}
