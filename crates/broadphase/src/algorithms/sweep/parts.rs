//! Work cut into parts that several workers write at once, without unsafe code.
//!
//! A part of a list belongs to one job. A number that any job may write, each its own, is an atomic stored without order: it is read only
//! after the region has ended.

use std::sync::atomic::{AtomicU32, Ordering};

/// Numbers that several workers write, each its own.
#[derive(Debug, Default)]
pub(super) struct Numbers(Vec<AtomicU32>);

impl Clone for Numbers {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|number| AtomicU32::new(number.load(Ordering::Relaxed))).collect())
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
