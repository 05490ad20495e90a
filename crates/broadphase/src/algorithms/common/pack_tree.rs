//! A small tree over boxes that lie in a good order: eight to a pack, packs of packs above.
//!
//! # The structure
//! Level 0 holds the boxes, eight per [`Pack`], in the order in which they came; a lane of level `l + 1` is the union of a pack of
//! level `l`. Neighbors in the order should be neighbors in space ([`order`]). A query measures eight boxes at once, and descends into the
//! nearest first.
//!
//! # Cost
//! Building takes one pass, and [`order`] O(n log n). A query visits O(log n) packs plus its answers. Bad case: boxes that overlap each other a lot.

use std::cell::Cell;
use std::cmp::Ordering;
use std::ops::ControlFlow;

use super::bytes_of;
use crate::error::Error;
use crate::geometry::{Aabb, LANES, Measure, Pack, Real};
use crate::kernels::packs::{least, overlapping, within};
use crate::memory;

/// An upper bound on the number of levels: 8^11 is more than ids can name.
const LEVELS: usize = 12;

/// The tree. Items are numbered in the order in which they were handed over.
#[derive(Clone, Debug)]
pub(crate) struct PackTree<const D: usize, T> {
    packs: Vec<Pack<D, T>>,
    /// Where each level's packs start, and how many boxes it has.
    levels: [(u32, u32); LEVELS],
    height: usize,
}

impl<const D: usize, T: Real> Default for PackTree<D, T> {
    fn default() -> Self {
        Self { packs: Vec::new(), levels: [(0, 0); LEVELS], height: 0 }
    }
}

impl<const D: usize, T: Real> PackTree<D, T> {
    /// Rebuilds it over these boxes. Buffers are kept.
    pub(crate) fn build(&mut self, boxes: impl ExactSizeIterator<Item = Aabb<D, T>>) -> Result<(), Error> {
        self.packs.clear();
        // Each level has an eighth of the packs below, and at least one.
        let leaves = boxes.len().div_ceil(LANES);
        memory::reserve(&mut self.packs, leaves + leaves / (LANES - 1) + LEVELS, "a tree of boxes")?;
        self.height = 0;
        let mut count = boxes.len();
        for (item, value) in boxes.enumerate() {
            self.put(item % LANES, &value);
        }
        self.close(0, count);
        while count > LANES {
            let below = self.levels[self.height - 1];
            let packs = count.div_ceil(LANES);
            let start = self.packs.len();
            for pack in 0..packs {
                let lanes = (below.1 as usize - pack * LANES).min(LANES);
                let of = self.packs[below.0 as usize + pack];
                let union = (0..lanes).fold(Aabb::empty(), |all, lane| all.union(&of.get(lane)));
                self.put(pack % LANES, &union);
            }
            self.close(start, packs);
            count = packs;
        }
        Ok(())
    }

    fn put(&mut self, lane: usize, value: &Aabb<D, T>) {
        if lane == 0 {
            self.packs.push(Pack::default()); // reserved
        }
        if let Some(pack) = self.packs.last_mut() {
            pack.set(lane, value);
        }
    }

    fn close(&mut self, start: usize, count: usize) {
        self.levels[self.height] = (start as u32, count as u32);
        self.height += 1;
    }

    /// The number of boxes.
    pub(crate) fn len(&self) -> usize {
        self.levels[0].1 as usize
    }

    /// Visits the items within `limit`, which the visitor may lower, with their bounds; nearest packs first.
    pub(crate) fn search<M: Measure<D, T> + ?Sized>(
        &self,
        measure: &M,
        limit: &Cell<T>,
        visit: &mut impl FnMut(usize, T) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.len() == 0 {
            return ControlFlow::Continue(());
        }
        self.walk(self.height - 1, 0, measure, limit, visit)
    }

    fn walk<M: Measure<D, T> + ?Sized>(
        &self,
        level: usize,
        index: usize,
        measure: &M,
        limit: &Cell<T>,
        visit: &mut impl FnMut(usize, T) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (start, count) = self.levels[level];
        let lanes = (count as usize - index * LANES).min(LANES);
        let bounds = measure.bounds(&self.packs[start as usize + index]);
        let mut mask = within(&bounds, limit.get()) & ((1 << lanes) - 1);
        // In a region all are equally near. Otherwise the nearest is selected again and again: after one or two the limit usually excludes the rest, so
        // sorting all eight would cost more.
        let is_region = limit.get() == T::ZERO;
        while mask != 0 {
            let lane = if is_region { mask.trailing_zeros() as usize } else { least(&bounds, mask) };
            mask &= !(1 << lane);
            let item = index * LANES + lane;
            match level {
                0 => visit(item, bounds[lane])?,
                _ => self.walk(level - 1, item, measure, limit, visit)?,
            }
            if !is_region {
                mask &= within(&bounds, limit.get());
            }
        }
        ControlFlow::Continue(())
    }

    /// Visits the items whose boxes overlap `area`, in their order. Returns how many were compared with it.
    pub(crate) fn visit_overlapping(&self, area: &Aabb<D, T>, visit: &mut impl FnMut(usize)) -> u64 {
        let mut tests = 0;
        let _never_broken = self.search_box(area, &mut tests, &mut |item| {
            visit(item);
            ControlFlow::Continue(())
        });
        tests
    }

    /// Like [`visit_overlapping`](PackTree::visit_overlapping), until the visitor breaks; adds the number of compared items to `tests`.
    pub(crate) fn search_box(
        &self,
        area: &Aabb<D, T>,
        tests: &mut u64,
        visit: &mut impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.len() == 0 { ControlFlow::Continue(()) } else { self.walk_box(self.height - 1, 0, area, tests, visit) }
    }

    fn walk_box(
        &self,
        level: usize,
        index: usize,
        area: &Aabb<D, T>,
        tests: &mut u64,
        visit: &mut impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (start, count) = self.levels[level];
        let lanes = (count as usize - index * LANES).min(LANES);
        let mut reached = overlapping(area, &self.packs[start as usize + index]) & ((1 << lanes) - 1);
        *tests += if level == 0 { lanes as u64 } else { 0 };
        while reached != 0 {
            let item = index * LANES + reached.trailing_zeros() as usize;
            reached &= reached - 1;
            match level {
                0 => visit(item)?,
                _ => self.walk_box(level - 1, item, area, tests, visit)?,
            }
        }
        ControlFlow::Continue(())
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        bytes_of(&self.packs)
    }
}

/// Puts boxes in an order in which neighbors are neighbors in space: the list is halved recursively, each time along the axis on which the lower corners
/// are spread most, at a position where a pack, or a pack of packs, ends.
pub(crate) fn order<const D: usize, T: Real>(items: &mut [(u32, Aabb<D, T>)]) {
    if items.len() <= LANES {
        return;
    }
    let (mut low, mut high) = ([T::INFINITY; D], [T::NEG_INFINITY; D]);
    for (_, value) in items.iter() {
        for k in 0..D {
            let at = value.min[k];
            low[k] = if at < low[k] { at } else { low[k] };
            high[k] = if at > high[k] { at } else { high[k] };
        }
    }
    let spread = |k: usize| (high[k].to_f64() - low[k].to_f64()).max(0.0);
    let axis = (0..D).fold(0, |best, k| if spread(k) > spread(best) { k } else { best });
    let mut unit = LANES;
    while unit * LANES < items.len() {
        unit *= LANES;
    }
    let middle = (items.len() / 2).next_multiple_of(unit);
    let middle = if middle >= items.len() { middle - unit } else { middle };
    items.select_nth_unstable_by(middle, |(a, x), (b, y)| {
        x.min[axis].partial_cmp(&y.min[axis]).unwrap_or(Ordering::Equal).then(a.cmp(b))
    });
    let (left, right) = items.split_at_mut(middle);
    order(left);
    order(right);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Nearest, Ray};

    fn boxes(n: usize) -> Vec<Aabb<3, f32>> {
        let mut seed = 9u64;
        let mut next = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 40) as f32 / 1e4
        };
        (0..n).map(|_| Aabb::from_center([next(), next(), next()], [next() * 0.01; 3])).collect()
    }

    #[test]
    fn trees_of_every_size_find_what_a_scan_finds() {
        for n in [0, 1, 7, 8, 9, 63, 64, 65, 100, 513, 700] {
            let boxes = boxes(n);
            let mut items: Vec<(u32, Aabb<3, f32>)> = (0..n as u32).zip(boxes.iter().copied()).collect();
            order(&mut items);
            let ids: Vec<u32> = items.iter().map(|(id, _)| *id).collect();
            let mut tree = PackTree::default();
            tree.build(items.iter().map(|(_, value)| *value)).unwrap();
            assert_eq!(tree.len(), n);
            let measures: [&dyn Measure<3, f32>; 3] =
                [&Ray::new([0.0; 3], [1.0, 0.9, 1.1], 1e9), &Aabb::new([100.0; 3], [900.0; 3]), &Nearest([500.0; 3])];
            for measure in measures {
                let mut found = Vec::new();
                let _ = tree.search(measure, &Cell::new(2e5), &mut |item, bound| {
                    assert_eq!(measure.bound(&boxes[ids[item] as usize]), Some(bound));
                    found.push(ids[item]);
                    ControlFlow::Continue(())
                });
                found.sort_unstable();
                let expected = (0..n as u32).filter(|&id| measure.bound(&boxes[id as usize]).is_some_and(|d| d <= 2e5));
                assert!(found.iter().copied().eq(expected), "{n} boxes");
            }
            let (area, mut found) = (Aabb::new([100.0; 3], [900.0; 3]), Vec::new());
            let tests = tree.visit_overlapping(&area, &mut |item| found.push(ids[item]));
            found.sort_unstable();
            assert!(found.iter().copied().eq((0..n as u32).filter(|&id| boxes[id as usize].overlaps(&area))), "{n} boxes");
            assert!(found.len() as u64 <= tests && tests <= n as u64);
        }
    }
}
