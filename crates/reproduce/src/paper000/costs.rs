//! Figures 23, 24 and 26, and the memory: the hierarchy factor, and the worst cases.

use super::{MS, OBJECTS, OURS, PAPER, from};
use crate::curves::{exponent, last, lowest, ratio};
use crate::lab::{Curves, Lab, Trial};
use crate::report::{Chart, Report};
use crate::verdict::{Finding, Rule};
use broadphase_bench::charts::Scale;
use broadphase_bench::failure::Failure;

/// Hierarchy factors, the paper's best one in the middle.
const FACTORS: [(f64, &str); 6] = [
    (1.2, "hash-grid:paper=true:factor=1.2"),
    (1.5, "hash-grid:paper=true:factor=1.5"),
    (2.0, "hash-grid:paper=true:factor=2"),
    (3.0, "hash-grid:paper=true:factor=3"),
    (4.0, "hash-grid:paper=true:factor=4"),
    (8.0, "hash-grid:paper=true:factor=8"),
];

/// Times over the factor, a curve for each number of objects, and the number of grids.
fn sweep(lab: &mut Lab, scene: &str) -> Result<(Curves, Curves), Failure> {
    let sizes: &[usize] = lab.pick(&[10_000, 40_000], &[10_000, 100_000, 1_000_000]);
    let rows = FACTORS.map(|factor| factor.1);
    let (mut times, mut grids) = (Curves::default(), Curves::default());
    for &n in sizes {
        if !lab.has_time_for(&format!("n = {n}")) {
            break;
        }
        let measured = lab.run(&Trial::new(scene, n, if n > 100_000 { 16 } else { 32 }, &rows))?;
        for (factor, row) in FACTORS {
            times.add(&format!("{n} objects"), factor, measured.ms(row));
            grids.add(&format!("{n} objects"), factor, measured.extra(row, "levels"));
        }
    }
    Ok((times, grids))
}

fn over_factor(title: &str, y: &str, curves: &Curves) -> Chart {
    Chart::lines(title, ("hierarchy factor", Scale::Linear), (y, Scale::Linear), curves)
}

/// The curve of the largest number of objects.
fn largest(curves: &Curves) -> &[(f64, f64)] {
    curves.0.last().map_or(&[], |curve| &curve.1)
}

pub fn fig23(lab: &mut Lab) -> Result<Report, Failure> {
    let (times, _) = sweep(lab, "uniform")?;
    let points = largest(&times);
    let steps: Vec<Option<bool>> = points.windows(2).map(|pair| Some(pair[0].1 <= pair[1].1 * 1.03)).collect();
    let whole = points.first().zip(points.last()).map(|(small, large)| large.1 / small.1);
    let source = "section 4.2, figure 23";
    let findings = vec![
        Finding::cases_by(
            "With objects of one size, the smaller the factor the better.",
            source,
            "a smaller factor is as fast or faster in {} steps",
            &steps,
            Rule::EVERY.because("each step may lose 3 % to noise"),
        )
        .paper_says("the less objects per cell, the better"),
        Finding::new(
            "Fewer objects per cell increase the performance.",
            source,
            "factor 8 takes {} times as long as factor 1.2",
            whole,
            Rule::from(1.2).because(
                "cells of factor 8 have 17 times the volume of those of factor 1.2: a fifth is far below what that must cost",
            ),
        )
        .paper_says("the smaller the faster, no figure in the text"),
    ];
    let setup = "`hash-grid:paper=true` on `uniform` (one size, 2 pairs per object), the factor from 1.2 to 8: cells are sqrt(factor) times as \
                 large as the first object. The rule allows 3 % of noise for each step.";
    Ok(Report { setup: setup.to_string(), charts: vec![over_factor("Time over the factor, one size", MS, &times)], findings })
}

pub fn fig24(lab: &mut Lab) -> Result<Report, Failure> {
    let (times, grids) = sweep(lab, "uniform:sizes=12")?;
    let points = largest(&times);
    let above = lowest(points).zip(points.iter().find(|point| point.0 == 2.0)).map(|(best, two)| two.1 / best.1);
    let best = lowest(points).map_or(f64::NAN, |point| point.0);
    let levels = largest(&grids);
    // Grids are whole numbers: two factors that are close may need as many, but none may need more than a smaller one.
    let mut fewer: Vec<Option<bool>> = levels.windows(2).map(|pair| Some(pair[0].1 >= pair[1].1)).collect();
    fewer.push(levels.first().zip(levels.last()).map(|(small, large)| small.1 > large.1));
    let source = "section 4.2, figure 24";
    let findings = vec![
        Finding::new(
            "Factor 2.0 is the best choice.",
            source,
            &format!("factor {best} is the fastest, and factor 2 takes {{}} times as long"),
            above,
            Rule::at_most(1.05, 1.2).weaker("within a fifth of the best").because("5 % is what medians of a frame scatter by"),
        )
        .paper_says("2.0"),
        Finding::cases_by(
            "The larger the factor, the fewer grids.",
            source,
            "no step to a larger factor needs more grids, and the largest fewer than the smallest, in {} comparisons",
            &fewer,
            Rule::EVERY
                .because("grids are counted, so there is no noise; as many in a step are allowed, since they are whole numbers"),
        )
        .paper_says("fewer"),
    ];
    let setup = "`hash-grid:paper=true` on `uniform:sizes=12` (2 pairs per object), the factor from 1.2 to 8.";
    let charts = vec![
        over_factor("Time over the factor, sizes 1 to 12", MS, &times),
        over_factor("Grids over the factor", "grids", &grids),
    ];
    Ok(Report { setup: setup.to_string(), charts, findings })
}

/// Worst cases: name, scene.
const WORST: [(&str, &str); 4] = [
    ("cubes", "uniform"),
    ("long objects, 10x1x1", "uniform:shape=long"),
    ("flat objects, 10x10x1", "uniform:shape=flat"),
    ("a world of 1024:1:1", "uniform:world=1024"),
];

pub fn fig26(lab: &mut Lab) -> Result<Report, Failure> {
    let sizes: &[usize] = lab.pick(&[4000, 16_000, 64_000], &[1000, 10_000, 100_000, 1_000_000]);
    let mut curves = Curves::default();
    for &n in sizes {
        for (name, scene) in WORST {
            if !lab.has_time_for(&format!("n = {n}, {name}")) {
                break;
            }
            let rows = lab.run(&Trial::new(scene, n, 16, &[PAPER, OURS]))?;
            curves.add(name, n as f64, rows.ms(PAPER));
            curves.add(&format!("{name}, our grid"), n as f64, rows.ms(OURS));
        }
    }
    let against = |name: &str| last(&ratio(curves.get(name), curves.get(WORST[0].0)));
    let ours = |name: &str| last(&ratio(curves.get(&format!("{name}, our grid")), curves.get("cubes, our grid")));
    let source = "section 4.4, figure 26";
    let linear: Vec<Option<bool>> = WORST
        .iter()
        .map(|(name, _)| exponent(&from(curves.get(name), 4000.0)).map(|exponent| (0.85..=1.15).contains(&exponent)))
        .collect();
    let findings = vec![
        Finding::new(
            "Long objects (10x1x1) take up to five times as long.",
            source,
            "long objects take {} times as long as cubes",
            against(WORST[1].0),
            Rule::within((2.5, 7.5), (1.5, 10.0))
                .weaker("clearly slower")
                .because("half of the paper's five to half more: another machine and another density of pairs"),
        )
        .paper_says("up to five times")
        .beside("{} times", ours(WORST[1].0)),
        Finding::new(
            "A world of 1024:1:1 costs 50 %.",
            source,
            "the long world takes {} times as long",
            against(WORST[3].0),
            Rule::within((1.25, 2.0), (1.1, 3.0))
                .weaker("a moderate loss")
                .because("a drop of 50 % in performance is between 1.5 and 2 times the time; 1.25 allows for another machine"),
        )
        .paper_says("50 %")
        .beside("{} times", ours(WORST[3].0)),
        Finding::cases_by(
            "In either case the scaling stays linear for large numbers.",
            source,
            "the exponent is between 0.85 and 1.15 in {} cases",
            &linear,
            Rule::EVERY.because("1 with the tolerance of a fit through three points"),
        )
        .paper_says("nearly perfect linear scaling"),
    ];
    let setup = "`uniform` with cubes, long and flat objects and a world of 1024:1:1, 2 pairs per object each. The grid is \
                 `hash-grid:paper=true`; our own, which gives common shapes cells of their shape and grows along the axis that needs it, \
                 is beside it.";
    Ok(Report { setup: setup.to_string(), charts: vec![Chart::scaling("Worst cases", OBJECTS, MS, &curves)], findings })
}

/// The bytes of the paper's example: 100,000 objects in 25,000 of 128³ cells.
const PAPER_BYTES: f64 = 67_183_564.0;

pub fn memory(lab: &mut Lab) -> Result<Report, Failure> {
    let sizes: &[usize] = lab.pick(&[1000, 10_000, 100_000, 200_000], &[1000, 10_000, 100_000, 1_000_000]);
    let mut curves = Curves::default();
    for &n in sizes {
        for (name, scene) in [("one size", "uniform"), ("sizes 1 to 12", "uniform:sizes=12")] {
            if !lab.has_time_for(&format!("n = {n}, {name}")) {
                break;
            }
            let rows = lab.run(&Trial::new(scene, n, 4, &[PAPER, OURS]))?;
            for (row, of) in [("", PAPER), (", our grid", OURS)] {
                let bytes = rows.get(of).and_then(|row| row.facts.bytes);
                curves.add(&format!("{name}{row}"), n as f64, bytes.map(|bytes| bytes as f64));
            }
        }
    }
    let of_paper = |name: &str| curves.get(name).iter().find(|point| point.0 == 100_000.0).map(|point| point.1 / PAPER_BYTES);
    let source = "section 3.1";
    let findings = vec![
        Finding::new(
            "100,000 objects in 128³ cells need 67,183,564 bytes (64 MB), at worst 82 MB.",
            source,
            "the paper's grid needs {} of 64 MB for 100,000 objects",
            of_paper("one size"),
            Rule::only(0.6, 82.0 / 64.0)
                .because("our cell has an index in place of a pointer, 16 bytes for 24, which makes 0.74; with all objects alone in their cells it is 82 MB"),
        )
        .paper_says("64 MB")
        .beside("{} of it", of_paper("one size, our grid")),
        Finding::new(
            "Memory is proportional to the number of objects.",
            "section 3.9",
            "from 10,000 objects on, memory grows with exponent {}",
            exponent(&from(curves.get("one size"), 10_000.0)),
            Rule::only(0.6, 1.4).because("a grid grows eightfold at once, so that two sizes may be up to a factor of eight off the line, which a fit over a decade sees as 0.4"),
        )
        .paper_says("O(N)")
        .beside("exponent {}", exponent(&from(curves.get("one size, our grid"), 10_000.0))),
    ];
    curves.add("the paper's example", 100_000.0, Some(PAPER_BYTES));
    let setup = "Bytes that `hash-grid:paper=true` and `hash-grid` hold after four frames of `uniform`. A grid grows by doubling, so the memory per \
                 object goes up and down.";
    let charts = vec![
        Chart::scaling("Memory", OBJECTS, "bytes", &curves),
        Chart::scaling("Memory per object", OBJECTS, "bytes an object", &curves.per_x()),
    ];
    Ok(Report { setup: setup.to_string(), charts, findings })
}
