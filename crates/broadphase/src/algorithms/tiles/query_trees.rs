//! Trees for queries, built on demand: a small one per tile, and one over the tiles.
//!
//! # The structure
//! Every object has a *home*: the tile that holds its lower corner. The tree of a tile is over the objects at home there; the *top* is a tree
//! over the bounding boxes of these sets. So every object is in exactly one tree, and a node's box contains its objects entirely: any
//! monotone [`Measure`](crate::geometry::Measure) can be searched for, regardless of tiles.
//!
//! # Cost
//! The first query after a change reads the objects of all touched tiles once, for their bounding boxes. The tree of a tile is built when
//! a query first enters the tile. Without queries there is no cost. Probes scan the records of the tiles at first, and use the trees if
//! they are repeated without a change in between, as with statics.
//!
//! # Determinism
//! Trees are built under [`OnceLock`]s, by whichever thread comes first; their content depends on the frame alone. Whether probes use trees depends
//! on earlier calls, which clones do not share; therefore the results of a look-up are sorted, and the choice affects only the number of tests.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

use super::Tiles;
use super::lock;
use super::plan::tuned::PROBES_BEFORE_TREES;
use crate::algorithms::common::{PackTree, bytes_of, order};
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;

/// The objects at home in a tile, or the tiles that are not empty.
#[derive(Debug)]
pub(super) struct Tree<const D: usize, T> {
    pub(super) ids: Vec<u32>,
    pub(super) packs: PackTree<D, T>,
}

/// Objects and their boxes, while a tree is built.
type Items<const D: usize, T> = Vec<(u32, Aabb<D, T>)>;

impl<const D: usize, T: Real> Default for Tree<D, T> {
    fn default() -> Self {
        Self { ids: Vec::new(), packs: PackTree::default() }
    }
}

impl<const D: usize, T: Real> Tree<D, T> {
    /// Rebuilds it over these boxes, and orders them.
    fn fill(&mut self, items: &mut Items<D, T>) {
        order(items);
        self.packs.build(items.iter().map(|(_, value)| *value));
        self.ids.clear();
        self.ids.extend(items.iter().map(|(id, _)| *id));
    }

    fn bytes(&self) -> usize {
        bytes_of(&self.ids) + self.packs.bytes()
    }
}

/// The trees. They can be dropped without changing a result.
#[derive(Debug)]
pub(super) struct QueryTrees<const D: usize, T> {
    top: OnceLock<Tree<D, T>>,
    /// By tile: the bounding box of the objects at home there.
    bounds: Vec<OnceLock<Aabb<D, T>>>,
    /// By tile.
    trees: Vec<OnceLock<Tree<D, T>>>,
    /// Buffers of dropped trees.
    spare: Mutex<Vec<Tree<D, T>>>,
    items: Mutex<Vec<Items<D, T>>>,
    /// Lists of ids for probes.
    ids: Mutex<Vec<Vec<u32>>>,
    /// Calls of `probe` since the last change.
    probed: AtomicU32,
}

impl<const D: usize, T> Default for QueryTrees<D, T> {
    fn default() -> Self {
        Self {
            top: OnceLock::new(),
            bounds: Vec::new(),
            trees: Vec::new(),
            spare: Mutex::default(),
            items: Mutex::default(),
            ids: Mutex::default(),
            probed: AtomicU32::new(0),
        }
    }
}

impl<const D: usize, T: Real> QueryTrees<D, T> {
    /// Drops the trees of the touched tiles, or of all.
    pub(super) fn invalidate(&mut self, tiles: usize, touched: Option<&[bool]>) {
        *self.probed.get_mut() = 0;
        let spare = self.spare.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        spare.extend(self.top.take());
        let touched = touched.filter(|_| self.trees.len() == tiles);
        for (tile, (tree, bounds)) in self.trees.iter_mut().zip(&mut self.bounds).enumerate() {
            if touched.is_none_or(|touched| touched.get(tile).copied().unwrap_or(true)) {
                spare.extend(tree.take());
                bounds.take();
            }
        }
        self.trees.resize_with(tiles, OnceLock::new);
        self.bounds.resize_with(tiles, OnceLock::new);
    }

    /// Counts a call of `probe`. Returns whether there were enough of them since the last change for trees to pay.
    pub(super) fn trees_pay(&self) -> bool {
        self.probed.fetch_add(1, Ordering::Relaxed) >= PROBES_BEFORE_TREES
    }

    /// Takes an empty list for the ids that a probe finds.
    pub(super) fn take_ids(&self) -> Vec<u32> {
        lock_list(&self.ids).pop().unwrap_or_default()
    }

    /// Returns the list, for later probes.
    pub(super) fn give_back(&self, ids: Vec<u32>) {
        lock_list(&self.ids).push(ids);
    }

    fn buffers(&self) -> Tree<D, T> {
        lock_list(&self.spare).pop().unwrap_or_default()
    }

    pub(super) fn bytes(&self) -> usize {
        let (spare, items) = (lock_list(&self.spare), lock_list(&self.items));
        let trees = self.trees.iter().chain([&self.top]).filter_map(OnceLock::get);
        trees.chain(spare.iter()).map(Tree::bytes).sum::<usize>()
            + bytes_of(&self.trees)
            + bytes_of(&self.bounds)
            + spare.capacity() * size_of::<Tree<D, T>>()
            + items.iter().map(bytes_of).sum::<usize>()
            + lock_list(&self.ids).iter().map(bytes_of).sum::<usize>()
    }
}

fn lock_list<V>(list: &Mutex<Vec<V>>) -> MutexGuard<'_, Vec<V>> {
    list.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl<const D: usize, T: Real> Tiles<D, T> {
    /// Calls `visit` with each object at home in a tile.
    fn at_home(&self, tile: usize, frame: &Frame<'_, D, T>, visit: &mut dyn FnMut(u32, &Aabb<D, T>)) {
        for block in &self.blocks {
            for record in lock(block).records(tile) {
                let value = &frame.boxes[record.id() as usize];
                if usize::from(self.partition.tile_at(&self.lattice.corners(value).low())) == tile {
                    visit(record.id(), value);
                }
            }
        }
    }

    /// The tree over the tiles.
    pub(super) fn top(&self, frame: &Frame<'_, D, T>) -> &Tree<D, T> {
        self.query_trees.top.get_or_init(|| {
            let mut top = self.query_trees.buffers();
            let bounds = |tile: usize| {
                *self.query_trees.bounds[tile].get_or_init(|| {
                    let mut all = Aabb::empty();
                    self.at_home(tile, frame, &mut |_, value| all = all.union(value));
                    all
                })
            };
            let mut items = lock_list(&self.query_trees.items).pop().unwrap_or_default();
            items.clear();
            items.extend(
                (0..self.query_trees.bounds.len()).map(|tile| (tile as u32, bounds(tile))).filter(|(_, value)| value.is_valid()),
            );
            top.fill(&mut items);
            lock_list(&self.query_trees.items).push(items);
            top
        })
    }

    /// The tree of a tile.
    pub(super) fn tree(&self, tile: usize, frame: &Frame<'_, D, T>) -> &Tree<D, T> {
        self.query_trees.trees[tile].get_or_init(|| {
            let mut tree = self.query_trees.buffers();
            let mut items = lock_list(&self.query_trees.items).pop().unwrap_or_default();
            items.clear();
            self.at_home(tile, frame, &mut |id, value| items.push((id, *value)));
            tree.fill(&mut items);
            lock_list(&self.query_trees.items).push(items);
            tree
        })
    }
}
