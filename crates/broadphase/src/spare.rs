//! A pool of buffers, for calls that only read a structure: several threads can run them at once, and none allocates once the pool is warm.

use std::sync::Mutex;

/// A pool of unused buffers. Scratch, which can be dropped without changing a result.
#[derive(Debug)]
pub(crate) struct Spare<S>(Mutex<Vec<S>>);

impl<S> Default for Spare<S> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<S> Clone for Spare<S> {
    /// Scratch is not copied.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<S: Clone> Spare<S> {
    /// A copy of what is at rest, for buffers whose content later results follow from.
    pub(crate) fn copy(&self) -> Self {
        Self(Mutex::new(self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()))
    }
}

impl<S: Default> Spare<S> {
    /// Takes a buffer, which may have content from its last use.
    pub(crate) fn take(&self) -> S {
        self.take_or(S::default)
    }
}

impl<S> Spare<S> {
    /// Takes a buffer, which may have content from its last use, or a new one that `make` makes.
    pub(crate) fn take_or(&self, make: impl FnOnce() -> S) -> S {
        let unused = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
        unused.unwrap_or_else(make)
    }

    /// Returns a buffer to the pool, or drops it if the pool cannot grow.
    pub(crate) fn give(&self, buffer: S) {
        let mut pool = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if pool.try_reserve(1).is_ok() {
            pool.push(buffer); // reserved
        }
    }

    /// The sum of `bytes` over all buffers in the pool.
    pub(crate) fn bytes(&self, bytes: impl Fn(&S) -> usize) -> usize {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).iter().map(bytes).sum()
    }
}
