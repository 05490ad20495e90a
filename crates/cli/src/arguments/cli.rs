//! The command line as clap sees it: commands, options, their help and what a shell completes.
//!
//! Only the form is checked here. Names of scenes, algorithms and files are checked by the modules beside this one, which turn these
//! structures into the arguments of a command.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use broadphase::Shape;
use broadphase_scenes::{Columns, Format};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use super::names::{Names, algorithms, experiments, peers, scenes};
use super::values::{columns, count, counts, drives, frame, frames, port, seconds, seed, shape, thread_counts, threads};
use broadphase_bench::Drive;

/// The help of a command: its usage first.
const HELP: &str = "{usage-heading} {usage}\n\n{about-with-newline}\n{all-args}{after-help}";

/// The help of the tool.
const TOOL_HELP: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n{all-args}{after-help}";

const EXAMPLES: &str = "\
Examples:
  broadphase                       the demonstration: 100,000 moving objects
  broadphase pairs boxes.npy -o pairs.npy
  broadphase record pile --n 20000 --frames 50 -o pile.npy
  broadphase bench SCENE|FILE ...  as in: broadphase bench pile --n 1000,16000
  broadphase view                  the same scene in a browser, live

Files are NumPy .npy (float32 or float64, rows min..., max...), text (.csv, .tsv,
.txt, .dat) or .aabbs of the Broadmark benchmark. Scenes and algorithms take options, as in
uniform:shape=long; `broadphase list` shows all of them.
Exit codes: 0 done, 1 bad data or a wrong result, 2 a usage error.";

/// Finds every pair of overlapping boxes among many moving ones, every frame.
#[derive(Debug, Parser)]
#[command(name = "broadphase", version, max_term_width = 80, args_override_self = true)]
#[command(help_template = TOOL_HELP, after_help = EXAMPLES)]
pub struct Line {
    /// What to do; the demonstration if no command is given.
    #[command(subcommand)]
    pub command: Option<LineCommand>,
}

/// The commands; the help of each is the documentation of its structure.
#[derive(Debug, Subcommand)]
pub enum LineCommand {
    List(ListLine),
    Pairs(PairsLine),
    Record(RecordLine),
    Bench(Box<BenchLine>),
    Doctor(DoctorLine),
    View(ViewLine),
    Reproduce(ReproduceLine),
    Completions(CompletionsLine),
}

/// List algorithms, scenes, experiments and peers, each with its options.
#[derive(Debug, Args)]
#[command(help_template = HELP)]
pub struct ListLine {
    /// Print one JSON object, for scripts.
    #[arg(long)]
    pub json: bool,
}

/// How recordings are read.
#[derive(Debug, Args)]
pub struct ReadingLine {
    /// The format of standard input, or of a file whose name does not tell it.
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub format: Option<Format>,
    /// What the columns of a text are, as in id,x,y,w,h; a header is then skipped.
    ///
    /// Each axis takes one of: min_x,max_x (also xmin,xmax or x1,x2); x,w as lower corner and size (y: h, z: d; also
    /// width,height,depth or size_x); cx,w as center and size (also center_x); center_x,half_x; x,r as center and radius. `frame`
    /// numbers the frames of a recording; `id`, `name` and `-` are not read. Commas, semicolons, tabs or spaces separate columns.
    /// A text without header is min_x,min_y,max_x,max_y or, with six columns, the same in 3D.
    #[arg(long, value_name = "NAME,...", value_parser = columns)]
    pub columns: Option<Columns>,
}

/// Find the overlapping pairs of a recording, or of two.
///
/// The result is a (k, 2) array of object numbers, a < b, rows sorted, for one frame. With two files: the pairs between them, the object of
/// FILE first, the object of OTHER second. Frame K of one is paired with frame K of the other; a recording with a single frame is paired
/// with every frame of the other.
#[derive(Debug, Args)]
#[command(help_template = HELP)]
pub struct PairsLine {
    /// The recording: .npy, text (.csv, .tsv, .txt, .dat) or .aabbs, or - for standard input.
    #[arg(value_name = "FILE", required = true)]
    pub file: PathBuf,
    /// Another recording: find the pairs between the two.
    #[arg(value_name = "OTHER")]
    pub other: Option<PathBuf>,
    /// The frame, from 0 (default: 0).
    #[arg(long, value_name = "K", value_parser = frame, allow_negative_numbers = true)]
    pub frame: Option<usize>,
    /// NAME[:key=value]... (default: auto). Every algorithm finds the same pairs.
    #[arg(long, value_name = "A", default_value = "auto", hide_default_value = true)]
    #[arg(value_parser = Names(algorithms), hide_possible_values = true)]
    pub algorithm: OsString,
    /// What a row stands for: its box, or the ball inscribed in it.
    #[arg(long, value_name = "SHAPE", default_value = "box", value_parser = shape_values())]
    pub shape: Shape,
    /// Threads.
    #[arg(long, value_name = "T", default_value = "1", value_parser = threads, allow_negative_numbers = true)]
    pub threads: usize,
    /// Print `frame n pairs` instead, one line per frame; all frames unless --frame.
    #[arg(long)]
    pub count: bool,
    /// OUT.npy (uint32), OUT.csv, or - for CSV on stdout, which is the default.
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// How the recordings are read.
    #[command(flatten)]
    pub reading: ReadingLine,
}

/// Record a scene into a file.
///
/// The file holds float32, shape (frames, n, 2 x dimensions), rows min..., max...
#[derive(Debug, Args)]
#[command(help_template = HELP)]
pub struct RecordLine {
    /// The scene: NAME[:key=value]...
    #[arg(value_name = "SCENE", required = true, value_parser = Names(scenes), hide_possible_values = true)]
    pub scene: OsString,
    /// Objects.
    #[arg(long, value_name = "N", required = true, value_parser = count, allow_negative_numbers = true)]
    pub n: usize,
    /// Frames.
    #[arg(long, value_name = "F", required = true, value_parser = frames, allow_negative_numbers = true)]
    pub frames: usize,
    /// The same seed gives the same bits on every machine.
    #[arg(long, value_name = "S", default_value = "0", value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// FILE.npy, FILE.csv (a column `frame` if there are several), or FILE.aabbs for Broadmark (3D only).
    #[arg(short, long, value_name = "FILE", required = true)]
    pub output: PathBuf,
}

/// Measure algorithms and peers side by side.
///
/// All run on the same frames, in turns, and their pairs are compared. A frame's time is everything from boxes in to exact pairs out;
/// reading and generating frames does not count.
#[derive(Debug, Args)]
#[command(help_template = HELP)]
pub struct BenchLine {
    /// Scenes (NAME[:key=value]...) and recordings, - for standard input.
    #[arg(value_name = "SCENE|FILE", required = true, value_parser = Names(scenes), hide_possible_values = true)]
    pub sources: Vec<OsString>,
    /// Objects of the scenes, as in 1000,16000 (default: each scene's own number).
    #[arg(long, value_name = "N,N,...", value_parser = counts, allow_negative_numbers = true)]
    pub n: Option<Counts>,
    /// Frames (default: the scene's own number, or all of a recording).
    #[arg(long, value_name = "F", value_parser = frames, allow_negative_numbers = true)]
    pub frames: Option<usize>,
    /// `all`, or names with options (default: auto).
    #[arg(long, alias = "algorithm", value_name = "A,A,...", default_value = "auto", hide_default_value = true)]
    #[arg(value_parser = Names(algorithms), hide_possible_values = true)]
    pub algorithms: OsString,
    /// `none`, `all` of this build, or names (default: none).
    #[arg(long, value_name = "P,P,...", default_value = "none", hide_default_value = true)]
    #[arg(value_parser = Names(peers), hide_possible_values = true)]
    pub peers: OsString,
    /// What a row stands for: its box, or the ball inscribed in it.
    #[arg(long, value_name = "SHAPE", default_value = "box", value_parser = shape_values())]
    pub shape: Shape,
    /// Threads of our algorithms, as in 1,2,4: a row for each number, all in turns, and the speed-ups below the table.
    #[arg(long, value_name = "T,T,...", default_value = "1", value_parser = thread_counts, allow_negative_numbers = true)]
    pub threads: Counts,
    /// The ways to call the library that are timed, as in step,world: step, world, oneshot, between, statics.
    ///
    /// step: one structure over all frames, on the bare array. world: `World`, each object that moved set by its handle, then an
    /// update with started and ended pairs. oneshot: one call on the array in each frame. between: one call on two arrays, even against
    /// odd objects. statics: as world, with the objects that never move as static ones. Peers are driven alike: created anew in each frame for
    /// oneshot and between; with groups or two trees for between and statics; without events.
    #[arg(long, value_name = "D,D,...", default_value = "step", value_parser = drives)]
    pub drive: Drives,
    /// A row that takes longer stops and is marked.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds, allow_negative_numbers = true)]
    pub row_limit: Duration,
    /// Compare every frame's pairs with those of an oracle, untimed.
    #[arg(long)]
    pub check: bool,
    /// Add time, pairs and moved share of every frame to the JSON.
    #[arg(long)]
    pub series: bool,
    /// Write results as JSON; with -, nothing else goes to stdout.
    #[arg(long, value_name = "FILE|-")]
    pub json: Option<PathBuf>,
    /// Write charts and tables as one page for any browser, the JSON inside; - as above.
    #[arg(long, value_name = "FILE|-")]
    pub html: Option<PathBuf>,
    /// How the recordings are read.
    #[command(flatten)]
    pub reading: ReadingLine,
}

/// Analyze a recording: what it contains, which algorithm wins and why, what to change.
///
/// Sizes, density, motion, pairs, giants, objects far away, ties, duplicates and invalid boxes with their places; a short comparison of a
/// few algorithms; and advice. Exit code 1 if a box is invalid.
#[derive(Debug, Args)]
#[command(help_template = HELP)]
pub struct DoctorLine {
    /// A recording, - for standard input, or a scene (NAME[:key=value]...).
    #[arg(value_name = "FILE|SCENE", required = true, value_parser = Names(scenes), hide_possible_values = true)]
    pub source: OsString,
    /// Objects of a scene (default: its own number).
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub n: Option<usize>,
    /// Frames of a scene, of which the first 24 are analyzed.
    #[arg(long, value_name = "F", value_parser = frames, allow_negative_numbers = true)]
    pub frames: Option<usize>,
    /// What a row stands for: its box, or the ball inscribed in it.
    #[arg(long, value_name = "SHAPE", default_value = "box", value_parser = shape_values())]
    pub shape: Shape,
    /// Print one JSON object, for scripts.
    #[arg(long)]
    pub json: bool,
    /// How the recording is read.
    #[command(flatten)]
    pub reading: ReadingLine,
}

/// Watch a scene or a recording in a browser: boxes, pairs, the structure, and what each algorithm costs.
///
/// Serves one page on this machine only, at an address with a random token, until Ctrl-C. The first algorithm is drawn, the others are
/// measured beside it. Scene, algorithms and their options can be changed in the page.
#[derive(Debug, Args)]
#[command(help_template = HELP)]
pub struct ViewLine {
    /// A scene (NAME[:key=value]...) or a recording (default: brownian-cubes with 100,000 objects).
    #[arg(value_name = "SCENE|FILE", value_parser = Names(scenes), hide_possible_values = true)]
    pub source: Option<OsString>,
    /// Objects of a scene (default: its own number).
    #[arg(long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    pub n: Option<usize>,
    /// `all`, or names with options (default: auto).
    #[arg(long, alias = "algorithm", value_name = "A,A,...", default_value = "auto", hide_default_value = true)]
    #[arg(value_parser = Names(algorithms), hide_possible_values = true)]
    pub algorithms: OsString,
    /// The port of the page (default: a free one).
    #[arg(long, value_name = "P", value_parser = port, allow_negative_numbers = true)]
    pub port: Option<u16>,
    /// Print the address, and open no browser.
    #[arg(long)]
    pub no_open: bool,
    /// Write one page with a short recording inside instead, to be shared.
    #[arg(short, long, value_name = "PAGE.html")]
    pub output: Option<PathBuf>,
    /// How the recording is read.
    #[command(flatten)]
    pub reading: ReadingLine,
}

/// Ways to drive a row, as in `step,world`, each once.
#[derive(Clone, Debug)]
pub struct Drives(pub Vec<Drive>);

/// Numbers of objects, as in `1000,16000`.
#[derive(Clone, Debug)]
pub struct Counts(pub Vec<usize>);

/// Run the papers' own experiments again.
///
/// Writes for each experiment (all of them unless named) a page with charts and the paper's findings beside ours, the chart as SVG and
/// every row as JSON; index.html links to all pages.
///
/// A finished experiment of the same mode, version and set of peers is not repeated, so an interrupted run goes on where it stopped.
#[derive(Debug, Args)]
#[command(help_template = HELP)]
pub struct ReproduceLine {
    /// The experiments; `broadphase list` shows them.
    #[arg(value_name = "EXPERIMENT", value_parser = Names(experiments), hide_possible_values = true)]
    pub experiments: Vec<OsString>,
    /// All of them in under 15 minutes, with fewer objects and frames than the papers; unless --full.
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,
    /// The papers' sizes: hours.
    #[arg(long)]
    pub full: bool,
    /// The folder, which is created if it does not exist.
    #[arg(short, long, value_name = "DIR", required = true)]
    pub output: PathBuf,
}

/// Print a script that completes commands, options and names in a shell.
///
/// For bash: broadphase completions bash > ~/.local/share/bash-completion/completions/broadphase
#[derive(Debug, Args)]
#[command(help_template = HELP)]
pub struct CompletionsLine {
    /// The shell.
    #[arg(value_name = "SHELL", required = true, value_parser = shells())]
    pub shell: Shell,
}

fn shape_values() -> impl TypedValueParser<Value = Shape> {
    PossibleValuesParser::new(["box", "ball"]).map(|name| shape(&name))
}

fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(["csv", "npy", "aabbs"]).map(|name| name.parse().unwrap_or(Format::Csv))
}

fn shells() -> impl TypedValueParser<Value = Shell> {
    PossibleValuesParser::new(["bash", "zsh", "fish"]).map(|name| match name.as_str() {
        "bash" => Shell::Bash,
        "zsh" => Shell::Zsh,
        _ => Shell::Fish,
    })
}
