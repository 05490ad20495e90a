//! parry as rapier drives it: fat leaves, and a set of pairs that is updated, not rebuilt.

use broadphase::{Aabb, Pair};
use parry3d::utils::hashmap::HashMap;

use super::{Leaf, Tree};
use crate::{Groups, Peer, PeerError};

/// The regime of rapier 0.36's broad phase. An object that stays inside its fat leaf costs one comparison. The rest:
///
/// 1. Leaves that left their fat box are written in place; when fewer than 1/16 did so last frame, they are re-inserted instead.
/// 2. The tree is improved when leaves written in place have piled up: with many, each frame; with few, each 8th. rapier
///    puts this off until the solver runs, or else to the start of the next frame, as here: it stays inside a timed frame.
/// 3. A full refit when more than 1/16 changed this frame or the last one, else only the paths above changed leaves.
/// 4. The traversal visits changed leaves only; a pair that the map does not know is added to it and to both adjacency lists.
/// 5. The adjacency lists of changed objects are scanned for pairs whose fat boxes parted.
///
/// The map then holds the pairs of fat boxes; those whose boxes overlap are handed out, as the narrow phase would find.
pub(crate) struct Rapier<const D: usize, B: Tree<D>> {
    skin: f32,
    groups: Option<Groups>,
    tree: B,
    frame: u32,
    pairs: HashMap<(u32, u32), ()>,
    adjacent: Vec<Vec<u32>>,
    changed: Vec<u32>,
    changed_before: Vec<u32>,
    /// Leaves written in place since the tree was last improved.
    debt: usize,
    optimize_next: bool,
    reinsert: bool,
    is_changed: Vec<bool>,
    fresh: Vec<(u32, u32)>,
    stale: Vec<(u32, u32)>,
}

impl<const D: usize, B: Tree<D>> Rapier<D, B> {
    pub(crate) fn new(skin: f32) -> Self {
        Self {
            skin,
            groups: None,
            tree: B::default(),
            frame: 0,
            pairs: HashMap::default(),
            adjacent: Vec::new(),
            changed: Vec::new(),
            changed_before: Vec::new(),
            debt: 0,
            optimize_next: false,
            reinsert: false,
            is_changed: Vec::new(),
            fresh: Vec::new(),
            stale: Vec::new(),
        }
    }

    /// All objects inserted one by one: rapier has no bulk build.
    fn set_up(&mut self, boxes: &[Aabb<D, f32>]) {
        *self = Self { groups: self.groups.take(), ..Self::new(self.skin) };
        self.adjacent.resize_with(boxes.len(), Vec::new);
        for (id, at) in boxes.iter().enumerate() {
            self.tree.insert(id as u32, at);
        }
        self.changed.extend(0..boxes.len() as u32);
        self.tree.refit();
    }

    fn move_leaves(&mut self, boxes: &[Aabb<D, f32>]) {
        self.changed.clear();
        for (id, at) in boxes.iter().enumerate() {
            let id = id as u32;
            let leaf = if self.reinsert { self.tree.reinsert(id, at, self.skin) } else { self.tree.write(id, at, self.skin) };
            if leaf == Leaf::Moved {
                self.changed.push(id);
                self.debt += usize::from(!self.reinsert);
            }
        }
    }

    fn restore(&mut self, n: usize) {
        let changed = self.changed.len();
        self.reinsert = changed * 16 < n;
        if self.debt > 0 && (changed * 16 >= n || (self.frame.is_multiple_of(8) && self.debt * 64 >= n)) {
            self.debt = 0;
            self.optimize_next = true;
        }
        if (changed + self.changed_before.len()) * 16 >= n {
            self.tree.refit();
        } else {
            self.tree.refit_partly(&self.changed_before, &self.changed);
        }
    }

    fn add_pairs(&mut self) {
        let (pairs, fresh, groups) = (&self.pairs, &mut self.fresh, &self.groups);
        fresh.clear();
        self.tree.pairs::<true>(|a, b| {
            let key = (a.min(b), a.max(b));
            let allowed = groups.as_ref().is_none_or(|groups| groups.allows(&Pair { a: key.0, b: key.1 }));
            if !pairs.contains_key(&key) && allowed {
                fresh.push(key);
            }
        });
        for &(a, b) in &self.fresh {
            self.pairs.insert((a, b), ());
            self.adjacent[a as usize].push(b);
            self.adjacent[b as usize].push(a);
        }
    }

    fn drop_pairs(&mut self) {
        self.is_changed.clear();
        self.is_changed.resize(self.adjacent.len(), false);
        for &id in &self.changed {
            self.is_changed[id as usize] = true;
        }
        self.stale.clear();
        for &id in &self.changed {
            // A pair of which both changed is looked at from its smaller id only.
            let others = self.adjacent[id as usize].iter().copied();
            let others = others.filter(|&other| id < other || !self.is_changed[other as usize]);
            self.tree.parted(id, others, |other| self.stale.push((id.min(other), id.max(other))));
        }
        for &(a, b) in &self.stale {
            self.pairs.remove(&(a, b));
            forget(&mut self.adjacent[a as usize], b);
            forget(&mut self.adjacent[b as usize], a);
        }
    }
}

fn forget(list: &mut Vec<u32>, id: u32) {
    if let Some(at) = list.iter().position(|&other| other == id) {
        list.swap_remove(at);
    }
}

impl<const D: usize, B: Tree<D>> Peer<D, f32> for Rapier<D, B> {
    /// As rapier's collision groups: a pair that they forbid does not enter the map.
    fn set_groups(&mut self, groups: &Groups) -> bool {
        self.groups = Some(groups.clone());
        true
    }

    fn update(&mut self, boxes: &[Aabb<D, f32>]) -> Result<(), PeerError> {
        if boxes.len() != self.adjacent.len() {
            self.set_up(boxes);
            return Ok(());
        }
        self.frame = self.frame.wrapping_add(1);
        if std::mem::take(&mut self.optimize_next) {
            self.tree.optimize();
            self.tree.refit_keeping_flags();
        }
        std::mem::swap(&mut self.changed, &mut self.changed_before);
        self.move_leaves(boxes);
        self.restore(boxes.len());
        Ok(())
    }

    fn detect(&mut self, boxes: &[Aabb<D, f32>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        self.add_pairs();
        self.drop_pairs();
        out.clear();
        for &(a, b) in self.pairs.keys() {
            if boxes[a as usize].overlaps(&boxes[b as usize]) {
                out.push(Pair { a, b });
            }
        }
        Ok(())
    }

    fn bytes(&self) -> Option<usize> {
        let lists: usize = self.adjacent.iter().map(|list| list.capacity() * size_of::<u32>() + size_of::<Vec<u32>>()).sum();
        let ids = (self.changed.capacity() + self.changed_before.capacity()) * size_of::<u32>() + self.is_changed.capacity();
        let keys = (self.fresh.capacity() + self.stale.capacity()) * size_of::<(u32, u32)>();
        // Parry's deterministic mode has another map, without this method, and scalar vectors. Nothing in a build may switch it on.
        Some(self.tree.bytes() + self.pairs.allocation_size() + lists + ids + keys)
    }
}
