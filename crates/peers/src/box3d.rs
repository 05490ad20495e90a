//! Box3D: its dynamic tree, feature `box3d`.

use std::ffi::c_void;

use box3d_sys::{
    b3AABB, b3DynamicTree, b3DynamicTree_Create, b3DynamicTree_CreateProxy, b3DynamicTree_Destroy, b3DynamicTree_EnlargeProxy,
    b3DynamicTree_GetByteCount, b3DynamicTree_Query, b3DynamicTree_Rebuild, b3Vec3,
};
use broadphase::{Aabb, Pair};
use std::collections::HashSet;

use crate::any::{AnyPeer, Erase};
use crate::groups::Division;
use crate::{Groups, Peer, PeerError};

const NAME: &str = "box3d";
/// How far Box3D fattens a box: a share of its extent, and at most so much.
const MARGIN_SHARE: f32 = 0.125;
const MARGIN: f32 = 0.05;
/// Every proxy meets every other: groups are trees here.
const ALL_BITS: u64 = u64::MAX;

pub(crate) fn open(name: &str, dim: usize, scalar: &str) -> Option<AnyPeer> {
    ((name, dim, scalar) == (NAME, 3, "float32")).then(|| <f32 as Erase<3>>::erase(Box::new(Box3d::default())))
}

/// As the engine's step drives its trees: a proxy whose box left its fat box is enlarged in place and goes to the move buffer; the tree is rebuilt where
/// it was enlarged; each proxy of the buffer queries the tree with its fat box; new pairs are added to the set of pairs; pairs whose fat boxes no
/// longer overlap are removed, as the engine removes contacts. Then the pairs are filtered to the exact boxes. Bodies that stand still are in a tree
/// of their own, and their proxies query nothing; two sets are two such trees.
///
/// The set of pairs is a hash set of ours with the list of them beside it: that of the library is not exported.
#[derive(Default)]
pub(crate) struct Box3d {
    first: Tree,
    second: Tree,
    division: Division,
    objects: Vec<Proxy>,
    moved: Vec<u32>,
    is_moved: Vec<bool>,
    known: HashSet<u64, Mix>,
    pairs: Vec<Pair>,
}

/// An object: its fat box, and its node.
#[derive(Clone, Copy)]
struct Proxy {
    fat: b3AABB,
    node: i32,
}

/// A tree of the library.
#[derive(Default)]
struct Tree(Option<b3DynamicTree>);

// SAFETY: (no thread-bound state) a tree is plain memory of the C allocator, and `&mut self` or ownership guards every call.
unsafe impl Send for Tree {}

impl Tree {
    /// An empty tree in place of the last one.
    fn clear(&mut self, capacity: usize) -> &mut b3DynamicTree {
        self.free();
        // SAFETY: (a positive capacity) as its users make one.
        self.0.insert(unsafe { b3DynamicTree_Create(capacity.clamp(16, 1 << 24) as i32) })
    }

    fn free(&mut self) {
        if let Some(mut tree) = self.0.take() {
            // SAFETY: (created, destroyed once) it was taken out.
            unsafe { b3DynamicTree_Destroy(&mut tree) }
        }
    }

    fn bytes(&self) -> usize {
        // SAFETY: (live tree) it is destroyed only by `free`, which takes it out.
        self.0.as_ref().map_or(0, |tree| unsafe { b3DynamicTree_GetByteCount(tree) } as usize)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.free();
    }
}

/// The 64-bit finalizer of MurmurHash3: keys are pairs of ids.
#[derive(Clone, Copy, Default)]
struct Mix(u64);

impl std::hash::BuildHasher for Mix {
    type Hasher = Mix;

    fn build_hasher(&self) -> Mix {
        Mix(0)
    }
}

impl std::hash::Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 ^ u64::from(byte)));
    }

    fn write_u64(&mut self, mut x: u64) {
        x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        self.0 = x ^ (x >> 33);
    }
}

fn vector(of: [f32; 3]) -> b3Vec3 {
    b3Vec3 { x: of[0], y: of[1], z: of[2] }
}

fn fatten(of: &Aabb<3, f32>) -> b3AABB {
    let extent = (0..3).fold(0.0, |most: f32, k| most.max(of.max[k] - of.min[k]));
    let margin = (MARGIN_SHARE * 0.5 * extent).min(MARGIN);
    b3AABB { lowerBound: vector(of.min.map(|x| x - margin)), upperBound: vector(of.max.map(|x| x + margin)) }
}

fn contains(fat: &b3AABB, at: &Aabb<3, f32>) -> bool {
    let (low, high) = (&fat.lowerBound, &fat.upperBound);
    let above = (low.x <= at.min[0]) & (low.y <= at.min[1]) & (low.z <= at.min[2]);
    above & (at.max[0] <= high.x) & (at.max[1] <= high.y) & (at.max[2] <= high.z)
}

fn overlap(a: &b3AABB, b: &b3AABB) -> bool {
    let below = |a: &b3Vec3, b: &b3Vec3| (a.x <= b.x) & (a.y <= b.y) & (a.z <= b.z);
    below(&a.lowerBound, &b.upperBound) & below(&b.lowerBound, &a.upperBound)
}

/// What a query's callback works on.
struct Search<'a> {
    id: u32,
    is_moved: &'a [bool],
    known: &'a mut HashSet<u64, Mix>,
    pairs: &'a mut Vec<Pair>,
}

/// Adds a pair that is not known. Of two objects in the move buffer, the one with the smaller id reports.
extern "C" fn found(_: i32, user: u64, search: *mut c_void) -> bool {
    // SAFETY: (the search is alive and not borrowed otherwise) `Box3d::ask` lends it for the call.
    let search = unsafe { &mut *search.cast::<Search<'_>>() };
    let other = user as u32;
    if other != search.id && !(other < search.id && search.is_moved[other as usize]) {
        let pair = Pair::new(search.id, other);
        if search.known.insert(pair.key()) {
            search.pairs.push(pair);
        }
    }
    true
}

impl Box3d {
    fn start(&mut self, boxes: &[Aabb<3, f32>]) {
        let n = boxes.len();
        (self.moved, self.is_moved) = ((0..n as u32).collect(), vec![true; n]);
        self.known.clear();
        self.pairs.clear();
        self.objects.clear();
        let (first, second) = (self.first.clear(n), self.second.clear(n));
        for (id, at) in boxes.iter().enumerate() {
            let fat = fatten(at);
            let tree = if self.division.holds(true, id as u32) { &mut *second } else { &mut *first };
            // SAFETY: (live tree, a valid box) fattened from a valid one.
            let node = unsafe { b3DynamicTree_CreateProxy(tree, fat, ALL_BITS, id as u64) };
            self.objects.push(Proxy { fat, node });
        }
    }

    fn enlarge(&mut self, boxes: &[Aabb<3, f32>]) {
        for (id, (object, at)) in self.objects.iter_mut().zip(boxes).enumerate() {
            if contains(&object.fat, at) {
                continue;
            }
            object.fat = fatten(at);
            let second = self.division.holds(true, id as u32);
            let tree = if second { &mut self.second } else { &mut self.first };
            if let Some(tree) = &mut tree.0 {
                // SAFETY: (live tree, a proxy of it, a valid box) the node is the one that it gave for this object.
                unsafe { b3DynamicTree_EnlargeProxy(tree, object.node, object.fat) };
            }
            self.moved.push(id as u32);
            self.is_moved[id] = true;
        }
    }

    /// Queries a tree with the fat box of an object.
    fn ask(tree: &Tree, fat: b3AABB, search: &mut Search<'_>) {
        let Some(tree) = &tree.0 else { return };
        let context: *mut Search<'_> = search;
        // SAFETY: (live tree; the context is what the callback takes it for) it is lent for this call.
        unsafe { b3DynamicTree_Query(tree, fat, ALL_BITS, false, Some(found), context.cast()) };
    }
}

impl Peer<3, f32> for Box3d {
    fn set_groups(&mut self, groups: &Groups) -> bool {
        self.division.set(groups);
        true
    }

    fn update(&mut self, boxes: &[Aabb<3, f32>]) -> Result<(), PeerError> {
        if boxes.iter().any(|at| !at.is_finite()) {
            return Err(PeerError::Failed { peer: NAME, reason: "a box is not finite, which the library asserts".into() });
        }
        if boxes.len() != self.objects.len() {
            self.start(boxes);
        } else {
            self.enlarge(boxes);
        }
        for tree in [&mut self.first, &mut self.second] {
            if let Some(tree) = &mut tree.0 {
                // SAFETY: (live tree) nothing else holds it. Only its enlarged part is rebuilt.
                unsafe { b3DynamicTree_Rebuild(tree, false) };
            }
        }
        Ok(())
    }

    fn detect(&mut self, boxes: &[Aabb<3, f32>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        let moved = std::mem::take(&mut self.moved);
        for &id in &moved {
            let fat = self.objects[id as usize].fat;
            let second = self.division.holds(true, id);
            let mut search = Search { id, is_moved: &self.is_moved, known: &mut self.known, pairs: &mut self.pairs };
            if second || self.division.within_first() {
                Self::ask(&self.first, fat, &mut search);
            }
            if !second && self.division.divides() {
                Self::ask(&self.second, fat, &mut search);
            }
        }
        moved.iter().for_each(|&id| self.is_moved[id as usize] = false);
        self.moved = moved;
        self.moved.clear();
        out.clear();
        let (objects, known) = (&self.objects, &mut self.known);
        self.pairs.retain(|pair| {
            let (a, b) = (pair.a as usize, pair.b as usize);
            let near = overlap(&objects[a].fat, &objects[b].fat);
            if !near {
                known.remove(&pair.key());
            } else if boxes[a].overlaps(&boxes[b]) {
                out.push(*pair);
            }
            near
        });
        Ok(())
    }

    fn bytes(&self) -> Option<usize> {
        let ids = self.moved.capacity() * size_of::<u32>() + self.is_moved.capacity();
        let pairs = self.pairs.capacity() * size_of::<Pair>() + self.known.capacity() * size_of::<u64>();
        Some(self.first.bytes() + self.second.bytes() + self.objects.capacity() * size_of::<Proxy>() + ids + pairs)
    }
}
