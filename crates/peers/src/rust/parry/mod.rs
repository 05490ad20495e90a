//! parry's `Bvh`, the tree under rapier, in its two uses.
//!
//! parry compiles once per dimension, into two crates with the same interface. [`Tree`] is the part of it that the two uses need;
//! a macro writes it for both crates, and the uses themselves are written once.

mod rapier;
mod refit;

pub(crate) use rapier::Rapier;
pub(crate) use refit::Refit;

use broadphase::Aabb;

/// What a leaf's update did to the tree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaf {
    /// The box is still inside the fat leaf: nothing.
    Kept,
    /// The leaf has a new box.
    Moved,
    /// There was no leaf.
    Missing,
}

/// parry's tree with its workspace.
pub(crate) trait Tree<const D: usize>: Default + Send + 'static {
    /// A tree over all these objects at once, with exact leaves.
    fn built<'a>(leaves: impl Iterator<Item = (u32, &'a Aabb<D, f32>)>) -> Self;
    /// Adds a leaf, exact: parry fattens it at its first move.
    fn insert(&mut self, id: u32, at: &Aabb<D, f32>);
    /// Writes a leaf in place; its ancestors wait for a refit.
    fn write(&mut self, id: u32, to: &Aabb<D, f32>, skin: f32) -> Leaf;
    /// Takes a leaf out and puts it where it fits best, if its box left the fat one.
    fn reinsert(&mut self, id: u32, to: &Aabb<D, f32>, skin: f32) -> Leaf;
    /// Improves a part of the tree, another one each time.
    fn optimize(&mut self);
    /// Recomputes all inner nodes, stores them depth first, and turns pending changes into changes.
    fn refit(&mut self);
    /// The same, but pending changes stay pending and changes stay changes.
    fn refit_keeping_flags(&mut self);
    /// Recomputes the ancestors of these leaves only.
    fn refit_partly(&mut self, before: &[u32], now: &[u32]);
    /// Visits the pairs of overlapping leaves; with `CHANGED` only those of which one changed since the last refit.
    fn pairs<const CHANGED: bool>(&mut self, visit: impl FnMut(u32, u32));
    /// Visits the pairs of a leaf here and one of another tree that overlaps it, and at most four pairs that do not overlap: parry starts with the
    /// children of the two roots without testing them.
    fn pairs_with(&self, other: &Self, visit: impl FnMut(u32, u32));
    /// The members of `others` whose leaves do not overlap that of `id` any more.
    fn parted(&self, id: u32, others: impl Iterator<Item = u32>, visit: impl FnMut(u32));
    /// The tree, and the copy of its nodes that a refit writes into; smaller buffers of the workspace are not reported.
    fn bytes(&self) -> usize;
}

macro_rules! tree {
    ($name:ident, $parry:ident, $d:literal, $what:literal) => {
        #[doc = $what]
        #[derive(Default)]
        pub(crate) struct $name {
            bvh: $parry::partitioning::Bvh,
            workspace: $parry::partitioning::BvhWorkspace,
        }

        impl $name {
            #[inline(always)]
            fn aabb(of: &Aabb<$d, f32>) -> $parry::bounding_volume::Aabb {
                $parry::bounding_volume::Aabb { mins: of.min.into(), maxs: of.max.into() }
            }

            #[inline(always)]
            fn leaf(status: Option<$parry::partitioning::BvhLeafUpdateStatus>) -> Leaf {
                match status {
                    None => Leaf::Missing,
                    Some($parry::partitioning::BvhLeafUpdateStatus::Unchanged) => Leaf::Kept,
                    Some(_) => Leaf::Moved,
                }
            }
        }

        impl Tree<$d> for $name {
            fn built<'a>(leaves: impl Iterator<Item = (u32, &'a Aabb<$d, f32>)>) -> Self {
                let leaves: Vec<_> = leaves.map(|(id, at)| (id as usize, Self::aabb(at))).collect();
                if leaves.len() <= 2 {
                    // The builder takes the ids of so few leaves to be 0 and 1.
                    let mut tree = Self::default();
                    leaves.into_iter().for_each(|(id, at)| tree.bvh.insert(at, id as u32));
                    return tree;
                }
                let bvh = $parry::partitioning::Bvh::from_iter($parry::partitioning::BvhBuildStrategy::Binned, leaves);
                Self { bvh, workspace: Default::default() }
            }

            fn insert(&mut self, id: u32, at: &Aabb<$d, f32>) {
                self.bvh.insert_or_update_partially(Self::aabb(at), id, 0.0);
            }

            #[inline(always)]
            fn write(&mut self, id: u32, to: &Aabb<$d, f32>, skin: f32) -> Leaf {
                Self::leaf(self.bvh.update_partially_if_present(Self::aabb(to), id, skin))
            }

            #[inline(always)]
            fn reinsert(&mut self, id: u32, to: &Aabb<$d, f32>, skin: f32) -> Leaf {
                Self::leaf(self.bvh.reinsert_or_update_if_present(Self::aabb(to), id, skin))
            }

            fn optimize(&mut self) {
                self.bvh.optimize_incremental(&mut self.workspace);
            }

            fn refit(&mut self) {
                self.bvh.refit(&mut self.workspace);
            }

            fn refit_keeping_flags(&mut self) {
                self.bvh.refit_without_resolve(&mut self.workspace);
            }

            fn refit_partly(&mut self, before: &[u32], now: &[u32]) {
                self.bvh.refit_partial(before, now);
            }

            fn pairs<const CHANGED: bool>(&mut self, mut visit: impl FnMut(u32, u32)) {
                self.bvh.traverse_bvtt_single_tree::<CHANGED>(&mut self.workspace, &mut visit);
            }

            fn pairs_with(&self, other: &Self, mut visit: impl FnMut(u32, u32)) {
                self.bvh.leaf_pairs(&other.bvh, |a, b| a.intersects(b)).for_each(|(a, b)| visit(a, b));
            }

            #[inline(always)]
            fn parted(&self, id: u32, others: impl Iterator<Item = u32>, mut visit: impl FnMut(u32)) {
                let Some(own) = self.bvh.leaf_node(id) else { return };
                for other in others {
                    if self.bvh.leaf_node(other).is_some_and(|node| !own.intersects(node)) {
                        visit(other);
                    }
                }
            }

            fn bytes(&self) -> usize {
                let copy = self.bvh.leaf_count() as usize * size_of::<$parry::partitioning::BvhNodeWide>();
                self.bvh.total_memory_size() + copy
            }
        }
    };
}

tree!(Flat, parry2d, 2, "The tree of parry2d.");
tree!(Solid, parry3d, 3, "The tree of parry3d.");
