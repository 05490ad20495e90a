//! Figure 19 and section 2.7: claims about mechanisms, checked by counts.

use super::{OBJECTS, OURS, PAPER};
use crate::curves::highest;
use crate::lab::{Curves, Lab, Trial};
use crate::report::{Chart, Report};
use crate::verdict::{Finding, Rule};
use broadphase_bench::charts::Scale;
use broadphase_bench::failure::Failure;

/// Grids of 4,096 cells that do not grow: a cube, and one that is long like the world.
const CUBE: &str = "hash-grid:paper=true:threshold=0:density=1:dims=16x16x16";
const LONG: &str = "hash-grid:paper=true:threshold=0:density=1:dims=256x4x4";

pub fn fig19(lab: &mut Lab) -> Result<Report, Failure> {
    let n = 2000;
    let mut bars = Vec::new();
    let mut tests = |lab: &mut Lab, scene: &str| -> Result<Option<f64>, Failure> {
        let rows = lab.run(&Trial::new(scene, n, 8, &[CUBE, LONG]))?;
        for (name, row) in [("16x16x16", CUBE), ("256x4x4", LONG)] {
            bars.extend(rows.tests(row).map(|tests| (format!("{scene}, {name}"), tests)));
        }
        Ok(rows.tests(CUBE).zip(rows.tests(LONG)).map(|(cube, long)| cube / long))
    };
    let uneven = tests(lab, "uniform:world=1024")?;
    let even = tests(lab, "uniform")?;
    let source = "section 3.8, figure 19";
    let findings = vec![
        Finding::new(
            "If objects are unevenly distributed, a grid of as many cells with another shape needs fewer tests.",
            source,
            "in a world of 1024:1:1 a cubic grid makes {} times the tests of a long one",
            uneven,
            Rule::from(1.5).because("the paper's example has 2.1 times; any grid that the world wraps around in loses, by how much depends on the objects"),
        )
        .paper_says("368 tests with 4x4 cells, 176 with 8x2"),
        Finding::new(
            "As long as nothing is known of the distribution, an equal number of cells on every axis is the choice.",
            source,
            "in a cubic world the cubic grid makes {} of the tests of the long one",
            even,
            Rule::up_to(0.9).because("the cubic grid must be better by more than nothing; tests are counted, so there is no noise"),
        ),
    ];
    let setup = "2,000 objects of `uniform` in a cubic world and in one of 1024:1:1, in the paper's grid with 4,096 cells that does not grow. \
                 Tests are counted.";
    Ok(Report { setup: setup.to_string(), charts: vec![Chart::bars("Tests of a frame", "tests", bars)], findings })
}

/// Bars, planks and cubes that turn in random walks and in heaps, and boxes of many sizes in straight flight that do not turn.
const TURNING: [&str; 3] = ["brownian-assorted", "gravity-assorted", "uniform:sizes=12"];

pub fn levels(lab: &mut Lab) -> Result<Report, Failure> {
    let sizes: &[usize] = lab.pick(&[2000, 8000], &[2000, 8000, 32_000]);
    let (mut changes, mut cells) = (Curves::default(), Curves::default());
    for &n in sizes {
        for scene in TURNING {
            if !lab.has_time_for(&format!("n = {n}, {scene}")) {
                break;
            }
            let rows = lab.run(&Trial::new(scene, n, 60, &[PAPER, OURS]))?;
            let share =
                |name: &str| rows.extra(PAPER, name).zip(rows.extra(PAPER, "updated")).map(|(part, all)| part / all.max(1.0));
            changes.add(scene, n as f64, share("level_changes"));
            cells.add(scene, n as f64, share("cell_changes"));
        }
    }
    let source = "section 2.7";
    let most = |curves: &Curves| curves.0.iter().filter_map(|curve| highest(&curve.1)).max_by(f64::total_cmp);
    let findings = vec![
        Finding::new(
            "Changes in the grid association of an object happen rarely.",
            source,
            "at most a share of {} of the updates of an object changes its grid",
            most(&changes),
            Rule::up_to(0.05).because("rarely is read as less than once in twenty steps; no figure is in the text"),
        )
        .paper_says("unlikely"),
        Finding::new(
            "Objects that remain in their cells are far more likely than those that change them.",
            "section 2.6",
            "at most a share of {} of the updates changes the cell",
            most(&cells),
            Rule::up_to(0.33).because("far more likely is read as at least twice as likely"),
        )
        .paper_says("far more likely"),
    ];
    let setup = "`hash-grid:paper=true` over 60 frames of scenes in which objects turn or differ in size; its own counters.";
    let chart = |title: &str, curves: &Curves| {
        Chart::lines(title, (OBJECTS, Scale::Log), ("share of the updates", Scale::Linear), curves)
    };
    let charts = vec![chart("Updates that change the grid", &changes), chart("Updates that change the cell", &cells)];
    Ok(Report { setup: setup.to_string(), charts, findings })
}
