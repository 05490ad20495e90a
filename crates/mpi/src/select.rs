//! Which objects travel to which ranks, and which are joined with ghosts.
//!
//! An object travels to a neighbor if it overlaps a box of it, and if that rank may report a pair of it ([`Reporters`]). It belongs to the *boundary*,
//! which is joined with ghosts, if it overlaps a box of a neighbor and this rank may report the pair.
//!
//! Most objects of a compact rank are far from all other ranks. A greedy search finds one box that no box of another rank reaches, the *interior*;
//! objects inside it are skipped with a few comparisons. The others are compared with the few boxes that cover each neighbor ([`cover`]), 64 at
//! once ([`Batch`]).
//!
//! Cost: a pass over the boxes, or over the changed ones if they are few and no box of another rank near this one has changed. An object that
//! overlaps the boxes of k ranks is sent up to k times; a random decomposition sends everything to everyone.

use broadphase::{Aabb, Real};

use crate::batch::{BATCH, Batch};
use crate::boundary::Boundary;
use crate::bounds::Bounds;
use crate::near::{Near, cover};
use crate::pairs::{Relation, Reporters, Reporting};
use crate::slots::{Slots, ascending};

/// The interior of the next frame is expected to differ by less than this share of the rank's extent.
const SLACK: f64 = 1.0 / 256.0;

/// A chosen object: its slot, and a copy of its box, since the table of all boxes is no longer in the cache when the chosen ones are read.
pub(crate) type Chosen<const D: usize, T> = (u32, Aabb<D, T>);

/// The objects chosen for each neighbor, kept from frame to frame.
#[derive(Clone, Debug)]
pub(crate) struct Selection<const D: usize, T: Real> {
    /// The boxes of neighbors, as they were sent, and this rank's bound when they were covered.
    near: Vec<Near<D, T>>,
    bound: Aabb<D, T>,
    /// The boxes that cover them, ordered by neighbor, and where those of each neighbor end.
    covers: Vec<Aabb<D, T>>,
    ends: Vec<usize>,
    /// For each neighbor, the objects that travel to it, by slot ascending.
    chosen: Vec<Vec<Chosen<D, T>>>,
    /// The objects that are joined with ghosts.
    boundary: Boundary<D, T>,
    /// Objects strictly inside overlap no box of another rank.
    interior: Aabb<D, T>,
    /// May the lists be edited instead of made anew?
    is_valid: bool,
    scratch: Vec<u32>,
}

/// What the choice depends on besides this rank's objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a, const D: usize, T> {
    /// The boxes of neighbors that reach this rank's objects, ordered by neighbor.
    pub(crate) near: &'a [Near<D, T>],
    /// By neighbor.
    pub(crate) reporters: &'a [Reporters<'a, D, T>],
    /// Did any rank send a new domain in this frame?
    pub(crate) domains_changed: bool,
}

impl<const D: usize, T: Real> Selection<D, T> {
    pub(crate) fn new() -> Self {
        Self {
            near: Vec::new(),
            bound: Aabb::empty(),
            covers: Vec::new(),
            ends: Vec::new(),
            chosen: Vec::new(),
            boundary: Boundary::default(),
            interior: Aabb::everything(),
            is_valid: false,
            scratch: Vec::new(),
        }
    }

    /// The objects for each neighbor, ascending.
    pub(crate) fn chosen(&self, neighbor: usize) -> &[Chosen<D, T>] {
        &self.chosen[neighbor]
    }

    /// The objects that are joined with ghosts.
    pub(crate) fn boundary(&self) -> &Boundary<D, T> {
        &self.boundary
    }

    /// A box that will probably lie inside the interior of the next frame: the part of this frame's interior within `bound`, a little smaller.
    pub(crate) fn probable_interior(&self, bound: &Aabb<D, T>) -> Aabb<D, T> {
        let extent: [T; D] = std::array::from_fn(|k| bound.max[k] - bound.min[k]);
        // Long axes across which there is no neighbor need no more slack than the others.
        let is_cut = |k: &usize| bound.min[*k] < self.interior.min[*k] || self.interior.max[*k] < bound.max[*k];
        let shortest = (0..D).filter(is_cut).map(|k| extent[k]).fold(T::INFINITY, |least, x| if x < least { x } else { least });
        let mut probable = self.interior;
        for k in 0..D {
            let slack = extent[k].min(shortest) * T::from_f64(SLACK);
            probable.min[k] = probable.min[k].max(bound.min[k]) + slack;
            probable.max[k] = probable.max[k].min(bound.max[k]) - slack;
        }
        probable
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        let lists = self.chosen.iter().map(Vec::capacity).sum::<usize>() * size_of::<Chosen<D, T>>();
        lists
            + self.boundary.bytes()
            + self.scratch.capacity() * size_of::<u32>()
            + self.covers.capacity() * size_of::<Aabb<D, T>>()
            + self.near.capacity() * size_of::<Near<D, T>>()
    }

    /// Chooses again. `bounds` are those of this rank's objects.
    pub(crate) fn update<X: Copy + PartialEq>(
        &mut self,
        slots: &Slots<D, T, X>,
        bounds: &Bounds<D, T>,
        around: Surroundings<'_, D, T>,
    ) {
        let Surroundings { near, reporters, domains_changed } = around;
        let (bound, wide) = (&bounds.sent().bound, bounds.wide());
        let same = self.is_valid
            && !domains_changed
            && self.chosen.len() == reporters.len()
            && self.near == near
            && self.bound.contains(bound);
        if !same {
            self.near.clear();
            self.near.extend_from_slice(near);
            self.bound = *bound;
            self.cover_neighbors(reporters.len());
            self.interior = interior(bound, &self.covers);
        }
        if same && slots.few_changed() {
            self.edit(slots, wide, reporters);
        } else {
            self.chosen.resize_with(reporters.len(), Vec::new);
            self.chosen.iter_mut().for_each(Vec::clear);
            self.boundary.start();
            match bounds.outside() {
                _ if near.is_empty() => {}
                Some((watched, outside)) if self.interior.contains(watched) => {
                    self.choose(wide, reporters, outside.iter().copied());
                }
                _ => self.choose(wide, reporters, slots.ids().map(|slot| (slot, slots.boxes()[slot as usize]))),
            }
            self.boundary.finish();
        }
        self.is_valid = true;
    }

    fn cover_neighbors(&mut self, neighbors: usize) {
        let Self { near, bound, covers, ends, .. } = self;
        covers.clear();
        ends.clear();
        let mut rest = &near[..];
        for neighbor in 0..neighbors as u32 {
            let count = rest.iter().take_while(|near| near.neighbor == neighbor).count();
            cover(bound, &rest[..count], covers);
            rest = &rest[count..];
            ends.push(covers.len());
        }
    }

    /// Chooses from these objects, ascending; all others are known to lie inside the interior.
    fn choose(&mut self, wide: &[u32], reporters: &[Reporters<'_, D, T>], candidates: impl Iterator<Item = Chosen<D, T>>) {
        let mut batch = Batch::new();
        let mut wide = ascending(wide);
        let interior = self.interior;
        for object in candidates {
            batch.add(object, !is_inside(&object.1, &interior) & !wide.has(object.0));
            if batch.is_full() {
                self.choose_from(&mut batch, reporters);
            }
        }
        self.choose_from(&mut batch, reporters);
    }

    /// Appends the objects of a batch to the lists to which they belong, and empties it.
    fn choose_from(&mut self, batch: &mut Batch<D, T>, reporters: &[Reporters<'_, D, T>]) {
        let Self { bound, covers, ends, chosen, boundary, .. } = self;
        let own_domain = reporters.first().map_or(&[][..], |reporters| reporters.own_domain);
        let (reaches_own, within_own) = (batch.reach(own_domain), batch.within(own_domain));
        let mut joined = [false; BATCH];
        let mut first = 0;
        for ((chosen, &end), reporters) in chosen.iter_mut().zip(&*ends).zip(reporters) {
            let mut travels = batch.overlap(&covers[first..end], bound);
            first = end;
            if !travels.iter().fold(false, |any, overlaps| any | overlaps) {
                continue;
            }
            if reporters.reporting == Reporting::Both {
                (0..BATCH).for_each(|at| joined[at] |= travels[at]);
            } else {
                let reaches_other = batch.reach(reporters.other_domain);
                // Only the lower rank needs this relation.
                let within_other = if reporters.is_lower { batch.within(reporters.other_domain) } else { [false; BATCH] };
                for at in 0..BATCH {
                    let reaches = [reaches_own[at], reaches_other[at]];
                    let may = reporters.may(Relation { reaches, within: [within_own[at], within_other[at]] });
                    joined[at] |= travels[at] & may.own;
                    travels[at] &= may.other;
                }
            }
            batch.append(&travels, chosen);
        }
        boundary.append(batch, &joined);
        batch.clear();
    }

    /// Edits the lists for the changed objects only.
    fn edit<X: Copy + PartialEq>(&mut self, slots: &Slots<D, T, X>, wide: &[u32], reporters: &[Reporters<'_, D, T>]) {
        let touched = slots.touched();
        if touched.is_empty() {
            self.boundary.keep();
            return;
        }
        let stays = |slot: u32| touched.binary_search(&slot).is_err();
        // Where the added objects start in each list.
        let mut kept = std::mem::take(&mut self.scratch);
        kept.clear();
        for list in &mut self.chosen {
            list.retain(|object| stays(object.0));
            kept.push(list.len() as u32);
        }
        self.boundary.start_from(stays);
        let live = touched.iter().filter(|&&slot| slots.is_live(slot));
        self.choose(wide, reporters, live.map(|&slot| (slot, slots.boxes()[slot as usize])));
        for (list, &kept) in self.chosen.iter_mut().zip(&kept) {
            if list.len() > kept as usize {
                list.sort_unstable_by_key(|object| object.0);
            }
        }
        self.boundary.sort();
        self.boundary.finish();
        self.scratch = kept;
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

/// A box that no box of `near` reaches. Each box that reaches it cuts it at the side that leaves the largest part of `bound`.
fn interior<const D: usize, T: Real>(bound: &Aabb<D, T>, near: &[Aabb<D, T>]) -> Aabb<D, T> {
    let mut interior = Aabb::everything();
    for other in near {
        let reaches = |interior: &Aabb<D, T>| (0..D).all(|k| interior.min[k] < other.max[k] && other.min[k] < interior.max[k]);
        if !reaches(&interior) {
            continue;
        }
        // The share of a side that is left within the bound after a cut at either end of the other box.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::Reporting;

    /// Numbers from 0 to 1 that look random.
    fn noise(seed: &mut u64) -> f32 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Neighbors with covers, and reporters that leave nothing out.
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
            let mut near_box =
                |i: u32| Near { neighbor: i / 3, rank: 9, aabb: aabb(if i.is_multiple_of(7) { 1.0 } else { 0.3 }) };
            let near: Vec<Near<2, f32>> = (0..trial as u32 * 3).map(&mut near_box).collect();
            // Every third neighbor gets nothing, every third one sends nothing.
            let reporter = |i: usize| Reporters {
                reporting: if i.is_multiple_of(3) { Reporting::Both } else { Reporting::Once },
                own_domain: &[],
                other_domain: &[],
                is_lower: i % 3 == 1,
            };
            let reporters: Vec<_> = (0..trial).map(reporter).collect();
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
                let around = Surroundings { near: &near, reporters: &reporters, domains_changed: false };
                selection.update(&slots, &bounds, around);
                bounds.watch(selection.probable_interior(&bounds.sent().bound));
                slots.settle();
                assert!(bounds.wide().len() >= 9);
                check(&selection, &slots, bounds.wide(), around, &format!("{trial} {round}"));
            }
        }
    }

    fn check(
        selection: &Selection<2, f32>,
        slots: &Slots<2, f32, u64>,
        wide: &[u32],
        around: Surroundings<'_, 2, f32>,
        at: &str,
    ) {
        let normal: Vec<u32> = slots.ids().filter(|slot| !wide.contains(slot)).collect();
        let object = |slot: u32| (slot, slots.boxes()[slot as usize]);
        // Without domains, the lower rank reports.
        let may = |reporters: &Reporters<'_, 2, f32>| reporters.may(Relation { reaches: [false; 2], within: [false; 2] });
        let mut joined = std::collections::BTreeSet::new();
        for (neighbor, reporters) in around.reporters.iter().enumerate() {
            let first = if neighbor == 0 { 0 } else { selection.ends[neighbor - 1] };
            let covers = &selection.covers[first..selection.ends[neighbor]];
            let boxes = || around.near.iter().filter(|near| near.neighbor as usize == neighbor).map(|near| near.aabb);
            for &slot in &normal {
                let value = slots.boxes()[slot as usize];
                let is_near = covers.iter().any(|cover| cover.overlaps(&value));
                assert!(is_near || !boxes().any(|aabb| aabb.overlaps(&value)), "{at}: the covers miss a box");
                if is_near && may(reporters).own {
                    joined.insert(slot);
                }
            }
            let travels = |slot: &u32| {
                let value = slots.boxes()[*slot as usize];
                covers.iter().any(|cover| cover.overlaps(&value)) && may(reporters).other
            };
            let wanted: Vec<_> = normal.iter().copied().filter(travels).map(object).collect();
            assert_eq!(selection.chosen(neighbor), wanted, "{at} {neighbor}");
        }
        let boundary = selection.boundary();
        let boundary: Vec<_> = boundary.slots().iter().copied().zip(boundary.boxes().iter().copied()).collect();
        assert_eq!(boundary, joined.into_iter().map(object).collect::<Vec<_>>(), "{at}");
    }
}
