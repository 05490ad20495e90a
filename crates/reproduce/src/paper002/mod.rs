//! Paper 002: a parallel sweep and prune over two axes. The paper ran on 16 cores; speed-ups here are those on this machine's cores.
//!
//! The rows of an experiment take turns in one trial: algorithm 1, which uses one thread even if the trial has more, algorithms 2 to 4 with as many
//! partitions as threads, and our default.

mod clusters;
mod phases;

use std::time::Duration;

use super::Experiment;
use crate::lab::{Rows, cores};
use broadphase_bench::ratios::{Ratio, ratio};
use broadphase_bench::{Clock, Outcome};

/// Figures 1 to 6.
pub const EXPERIMENTS: &[Experiment] = &[
    Experiment { name: "002-fig1", paper: "002", title: "The sorting phase", measure: phases::fig1 },
    Experiment { name: "002-fig2", paper: "002", title: "The generation of candidates", measure: phases::fig2 },
    Experiment { name: "002-fig3", paper: "002", title: "The pairing phase: speed-up and balance", measure: phases::fig3 },
    Experiment { name: "002-fig4", paper: "002", title: "All phases over the density, and GPUs", measure: phases::fig4 },
    Experiment { name: "002-fig5", paper: "002", title: "An implosion", measure: clusters::fig5 },
    Experiment { name: "002-fig6", paper: "002", title: "Objects that cross a plane: the axis swap", measure: clusters::fig6 },
];

/// Algorithm 1.
const SEQUENTIAL: &str = "sweep:paper=true";
/// Our default.
const OURS: &str = "sweep";

/// Algorithms 2 to 4, with a partition for each thread.
fn parallel() -> String {
    // One partition would be algorithm 1.
    format!("sweep:paper=true:partitions={}", cores().max(2))
}

/// The ratio of two rows of one trial by wall time, paired block by block, over a range of frames; of one stage, or of the whole frame.
fn paired(rows: &Rows, slow: &str, fast: &str, stage: Option<&str>, frames: std::ops::Range<usize>) -> Option<Ratio> {
    let cut = |name: &str| -> Option<Outcome> {
        let mut row = rows.get(name)?.clone();
        let times = match stage {
            Some(stage) => Some(rows.get(name)?.stage_times(stage)?),
            None => None,
        };
        for (frame, record) in row.records.iter_mut().enumerate() {
            if let Some(times) = times {
                let spent = times.get(frame).copied().unwrap_or(0.0);
                record.timing.wall = Duration::from_secs_f64(spent / 1000.0);
            }
            record.counts &= frames.contains(&frame);
        }
        Some(row)
    };
    ratio(&cut(slow)?, &cut(fast)?, Clock::Wall)
}
