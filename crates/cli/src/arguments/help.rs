//! The texts of `--help`.

/// `broadphase --help`.
pub const TOOL: &str = "\
broadphase: finds every pair of overlapping boxes among many moving ones, every frame

Usage:
  broadphase                                   the demonstration: 100,000 moving objects, every algorithm
  broadphase list [--json]                     algorithms, scenes, experiments and peers, with their options
  broadphase pairs FILE [options]              the overlapping pairs of a recording's frame
  broadphase record SCENE --n N --frames F -o FILE.npy
  broadphase bench SCENE|FILE ... [options]    algorithms and peers side by side
  broadphase reproduce [EXPERIMENT ...] -o DIR   the papers' own experiments, run again
  broadphase COMMAND --help                    more on a command

Files are NumPy .npy (float32 or float64, rows min..., max...), .csv (header min_x,min_y[,min_z],max_x,...)
or Broadmark .aabbs. Scenes and algorithms take options: NAME[:key=value]..., as in uniform:shape=long.
Exit codes: 0 done, 1 bad data or a wrong result, 2 a usage error.
";

/// `broadphase list --help`.
pub const LIST: &str = "\
Usage: broadphase list [--json]

Lists algorithms, scenes, experiments and peers, each with its options and their defaults.
  --json    one JSON object, for scripts
";

/// `broadphase pairs --help`.
pub const PAIRS: &str = "\
Usage: broadphase pairs FILE [options]

Finds the overlapping pairs of one frame: a (k, 2) array of object numbers, a < b, rows sorted.
  --frame K             the frame, from 0; 0 unless given
  --algorithm A         NAME[:key=value]...; auto unless given, every one finds the same pairs
  --shape box|ball      what a row stands for: its box, or the ball inscribed in it
  --threads T           1 unless given
  --count               print `frame n pairs` instead, one line for each frame, all of them unless --frame
  -o, --output OUT      OUT.npy (uint32), OUT.csv, or - for CSV on stdout, which is also the default
";

/// `broadphase record --help`.
pub const RECORD: &str = "\
Usage: broadphase record SCENE --n N --frames F [--seed S] -o FILE.npy

Records a scene: float32, shape (frames, n, 2 x dimensions), rows min..., max...
  --n N                 objects
  --frames F            frames
  --seed S              0 unless given; the same seed gives the same bits everywhere
  -o, --output FILE     FILE.npy, or FILE.aabbs for Broadmark (3D only)
";

/// `broadphase bench --help`.
pub const BENCH: &str = "\
Usage: broadphase bench SCENE|FILE ... [options]

Runs algorithms and peers on the same frames, in turns, and prints a table with their times.
A frame's time is everything from boxes in to exact pairs out; reading and generating frames is not in it.
  --n N,N,...           objects of the scenes; each scene's own number unless given; not for files
  --frames F            frames; the scene's own number, or all of a recording, unless given
  --algorithms A,A,...  all, or names with options; auto unless given
  --peers P,P,...       none, all of this build, or names; none unless given
  --shape box|ball      what a row stands for: its box, or the ball inscribed in it
  --threads T           threads for our algorithms; 1 unless given
  --row-limit SECONDS   a row that takes longer stops and is marked; 30 unless given
  --check               compare every frame's pairs with those of an oracle, untimed
  --series              add time, pairs and moved share of every frame to the JSON
  --json FILE|-         write results as JSON; with -, nothing else goes to stdout
  --html FILE|-         write charts and tables as one page that opens in any browser, the JSON inside; - as above
";

/// `broadphase reproduce --help`.
pub const REPRODUCE: &str = "\
Usage: broadphase reproduce [EXPERIMENT ...] [--quick|--full] -o DIR

Runs the experiments of the papers again (all of them unless named; `broadphase list` shows them) and writes, for each, a page
with charts and the paper's findings beside ours, the chart as SVG and every row as JSON; index.html ties them together.
A finished experiment of the same mode and version is not repeated: an interrupted run goes on where it stopped.
  --quick               all of them in under 15 minutes, with fewer objects and frames than the papers; unless --full
  --full                the papers' sizes: hours
  -o, --output DIR      the folder, which is created if it does not exist
";
