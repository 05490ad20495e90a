//! The allocator: freed memory is kept for the next call, and given back when a call needed much of it.
//!
//! One-shot calls allocate all they need, and free it. The system's allocator returns such blocks to the kernel, and the page faults of the next
//! call cost as much as its search. mimalloc keeps them. It returns them only on request, so each call of some size makes that request.
//! Blocks of [`HUGE`] bytes or more, which are usually results, come from the system and go back at once.

use std::alloc::{GlobalAlloc, Layout, System};

use mimalloc::MiMalloc;

/// From here on, blocks come from the system.
const HUGE: usize = 64 << 20;
/// A call over fewer objects does not look for memory to give back: that would take longer than the call.
const SMALL: usize = 1 << 12;
/// A call that needed so much gives back all that it freed.
const LARGE: usize = 64 << 20;

/// mimalloc, and the system for huge blocks.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: (the contract of `GlobalAlloc`) every call is passed on, with its layout, to one of two allocators that keep the contract. Which one
// follows from the size of the layout alone, so a block is freed and resized by the allocator that made it: `dealloc` gets the layout
// that the block was made with, and `realloc` passes a block on only if old and new size belong to the same allocator.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's duties are passed on.
        unsafe { if layout.size() < HUGE { MiMalloc.alloc(layout) } else { System.alloc(layout) } }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's duties are passed on.
        unsafe { if layout.size() < HUGE { MiMalloc.alloc_zeroed(layout) } else { System.alloc_zeroed(layout) } }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's duties are passed on.
        unsafe { if layout.size() < HUGE { MiMalloc.dealloc(block, layout) } else { System.dealloc(block, layout) } }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's duties are passed on; in the last case the two blocks do not overlap, and both hold the bytes copied.
        unsafe {
            match (layout.size() < HUGE, size < HUGE) {
                (true, true) => MiMalloc.realloc(block, layout, size),
                (false, false) => System.realloc(block, layout, size),
                _ => {
                    let fresh = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                    if !fresh.is_null() {
                        fresh.copy_from_nonoverlapping(block, layout.size().min(size));
                        self.dealloc(block, layout);
                    }
                    fresh
                }
            }
        }
    }
}

/// The number of mimalloc's option `purge_delay`: for how many milliseconds freed memory is kept before it is given back.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// Freed memory is kept for a minute, instead of a second: huge pages that are given back cost a hundred times the fault of a small one.
pub(crate) fn prepare() {
    // SAFETY: takes no pointer; called while the module is imported, by one thread.
    #[allow(unsafe_code)]
    unsafe {
        libmimalloc_sys::mi_option_set(PURGE_DELAY, 60_000);
    }
}

/// Gives memory back at the end of a call over `objects` with a result of `bytes`: what no call has used for some time, or, after a large call,
/// all that is free.
pub(crate) fn settle(objects: usize, bytes: usize) {
    if objects < SMALL && bytes < LARGE {
        return;
    }
    let is_large = objects.saturating_mul(64).saturating_add(bytes.saturating_mul(2)) >= LARGE;
    // SAFETY: takes no pointer, and may be called at any time by any thread.
    #[allow(unsafe_code)]
    unsafe {
        libmimalloc_sys::mi_collect(is_large);
    }
}

/// What a result holds.
pub(crate) trait Footprint {
    /// The approximate number of bytes.
    fn bytes(&self) -> usize;
}

impl<X> Footprint for Vec<X> {
    fn bytes(&self) -> usize {
        size_of_val(&self[..])
    }
}

impl Footprint for u64 {
    fn bytes(&self) -> usize {
        0
    }
}

impl<T> Footprint for broadphase::Neighbors<T> {
    fn bytes(&self) -> usize {
        self.offsets.bytes() + self.indices.bytes() + self.distances.bytes()
    }
}

impl Footprint for broadphase::mesh::MeshCandidates {
    fn bytes(&self) -> usize {
        self.vertex_face.bytes() + self.edge_edge.bytes() + self.edge_vertex.bytes()
    }
}
