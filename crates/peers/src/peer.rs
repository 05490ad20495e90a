//! The one interface of all peers.

use broadphase::{Aabb, Pair};

use crate::{Groups, PeerError};

/// A library under measurement, for boxes of `D` dimensions and scalar `T`. Object `i` is `boxes[i]` in every frame.
///
/// Methods are in the order of a frame. The number of objects may change, which costs a rebuild.
/// A peer owns what it keeps between frames; dropping it frees everything.
pub trait Peer<const D: usize, T>: Send {
    /// Requests only the pairs that `groups` allows from now on. Called before the first frame, which has as many objects as `groups`. Returns
    /// `false` if the library has no way to leave pairs out: then it reports all of them, and the caller filters.
    fn set_groups(&mut self, groups: &Groups) -> bool {
        let _ = groups;
        false
    }

    /// The first part of a frame: brings the library's structure up to date with `boxes`.
    ///
    /// # Errors
    /// [`PeerError::Failed`] if the library gives up; the peer is not usable afterwards.
    fn update(&mut self, boxes: &[Aabb<D, T>]) -> Result<(), PeerError>;

    /// The second part: the exact closed-box pairs of the same `boxes` into `out`, cleared first. Canonical, each once, in any order.
    ///
    /// # Errors
    /// [`PeerError::Failed`] if the library gives up; the peer is not usable afterwards.
    fn detect(&mut self, boxes: &[Aabb<D, T>], out: &mut Vec<Pair>) -> Result<(), PeerError>;

    /// One whole frame: boxes in, exact pairs out.
    ///
    /// # Errors
    /// Those of [`update`](Peer::update) and [`detect`](Peer::detect).
    fn frame(&mut self, boxes: &[Aabb<D, T>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        self.update(boxes)?;
        self.detect(boxes, out)
    }

    /// The bytes that the library holds at the end of the frame, as far as its interface reports them; `None` if it does not.
    fn bytes(&self) -> Option<usize>;
}
