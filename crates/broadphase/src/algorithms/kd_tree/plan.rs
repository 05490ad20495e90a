//! The jobs that a search is cut into.
//!
//! A subtree of up to [`GRAIN`] objects is one job; each node above is a job of its own. A pass over the nodes above finds the external objects of
//! all jobs: those of a child are those of its parent, and the parent's own, that reach to the child's side of the plane. In a large tree that is
//! much to pass down, so it is cut too: the nodes of the first levels one after the other, then the branches below, all at once.
//!
//! Jobs and branches are cut by population, never by the number of workers.

use std::ops::Range;

use super::nodes::{ROOT, Tree};
use crate::context::{Context, PerWorker};
use crate::geometry::{Aabb, Real};

/// Objects in a subtree that makes one job.
pub(super) const GRAIN: usize = 8192;

/// A branch that is planned on its own has at most one in this many of all objects.
const BRANCHES: usize = 16;

/// One piece of a search.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) node: u32,
    /// The node with all below, or the node alone.
    pub(super) whole: bool,
    /// Its external objects, in the list of this number.
    list: usize,
    externals: Range<usize>,
}

/// The jobs of a search. Scratch.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) jobs: Vec<Job>,
    /// Those of the jobs for the nodes above that are cut further.
    branches: Vec<Job>,
    /// The first for the nodes above the branches, then one for each branch.
    lists: PerWorker<List>,
}

/// The jobs below a node.
#[derive(Clone, Debug, Default)]
struct List {
    number: usize,
    jobs: Vec<Job>,
    externals: Vec<u32>,
}

impl Plan {
    pub(super) fn bytes(&self) -> usize {
        let jobs = |jobs: &Vec<Job>| jobs.capacity() * size_of::<Job>();
        let lists: usize = self.lists.iter().map(|list| jobs(&list.jobs) + list.externals.capacity() * 4).sum();
        jobs(&self.jobs) + jobs(&self.branches) + lists
    }

    /// Cuts a search of `boxes`. `work` is that of the frame, in the units of [`Context::run_weighted`].
    pub(super) fn make<const D: usize, T: Real>(
        &mut self,
        tree: &Tree<D, T>,
        boxes: &[Aabb<D, T>],
        context: &Context,
        work: usize,
    ) {
        let Self { jobs, branches, lists } = self;
        lists.prepare_for(1);
        lists.get(0).fill(tree, boxes, (0, ROOT), &[], GRAIN.max(tree.order.len() / BRANCHES));
        let is_branch = |job: &Job| job.whole && tree.node(job.node).population > GRAIN && !tree.node(job.node).is_leaf();
        branches.clear();
        branches.extend(lists.read(0).jobs.iter().filter(|job| is_branch(job)).cloned());
        lists.prepare_for(1 + branches.len());
        context.run_weighted(branches.len(), work, |number, _| {
            let (branch, above) = (&branches[number], lists.read(0));
            let externals = &above.externals[branch.externals.clone()];
            lists.get(1 + number).fill(tree, boxes, (1 + number, branch.node), externals, GRAIN);
        });
        jobs.clear();
        let mut numbers = 1..;
        for job in &lists.read(0).jobs {
            match is_branch(job).then(|| numbers.next()).flatten() {
                Some(number) => jobs.extend_from_slice(&lists.read(number).jobs),
                None => jobs.push(job.clone()),
            }
        }
    }

    /// Calls `visit` with the external objects of a job.
    pub(super) fn with_externals<R>(&self, job: &Job, visit: impl FnOnce(&[u32]) -> R) -> R {
        visit(&self.lists.read(job.list).externals[job.externals.clone()])
    }
}

impl List {
    /// Cuts what is below `node`, whose external objects are given.
    fn fill<const D: usize, T: Real>(
        &mut self,
        tree: &Tree<D, T>,
        boxes: &[Aabb<D, T>],
        (number, node): (usize, u32),
        externals: &[u32],
        grain: usize,
    ) {
        self.number = number;
        self.jobs.clear();
        self.externals.clear();
        self.externals.extend_from_slice(externals);
        self.cut(tree, boxes, node, 0..externals.len(), grain);
    }

    fn cut<const D: usize, T: Real>(
        &mut self,
        tree: &Tree<D, T>,
        boxes: &[Aabb<D, T>],
        node: u32,
        externals: Range<usize>,
        grain: usize,
    ) {
        let this = tree.node(node);
        let whole = this.is_leaf() || this.population <= grain;
        self.jobs.push(Job { node, whole, list: self.number, externals: externals.clone() });
        if whole {
            return;
        }
        let axis = this.axis as usize;
        for (child, left) in [(this.left, true), (this.right, false)] {
            let from = self.externals.len();
            let reaches = |id: u32| {
                let value = &boxes[id as usize];
                if left { value.min[axis] < this.plane } else { value.max[axis] > this.plane }
            };
            for at in externals.clone() {
                let id = self.externals[at];
                if reaches(id) {
                    self.externals.push(id);
                }
            }
            self.externals.extend(tree.order[this.own()].iter().copied().filter(|&id| reaches(id)));
            let to = self.externals.len();
            self.cut(tree, boxes, child, from..to, grain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{KdTree, Options, Variant};
    use super::*;
    use crate::Frame;

    /// Jobs with their external objects, as one pass over the whole tree finds them.
    fn in_one_pass(tree: &Tree<2, f32>, boxes: &[Aabb<2, f32>]) -> Vec<(u32, bool, Vec<u32>)> {
        let mut list = List::default();
        list.fill(tree, boxes, (0, ROOT), &[], GRAIN);
        list.jobs.iter().map(|job| (job.node, job.whole, list.externals[job.externals.clone()].to_vec())).collect()
    }

    #[test]
    fn branches_planned_on_their_own_give_the_jobs_and_external_objects_of_one_pass() {
        let place = |i: usize, k: usize| ((i * (7919 + 104_729 * k)) % 100_003) as f32 * 0.01;
        for count in [300, 30_000, 40 * GRAIN] {
            let boxes: Vec<Aabb<2, f32>> = (0..count).map(|i| Aabb::from_center([place(i, 0), place(i, 1)], [0.6; 2])).collect();
            let mut tree = KdTree::new(Options::new(Variant::Complete));
            let context = &mut Context::new();
            tree.update(&Frame::new(&boxes), context).unwrap();
            let plan = &mut tree.plan;
            for _ in 0..2 {
                plan.make(&tree.tree, &boxes, context, 0);
                let externals = |job: &Job| plan.with_externals(job, <[u32]>::to_vec);
                let found: Vec<_> = plan.jobs.iter().map(|job| (job.node, job.whole, externals(job))).collect();
                assert!(found == in_one_pass(&tree.tree, &boxes), "{count} objects");
                assert_eq!(plan.branches.is_empty(), count <= BRANCHES * GRAIN);
            }
        }
    }
}
