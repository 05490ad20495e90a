//! A node's boxes as they were sorted once, for the frames in which most of them rest.
//!
//! Loading a node, that is reading its boxes, turning them into bytes and sorting them, is half of a join. A shelf keeps the result.
//! While a box rests, its place on the shelf stays right; a box that moved since is ignored where it stands, and comes back
//! among the loose ones. So a join costs what the loose boxes cost.
//!
//! A shelf has no room to put a single box back: it is filled anew when too many are loose, which is the caller's choice.

use super::side::{Map, Side};
use super::sweeps::{Loaded, Out, sweep_between, sweep_shelf, sweep_within};
use super::{Entry, Scratch, cull};
use crate::geometry::{Aabb, Real};
use crate::kernels::isa::{Kernel, Kernels};
use crate::kernels::lanes::Simd;
use crate::kernels::pair_sink::PairSink;

/// The boxes of a node, sorted and as bytes.
#[derive(Clone, Debug)]
pub(crate) struct Shelf<const D: usize, T> {
    own: Side<D>,
    /// The others that reach to the own ones' bounds.
    near: Side<D>,
    /// And those that do not: an own box has to leave the bounds to meet them.
    far: Side<D>,
    bounds: Aabb<D, T>,
    map: Map<D, T>,
    axis: usize,
    /// Does it take boxes that move when it is filled? They will be loose soon.
    pub(crate) takes_all: bool,
}

impl<const D: usize, T: Real> Default for Shelf<D, T> {
    fn default() -> Self {
        let sides = (Side::default(), Side::default(), Side::default());
        let (map, bounds) = (Map::nowhere(), Aabb::empty());
        Self { own: sides.0, near: sides.1, far: sides.2, bounds, map, axis: 0, takes_all: true }
    }
}

impl<const D: usize, T: Real> Shelf<D, T> {
    /// The bytes it holds outside of itself.
    pub(crate) fn bytes(&self) -> usize {
        self.own.bytes() + self.near.bytes() + self.far.bytes()
    }

    /// Asks for what a join will read: by the time it starts, much is there.
    pub(crate) fn fetch(&self) {
        self.own.fetch();
        self.near.fetch();
    }

    /// Keeps what a join loaded: everything, or what did not move.
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

    /// Keeps those that the join had no use for.
    pub(super) fn put_far(&mut self, far: Loaded<'_, D, T>) {
        let stays = |entry: &Entry<D, T>| self.takes_all || !entry.moved;
        self.far.keep(far.0, far.1, stays);
    }
}

/// Who of a shelf is still at rest.
#[derive(Clone, Copy)]
pub(crate) struct Rest<'a, const D: usize, T> {
    /// By object.
    pub(crate) boxes: &'a [Aabb<D, T>],
    /// When each object last moved.
    pub(crate) stamps: &'a [u32],
    /// Who moved then or later is loose.
    pub(crate) since: u32,
}

impl<const D: usize, T> Rest<'_, D, T> {
    /// Is the object where it was when the shelf was filled?
    #[inline(always)]
    pub(crate) fn holds(&self, id: u32) -> bool {
        self.stamps[id as usize] < self.since
    }
}

/// All overlapping pairs that [`join`](super::join) finds, of which `own` and `others` are the loose boxes and the shelf has the rest.
pub(crate) fn join_shelf<const D: usize, T: Real>(
    kernels: Kernels,
    own: &[Entry<D, T>],
    others: &[Entry<D, T>],
    (shelf, rest): (&Shelf<D, T>, Rest<'_, D, T>),
    scratch: &mut Scratch<D, T>,
    hits: &mut PairSink,
) {
    if own.iter().chain(others).any(|entry| entry.moved) {
        kernels.run(ShelfJoin { own, others, shelf, rest, scratch, hits });
    }
}

struct ShelfJoin<'a, 'h, 'r, const D: usize, T> {
    own: &'a [Entry<D, T>],
    others: &'a [Entry<D, T>],
    shelf: &'a Shelf<D, T>,
    rest: Rest<'a, D, T>,
    scratch: &'a mut Scratch<D, T>,
    hits: &'h mut PairSink<'r>,
}

impl<const D: usize, T: Real> Kernel for ShelfJoin<'_, '_, '_, D, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Self { own, others, shelf, rest, scratch, hits } = self;
        let Scratch { own: left, other: right, near, candidates, runs } = scratch;
        let bounds = own.iter().fold(shelf.bounds, |bounds, entry| bounds.union(&entry.aabb));
        let others = cull(others, near, |entry| bounds.overlaps(&entry.aabb));
        left.load(own, &shelf.map, shelf.axis);
        right.load(others, &shelf.map, shelf.axis);
        let mut out = Out { candidates, waiting: 0, axis: shelf.axis, runs, hits };
        let (left, right) = ((&*left, own), (&*right, others));
        sweep_within(simd, left, &mut out);
        sweep_between(simd, left, right, &mut out);
        let all = |_: &Entry<D, T>| true;
        let strays = |entry: &Entry<D, T>| !shelf.bounds.contains(&entry.aabb);
        sweep_shelf(simd, left, (&shelf.own, rest), all, &mut out);
        sweep_shelf(simd, left, (&shelf.near, rest), all, &mut out);
        sweep_shelf(simd, left, (&shelf.far, rest), strays, &mut out);
        sweep_shelf(simd, right, (&shelf.own, rest), all, &mut out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::join;
    use super::super::tests::{entries, finds};
    use super::*;
    use crate::pair::Pair;

    /// Fills a shelf in search 1, then lets a tenth come to rest elsewhere in search 2, and another tenth move in search 3.
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
            let (mut shelf, mut scratch) = (Shelf::default(), Scratch::default());
            join(kernels, &before, &bounds, &others_before, Some(&mut shelf), &mut scratch, &mut PairSink::plain());
            let rest = Rest { boxes: &boxes, stamps: &stamps, since: 1 };
            join_shelf(kernels, &loose_own, &loose_others, (&shelf, rest), &mut scratch, hits);
        });
    }

    #[test]
    fn pairs_with_a_box_that_moved_are_found_among_loose_and_shelved_ones() {
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
            let (mut shelf, mut scratch) = (Shelf::default(), Scratch::default());
            join(kernels, &own, &bounds, &[unit(2, 10.0, true)], Some(&mut shelf), &mut scratch, &mut PairSink::plain());
            let rest = Rest { boxes: &boxes, stamps: &[2, 0, 0], since: 1 };
            join_shelf(kernels, &[unit(0, 9.5, true)], &[], (&shelf, rest), &mut scratch, hits);
        });
    }

    #[test]
    fn an_empty_node_shelves_what_reaches_into_it() {
        let others = entries::<3, f32>(200, 1000, 3, 1.0, 1.0);
        let (mut shelf, mut scratch, mut hits) = (Shelf::default(), Scratch::default(), PairSink::plain());
        join(Kernels::best(), &[], &Aabb::empty(), &others, Some(&mut shelf), &mut scratch, &mut PairSink::plain());
        let newcomer = Entry { id: 0, ..others[7] };
        let mut boxes = vec![others[7].aabb; 1200];
        others.iter().for_each(|entry| boxes[entry.id as usize] = entry.aabb);
        let rest = Rest { boxes: &boxes, stamps: &vec![0; 1200], since: 1 };
        join_shelf(Kernels::best(), &[newcomer], &[], (&shelf, rest), &mut scratch, &mut hits);
        let expected = others.iter().filter(|entry| entry.aabb.overlaps(&newcomer.aabb)).count();
        assert_eq!(hits.finish().0.len(), expected);
    }
}
