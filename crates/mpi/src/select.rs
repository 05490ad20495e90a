//! Which objects overlap the boxes of which ranks: what travels.
//!
//! Most objects of a compact rank are far from all others. One box in which none of the other ranks' boxes reach is found greedily, and what lies
//! inside it is passed over with a few comparisons. For the others, each axis has a table of bins: which boxes start before the end of a bin, and
//! which end after its start, as bits. Two words per axis, combined by AND, are the candidates, which are then compared exactly. Bins are found by a
//! monotone function of the coordinate, so no overlap is missed, whatever rounding does.
//!
//! Cost: a pass over the boxes, or over the changed ones if they are few and no box of another rank near this one has changed. An object that
//! overlaps the boxes of k ranks is sent k times; a random decomposition sends everything to everyone.

use broadphase::{Aabb, Real};

use crate::bounds::Bounds;
use crate::slots::{Slots, ascending};

/// Bins per axis.
const BINS: usize = 64;
/// The interior of the next frame is expected to differ by less than this share of the rank's extent.
const SLACK: f64 = 1.0 / 256.0;

/// A box of another rank that reaches this one's objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Near<const D: usize, T> {
    /// The position in the list of neighbors.
    pub(crate) neighbor: u32,
    pub(crate) aabb: Aabb<D, T>,
}

/// An object: its slot, and its box, since the tables of all objects are not in the cache when the chosen ones are needed.
pub(crate) type Chosen<const D: usize, T> = (u32, Aabb<D, T>);

/// What is chosen for each neighbor, kept from frame to frame.
#[derive(Clone, Debug)]
pub(crate) struct Selection<const D: usize, T: Real> {
    near: Vec<Near<D, T>>,
    /// By neighbor, by slot ascending.
    chosen: Vec<Vec<Chosen<D, T>>>,
    /// What any neighbor gets, by slot ascending.
    boundary: Vec<Chosen<D, T>>,
    bins: Bins<D, T>,
    /// What lies strictly inside touches no box of another rank.
    interior: Aabb<D, T>,
    /// May `chosen` be changed instead of made again?
    is_valid: bool,
    scratch: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Bins<const D: usize, T> {
    low: [T; D],
    scale: [T; D],
    /// Words of a set of boxes.
    words: usize,
    /// By axis, bin and word: the boxes that start in this bin or before it, and those that end in it or after it.
    starts: Vec<u64>,
    ends: Vec<u64>,
}

impl<const D: usize, T: Real> Selection<D, T> {
    pub(crate) fn new() -> Self {
        let bins = Bins { low: [T::ZERO; D], scale: [T::ZERO; D], words: 0, starts: Vec::new(), ends: Vec::new() };
        Self {
            near: Vec::new(),
            chosen: Vec::new(),
            boundary: Vec::new(),
            bins,
            interior: Aabb::everything(),
            is_valid: false,
            scratch: Vec::new(),
        }
    }

    /// The objects for each neighbor, ascending.
    pub(crate) fn chosen(&self, neighbor: usize) -> &[Chosen<D, T>] {
        &self.chosen[neighbor]
    }

    /// The objects that any neighbor gets, ascending.
    pub(crate) fn boundary(&self) -> &[Chosen<D, T>] {
        &self.boundary
    }

    /// A box that will probably lie inside the interior of the next frame: what this frame's has of `bound`, a little smaller.
    pub(crate) fn probable_interior(&self, bound: &Aabb<D, T>) -> Aabb<D, T> {
        let mut probable = self.interior;
        for k in 0..D {
            let slack = (bound.max[k] - bound.min[k]) * T::from_f64(SLACK);
            probable.min[k] = probable.min[k].max(bound.min[k]) + slack;
            probable.max[k] = probable.max[k].min(bound.max[k]) - slack;
        }
        probable
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let lists = self.chosen.iter().chain([&self.boundary]).map(Vec::capacity).sum::<usize>() * size_of::<Chosen<D, T>>();
        lists
            + self.scratch.capacity() * size_of::<u32>()
            + (self.bins.starts.capacity() + self.bins.ends.capacity()) * 8
            + self.near.capacity() * size_of::<Near<D, T>>()
    }

    /// Chooses again for `neighbors` neighbors whose boxes near this rank are `near`, ordered by neighbor. `bounds` are those of this rank's
    /// objects.
    pub(crate) fn update<X: Copy + PartialEq>(
        &mut self,
        slots: &Slots<D, T, X>,
        bounds: &Bounds<D, T>,
        neighbors: usize,
        near: &[Near<D, T>],
    ) {
        let (bound, wide) = (&bounds.told().bound, bounds.wide());
        let same = self.is_valid && self.chosen.len() == neighbors && self.near == near;
        if !same {
            self.near.clear();
            self.near.extend_from_slice(near);
            self.interior = interior(bound, near);
            self.bins.fill(bound, near);
        }
        if same && slots.few_changed() {
            self.edit(slots, wide);
        } else {
            self.chosen.resize_with(neighbors, Vec::new);
            self.chosen.iter_mut().for_each(Vec::clear);
            self.boundary.clear();
            match bounds.outside() {
                _ if near.is_empty() => {}
                Some((watched, outside)) if self.interior.contains(watched) => {
                    self.choose(wide, outside.iter().copied());
                }
                _ => self.choose(wide, slots.ids().map(|slot| (slot, slots.boxes()[slot as usize]))),
            }
        }
        self.is_valid = true;
    }

    /// Looks at these objects, ascending; all others are known to lie inside.
    fn choose(&mut self, wide: &[u32], candidates: impl Iterator<Item = Chosen<D, T>>) {
        let Self { near, chosen, boundary, bins, interior, .. } = self;
        let mut wide = ascending(wide);
        for object in candidates {
            let (slot, value) = &object;
            if is_inside(value, interior) {
                continue;
            }
            if !wide.has(*slot) {
                bins.ranks(value, near, |neighbor| chosen[neighbor].push(object), || boundary.push(object));
            }
        }
    }

    /// Looks at the changed objects, and edits the lists.
    fn edit<X: Copy + PartialEq>(&mut self, slots: &Slots<D, T, X>, wide: &[u32]) {
        let touched = slots.touched();
        if touched.is_empty() {
            return;
        }
        let Self { near, chosen, boundary, bins, interior, scratch, .. } = self;
        let stays = |object: &Chosen<D, T>| touched.binary_search(&object.0).is_err();
        let lists = chosen.iter_mut().chain([&mut *boundary]);
        // Where the new ones start in each list.
        scratch.clear();
        for list in lists {
            list.retain(stays);
            scratch.push(list.len() as u32);
        }
        for &slot in touched.iter().filter(|&&slot| slots.is_live(slot) && wide.binary_search(&slot).is_err()) {
            let object = (slot, slots.boxes()[slot as usize]);
            if !is_inside(&object.1, interior) {
                bins.ranks(&object.1, near, |neighbor| chosen[neighbor].push(object), || boundary.push(object));
            }
        }
        for (list, &kept) in chosen.iter_mut().chain([boundary]).zip(&*scratch) {
            if list.len() > kept as usize {
                list.sort_unstable_by_key(|object| object.0);
            }
        }
    }
}

/// Is the box strictly inside?
#[inline(always)]
pub(crate) fn is_inside<const D: usize, T: Real>(value: &Aabb<D, T>, interior: &Aabb<D, T>) -> bool {
    let mut all = true;
    for k in 0..D {
        all &= (interior.min[k] < value.min[k]) & (value.max[k] < interior.max[k]);
    }
    all
}

/// A box inside which no box of `near` reaches, and which covers as much of `bound` as a greedy choice of sides leaves.
fn interior<const D: usize, T: Real>(bound: &Aabb<D, T>, near: &[Near<D, T>]) -> Aabb<D, T> {
    let mut interior = Aabb::everything();
    for other in near.iter().map(|near| &near.aabb) {
        let reaches = |interior: &Aabb<D, T>| (0..D).all(|k| interior.min[k] < other.max[k] && other.min[k] < interior.max[k]);
        if !reaches(&interior) {
            continue;
        }
        // What is left of the bound's side after cutting at either end of the other box.
        let mut best = (-1.0, interior);
        for k in 0..D {
            let side = |cut: &Aabb<D, T>| (cut.max[k].min(bound.max[k]) - cut.min[k].max(bound.min[k])).to_f64().max(0.0);
            let whole = side(&interior);
            let (mut above, mut below) = (interior, interior);
            above.min[k] = other.max[k];
            below.max[k] = other.min[k];
            for cut in [above, below] {
                let left = if whole > 0.0 { side(&cut) / whole } else { 0.0 };
                if left > best.0 {
                    best = (left, cut);
                }
            }
        }
        interior = best.1;
    }
    interior
}

impl<const D: usize, T: Real> Bins<D, T> {
    /// The bin of a coordinate. Never falls when the coordinate grows; `as` sends NaN to 0, and what is too large to the ends of `i32`, to which a
    /// conversion takes fewer instructions than to `usize`.
    #[inline(always)]
    fn bin(&self, axis: usize, at: T) -> usize {
        let at = ((at - self.low[axis]) * self.scale[axis]).to_f64();
        (at as i32).clamp(0, BINS as i32 - 1) as usize
    }

    fn fill(&mut self, bound: &Aabb<D, T>, near: &[Near<D, T>]) {
        self.words = near.len().div_ceil(64);
        for list in [&mut self.starts, &mut self.ends] {
            list.clear();
            list.resize(D * BINS * self.words, 0);
        }
        for k in 0..D {
            self.low[k] = bound.min[k];
            self.scale[k] = T::from_f64(BINS as f64) / (bound.max[k] - bound.min[k]);
            for (index, other) in near.iter().enumerate() {
                let (first, last) = (self.bin(k, other.aabb.min[k]), self.bin(k, other.aabb.max[k]));
                let bit = 1 << (index % 64);
                let at = |bin: usize| (k * BINS + bin) * self.words + index / 64;
                (first..BINS).for_each(|bin| self.starts[at(bin)] |= bit);
                (0..=last).for_each(|bin| self.ends[at(bin)] |= bit);
            }
        }
    }

    /// Calls `found` with each neighbor that has a box which the value overlaps, once and in order, then `any` if there was one.
    #[inline(always)]
    fn ranks(&self, value: &Aabb<D, T>, near: &[Near<D, T>], mut found: impl FnMut(usize), any: impl FnOnce()) {
        let rows: [_; D] = std::array::from_fn(|k| {
            let row = |bin: usize| (k * BINS + bin) * self.words;
            (row(self.bin(k, value.max[k])), row(self.bin(k, value.min[k])))
        });
        let mut last = u32::MAX;
        for word in 0..self.words {
            let mut candidates = !0;
            for (start, end) in rows {
                candidates &= self.starts[start + word] & self.ends[end + word];
            }
            while candidates != 0 {
                let other = &near[word * 64 + candidates.trailing_zeros() as usize];
                candidates &= candidates - 1;
                if other.neighbor != last && other.aabb.overlaps(value) {
                    last = other.neighbor;
                    found(last as usize);
                }
            }
        }
        if last != u32::MAX {
            any();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from 0 to 1 that look random.
    fn noise(seed: &mut u64) -> f32 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 40) as f32 / (1u64 << 24) as f32
    }

    #[test]
    fn the_choice_is_that_of_a_double_loop_also_after_few_changes() {
        let mut seed = 1;
        for trial in 0..60 {
            let spread = [1.0, 10.0, 0.0, 1e30, f32::MAX][trial % 5];
            let mut aabb = |size: f32| {
                let min: [f32; 2] = std::array::from_fn(|_| (noise(&mut seed) - 0.5) * spread);
                Aabb::new(min, min.map(|x| x + noise(&mut seed) * size * spread))
            };
            let mut slots = Slots::default();
            (0..200).for_each(|id| assert!(slots.insert(aabb(0.1), id).is_ok()));
            let near: Vec<Near<2, f32>> =
                (0..trial as u32 * 3).map(|i| Near { neighbor: i / 3, aabb: aabb(if i % 7 == 0 { 1.0 } else { 0.3 }) }).collect();
            // A few giants, which are not chosen.
            for slot in (0..200).step_by(17) {
                let min = slots.boxes()[slot as usize].min;
                slots.set_box(slot, Aabb::new(min, [f32::INFINITY; 2]));
            }
            let (mut selection, mut bounds) = (Selection::new(), Bounds::new(16));
            for round in 0..5 {
                if round > 0 {
                    (0..20).for_each(|slot| assert!(slots.set_box(slot * 7 + 1, aabb(0.1))));
                    slots.remove(9 * round as u32);
                }
                if round == 3 {
                    slots.expect_many();
                }
                slots.list_changes();
                bounds.update(&slots);
                selection.update(&slots, &bounds, trial, &near);
                bounds.watch(selection.probable_interior(&bounds.told().bound));
                slots.settle();
                let wide = bounds.wide().to_vec();
                assert!(wide.len() >= 9);
                let overlaps = |slot: u32, neighbor: u32| {
                    let mut boxes = near.iter().filter(|near| near.neighbor == neighbor);
                    !wide.contains(&slot) && boxes.any(|near| near.aabb.overlaps(&slots.boxes()[slot as usize]))
                };
                let chosen = |slot: u32| (slot, slots.boxes()[slot as usize]);
                for neighbor in 0..trial as u32 {
                    let wanted: Vec<_> = slots.ids().filter(|&slot| overlaps(slot, neighbor)).map(chosen).collect();
                    assert_eq!(selection.chosen(neighbor as usize), wanted, "{trial} {round} {neighbor}");
                }
                let any = |&slot: &u32| (0..trial as u32).any(|neighbor| overlaps(slot, neighbor));
                assert_eq!(selection.boundary(), slots.ids().filter(any).map(chosen).collect::<Vec<_>>(), "{trial} {round}");
            }
        }
    }
}
