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
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::memory;
use crate::objects::Frame;

/// The objects at home in a tile, or the tiles that are not empty.
#[derive(Debug)]
pub(super) struct Tree<const D: usize, T> {
    pub(super) ids: Vec<u32>,
    pub(super) packs: PackTree<D, T>,
}

/// What the memory is for, in errors.
const TREES: &str = "trees for queries";

/// Objects and their boxes, while a tree is built.
type Items<const D: usize, T> = Vec<(u32, Aabb<D, T>)>;

impl<const D: usize, T: Real> Default for Tree<D, T> {
    fn default() -> Self {
        Self { ids: Vec::new(), packs: PackTree::default() }
    }
}

impl<const D: usize, T: Real> Tree<D, T> {
    /// Rebuilds it over these boxes, and orders them.
    fn fill(&mut self, items: &mut Items<D, T>) -> Result<(), Error> {
        order(items);
        self.packs.build(items.iter().map(|(_, value)| *value))?;
        self.ids.clear();
        memory::extend(&mut self.ids, items.len(), items.iter().map(|(id, _)| *id), TREES)
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
    /// Dropped trees, whose buffers are reused.
    spare: Mutex<Vec<Tree<D, T>>>,
    /// Buffers for building trees.
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
    pub(super) fn invalidate(&mut self, tiles: usize, touched: Option<&[bool]>) -> Result<(), Error> {
        *self.probed.get_mut() = 0;
        let spare = self.spare.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        keep(spare, self.top.take());
        let touched = touched.filter(|_| self.trees.len() == tiles);
        for (tile, (tree, bounds)) in self.trees.iter_mut().zip(&mut self.bounds).enumerate() {
            if touched.is_none_or(|touched| touched.get(tile).copied().unwrap_or(true)) {
                keep(spare, tree.take());
                bounds.take();
            }
        }
        memory::cover(&mut self.trees, tiles, TREES)?;
        memory::cover(&mut self.bounds, tiles, TREES)?;
        self.fit(tiles);
        Ok(())
    }

    /// Makes room for the trees of so many tiles.
    pub(super) fn fit(&mut self, tiles: usize) {
        self.trees.resize_with(tiles, OnceLock::new);
        self.bounds.resize_with(tiles, OnceLock::new);
    }

    /// Counts a call of `probe`. Returns whether there were enough of them since the last change for trees to pay.
    pub(super) fn trees_pay(&self) -> bool {
        self.probed.fetch_add(1, Ordering::Relaxed) >= PROBES_BEFORE_TREES
    }

    /// Takes a list for the ids that a probe finds; it may have content from its last use.
    pub(super) fn take_ids(&self) -> Vec<u32> {
        lock_list(&self.ids).pop().unwrap_or_default()
    }

    /// Returns the list, for later probes.
    pub(super) fn give_back(&self, ids: Vec<u32>) {
        keep(&mut lock_list(&self.ids), Some(ids));
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

/// Adds a value, if there is one, to a list of unused ones; drops it if the list cannot grow.
fn keep<V>(list: &mut Vec<V>, value: Option<V>) {
    if let (Some(value), Ok(())) = (value, list.try_reserve(1)) {
        list.push(value); // reserved
    }
}

fn lock_list<V>(list: &Mutex<Vec<V>>) -> MutexGuard<'_, Vec<V>> {
    list.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl<const D: usize, T: Real> Tiles<D, T> {
    /// Calls `visit` with each object at home in a tile.
    pub(super) fn at_home(&self, tile: usize, frame: &Frame<'_, D, T>, visit: &mut dyn FnMut(u32, &Aabb<D, T>)) {
        for block in &self.blocks {
            for record in lock(block).records(tile) {
                let value = &frame.boxes[record.id() as usize];
                if usize::from(self.partition.tile_at(&self.lattice.corners(value).low())) == tile {
                    visit(record.id(), value);
                }
            }
        }
    }

    /// The tree over the tiles; `None` if there is no memory for it.
    pub(super) fn top(&self, frame: &Frame<'_, D, T>) -> Option<&Tree<D, T>> {
        let QueryTrees { top: place, bounds, .. } = &self.query_trees;
        self.get_or_build(place, bounds.len(), |items| {
            let bounds = |tile: usize| {
                *self.query_trees.bounds[tile].get_or_init(|| {
                    let mut all = Aabb::empty();
                    self.at_home(tile, frame, &mut |_, value| all = all.union(value));
                    all
                })
            };
            let tiles = (0..self.query_trees.bounds.len()).map(|tile| (tile as u32, bounds(tile)));
            items.extend(tiles.filter(|(_, value)| value.is_valid())); // reserved
        })
    }

    /// The tree of a tile; `None` if there is no memory for it.
    pub(super) fn tree(&self, tile: usize, frame: &Frame<'_, D, T>) -> Option<&Tree<D, T>> {
        let records = self.blocks.iter().map(|block| lock(block).records(tile).len()).sum();
        self.get_or_build(&self.query_trees.trees[tile], records, |items| {
            self.at_home(tile, frame, &mut |id, value| items.push((id, *value))); // reserved
        })
    }

    /// The tree in `place`. If there is none yet, builds it over the items that `list` adds, of which there are at most `most`. `None` if there is no memory
    /// for it. If two threads build the tree at once, that of the first one to finish is kept.
    fn get_or_build<'a>(
        &self,
        place: &'a OnceLock<Tree<D, T>>,
        most: usize,
        list: impl FnOnce(&mut Items<D, T>),
    ) -> Option<&'a Tree<D, T>> {
        if let Some(tree) = place.get() {
            return Some(tree);
        }
        let (mut tree, mut items) = (self.query_trees.buffers(), lock_list(&self.query_trees.items).pop().unwrap_or_default());
        items.clear();
        memory::reserve(&mut items, most, TREES).ok()?;
        list(&mut items);
        tree.fill(&mut items).ok()?;
        keep(&mut lock_list(&self.query_trees.items), Some(items));
        Some(place.get_or_init(|| tree))
    }
}
