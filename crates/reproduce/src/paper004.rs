//! Paper 004: an octree and a hierarchical grid against the naive case. A fifth of the objects move, and only those ask.

use serde_json::json;

use super::Experiment;
use super::curves::{exponent, falls_to_one, geometric_mean, last, ratio};
use super::lab::{Curves, Lab};
use super::report::{Chart, Report};
use super::single::{Single, snapshot};
use super::verdict::{Finding, Rule};
use broadphase_bench::failure::Failure;

/// Tests 1 to 6, and the memory of section 4.2.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "004-test1",
        paper: "004",
        title: "Time of one object's search, most objects near the ground",
        measure: test1,
    },
    Experiment { name: "004-test2", paper: "004", title: "Time of one object's search, objects evenly spread", measure: test2 },
    Experiment { name: "004-test3", paper: "004", title: "Tests for one object, most objects near the ground", measure: test3 },
    Experiment { name: "004-test4", paper: "004", title: "Tests for one object, objects evenly spread", measure: test4 },
    Experiment { name: "004-test5", paper: "004", title: "Time to insert an object", measure: test5 },
    Experiment { name: "004-test6", paper: "004", title: "Time to remove an object", measure: test6 },
    Experiment { name: "004-memory", paper: "004", title: "Memory of the three structures", measure: memory },
];

const NAIVE: &str = "brute-force";
const OCTREE: &str = "octree";
const GRID: &str = "level-grid";
const ALL: [&str; 3] = [NAIVE, OCTREE, GRID];

/// The paper's numbers of objects, in both modes: they are small.
const SIZES: [usize; 8] = [50, 100, 200, 400, 800, 1600, 3200, 6400];

/// Frames before an object asks, so that deflections have mixed what moves.
const FRAMES: usize = 20;

/// A curve for each structure; `measure` gives its point.
fn over_sizes(
    lab: &mut Lab,
    scene: &str,
    key: &str,
    measure: impl Fn(&str, &[broadphase::Aabb<3, f32>], &[u32]) -> Result<f64, Failure>,
) -> Result<Curves, Failure> {
    let mut curves = Curves::default();
    let progress = lab.progress(scene, SIZES.len());
    for n in SIZES {
        progress.step();
        let n = lab.objects(n);
        let (boxes, moved) = snapshot(scene, n, FRAMES)?;
        for algorithm in ALL {
            let value = measure(algorithm, &boxes, &moved)?;
            lab.keep(json!({ "scene": scene, "n": n, "algorithm": algorithm, "movers": moved.len(), key: value }));
            curves.add(algorithm, n as f64, Some(value));
        }
    }
    Ok(curves)
}

/// Microseconds of one question, the median of several rounds.
fn times(lab: &mut Lab, scene: &str) -> Result<Curves, Failure> {
    let repeats = lab.pick(7, 25);
    over_sizes(lab, scene, "query_us", |algorithm, boxes, moved| {
        let mut single = Single::new(algorithm, boxes, boxes.len())?;
        let rounds = (1500 / moved.len().max(1)).max(1);
        let times: Result<Vec<f64>, Failure> = (0..repeats).map(|_| Ok(single.ask(moved, rounds)?.as_secs_f64() * 1e6)).collect();
        Ok(super::curves::median(times?.into_iter()).unwrap_or(f64::NAN))
    })
}

fn tests(lab: &mut Lab, scene: &str) -> Result<Curves, Failure> {
    over_sizes(lab, scene, "tests_per_mover", |algorithm, boxes, moved| Single::new(algorithm, boxes, boxes.len())?.tests(moved))
}

/// The number of objects from which `new` is as fast as `old`.
fn catches_up(curves: &Curves, new: &str, old: &str) -> Option<f64> {
    falls_to_one(&ratio(curves.get(new), curves.get(old)))
}

/// Where the grid catches up with the naive case and with the octree.
fn crossings(curves: &Curves, source: &'static str, octree: &str) -> Vec<Finding> {
    vec![
        Finding::new(
            "The grid catches up with the naive case near 100 objects.",
            source,
            "the grid is as fast as the naive case from {} objects on",
            catches_up(curves, GRID, NAIVE),
            Rule::within((50.0, 200.0), (50.0, 400.0)),
        ),
        Finding::new(
            octree,
            source,
            "as fast as the octree from {} objects on",
            catches_up(curves, GRID, OCTREE),
            Rule::within((200.0, 800.0), (50.0, 1600.0)),
        ),
    ]
}

fn report(what: &str, y: &str, curves: &Curves, findings: Vec<Finding>) -> Report {
    let setup = format!(
        "{what} 50 to 6,400 balls of 1/1000 to 1/10 of the side, as in the paper. Only the moving fifth asks, one object at a time, for \
         everything that its box overlaps: the boxes of the balls are tested, not the balls. 0 objects means that it is so from the \
         smallest number on."
    );
    Report { setup, charts: vec![Chart::scaling(y, "objects", y, curves)], findings }
}

const TIME: &str = "microseconds for one object";
const TESTS: &str = "tests for one object";

fn test1(lab: &mut Lab) -> Result<Report, Failure> {
    let curves = times(lab, "city")?;
    let source = "section 3.2.1, figures 3.1 and 3.2";
    let mut findings = crossings(&curves, source, "The grid catches up with the octree just above 400 objects.");
    findings.push(Finding::new(
        "With very many objects the grid is significantly faster than the naive case.",
        source,
        "at 6,400 objects the naive case takes {} times as long as the grid",
        last(&ratio(curves.get(NAIVE), curves.get(GRID))),
        Rule::at_least(2.0, 1.1),
    ));
    Ok(report("Scene `city` (80 % in the lowest tenth).", TIME, &curves, findings))
}

fn test2(lab: &mut Lab) -> Result<Report, Failure> {
    let uneven = times(lab, "city")?;
    let mut curves = times(lab, "city-even")?;
    let source = "section 3.2.2, figures 3.3 and 3.4";
    let mut findings = crossings(&curves, source, "The grid catches up with the octree near 400 objects.");
    let against = |name: &str| last(&ratio(curves.get(name), uneven.get(name)));
    findings.push(Finding::new(
        "With many objects the octree is slower than when they are near the ground (test 1).",
        source,
        "the octree takes {} times as long as in test 1 at 6,400 objects",
        against(OCTREE),
        Rule::at_least(1.03, 1.0),
    ));
    findings.push(Finding::new(
        "The grid is faster than in test 1.",
        source,
        "the grid takes {} times as long as in test 1 at 6,400 objects",
        against(GRID),
        Rule::at_most(0.9, 1.0),
    ));
    for name in [OCTREE, GRID] {
        curves.0.push((format!("{name}, test 1"), uneven.get(name).to_vec()));
    }
    Ok(report("Scene `city-even`, with test 1 again beside it.", TIME, &curves, findings))
}

fn test3(lab: &mut Lab) -> Result<Report, Failure> {
    let curves = tests(lab, "city")?;
    let source = "section 3.2.3, figures 3.5 and 3.6";
    let findings = vec![
        Finding::new(
            "With many objects, the grid's tests are about 1/6 of the naive ones.",
            source,
            "at 6,400 objects the grid makes {} of the naive tests",
            last(&ratio(curves.get(GRID), curves.get(NAIVE))),
            Rule::within((0.1, 0.25), (0.0, 0.4)),
        ),
        Finding::new(
            "And just above half of the octree's.",
            source,
            "{} of the octree's",
            last(&ratio(curves.get(GRID), curves.get(OCTREE))),
            Rule::within((0.4, 0.7), (0.0, 0.95)),
        ),
        Finding::cases(
            "The octree is a big improvement over the naive case at every number of objects.",
            source,
            "the octree makes less than two thirds of the naive tests at {} numbers of objects",
            &ratio(curves.get(OCTREE), curves.get(NAIVE)).iter().map(|point| Some(point.1 < 0.667)).collect::<Vec<_>>(),
        ),
    ];
    Ok(report("Scene `city` (80 % in the lowest tenth).", TESTS, &curves, findings))
}

fn test4(lab: &mut Lab) -> Result<Report, Failure> {
    let uneven = tests(lab, "city")?;
    let mut curves = tests(lab, "city-even")?;
    let against = |name: &str| last(&ratio(curves.get(name), uneven.get(name)));
    let source = "section 3.2.4, figures 3.7 and 3.8";
    let findings = vec![
        Finding::new(
            "Evenly spread, the octree makes more tests than in test 3.",
            source,
            "at 6,400 objects the octree makes {} times the tests of test 3",
            against(OCTREE),
            Rule::at_least(1.02, 1.0),
        ),
        Finding::new("The grid makes fewer.", source, "the grid {} times", against(GRID), Rule::at_most(0.95, 1.0)),
        Finding::new(
            "The naive case makes the same.",
            source,
            "the naive case {} times",
            against(NAIVE),
            Rule::within((0.999, 1.001), (0.99, 1.01)),
        ),
    ];
    for name in [OCTREE, GRID] {
        curves.0.push((format!("{name}, test 3"), uneven.get(name).to_vec()));
    }
    Ok(report("Scene `city-even`, with test 3 again beside it.", TESTS, &curves, findings))
}

/// Objects that come and go beside those that stay.
const GUESTS: usize = 64;

/// Microseconds to insert and to remove an object.
fn changes(lab: &mut Lab) -> Result<[Curves; 2], Failure> {
    let rounds = lab.pick(30, 200);
    let (mut inserted, mut removed) = (Curves::default(), Curves::default());
    let progress = lab.progress("city-even", SIZES.len());
    for n in SIZES {
        progress.step();
        let n = lab.objects(n);
        let (boxes, _) = snapshot("city-even", n + GUESTS, 1)?;
        let guests: Vec<u32> = (n as u32..(n + GUESTS) as u32).collect();
        for algorithm in ALL {
            let mut single = Single::new(algorithm, &boxes, n)?;
            let (mut come, mut go) = (Vec::new(), Vec::new());
            for _ in 0..rounds {
                come.push(single.insert(&guests)?.as_secs_f64() * 1e6 / GUESTS as f64);
                go.push(single.remove(&guests)?.as_secs_f64() * 1e6 / GUESTS as f64);
            }
            let [come, go] = [come, go].map(|times| super::curves::median(times.into_iter()));
            lab.keep(json!({ "scene": "city-even", "n": n, "algorithm": algorithm, "insert_us": come, "remove_us": go }));
            inserted.add(algorithm, n as f64, come);
            removed.add(algorithm, n as f64, go);
        }
    }
    Ok([inserted, removed])
}

/// The mean over all numbers of objects of how many times `slow` takes what `fast` takes.
fn slower(curves: &Curves, slow: &str, fast: &str) -> Option<f64> {
    geometric_mean(&ratio(curves.get(slow), curves.get(fast)).iter().map(|point| point.1).collect::<Vec<_>>())
}

fn change_report(title: &str, curves: &Curves, findings: Vec<Finding>) -> Report {
    let setup = "Scene `city-even`. Beside 50 to 6,400 objects, 64 more come one after the other and go again; an update of one object \
                 each. In the paper nothing was really inserted or removed, so that the number of objects stayed; here it is 64 more at \
                 most. Our octree follows the paper's remedy: each object knows its node, so removal does not search. Our naive case \
                 is a table, not a linked list.";
    Report { setup: setup.to_string(), charts: vec![Chart::scaling(title, "objects", "microseconds", curves)], findings }
}

fn test5(lab: &mut Lab) -> Result<Report, Failure> {
    let [curves, _] = changes(lab)?;
    let source = "section 3.2.5, figure 3.9";
    let steady = ALL.map(|name| exponent(curves.get(name)).map(|exponent| exponent.abs() <= 0.15));
    let findings = vec![
        Finding::cases(
            "The number of objects has little influence.",
            source,
            "the time hardly grows (exponent of at most 0.15) for {} structures",
            &steady,
        ),
        Finding::new(
            "The naive case is fastest, then the octree.",
            source,
            "the octree takes {} times as long as the naive case",
            slower(&curves, OCTREE, NAIVE),
            Rule::at_least(1.05, 1.0),
        ),
        Finding::new(
            "The grid is substantially slower.",
            source,
            "the grid takes {} times as long as the octree",
            slower(&curves, GRID, OCTREE),
            Rule::at_least(1.3, 1.0),
        ),
    ];
    Ok(change_report("Time to insert an object", &curves, findings))
}

fn test6(lab: &mut Lab) -> Result<Report, Failure> {
    let [_, curves] = changes(lab)?;
    let source = "section 3.2.6, figure 3.10";
    let findings = vec![
        Finding::new(
            "Removal from the grid is many times faster than from the octree.",
            source,
            "the octree takes {} times as long as the grid",
            slower(&curves, OCTREE, GRID),
            Rule::at_least(2.0, 1.0),
        ),
        Finding::new(
            "And than from the naive case.",
            source,
            "the naive case takes {} times as long as the grid",
            slower(&curves, NAIVE, GRID),
            Rule::at_least(2.0, 1.0),
        ),
        Finding::cases(
            "The number of objects has a large impact on the naive case and the octree.",
            source,
            "the time grows (exponent above 0.3) for {} of the two structures",
            &[NAIVE, OCTREE].map(|name| exponent(curves.get(name)).map(|exponent| exponent > 0.3)),
        ),
    ];
    Ok(change_report("Time to remove an object", &curves, findings))
}

/// Bytes by the paper's formulas, for a 32-bit system.
fn formula(algorithm: &str, n: f64) -> f64 {
    match algorithm {
        NAIVE => 4.0 + 4.0 * n,
        OCTREE => 44_460.0 + 4.0 * n,
        _ => 37_452.0 + 12.0 * n,
    }
}

fn memory(lab: &mut Lab) -> Result<Report, Failure> {
    let mut curves = over_sizes(lab, "city-even", "bytes", |algorithm, boxes, _| {
        Ok(Single::new(algorithm, boxes, boxes.len())?.bytes() as f64)
    })?;
    let source = "section 4.2";
    let more = |name: &str| curves.get(name).iter().zip(curves.get(NAIVE)).map(|(a, b)| Some(a.1 > b.1)).collect::<Vec<_>>();
    let fixed = |name: &str| curves.get(name).first().map(|point| point.1 / formula(name, point.0));
    let findings = vec![
        Finding::cases(
            "The octree needs more memory than the naive case.",
            source,
            "the octree needs more at {} numbers of objects",
            &more(OCTREE),
        ),
        Finding::cases("So does the grid.", source, "the grid needs more at {} numbers of objects", &more(GRID)),
        Finding::new(
            "50 objects in an octree of 585 nodes need 44,660 bytes.",
            source,
            "our octree needs {} times that",
            fixed(OCTREE),
            Rule::within((0.5, 2.0), (0.25, 4.0)),
        ),
        Finding::new(
            "50 objects in a grid of 4,680 sections need 38,052 bytes.",
            source,
            "our grid {} times",
            fixed(GRID),
            Rule::within((0.5, 2.0), (0.25, 4.0)),
        ),
    ];
    for name in ALL {
        for n in SIZES {
            curves.add(&format!("{name}, paper"), n as f64, Some(formula(name, n as f64)));
        }
    }
    let setup = "Bytes that each structure holds for `city-even`, beside the paper's formulas: 4 + 4n (naive), 44,460 + 4n (octree), 37,452 + \
                 12n (grid), on a 32-bit system. Ours count the copy of every box that a structure keeps, 24 bytes an object; the \
                 paper's objects hold their own.";
    let charts = vec![Chart::scaling("Memory", "objects", "bytes", &curves)];
    Ok(Report { setup: setup.to_string(), charts, findings })
}
