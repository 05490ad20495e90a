//! Figures 20 to 22: how the cost grows with the number of objects.

use super::{MS, OBJECTS, from};
use crate::curves::{at, exponent, last, median, ratio};
use crate::lab::{Curves, Lab, Trial};
use crate::report::{Chart, Report};
use crate::verdict::{Finding, Rule};
use broadphase_bench::failure::Failure;

const ALL_PAIRS: &str = "brute-force";
/// The hash grid for small numbers of objects too, where it tests all pairs by default.
const BARE: &str = "hash-grid:threshold=0";

pub fn fig20(lab: &mut Lab) -> Result<Report, Failure> {
    let sizes: &[usize] = lab.pick(&[32, 128, 512, 2048, 8192, 32_768], &[32, 128, 512, 2048, 8192, 32_768, 131_072]);
    let mut curves = Curves::default();
    for &n in sizes {
        if !lab.has_time_for(&format!("n = {n}")) {
            break;
        }
        let one = lab.run(&Trial::new("uniform", n, 24, &["hash-grid", BARE, ALL_PAIRS]))?;
        let many = lab.run(&Trial::new("uniform:sizes=12", n, 24, &["hash-grid"]))?;
        for name in ["hash-grid", BARE, ALL_PAIRS] {
            curves.add(name, n as f64, one.ms(name));
        }
        curves.add("hash-grid, sizes 1 to 12", n as f64, many.ms("hash-grid"));
    }
    let source = "section 4.1, figure 20";
    let grown = |name: &str| exponent(&from(curves.get(name), 2048.0));
    let small = ratio(curves.get(BARE), curves.get(ALL_PAIRS)).first().map(|point| point.1);
    let findings = vec![
        Finding::new(
            "The hash grid's time grows linearly with the number of objects.",
            source,
            "from 2,048 objects on the grid's time grows with exponent {}",
            grown("hash-grid"),
            Rule::LINEAR,
        ),
        Finding::new(
            "Sizes that differ by up to 12 lead to the same linear scaling.",
            source,
            "with sizes 1 to 12 with exponent {}",
            grown("hash-grid, sizes 1 to 12"),
            Rule::LINEAR,
        ),
        Finding::new("Testing all pairs is quadratic.", source, "all pairs with exponent {}", grown(ALL_PAIRS), Rule::QUADRATIC),
        Finding::new(
            "For a small number of objects, testing all pairs is faster than the grid.",
            source,
            "the bare grid takes {} times as long as all pairs for 32 objects",
            small,
            Rule::at_least(1.1, 1.0),
        ),
    ];
    let setup = "Scene `uniform`: cubes, two pairs per object, moves of up to 20 % of the size; and the same with sizes 1 to 12. \
                 `hash-grid` tests all pairs up to 600 objects, as the paper proposes; `threshold=0` is the bare grid.";
    Ok(Report { setup: setup.to_string(), charts: vec![Chart::scaling("Time of a frame", OBJECTS, MS, &curves)], findings })
}

pub fn fig21(lab: &mut Lab) -> Result<Report, Failure> {
    let sizes: &[usize] = lab.pick(&[4096, 16_384, 65_536, 262_144], &[4096, 16_384, 65_536, 262_144, 1_048_576]);
    let scenes = [("one size", "uniform"), ("sizes 1 to 12", "uniform:sizes=12")];
    let mut curves = Curves::default();
    for &n in sizes {
        for (name, scene) in scenes {
            if !lab.has_time_for(&format!("n = {n}, {name}")) {
                break;
            }
            let mut setups = Vec::new();
            for _ in 0..5 {
                let rows = lab.run(&Trial::new(scene, n, 1, &["hash-grid"]))?;
                setups.extend(rows.update_ms("hash-grid"));
            }
            curves.add(name, n as f64, median(setups.into_iter()));
        }
    }
    let source = "section 4.1, figure 21";
    let findings = vec![
        Finding::new(
            "Setting up scales linearly, or slightly better.",
            source,
            "the set-up grows with exponent {}",
            exponent(curves.get("one size")),
            Rule::within((0.7, 1.15), (0.6, 1.3)),
        ),
        Finding::new(
            "Several grids instead of one are hardly noticeable.",
            source,
            "with sizes 1 to 12 it takes {} times as long at the largest number",
            last(&ratio(curves.get("sizes 1 to 12"), curves.get("one size"))),
            Rule::within((0.7, 1.3), (0.5, 2.0)),
        ),
    ];
    let setup = "All objects of `uniform` are given to an empty `hash-grid` at once; the time until its structure stands, without the \
                 search for pairs. Median of five. The paper adds one object after the other (see 000-fig27 for that).";
    let chart = Chart::scaling("Time to set up the hash grid", OBJECTS, "ms", &curves);
    Ok(Report { setup: setup.to_string(), charts: vec![chart], findings })
}

/// Scenarios of figure 22. The text does not name the paper's densities; two pairs per object is the one it uses everywhere else.
const SCENARIOS: [(&str, &str); 4] = [
    ("half a pair, one size", "uniform:k=0.5"),
    ("2 pairs, one size", "uniform"),
    ("2 pairs, sizes 1 to 12", "uniform:sizes=12"),
    ("8 pairs, one size", "uniform:k=8"),
];

pub fn fig22(lab: &mut Lab) -> Result<Report, Failure> {
    let sizes: &[usize] =
        lab.pick(&[1000, 4000, 10_000, 32_000, 100_000, 200_000], &[1000, 4000, 10_000, 32_000, 100_000, 320_000, 1_000_000]);
    let mut curves = Curves::default();
    for &n in sizes {
        for (name, scene) in SCENARIOS {
            if !lab.has_time_for(&format!("n = {n}, {name}")) {
                break;
            }
            let rows = lab.run(&Trial::new(scene, n, if n > 50_000 { 10 } else { 24 }, &["hash-grid"]))?;
            curves.add(name, n as f64, rows.ms("hash-grid"));
        }
    }
    let source = "section 4.1, figure 22";
    let normal = curves.get("2 pairs, one size");
    let (left, right) = normal.split_at(normal.len() / 2);
    let worse = exponent(left).zip(exponent(right)).map(|(left, right)| left - right);
    let at_end = |name: &str, than: &str| last(&ratio(curves.get(name), curves.get(than)));
    let findings = vec![
        Finding::new(
            "For large numbers of objects the scaling is linear.",
            source,
            "the right half of the curve has exponent {}",
            exponent(right),
            Rule::LINEAR,
        ),
        Finding::new(
            "For small numbers, while data leaves the cache, it is clearly worse than linear.",
            source,
            "the left half's exponent is larger by {}",
            worse,
            Rule::at_least(0.1, 0.03),
        ),
        Finding::new(
            "The more collisions occur, the more time is required.",
            source,
            "8 pairs per object take {} times as long as half a pair",
            at_end("8 pairs, one size", "half a pair, one size"),
            Rule::at_least(1.3, 1.05),
        ),
        Finding::new(
            "The more grids, the more time is required.",
            source,
            "sizes 1 to 12 take {} times as long as one size",
            at_end("2 pairs, sizes 1 to 12", "2 pairs, one size"),
            Rule::at_least(1.1, 1.0),
        ),
        Finding::new(
            "10,000 objects with 20,000 pairs take 10 to 20 ms (on a computer of 2007).",
            source,
            "10,000 objects take {} ms",
            at(normal, 10_000.0),
            Rule::at_most(20.0, 40.0),
        ),
    ];
    let setup = "`hash-grid` on `uniform` with half a pair, 2 and 8 pairs per object, and with sizes 1 to 12 (several grids).";
    let charts = vec![
        Chart::scaling("Time of a frame", OBJECTS, MS, &curves),
        Chart::scaling("Time of a frame per object", OBJECTS, "ms an object", &curves.per_x()),
    ];
    Ok(Report { setup: setup.to_string(), charts, findings })
}
