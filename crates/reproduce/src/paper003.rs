//! Paper 003: particles in a hash grid. The paper has no measurements; its claims are about the number of checks, which are counted here.

use super::Experiment;
use super::curves::{exponent, geometric_mean, last, ratio};
use super::lab::{Curves, Lab, Trial};
use super::report::{Chart, Report};
use super::verdict::{Finding, Rule};
use broadphase_bench::failure::Failure;

/// The one experiment.
pub const EXPERIMENTS: &[Experiment] = &[Experiment {
    name: "003-checks",
    paper: "003",
    title: "Checks per particle: all pairs, grid, hashed grid",
    measure: checks,
}];

const ALL_PAIRS: &str = "brute-force:paper=true";
const DENSE: &str = "particle-grid:paper=true";
const OURS: &str = "particle-grid";
const HASHED: [&str; 3] = [
    "particle-grid:paper=true:grid=hashed:hash=chain",
    "particle-grid:paper=true:grid=hashed:hash=xor",
    "particle-grid:paper=true:grid=hashed:hash=modular",
];

const IN_SPACE: Rule = Rule::up_to(1.15).because("as in the plane");

/// Checks of a frame over the number of particles.
fn count(lab: &mut Lab, dim: usize) -> Result<Curves, Failure> {
    let sizes: &[usize] = lab.pick(&[250, 1000, 4000, 16_000], &[250, 1000, 4000, 16_000, 64_000]);
    let rows: Vec<&str> = [ALL_PAIRS, DENSE, OURS].into_iter().chain(HASHED).collect();
    let mut curves = Curves::default();
    for &n in sizes {
        let measured = lab.run(&Trial::new(&format!("particles:dim={dim}"), n, 4, &rows).of_balls())?;
        for row in &rows {
            curves.add(row, n as f64, measured.tests(row));
        }
    }
    Ok(curves)
}

fn checks(lab: &mut Lab) -> Result<Report, Failure> {
    let plane = count(lab, 2)?;
    let space = count(lab, 3)?;
    let ordered = plane.get(ALL_PAIRS).iter().find(|point| point.0 == 1000.0).map(|point| point.1 / 1e6);
    let largest = [&plane, &space].map(|curves| last(&ratio(curves.get(ALL_PAIRS), curves.get(DENSE))));
    let grown = [&plane, &space].map(|curves| exponent(curves.get(DENSE)));
    let extra: Vec<f64> = [&plane, &space]
        .iter()
        .flat_map(|curves| HASHED.map(|hashed| last(&ratio(curves.get(hashed), curves.get(DENSE)))))
        .flatten()
        .collect();
    let findings = vec![
        Finding::new(
            "1,000 particles need a million checks if every pair is checked (both ways).",
            "core idea",
            "all pairs of 1,000 particles are {} million checks",
            ordered,
            Rule::only(0.99, 1.01).because("1,000 times 999, counted"),
        )
        .paper_says("1 million"),
        Finding::new(
            "A particle need only be checked against its neighborhood: checks grow with the particles, not with their square.",
            "core idea",
            "in the plane the grid's checks grow with exponent {}",
            grown[0],
            Rule::up_to(1.15).because("1 with the tolerance of a fit through few points; all pairs have 2"),
        )
        .beside("exponent {}", exponent(plane.get(OURS))),
        Finding::new("The same in space.", "extensions", "in space with exponent {}", grown[1], IN_SPACE)
            .beside("exponent {}", exponent(space.get(OURS))),
        Finding::cases_by(
            "Distant pairs are skipped.",
            "core idea",
            "the grid makes less than a tenth of the checks in {} dimensions",
            &largest.map(|factor| factor.map(|factor| factor > 10.0)),
            Rule::EVERY.because("at the largest number a neighborhood holds far less than a tenth of all"),
        ),
        Finding::new(
            "Hash collisions are not so bad: they lead to an unnecessary check now and then.",
            "extensions",
            "hashed grids make {} times the checks of the dense one on average",
            geometric_mean(&extra),
            Rule::only(1.0, 1.5).because(
                "now and then is read as less than every other check; the checks of particles from other cells that share a slice are counted",
            ),
        )
        .paper_says("an unnecessary check on occasion"),
    ];
    let setup = "`particles` in the plane and in space, balls of one size at 40 % volume; tests counted over four frames. A pair is \
                 visited from both sides in paper mode, as in the text's pseudocode, and tested once by ours. The hashed grid has two slots per particle.";
    let chart = |title: &str, curves: &Curves| Chart::scaling(title, "particles", "checks per particle", &curves.per_x());
    let charts = vec![chart("Checks per particle, in the plane", &plane), chart("Checks per particle, in space", &space)];
    Ok(Report { setup: setup.to_string(), charts, findings })
}
