//! Coherency: who is static, and the cache of pairs of static objects.
//!
//! Each object has a *held* box: its own, grown by epsilon when it last left its held box. While it stays inside, it is static. In
//! incremental frames the tree arranges held boxes: it does not look at static objects, and neither does the search. In complete
//! frames it arranges the objects' own.
//!
//! The cache has every pair of overlapping held boxes, in lists that belong to the chunks of the store. In a frame it loses the
//! pairs with an object that is not static, and gains what the search finds, which is all pairs with such an object. So it is
//! complete again, and a pair of two objects that come to rest in the same frame is in it. What is reported are cached pairs whose
//! own boxes overlap, the *touching* ones: held boxes are never visible.
//!
//! After a complete search the cache is empty; the next incremental search then fills it with a search over all held boxes.

use std::sync::{Mutex, MutexGuard};

use super::bits::{Bits, each_bit};
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;
use crate::objects::unbounded::is_bounded;
use crate::pairs::Pair;

/// Objects looked at for the mean size.
const SAMPLE: usize = 1024;

/// The cached pairs of a chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct Cached {
    /// Pairs whose own boxes overlap.
    pub(super) touching: Vec<Pair>,
    /// Pairs of which only the held boxes do.
    pub(super) near: Vec<Pair>,
}

impl Cached {
    fn capacity(&self) -> usize {
        self.touching.capacity() + self.near.capacity()
    }
}

/// The state of a variant that tells static objects from moving ones.
#[derive(Debug)]
pub(super) struct Coherency<const D: usize, T> {
    /// The boxes that the tree arranges, by slot; a slot outside the tree holds the empty box, which contains nothing.
    pub(super) held: Vec<Aabb<D, T>>,
    /// The boxes of the last update, if `remembers`.
    last: Vec<Aabb<D, T>>,
    pub(super) remembers: bool,
    epsilon: T,
    /// Objects whose held box changed, appeared or vanished since the last search.
    pub(super) dynamic: Bits,
    /// Objects whose box changed in any way since the last search; all dynamic ones are among them.
    pub(super) changed: Bits,
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
            last: Vec::new(),
            remembers: false,
            epsilon: T::ZERO,
            dynamic: Bits::default(),
            changed: Bits::default(),
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
            dynamic: self.dynamic.clone(),
            changed: self.changed.clone(),
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
        self.dynamic.cover(slots);
        self.changed.cover(slots);
    }

    /// Sets epsilon from the mean size of up to [`SAMPLE`] objects, evenly spread over the slots.
    pub(super) fn measure(&mut self, frame: &Frame<'_, D, T>, share: f64) {
        let stride = frame.slots().div_ceil(SAMPLE).max(1);
        let (mut mean, mut count) = (0.0, 0.0);
        for id in (0..frame.slots()).step_by(stride) {
            let value = &frame.boxes[id];
            if frame.live.contains(id as u32) && is_bounded(value) {
                count += 1.0;
                let size = value.size().map(Real::to_f64);
                mean += (size.iter().map(|s| s / D as f64).sum::<f64>() - mean) / count;
            }
        }
        let epsilon = T::from_f64(mean * share);
        self.epsilon = if epsilon.is_finite() { epsilon } else { T::ZERO };
    }

    /// Takes in an object's box. Returns whether it left its held box.
    #[inline(always)]
    pub(super) fn place(&mut self, id: u32, value: &Aabb<D, T>) -> bool {
        let left = renew(&mut self.held[id as usize], value, self.epsilon);
        if left {
            self.dynamic.insert(id);
        }
        left
    }

    /// Takes in the boxes of `members`, slots of the 64 from `64 * word` on. Returns those that left their held box.
    pub(super) fn place_word(&mut self, word: usize, members: u64, boxes: &[Aabb<D, T>]) -> u64 {
        let (from, mut left) = (word * 64, 0);
        if members == !0 {
            let slots = boxes[from..from + 64].iter().zip(&mut self.held[from..from + 64]);
            for (bit, (value, held)) in slots.enumerate() {
                left |= u64::from(renew(held, value, self.epsilon)) << bit;
            }
        } else {
            each_bit(members, from, |id| {
                left |= u64::from(renew(&mut self.held[id as usize], &boxes[id as usize], self.epsilon)) << (id % 64);
            });
        }
        self.dynamic.words_mut()[word] |= left;
        left
    }

    /// Remembers the box, and notes whether it is another one than in the last update.
    #[inline(always)]
    pub(super) fn remember(&mut self, id: u32, value: &Aabb<D, T>) {
        if self.remembers && self.last[id as usize] != *value {
            self.last[id as usize] = *value;
            self.changed.insert(id);
        }
    }

    /// Remembers the boxes of `members`, slots of the 64 from `64 * word` on.
    pub(super) fn remember_word(&mut self, word: usize, members: u64, boxes: &[Aabb<D, T>]) {
        let (from, mut other) = (word * 64, 0);
        if members == !0 {
            let slots = boxes[from..from + 64].iter().zip(&mut self.last[from..from + 64]);
            for (bit, (value, last)) in slots.enumerate() {
                if *last != *value {
                    *last = *value;
                    other |= 1 << bit;
                }
            }
            self.changed.words_mut()[word] |= other;
        } else {
            each_bit(members, from, |id| self.remember(id, &boxes[id as usize]));
        }
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

    /// From now on the boxes of the last update are remembered, starting with this frame's, or not.
    pub(super) fn set_memory(&mut self, frame: Option<&Frame<'_, D, T>>) {
        match frame {
            Some(frame) if !self.remembers => {
                self.last.clear();
                self.last.extend_from_slice(frame.boxes);
                self.last.resize(self.held.len(), Aabb::empty());
            }
            Some(_) => {}
            None => self.last.clear(),
        }
        self.remembers = frame.is_some();
    }

    /// Makes sure that each chunk has its list.
    pub(super) fn prepare(&mut self, chunks: usize) {
        if self.cache.len() < chunks {
            self.cache.resize_with(chunks, Mutex::default);
        }
    }

    /// The cached pairs of a chunk; never contended, since a chunk belongs to one job.
    pub(super) fn list(&self, chunk: usize) -> MutexGuard<'_, Cached> {
        self.cache[chunk].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Empties the cache.
    pub(super) fn drop_cache(&mut self) {
        self.cached = false;
        for list in &mut self.cache {
            let list = list.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
            list.touching.clear();
            list.near.clear();
        }
    }

    /// The search is done: from here on, changes count anew.
    pub(super) fn searched(&mut self) {
        self.dynamic.clear();
        self.changed.clear();
    }

    pub(super) fn bytes(&self) -> usize {
        let pairs: usize = (0..self.cache.len()).map(|chunk| self.list(chunk).capacity()).sum();
        (self.held.capacity() + self.last.capacity()) * size_of::<Aabb<D, T>>()
            + self.dynamic.bytes()
            + self.changed.bytes()
            + self.cache.capacity() * size_of::<Mutex<Cached>>()
            + pairs * size_of::<Pair>()
    }
}

/// Replaces a held box that does not contain the object's box any more. Returns whether it did.
#[inline(always)]
fn renew<const D: usize, T: Real>(held: &mut Aabb<D, T>, value: &Aabb<D, T>, epsilon: T) -> bool {
    if held.contains(value) {
        return false;
    }
    let grown = value.grow(epsilon);
    *held = if is_bounded(&grown) { grown } else { *value };
    true
}
