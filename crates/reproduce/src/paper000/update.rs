//! Figures 25 and 27 to 30: the update, and the comparison with sweep and prune.

use serde_json::json;

use super::{LINEAR, MS, OBJECTS, OURS, PAPER};
use crate::curves::{exponent, geometric_mean, highest, last, median, ratio};
use crate::lab::{Curves, Lab, Trial};
use crate::report::{Chart, Report};
use crate::single::{Single, snapshot};
use crate::verdict::{Finding, Rule};
use broadphase_bench::failure::Failure;
use broadphase_bench::ms;
use broadphase_bench::ratios::Ratio;

const GRID: &str = PAPER;
const REINSERT: &str = "hash-grid-reinsert:paper=true";
const SWEEP: &str = "sweep-3axis";
/// The test of all pairs, one at a time and each once, as in the paper: the grid with a threshold that is never reached.
const ALL_PAIRS: &str = "hash-grid:paper=true:threshold=100000000";

pub fn fig25(lab: &mut Lab) -> Result<Report, Failure> {
    let sizes: &[usize] = lab.pick(&[2000, 8000, 32_000, 128_000], &[1000, 10_000, 100_000, 1_000_000]);
    let motions = [("motion 20 %", "uniform"), ("all change their cell", "uniform:motion=jump")];
    let (mut updates, mut shares, mut paired, mut beside) = (Curves::default(), Curves::default(), None, None);
    for &n in sizes {
        for (motion, scene) in motions {
            if !lab.has_time_for(&format!("n = {n}, {motion}")) {
                break;
            }
            let rows = lab.run(&Trial::new(scene, n, if n > 50_000 { 16 } else { 48 }, &[GRID, REINSERT, OURS, OUR_REINSERT]))?;
            if motion == motions[0].0 && n <= 50_000 {
                paired = rows.paired_update(REINSERT, GRID);
                beside = rows.paired_update(OUR_REINSERT, OURS);
            }
            for (name, row) in [("one by one", GRID), ("reinserted", REINSERT)] {
                updates.add(&format!("{name}, {motion}"), n as f64, rows.update_ms(row));
            }
            let share = rows.update_ms(GRID).zip(rows.ms(GRID)).map(|(update, frame)| update / frame);
            shares.add(motion, n as f64, share);
        }
    }
    let factors = |over: &str, under: &str| -> Option<f64> {
        let ratios = ratio(updates.get(over), updates.get(under));
        geometric_mean(&ratios.iter().map(|point| point.1).collect::<Vec<_>>())
    };
    let source = "section 4.3, figure 25";
    let findings = vec![
        Finding::paired(
            "Under normal motion (20 %), updating objects one by one is 40 % faster on average.",
            source,
            "under normal motion inserting anew takes {} times as long as updating one by one",
            paired,
            Rule::at_least(1.2, 1.0)
                .weaker("faster at all")
                .because("half of the paper's 40 %: the cost of an allocation differs between machines"),
        )
        .paper_says("40 %")
        .beside_ratio("{} times", beside),
        Finding::new(
            "Inserting anew does not depend on the motion.",
            source,
            "inserting anew takes {} times as long when all objects change their cell",
            factors("reinserted, all change their cell", "reinserted, motion 20 %"),
            Rule::only(0.8, 1.25).because("independent but for the caches: a quarter either way"),
        ),
        Finding::new(
            "The update is 30 % of a frame, quite likely less.",
            source,
            "the update is at most {} of a frame under normal motion",
            highest(shares.get("motion 20 %")),
            Rule::up_to(0.4).because("the paper's 30 % is for its density of pairs; ten points more for another machine"),
        ),
    ];
    let setup = "`hash-grid:paper=true` and `hash-grid-reinsert:paper=true`, with ours beside them, on `uniform`, 2 pairs per object, with moves of up to 20 % of the size and with moves \
                 that take every object into another cell. The time is that of the update alone; the share is that of the grid that \
                 moves objects one by one.";
    let charts = vec![
        Chart::scaling("Time of the update", OBJECTS, "ms", &updates),
        Chart::lines(
            "Share of the update in a frame, one by one",
            (OBJECTS, broadphase_bench::charts::Scale::Log),
            ("share", broadphase_bench::charts::Scale::Linear),
            &shares,
        ),
    ];
    Ok(Report { setup: setup.to_string(), charts, findings })
}

/// Our own grid, clearing its cells in every frame.
const OUR_REINSERT: &str = "hash-grid-reinsert";

/// The grid without its threshold: below that, it tests all pairs and inserts nothing.
const BARE: &str = "hash-grid:paper=true:threshold=0";

pub fn fig27(lab: &mut Lab) -> Result<Report, Failure> {
    let sizes: &[usize] = lab.pick(&[250, 500, 1000, 2000, 4000, 16_000, 64_000], &[250, 1000, 4000, 10_000, 100_000, 1_000_000]);
    let most = lab.pick(4000, 10_000); // the paper stopped there: a minute
    let mut curves = Curves::default();
    let progress = lab.progress("uniform", sizes.len());
    for &n in sizes {
        progress.step();
        let n = lab.objects(n);
        let (boxes, _) = snapshot("uniform", n, 1)?;
        let ids: Vec<u32> = (0..n as u32).collect();
        for algorithm in [BARE, SWEEP] {
            if (algorithm == SWEEP && n > most) || !lab.has_time_for(&format!("{algorithm}, n = {n}")) {
                continue;
            }
            let repeats = if n < 2000 { 5 } else { 1 };
            let times: Result<Vec<f64>, Failure> =
                (0..repeats).map(|_| Ok(ms(Single::insert(&mut [Single::new(algorithm, &boxes, 0)?], &ids)?))).collect();
            let time = median(times?.into_iter());
            lab.add_row(json!({ "scene": "uniform", "n": n, "algorithm": algorithm, "insert_one_by_one_ms": time }));
            curves.add(algorithm, n as f64, time);
        }
    }
    let source = "section 4.5, figure 27";
    let findings = vec![
        Finding::new(
            "Setting up the grid, object by object, is linear.",
            source,
            "the grid's set-up grows with exponent {}",
            exponent(curves.get(BARE)),
            LINEAR,
        )
        .paper_says("perfectly linear"),
        Finding::new(
            "Setting up sweep and prune is quadratic.",
            source,
            "that of sweep and prune with exponent {}",
            exponent(curves.get(SWEEP)),
            Rule::only(1.7, 2.3).because("2 with the tolerance of a fit through few points"),
        )
        .paper_says("quadratic; a minute for 10,000 objects"),
    ];
    let setup = "Objects of `uniform` are inserted one after the other, as in the paper's physics engine, into `hash-grid:paper=true` (without its \
                 shortcut for small numbers) and into `sweep-3axis`. Given all at once, both sort instead: that is the first frame of every benchmark.";
    let chart = Chart::scaling("Inserting all objects, one after the other", OBJECTS, "ms", &curves);
    Ok(Report { setup: setup.to_string(), charts: vec![chart], findings })
}

/// Times over the number of objects on one scene, and the paired ratio of sweep and prune to the grid at the largest number.
fn compare(lab: &mut Lab, scene: &str, rows: &[&str]) -> Result<(Curves, Option<Ratio>), Failure> {
    let sizes: &[usize] = lab.pick(&[128, 512, 2048, 8192, 20_000], &[128, 512, 2048, 8192, 20_000, 50_000]);
    let (mut curves, mut paired) = (Curves::default(), None);
    for &n in sizes {
        if !lab.has_time_for(&format!("n = {n}")) {
            break;
        }
        let measured = lab.run(&Trial::new(scene, n, if n > 10_000 { 24 } else { 48 }, rows))?;
        paired = measured.paired(SWEEP, GRID).or(paired);
        for row in rows {
            curves.add(row, n as f64, measured.ms(row));
        }
    }
    Ok((curves, paired))
}

fn report(motion: &str, curves: &Curves, findings: Vec<Finding>) -> Report {
    let mut setup =
        format!("`uniform`, {motion}. `{SWEEP}` is incremental sweep and prune on three axes, as in the paper's engine.");
    if !curves.get(ALL_PAIRS).is_empty() {
        setup.push_str(&format!(" `{ALL_PAIRS}` tests all pairs one at a time, each once, as the paper's does."));
    }
    Report { setup, charts: vec![Chart::scaling("Time of a frame", OBJECTS, MS, curves)], findings }
}

pub fn fig28(lab: &mut Lab) -> Result<Report, Failure> {
    let (curves, paired) = compare(lab, "uniform", &[GRID, SWEEP, ALL_PAIRS, OURS])?;
    let slower = ratio(curves.get(SWEEP), curves.get(ALL_PAIRS));
    let source = "section 4.5, figure 28";
    let findings = vec![
        Finding::cases_by(
            "At 20 % motion, sweep and prune is slower even than testing all pairs.",
            source,
            "sweep and prune is slower than all pairs at {} numbers of objects",
            &slower.iter().map(|point| Some(point.1 > 1.0)).collect::<Vec<_>>(),
            Rule::ALL.weaker("at some numbers of objects").because("the text makes no exception"),
        )
        .paper_says("slower than all pairs"),
        Finding::paired(
            "The grid is far ahead of both.",
            source,
            "at the largest number sweep and prune takes {} times as long as the grid",
            paired,
            Rule::from(5.0)
                .because("a devastating drop is read as at least what the paper's grid gains at 1 % motion, five times"),
        )
        .paper_says("vastly superior")
        .beside("{} times as long as ours", last(&ratio(curves.get(SWEEP), curves.get(OURS)))),
    ];
    Ok(report("moves of up to 20 % of the size, 2 pairs per object", &curves, findings))
}

pub fn fig29(lab: &mut Lab) -> Result<Report, Failure> {
    let (curves, _) = compare(lab, "uniform:motion=0.01", &[GRID, SWEEP, OURS])?;
    let source = "section 4.5, figure 29";
    let findings = vec![
        Finding::new(
            "At 1 % motion, the grid is still up to five times as fast as sweep and prune.",
            source,
            "sweep and prune takes up to {} times as long as the grid",
            highest(&ratio(curves.get(SWEEP), curves.get(GRID))),
            Rule::within((2.5, 7.5), (1.2, 20.0)).weaker("the grid is faster").because("half of the paper's five to half more"),
        )
        .paper_says("up to five times")
        .beside("{} times as long as ours", highest(&ratio(curves.get(SWEEP), curves.get(OURS)))),
        Finding::new(
            "Sweep and prune scales clearly worse than linear.",
            source,
            "its time grows with exponent {}",
            exponent(curves.get(SWEEP)),
            Rule::from(1.15).because("above what counts as linear"),
        )
        .paper_says("clearly worse than linear"),
    ];
    Ok(report("moves of up to 1 % of the size, 2 pairs per object", &curves, findings))
}

pub fn fig30(lab: &mut Lab) -> Result<Report, Failure> {
    let (curves, _) = compare(lab, "uniform:motion=0.01:sparse=1", &[GRID, SWEEP, OURS])?;
    let large: Vec<_> = ratio(curves.get(GRID), curves.get(SWEEP)).into_iter().filter(|point| point.0 > 600.0).collect();
    let source = "section 4.5, figure 30";
    let findings = vec![
        Finding::new(
            "With objects far apart, sweep and prune is two to three times as fast as the grid.",
            source,
            "the grid takes {} times as long as sweep and prune",
            geometric_mean(&large.iter().map(|point| point.1).collect::<Vec<_>>()),
            Rule::within((1.5, 4.0), (1.0, 8.0))
                .weaker("sweep and prune is faster")
                .because("the paper's two to three times with half more on either side"),
        )
        .paper_says("two to three times")
        .beside("ours takes {} times as long", last(&ratio(curves.get(OURS), curves.get(SWEEP)))),
        Finding::new(
            "Sweep and prune scales linearly here.",
            source,
            "sweep and prune grows with exponent {}",
            exponent(curves.get(SWEEP)),
            LINEAR,
        ),
        Finding::new(
            "So does the grid.",
            source,
            "the grid with exponent {}",
            exponent(&super::from(curves.get(GRID), 2048.0)),
            LINEAR,
        ),
    ];
    Ok(report("sizes divided by 100,000, so that nothing collides, and moves of up to 1 % of them", &curves, findings))
}
