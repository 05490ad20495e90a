//! Bullet: the dynamic tree in its two modes, and the three-axis sweep.

use std::ffi::c_void;
use std::ptr::NonNull;

use broadphase::{Aabb, Pair};

use super::list::{Message, PairList, call, fill};
use crate::any::{AnyPeer, Erase};
use crate::{Groups, Peer, PeerError};

unsafe extern "C" {
    fn peers_bullet_new(kind: i32, dim: u32) -> *mut c_void;
    fn peers_bullet_groups(handle: *mut c_void, second: *const bool, n: u32, still: bool, message: &mut Message) -> bool;
    fn peers_bullet_update(handle: *mut c_void, boxes: *const f32, n: u32, message: &mut Message) -> bool;
    fn peers_bullet_detect(handle: *mut c_void, boxes: *const f32, out: &mut PairList, message: &mut Message) -> bool;
    fn peers_bullet_bytes(handle: *const c_void) -> usize;
    fn peers_bullet_free(handle: *mut c_void);
}

pub(super) fn open(name: &'static str, dim: usize, scalar: &str) -> Result<Option<AnyPeer>, PeerError> {
    let kind = match name {
        "bullet-dbvt-f" => 0,
        "bullet-dbvt-d" => 1,
        "bullet-axis-sweep" => 2,
        _ => return Ok(None),
    };
    Ok(match (dim, scalar) {
        (2, "float32") => Some(<f32 as Erase<2>>::erase(Box::new(Bullet::<2>::new(name, kind)?))),
        (3, "float32") => Some(<f32 as Erase<3>>::erase(Box::new(Bullet::<3>::new(name, kind)?))),
        _ => None,
    })
}

/// One proxy per object, created in the first frame and given its new box when that changed. Mode F searches for pairs at each move, mode D
/// once a frame for all; the sweep repairs its sorted axes at each move. The pair cache is then filtered to the exact boxes: its pairs are those
/// of fat boxes (a margin of 0.05), or of boxes rounded to the sweep's integer grid.
/// Groups are those of its proxies.
struct Bullet<const D: usize> {
    name: &'static str,
    handle: NonNull<c_void>,
    n: usize,
}

// SAFETY: (no thread-bound state) a broad phase is plain memory; Bullet keeps no thread-local data for it, and `&mut self` or
// ownership guards every call.
unsafe impl<const D: usize> Send for Bullet<D> {}

impl<const D: usize> Bullet<D> {
    fn new(name: &'static str, kind: i32) -> Result<Self, PeerError> {
        // SAFETY: (valid arguments) `kind` is one of the three above, D is 2 or 3.
        let handle = unsafe { peers_bullet_new(kind, D as u32) };
        let handle = NonNull::new(handle).ok_or_else(|| PeerError::Failed { peer: name, reason: "out of memory".into() })?;
        Ok(Self { name, handle, n: 0 })
    }
}

impl<const D: usize> Peer<D, f32> for Bullet<D> {
    fn set_groups(&mut self, groups: &Groups) -> bool {
        let second = groups.second();
        let set = call(self.name, |message| {
            // SAFETY: (live handle, `n` bools, which are bytes of 0 or 1) they are copied.
            unsafe { peers_bullet_groups(self.handle.as_ptr(), second.as_ptr(), second.len() as u32, groups.still(), message) }
        });
        set.is_ok()
    }

    fn update(&mut self, boxes: &[Aabb<D, f32>]) -> Result<(), PeerError> {
        self.n = boxes.len();
        call(self.name, |message| {
            // SAFETY: (live handle, `n` boxes of 2 * D floats) the handle is ours until drop; `Aabb` is `repr(C)`, min then max.
            unsafe { peers_bullet_update(self.handle.as_ptr(), boxes.as_ptr().cast(), boxes.len() as u32, message) }
        })
    }

    fn detect(&mut self, boxes: &[Aabb<D, f32>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        if boxes.len() != self.n {
            return Err(PeerError::Failed { peer: self.name, reason: "detect wants the boxes of the last update".into() });
        }
        fill(out, |list| {
            call(self.name, |message| {
                // SAFETY: (live handle, a box for every object it knows) as above; the length is that of the last update.
                unsafe { peers_bullet_detect(self.handle.as_ptr(), boxes.as_ptr().cast(), list, message) }
            })
        })
    }

    fn bytes(&self) -> Option<usize> {
        // SAFETY: (live handle) it is ours until drop.
        Some(unsafe { peers_bullet_bytes(self.handle.as_ptr()) })
    }
}

impl<const D: usize> Drop for Bullet<D> {
    fn drop(&mut self) {
        // SAFETY: (freed once, not used after) this is the owner's drop.
        unsafe { peers_bullet_free(self.handle.as_ptr()) }
    }
}
