//! Paper 002: a parallel sweep and prune over two axes. The paper ran on 16 cores; a speed-up here is one of this machine's cores.

mod clusters;
mod phases;

use super::Experiment;

/// Figures 1 to 6.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment { name: "002-fig1", paper: "002", title: "The sorting phase", measure: phases::fig1 },
    Experiment { name: "002-fig2", paper: "002", title: "The generation of candidates", measure: phases::fig2 },
    Experiment {
        name: "002-fig3",
        paper: "002",
        title: "The pairing phase: speed-up, partitions, balance",
        measure: phases::fig3,
    },
    Experiment { name: "002-fig4", paper: "002", title: "All phases over the density", measure: phases::fig4 },
    Experiment { name: "002-fig5", paper: "002", title: "An implosion", measure: clusters::fig5 },
    Experiment { name: "002-fig6", paper: "002", title: "Objects that cross a plane: the axis swap", measure: clusters::fig6 },
];

/// The sequential algorithm 1, with the paper's own tree of active objects.
const SEQUENTIAL: &str = "sweep:path=sequential:partitions=1:active=tree";
/// Algorithms 2 to 4.
const PARALLEL: &str = "sweep:path=parallel:active=tree";
