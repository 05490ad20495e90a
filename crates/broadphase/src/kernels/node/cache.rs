//! The sorted boxes of a node, cached for the frames in which most of them rest.
//!
//! Loading a node, that is reading its boxes, converting them to bytes and sorting them, is half of a join. The cache stores the result.
//! The entry of a box is valid while the box rests. The entry of a box that moved since is ignored, and the box is passed to the
//! join separately, among the *loose* boxes. So the cost of a join depends on the number of loose boxes.
//!
//! Single boxes cannot be added to a cache. It is filled again when too many boxes are loose; the caller decides when.

use super::byte_boxes::{ByteBoxes, Map};
use super::sweeps::{Loaded, Out, sweep_between, sweep_cached, sweep_within};
use super::{Entry, Scratch, cull};
use crate::geometry::{Aabb, Real};
use crate::kernels::arch::{Kernel, Simd};
use crate::kernels::isa::Kernels;
use crate::kernels::pair_sink::PairSink;

/// The boxes of a node, sorted and as bytes.
#[derive(Clone, Debug)]
pub(crate) struct NodeCache<const D: usize, T> {
    own: ByteBoxes<D>,
    /// The others that reach to the own ones' bounds.
    near: ByteBoxes<D>,
    /// The others that do not: an own box must leave the bounds to overlap them.
    far: ByteBoxes<D>,
    bounds: Aabb<D, T>,
    map: Map<D, T>,
    axis: usize,
    /// Are boxes stored that moved in the frame in which the cache is filled? They will probably be loose soon.
    pub(crate) takes_all: bool,
}

impl<const D: usize, T: Real> Default for NodeCache<D, T> {
    fn default() -> Self {
        let sides = (ByteBoxes::default(), ByteBoxes::default(), ByteBoxes::default());
        let (map, bounds) = (Map::nowhere(), Aabb::empty());
        Self { own: sides.0, near: sides.1, far: sides.2, bounds, map, axis: 0, takes_all: true }
    }
}

impl<const D: usize, T: Real> NodeCache<D, T> {
    /// The bytes it holds outside of itself.
    pub(crate) fn bytes(&self) -> usize {
        self.own.bytes() + self.near.bytes() + self.far.bytes()
    }

    /// Prefetches what a join will read: nearly always the own and the near boxes.
    pub(crate) fn fetch(&self) {
        self.own.fetch();
        self.near.fetch();
    }

    /// Stores what a join loaded: everything, or what did not move.
    pub(super) fn put(
        &mut self,
        own: Loaded<'_, D, T>,
        near: Loaded<'_, D, T>,
        (bounds, map, axis): (&Aabb<D, T>, Map<D, T>, usize),
    ) {
        let stays = |entry: &Entry<D, T>| self.takes_all || !entry.moved;
        self.own.keep(own.0, own.1, stays);
        self.near.keep(near.0, near.1, stays);
        (self.bounds, self.map, self.axis) = (*bounds, map, axis);
    }

    /// Stores the others that the join did not need.
    pub(super) fn put_far(&mut self, far: Loaded<'_, D, T>) {
        let stays = |entry: &Entry<D, T>| self.takes_all || !entry.moved;
        self.far.keep(far.0, far.1, stays);
    }
}

/// Which objects of a cache have rested since it was filled.
#[derive(Clone, Copy)]
pub(crate) struct AtRest<'a, const D: usize, T> {
    /// By object.
    pub(crate) boxes: &'a [Aabb<D, T>],
    /// When each object last moved.
    pub(crate) stamps: &'a [u32],
    /// Objects that moved then or later are loose.
    pub(crate) since: u32,
}

impl<const D: usize, T> AtRest<'_, D, T> {
    /// Is the object where it was when the cache was filled?
    #[inline(always)]
    pub(crate) fn holds(&self, id: u32) -> bool {
        self.stamps[id as usize] < self.since
    }
}

/// All overlapping pairs that [`join`](super::join) finds, where `own` and `others` are the loose boxes and the cache holds the others.
pub(crate) fn join_cached<const D: usize, T: Real>(
    kernels: Kernels,
    own: &[Entry<D, T>],
    others: &[Entry<D, T>],
    (cache, rest): (&NodeCache<D, T>, AtRest<'_, D, T>),
    scratch: &mut Scratch<D, T>,
    hits: &mut PairSink,
) {
    if own.iter().chain(others).any(|entry| entry.moved) {
        kernels.run(CachedJoin { own, others, cache, rest, scratch, hits });
    }
}

struct CachedJoin<'a, 'h, 'r, const D: usize, T> {
    own: &'a [Entry<D, T>],
    others: &'a [Entry<D, T>],
    cache: &'a NodeCache<D, T>,
    rest: AtRest<'a, D, T>,
    scratch: &'a mut Scratch<D, T>,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real> Kernel for CachedJoin<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { own, others, cache, rest, scratch, hits } = self;
        let Scratch { own: left, other: right, near, candidates, runs } = scratch;
        let bounds = own.iter().fold(cache.bounds, |bounds, entry| bounds.union(&entry.aabb));
        let others = cull(others, near, |entry| bounds.overlaps(&entry.aabb));
        left.load(own, &cache.map, cache.axis);
        right.load(others, &cache.map, cache.axis);
        let mut out = Out { candidates, waiting: 0, axis: cache.axis, runs, hits };
        let (left, right) = ((&*left, own), (&*right, others));
        sweep_within(simd, left, &mut out);
        sweep_between(simd, left, right, &mut out);
        let all = |_: &Entry<D, T>| true;
        let strays = |entry: &Entry<D, T>| !cache.bounds.contains(&entry.aabb);
        sweep_cached(simd, left, (&cache.own, rest), all, &mut out);
        sweep_cached(simd, left, (&cache.near, rest), all, &mut out);
        sweep_cached(simd, left, (&cache.far, rest), strays, &mut out);
        sweep_cached(simd, right, (&cache.own, rest), all, &mut out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::join;
    use super::super::tests::{entries, finds};
    use super::*;
    use crate::pair::Pair;

    /// Fills a cache in search 1, then lets a tenth come to rest elsewhere in search 2, and another tenth move in search 3.
    fn agrees<const D: usize, T: Real>(own: u32, other: u32) {
        let (mut a, mut b) = (entries::<D, T>(own, 0, 1, 1.0, 1.0), entries::<D, T>(other, 1000, 2, 1.0, 1.0));
        let bounds = a.iter().fold(Aabb::empty(), |all, entry| all.union(&entry.aabb));
        let (before, others_before) = (a.clone(), b.clone());
        let mut stamps = vec![0; 2000];
        for entry in a.iter_mut().chain(&mut b) {
            let stamp = [2, 3].into_iter().find(|&at| entry.id % 10 == at).unwrap_or(0);
            stamps[entry.id as usize] = stamp;
            entry.moved = stamp == 3;
            if stamp > 0 {
                entry.aabb = entry.aabb.translate([T::from_f64(1.5); D]);
            }
        }
        let mut boxes = vec![Aabb::default(); 2000];
        a.iter().chain(&b).for_each(|entry| boxes[entry.id as usize] = entry.aabb);
        let mut expected = Vec::new();
        for (i, x) in a.iter().enumerate() {
            let pairs = a[i + 1..].iter().chain(&b).filter(|y| x.aabb.overlaps(&y.aabb) && (x.moved || y.moved));
            expected.extend(pairs.map(|y| Pair::new(x.id, y.id)));
        }
        assert!(own == 0 || !expected.is_empty());
        let loose = |list: &[Entry<D, T>]| -> Vec<_> { list.iter().filter(|e| stamps[e.id as usize] > 0).copied().collect() };
        let (loose_own, loose_others) = (loose(&a), loose(&b));
        finds(expected, &format!("{own} and {other} boxes"), |kernels, hits| {
            let (mut cache, mut scratch) = (NodeCache::default(), Scratch::default());
            join(kernels, &before, &bounds, &others_before, Some(&mut cache), &mut scratch, &mut PairSink::plain());
            let rest = AtRest { boxes: &boxes, stamps: &stamps, since: 1 };
            join_cached(kernels, &loose_own, &loose_others, (&cache, rest), &mut scratch, hits);
        });
    }

    #[test]
    fn pairs_with_a_box_that_moved_are_found_among_loose_and_cached_ones() {
        for (own, other) in [(300, 0), (300, 170), (40, 500), (0, 60)] {
            agrees::<2, f32>(own, other);
            agrees::<3, f32>(own, other);
            agrees::<3, f64>(own, other);
        }
    }

    #[test]
    fn a_box_that_left_the_bounds_meets_those_that_were_far() {
        let unit = |id: u32, at: f32, moved: bool| Entry { aabb: Aabb::from_center([at, 0.0, 0.0], [0.5; 3]), id, moved };
        let own = [unit(0, 0.0, true), unit(1, 3.0, true)];
        let bounds = own[0].aabb.union(&own[1].aabb);
        let mut boxes = [own[0].aabb, own[1].aabb, unit(2, 10.0, true).aabb];
        boxes[0] = unit(0, 9.5, true).aabb;
        finds(vec![Pair { a: 0, b: 2 }], "one far", |kernels, hits| {
            let (mut cache, mut scratch) = (NodeCache::default(), Scratch::default());
            join(kernels, &own, &bounds, &[unit(2, 10.0, true)], Some(&mut cache), &mut scratch, &mut PairSink::plain());
            let rest = AtRest { boxes: &boxes, stamps: &[2, 0, 0], since: 1 };
            join_cached(kernels, &[unit(0, 9.5, true)], &[], (&cache, rest), &mut scratch, hits);
        });
    }

    #[test]
    fn an_empty_node_caches_what_reaches_into_it() {
        let others = entries::<3, f32>(200, 1000, 3, 1.0, 1.0);
        let (mut cache, mut scratch, mut hits) = (NodeCache::default(), Scratch::default(), PairSink::plain());
        join(Kernels::best(), &[], &Aabb::empty(), &others, Some(&mut cache), &mut scratch, &mut PairSink::plain());
        let newcomer = Entry { id: 0, ..others[7] };
        let mut boxes = vec![others[7].aabb; 1200];
        others.iter().for_each(|entry| boxes[entry.id as usize] = entry.aabb);
        let rest = AtRest { boxes: &boxes, stamps: &vec![0; 1200], since: 1 };
        join_cached(Kernels::best(), &[newcomer], &[], (&cache, rest), &mut scratch, &mut hits);
        let expected = others.iter().filter(|entry| entry.aabb.overlaps(&newcomer.aabb)).count();
        assert_eq!(hits.finish().pairs.len(), expected);
    }
}
