//! Places for the results of jobs.
//!
//! Several workers write at once, without unsafe code: a job writes to its own slot, and whoever comes after the barrier reads
//! all slots; a number that any job may write, each its own, is an atomic stored without order.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// One slot per job. Scratch: a copy is empty.
#[derive(Debug, Default)]
pub(super) struct Slots<S>(Vec<RwLock<S>>);

impl<S> Clone for Slots<S> {
    fn clone(&self) -> Self {
        Self(Vec::new())
    }
}

impl<S: Default> Slots<S> {
    /// Makes sure that there are `count` slots.
    pub(super) fn prepare(&mut self, count: usize) {
        if self.0.len() < count {
            self.0.resize_with(count, RwLock::default);
        }
    }
}

impl<S> Slots<S> {
    /// The slots of `values`.
    pub(super) fn of(values: impl IntoIterator<Item = S>) -> Self {
        Self(values.into_iter().map(RwLock::new).collect())
    }

    /// A slot, for the job that writes it.
    pub(super) fn write(&self, job: usize) -> RwLockWriteGuard<'_, S> {
        self.0[job].write().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A slot, for those that read it after the barrier.
    pub(super) fn read(&self, job: usize) -> RwLockReadGuard<'_, S> {
        self.0[job].read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// All slots, for accounting.
    pub(super) fn iter(&self) -> impl Iterator<Item = RwLockReadGuard<'_, S>> {
        (0..self.0.len()).map(|job| self.read(job))
    }
}

/// Numbers that several workers write, each its own. Scratch: a copy is empty.
#[derive(Debug, Default)]
pub(super) struct Numbers(Vec<AtomicU32>);

impl Clone for Numbers {
    fn clone(&self) -> Self {
        Self(Vec::new())
    }
}

impl Numbers {
    /// Makes sure that there are `count` numbers.
    pub(super) fn prepare(&mut self, count: usize) {
        if self.0.len() < count {
            self.0.resize_with(count, AtomicU32::default);
        }
    }

    #[inline(always)]
    pub(super) fn set(&self, at: usize, value: u32) {
        self.0[at].store(value, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> u32 {
        self.0[at].load(Ordering::Relaxed)
    }

    /// The bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.0.capacity() * 4
    }
}

/// Where part `part` of `parts` equal parts of `len` begins; part `parts` begins at the end.
pub(super) fn cut(len: usize, parts: usize, part: usize) -> usize {
    len.div_ceil(parts.max(1)).saturating_mul(part).min(len)
}

/// Cuts a slice at ascending positions, the first being 0, into parts that several workers can write.
pub(super) fn split<'a, E>(slice: &'a mut [E], cuts: &'a [usize]) -> impl Iterator<Item = &'a mut [E]> {
    let len = slice.len();
    let mut rest = slice;
    cuts.iter().enumerate().map(move |(part, &from)| {
        let to = cuts.get(part + 1).copied().unwrap_or(len);
        let (part, behind) = std::mem::take(&mut rest).split_at_mut(to - from);
        rest = behind;
        part
    })
}
