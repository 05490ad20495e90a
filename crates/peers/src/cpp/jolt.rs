//! Jolt: its quad tree, feature `jolt`.

use std::ffi::c_void;
use std::ptr::NonNull;

use broadphase::{Aabb, Pair};
use joltc_sys as _; // the library itself; its C interface has no broad phase

use super::list::{Message, PairList, call, fill};
use crate::any::{AnyPeer, Erase};
use crate::{Peer, PeerError};

unsafe extern "C" {
    fn peers_jolt_new() -> *mut c_void;
    fn peers_jolt_update(handle: *mut c_void, boxes: *const f32, n: u32, message: &mut Message) -> bool;
    fn peers_jolt_detect(handle: *mut c_void, out: &mut PairList, message: &mut Message) -> bool;
    fn peers_jolt_bytes(handle: *const c_void) -> usize;
    fn peers_jolt_free(handle: *mut c_void);
}

const NAME: &str = "jolt";

pub(super) fn open(name: &str, dim: usize, scalar: &str) -> Result<Option<AnyPeer>, PeerError> {
    if (name, dim, scalar) != (NAME, 3, "float32") {
        return Ok(None);
    }
    Ok(Some(<f32 as Erase<3>>::erase(Box::new(Jolt::new()?))))
}

/// One body per object, added in bulk in the first frame. A frame sets the bounds of bodies that moved and activates them, deactivates the
/// others, notifies the tree, lets it rebuild the parts that changed, and searches for the pairs of all active bodies, in batches as the
/// engine's step does. Pairs of two inactive bodies are kept from the frame before. Bounds are the boxes themselves and the
/// speculative distance is 0, so the pairs are exact.
struct Jolt {
    handle: NonNull<c_void>,
}

// SAFETY: (no thread-bound state) bodies and tree are plain memory of Jolt's thread-safe allocator, and `&mut self` or ownership guards
// every call.
unsafe impl Send for Jolt {}

impl Jolt {
    fn new() -> Result<Self, PeerError> {
        // SAFETY: (no duty) it takes no arguments, and returns null if it fails.
        let handle = NonNull::new(unsafe { peers_jolt_new() });
        let reason = "out of memory, or the library of joltc-sys was built with other options than the shim";
        Ok(Self { handle: handle.ok_or_else(|| PeerError::Failed { peer: NAME, reason: reason.into() })? })
    }
}

impl Peer<3, f32> for Jolt {
    fn update(&mut self, boxes: &[Aabb<3, f32>]) -> Result<(), PeerError> {
        call(NAME, |message| {
            // SAFETY: (live handle, `n` boxes of 6 floats) the handle is ours until drop; `Aabb` is `repr(C)`, min then max.
            unsafe { peers_jolt_update(self.handle.as_ptr(), boxes.as_ptr().cast(), boxes.len() as u32, message) }
        })
    }

    fn detect(&mut self, _: &[Aabb<3, f32>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        fill(out, |list| {
            call(NAME, |message| {
                // SAFETY: (live handle) it is ours until drop.
                unsafe { peers_jolt_detect(self.handle.as_ptr(), list, message) }
            })
        })
    }

    fn bytes(&self) -> Option<usize> {
        // SAFETY: (live handle) it is ours until drop.
        Some(unsafe { peers_jolt_bytes(self.handle.as_ptr()) })
    }
}

impl Drop for Jolt {
    fn drop(&mut self) {
        // SAFETY: (freed once, not used after) this is the owner's drop.
        unsafe { peers_jolt_free(self.handle.as_ptr()) }
    }
}
