//! Paper 001: a kd-tree with sweeps in its nodes, on the paper's three scenes: free fall, Brownian motion and gravity.

mod comparison;
mod tables;
mod tree;

use super::Experiment;

/// Figures 1 and 9 to 14, tables 1 and 2.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        name: "001-fig1",
        paper: "001",
        title: "Which algorithm suits which scene: the radar",
        measure: comparison::fig1,
    },
    Experiment { name: "001-fig9", paper: "001", title: "The threshold T: shape of the tree and time", measure: tree::fig9 },
    Experiment {
        name: "001-fig10",
        paper: "001",
        title: "Incremental or complete search, over the share of static objects",
        measure: tree::fig10,
    },
    Experiment { name: "001-fig11", paper: "001", title: "Pruning stages and SIMD widths", measure: tree::fig11 },
    Experiment { name: "001-fig12", paper: "001", title: "Complete, incremental, adaptive, rebuilt", measure: tree::fig12 },
    Experiment {
        name: "001-fig13",
        paper: "001",
        title: "All algorithms over the number of objects",
        measure: comparison::fig13,
    },
    Experiment { name: "001-fig14", paper: "001", title: "The best algorithms with many objects", measure: comparison::fig14 },
    Experiment { name: "001-table1", paper: "001", title: "Times on scenes of cubes", measure: comparison::table1 },
    Experiment { name: "001-table2", paper: "001", title: "Times on scenes of assorted objects", measure: comparison::table2 },
];

/// A scene of the paper.
#[derive(Clone, Copy, Debug)]
struct Scene {
    /// Its name in the paper.
    title: &'static str,
    /// Its name here.
    name: &'static str,
    /// Frames from the first to the last one that is measured.
    run: usize,
}

/// Frames of the paper's runs.
const RUN: usize = 1000;

/// Frames of free fall: half of the paper's run. After that the cubes here are at rest, and there is nothing to measure.
const FALLING: usize = 500;

/// The scenes of cubes.
const SCENES: [Scene; 3] = [
    Scene { title: "free fall", name: "free-fall-cubes", run: FALLING },
    Scene { title: "Brownian", name: "brownian-cubes", run: RUN },
    Scene { title: "gravity", name: "gravity-cubes", run: RUN },
];

/// The same with assorted objects.
const ASSORTED: [Scene; 3] = [
    Scene { title: "free fall", name: "free-fall-assorted", run: FALLING },
    Scene { title: "Brownian", name: "brownian-assorted", run: RUN },
    Scene { title: "gravity", name: "gravity-assorted", run: RUN },
];

impl Scene {
    /// Frames between blocks of eight, so that `frames` of them sample the whole run.
    fn gap(&self, frames: usize) -> usize {
        let blocks = frames.div_ceil(8);
        self.run.saturating_sub(frames) / blocks.saturating_sub(1).max(1)
    }
}
