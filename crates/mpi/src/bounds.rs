//! A few tight boxes around a rank's objects; wide objects are kept apart from them.
//!
//! # Inside and outside
//! Most objects of a compact rank are inside a box that no other rank reached in the last frame ([`Bounds::watch`]). That box covers them all, so
//! these objects need a few comparisons each, and only the objects outside it enter the boxes of groups. It lies within the bound of the last
//! frame, so no distant rank sends ghosts because of it.
//!
//! # Groups
//! A coarse kd cut of a sample of the objects (halves at the median of the longest axis) gives up to [`Options::boxes`](crate::Options) groups. An
//! object keeps its group while it moves; each frame finds the tight box of every group's outside objects. The cut is made again when the sides of
//! the boxes together have grown by a third, which shows that groups have mixed, or when the number of objects has doubled or halved.
//!
//! # Wide objects
//! One rule for planes, half-spaces and giants: an object is *wide* if it is infinite, or longer on some axis than 8 times the mean of this rank's
//! objects. Each cut sets this limit anew, and raises it if more than 64 finite objects exceed it; between two cuts their number may double. A long object
//! inside the watched box is not wide, since no other rank is near it. A wide object does not stretch the box of a group, which would attract the objects of many ranks: wide objects are sent as boxes of their own, or as one
//! box around all if there are many. A wide object travels to the ranks whose boxes it overlaps, but their objects do not travel to it.
//!
//! # Cost
//! One pass over the boxes, the one that checks them ([`Bounds::scan`]), or over the changed ones if they are few. Bad case: objects that jump anywhere in each frame, so that every group spreads
//! over the whole space and each frame makes the cut again.

use broadphase::{Aabb, Real};

use crate::select::{Chosen, is_inside};
use crate::slots::Slots;

/// An object is wide if it is longer than this many times the mean.
const WIDE_FACTOR: f64 = 8.0;
/// The most finite wide objects of a rank after a cut. Twice as many cause a new cut, which sets the limit again.
const MAX_WIDE: usize = 64;
/// The most boxes of wide objects that are sent to all ranks one by one; if there are more, the box around all is sent.
const MAX_WIDE_BOXES: usize = 16;
/// The most objects that the cut is made from.
const SAMPLE: usize = 2048;
/// A group has at least this many objects on average.
const MIN_GROUP: usize = 32;
/// Boxes that are scanned before the slots of those outside are listed.
const BATCH: usize = 64;
/// The cut is made again when the sides of all boxes together have grown by this factor.
const MAX_GROWTH: f64 = 4.0 / 3.0;

/// The tight boxes of a rank.
#[derive(Clone, Debug)]
pub(crate) struct Bounds<const D: usize, T: Real> {
    /// The most groups: a power of two.
    max_groups: usize,
    /// Splitting planes in heap order: axis, and the coordinate from which on centers are in the upper half.
    cuts: Vec<(u8, T)>,
    /// By slot.
    groups: Vec<u8>,
    /// By group; [`Aabb::empty`] for a group without objects.
    boxes: Vec<Aabb<D, T>>,
    /// Objects longer than this on some axis are wide.
    limit: [T; D],
    /// The wide objects, ascending.
    wide: Vec<u32>,
    finite_wide: usize,
    /// By the boxes of the last frame, no other rank reaches objects strictly inside this box.
    watched: Aabb<D, T>,
    /// The revision of the slots from whose boxes `outside` was listed ([`Bounds::scan`]); `None` if the list is out of date.
    scanned: Option<u64>,
    /// The watched box of the last pass over all objects, if any object was inside it; otherwise empty. It is sent to other ranks.
    inner: Aabb<D, T>,
    /// The objects that are not strictly inside, and wide ones, ascending, and the box that was watched when they were found, unless objects have
    /// changed since.
    outside: Vec<Chosen<D, T>>,
    outside_of: Option<Aabb<D, T>>,
    /// The sides of all boxes together, and the number of objects, at the last cut.
    cut_sides: f64,
    cut_count: usize,
    /// What is sent to other ranks.
    sent: SentBoxes<D, T>,
}

/// The boxes of a rank that are sent to all others.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SentBoxes<const D: usize, T: Real> {
    /// Around all of `normal`.
    pub(crate) bound: Aabb<D, T>,
    /// Around the objects that are not wide.
    pub(crate) normal: Vec<Aabb<D, T>>,
    /// Around the wide ones.
    pub(crate) wide: Vec<Aabb<D, T>>,
}

impl<const D: usize, T: Real> Default for SentBoxes<D, T> {
    fn default() -> Self {
        Self { bound: Aabb::empty(), normal: Vec::new(), wide: Vec::new() }
    }
}

impl<const D: usize, T: Real> SentBoxes<D, T> {
    /// Does a box overlap any of the boxes?
    pub(crate) fn touches(&self, value: &Aabb<D, T>) -> bool {
        self.wide.iter().any(|other| other.overlaps(value))
            || self.bound.overlaps(value) && self.normal.iter().any(|other| other.overlaps(value))
    }
}

/// Extends `all` to cover `one`; no coordinate may be NaN.
#[inline(always)]
fn include<const D: usize, T: Real>(all: &mut Aabb<D, T>, one: &Aabb<D, T>) {
    for k in 0..D {
        all.min[k] = if one.min[k] < all.min[k] { one.min[k] } else { all.min[k] };
        all.max[k] = if one.max[k] > all.max[k] { one.max[k] } else { all.max[k] };
    }
}

/// Is the box longer than the limit on some axis? A length that is NaN counts as longer.
#[inline(always)]
fn is_longer<const D: usize, T: Real>(value: &Aabb<D, T>, limit: &[T; D]) -> bool {
    let mut within = true;
    for k in 0..D {
        within &= value.max[k] - value.min[k] <= limit[k];
    }
    !within
}

fn has_finite_size<const D: usize, T: Real>(value: &Aabb<D, T>) -> bool {
    value.size().iter().all(|side| side.is_finite())
}

impl<const D: usize, T: Real> Bounds<D, T> {
    /// The bounds of no objects, with up to `max_groups` groups later, a power of two.
    pub(crate) fn new(max_groups: usize) -> Self {
        Self {
            max_groups,
            cuts: Vec::new(),
            groups: Vec::new(),
            boxes: vec![Aabb::empty()],
            limit: [T::INFINITY; D],
            wide: Vec::new(),
            finite_wide: 0,
            watched: Aabb::empty(),
            scanned: None,
            inner: Aabb::empty(),
            outside: Vec::new(),
            outside_of: None,
            cut_sides: 0.0,
            cut_count: 0,
            sent: SentBoxes::default(),
        }
    }

    /// What is sent to other ranks.
    pub(crate) fn sent(&self) -> &SentBoxes<D, T> {
        &self.sent
    }

    /// The wide objects, ascending.
    pub(crate) fn wide(&self) -> &[u32] {
        &self.wide
    }

    /// From the next update on, only objects that are not strictly inside this box enter the boxes of groups. It lies within the present bound.
    pub(crate) fn watch(&mut self, interior: Aabb<D, T>) {
        self.watched = interior;
        self.scanned = None;
    }

    /// Are all boxes valid? The same pass lists the objects outside the watched box for the next update, see [`keep_scan`](Bounds::keep_scan).
    pub(crate) fn scan(&mut self, boxes: &[Aabb<D, T>]) -> bool {
        let Self { watched, outside, .. } = self;
        (self.scanned, self.outside_of) = (None, None);
        outside.clear();
        let mut all_valid = true;
        for (chunk, first) in boxes.chunks(BATCH).zip((0..).step_by(BATCH)) {
            // Tested first and listed then, without a branch, since whether an object is outside is unpredictable.
            let (mut inside, mut valid) = ([true; BATCH], [true; BATCH]);
            for (at, value) in chunk.iter().enumerate() {
                inside[at] = is_inside(value, watched);
                valid[at] = value.is_valid();
            }
            all_valid &= valid.iter().fold(true, |all, valid| all & valid);
            let (mut list, mut count) = ([0u8; BATCH], 0);
            for at in 0..chunk.len() {
                list[count % BATCH] = at as u8;
                count += usize::from(!inside[at]);
            }
            outside.extend(list[..count].iter().map(|&at| (first + u32::from(at), chunk[usize::from(at)])));
        }
        all_valid
    }

    /// The scanned boxes are now those of the slots, which have this revision.
    pub(crate) fn keep_scan(&mut self, revision: u64) {
        self.scanned = Some(revision);
    }

    /// A box and a list, ascending, of all objects that are not strictly inside it, if known. The list may have a few that are inside.
    pub(crate) fn outside(&self) -> Option<(&Aabb<D, T>, &[Chosen<D, T>])> {
        self.outside_of.as_ref().map(|watched| (watched, &self.outside[..]))
    }

    /// The bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        self.groups.capacity()
            + self.outside.capacity() * size_of::<Chosen<D, T>>()
            + self.wide.capacity() * size_of::<u32>()
            + 2 * self.boxes.capacity() * size_of::<Aabb<D, T>>()
    }

    /// Brings the boxes up to date. The changes of `slots` must be listed.
    pub(crate) fn update<X: Copy + PartialEq>(&mut self, slots: &Slots<D, T, X>) {
        if slots.few_changed() && self.cut_count > 0 && !self.is_stale(slots.count()) {
            if slots.touched().is_empty() {
                return;
            }
            self.outside_of = None;
            self.assign_groups(slots);
            self.include_changed(slots);
        } else {
            self.assign_groups(slots);
            self.measure(slots);
        }
        if self.is_stale(slots.count()) {
            self.cut(slots);
            self.measure(slots);
            self.cut_sides = self.sides();
            self.cut_count = slots.count();
        }
        self.collect_sent(slots);
    }

    fn is_stale(&self, count: usize) -> bool {
        self.sides() > MAX_GROWTH * self.cut_sides
            || count > 2 * self.cut_count
            || 2 * count < self.cut_count
            || self.finite_wide > 2 * MAX_WIDE
    }

    /// The sides of all boxes together.
    fn sides(&self) -> f64 {
        let side = |value: &Aabb<D, T>| value.size().iter().map(|side| side.to_f64().max(0.0)).sum::<f64>();
        self.boxes.iter().map(side).sum()
    }

    /// Assigns groups to new objects.
    fn assign_groups<X: Copy + PartialEq>(&mut self, slots: &Slots<D, T, X>) {
        self.groups.resize(slots.len(), 0);
        for slot in slots.new_objects() {
            self.groups[slot as usize] = self.group_of(&slots.boxes()[slot as usize]);
        }
    }

    /// The group of a box, by its center: down the splitting planes, without a branch.
    #[inline(always)]
    fn group_of(&self, value: &Aabb<D, T>) -> u8 {
        let center = value.center();
        let mut node = 0;
        while node < self.cuts.len() {
            let (axis, at) = self.cuts[node];
            node = 2 * node + 1 + usize::from(center[axis as usize] >= at);
        }
        (node - self.cuts.len()) as u8
    }

    /// Finds the boxes of all groups, and the wide objects and others outside the watched box, from scratch.
    fn measure<X: Copy + PartialEq>(&mut self, slots: &Slots<D, T, X>) {
        self.boxes.fill(Aabb::empty());
        self.wide.clear();
        self.finite_wide = 0;
        if self.scanned != Some(slots.revision()) {
            self.scan(slots.boxes());
            self.keep_scan(slots.revision());
        }
        self.outside_of = Some(self.watched);
        let (full, mut kept) = (slots.count() == slots.len(), 0);
        for at in 0..self.outside.len() {
            let (slot, value) = self.outside[at];
            if !full && !slots.is_live(slot) {
                continue;
            }
            self.outside[kept] = (slot, value);
            kept += 1;
            if is_longer(&value, &self.limit) {
                self.wide.push(slot);
                self.finite_wide += usize::from(has_finite_size(&value));
            } else {
                include(&mut self.boxes[usize::from(self.groups[slot as usize])], &value);
            }
        }
        self.outside.truncate(kept);
        self.inner = if self.outside.len() < slots.count() { self.watched } else { Aabb::empty() };
        if self.outside.is_empty() && slots.count() > 0 {
            // All objects are inside the watched box, which may be far too large; only a pass without it finds tight boxes.
            self.watch(Aabb::empty());
            self.measure(slots);
        }
    }

    /// Adds a few changed objects to the boxes, which do not shrink.
    fn include_changed<X: Copy + PartialEq>(&mut self, slots: &Slots<D, T, X>) {
        let is_wide = |slot: u32| slots.is_live(slot) && is_longer(&slots.boxes()[slot as usize], &self.limit);
        let changed = slots.touched();
        self.wide.retain(|&slot| is_wide(slot));
        let old = self.wide.len();
        for &slot in changed.iter().filter(|&&slot| slots.is_live(slot)) {
            let value = &slots.boxes()[slot as usize];
            if !is_wide(slot) {
                if !is_inside(value, &self.inner) {
                    include(&mut self.boxes[usize::from(self.groups[slot as usize])], value);
                }
            } else if self.wide[..old].binary_search(&slot).is_err() {
                self.wide.push(slot);
            }
        }
        self.wide.sort_unstable();
        self.finite_wide = self.wide.iter().filter(|&&slot| has_finite_size(&slots.boxes()[slot as usize])).count();
    }

    /// Makes the cut anew: the limit for wide objects, the splitting planes, and the groups.
    fn cut<X: Copy + PartialEq>(&mut self, slots: &Slots<D, T, X>) {
        let finite = |slot: &u32| has_finite_size(&slots.boxes()[*slot as usize]);
        let stride = slots.count().div_ceil(SAMPLE).max(1);
        let mut sample: Vec<u32> = slots.ids().step_by(stride).filter(finite).collect();
        self.set_limit(slots);
        sample.retain(|&slot| !is_longer(&slots.boxes()[slot as usize], &self.limit));
        let groups = (slots.count() / MIN_GROUP).clamp(1, self.max_groups);
        let depth = groups.ilog2();
        self.cuts.clear();
        self.cuts.resize((1 << depth) - 1, (0, T::INFINITY));
        let mut centers: Vec<[T; D]> = sample.iter().map(|&slot| slots.boxes()[slot as usize].center()).collect();
        centers.retain(|center| center.iter().all(|x| x.is_finite()));
        self.split(0, &mut centers);
        self.boxes.clear();
        self.boxes.resize(1 << depth, Aabb::empty());
        for slot in slots.ids() {
            self.groups[slot as usize] = self.group_of(&slots.boxes()[slot as usize]);
        }
    }

    /// Splits the centers of a node at their median, and so on down the tree.
    fn split(&mut self, node: usize, centers: &mut [[T; D]]) {
        if node >= self.cuts.len() || centers.len() < 2 {
            return;
        }
        let bound = Aabb::from_points(&*centers);
        let size = bound.size();
        let axis = (1..D).fold(0, |best, k| if size[k] > size[best] { k } else { best });
        let middle = centers.len() / 2;
        centers.select_nth_unstable_by_key(middle, |center| center[axis].order_key());
        self.cuts[node] = (axis as u8, centers[middle][axis]);
        let (lower, upper) = centers.split_at_mut(middle);
        self.split(2 * node + 1, lower);
        self.split(2 * node + 2, upper);
    }

    /// Finds the length above which objects are wide.
    fn set_limit<X: Copy + PartialEq>(&mut self, slots: &Slots<D, T, X>) {
        let (mut mean, mut finite) = ([0.0; D], false);
        for value in slots.ids().map(|slot| &slots.boxes()[slot as usize]).filter(|value| has_finite_size(value)) {
            finite = true;
            let size = value.size();
            (0..D).for_each(|k| mean[k] += size[k].to_f64() / slots.count() as f64);
        }
        let limit_at = |factor: f64| mean.map(|mean| if finite { T::from_f64(mean * factor).min(T::MAX) } else { T::MAX });
        self.limit = limit_at(WIDE_FACTOR);
        let longer = |slot: &u32| {
            let value = &slots.boxes()[*slot as usize];
            has_finite_size(value) && is_longer(value, &self.limit)
        };
        let ratio = |slot: u32| {
            let size = slots.boxes()[slot as usize].size();
            (0..D).map(|k| if mean[k] > 0.0 { size[k].to_f64() / mean[k] } else { 0.0 }).fold(0.0, f64::max)
        };
        let mut ratios: Vec<f64> = slots.ids().filter(longer).map(ratio).collect();
        if ratios.len() > MAX_WIDE {
            ratios.sort_unstable_by(|a, b| b.total_cmp(a));
            // One step up, so that rounding never makes the 65th wide.
            self.limit = limit_at(ratios[MAX_WIDE].max(WIDE_FACTOR)).map(Real::next_up).map(|limit| limit.min(T::MAX));
        }
    }

    /// Collects what is sent to other ranks.
    fn collect_sent<X: Copy + PartialEq>(&mut self, slots: &Slots<D, T, X>) {
        let SentBoxes { bound, normal, wide } = &mut self.sent;
        normal.clear();
        normal.extend(self.boxes.iter().chain([&self.inner]).filter(|value| value.is_valid()));
        *bound = normal.iter().fold(Aabb::empty(), |mut all, one| {
            include(&mut all, one);
            all
        });
        wide.clear();
        wide.extend(self.wide.iter().map(|&slot| slots.boxes()[slot as usize]));
        if wide.len() > MAX_WIDE_BOXES {
            let all = wide.iter().fold(Aabb::empty(), |all, one| all.union(one));
            wide.clear();
            wide.push(all);
        }
    }
}
