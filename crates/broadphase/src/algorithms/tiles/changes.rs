//! What moved.

use crate::geometry::{Aabb, Real};

/// What is known of the last frame.
#[derive(Clone, Debug)]
pub(super) struct Coherence<const D: usize, T> {
    previous: Vec<Aabb<D, T>>,
}

impl<const D: usize, T> Default for Coherence<D, T> {
    fn default() -> Self {
        Self { previous: Vec::new() }
    }
}

impl<const D: usize, T: Real> Coherence<D, T> {
    pub(super) fn bytes(&self) -> usize {
        self.previous.capacity() * size_of::<Aabb<D, T>>()
    }
}
