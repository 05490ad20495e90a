//! Figures 20 to 22: how the cost grows with the number of objects.

use super::{LINEAR, MS, OBJECTS, OURS, PAPER, from};
use crate::curves::{at, exponent, falls_to_one, geometric_mean, last, median, ratio};
use crate::lab::{Curves, Lab, Trial};
use crate::report::{Chart, Report};
use crate::verdict::{Finding, Rule};
use broadphase_bench::failure::Failure;

/// The paper's test of all pairs, one box with one other at a time: the grid with a threshold that is never reached.
const ALL_PAIRS: &str = "hash-grid:paper=true:threshold=100000000";
/// The paper's grid without a threshold, so that small numbers of objects are in the grid too.
const BARE: &str = "hash-grid:paper=true:threshold=0";
/// The most objects of which all pairs are tested: above, a frame would take many seconds.
const MOST_FOR_ALL_PAIRS: usize = 32_768;
/// The scenes of one size and of sizes 1 to 12.
const SCENES: [(&str, &str); 2] = [("one size", "uniform"), ("sizes 1 to 12", "uniform:sizes=12")];

pub fn fig20(lab: &mut Lab) -> Result<Report, Failure> {
    let sizes: &[usize] = lab.pick(&[32, 128, 512, 2048, 8192, 20_000], &[32, 128, 512, 2048, 8192, 32_768, 131_072]);
    let mut curves = Curves::default();
    for &n in sizes {
        for (name, scene) in SCENES {
            if !lab.has_time_for(&format!("n = {n}, {name}")) {
                break;
            }
            let rows: &[&str] = if n <= MOST_FOR_ALL_PAIRS { &[BARE, OURS, ALL_PAIRS] } else { &[BARE, OURS] };
            let measured = lab.run(&Trial::new(scene, n, 24, rows))?;
            for (row, of) in [("paper's grid", BARE), ("our grid", OURS), ("all pairs", ALL_PAIRS)] {
                curves.add(&format!("{row}, {name}"), n as f64, measured.ms(of));
            }
        }
    }
    let source = "section 4.1, figure 20";
    let grown = |name: &str| exponent(&from(curves.get(name), 2048.0));
    let ratios = ratio(curves.get("paper's grid, one size"), curves.get("all pairs, one size"));
    let findings = vec![
        Finding::new(
            "The hash grid's time grows linearly with the number of objects.",
            source,
            "from 2,048 objects on the paper's grid grows with exponent {}",
            grown("paper's grid, one size"),
            LINEAR,
        )
        .paper_says("almost perfectly linear")
        .beside("exponent {}", grown("our grid, one size")),
        Finding::new(
            "Sizes that differ by up to 12 lead to the same linear scaling.",
            source,
            "with sizes 1 to 12 with exponent {}",
            grown("paper's grid, sizes 1 to 12"),
            LINEAR,
        )
        .paper_says("the same")
        .beside("exponent {}", grown("our grid, sizes 1 to 12")),
        Finding::new(
            "Testing all pairs is quadratic.",
            source,
            "all pairs, one at a time, with exponent {}",
            grown("all pairs, one size"),
            Rule::only(1.8, 2.2).because("2 with the tolerance of a fit through few points; a cost of n log n would give 1.1"),
        )
        .paper_says("quadratic"),
        Finding::new(
            "For a small number of objects, testing all pairs is faster than the grid.",
            source,
            "the paper's grid is as fast as all pairs from {} objects on",
            falls_to_one(&ratios),
            Rule::only(33.0, 2048.0).because(
                "above the smallest number measured, so that all pairs win somewhere, and not where the grid's line is fitted",
            ),
        )
        .paper_says("faster for small numbers, no figure in the text"),
    ];
    let setup = "Scene `uniform`: cubes, two pairs per object, moves of up to 20 % of the size; and the same with sizes 1 to 12. The paper's grid \
                 is `hash-grid:paper=true:threshold=0`; all pairs is the same structure below its threshold. Both compare one box with one \
                 other at a time.";
    Ok(Report { setup: setup.to_string(), charts: vec![Chart::scaling("Time of a frame", OBJECTS, MS, &curves)], findings })
}

pub fn fig21(lab: &mut Lab) -> Result<Report, Failure> {
    let sizes: &[usize] = lab.pick(&[4096, 16_384, 65_536, 200_000], &[4096, 16_384, 65_536, 262_144, 1_048_576]);
    let mut curves = Curves::default();
    for &n in sizes {
        for (name, scene) in SCENES {
            if !lab.has_time_for(&format!("n = {n}, {name}")) {
                break;
            }
            let mut setups = [Vec::new(), Vec::new()];
            for _ in 0..3 {
                let rows = lab.run(&Trial::new(scene, n, 1, &[PAPER, OURS]))?;
                setups[0].extend(rows.update_ms(PAPER));
                setups[1].extend(rows.update_ms(OURS));
            }
            for (row, times) in ["paper's grid", "our grid"].iter().zip(setups) {
                curves.add(&format!("{row}, {name}"), n as f64, median(times.into_iter()));
            }
        }
    }
    let source = "section 4.1, figure 21";
    let several = |row: &str| {
        let ratios = ratio(curves.get(&format!("{row}, sizes 1 to 12")), curves.get(&format!("{row}, one size")));
        geometric_mean(&ratios.iter().map(|point| point.1).collect::<Vec<_>>())
    };
    let findings = vec![
        Finding::new(
            "Setting up scales linearly, or slightly better.",
            source,
            "the set-up of the paper's grid grows with exponent {}",
            exponent(curves.get("paper's grid, one size")),
            Rule::only(0.7, 1.15).because(
                "eightfold growth makes the cost per object go up and down by its share of the reinsertion, which a fit over few points sees as 0.7 to 1.15",
            ),
        )
        .paper_says("slightly better than linear")
        .beside("exponent {}", exponent(curves.get("our grid, one size"))),
        Finding::new(
            "Several grids instead of one are hardly noticeable.",
            source,
            "with sizes 1 to 12 it takes {} times as long on average",
            several("paper's grid"),
            Rule::within((0.7, 1.3), (0.5, 2.0)).weaker("less than twice").because(
                "hardly noticeable is read as within 30 %; the mean over all numbers of objects, since a grid that has just grown eightfold is far \
                 more expensive than one that is about to",
            ),
        )
        .paper_says("hardly noticeable")
        .beside("{} times", several("our grid")),
    ];
    let setup = "All objects of `uniform` are given to an empty grid at once; the time until its structure stands, without the \
                 search for pairs. Median of three. The paper adds one object after the other (see 000-fig27 for that).";
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
    let (mut curves, mut ours) = (Curves::default(), Curves::default());
    for &n in sizes {
        for (name, scene) in SCENARIOS {
            if !lab.has_time_for(&format!("n = {n}, {name}")) {
                break;
            }
            let rows = lab.run(&Trial::new(scene, n, if n > 50_000 { 10 } else { 24 }, &[PAPER, OURS]))?;
            curves.add(name, n as f64, rows.ms(PAPER));
            ours.add(name, n as f64, rows.ms(OURS));
        }
    }
    let source = "section 4.1, figure 22";
    let normal = curves.get("2 pairs, one size");
    let (left, right) = normal.split_at(normal.len() / 2);
    let worse = exponent(left).zip(exponent(right)).map(|(left, right)| left - right);
    let at_end = |curves: &Curves, name: &str, than: &str| last(&ratio(curves.get(name), curves.get(than)));
    let (many, few, sizes) = ("8 pairs, one size", "half a pair, one size", "2 pairs, sizes 1 to 12");
    let findings = vec![
        Finding::new(
            "For large numbers of objects the scaling is linear.",
            source,
            "the right half of the curve has exponent {}",
            exponent(right),
            LINEAR,
        )
        .paper_says("almost perfectly linear"),
        Finding::new(
            "For small numbers, while data leaves the cache, it is clearly worse than linear.",
            source,
            "the left half's exponent is larger by {}",
            worse,
            Rule::from(0.1).because("twice what two fits through three points scatter by"),
        )
        .paper_says("clearly worse than linear"),
        Finding::new(
            "The more collisions occur, the more time is required.",
            source,
            "8 pairs per object take {} times as long as half a pair",
            at_end(&curves, many, few),
            Rule::from(1.3).because("noticeably: more than the 10 % by which medians of a frame scatter, thrice"),
        )
        .paper_says("noticeably more")
        .beside("{} times", at_end(&ours, many, few)),
        Finding::new(
            "The more grids, the more time is required.",
            source,
            "sizes 1 to 12 take {} times as long as one size",
            at_end(&curves, sizes, "2 pairs, one size"),
            Rule::from(1.1).because("above the scatter of medians of a frame"),
        )
        .paper_says("more")
        .beside("{} times", at_end(&ours, sizes, "2 pairs, one size")),
        Finding::new(
            "10,000 objects with 20,000 pairs take 10 to 20 ms (on a computer of 2007).",
            source,
            "10,000 objects take {} ms",
            at(normal, 10_000.0),
            Rule::up_to(20.0).because("a newer machine may only be faster"),
        )
        .paper_says("10 to 20 ms")
        .beside("{} ms", at(ours.get("2 pairs, one size"), 10_000.0)),
    ];
    let setup = "`hash-grid:paper=true`, and `hash-grid` beside it, on `uniform` with half a pair, 2 and 8 pairs per object, and with sizes 1 to 12 (several grids).";
    let charts = vec![
        Chart::scaling("Time of a frame, the paper's grid", OBJECTS, MS, &curves),
        Chart::scaling("Time of a frame per object, the paper's grid", OBJECTS, "ms an object", &curves.per_x()),
        Chart::scaling("Time of a frame, our grid", OBJECTS, MS, &ours),
    ];
    Ok(Report { setup: setup.to_string(), charts, findings })
}
