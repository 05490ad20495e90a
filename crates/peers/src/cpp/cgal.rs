//! CGAL: `box_self_intersection_d`, a stream of segment trees with a sweep below a cutoff.

use std::ffi::c_void;
use std::ptr::NonNull;

use broadphase::{Aabb, Pair};

use super::list::{Message, PairList, call, fill};
use crate::any::{AnyPeer, Erase};
use crate::{Groups, Peer, PeerError, PeerSpec};

pub(super) fn open(spec: &PeerSpec, dim: usize, scalar: &str) -> Result<Option<AnyPeer>, PeerError> {
    if spec.descriptor().name != "cgal" {
        return Ok(None);
    }
    let cutoff: isize = spec.option("cutoff")?;
    Ok(match (dim, scalar) {
        (2, "float32") => Some(<f32 as Erase<2>>::erase(Box::new(Cgal::<2, f32>::new(cutoff)?))),
        (2, "float64") => Some(<f64 as Erase<2>>::erase(Box::new(Cgal::<2, f64>::new(cutoff)?))),
        (3, "float32") => Some(<f32 as Erase<3>>::erase(Box::new(Cgal::<3, f32>::new(cutoff)?))),
        (3, "float64") => Some(<f64 as Erase<3>>::erase(Box::new(Cgal::<3, f64>::new(cutoff)?))),
        _ => None,
    })
}

/// The shim's functions for one dimension and scalar.
trait Shim<const D: usize>: Sized + 'static {
    const NEW: unsafe extern "C" fn(isize) -> *mut c_void;
    const GROUPS: unsafe extern "C" fn(*mut c_void, *const bool, u32, bool, &mut Message) -> bool;
    const UPDATE: unsafe extern "C" fn(*mut c_void, *const Self, u32, &mut Message) -> bool;
    const DETECT: unsafe extern "C" fn(*mut c_void, &mut PairList, &mut Message) -> bool;
    const BYTES: unsafe extern "C" fn(*const c_void) -> usize;
    const FREE: unsafe extern "C" fn(*mut c_void);
}

macro_rules! shim {
    ($t:ident, $d:literal, $new:ident, $groups:ident, $update:ident, $detect:ident, $bytes:ident, $free:ident) => {
        unsafe extern "C" {
            fn $new(cutoff: isize) -> *mut c_void;
            fn $groups(handle: *mut c_void, second: *const bool, n: u32, still: bool, message: &mut Message) -> bool;
            fn $update(handle: *mut c_void, boxes: *const $t, n: u32, message: &mut Message) -> bool;
            fn $detect(handle: *mut c_void, out: &mut PairList, message: &mut Message) -> bool;
            fn $bytes(handle: *const c_void) -> usize;
            fn $free(handle: *mut c_void);
        }

        impl Shim<$d> for $t {
            const NEW: unsafe extern "C" fn(isize) -> *mut c_void = $new;
            const GROUPS: unsafe extern "C" fn(*mut c_void, *const bool, u32, bool, &mut Message) -> bool = $groups;
            const UPDATE: unsafe extern "C" fn(*mut c_void, *const $t, u32, &mut Message) -> bool = $update;
            const DETECT: unsafe extern "C" fn(*mut c_void, &mut PairList, &mut Message) -> bool = $detect;
            const BYTES: unsafe extern "C" fn(*const c_void) -> usize = $bytes;
            const FREE: unsafe extern "C" fn(*mut c_void) = $free;
        }
    };
}

shim!(
    f32,
    2,
    peers_cgal_2f_new,
    peers_cgal_2f_groups,
    peers_cgal_2f_update,
    peers_cgal_2f_detect,
    peers_cgal_2f_bytes,
    peers_cgal_2f_free
);
shim!(
    f64,
    2,
    peers_cgal_2d_new,
    peers_cgal_2d_groups,
    peers_cgal_2d_update,
    peers_cgal_2d_detect,
    peers_cgal_2d_bytes,
    peers_cgal_2d_free
);
shim!(
    f32,
    3,
    peers_cgal_3f_new,
    peers_cgal_3f_groups,
    peers_cgal_3f_update,
    peers_cgal_3f_detect,
    peers_cgal_3f_bytes,
    peers_cgal_3f_free
);
shim!(
    f64,
    3,
    peers_cgal_3d_new,
    peers_cgal_3d_groups,
    peers_cgal_3d_update,
    peers_cgal_3d_detect,
    peers_cgal_3d_bytes,
    peers_cgal_3d_free
);

/// Nothing is kept between frames but the buffer of boxes, which the algorithm sorts and partitions in place. Boxes are handed over
/// by value with their ids, through CGAL's traits for one's own box type; closed boxes are its default. The cutoff of 1,000 is 3 to
/// 4 times faster here than its default of 10. Two groups are its form for two ranges.
struct Cgal<const D: usize, T: Shim<D>> {
    handle: NonNull<c_void>,
    scalar: std::marker::PhantomData<T>,
}

// SAFETY: (no thread-bound state) the handle is a vector of boxes, and `&mut self` or ownership guards every call.
unsafe impl<const D: usize, T: Shim<D>> Send for Cgal<D, T> {}

impl<const D: usize, T: Shim<D>> Cgal<D, T> {
    fn new(cutoff: isize) -> Result<Self, PeerError> {
        // SAFETY: (no duty) any cutoff is legal.
        let handle = NonNull::new(unsafe { T::NEW(cutoff) });
        let handle = handle.ok_or_else(|| PeerError::Failed { peer: "cgal", reason: "out of memory".into() })?;
        Ok(Self { handle, scalar: std::marker::PhantomData })
    }
}

impl<const D: usize, T: Shim<D>> Peer<D, T> for Cgal<D, T> {
    fn set_groups(&mut self, groups: &Groups) -> bool {
        let second = groups.second();
        let set = call("cgal", |message| {
            // SAFETY: (live handle, `n` bools, which are bytes of 0 or 1) they are copied.
            unsafe { T::GROUPS(self.handle.as_ptr(), second.as_ptr(), second.len() as u32, groups.still(), message) }
        });
        set.is_ok()
    }

    fn update(&mut self, boxes: &[Aabb<D, T>]) -> Result<(), PeerError> {
        call("cgal", |message| {
            // SAFETY: (live handle, `n` boxes of 2 * D scalars) the handle is ours until drop; `Aabb` is `repr(C)`, min then max.
            unsafe { T::UPDATE(self.handle.as_ptr(), boxes.as_ptr().cast(), boxes.len() as u32, message) }
        })
    }

    fn detect(&mut self, _: &[Aabb<D, T>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        fill(out, |list| {
            call("cgal", |message| {
                // SAFETY: (live handle) it is ours until drop.
                unsafe { T::DETECT(self.handle.as_ptr(), list, message) }
            })
        })
    }

    fn bytes(&self) -> Option<usize> {
        // SAFETY: (live handle) it is ours until drop.
        Some(unsafe { T::BYTES(self.handle.as_ptr()) })
    }
}

impl<const D: usize, T: Shim<D>> Drop for Cgal<D, T> {
    fn drop(&mut self) {
        // SAFETY: (freed once, not used after) this is the owner's drop.
        unsafe { T::FREE(self.handle.as_ptr()) }
    }
}
