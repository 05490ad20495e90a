//! The statistics of the tree: the figures of the paper's evaluation.

use super::KdTree;
use super::nodes::ROOT;
use super::update::Surveyed;
use crate::algorithms::Stats;
use crate::geometry::{Aabb, Real};

/// Names of the share of leaves at each height; what is higher counts at the last.
const LEAVES_AT: [&str; 25] = [
    "leaves at height 0",
    "leaves at height 1",
    "leaves at height 2",
    "leaves at height 3",
    "leaves at height 4",
    "leaves at height 5",
    "leaves at height 6",
    "leaves at height 7",
    "leaves at height 8",
    "leaves at height 9",
    "leaves at height 10",
    "leaves at height 11",
    "leaves at height 12",
    "leaves at height 13",
    "leaves at height 14",
    "leaves at height 15",
    "leaves at height 16",
    "leaves at height 17",
    "leaves at height 18",
    "leaves at height 19",
    "leaves at height 20",
    "leaves at height 21",
    "leaves at height 22",
    "leaves at height 23",
    "leaves at height 24 and more",
];

/// Counts over all leaves.
#[derive(Default)]
struct Leaves {
    by_height: [usize; LEAVES_AT.len()],
    count: usize,
    heights: usize,
    highest: usize,
    objects: usize,
    fullest: usize,
}

impl<const D: usize, T: Real> KdTree<D, T> {
    pub(super) fn stats(&self) -> Stats {
        let mut leaves = Leaves::default();
        self.measure_leaves(ROOT, 0, &mut leaves);
        let objects = self.tree.order.len().max(1) as f64;
        let count = leaves.count as f64;
        let mut extra = vec![
            ("nodes", (self.tree.nodes.len() - self.tree.free.len()) as f64),
            ("leaves", count),
            ("leaf height mean", leaves.heights as f64 / count),
            ("leaf height max", leaves.highest as f64),
            ("objects in leaves share", leaves.objects as f64 / objects),
            ("objects in fullest leaf", leaves.fullest as f64),
            ("raised", self.work.raised as f64),
            ("lowered", self.work.lowered as f64),
            ("partitions", self.work.partitions as f64),
            ("collapses", self.work.collapses as f64),
            ("translations", self.work.translations as f64),
            ("erasures", self.work.erasures as f64),
            ("unbounded", self.unbounded.ids().len() as f64),
            // The paper's batches: candidates of one object that are tested together.
            ("batch mean", self.found.runs.tests as f64 / self.found.runs.rows.max(1) as f64),
            ("batches of up to 8 share", self.found.runs.short as f64 / self.found.runs.rows.max(1) as f64),
        ];
        if let Some(coherency) = &self.coherency {
            extra.push(("cached pairs", coherency.count(Vec::len) as f64));
            extra.push(("static share", self.found.static_share));
            extra.push(("read share", self.found.read as f64 / objects));
            if self.options.counts_work() {
                extra.push(("incremental work share", self.found.incremental_share));
            }
            extra.push(("incremental", f64::from(u8::from(self.found.mode.incremental))));
        }
        let shares = LEAVES_AT.iter().zip(leaves.by_height).filter(|(_, leaves)| *leaves > 0);
        extra.extend(shares.map(|(&name, leaves)| (name, leaves as f64)));
        Stats { bytes: self.bytes(), extra, ..Stats::default() }
    }

    fn measure_leaves(&self, node: u32, height: usize, leaves: &mut Leaves) {
        let this = self.tree.node(node);
        if !this.is_leaf() {
            self.measure_leaves(this.left, height + 1, leaves);
            self.measure_leaves(this.right, height + 1, leaves);
            return;
        }
        leaves.by_height[height.min(LEAVES_AT.len() - 1)] += 1;
        leaves.count += 1;
        leaves.heights += height;
        leaves.highest = leaves.highest.max(height);
        leaves.objects += this.population;
        leaves.fullest = leaves.fullest.max(this.population);
    }

    /// Tests that a query with this box makes: the objects of the nodes it enters.
    pub(super) fn tested(&self, area: &Aabb<D, T>) -> u64 {
        fn below<const D: usize, T: Real>(tree: &KdTree<D, T>, node: u32, area: &Aabb<D, T>) -> u64 {
            let this = tree.tree.node(node);
            if this.population == 0 || !this.region.overlaps(area) {
                return 0;
            }
            let own = this.own().len() as u64;
            own + if this.is_leaf() { 0 } else { below(tree, this.left, area) + below(tree, this.right, area) }
        }
        below(self, ROOT, area) + self.unbounded.ids().len() as u64
    }

    fn bytes(&self) -> usize {
        self.tree.bytes()
            + self.members.bytes()
            + self.loose.bytes()
            + self.unbounded.bytes()
            + self.coherency.as_ref().map_or(0, |coherency| coherency.bytes())
            + self.surveyed.capacity() * size_of::<Surveyed>()
            + self.entering.capacity() * 4
            + self.plan.bytes()
            + self.parts.bytes()
            + self.walkers.iter().map(|walker| walker.bytes()).sum::<usize>()
    }
}
