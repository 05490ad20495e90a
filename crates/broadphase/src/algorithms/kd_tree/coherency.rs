//! Coherency: which objects are static, and the cache of their pairs.
//!
//! Each object has a *held* box: its own, grown by epsilon when it last left its held box. While it stays inside, it is static. In
//! incremental frames the tree arranges held boxes: neither the tree nor the search visits static objects. In complete
//! frames it arranges the objects' own boxes; then only the shares of static and changed objects are needed, and a sample of the slots has held boxes.
//! (With all of them, adaptive frames took 1.1 to 1.2 times as long as complete ones where everything moves.)
//!
//! The cache has every pair of overlapping held boxes, in lists that belong to the chunks of the store. In a frame it loses the
//! pairs with an object that is not static, and gains what the search finds, which is all pairs with such an object. So it is
//! complete again, and a pair of two objects that come to rest in the same frame is in it. What is reported are cached pairs whose
//! own boxes overlap, the *touching* ones: held boxes are never visible.
//!
//! After a complete search the cache is empty; the next incremental search then fills it with a search over all held boxes. Where epsilon
//! makes more pairs than the budget allows, there is none (`overflow.rs`).

use std::sync::{Mutex, MutexGuard};

use super::node_caches::NodeCaches;
use super::overflow::CacheBudget;
use super::walk::Stamps;
use crate::bits::{BitSet, each_bit};
use crate::geometry::{Aabb, Real};
use crate::memory;
use crate::objects::changes::differing;
use crate::objects::unbounded::is_bounded;
use crate::objects::{Changes, Frame};
use crate::pairs::Pair;

/// Objects looked at for the mean size.
const SAMPLE: usize = 1024;

/// One object in this many has to change before the mean size is measured again, so that a few listed changes do not pay for a sample.
const MEASURED_SHARE: usize = 8;

/// The least number of words of 64 slots whose objects are classified while only the share of static ones is needed.
const SAMPLE_WORDS: usize = 16;

/// The cached pairs of a chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct Cached {
    /// Pairs whose own boxes overlap.
    pub(super) touching: Vec<Pair>,
    /// Pairs of which only the held boxes do.
    pub(super) near: Vec<Pair>,
}

/// The state of a variant that distinguishes static from moving objects.
#[derive(Debug)]
pub(super) struct Coherency<const D: usize, T: Real> {
    /// The boxes that the tree arranges, by slot; a slot outside the tree holds the empty box, which contains nothing.
    pub(super) held: Vec<Aabb<D, T>>,
    /// Every how many words of 64 slots have up-to-date held boxes: 1 for all, as incremental frames need.
    stride: usize,
    /// The boxes of the last update, if `remembers`.
    last: Vec<Aabb<D, T>>,
    pub(super) remembers: bool,
    /// The boxes of the sampled words in the last complete frame.
    sample: Vec<Aabb<D, T>>,
    pub(super) epsilon: T,
    /// Objects that have changed since epsilon was measured.
    unmeasured: usize,
    pub(super) budget: CacheBudget,
    /// Objects whose held box changed, appeared or vanished since the last search.
    pub(super) dynamic: BitSet,
    /// Objects whose box changed in any way since the last search; all dynamic ones are among them.
    pub(super) changed: BitSet,
    /// The search in which each object was last dynamic, and how many searches there were.
    stamps: Vec<u32>,
    pub(super) searches: u32,
    pub(super) node_caches: NodeCaches<D, T>,
    /// Cached pairs, by chunk.
    cache: Vec<Mutex<Cached>>,
    pub(super) cached: bool,
    /// Does the tree arrange the held boxes, or the objects' own?
    pub(super) arranged: bool,
}

impl<const D: usize, T: Real> Default for Coherency<D, T> {
    fn default() -> Self {
        Self {
            held: Vec::new(),
            stride: 1,
            last: Vec::new(),
            remembers: false,
            sample: Vec::new(),
            epsilon: T::ZERO,
            unmeasured: usize::MAX,
            budget: CacheBudget::default(),
            dynamic: BitSet::default(),
            changed: BitSet::default(),
            stamps: Vec::new(),
            searches: 0,
            node_caches: NodeCaches::default(),
            cache: Vec::new(),
            cached: false,
            arranged: false,
        }
    }
}

impl<const D: usize, T: Real> Clone for Coherency<D, T> {
    fn clone(&self) -> Self {
        Self {
            held: self.held.clone(),
            last: self.last.clone(),
            sample: self.sample.clone(),
            dynamic: self.dynamic.clone(),
            changed: self.changed.clone(),
            stamps: self.stamps.clone(),
            node_caches: self.node_caches.clone(),
            cache: (0..self.cache.len()).map(|chunk| Mutex::new(self.list(chunk).clone())).collect(),
            ..*self
        }
    }
}

impl<const D: usize, T: Real> Coherency<D, T> {
    /// Makes room for `slots` slots.
    pub(super) fn cover(&mut self, slots: usize) {
        if self.held.len() < slots {
            self.held.resize(slots, Aabb::empty());
        }
        if self.remembers && self.last.len() < slots {
            self.last.resize(slots, Aabb::empty());
        }
        if self.stamps.len() < self.held.len() {
            self.stamps.resize(self.held.len(), 0);
        }
        self.dynamic.cover(slots);
        self.changed.cover(slots);
    }

    /// Begins an update in which `changes` objects change: sets epsilon, measured again if one in [`MEASURED_SHARE`] objects has changed
    /// since the last time. It is 0 while the budget does not allow a margin.
    pub(super) fn set_margin(&mut self, frame: &Frame<'_, D, T>, share: f64, changes: usize) {
        if !self.budget.allows_margin() {
            (self.epsilon, self.unmeasured) = (T::ZERO, usize::MAX);
            return;
        }
        self.unmeasured = self.unmeasured.saturating_add(changes);
        if self.unmeasured > frame.slots() / MEASURED_SHARE {
            self.unmeasured = 0;
            self.measure(frame, share);
        }
    }

    /// Sets epsilon from the mean size of up to [`SAMPLE`] objects, evenly spread over the slots.
    fn measure(&mut self, frame: &Frame<'_, D, T>, share: f64) {
        let stride = frame.slots().div_ceil(SAMPLE).max(1);
        // Each size is scaled first, so that the sum cannot overflow; a running mean would wait for a division per object.
        let scale = 1.0 / (D * SAMPLE) as f64;
        let (mut sum, mut count) = (0.0, 0.0);
        for id in (0..frame.slots()).step_by(stride) {
            let value = &frame.boxes[id];
            if frame.live.contains(id as u32) && is_bounded(value) {
                count += 1.0;
                sum += value.size().map(|side| side.to_f64() * scale).iter().sum::<f64>();
            }
        }
        let mean = sum * (SAMPLE as f64 / f64::max(count, 1.0));
        let epsilon = T::from_f64(mean * share);
        self.epsilon = if epsilon.is_finite() { epsilon } else { T::ZERO };
    }

    /// From now on only a sample of the `members` has held boxes.
    pub(super) fn sample(&mut self, members: &BitSet, boxes: &[Aabb<D, T>]) {
        let stride = self.sample_stride();
        let before = std::mem::replace(&mut self.stride, stride);
        for (word, &bits) in members.words().iter().enumerate().step_by(stride) {
            if !word.is_multiple_of(before) {
                self.take_word(word, bits, !0, boxes);
            }
        }
    }

    /// Gives all `members` a held box, if only a sample had one.
    pub(super) fn hold_all(&mut self, members: &BitSet, boxes: &[Aabb<D, T>]) {
        if self.stride > 1 {
            self.stride = 1;
            for (word, &bits) in members.words().iter().enumerate() {
                self.take_word(word, bits, !0, boxes);
            }
        }
    }

    /// Is the held box of this slot up to date?
    pub(super) fn holds(&self, id: u32) -> bool {
        (id as usize / 64).is_multiple_of(self.stride)
    }

    /// Every how many words of 64 slots a sample takes one: those of the current sample, or of the next one if all have held boxes.
    pub(super) fn counted_stride(&self) -> usize {
        if self.stride > 1 { self.stride } else { self.sample_stride() }
    }

    fn sample_stride(&self) -> usize {
        (self.held.len().div_ceil(64) / SAMPLE_WORDS).max(1)
    }

    /// The share of `members` that is static, of those in every `stride`th word, which must have held boxes.
    pub(super) fn static_share(&self, members: &BitSet, stride: usize) -> f64 {
        1.0 - share(members, stride, self.dynamic.words().iter().copied().step_by(stride))
    }

    /// Forgets the sample: the next frame is not compared with it.
    pub(super) fn forget_sample(&mut self) {
        self.sample.clear();
    }

    /// The share of `members` whose boxes changed, of those in every `stride`th word. If the boxes of the last update are not remembered, those of a
    /// sample are compared with the sample of the last call, and replace it; without one, nothing is known to have changed.
    pub(super) fn changed_share(&mut self, members: &BitSet, frame: &Frame<'_, D, T>, stride: usize) -> f64 {
        if self.remembers {
            self.sample.clear();
            return share(members, stride, self.changed.words().iter().copied().step_by(stride));
        }
        if frame.tags.is_some() || frame.filter.is_some() || matches!(frame.changes, Changes::All) {
            self.sample.clear();
            return 1.0;
        }
        let words = || frame.boxes.chunks(64).step_by(stride);
        let count = words().map(<[_]>::len).sum();
        let changed = if self.sample.len() == count {
            share(members, stride, words().zip(self.sample.chunks(64)).map(|(now, last)| differing(now, last)))
        } else {
            0.0
        };
        // Without memory, there is no sample.
        if memory::resize(&mut self.sample, count, Aabb::empty(), "a sample of boxes").is_err() {
            self.sample.clear();
        }
        words().zip(self.sample.chunks_mut(64)).for_each(|(now, last)| last.copy_from_slice(now));
        changed
    }

    /// Stores an object's box, if its slot has a held box.
    pub(super) fn take(&mut self, id: u32, value: &Aabb<D, T>) {
        if !self.holds(id) {
            return;
        }
        if self.remembers {
            self.last[id as usize] = *value;
        }
        if renew(&mut self.held[id as usize], value, self.epsilon) {
            self.dynamic.insert(id);
        }
    }

    /// The boxes of the last update, if every member's is remembered and valid.
    pub(super) fn last_boxes(&self) -> &[Aabb<D, T>] {
        if self.remembers && self.stride == 1 { &self.last } else { &[] }
    }

    /// Stores the boxes of `members`, slots of the 64 from `64 * word` on, if these have held boxes. Those that are not `differing` have the boxes
    /// of the last update. Returns those that left their held box.
    pub(super) fn take_word(&mut self, word: usize, members: u64, differing: u64, boxes: &[Aabb<D, T>]) -> u64 {
        if !word.is_multiple_of(self.stride) {
            return 0;
        }
        // An object that has not changed is still inside its held box, which is then not read.
        let moved = members & differing;
        let mut left = 0;
        each_bit(moved, word * 64, |id| {
            let value = &boxes[id as usize];
            if self.remembers {
                self.last[id as usize] = *value;
            }
            left |= u64::from(renew(&mut self.held[id as usize], value, self.epsilon)) << (id % 64);
        });
        if self.remembers {
            self.changed.words_mut()[word] |= moved;
        }
        self.dynamic.words_mut()[word] |= left;
        left
    }

    /// Forgets an object that left the tree.
    pub(super) fn forget(&mut self, id: u32) {
        self.held[id as usize] = Aabb::empty();
        if self.remembers {
            self.last[id as usize] = Aabb::empty();
        }
        self.dynamic.insert(id);
        self.changed.insert(id);
    }

    /// From now on the boxes of the last update are remembered, starting with these of the `members`.
    pub(super) fn remember(&mut self, members: &BitSet, boxes: &[Aabb<D, T>]) {
        if !self.remembers {
            self.remembers = true;
            self.last.clear();
            self.last.extend_from_slice(boxes);
            self.last.resize(self.held.len(), Aabb::empty());
            // A slot outside the tree has no held box: whatever enters there is new.
            for (word, &bits) in members.words().iter().enumerate() {
                each_bit(!bits, word * 64, |id| {
                    if let Some(last) = self.last.get_mut(id as usize) {
                        *last = Aabb::empty();
                    }
                });
            }
        }
    }

    /// Forgets the boxes of the last update.
    pub(super) fn forget_boxes(&mut self) {
        self.remembers = false;
        self.last.clear();
    }

    /// Stamps the dynamic objects with the number of the search that begins, and makes sure that each chunk has its list and its node cache.
    pub(super) fn prepare(&mut self, chunks: usize) {
        if self.searches == u32::MAX {
            self.searches = 0;
            self.stamps.fill(0);
            self.node_caches.clear();
        }
        self.searches += 1;
        let (stamps, now) = (&mut self.stamps, self.searches);
        for (word, &bits) in self.dynamic.words().iter().enumerate() {
            each_bit(bits, word * 64, |id| stamps[id as usize] = now);
        }
        self.node_caches.prepare(chunks);
        if self.cache.len() < chunks {
            self.cache.resize_with(chunks, Mutex::default);
        }
    }

    pub(super) fn stamps(&self) -> Stamps<'_> {
        Stamps { last: &self.stamps, now: self.searches }
    }

    /// The cached pairs of a chunk; never contended, since a chunk belongs to one job.
    pub(super) fn list(&self, chunk: usize) -> MutexGuard<'_, Cached> {
        self.cache[chunk].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Empties the cached pairs and the node caches.
    pub(super) fn drop_cache(&mut self) {
        self.cached = false;
        self.node_caches.clear();
        for list in &mut self.cache {
            let list = list.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
            list.touching.clear();
            list.near.clear();
        }
    }

    /// Empties the cached pairs and the node caches, and frees their memory.
    pub(super) fn give_back(&mut self) {
        self.cached = false;
        self.node_caches = NodeCaches::default();
        self.cache = Vec::new();
    }

    /// Resets the changes, after a search.
    pub(super) fn searched(&mut self) {
        self.dynamic.clear();
        self.changed.clear();
    }

    /// A sum over all lists of cached pairs.
    pub(super) fn count(&self, size: impl Fn(&Vec<Pair>) -> usize) -> usize {
        let of = |list: &Cached| size(&list.touching) + size(&list.near);
        (0..self.cache.len()).map(|chunk| of(&self.list(chunk))).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        (self.held.capacity() + self.last.capacity() + self.sample.capacity()) * size_of::<Aabb<D, T>>()
            + self.dynamic.bytes()
            + self.changed.bytes()
            + self.stamps.capacity() * 4
            + self.node_caches.bytes()
            + self.cache.capacity() * size_of::<Mutex<Cached>>()
            + self.count(Vec::capacity) * size_of::<Pair>()
    }
}

/// The share of `members` that `bits` has, of those in every `stride`th word; `bits` are those words.
fn share(members: &BitSet, stride: usize, bits: impl Iterator<Item = u64>) -> f64 {
    let counts = members
        .words()
        .iter()
        .step_by(stride)
        .zip(bits)
        .map(|(all, bits)| (all.count_ones() as usize, (all & bits).count_ones() as usize));
    let (all, some) = counts.fold((0, 0), |sum, word| (sum.0 + word.0, sum.1 + word.1));
    some as f64 / all.max(1) as f64
}

/// Replaces a held box that does not contain the object's box any more. Returns whether it did. No branch: where a part of the objects
/// comes to rest, it is unpredictable.
#[inline(always)]
fn renew<const D: usize, T: Real>(held: &mut Aabb<D, T>, value: &Aabb<D, T>, epsilon: T) -> bool {
    let left = !held.contains(value);
    let mut grown = value.grow(epsilon);
    if !is_bounded(&grown) {
        grown = *value;
    }
    for k in 0..D {
        held.min[k] = if left { grown.min[k] } else { held.min[k] };
        held.max[k] = if left { grown.max[k] } else { held.max[k] };
    }
    left
}
