//! The options.

use crate::algorithms::{OptionDescriptor, Spec};
use crate::error::Error;

/// How the work of a frame is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Parallel if there is more than one worker. Both paths give the same list.
    Auto,
    /// One pass after the other over all objects.
    Sequential,
    /// Buckets, intervals and segments, even for one worker.
    Parallel,
}

/// Where active objects are kept while pairing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Active {
    /// In packets per block of ranks (`kernels/active_blocks.rs`).
    Blocks,
    /// In a SuccTree, as the paper has it (`kernels/active_tree.rs`).
    Tree,
}

/// The options of `sweep`; `Spec::from(Options { .. })` converts them to a spec.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The paper's own mode, without our departures (`paper.rs`).
    pub paper: bool,
    /// Partitions of the pairing; 0: by the number of objects.
    pub partitions: usize,
    /// Buckets of the parallel sort, and of the dispersion.
    pub buckets: usize,
    /// May the third axis take the place of a clustered one?
    pub swap: bool,
    /// The dispersion above which an axis counts as clustered.
    pub threshold: f64,
    /// Frames between two looks at the crowding of the axes; 0: never.
    pub patrol: u64,
    /// Primary and secondary axis to start with; none: chosen in the first frame.
    pub axes: Option<[usize; 2]>,
    /// How the work of a frame is cut. The pairs are the same.
    pub path: Path,
    /// Where active objects are kept while pairing.
    pub active: Active,
}

/// The listed defaults.
impl Default for Options {
    fn default() -> Self {
        let Ok(options) = "sweep".parse().and_then(|spec| Self::new(&spec)) else { unreachable!("listed defaults are valid") };
        options
    }
}

/// The options, their defaults and what they do.
pub(crate) const DESCRIPTORS: &[OptionDescriptor] = &[
    OptionDescriptor {
        name: "paper",
        default: "false",
        help: "the text's own mechanisms: SuccTrees throughout, every partition reads all endpoints, one test at a time, the dispersion alone \
               swaps axes; then partitions=1, one bucket per partition, axes=xy, patrol=0 unless given",
    },
    OptionDescriptor {
        name: "partitions",
        default: "auto",
        help: "partitions of the pairing, each a chunk of pairs: 1 to 4096, or auto for one per 8,192 objects, at most 64",
    },
    OptionDescriptor { name: "buckets", default: "16", help: "buckets of the sort and of the dispersion: 16 to 1024" },
    OptionDescriptor { name: "swap", default: "on", help: "swaps a clustered axis with the third one: on or off" },
    OptionDescriptor {
        name: "threshold",
        default: "0.05",
        help: "the dispersion from which an axis counts as clustered: 0 to 2, as 0.05",
    },
    OptionDescriptor {
        name: "patrol",
        default: "8",
        help: "frames between two looks at the crowding of the axes: 0 to 1000000; 0 leaves the swap to the dispersion, as in the paper",
    },
    OptionDescriptor {
        name: "axes",
        default: "auto",
        help: "primary and secondary axis of the first frame: xy, yx, xz, zx, yz, zy, or auto for xy unless that is crowded",
    },
    OptionDescriptor {
        name: "path",
        default: "auto",
        help: "sequential, parallel, or auto for parallel with several workers; the pairs are the same",
    },
    OptionDescriptor {
        name: "active",
        default: "blocks",
        help: "active objects while pairing: blocks (packets of neighbors) or tree (the paper's SuccTree)",
    },
];

impl Options {
    /// Reads them from a spec.
    pub(crate) fn new(spec: &Spec) -> Result<Self, Error> {
        let partitions = match spec.text("partitions") {
            None | Some("auto") => 0,
            Some(_) => spec.value("partitions", 0, "auto or a number from 1 to 4096", |v| (1..=4096).contains(v))?,
        };
        let choice = |name: &'static str, values: &[&str], expected: &str| match spec.text(name) {
            None => Ok(0),
            Some(text) => {
                values.iter().position(|&value| value == text).ok_or_else(|| spec.invalid(name, text, expected.to_string()))
            }
        };
        let axes = match spec.text("axes") {
            None | Some("auto") => None,
            Some(text) => Some(
                parse_axes(text)
                    .ok_or_else(|| spec.invalid("axes", text, "auto, or two different axes such as xy".to_string()))?,
            ),
        };
        let paper = spec.value("paper", false, "true or false", |_| true)?;
        let partitions = if paper { partitions.max(1) } else { partitions };
        let axes = axes.or(paper.then_some([0, 1]));
        let buckets = match spec.text("buckets") {
            None if paper => partitions,
            _ => spec.value("buckets", 16, "a number from 16 to 1024", |v| (16..=1024).contains(v))?,
        };
        Ok(Self {
            paper,
            partitions,
            buckets,
            swap: choice("swap", &["on", "off"], "on or off")? == 0,
            threshold: spec.value("threshold", 0.05, "a number from 0 to 2", |v| (0.0..=2.0).contains(v))?,
            patrol: spec.value("patrol", if paper { 0 } else { 8 }, "a number from 0 to 1000000", |v| *v <= 1_000_000)?,
            axes,
            path: [Path::Auto, Path::Sequential, Path::Parallel]
                [choice("path", &["auto", "sequential", "parallel"], "auto, sequential or parallel")?],
            active: [Active::Blocks, Active::Tree][choice("active", &["blocks", "tree"], "blocks or tree")?],
        })
    }

    /// The number of partitions for `n` objects: a function of n alone, since partitions order the list.
    pub(super) fn partitions_for(&self, n: usize) -> usize {
        match self.partitions {
            0 => (n / OBJECTS_PER_PARTITION).clamp(1, MAX_PARTITIONS),
            given => given,
        }
    }
}

/// With `partitions=auto`: objects per partition, until there are [`MAX_PARTITIONS`].
const OBJECTS_PER_PARTITION: usize = 8192;
const MAX_PARTITIONS: usize = 64;

fn parse_axes(text: &str) -> Option<[usize; 2]> {
    let mut letters = text.chars().map(|letter| "xyz".find(letter));
    match (letters.next()??, letters.next()??, letters.next()) {
        (a, b, None) if a != b => Some([a, b]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_its_own_error() {
        let sound = "sweep:partitions=64:buckets=32:swap=off:threshold=0.1:axes=zy:path=parallel:active=tree";
        let options = Options::new(&sound.parse().unwrap()).unwrap();
        assert_eq!((options.partitions, options.buckets, options.swap, options.axes), (64, 32, false, Some([2, 1])));
        assert_eq!((options.threshold, options.path, options.active), (0.1, Path::Parallel, Active::Tree));
        let options = Options::new(&"sweep:paper=true:partitions=3".parse().unwrap()).unwrap();
        assert_eq!((options.paper, options.partitions, options.buckets), (true, 3, 3));
        assert_eq!((options.axes, options.patrol), (Some([0, 1]), 0));
        for wrong in [
            "paper=yes",
            "partitions=0",
            "partitions=x",
            "buckets=15",
            "swap=1",
            "threshold=-1",
            "axes=xx",
            "patrol=-1",
            "axes=xyz",
            "path=",
            "active=a",
        ] {
            let name = wrong.split('=').next().unwrap();
            let error = format!("sweep:{wrong}").parse::<Spec>().unwrap_err();
            assert!(matches!(&error, Error::InvalidOption { option, .. } if *option == name), "{wrong}: {error}");
        }
    }
}
