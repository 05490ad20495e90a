//! The options of the kd-tree, as in `kd-tree:t=256:k=50`.

use crate::algorithms::common::nearest_in;
use crate::algorithms::{OptionDescriptor, Spec};
use crate::error::Error;

/// How the tree follows the objects and which pairs are searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// All pairs are searched for in every frame.
    Complete,
    /// Pairs of two static objects come from a cache.
    Incremental,
    /// Incremental where that is predicted to be less work, or if more than K % of the objects are static, else complete.
    Adaptive,
    /// Complete, with a new tree in every frame.
    Rebuilt,
}

/// Which stages prune, to see what each is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Pruning {
    /// The tree, and a sweep in each node.
    #[default]
    Both,
    /// The tree; in a node every object is tested with every other.
    TreeOnly,
    /// One sweep over all objects: the tree is a single leaf.
    SweepOnly,
}

/// All options of the kd-tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Complete, incremental, adaptive or rebuilt.
    pub variant: Variant,
    /// The paper's T: a leaf with more objects is partitioned, a subtree with fewer collapsed.
    pub threshold: usize,
    /// Does it do what the text of the paper says, without the departures that the module documentation lists?
    pub paper: bool,
    /// The paper's K, in percent: from more static objects than this on, `Adaptive` is incremental. `None`: 60 with `paper`, else
    /// the counted work of past searches decides.
    pub adaptive_percent: Option<f64>,
    /// How far the held boxes reach beyond the objects', as a share of the mean size.
    pub epsilon: f64,
    /// Which stages prune.
    pub pruning: Pruning,
}

/// The options of every variant.
pub(in crate::algorithms) const COMMON: &[OptionDescriptor] = &[T, MODE, PAPER];
/// And of those that distinguish static from moving objects.
pub(in crate::algorithms) const COHERENT: &[OptionDescriptor] = &[T, MODE, PAPER, EPSILON];
/// And of the one that chooses.
pub(in crate::algorithms) const ADAPTIVE: &[OptionDescriptor] = &[T, MODE, PAPER, EPSILON, K];

const T: OptionDescriptor =
    OptionDescriptor { name: "t", default: "512", help: "objects above which a leaf is split, below which a subtree collapses" };
const MODE: OptionDescriptor =
    OptionDescriptor { name: "mode", default: "both", help: "which stages prune: both, tree (no sweep), sweep (no tree)" };
const EPSILON: OptionDescriptor = OptionDescriptor {
    name: "epsilon",
    default: "0.01",
    help: "margin within which an object counts as static, of the mean size",
};
const PAPER: OptionDescriptor = OptionDescriptor {
    name: "paper",
    default: "false",
    help: "the text's own mechanisms: sweeps over floats, every object classified, K = 60 and nothing else decides, no node caches",
};
const K: OptionDescriptor = OptionDescriptor {
    name: "k",
    default: "auto",
    help: "percentage of static objects above which the search is incremental, or auto: counted work decides, and 60 with paper=true",
};

impl Options {
    /// The paper's values, except for K (`policy.rs`).
    pub fn new(variant: Variant) -> Self {
        Self { variant, threshold: 512, paper: false, adaptive_percent: None, epsilon: 0.01, pruning: Pruning::Both }
    }

    /// The options, each clamped to its range.
    pub(super) fn in_range(self) -> Self {
        Self {
            threshold: self.threshold.max(1),
            adaptive_percent: self.adaptive_percent.map(|k| nearest_in(k, 0.0, 100.0)),
            epsilon: nearest_in(self.epsilon, 0.0, 10.0),
            ..self
        }
    }

    /// The options that a text gives.
    pub(in crate::algorithms) fn from_spec(variant: Variant, spec: &Spec) -> Result<Self, Error> {
        let default = Self::new(variant);
        let pruning = match spec.text("mode") {
            None | Some("both") => Pruning::Both,
            Some("tree") => Pruning::TreeOnly,
            Some("sweep") => Pruning::SweepOnly,
            Some(other) => return Err(spec.invalid("mode", other, "one of both, tree, sweep".to_string())),
        };
        Ok(Self {
            threshold: spec.value("t", default.threshold, "a whole number from 1 on", |&t| t >= 1)?,
            paper: spec.value("paper", false, "true or false", |_| true)?,
            adaptive_percent: match spec.text("k") {
                None | Some("auto") => None,
                Some(_) => Some(spec.value("k", 0.0, "auto or a percentage, 0 to 100", |k| (0.0..=100.0).contains(k))?),
            },
            epsilon: spec.value("epsilon", default.epsilon, "a share from 0 to 10", |e| (0.0..=10.0).contains(e))?,
            pruning,
            variant,
        })
    }

    /// Does the counted work of past searches decide how a frame is searched?
    pub(super) fn counts_work(&self) -> bool {
        self.variant == Variant::Adaptive && !self.paper && self.adaptive_percent.is_none()
    }

    /// Does this variant distinguish static from moving objects?
    pub(super) fn coherent(&self) -> bool {
        matches!(self.variant, Variant::Incremental | Variant::Adaptive)
    }
}
