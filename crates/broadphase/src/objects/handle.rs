//! Handles: stable names of objects, which become stale when the object is removed.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

/// The name of an object in a [`World`](crate::World): its index, and the generation of that index.
///
/// An index is reused after its object was removed, with the next generation, so that an old handle is detected as stale. Generations
/// of different worlds start far apart, so that a handle of another world is detected too (up to about 2^32 removals at one
/// index). Clones of a world share their handles. A zeroed handle names no object, unless about that many worlds were created, or objects removed at
/// index 0.
///
/// Plain data of eight bytes; [`to_bits`](Handle::to_bits) converts it to one number. Handles are ordered by index.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Handle {
    /// A small number, unique among the current objects of a world: suitable as an index into the caller's own arrays.
    pub index: u32,
    /// Distinguishes the objects that have had this index.
    pub generation: u32,
}

impl Handle {
    /// The handle as one number, to be stored or transmitted.
    ///
    /// ```
    /// use broadphase::Handle;
    /// let handle = Handle { index: 7, generation: 3 };
    /// assert_eq!(Handle::from_bits(handle.to_bits()), handle);
    /// ```
    pub const fn to_bits(self) -> u64 {
        (self.index as u64) << 32 | self.generation as u64
    }

    /// The handle from its number.
    pub const fn from_bits(bits: u64) -> Self {
        Self { index: (bits >> 32) as u32, generation: bits as u32 }
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}v{}", self.index, self.generation)
    }
}

/// The first generation of a new world. Multiples of 2^32 divided by the golden ratio keep the starts of any k worlds about 2^32 / k
/// apart. Generations are compared for equality only, so no result depends on the order in which worlds are created. The first world does not
/// start at 0, so that a zeroed handle names nothing.
pub(crate) fn first_generation() -> u32 {
    static WORLDS: AtomicU32 = AtomicU32::new(0);
    WORLDS.fetch_add(1, Ordering::Relaxed).wrapping_add(1).wrapping_mul(0x9e37_79b1)
}
