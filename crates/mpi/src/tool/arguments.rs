//! The command line.

use std::path::PathBuf;

use broadphase_mpi::split::Split;
use clap::{Args, Parser, Subcommand};

/// Finds every pair of overlapping boxes over many ranks.
#[derive(Debug, Parser)]
#[command(name = "broadphase-mpi", version, max_term_width = 100)]
pub struct Line {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The overlapping pairs of a recording, found by all ranks: equal to `broadphase pairs`, byte for byte.
    Pairs(PairsLine),
    /// A scene over all ranks: time of local work, exchange and cross join per rank, ghosts, bytes, and the pair hash of the job.
    Bench(BenchLine),
    /// One real rank of a job of any size, with generated neighbors: its CPU time, and a model of the network. Runs without mpirun.
    Simulate(SimulateLine),
}

/// `pairs`.
#[derive(Debug, Args)]
pub struct PairsLine {
    /// The recording: .npy, text (.csv, .tsv, .txt, .dat) or .aabbs; all ranks read it.
    pub file: PathBuf,
    /// The frame, from 0.
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub frame: usize,
    /// How objects are distributed over the ranks: slab, bisect or random.
    #[arg(long, default_value = "bisect")]
    pub split: Split,
    /// OUT.npy (uint32), OUT.csv, or - for CSV on stdout, which is the default.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
}

/// `bench`.
#[derive(Debug, Args)]
pub struct BenchLine {
    /// The scene: NAME[:key=value]...
    pub scene: String,
    /// Objects of each rank.
    #[arg(long, value_name = "N")]
    pub per_rank: usize,
    /// Frames.
    #[arg(long, value_name = "F")]
    pub frames: usize,
    /// How objects are distributed over the ranks: slab, bisect or random. With slab and bisect, objects that leave their rank's region migrate.
    #[arg(long, default_value = "bisect")]
    pub split: Split,
    /// Tight boxes per rank, 1 to 64.
    #[arg(long, default_value_t = 16)]
    pub boxes: usize,
    /// Find started and ended pairs too.
    #[arg(long)]
    pub events: bool,
    /// Report each pair on both ranks; the hash then counts it on the lower one.
    #[arg(long)]
    pub both: bool,
    /// Move the ranks' objects far apart, so that no rank has neighbors: the same load on the machine without exchange, for comparison. No object
    /// migrates then.
    #[arg(long, conflicts_with = "check")]
    pub apart: bool,
    /// Generate all frames before the first one is timed, so that only the ranks' own work takes their data out of the caches.
    #[arg(long, requires = "apart")]
    pub in_advance: bool,
    /// Compare the hash with that of one process: rank 0 also computes the whole scene by itself.
    #[arg(long)]
    pub check: bool,
    /// The seed of the scene.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Write results as JSON; with -, to stdout and nothing else.
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// For tests: this rank panics in the second frame.
    #[arg(long, hide = true)]
    pub panic_on: Option<usize>,
    /// For tests: this rank passes a NaN in the second frame.
    #[arg(long, hide = true)]
    pub nan_on: Option<usize>,
    /// For tests: this rank is killed in the second frame.
    #[arg(long, hide = true)]
    pub kill_on: Option<usize>,
}

/// `simulate`.
#[derive(Debug, Args)]
pub struct SimulateLine {
    /// Ranks of the job.
    #[arg(long, default_value_t = 9120)]
    pub ranks: usize,
    /// Objects of each rank.
    #[arg(long, value_name = "N", default_value_t = 125_000)]
    pub per_rank: usize,
    /// Frames.
    #[arg(long, value_name = "F", default_value_t = 60)]
    pub frames: usize,
    /// Tight boxes per rank, 1 to 64.
    #[arg(long, default_value_t = 16)]
    pub boxes: usize,
    /// Assumed time of a message whatever its length, in microseconds.
    #[arg(long, default_value_t = 2.0)]
    pub latency: f64,
    /// Assumed bandwidth of a rank, in GB per second.
    #[arg(long, default_value_t = 10.0)]
    pub bandwidth: f64,
    /// Write results as JSON; with -, to stdout and nothing else.
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
}
