//! Paper 000: hierarchical hash grids. Section 4 runs cuboids in straight flight through a periodic world, two pairs per object.

mod costs;
mod mechanisms;
mod scaling;
mod update;

use super::Experiment;
use super::curves::Points;
use super::verdict::Rule;

/// Figures 19 to 30, how rarely objects change their grid (section 2.7), and the memory of section 3.1.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "000-fig19",
        paper: "000",
        title: "The dimensions of a grid and the distribution of the objects",
        measure: mechanisms::fig19,
    },
    Experiment {
        name: "000-fig20",
        paper: "000",
        title: "The hash grid against all pairs, over the number of objects",
        measure: scaling::fig20,
    },
    Experiment { name: "000-fig21", paper: "000", title: "Setting up the hash grid", measure: scaling::fig21 },
    Experiment {
        name: "000-fig22",
        paper: "000",
        title: "Large numbers of objects: density and number of grids",
        measure: scaling::fig22,
    },
    Experiment { name: "000-fig23", paper: "000", title: "The hierarchy factor with objects of one size", measure: costs::fig23 },
    Experiment {
        name: "000-fig24",
        paper: "000",
        title: "The hierarchy factor with objects of many sizes",
        measure: costs::fig24,
    },
    Experiment {
        name: "000-fig25",
        paper: "000",
        title: "The update: objects one by one, or all removed and inserted again",
        measure: update::fig25,
    },
    Experiment {
        name: "000-fig26",
        paper: "000",
        title: "Worst cases: long and flat objects, a long world",
        measure: costs::fig26,
    },
    Experiment { name: "000-fig27", paper: "000", title: "Setting up, against sweep and prune", measure: update::fig27 },
    Experiment {
        name: "000-fig28",
        paper: "000",
        title: "Motion of 20 %: grid, sweep and prune, all pairs",
        measure: update::fig28,
    },
    Experiment { name: "000-fig29", paper: "000", title: "Motion of 1 %: grid, sweep and prune", measure: update::fig29 },
    Experiment { name: "000-fig30", paper: "000", title: "Objects far apart: grid, sweep and prune", measure: update::fig30 },
    Experiment { name: "000-levels", paper: "000", title: "Objects rarely change their grid", measure: mechanisms::levels },
    Experiment { name: "000-memory", paper: "000", title: "The memory of the hash grid", measure: costs::memory },
];

/// The paper's grid, and our own.
const PAPER: &str = "hash-grid:paper=true";
const OURS: &str = "hash-grid";

/// A cost that is proportional to the number of objects.
const LINEAR: Rule = Rule::only(0.85, 1.15)
    .because("1 with the tolerance of a fit through few points; n log n would give 1.1 over these sizes, the square 2");

const OBJECTS: &str = "objects";
const MS: &str = "ms a frame";

/// The points from `x` on.
fn from(points: &[(f64, f64)], x: f64) -> Points {
    points.iter().copied().filter(|point| point.0 >= x).collect()
}
