//! Turns a library's panic into an error.

use std::panic::{AssertUnwindSafe, catch_unwind};

use broadphase::{Aabb, Pair};

use crate::{Groups, Peer, PeerError};

/// A peer whose panic ends its row in a benchmark, not the benchmark. After a panic, every call returns the error again, and the library is not
/// called any more.
pub(crate) struct Guard<P> {
    name: &'static str,
    peer: P,
    failure: Option<PeerError>,
}

impl<P> Guard<P> {
    pub(crate) fn new(name: &'static str, peer: P) -> Self {
        Self { name, peer, failure: None }
    }

    fn run(&mut self, call: impl FnOnce(&mut P) -> Result<(), PeerError>) -> Result<(), PeerError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        // The peer is not used again after a panic, so no broken invariant of its is observed.
        let result = catch_unwind(AssertUnwindSafe(|| call(&mut self.peer)));
        let result = result.unwrap_or_else(|payload| {
            let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
            Err(PeerError::Failed { peer: self.name, reason: text.unwrap_or("a panic without a message").into() })
        });
        self.failure = result.clone().err();
        result
    }
}

impl<const D: usize, T, P: Peer<D, T>> Peer<D, T> for Guard<P> {
    fn set_groups(&mut self, groups: &Groups) -> bool {
        self.peer.set_groups(groups)
    }

    fn update(&mut self, boxes: &[Aabb<D, T>]) -> Result<(), PeerError> {
        self.run(|peer| peer.update(boxes))
    }

    fn detect(&mut self, boxes: &[Aabb<D, T>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        self.run(|peer| peer.detect(boxes, out))
    }

    fn bytes(&self) -> Option<usize> {
        self.peer.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics on its second frame.
    struct Fragile(u32);

    impl Peer<2, f32> for Fragile {
        fn update(&mut self, _: &[Aabb<2, f32>]) -> Result<(), PeerError> {
            self.0 += 1;
            assert!(self.0 != 2, "frame {}", self.0);
            Ok(())
        }

        fn detect(&mut self, _: &[Aabb<2, f32>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
            out.clear();
            Ok(())
        }

        fn bytes(&self) -> Option<usize> {
            None
        }
    }

    #[test]
    fn a_panic_is_an_error_and_stays_one() {
        let mut peer = Guard::new("fragile", Fragile(0));
        let mut out = vec![Pair::new(0, 1)];
        assert_eq!(peer.frame(&[], &mut out), Ok(()));
        let failed = Err(PeerError::Failed { peer: "fragile", reason: "frame 2".into() });
        assert_eq!(peer.frame(&[], &mut out), failed);
        assert_eq!(peer.frame(&[], &mut out), failed);
    }
}
