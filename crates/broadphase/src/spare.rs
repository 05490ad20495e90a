//! Buffers that come back: for work that only reads a structure, from several threads at once, and allocates nothing once it is warm.

use std::sync::Mutex;

/// Buffers at rest. Scratch, which can be dropped without changing a result.
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

impl<S: Default> Spare<S> {
    /// A buffer, perhaps a used one.
    pub(crate) fn take(&self) -> S {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop().unwrap_or_default()
    }

    /// Gives a buffer back.
    pub(crate) fn give(&self, buffer: S) {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(buffer);
    }

    /// The sum of `bytes` over all buffers at rest.
    pub(crate) fn bytes(&self, bytes: impl Fn(&S) -> usize) -> usize {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).iter().map(bytes).sum()
    }
}
