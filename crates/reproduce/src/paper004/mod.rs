//! Paper 004: an octree and a hierarchical grid compared with the naive case. A fifth of the objects move, and only those are queried.

mod tunneling;

use serde_json::json;

use crate::Experiment;
use crate::curves::{Points, at, exponent, falls_to_one, geometric_mean, last, ratio};
use crate::lab::{Curves, Lab};
use crate::report::{Chart, Report};
use crate::single::{Single, snapshot};
use crate::verdict::{Finding, Rule};
use broadphase_bench::charts::Scale;
use broadphase_bench::failure::Failure;

/// Tests 1 to 6, the intervals of section 4.1, and the memory of section 4.2.
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
    Experiment { name: "004-burden", paper: "004", title: "A heavier narrow phase, and the thresholds", measure: burden },
    Experiment {
        name: "004-tunneling",
        paper: "004",
        title: "Fast objects looked at more often, slow ones less often",
        measure: tunneling::measure,
    },
    Experiment { name: "004-memory", paper: "004", title: "Memory of the three structures", measure: memory },
];

/// The paper's structures.
const NAIVE: &str = "brute-force:paper=true";
const OCTREE: &str = "octree:paper=true";
const GRID: &str = "level-grid:paper=true";
/// Ours.
const OURS: [&str; 3] = ["brute-force", "octree", "level-grid"];
const ALL: [&str; 6] = [NAIVE, OCTREE, GRID, OURS[0], OURS[1], OURS[2]];

/// Why a threshold may differ from the paper's.
const WITHIN_TWICE: &str =
    "half to twice the paper's number: the clock of another machine moves a threshold, and both costs with it";

/// The paper's numbers of objects. They are small enough for both modes.
const SIZES: [usize; 8] = [50, 100, 200, 400, 800, 1600, 3200, 6400];

/// Frames before the queries, so that deflections have mixed the moving objects with the others.
const FRAMES: usize = 20;

/// A curve for each structure; `measure` gives the value of a point.
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
            lab.add_row(json!({ "scene": scene, "n": n, "algorithm": algorithm, "movers": moved.len(), key: value }));
            curves.add(algorithm, n as f64, Some(value));
        }
    }
    Ok(curves)
}

/// Microseconds of one query, the median of several rounds.
fn times(lab: &mut Lab, scene: &str) -> Result<Curves, Failure> {
    let repeats = lab.pick(7, 25);
    over_sizes(lab, scene, "query_us", |algorithm, boxes, moved| {
        let mut single = Single::new(algorithm, boxes, boxes.len())?;
        let rounds = (1500 / moved.len().max(1)).max(1);
        let times: Result<Vec<f64>, Failure> =
            (0..repeats).map(|_| Ok(single.query(moved, rounds)?.as_secs_f64() * 1e6)).collect();
        Ok(crate::curves::median(times?.into_iter()).unwrap_or(f64::NAN))
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
            Rule::only(50.0, 200.0).because(WITHIN_TWICE),
        )
        .paper_says("near 100")
        .beside("from {} on", catches_up(curves, OURS[2], OURS[0])),
        Finding::new(
            octree,
            source,
            "as fast as the octree from {} objects on",
            catches_up(curves, GRID, OCTREE),
            Rule::only(200.0, 800.0).because(WITHIN_TWICE),
        )
        .paper_says("near 400")
        .beside("from {} on", catches_up(curves, OURS[2], OURS[1])),
    ]
}

fn report(what: &str, y: &str, curves: &Curves, findings: Vec<Finding>) -> Report {
    let setup = format!(
        "{what} 50 to 6,400 balls of 1/1000 to 1/10 of the side, as in the paper. Only the moving fifth is queried, one object at a time, for \
         everything that its ball overlaps: the structure finds the boxes that overlap its own, and their balls are tested. The grid here walks the sections \
         within reach row by row, where the paper's calls its hash function for every probe: its fixed cost is smaller than the paper's. 0 objects \
         means from the smallest number measured on."
    );
    Report { setup, charts: vec![Chart::scaling(y, "objects", y, curves)], findings }
}

const TIME: &str = "microseconds for one object";
const TESTS: &str = "tests for one object";

fn test1(lab: &mut Lab) -> Result<Report, Failure> {
    let curves = times(lab, "city")?;
    let source = "section 3.2.1, figures 3.1 and 3.2";
    let mut findings = crossings(&curves, source, "The grid catches up with the octree just above 400 objects.");
    findings.push(
        Finding::new(
            "With very many objects the grid is significantly faster than the naive case.",
            source,
            "at 6,400 objects the naive case takes {} times as long as the grid",
            last(&ratio(curves.get(NAIVE), curves.get(GRID))),
            Rule::from(2.0).because("significantly is read as twice; the tests alone would give six times"),
        )
        .beside("{} times", last(&ratio(curves.get(OURS[0]), curves.get(OURS[2])))),
    );
    Ok(report("Scene `city` (80 % in the lowest tenth).", TIME, &curves, findings))
}

fn test2(lab: &mut Lab) -> Result<Report, Failure> {
    let uneven = times(lab, "city")?;
    let mut curves = times(lab, "city-even")?;
    let source = "section 3.2.2, figures 3.3 and 3.4";
    let mut findings = crossings(&curves, source, "The grid catches up with the octree near 400 objects.");
    let against = |name: &str| last(&ratio(curves.get(name), uneven.get(name)));
    findings.push(
        Finding::new(
            "With many objects the octree is slower than when they are near the ground (test 1).",
            source,
            "the octree takes {} times as long as in test 1 at 6,400 objects",
            against(OCTREE),
            Rule::from(1.03).because("slightly: above the scatter of a median of several rounds"),
        )
        .paper_says("slightly slower"),
    );
    findings.push(
        Finding::new(
            "The grid is faster than in test 1.",
            source,
            "the grid takes {} times as long as in test 1 at 6,400 objects",
            against(GRID),
            Rule::up_to(0.9).because("a significant degree is read as a tenth"),
        )
        .paper_says("faster by a significant degree"),
    );
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
            Rule::only(0.12, 0.22).because("1/6 with a third either way, for other random objects; tests are counted"),
        )
        .paper_says("1/6")
        .beside("{}", last(&ratio(curves.get(OURS[2]), curves.get(NAIVE)))),
        Finding::new(
            "And just above half of the octree's.",
            source,
            "{} of the octree's",
            last(&ratio(curves.get(GRID), curves.get(OCTREE))),
            Rule::only(0.4, 0.65)
                .because("just above a half, with a fifth either way for other random objects; with pruning it is 0.7 and more"),
        )
        .paper_says("just above half")
        .beside("{}", last(&ratio(curves.get(OURS[2]), curves.get(OURS[1])))),
        Finding::cases_by(
            "The octree is a big improvement over the naive case at every number of objects.",
            source,
            "the octree makes less than two thirds of the naive tests at {} numbers of objects",
            &ratio(curves.get(OCTREE), curves.get(NAIVE)).iter().map(|point| Some(point.1 < 0.667)).collect::<Vec<_>>(),
            Rule::EVERY.because("the text makes no exception; big is read as a third fewer"),
        )
        .paper_says("a big improvement"),
    ];
    Ok(report("Scene `city` (80 % in the lowest tenth).", TESTS, &curves, findings))
}

const FEWER: Rule = Rule::up_to(0.98).because("a slight decrease; tests are counted");

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
            Rule::from(1.02).because("a slight increase; tests are counted"),
        )
        .paper_says("slightly more")
        .beside("{} times", against(OURS[1])),
        Finding::new("The grid makes fewer.", source, "the grid {} times", against(GRID), FEWER).paper_says("slightly fewer"),
        Finding::new(
            "The naive case makes the same.",
            source,
            "the naive case {} times",
            against(NAIVE),
            Rule::only(1.0, 1.0).because("counted: n - 1 in both"),
        )
        .paper_says("identical"),
    ];
    for name in [OCTREE, GRID] {
        curves.0.push((format!("{name}, test 3"), uneven.get(name).to_vec()));
    }
    Ok(report("Scene `city-even`, with test 3 again beside it.", TESTS, &curves, findings))
}

/// What a test costs in a heavier narrow phase, in microseconds.
const BURDENS: [(f64, &str); 4] = [(0.0, "none"), (0.02, "20 ns"), (0.2, "200 ns"), (2.0, "2 µs")];

fn burden(lab: &mut Lab) -> Result<Report, Failure> {
    let (times, tests) = (times(lab, "city")?, tests(lab, "city")?);
    let heavier = |name: &str, burden: f64| -> Points {
        let more = |&(n, time): &(f64, f64)| at(tests.get(name), n).map(|tests| (n, time + burden * tests));
        times.get(name).iter().filter_map(more).collect()
    };
    let mut thresholds = Curves::default();
    for (burden, _) in BURDENS {
        for (name, new) in [("octree", OCTREE), ("grid", GRID)] {
            let threshold = falls_to_one(&ratio(&heavier(new, burden), &heavier(NAIVE, burden)));
            thresholds.add(name, burden, threshold.filter(|threshold| threshold.is_finite()));
        }
    }
    let source = "section 4.2, collision detection";
    let falls =
        |name: &str| -> Vec<Option<bool>> { thresholds.get(name).windows(2).map(|pair| Some(pair[1].1 <= pair[0].1)).collect() };
    let change =
        |name: &str| thresholds.get(name).first().zip(thresholds.get(name).last()).map(|(light, heavy)| heavy.1 - light.1);
    let findings = vec![
        Finding::cases_by(
            "With a heavier narrow phase the grid's threshold against the naive case is at lower numbers of objects.",
            source,
            "the threshold falls or stays in {} steps to a heavier narrow phase",
            &falls("grid"),
            Rule::EVERY.because("the grid makes fewer tests at every number of objects, so each step must show it"),
        )
        .paper_says("slightly lower numbers"),
        Finding::new(
            "So it is, by more than the octree's.",
            source,
            "the grid's threshold falls by {} objects more than the octree's",
            change("octree").zip(change("grid")).map(|(octree, grid)| octree - grid),
            Rule::from(0.0).because("especially for the grid: its overhead is the larger one"),
        )
        .paper_says("especially the grid"),
    ];
    let setup = "The times of test 1 and the tests of test 3, and a narrow phase that costs up to 2 µs a test added to each test. A threshold is \
                 the number of objects from which a structure is as fast as the naive case; 0 means from the smallest on.";
    let chart = Chart::lines(
        "Threshold against the naive case",
        ("microseconds a test", Scale::Linear),
        ("objects", Scale::Linear),
        &thresholds,
    );
    Ok(Report { setup: setup.to_string(), charts: vec![chart], findings })
}

/// The most objects that are removed and inserted again in a round. They are a small part of all, so that the number of objects stays about the same.
const LEAVING: usize = 64;

/// Shuffles `ids` so that the first `count` are drawn at random, since the position in a list that is searched from the front decides the cost.
fn draw(ids: &mut [u32], count: usize, state: &mut u64) {
    for at in 0..count {
        // A linear congruential generator (Knuth's MMIX); its upper bits are good enough to draw with.
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let other = at + (*state >> 33) as usize % (ids.len() - at);
        ids.swap(at, other);
    }
}

/// Microseconds to insert and to remove an object.
fn changes(lab: &mut Lab) -> Result<[Curves; 2], Failure> {
    let rounds = lab.pick(60, 400);
    let (mut inserted, mut removed) = (Curves::default(), Curves::default());
    let progress = lab.progress("city-even", SIZES.len());
    for n in SIZES {
        progress.step();
        let n = lab.objects(n);
        let (boxes, _) = snapshot("city-even", n, 1)?;
        let leaving = (n / 10).clamp(1, LEAVING);
        for algorithm in ALL {
            // With few objects, several copies are changed between two readings of the clock, so that reading it costs little.
            let mut copies = vec![Single::new(algorithm, &boxes, n)?; LEAVING.div_ceil(leaving)];
            let each = 1e6 / (leaving * copies.len()) as f64;
            let (mut come, mut go) = (Vec::new(), Vec::new());
            let (mut ids, mut state): (Vec<u32>, u64) = ((0..n as u32).collect(), n as u64);
            for _ in 0..rounds {
                draw(&mut ids, leaving, &mut state);
                go.push(Single::remove(&mut copies, &ids[..leaving])?.as_secs_f64() * each);
                come.push(Single::insert(&mut copies, &ids[..leaving])?.as_secs_f64() * each);
            }
            let [come, go] = [come, go].map(|times| crate::curves::median(times.into_iter()));
            lab.add_row(json!({ "scene": "city-even", "n": n, "algorithm": algorithm, "insert_us": come, "remove_us": go }));
            inserted.add(algorithm, n as f64, come);
            removed.add(algorithm, n as f64, go);
        }
    }
    Ok([inserted, removed])
}

/// How many times as long `slow` takes as `fast`: the geometric mean over all numbers of objects.
fn slower(curves: &Curves, slow: &str, fast: &str) -> Option<f64> {
    geometric_mean(&ratio(curves.get(slow), curves.get(fast)).iter().map(|point| point.1).collect::<Vec<_>>())
}

fn change_report(title: &str, curves: &Curves, findings: Vec<Finding>) -> Report {
    let setup = "Scene `city-even`. Of 50 to 6,400 objects, up to 64, and at most a tenth, are drawn at random in each round; they are removed \
                 one after the other and inserted again, an update of one object each. In the paper nothing was really inserted or removed, so \
                 that the number of objects stayed. In paper mode the naive case is a linked list that a removal searches, the octree is traced down and its node's list \
                 searched, and the grid's object knows its section, whose list is searched.";
    Report { setup: setup.to_string(), charts: vec![Chart::scaling(title, "objects", "microseconds", curves)], findings }
}

fn test5(lab: &mut Lab) -> Result<Report, Failure> {
    let [curves, _] = changes(lab)?;
    let source = "section 3.2.5, figure 3.9";
    let steady = [NAIVE, OCTREE, GRID].map(|name| exponent(curves.get(name)).map(|exponent| exponent.abs() <= 0.15));
    let findings = vec![
        Finding::cases_by(
            "The number of objects has little influence.",
            source,
            "the time hardly grows (exponent of at most 0.15) for {} structures",
            &steady,
            Rule::EVERY.because("0.15 doubles the time over the 128-fold numbers of objects, which caches may cost"),
        )
        .paper_says("little influence"),
        Finding::new(
            "The naive case is fastest, then the octree.",
            source,
            "the octree takes {} times as long as the naive case",
            slower(&curves, OCTREE, NAIVE),
            Rule::from(1.05).because("above the scatter of a median"),
        )
        .paper_says("naive, octree, grid, in this order"),
        Finding::new(
            "The grid is substantially slower.",
            source,
            "the grid takes {} times as long as the octree",
            slower(&curves, GRID, OCTREE),
            Rule::at_least(1.3, 1.0).weaker("slower at all").because("substantially is read as a third"),
        )
        .paper_says("substantially slower")
        .beside("ours {} times", slower(&curves, OURS[2], OURS[1])),
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
            Rule::at_least(2.0, 1.0)
                .weaker("faster at all")
                .because("many times is read as twice on average over all numbers of objects"),
        )
        .paper_says("many times")
        .beside("ours {} times", slower(&curves, OURS[1], OURS[2])),
        Finding::new(
            "And than from the naive case.",
            source,
            "the naive case takes {} times as long as the grid",
            slower(&curves, NAIVE, GRID),
            Rule::at_least(2.0, 1.0)
                .weaker("faster at all")
                .because("many times is read as twice on average over all numbers of objects"),
        )
        .paper_says("many times"),
        Finding::cases_by(
            "The number of objects has a large impact on the naive case and the octree.",
            source,
            "the time grows (exponent above 0.3) for {} of the two structures",
            &[NAIVE, OCTREE].map(|name| exponent(curves.get(name)).map(|exponent| exponent > 0.3)),
            Rule::ALL
                .weaker("on one of them")
                .because("a list that is searched grows with exponent 1; an update of one object has a fixed cost beside it"),
        )
        .paper_says("a large impact"),
    ];
    Ok(change_report("Time to remove an object", &curves, findings))
}

/// Bytes by the paper's formulas, for a 32-bit system.
fn formula(algorithm: &str, n: f64) -> f64 {
    match algorithm {
        NAIVE => 4.0 + 4.0 * n,
        OCTREE | "octree" => 44_460.0 + 4.0 * n,
        _ => 37_452.0 + 12.0 * n,
    }
}

const MORE: Rule = Rule::EVERY.because("bytes are counted");
const TWICE: Rule = Rule::only(0.5, 2.0)
    .because("nodes of 64 bytes for 76, and a box of 24 bytes an object that the paper's objects hold themselves");

fn memory(lab: &mut Lab) -> Result<Report, Failure> {
    let mut curves = over_sizes(lab, "city-even", "bytes", |algorithm, boxes, _| {
        Ok(Single::new(algorithm, boxes, boxes.len())?.bytes() as f64)
    })?;
    let source = "section 4.2";
    let more = |name: &str| curves.get(name).iter().zip(curves.get(NAIVE)).map(|(a, b)| Some(a.1 > b.1)).collect::<Vec<_>>();
    let fixed = |name: &str| curves.get(name).first().map(|point| point.1 / formula(name, point.0));
    let findings = vec![
        Finding::cases_by(
            "The octree needs more memory than the naive case.",
            source,
            "the octree needs more at {} numbers of objects",
            &more(OCTREE),
            MORE,
        )
        .paper_says("44,460 bytes more"),
        Finding::cases_by("So does the grid.", source, "the grid needs more at {} numbers of objects", &more(GRID), MORE)
            .paper_says("37,448 bytes more, and 8 an object"),
        Finding::new(
            "50 objects in an octree of 585 nodes need 44,660 bytes.",
            source,
            "our octree needs {} times that",
            fixed(OCTREE),
            TWICE,
        )
        .paper_says("44,660 bytes")
        .beside("{} times", fixed(OURS[1])),
        Finding::new(
            "50 objects in a grid of 4,680 sections need 38,052 bytes.",
            source,
            "our grid {} times",
            fixed(GRID),
            TWICE,
        )
        .paper_says("38,052 bytes")
        .beside("{} times", fixed(OURS[2])),
    ];
    for name in [NAIVE, OCTREE, GRID] {
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
