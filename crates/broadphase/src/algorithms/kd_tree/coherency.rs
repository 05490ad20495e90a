//! Coherency: who is static, and the cache of pairs of static objects.
//!
//! The tree of a coherent variant arranges *held* boxes: an object's box grown by epsilon when it last left its held box. While it
//! stays inside, it is static: the tree does not look at it, and neither does the search.
//!
//! The cache has every pair of overlapping held boxes, in lists that belong to the chunks of the store. In a frame it loses the
//! pairs with an object that is not static, and gains what the search finds, which is all pairs with such an object. So it is
//! complete again, and a pair of two objects that come to rest in the same frame is in it. What is reported is a cached pair whose
//! own boxes overlap: held boxes are never visible.
//!
//! After a complete search the cache is empty; the next incremental search then fills it with a search over all held boxes.

use std::sync::{Mutex, MutexGuard};

use super::bits::Bits;
use crate::geometry::{Aabb, Real};
use crate::objects::Frame;
use crate::objects::unbounded::is_bounded;
use crate::pairs::Pair;

/// Objects looked at for the mean size.
const SAMPLE: usize = 1024;

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
    /// Objects whose box changed in any way since the last search.
    pub(super) changed: Bits,
    /// Cached pairs, by chunk.
    cache: Vec<Mutex<Vec<Pair>>>,
    pub(super) cached: bool,
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

    /// Takes in an object's box. Returns whether it left its held box, so that the tree must look at it.
    #[inline(always)]
    pub(super) fn place(&mut self, id: u32, value: &Aabb<D, T>) -> bool {
        let held = &mut self.held[id as usize];
        if held.contains(value) {
            return false;
        }
        let grown = value.grow(self.epsilon);
        *held = if is_bounded(&grown) { grown } else { *value };
        self.dynamic.insert(id);
        true
    }

    /// Remembers the box, and notes whether it is another one than in the last update.
    #[inline(always)]
    pub(super) fn remember(&mut self, id: u32, value: &Aabb<D, T>) {
        if self.remembers {
            let last = &mut self.last[id as usize];
            if *last != *value {
                *last = *value;
                self.changed.insert(id);
            }
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
    pub(super) fn list(&self, chunk: usize) -> MutexGuard<'_, Vec<Pair>> {
        self.cache[chunk].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Empties the cache.
    pub(super) fn drop_cache(&mut self) {
        if self.cached {
            for list in &mut self.cache {
                list.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).clear();
            }
        }
        self.cached = false;
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
            + self.cache.capacity() * size_of::<Mutex<Vec<Pair>>>()
            + pairs * size_of::<Pair>()
    }
}
