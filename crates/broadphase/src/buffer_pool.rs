//! A pool of buffers, for calls that only read a structure: several threads can run them at once, and none of them allocates once the pool has a
//! buffer for each.

use std::sync::Mutex;

/// A pool of unused buffers. Usually scratch, which can be dropped without changing a result; where later results depend on a buffer's content, its
/// owner copies the pool with [`copy`](BufferPool::copy).
#[derive(Debug)]
pub(crate) struct BufferPool<S>(Mutex<Vec<S>>);

impl<S> Default for BufferPool<S> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<S> Clone for BufferPool<S> {
    /// An empty pool: scratch is not copied.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<S: Clone> BufferPool<S> {
    /// A copy of the pool with its unused buffers, for buffers whose content affects later results.
    pub(crate) fn copy(&self) -> Self {
        Self(Mutex::new(self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()))
    }
}

impl<S: Default> BufferPool<S> {
    /// Takes a buffer, which may have content from its last use.
    pub(crate) fn take(&self) -> S {
        self.take_or(S::default)
    }
}

impl<S> BufferPool<S> {
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
