//! PhysX: its automatic box pruning (ABP), feature `physx`. It reports pairs that began and ended, so its user keeps the set.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::ptr;
use std::sync::OnceLock;

use broadphase::{Aabb, Pair};
use physx_sys::{
    PxBounds3, PxBroadPhase, PxBroadPhase_fetchResults_mut, PxBroadPhase_release_mut, PxBroadPhase_update_mut,
    PxBroadPhaseDesc_new, PxBroadPhasePair, PxBroadPhaseResults_new, PxBroadPhaseType, PxBroadPhaseUpdateData_new, PxVec3,
    phys_PxCreateBroadPhase, phys_PxGetBroadPhaseDynamicFilterGroup, physx_create_foundation,
};

use crate::any::{AnyPeer, Erase};
use crate::{Peer, PeerError};

const NAME: &str = "physx-abp";

pub(crate) fn open(name: &str, dim: usize, scalar: &str) -> Option<AnyPeer> {
    ((name, dim, scalar) == (NAME, 3, "float32")).then(|| <f32 as Erase<3>>::erase(Box::new(Abp::default())))
}

/// One object per box, each in a filter group of its own. A frame names the objects whose boxes changed, as the engine does for
/// those that are awake, and runs on one thread (no continuation task). Found pairs are appended to a list with an index by pair,
/// lost ones are taken out; the result is that list, filtered to the exact boxes.
///
/// Trap: its other CPU broad phase, MBP, loses pairs silently beyond 64 k objects in a region; it is not driven here.
#[derive(Default)]
struct Abp {
    broadphase: Option<ptr::NonNull<PxBroadPhase>>,
    /// One more than there are objects: it loads 16 bytes at a time, beyond the end of the last.
    bounds: Vec<PxBounds3>,
    groups: Vec<u32>,
    distances: Vec<f32>,
    changed: Vec<u32>,
    pairs: Vec<Pair>,
    places: HashMap<u64, u32, BuildHasherDefault<PairHasher>>,
}

// SAFETY: (no thread-bound state) a broad phase is plain memory of PhysX's thread-safe allocator; ownership guards every call.
unsafe impl Send for Abp {}

/// One multiplication, folded: keys are pairs of ids, and a benchmark needs no protection against collision attacks.
#[derive(Default)]
struct PairHasher(u64);

impl Hasher for PairHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, key: u64) {
        let wide = u128::from(self.0 ^ key) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (wide as u64) ^ ((wide >> 64) as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// PhysX's one foundation (allocator and errors), made once and kept.
fn foundation() -> Result<(), PeerError> {
    static MADE: OnceLock<bool> = OnceLock::new();
    // SAFETY: (called once) guaranteed by the lock; a null result is kept as `false`.
    match MADE.get_or_init(|| !unsafe { physx_create_foundation() }.is_null()) {
        true => Ok(()),
        false => Err(PeerError::Failed { peer: NAME, reason: "PhysX made no foundation".into() }),
    }
}

fn bounds(of: &Aabb<3, f32>) -> PxBounds3 {
    let corner = |[x, y, z]: [f32; 3]| PxVec3 { x, y, z };
    PxBounds3 { minimum: corner(of.min), maximum: corner(of.max) }
}

fn same(a: &PxBounds3, b: &PxBounds3) -> bool {
    let flat = |of: &PxBounds3| {
        let (min, max) = (&of.minimum, &of.maximum);
        [min.x, min.y, min.z, max.x, max.y, max.z]
    };
    flat(a) == flat(b)
}

impl Abp {
    fn start(&mut self, boxes: &[Aabb<3, f32>]) -> Result<(), PeerError> {
        *self = Self::default();
        if boxes.is_empty() {
            return Ok(());
        }
        foundation()?;
        // SAFETY: (a foundation exists) made above; the descriptor is a local value.
        let made = unsafe { phys_PxCreateBroadPhase(&PxBroadPhaseDesc_new(PxBroadPhaseType::Abp)) };
        self.broadphase = ptr::NonNull::new(made);
        if self.broadphase.is_none() {
            return Err(PeerError::Failed { peer: NAME, reason: "PhysX made no broad phase".into() });
        }
        self.bounds = boxes.iter().map(bounds).collect();
        self.bounds.push(bounds(&Aabb::default()));
        // SAFETY: (no duty) a pure function of the id.
        self.groups = (0..boxes.len() as u32).map(|id| unsafe { phys_PxGetBroadPhaseDynamicFilterGroup(id) }).collect();
        self.distances = vec![0.0; boxes.len() + 1];
        let created: Vec<u32> = (0..boxes.len() as u32).collect();
        self.run(&created, &[]);
        Ok(())
    }

    fn run(&mut self, created: &[u32], updated: &[u32]) {
        let Some(broadphase) = self.broadphase else { return };
        let (made, moved) = (created.len() as u32, updated.len() as u32);
        let (bounds, groups, distances) = (self.bounds.as_ptr(), self.groups.as_ptr(), self.distances.as_ptr());
        let capacity = self.groups.len() as u32;
        // SAFETY: (live broad phase; ids below the capacity; arrays of that capacity that outlive its use of them) `groups`,
        // `bounds` and `distances` are fields that change only through `start`, which makes a new broad phase first.
        unsafe {
            let data = PxBroadPhaseUpdateData_new(
                created.as_ptr(),
                made,
                updated.as_ptr(),
                moved,
                ptr::null(),
                0,
                bounds,
                groups,
                distances,
                capacity,
            );
            PxBroadPhase_update_mut(broadphase.as_ptr(), &data, ptr::null_mut());
        }
    }

    /// Brings the set of pairs up to date with what the last update found and lost.
    fn fetch(&mut self) {
        let Some(broadphase) = self.broadphase else { return };
        // SAFETY: (live broad phase, updated since the last fetch) both arrays stay valid until its next update.
        let (found, lost) = unsafe {
            let mut results = PxBroadPhaseResults_new();
            PxBroadPhase_fetchResults_mut(broadphase.as_ptr(), &mut results);
            (slice(results.mCreatedPairs, results.mNbCreatedPairs), slice(results.mDeletedPairs, results.mNbDeletedPairs))
        };
        for pair in lost {
            let Some(place) = self.places.remove(&Pair::new(pair.mID0, pair.mID1).key()) else { continue };
            self.pairs.swap_remove(place as usize);
            if let Some(moved) = self.pairs.get(place as usize) {
                self.places.insert(moved.key(), place);
            }
        }
        for pair in found {
            let pair = Pair::new(pair.mID0, pair.mID1);
            if let Entry::Vacant(entry) = self.places.entry(pair.key()) {
                entry.insert(self.pairs.len() as u32);
                self.pairs.push(pair);
            }
        }
    }
}

/// # Safety
/// `data` points to `len` pairs that stay valid while the slice is used; it may be null if `len` is 0.
unsafe fn slice<'a>(data: *const PxBroadPhasePair, len: u32) -> &'a [PxBroadPhasePair] {
    if len == 0 {
        return &[];
    }
    // SAFETY: (valid for `len` pairs) the caller's duty.
    unsafe { std::slice::from_raw_parts(data, len as usize) }
}

impl Peer<3, f32> for Abp {
    fn update(&mut self, boxes: &[Aabb<3, f32>]) -> Result<(), PeerError> {
        if self.broadphase.is_none() || boxes.len() != self.groups.len() {
            return self.start(boxes);
        }
        let mut changed = std::mem::take(&mut self.changed);
        changed.clear();
        for (id, (held, at)) in self.bounds.iter_mut().zip(boxes).enumerate() {
            let now = bounds(at);
            if !same(held, &now) {
                *held = now;
                changed.push(id as u32);
            }
        }
        self.run(&[], &changed);
        self.changed = changed;
        Ok(())
    }

    fn detect(&mut self, boxes: &[Aabb<3, f32>], out: &mut Vec<Pair>) -> Result<(), PeerError> {
        self.fetch();
        out.clear();
        out.extend(self.pairs.iter().filter(|pair| boxes[pair.a as usize].overlaps(&boxes[pair.b as usize])));
        Ok(())
    }

    /// PhysX does not report its memory.
    fn bytes(&self) -> Option<usize> {
        None
    }
}

impl Drop for Abp {
    fn drop(&mut self) {
        if let Some(broadphase) = self.broadphase {
            // SAFETY: (released once, not used after) this is the owner's drop.
            unsafe { PxBroadPhase_release_mut(broadphase.as_ptr()) }
        }
    }
}
