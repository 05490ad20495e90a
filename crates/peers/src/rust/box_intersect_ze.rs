//! box_intersect_ze: streamed segment trees, the algorithm of CGAL's box intersection, in Rust.

use box_intersect_ze::boxes::{BBox, BoxND};
use box_intersect_ze::set::BBoxSet;
use box_intersect_ze::{HasInfinity, Rng, intersect_ze};
use broadphase::{Aabb, Pair, Real};

use crate::groups::Division;
use crate::{Groups, Peer, PeerError};

/// Its intervals are half open, so each maximum is handed over as the next float up: `lo < hi.next_up()` is `lo <= hi`.
/// The boxes are sorted and intersected with themselves at its default cutoff of 1,000; the buffers for boxes and pairs are kept.
/// Two groups are two sets.
pub(crate) struct BoxIntersect<const D: usize, T: Real> {
    set: BBoxSet<BoxND<T, D>, u32>,
    /// The second group.
    other: BBoxSet<BoxND<T, D>, u32>,
    division: Division,
    found: Vec<(u32, u32)>,
    random: Random,
}

impl<const D: usize, T: Real> Default for BoxIntersect<D, T> {
    fn default() -> Self {
        let none = || BBoxSet { boxes: Vec::new() };
        Self { set: none(), other: none(), division: Division::default(), found: Vec::new(), random: Random(0) }
    }
}

/// The source of its approximate medians: a multiplicative congruential generator, so that runs repeat.
struct Random(u64);

impl Rng for Random {
    fn rand_usize(&mut self, high: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 32) * high as u64) >> 32) as usize
    }
}

impl<const D: usize, T: Real + HasInfinity> Peer<D, T> for BoxIntersect<D, T>
where
    BoxND<T, D>: BBox<Num = T>,
{
    fn set_groups(&mut self, groups: &Groups) -> bool {
        self.division.set(groups);
        true
    }

    fn update(&mut self, boxes: &[Aabb<D, T>]) -> Result<(), PeerError> {
        let fill = |set: &mut BBoxSet<BoxND<T, D>, u32>, division: &Division, second: bool| {
            set.clear();
            for (id, at) in boxes.iter().enumerate().filter(|(id, _)| division.holds(second, *id as u32)) {
                set.push(id as u32, BoxND::new(at.min, at.max.map(T::next_up)));
            }
            set.sort();
        };
        fill(&mut self.set, &self.division, false);
        if self.division.update_second(boxes.len()) {
            fill(&mut self.other, &self.division, true);
        }
        Ok(())
    }

    fn detect(&mut self, _: &[Aabb<D, T>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        self.found.clear();
        if self.division.within_first() {
            intersect_ze(&self.set, &self.set, &mut self.found, &mut self.random);
        }
        if self.division.divides() {
            intersect_ze(&self.set, &self.other, &mut self.found, &mut self.random);
        }
        out.clear();
        out.extend(self.found.iter().map(|&(a, b)| Pair::new(a, b)));
        Ok(())
    }

    /// The boxes and the pairs; the subsets that its recursion copies are freed before it returns.
    fn bytes(&self) -> Option<usize> {
        let boxes = (self.set.boxes.capacity() + self.other.boxes.capacity()) * size_of::<(BoxND<T, D>, u32)>();
        Some(boxes + self.found.capacity() * size_of::<(u32, u32)>())
    }
}
